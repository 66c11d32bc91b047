/* process.h - children that end with their parent in every case, and a keeper that cleans up after it.
 *
 * A killed process runs no further code. Its children are ended by the kernel (a parent-death signal, which reaches
 * children only) and by its keeper (which finds other descendants by an environment variable).
 */
#ifndef PROC_PROCESS_H
#define PROC_PROCESS_H

#include <stdbool.h>
#include <signal.h>
#include <sys/types.h>

/* In a child, right after fork: SIGKILL when `parent` ends, or at once if it has ended. Signals are as before
 * process_begin. */
void process_child(pid_t parent);
/* At the start of a command: exceeding a file-size limit becomes a write error instead of a signal, and descriptors 0,
 * 1 and 2 are opened, so that no file takes the place of standard output. */
void process_begin(void);

/* The signals that a command with children waits for: SIGINT, SIGTERM and SIGCHLD. */
sigset_t process_signals(void);

/* As posix_spawn with signal mask `mask`, without copying page tables; the child ends with its parent. 0 or an errno.
 */
int process_spawn(pid_t *pid, const char *program, char *const *argv, char *const *environment, const sigset_t *mask);

/* Start a keeper of the private folder `dir` (absolute). If this process ends without process_release, the keeper
 * kills every process with `variable`=`dir` in its environment and removes the folder. -1: none could be started;
 * process_release accepts that. */
struct keeper {
  pid_t pid;
  int end; /* end of a socket; closing it without a byte means that this process was killed */
};
struct keeper process_keep(const char *variable, const char *dir);
/* End the keeper; this process removes the folder. */
void process_release(struct keeper *k);

/* Remove a folder with its contents, and the files that output_clear_unfinished finds. */
void process_remove_folder(const char *dir);

#endif

/* process.h - children that end with their parent, however that ends, and a keeper that clears up after it.
 *
 * Nothing of a process that is killed runs any more: what it started is ended by the kernel (a parent-death signal,
 * which reaches children only) and by its keeper (which finds the rest by a variable of their environment).
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <signal.h>
#include <sys/types.h>

/* In a child, right after fork: SIGKILL when `parent`, who forked it, ends; at once if it has ended already. Signals
 * are as before process_begin. */
void process_child(pid_t parent);
/* At the start of a command: a limit on the size of files is an error of the write, not a signal; and descriptors 0, 1
 * and 2 are there, so that no file that is opened takes the place of standard output. */
void process_begin(void);

/* As posix_spawn with `mask` for the signals, and without a copy of our page tables; the child ends with us. 0 or an
 * errno. */
int process_spawn(pid_t *pid, const char *program, char *const *argv, char *const *environment, const sigset_t *mask);

/* A keeper of the private folder `dir` (absolute): when this process has ended without process_release, it kills every
 * process that has `variable`=`dir` in its environment and removes the folder. -1: none could be started, and
 * process_release takes that. */
struct keeper {
  pid_t pid;
  int end; /* of a socket; when it goes without a byte, so have we */
};
struct keeper process_keep(const char *variable, const char *dir);
/* The folder is removed, or will be by us: the keeper goes. */
void process_release(struct keeper *k);

/* Remove a folder with everything in it, and the files that output_clear_unfinished knows of. */
void process_remove_folder(const char *dir);

#endif

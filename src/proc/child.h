/* child.h - running a CUDA program as a child with our runtime in place of NVIDIA's, and finding out what went wrong.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <sys/types.h>

#include "proc/process.h"
#include "cli/frame/cli.h"

/* A private directory that is removed with everything in it, by its keeper if this process is killed; what runs with
 * SLUICE_DIR set to it is then killed too. */
struct tempdir {
  char path[512];
  struct keeper keeper;
};
bool tempdir_make(struct tempdir *t, struct err *e);
void tempdir_file(const struct tempdir *t, const char *name, char *out, size_t size);
void tempdir_remove(struct tempdir *t);

/* The command as one string, for records and messages; the caller frees it. */
char *command_text(char *const *argv);

/* Run argv with the simulator in place, signals forwarded, until it and all processes of it that simulate have ended.
 * False with `e`: it could not be started. */
struct ended {
  pid_t pid;
  int status; /* as waitpid gives it */
};
bool child_run(const struct tempdir *t, char *const *argv, struct ended *end, struct err *e);

/* Why a program that ended without reaching our runtime did not: one line with the remedy. `certain`: the program could
 * not have reached it whatever it did. */
struct diagnosis {
  bool certain;
  char text[2048];
};
void elf_diagnose(const char *program, struct diagnosis *d);
/* Whether the program, or one that it starts, may hold NVIDIA's runtime itself or uses its run-time compiler, so that
 * the hook is to be preloaded. */
bool elf_needs_hook(const char *program);
/* The file to run for `program`: a path, a name in PATH, or a bundled workload; false if there is none. */
bool program_bundled(const char *program); /* it is one of the workloads that came with Sluice */
bool program_find(const char *program, char *out, size_t size);

#endif

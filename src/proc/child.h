/* child.h - runs a CUDA program as a child with Sluice's runtime in place of NVIDIA's, and diagnoses failures. */
#ifndef PROC_CHILD_H
#define PROC_CHILD_H

#include <sys/types.h>

#include "proc/process.h"
#include "cli/frame/cli.h"

/* A private directory, removed with its contents at the end, or by its keeper if this process is killed. The keeper
 * also kills processes that run with SLUICE_DIR set to it. */
struct tempdir {
  char path[512];
  struct keeper keeper;
};
bool tempdir_make(struct tempdir *t, struct err *e);
void tempdir_file(const struct tempdir *t, const char *name, char *out, size_t size);
void tempdir_remove(struct tempdir *t);

/* The command as one string, for records and messages; the caller frees it. */
char *command_text(char *const *argv);

/* Run argv with the simulator in place, signals forwarded, until it and all its simulating processes have ended. False
 * with `e`: it could not be started. */
struct ended {
  pid_t pid;
  int status; /* as waitpid gives it */
};
bool child_run(const struct tempdir *t, char *const *argv, struct ended *end, struct err *e);

/* One line with cause and remedy for a program that ended without reaching the runtime. `certain`: the program could
 * not have reached it. */
struct diagnosis {
  bool certain;
  char text[2048];
};
void elf_diagnose(const char *program, struct diagnosis *d);
/* The program, or one that it starts, may contain NVIDIA's runtime or use its run-time compiler: the hook must be
 * preloaded. */
bool elf_needs_hook(const char *program);
/* The file to run for `program`: a path, a name in PATH, or a bundled workload; false if there is none. */
bool program_bundled(const char *program); /* it is a workload bundled with Sluice */
bool program_find(const char *program, char *out, size_t size);

#endif

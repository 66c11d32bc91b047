/* end_hook.c - intercepts calls that end a process, or replace its program, without its exit functions, and closes the
 * simulation first. Part of the preloaded library, whose functions precede those of the C library.
 *
 * quick_exit() needs no interception, since the runtime registers a function with it; processes that are killed, or
 * make the system call themselves, leave their state behind (results/ledger.h). A child of vfork() shares memory with
 * its parent and must not change it here; the runtime checks the process number.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXITS, EXECS }; /* as in context.h */

/* Sluice's runtime, if the process has loaded it. */
static void tell_parent(int how) {
  void (*ends)(int);
  *(void **)&ends = dlsym(RTLD_DEFAULT, "sluice_process_ends");
  if (!ends) { /* loaded by Sluice, so its names are not in the global scope */
    void *runtime = dlopen("libsluice-cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (runtime) *(void **)&ends = dlsym(runtime, "sluice_process_ends");
  }
  int before = errno;
  if (ends) ends(how);
  errno = before;
}

void _exit(int status) {
  tell_parent(EXITS);
  for (;;) syscall(SYS_exit_group, status);
}

void _Exit(int status) {
  _exit(status);
}

#define REAL(name, ...)                                 \
  static int (*real)(__VA_ARGS__);                      \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name); \
  if (!real) return errno = ENOSYS, -1;                 \
  tell_parent(EXECS)

int execve(const char *path, char *const argv[], char *const envp[]) {
  REAL(execve, const char *, char *const[], char *const[]);
  return real(path, argv, envp);
}

int execv(const char *path, char *const argv[]) {
  REAL(execv, const char *, char *const[]);
  return real(path, argv);
}

int execvp(const char *file, char *const argv[]) {
  REAL(execvp, const char *, char *const[]);
  return real(file, argv);
}

int execvpe(const char *file, char *const argv[], char *const envp[]) {
  REAL(execvpe, const char *, char *const[], char *const[]);
  return real(file, argv, envp);
}

int fexecve(int fd, char *const argv[], char *const envp[]) {
  REAL(fexecve, int, char *const[], char *const[]);
  return real(fd, argv, envp);
}

int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags) {
  REAL(execveat, int, const char *, char *const[], char *const[], int);
  return real(fd, path, argv, envp, flags);
}

/* Arguments up to the NULL; `*envp` the next argument, where needed. On the stack, since vfork() allows no other. */
#define GATHER(first, with_env)                              \
  va_list ap;                                                \
  int n = 1;                                                 \
  va_start(ap, first);                                       \
  while (va_arg(ap, char *)) n++;                            \
  va_end(ap);                                                \
  char *argv[n + 1], *const *envp = environ;                 \
  va_start(ap, first);                                       \
  argv[0] = (char *)first;                                   \
  for (int i = 1; i <= n; i++) argv[i] = va_arg(ap, char *); \
  if (with_env) envp = va_arg(ap, char *const *);            \
  va_end(ap)

int execl(const char *path, const char *arg, ...) {
  GATHER(arg, false);
  return execve(path, argv, envp);
}

int execle(const char *path, const char *arg, ...) {
  GATHER(arg, true);
  return execve(path, argv, envp);
}

int execlp(const char *file, const char *arg, ...) {
  GATHER(arg, false);
  (void)envp;
  return execvp(file, argv);
}

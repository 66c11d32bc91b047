/* child.c - the child process of `sluice run`: private directory, options, environment, signals.
 *
 * The library in the child reads $SLUICE_DIR/options.json and creates there: `alive` at the first call of the runtime,
 * process-N for each process that simulates (with its record at the end), and error.txt and error.code on an error.
 */
#include "proc/child.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "proc/orphans.h"

/* Found through LD_LIBRARY_PATH, because LD_PRELOAD cannot hold a path with a blank. */
#define HOOK "libsluice-static.so"

bool tempdir_make(struct tempdir *t, struct err *e) {
  const char *base = getenv("TMPDIR");
  char *real = realpath(base && *base ? base : "/tmp", NULL); /* absolute: programs change their folder */
  *t = (struct tempdir){.keeper = {-1, -1}};
  int n = snprintf(t->path, sizeof t->path, "%s/sluice-XXXXXX", real ? real : "/tmp");
  free(real);
  if (n < (int)sizeof t->path && mkdtemp(t->path)) {
    t->keeper = process_keep("SLUICE_DIR", t->path);
    return true;
  }
  err_set(e, ERR_OUTPUT, "cannot make a folder in '%s': %s", base && *base ? base : "/tmp",
          strerror(n < (int)sizeof t->path ? errno : ENAMETOOLONG));
  t->path[0] = 0;
  return false;
}

void tempdir_file(const struct tempdir *t, const char *name, char *out, size_t size) {
  CHECK(strlen(t->path) + strlen(name) + 2 <= size, "path too long");
  sprintf(out, "%s/%s", t->path, name);
}

void tempdir_remove(struct tempdir *t) {
  if (!t->path[0]) return;
  process_remove_folder(t->path);
  process_release(&t->keeper);
  t->path[0] = 0;
}

char *command_text(char *const *argv) {
  size_t n = 1;
  for (size_t i = 0; argv[i]; i++) n += strlen(argv[i]) + 1;
  char *s = mem_alloc(n), *p = s;
  for (size_t i = 0; argv[i]; i++) p += sprintf(p, "%s%s", i ? " " : "", argv[i]);
  *p = 0;
  return s;
}

/* The program's environment: this process's with some variables replaced. */
struct environment {
  char **vars; /* the first `own` are freed by this file */
  size_t own, count;
};

static void env_set(struct environment *v, const char *name, const char *format, ...) {
  va_list ap;
  char *value, *var;
  va_start(ap, format);
  bool ok = vasprintf(&value, format, ap) >= 0 && asprintf(&var, "%s=%s", name, value) >= 0;
  va_end(ap);
  CHECK(ok, "out of memory");
  free(value);
  v->vars[v->count++] = var;
  v->own = v->count;
}

static bool env_is_set(const struct environment *v, const char *var) {
  size_t name = strcspn(var, "=");
  for (size_t i = 0; i < v->own; i++)
    if (!strncmp(v->vars[i], var, name) && v->vars[i][name] == '=') return true;
  return false;
}

/* `first` joined with the present value of the variable. */
static void env_join(struct environment *v, const char *name, const char *first, const char *second) {
  bool both = first && *first && second && *second;
  env_set(v, name, "%s%s%s", first ? first : "", both ? ":" : "", second ? second : "");
}

static struct environment child_environment(const struct tempdir *t, const char *program) {
  enum { OWN = 8 };
  size_t inherited = 0;
  while (environ[inherited]) inherited++;
  struct environment v = {.vars = mem_zeroed(inherited + OWN + 1, sizeof *v.vars)};
  char lib[PATH_MAX];
  path_lib(lib, sizeof lib);
  env_join(&v, "LD_LIBRARY_PATH", lib, getenv("LD_LIBRARY_PATH"));
  env_set(&v, "SLUICE_DIR", "%s", t->path);
  env_join(&v, "LD_PRELOAD", getenv("LD_PRELOAD"), HOOK);
  env_set(&v, "SLUICE_STATIC", "%s", elf_needs_hook(program) ? "yes" : "no"); /* a search through its symbols */
  for (size_t i = 0; i < inherited; i++)
    if (!env_is_set(&v, environ[i])) v.vars[v.count++] = environ[i];
  return v;
}

static int child_start(const struct tempdir *t, char *const *argv, const sigset_t *mask, pid_t *pid) {
  char program[PATH_MAX];
  if (!program_find(argv[0], program, sizeof program)) snprintf(program, sizeof program, "%s", argv[0]);
  struct environment env = child_environment(t, program);
  int why = process_spawn(pid, program, argv, env.vars, mask);
  for (size_t i = 0; i < env.own; i++) free(env.vars[i]);
  free(env.vars);
  return why;
}

bool child_run(const struct tempdir *t, char *const *argv, struct ended *end, struct err *e) {
  sigset_t watched, old;
  sigemptyset(&watched);
  int const list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) sigaddset(&watched, list[i]);
  sigprocmask(SIG_BLOCK, &watched, &old);
  fflush(stdout);
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the program become children of this process */
  pid_t pid;
  int status = 0, why = child_start(t, argv, &old, &pid);
  while (!why && waitpid(pid, &status, WNOHANG) == 0) {
    siginfo_t si;
    int sig = sigwaitinfo(&watched, &si);
    /* The terminal sends Ctrl-C and Ctrl-\ to the child as well; a signal from another process is forwarded. */
    bool from_terminal = (sig == SIGINT || sig == SIGQUIT) && si.si_code > 0;
    if (sig > 0 && sig != SIGCHLD && !from_terminal) kill(pid, sig);
  }
  if (!why) processes_wait();
  sigprocmask(SIG_SETMASK, &old, NULL);
  *end = (struct ended){pid, status};
  return !why || err_set(e, ERR_USAGE, "cannot run '%s': %s", argv[0], strerror(why));
}

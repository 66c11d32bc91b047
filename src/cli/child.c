/* child.c - the child process of `sluice run`: private directory, options, environment, signals.
 *
 * The library in the child reads $SLUICE_DIR/options.json and creates there: `alive` when our runtime is first reached,
 * record.json at the end, error.txt and error.code when something went wrong.
 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"

/* Found on LD_LIBRARY_PATH, since LD_PRELOAD takes no path with a blank in it. */
#define HOOK "libsluice-static.so"

bool tempdir_make(struct tempdir *t, struct err *e) {
  const char *base = getenv("TMPDIR");
  if (!base || !*base || strlen(base) > 400) base = "/tmp";
  snprintf(t->path, sizeof t->path, "%s/sluice-XXXXXX", base);
  if (mkdtemp(t->path)) return true;
  err_set(e, ERR_INPUT, "cannot make a directory in '%s': %s", base, strerror(errno));
  t->path[0] = 0;
  return false;
}

void tempdir_file(const struct tempdir *t, const char *name, char *out, size_t size) {
  CHECK(strlen(t->path) + strlen(name) + 2 <= size, "path too long");
  sprintf(out, "%s/%s", t->path, name);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
  (void)st, (void)type, (void)where;
  remove(path);
  return 0;
}

void tempdir_remove(struct tempdir *t) {
  if (t->path[0]) nftw(t->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  t->path[0] = 0;
}

char *command_text(char *const *argv) {
  size_t n = 1;
  for (size_t i = 0; argv[i]; i++) n += strlen(argv[i]) + 1;
  char *s = malloc(n), *p = s;
  CHECK(s, "out of memory");
  for (size_t i = 0; argv[i]; i++) p += sprintf(p, "%s%s", i ? " " : "", argv[i]);
  *p = 0;
  return s;
}

bool child_write_options(const struct tempdir *t, const struct sim_options *o, char *const *argv, struct err *e) {
  uint32_t first, end;
  if (!sim_timing_range(o->timing_kernels, &first, &end, e)) return false;
  char *program = command_text(argv), path[600];
  json_t *sets = json_array();
  for (size_t i = 0; i < o->sets.count; i++) json_array_append_new(sets, json_string(o->sets.at[i]));
  json_t *j = json_object();
  json_object_set_new(j, "gpu", json_string(o->gpu ? o->gpu : "fermi"));
  json_object_set_new(j, "scheme", json_string(o->scheme ? o->scheme : "baseline"));
  json_object_set_new(j, "mode", json_string(o->mode ? o->mode : "timing"));
  json_object_set_new(j, "check", json_string(o->check ? o->check : ""));
  json_object_set_new(j, "sets", sets);
  json_object_set_new(j, "program", json_string(program));
  json_object_set_new(j, "watchdog_cycles", json_integer((json_int_t)o->watchdog));
  json_object_set_new(j, "timing_first", json_integer(first));
  json_object_set_new(j, "timing_end", json_integer(end));
  json_object_set_new(j, "quiet", json_boolean(o->quiet));
  json_object_set_new(j, "meter", json_boolean(o->meter));
  json_object_set_new(j, "detail", json_boolean(o->detail));
  json_object_set_new(j, "lines", json_boolean(o->lines));
  json_object_set_new(j, "characterise", json_boolean(o->characterise));
  json_object_set_new(j, "profile", json_boolean(o->profile));
  uint64_t from, to;
  char *timeline = sim_timeline_path(o);
  if (timeline && sim_timeline_window(o->timeline_window, &from, &to, e)) {
    json_object_set_new(j, "timeline", json_string(timeline));
    json_object_set_new(j, "timeline_first", json_integer((json_int_t)from));
    json_object_set_new(j, "timeline_last", json_integer((json_int_t)to));
    json_object_set_new(j, "timeline_sms", json_integer((json_int_t)o->timeline_sms));
  }
  free(timeline);
  json_object_set_new(j, "sample_cycles", json_integer((json_int_t)o->sample));
  if (o->trace_out) json_object_set_new(j, "trace", json_string(o->trace_out));
  if (o->trace_temp) json_object_set_new(j, "trace_temp", json_string(o->trace_temp));
  free(program);
  char *text = json_dumps(j, JSON_INDENT(1));
  json_decref(j);
  if (!text) return err_set(e, ERR_USAGE, "the program's arguments are not valid UTF-8");
  tempdir_file(t, "options.json", path, sizeof path);
  bool ok = path_write_whole(path, text, strlen(text));
  free(text);
  return ok || err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
}

static void child_environment(const struct tempdir *t, const char *program) {
  char lib[PATH_MAX], joined[2 * PATH_MAX];
  path_lib(lib, sizeof lib);
  const char *old = getenv("LD_LIBRARY_PATH");
  size_t n = (size_t)snprintf(joined, sizeof joined, "%s%s%s", lib, old && *old ? ":" : "", old ? old : "");
  setenv("LD_LIBRARY_PATH", n < sizeof joined ? joined : lib, 1);
  setenv("SLUICE_DIR", t->path, 1);
  if (!elf_may_hold_runtime(program)) return;
  const char *preload = getenv("LD_PRELOAD");
  n = (size_t)snprintf(joined, sizeof joined, "%s%s%s", preload ? preload : "", preload && *preload ? ":" : "", HOOK);
  if (n < sizeof joined) setenv("LD_PRELOAD", joined, 1);
}

int child_run(const struct tempdir *t, char *const *argv, struct err *e) {
  sigset_t watched, old;
  sigemptyset(&watched);
  int const list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) sigaddset(&watched, list[i]);
  sigprocmask(SIG_BLOCK, &watched, &old);
  fflush(stdout);
  int failed[2];
  if (pipe2(failed, O_CLOEXEC)) return err_set(e, ERR_INPUT, "pipe: %s", strerror(errno)), -1;
  pid_t pid = fork();
  if (pid < 0) return err_set(e, ERR_INPUT, "fork: %s", strerror(errno)), -1;
  if (!pid) {
    sigprocmask(SIG_SETMASK, &old, NULL);
    char program[PATH_MAX];
    if (!program_find(argv[0], program, sizeof program)) snprintf(program, sizeof program, "%s", argv[0]);
    child_environment(t, program);
    execv(program, argv);
    int why = errno;
    if (write(failed[1], &why, sizeof why) < 0) _exit(126);
    _exit(127);
  }
  close(failed[1]);
  int why = 0, status = 0;
  bool exec_failed = read(failed[0], &why, sizeof why) == sizeof why;
  close(failed[0]);
  while (waitpid(pid, &status, WNOHANG) == 0) {
    siginfo_t si;
    int sig = sigwaitinfo(&watched, &si);
    /* The terminal sends Ctrl-C and Ctrl-\ to the child as well; what another process sent is passed on. */
    bool from_terminal = (sig == SIGINT || sig == SIGQUIT) && si.si_code > 0;
    if (sig > 0 && sig != SIGCHLD && !from_terminal) kill(pid, sig);
  }
  sigprocmask(SIG_SETMASK, &old, NULL);
  if (exec_failed) return err_set(e, ERR_USAGE, "cannot run '%s': %s", argv[0], strerror(why)), -1;
  return status;
}

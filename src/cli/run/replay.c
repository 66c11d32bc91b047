/* replay.c - `sluice run TRACE`: the launches of a trace in this process. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/text.h"
#include "proc/child.h"
#include "cli/run/run.h"
#include "session/replay.h"
#include "trace/common/input.h"

bool is_trace_file(const char *path) {
  return trace_is_trace(path);
}

/* Replay into `record`. With --keep-going, a damaged trace is reported and its launches before the damage count. */
static bool replay(const struct sim_options *o, const char *path, const char *record, struct err *e) {
  struct session_options so;
  if (!sim_session_options(o, path, record, &so, e)) return false;
  struct err wrong = {0};
  struct trace_input *t = trace_open(path, o->keep_going, &wrong);
  if (!t) {
    *e = wrong;
    return false;
  }
  struct session *s = session_open(&so, e);
  if (!s) {
    trace_close(t);
    return false;
  }
  struct err stop = {0};
  bool good = session_replay(s, t, &(struct replay_options){(uint32_t)o->from_kernel}, &stop);
  trace_close(t);
  if (!good && !wrong.code) wrong = stop;
  if (!good && (!o->keep_going || stop.code != ERR_INPUT)) {
    struct err ignored;
    *e = stop;
    session_close(s, &ignored);
    return false;
  }
  if (wrong.code) text_say(stderr, "sluice: %s; the launches before that are kept\n", wrong.msg);
  return session_close(s, e);
}

int run_trace(const struct command *self, const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct tempdir t;
  if (argv[1])
    return err_set(&e, ERR_USAGE, "'%s' after a trace: the arguments of its program were recorded", argv[1]),
           command_usage(self, &e);
  if (!run_fits(o, RUN_TRACE, &e)) return command_usage(self, &e);
  if (!sim_check(o, &e) || !tempdir_make(&t, &e)) return cli_fail(&e);
  heap_use_huge_pages();
  char record[600];
  tempdir_file(&t, "record.json", record, sizeof record);
  int rc = replay(o, argv[0], record, &e) ? run_finish(record, o) : cli_fail(&e);
  tempdir_remove(&t);
  return rc;
}

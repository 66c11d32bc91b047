/* replay_run.c - `sluice run TRACE`: the launches of a trace in this process. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "cli/child.h"
#include "cli/run.h"
#include "session/replay.h"
#include "trace/input.h"

bool is_trace_file(const char *path) {
  return trace_is_trace(path);
}

static bool options_of(const struct sim_options *o, const char *path, const char *record, struct session_options *so,
                       struct err *e) {
  if (o->launch) return err_set(e, ERR_USAGE, "--launch goes with a .ptx or .cu file, not with a trace");
  if (o->check && *o->check)
    return err_set(e, ERR_USAGE, "--check needs the program: a trace holds no data that could be looked at");
  if (o->from_kernel > UINT32_MAX) return err_set(e, ERR_USAGE, "--from-kernel: no trace has that many launches");
  *so = (struct session_options){
      .gpu = o->gpu,
      .scheme = o->scheme,
      .mode = o->mode && !strcmp(o->mode, "functional") ? SESSION_FUNCTIONAL : SESSION_TIMING,
      .sets = o->sets.at,
      .set_count = o->sets.count,
      .record_path = record,
      .program = path,
      .watchdog_cycles = o->watchdog,
      .quiet = o->quiet,
      .meter = o->meter,
      .detail = o->detail,
      .lines = o->lines,
      .character = o->characterise,
      .sample_cycles = o->sample,
  };
  return sim_timing_range(o->timing_kernels, &so->timing_first, &so->timing_end, e);
}

/* Replay into `record`. With --keep-going, what is wrong with the trace is said and the launches before it count. */
static bool replay(const struct sim_options *o, const char *path, const char *record, struct err *e) {
  struct session_options so;
  if (!options_of(o, path, record, &so, e)) return false;
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
  if (wrong.code) fprintf(stderr, "sluice: %s; the launches before that are kept\n", wrong.msg);
  return session_close(s, e);
}

int run_trace(const struct command *self, const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct tempdir t;
  if (argv[1])
    return err_set(&e, ERR_USAGE, "'%s' after a trace: the arguments of its program were recorded", argv[1]),
           command_usage(self, &e);
  if (!sim_check(o, &e) || !tempdir_make(&t, &e)) return cli_fail(&e);
  heap_use_huge_pages();
  char record[600];
  tempdir_file(&t, "record.json", record, sizeof record);
  int rc = replay(o, argv[0], record, &e) ? run_finish(record, o) : cli_fail(&e);
  tempdir_remove(&t);
  return rc;
}

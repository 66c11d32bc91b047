/* sim_options.c - semantics of the rows of session/options.def beyond parsing: which options apply to what is run (an
 * option without effect is an error), which are passed to other runs, and the resulting session options.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/run/run.h"
#include "session/live.h"

/* Combined with enum run_what: further conditions of an option. */
enum {
  EXECUTED = RUN_PROGRAM | RUN_KERNEL,
  SIMULATED = EXECUTED | RUN_TRACE,
  ANY = SIMULATED | RUN_CSV | RUN_SUITE,
  NEEDS_TIMING = 32, /* not in functional mode */
  NEEDS_TIMELINE = 64,
  NEEDS_ESTIMATE = 256,
  IDLE_UNTIMED = 128, /* without effect in functional mode */
};
enum pass { KEPT, PASSED };

struct row {
  const char *name;
  enum opt_kind kind;
  size_t at; /* bytes into struct sim_options */
  unsigned runs;
  enum pass pass;
};

static const struct row rows[] = {
#define SIM_OPTION(kind, member, name, letter, arg, complete, runs, pass, session, help) \
  {name, OPT_##kind, offsetof(struct sim_options, member), runs, pass},
#include "session/options.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool flag_of(const struct row *r, const struct sim_options *o) {
  return r->kind == OPT_FLAG && *(const bool *)((const char *)o + r->at);
}
static const char *option_text(const struct row *r, const struct sim_options *o) {
  const char *s = r->kind == OPT_TEXT || r->kind == OPT_MAYBE ? *(const char *const *)((const char *)o + r->at) : NULL;
  return s ? s : "";
}
static uint64_t number_of(const struct row *r, const struct sim_options *o) {
  return r->kind == OPT_UINT ? *(const uint64_t *)((const char *)o + r->at) : 0;
}
static struct opt_list option_list(const struct row *r, const struct sim_options *o) {
  return r->kind == OPT_LIST ? *(const struct opt_list *)((const char *)o + r->at) : (struct opt_list){0};
}

static bool is_given(const struct row *r, const struct sim_options *o) {
  return flag_of(r, o) || *option_text(r, o) || number_of(r, o) || option_list(r, o).count;
}

/* ---- passed on to the runs of compare, of suites and of searches ---- */

size_t sim_options_pass_most(const struct sim_options *o) {
  size_t n = 0;
  for (size_t i = 0; i < ROWS; i++) n += 2 + 2 * option_list(&rows[i], o).count;
  return n;
}

size_t sim_options_pass(struct arena *a, const struct sim_options *o, char **argv) {
  size_t n = 0;
  for (const struct row *r = rows; r < rows + ROWS; r++) {
    const struct opt_list l = option_list(r, o);
    if (r->pass != PASSED || !is_given(r, o)) continue;
    if (r->kind == OPT_UINT) argv[n++] = arena_printf(a, "--%s=%llu", r->name, (unsigned long long)number_of(r, o));
    else if (r->kind == OPT_MAYBE) argv[n++] = arena_printf(a, "--%s=%s", r->name, option_text(r, o));
    else if (r->kind != OPT_LIST) argv[n++] = arena_printf(a, "--%s", r->name);
    if (r->kind == OPT_TEXT) argv[n++] = arena_strdup(a, option_text(r, o));
    for (size_t i = 0; i < l.count; i++) {
      argv[n++] = arena_printf(a, "--%s", r->name);
      argv[n++] = arena_strdup(a, l.at[i]);
    }
  }
  return n;
}

/* ---- what goes with what ---- */

static const char *name_of(enum run_what what) {
  return what == RUN_PROGRAM  ? "a program"
         : what == RUN_KERNEL ? "a kernel file"
         : what == RUN_TRACE  ? "a trace"
         : what == RUN_CSV    ? "--trace-csv"
                              : "--suite";
}

static bool refuse(const struct row *r, enum run_what what, struct err *e) {
  if (r->runs & RUN_TRACE && !(r->runs & EXECUTED) && what != RUN_CSV)
    return err_set(e, ERR_USAGE, "--%s goes with a trace, not with %s", r->name, name_of(what));
  if (r->runs == RUN_KERNEL)
    return err_set(e, ERR_USAGE, "--%s goes with a .ptx or .cu file, not with %s", r->name, name_of(what));
  if (what == RUN_TRACE)
    return err_set(e, ERR_USAGE, "--%s needs the program: a trace holds no data that could be looked at", r->name);
  if (what == RUN_SUITE)
    return err_set(e, ERR_USAGE, "--%s does not go with --suite, which prints a line for each: sluice run --%s -- NAME",
                   r->name, r->name);
  return err_set(e, ERR_USAGE, "--%s does not go with %s", r->name, name_of(what));
}

bool run_fits(const struct sim_options *o, enum run_what what, struct err *e) {
  bool functional = o->mode && !strcmp(o->mode, "functional");
  for (const struct row *r = rows; r < rows + ROWS; r++) {
    if (!is_given(r, o)) continue;
    if (!(r->runs & what)) return refuse(r, what, e);
    if (r->runs & NEEDS_TIMING && functional)
      return err_set(e, ERR_USAGE, "--%s needs timing mode: functional mode gives results only", r->name);
    if (r->runs & IDLE_UNTIMED && functional && !o->quiet && strcmp(option_text(r, o), "baseline") != 0)
      fprintf(stderr, "sluice: --%s does nothing here: functional mode gives results only\n", r->name);
    if (r->runs & NEEDS_ESTIMATE && !o->estimate) return err_set(e, ERR_USAGE, "--%s needs --estimate", r->name);
    if (r->runs & NEEDS_TIMELINE && !o->timeline) return err_set(e, ERR_USAGE, "--%s needs --timeline FILE", r->name);
  }
  if (o->from_kernel > UINT32_MAX) return err_set(e, ERR_USAGE, "--from-kernel: no trace has that many launches");
  return true;
}

/* ---- what the simulation gets ---- */

bool sim_session_options(const struct sim_options *o, const char *program, const char *record,
                         struct session_options *so, struct err *e) {
  *so = (struct session_options){
      .mode = o->mode && !strcmp(o->mode, "functional") ? SESSION_FUNCTIONAL : SESSION_TIMING,
      .sets = o->sets.at,
      .set_count = o->sets.count,
      .record_path = record,
      .every_launch = o->launches && !strcmp(o->launches, "all"),
      .program = program,
      .quiet = o->quiet,
      .meter = o->meter,
      .trace_path = o->trace_out,
      .trace_temp = o->trace_temp,
  };
#define COMPUTED(member)
#define SAME(member) so->member = o->member;
#define SIM_OPTION(kind, member, name, letter, arg, complete, runs, pass, session, help) session(member)
#include "session/options.def"
  return simt_check_parse(o->check, &so->checks, e) && simt_memory_parse(sim_memory(o, ""), &so->memory, e) &&
         simt_interleave_parse(o->interleave, &so->turn, e) && live_interval(o->live, &so->live_ms, e) &&
         sim_timeline_window(o->timeline_window, &so->timeline_first, &so->timeline_last, e) &&
         sim_timing_range(o->timing_kernels, &so->timing_first, &so->timing_end, e);
}

/* run_fits.c - which options of `sluice run` go with what is run and how: one that could do nothing is an error. */
#include <stdio.h>
#include <string.h>

#include "cli/run/run.h"

/* With which enum run_what, and what else an option needs. */
enum {
  TIMING = 32, /* not in functional mode */
  TIMELINE = 64,
  SAYS = 128, /* without what else it needs it is no error: studies have functional runs of schemes */
  EXECUTED = RUN_PROGRAM | RUN_KERNEL,
  SIMULATED = EXECUTED | RUN_TRACE
};

struct fit {
  const char *name;
  bool given;
  unsigned with;
};

static const char *name_of(enum run_what what) {
  return what == RUN_PROGRAM  ? "a program"
         : what == RUN_KERNEL ? "a kernel file"
         : what == RUN_TRACE  ? "a trace"
         : what == RUN_CSV    ? "--trace-csv"
                              : "--suite";
}

static bool refuse(const struct fit *f, enum run_what what, struct err *e) {
  if (f->with & RUN_TRACE && !(f->with & EXECUTED) && what != RUN_CSV)
    return err_set(e, ERR_USAGE, "--%s goes with a trace, not with %s", f->name, name_of(what));
  if (f->with == RUN_KERNEL)
    return err_set(e, ERR_USAGE, "--%s goes with a .ptx or .cu file, not with %s", f->name, name_of(what));
  if (what == RUN_TRACE)
    return err_set(e, ERR_USAGE, "--%s needs the program: a trace holds no data that could be looked at", f->name);
  if (what == RUN_SUITE)
    return err_set(e, ERR_USAGE, "--%s does not go with --suite, which prints a line for each: sluice run --%s -- NAME",
                   f->name, f->name);
  return err_set(e, ERR_USAGE, "--%s does not go with %s", f->name, name_of(what));
}

bool run_fits(const struct sim_options *o, enum run_what what, struct err *e) {
  const struct fit fits[] = {
      {"launch", o->launch, RUN_KERNEL},
      {"from-kernel", o->from_kernel, RUN_TRACE},
      {"keep-going", o->keep_going, RUN_TRACE | RUN_CSV},
      {"check", o->check && *o->check, EXECUTED},
      {"memory", o->memory && *o->memory, EXECUTED | RUN_SUITE},
      {"interleave", o->interleave && *o->interleave, EXECUTED | RUN_SUITE},
      {"watchdog", o->watchdog, SIMULATED | RUN_SUITE},
      {"timing-kernels", o->timing_kernels, SIMULATED | RUN_SUITE | TIMING},
      {"scheme", o->scheme && strcmp(o->scheme, "baseline") != 0, SIMULATED | RUN_CSV | RUN_SUITE | TIMING | SAYS},
      {"fresh", o->fresh, SIMULATED | RUN_SUITE | TIMING},
      {"detail", o->detail, SIMULATED | TIMING},
      {"lines", o->lines, SIMULATED | TIMING},
      {"characterise", o->characterise, SIMULATED | TIMING},
      {"profile", o->profile, SIMULATED | RUN_SUITE | TIMING},
      {"sample", o->sample, SIMULATED | TIMING},
      {"energy", o->energy, SIMULATED | TIMING},
      {"energy-sensitivity", o->energy_sensitivity, SIMULATED | TIMING},
      {"timeline", o->timeline, SIMULATED | TIMING},
      {"timeline-window", o->timeline_window, SIMULATED | TIMING | TIMELINE},
      {"timeline-sms", o->timeline_sms, SIMULATED | TIMING | TIMELINE},
  };
  bool functional = o->mode && !strcmp(o->mode, "functional");
  for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
    const struct fit *f = &fits[i];
    if (!f->given) continue;
    if (!(f->with & what)) return refuse(f, what, e);
    if (f->with & TIMING && functional && !(f->with & SAYS))
      return err_set(e, ERR_USAGE, "--%s needs timing mode: functional mode gives results only", f->name);
    if (f->with & TIMING && functional && !o->quiet)
      fprintf(stderr, "sluice: --%s does nothing here: functional mode gives results only\n", f->name);
    if (f->with & TIMELINE && !o->timeline) return err_set(e, ERR_USAGE, "--%s needs --timeline FILE", f->name);
  }
  if (o->from_kernel > UINT32_MAX) return err_set(e, ERR_USAGE, "--from-kernel: no trace has that many launches");
  return true;
}

bool sim_session_options(const struct sim_options *o, const char *program, const char *record,
                         struct session_options *so, struct err *e) {
  *so = (struct session_options){
      .gpu = o->gpu,
      .scheme = o->scheme,
      .mode = o->mode && !strcmp(o->mode, "functional") ? SESSION_FUNCTIONAL : SESSION_TIMING,
      .sets = o->sets.at,
      .set_count = o->sets.count,
      .record_path = record,
      .every_launch = o->launches && !strcmp(o->launches, "all"),
      .program = program,
      .watchdog = o->watchdog,
      .quiet = o->quiet,
      .meter = o->meter,
      .detail = o->detail,
      .lines = o->lines,
      .character = o->characterise,
      .profile = o->profile,
      .timeline_path = o->timeline,
      .timeline_sms = (uint32_t)o->timeline_sms,
      .sample_cycles = o->sample,
      .trace_path = o->trace_out,
      .trace_temp = o->trace_temp,
  };
  return simt_check_parse(o->check, &so->checks, e) && simt_memory_parse(sim_memory(o, ""), &so->memory, e) &&
         simt_interleave_parse(o->interleave, &so->turn, e) &&
         sim_timeline_window(o->timeline_window, &so->timeline_first, &so->timeline_last, e) &&
         sim_timing_range(o->timing_kernels, &so->timing_first, &so->timing_end, e);
}

/* session.c - one simulated GPU as a program uses it: configuration from options, launches through the functional
 * machine or the timing model, and the record of results.
 */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "results/record.h"
#include "gpu/observe/timeline.h"
#include "results/timeline.h"
#include "trace/slt/slt_write.h"
#include "trace/trace_feed.h"
#include "session/live.h"
#include "session/session_impl.h"

enum { CONST_BYTES = 65536 };

/* ---- opening ---- */

static void copy_options(struct session *s, const struct session_options *o) {
  s->o = session_options_copy(&s->arena, o);
  if (!s->o.gpu) s->o.gpu = "fermi";
  if (!s->o.scheme) s->o.scheme = "baseline";
}

static bool configure(struct session *s, struct err *e) {
  if (!gpu_config_load(&s->config, s->o.gpu, e)) return false;
  for (size_t i = 0; i < s->o.set_count; i++) {
    const char *eq = strchr(s->o.sets[i], '=');
    if (!eq) return err_set(e, ERR_USAGE, "--set %s: expected KEY=VALUE", s->o.sets[i]);
    const char *key = arena_strndup(&s->arena, s->o.sets[i], (size_t)(eq - s->o.sets[i]));
    if (!gpu_config_set(&s->config, key, eq + 1, "--set", e)) return false;
  }
  return gpu_config_check(&s->config, e);
}

static void describe_device(struct session *s) {
  const struct gpu_config *g = &s->config;
  struct session_device *d = &s->device;
  snprintf(d->name, sizeof d->name, "%.63s", g->name);
  d->sms = g->sms;
  d->warp_size = 32;
  d->max_threads_per_cta = g->sm_cta_threads;
  d->max_threads_per_sm = g->sm_threads;
  d->max_ctas_per_sm = g->sm_ctas;
  d->gpc_sms = g->gpc_sms;
  d->regs_per_sm = d->regs_per_cta = g->sm_regs;
  d->shared_per_cta = d->shared_per_sm = g->sm_shared;
  d->shared_reserved = g->cta_reserved;
  d->shared_most = g->sm_shared > g->cta_reserved ? g->sm_shared - g->cta_reserved : 0;
  if (d->shared_per_cta > 49152) d->shared_per_cta = 49152; /* more by opt-in only, as on every GPU since Volta */
  d->const_bytes = CONST_BYTES;
  d->core_khz = g->core_mhz * 1000;
  d->mem_khz = g->dram_mhz * 1000;
  d->mem_bus_bits = g->channels * g->dram_chips * g->dram_bus_bytes * 8;
  d->l2_bytes = g->channels * g->subparts * g->l2.sets * g->l2.ways * g->l2.line;
  d->cc_major = g->cc_major;
  d->cc_minor = g->cc_minor;
  d->mem_bytes = (uint64_t)g->mem_mb << 20;
  d->array_blocks = g->l1t_blocks;
}

uint32_t session_machine_code(const struct session *s) {
  return s->config.code == CODE_MACHINE ? s->config.cc_major * 10 + s->config.cc_minor : 0;
}

const char *session_needs_values(const struct session *s) {
  const struct slots *k = s->gpu ? gpu_slots(s->gpu) : NULL;
  return k && k->n_line_size ? k->at[k->line_size[0]].scheme->name : NULL;
}

static void free_session(struct session *s) {
  live_close(s->live);
  session_tasks_free(s);
  if (s->gpu) gpu_free(s->gpu);
  if (s->simt) simt_free(s->simt);
  if (s->record) record_free(s->record);
  sampler_free(s->sampler);
  slt_abandon(s->trace);
  arena_free(&s->arena);
  free(s);
}

bool session_make_machine(struct session *s, struct err *e) {
  if (s->gpu) gpu_free(s->gpu);
  s->gpu = gpu_new(&s->config, s->o.scheme, e);
  if (!s->gpu) return false;
  if (s->o.watchdog) gpu_set_watchdog(s->gpu, s->o.watchdog);
  gpu_set_threads(s->gpu, s->o.threads < UINT32_MAX ? (uint32_t)s->o.threads : UINT32_MAX);
  uint32_t sms = s->o.timeline_sms < UINT32_MAX ? (uint32_t)s->o.timeline_sms : 0;
  gpu_watch(s->gpu, &(struct gpu_watch){.character = s->o.characterise,
                                        .profile = s->o.profile,
                                        .timeline = s->o.timeline != NULL,
                                        .timeline_first = s->o.timeline_first,
                                        .timeline_last = s->o.timeline_last,
                                        .timeline_sms = sms,
                                        .detail = s->o.detail,
                                        .lines = s->o.lines || s->o.detail,
                                        .sample = s->o.sample});
  return true;
}

static bool open_machine(struct session *s, struct err *e) {
  if (!configure(s, e)) return false;
  describe_device(s);
  if (s->o.mode == SESSION_TIMING && !session_make_machine(s, e)) return false;
  s->simt = simt_new(s->device.mem_bytes, e);
  if (!s->simt) return false;
  simt_set_watchdog(s->simt, s->o.watchdog);
  simt_set_clock(s->simt, s->config.core_mhz);
  if (session_machine_code(s)) simt_back_end(s->simt, session_machine_code(s));
  if (!simt_check(s->simt, s->o.checks, stderr, e)) return false;
  simt_interleave(s->simt, s->o.turn);
  simt_set_threads(s->simt, (uint32_t)(s->o.threads < UINT32_MAX ? s->o.threads : UINT32_MAX));
  simt_memory(s->simt, s->o.memory, stderr);
  s->record = record_new(&(struct record_head){.config = &s->config,
                                               .program = s->o.program,
                                               .mode = s->o.mode == SESSION_TIMING ? "timing" : "functional",
                                               .scheme = s->o.scheme,
                                               .unread = s->o.record_unread,
                                               .every_launch = s->o.every_launch,
                                               .warm = s->o.warm,
                                               .state = s->o.state_path});
  if (!sampler_open(s, e)) return false;
  if (!s->o.trace_path) return true;
  s->trace = slt_create(s->o.trace_path, s->o.trace_temp, s->o.program, session_machine_code(s), e);
  return s->trace != NULL;
}

struct session *session_open(const struct session_options *o, struct err *e) {
  struct session *s = calloc(1, sizeof *s);
  if (!s) return err_set(e, ERR_INTERNAL, "out of memory"), NULL;
  copy_options(s, o);
  meter_init(&s->meter, o->meter);
  if (o->live_ms) s->live = live_open(s, o->live_ms);
  if (open_machine(s, e)) return s;
  free_session(s);
  return NULL;
}

/* ---- options of a child of `sluice run` ---- */

static bool read_mode(const char *word, enum session_mode *mode, struct err *e) {
  if (strcmp(word, "timing") == 0) *mode = SESSION_TIMING;
  else if (strcmp(word, "functional") == 0) *mode = SESSION_FUNCTIONAL;
  else return err_set(e, ERR_USAGE, "mode \"%s\": expected timing or functional", word);
  return true;
}

/* One trace and one timeline per run: of the first process that simulates. */
static void claim_files(const char *dir, struct session_options *o) {
  char path[4096];
  if (!o->trace_path && !o->timeline) return;
  if (snprintf(path, sizeof path, "%s/claimed", dir) >= (int)sizeof path) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) {
    close(fd);
    return;
  }
  text_say(stderr, "sluice: %s is another process of the run; what it launches is in no %s\n",
           program_invocation_short_name, o->trace_path ? "trace" : "timeline");
  o->trace_path = o->timeline = NULL;
}

static struct session *open_from_file(const char *dir, struct err *e) {
  struct arena a = {0};
  struct session *s = NULL;
  struct session_options o;
  if (session_options_read(&a, arena_printf(&a, "%s/options.json", dir), &o, e)) {
    o.record_path = arena_printf(&a, "%s/record.json", dir);
    o.state_path = arena_printf(&a, "%s/process", dir);
    claim_files(dir, &o);
    s = session_open(&o, e);
  }
  arena_free(&a);
  return s;
}

struct session *session_open_from_env(struct err *e) {
  const char *dir = getenv("SLUICE_DIR");
  if (dir && *dir) return open_from_file(dir, e);
  const char *mode = getenv("SLUICE_MODE");
  struct session_options o = {
      .gpu = getenv("SLUICE_GPU"), .scheme = getenv("SLUICE_SCHEME"), .record_path = getenv("SLUICE_RECORD")};
  if (!read_mode(mode ? mode : "timing", &o.mode, e)) return NULL;
  if (!simt_check_parse(getenv("SLUICE_CHECK"), &o.checks, e)) return NULL;
  if (!simt_interleave_parse(getenv("SLUICE_INTERLEAVE"), &o.turn, e)) return NULL;
  const char *memory = getenv("SLUICE_MEMORY");
  if (!simt_memory_parse(memory ? memory : "warn", &o.memory, e)) return NULL;
  return session_open(&o, e);
}

struct simt *session_simt(struct session *s) {
  return s->simt;
}

struct record *session_record(struct session *s) {
  return s->record;
}

const struct session_device *session_device(struct session *s) {
  return &s->device;
}

/* ---- copies and the end ---- */

void session_note_copy(struct session *s, uint64_t bytes, bool to_device) {
  record_add_copy(s->record, bytes, to_device);
  if (s->trace) slt_note_copy(s->trace, 0, bytes, to_device);
}

/* The findings of the checks, for the user and the record. */
static void close_checks(struct session *s) {
  char text[256];
  const struct simt_finding *f;
  if (!s->o.checks) return;
  simt_check_summary(s->simt, text, sizeof text);
  fflush(stdout);
  fprintf(stderr, "sluice: check: %s\n", text);
  record_begin_findings(s->record);
  for (size_t i = 0; (f = simt_check_finding(s->simt, i)); i++)
    record_add_finding(s->record, f->check, f->text, f->count);
}

/* The same for allowed accesses out of bounds. */
static void close_strays(struct session *s) {
  char text[256];
  const struct simt_finding *f;
  struct simt_strays n = simt_strays(s->simt);
  if (!n.reads && !n.writes) return;
  simt_strays_summary(s->simt, text, sizeof text);
  fflush(stdout);
  fprintf(stderr, "sluice: warning: %s (docs/how-to/memory-checks.md)\n", text);
  record_begin_strays(s->record, n.reads, n.writes);
  for (size_t i = 0; (f = simt_stray(s->simt, i)); i++) record_add_stray(s->record, f->text, f->count);
}

static bool write_timeline(const struct session *s, struct err *e) {
  const struct gpu_timeline *t = s->gpu && s->o.timeline ? gpu_observed(s->gpu)->timeline : NULL;
  if (t && t->dropped)
    fprintf(stderr, "sluice: the timeline holds %zu events, %llu more did not fit: choose a shorter window\n", t->count,
            (unsigned long long)t->dropped);
  return !t || timeline_write(t, s->o.timeline, e);
}

/* Beside its state file, if it has one: a folder may hold the records of several processes. */
static bool write_record(struct session *s, struct err *e) {
  const char *state = record_state(s->record);
  struct simt_strays n = simt_strays(s->simt);
  if (s->o.record_unread && !n.reads && !n.writes) return true; /* otherwise the exit code reports it */
  return record_write(s->record, state ? arena_printf(&s->arena, "%s.json", state) : s->o.record_path, e);
}

bool session_finish(struct session *s, struct err *e) {
  struct err ignored = {0};
  if (s->advancing) session_leave_undone(s);
  else session_wait(s, SESSION_ALL, NULL, &ignored); /* tasks that were submitted and never awaited */
  close_checks(s);
  close_strays(s);
  if (s->gpu) record_set_profile(s->record, gpu_observed(s->gpu));
  bool good = !s->gpu || gpu_finish(s->gpu, e);
  if (s->trace && s->launch_lost) fputs("sluice: the trace does not hold the launch that was stopped\n", stderr);
  if (good && s->trace) good = slt_finish(s->trace, e), s->trace = NULL;
  if (good) good = write_timeline(s, e);
  if (good && s->o.record_path) good = write_record(s, e);
  if (good) good = sampler_write(s, e);
  if (good) record_set_end(s->record, RECORD_CLOSED);
  return good;
}

void session_forked(struct session *s) {
  session_drop_tasks(s);
  if (s->trace || s->o.timeline)
    fprintf(stderr, "sluice: what a forked child does is in no %s\n", s->trace ? "trace" : "timeline");
  s->trace = NULL; /* the file belongs to the parent */
  s->o.timeline = NULL;
  record_restart(s->record, s->o.state_path);
}

bool session_close(struct session *s, struct err *e) {
  if (!s) return true;
  bool good = session_finish(s, e);
  free_session(s);
  return good;
}

/* sampled.c - a session that times a sample of its launches and logs what each launch did.
 *
 * Launches that are not timed run functionally through a tap (sample/signature.h), which also keeps the tags of the L2
 * warm.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sample/crew.h"
#include "sample/inside.h"
#include "sample/launchlog.h"
#include "sample/plan.h"
#include "session/session_impl.h"

struct sampler {
  struct launchlog log;
  struct sample_plan plan;
  bool planned;
  struct signer *signer;
  uint32_t tapped; /* the launch that the signer observes, plus 1; 0: none */
  const struct feed_kernel *kernel;
  bool orderly;          /* its CTAs do not wait for each other */
  struct inside *inside; /* of the launch that runs, NULL: none */
  uint32_t last;         /* the launch noted last */
};

bool sampler_open(struct session *s, struct err *e) {
  if (!s->o.launch_log && !s->o.time_plan) return true;
  struct sampler *p = s->sampler = mem_zeroed(1, sizeof *p);
  p->signer = signer_new();
  p->planned = s->o.time_plan != NULL;
  return !p->planned || plan_read(&p->plan, s->o.time_plan, e);
}

void sampler_free(struct sampler *p) {
  if (!p) return;
  signer_free(p->signer);
  inside_free(p->inside);
  launchlog_free(&p->log);
  plan_free(&p->plan);
  free(p);
}

bool sampler_times(const struct session *s, uint32_t launch) {
  const struct sampler *p = s->sampler;
  return !p || !p->planned || plan_times(&p->plan, launch) || plan_precedes(&p->plan, launch);
}

/* Does it read memory that another CTA writes meanwhile? Volatile loads and exchanges are how CTAs wait for each
 * other. */
static bool is_orderly(const struct feed_kernel *k) {
  for (uint32_t i = 0; i < k->insts; i++) {
    const struct inst *in = &k->code[i];
    bool far = in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC;
    if (far && in->kind == KIND_LOAD && in->flags & INST_VOLATILE) return false;
    if (far && in->kind == KIND_ATOM && !(in->flags & INST_NO_RESULT)) return false;
  }
  return k->cluster <= 1;
}

static void touch_l2(void *ctx, const struct touched_line *l) {
  gpu_touch(ctx, &(struct gpu_touched){l->addr, l->sectors, l->part, l->place, l->write});
}

/* CTAs of a launch that the GPU holds at a time. */
struct cta_needs {
  uint64_t threads;
  uint32_t regs, shared_bytes;
};

static uint32_t resident(const struct session *s, const struct cta_needs *l) {
  const struct session_device *d = &s->device;
  uint64_t threads = (l->threads + 31) / 32 * 32, n = d->max_ctas_per_sm, regs = threads * ((l->regs + 3) & ~3u);
  if (threads && d->max_threads_per_sm / threads < n) n = d->max_threads_per_sm / threads;
  if (regs && d->regs_per_sm / regs < n) n = d->regs_per_sm / regs;
  uint64_t shared = l->shared_bytes + d->shared_reserved;
  if (shared && d->shared_per_sm / shared < n) n = d->shared_per_sm / shared;
  return (uint32_t)(n ? n : 1) * d->sms;
}

static uint32_t resident_of(const struct session *s, const struct feed_kernel *k) {
  return resident(s, &(struct cta_needs){k->threads_per_cta, k->regs_per_thread, k->shared_bytes});
}

/* The feed of a launch of which CTAs run without time. */
static struct feed *begin_signing(const struct session *s, struct feed *f, uint32_t slots) {
  struct signer_l2 l2 = {.sink = s->gpu ? touch_l2 : NULL, .ctx = s->gpu, .side = resident_of(s, f->kernel)};
  l2.sms = s->device.sms;
  return signer_begin(s->sampler->signer, f, slots, &l2);
}

struct feed *sampler_tap(struct session *s, struct feed *f, uint32_t launch) {
  struct sampler *p = s->sampler;
  if (!p || f->kernel->cluster > 1) return f; /* CTAs of a cluster wait for each other */
  if (s->gpu && p->plan.cold && s->o.time_plan) return f;
  p->tapped = launch + 1;
  p->kernel = f->kernel;
  p->orderly = is_orderly(f->kernel);
  return begin_signing(s, f, session_cta_slots(s));
}

/* The tapped launch on host threads, from CTA slot `first` of `run` on; NULL: it must be driven by its feed. */
static struct crew *new_crew(const struct session *s, struct simt_run *run, uint32_t first) {
  struct feed *feed[CREW_MOST];
  uint32_t n = simt_workers(run);
  if (!n) return NULL;
  if (n > CREW_MOST) n = CREW_MOST;
  simt_share(run, first, n, feed);
  return crew_new(s->sampler->signer, feed, n);
}

bool sampler_drive(struct session *s, struct simt_run *run, struct crew_counts *n, bool *ran, struct err *e) {
  const struct sampler *p = s->sampler;
  struct crew *c = p && p->orderly ? new_crew(s, run, 0) : NULL;
  *ran = c != NULL;
  if (!c) return true;
  const struct feed_kernel *k = simt_feed(run)->kernel;
  crew_watch(c, simt_feed(run)->watch);
  bool good = crew_run(c, &(struct crew_range){.to = k->ctas, .watchdog = s->o.watchdog}, n);
  if (good) simt_note(run, n->warp_insts);
  else if (*crew_fault(c)->text) err_set(e, ERR_PROGRAM, "%s", crew_fault(c)->text);
  else err_set(e, ERR_STUCK, "kernel %s makes no progress: a block waits for ever (--watchdog N)", k->name);
  if (!good) simt_fault(run, crew_fault(c));
  crew_free(c);
  return good;
}

/* ---- CTAs of a launch ---- */

uint32_t sampler_slots(const struct session *s, uint32_t launch) {
  const struct plan_cluster *c = s->sampler && s->sampler->planned ? plan_times(&s->sampler->plan, launch) : NULL;
  uint32_t threads = s->o.threads > CREW_MOST ? CREW_MOST : s->o.threads ? (uint32_t)s->o.threads : 1;
  return session_cta_slots(s) + (c && c->blocks ? threads : 0);
}

struct feed *sampler_inside(struct session *s, struct feed *f, struct simt_run *run, uint32_t launch) {
  struct sampler *p = s->sampler;
  const struct plan_cluster *c = p && p->planned ? plan_times(&p->plan, launch) : NULL;
  const struct feed_kernel *k = f->kernel;
  if (!c || !c->blocks || p->inside || k->cluster > 1) return f;
  if (gpu_orders_ctas(s->gpu)) return f; /* groups of consecutive CTAs are no sample of another order */
  struct inside_choice how = {.seed = p->plan.seed ^ launch, .resident = resident_of(s, k)};
  uint32_t spare = session_cta_slots(s);
  how.runs = c->blocks > INSIDE_ENDS ? (c->blocks - INSIDE_ENDS) / INSIDE_RUN : 0;
  if (!how.runs || c->blocks >= inside_groups(k->ctas, how.resident)) return f;
  if (!p->plan.cold) begin_signing(s, f, spare + 1);
  how.crew = p->plan.cold ? NULL : new_crew(s, run, spare);
  if (!how.crew) how.crew = crew_of_one(p->plan.cold ? NULL : p->signer, f, spare);
  p->inside = inside_new(f, &how);
  return inside_feed(p->inside);
}

static void look_soon(void *ctx) {
  gpu_look_soon(ctx);
}

static bool peek(void *ctx, struct gpu_stats *stats) {
  return gpu_peek(ctx, stats);
}

void sampler_watch(struct session *s) {
  if (s->sampler && s->sampler->inside && s->gpu)
    inside_watch(s->sampler->inside, &(struct inside_source){look_soon, peek, s->gpu});
}

/* The timed CTAs of a launch have ended: run what is left of it. */
static void end_inside(struct sampler *p, struct logged_launch *q) {
  free(q->inside.counter);
  q->inside = (struct logged_inside){0};
  if (inside_end(p->inside)) q->inside = inside_result(p->inside, &q->stats, &q->sig.warp_insts, &q->sig.thread_insts);
  inside_free(p->inside);
  p->inside = NULL;
}

static void end_tap(struct session *s, uint32_t launch, struct signature *sig) {
  const struct sampler *p = s->sampler;
  struct gpu_executed code = {.kernel = p->kernel, .last = signer_last(p->signer)};
  code.constant = signer_constants(p->signer, &code.constants);
  code.local = signer_local(p->signer);
  code.on_sm = signer_ran(p->signer, &code.set_words);
  code.local_words = SIGNED_LOCAL;
  if (s->gpu) gpu_touch_code(s->gpu, &code);
  signer_end(p->signer, launch, sig);
}

void sampler_note(struct session *s, const struct record_launch *l, const struct gpu_stats *stats, bool overlapped) {
  struct sampler *p = s->sampler;
  if (!p) return;
  struct logged_launch *q = launchlog_at(&p->log, p->last = l->launch);
  free(q->kernel);
  q->kernel = mem_text(l->kernel);
  memcpy(q->grid, l->grid, sizeof q->grid);
  memcpy(q->block, l->block, sizeof q->block);
  q->shared_bytes = l->shared_bytes;
  q->regs = l->regs;
  q->resident =
      resident(s, &(struct cta_needs){(uint64_t)l->block[0] * l->block[1] * l->block[2], l->regs, l->shared_bytes});
  q->timed = l->timing && !(p->planned && plan_precedes(&p->plan, l->launch));
  q->overlapped = overlapped;
  q->stats = *stats;
  q->signed_ = p->tapped == l->launch + 1;
  if (q->signed_) end_tap(s, l->launch, &q->sig);
  q->orderly = q->signed_ && p->orderly;
  p->tapped = 0;
  q->sig.warp_insts = stats->warp_insts;
  q->sig.thread_insts = stats->thread_insts;
  if (p->inside && q->timed) end_inside(p, q);
}

void sampler_note_counter(struct session *s, const char *key, uint64_t value) {
  if (s->sampler && value) launchlog_add_counter(launchlog_at(&s->sampler->log, s->sampler->last), key, value);
}

bool sampler_write(const struct session *s, struct err *e) {
  return !s->sampler || !s->o.launch_log || launchlog_write(&s->sampler->log, s->o.launch_log, e);
}

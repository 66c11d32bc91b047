/* tasks.c - tasks of a session: dependencies, scheduling, and their entries in the record.
 *
 * A task runs when all tasks that it depends on have ended. Simulated time advances only in launches: calls take none,
 * and neither does the host, so work submitted after a wait starts when the wait ends. Nothing runs before the host
 * waits (or too many tasks are pending); then the machine runs until the awaited task has ended and pauses, with
 * everything else on it, until the next wait. Launches that could start in the same cycle are ordered by priority,
 * then by submission. In functional mode tasks run in order of submission.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sample/crew.h"
#include "session/session_impl.h"
#include "trace/slt/slt_write.h"
#include "trace/trace_feed.h"

enum {
  MAX_TASKS = 1024,   /* pending tasks: beyond this, submission waits, like a full launch queue */
  MAX_TOGETHER = 4096 /* overlapping launches since the machine was idle: later ones are merged at once */
};

struct task {
  session_task id;
  struct session_item item;
  struct simt_launch launch; /* SESSION_LAUNCH, with its own parameter block */
  uint32_t index;            /* of launches */
  uint32_t step;             /* in a trace that is recorded */
  session_task *dep;
  uint32_t deps;
  bool detail, running, done;
  struct task *parent; /* the launch whose kernel launched this one, or NULL */
  uint32_t children, depth;
  uint32_t on; /* while running: its number on the machine */
  struct simt_run *run;
  struct feed *feed;
  struct meter_launch meter;
};

/* ---- functional execution ---- */

static bool in_detail(const struct session *s, uint32_t launch) {
  if (!s->gpu || !sampler_times(s, launch)) return false;
  return !s->o.timing_end || (launch >= s->o.timing_first && launch < s->o.timing_end);
}

/* Functional mode has no clock. Events need times that grow with the work: one warp instruction per SM and cycle,
 * spread over all SMs. */
static void add_functional(struct session *s, struct gpu_stats *st, uint64_t warp_insts, uint64_t thread_insts) {
  st->warp_insts = warp_insts;
  st->thread_insts = thread_insts;
  s->cycles += warp_insts / s->config.sms + 1;
  s->clock += warp_insts * FEED_FUNCTIONAL_CYCLES;
}

/* A feed other than the functional machine's own loop: a trace, or a recorded execution. */
static bool drive(struct session *s, struct feed *f, struct gpu_stats *st, struct err *e) {
  struct trace_counts n = {0};
  bool good = trace_drive(f, session_cta_slots(s), s->o.watchdog, &n, e);
  add_functional(s, st, n.warp_insts, n.thread_insts);
  return good;
}

static bool run_functional(struct session *s, struct task *t, struct gpu_stats *st, struct err *e) {
  struct feed *f = sampler_tap(s, t->feed, t->index);
  bool tapped = f != t->feed, ran = false;
  if (t->run && !s->trace && tapped) {
    struct crew_counts c = {0};
    bool good = sampler_drive(s, t->run, &c, &ran, e);
    if (ran) add_functional(s, st, c.warp_insts, c.thread_insts);
    if (ran) return good;
  }
  if (!t->run || s->trace || tapped) return drive(s, f, st, e);
  struct simt_counts n = {0};
  bool good = simt_run(t->run, &n, e);
  add_functional(s, st, n.warp_insts, n.thread_insts);
  return good;
}

/* ---- the record ---- */

static struct record_launch facts(const struct task *t) {
  const struct feed_kernel *k = t->feed->kernel;
  struct record_launch l = {.kernel = k->name,
                            .shared_bytes = k->shared_bytes,
                            .regs = k->regs_per_thread,
                            .timing = t->detail,
                            .stream = t->item.stream,
                            .launch = t->index};
  memcpy(l.grid, k->grid, sizeof l.grid);
  memcpy(l.block, k->block, sizeof l.block);
  return l;
}

static void note_launch(struct session *s, const struct record_launch *l) {
  if (s->togethers == MAX_TOGETHER) {
    record_fold_overlapping(s->record, l);
    return;
  }
  if (s->togethers == s->together_room) {
    s->together_room = s->together_room ? 2 * s->together_room : 16;
    s->together = mem_resize(s->together, s->together_room, sizeof *s->together);
  }
  s->together[s->togethers] = *l;
  char *name = mem_text(l->kernel); /* its module may be unloaded earlier */
  s->together[s->togethers++].kernel = name;
}

static void add_scheme_counter(void *ctx, const char *key, uint64_t value) {
  struct session *s = ctx;
  record_add_scheme_counter(s->record, key, value);
  sampler_note_counter(s, key, value);
}

static int by_launch(const void *a, const void *b) {
  const struct record_launch *p = a, *q = b;
  return (p->launch > q->launch) - (p->launch < q->launch);
}

/* The machine is idle: record the launches since it was last idle. */
static bool close_machine(struct session *s, struct err *e) {
  struct gpu_stats st = {0};
  bool overlapped = gpu_overlapped(s->gpu), good = gpu_close(s->gpu, &st, e);
  if (s->togethers && !overlapped) {
    st.kernels = 1;
    record_add(s->record, &s->together[0], &st);
    sampler_note(s, &s->together[0], &st, false);
  } else if (s->togethers) {
    qsort(s->together, s->togethers, sizeof *s->together, by_launch);
    record_add_overlapping(s->record, s->together, s->togethers, s->cycles, &st);
    for (uint32_t i = 0; i < s->togethers; i++) sampler_note(s, &s->together[i], &s->together[i].own, true);
  }
  if (s->togethers) {
    record_add_observed(s->record, gpu_observed(s->gpu));
    slots_take_counters(gpu_slots(s->gpu), add_scheme_counter, s);
  }
  record_commit(s->record);
  s->cycles += st.cycles;
  s->timed_insts += st.thread_insts;
  for (uint32_t i = 0; i < s->togethers; i++) free((void *)s->together[i].kernel);
  s->togethers = 0;
  return good;
}

/* ---- the list ---- */

static void free_task(struct task *t) {
  if (t->run) simt_end(t->run);
  if (t->item.release) t->item.release(t->item.ctx);
  free((void *)t->launch.params);
  free(t->dep);
  free(t);
}

static void sweep(struct session *s) {
  uint32_t n = 0;
  bool held = false; /* code of trace files, used by the machine's counters until it is idle */
  held = s->gpu && gpu_running(s->gpu) && (s->o.lines || s->o.detail);
  for (uint32_t i = 0; i < s->tasks; i++)
    if (s->task[i]->done && !(held && s->task[i]->item.kind == SESSION_FEED)) free_task(s->task[i]);
    else s->task[n++] = s->task[i];
  s->tasks = n;
}

static struct task *task_by_id(const struct session *s, session_task id) {
  uint32_t lo = 0, hi = s->tasks;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (s->task[mid]->id < id) lo = mid + 1;
    else hi = mid;
  }
  return lo < s->tasks && s->task[lo]->id == id && !s->task[lo]->done ? s->task[lo] : NULL;
}

bool session_done(const struct session *s, session_task id) {
  return id == SESSION_ALL ? !s->tasks : !task_by_id(s, id);
}

void session_tasks_free(struct session *s) {
  for (uint32_t i = 0; i < s->tasks; i++) free_task(s->task[i]);
  free(s->task);
  for (uint32_t i = 0; i < s->togethers; i++) free((void *)s->together[i].kernel);
  free(s->together);
  session_record_free(s);
  s->task = NULL;
  s->tasks = 0;
}

/* ---- running ---- */

static bool ready(const struct session *s, struct task *t) {
  while (t->deps && !task_by_id(s, t->dep[t->deps - 1])) t->deps--;
  return !t->deps && !t->running && !t->done && !t->children;
}

static void start_children(struct session *s, struct task *parent, struct simt_child *list);

static void drop_task(struct task *t) {
  t->running = false;
  t->done = true;
  if (t->run) simt_end(t->run);
  t->run = NULL;
}

/* A kernel has ended when its child grids have. */
static void end_task(struct session *s, struct task *t) {
  struct simt_child *children = t->run ? simt_take_children(t->run) : NULL;
  drop_task(t);
  t->done = !children;
  if (children) start_children(s, t, children);
  for (struct task *p = t->parent, *c = t; p && c->done; c = p, p = p->parent)
    if (--p->children == 0) p->done = true;
}

/* Keep the first failure for the next wait; pending tasks submitted before it are dropped. */
static void fail(struct session *s, struct task *t, const struct err *e) {
  s->failed = true;
  s->error = *e;
  s->cuda_error = 0;
  if (t && t->feed && (e->code == ERR_PROGRAM || e->code == ERR_UNSUPPORTED)) {
    const struct feed_fault *f = t->feed->ops->fault(t->feed->ctx);
    if (f && f->cuda_error == FEED_UNSUPPORTED) s->error.code = ERR_UNSUPPORTED;
    else if (f) s->cuda_error = f->cuda_error;
  }
  if (t && t->item.explain) t->item.explain(t->item.ctx, &s->error);
  struct err ignored = {0};
  if (s->gpu && gpu_running(s->gpu)) s->broken = true, close_machine(s, &ignored);
  for (uint32_t i = 0; i < s->tasks; i++) drop_task(s->task[i]);
}

/* CTAs of a launch that the GPU holds at a time, limited by slots, threads, registers and shared memory of the SMs. */
static uint32_t resident_ctas(const struct session *s, const struct simt_launch *l) {
  const struct session_device *d = &s->device;
  const struct simt_kernel_info *k = simt_kernel_info(l->kernel);
  uint64_t threads = ((uint64_t)l->block[0] * l->block[1] * l->block[2] + 31) / 32 * 32, n = d->max_ctas_per_sm;
  uint64_t regs = threads * (l->reg_limit && k->regs > l->reg_limit ? l->reg_limit : k->regs);
  uint64_t shared = (uint64_t)k->static_shared + l->dynamic_shared + d->shared_reserved;
  if (threads && d->max_threads_per_sm / threads < n) n = d->max_threads_per_sm / threads;
  if (regs && d->regs_per_sm / regs < n) n = d->regs_per_sm / regs;
  if (shared && d->shared_per_sm / shared < n) n = d->shared_per_sm / shared;
  return (uint32_t)(n ? n : 1) * d->sms;
}

static bool open_feed(struct session *s, struct task *t, struct err *e) {
  if (t->item.kind == SESSION_FEED) {
    t->feed = t->item.open(t->item.ctx, e);
    return t->feed != NULL;
  }
  const uint32_t *b = t->launch.block;
  bool fair = !t->detail && !s->trace && s->o.turn;
  t->launch.reg_limit = simt_register_limit(simt_kernel_info(t->launch.kernel), b[0] * b[1] * b[2], s->config.sm_regs);
  t->launch.now = s->clock + (s->gpu && !t->detail ? gpu_now(s->gpu) : 0);
  t->run = simt_begin(s->simt, &t->launch, fair ? resident_ctas(s, &t->launch) : sampler_slots(s, t->index), e);
  if (!t->run) return false;
  t->feed = simt_feed(t->run);
  return true;
}

/* The feed that drives the machine, with a recorder in between if there is one. */
static struct feed *tapped(struct session *s, struct task *t, struct err *e) {
  return s->trace ? slt_begin(s->trace, t->feed, session_cta_slots(s), e) : t->feed;
}

static bool untap(struct session *s, const struct task *t, bool good, struct err *e) {
  struct err second = {0};
  if (s->trace && good) slt_note_ran(s->trace, t->step);
  if (!good) s->launch_lost = true;
  if (!s->trace || slt_end(s->trace, good, &second) || !good) return good;
  *e = second;
  return false;
}

/* The timing model gives the same message for an SM. */
static bool shared_fits(const struct session *s, const struct feed_kernel *k, struct err *e) {
  return k->shared_bytes <= s->config.sm_shared ||
         err_set(e, ERR_INPUT, "kernel %s: %u bytes of shared memory per block, but an SM of %s has %u", k->name,
                 k->shared_bytes, s->config.name, s->config.sm_shared);
}

static void run_at_once(struct session *s, struct task *t) {
  struct err e = {0};
  struct gpu_stats st = {0};
  if (!open_feed(s, t, &e) || !shared_fits(s, t->feed->kernel, &e)) {
    fail(s, t, &e);
    return;
  }
  struct feed *own = t->feed, *f = tapped(s, t, &e);
  bool good = f != NULL;
  if (good) {
    t->feed = f;
    meter_begin(&s->meter, &t->meter, f, t->index);
    good = untap(s, t, run_functional(s, t, &st, &e), &e);
    t->feed = own;
    meter_end(&s->meter);
  }
  struct record_launch l = facts(t);
  st.kernels = 1;
  if (good || t->item.kind == SESSION_LAUNCH) {
    record_add(s->record, &l, &st);
    sampler_note(s, &l, &st, false);
    record_commit(s->record);
  }
  if (good) end_task(s, t);
  else fail(s, t, &e);
}

static void start_on_machine(struct session *s, struct task *t) {
  struct err e = {0};
  if (!open_feed(s, t, &e)) {
    fail(s, t, &e);
    return;
  }
  if (!gpu_running(s->gpu)) s->opened_at = gpu_now(s->gpu);
  struct feed *f = tapped(s, t, &e);
  if (f && t->run) f = sampler_inside(s, f, t->run, t->index);
  if (f) meter_begin(&s->meter, &t->meter, f, t->index);
  sampler_watch(s);
  struct gpu_start how = {.priority = t->item.priority, .stream = t->item.stream};
  if (f && gpu_start(s->gpu, f, &how, &t->on, &e)) {
    t->running = true;
    return;
  }
  if (f) untap(s, t, false, &e);
  fail(s, t, &e);
}

static struct task *running_as(const struct session *s, uint32_t on) {
  for (uint32_t i = 0; i < s->tasks; i++)
    if (s->task[i]->running && s->task[i]->on == on) return s->task[i];
  return NULL;
}

static void launch_ended(struct session *s, const struct gpu_ended *ended) {
  struct err e = {0};
  struct task *t = running_as(s, ended->launch);
  struct record_launch l = facts(t);
  l.start = s->cycles + ended->start - s->opened_at;
  l.end = s->cycles + ended->end - s->opened_at;
  l.warps = ended->warps;
  l.own = ended->own;
  meter_end(&s->meter);
  note_launch(s, &l);
  bool good = untap(s, t, true, &e);
  if (!gpu_running(s->gpu)) good = close_machine(s, &e) && good;
  if (good) end_task(s, t);
  else fail(s, t, &e);
}

/* A launch failed: the other launches on the machine are lost. */
static void machine_failed(struct session *s, struct err *e) {
  struct task *guilty = NULL;
  for (uint32_t i = 0; i < s->tasks; i++) {
    struct task *t = s->task[i];
    if (!t->running) continue;
    const struct feed_fault *f = t->feed->ops->fault(t->feed->ctx);
    if (!guilty || (f && f->cuda_error)) guilty = t;
  }
  meter_end(&s->meter);
  untap(s, guilty, false, e);
  if (guilty && guilty->item.kind == SESSION_LAUNCH) {
    struct record_launch l = facts(guilty);
    note_launch(s, &l);
  }
  struct err ignored = {0};
  close_machine(s, &ignored);
  s->broken = true;
  fail(s, guilty, e);
}

/* Start the launches that are ready, then run until one ends. False: the machine is idle. */
static bool run_machine(struct session *s, uint64_t until) {
  for (;;) {
    struct task *best = NULL;
    if (s->trace ? gpu_running(s->gpu) : !gpu_can_start(s->gpu)) break;
    for (uint32_t i = 0; i < s->tasks; i++) {
      struct task *t = s->task[i];
      if (t->item.kind < SESSION_LAUNCH || !t->detail || !ready(s, t)) continue;
      if (!best || t->item.priority < best->item.priority) best = t;
    }
    if (!best) break;
    start_on_machine(s, best);
    if (s->failed) return true;
  }
  if (!gpu_running(s->gpu)) return false;
  struct err e = {0};
  struct gpu_ended ended;
  switch (gpu_run(s->gpu, until, &ended, &e)) {
  case GPU_ENDED:
    launch_ended(s, &ended);
    break;
  case GPU_FAILED:
    machine_failed(s, &e);
    break;
  case GPU_TIME:
    break;
  }
  return true;
}

/* Run all ready tasks that take no machine time. One pass suffices: tasks depend on earlier tasks only. True: some
 * ran. */
static bool run_calls(struct session *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->tasks && !s->failed; i++) {
    struct task *t = s->task[i];
    if (!ready(s, t) || (t->item.kind >= SESSION_LAUNCH && t->detail)) continue;
    if (t->item.kind == SESSION_CALL && t->item.ready && !t->item.ready(t->item.ctx)) continue;
    any = true;
    if (t->item.kind >= SESSION_LAUNCH) {
      run_at_once(s, t);
      continue;
    }
    if (t->item.call) t->item.call(t->item.ctx);
    end_task(s, t);
  }
  return any;
}

/* After enough timed instructions, launches that have not begun run functionally. */
static void stop_timing(struct session *s) {
  for (uint32_t i = 0; i < s->tasks; i++)
    if (!s->task[i]->running) s->task[i]->detail = false;
}

/* False: nothing can continue without an outside event. */
static bool advance(struct session *s, uint64_t until) {
  s->advancing = true;
  if (s->o.max_insts && s->timed_insts >= s->o.max_insts) stop_timing(s);
  bool moved = run_calls(s);
  if (s->gpu && !s->failed) moved = run_machine(s, until) || moved;
  sweep(s);
  s->advancing = false;
  return moved || s->failed;
}

void session_leave_undone(struct session *s) {
  struct err ignored = {0};
  if (s->gpu && s->togethers) close_machine(s, &ignored);
}

void session_drop_tasks(struct session *s) {
  session_leave_undone(s);
  for (uint32_t i = 0; i < s->tasks; i++) drop_task(s->task[i]);
  s->advancing = false;
  sweep(s);
}

/* ---- for callers ---- */

static bool tell_failure(struct session *s, int *cuda_error, struct err *e) {
  if (!s->failed) return true;
  s->failed = false;
  if (cuda_error) *cuda_error = s->cuda_error;
  if (e) *e = s->error;
  return false;
}

session_task session_submit(struct session *s, const struct session_item *item, const session_task *deps, uint32_t n) {
  while (s->tasks >= MAX_TASKS && !s->advancing && !s->failed && advance(s, UINT64_MAX)) continue;
  if (s->broken && item->kind >= SESSION_LAUNCH) {
    struct err e;
    CHECK(session_make_machine(s, &e), "the machine was made before: %s", e.msg);
    s->broken = false;
  }
  struct task *t = mem_zeroed(1, sizeof *t);
  t->id = ++s->last_task;
  t->item = *item;
  if (item->kind >= SESSION_LAUNCH) {
    t->index = s->launches++;
    t->detail = in_detail(s, t->index);
  }
  if (item->kind == SESSION_LAUNCH) {
    t->launch = *item->launch;
    size_t bytes = simt_kernel_info(t->launch.kernel)->param_block_bytes;
    void *params = t->launch.params ? malloc(bytes + 1) : NULL;
    CHECK(params || !t->launch.params, "out of memory");
    if (params) memcpy(params, t->launch.params, bytes);
    t->launch.params = params;
  }
  t->step = session_record_submit(s, t->id, item, deps, n);
  t->dep = mem_alloc((n + 1) * sizeof *t->dep);
  for (uint32_t i = 0; i < n; i++)
    if (deps[i] && task_by_id(s, deps[i])) t->dep[t->deps++] = deps[i];
  if (s->tasks == s->task_room) {
    s->task_room = s->task_room ? 2 * s->task_room : 64;
    s->task = mem_resize(s->task, s->task_room, sizeof *s->task);
  }
  s->task[s->tasks++] = t;
  return t->id;
}

/* Child grids start when their parent has ended. Those of one CTA in one stream run in order; tail launches wait for
 * all others. */
enum {
  TAIL_STREAM = 3,
  FREE_STREAM = 4,
  MOST_NESTED = 24,
  MANY = 4096
}; /* beyond a limit, each waits for the one before */

static void start_children(struct session *s, struct task *parent, struct simt_child *list) {
  uint32_t n = 0, count = 0;
  for (struct simt_child *c = list; c; c = c->next) count++;
  session_task *deps = mem_zeroed(count, sizeof *deps), *ids = mem_zeroed(count, sizeof *ids);
  struct simt_child **at = mem_zeroed(count, sizeof *at);
  for (int tail = 0; tail < 2; tail++)
    for (struct simt_child *c = list; c; c = c->next) {
      if ((c->stream == TAIL_STREAM) != tail) continue;
      uint32_t waits = 0;
      for (uint32_t i = n; i-- && (tail || !waits);)
        if (tail || count > MANY || (c->stream != FREE_STREAM && at[i]->stream == c->stream && at[i]->cta == c->cta))
          deps[waits++] = ids[i];
      struct session_item item = {.kind = SESSION_LAUNCH,
                                  .launch = &c->launch,
                                  .stream = parent->item.stream,
                                  .priority = parent->item.priority};
      at[n] = c;
      ids[n++] = session_submit(s, &item, deps, waits);
      struct task *t = s->task[s->tasks - 1];
      t->parent = parent;
      t->depth = parent->depth + 1;
      parent->children++;
    }
  free(deps);
  free(ids);
  free(at);
  simt_free_children(list);
  if (parent->depth < MOST_NESTED) return;
  struct err e;
  err_set(&e, ERR_PROGRAM, "kernel %s: child grids nest deeper than %d levels",
          simt_kernel_info(parent->launch.kernel)->name, MOST_NESTED);
  fail(s, NULL, &e);
}

bool session_wait(struct session *s, session_task id, int *cuda_error, struct err *e) {
  if (cuda_error) *cuda_error = 0;
  CHECK(!s->advancing, "a wait inside a call of a stream");
  session_record_wait(s, id);
  while (!s->failed && !session_done(s, id) && advance(s, UINT64_MAX)) continue;
  return tell_failure(s, cuda_error, e);
}

bool session_advance(struct session *s, uint64_t ns, int *cuda_error, struct err *e) {
  if (cuda_error) *cuda_error = 0;
  CHECK(!s->advancing, "a wait inside a call of a stream");
  if (s->trace) return session_wait(s, SESSION_ALL, cuda_error, e); /* a recording has no clock */
  uint64_t now = 0, until = UINT64_MAX;
  if (s->gpu) now = gpu_now(s->gpu), until = now + ns * s->config.core_mhz / 1000 + 1;
  bool moved;
  do {
    moved = advance(s, until);
    if (s->gpu) now = gpu_now(s->gpu);
  } while (moved && !s->failed && s->tasks && now < until && s->gpu);
  return tell_failure(s, cuda_error, e);
}

bool session_launch(struct session *s, const struct simt_launch *l, int *cuda_error, struct err *e) {
  struct session_item item = {.kind = SESSION_LAUNCH, .launch = l};
  return session_wait(s, session_submit(s, &item, NULL, 0), cuda_error, e);
}

uint32_t session_cta_slots(const struct session *s) {
  if (s->gpu) return gpu_cta_slots(s->gpu);
  return s->config.sms * s->config.sm_ctas;
}

struct meter *session_meter(struct session *s) {
  return &s->meter;
}

void session_skip_launch(struct session *s) {
  s->launches++;
}

uint64_t session_time_ns(struct session *s) {
  uint64_t cycles = s->cycles;
  if (s->gpu && gpu_running(s->gpu)) cycles += gpu_now(s->gpu) - s->opened_at;
  return cycles * 1000 / s->config.core_mhz;
}

/* gpu.c - the machine: clock domains, CTA dispatch, and the loop that skips idle cycles.
 *
 * Order within a tick (docs/explanation/gpu-model.md; the reference's order decides ties): SMs take replies, L2
 * replies enter the interconnect, DRAM, L2 (taking requests from the interconnect), the interconnect, the SMs, CTA
 * dispatch.
 */
#include "gpu/gpu.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/ahead.h"
#include "gpu/common/invariants.h"
#include "gpu/dispatch.h"
#include "gpu/icnt/icnt.h"
#include "gpu/l1/l1.h"
#include "gpu/l1/net.h"
#include "gpu/mem/l2.h"
#include "gpu/mem/l2_prefetch.h"
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"
#include "gpu/sm/sm.h"
#include "gpu/state/machine.h"
#include "gpu/touch.h"
#include "gpu/turns.h"

/* A launch is stuck when nothing issues for this many cycles, or when no CTA begins or ends for ENDLESS times as many:
 * a spinning kernel issues all the time. */
enum { DEFAULT_WATCHDOG = 2000000, ENDLESS = 100 };

enum { REPORT_EVERY = 50000 }; /* cycles between progress reports to a launch's observer */

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

/* A tick divides every period exactly: with L the least common multiple of the frequencies, a domain's period is L / f.
 */
static void init_clocks(struct gpu *g) {
  const struct gpu_config *c = &g->config;
  uint64_t f[4] = {c->core_mhz, c->icnt_mhz, c->l2_mhz, c->dram_mhz}, l = 1;
  for (int i = 0; i < 4; i++) l = l / gcd(l, f[i]) * f[i];
  g->p_core = l / f[0];
  g->p_icnt = l / f[1];
  g->p_l2 = l / f[2];
  g->p_dram = l / f[3];
}

static void perform_atomic(void *ctx, req_id id) {
  struct gpu *g = ctx;
  struct req *r = &g->pool.at[id];
  if (r->token && !gpu_atomic(g, r->sm, r->warp, r->token, r->lanes)) g->fault = true;
}

bool gpu_atomic(struct gpu *g, uint32_t sm, uint32_t warp, uint32_t token, uint32_t lanes) {
  const struct sm *s = &g->sm[sm];
  const struct feed *f = s->cta_feed[s->w[warp].cta_slot];
  if (f->ops->atomic(f->ctx, token, lanes)) return true;
  g->faulted = f;
  return false;
}

bool gpu_post(struct gpu *g, uint32_t sm, uint32_t warp, uint32_t token, uint32_t lanes) {
  const struct sm *s = g->sm_at[sm];
  const struct feed *f = s->cta_feed[s->w[warp].cta_slot];
  if ((f->ops->posted ? f->ops->posted : f->ops->atomic)(f->ctx, token, lanes)) return true;
  g->faulted = f;
  return false;
}

/* With fixed latencies the knobs say what a program measures, from the issue of a load to that of an instruction that
 * needs its result. What the stages between the scheduler and the caches take of that is no part of the caches' own. */
static void latencies_of_stages(struct gpu_config *c) {
  enum { TO_SHARED = 4, TO_L1 = 3, TO_CONSTANT = 2, TO_L15C = 5 };
  c->shared_latency = c->shared_latency > TO_SHARED ? c->shared_latency - TO_SHARED : 1;
  c->l1d_latency = c->l1d_latency > TO_L1 ? c->l1d_latency - TO_L1 : 1;
  c->l1c_latency = c->l1c_latency > TO_CONSTANT ? c->l1c_latency - TO_CONSTANT : 0;
  if (c->l15c_latency) c->l15c_latency = c->l15c_latency > TO_L15C ? c->l15c_latency - TO_L15C : 1;
}

struct gpu *gpu_new(const struct gpu_config *c, const char *scheme, struct err *e) {
  struct gpu *g = mem_zeroed(1, sizeof *g);
  g->config = *c;
  if (!slots_for_machine(&g->slots, scheme, &g->config, e) || !slots_configure(&g->slots, &g->config, e) ||
      !gpu_config_check(&g->config, e)) {
    free(g);
    return NULL;
  }
  c = &g->config;
  if (c->sub_cores && c->fixed_issue) latencies_of_stages(&g->config);
  const struct slots *own = &g->slots;
  const struct scheme *org = own->n_l1 ? own->at[own->l1[0]].scheme : NULL;
  bool as_built = own->n_line_size || (org && (org->on_space || !strcmp(org->name, c->l1d_org)));
  g->l1_split = c->unified_kb && as_built;
  if (g->l1_split) g->config.l1d.ways = c->l1d_pooled * c->unified_kb * 1024 / (c->l1d.sets * c->l1d.line);
  g->watchdog = DEFAULT_WATCHDOG;
  g->report_at = UINT64_MAX;
  g->may_sleep = true;
  g->subparts = c->channels * c->subparts;
  g->cta_slots_per_sm = c->sm_ctas;
  g->sm_words = (c->sms + 63) / 64;
  g->subpart_words = (g->subparts + 63) / 64;
  g->request_words = (g->subparts * c->icnt_ports + 63) / 64;
  g->last_sm = c->sms - 1;
  init_clocks(g);
  if (!slots_start(&g->slots, g, c, 1, e)) {
    free(g);
    return NULL;
  }
  for (uint32_t i = 0; i < g->slots.count; i++) {
    struct slot_instance *in = &g->slots.at[i];
    in->ctx.stats = &g->stats;
    in->ctx.now = &g->now;
    g->every_cycle |= in->scheme->every_cycle;
  }
  g->icnt = icnt_new(&g->config, c->sms + g->subparts * c->icnt_ports);
  g->replies = icnt_arrivals(g->icnt, ICNT_DOWN);
  g->requests = icnt_arrivals(g->icnt, ICNT_UP);
  g->sent = icnt_sent(g->icnt);
  g->schemes_send = own->n_on_prefetch || own->n_l2_slice;
  if (own->n_on_prefetch)
    g->l2_prefetch = l2_prefetch_new(&g->slots, &g->in_flight, &g->prefetches, &g->prefetches_sent);
  struct partition_env env = {.config = &g->config,
                              .pool = &g->pool,
                              .stats = &g->stats,
                              .now = &g->now,
                              .core_edge = &g->t_core,
                              .dram_edge = &g->t_dram,
                              .core_period = g->p_core,
                              .dram_period = g->p_dram,
                              .atomic = perform_atomic,
                              .ctx = g,
                              .slots = g->slots.count ? &g->slots : NULL,
                              .hooks = slots_mem_hooks(&g->slots, &g->mem_hooks),
                              .prefetch = g->l2_prefetch,
                              .in_flight = &g->in_flight};
  g->parts = partition_new(&env);
  tlb_init(&g->tlb, c);
  g->refusing = partition_full(g->parts);
  g->sm = mem_lines(c->sms * sizeof *g->sm, 1);
  memset(g->sm, 0, c->sms * sizeof *g->sm);
  sm_plan_init(&g->plan, c);
  for (uint32_t i = 0; i < c->sms; i++) g->sm_at[i] = &g->sm[i], sm_init(&g->sm[i], g, i);
  l1_net_init(g);
  g->work = mem_zeroed(c->concurrent_kernels, sizeof *g->work);
  return g;
}

bool gpu_finish(struct gpu *g, struct err *e) {
  struct err wrong = {0};
  slots_finish(&g->slots, &wrong);
  if (wrong.code) *e = wrong;
  return !wrong.code;
}

void gpu_free(struct gpu *g) {
  if (!g) return;
  ahead_free(g);
  for (uint32_t i = 0; i < g->config.sms; i++) sm_destroy(&g->sm[i]);
  free(g->sm);
  for (uint32_t i = 0; i < g->config.concurrent_kernels && g->work; i++)
    free(g->work[i].uop), free(g->work[i].reg_bits.place);
  free(g->work);
  free(g->released);
  l1_net_destroy(g);
  partition_free(g->parts);
  l2_prefetch_free(g->l2_prefetch);
  tlb_destroy(&g->tlb);
  icnt_free(g->icnt);
  turns_free(g->turns);
  req_pool_destroy(&g->pool);
  slots_free(&g->slots);
  observe_free(g);
  free(g);
}

uint32_t gpu_cta_slots(const struct gpu *g) {
  return g->config.sms * g->cta_slots_per_sm;
}
struct slots *gpu_slots(struct gpu *g) {
  return &g->slots;
}
uint64_t gpu_now(const struct gpu *g) {
  return g->now;
}

void gpu_set_watchdog(struct gpu *g, uint64_t cycles) {
  g->watchdog = cycles ? cycles : DEFAULT_WATCHDOG;
}
void gpu_set_threads(struct gpu *g, uint32_t n) {
  g->threads = n;
}
void gpu_set_all_windows(struct gpu *g, bool on) {
  g->all_windows = on;
}
void gpu_set_skip(struct gpu *g, bool on) {
  g->may_sleep = on;
}
enum sm_kind gpu_kind(const struct gpu *g) {
  return g->kind;
}
void gpu_set_kinds(struct gpu *g, bool on) {
  g->general_kind = !on;
  sm_choose_step(g);
}

/* ---- one tick ---- */

/* The traffic counters of sub-partition `p` at its interconnect port. */
static inline struct gpu_stats *port_stats(struct gpu *g, uint32_t p) {
  return g->observed.subpart ? &g->observed.subpart[p] : &g->stats;
}

/* Steps until a node of sub-partition `p` has room, and that node: the first with room, in rotation. */
static __attribute__((noinline)) uint32_t steps_to_any_room(const struct gpu *g, uint32_t p, uint32_t bytes,
                                                            uint32_t *node) {
  uint32_t ports = g->config.icnt_ports, least = UINT32_MAX;
  uint32_t first = gpu_subpart_node(g, p, 0), turn = (uint32_t)(icnt_now(g->icnt) % ports);
  for (uint32_t k = 0; k < ports && least; k++) {
    uint32_t at = first + (turn + k) % ports, steps = icnt_steps_to_room(g->icnt, at, bytes);
    if (steps < least) least = steps, *node = at;
  }
  return least;
}

static void replies_to_icnt(struct gpu *g) {
  const uint64_t *replies = partition_replies(g->parts);
  uint32_t turn = icnt_now(g->icnt) % REPLY_TURNS;
  for (uint32_t w = 0; w < g->subpart_words; w++) {
    if (g->reply_held[w]) {
      g->reply_held[w] &= ~g->reply_again[turn][w];
      g->reply_again[turn][w] = 0;
    }
    EACH_BIT(w, replies[w] & ~g->reply_held[w], p) {
      req_id id = partition_top(g->parts, (uint32_t)p);
      struct req *r = &g->pool.at[id];
      uint32_t node = g->config.sms + (uint32_t)p, bytes = req_down_bytes(r);
      uint32_t steps = g->config.icnt_ports == 1 ? icnt_steps_to_room(g->icnt, node, bytes)
                                                 : steps_to_any_room(g, (uint32_t)p, bytes, &node);
      if (steps) { /* the sub-partition's first reply; none overtakes it */
        uint64_t bit = 1ull << (p % 64);
        g->reply_held[w] |= bit;
        g->reply_again[(turn + (steps < REPLY_TURNS ? steps : REPLY_TURNS - 1)) % REPLY_TURNS][w] |= bit;
        continue;
      }
      r->returned = g->now;
      struct gpu_stats *st = port_stats(g, (uint32_t)p);
      st->packets_down++;
      st->flits_down += quotient_up(bytes, g->config.icnt_reply_flit ? g->config.icnt_reply_flit : g->config.icnt_flit);
      icnt_push(g->icnt, node, r->sm, id, bytes);
      partition_pop(g->parts, (uint32_t)p);
    }
  }
}

/* The sub-partition takes the first request that has reached its node. */
static inline void take_request(struct gpu *g, uint32_t p, uint32_t node) {
  req_id id = icnt_pop(g->icnt, node);
  struct req *r = &g->pool.at[id];
  r->arrived = g->now;
  if (r->type != REQ_INST_READ) {
    struct gpu_stats *st = port_stats(g, p);
    st->up_latency_sum += g->now - r->born;
    st->up_latency_count++;
  }
  partition_push(g->parts, p, id);
}

/* One request from each node of a sub-partition with several; the first node rotates. */
static __attribute__((noinline)) void take_from_nodes(struct gpu *g) {
  uint32_t ports = g->config.icnt_ports, turn = (uint32_t)(icnt_now(g->icnt) % ports);
  for (uint32_t p = 0; p < g->subparts; p++)
    for (uint32_t k = 0; k < ports && !(g->refusing[p / 64] >> (p % 64) & 1); k++) {
      uint32_t at = p * ports + (turn + k) % ports;
      if (!(g->requests[at / 64] >> (at % 64) & 1)) continue;
      if (partition_can_push(g->parts, p)) take_request(g, p, g->config.sms + at);
    }
}

static void step_l2(struct gpu *g) {
  if (g->config.icnt_ports > 1) take_from_nodes(g);
  else
    for (uint32_t w = 0; w < g->subpart_words; w++) EACH_BIT(w, g->requests[w] & ~g->refusing[w], p) {
        if (partition_can_push(g->parts, (uint32_t)p)) take_request(g, (uint32_t)p, g->config.sms + (uint32_t)p);
      }
  partition_tick_l2(g->parts);
}

/* The first long sleeper is due: some may now fit into the wheel. */
static void wake_far(struct gpu *g) {
  g->far_due = UINT64_MAX;
  for (uint32_t w = 0; w < g->sm_words; w++) EACH_BIT(w, g->far[w], i) {
      uint64_t at = g->wake_at[i];
      if (at != UINT64_MAX && at - g->now >= WAKE_SLOTS) {
        if (at < g->far_due) g->far_due = at;
        continue;
      }
      g->far[w] &= ~(1ull << (i % 64));
      if (at != UINT64_MAX) gpu_sleep_sm(g, (uint32_t)i, at);
    }
}

/* Step the SMs that are due; next_wake becomes exact. */
static void wake_due(struct gpu *g) {
  uint32_t slot = g->now % WAKE_SLOTS;
  if (g->now >= g->far_due) wake_far(g);
  if (g->wheel_slots >> slot & 1)
    for (uint32_t w = 0; w < g->sm_words; w++) {
      EACH_BIT(w, g->wheel[slot][w], i) {
        if (g->wake_at[i] <= g->now) gpu_wake_sm(g, (uint32_t)i);
      }
      g->wheel[slot][w] = 0;
    }
  g->wheel_slots &= ~(1ull << slot);
  uint64_t ahead = g->wheel_slots >> slot | g->wheel_slots << (-slot % WAKE_SLOTS);
  g->next_wake = ahead ? g->now + (uint32_t)__builtin_ctzll(ahead) : UINT64_MAX;
  if (g->far_due < g->next_wake) g->next_wake = g->far_due;
}

static bool step_sms(struct gpu *g) {
  if (g->now >= g->next_wake) wake_due(g);
  for (uint32_t w = 0; w < g->sm_words; w++) {
    uint64_t look = g->look[w];
    g->look[w] = 0;
    if (g->sent) look |= g->sent[w], g->sent[w] = 0;
    else look = ~0ull;
    EACH_BIT(w, g->no_room[w] & look, i) {
      if (icnt_can_push(g->icnt, (uint32_t)i, g->sm[i].need_icnt)) gpu_wake_sm(g, (uint32_t)i);
      else icnt_await(g->icnt, (uint32_t)i, g->sm[i].need_icnt);
    }
    if (g->running[w] && !sm_step_word(g, w)) return false;
  }
  return true;
}

/* SMs of word `w` with a reply to take. */
static uint64_t receivers(const struct gpu *g, uint32_t w) {
  return (g->replies[w] | g->ejected[w]) & ~g->away[w];
}

/* Work at a preset cycle that no jump may pass: a sample interval, schemes' epochs. */
static void run_epochs(struct gpu *g) {
  ahead_leave(g);
  for (uint32_t i = 0; i < g->config.sms; i++) sm_count(&g->sm[i]);
  partition_settle(g->parts);
  if (g->now >= g->observed.look_at) {
    for (uint32_t i = 0; i < g->config.sms; i++) sm_settle(&g->sm[i], g->now), sm_count(&g->sm[i]);
    observe_look(g, false);
  }
  uint64_t next = g->observed.look_at;
  for (uint32_t i = 0; i < g->slots.n_on_epoch; i++) {
    struct slot_instance *in = &g->slots.at[g->slots.on_epoch[i]];
    while (in->next_epoch <= g->now) {
      in->scheme->on_epoch(&in->ctx);
      in->next_epoch += in->epoch;
    }
    if (in->next_epoch < next) next = in->next_epoch;
  }
  g->slots.next_epoch = next;
  for (uint32_t i = 0; g->slots.n_on_epoch && i < g->config.sms; i++)
    if (g->sm[i].live) g->sm[i].l1d.refused = 0, g->sm[i].memory_look = true, gpu_wake_sm(g, i);
}

/* Order of core and DRAM edges that coincide at `t`, as in the reference. It adds periods up in floating point, so
 * rounding decides, for thousands of cycles one way and then the other. Negative: the DRAM's edge comes first; 0: they
 * are one tick. */
static int dram_turn(struct gpu *g, uint64_t t) {
  double core = 1 / (g->config.core_mhz * 1e6), dram = 1 / (g->config.dram_mhz * 1e6);
  for (; g->sum.core_edges < t / g->p_core; g->sum.core_edges++) g->sum.core += core;
  for (; g->sum.dram_edges < t / g->p_dram; g->sum.dram_edges++) g->sum.dram += dram;
  return (g->sum.dram > g->sum.core) - (g->sum.dram < g->sum.core);
}

/* What SMs do to each other. */
static __attribute__((noinline)) void between_cycles(struct gpu *g) {
  if (g->releases) gpu_release(g);
  if (g->l1_moving) l1_net_step(g);
}

static bool tick(struct gpu *g) {
  uint64_t t = g->t_core;
  if (g->t_icnt < t) t = g->t_icnt;
  if (g->t_l2 < t) t = g->t_l2;
  if (g->t_dram < t) { /* DRAM only: more than half of the ticks */
    partition_tick_dram(g->parts);
    g->t_dram += g->p_dram;
    if (RARE(g->observed.timeline)) timeline_queues(g);
    return !g->fault;
  }
  bool core = g->t_core == t, icnt = g->t_icnt == t, l2 = g->t_l2 == t, dram = g->t_dram == t;
  if (core && dram) {
    int turn = dram_turn(g, t);
    if (turn < 0) core = icnt = l2 = false;
    else if (turn > 0) dram = false;
  }
  if (core) {
    g->busy = false;
    if (ahead_on(g)) ahead_begin_cycle(g);
    for (uint32_t w = 0; w < g->sm_words; w++) EACH_BIT(w, receivers(g, w), i) {
        sm_receive(&g->sm[i]);
      }
  }
  if (icnt) replies_to_icnt(g);
  if (dram) partition_tick_dram(g->parts), g->t_dram += g->p_dram;
  if (l2) step_l2(g), g->t_l2 += g->p_l2;
  if (icnt) icnt_step(g->icnt), g->t_icnt += g->p_icnt;
  if (core) {
    if (g->now >= g->slots.next_epoch) run_epochs(g);
    if (!step_sms(g) || (ahead_on(g) && !ahead_end_cycle(g))) return false;
    if (RARE(g->between)) between_cycles(g);
    gpu_dispatch(g);
  }
  if (RARE(g->observed.timeline)) timeline_queues(g);
  if (core) {
    g->now++;
    g->t_core += g->p_core;
  }
  return !g->fault;
}

/* ---- jumping over time in which no unit has work ---- */

/* Edges of a clock strictly before tick `until`. */
static uint64_t edges(uint64_t next, uint64_t period, uint64_t until) {
  return until <= next ? 0 : (until - next + period - 1) / period;
}

/* The first tick with possible work; 0 if that is now. */
static uint64_t next_event(const struct gpu *g) {
  uint64_t core = g->slots.next_epoch, at = UINT64_MAX;
  if (g->next_wake < core) core = g->next_wake;
  if (RARE(g->leaves_at < core)) core = g->leaves_at;
  if (RARE(g->l1_moving)) {
    uint64_t net = l1_net_next(g);
    if (net <= g->now) return 0;
    if (net < core) core = net;
  }
  for (uint32_t w = 0; w < g->subpart_words; w++)
    if (partition_replies(g->parts)[w]) return 0;
  for (uint32_t w = 0; w < g->request_words; w++)
    if (g->requests[w]) return 0;
  uint32_t q = partition_all_quiet_l2(g->parts);
  if (!q) return 0;
  if (q != UINT32_MAX) at = g->t_l2 + q * g->p_l2;
  q = partition_all_quiet_dram(g->parts);
  if (!q) return 0;
  if (q != UINT32_MAX && g->t_dram + q * g->p_dram < at) at = g->t_dram + q * g->p_dram;
  uint64_t limit = g->progress_at + g->watchdog + 1; /* no further event: advance to the watchdog */
  if (core > limit) core = limit;
  uint64_t t = g->t_core + (core - g->now) * g->p_core;
  return t < at ? t : at;
}

static void jump(struct gpu *g) {
  for (uint32_t w = 0; w < g->sm_words; w++)
    if (g->running[w] | g->no_room[w] | receivers(g, w)) return;
  if (g->cta_waits) return;
  if (g->next_wake <= g->now || g->slots.next_epoch <= g->now || g->leaves_at <= g->now) return;
  uint64_t t = next_event(g);
  if (!t) return;
  uint32_t q = icnt_quiet_steps(g->icnt);
  if (!q) return;
  if (q != UINT32_MAX && g->t_icnt + q * g->p_icnt < t) t = g->t_icnt + q * g->p_icnt;
  uint64_t n = edges(g->t_icnt, g->p_icnt, t);
  icnt_skip(g->icnt, (uint32_t)n);
  g->t_icnt += n * g->p_icnt;
  n = edges(g->t_l2, g->p_l2, t);
  partition_skip_all_l2(g->parts, n);
  g->t_l2 += n * g->p_l2;
  n = edges(g->t_dram, g->p_dram, t);
  partition_skip_all_dram(g->parts, n);
  g->t_dram += n * g->p_dram;
  n = edges(g->t_core, g->p_core, t);
  g->now += n;
  g->t_core += n * g->p_core;
}

/* ---- launches ---- */

static void begin_launches(struct gpu *g) {
  memset(&g->stats, 0, sizeof g->stats);
  g->start = g->progress_at = g->block_at = g->now;
  g->open = true;
  g->overlap = g->fault = false;
  g->prefetches = g->prefetches_sent = 0;
  g->t_core = g->t_icnt = g->t_l2 = g->t_dram = 0;
  partition_clocks_changed(g->parts);
  g->sum.core = g->sum.dram = 0;
  g->sum.core_edges = g->sum.dram_edges = 0;
  observe_begin(g);
  memset(g->running, 0, sizeof g->running);
  memset(g->no_room, 0, sizeof g->no_room);
  memset(g->look, 0, sizeof g->look);
  memset(g->away, 0, sizeof g->away);
  memset(g->wake_at, 0xff, sizeof g->wake_at);
  memset(g->wheel, 0, sizeof g->wheel);
  memset(g->far, 0, sizeof g->far);
  g->wheel_slots = 0;
  g->next_wake = g->far_due = g->leaves_at = UINT64_MAX;
  for (uint32_t i = 0; i < g->config.sms; i++) {
    g->leaving[i] = 0;
    g->free_slots[i] = g->config.sm_ctas >= 32 ? ~0u : (1u << g->config.sm_ctas) - 1;
    sm_begin_kernel(&g->sm[i]);
  }
  EACH_HOOK (in, &g->slots, on_kernel) in->scheme->on_kernel(&in->ctx);
}

/* The L1 has what shared memory leaves: the driver takes the least of some sizes that holds the shared memory of all
 * CTAs that fit an SM (CUDA C Programming Guide, "Shared Memory" of each compute capability). */
static void split_l1(struct gpu *g, const struct gpu_work *k) {
  struct gpu_config *c = &g->config;
  uint32_t need = k->fit * k->shared, best = UINT32_MAX;
  char *at = c->carveouts, *end;
  for (; *at; at = end) {
    uint32_t bytes = (uint32_t)strtoul(at, &end, 10) * 1024;
    if (end == at) break;
    if (bytes >= need && bytes < best) best = bytes;
  }
  uint32_t left = best < c->unified_kb * 1024 ? c->unified_kb * 1024 - best : 0, way = c->l1d.sets * c->l1d.line;
  left *= c->l1d_pooled;
  c->l1d.ways = left > way ? (left + way / 2) / way : 1;
}

bool gpu_start(struct gpu *g, const struct feed *f, const struct gpu_start *how, uint32_t *launch, struct err *e) {
  struct gpu_work *k = gpu_work_new(g, f, how, e);
  if (!k) return false;
  for (uint32_t i = 0; i < g->config.sms; i++) sm_grow_score(&g->sm[i], f->kernel->max_reg);
  gpu_work_turn(g, k);
  if (!g->open) {
    gpu_end_touches(g);
    turns_begin(g);
    if (g->config.cold_l2) partition_empty_l2(g->parts), tlb_clear(&g->tlb);
    if (g->l1_split) split_l1(g, k);
    begin_launches(g);
  }
  gpu_write_operands(g, k);
  g->busy = true; /* do not skip the next tick */
  g->demand_end = 0;
  if (f->watch) g->report_at = g->now;
  observe_launch(g, k);
  sm_choose_step(g);
  ahead_launch(g, k);
  *launch = (uint32_t)(k - g->work);
  return true;
}

static void report_launch(struct gpu *g) {
  ahead_leave(g);
  g->report_at = g->works ? g->now + REPORT_EVERY : UINT64_MAX;
  g->reporting = true;
  for (uint32_t i = 0; i < g->works; i++) feed_look(g->work[g->turn[i]].feed);
  g->reporting = false;
}

bool gpu_peek(struct gpu *g, struct gpu_stats *out) {
  if (!g->reporting) return false;
  for (uint32_t i = 0; i < g->config.sms; i++) sm_settle(&g->sm[i], g->now), sm_count(&g->sm[i]);
  partition_settle(g->parts);
  observe_total(g, out);
  out->cycles = g->now - g->start;
  return true;
}

void gpu_look_soon(struct gpu *g) {
  g->report_at = g->now;
  g->look_up = 0;
}

static bool is_stuck(const struct gpu *g) {
  return g->now - g->progress_at > g->watchdog || g->now - g->block_at > g->watchdog * ENDLESS;
}

/* The first cycle that the loop itself must handle. */
static uint64_t look_up_at(const struct gpu *g, uint64_t until) {
  uint64_t left = g->watchdog - (g->now - g->progress_at), endless = g->watchdog * ENDLESS - (g->now - g->block_at);
  if (endless < left) left = endless;
  uint64_t at = left < UINT64_MAX - 1 - g->now ? g->now + left + 1 : UINT64_MAX;
  if (until < at) at = until;
  return g->report_at < at ? g->report_at : at;
}

static enum gpu_ran run(struct gpu *g, uint64_t until, struct gpu_ended *ended, struct err *e) {
  for (g->look_up = 0;;) {
    if (g->now >= g->look_up && is_stuck(g)) {
      ahead_leave(g);
      gpu_describe_stuck(g, e);
      return GPU_FAILED;
    }
    /* The last launch has ended when no request is in flight; its cycles do not include the wait for prefetches. */
    if (g->finished) {
      if (g->works > 1 || !(g->in_flight | g->prefetches)) {
        ahead_leave(g);
        gpu_work_end(g, ended);
        return GPU_ENDED;
      }
      if (RARE(g->prefetches) && g->in_flight == g->prefetches_sent && !g->demand_end) g->demand_end = g->now;
    }
    if (g->now >= g->look_up) {
      if (g->now >= until) return GPU_TIME;
      if (g->now >= g->report_at) report_launch(g);
      g->look_up = look_up_at(g, until);
    }
    if (!g->busy && g->may_sleep && !g->every_cycle) jump(g);
    if (!tick(g)) {
      const struct feed_fault *ff = g->faulted ? g->faulted->ops->fault(g->faulted->ctx) : NULL;
      err_set(e, ERR_PROGRAM, "%s", ff ? ff->text : "the kernel faulted");
      return GPU_FAILED;
    }
  }
}

enum gpu_ran gpu_run(struct gpu *g, uint64_t until, struct gpu_ended *ended, struct err *e) {
  enum gpu_ran how = run(g, until, ended, e);
  ahead_leave(g);
  return how;
}

bool gpu_close(struct gpu *g, struct gpu_stats *out, struct err *e) {
  bool whole = !g->works;
  uint32_t launches = g->ended + g->works;
  for (uint32_t i = 0; g->slots.n_on_prefetch && i < g->config.sms; i++) l1_prefetch_end(&g->sm[i]);
  if (g->l2_prefetch) l2_prefetch_end(g->l2_prefetch, &g->stats);
  for (uint32_t i = 0; i < g->config.sms; i++) sm_settle(&g->sm[i], g->now), sm_count(&g->sm[i]);
  partition_settle(g->parts);
  gpu_work_clear(g);
  observe_look(g, true);
  observe_end(g);
  observe_total(g, out);
  out->kernels = launches;
  out->cycles = gpu_end(g) - g->start;
  uint64_t held = out->issue_slots / g->config.schedulers, all = out->cycles * g->config.sms;
  out->sm_idle_cycles = all > held ? all - held : 0;
  g->open = false;
  return !whole || gpu_check_laws(out, e);
}

/* ---- services for schemes ---- */

uint32_t gpu_grid_ctas(const struct gpu *g) {
  return g->kernel->ctas;
}
uint32_t gpu_grid_x(const struct gpu *g) {
  return g->kernel->grid[0] ? g->kernel->grid[0] : 1;
}
uint32_t gpu_sm_cta_limit(const struct gpu *g) {
  return g->ctas_per_sm;
}

double gpu_subpart_fill_cycles(const struct gpu *g, uint32_t subpart) {
  return partition_input_fill(g->parts, subpart) * g->config.core_mhz / g->config.l2_mhz;
}
uint64_t gpu_sm_warps(const struct gpu *g, uint32_t sm) {
  return g->sm[sm].live & ~g->sm[sm].done;
}
uint64_t gpu_sm_warp_age(const struct gpu *g, uint32_t sm, uint32_t warp) {
  return g->sm[sm].w[warp].age;
}
uint64_t gpu_sm_insts(const struct gpu *g, uint32_t sm) {
  return g->sm[sm].insts;
}
uint64_t gpu_sm_warp_insts(const struct gpu *g, uint32_t sm) {
  return g->sm[sm].warp_insts;
}

/* sm.c - a streaming multiprocessor: state, start of CTAs, requests sent and replies received.
 *
 * Its work in a cycle is in step.c, compiled for each kind of machine (kind.inc).
 */

#include "gpu/sm/sm.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/icnt/icnt.h"
#include "gpu/l1/l1.h"
#include "gpu/observe/observe.h"

void sm_plan_init(struct sm_plan *p, const struct gpu_config *c) {
  *p = (struct sm_plan){.col_sfu = (uint8_t)c->oc_sp, .col_mem = (uint8_t)(c->oc_sp + c->oc_sfu)};
  for (uint32_t w = 0; w < SM_WARPS; w += c->schedulers) p->turns |= 1ull << w;
  p->set_sp = (1ull << c->oc_sp) - 1;
  p->set_sfu = ((1ull << c->oc_sfu) - 1) << p->col_sfu;
  p->set_mem = ((1ull << c->oc_mem) - 1) << p->col_mem;
}

void sm_init(struct sm *s, struct gpu *g, uint32_t id) {
  const struct gpu_config *c = &g->config;
  s->g = g;
  s->c = c;
  s->id = id;
  s->st = &g->stats;
  s->wb_due = UINT64_MAX;
  s->shared_depth = c->shared_latency;
  s->far = id >= c->gpc_sms ? c->sm_far : 0;
  rocache_init(&s->l1i, &c->l1i);
  rocache_init(&s->l1c, &c->l1c);
  /* Jia et al. 2018, Table 3.1: 2 KiB, lines of 64 B */
  const struct cache_config imc = {
      .sets = 1, .ways = c->imc_lines, .line = 64, .mshrs = 4, .merges = SM_WARPS, .miss_queue = 4};
  if (c->imc_lines) rocache_init(&s->imc, &imc);
  l15c_init(&s->l15c, c, c->l1c.mshrs + imc.mshrs);
  texcache_init(&s->l1t, c);
  l1d_init(&s->l1d, c);
  if (g->slots.n_l1 | g->slots.n_line_size) l1_org_init(s);
  if (g->slots.n_queues) l1_order_init(s);
  if (g->slots.n_on_prefetch) l1_prefetch_init(s);
  s->id_sp.width = s->ex_sp.width = (uint8_t)c->sp_width;
  s->id_sfu.width = s->ex_sfu.width = (uint8_t)c->sfu_width;
  s->id_mem.width = s->ex_mem.width = 1;
  s->col_leave = g->plan.set_sp | g->plan.set_sfu | g->plan.set_mem;
  if (c->sub_cores) sm_sub_init(s);
  if (c->sub_cores && c->fixed_issue &&
      (c->ibuffer > 2 || c->control_stall || c->indirect_stall || c->memory_stall || c->imc_wait))
    s->front = mem_zeroed(1, sizeof *s->front);
  if (s->front) s->front->lookups = c->imc_lines && c->imc_wait;
  for (uint32_t k = 0; s->front && k < FRONT_CORES; k++) s->front->core[k].decode = -1;
  reqq_init(&s->response, c->ldst_response_queue);
  reqq_init(&s->eject, c->cluster_response_queue);
  s->op_size = 64;
  s->op = mem_lines(s->op_size, sizeof *s->op);
  for (uint32_t i = s->op_size - 1; i > 0; i--) s->op[i].next = s->op_free, s->op_free = (op_id)i;
}

void sm_destroy(struct sm *s) {
  sm_sub_destroy(s);
  free(s->front);
  rocache_destroy(&s->l1i);
  rocache_destroy(&s->l1c);
  rocache_destroy(&s->imc);
  l15c_destroy(&s->l15c);
  free(s->untranslated.held);
  texcache_destroy(&s->l1t);
  l1d_destroy(&s->l1d);
  reqq_free(&s->response);
  reqq_free(&s->eject);
  free(s->op);
  for (uint32_t b = 0; b < ACCESS_BUFFERS; b++) free(s->buffer[b]);
  free(s->score);
  free(s->score_long);
}

void sm_more_ops(struct sm *s) {
  uint32_t old = s->op_size, n = old * 2;
  CHECK(n <= 65536, "SM %u has %u instructions in flight", s->id, old);
  struct op *op = mem_lines(n, sizeof *op);
  memcpy(op, s->op, old * sizeof *op);
  free(s->op);
  s->op = op;
  for (uint32_t i = n; i-- > old;) s->op[i].next = s->op_free, s->op_free = (op_id)i;
  s->op_size = n;
}

/* ---- which step ---- */

/* True if the knobs have the values of the default machine: all, or at least those that schemes leave unchanged. */
static bool baseline_knobs(const struct gpu_config *c, bool all) {
  bool are = true;
#define BASELINE(field, value, keep) are &= (uint32_t)c->field == (value) || !(all || (keep));
#include "gpu/sm/baseline.def"
#undef BASELINE
  return are;
}

/* True if the schemes of a list repeat their results for a refused access. */
static bool all_steady(const struct slots *k, const uint8_t *list, uint32_t n) {
  bool steady = true;
  for (uint32_t h = 0; h < n; h++) steady &= k->at[list[h]].scheme->steady;
  return steady;
}

static bool any_hook(const struct slots *k) {
  uint32_t filled = 0;
#define HOOK(name, ...) filled |= k->n_##name;
#include "gpu/slots/hooks.def"
#undef HOOK
  return filled;
}

void sm_choose_step(struct gpu *g) {
  const struct gpu_observed *o = &g->observed;
  bool watched = o->inst || o->timeline || o->character || o->profile || o->l2;
  bool any = g->general_kind || watched || g->overlap || !baseline_knobs(&g->config, false);
  const struct slots *k = &g->slots;
  bool plain = !g->general_kind && !watched && !g->overlap && !any_hook(k) && g->config.warp_sched != SCHED_TWO_LEVEL;
  g->read_hooks = k->n_on_access || k->n_on_hit || k->n_on_miss || k->n_on_place || k->n_on_evict;
  const struct l1_org *org = g->sm[0].l1d.org;
  g->lookups_steady = (!org || org->steady) && all_steady(k, k->may_allocate, k->n_may_allocate) &&
                      all_steady(k, k->find_victim, k->n_find_victim);
  g->stalls_steady = all_steady(k, k->on_stall, k->n_on_stall);
  g->memory_steady =
      g->lookups_steady && g->stalls_steady && !k->n_queues && !k->n_place && !k->n_bypass_access && !k->n_bypass_load;
  g->kind = k->n_place                                            ? SM_PLACED
            : plain && g->sm[0].front && g->config.ibuffer > 2    ? SM_MODERN
            : any                                                 ? SM_GENERAL
            : g->slots.count || !baseline_knobs(&g->config, true) ? SM_SCHEMES
                                                                  : SM_BASELINE;
}

static uint64_t *widen(uint64_t *rows, uint32_t from, uint32_t to) {
  uint64_t *out = mem_zeroed((size_t)to * SM_WARPS, sizeof *out);
  for (uint32_t w = 0; from && w < SM_WARPS; w++)
    memcpy(out + (size_t)w * to, rows + (size_t)w * from, from * sizeof *out);
  free(rows);
  return out;
}

void sm_grow_score(struct sm *s, uint32_t max_reg) {
  uint32_t words = max_reg / 64 + 1;
  if (words <= s->score_words) return;
  s->score = widen(s->score, s->score_words, words);
  if (s->c->warp_sched == SCHED_TWO_LEVEL) s->score_long = widen(s->score_long, s->score_words, words);
  s->score_words = words;
}

void sm_begin_kernel(struct sm *s) {
  CHECK(!s->live && !s->ctas, "SM %u still has warps when a kernel begins", s->id);
  s->warps_taken = s->regs_taken = s->shared_taken = 0;
  s->launch = s->g->launches;
  s->const_at = 0;
  s->insts = s->warp_insts = 0;
  s->fetch_valid = false;
  s->asleep = false;
  l1d_invalidate(&s->l1d);
  if (s->imc.ways) rocache_invalidate(&s->imc);
  if (s->l1d.org) l1_org_begin_kernel(s);
  for (uint32_t k2 = 0; k2 < s->c->schedulers; k2++)
    if (s->last_issued[k2] < 0 || !s->ages) s->last_issued[k2] = s->c->warp_sched == SCHED_LRR ? -1 : (int8_t)k2;
}

/* A launch that starts while others run invalidates the L1 of an SM that is empty, like a first launch. An SM with
 * CTAs of others keeps its lines. */
static void join_launch(struct sm *s, uint64_t launch) {
  struct l1d *l = &s->l1d;
  s->launch = launch;
  if (s->ctas || l->mshrs_busy || l->lat_count || l->missq.count || l->ready_count || l->order_waiting) return;
  if (RARE(l->prefetch)) l1_prefetch_invalidated(s);
  l1d_invalidate(l);
  if (RARE(l->org)) l->org->clear(&l->org_of->ctx, s->id);
}

void sm_start_cta(struct sm *s, uint32_t work, uint32_t slot, uint32_t first, uint32_t cta) {
  struct gpu *g = s->g;
  const struct gpu_work *of = &g->work[work];
  const struct feed *feed = of->shares ? of->share[s->group] : of->feed;
  const struct feed_kernel *k = feed->kernel;
  sm_settle(s, g->now + 1); /* dispatch follows the SMs within a cycle */
  s->asleep = s->none_to_issue = false;
  s->fetch_look = true;
  gpu_wake_sm(g, s->id);
  if (g->work[work].order > s->launch) join_launch(s, g->work[work].order);
  s->ctas++;
  s->cta_id[slot] = cta;
  s->cta_first[slot] = (uint8_t)first;
  s->cta_work[slot] = (uint8_t)work;
  s->cta_feed[slot] = feed;
  s->cta_born[slot] = g->now;
  s->cta_warps_left[slot] = k->warps_per_cta;
  feed->ops->start_cta(feed->ctx, s->id * g->cta_slots_per_sm + slot, cta, s->id, first);
  uint64_t taken = (k->warps_per_cta < 64 ? (1ull << k->warps_per_cta) - 1 : UINT64_MAX) << first;
  for (uint32_t w = 0; w < SM_WARPS; w++) s->older[w] &= ~taken;
  for (uint32_t i = 0; i < k->warps_per_cta; i++) {
    uint32_t w = first + i;
    uint64_t bit = 1ull << w;
    s->older[w] = s->live;
    s->w[w] = (struct warp_state){.pc = k->entry_pc,
                                  .fetch_pc = k->entry_pc,
                                  .cta_slot = (uint8_t)slot,
                                  .index = (uint8_t)i,
                                  .age = s->ages++,
                                  .inst_bytes = k->origin ? 0 : (uint8_t)s->c->inst_bytes,
                                  .cta = cta,
                                  .uop = g->work[work].uop,
                                  .feed = feed};
    s->w_queued[w] = s->queued++;
    s->async[w] = (struct async_groups){0};
    if (s->front) front_start(s->front, w);
    s->live |= bit;
    s->done &= ~bit;
    memset(s->pending[w], 0, sizeof s->pending[w]);
    memset(s->score + (size_t)w * s->score_words, 0, s->score_words * sizeof *s->score);
    if (RARE(s->score_long)) memset(s->score_long + (size_t)w * s->score_words, 0, s->score_words * sizeof *s->score);
    EACH_HOOK (in, &g->slots, on_warp_start) in->scheme->on_warp_start(&in->ctx, s->id, w, cta);
    if (RARE(g->observed.timeline)) timeline_warp_start(s, w);
  }
}

uint64_t gpu_sm_ready(const struct gpu *g, uint32_t sm) {
  const struct sm *s = &g->sm[sm];
  uint64_t held = s->front ? front_held(s->front) : 0;
  return s->live & ~(s->done | s->barrier | s->fence | s->atomic_wait | held) & s->head & ~s->hazard;
}

/* ---- replies from the interconnect ---- */

static inline __attribute__((always_inline)) void wake(struct sm *s) {
  s->wake_at = 0;
  if (s->live) gpu_wake_sm(s->g, s->id);
  else if (RARE(s->g->l1net)) gpu_wake_sm(s->g, s->id); /* it serves others */
}

void sm_receive(struct sm *s) {
  struct gpu *g = s->g;
  req_id id = reqq_top(&s->eject);
  if (id && !(RARE(s->far) && g->pool.at[id].arrived + s->far > g->now)) {
    struct req *r = &g->pool.at[id];
    if (r->type == REQ_INST_READ) {
      reqq_pop(&s->eject);
      if (RARE(r->owner & OWNER_OPERAND)) {
        rocache_fill(&s->imc, (uint16_t)(r->owner & ~OWNER_OPERAND), g->now);
        s->ro_active |= RO_OPERAND;
      } else {
        rocache_fill(&s->l1i, (uint16_t)r->owner, g->now);
        s->ro_active |= RO_INST;
      }
      s->fetch_look = true;
      req_free(&g->pool, id);
      s->acted = true;
      wake(s);
    } else if (!reqq_full(&s->response)) {
      reqq_pop(&s->eject);
      reqq_push(&s->response, id);
      s->memory_look = true;
      uint64_t latency = g->now - r->born;
      s->st->mem_latency_sum += latency;
      s->st->mem_latency_count++;
      if (latency > s->st->mem_latency_max) s->st->mem_latency_max = latency;
      s->st->down_latency_sum += g->now - r->returned;
      s->st->down_latency_count++;
      wake(s);
    }
  }
  if (!reqq_full(&s->eject) && (id = icnt_pop(g->icnt, s->id))) {
    g->in_flight--;
    if (RARE(g->prefetches_sent)) g->prefetches_sent -= g->pool.at[id].prefetch;
    s->st->requests_answered++;
    g->progress_at = g->now;
    reqq_push(&s->eject, id);
    if (RARE(s->far)) g->pool.at[id].arrived = g->now;
  }
  uint64_t bit = 1ull << (s->id % 64);
  if (s->eject.count) g->ejected[s->id / 64] |= bit;
  else g->ejected[s->id / 64] &= ~bit;
}

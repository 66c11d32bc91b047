/* dispatch.c - launches on the machine and dispatch of CTAs to SMs.
 *
 * One launch alone: docs/explanation/gpu-model.md "Launch and CTA dispatch": each SM may receive one CTA per cycle,
 * round-robin from the SM after the last receiver. Several launches: an SM is offered CTAs of the launch with the
 * highest priority, oldest first, and CTAs of the next launch only if the first has none left or does not fit: the
 * leftover policy (Pai et al., ASPLOS 2013, section 2). With kernels.share_sm off, an SM takes CTAs of another launch
 * only when it is empty, the reference's default.
 *
 * The CTAs of a cluster start together, on SMs of one GPC (NVIDIA, "H100 Tensor Core GPU Architecture", 2022, "Thread
 * Block Clusters"). The assignment of SMs to GPCs is not documented: here 16 or 17 consecutive SMs, spread evenly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "gpu/dispatch.h"
#include "gpu/observe/observe.h"
#include "gpu/sm/sm.h"
#include "gpu/turns.h"

/* The CTA that the schemes choose for SM `sm`; false: none. */
static bool pick_cta(struct gpu *g, uint32_t sm, uint32_t *cta) {
  const struct slots *s = &g->slots;
  uint32_t running = g->sm[sm].ctas;
  EACH_HOOK (in, &g->slots, may_launch)
    if (!in->scheme->may_launch(&in->ctx, sm, running)) return false;
  if (s->n_pick_cta) {
    struct slot_instance *in = &g->slots.at[s->pick_cta[0]];
    int64_t id = in->scheme->pick_cta(&in->ctx, sm, g->ctas_per_sm - running);
    if (id < 0) return false;
    *cta = (uint32_t)id;
  }
  EACH_HOOK (in, &g->slots, on_cta_start) in->scheme->on_cta_start(&in->ctx, sm, *cta);
  return true;
}

enum { LOCAL_SHIFT = 24 }; /* distance between the local memories of concurrent launches */

/* SMs are spread over the largest number of GPCs with at least `gpc_sms` each. */
static uint32_t gpcs_of(const struct gpu_config *c) {
  return c->sms < c->gpc_sms ? 1 : c->sms / c->gpc_sms;
}

/* CTAs of this kernel that fit an SM. A small grid is spread: no SM takes more than its share. */
/* CTAs that fit an SM, however many the grid has. */
static bool ctas_that_fit(const struct gpu_config *c, const struct feed_kernel *k, uint32_t *out, struct err *e) {
  uint32_t shared = k->shared_bytes + c->cta_reserved, threads = k->warps_per_cta * WARP_LANES,
           fit = c->sm_threads / threads;
  if (k->threads_per_cta > c->sm_cta_threads || !fit)
    return err_set(
        e, ERR_INPUT, "kernel %s: %u threads per block, but %s runs at most %u (sm.cta_threads=%u, sm.threads=%u)",
        k->name, k->threads_per_cta, c->name, c->sm_cta_threads < c->sm_threads ? c->sm_cta_threads : c->sm_threads,
        c->sm_cta_threads, c->sm_threads);
  if (shared && c->sm_shared / shared < fit) fit = c->sm_shared / shared;
  if (!fit)
    return err_set(e, ERR_INPUT,
                   "kernel %s: %u bytes of shared memory per block, but an SM of %s has %u (sm.shared_bytes), of which "
                   "a block loses %u (sm.cta_reserved_bytes)",
                   k->name, k->shared_bytes, c->name, c->sm_shared, c->cta_reserved);
  uint32_t regs = threads * ((k->regs_per_thread + 3) & ~3u);
  if (regs && c->sm_regs / regs < fit) fit = c->sm_regs / regs;
  if (!fit)
    return err_set(e, ERR_INPUT,
                   "kernel %s: %u registers per thread x %u threads, but an SM of %s has %u (sm.registers)", k->name,
                   k->regs_per_thread, threads, c->name, c->sm_regs);
  *out = fit < c->sm_ctas ? fit : c->sm_ctas;
  return true;
}

/* Those of the grid that an SM gets, if fewer fit than it has places for. */
static uint32_t ctas_of_grid(const struct gpu_config *c, const struct feed_kernel *k, uint32_t fit) {
  uint32_t share = (k->ctas + c->sms - 1) / c->sms, gpc = c->sms / gpcs_of(c);
  if (k->cluster && share * gpc < k->cluster) share = (k->cluster + gpc - 1) / gpc; /* a cluster lies within a GPC */
  if (share > fit) share = fit;
  return k->ctas < fit * c->sms ? share : fit;
}

uint32_t gpu_ctas_per_sm(const struct gpu *g, const struct feed_kernel *k) {
  struct err e = {0};
  uint32_t fit;
  return ctas_that_fit(&g->config, k, &fit, &e) ? ctas_of_grid(&g->config, k, fit) : 0;
}

/* ---- launches ---- */

/* A scheme that schedules CTAs handles one grid at a time: launches then do not overlap. */
bool gpu_can_start(const struct gpu *g) {
  if (!g->works) return true;
  return g->works < g->config.concurrent_kernels && !g->slots.n_may_launch && !g->slots.n_pick_cta;
}

bool gpu_orders_ctas(const struct gpu *g) {
  return g->slots.n_pick_cta;
}

uint32_t gpu_running(const struct gpu *g) {
  return g->works;
}

bool gpu_overlapped(const struct gpu *g) {
  return g->overlap;
}

/* All zero: filled when warps first reach them. */
static void clear_uops(struct gpu_work *k, const struct feed_kernel *fk) {
  if (fk->insts > k->uops) {
    free(k->uop);
    k->uop = aligned_alloc(sizeof *k->uop, fk->insts * sizeof *k->uop);
    k->uops = fk->insts;
  }
  if (fk->max_reg >= k->reg_bits.room) {
    free(k->reg_bits.place);
    k->reg_bits.room = fk->max_reg + 1;
    k->reg_bits.place = mem_alloc(k->reg_bits.room);
  }
  CHECK(k->uop && k->reg_bits.place, "out of memory for a kernel of %u instructions", fk->insts);
  memset(k->uop, 0, fk->insts * sizeof *k->uop);
  memset(k->reg_bits.place, 0, fk->max_reg + 1);
  k->reg_bits.used = 0;
}

struct gpu_work *gpu_work_new(struct gpu *g, const struct feed *f, const struct gpu_start *how, struct err *e) {
  const struct feed_kernel *fk = f->kernel;
  uint32_t i = 0, fit;
  CHECK(gpu_can_start(g), "%u launches run already", g->works);
  if (!ctas_that_fit(&g->config, fk, &fit, e)) return NULL;
  while (g->work[i].feed) i++;
  struct gpu_work *k = &g->work[i];
  clear_uops(k, fk);
  *k = (struct gpu_work){.feed = f,
                         .how = *how,
                         .order = ++g->launches,
                         .start = g->now,
                         .ctas_per_sm = ctas_of_grid(&g->config, fk, fit),
                         .fit = fit,
                         .uop = k->uop,
                         .uops = k->uops,
                         .reg_bits = k->reg_bits};
  k->local_base = LOCAL_BASE + ((uint64_t)i << LOCAL_SHIFT);
  k->warps = fk->warps_per_cta;
  k->regs = k->warps * WARP_LANES * ((fk->regs_per_thread + 3) & ~3u);
  k->shared = fk->shared_bytes + g->config.cta_reserved;
  return k;
}

/* The launch that services for schemes refer to is the first in turn. */
static void set_first(struct gpu *g) {
  if (!g->works) return;
  g->kernel = g->work[g->turn[0]].feed->kernel;
  g->ctas_per_sm = g->work[g->turn[0]].ctas_per_sm;
}

/* Counters of a single launch, derived from the machine's, which are exact while it runs alone. */
static void take_own(const struct gpu *g, struct gpu_stats *own) {
  struct gpu_stats t;
  observe_total(g, &t);
  *own = (struct gpu_stats){.warp_insts = t.warp_insts,
                            .thread_insts = t.thread_insts,
                            .exec_int = t.exec_int,
                            .exec_add = t.exec_add,
                            .exec_mul = t.exec_mul,
                            .exec_f32 = t.exec_f32,
                            .exec_fma = t.exec_fma,
                            .exec_fdiv = t.exec_fdiv,
                            .exec_f64 = t.exec_f64,
                            .exec_div = t.exec_div,
                            .exec_sfu = t.exec_sfu,
                            .exec_mem = t.exec_mem,
                            .reg_reads = t.reg_reads,
                            .reg_writes = t.reg_writes,
                            .ctas = t.ctas};
}

void gpu_work_turn(struct gpu *g, struct gpu_work *k) {
  if (g->works && !g->overlap) {
    take_own(g, &g->work[g->turn[0]].own);
    g->overlap = true;
  }
  uint32_t at = g->works++;
  for (; at && g->work[g->turn[at - 1]].how.priority > k->how.priority; at--) g->turn[at] = g->turn[at - 1];
  g->turn[at] = (uint8_t)(k - g->work);
  g->full = false;
  set_first(g);
}

static inline uint64_t warp_mask(uint32_t first, uint32_t warps) {
  return (warps >= 64 ? ~0ull : (1ull << warps) - 1) << first;
}

/* The place of a CTA that has ended can be given away. */
static void vacate(struct gpu *g, uint32_t sm, uint32_t slot) {
  struct sm *s = &g->sm[sm];
  struct gpu_work *k = &g->work[s->cta_work[slot]];
  g->leaving[sm] &= ~(1u << slot);
  g->free_slots[sm] |= 1u << slot;
  s->warps_taken &= ~warp_mask(s->cta_first[slot], k->warps);
  k->on_sm[sm]--;
  g->full = false;
}

/* Free the places whose time has come, and all of launch `ended`. */
static void free_places(struct gpu *g, const struct gpu_work *ended) {
  g->leaves_at = UINT64_MAX;
  for (uint32_t i = 0; i < g->config.sms; i++) EACH_BIT(0, g->leaving[i], slot) {
      const struct sm *s = &g->sm[i];
      uint64_t at = s->cta_exit[slot] + g->config.cta_turnaround;
      if (at <= g->now || &g->work[s->cta_work[slot]] == ended) vacate(g, i, (uint32_t)slot);
      else if (at < g->leaves_at) g->leaves_at = at;
    }
}

static bool has_ended(const struct gpu_work *k) {
  return k->next_cta == k->feed->kernel->ctas && !k->running_ctas;
}

void gpu_work_end(struct gpu *g, struct gpu_ended *out) {
  uint32_t at = 0;
  while (!has_ended(&g->work[g->turn[at]])) at++;
  struct gpu_work *k = &g->work[g->turn[at]];
  if (!g->overlap) take_own(g, &k->own);
  *out = (struct gpu_ended){.launch = g->turn[at], .start = k->start, .end = gpu_end(g), .own = k->own};
  out->own.kernels = 1;
  out->own.cycles = gpu_end(g) - k->start;
  if (out->own.cycles) out->warps = (double)k->warp_cycles / ((double)out->own.cycles * g->config.sms);
  for (uint32_t i = 0; g->observed.timeline && i < g->config.sms; i++) sm_settle(&g->sm[i], g->now);
  if (g->observed.timeline) timeline_end(g, k);
  if (g->leaves_at != UINT64_MAX) free_places(g, k);
  if (g->works == 1 && !g->overlap) turns_end(g, k->feed->kernel);
  k->feed = NULL;
  g->works--;
  memmove(g->turn + at, g->turn + at + 1, g->works - at);
  g->finished--;
  g->ended++;
  g->full = false;
  set_first(g);
}

void gpu_work_clear(struct gpu *g) {
  for (; g->works; g->works--) {
    struct gpu_work *k = &g->work[g->turn[g->works - 1]];
    if (g->observed.timeline) timeline_end(g, k);
    k->feed = NULL;
  }
  g->finished = g->ended = g->running_ctas = 0;
  g->faulted = NULL;
}

/* ---- CTAs ---- */

/* CTAs whose places on an SM are taken. */
static uint32_t places(const struct gpu *g, uint32_t sm) {
  return g->sm[sm].ctas + (uint32_t)__builtin_popcount(g->leaving[sm]);
}

/* Consecutive warp slots; for a launch alone they are those of the CTA slot. */
static bool find_warps(const struct sm *s, uint32_t warps, uint32_t *first) {
  uint32_t all = s->c->sm_threads / WARP_LANES;
  if (all > SM_WARPS) all = SM_WARPS;
  for (uint32_t at = 0; at + warps <= all;) {
    uint64_t in_the_way = s->warps_taken & warp_mask(at, warps);
    *first = at;
    if (!in_the_way) return true;
    at = 64 - (uint32_t)__builtin_clzll(in_the_way);
  }
  return false;
}

static bool sm_has_room(const struct gpu *g, const struct gpu_work *k, uint32_t sm, uint32_t *first) {
  const struct sm *s = &g->sm[sm];
  if (k->on_sm[sm] >= k->ctas_per_sm || !g->free_slots[sm]) return false;
  if (places(g, sm) != k->on_sm[sm]) { /* other launches have CTAs there */
    if (!g->config.share_sm) return false;
    if (s->regs_taken + k->regs > g->config.sm_regs || s->shared_taken + k->shared > g->config.sm_shared) return false;
  }
  return find_warps(s, k->warps, first);
}

static void start_cta(struct gpu *g, struct gpu_work *k, uint32_t sm, uint32_t first, uint32_t cta) {
  struct sm *s = &g->sm[sm];
  uint32_t slot = (uint32_t)__builtin_ctz(g->free_slots[sm]);
  g->free_slots[sm] &= ~(1u << slot);
  s->warps_taken |= warp_mask(first, k->warps);
  s->regs_taken += k->regs;
  s->shared_taken += k->shared;
  if (g->slots.n_on_space) gpu_space_changed(g, sm);
  sm_start_cta(s, (uint32_t)(k - g->work), slot, first, cta);
  if (g->observed.l2) observe_cta(g, sm, slot);
  k->next_cta++;
  k->running_ctas++;
  k->on_sm[sm]++;
  g->running_ctas++;
  g->last_sm = sm;
  g->cta_credit -= 1000;
  g->progress_at = g->block_at = g->now;
}

/* True if the machine may start a CTA now (kernels.ctas_per_1000_cycles). */
static bool may_start(struct gpu *g) {
  const int64_t one = 1000;
  if (!g->config.cta_rate) return true;
  g->cta_credit += (int64_t)((g->now - g->cta_at) * g->config.cta_rate);
  if (g->cta_credit > one + g->config.cta_rate) g->cta_credit = one + g->config.cta_rate;
  g->cta_at = g->now;
  g->cta_waits |= g->cta_credit < one;
  return g->cta_credit >= one;
}

static bool offer(struct gpu *g, struct gpu_work *k, uint32_t sm) {
  uint32_t first, cta = k->next_cta;
  if (!sm_has_room(g, k, sm, &first) || !may_start(g) || !pick_cta(g, sm, &cta)) return false;
  start_cta(g, k, sm, first, cta);
  return true;
}

static void dispatch_several(struct gpu *g) {
  uint32_t n = g->config.sms, from = g->last_sm;
  bool any = false;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t t = 0; t < g->works; t++) {
      struct gpu_work *k = &g->work[g->turn[t]];
      if (k->next_cta == k->feed->kernel->ctas || !offer(g, k, ring_at(from + 1 + i, n))) continue;
      any = true;
      break;
    }
  g->full = !any && !g->cta_waits;
}

/* Start a cluster on SMs [from, to) if all of it fits: one CTA per SM in turn. */
static bool offer_cluster(struct gpu *g, struct gpu_work *k, uint32_t from, uint32_t to) {
  uint32_t size = k->feed->kernel->cluster, room = 0, first;
  for (uint32_t i = from; i < to; i++) {
    uint32_t slots = (uint32_t)__builtin_popcount(g->free_slots[i]);
    if (places(g, i) != k->on_sm[i] || k->on_sm[i] >= k->ctas_per_sm) continue;
    room += k->ctas_per_sm - k->on_sm[i] < slots ? k->ctas_per_sm - k->on_sm[i] : slots;
  }
  if (room < size || !may_start(g)) return false;
  for (uint32_t i = from; size; i = i + 1 < to ? i + 1 : from) {
    if (!sm_has_room(g, k, i, &first)) continue;
    start_cta(g, k, i, first, k->next_cta);
    size--;
  }
  return true;
}

/* Schemes that choose CTAs are not called: a cluster's CTAs start together, in order. */
static bool dispatch_clusters(struct gpu *g, struct gpu_work *k) {
  uint32_t n = g->config.sms, gpcs = gpcs_of(&g->config);
  bool any = false;
  for (uint32_t i = 0; i < gpcs && k->next_cta < k->feed->kernel->ctas; i++)
    any |= offer_cluster(g, k, i * n / gpcs, (i + 1) * n / gpcs);
  return any;
}

void gpu_release_later(struct gpu *g, const struct feed_peer *p) {
  uint32_t most = g->config.sms * g->cta_slots_per_sm;
  if (!g->released) g->released = mem_alloc(most * sizeof *g->released);
  CHECK(g->released && g->releases < most, "%u CTAs released in one cycle", g->releases);
  g->released[g->releases++] = *p;
}

void gpu_release(struct gpu *g) {
  for (uint32_t i = 0; i < g->releases; i++) {
    uint32_t sm = g->released[i].slot / g->cta_slots_per_sm;
    struct sm *s = &g->sm[sm];
    sm_settle(s, g->now + 1); /* dispatch follows the SMs within a cycle */
    s->asleep = s->none_to_issue = false;
    s->barrier &= ~(g->released[i].warps << s->cta_first[g->released[i].slot % g->cta_slots_per_sm]);
    gpu_wake_sm(g, sm);
  }
  g->releases = 0;
}

void gpu_dispatch(struct gpu *g) {
  uint32_t n = g->config.sms, from = g->last_sm;
  if (RARE(g->now >= g->leaves_at)) free_places(g, NULL);
  if (g->full) return; /* until a CTA ends or a launch starts */
  g->cta_waits = false;
  if (g->works != 1) {
    dispatch_several(g);
    return;
  }
  struct gpu_work *k = &g->work[g->turn[0]];
  bool any = false;
  if (k->feed->kernel->cluster > 1) any = dispatch_clusters(g, k);
  else
    for (uint32_t i = 0; i < n && k->next_cta < k->feed->kernel->ctas; i++)
      any |= offer(g, k, ring_at(from + 1 + i, n));
  g->full = !any && !g->cta_waits;
}

void gpu_cta_done(struct gpu *g, uint32_t sm, uint32_t slot) {
  if (RARE(g->group)) {
    ahead_cta_done(g, sm, slot);
    return;
  }
  struct sm *s = &g->sm[sm];
  struct gpu_work *k = &g->work[s->cta_work[slot]];
  g->block_at = g->now;
  if (g->observed.l2) observe_cta_done(g, sm, slot);
  s->regs_taken -= k->regs;
  s->shared_taken -= k->shared;
  if (g->slots.n_on_space) gpu_space_changed(g, sm);
  g->running_ctas--;
  k->running_ctas--;
  k->warp_cycles += (g->now - s->cta_born[slot]) * k->warps;
  if (g->overlap) k->own.ctas++;
  g->finished += has_ended(k);
  uint64_t free_at = s->cta_exit[slot] + g->config.cta_turnaround;
  if (free_at > g->now && k->next_cta < k->feed->kernel->ctas) {
    g->leaving[sm] |= 1u << slot;
    if (free_at < g->leaves_at) g->leaves_at = free_at;
  } else vacate(g, sm, slot);
  if (k->shares) feed_cta_ended(k->feed);
  EACH_HOOK (in, &g->slots, on_cta_done) in->scheme->on_cta_done(&in->ctx, sm, g->sm[sm].cta_id[slot]);
}

/* l2.c - observes warps, loads and queues at the L2. See l2.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"
#include "gpu/observe/character.h"

enum { PERIOD = 100000, PROFILE = 30, OPS = 65536, NONE = 255 };

const char *const gpu_warp_type_names[WARP_TYPES] = {"all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss"};
const char *const gpu_l2_cause_names[L2_CAUSES] = {"first", "capacity", "conflict"};

static uint32_t type_of(uint64_t hits, uint64_t accesses) {
  if (hits == accesses) return 0;
  if (!hits) return 4;
  return 10 * hits >= 7 * accesses ? 1 : 5 * hits <= accesses ? 3 : 2;
}

/* ---- warps ---- */

static void end_period(struct gpu_l2_sums *s, struct observed_warp *w) {
  uint8_t type = w->period_accesses >= PROFILE ? (uint8_t)type_of(w->period_hits, w->period_accesses) : NONE;
  if (type != NONE && w->last_type != NONE) {
    if (type == w->last_type) s->type_kept++;
    else s->type_changed++;
  }
  w->last_type = type;
  w->period_hits = w->period_accesses = 0;
}

static void end_warp(struct gpu_l2_sums *s, struct observed_warp *w) {
  if (w->accesses) {
    end_period(s, w);
    s->warp_type[type_of(w->hits, w->accesses)]++;
    uint64_t bin = RATIO_BINS * w->hits / w->accesses;
    s->hit_ratio[bin < RATIO_BINS ? bin : RATIO_BINS - 1]++;
  }
  *w = (struct observed_warp){.last_type = NONE};
}

static void follow(struct gpu *g, struct gpu_l2_character *c, const struct req *r, bool hit) {
  for (uint32_t k = 0; k < SERIES; k++) {
    if (c->series_sm[k] != r->sm || c->series_warp[k] != r->warp) continue;
    uint32_t at = (uint32_t)((g->now - g->start) / SERIES_CYCLES);
    if (at >= c->room) {
      uint32_t room = at < 64 ? 128 : 2 * at;
      c->series = mem_resize(c->series, room, sizeof *c->series);
      memset(c->series + c->room, 0, (room - c->room) * sizeof *c->series);
      c->room = room;
    }
    if (at >= c->intervals) c->intervals = at + 1;
    c->series[at][k][0]++;
    c->series[at][k][1] += hit;
  }
}

static void see_warp(struct gpu *g, const struct req *r, bool hit) {
  struct l2_observer *o = g->observed.l2;
  struct observed_warp *w = &o->warp[r->sm * OBSERVED_WARPS + r->warp];
  uint32_t period = (uint32_t)((g->now - g->start) / PERIOD);
  if (w->accesses && w->cta != r->cta) end_warp(&o->character.sums, w);
  if (!w->accesses) *w = (struct observed_warp){.cta = r->cta, .period = period, .last_type = NONE};
  if (period != w->period) {
    end_period(&o->character.sums, w);
    if (period != w->period + 1) w->last_type = NONE;
    w->period = period;
  }
  w->accesses++;
  w->hits += hit;
  w->period_accesses++;
  w->period_hits += hit;
  follow(g, &o->character, r, hit);
}

/* ---- loads ---- */

/* The load of a request: the one that has waited longest in its MSHR, or the one that bypassed the L1. */
static uint32_t load_of(const struct gpu *g, const struct req *r) {
  if (r->bypass) return r->owner;
  const struct l1_mshr *m = &g->sm[r->sm].l1d.mshr[r->owner];
  return m->waiter[m->head];
}

static void see_request_of_load(struct gpu *g, const struct req *r, bool hit) {
  struct observed_load *l = &g->observed.l2->load[r->sm * OPS + load_of(g, r)];
  uint32_t t = (uint32_t)(g->now - r->arrived);
  if (!l->requests || t < l->fastest) l->fastest = t;
  if (!l->requests || t > l->slowest) l->slowest = t;
  l->requests++;
  l->hits += hit;
}

void observe_l2_load(struct sm *s, uint32_t op) {
  s->g->observed.l2->load[s->id * OPS + op] = (struct observed_load){0};
}

void observe_l2_load_done(struct sm *s, uint32_t op) {
  const struct observed_load *l = &s->g->observed.l2->load[s->id * OPS + op];
  struct gpu_l2_sums *sums = &s->g->observed.l2->character.sums;
  if (l->requests) sums->load_type[type_of(l->hits, l->requests)]++;
  if (l->requests < 2 || l->hits != l->requests) return;
  uint32_t penalty = l->slowest - l->fastest;
  sums->all_hit_loads++;
  sums->penalty += penalty;
  if (penalty > sums->penalty_max) sums->penalty_max = penalty;
}

/* ---- what the L2 tells ---- */

static void see_miss(struct gpu *g, const struct req *r, enum l2_outcome out) {
  const struct gpu_config *c = &g->config;
  struct l2_observer *o = g->observed.l2;
  uint32_t unit = c->l2_org == L2_SECTORS ? 32 : c->l2.line;
  uint64_t size = (uint64_t)c->l2.sets * c->l2.ways * c->l2.line * c->subparts * c->channels;
  uint64_t distance = reuse_access(&o->lines, r->addr / unit, &o->all);
  if (out == L2_MISS) o->character.sums.miss[distance == REUSE_FIRST ? 0 : distance >= size / unit ? 1 : 2]++;
}

static void hear_access(void *ctx, const struct req *r, enum l2_outcome out) {
  struct gpu *g = ctx;
  if (out != L2_BYPASSED) see_miss(g, r, out);
  bool read = r->type == REQ_GLOBAL_READ || r->type == REQ_LOCAL_READ;
  if (!read && r->type != REQ_GLOBAL_WRITE && r->type != REQ_LOCAL_WRITE) return;
  see_warp(g, r, out == L2_HIT);
  if (read && !r->atomic) see_request_of_load(g, r, out == L2_HIT);
}

static void hear_wait(void *ctx, uint64_t cycles) {
  struct gpu *g = ctx;
  uint32_t bin = cycles ? 64u - (uint32_t)__builtin_clzll(cycles) : 0;
  g->observed.l2->character.sums.waits[bin < QUEUE_BINS ? bin : QUEUE_BINS - 1]++;
}

/* ---- set up, and a launch ---- */

void observe_l2(struct gpu *g) {
  struct l2_observer *o = mem_zeroed(1, sizeof *o);
  o->warp = mem_zeroed((size_t)g->config.sms * OBSERVED_WARPS, sizeof *o->warp);
  o->load = mem_zeroed((size_t)g->config.sms * OPS, sizeof *o->load);
  o->cta_start = mem_zeroed((size_t)g->config.sms * OBSERVED_CTAS, sizeof *o->cta_start);
  for (uint32_t k = 0; k < SERIES; k++) {
    o->character.series_sm[k] = k * g->config.sms / SERIES;
    o->character.series_warp[k] = k * (g->config.sm_threads / 32) / SERIES;
  }
  g->observed.l2 = o;
  partition_listen(g->parts, &(struct mem_listener){hear_access, hear_wait, g});
}

void observe_l2_free(struct l2_observer *o) {
  if (!o) return;
  reuse_free(&o->lines);
  free(o->warp);
  free(o->load);
  free(o->cta_start);
  free(o->block);
  free(o->character.series);
  free(o);
}

void observe_l2_begin(struct gpu *g) {
  struct l2_observer *o = g->observed.l2;
  o->character.sums = (struct gpu_l2_sums){0};
  o->character.intervals = 0;
  if (o->character.room) memset(o->character.series, 0, o->character.room * sizeof *o->character.series);
  for (uint32_t i = 0; i < g->config.sms * OBSERVED_WARPS; i++) o->warp[i] = (struct observed_warp){.last_type = NONE};
  observe_sharing_begin(o);
}

void observe_l2_end(struct gpu *g) {
  struct l2_observer *o = g->observed.l2;
  for (uint32_t i = 0; i < g->config.sms * OBSERVED_WARPS; i++) end_warp(&o->character.sums, &o->warp[i]);
  observe_sharing_end(o);
}

const struct gpu_l2_character *gpu_observed_l2(const struct gpu_observed *observed) {
  return observed->l2 ? &observed->l2->character : NULL;
}

void gpu_l2_sums_add(struct gpu_l2_sums *total, const struct gpu_l2_sums *s) {
  uint64_t max = total->penalty_max > s->penalty_max ? total->penalty_max : s->penalty_max;
  for (size_t i = 0; i < sizeof *s / sizeof(uint64_t); i++) ((uint64_t *)total)[i] += ((const uint64_t *)s)[i];
  total->penalty_max = max;
}

/* mta.c - many-thread aware prefetching: strides of each warp, strides that warps share, strides between warps, and a
 * throttle.
 *
 * Paper: Lee, Lakshminarayana, Kim, Vuduc, "Many-Thread Aware Prefetching Mechanisms for GPGPU Applications", MICRO
 * 2010: the hardware prefetcher MT-HWP and the adaptive throttling. The full text was not at hand: this follows the
 * abstract and public descriptions of the tables and the throttle, with 32 entries of 93 bits, 8 of 52 and 8 of 133.
 * The sizes and thresholds are to be checked against the paper.
 *
 * Deviations: the paper's 16 KB prefetch cache beside an SM without an L1 is the L1 here, so that prefetched lines
 * compete with the others. Its software prefetching is left out.
 *
 * Choices: a load trains with its first access after coalescing. All tables are fully associative, least recently
 * used. The global table is asked first, then the inter-thread one, then that of the warp; a warp's stride is trained
 * when it occurs twice in a row, the inter-thread stride by three warps in a row with the same difference of addresses
 * per difference of warp slots. Three trained warps with the same stride promote it and leave their entries. Throttle
 * degree d drops d of 5 requests, by turns. Merges are loads that join a line in flight; requests are these, misses,
 * and prefetches that were fetched. No useful line but an evicted one is a high eviction rate.
 */
#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { MTA_DEGREE, MTA_DISTANCE, MTA_PWS, MTA_GS, MTA_IP, MTA_THROTTLE, MTA_PERIOD };
enum { MTA_ENTRIES = 256, MTA_PROMOTE = 3, MTA_OFF = 5, MTA_START = 2 };
#define MTA_EVICT_HIGH 0.02
#define MTA_EVICT_LOW 0.01
#define MTA_MERGE_HIGH 0.15

static const struct scheme_param params[] = {
    {"degree", "stride", "lines requested at a time; 0: none", 0, 16, 1, true},
    {"distance", "stride", "strides, or warps, between the load and the first of them", 1, 64, 1, true},
    {"pws", "entry", "per-warp stride table", 1, MTA_ENTRIES, 32, true},
    {"gs", "entry", "global stride table", 1, MTA_ENTRIES, 8, true},
    {"ip", "entry", "inter-thread table", 1, MTA_ENTRIES, 8, true},
    {"throttle", "", "1: adaptive throttling; 0: none", 0, 1, 1, true},
    {"period", "core cycle", "the throttle degree is set again after this time", 1, 1e9, 100000, true},
    {0},
};
enum { BY_GLOBAL, BY_THREAD, BY_WARP, UNTRAINED, PROMOTED, THROTTLED, PERIODS };
static const struct scheme_counter counters[] = {
    {"by_global", "load", "loads with a stride in the global table", false},
    {"by_thread", "load", "loads with a stride between warps", false},
    {"by_warp", "load", "loads with a stride of their warp", false},
    {"untrained", "load", "loads without a stride", true},
    {"promoted", "stride", "strides promoted to the global table", false},
    {"throttled", "line", "lines not requested because of the throttle", false},
    {"periods", "period", "times that the throttle of an SM was set", false},
    {0},
};

struct mta_warp { /* per-warp stride */
  uint64_t last, used;
  int64_t stride;
  uint32_t pc, warp;
  bool valid, trained;
};
struct mta_global {
  uint64_t used;
  int64_t stride;
  uint32_t pc;
  bool valid;
};
struct mta_thread { /* inter-thread */
  uint64_t addr[2], used;
  int64_t stride;
  uint32_t pc, warp[2], seen;
  bool valid, trained;
};
struct mta_sm {
  struct prefetch_load load;
  struct mta_warp pws[MTA_ENTRIES];
  struct mta_global gs[MTA_ENTRIES];
  struct mta_thread ip[MTA_ENTRIES];
  uint64_t uses, turn;
  uint64_t useful, evicted, merges, requests; /* of this period */
  double merge_ratio;
  uint32_t throttle;
};

/* The place for a new entry of a table: an invalid one, else the least recently used. */
#define MTA_PLACE(table, n, out)                                \
  do {                                                          \
    (out) = &(table)[0];                                        \
    for (uint32_t i_ = 0; i_ < (n); i_++) {                     \
      if (!(table)[i_].valid) (out) = &(table)[i_];             \
      if (!(out)->valid) break;                                 \
      if ((table)[i_].used < (out)->used) (out) = &(table)[i_]; \
    }                                                           \
  } while (0)

static bool mta_init(struct scheme_ctx *c, struct err *e) {
  (void)e;
  for (uint32_t i = 0; i < c->config->sms; i++)
    SCHEME_SM(c, struct mta_sm, i)->throttle = c->param[MTA_THROTTLE] == 1 ? MTA_START : 0;
  return true;
}

static void mta_on_kernel(struct scheme_ctx *c) { /* another program has other loads */
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct mta_sm *s = SCHEME_SM(c, struct mta_sm, i);
    for (uint32_t k = 0; k < MTA_ENTRIES; k++) s->pws[k].valid = s->gs[k].valid = s->ip[k].valid = false;
  }
}

static void mta_request(struct scheme_ctx *c, const struct l1_event *e, int64_t stride) {
  struct mta_sm *s = SCHEME_SM(c, struct mta_sm, e->sm);
  uint64_t line = c->config->l1d.line, last = e->addr / line;
  for (uint32_t i = 0; i < c->param[MTA_DEGREE]; i++) {
    uint64_t addr = e->addr + (uint64_t)(stride * (int64_t)(c->param[MTA_DISTANCE] + i));
    if (addr / line == last) continue;
    last = addr / line;
    if (s->turn++ % MTA_OFF < s->throttle) c->counter[THROTTLED]++;
    else gpu_prefetch(c, e, addr);
  }
}

/* Stride promotion: trained entries of the same load with the same stride. */
static void mta_promote(struct scheme_ctx *c, struct mta_sm *s, uint32_t pc, int64_t stride) {
  uint32_t same = 0, n = (uint32_t)c->param[MTA_PWS];
#define MTA_SAME(w) ((w)->valid && (w)->trained && (w)->pc == pc && (w)->stride == stride)
  for (uint32_t i = 0; i < n; i++) same += MTA_SAME(&s->pws[i]);
  if (same < MTA_PROMOTE) return;
  struct mta_global *g;
  MTA_PLACE(s->gs, (uint32_t)c->param[MTA_GS], g);
  *g = (struct mta_global){.used = s->uses, .stride = stride, .pc = pc, .valid = true};
  for (uint32_t i = 0; i < n; i++)
    if (MTA_SAME(&s->pws[i])) s->pws[i].valid = false;
  c->counter[PROMOTED]++;
}

static bool mta_by_global(struct scheme_ctx *c, struct mta_sm *s, const struct l1_event *e, int64_t *stride) {
  for (uint32_t i = 0; i < c->param[MTA_GS]; i++) {
    struct mta_global *g = &s->gs[i];
    if (!g->valid || g->pc != e->pc) continue;
    g->used = s->uses;
    *stride = g->stride;
    return true;
  }
  return false;
}

/* The stride per warp slot between two loads; false: none. */
static bool mta_between(uint64_t from, uint32_t warp_from, uint64_t to, uint32_t warp_to, int64_t *stride) {
  int64_t warps = (int64_t)warp_to - (int64_t)warp_from, bytes = (int64_t)(to - from);
  if (!warps || !bytes || bytes % warps) return false;
  *stride = bytes / warps;
  return true;
}

static void mta_train_thread(struct mta_thread *t, const struct l1_event *e) {
  int64_t first, second;
  bool other = e->warp != t->warp[0] && (t->seen < 2 || e->warp != t->warp[1]);
  if (t->seen == 2 && other && mta_between(t->addr[0], t->warp[0], t->addr[1], t->warp[1], &first) &&
      mta_between(t->addr[1], t->warp[1], e->addr, e->warp, &second) && first == second) {
    t->stride = first;
    t->trained = true;
    return;
  }
  if (t->seen == 2) t->addr[0] = t->addr[1], t->warp[0] = t->warp[1], t->seen = 1;
  t->addr[t->seen] = e->addr;
  t->warp[t->seen++] = e->warp;
}

static bool mta_by_thread(struct scheme_ctx *c, struct mta_sm *s, const struct l1_event *e, int64_t *stride) {
  struct mta_thread *t;
  for (uint32_t i = 0; i < c->param[MTA_IP]; i++) {
    t = &s->ip[i];
    if (!t->valid || t->pc != e->pc) continue;
    t->used = s->uses;
    *stride = t->stride;
    if (t->trained) return true;
    mta_train_thread(t, e);
    return false;
  }
  MTA_PLACE(s->ip, (uint32_t)c->param[MTA_IP], t);
  *t =
      (struct mta_thread){.addr = {e->addr}, .warp = {e->warp}, .seen = 1, .used = s->uses, .pc = e->pc, .valid = true};
  return false;
}

static bool mta_by_warp(struct scheme_ctx *c, struct mta_sm *s, const struct l1_event *e, int64_t *stride) {
  struct mta_warp *w;
  for (uint32_t i = 0; i < c->param[MTA_PWS]; i++) {
    w = &s->pws[i];
    if (!w->valid || w->pc != e->pc || w->warp != e->warp) continue;
    int64_t bytes = (int64_t)(e->addr - w->last);
    w->trained = bytes && bytes == w->stride;
    w->stride = *stride = bytes;
    w->last = e->addr;
    w->used = s->uses;
    if (!w->trained) return false;
    mta_promote(c, s, e->pc, bytes);
    return true;
  }
  MTA_PLACE(s->pws, (uint32_t)c->param[MTA_PWS], w);
  *w = (struct mta_warp){.last = e->addr, .used = s->uses, .pc = e->pc, .warp = e->warp, .valid = true};
  return false;
}

static void mta_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct mta_sm *s = SCHEME_SM(c, struct mta_sm, e->sm);
  s->merges += out == L1_PENDING;
  s->requests += out != L1_HIT;
  if (e->local || !prefetch_first(&s->load, e)) return;
  int64_t stride = 0;
  s->uses++;
  uint32_t by = mta_by_global(c, s, e, &stride)   ? BY_GLOBAL
                : mta_by_thread(c, s, e, &stride) ? BY_THREAD
                : mta_by_warp(c, s, e, &stride)   ? BY_WARP
                                                  : UNTRAINED;
  c->counter[by]++;
  if (by != UNTRAINED) mta_request(c, e, stride);
}

static void mta_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  struct mta_sm *s = SCHEME_SM(c, struct mta_sm, e->sm);
  s->useful += fate == PREFETCH_USEFUL || fate == PREFETCH_LATE;
  s->evicted += fate == PREFETCH_EVICTED;
  s->requests += fate < PREFETCH_REDUNDANT;
}

/* The table of the throttle. */
static void mta_on_epoch(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms && c->param[MTA_THROTTLE] == 1; i++) {
    struct mta_sm *s = SCHEME_SM(c, struct mta_sm, i);
    double evicted = s->useful ? (double)s->evicted / (double)s->useful : s->evicted ? 1 : 0;
    double merged = s->requests ? (double)s->merges / (double)s->requests : 0;
    s->merge_ratio = (s->merge_ratio + merged) / 2;
    bool merges = s->merge_ratio > MTA_MERGE_HIGH;
    if (evicted > MTA_EVICT_HIGH) s->throttle = MTA_OFF;
    else if (evicted >= MTA_EVICT_LOW) s->throttle += s->throttle < MTA_OFF;
    else if (merges) s->throttle -= s->throttle > 0;
    else s->throttle = MTA_OFF;
    s->useful = s->evicted = s->merges = s->requests = 0;
    c->counter[PERIODS]++;
  }
}

static bool mta_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[MTA_DEGREE];
}

SCHEME_STORAGE(mta_storage,
               {"per-warp strides: instruction 32, warp 8, trained, address 32, stride 20 bits each",
                93.0 * param[MTA_PWS] * g->sms},
               {"global strides: instruction 32, stride 20 bits each", 52.0 * param[MTA_GS] * g->sms},
               {"inter-thread strides: instruction 32, trained, 2 warps, 2 addresses, stride 20 bits each",
                133.0 * param[MTA_IP] * g->sms},
               {"throttle: four counters of 16 bits, merge ratio 8, degree 3", 75.0 * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme mta = {
    .name = "mta",
    .title = "many-thread aware prefetching with throttling",
    .paper = "Lee, Lakshminarayana, Kim, Vuduc: Many-Thread Aware Prefetching Mechanisms for GPGPU Applications. MICRO "
             "2010",
    .idea =
        "Warps run the same loads, so that a stride found in three of them holds for all, and a load of one warp\n"
        "tells the address of the next warp's. A throttle stops the prefetches where their lines are evicted before\n"
        "use or where few loads join a line in flight.",
    .params = params,
    .counters = counters,
    .positional = "degree",
    .sm_state_bytes = sizeof(struct mta_sm),
    .epoch_param = "period",
    .init = mta_init,
    .idle = mta_idle,
    .by_sm = true,
    .storage = mta_storage,
    .on_kernel = mta_on_kernel,
    .on_epoch = mta_on_epoch,
    .on_access = mta_on_access,
    .on_prefetch = mta_on_prefetch,
};
SCHEME(mta);

/* l2_pcal.c - priority-based cache allocation at the L2: only warps that hold a token may replace lines.
 *
 * Paper: Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder, "Priority-Based Cache Allocation in Throughput
 * Processors", HPCA 2015, in the version that MeDiC (Ausavarungnirun et al., PACT 2015, section 5) models at the L2:
 * "first grants tokens to the warp that recently used the cache, then grants any remaining tokens to warps that access
 * the cache in order of their arrival".
 *
 * Choices: tokens are granted again every `epoch` cycles (MeDiC does not give its epoch; its other mechanisms use
 * 100,000): the warps that used the L2 last, latest first, keep or get them, as far as they used it in the epoch that
 * ends; what is left goes to warps in order of their first access. A warp's token is free when it ends. Without a
 * token a warp hits, merges, and fills empty ways, but replaces nothing: its miss is answered by DRAM. Requests of no
 * warp (instruction, constant, texture fetches, write-backs) need no token; atomics, which the machine performs in the
 * L2, always get their line.
 */
#include "gpu/scheme.h"

enum { L2_PCAL_TOKENS, L2_PCAL_EPOCH };
enum { L2_PCAL_WARPS = 64 };
static const struct scheme_param params[] = {
    {"tokens", "warp", "warps of the GPU that may replace lines; swept in MeDiC", 0, 16384, 128, true},
    {"epoch", "core cycle", "tokens are granted again after this time", 1, 1e9, 100000, true},
    {0},
};
enum { GRANTED, DENIED };
static const struct scheme_counter counters[] = {
    {"granted", "token", "tokens granted to warps", true},
    {"denied", "access", "misses that replaced nothing for lack of a token", false},
    {0},
};

struct l2_pcal {
  uint64_t accesses; /* so far: the order of last accesses */
  uint32_t held;
  struct l2_pcal_warp {
    uint64_t used; /* order of the last access, 0: none in this epoch */
    bool token;
  } warp[]; /* SMs x L2_PCAL_WARPS */
};
static size_t l2_pcal_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return sizeof(struct l2_pcal_warp) * g->sms * L2_PCAL_WARPS;
}
static bool l2_pcal_tracked(const struct mem_event *e) {
  return e->type == REQ_GLOBAL_READ || e->type == REQ_LOCAL_READ || e->type == REQ_GLOBAL_WRITE ||
         e->type == REQ_LOCAL_WRITE;
}

static void l2_pcal_grant(struct scheme_ctx *c, struct l2_pcal_warp *w) {
  struct l2_pcal *p = c->state;
  w->token = true;
  p->held++;
  c->counter[GRANTED]++;
}

static void l2_pcal_on_epoch(struct scheme_ctx *c) {
  struct l2_pcal *p = c->state;
  uint32_t n = c->config->sms * L2_PCAL_WARPS;
  for (uint32_t i = 0; i < n; i++) p->warp[i].token = false;
  p->held = 0;
  while (p->held < c->param[L2_PCAL_TOKENS]) {
    struct l2_pcal_warp *latest = NULL;
    for (uint32_t i = 0; i < n; i++)
      if (p->warp[i].used && !p->warp[i].token && (!latest || p->warp[i].used > latest->used)) latest = &p->warp[i];
    if (!latest) break;
    l2_pcal_grant(c, latest);
  }
  for (uint32_t i = 0; i < n; i++) p->warp[i].used = 0;
}

static void l2_pcal_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct l2_pcal *p = c->state;
  struct l2_pcal_warp *w = &p->warp[sm * L2_PCAL_WARPS + warp];
  p->held -= w->token;
  *w = (struct l2_pcal_warp){0};
}

/* Remaining tokens go to warps in order of arrival. */
static struct l2_pcal_warp *l2_pcal_arrive(struct scheme_ctx *c, const struct mem_event *e) {
  struct l2_pcal *p = c->state;
  struct l2_pcal_warp *w = &p->warp[e->sm * L2_PCAL_WARPS + e->warp];
  if (!w->token && p->held < c->param[L2_PCAL_TOKENS]) l2_pcal_grant(c, w);
  return w;
}

static bool l2_pcal_l2_may_allocate(struct scheme_ctx *c, const struct mem_event *e) {
  if (!l2_pcal_tracked(e) || l2_pcal_arrive(c, e)->token || e->way != UINT32_MAX) return true;
  c->counter[DENIED]++;
  return false;
}

static void l2_pcal_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  (void)out;
  struct l2_pcal *p = c->state;
  if (l2_pcal_tracked(e)) l2_pcal_arrive(c, e)->used = ++p->accesses;
}

static uint32_t l2_pcal_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                uint32_t max) {
  (void)param;
  double warps = (double)g->sms * (g->sm_threads / 32);
  const struct scheme_bits rows[] = {
      {"token, 1 bit per warp", warps},
      {"order of the last access, 10 bits per warp", 10 * warps},
      {"tokens held, 14 bits", 14},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme l2_pcal = {
    .name = "l2-pcal",
    .title = "priority-based cache allocation at the L2, as MeDiC compares with it",
    .paper = "Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation in Throughput "
             "Processors. HPCA 2015",
    .idea = "So many warps share the L2 that none keeps its lines. Only warps with a token may replace lines;\n"
            "the others may hit; their misses are answered by DRAM.",
    .params = params,
    .counters = counters,
    .positional = "tokens",
    .state_bytes = sizeof(struct l2_pcal),
    .more_state = l2_pcal_more_state,
    .storage = l2_pcal_storage,
    .epoch = 100000,
    .epoch_param = "epoch",
    .on_epoch = l2_pcal_on_epoch,
    .on_warp_done = l2_pcal_on_warp_done,
    .l2_may_allocate = l2_pcal_l2_may_allocate,
    .on_l2_access = l2_pcal_on_l2_access,
};
SCHEME(l2_pcal);

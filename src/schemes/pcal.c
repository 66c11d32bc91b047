/* pcal.c - priority-based cache allocation: only warps that hold a token may allocate in the L1.
 *
 * Paper: Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder, "Priority-Based Cache Allocation in Throughput
 * Processors", HPCA 2015, section 4; MeDiC compares with a version at the L2 whose number of tokens is swept.
 *
 * Choices: tokens are per SM and held until the warp ends. A token that becomes free goes to the running warp without
 * one that used the L1 last, else to the next warp that starts. Warps without a token may hit and merge; their misses
 * bypass the L1 and do not allocate. As many tokens as warps is the baseline. Local memory always allocates. The
 * throttling that the paper combines with it is `swl`.
 */
#include "gpu/scheme.h"

enum { PCAL_TOKENS };
static const struct scheme_param params[] = {
    {"tokens", "warp", "warps of an SM that may allocate (section 4; swept by MeDiC)", 0, 64, 12, true},
    {0},
};
enum { DENIED, PASSED_ON };
static const struct scheme_counter counters[] = {
    {"denied", "access", "misses of warps without a token, which bypass the L1", true},
    {"passed_on", "token", "tokens that passed from a finished warp to a running one", true},
    {0},
};

struct pcal_sm {
  uint64_t holders;
  uint64_t last[64]; /* order of a warp's last use of the L1, 0: none yet */
  uint64_t uses;
};

static void pcal_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct pcal_sm *s = SCHEME_SM(c, struct pcal_sm, sm);
  s->last[warp] = 0;
  if (__builtin_popcountll(s->holders) < (int)c->param[PCAL_TOKENS]) s->holders |= 1ull << warp;
}

static void pcal_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct pcal_sm *s = SCHEME_SM(c, struct pcal_sm, sm);
  if (!(s->holders >> warp & 1)) return;
  s->holders &= ~(1ull << warp);
  int next = -1;
  for (uint64_t m = gpu_sm_warps(c->gpu, sm) & ~s->holders & ~(1ull << warp); m; m &= m - 1) {
    int w = __builtin_ctzll(m);
    if (next < 0 || s->last[w] > s->last[next] ||
        (s->last[w] == s->last[next] &&
         gpu_sm_warp_age(c->gpu, sm, (uint32_t)w) < gpu_sm_warp_age(c->gpu, sm, (uint32_t)next)))
      next = w;
  }
  if (next < 0) return;
  s->holders |= 1ull << next;
  c->counter[PASSED_ON]++;
}

static bool pcal_may_allocate(struct scheme_ctx *c, const struct l1_event *e) {
  return SCHEME_SM(c, struct pcal_sm, e->sm)->holders >> e->warp & 1;
}

static void pcal_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  struct pcal_sm *s = SCHEME_SM(c, struct pcal_sm, e->sm);
  s->last[e->warp] = ++s->uses;
}

static void pcal_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  struct pcal_sm *s = SCHEME_SM(c, struct pcal_sm, e->sm);
  c->counter[DENIED] += by == BYPASS_BY_CACHE && !(s->holders >> e->warp & 1);
}

static uint32_t pcal_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double warps = g->sm_threads / 32.0;
  (void)param;
  if (max > 0) out[0] = (struct scheme_bits){"token bit per warp", warps * g->sms};
  if (max > 1) out[1] = (struct scheme_bits){"order of last use, 6 bits per warp", 6 * warps * g->sms};
  return 2;
}

static const struct scheme pcal = {
    .name = "pcal",
    .title = "priority-based cache allocation: tokens to allocate",
    .paper = "Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015",
    .idea =
        "Throttling warps idles the machine; taking cache space from some does not. Warps that hold one of T tokens\n"
        "may allocate in the L1, the others may hit in it, and their misses bypass it.",
    .params = params,
    .counters = counters,
    .positional = "tokens",
    .sm_state_bytes = sizeof(struct pcal_sm),
    .by_sm = true,
    .storage = pcal_storage,
    .on_warp_start = pcal_on_warp_start,
    .on_warp_done = pcal_on_warp_done,
    .may_allocate = pcal_may_allocate,
    .on_access = pcal_on_access,
    .on_bypass = pcal_on_bypass,
};
SCHEME(pcal);

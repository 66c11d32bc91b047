/* ciao.c - cache interference-aware throttling: the warp that evicts the lines that another one needs again is stalled.
 *
 * Paper: Zhang, Gao, Kim, Jung, "CIAO: Cache Interference-Aware Throughput-Oriented Architecture and Scheduling for
 * GPUs", IPDPS 2018 (arXiv 1805.07718), its variant that only throttles, CIAO-T. Only the abstract was at hand:
 * interfering warps, not those with locality, are throttled. The score, its cutoffs and epochs and the tables are as
 * recalled, not as read; they are to be checked against the paper.
 *
 * Deviations: the paper first redirects the requests of an interfering warp to unused shared memory and stalls the
 * warp if that is not enough. Shared memory as a cache is left out here: the warp is stalled at once.
 *
 * A warp keeps tags of lines that it fetched and lost, each with the warp that evicted it. A miss found there is
 * interference; a table keeps, for each warp, who interfered most often of late, by a counter of two bits. A warp's
 * score is its interference divided by the instructions per warp of the SM. After each high epoch the warp that
 * interferes most with one whose score is above the high cutoff is stalled; after each low epoch it continues if that
 * score is no longer above the low cutoff, or if that warp has ended.
 *
 * Choices: scores count from the start of the launch; an epoch is of instructions of the SM. Lines that a warp evicts
 * itself leave no tag. Tags are replaced round-robin, one that hits is removed. A stalled warp issues nothing; where
 * all warps that wait for nothing are stalled, all of them may issue, or a barrier would wait forever. A warp is not
 * stalled for the sake of one that is stalled.
 */
#include <string.h>

#include "gpu/scheme.h"

enum { CIAO_ON, CIAO_ENTRIES, CIAO_HIGH, CIAO_LOW, CIAO_HIGH_EPOCH, CIAO_LOW_EPOCH };
enum { CIAO_WARPS = 64, CIAO_ENTRIES_MAX = 64, CIAO_SURE = 3 };

static const struct scheme_param params[] = {
    {"on", "", "1: stall interfering warps; 0: never", 0, 1, 1, true},
    {"entries", "tag", "victim tags of a warp", 1, CIAO_ENTRIES_MAX, 8, true},
    {"high", "", "score above which the warp that interferes is stalled", 0, 1, 0.01, false},
    {"low", "", "score at which it continues", 0, 1, 0.005, false},
    {"high_epoch", "instruction", "warp instructions of an SM between looks for warps to stall", 1, 1e9, 5000, true},
    {"low_epoch", "instruction", "warp instructions of an SM between looks for warps that continue", 1, 1e9, 100, true},
    {0},
};
enum { TAGS, INTERFERENCE, STALLED, RESUMED };
static const struct scheme_counter counters[] = {
    {"victim_tags", "line", "lines evicted by another warp than fetched them", true},
    {"interference", "miss", "misses found in the warp's victim tags", true},
    {"stalled", "warp", "warps stalled", false},
    {"resumed", "warp", "stalled warps that continued before their end", false},
    {0},
};

struct ciao_tag {
  uint64_t line; /* address | 1; 0: empty */
  uint8_t by;    /* warp that evicted it */
};
struct ciao_warp {
  struct ciao_tag tag[CIAO_ENTRIES_MAX];
  uint32_t next, hits;
  uint8_t foe, sure; /* the warp that interferes, and how sure that is */
  uint8_t victim;    /* while stalled: for the sake of this warp */
};
struct ciao_sm {
  struct ciao_warp warp[CIAO_WARPS];
  uint64_t running, stalled; /* slots, a bit each */
  uint64_t high_at, low_at;  /* instructions at the end of the epochs */
};

static void ciao_on_kernel(struct scheme_ctx *c) {
  memset(c->sm_state, 0, c->config->sms * c->sm_state_bytes);
}

static void ciao_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct ciao_sm *s = SCHEME_SM(c, struct ciao_sm, sm);
  s->warp[warp] = (struct ciao_warp){.foe = CIAO_WARPS};
  s->running |= 1ull << warp;
}

static void ciao_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct ciao_sm *s = SCHEME_SM(c, struct ciao_sm, sm);
  s->running &= ~(1ull << warp);
  s->stalled &= ~(1ull << warp);
}

/* ---- interference ---- */

static void ciao_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)reused;
  struct ciao_warp *w = &SCHEME_SM(c, struct ciao_sm, e->sm)->warp[owner];
  if (owner == e->warp) return;
  w->tag[w->next] = (struct ciao_tag){.line = e->line | 1, .by = (uint8_t)e->warp};
  w->next = (w->next + 1) % (uint32_t)c->param[CIAO_ENTRIES];
  c->counter[TAGS]++;
}

static void ciao_on_miss(struct scheme_ctx *c, const struct l1_event *e) {
  struct ciao_warp *w = &SCHEME_SM(c, struct ciao_sm, e->sm)->warp[e->warp];
  for (uint32_t i = 0; i < c->param[CIAO_ENTRIES]; i++) {
    if (w->tag[i].line != (e->line | 1)) continue;
    w->tag[i].line = 0;
    w->hits++;
    c->counter[INTERFERENCE]++;
    if (w->foe == w->tag[i].by) w->sure += w->sure < CIAO_SURE;
    else if (w->sure) w->sure--;
    else w->foe = w->tag[i].by;
    return;
  }
}

static double ciao_score(const struct ciao_sm *s, uint32_t warp, uint64_t insts) {
  return (double)s->warp[warp].hits * __builtin_popcountll(s->running) / (double)insts;
}

/* ---- epochs ---- */

static void ciao_stall(struct scheme_ctx *c, struct ciao_sm *s, uint64_t insts) {
  for (uint64_t m = s->running; m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctzll(m), foe = s->warp[w].foe;
    if (s->stalled >> w & 1 || foe >= CIAO_WARPS || foe == w || ciao_score(s, w, insts) <= c->param[CIAO_HIGH])
      continue;
    if (!((s->running & ~s->stalled) >> foe & 1)) continue;
    s->stalled |= 1ull << foe;
    s->warp[foe].victim = (uint8_t)w;
    c->counter[STALLED]++;
  }
}

static void ciao_resume(struct scheme_ctx *c, struct ciao_sm *s, uint64_t insts) {
  for (uint64_t m = s->stalled; m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctzll(m), of = s->warp[w].victim;
    if (s->running >> of & 1 && ciao_score(s, of, insts) > c->param[CIAO_LOW]) continue;
    s->stalled &= ~(1ull << w);
    c->counter[RESUMED]++;
  }
}

static void ciao_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  (void)warp, (void)i;
  struct ciao_sm *s = SCHEME_SM(c, struct ciao_sm, sm);
  uint64_t insts = gpu_sm_warp_insts(c->gpu, sm);
  if (insts >= s->low_at) {
    if (s->low_at) ciao_resume(c, s, insts);
    s->low_at = insts + (uint64_t)c->param[CIAO_LOW_EPOCH];
  }
  if (insts >= s->high_at) {
    if (s->high_at) ciao_stall(c, s, insts);
    s->high_at = insts + (uint64_t)c->param[CIAO_HIGH_EPOCH];
  }
}

static uint64_t ciao_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  (void)loads;
  uint64_t stalled = SCHEME_SM(c, struct ciao_sm, sm)->stalled;
  return warps & ~stalled ? ~stalled : ~0ull;
}

static bool ciao_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[CIAO_ON];
}

SCHEME_STORAGE(ciao_storage,
               {"victim tags, 25 bits and a warp of 6 bits each, per warp",
                31 * param[CIAO_ENTRIES] * g->sm_threads / 32 * g->sms},
               {"warp that fetched the line, 6 bits per line", 6.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"interfering warp 6, counter 2, interference 32, victim 6, stalled 1 bits per warp",
                47.0 * g->sm_threads / 32 * g->sms},
               {"issued instructions, 32 bits per SM", 32.0 * g->sms})

static const struct scheme ciao = {
    .name = "ciao",
    .title = "cache interference-aware throttling of the warps that evict what others need",
    .paper =
        "Zhang, Gao, Kim, Jung: CIAO: Cache Interference-Aware Throughput-Oriented Architecture and Scheduling for "
        "GPUs. IPDPS 2018",
    .idea =
        "Some warps evict far more of the lines that others need again than the rest. While a warp keeps losing\n"
        "lines, the one that took most of them from it is stalled, and the others share the L1. The paper's use of\n"
        "shared memory as a cache for such warps is left out.",
    .params = params,
    .counters = counters,
    .positional = "on",
    .sm_state_bytes = sizeof(struct ciao_sm),
    .idle = ciao_idle,
    .storage = ciao_storage,
    .on_kernel = ciao_on_kernel,
    .on_warp_start = ciao_on_warp_start,
    .on_warp_done = ciao_on_warp_done,
    .may_issue = ciao_may_issue,
    .on_issue = ciao_on_issue,
    .on_evict = ciao_on_evict,
    .on_miss = ciao_on_miss,
};
SCHEME(ciao);

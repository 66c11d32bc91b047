/* ccws.c - cache-conscious wavefront scheduling: warps that lose their locality are protected from the others' loads.
 *
 * Paper: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 4.
 *
 * Choices: a score falls by one per cycle down to the base; it is computed on demand, so an SM may sleep until the
 * result can change. On a hit in its victim tags a warp's score becomes (hits so far / warp instructions issued so
 * far) x K x cutoff, both of this SM and launch; the cutoff is running warps x base. Equal scores are ordered by age.
 * A warp is held when the sum of scores down to and including its own exceeds the cutoff; the first in the order is
 * never held, since otherwise no warp could load. Victim tags are 2 sets of 8 ways by line number, replaced
 * round-robin, and a tag that hits is removed. Bypassed misses do not probe the victim tags.
 */
#include <string.h>

#include "gpu/scheme.h"

enum { CCWS_ENTRIES, CCWS_WAYS, CCWS_BASE, CCWS_K };
enum { CCWS_WARPS = 64, CCWS_ENTRIES_MAX = 64 };

static const struct scheme_param params[] = {
    {"entries", "tag", "victim tags of a warp (section 4.2)", 1, CCWS_ENTRIES_MAX, 16, true},
    {"ways", "tag", "associativity of the victim tags (section 4.2)", 1, CCWS_ENTRIES_MAX, 8, true},
    {"base", "", "base locality score (section 4.3)", 1, 10000, 100, true},
    {"k", "", "throttling factor; 0 never throttles (section 4.3)", 0, 1000, 8, false},
    {0},
};
enum { VICTIM_TAGS, LOST_LOCALITY, SCORE_SUM, THROTTLED };
static const struct scheme_counter counters[] = {
    {"victim_tags", "line", "evicted lines remembered for the warp that fetched them", true},
    {"lost_locality", "miss", "misses found in the warp's own victim tags", true},
    {"score_sum", "point", "scores given on lost locality, summed: divide by lost_locality for their mean", true},
    {"raised", "time", "scores that were raised above what they were", false},
    {0},
};

struct ccws_sm {
  uint64_t tag[CCWS_WARPS][CCWS_ENTRIES_MAX]; /* line address | 1; 0: empty */
  uint8_t next[CCWS_WARPS][CCWS_ENTRIES_MAX]; /* way replaced next, per set */
  uint64_t score[CCWS_WARPS], at[CCWS_WARPS]; /* score at a cycle */
  uint64_t hits;                              /* in victim tags, of this launch */
  /* the result, valid until an event or that cycle */
  uint64_t blocked, until;
  bool fresh;
};

static bool ccws_init(struct scheme_ctx *c, struct err *e) {
  uint32_t entries = (uint32_t)c->param[CCWS_ENTRIES], ways = (uint32_t)c->param[CCWS_WAYS];
  if (entries % ways == 0) return true;
  return err_set(e, ERR_USAGE, "scheme ccws: entries=%u is not a multiple of ways=%u", entries, ways);
}

static void ccws_on_kernel(struct scheme_ctx *c) {
  memset(c->sm_state, 0, c->config->sms * c->sm_state_bytes);
}

static uint64_t ccws_score(const struct scheme_ctx *c, const struct ccws_sm *s, uint32_t w, uint64_t now) {
  uint64_t base = (uint64_t)c->param[CCWS_BASE], fell = now - s->at[w];
  return s->score[w] > base + fell ? s->score[w] - fell : base;
}

static uint64_t ccws_cutoff(const struct scheme_ctx *c, uint32_t sm) {
  return (uint64_t)__builtin_popcountll(gpu_sm_warps(c->gpu, sm)) * (uint64_t)c->param[CCWS_BASE];
}

/* Order the running warps and hold those beyond the cutoff. */
static void ccws_order(struct scheme_ctx *c, uint32_t sm) {
  struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, sm);
  uint64_t now = *c->now, base = (uint64_t)c->param[CCWS_BASE], cutoff = ccws_cutoff(c, sm), score[CCWS_WARPS];
  uint32_t order[CCWS_WARPS], n = 0;
  for (uint64_t m = gpu_sm_warps(c->gpu, sm); m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctzll(m), i = n++;
    score[w] = ccws_score(c, s, w, now);
    for (; i; i--) {
      uint32_t o = order[i - 1];
      bool before = score[w] > score[o] ||
                    (score[w] == score[o] && gpu_sm_warp_age(c->gpu, sm, w) < gpu_sm_warp_age(c->gpu, sm, o));
      if (!before) break;
      order[i] = o;
    }
    order[i] = w;
  }
  uint64_t sum = 0, falling = 0, soon = UINT64_MAX;
  s->blocked = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t w = order[i];
    sum += score[w];
    if (score[w] > base) { /* its loss per cycle lets others pass */
      falling++;
      if (score[w] - base < soon) soon = score[w] - base;
    }
    if (sum <= cutoff || !i) continue;
    s->blocked |= 1ull << w;
    uint64_t cycles = (sum - cutoff + falling - 1) / falling; /* falling > 0: at base all sums are within the cutoff */
    if (cycles < soon) soon = cycles;
  }
  s->until = s->blocked ? now + soon : UINT64_MAX;
  s->fresh = true;
}

static uint64_t ccws_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  (void)warps;
  struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, sm);
  if (!s->fresh || *c->now >= s->until) ccws_order(c, sm);
  return ~(s->blocked & loads);
}

static uint64_t ccws_issue_wake(struct scheme_ctx *c, uint32_t sm) {
  const struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, sm);
  return s->fresh ? s->until : UINT64_MAX;
}

static void ccws_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, sm);
  memset(s->tag[warp], 0, sizeof s->tag[warp]);
  memset(s->next[warp], 0, sizeof s->next[warp]);
  s->score[warp] = 0;
  s->at[warp] = *c->now;
  s->fresh = false;
}

static void ccws_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  (void)warp;
  SCHEME_SM(c, struct ccws_sm, sm)->fresh = false;
}

static uint32_t ccws_set(const struct scheme_ctx *c, uint64_t line) {
  uint32_t sets = (uint32_t)(c->param[CCWS_ENTRIES] / c->param[CCWS_WAYS]);
  return (uint32_t)(line / c->config->l1d.line % sets);
}

static void ccws_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)reused;
  struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, e->sm);
  uint32_t ways = (uint32_t)c->param[CCWS_WAYS], set = ccws_set(c, e->line);
  s->tag[owner][set * ways + s->next[owner][set]] = e->line | 1;
  s->next[owner][set] = (uint8_t)((s->next[owner][set] + 1) % ways);
  c->counter[VICTIM_TAGS]++;
}

static void ccws_on_miss(struct scheme_ctx *c, const struct l1_event *e) {
  struct ccws_sm *s = SCHEME_SM(c, struct ccws_sm, e->sm);
  uint32_t ways = (uint32_t)c->param[CCWS_WAYS];
  uint64_t *tags = s->tag[e->warp] + ccws_set(c, e->line) * ways;
  for (uint32_t w = 0; w < ways; w++) {
    if (tags[w] != (e->line | 1)) continue;
    tags[w] = 0;
    s->hits++;
    uint64_t insts = gpu_sm_warp_insts(c->gpu, e->sm), now = *c->now;
    uint64_t score =
        insts ? (uint64_t)((double)s->hits / (double)insts * c->param[CCWS_K] * (double)ccws_cutoff(c, e->sm)) : 0;
    c->counter[LOST_LOCALITY]++;
    c->counter[SCORE_SUM] += score;
    c->counter[THROTTLED] += score > ccws_score(c, s, e->warp, now);
    s->score[e->warp] = score;
    s->at[e->warp] = now;
    s->fresh = false;
    return;
  }
}

static uint32_t ccws_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double warps = g->sm_threads / 32.0, lines = (double)g->l1d.sets * g->l1d.ways;
  const struct scheme_bits rows[] = {
      {"victim tags, 40 bits each, per warp", 40 * param[CCWS_ENTRIES] * warps * g->sms},
      {"warp that fetched the line, 6 bits per line", 6 * lines * g->sms},
      {"lost-locality score, 10 bits per warp", 10 * warps * g->sms},
      {"victim-tag hits and issued instructions, 2 x 32 bits per SM", 64.0 * g->sms},
      {"can-issue-loads bit per warp", warps * g->sms},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme ccws = {
    .name = "ccws",
    .title = "cache-conscious wavefront scheduling",
    .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012",
    .idea =
        "Each warp remembers the lines that it fetched and lost. A miss on one of them is locality lost to the other\n"
        "warps, and raises the warp's score, which then falls by one a cycle. Warps are ordered by score, and those\n"
        "beyond a cutoff of the summed scores may not issue loads.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct ccws_sm),
    .by_sm = true,
    .init = ccws_init,
    .storage = ccws_storage,
    .on_kernel = ccws_on_kernel,
    .may_issue = ccws_may_issue,
    .issue_wake = ccws_issue_wake,
    .on_warp_start = ccws_on_warp_start,
    .on_warp_done = ccws_on_warp_done,
    .on_evict = ccws_on_evict,
    .on_miss = ccws_on_miss,
};
SCHEME(ccws);

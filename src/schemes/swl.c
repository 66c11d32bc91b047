/* swl.c - static warp limiting: only the N oldest warps of an SM may issue.
 *
 * Paper: the static limit that CCWS compares with: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling",
 * MICRO 2012, section 5; SWL-Best of BUCL (its Table III also counts warps per SM).
 *
 * Deviations: the reference's limit is per scheduler; this one is per SM, split evenly over its schedulers, the first
 * ones taking the remainder. With fewer warps than schedulers the oldest of the SM run, whichever scheduler owns them.
 * Warps that wait at a barrier, a fence or for atomics do not count, or the limit could deadlock a CTA.
 */
#include "schemes/lib/oldest.h"

enum { N_WARPS };

static const struct scheme_param params[] = {
    {"warps", "warp", "warps of an SM that may issue (BUCL Table III)", 1, 64, 8, true},
    {0},
};
enum { HELD_BACK };
static const struct scheme_counter counters[] = {
    {"held_back", "warp", "warps that started while as many as the limit were running", true},
    {0},
};

struct swl_sm {
  uint64_t warps; /* the result below is for this set of running warps; 0 after a warp started in any slot */
  uint64_t allowed;
};

static uint64_t swl_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  (void)loads;
  struct swl_sm *s = SCHEME_SM(c, struct swl_sm, sm);
  if (s->warps != warps || !warps) {
    s->warps = warps;
    s->allowed = oldest_of_schedulers(c->gpu, sm, warps, (uint32_t)c->param[N_WARPS], c->config->schedulers);
  }
  return s->allowed;
}

static void swl_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  uint64_t others = gpu_sm_warps(c->gpu, sm) & ~(1ull << warp);
  SCHEME_SM(c, struct swl_sm, sm)->warps = 0;
  c->counter[HELD_BACK] += __builtin_popcountll(others) >= (int)c->param[N_WARPS];
}

SCHEME_STORAGE(swl_storage, {"warp limit, 6 bits per SM", 6.0 * g->sms})

static const struct scheme swl = {
    .name = "swl",
    .title = "static warp limiting",
    .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012",
    .idea = "Fewer running warps share the L1, so that what one warp fetched is still there when it returns.\n"
            "Only the N oldest warps of an SM may issue; the others wait until an older one ends.",
    .params = params,
    .counters = counters,
    .positional = "warps",
    .sm_state_bytes = sizeof(struct swl_sm),
    .by_sm = true,
    .storage = swl_storage,
    .may_issue = swl_may_issue,
    .on_warp_start = swl_on_warp_start,
};
SCHEME(swl);

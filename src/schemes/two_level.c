/* two_level.c - two-level warp scheduling: a small active set in round-robin, and a pending set of warps that wait.
 *
 * Papers: Narasiman et al., "Improving GPU Performance via Large Warps and Two-Level Warp Scheduling", MICRO 2011; the
 * form with a pending set of Gebhart et al., ISCA 2011, which the reference implements. Compared with in Li et al.,
 * ICS 2015, section 6.4 and Fig 15. The scheduler itself is in the SM (active_warps).
 *
 * Deviations: Narasiman's fetch groups are fixed sets of warps; here, as in the reference, any pending warp that no
 * longer waits may take a slot. A warp that still waits is never promoted (the reference may promote and demote it
 * again).
 */
#include "gpu/scheme.h"

static const struct scheme_param params[] = {
    {"active", "warp", "warps in the active set of a scheduler (MICRO 2011, section 4)", 1, 64, 6, true},
    {0},
};

static bool two_level_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)e;
  c->warp_sched = SCHED_TWO_LEVEL;
  c->two_level_active = (uint32_t)param[0];
  return true;
}

static uint32_t two_level_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                  uint32_t max) {
  double warps = g->sm_threads / 32.0;
  (void)param;
  if (max)
    out[0] = (struct scheme_bits){"active bit and place in the pending queue, 1 + 6 bits per warp", 7 * warps * g->sms};
  return 1;
}

static const struct scheme two_level = {
    .name = "two-level",
    .title = "two-level warp scheduling",
    .paper = "Narasiman et al.: Improving GPU Performance via Large Warps and Two-Level Warp Scheduling. MICRO 2011",
    .idea =
        "Each scheduler rotates over a few active warps. One that waits for a load, a barrier or a fence moves to\n"
        "the pending set, and the warp that has been pending longest and can continue takes its place, so that warps\n"
        "reach their long loads at different times.",
    .params = params,
    .positional = "active",
    .owns = {OWNS_WARP_SCHEDULER},
    .configure = two_level_configure,
    .storage = two_level_storage,
};
SCHEME(two_level);

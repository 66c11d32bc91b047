/* wbyp.c - WByp, the bypassing part of MeDiC alone.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance", PACT 2015,
 * section 4.2.
 *
 * Deviations and choices: at the top of lib/medic.h.
 */
#include "schemes/lib/medic.h"

static const struct scheme_param params[] = {
    MEDIC_TYPE_PARAMS,
    MEDIC_TUNE_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {
    MEDIC_TYPE_COUNTERS,
    MEDIC_BYPASS_COUNTERS,
    {0},
};
enum { BYPASS = MEDIC_N_TYPES };

static void wbyp_on_epoch(struct scheme_ctx *c) {
  medic_window(c, BYPASS);
}

static bool wbyp_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  if (!medic_wants_bypass(c, e, BYPASS)) return false;
  c->counter[BYPASS + MEDIC_BYPASSED]++;
  return true;
}

static void wbyp_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  medic_observe(c, e, out);
}

SCHEME_STORAGE(wbyp_storage, {"hits and accesses, 2 x 10 bits, and type, 2 bits, per warp", medic_warp_bits(g)})

static const struct scheme wbyp = {
    .name = "wbyp",
    .title = "MeDiC: bypassing of the L2 by warp type alone",
    .paper = "Ausavarungnirun, Ghose, Kayiran, Loh, Das, Kandemir, Mutlu: Exploiting Inter-Warp Heterogeneity to "
             "Improve GPGPU "
             "Performance. PACT 2015",
    .idea = "Requests of warps that mostly miss in the L2 go straight to DRAM and spare others the queue.",
    .params = params,
    .counters = counters,
    .state_bytes = sizeof(struct medic),
    .more_state = medic_more_state,
    .init = medic_init,
    .storage = wbyp_storage,
    .epoch = 10000,
    .epoch_param = "window",
    .on_epoch = wbyp_on_epoch,
    .on_kernel = medic_on_kernel,
    .on_warp_start = medic_on_warp_start,
    .l2_bypass = wbyp_l2_bypass,
    .on_l2_access = wbyp_on_l2_access,
};
SCHEME(wbyp);

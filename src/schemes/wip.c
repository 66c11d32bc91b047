/* wip.c - WIP, the insertion part of MeDiC alone.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance", PACT 2015,
 * section 4.3.
 *
 * Deviations and choices: at the top of lib/medic.h. Without bypassing the mostly-miss boundary stays at its nominal
 * value.
 */
#include "schemes/lib/medic.h"

static const struct scheme_param params[] = {
    MEDIC_TYPE_PARAMS,
    MEDIC_INSERT_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {
    MEDIC_TYPE_COUNTERS,
    MEDIC_INSERT_COUNTERS,
    {0},
};
enum { INSERT = MEDIC_N_TYPES, STRICT = MEDIC_WINDOW };

static int wip_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return medic_victim(c, s, e, INSERT, c->param[STRICT] == 1);
}

static void wip_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  medic_observe(c, e, out);
  medic_insert(c, e, out, INSERT);
}

SCHEME_STORAGE(wip_storage, {"hits and accesses, 2 x 10 bits, and type, 2 bits, per warp", medic_warp_bits(g)},
               {"warp type, 2 bits per L2 line", 2.0 * (double)medic_lines(g)})

static const struct scheme wip = {
    .name = "wip",
    .title = "MeDiC: L2 insertion by warp type alone",
    .paper = "Ausavarungnirun, Ghose, Kayiran, Loh, Das, Kandemir, Mutlu: Exploiting Inter-Warp Heterogeneity to "
             "Improve GPGPU "
             "Performance. PACT 2015",
    .idea = "Lines fetched for warps that mostly miss are replaced first, those of warps that mostly hit last.",
    .params = params,
    .counters = counters,
    .state_bytes = sizeof(struct medic),
    .more_state = medic_more_state,
    .init = medic_init,
    .storage = wip_storage,
    .epoch = 100000,
    .epoch_param = "period",
    .on_epoch = medic_reset,
    .on_warp_start = medic_on_warp_start,
    .l2_find_victim = wip_l2_find_victim,
    .on_l2_access = wip_on_l2_access,
};
SCHEME(wip);

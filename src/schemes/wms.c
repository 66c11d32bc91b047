/* wms.c - WMS, the memory-scheduling part of MeDiC alone.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance", PACT 2015,
 * section 4.4.
 *
 * Deviations and choices: at the top of lib/medic.h. Each queue is as long as the baseline's one (footnote 5
 * asks only that a full low-priority queue does not block the other).
 */
#include "schemes/lib/medic.h"

static const struct scheme_param params[] = {
    MEDIC_TYPE_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {
    MEDIC_TYPE_COUNTERS,
    MEDIC_SCHED_COUNTERS,
    {0},
};
enum { SCHED = MEDIC_N_TYPES };

static void wms_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  medic_count_fetch(c, e, out, SCHED);
  medic_observe(c, e, out);
}

SCHEME_STORAGE(wms_storage, {"hits and accesses, 2 x 10 bits, and type, 2 bits, per warp", medic_warp_bits(g)},
               {"mostly-hit bit per entry of the DRAM queues", 2.0 * g->dram_queue * g->channels})

static const struct scheme wms = {
    .name = "wms",
    .title = "MeDiC: DRAM scheduling by warp type alone",
    .paper = "Ausavarungnirun, Ghose, Kayiran, Loh, Das, Kandemir, Mutlu: Exploiting Inter-Warp Heterogeneity to "
             "Improve GPGPU "
             "Performance. PACT 2015",
    .idea = "DRAM requests of warps that mostly hit have a queue of their own, served before the other one.",
    .params = params,
    .counters = counters,
    .state_bytes = sizeof(struct medic),
    .more_state = medic_more_state,
    .init = medic_init,
    .storage = wms_storage,
    .epoch = 100000,
    .epoch_param = "period",
    .on_epoch = medic_reset,
    .on_warp_start = medic_on_warp_start,
    .on_l2_access = wms_on_l2_access,
    .dram_class = medic_dram_class,
};
SCHEME(wms);

/* medic.c - MeDiC: warp-type-aware bypassing, insertion and memory scheduling together.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance", PACT 2015,
 * section 4.
 *
 * Deviations and choices: at the top of lib/medic.h. The storage of the paper (5.1 kB, section 6.5) is that of 64 B
 * lines; with the 128 B lines of its Table I the same sum is 3.5 kB.
 */
#include "schemes/lib/medic.h"

static const struct scheme_param params[] = {
    MEDIC_TYPE_PARAMS,
    MEDIC_TUNE_PARAMS,
    MEDIC_INSERT_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {
    MEDIC_TYPE_COUNTERS, MEDIC_BYPASS_COUNTERS, MEDIC_INSERT_COUNTERS, MEDIC_SCHED_COUNTERS, {0},
};
enum { STRICT = MEDIC_LOWEST + 1 };
enum { BYPASS = MEDIC_N_TYPES, INSERT = BYPASS + MEDIC_N_BYPASS, SCHED = INSERT + MEDIC_N_INSERT };

static void medic_on_epoch(struct scheme_ctx *c) {
  medic_window(c, BYPASS);
}

static bool medic_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  if (!medic_wants_bypass(c, e, BYPASS)) return false;
  c->counter[BYPASS + MEDIC_BYPASSED]++;
  return true;
}

static int medic_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return medic_victim(c, s, e, INSERT, c->param[STRICT] == 1);
}

static void medic_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  medic_count_fetch(c, e, out, SCHED);
  medic_observe(c, e, out);
  medic_insert(c, e, out, INSERT);
}

SCHEME_STORAGE(medic_storage, {"hits and accesses, 2 x 10 bits, and type, 2 bits, per warp", medic_warp_bits(g)},
               {"warp type, 2 bits per L2 line", 2.0 * (double)medic_lines(g)},
               {"mostly-hit bit per entry of the DRAM queues", 2.0 * g->dram_queue * g->channels})

static const struct scheme medic = {
    .name = "medic",
    .title = "memory divergence correction: bypass, insertion and DRAM priority by warp type",
    .paper = "Ausavarungnirun, Ghose, Kayiran, Loh, Das, Kandemir, Mutlu: Exploiting Inter-Warp Heterogeneity to "
             "Improve GPGPU "
             "Performance. PACT 2015",
    .idea =
        "Warps differ in how well the L2 serves them, and stay that way for long. Those that mostly miss gain nothing\n"
        "from the few hits they get: their requests skip the L2 and its queues. Lines and DRAM requests of warps that\n"
        "mostly hit are kept and served first, so that their last misses become hits or end soon.",
    .params = params,
    .counters = counters,
    .state_bytes = sizeof(struct medic),
    .more_state = medic_more_state,
    .init = medic_init,
    .storage = medic_storage,
    .epoch = 10000,
    .epoch_param = "window",
    .on_epoch = medic_on_epoch,
    .on_kernel = medic_on_kernel,
    .on_warp_start = medic_on_warp_start,
    .l2_bypass = medic_l2_bypass,
    .l2_find_victim = medic_l2_find_victim,
    .on_l2_access = medic_on_l2_access,
    .dram_class = medic_dram_class,
};
SCHEME(medic);

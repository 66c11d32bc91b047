/* medic_reuse.c - MeDiC-reuse: MeDiC in which blocks found in a filter of evicted addresses are not bypassed.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance", PACT 2015,
 * section 6.4.
 *
 * Deviations and choices: at the top of lib/medic.h. The filter is that of lib/eaf.h.
 */
#include "schemes/lib/medic.h"

static const struct scheme_param params[] = {
    MEDIC_TYPE_PARAMS,
    MEDIC_TUNE_PARAMS,
    MEDIC_INSERT_PARAMS,
    {"hashes", "", "hash functions of the filter", 1, 16, 4, true},
    {0},
};
enum { STRICT = MEDIC_LOWEST + 1, HASHES };
static const struct scheme_counter counters[] = {
    MEDIC_TYPE_COUNTERS,
    MEDIC_BYPASS_COUNTERS,
    MEDIC_INSERT_COUNTERS,
    MEDIC_SCHED_COUNTERS,
    {"overridden", "request", "bypasses that the filter overrode", false},
    {0},
};
enum {
  BYPASS = MEDIC_N_TYPES,
  INSERT = BYPASS + MEDIC_N_BYPASS,
  SCHED = INSERT + MEDIC_N_INSERT,
  OVERRIDDEN = SCHED + MEDIC_N_SCHED
};

static size_t medic_reuse_more_state(const struct gpu_config *g, const double *param) {
  return ((medic_more_state(g, param) + 7) & ~(size_t)7) + eaf_filters_bytes(g);
}
static struct eaf_filter *medic_reuse_filter(struct scheme_ctx *c, uint32_t subpart) {
  char *after = (char *)c->state + sizeof(struct medic) + ((medic_more_state(c->config, c->param) + 7) & ~(size_t)7);
  return eaf_of(after, c->config, subpart);
}

static void medic_reuse_on_epoch(struct scheme_ctx *c) {
  medic_window(c, BYPASS);
}

static bool medic_reuse_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  if (!medic_wants_bypass(c, e, BYPASS)) return false;
  if (eaf_has(medic_reuse_filter(c, e->subpart), c->config, e->line, (uint32_t)c->param[HASHES])) {
    c->counter[OVERRIDDEN]++;
    return false;
  }
  c->counter[BYPASS + MEDIC_BYPASSED]++;
  return true;
}

static int medic_reuse_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return medic_victim(c, s, e, INSERT, c->param[STRICT] == 1);
}

static void medic_reuse_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  medic_count_fetch(c, e, out, SCHED);
  medic_observe(c, e, out);
  medic_insert(c, e, out, INSERT);
}

static void medic_reuse_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  eaf_insert(medic_reuse_filter(c, e->subpart), c->config, e->line, (uint32_t)c->param[HASHES]);
}

SCHEME_STORAGE(medic_reuse_storage, {"hits and accesses, 2 x 10 bits, and type, 2 bits, per warp", medic_warp_bits(g)},
               {"warp type, 2 bits per L2 line", 2.0 * (double)medic_lines(g)},
               {"mostly-hit bit per entry of the DRAM queues", 2.0 * g->dram_queue * g->channels},
               {"Bloom filter, 8 bits per L2 line", 8.0 * (double)medic_lines(g)})

static const struct scheme medic_reuse = {
    .name = "medic-reuse",
    .title = "MeDiC with bypassing overridden for blocks of high reuse",
    .paper = "Ausavarungnirun, Ghose, Kayiran, Loh, Das, Kandemir, Mutlu: Exploiting Inter-Warp Heterogeneity to "
             "Improve GPGPU "
             "Performance. PACT 2015",
    .idea =
        "A block evicted a short while ago and wanted again has reuse: its requests use the L2 whatever their warp.",
    .params = params,
    .counters = counters,
    .state_bytes = sizeof(struct medic),
    .more_state = medic_reuse_more_state,
    .init = medic_init,
    .storage = medic_reuse_storage,
    .epoch = 10000,
    .epoch_param = "window",
    .on_epoch = medic_reuse_on_epoch,
    .on_kernel = medic_on_kernel,
    .on_warp_start = medic_on_warp_start,
    .l2_bypass = medic_reuse_l2_bypass,
    .l2_find_victim = medic_reuse_l2_find_victim,
    .on_l2_access = medic_reuse_on_l2_access,
    .on_l2_evict = medic_reuse_on_l2_evict,
    .dram_class = medic_dram_class,
};
SCHEME(medic_reuse);

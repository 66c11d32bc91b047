/* l2_size.c - an L2 of another capacity, by more sets, for the sensitivity figures.
 *
 * Paper: Li et al., ICS 2015, Fig 2; Ausavarungnirun et al. (MeDiC), PACT 2015, section 6.
 *
 * Deviations: sets grow, ways stay.
 */
#include "gpu/scheme.h"
#include "schemes/lib/capacity.h"

static const struct scheme_param params[] = {
    {"kb", "KiB", "capacity of all sub-partitions together; sets must stay a power of two", 1, 1048576, 1536, true},
    {0},
};

static bool l2_size_configure(struct gpu_config *c, const double *param, struct err *e) {
  uint64_t bytes = (uint64_t)param[0] * 1024, set = (uint64_t)c->l2.ways * c->l2.line * c->channels * c->subparts;
  uint64_t sets = bytes / set;
  if (!sets || sets & (sets - 1) || bytes % set)
    return err_set(
        e, ERR_USAGE,
        "scheme l2-size: kb=%g does not give each of %u sub-partitions (memory.channels, memory.subpartitions) "
        "a power of two of sets of %u lines (l2.ways); kb=%g does",
        param[0], c->channels * c->subparts, c->l2.ways, capacity_next_kb(bytes, set));
  c->l2.sets = (uint32_t)sets;
  return true;
}

static uint32_t l2_size_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                uint32_t max) {
  double have = (double)g->l2.sets * g->l2.ways * g->l2.line * g->channels * g->subparts, more = param[0] * 1024 - have;
  if (max) out[0] = (struct scheme_bits){"data beyond the configuration's", more > 0 ? more * 8 : 0};
  return 1;
}

static const struct scheme l2_size = {
    .name = "l2-size",
    .title = "an L2 of another capacity",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, Fig 2",
    .idea = "Capacity is changed by the number of sets of each sub-partition; ways, lines and latency stay.",
    .params = params,
    .positional = "kb",
    .owns = {OWNS_L2_SIZE},
    .configure = l2_size_configure,
    .storage = l2_size_storage,
};
SCHEME(l2_size);

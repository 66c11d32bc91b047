/* l1_size.c - an L1 of another capacity, for the capacity figures.
 *
 * Paper: Zhao et al. (BUCL), ICPADS 2016, Fig 4; Li et al., "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015,
 * Fig 2 and 14.
 *
 * Deviations: the papers do not say whether ways or sets grow. Sets do; beyond the 32 and 64 for which Fermi's hashed
 * index is defined, ways. MSHRs and queues stay as they are.
 */
#include "gpu/scheme.h"
#include "schemes/lib/capacity.h"

static const struct scheme_param params[] = {
    {"kb", "KiB", "capacity; the number of sets must stay a power of two (BUCL Fig 4)", 1, 4096, 32, true},
    {0},
};

static bool l1_size_configure(struct gpu_config *c, const double *param, struct err *e) {
  uint64_t bytes = (uint64_t)param[0] * 1024, ways = c->l1d.ways, set = (uint64_t)c->l1d.ways * c->l1d.line,
           sets = bytes / set;
  if (!sets || sets & (sets - 1) || bytes % set)
    return err_set(
        e, ERR_USAGE,
        "scheme l1-size: kb=%g is not a power of two of sets of %u lines of %u B (l1d.ways, l1d.line); kb=%g is",
        param[0], c->l1d.ways, c->l1d.line, capacity_next_kb(bytes, set));
  if (c->l1d_index == INDEX_FERMI_HASH) {
    for (; sets > 64; sets /= 2) ways *= 2;
    for (; sets < 32 && ways > 1; sets *= 2) ways /= 2;
  }
  c->l1d.sets = (uint32_t)sets;
  c->l1d.ways = (uint32_t)ways;
  return true;
}

static uint32_t l1_size_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                uint32_t max) {
  double have = (double)g->l1d.sets * g->l1d.ways * g->l1d.line, more = param[0] * 1024 - have;
  if (max) out[0] = (struct scheme_bits){"data beyond the configuration's, per SM", more > 0 ? more * 8 * g->sms : 0};
  return 1;
}

static const struct scheme l1_size = {
    .name = "l1-size",
    .title = "an L1 of another capacity",
    .paper = "Zhao, Wang, Lin, Zhou, Zheng: Selectively GPU Cache Bypassing for Un-Coalesced Loads. ICPADS 2016, Fig 4",
    .idea =
        "Capacity is changed by the number of sets, and by ways where the hashed index has no more sets; lines, MSHRs\n"
        "and latency stay.",
    .params = params,
    .positional = "kb",
    .owns = {OWNS_L1_SIZE},
    .configure = l1_size_configure,
    .storage = l1_size_storage,
};
SCHEME(l1_size);

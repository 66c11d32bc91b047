/* l1_latency.c - an L1 of another hit latency, for sensitivity figures.
 *
 * Paper: Li et al., "Tag-Split Cache", ICS 2016, section 5.5: 20 cycles as measured on Fermi and Kepler, 90 on Maxwell.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static const struct scheme_param params[] = {
    {"cycles", "cycle", "hit latency (TSC section 5.5)", 1, 512, 20, true},
    {0},
};

static bool l1_latency_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)e;
  c->l1d_latency = (uint32_t)param[0];
  return true;
}

static const struct scheme l1_latency = {
    .name = "l1-latency",
    .title = "an L1 of another hit latency",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 5.5",
    .idea = "The L1 still takes an access a cycle; each spends this many cycles in it.",
    .no_storage = "a setting of the machine, no mechanism",
    .params = params,
    .positional = "cycles",
    .owns = {"the L1's latency"},
    .configure = l1_latency_configure,
};
SCHEME(l1_latency);

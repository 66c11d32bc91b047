/* l2_banks.c - an L2 of another number of banks in each partition, for the queueing figures.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance" (MeDiC), PACT
 * 2015, section 5: the banked L2. Turns the banked L2 on where the configuration has an unbanked one.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static const struct scheme_param params[] = {
    {"banks", "bank", "banks of a partition (MeDiC section 5)", 1, 64, 4, true},
    {0},
};

static bool l2_banks_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)e;
  c->l2_banked = true;
  c->l2_banks = (uint32_t)param[0];
  return true;
}

static const struct scheme l2_banks = {
    .name = "l2-banks",
    .title = "an L2 of another number of banks",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015",
    .idea = "The L2 of MeDiC: ports, an arbiter, and a queue for each bank. More banks shorten the queues.",
    .no_storage = "the same arrays cut into banks; the queues in front of them are part of the machine, not counted",
    .params = params,
    .positional = "banks",
    .owns = {"the number of L2 banks"},
    .configure = l2_banks_configure,
};
SCHEME(l2_banks);

/* l2_ports.c - an L2 of another number of ports in each partition, for the queueing figures.
 *
 * Paper: Ausavarungnirun et al., "Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance" (MeDiC), PACT
 * 2015, section 5: the banked L2. Turns the banked L2 on where the configuration has an unbanked one.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static const struct scheme_param params[] = {
    {"ports", "port", "ports of a partition (MeDiC section 5)", 1, 64, 4, true},
    {0},
};

static bool l2_ports_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)e;
  c->l2_banked = true;
  c->l2_ports = (uint32_t)param[0];
  return true;
}

static const struct scheme l2_ports = {
    .name = "l2-ports",
    .title = "an L2 of another number of ports",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015",
    .idea = "The L2 of MeDiC: ports, an arbiter, and a queue for each bank. More ports shorten the queues.",
    .no_storage = "more wires and arbiters, no bits",
    .params = params,
    .positional = "ports",
    .owns = {"the number of L2 ports"},
    .configure = l2_ports_configure,
};
SCHEME(l2_ports);

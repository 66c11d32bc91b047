/* ball.c - bypass all: no global load uses the L1.
 *
 * Paper: Li et al., "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 5 (BALL: all accesses take the
 * bypass path) and Table 1.
 *
 * Deviations: local memory keeps the L1. The segment that accesses are coalesced into is the machine's
 * l1d.bypass_segment: 32 B in the reference with its L1 off, 128 B in the simulator of the paper (configuration
 * decoupled-l1d), where bypassing loads coalesce like cached ones.
 */
#include "gpu/scheme.h"

static bool ball_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->l1d_enabled = false;
  return true;
}

static const struct scheme ball = {
    .name = "ball",
    .title = "bypass all: global memory does not use the L1",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, section 5",
    .idea = "Every global load bypasses the L1, as on GPUs that cache only local memory in the L1. Programs that\n"
            "run faster so are the paper's cache-unfriendly ones (Table 1).",
    .no_storage = "nothing is added: the L1 is not used by global loads",
    .configure = ball_configure,
};
SCHEME(ball);

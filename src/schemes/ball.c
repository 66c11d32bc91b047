/* ball.c - bypass all: no global load uses the L1.
 *
 * Paper: Li et al., "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 5 (BALL: all accesses take the
 * bypass path) and Table 1.
 *
 * Deviations: as in the reference with its L1 off, accesses are coalesced into 32 B segments, one request each, whereas
 * a bypass decided after coalescing keeps its 128 B segment. Local memory keeps the L1.
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
    .idea =
        "Every global load goes straight to the L2, as on GPUs that cache only local memory in the L1. Programs that\n"
        "run faster so are the paper's cache-unfriendly ones (Table 1).",
    .configure = ball_configure,
};
SCHEME(ball);

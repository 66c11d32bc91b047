/* gto.c - greedy-then-oldest warp scheduling: keep issuing from one warp until it cannot, then from the oldest.
 *
 * Paper: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 4.1. It is the baseline
 * of the five papers; the scheme selects it by name on a configuration that has another one.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static bool gto_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->warp_sched = SCHED_GTO;
  return true;
}

static const struct scheme gto = {
    .name = "gto",
    .title = "greedy-then-oldest warp scheduling",
    .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012",
    .idea = "A scheduler keeps issuing from the warp it issued from last, which uses what that warp just fetched;\n"
            "when that warp cannot issue, the oldest one that can goes next.",
    .no_storage = "the baseline's scheduler: the warp issued last and the order in which warps started",
    .owns = {OWNS_WARP_SCHEDULER},
    .configure = gto_configure,
};
SCHEME(gto);

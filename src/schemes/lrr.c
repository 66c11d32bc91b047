/* lrr.c - loose round-robin warp scheduling: the next eligible warp after the one that issued last.
 *
 * Paper: compared with in Li et al., "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 6.4 and Fig 15.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static bool lrr_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->warp_sched = SCHED_LRR;
  return true;
}

static const struct scheme lrr = {
    .name = "lrr",
    .title = "loose round-robin warp scheduling",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, Fig 15",
    .idea = "Warps take turns: the next warp after the last issued that can issue does. All warps advance together,\n"
            "which spreads the L1 over all of them.",
    .no_storage = "the warp issued last is known to the baseline's scheduler, too",
    .owns = {OWNS_WARP_SCHEDULER},
    .configure = lrr_configure,
};
SCHEME(lrr);

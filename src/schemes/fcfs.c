/* fcfs.c - first come, first served at the DRAM: no request overtakes another of its bank queue.
 *
 * Paper: Rixner et al., "Memory Access Scheduling", ISCA 2000; MeDiC (Ausavarungnirun et al., PACT 2015) compares with
 * it.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static bool fcfs_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->dram_sched = DRAM_FCFS;
  return true;
}

static const struct scheme fcfs = {
    .name = "fcfs",
    .title = "DRAM requests in order of arrival",
    .paper = "Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling. ISCA 2000",
    .idea = "The DRAM controller serves requests in order of arrival, whether or not their row is open.",
    .no_storage = "the queues and their order are the baseline's",
    .owns = {OWNS_DRAM_SCHEDULER},
    .configure = fcfs_configure,
};
SCHEME(fcfs);

/* fr_fcfs.c - first ready, first come, first served at the DRAM: requests to the open row before older ones.
 *
 * Paper: Rixner et al., "Memory Access Scheduling", ISCA 2000. The baseline of the five papers; the scheme selects it
 * by name on a configuration that has another one.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static bool fr_fcfs_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->dram_sched = DRAM_FRFCFS;
  return true;
}

static const struct scheme fr_fcfs = {
    .name = "fr-fcfs",
    .title = "DRAM requests to the open row first",
    .paper = "Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling. ISCA 2000",
    .idea = "Within a bank, a request whose row is open goes before an older one that would need another row.",
    .no_storage = "the baseline's scheduler",
    .owns = {OWNS_DRAM_SCHEDULER},
    .configure = fr_fcfs_configure,
};
SCHEME(fr_fcfs);

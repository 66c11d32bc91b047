/* fifo.c - first-in first-out replacement at the L1 data cache.
 *
 * Paper: a yardstick of every replacement study; in the reference one of the two built-in policies.
 *
 * Deviations: none known. Order is that of allocation, not of the data's arrival.
 */
#include "gpu/scheme.h"

static bool fifo_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->l1d_repl = REPL_FIFO;
  return true;
}

static const struct scheme fifo = {
    .name = "fifo",
    .title = "first-in first-out replacement",
    .paper = "Bakhoda, Yuan, Fung, Wong, Aamodt: Analyzing CUDA Workloads Using a Detailed GPU Simulator. ISPASS 2009",
    .idea = "The line placed first is replaced first, whatever its use after that.",
    .no_storage = "the two bits per line that order lines by last use order them by arrival",
    .owns = {OWNS_L1_REPLACEMENT},
    .configure = fifo_configure,
};
SCHEME(fifo);

/* gpu.h - the timing model: builds a machine from a configuration and schemes, and runs kernels on it.
 *
 * One struct gpu is one machine; many may live in one process. The L2, the instruction caches and the DRAM keep their
 * state from one launch to the next; the L1 data caches are invalidated when a launch begins.
 */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/config.h"
#include "gpu/observe.h"
#include "gpu/stats.h"
#include "ptx/feed.h"

struct gpu;
struct slots;

/* `scheme`: NULL or "baseline", or a list (see scheme.h). The configuration is copied. NULL with `e` on bad input. */
struct gpu *gpu_new(const struct gpu_config *c, const char *scheme, struct err *e);
void gpu_free(struct gpu *g);
/* CTA slots over the whole machine: what simt_begin needs. */
uint32_t gpu_cta_slots(const struct gpu *g);
/* Run one launch to its end and write its counters to *out. False: e->code is ERR_PROGRAM (the program faulted, the
 * feed says how), ERR_STUCK (no progress), or ERR_INPUT (the launch does not fit the machine). */
bool gpu_run_kernel(struct gpu *g, struct feed *f, struct gpu_stats *out, struct err *e);
const struct gpu_config *gpu_config_of(const struct gpu *g);
struct slots *gpu_slots(struct gpu *g);
/* Core cycles since the machine was built. */
uint64_t gpu_now(const struct gpu *g);
/* Cycles without an instruction issued after which a launch is called stuck, 0 for the default; a hundred times as many
 * without a CTA that begins or ends count as stuck as well. */
void gpu_set_watchdog(struct gpu *g, uint64_t cycles);
/* Skipping idle time on (default) or off: counters must be the same. */
void gpu_set_skip(struct gpu *g, bool on);

#endif

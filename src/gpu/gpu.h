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
#include "gpu/common/config.h"
#include "gpu/common/launch.h"
#include "gpu/common/observed.h"
#include "gpu/common/stats.h"
#include "ptx/feed.h"

struct gpu;
struct slots;

/* `scheme`: NULL or "baseline", or a list (see scheme.h). The configuration is copied. NULL with `e` on bad input. */
struct gpu *gpu_new(const struct gpu_config *c, const char *scheme, struct err *e);
/* Last call of a run: schemes write their files, or `e` has the error. gpu_free does it otherwise. */
bool gpu_finish(struct gpu *g, struct err *e);
void gpu_free(struct gpu *g);
/* CTA slots of the whole machine, for simt_begin. */
uint32_t gpu_cta_slots(const struct gpu *g);

/* ---- launches that run at the same time ---- gpu_start adds a launch to the running ones; gpu_run advances time
 * until one has ended. When the last has ended with nothing in flight, gpu_close returns the counters of all launches
 * since the machine was idle. */
/* True if one more launch can start now. */
bool gpu_can_start(const struct gpu *g);
/* Whether a scheme chooses which CTA starts next, and where. */
bool gpu_orders_ctas(const struct gpu *g);
/* The feed must live until the launch has ended. False with `e` (ERR_INPUT): it does not fit an SM. */
bool gpu_start(struct gpu *g, const struct feed *f, const struct gpu_start *how, uint32_t *launch, struct err *e);
/* GPU_ENDED: *ended names the launch; GPU_TIME: core cycle `until` is reached; GPU_FAILED: e->code is ERR_PROGRAM (a
 * fault of the program, described by the feed) or ERR_STUCK (no progress); the launches on the machine are lost. */
enum gpu_ran gpu_run(struct gpu *g, uint64_t until, struct gpu_ended *ended, struct err *e);
/* Number of running launches. */
uint32_t gpu_running(const struct gpu *g);
/* Launches have overlapped since the machine was idle. */
bool gpu_overlapped(const struct gpu *g);
/* After the last launch has ended or one has failed: counters of all. False: a conservation law is violated. */
bool gpu_close(struct gpu *g, struct gpu_stats *out, struct err *e);
/* Within a call of a feed's watch: the counters of the running launches so far. False with none: the machine is within
 * a cycle. */
bool gpu_peek(struct gpu *g, struct gpu_stats *out);
/* Within a call of a feed: the watches are called before the next cycle. */
void gpu_look_soon(struct gpu *g);
struct slots *gpu_slots(struct gpu *g);
/* Select observations of later launches; call it before the first. */
void gpu_watch(struct gpu *g, const struct gpu_watch *w);
const struct gpu_observed *gpu_observed(const struct gpu *g);
/* A launch, or CTAs of one, that run functionally touch `sectors` (bit k: bytes 32 k to 32 k + 31) of the 128
 * bytes at `addr`. Tags of the L2 follow, and the turn of the crossbar's arbiter for its slice, without time and
 * counters. `place`: of the CTA among those that run side by side, in the order in which they begin. */
struct gpu_touched {
  uint64_t addr;
  uint32_t sectors, part, place; /* part: sectors of which it writes some bytes */
  bool write;
};
void gpu_touch(struct gpu *g, const struct gpu_touched *t);
/* The same at the end of that launch for the read-only caches of the SMs that its CTAs would run on, and for their
 * local memory in the L2. */
struct gpu_executed {
  const struct feed_kernel *kernel;
  const uint64_t *last;     /* of each instruction the place of its last execution among all, from 1; 0: none */
  const uint64_t *constant; /* addresses in the constant window, one for each line of 32 B */
  uint32_t constants, local_words;
  const uint64_t *local; /* set of words of local memory, of `local_words` */
  const uint64_t *on_sm; /* sets of instructions, `set_words` each: executed on the SM of the first CTA, and so on */
  uint32_t set_words;
};
void gpu_touch_code(struct gpu *g, const struct gpu_executed *c);
/* Core cycles since the machine was built. */
uint64_t gpu_now(const struct gpu *g);
/* Cycles without an issued instruction after which a launch is stuck, 0 for the default; a hundred times as many
 * without a CTA that begins or ends also count. */
void gpu_set_watchdog(struct gpu *g, uint64_t cycles);
/* Host threads for the SMs: counters are equal. One thread runs what they cannot share: launches at the same time,
 * under schemes that are not `by_sm`, under observation, and of feeds that do not share (gpu/ahead.h). */
void gpu_set_threads(struct gpu *g, uint32_t n);
/* For tests: they share every window, or (default) those that are worth it; and the windows so far. */
void gpu_set_all_windows(struct gpu *g, bool on);
uint64_t gpu_windows(const struct gpu *g);
/* Skip idle time (default) or not: counters must be equal. */
void gpu_set_skip(struct gpu *g, bool on);
/* Use the SM steps compiled for the present kind of machine (default), or the general ones: counters must be equal. */
void gpu_set_kinds(struct gpu *g, bool on);
/* The kind in use. */
enum sm_kind gpu_kind(const struct gpu *g);

#endif

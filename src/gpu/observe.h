/* observe.h - closer looks at a launch than its counters: per SM and memory unit, over time, per instruction.
 *
 * The units of the machine count through a pointer to struct gpu_stats. With `detail` each of them gets a struct of its
 * own and the launch's counters are their sum, so the parts add up to the total by construction. Samples are
 * differences of totals at multiples of `sample` cycles, after everything that sleeps has been accounted for. Nothing
 * here exists, and no pointer is moved, for what is not asked for.
 */
#ifndef GPU_OBSERVE_H
#define GPU_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/stats.h"

struct gpu;

struct gpu_watch {
  bool detail;     /* counters per SM, L2 sub-partition and DRAM channel */
  bool lines;      /* memory statistics per instruction */
  uint64_t sample; /* counters over time: length of an interval in core cycles, 0 for none */
};

/* One interval: increments of the counters named by gpu_sample_keys. */
enum { GPU_SAMPLE_COUNTERS = 9 };
struct gpu_sample {
  uint64_t v[GPU_SAMPLE_COUNTERS];
};
extern const char *const gpu_sample_keys[GPU_SAMPLE_COUNTERS];

/* One instruction, over all warps of a launch. */
struct gpu_inst_memory {
  uint64_t executions;  /* warp instructions with an active lane */
  uint64_t accesses;    /* after coalescing; shared memory: passes through its banks */
  uint64_t l1_accesses; /* loads that the L1 data cache took, local ones included */
  uint64_t l1_hits;
  uint64_t
      stalls; /* cycles in which it held the memory pipe, over all SMs: the sum of the stall.* reasons of the pipe */
  uint64_t bytes; /* data of its requests to the L2, both ways */
};

/* Of the last launch; arrays that were not asked for are NULL. */
struct gpu_seen {
  struct gpu_watch on;
  struct gpu_stats *sm, *subpart, *channel;
  uint32_t sms, subparts, channels;
  struct gpu_sample *sample;
  uint32_t samples, sample_room;
  struct gpu_inst_memory *inst; /* by pc */
  uint32_t insts, inst_room;
  /* the sampler */
  uint64_t sample_at; /* end of the interval in progress, UINT64_MAX for none */
  uint64_t sampled_at;
  struct gpu_stats sampled;
};

/* What to look at in the launches to come; call it before the first. */
void gpu_watch(struct gpu *g, const struct gpu_watch *w);
const struct gpu_seen *gpu_seen(const struct gpu *g);

/* ---- used by the machine ---- */
void gpu_seen_begin(struct gpu *g);
void gpu_seen_free(struct gpu *g);
/* Everything counted in this launch so far by units that are settled. */
void gpu_seen_total(const struct gpu *g, struct gpu_stats *total);
/* Close the interval that ends now. Units must be settled. */
void gpu_seen_sample(struct gpu *g);

#endif

/* partition.h - the memory side: L2 sub-partitions and the DRAM channel behind each pair of them.
 *
 * Flow (docs/explanation/gpu-model.md "L2 and DRAM"): interconnect -> [ROP delay] -> queue in -> L2 -> queue to DRAM ->
 * arbitration between the channel's sub-partitions -> [fixed delay] -> DRAM queue -> banks -> return queue -> queue
 * from DRAM -> L2 fill -> queue out -> interconnect.
 */
#ifndef GPU_MEM_PARTITION_H
#define GPU_MEM_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"
#include "gpu/common/req.h"
#include "gpu/common/stats.h"
#include "gpu/slots/memory.h"

struct l2_prefetch;
struct partition_set; /* all channels and sub-partitions of a GPU */

struct partition_env {
  const struct gpu_config *config;
  struct req_pool *pool;
  struct gpu_stats *stats; /* counters of the current kernel */
  const uint64_t *now;     /* core cycle */
  /* Time of the core clock's next edge and, while DRAM steps, of its own present edge, with both periods, in any unit;
   * NULL: unknown. */
  const uint64_t *core_edge, *dram_edge;
  uint64_t core_period, dram_period;
  /* Perform an atomic that leaves the L2. */
  void (*atomic)(void *ctx, req_id r);
  void *ctx;
  struct slots *slots;           /* scheme hooks; NULL for none */
  const struct mem_hooks *hooks; /* the same for the memory side; NULL for none */
  struct l2_prefetch *prefetch;  /* lines that schemes prefetch into the L2 (l2_prefetch.h); NULL for none */
  struct mem_listener listener;  /* all NULL for none */
  uint32_t *in_flight; /* decremented for each L1 write-back accepted by the L2, which has no reply; or NULL */
  uint64_t *full;      /* partition_full; allocated by partition_new */
};

struct partition_set *partition_new(const struct partition_env *env);
void partition_free(struct partition_set *p);

/* Set channel, sub-partition, bank, row and column of r->addr. */
void partition_locate(const struct partition_set *p, struct req *r);

/* Interconnect side of sub-partition `s`. push takes requests from the interconnect (the ROP delay is inside). */
bool partition_can_push(struct partition_set *p, uint32_t s); /* one push per L2 cycle, before the step */
void partition_push(struct partition_set *p, uint32_t s, req_id r);
req_id partition_top(struct partition_set *p, uint32_t s); /* next reply, 0 if none */
req_id partition_pop(struct partition_set *p, uint32_t s); /* an atomic is performed here */

/* One cycle of the L2 clock for all sub-partitions, of the DRAM command clock for all channels; idle units are free. */
void partition_tick_l2(struct partition_set *p);
void partition_tick_dram(struct partition_set *p);
/* Number of further cycles of that clock that change nothing (0: tick; UINT32_MAX: until a push; it may be too small),
 * and a call to skip cycles (internal timing counters catch up). A result is valid until a unit of the other clock
 * acts: jump by the minimum of both, and skip before the next push. Replies waiting in partition_top do not make a unit
 * busy. */
uint32_t partition_all_quiet_l2(const struct partition_set *p);
uint32_t partition_all_quiet_dram(const struct partition_set *p);
void partition_skip_all_l2(struct partition_set *p, uint64_t steps);
void partition_skip_all_dram(struct partition_set *p, uint64_t steps);
/* The clock edges in partition_env have been changed. */
void partition_clocks_changed(struct partition_set *p);
/* The set of sub-partitions with a reply, one word per 64. */
const uint64_t *partition_replies(const struct partition_set *p);
/* The set of sub-partitions for which partition_can_push has returned false and still would. */
const uint64_t *partition_full(const struct partition_set *p);
/* From now on each sub-partition and channel counts into its own element. */
void partition_split_stats(struct partition_set *p, struct gpu_stats *subpart, struct gpu_stats *channel);
/* Call before the first push. */
void partition_listen(struct partition_set *p, const struct mem_listener *l);
/* Drop all lines of the L2; nothing is pending. */
void partition_empty_l2(struct partition_set *p);
/* Access to the units, for describing a stuck machine and for tests; requests in the fixed delay. */
struct l2_slice *partition_slice(const struct partition_set *p, uint32_t s);
struct dram *partition_dram(const struct partition_set *p, uint32_t c);
uint32_t partition_delayed(const struct partition_set *p, uint32_t c);
/* Complete the counters of skipped steps: call it before reading statistics. */
void partition_settle(struct partition_set *p);

/* Occupancy of the input queue of sub-partition `s` as a fraction of its size, summed over its L2 cycles so far. */
double partition_input_fill(struct partition_set *p, uint32_t s);

/* Observe a channel's DRAM commands. `t`: command cycle. */
enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE };
void partition_watch_dram(struct partition_set *p, uint32_t c,
                          void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row),
                          void *ctx);

#endif

/* partition.h - the memory side: L2 sub-partitions and the DRAM channel behind each pair of them.
 *
 * Flow (docs/explanation/gpu-model.md "L2 and DRAM"): interconnect -> [ROP delay] -> queue in -> L2 -> queue to DRAM ->
 * arbitration between the channel's sub-partitions -> [fixed delay] -> DRAM queue -> banks -> return queue -> queue
 * from DRAM -> L2 fill -> queue out -> interconnect.
 */
#ifndef GPU_PARTITION_H
#define GPU_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"
#include "gpu/common/req.h"
#include "gpu/common/stats.h"
#include "gpu/slots/memory.h"

struct partition_set; /* all channels and sub-partitions of a GPU */

struct partition_env {
  const struct gpu_config *config;
  struct req_pool *pool;
  struct gpu_stats *stats; /* counters of the current kernel */
  const uint64_t *now;     /* core cycle */
  /* When the next edge of the core clock comes and, while DRAM steps, the present one of its clock, with their periods,
   * in any unit; NULL: not known. */
  const uint64_t *core_edge, *dram_edge;
  uint64_t core_period, dram_period;
  /* Perform an atomic that leaves the L2. */
  void (*atomic)(void *ctx, req_id r);
  void *ctx;
  struct slots *slots;           /* scheme hooks; NULL for none */
  const struct mem_hooks *hooks; /* the same for the memory side; NULL for none */
  struct mem_listener listener;  /* all NULL for none */
  uint32_t *in_flight; /* one less for each write-back of an L1 that the L2 took: nobody gets a reply; or NULL */
  uint64_t *full;      /* partition_full; of partition_new's making */
};

struct partition_set *partition_new(const struct partition_env *env);
void partition_free(struct partition_set *p);

/* Channel, sub-partition, bank, row and column of r->addr. addrmap_decode compiles the map each time: for tests and
 * tools; whoever makes requests by the million calls partition_locate. */
void addrmap_decode(const struct gpu_config *c, struct req *r);
void partition_locate(const struct partition_set *p, struct req *r);

/* Interconnect side of sub-partition `s`. push takes requests straight from the interconnect (the ROP delay is inside).
 */
bool partition_can_push(struct partition_set *p, uint32_t s); /* one push per L2 cycle, before the step */
void partition_push(struct partition_set *p, uint32_t s, req_id r);
req_id partition_top(struct partition_set *p, uint32_t s); /* reply ready to leave, 0 if none */
req_id partition_pop(struct partition_set *p, uint32_t s); /* an atomic is performed here */

/* One cycle of the L2 clock for sub-partition `s`, of the DRAM command clock for channel `c`. */
void partition_step_l2(struct partition_set *p, uint32_t s);
void partition_step_dram(struct partition_set *p, uint32_t c);
/* Nothing inside: stepping changes no counter. */
bool partition_idle_l2(const struct partition_set *p, uint32_t s);
bool partition_idle_dram(const struct partition_set *p, uint32_t c);
/* How many further steps of that clock are known to change nothing (0: step it; UINT32_MAX: until a push), and the
 * notice that so many were skipped (timing counters inside catch up). An answer holds until another unit of the same
 * channel does something: jump over min over all units, and give the notice before the next push. Replies waiting in
 * partition_top do not make a unit busy. */
uint32_t partition_quiet_l2(const struct partition_set *p, uint32_t s);
uint32_t partition_quiet_dram(const struct partition_set *p, uint32_t c);
void partition_skip_l2(struct partition_set *p, uint32_t s, uint32_t steps);
void partition_skip_dram(struct partition_set *p, uint32_t c, uint32_t steps);
/* The same for all units of a clock together, at no cost for those that are quiet. Not to be mixed with stepping or
 * skipping one unit of that clock. The quiet steps of all may be told too few. */
void partition_tick_l2(struct partition_set *p);
void partition_tick_dram(struct partition_set *p);
uint32_t partition_all_quiet_l2(const struct partition_set *p);
uint32_t partition_all_quiet_dram(const struct partition_set *p);
void partition_skip_all_l2(struct partition_set *p, uint64_t steps);
void partition_skip_all_dram(struct partition_set *p, uint64_t steps);
/* The edges of the clocks in partition_env have been set anew. */
void partition_clocks_changed(struct partition_set *p);
/* The set of sub-partitions with a reply, one word per 64. */
const uint64_t *partition_replies(const struct partition_set *p);
/* The set of those for which partition_can_push has been false and still is. */
const uint64_t *partition_full(const struct partition_set *p);
/* From now on each sub-partition and each channel counts into its own element. */
void partition_split_stats(struct partition_set *p, struct gpu_stats *subpart, struct gpu_stats *channel);
/* Before the first push. */
void partition_listen(struct partition_set *p, const struct mem_listener *l);
/* The units themselves, for whoever describes a machine that is stuck and for tests; requests in the fixed delay. */
struct l2_slice *partition_slice(const struct partition_set *p, uint32_t s);
struct dram *partition_dram(const struct partition_set *p, uint32_t c);
uint32_t partition_delayed(const struct partition_set *p, uint32_t c);
/* Counters of skipped steps become complete: call it before reading statistics. */
void partition_settle(struct partition_set *p);

/* Occupancy of the input queue of sub-partition `s` as a fraction of its size, summed over its L2 cycles so far. */
double partition_input_fill(struct partition_set *p, uint32_t s);

/* Listen to a channel's DRAM commands (tests, dram_check). `t`: command cycle. */
enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE };
void partition_watch_dram(struct partition_set *p, uint32_t c,
                          void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row),
                          void *ctx);

#endif

/* services.h - what the machine does for schemes; scheme.h includes it. */
#ifndef GPU_SLOTS_SERVICES_H
#define GPU_SLOTS_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

struct cache_set;
struct gpu;
struct gpu_config;
struct l1_event;
struct scheme_ctx;
struct sm_space;

/* Occupancy (0..1) of the input queue of an L2 sub-partition, summed over core cycles: a difference divided by the
 * cycles between is a mean. */
double gpu_subpart_fill_cycles(const struct gpu *g, uint32_t subpart);
/* Warp slots of an SM with a warp, and the start order of a slot's warp (age). */
uint64_t gpu_sm_warps(const struct gpu *g, uint32_t sm);
uint64_t gpu_sm_warp_age(const struct gpu *g, uint32_t sm, uint32_t warp);
/* Of these, the warps whose next instruction waits for no operand, barrier or fence. */
uint64_t gpu_sm_ready(const struct gpu *g, uint32_t sm);
/* Thread instructions executed by an SM since the launch began. */
uint64_t gpu_sm_insts(const struct gpu *g, uint32_t sm);
/* Warp instructions executed by an SM since the launch began. */
uint64_t gpu_sm_warp_insts(const struct gpu *g, uint32_t sm);
/* An organisation evicts a line (or its present part): counted and passed to on_evict observers. */
void gpu_l1_evicted(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks, uint32_t owner_warp,
                    bool reused);
/* It evicts some chunks of a line. Call either function before the places are reused. */
void gpu_l1_lost(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks);
/* True if a scheme decides L1 replacement (find_victim), and its choice: a way of `usable`, -1 for none. The caller is
 * an organisation with `way`. */
bool gpu_l1_has_chooser(const struct gpu *g);
int gpu_l1_choose(struct gpu *g, const struct cache_set *set, const struct l1_event *e);
/* The line of `e` was placed there; calls on_place. */
void gpu_l1_placed(struct gpu *g, const struct l1_event *e, uint32_t way);
/* The results of a steady organisation have changed in every SM: retry refused accesses. */
void gpu_l1_ask_again(struct gpu *g);
/* Request the line of `addr` in the L1 of SM `of->sm`. For schemes that fill on_prefetch, which tells its fate. `of` is
 * the event that led to it: `warp`, `cta`, `pc` and `degree` are kept for observers. It waits in a queue of
 * l1d.prefetch_queue lines and goes to the L1 by l1d.prefetch_priority. False: the queue is full, it is dropped. A hook
 * of one SM may only request for that SM; those of a launch, a CTA, an epoch or the L2 may request for any. */
bool gpu_prefetch(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr);
/* The same for the line in the L2: the request leaves the SM when its turn comes, without a lookup in the L1. Nothing
 * comes back. The L2 fetches what it lacks as for a miss, or drops the request where a miss would wait. Fates are those
 * at the L2, with `into_l2` in the event; any access of a line counts as its use. */
bool gpu_prefetch_l2(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr);
/* Bytes of an SM's registers and shared memory that no CTA holds. `on_space` tells when they change. */
struct sm_space gpu_sm_space(const struct gpu *g, uint32_t sm);
/* An organisation that fills on_space moves a line between its L1 and that space: the port takes sm.space_interval
 * cycles. gpu_space_hit: from `touch`, the load hits there and takes sm.space_latency cycles longer, and what it waits
 * for the port; gpu_space_keep: a line goes there. */
void gpu_space_hit(struct gpu *g, uint32_t sm);
void gpu_space_keep(struct gpu *g, uint32_t sm);
/* For l1_place.peer: true if the L1 of SM `at` has all that `e` needs. */
bool gpu_l1_holds(struct gpu *g, const struct l1_event *e, uint32_t at);
/* The running launch: CTAs of the grid and in its x direction, and CTAs per SM. */
uint32_t gpu_grid_ctas(const struct gpu *g);
uint32_t gpu_grid_x(const struct gpu *g);
uint32_t gpu_sm_cta_limit(const struct gpu *g);
/* Set of `addr` in a cache of `sets` sets and `line`-byte lines under the L1's index function. */
uint32_t gpu_l1_set(const struct gpu_config *c, uint32_t sets, uint32_t line, uint64_t addr);

#endif

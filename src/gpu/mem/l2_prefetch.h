/* l2_prefetch.h - lines that schemes requested in the L2 (gpu_prefetch_l2): what becomes of each.
 *
 * A request has a number here, its `owner`, from the SM that sends it to the end of its fate. Nothing is replied to it.
 */
#ifndef GPU_MEM_L2_PREFETCH_H
#define GPU_MEM_L2_PREFETCH_H

#include "gpu/mem/l2.h"
#include "gpu/slots/slots.h"

struct l2_prefetch;

/* The machine counts requests in flight, prefetches that are not filled, and those of them in flight. */
struct l2_prefetch *l2_prefetch_new(struct slots *slots, uint32_t *in_flight, uint32_t *prefetches, uint32_t *sent);
void l2_prefetch_free(struct l2_prefetch *p);
/* A request of scheme `of` leaves its SM; returns its number. */
uint32_t l2_prefetch_send(struct l2_prefetch *p, const struct l1_event *e, uint32_t of);
/* The L2 fetches it (`fetched`), or does not, by `fate`. */
void l2_prefetch_reached(struct l2_prefetch *p, uint32_t owner, bool fetched, enum prefetch_fate fate,
                         struct gpu_stats *st);
void l2_prefetch_filled(struct l2_prefetch *p, uint32_t owner);
/* A demand access of a line; it is replaced; the launch has ended. */
void l2_prefetch_used(struct l2_prefetch *p, uint64_t line, enum l2_outcome out, struct gpu_stats *st);
void l2_prefetch_gone(struct l2_prefetch *p, uint64_t line, struct gpu_stats *st);
void l2_prefetch_end(struct l2_prefetch *p, struct gpu_stats *st);
/* Count a fate and tell the scheme. */
void l2_prefetch_fate(struct slots *slots, uint32_t of, const struct l1_event *e, enum prefetch_fate fate,
                      struct gpu_stats *st);

/* l2_sector.c: the sectors of a prefetch are fetched from DRAM; false: they are not, *why. */
bool l2_sector_prefetch(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                        enum prefetch_fate *why);

#endif

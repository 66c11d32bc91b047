/* l1.h - the L1 data cache: life cycle, accesses, organisations that replace its lines, queues in front of it. */
#ifndef GPU_L1_L1_H
#define GPU_L1_L1_H

#include <stddef.h>

#include "gpu/l1/event.h"
#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* l1d.c */
void l1d_init(struct l1d *l, const struct gpu_config *c);
void l1d_destroy(struct l1d *l);
void l1d_invalidate(struct l1d *l);
void l1d_drop(struct sm *s); /* a warp passed a fence: the content of the L1 may be stale */
/* Call on_access for an accepted access; returns `out`. */
enum l1_outcome l1d_notify_access(struct sm *s, struct l1_event *e, enum l1_outcome out);
/* No scheme objects to a line for this load (may_allocate). */
bool l1d_may_allocate(struct sm *s, const struct l1_event *e);
/* A global store finds its line: true if the scheme that decides lets it stay. */
bool l1d_store_keeps(struct sm *s, const struct l1_event *e);
/* Call on_store. */
void l1d_stored(struct sm *s, const struct l1_event *e, enum l1_store_end end);
/* Call an observing hook, by its offset in struct scheme, of the `n` instances in `list`: see L1D_NOTIFY. */
void l1d_notify(struct sm *s, const uint8_t *list, uint32_t n, const struct l1_event *e, size_t hook);
#define L1D_NOTIFY(s, hook, e)                                                                     \
  do {                                                                                             \
    if ((s)->g->slots.n_##hook)                                                                    \
      l1d_notify(s, (s)->g->slots.hook, (s)->g->slots.n_##hook, e, offsetof(struct scheme, hook)); \
  } while (0)
/* organisation.c: the same operations when a scheme provides the organisation */
void l1_org_init(struct sm *s);
void l1_org_destroy(struct l1d *l);
enum l1_outcome l1_org_read(struct sm *s, op_id op, const struct access *a);
/* A local store whose chunks are all present stays in the L1; false: some are not. */
bool l1_org_write_back(struct sm *s, op_id op, const struct access *a);
void l1_org_begin_kernel(struct sm *s);
enum l1_outcome l1_org_write(struct sm *s, op_id op, const struct access *a);
/* A store of another SM: its chunks are evicted here. True: one was present. */
bool l1_org_drop_stored(struct sm *s, const struct l1_event *e, const struct access *a);
void l1_org_fill(struct sm *s, req_id r); /* data of a request has arrived */
op_id l1_org_next(struct sm *s);          /* the next load whose data is complete: ready_count is not 0 */
/* The chunks of a prefetch are fetched, or why not (then they are not). */
enum prefetch_fate l1_org_prefetch(struct sm *s, struct l1_event *e);
/* prefetch.c: lines that schemes requested (gpu_prefetch); only with a scheme that fills on_prefetch */
enum { PREFETCH_ISSUED = PREFETCH_ENDED + 1 };
void l1_prefetch_init(struct sm *s);
void l1_prefetch_destroy(struct l1d *l);
bool l1_prefetch_waits(const struct l1d *l);   /* a line waits for the L1 */
bool l1_prefetch_into_l2(const struct l1d *l); /* the first of them goes to the L2 */
void l1_prefetch_to_l2(struct sm *s);          /* and does so */
struct l1_event l1_prefetch_take(struct sm *s);
/* The line taken last was fetched (PREFETCH_ISSUED) or not. */
void l1_prefetch_done(struct sm *s, const struct l1_event *e, enum prefetch_fate fate);
void l1_prefetch_sent(struct sm *s, struct req *r, const struct l1_event *e); /* one of its requests is made */
void l1_prefetch_arrived(struct sm *s, const struct req *r, bool placed);
void l1_prefetch_loaded(struct sm *s, uint64_t addr, enum l1_outcome out); /* a demand load of the line */
void l1_prefetch_gone(struct sm *s, uint64_t line, enum prefetch_fate fate);
void l1_prefetch_invalidated(struct sm *s); /* all lines that have arrived are */
void l1_prefetch_drain(struct sm *s);       /* the SM has no warp: nothing waits any more */
void l1_prefetch_end(struct sm *s);         /* the launch has ended */
/* compressed.c: the organisation of a machine whose scheme fills line_size */
const struct l1_org *l1_packed_init(struct sm *s);
void l1_packed_destroy(struct l1d *l);
void l1_packed_stored(struct sm *s, const struct l1_event *e); /* a store has changed a line that stays */
/* slow.c: hits that take longer than the L1's latency */
void l1_slow_wait(struct sm *s, op_id op); /* a hit that ends l1d.later cycles from now */
op_id l1_slow_next(struct sm *s);          /* one that ends now; 0: none, and s->wake_at is set */
void l1_slow_destroy(struct l1d *l);
/* order.c: queues in front of the L1 */
void l1_order_init(struct sm *s);
void l1_order_destroy(struct l1d *l);
bool l1_order_push(struct sm *s, op_id op, const struct access *a); /* false: its queue is full */
void l1_order_step(
    struct sm *s); /* the access that the scheme chooses enters the L1's latency pipe, if there is room */

#endif

/* l2.h - one L2 sub-partition: ROP delay, queues, tags, MSHRs, ports.
 *
 * Order of work in an L2 cycle (the reference's): a reply of a filled line, a return from DRAM, a miss to DRAM, a new
 * access, then the ROP delay releases a request. Times inside are L2 cycles (`t`), except that LRU stamps and the ROP
 * delay count core cycles, as the reference's do.
 */
#ifndef GPU_MEM_L2_H
#define GPU_MEM_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/mem/addrmap.h"
#include "gpu/mem/l2_mshr.h"
#include "gpu/mem/l2_queue.h"
#include "gpu/mem/l2_tags.h"
#include "gpu/mem/partition.h"

/* A unit with its own ports: the whole sub-partition, or one bank of MeDiC's L2. Sets are interleaved over banks. */
struct l2_bank {
  _Alignas(64) struct l2_queue in; /* requests for this bank */
  struct l2_queue miss;            /* to DRAM, waiting for room in the shared queue */
  struct l2_queue from_dram;
  uint64_t data_free;  /* first L2 cycle in which the data port is free */
  uint8_t atomic_part; /* hundredths of a cycle that its last atomic took beyond `data_free` */
  bool refused;        /* the access at the head was refused and the state is unchanged: it would be refused again */
  _Alignas(64) struct l2_mshrs mshrs;
  uint64_t fill_free;     /* as data_free, of the fill port */
  struct l2_queue lookup; /* banked: requests in the tag pipeline; op.at: L2 cycle in which the access happens */
};

/* Fields of a step come first. */
struct l2_slice {
  _Alignas(64) uint64_t t; /* L2 cycles done */
  uint64_t wake;           /* no event before this L2 cycle, except `retries` refused accesses per cycle */
  uint32_t retries;
  uint16_t banks, ports; /* ports: banked only (MeDiC section 5), like everything about ports */
  struct l2_bank *bank;
  const struct partition_env *env;
  struct l2_queue rop; /* op.at: core cycle in which it may enter */
  uint32_t rop_latency;
  uint64_t rop_at;         /* of its head; UINT64_MAX: it is empty */
  struct l2_queue to_dram; /* shared by the banks */
  struct l2_queue out;     /* replies to the interconnect */
  uint64_t waited;         /* L2 cycles that requests have spent in the input queues */
  uint64_t taken;          /* number of such requests that are not in the counters yet */
  uint16_t line_cycles;    /* cycles that a line occupies a port */
  uint8_t port_shift;      /* log2 of a port's bytes per cycle */
  bool baseline;           /* the default machine (l2_is_baseline) */
  uint32_t id;
  const struct addrmap *map;
  _Alignas(64) struct l2_tags tags;
  uint64_t seen[REQ_TYPES][L2_OUTCOMES]; /* accesses that are not in the counters yet */
  uint64_t waited_counted;               /* part of `waited` that is in the counters */
  uint16_t first_port, first_bank;       /* the unit examined first */
  struct l2_queue *port;                 /* incoming */
};

void l2_init(struct l2_slice *s, const struct partition_env *env, const struct addrmap *map, uint32_t id);
void l2_free(struct l2_slice *s);
bool l2_port_free(const struct l2_slice *s);
/* Room for the sectors of one request, as in the reference, also where requests are not split. */
static inline bool l2_can_push(const struct l2_slice *s) {
  const struct l2_queue *q = &s->bank[0].in;
  return s->ports ? l2_port_free(s) : q->count + (q->limit < 4 ? q->limit : 4u) <= q->limit;
}
void l2_push(struct l2_slice *s, req_id r);
/* True if the request will queue behind another in the ROP delay: a push then needs no skipped steps (l2_skip_to)
 * before it. */
bool l2_joins(const struct l2_slice *s, req_id r);
/* A cycle with events; `baseline`, a constant: the value of s->baseline. */
void l2_step_as(struct l2_slice *s, uint64_t now, bool baseline);
/* Not banked, no sectors, not perfect, write-back, the core's clock, no scheme and no observer: may change until the
 * first push. */
bool l2_is_baseline(const struct l2_slice *s);
/* Complete the counters of all accesses so far. */
void l2_count(struct l2_slice *s);
/* Skip the steps up to t, which change nothing: none before `wake` does, until a push or a return. Taking from `out`
 * has no effect on them. */
static inline void l2_skip_to(struct l2_slice *s, uint64_t t) {
  if (__builtin_expect(s->retries != 0, 0)) s->env->stats->l2_rejects += (t - s->t) * s->retries;
  s->t = t;
}
/* DRAM side: the oldest request leaves, which may unblock the sub-partition; room for a return; the return. Call them
 * after the steps skipped so far. */
static inline struct l2_op l2_take(struct l2_slice *s) {
  if (l2_queue_full(&s->to_dram)) s->wake = s->t;
  return l2_queue_pop(&s->to_dram);
}
bool l2_can_return(const struct l2_slice *s, const struct l2_op *op);
void l2_return(struct l2_slice *s, struct l2_op op);

/* Steps of a clock of `mhz` that end before core cycle now + `cycles` begins. */
uint64_t l2_steps_before(uint64_t cycles, uint32_t mhz, uint32_t core_mhz);

/* An access of a launch that runs functionally (l2_warm.c): tags and states only. The slice is idle. */
struct l2_warm {
  uint64_t addr, order; /* order: at least the present core cycle, growing */
  uint32_t sectors;     /* bit k: bytes 32 k to 32 k + 31 of its line */
  uint32_t part;        /* sectors of which it writes some bytes */
  bool write;
};
void l2_warm(struct l2_slice *s, const struct l2_warm *w);
/* Before the next step: the order of these accesses becomes cycles up to `now`. */
void l2_warm_end(struct l2_slice *s, uint64_t now);

/* ---- shared by l2.c, l2_access.c and l2_banked.c ---- */
/* The access of `op` to its bank. *reply: the L2 answers now (otherwise DRAM or the fill does). */
__attribute__((noinline)) enum l2_outcome l2_access(struct l2_slice *s, struct l2_bank *b, struct l2_op *op,
                                                    bool *reply);
enum l2_outcome l2_access_baseline(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, bool *reply);
/* The same with sectors (l2_sector.c), and the arrival of sectors requested by `op`: true if no more are pending. */
__attribute__((noinline)) enum l2_outcome l2_sector_access(struct l2_slice *s, struct l2_bank *b, struct l2_op *op,
                                                           uint32_t *line, bool *reply);
__attribute__((noinline)) bool l2_sector_arrive(struct l2_slice *s, uint32_t line, const struct l2_op *op,
                                                struct l2_mshr *e);
uint32_t l2_request_sectors(const struct l2_slice *s, const struct req *r); /* of its line, that a request touches */
uint16_t l2_burst_bytes(const struct l2_slice *s, uint32_t sectors);        /* of the bursts that contain them */
/* Lines with copies in several slices (l2_copies.c). A scheme chooses slices; `addr` belongs to another one then;
 * another slice of the channel has a copy; before an access: the copies agree, false if it must wait; a line is
 * invalid. */
bool l2_chosen(const struct l2_slice *s);
bool l2_away(const struct l2_slice *s, uint64_t addr);
bool l2_copied(const struct l2_slice *s, uint32_t set, uint64_t addr);
__attribute__((noinline)) bool l2_agree(struct l2_slice *s, struct l2_bank *b, const struct l2_op *op);
void l2_forget(struct l2_slice *s, uint32_t line);
/* Shared by both: the line to replace (L2_NONE: all are reserved; *no_line: a scheme allocates none), the eviction of
 * its content with the write-back or 0; a request of its own to DRAM; room in the miss queue for `more` entries beside
 * one. */
struct mem_event l2_event_of(const struct l2_slice *s, const struct req *r, uint32_t set, uint32_t line);
uint32_t l2_victim(const struct l2_slice *s, const struct req *r, uint32_t set, bool *no_line);
req_id l2_write_back(struct l2_slice *s, uint32_t line); /* a request that writes all of a line, which stays */
req_id l2_evict(struct l2_slice *s, uint32_t line, req_id by, uint32_t set);
void l2_to_dram(struct l2_slice *s, struct l2_bank *b, req_id r, uint32_t set);
static inline bool l2_miss_room(const struct l2_bank *b, uint32_t more) {
  return b->miss.count + more < b->miss.limit;
}
/* True if a request that left the ROP delay bypasses the L2. The scheme is asked once per request. */
enum { L2_MSHR_ASKED = L2_NO_MSHR - 1, L2_MSHR_BYPASS = L2_NO_MSHR - 2 }; /* op.mshr meanwhile */
__attribute__((noinline)) bool l2_bypasses(struct l2_slice *s, struct l2_op *op);
__attribute__((noinline)) void l2_bypass(struct l2_slice *s, struct l2_op op);
/* The oldest request of the ROP delay: still held; free to enter; or it bypassed the L2. */
enum l2_release { L2_HELD, L2_RELEASED, L2_GONE };
enum l2_release l2_release(struct l2_slice *s);
/* One request of a filled line leaves its MSHR; the reply, or 0 if none is needed. */
req_id l2_take_filled(struct l2_slice *s, struct l2_bank *b);
/* The oldest return from DRAM fills its line or goes to `out`; false if it must wait. */
bool l2_take_return(struct l2_slice *s, struct l2_bank *b, bool baseline);
void l2_reply(struct l2_slice *s, req_id r);
__attribute__((noinline)) void l2_step_banked(struct l2_slice *s);
__attribute__((noinline)) uint64_t l2_wake_banked(const struct l2_slice *s);
struct l2_op l2_rop_pop(struct l2_slice *s);
/* First L2 cycle in which the ROP delay can release a request. */
uint64_t l2_rop_wake(const struct l2_slice *s);

#endif

/* dram.h - one GDDR5 channel: request queue, FR-FCFS or FCFS scheduler, banks, data bus.
 *
 * Times are command cycles of the channel (`t`, the cycle being done). A constraint is kept as the first cycle in which
 * the command it holds back is legal, so nothing counts down.
 */
#ifndef GPU_DRAM_H
#define GPU_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/l2_queue.h"
#include "gpu/lanes.h"
#include "gpu/partition.h"

/* Timing of a configuration, derived values included. */
struct dram_timing {
  uint16_t CCD, CCDL, RRD, RCD, RCDW, RAS, RP, RC;
  uint16_t RTW, WTR;                /* read command to write command, and back, any bank */
  uint16_t RTPL;                    /* read to precharge, same bank group */
  uint16_t CL, WL, BL;              /* BL: command cycles of one burst on the data bus */
  uint16_t to_read[2], to_write[2]; /* from a read, a write to the next of either kind, any bank */
  uint16_t to_pre[2];               /* and to a precharge, same bank */
  uint32_t atom;                    /* bytes of one column command */
  uint8_t banks, groups;
};
void dram_timing_init(struct dram_timing *d, const struct gpu_config *c);

#define DRAM_NO_SLOT UINT16_MAX

/* A request from its arrival to its last data. */
struct dram_slot {
  struct l2_op op;
  uint32_t row;
  uint16_t next;     /* in the queue of its bank, towards younger */
  uint16_t to_issue; /* column commands to go */
  uint8_t bank;
  bool write, silent; /* silent: a write-back, whose end nobody is told */
};

/* Of a cache line. Lanes are by enum dram_command. */
struct dram_bank {
  _Alignas(64) lanes own; /* constraints of the bank itself */
  lanes bit, mates;       /* the set of this bank; that of the banks of its group, but for activations */
  uint32_t row;
  uint32_t urgent;           /* of its waiting requests, those of class 0 */
  uint16_t serving;          /* the request it works on */
  uint16_t oldest, youngest; /* its waiting requests */
  uint8_t group;
  bool open;
};

/* Cycles by which a bank's own constraints may be noted ahead in `ripe`; those that last longer are noted again. */
enum { DRAM_RIPE = 64 };

/* Banks by their next command: a set of at most 32 each, if all channels' banks are so few (`narrow`), or of 64. */
union dram_sets {
  lanes narrow;
  uint64_t wide[4];
};

/* What a step looks at lies together: between two steps of a channel the SMs' state passes through the cache.
 *
 * Constraints are in cycles after `base`, in lanes by enum dram_command. A busy bank whose own constraints let its next
 * command go is in `ready`, one that they still hold back in `ripe`. */
struct dram {
  _Alignas(64) uint64_t t;
  uint64_t issue_at; /* no command is legal before; UINT64_MAX: no bank is busy */
  uint64_t pop_at;   /* cycle in which a request is first complete in the data pipe; UINT64_MAX: there is none */
  /* Bit per bank: has waiting requests (FCFS: the oldest of all is for it); serves one. */
  uint64_t waiting, busy;
  uint64_t base;        /* a multiple of DRAM_RIPE */
  uint64_t ripe_slots;  /* slots of `ripe` in use */
  lanes at;             /* constraints across banks: RRD, CCD with WTR or RTW */
  lanes held_at;        /* CCDL of the last column command, RTPL of the last read: until when, */
  union dram_sets held; /* and which banks */
  union dram_sets ready;
  uint64_t stalled;       /* cycles in which the data pipe stood still */
  uint64_t pipe_end;      /* the pipe is longer than pipe_min until it has moved pipe_end - pipe_min times */
  uint64_t pipe_last_due; /* of the burst that entered last */
  uint16_t pipe_min, pipe_most;
  uint8_t prio, banks; /* bank looked at first; as in `tm` */
  bool writing;        /* direction of the last column command */
  struct l2_queue returns;
  const struct partition_env *env;
  struct dram_bank *bank;
  struct dram_slot *slot;
  uint16_t *spare;
  /* Data bus: a pipe of places (at least the latency of the present direction) that moves one place a cycle unless the
   * return queue is full. Noted are the requests' last bursts. `due`: after so many moves it comes out; there have been
   * t less `stalled`. */
  struct {
    uint64_t due;
    uint16_t slot;
  } * pipe;
  uint16_t pipe_head, pipe_count, pipe_size, spares;
  uint64_t urgent;            /* bit per bank: has waiting requests of class 0 */
  uint16_t pending[2], limit; /* waiting requests of each class (without a scheme all are of class 0), at most */
  _Alignas(64) struct dram_timing tm;
  uint64_t columns[2], rows[2]; /* commands not yet in the counters: reads, writes; activations, precharges */
  bool narrow; /* the usual machine: at most 32 banks, FR-FCFS, no scheme, short constraints (dram_init) */
  bool fcfs;
  bool one_group,
      one_held; /* CCDL, RTPL of earlier commands hold back no other group when a command may follow (CCD) */
  /* Every command as it is issued; tests and dram_check listen. */
  void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row);
  void *watch_ctx;
  int32_t *group_col_at, *group_pre_at; /* CCDL, RTPL, where several hold */
  uint64_t *group_banks;                /* per group: its banks */
  uint32_t groups;
  struct l2_queue fifo; /* FCFS: waiting slots in order, in op.set */
  /* What a command adds to the present cycle for the constraints on all banks and on its own; what a read, a write adds
   * for those on its group, and the lanes of `held` that it leaves. */
  struct {
    lanes all, own;
  } after[4];
  lanes hold[2], kept[2];
  union {
    lanes narrow[DRAM_RIPE];
    union dram_sets wide[DRAM_RIPE];
  } ripe; /* by cycle modulo DRAM_RIPE: banks to look at in it */
};

void dram_init(struct dram *d, const struct partition_env *env);
void dram_free(struct dram *d);
static inline bool dram_full(const struct dram *d, uint32_t cls) {
  return d->pending[cls] >= d->limit;
}
/* One command cycle. Returns the write-back whose data is in the row, to be freed by the caller; else 0. These two with
 * `narrow` given as a constant are what a channel's cycle is made of. */
req_id dram_step_as(struct dram *d, bool narrow);
void dram_push_as(struct dram *d, const struct l2_op *op, bool narrow);
req_id dram_step(struct dram *d);
void dram_push(struct dram *d, struct l2_op op);
/* Earliest cycle >= t in which a step can do anything by itself; UINT64_MAX if empty. */
static inline uint64_t dram_wake(const struct dram *d) {
  if (d->returns.count || d->waiting & ~d->busy) return d->t;
  uint64_t at = d->issue_at < d->pop_at ? d->issue_at : d->pop_at;
  return at > d->t ? at : d->t;
}
/* `steps` cycles in which nothing happens pass. */
static inline void dram_skip(struct dram *d, uint64_t steps) {
  d->t += steps;
}
/* The counters of the commands so far become complete. */
void dram_count(struct dram *d);
bool dram_idle(const struct dram *d);

#endif

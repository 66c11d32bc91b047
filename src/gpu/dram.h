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
#include "gpu/partition.h"

/* Timing of a configuration, derived values included. */
struct dram_timing {
  uint16_t CCD, CCDL, RRD, RCD, RCDW, RAS, RP, RC;
  uint16_t RTW, WTR;                /* read command to write command, and back, any bank */
  uint16_t WTP, RTP;                /* column command to precharge, same bank */
  uint16_t RTPL;                    /* read to precharge, same bank group */
  uint16_t CL, WL, BL;              /* BL: command cycles of one burst on the data bus */
  uint16_t to_read[2], to_write[2]; /* from a read, a write to the next of either kind, any bank */
  uint32_t atom;                    /* bytes of one column command */
  uint8_t banks, groups;
};
void dram_timing_init(struct dram_timing *d, const struct gpu_config *c);

#define DRAM_NO_SLOT UINT16_MAX

/* A request from its arrival to its last data. */
struct dram_slot {
  req_id r;
  uint32_t row;
  uint16_t set, bytes, mshr; /* of struct l2_op, as the last line */
  uint16_t next;             /* in the queue of its bank, towards younger */
  uint16_t to_issue;         /* column commands to go */
  uint8_t bank;
  bool write, silent; /* silent: a write-back, whose end nobody is told */
  uint8_t cls, sectors, sub;
};

/* Of a cache line. */
struct dram_bank {
  _Alignas(64) uint64_t act_at; /* this and the next: constraints of the bank itself */
  uint64_t rd_at, wr_at, pre_at;
  uint64_t own_at; /* while it is in `unripe`: first cycle of its next command, as far as is known */
  uint64_t mates;  /* set of the banks of its group */
  uint32_t row;
  uint32_t urgent;           /* of its waiting requests, those of class 0 */
  uint16_t serving;          /* the request it works on */
  uint16_t oldest, youngest; /* its waiting requests */
  uint8_t group;
  bool open;
};

/* Cycles by which a bank's own constraints may be noted ahead in `ripe`; those that last longer are noted again. */
enum { DRAM_RIPE = 64 };

/* What a step looks at lies together: between two steps of a channel the SMs' state passes through the cache. */
struct dram {
  _Alignas(64) uint64_t t;
  uint64_t issue_at; /* no command is legal before; UINT64_MAX: no bank is busy */
  uint64_t pop_at;   /* cycle in which a request is first complete in the data pipe; UINT64_MAX: there is none */
  /* Bit per bank: has waiting requests (FCFS: the oldest of all is for it); serves one. */
  uint64_t waiting, busy;
  uint64_t unripe;               /* busy banks whose own constraints hold back their next command */
  uint64_t ripe_slots;           /* slots of `ripe` in use */
  uint64_t pre_at;               /* RTPL holds back no bank from here on */
  uint64_t next[4];              /* bit per busy bank, by enum dram_command: its next command */
  uint64_t rd_at, wr_at, act_at; /* constraints across banks: CCD with WTR, CCD with RTW, RRD */
  uint64_t col_at, col_banks;    /* CCDL of the last column command: until when, which banks */
  uint64_t pre_banks;            /* those that RTPL of the last read holds back */
  uint64_t stalled;              /* cycles in which the data pipe stood still */
  uint64_t pipe_end;             /* the pipe is longer than pipe_min until it has moved pipe_end - pipe_min times */
  uint64_t pipe_last_due;        /* of the burst that entered last */
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
  bool fcfs;
  bool one_group,
      one_held; /* CCDL, RTPL of earlier commands hold back no other group when a command may follow (CCD) */
  /* Every command as it is issued; tests and dram_check listen. */
  void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row);
  void *watch_ctx;
  uint64_t ripe[DRAM_RIPE];              /* of `unripe`, by cycle modulo DRAM_RIPE: those to look at in it */
  uint64_t *group_col_at, *group_pre_at; /* CCDL, RTPL, where several hold */
  uint64_t *group_banks;                 /* per group: its banks */
  uint32_t groups;
  struct l2_queue fifo; /* FCFS: waiting slots in order, in op.set */
};

void dram_init(struct dram *d, const struct partition_env *env);
void dram_free(struct dram *d);
static inline bool dram_full(const struct dram *d, uint32_t cls) {
  return d->pending[cls] >= d->limit;
}
void dram_push(struct dram *d, struct l2_op op);
/* One command cycle. Returns the write-back whose data is in the row, to be freed by the caller; else 0. */
req_id dram_step(struct dram *d);
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
bool dram_idle(const struct dram *d);

#endif

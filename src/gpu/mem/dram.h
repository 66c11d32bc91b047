/* dram.h - one GDDR5 channel: request queue, FR-FCFS or FCFS scheduler, banks, data bus.
 *
 * Times are command cycles of the channel (`t`, the cycle being done). A constraint is stored as the first cycle in
 * which its command is legal, so nothing counts down.
 */
#ifndef GPU_MEM_DRAM_H
#define GPU_MEM_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/mem/l2_queue.h"
#include "gpu/common/lanes.h"
#include "gpu/mem/partition.h"

/* Timing of a configuration, derived values included. */
struct dram_timing {
  uint16_t CCD, CCDL, RRD, RCD, RCDW, RAS, RP, RC;
  uint16_t RTW, WTR;                /* read command to write command, and back, any bank */
  uint16_t RTPL;                    /* read to precharge, same bank group */
  uint16_t CL, WL, BL;              /* BL: command cycles of one burst on the data bus */
  uint16_t to_read[2], to_write[2]; /* from a read, a write to the next of either kind, any bank */
  uint16_t to_pre[2];               /* and to a precharge, same bank */
  uint32_t REFI, RFC;               /* refreshes of a bank: from one to the next (0: none), duration */
  uint32_t atom;                    /* bytes of one column command */
  uint8_t banks, groups;
};
void dram_timing_init(struct dram_timing *d, const struct gpu_config *c);

#define DRAM_NO_SLOT UINT16_MAX

/* A request from its arrival to its last data. */
struct dram_slot {
  struct l2_op op;
  uint32_t row;
  uint16_t next;   /* in the queue of its bank, towards younger */
  uint16_t bursts; /* number of its column commands */
  uint8_t bank;
  bool write, silent; /* silent: a write-back, without a reply */
};

/* Of a cache line. Lanes are by enum dram_command. */
struct dram_bank {
  _Alignas(64) lanes own; /* constraints of the bank itself */
  lanes bit;              /* the set of this bank */
  uint32_t mates;         /* the set of the banks of its group */
  uint32_t row;
  uint32_t urgent;           /* number of its waiting requests of class 0 */
  uint32_t wanted;           /* row of the request in service, */
  uint16_t left;             /* its remaining column commands, */
  uint16_t serving;          /* its slot */
  uint16_t oldest, youngest; /* its waiting requests */
  uint32_t refreshes;        /* seen so far */
  uint8_t group;
  bool write, open;
};

/* Range of `ripe` for a bank's own constraints; longer ones are entered again. */
enum { DRAM_RIPE = 64, DRAM_NARROW = 16 };

/* What a command adds to the present cycle for the constraints on all banks and on its own; what a read, a write adds
 * for those on its group, and the lanes of `held` that it leaves. */
struct dram_rules {
  struct {
    lanes all, own;
  } after[4];
  lanes hold[2], kept[2];
};

/* A channel that is not `narrow`: sets of busy banks by next command, those delayed by their group (as in `held`),
 * those to examine by cycle modulo DRAM_RIPE; with several groups, the end of each delay. */
struct dram_wide {
  uint64_t next[4], held[4], unripe, ripe[DRAM_RIPE];
  uint8_t cmd[64]; /* next command of a bank in `unripe` */
  uint64_t banks[64];
  int32_t col_at[64], pre_at[64];
  uint32_t groups;
};

/* The data of a step is small and contiguous: between two steps of a channel the SMs' state passes through the host's
 * cache.
 *
 * Constraints are in cycles after `base`, in lanes by enum dram_command. `next` has the busy banks by next command;
 * those delayed by their own constraints are in `unripe` and, by end of the delay, in `ripe`. */
struct dram {
  _Alignas(64) uint64_t t;
  uint64_t issue_at; /* no command is legal before; UINT64_MAX: no bank is busy */
  uint64_t pop_at;   /* cycle in which a request in the data pipe is first complete; UINT64_MAX: none */
  /* Bit per bank: has waiting requests (FCFS: the oldest of all is for it); serves one. */
  uint64_t waiting, busy;
  uint64_t base;       /* a multiple of DRAM_RIPE */
  uint64_t ripe_slots; /* slots of `ripe` in use */
  uint32_t unripe;
  uint8_t prio;        /* bank examined first */
  bool writing;        /* direction of the last column command */
  uint8_t atom_shift;  /* log2 of tm.atom */
  bool narrow;         /* the default machine: DRAM_NARROW banks, FR-FCFS, no scheme, short constraints (dram_init) */
  lanes at;            /* constraints across banks: RRD, CCD with WTR or RTW */
  lanes held_at, held; /* CCDL of the last column command, RTPL of the last read: until when, and which banks */
  lanes next;
  struct l2_queue returns;
  uint64_t stalled;       /* cycles in which the data pipe was stalled */
  uint64_t pipe_end;      /* the pipe is longer than pipe_min until it has moved pipe_end - pipe_min times */
  uint64_t pipe_last_due; /* of the burst that entered last */
  uint16_t pipe_min, pipe_most;
  uint16_t pending[2]; /* waiting requests of each class (without a scheme all are of class 0), at most `limit` */
  struct dram_bank *bank;
  struct dram_slot *slot;
  uint16_t *spare;
  uint16_t limit, spares, pipe_head, pipe_count;
  /* Data bus: a pipe of places (at least the latency of the present direction) that moves one place per cycle unless
   * the return queue is full. Only the requests' last bursts are stored. `due`: number of moves after which it leaves;
   * there have been t less `stalled`. */
  struct {
    uint64_t due;
    uint16_t slot;
  } * pipe;
  const struct dram_rules *rules;
  const struct partition_env *env;
  /* Called for every issued command, for profiles and tests. */
  void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row);
  void *watch_ctx;
  /* Not yet in the counters: reads, writes; activations, precharges; requests, row hits. */
  uint64_t columns[2], rows[2], pushed, hits;
  uint16_t pipe_size;
  uint16_t ripe[DRAM_RIPE]; /* by cycle modulo DRAM_RIPE: banks to examine */
  struct dram_timing tm;
  uint8_t banks; /* as in `tm` */
  bool fcfs;
  bool one_group, one_held; /* CCDL and RTPL of earlier commands delay no other group when a command may follow (CCD) */
  uint64_t urgent;          /* bit per bank: has waiting requests of class 0 */
  struct dram_wide *wide;
  struct dram_rules *own_rules;
  struct l2_queue fifo; /* FCFS: waiting slots in order, in op.set */
};

void dram_init(struct dram *d, const struct partition_env *env);
void dram_free(struct dram *d);
/* Copy the rules of an identical channel. */
void dram_share(struct dram *d, const struct dram *first);
static inline bool dram_full(const struct dram *d, uint32_t cls) {
  return d->pending[cls] >= d->limit;
}
/* One command cycle: the data pipe moves, if that has an effect (dram_moves); scheduler and commands. dram_move returns
 * a write-back whose data is in the row, freed by the caller; else 0. `narrow`, a constant: the value of d->narrow. */
static inline bool dram_moves(const struct dram *d) {
  return d->returns.count || d->t >= d->pop_at;
}
req_id dram_move(struct dram *d);
void dram_work_as(struct dram *d, bool narrow);
void dram_push_as(struct dram *d, const struct l2_op *op, bool narrow);
/* Complete the counters of all commands so far. */
void dram_count(struct dram *d);

#endif

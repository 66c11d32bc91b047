/* sm.h - a streaming multiprocessor: fetch, schedulers, operand collectors, pipes, memory unit and its caches.
 *
 * Private to src/gpu (sm*.c, l1d.c, gpu.c). The order of work within a cycle follows docs/explanation/gpu-model.md
 * "Front of the SM"; warps are bits of 64-bit masks. An SM whose step changed nothing sleeps until a timed event, a
 * reply, or room in the interconnect wakes it; the counters of that step are repeated for every cycle slept.
 */
#ifndef GPU_STATE_SM_H
#define GPU_STATE_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/common/access.h"
#include "gpu/common/config.h"
#include "gpu/common/req.h"
#include "gpu/ro/l15c.h"
#include "gpu/ro/rocache.h"
#include "gpu/slots/slots.h"
#include "gpu/common/stats.h"
#include "gpu/ro/texcache.h"
#include "gpu/state/front.h"
#include "gpu/state/l1d.h"
#include "gpu/state/op.h"
#include "gpu/state/tlb.h"
#include "gpu/state/uop.h"
#include "ptx/feed.h"

enum { SM_WARPS = 64, SM_CTAS = 32, WB_RING = 1024, SM_COLLECTORS = 48, SM_BANKS = 64, ACCESS_BUFFERS = 64 };
/* Offsets between buffers: at distances of a power of two all would start in the same set of the host's data cache. */
enum { BUFFER_ROOM = COALESCE_MAX + 2 };
enum { SM_OPERANDS = 16, SM_PIPES = 8, SM_SFU_PIPE = 4 };
/* Pipes of a sub-core; SUB_EITHER: INT or FP32. */
enum sub_unit {
  SUB_FP32,
  SUB_INT,
  SUB_SFU,
  SUB_FP64,
  SUB_TENSOR,
  SUB_MEM,
  SUB_UNITS,
  SUB_EITHER = SUB_UNITS,
  SUB_KINDS
};
enum ro_cache { RO_INST = 1, RO_CONST = 2, RO_TEX = 4, RO_OPERAND = 8, RO_L15C = 16 };
/* In req.owner of an instruction read, in a waiter of the second constant cache: a line of constant operands. */
enum { OWNER_OPERAND = 0x8000 };
struct collector {
  op_id op;         /* 0: free */
  uint16_t waiting; /* bit per operand not yet read */
};

/* A pipe register set of up to 4 instructions, oldest first on the way out. */
struct pipe_reg {
  op_id at[4];
  uint8_t count, width;
};

/* Tests of uncommon features: observers, schemes, sub-cores. Their code lies outside the code of every cycle, which
 * barely fits the host's instruction cache. */
#define RARE(x) __builtin_expect_with_probability(!!(x), 0, 1.0)

struct warp_state {
  uint32_t pc;       /* next instruction to execute */
  uint32_t fetch_pc; /* next instruction to fetch */
  uint32_t ibuf[2];  /* buffered pcs */
  uint8_t ibuf_valid, ibuf_next;
  uint8_t cta_slot, index; /* hardware CTA slot on the SM; warp within the CTA */
  uint16_t in_pipe;        /* instructions between decode and completion */
  uint16_t stores;         /* stores not yet acknowledged */
  uint16_t atomics;        /* lanes of atomics not yet performed, or posted and not answered */
  uint16_t regs_pending;   /* registers with a pending write */
  uint32_t cta;
  uint16_t loads;     /* pending loads, including those without a destination register */
  uint8_t inst_bytes; /* code bytes per instruction; 0: its code has its own addresses (a trace of SASS) */
  uint32_t line_end;  /* front end: the instruction cache has the instructions before this one */
  uint64_t age;
  struct uop *uop;         /* of its launch */
  const struct feed *feed; /* of its launch */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct warp_state) == 64, "a warp takes more than a line of the host's cache");

/* Groups of copies of a warp (cp.async): those of each group that are not complete. More groups than there is room for
 * count with older ones. */
enum { ASYNC_GROUPS = 16 };
struct async_groups {
  uint16_t left[ASYNC_GROUPS];
  uint8_t now;  /* the group that takes copies; the one committed last is before it */
  uint8_t wait; /* what the warp waits for: enum inst_async, ASYNC_NONE nothing */
};

/* Counter increments of a cycle: eight bytes, so that equal cycles are found by one comparison. */
struct sm_counts {
  uint8_t sched_cat[4];
  union {
    struct {
      uint8_t stall_kind;   /* cause of a blocked memory pipe */
      uint8_t l1_reject;    /* enum l1_outcome of the access refused in this step, L1_HIT if none */
      uint8_t l1_reject_of; /* enum reject_of of that access */
      bool icnt;            /* an access waits for the interconnect: wake when it has room */
    };
    uint32_t memory; /* all counts of the memory unit; instruction fetch may also wait for the interconnect */
  };
};
_Static_assert(sizeof(struct sm_counts) == sizeof(uint64_t), "a cycle's counts are compared as one word");
enum reject_of { REJECT_LOCAL = 1, REJECT_WRITE = 2 };

/* The same summed over cycles, until sm_count adds it to the counters. */
struct sm_tally {
  uint64_t issue[8];       /* issue slots by enum sched_cat */
  uint64_t stall[7], icnt; /* cycles by enum stall_kind; cycles waiting for the interconnect */
};

/* Values common to all SMs of a machine. */
struct sm_plan {
  uint64_t turns; /* warps of scheduler 0: every config.schedulers-th; one higher for each scheduler */
  uint64_t set_sp, set_sfu, set_mem; /* the sets of collectors */
  uint8_t col_sp, col_sfu, col_mem;  /* first collector of each set */
};
void sm_plan_init(struct sm_plan *p, const struct gpu_config *c);

/* Every SM is visited in turn, and the others' lines evict its own from the host's L1: fields of every cycle come
 * first, then those of most cycles, then rare or indexed ones. Values common to all SMs are in struct sm_plan. */
struct sm {
  /* ---- every cycle ---- */
  _Alignas(64) struct gpu *g;
  const struct gpu_config *c;
  struct gpu_stats *st;
  struct sm_counts now_counts, run_counts; /* of this cycle; of the preceding `run` cycles, not yet in `tally` */
  uint64_t run;
  uint32_t memory_counts; /* without memory_look: now_counts.memory of the last step */
  uint16_t shared_count;
  bool fetch_look, memory_look, collect_look; /* fetch, memory unit and collectors may find new work */
  bool acted;                                 /* this step changed something */
  bool asleep;
  bool fenced;             /* a warp passed its fence in this cycle */
  bool watch_icnt;         /* wake when it has room: a scheme may then act */
  bool none_to_issue;      /* the schedulers found none and their inputs are unchanged: their sched_cat holds */
  uint8_t first;           /* scheduler that goes first: rotates every cycle */
  uint8_t ro_active;       /* read-only caches with an arrived line or a miss to send: enum ro_cache */
  op_id dispatch, next_wb; /* the instruction at the head of the memory pipe; the next with a result */
  req_id next_global;      /* a reply that bypasses the L1, to be taken */
  uint64_t wake_at;        /* first cycle with a timed event */
  uint64_t alu_at;         /* last cycle in which waiting instructions were offered to the pipes */
  uint64_t wb_due;         /* first cycle with a result to write back */
  /* warps, a bit each */
  uint64_t live;                /* slot holds a warp that has not been retired */
  uint64_t done;                /* all lanes exited */
  uint64_t drained;             /* an instruction or store of it has ended since it was last found unfinished */
  uint64_t ibuf_any;            /* instruction buffer not empty */
  uint64_t bank_wait;           /* banks with queued reads */
  uint64_t bank_write;          /* banks written this cycle */
  uint64_t col_used, col_ready; /* collectors in use; those with all operands read */
  uint64_t col_leave;           /* collectors of sets with room in their pipes */
  uint64_t col_wanted;          /* collectors of sets with a waiting instruction */
  struct req_queue response;    /* at the memory unit */
  struct pipe_reg id_sp, id_sfu, id_mem, ex_sp, ex_sfu, ex_mem;
  uint32_t need_icnt; /* with now_counts.icnt or watch_icnt: bytes of the smallest refused packet of this step */
  struct l1d l1d;     /* up to here: its first line */
  /* ---- issue: warps, a bit each ---- */
  _Alignas(64) uint64_t barrier;
  uint64_t fence, atomic_wait;
  uint64_t head;           /* the buffered head is the instruction at the warp's pc */
  uint64_t stale;          /* the buffered head is not: flush it when examined */
  uint64_t hazard;         /* the head waits for a register */
  uint64_t to_sfu, to_mem; /* pipe of the head, SP if neither */
  uint64_t load_head;      /* the head is a global or local load */
  uint64_t *score;         /* scoreboard beyond the first UOP_REGS registers (`pending`): score_words per warp */
  uint64_t *score_long;    /* two-level: registers that wait for a load, like `score`; else NULL */
  uint64_t hazard_long;    /* two-level: warps with a hazard on a pending load */
  uint32_t score_words;
  uint32_t id;
  uint32_t group; /* of SMs on a host thread: gpu/ahead.h */
  uint32_t fetch_buf_pc;
  op_id op_free;
  uint8_t last_fetched, wb_rotate;
  bool fetch_valid;
  uint8_t fetch_warp;
  struct op *op;
  uint64_t imiss; /* waits for the instruction cache */
  uint64_t slept_from;
  int8_t last_issued[4]; /* warp slot, -1 none */
  uint8_t col_last_sp[4], col_last_sfu, col_last_mem;
  uint16_t wb_waiting;        /* bits in wb_any */
  uint64_t insts, warp_insts; /* thread and warp instructions of this launch */
  uint64_t orders;
  uint64_t buffer_used;
  struct req_queue eject; /* between interconnect and SM */
  uint32_t far;           /* cycles that a reply stays there at least */
  bool lets;              /* warps whose barrier is complete wait for its latency (sub_cores.c) */
  struct sub_cores *sub;  /* NULL unless the SM has sub-cores (sub_cores.c) */
  struct front *front;    /* NULL unless its knobs are set (front.inc) */
  struct sm_tally tally;
  /* SP pipes 0..3, SFU pipes 4..7: the dispatch register is empty from this cycle on */
  _Alignas(64) uint64_t pipe_free_at[SM_PIPES];
  /* Reads queued at a bank, first to last, chained through bank_next: collector * SM_OPERANDS + operand. */
  struct {
    uint16_t first, last;
  } bank[SM_BANKS];
  struct collector col[SM_COLLECTORS];
  struct rocache l1i, l1c, imc;
  struct l15c l15c;
  uint64_t const_at; /* with l1c.interval: first cycle with another lookup */
  struct tlb_wait untranslated;
  struct texcache l1t;
  struct access *buffer[ACCESS_BUFFERS]; /* accesses of an instruction: allocated at first use, NULL before */
  op_id shared_pipe[256];
  uint32_t shared_depth; /* entries in use: more with clusters */
  uint32_t op_size;
  /* ---- CTAs ---- */
  uint64_t active[4]; /* two-level: the active set of a scheduler */
  uint64_t queued;    /* two-level: warps put into the pending set so far */
  uint64_t ages;      /* warps started so far */
  uint32_t ctas;
  uint32_t cta_warps_left[SM_CTAS];
  uint32_t cta_id[SM_CTAS];
  uint8_t cta_first[SM_CTAS]; /* warp slot of its first warp */
  uint8_t cta_work[SM_CTAS];  /* its launch: index into gpu.work */
  const struct feed *cta_feed[SM_CTAS];
  uint64_t cta_born[SM_CTAS];
  uint64_t cta_exit[SM_CTAS]; /* cycle of the last exit of one of its warps */
  uint64_t launch;            /* launch number of the last invalidation of the L1 */
  uint64_t warps_taken; /* slots that belong to a CTA; with the next two: the remainder with CTAs of several launches */
  uint32_t regs_taken, shared_taken;
  /* ---- indexed by warp, by operand, by cycle ---- */
  struct warp_state w[SM_WARPS];
  uint64_t pending[SM_WARPS][UOP_WORDS]; /* scoreboard: registers with a pending write, of the first UOP_REGS */
  uint64_t older[SM_WARPS];              /* warps that started before this one; bits of empty slots are undefined */
  uint64_t w_queued[SM_WARPS];           /* two-level: when it joined the pending set */
  struct async_groups async[SM_WARPS];
  uint16_t bank_next[SM_COLLECTORS * SM_OPERANDS];
  /* Per future cycle (modulo): pipes whose last stage is taken, one bit each; instructions whose results are written,
   * chained through op.next. */
  _Alignas(64) uint8_t pipe_busy[WB_RING];
  struct {
    op_id first;
    uint8_t count;
  } wb[WB_RING];
  uint64_t wb_any[WB_RING / 64];
};
/* The word of a warp's scoreboard with bit `b`. */
static inline uint64_t *score_word(struct sm *s, uint32_t w, uint32_t b) {
  if (!RARE(b >= UOP_REGS)) return &s->pending[w][b / 64];
  return &s->score[(size_t)w * s->score_words + (b - UOP_REGS) / 64];
}
/* Bytes of struct sm that every step reads. */
enum { SM_HOT_BYTES = offsetof(struct sm, l1d) + offsetof(struct l1d, org_busy) };
_Static_assert(SM_HOT_BYTES <= 5 * 64, "the fields of every cycle take more than five lines of the host's cache");

enum sched_cat { CAT_NONE, CAT_ISSUED, CAT_DATA, CAT_MEMORY, CAT_PIPE, CAT_BARRIER, CAT_CONTROL, CAT_IDLE };
enum stall_kind { STALL_NONE, STALL_SHARED, STALL_CONST, STALL_TEX, STALL_L1D, STALL_BYPASS, STALL_COALESCE };

static inline void sm_note_ro(struct sm *s, const struct rocache *c, enum ro_cache bit) {
  if (c->ready_count | c->missq_count) s->ro_active |= (uint8_t)bit;
  else s->ro_active &= (uint8_t)~bit;
}

#endif

/* machine.h - the state of the whole machine: private to src/gpu. */
#ifndef GPU_STATE_MACHINE_H
#define GPU_STATE_MACHINE_H

#include "gpu/common/config.h"
#include "gpu/common/launch.h"
#include "gpu/common/observed.h"
#include "gpu/common/req.h"
#include "gpu/slots/slots.h"
#include "gpu/state/sm.h"
#include "gpu/common/stats.h"
#include "ptx/feed.h"

#define CODE_BASE 0xF0000000ull
#define OPERAND_BASE 0xFF000000ull /* constant banks of launches, 4 KB each */
#define LOCAL_BASE 0x1F880000ull   /* local memory of all threads: below the heap, above static variables */

struct ahead;
struct ahead_group;
struct icnt;
struct l2_prefetch;
struct partition_set;
enum { AHEAD_MOST = 16 }; /* groups of SMs on host threads of their own: gpu/ahead.h */

/* A launch on the machine. */
struct gpu_work {
  const struct feed *feed;              /* NULL: free */
  const struct feed *share[AHEAD_MOST]; /* that of each group of SMs, `shares` of them; 0: `feed` serves all */
  uint32_t shares;
  struct gpu_start how;
  uint64_t order; /* of launches since the machine was built, from 1 */
  uint64_t start; /* core cycle */
  uint64_t local_base;
  uint32_t next_cta, running_ctas;
  uint32_t ctas_per_sm;         /* maximum per SM for this launch */
  uint32_t fit;                 /* the same of a grid without end */
  uint32_t warps, regs, shared; /* resources of a CTA on an SM */
  uint32_t inst_base;           /* start of its code in gpu_observed.inst */
  uint32_t name;                /* in the timeline */
  uint64_t warp_cycles;         /* of CTAs that have ended */
  struct gpu_stats own;         /* while launches overlap: the separable counters */
  uint8_t on_sm[256];           /* CTAs on each SM */
  struct uop *uop;              /* one for each instruction of its kernel's code; room for `uops` */
  uint32_t uops;
  struct uop_regs reg_bits;
};

/* Parameters and sizes of a launch have a place of their own. None is used again while a line of it may be left in a
 * constant cache. */
static inline uint64_t operand_bank(const struct gpu_work *k) {
  enum { PLACES = 4096, BANK_BYTES = 4096 };
  return OPERAND_BASE + k->order % PLACES * BANK_BYTES;
}

/* Visit the members `i` of word `word` of a set, whose value is `m`. */
#define EACH_BIT(word, m, i) \
  for (uint64_t m_ = (m), i; m_ && (i = (word)*64u + (uint32_t)__builtin_ctzll(m_), 1); m_ &= m_ - 1)

enum { GPU_SM_WORDS = 4 }; /* bit sets of 256 SMs */
enum { WAKE_SLOTS = 64 };
enum { GPU_SUBPART_WORDS = 16, REPLY_TURNS = 16 }; /* bit sets of 1024 sub-partitions */

struct gpu {
  struct gpu_config config;
  struct gpu_stats stats; /* of the running launch; excludes units with counters of their own (gpu_watch) */
  struct gpu_observed observed;
  struct req_pool pool;
  struct icnt *icnt;
  const uint64_t *replies, *requests; /* icnt_arrivals at the SMs and at the sub-partitions */
  uint64_t *sent;                     /* icnt_sent */
  const uint64_t *refusing;           /* partition_full */
  struct partition_set *parts;
  struct l2_prefetch *l2_prefetch; /* NULL without a prefetching scheme */
  struct tlb tlb;
  struct sm *sm, *sm_at[GPU_SM_WORDS * 64]; /* the SMs in one block, and a pointer to each */
  struct slots slots;
  struct mem_hooks mem_hooks;                         /* of the slots, for the memory side */
  uint32_t subparts;                                  /* over the whole GPU */
  uint32_t cta_slots_per_sm, sm_words, subpart_words; /* words of a set of SMs, of sub-partitions */
  uint32_t request_words;                             /* of a set of their nodes: `requests` */
  bool may_sleep;                                     /* skip idle time; off for the equivalence test */
  bool every_cycle;                                   /* a scheme needs every cycle */
  enum sm_kind kind;                                  /* kind for which the SM steps are compiled */
  bool memory_steady;                                 /* no scheme is called more than once for an access */
  bool lookups_steady; /* the L1 repeats its result for an access until its state changes */
  bool stalls_steady;  /* schemes called for refused accesses repeat their results */
  bool read_hooks;     /* some scheme observes accepted reads */
  bool general_kind;   /* forces SM_GENERAL */
  struct sm_plan plan;
  /* running launch */
  const struct feed_kernel *kernel; /* with several, the oldest */
  struct gpu_work *work;            /* config.concurrent_kernels of them */
  uint8_t turn[128];                /* running launches in the order of dispatch */
  uint32_t works;                   /* number of running launches */
  uint32_t finished;                /* of these, launches whose CTAs have all ended */
  uint32_t ended;                   /* since `open` */
  bool l1_split;                    /* the launch decides the ways of the L1 (sm.unified_kb) */
  uint64_t launches;                /* since the machine was built */
  bool open;                        /* launches have started and gpu_close has not been called */
  bool overlap;                     /* since then, launches have overlapped */
  bool cta_waits;                   /* a CTA has room, but waits for its turn to start */
  int64_t cta_credit;               /* thousandths of CTAs that may start now */
  uint64_t cta_at;                  /* cycle of cta_credit */
  bool full;                        /* with several launches: no change since no CTA found room */
  const struct feed *faulted;
  struct issued issued;
  struct feed_peer *released; /* released in this cycle, in other CTAs of clusters; as many as CTA slots, NULL: never
                               * yet */
  union {
    struct {
      uint32_t releases;
      uint32_t l1_moving; /* what the network between the L1s has to do */
    };
    uint64_t between; /* work between the cycles of the SMs */
  };
  struct l1_net *l1net; /* NULL without a scheme that places lines */
  uint64_t now;         /* core cycles since the machine was built */
  uint64_t start;       /* first cycle of the launch */
  uint64_t report_at;   /* cycle of the next progress report; UINT64_MAX: none */
  bool reporting;       /* a report is being made: no unit is within a cycle */
  /* Sets of SMs: to step; asleep until the interconnect has room for sm.need_icnt bytes; of these, SMs to check again;
   * SMs with a reply in sm.eject. */
  uint64_t running[GPU_SM_WORDS], no_room[GPU_SM_WORDS], look[GPU_SM_WORDS], ejected[GPU_SM_WORDS];
  /* SMs asleep until a cycle: that cycle, and a lower bound on all. Sets by cycle modulo WAKE_SLOTS, the non-empty
   * ones, and the set of later SMs with its lower bound; an SM that wakes early stays in its set. */
  uint64_t wake_at[GPU_SM_WORDS * 64], next_wake;
  uint64_t wheel[WAKE_SLOTS][GPU_SM_WORDS], wheel_slots, far[GPU_SM_WORDS], far_due;
  /* Sub-partitions whose reply does not fit the interconnect, and by interconnect cycle modulo REPLY_TURNS those to
   * retry. */
  uint64_t reply_held[GPU_SUBPART_WORDS], reply_again[REPLY_TURNS][GPU_SUBPART_WORDS];
  uint32_t running_ctas, ctas_per_sm /* of `kernel` */, last_sm;
  uint32_t free_slots[GPU_SM_WORDS * 64]; /* bit per CTA slot of an SM that is free */
  /* Of slots whose CTA has ended, those that wait for kernels.cta_turnaround; a lower bound on the first cycle in which
   * one becomes free, UINT64_MAX: none. */
  uint32_t leaving[GPU_SM_WORDS * 64];
  uint64_t leaves_at;
  uint32_t in_flight; /* requests between leaving an SM and its reply; write-backs until the L2 has them */
  uint32_t prefetches, prefetches_sent; /* not yet filled; of these, in flight */
  bool schemes_send;                    /* a scheme has to do with requests that leave their SM */
  uint64_t demand_end;                  /* cycle in which only prefetches of the last launch were left, 0: not yet */
  uint64_t progress_at;                 /* last cycle in which an instruction issued or a reply arrived */
  uint64_t block_at;                    /* last cycle in which a CTA began or ended */
  uint64_t watchdog;
  /* clocks in ticks: time of each domain's next edge */
  uint64_t t_core, t_icnt, t_l2, t_dram, p_core, p_icnt, p_l2, p_dram;
  /* core and DRAM time of the launch as sums of rounded periods, and the number of edges (gpu.c) */
  struct {
    double core, dram;
    uint64_t core_edges, dram_edges;
  } sum;
  bool busy; /* an SM was active in the last core cycle: no jump possible */
  bool fault;
  /* SMs on several host threads (gpu/ahead.h) */
  uint32_t threads;
  struct ahead *ahead;             /* NULL: none yet */
  struct ahead_group *group;       /* whose view of the machine this is; NULL: the machine itself */
  bool windows, all_windows;       /* the launch allows it; see gpu_set_all_windows */
  uint64_t away[GPU_SM_WORDS];     /* SMs that a group steps */
  uint64_t look_up;                /* the next cycle that gpu_run itself must handle */
  uint64_t touched_at, touched_as; /* the stamp of accesses without time in cycle `touched_at` */
  struct turns *turns;             /* NULL: none yet */
  uint64_t touched;                /* order of the last gpu_touch since a launch ran, 0: none */
};

/* ---- what the machine does for its blocks (gpu.c, dispatch.c) ---- */
/* Perform an atomic of a warp. False: a fault. */
bool gpu_atomic(struct gpu *g, uint32_t sm, uint32_t warp, uint32_t token, uint32_t lanes);
/* The same at the issue of one that nothing waits for (sm.posted_atomics). */
bool gpu_post(struct gpu *g, uint32_t sm, uint32_t warp, uint32_t token, uint32_t lanes);
void gpu_cta_done(struct gpu *g, uint32_t sm, uint32_t slot);
/* In a group's view of the machine (ahead.c): the same; a request to a page leaves; instructions are predecoded by one
 * thread at a time. */
void ahead_cta_done(struct gpu *view, uint32_t sm, uint32_t slot);
void ahead_send(struct gpu *view, const struct req *r);
void ahead_lock_uops(struct gpu *view, bool on);
/* The unused space of an SM has changed: call on_space (l1/space.c). */
void gpu_space_changed(struct gpu *g, uint32_t sm);
/* Release warps of a CTA on another SM after this cycle. */
void gpu_release_later(struct gpu *g, const struct feed_peer *p);

/* The cycle in which the last launch ended. */
static inline uint64_t gpu_end(const struct gpu *g) {
  return g->demand_end ? g->demand_end : g->now;
}

/* The network node at which sub-partition `subpart` serves SM `sm`. */
static inline uint32_t gpu_subpart_node(const struct gpu *g, uint32_t subpart, uint32_t sm) {
  uint32_t n = g->config.icnt_ports;
  return g->config.sms + (n == 1 ? subpart : subpart * n + sm % n);
}

/* The SM sleeps until cycle `at`. */
static inline void gpu_sleep_sm(struct gpu *g, uint32_t i, uint64_t at) {
  uint64_t bit = 1ull << (i % 64);
  g->wake_at[i] = at;
  if (at - g->now < WAKE_SLOTS) {
    g->wheel[at % WAKE_SLOTS][i / 64] |= bit;
    g->wheel_slots |= 1ull << at % WAKE_SLOTS;
  } else {
    g->far[i / 64] |= bit;
    if (at < g->far_due) g->far_due = at;
  }
  if (at < g->next_wake) g->next_wake = at;
}
/* The SM steps in every cycle until it sleeps again. */
static inline void gpu_wake_sm(struct gpu *g, uint32_t sm) {
  uint64_t bit = 1ull << (sm % 64);
  g->running[sm / 64] |= bit;
  g->no_room[sm / 64] &= ~bit;
  g->wake_at[sm] = UINT64_MAX;
}

#endif

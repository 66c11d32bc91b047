/* scheme.h - the interface between the machine and a cache-management scheme.
 *
 * A scheme is one file with one `const struct scheme` at its bottom, placed by SCHEME(). It declares its parameters,
 * its private state per GPU, SM and sub-partition, its counters, its storage in bits, and the hooks it fills. The
 * machine flattens the hooks of the selected schemes into `struct slots`; an empty slot is the inlined baseline.
 *
 * hooks.def has a row for each hook: when it is called, what it answers, and how the hooks of several schemes combine.
 * `owns` is a word for each exclusive part that a scheme sets by configuration; two owners are refused by name. The
 * order of a list has no effect: schemes are configured and called by name, and pure machine settings (l1-latency)
 * last.
 */
#ifndef GPU_SLOTS_SCHEME_H
#define GPU_SLOTS_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "gpu/common/config.h"
#include "gpu/common/access.h"
#include "gpu/slots/memory.h"
#include "gpu/common/req.h"
#include "ptx/inst.h"
#include "gpu/common/stats.h"

struct gpu;
struct sm;

/* ---- what hooks see ---- */
/* Accepted (L1_PARTIAL: a miss of some chunks), then refused (from L1_NO_LINE on); L1_BYPASS: a scheme bypasses the
 * L1. */
enum l1_outcome {
  L1_HIT,
  L1_PENDING,
  L1_MISS,
  L1_PARTIAL,
  L1_NO_LINE,
  L1_NO_MISSQ,
  L1_NO_MSHR,
  L1_NO_MERGE,
  L1_BYPASS
};
/* Origin of a bypass: the instruction's cache operator, bypass_load, bypass_access, on_stall, or the cache itself
 * (may_allocate, find_victim, the organisation). */
enum l1_bypass_by { BYPASS_BY_INST, BYPASS_BY_LOAD, BYPASS_BY_ACCESS, BYPASS_BY_STALL, BYPASS_BY_CACHE };

/* What became of the line of a store: not in the L1, or still being fetched; evicted (the baseline's global stores);
 * updated (local stores, and those that store_keeps or l1d.store: update let stay). */
enum l1_store_end { STORE_MISSED, STORE_EVICTED, STORE_UPDATED };

/* What becomes of a line that a scheme requested (gpu_prefetch, gpu_prefetch_l2). Never fetched: REDUNDANT, present or
 * being fetched; NO_MSHR, none was free; NO_LINE, none could be replaced, or a scheme or the organisation refused it a
 * line; ENDED, the SM had no warp left. Fetched: USEFUL, the first demand load found its data; LATE, it found the line
 * still being fetched; EVICTED, replaced before; LEFT, invalidated before by a store, a fence or the end of the
 * launch. */
enum prefetch_fate {
  PREFETCH_USEFUL,
  PREFETCH_LATE,
  PREFETCH_EVICTED,
  PREFETCH_LEFT,
  PREFETCH_REDUNDANT,
  PREFETCH_NO_MSHR,
  PREFETCH_NO_LINE,
  PREFETCH_ENDED
};

/* One access at the L1 data cache, or one load instruction (then `addr`, `chunks` are of its first access). */
struct l1_event {
  uint64_t addr, line; /* byte address; address of its line */
  uint64_t cycle;
  uint32_t sm, warp, cta, pc; /* hardware warp slot on the SM; linear CTA id; index of the instruction */
  uint32_t degree;            /* accesses of the instruction after coalescing */
  uint32_t chunks;            /* requested 32 B sectors of the 128 B block */
  uint32_t set, way;          /* where it hit, was placed, or was evicted from */
  uint32_t subpart;           /* L2 sub-partition the line belongs to */
  uint8_t cache_op, hint;     /* of the instruction: enum cache_op, enum cache_hint at the L1 (ptx/inst.h) */
  uint32_t note;              /* at a fill: the note written by schemes at the L2 (mem_event.note) */
  bool local, write;
  uint32_t from; /* the SM of the warp; not `sm` if the line lives in another SM's L1 (struct l1_place) */
  bool prefetch; /* of a prefetch; warp, cta, pc, degree are those of the event that led to it */
  bool into_l2;  /* on_prefetch: of a line requested in the L2 */
  bool pending;  /* on_stall: all missing data is already pending, so no request of its own is needed */
  bool retry;    /* on_stall: called before for this access. The number of calls for a refused access is undefined. */
};

/* The lines of one set as presented to a replacement scheme. */
struct cache_set {
  uint32_t set, ways;
  uint64_t usable;      /* bit per way: may be replaced (valid and not reserved); a set has 64 ways at most */
  const uint64_t *tag;  /* line addresses */
  const uint64_t *used; /* cycle of the last use */
};

struct scheme_ctx {
  struct gpu *gpu;
  const struct gpu_config *config;
  struct gpu_stats *stats; /* the baseline's counters of this kernel */
  const uint64_t *now;     /* core cycle */
  void *state;             /* the scheme's private state, `state_bytes`, zeroed */
  void *sm_state;          /* `sm_state_bytes` each: SM i at i * sm_state_bytes */
  size_t sm_state_bytes;
  const double *param; /* values in the order of the parameter table */
  uint64_t *counter;   /* values in the order of the counter table */
  struct rng rng;      /* seeded by the user only: the draws do not depend on other schemes */
  uint32_t index;      /* index of this scheme among the selected ones */
};

/* ---- the L1 organisation slot ---- */
/* Replaces the storage of tags and data of the baseline. The machine keeps the
 * MSHRs (one per line, with a mask of pending chunks), the miss queue and the waiting loads, and requests only chunks
 * that are neither present nor pending. Masks are of chunks of a line, bit 0 = lowest address. The L1 then holds no
 * dirty data: stores of every space write through and evict. Questions (find, want, plan) may be repeated for a
 * refused access: they change nothing. */
enum l1_plan { PLAN_PLACE, PLAN_FULL, PLAN_BYPASS };
struct l1_shape {
  uint32_t line, chunk; /* bytes; at most 32 chunks in a line */
  uint32_t sets;        /* for the set index in events */
};
struct l1_org {
  struct l1_shape (*shape)(const struct scheme_ctx *c);
  /* Chunks of e->line whose data is present. */
  uint32_t (*find)(struct scheme_ctx *c, const struct l1_event *e);
  /* Chunks to fetch for a load that needs `need`: a superset of `need`. NULL: `need`. */
  uint32_t (*want)(struct scheme_ctx *c, const struct l1_event *e, uint32_t need);
  enum l1_plan (*plan)(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing); /* do the chunks fit? */
  /* Place the missing chunks (right after PLAN_PLACE); returns the extra cycles beyond the first. */
  uint32_t (*reserve)(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing);
  /* An accepted load reads `here` (chunks present); out: L1_HIT, L1_PENDING (merged), L1_MISS. Before reserve. */
  void (*touch)(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out);
  void (*fill)(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks); /* data arrived */
  /* Place words of 8 B, by their number in a line of 128, that a store writes; a chunk of 32 B whose words are all
   * written is present. True: the line had a place. NULL: stores place nothing. */
  bool (*put)(struct scheme_ctx *c, const struct l1_event *e, uint32_t words);
  /* Evict the chunks that a store writes; true if one was present. */
  bool (*store)(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks);
  void (*clear)(struct scheme_ctx *c, uint32_t sm); /* a launch begins */
  void (*drop)(struct scheme_ctx *c, uint32_t sm);  /* a fence: invalidate arrived data, keep pending chunks */
  /* The results of the queries for an SM change only through its own reserve, touch, fill, store, clear and drop. A
   * refused access is then not retried until one of them, a free MSHR or a free miss queue entry may change the
   * result. Any other change must call gpu_l1_ask_again. */
  bool steady;
  /* Filled by organisations that keep lines in the sets and ways of l1d and leave replacement to a scheme: the way of
   * e->line, UINT32_MAX if it has none. They ask gpu_l1_choose for victims and call gpu_l1_placed; hooks on lines are
   * then called with the way. NULL: the organisation decides replacement. */
  uint32_t (*way)(struct scheme_ctx *c, const struct l1_event *e);
};
/* ---- unused space of an SM: what no CTA holds ---- */
struct sm_space {
  uint32_t registers, shared; /* bytes */
};
/* ---- compressed lines: what line_size answers ---- */
struct l1_size {
  uint32_t bytes; /* rounded up to segments; a line's bytes at most, 0: its tag says it all */
  uint32_t later; /* cycles that a hit takes longer than l1d.latency */
};
/* ---- the place slot: lines in the L1s of other SMs ---- */
/* The machine keeps the network between the L1s and counts what it carries (l1net.*). Other L1s are read and changed
 * between cycles only, so that the order of SMs does not matter (docs/reference/scheme-hooks.md, Places). */
enum { PLACE_NONE = 0xffffffff };
struct l1_place { /* home: the SM whose L1 keeps the line of an access, always the same; NULL: that of the warp */
  uint32_t (*home)(struct scheme_ctx *c, const struct l1_event *e);
  bool decoupled; /* accesses of the home's own SM take the network, too */
  /* A global load has missed: another SM whose L1 is to be looked up before the L2, PLACE_NONE for none. */
  uint32_t (*peer)(struct scheme_ctx *c, const struct l1_event *e);
  /* Loads of `sm` may find data in the L1 of `at`: its fences and, with `peer`, its stores reach it. */
  bool (*reads)(struct scheme_ctx *c, uint32_t sm, uint32_t at);
};

#define SCHEME_SM(ctx, type, sm) ((type *)((char *)(ctx)->sm_state + (size_t)(sm) * (ctx)->sm_state_bytes))

/* ---- what a scheme declares ---- */
struct scheme_param {
  const char *name, *unit, *doc; /* doc names the paper's section */
  double min, max, dflt;
  bool integer;
};
struct scheme_counter {
  const char *name, *unit, *doc;
  bool must_move; /* the test harness requires that random traffic changes it */
};
struct scheme_bits {
  const char *item;
  double bits; /* of the whole GPU */
};
/* For `storage`: copies an array of rows and returns their number. */
#define SCHEME_ROWS(rows, out, max) scheme_rows(rows, sizeof(rows) / sizeof *(rows), out, max)
static inline uint32_t scheme_rows(const struct scheme_bits *rows, uint32_t n, struct scheme_bits *out, uint32_t max) {
  for (uint32_t i = 0; i < n && i < max; i++) out[i] = rows[i];
  return n;
}
/* A `storage` function of rows that need no more than the configuration `g` and the parameters `param`. */
#define SCHEME_STORAGE(name, ...)                                                                                \
  static uint32_t name(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) { \
    (void)g, (void)param;                                                                                        \
    const struct scheme_bits rows[] = {__VA_ARGS__};                                                             \
    return SCHEME_ROWS(rows, out, max);                                                                          \
  }

/* A search over one parameter of another scheme that keeps the best value: `swl-best`. Executed by commands that run
 * many machines. The search's own parameters are passed to `base` by name. */
struct scheme_sweep {
  const char *base, *param;
  const double *values;
  uint32_t count;
  const char *fixed;   /* further parameters of base in every run, "run=2"; NULL: none */
  const char *prepare; /* parameters of base in one preceding run that writes profile.file; NULL: none */
};

enum { SCHEME_OWNS = 3 };
#define OWNS_WARP_SCHEDULER "the warp scheduler"
#define OWNS_L1_SIZE "the size of the L1"
#define OWNS_L1_REPLACEMENT "L1 replacement"
#define OWNS_L1_ORGANISATION "the L1 organisation"
#define OWNS_L1_PLACE "where lines of the L1s live"
#define OWNS_L1_WRITES "the write policy of the L1"
#define OWNS_L2_REPLACEMENT "L2 replacement"
#define OWNS_CTA_SCHEDULER "the CTA scheduler"
#define OWNS_L2_SLICE "the slice of the L2"
#define OWNS_L2_SIZE "the size of the L2"
#define OWNS_DRAM_SCHEDULER "the DRAM scheduler"

struct scheme {
  const char *name;  /* as typed */
  const char *title; /* one line */
  const char *paper; /* citation */
  const char *idea;  /* a few lines for `sluice schemes NAME` */
  const struct scheme_param *params;
  const struct scheme_counter *counters;
  const char *positional;           /* parameter that `name=VALUE` sets, NULL if none */
  const char *owns[SCHEME_OWNS];    /* exclusive parts beside those that the hooks imply */
  const struct scheme_sweep *sweep; /* not NULL: a search, not a scheme of one machine */
  /* A value that may be written as a word: `sharing-cta=x`. */
  const char *word;
  double word_value;
  const char *const *words; /* names of the values 0, 1, ... of a parameter, NULL at the end */
  const char *worded;       /* that parameter; NULL: the positional one */
  size_t state_bytes, sm_state_bytes;
  /* Further bytes of `state` after state_bytes, by configuration: state per L2 line, per warp. */
  size_t (*more_state)(const struct gpu_config *g, const double *param);
  size_t (*more_sm_state)(const struct gpu_config *g, const double *param); /* of each SM, after sm_state_bytes */
  /* Change the configuration before the machine is built: for schemes that are a configuration (lrr, ball,
   * perfect-l1). */
  bool (*configure)(struct gpu_config *c, const double *param, struct err *e);
  /* Check the parameters beyond their ranges, which are checked before. */
  bool (*init)(struct scheme_ctx *c, struct err *e);
  /* End of the machine: free allocations of init, write output files; errors go to `e`. */
  void (*finish)(struct scheme_ctx *c, struct err *e);
  /* Fill up to `max` rows; returns their number. */
  uint32_t (*storage)(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max);
  const char *no_storage; /* why there is no storage, if `storage` is NULL; searches use their base's */
  double probe_picojoule; /* published energy of one table lookup; 0: none, use the value of energy.def */
  /* Its rules for L1 lines (find_victim, on_hit, on_place, on_fill) do not apply beside an organisation, which does
   * its own replacement; the rest of the scheme does. */
  bool yields_l1;
  /* SMs may be on several host threads (gpu/ahead.h). Hooks of an SM, and the L1 organisation, change only the state of
   * that SM (sm_state), parts of `state` that belong to it alone, and the scheme's counters. They read these and what
   * on_kernel and on_epoch write, but nothing that hooks of the L2, DRAM and CTAs write, nor the reverse. They draw no
   * random numbers. Not needed where all hooks are of the latter. */
  bool by_sm;
  /* Returns true if it is not so with these parameters. NULL: it always is. */
  bool (*not_by_sm)(const double *param);
  bool every_cycle; /* may_issue depends on time alone: the machine then visits every SM in every cycle */
  /* The hooks for a refused access (on_stall, find_victim, may_allocate) change state only when they bypass the
   * access, and repeat their result until the L1 accepts an access or data arrives for that set: they are not called
   * again before. */
  bool steady;
  /* Returns true if `hook` (its offset in this struct) has no effect with these parameters: it is then not called, and
   * the scheme does not own what filling it would decide. NULL: all filled hooks have an effect. */
  bool (*idle)(const double *param, size_t hook);
  uint32_t epoch; /* cycles between on_epoch calls, 0 for none; epoch_param overrides it by a parameter's value */
  const char *epoch_param;

  /* ---- hooks: hooks.def says when each is called and what it answers ---- */
#define HOOK(name, type, arguments, ...) type(*name) arguments;
#define HOOK_TABLE(name, type, ...) type name;
#include "gpu/slots/hooks.def"
};

/* Register a scheme. */
#define SCHEME(symbol) \
  __attribute__((used, section("sluice_schemes"))) static const struct scheme *const symbol##_entry = &symbol

#include "gpu/slots/services.h"

#endif

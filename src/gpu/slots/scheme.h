/* scheme.h - the interface between the machine and a cache-management scheme.
 *
 * A scheme is one file with one `const struct scheme` at its bottom, placed by SCHEME(). It declares its parameters,
 * its private state per GPU, SM and sub-partition, its counters, its storage in bits, and the hooks it fills. The
 * machine flattens the hooks of the selected schemes into `struct slots`; an empty slot is the inlined baseline.
 *
 * hooks.def has a row for each hook: when it is called, what it answers, and how the hooks of several schemes combine.
 * `owns` is a word for each exclusive part that a scheme sets by configuration; two owners are refused by name. The order
 * of a list means nothing: schemes are configured and asked by their names, those that are only a setting of the machine
 * (l1-latency) last.
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
#include "gpu/common/stats.h"

struct gpu;
struct sm;

/* ---- what hooks see ---- */
/* Accepted (L1_PARTIAL: a miss of some chunks), then refused (from L1_NO_LINE on); L1_BYPASS: a scheme wants the access
 * to bypass the L1. */
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
/* What sent an access around the L1: the instruction's cache operator, bypass_load, bypass_access, on_stall, or the cache
 * itself (may_allocate, find_victim, the organisation). */
enum l1_bypass_by { BYPASS_BY_INST, BYPASS_BY_LOAD, BYPASS_BY_ACCESS, BYPASS_BY_STALL, BYPASS_BY_CACHE };

/* One access at the L1 data cache, or one load instruction (then `addr`, `chunks` are of its first access). */
struct l1_event {
  uint64_t addr, line; /* byte address; address of its line */
  uint64_t cycle;
  uint32_t sm, warp, cta, pc; /* hardware warp slot on the SM; linear CTA id; index of the instruction */
  uint32_t degree;            /* accesses of the instruction after coalescing */
  uint32_t chunks;            /* 32 B sectors of the 128 B block that are asked for */
  uint32_t set, way;          /* where it hit, was placed, or was evicted from */
  uint32_t subpart;           /* L2 sub-partition the line belongs to */
  uint32_t note;              /* on the way from a fill: what schemes at the L2 wrote on the request (mem_event.note) */
  bool local, write;
  bool pending; /* on_stall: all that it misses is on its way already, so that it needs no request of its own */
  bool retry;   /* on_stall: asked before for this access. How often a refused access is asked again is not defined. */
};

/* The line arrays of a cache as a replacement scheme sees them: ways of one set. */
struct cache_set {
  uint32_t set, ways;
  uint32_t usable;      /* bit per way: may be replaced (valid and not reserved) */
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
  struct rng rng;      /* seeded by the user alone: the same draws beside any others */
  uint32_t index;      /* of this scheme among the selected ones */
};

/* ---- the L1 organisation slot ----
 * Replaces the lines of the baseline: how tags and data are kept. The machine keeps the MSHRs (one per line, with a
 * mask of the chunks on their way), the miss queue and the waiting loads, and asks only for chunks that are neither
 * here nor on their way. Masks are of chunks of a line, bit 0 = lowest address. The L1 then holds no dirty data: stores
 * of every space write through and evict. Questions (find, want, plan) may be repeated for a refused access: they
 * change nothing. */
enum l1_plan { PLAN_PLACE, PLAN_FULL, PLAN_BYPASS };
struct l1_shape {
  uint32_t line, chunk; /* bytes; at most 32 chunks in a line */
  uint32_t sets;        /* for the set index in events */
};
struct l1_org {
  struct l1_shape (*shape)(const struct scheme_ctx *c);
  uint32_t (*find)(struct scheme_ctx *c, const struct l1_event *e); /* chunks of e->line that are here, data arrived */
  /* Chunks a load that needs `need` should bring in: a superset of `need`. NULL: what it needs. */
  uint32_t (*want)(struct scheme_ctx *c, const struct l1_event *e, uint32_t need);
  enum l1_plan (*plan)(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing); /* is there a place? */
  /* Give the missing chunks their places (after PLAN_PLACE, at once); cycles beyond the first that this takes. */
  uint32_t (*reserve)(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing);
  /* An accepted load reads `here` (chunks present); out: L1_HIT, L1_PENDING (merged), L1_MISS. Before reserve. */
  void (*touch)(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out);
  void (*fill)(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks); /* data arrived */
  bool (*store)(struct scheme_ctx *c, const struct l1_event *e,
                uint32_t chunks);                   /* evict them; was one of them here? */
  void (*clear)(struct scheme_ctx *c, uint32_t sm); /* a launch begins */
  void (*drop)(struct scheme_ctx *c, uint32_t sm);  /* a fence: lose what has arrived, not what is on its way */
  /* The questions' answers for an SM change only with its own reserve, touch, fill, store, clear and drop. A refused
   * access is then not asked about again until one of them, a free MSHR or miss queue entry may change its fate. What
   * changes them otherwise has to call gpu_l1_ask_again. */
  bool steady;
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
  bool must_move; /* the harness demands that random traffic moves it */
};
struct scheme_bits {
  const char *item;
  double bits; /* of the whole GPU */
};

/* A search over one parameter of another scheme, the best value kept: `swl-best`. Run by whoever runs many machines.
 * The parameters of the search itself are handed to `base` under their names. */
struct scheme_sweep {
  const char *base, *param;
  const double *values;
  uint32_t count;
  const char *fixed;   /* further parameters of base in every run, "run=2"; NULL: none */
  const char *prepare; /* parameters of base in one run before all others, which writes profile.file; NULL: none */
};

enum { SCHEME_OWNS = 3 };
#define OWNS_WARP_SCHEDULER "the warp scheduler"
#define OWNS_L1_SIZE "the size of the L1"
#define OWNS_L1_REPLACEMENT "L1 replacement"
#define OWNS_L1_ORGANISATION "the L1 organisation"
#define OWNS_L2_REPLACEMENT "L2 replacement"
#define OWNS_CTA_SCHEDULER "the CTA scheduler"
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
  const struct scheme_sweep *sweep; /* not NULL: not a scheme of one machine but a search */
  /* A value that may be written as a word: `sharing-cta=x`. */
  const char *word;
  double word_value;
  const char *const *words; /* names of the values 0, 1, ... of the positional parameter, NULL at the end */
  size_t state_bytes, sm_state_bytes;
  /* Further bytes of `state` after state_bytes, by configuration: state per L2 line, per warp. */
  size_t (*more_state)(const struct gpu_config *g, const double *param);
  size_t (*more_sm_state)(const struct gpu_config *g, const double *param); /* of each SM, after sm_state_bytes */
  /* Change the machine before it is built: schemes that are a configuration (lrr, ball, perfect-l1). */
  bool (*configure)(struct gpu_config *c, const double *param, struct err *e);
  /* Values of the parameters are checked against their ranges before; check what the ranges cannot say. */
  bool (*init)(struct scheme_ctx *c, struct err *e);
  /* The machine goes: free what init allocated, write what outlives it; what cannot be written is said in `e`. */
  void (*finish)(struct scheme_ctx *c, struct err *e);
  /* Fill up to `max` rows; returns how many. */
  uint32_t (*storage)(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max);
  const char *no_storage; /* why it adds none, where storage is NULL; searches have that of their base */
  double probe_picojoule; /* published energy of a look into its tables; 0: none is, energy.def's figure is taken */
  /* Its rules for the lines of the L1 (find_victim, on_hit, on_place, on_fill) give way to an organisation, which keeps
   * the lines in its own manner: the rest of the scheme works beside it. */
  bool yields_l1;
  bool every_cycle; /* may_issue changes with time alone: the machine then visits every SM in every cycle */
  /* What it answers about an access that the L1 refuses (on_stall, find_victim, may_allocate) changes nothing unless it
   * is to send the access around the L1, and stays the same until the L1 accepts an access, or data for that set arrive:
   * it is then not asked again before. */
  bool steady;
  /* Does `hook` (its offset in this struct) of those below do nothing with these parameters? It is then not called.
   * NULL: none that is filled. */
  bool (*idle)(const double *param, size_t hook);
  uint32_t epoch; /* cycles between on_epoch calls, 0 for none; epoch_param overrides it by a parameter's value */
  const char *epoch_param;

  /* ---- hooks: hooks.def says when each is called and what it answers ---- */
#define HOOK(name, type, arguments, ...) type(*name) arguments;
#define HOOK_TABLE(name, type, ...) type name;
#include "gpu/slots/hooks.def"
};

/* Place a scheme where the registry finds it. */
#define SCHEME(symbol) \
  __attribute__((used, section("sluice_schemes"))) static const struct scheme *const symbol##_entry = &symbol

/* ---- services of the machine for schemes ---- */
/* Occupancy (0..1) of the input queue of an L2 sub-partition, summed over time in core cycles: a difference
 * divided by the cycles between is a mean. */
double gpu_subpart_fill_cycles(const struct gpu *g, uint32_t subpart);
/* Room for one more request packet between this SM and the interconnect. */
bool gpu_sm_can_send(const struct gpu *g, uint32_t sm);
uint32_t gpu_sm_count(const struct gpu *g);
/* Warp slots of an SM that hold warps, and the order in which a slot's warp started (age). */
uint64_t gpu_sm_warps(const struct gpu *g, uint32_t sm);
uint64_t gpu_sm_warp_age(const struct gpu *g, uint32_t sm, uint32_t warp);
/* Thread instructions executed by an SM since the launch began. */
uint64_t gpu_sm_insts(const struct gpu *g, uint32_t sm);
/* Warp instructions executed by an SM since the launch began. */
uint64_t gpu_sm_warp_insts(const struct gpu *g, uint32_t sm);
/* An organisation drops a line (or what it holds of one): counted, and told to the schemes that observe evictions. */
void gpu_l1_evicted(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks, uint32_t owner_warp,
                    bool reused);
/* The answers of a steady organisation have changed in every SM: accesses that were refused are asked about again. */
void gpu_l1_ask_again(struct gpu *g);
/* It drops chunks of a line of which others stay. Either call before the chunks' places are given away. */
void gpu_l1_lost(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks);
/* The launch in progress: CTAs of the grid and in its x direction, and how many an SM holds at once. */
uint32_t gpu_grid_ctas(const struct gpu *g);
uint32_t gpu_grid_x(const struct gpu *g);
uint32_t gpu_sm_cta_limit(const struct gpu *g);
/* Set of `addr` in a cache of `sets` sets and `line`-byte lines under the L1's index function. */
uint32_t gpu_l1_set(const struct gpu_config *c, uint32_t sets, uint32_t line, uint64_t addr);

#endif

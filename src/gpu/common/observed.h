/* observed.h - optional observations of a launch beside its counters: per SM and memory unit, over time, per
 * instruction.
 *
 * Enabled by struct gpu_watch and gpu_watch(); counted by gpu/observe.
 */
#ifndef GPU_COMMON_OBSERVED_H
#define GPU_COMMON_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/reuse.h"
#include "gpu/common/stats.h"
#include "ptx/feed.h"

struct gpu;
struct gpu_timeline;

struct gpu_watch {
  bool detail;    /* counters per SM, L2 sub-partition and DRAM channel */
  bool lines;     /* memory statistics per instruction */
  bool profile;   /* the run over time in at most PROFILE_INTERVALS intervals: counters, L1 sets, DRAM banks */
  bool character; /* loads by un-coalescing degree, and how much of each line is used; warps at the L2, blocks shared
                   * by CTAs and SMs (gpu/observe/l2.h) */
  bool timeline;  /* events of the core cycles [first, last) on SMs below `timeline_sms` (0: all) */
  uint64_t timeline_first, timeline_last;
  uint32_t timeline_sms;
  uint64_t sample; /* counters over time: length of an interval in core cycles, 0 for none */
};

/* One interval: increments of the counters named by gpu_sample_keys. */
enum { GPU_SAMPLE_COUNTERS = 9 };
struct gpu_sample {
  uint64_t v[GPU_SAMPLE_COUNTERS];
};
extern const char *const gpu_sample_keys[GPU_SAMPLE_COUNTERS];

/* One instruction, over all warps of a launch. */
struct gpu_inst_memory {
  uint64_t executions;  /* warp instructions with an active lane */
  uint64_t accesses;    /* after coalescing; shared memory: passes through its banks */
  uint64_t l1_accesses; /* loads accepted by the L1 data cache, including local ones */
  uint64_t l1_hits;
  uint64_t stalls; /* cycles, over all SMs, in which it blocked the memory pipe: the sum of the stall.* reasons */
  uint64_t bytes;  /* data of its requests to the L2, both ways */
};

/* Global loads by accesses per instruction after coalescing (BUCL, Fig 2, 3 and 5): 1, 2, 3-10, 11-20, 21 and more. */
enum { DEGREE_CLASSES = 5, LINE_QUARTERS = 4 };
extern const char *const gpu_degree_names[DEGREE_CLASSES];
struct gpu_degree_class {
  uint64_t loads, accesses;
  uint64_t hits;          /* accesses that hit in the L1 */
  uint64_t all_hit_loads; /* loads all of whose accesses hit */
  uint64_t done, latency; /* loads that got their data; their sum of core cycles from issue to the last data */
  uint64_t blocks;        /* L1 lines that such loads fetched */
  uint64_t reused;        /* of those, lines that were hit after their fill, before they were replaced or invalidated */
};
/* Global loads line by line, per SM and launch: all, and those that a scheme admits to the L1 (ICS 2015, Fig 3, 4 and
 * 11). */
enum { REUSE_LOADS, REUSE_ADMITTED, REUSE_STREAMS };
extern const char *const gpu_reuse_names[REUSE_STREAMS];
/* Causes of L1 misses of loads: the SM's first access to the line; a store evicted it; a fully associative L1 of this
 * size with LRU would also have missed; it would have hit; (organisations with chunks) only part of the line was
 * present. */
enum { MISS_FIRST, MISS_STORE, MISS_CAPACITY, MISS_CONFLICT, MISS_PARTIAL, MISS_CAUSES };
extern const char *const gpu_miss_names[MISS_CAUSES];
struct gpu_character {
  struct gpu_degree_class degree[DEGREE_CLASSES];
  /* Lines fetched by global loads, by the share of their 32 B sectors requested before eviction: up to a quarter, up
   * to half, ... */
  uint64_t used[LINE_QUARTERS];
  /* The same lines by the share requested again after the fill: nothing, up to a quarter, ... (TSC, Fig 1). */
  uint64_t reused[LINE_QUARTERS + 1];
  struct reuse_histogram reuse[REUSE_STREAMS];
  uint64_t miss[MISS_CAUSES];
  uint32_t line_bytes;         /* of the L1's lines, in which reuse is counted */
  struct reuse_stream *stream; /* per SM, REUSE_STREAMS each */
  bool has_blocks;             /* false if a scheme keeps the L1's lines: then no line is counted */
  uint64_t *missed;            /* per SM: set of loads in flight (struct op) with a miss */
  uint8_t *fetched_by;         /* per SM and line: degree class */
};

/* The whole run over time, in intervals of 1 << shift core cycles that double when the table is full: drawn by the
 * report. Launches follow each other without a gap. L1 sets are summed over all SMs. */
enum { PROFILE_INTERVALS = 256, PROFILE_SETS = 256 };
extern const char *const gpu_profile_keys[];
extern const uint32_t gpu_profile_counters;
struct gpu_profile {
  uint32_t shift, used; /* used: intervals begun */
  uint64_t cycles;      /* of all launches so far */
  uint64_t *count;      /* [interval][gpu_profile_counters] */
  uint32_t sets, set_shift;
  uint32_t *set_accesses, *set_hits; /* [interval][set]: global and local loads */
  uint32_t channels, banks;          /* banks of one channel */
  uint32_t *bank_bursts, *bank_rows; /* [interval][channel * banks + bank]: column commands, row activations */
  struct gpu_stats before;           /* the launch's counters at the last update */
  uint64_t at;                       /* core cycle of the next update, UINT64_MAX for none */
};

/* Of the last launch; arrays that are not enabled are NULL. */
struct gpu_observed {
  struct gpu_watch on;
  struct gpu_stats *sm, *subpart, *channel;
  uint32_t sms, subparts, channels;
  struct gpu_sample *sample;
  uint32_t samples, sample_room;
  struct gpu_inst_memory *inst; /* by pc */
  uint32_t insts, inst_room;
  /* Code of the launches that ran together: `inst` begins with that of the first, and so on. */
  struct gpu_observed_code {
    struct feed_kernel kernel;
    uint32_t base;
  } * code;
  uint32_t codes;
  struct gpu_character *character;
  struct gpu_profile *profile;   /* of the whole run */
  void *dram_listener;           /* of the profile and the timeline */
  struct gpu_timeline *timeline; /* gpu/observe/timeline.h */
  struct l2_observer *l2;        /* with character */
  /* the sampler */
  uint64_t look_at;   /* next cycle that needs observe_look, UINT64_MAX for none */
  uint64_t sample_at; /* end of the interval in progress, UINT64_MAX for none */
  uint64_t sampled_at;
  struct gpu_stats sampled;
};

#endif

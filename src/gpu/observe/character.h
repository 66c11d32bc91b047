/* character.h - state behind l2.h, shared by l2.c and sharing.c. */
#ifndef GPU_OBSERVE_CHARACTER_H
#define GPU_OBSERVE_CHARACTER_H

#include "gpu/observe/l2.h"
#include "gpu/common/reuse.h"

enum { OBSERVED_WARPS = 256, OBSERVED_CTAS = 32 };

struct observed_warp {
  uint32_t cta, period;
  uint64_t hits, accesses;
  uint32_t period_hits, period_accesses;
  uint8_t last_type;
};

struct observed_load { /* requests of a load in flight at the L2: core cycles from arrival to the access */
  uint16_t requests, hits;
  uint32_t fastest, slowest;
};

struct observed_block {
  uint64_t line;   /* address / 128 + 1; 0: empty */
  uint64_t sms;    /* bit per SM that touched it */
  uint64_t filled; /* cycle of the last fill into an L1; 0: none */
  uint32_t last_cta, distance;
  uint32_t loads, hits, merges, reuses, late;
};

struct l2_observer {
  struct gpu_l2_character character;
  struct reuse_stream lines;  /* of the L2, over the whole run */
  struct reuse_histogram all; /* of all of them; unused */
  struct observed_warp *warp;
  struct observed_load *load; /* by SM and op */
  uint64_t *cta_start;        /* by SM and CTA slot */
  uint64_t shortest;          /* CTA of this launch */
  uint64_t longest;
  struct observed_block *block; /* open addressing, a power of two */
  uint32_t blocks, block_room;
};

void observe_sharing_begin(struct l2_observer *o);
void observe_sharing_end(struct l2_observer *o);

#endif

/* l2_tags.h - tags, replacement state and line states of an L2 sub-partition, in flat arrays indexed set * ways + way.
 *
 * Reserved lines (being fetched) are never victims. The three decisions a scheme may own are one function each:
 * l2_tags_victim, l2_tags_stamp (insertion and promotion position).
 */
#ifndef GPU_L2_TAGS_H
#define GPU_L2_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/config.h"

enum l2_state { L2_INVALID, L2_RESERVED, L2_VALID, L2_DIRTY };
#define L2_NONE UINT32_MAX

struct l2_tags {
  uint32_t sets, ways;
  uint8_t shift;       /* log2 of the line */
  uint8_t index, repl; /* enum gpu_index, enum gpu_repl */
  uint64_t *tag;       /* line address */
  uint64_t *stamp;     /* core cycle of the last use (LRU) or of the allocation (FIFO): least goes first */
  uint8_t *state;      /* enum l2_state */
  uint16_t *mshr;      /* of a reserved line: the MSHR that fetched it */
  /* Sectored (l2_sector.c), else NULL; bit k: bytes 32 k to 32 k + 31 of the line. A reserved line has some on their
   * way and keeps the others. */
  uint8_t *valid;  /* can be read */
  uint8_t *dirty;  /* newer than DRAM; not valid: of its bytes only some were written */
  uint8_t *coming; /* asked of DRAM */
};

void l2_tags_init(struct l2_tags *t, const struct gpu_config *c);
void l2_tags_free(struct l2_tags *t);
/* Set of an address within its sub-partition (see addrmap_local). */
uint32_t l2_tags_set(const struct l2_tags *t, uint64_t local);
/* The line that holds `line_addr`, or L2_NONE. */
static inline uint32_t l2_tags_find(const struct l2_tags *t, uint32_t set, uint64_t line_addr) {
  uint32_t base = set * t->ways;
  for (uint32_t w = 0; w < t->ways; w++)
    if (t->tag[base + w] == line_addr && t->state[base + w] != L2_INVALID) return base + w;
  return L2_NONE;
}
/* The line to replace: the last invalid one, else the unreserved one with the least stamp; L2_NONE if all are reserved.
 */
uint32_t l2_tags_victim(const struct l2_tags *t, uint32_t set);
/* A line was used (`insert`: just allocated) at core cycle `now`. */
static inline void l2_tags_stamp(struct l2_tags *t, uint32_t line, uint64_t now, bool insert) {
  if (insert || t->repl == REPL_LRU) t->stamp[line] = now;
}

#endif

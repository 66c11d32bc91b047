/* l2_tags.h - tags, replacement state and line states of an L2 sub-partition, in flat arrays indexed set * ways + way.
 *
 * Reserved lines (being fetched) are never victims. The three decisions a scheme may own are one function each:
 * l2_tags_victim, l2_tags_stamp (insertion and promotion position).
 */
#ifndef GPU_MEM_L2_TAGS_H
#define GPU_MEM_L2_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include "gpu/common/config.h"

enum l2_state { L2_INVALID, L2_RESERVED, L2_VALID, L2_DIRTY };
#define L2_NONE UINT32_MAX

struct l2_tags {
  uint32_t sets, ways;
  uint8_t shift;       /* log2 of the line */
  uint8_t index, repl; /* enum gpu_index, enum gpu_repl */
  uint64_t *tag;       /* line address; an invalid line has an address that does not exist */
  uint64_t *stamp;     /* core cycle of the last use (LRU) or of the allocation (FIFO): the least is replaced first */
  uint8_t *state;      /* enum l2_state */
  uint16_t *mshr;      /* of a reserved line: the MSHR that fetched it */
  /* Sectored (l2_sector.c), else NULL; bit k: bytes 32 k to 32 k + 31 of the line. Some sectors of a reserved line are
   * pending; it keeps the others. */
  uint8_t *valid;   /* readable */
  uint8_t *dirty;   /* newer than DRAM; if not valid, only some of its bytes were written */
  uint8_t *pending; /* requested from DRAM */
};

void l2_tags_init(struct l2_tags *t, const struct gpu_config *c);
void l2_tags_free(struct l2_tags *t);
void l2_tags_empty(struct l2_tags *t); /* no line is reserved */
/* Set of an address within its sub-partition (see addrmap_local). */
uint32_t l2_tags_set(const struct l2_tags *t, uint64_t local);
/* The line that holds `line_addr`, or L2_NONE. */
static inline uint32_t l2_tags_find(const struct l2_tags *t, uint32_t set, uint64_t line_addr) {
  uint32_t base = set * t->ways, end = base + t->ways;
#ifdef __SSE4_1__
  if (t->ways % 8 == 0) { /* eight at once, branch-free: the position is unpredictable */
    __m128i a = _mm_set1_epi64x((long long)line_addr);
    for (; base < end; base += 8) {
      const __m128i *tag = (const __m128i *)&t->tag[base];
      __m128i low = _mm_packs_epi32(_mm_cmpeq_epi64(tag[0], a), _mm_cmpeq_epi64(tag[1], a));
      __m128i high = _mm_packs_epi32(_mm_cmpeq_epi64(tag[2], a), _mm_cmpeq_epi64(tag[3], a));
      uint32_t hits = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)); /* two bits a way */
      if (hits) return base + (uint32_t)__builtin_ctz(hits) / 2;
    }
    return L2_NONE;
  }
#endif
  for (; base < end; base++)
    if (t->tag[base] == line_addr) return base;
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

/* slt_slices.h - blocks of slices in use by warps, with reference counts. Private to this folder. */
#ifndef TRACE_SLT_SLT_SLICES_H
#define TRACE_SLT_SLT_SLICES_H

#include "trace/slt/slt_file.h"

struct slt_part {
  uint32_t cta, warp;
  uint32_t at[SLT_PLANES], bytes[SLT_PLANES]; /* in the payload */
};
struct slt_slices {
  uint64_t at; /* of the block */
  uint32_t users, nparts;
  uint8_t *raw;
  struct slt_part *part; /* ascending by CTA, then warp */
  struct slt_slices *next;
};

struct slt_shelf; /* the blocks in memory */
struct slt_shelf *slt_shelf_new(struct slt_file *f);
/* The block at `at`, with one more reference; NULL with `e`. */
struct slt_slices *slt_shelf_take(struct slt_shelf *s, uint64_t at, struct err *e);
/* Drop a reference; an unused block may be freed. */
void slt_shelf_give(struct slt_shelf *s, struct slt_slices *b);
void slt_shelf_free(struct slt_shelf *s);
/* The part of that warp in the block, or NULL. */
const struct slt_part *slt_slices_part(const struct slt_slices *b, uint32_t cta, uint32_t warp);

#endif

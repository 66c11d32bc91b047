/* accel_pack.h - the dynamic instructions of a CTA as bytes: which instruction, the mask where it changes, addresses
 * as base and stride or base and deltas. Format of accel_input.c's temporary file.
 */
#ifndef TRACE_ACCEL_ACCEL_PACK_H
#define TRACE_ACCEL_ACCEL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
  unsigned char *at;
  size_t used, size;
};

struct pack_warp { /* base of the next record, equal on both sides */
  uint32_t mask;
  uint64_t addr;
};

struct pack_record {
  uint32_t id; /* static instruction */
  uint32_t mask;
  uint32_t naddr; /* 0, or as many as `mask` has lanes */
  uint64_t addr[32];
};

void pack_free(struct pack *p);
void pack_bytes(struct pack *p, const void *from, size_t n);
void pack_put(struct pack *p, struct pack_warp *w, const struct pack_record *r);

/* Reading: a cursor over bytes that pack_put wrote. */
struct pack_cursor {
  const unsigned char *at, *end;
  struct pack_warp w;
};
/* The static instruction of the next record, not consumed. False at the end. */
bool pack_peek(const struct pack_cursor *c, uint32_t *id);
/* Read the next record; false at the end. */
bool pack_take(struct pack_cursor *c, struct pack_record *r);

#endif

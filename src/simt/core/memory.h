/* memory.h - device memory: allocations, symbols, and accesses outside them. */
#ifndef SIMT_CORE_MEMORY_H
#define SIMT_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/simt.h"

struct exec;
struct xop;

struct mem_block { /* one allocation; sorted by base */
  struct simt_alloc a;
  uint64_t delta; /* host address = device address + delta */
  bool live;
  bool imported;           /* maps a file: shared, released as a whole */
  uint64_t loaded, stored; /* number of the last launch that loaded or stored */
};

struct lane_access { /* one lane's access, in a resolved space */
  uint64_t addr;
  uint32_t bytes;
  int lane;
  bool write;
  uint8_t space;
};

struct mem_block *mem_block_at(struct simt *s, uint64_t addr);
/* The address of a variable without bytes here; the next variable lies behind it. 0: no room. */
uint64_t mem_pass_symbol(struct simt *s, uint64_t bytes, uint32_t align);
uint64_t mem_alloc_symbol(struct simt *s, uint64_t bytes, uint32_t align, const char *label);
void mem_drop_symbol(struct simt *s, uint64_t addr);
void mem_describe(struct simt *s, uint64_t addr, char *out, size_t size);
/* Host address of bytes outside allocations, in a 2 MB page that an allocation shares; else NULL. */
char *mem_in_page(struct simt *s, uint64_t addr, uint32_t bytes);
/* Distance to the nearest byte of an allocation with the same kind of address; UINT64_MAX: none. */
uint64_t mem_distance(struct simt *s, uint64_t addr);
/* stray.c: an access out of bounds (of `limit` bytes, or of global memory). Host address where the mode allows it,
 * NULL for a fault. `own`: the memory, if more exists than was requested. */
char *stray_access(struct exec *x, const struct xop *o, const struct lane_access *a);
char *stray_limited(struct exec *x, const struct xop *o, const struct lane_access *a, char *own, uint64_t there);
void stray_free(struct simt *s);

#endif

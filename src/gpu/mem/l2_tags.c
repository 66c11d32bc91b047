/* l2_tags.c - tag arrays of the L2: allocation, set index, victims. */
#include "gpu/mem/l2_tags.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void l2_tags_init(struct l2_tags *t, const struct gpu_config *c) {
  uint32_t lines = c->l2.sets * c->l2.ways;
  *t = (struct l2_tags){
      .sets = c->l2.sets,
      .ways = c->l2.ways,
      .shift = (uint8_t)__builtin_ctz(c->l2.line),
      .index = (uint8_t)c->l2_index,
      .repl = (uint8_t)c->l2_repl,
      .tag = aligned_alloc(64, ((size_t)lines * sizeof *t->tag + 63) / 64 * 64),
      .stamp = mem_zeroed(lines, sizeof *t->stamp),
      .state = mem_zeroed(lines, sizeof *t->state),
      .mshr = mem_zeroed(lines, sizeof *t->mshr),
  };
  CHECK(t->tag && t->stamp && t->state && t->mshr, "out of memory for %u L2 lines", lines);
  memset(t->tag, 0xff, lines * sizeof *t->tag);
  if (c->l2_org != L2_SECTORS) return;
  t->valid = mem_zeroed(lines, 1);
  t->dirty = mem_zeroed(lines, 1);
  t->pending = mem_zeroed(lines, 1);
}

void l2_tags_empty(struct l2_tags *t) {
  uint32_t lines = t->sets * t->ways;
  memset(t->tag, 0xff, lines * sizeof *t->tag);
  memset(t->state, L2_INVALID, lines * sizeof *t->state);
  if (!t->valid) return;
  memset(t->valid, 0, lines);
  memset(t->dirty, 0, lines);
  memset(t->pending, 0, lines);
}

void l2_tags_free(struct l2_tags *t) {
  free(t->tag);
  free(t->stamp);
  free(t->state);
  free(t->mshr);
  free(t->valid);
  free(t->dirty);
  free(t->pending);
  *t = (struct l2_tags){0};
}

/* Remainder of the line number, read as a polynomial over GF(2), by an irreducible one of degree log2(sets)
 * (Rau, "Pseudo-randomly interleaved memory", ISCA 1991). */
static uint32_t ipoly(uint64_t line, uint32_t sets) {
  static const uint16_t poly[] = {0, 3, 7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x211, 0x409, 0x805, 0x1053};
  uint32_t degree = (uint32_t)__builtin_ctz(sets);
  CHECK(degree < sizeof poly / sizeof *poly, "no IPOLY polynomial for %u sets", sets);
  if (!degree) return 0;
  for (uint32_t top = 63; top >= degree && line >> degree; top--)
    if (line >> top & 1) line ^= (uint64_t)poly[degree] << (top - degree);
  return (uint32_t)line;
}

/* Nugteren et al., HPCA 2014: line bits 0-4 xor address bits 13, 14, 15, 17, 19; bit 12 on top for 64 sets. */
static uint32_t fermi_hash(uint64_t a, uint32_t shift, uint32_t sets) {
  uint32_t low = (uint32_t)(a >> shift) & 31;
  uint32_t high = (uint32_t)((a >> 13 & 7) | (a >> 17 & 1) << 3 | (a >> 19 & 1) << 4);
  return ((low ^ high) | (sets == 64 ? (uint32_t)(a >> 12 & 1) << 5 : 0)) & (sets - 1);
}

uint32_t l2_tags_set(const struct l2_tags *t, uint64_t local) {
  uint64_t line = local >> t->shift;
  if (t->sets & (t->sets - 1)) return (uint32_t)(line % t->sets);
  uint32_t low = (uint32_t)line & (t->sets - 1);
  switch (t->index) {
  case INDEX_FERMI_HASH:
    return fermi_hash(local, t->shift, t->sets);
  case INDEX_XOR:
    return low ^ ((uint32_t)(line >> __builtin_ctz(t->sets)) & (t->sets - 1));
  case INDEX_IPOLY:
    return ipoly(line, t->sets);
  default:
    return low;
  }
}

/* True if any of eight neighbouring states is invalid, or any is reserved. */
static inline bool any_special(const uint8_t *state) {
  const uint64_t twos = 0x0202020202020202;
  _Static_assert(L2_INVALID == 0 && L2_RESERVED == 1 && L2_VALID == 2 && L2_DIRTY == 3, "bit 1 tells them apart");
  uint64_t s;
  memcpy(&s, state, sizeof s);
  return (s & twos) != twos;
}

/* Of eight ordinary ways. Adding the way number makes the stamps distinct, so no branch is needed. */
static inline uint32_t oldest_of_8(const uint64_t *stamp) {
  uint64_t least = stamp[0] << 3;
#pragma GCC unroll 8
  for (uint32_t i = 1; i < 8; i++) {
    uint64_t key = stamp[i] << 3 | i;
    least = key < least ? key : least;
  }
  return (uint32_t)least & 7;
}

uint32_t l2_tags_victim(const struct l2_tags *t, uint32_t set) {
  uint32_t base = set * t->ways, end = base + t->ways, invalid = L2_NONE, oldest = L2_NONE;
  uint64_t least = UINT64_MAX;
  if (t->ways == 8 && !any_special(&t->state[base])) return base + oldest_of_8(&t->stamp[base]);
  bool special = t->ways % 8;
  for (uint32_t i = base; !special && i < end; i += 8) special = any_special(&t->state[i]);
  for (uint32_t i = base; !special && i < end; i++) { /* branch-free: the least is unpredictable */
    uint64_t stamp = t->stamp[i];
    oldest = stamp < least ? i : oldest;
    least = stamp < least ? stamp : least;
  }
  for (uint32_t i = base; special && i < end; i++) {
    uint64_t stamp = t->stamp[i] | -(uint64_t)(t->state[i] == L2_RESERVED);
    oldest = stamp < least ? i : oldest;
    least = stamp < least ? stamp : least;
    invalid = t->state[i] == L2_INVALID ? i : invalid;
  }
  return invalid != L2_NONE ? invalid : oldest;
}

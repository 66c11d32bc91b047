/* compress_sc.h - statistical compression: words by Huffman codes of the values that occur most.
 *
 * Arelakis, Stenstrom, "SC2: A Statistical Compression Cache Scheme", ISCA 2014, as later papers describe it: the text
 * was not at hand. A table counts the values of the 32-bit words that pass while it learns; then each of them and an
 * escape, which stands for all others and is followed by the word, get a code. The simulator needs only the lengths.
 */
#ifndef SCHEMES_LIB_COMPRESS_SC_H
#define SCHEMES_LIB_COMPRESS_SC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { SC_VALUES = 1024, SC_SLOTS = 2 * SC_VALUES, SC_ESCAPE = SC_VALUES };

struct sc_value {
  uint32_t value, count;
  uint8_t bits;
};
/* Zeroed: it has counted nothing. */
struct sc_table {
  uint32_t values, others;           /* values it has, words that are none of them */
  uint16_t slot[SC_SLOTS];           /* index + 1 by hash of the value */
  struct sc_value at[SC_VALUES + 1]; /* the last: the escape */
};

static inline uint16_t *sc_slot(struct sc_table *t, uint32_t value) {
  uint32_t s = (uint32_t)(hash_u64(value) % SC_SLOTS);
  while (t->slot[s] && t->at[t->slot[s] - 1].value != value) s = (s + 1) % SC_SLOTS;
  return &t->slot[s];
}

/* Count the words of a line. A full table takes no new values. */
static inline void sc_learn(struct sc_table *t, const uint8_t *line, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t w;
    memcpy(&w, line + i, 4);
    uint16_t *s = sc_slot(t, w);
    if (!*s && t->values == SC_VALUES) {
      t->others++;
      continue;
    }
    if (!*s) t->at[t->values].value = w, *s = (uint16_t)++t->values;
    t->at[*s - 1].count++;
  }
}

static inline int sc_by_count(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Lengths of the codes, from the counts (Huffman; two queues). The escape counts as one word more than it stood for. */
static inline void sc_code(struct sc_table *t) {
  enum { NODES = 2 * (SC_VALUES + 1) };
  uint64_t leaf[SC_VALUES + 1], weight[NODES];
  uint16_t parent[NODES] = {0};
  uint8_t depth[NODES];
  uint32_t n = t->values + 1, leaves = 0, inner = n, next = n;
  t->at[SC_ESCAPE].count = t->others + 1;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = i == t->values ? SC_ESCAPE : i;
    leaf[i] = (uint64_t)t->at[at].count << 16 | at;
  }
  qsort(leaf, n, sizeof *leaf, sc_by_count);
  for (uint32_t i = 0; i < n; i++) weight[i] = leaf[i] >> 16;
  for (; next < 2 * n - 1; next++) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t least = leaves < n && (inner == next || weight[leaves] <= weight[inner]) ? leaves++ : inner++;
      parent[least] = (uint16_t)next;
      sum += weight[least];
    }
    weight[next] = sum;
  }
  depth[next - 1] = 0;
  for (uint32_t i = next - 1; i-- > 0;) depth[i] = (uint8_t)(depth[parent[i]] + 1);
  for (uint32_t i = 0; i < n; i++) t->at[leaf[i] & 0xffff].bits = n > 1 ? depth[i] : 1;
}

/* Bits of the line under the codes of sc_code. */
static inline uint32_t sc_bits(struct sc_table *t, const uint8_t *line, uint32_t bytes) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t w;
    memcpy(&w, line + i, 4);
    uint16_t s = *sc_slot(t, w);
    bits += s ? t->at[s - 1].bits : t->at[SC_ESCAPE].bits + 32u;
  }
  return bits;
}

#endif

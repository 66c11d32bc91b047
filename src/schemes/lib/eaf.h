/* eaf.h - evicted-address filters: a Bloom filter per L2 sub-partition of its recently evicted lines (Seshadri, Mutlu,
 * Kozuch, Mowry, PACT 2012, section 3).
 *
 * 8 bits per line of the sub-partition; cleared when as many addresses as it has lines were inserted. The number of
 * hash functions is a parameter.
 */
#ifndef SCHEMES_LIB_EAF_H
#define SCHEMES_LIB_EAF_H

#include "base/hash.h"
#include "gpu/scheme.h"

struct eaf_filter {
  uint32_t inserted; /* since it was cleared */
  uint8_t bits[];    /* one byte per line of the sub-partition: 8 bits each */
};

static inline size_t eaf_filter_bytes(const struct gpu_config *g) {
  return (sizeof(struct eaf_filter) + (size_t)g->l2.sets * g->l2.ways + 7) & ~(size_t)7;
}
static inline size_t eaf_filters_bytes(const struct gpu_config *g) {
  return eaf_filter_bytes(g) * g->channels * g->subparts;
}
static inline struct eaf_filter *eaf_of(void *filters, const struct gpu_config *g, uint32_t subpart) {
  return (struct eaf_filter *)((char *)filters + eaf_filter_bytes(g) * subpart);
}

static inline uint32_t eaf_bit(const struct gpu_config *g, uint64_t line, uint32_t k) {
  uint64_t h = hash_u64(line + 0x9E3779B97F4A7C15ull * (k + 1));
  return (uint32_t)((h >> 32) % ((uint64_t)g->l2.sets * g->l2.ways * 8));
}

static inline bool eaf_has(const struct eaf_filter *f, const struct gpu_config *g, uint64_t line, uint32_t hashes) {
  for (uint32_t k = 0; k < hashes; k++) {
    uint32_t b = eaf_bit(g, line, k);
    if (!(f->bits[b / 8] >> (b % 8) & 1)) return false;
  }
  return true;
}

/* True: the filter was full and has been cleared. */
static inline bool eaf_insert(struct eaf_filter *f, const struct gpu_config *g, uint64_t line, uint32_t hashes) {
  for (uint32_t k = 0; k < hashes; k++) {
    uint32_t b = eaf_bit(g, line, k);
    f->bits[b / 8] |= (uint8_t)(1u << (b % 8));
  }
  if (++f->inserted < g->l2.sets * g->l2.ways) return false;
  for (size_t i = 0; i < (size_t)g->l2.sets * g->l2.ways; i++) f->bits[i] = 0;
  f->inserted = 0;
  return true;
}

#endif

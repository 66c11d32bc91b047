/* l2_sample.h - for schemes at the L2 that learn from some of its sets: which sets those are, what stands for the
 * instruction of a request, and the lines of the L2 as an index. Shared by `l2-hawkeye` and `l2-mockingjay`.
 */
#ifndef SCHEMES_LIB_L2_SAMPLE_H
#define SCHEMES_LIB_L2_SAMPLE_H

#include "base/hash.h"
#include "gpu/scheme.h"

enum { L2_SAMPLE_NONE = -1 };

/* Sampled sets of a sub-partition: as many as wanted, or all. */
static inline uint32_t l2_sample_sets(const struct gpu_config *g, double wanted) {
  return wanted < g->l2.sets ? (uint32_t)wanted : g->l2.sets;
}
static inline uint32_t l2_sample_subparts(const struct gpu_config *g) {
  return g->channels * g->subparts;
}
static inline size_t l2_sample_lines(const struct gpu_config *g) {
  return (size_t)l2_sample_subparts(g) * g->l2.sets * g->l2.ways;
}

/* The number of the event's set among the sampled ones of all sub-partitions, which are evenly spread. */
static inline int l2_sample_of(const struct gpu_config *g, double wanted, const struct mem_event *e) {
  uint32_t n = l2_sample_sets(g, wanted), step = n ? g->l2.sets / n : 0;
  if (!n || e->set % step || e->set / step >= n) return L2_SAMPLE_NONE;
  return (int)(e->subpart * n + e->set / step);
}

/* The first line of the event's set among all lines of the L2. */
static inline size_t l2_sample_set(const struct gpu_config *g, const struct mem_event *e) {
  return ((size_t)e->subpart * g->l2.sets + e->set) * g->l2.ways;
}

/* What stands for the instruction: its number, or the kind of a request that no instruction made. */
static inline uint64_t l2_sample_pc(const struct mem_event *e) {
  bool of_inst = e->type == REQ_GLOBAL_READ || e->type == REQ_LOCAL_READ || e->type == REQ_GLOBAL_WRITE ||
                 e->type == REQ_LOCAL_WRITE;
  return of_inst ? (uint64_t)e->pc + REQ_TYPES : e->type;
}
/* A hash of a line's address, as the tag of a sample. */
static inline uint16_t l2_sample_tag(uint64_t line, uint32_t bits) {
  return (uint16_t)(hash_u64(line) >> (64 - bits));
}
/* A cache above writes back what it evicts: no instruction uses the line. */
static inline bool l2_sample_writeback(const struct mem_event *e) {
  return e->type == REQ_L1_WRITEBACK;
}

#endif

/* prefetch.h - what prefetching schemes share: which accesses begin a load. */
#ifndef SCHEMES_LIB_PREFETCH_H
#define SCHEMES_LIB_PREFETCH_H

#include "gpu/scheme.h"

/* The load whose accesses pass the L1 of an SM, one after the other. */
struct prefetch_load {
  uint32_t warp, pc, left;
};

/* True for the first access of a load after coalescing. */
static inline bool prefetch_first(struct prefetch_load *l, const struct l1_event *e) {
  bool more = l->left && l->warp == e->warp && l->pc == e->pc;
  l->left = (more ? l->left : e->degree) - 1;
  l->warp = e->warp;
  l->pc = e->pc;
  return !more;
}

/* A parameter `into`: the cache that gets the lines. */
#define PREFETCH_INTO \
  { "into", "", "0 or l1: lines are requested in the L1; 1 or l2: in the L2", 0, 1, 0, true }
static const char *const prefetch_into_words[] = {"l1", "l2", NULL};
/* Request a line in the L2 if `into` says so, else in the L1. */
static inline bool prefetch_into(struct scheme_ctx *c, const struct l1_event *e, uint64_t addr, double into) {
  return into == 1 ? gpu_prefetch_l2(c, e, addr) : gpu_prefetch(c, e, addr);
}

/* Line addresses of 25 bits in the machine's queue, over the GPU. */
static inline double prefetch_queue_bits(const struct gpu_config *g) {
  return 25.0 * g->prefetch_queue * g->sms;
}

#endif

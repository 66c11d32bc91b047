/* pdp.h - protecting distances of the lines of an L1: shared by `pdp` and `pdp-dyn` (Duong et al., "Improving Cache
 * Management Policies Using Dynamic Reuse Distances", MICRO 2012, section 2).
 *
 * A line's remaining distance is set to PD when it is inserted or hit and falls by one at each access to its set.
 * Lines at zero are unprotected; the least recently used of them is replaced. When all are protected the access
 * bypasses the cache.
 *
 * Choices: accesses of a set are those that the L1 accepts or that this policy bypasses. A load that merges with a
 * pending line does not renew its distance. Lines being fetched count as protected until their distance runs out; then
 * the access waits.
 */
#ifndef SCHEMES_LIB_PDP_H
#define SCHEMES_LIB_PDP_H

#include <string.h>

#include "gpu/scheme.h"

enum { PDP_LINES = 4096 };
typedef uint16_t pdp_four __attribute__((vector_size(8)));
struct pdp_lines {
  uint16_t left[PDP_LINES];
};

static inline bool pdp_init_lines(const struct scheme_ctx *c, const char *name, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (k->sets * k->ways <= PDP_LINES) return true;
  return err_set(e, ERR_USAGE, "scheme %s: an L1 of %u lines is larger than %d", name, k->sets * k->ways, PDP_LINES);
}

static inline int pdp_victim(const struct pdp_lines *l, const struct cache_set *cs) {
  const uint16_t *left = l->left + cs->set * cs->ways;
  int best = -1;
  for (uint32_t w = 0; w < cs->ways; w++)
    if (cs->usable >> w & 1 && !left[w] && (best < 0 || cs->used[w] < cs->used[best])) best = (int)w;
  return best;
}

static inline bool pdp_all_protected(const struct pdp_lines *l, uint32_t set, uint32_t ways) {
  for (uint32_t w = 0; w < ways; w++)
    if (!l->left[set * ways + w]) return false;
  return true;
}

static inline void pdp_protect(struct pdp_lines *l, uint32_t set, uint32_t ways, uint32_t way, uint32_t pd) {
  l->left[set * ways + way] = (uint16_t)pd;
}

/* An access to the set; `way` >= 0: hit or inserted there. */
static inline void pdp_access(struct pdp_lines *l, uint32_t set, uint32_t ways, int way, uint32_t pd) {
  uint16_t *left = l->left + set * ways;
  uint32_t w = 0;
  for (; w + 4 <= ways; w += 4) { /* four at once */
    pdp_four v;
    memcpy(&v, left + w, sizeof v);
    v += (pdp_four)(v != 0); /* true is -1 */
    memcpy(left + w, &v, sizeof v);
  }
  for (; w < ways; w++) left[w] -= left[w] > 0;
  if (way >= 0) pdp_protect(l, set, ways, (uint32_t)way, pd);
}

#endif

/* l15c.h - the second level of an SM's constant caches ("L1.5"; GPC Constant Cache in Nsight Compute). Lines that the
 * caches of constants and of constant operands miss come from it, and it fetches them from the L2.
 *
 * A request takes `latency` cycles to the lookup and back. A line that is not there is fetched with its neighbour,
 * since 256 B come at once: two lines of 128 B here, a reply each. A lookup that is refused holds up those behind it.
 *
 * Sources: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, Table 3.1 (size,
 * latency, lines of 256 B); NVIDIA, Nsight Compute "Metrics Decoder" (IDC and IMC fetch what they miss from the GCC).
 * Approximation: each SM has its own, and instructions do not take place in it.
 */
#ifndef GPU_RO_L15C_H
#define GPU_RO_L15C_H

#include "gpu/ro/rocache.h"

struct l15c {
  struct rocache cache;
  uint32_t latency; /* cycles; 0: the SM has no such cache */
  struct l15c_request {
    uint64_t due, line;
    uint16_t waiter;
  } * at; /* ring of `size` requests under way. Owned. */
  uint32_t head, count, size;
};

/* `waiters`: lines that the first levels request at most at a time. */
void l15c_init(struct l15c *l, const struct gpu_config *c, uint32_t waiters);
void l15c_destroy(struct l15c *l);
/* A line of a first level; `waiter` comes back from l15c_step. */
void l15c_request(struct l15c *l, uint64_t line, uint16_t waiter, uint64_t now);
/* The next request that is answered in cycle `now`: its waiter. False: none. `accessed` and `missed`: a lookup was
 * made, and did not find its line. */
bool l15c_step(struct l15c *l, uint64_t now, uint16_t *waiter, bool *accessed, bool *missed);
/* The first cycle in which a request may be answered without a reply from the L2; UINT64_MAX: none. */
static inline uint64_t l15c_due(const struct l15c *l) {
  return l->count ? l->at[l->head].due : UINT64_MAX;
}

#endif

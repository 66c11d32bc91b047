/* l1net.h - what schemes that place lines in the L1s of other SMs share: clusters of SMs, and the bits of the network
 * between the L1s.
 */
#ifndef SCHEMES_LIB_L1NET_H
#define SCHEMES_LIB_L1NET_H

#include "gpu/scheme.h"

/* Clusters are neighbouring SMs; the last one has what is left. */
static inline bool l1net_same(uint32_t cluster, uint32_t a, uint32_t b) {
  return a / cluster == b / cluster;
}

/* Queues of the two crossbars, over the GPU: at each SM packets that leave and packets that have come, with an address
 * of 32 bits and the number of an SM or MSHR of 16; answers, and accesses that are stores, have a line of data. */
static inline double l1net_bits(const struct gpu_config *g, bool stores) {
  double header = 48, line = 8.0 * g->l1d.line;
  return 2.0 * g->l1net_queue * g->sms * (2 * header + (stores ? 2 : 1) * line);
}

#endif

/* recency.c - the order of the lines of a set, as stamps. */
#include "gpu/common/recency.h"

#include <string.h>

#include "base/err.h"

enum { MOST_WAYS = 4096 };

void recency_rebase(uint64_t *stamp, uint32_t ways, uint64_t now) {
  uint64_t old[MOST_WAYS];
  CHECK(ways <= MOST_WAYS, "a set of %u ways", ways);
  memcpy(old, stamp, ways * sizeof *old);
  for (uint32_t i = 0; i < ways; i++) {
    uint32_t newer = 0;
    for (uint32_t k = 0; k < ways; k++) newer += old[k] > old[i] || (k > i && old[k] == old[i]);
    if (old[i] >= now || newer) stamp[i] = now > newer ? now - newer : 0;
  }
}

/* invariants.h - conservation laws over the counters of a launch, checked at its end in every build.
 *
 * A law states that two sums of counters are equal (or that one is at most the other). A violation reports the law and
 * both sides. A law is one row of the table in invariants.c.
 */
#ifndef GPU_COMMON_INVARIANTS_H
#define GPU_COMMON_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/common/stats.h"

enum { LAW_TERMS = 8 };
struct law {
  const char *name;
  bool at_most;                               /* left <= right rather than equal */
  uint32_t left[LAW_TERMS], right[LAW_TERMS]; /* offsets into struct gpu_stats plus 1; 0 ends the list */
};
extern const struct law gpu_laws[];
extern const uint32_t gpu_law_count;

/* False with ERR_INTERNAL and the first violated law. */
bool gpu_check_laws(const struct gpu_stats *s, struct err *e);

#endif

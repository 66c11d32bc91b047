/* sm_plain.c - the step of an SM for a plain machine (sm_kind.h). */
#define SM_KIND SM_PLAIN
#include "gpu/sm/step.inc"

bool sm_steps_plain(struct gpu *g, uint32_t w) {
  return steps(g, w);
}

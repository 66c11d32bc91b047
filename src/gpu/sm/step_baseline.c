/* step_baseline.c - the step of an SM for the default machine (kind.inc). */
#define SM_KIND SM_BASELINE
#include "gpu/sm/step.inc"

bool sm_steps_baseline(struct gpu *g, uint32_t w) {
  return steps(g, w);
}

/* step_schemes.c - the step of an SM for the default machine with schemes (kind.inc). */
#define SM_KIND SM_SCHEMES
#include "gpu/sm/step.inc"

bool sm_steps_schemes(struct gpu *g, uint32_t w) {
  return steps(g, w);
}

/* sm_plain.c - the step of an SM for a plain machine (sm_kind.h). */
#define SM_KIND SM_PLAIN
#include "gpu/sm_step.h"

bool sm_step_plain(struct sm *s) {
  return step(s);
}

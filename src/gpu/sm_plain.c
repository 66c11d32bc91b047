/* sm_plain.c - the step of an SM for a plain machine (sm_kind.h). */
#define SM_PLAIN 1
#include "gpu/sm_step.h"

bool sm_step_plain(struct sm *s) {
  return step(s);
}

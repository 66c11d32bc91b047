/* back.h - what a GPU's assembler makes of the PTX of a function: machine instructions in another order, fewer or more
 * than the PTX has, and the registers they take.
 *
 * The result stays executable as PTX is: each machine instruction lists the PTX that it executes (ptx/mach.h), every
 * dependence through registers, predicates and memory is kept, so results are those of the PTX.
 * docs/explanation/backend.md describes the passes.
 */
#ifndef BACK_BACK_H
#define BACK_BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct back_target {
  uint32_t sm; /* compute capability, 70 */
};

/* Replace the code of `f`, whose ptx_analyse has run, by machine code for `t`. False: the function keeps its PTX, and
 * f->mach_refused says why. */
bool back_compile(struct ptx_module *m, struct ptx_func *f, const struct back_target *t);

#endif

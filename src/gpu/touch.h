/* touch.h - accesses without time: of what runs functionally (gpu_touch and gpu_touch_code in gpu.h), and of the front
 * end. */
#ifndef GPU_TOUCH_H
#define GPU_TOUCH_H

#include "gpu/state/machine.h"

/* The front end of the GPU writes the constant banks of a launch to the L2 before its CTAs begin. */
void gpu_write_operands(struct gpu *g, const struct gpu_work *k);
/* Before a launch on an idle machine: the order of touches since the last one becomes cycles up to now. */
void gpu_end_touches(struct gpu *g);

#endif

/* params.h - what PTX says of a kernel's parameters beside their place (simt.h, simt_kernel_info). */
#ifndef SIMT_PARAMS_H
#define SIMT_PARAMS_H

#include <stdint.h>

struct simt_kernel;

/* Type of parameter `i`, which must exist, as in PTX without the dot: "u64", "f32"; "b8" for a struct. A constant. */
const char *simt_param_type(const struct simt_kernel *k, uint32_t i);

#endif

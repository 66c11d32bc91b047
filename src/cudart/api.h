/* api.h - what the files of the runtime interface share. They are compiled once per major version of CUDA.
 *
 * Names and signatures are the public ones; every exported function has its row in calls.def.
 */
#ifndef CUDART_API_H
#define CUDART_API_H

#include "cudart/context.h"
#include "cudart/graphs.h"
#include "cudart/textures.h"

/* Programs built with --default-stream per-thread call these names; both default streams are the same here. */
#define ALIAS(name, suffix) extern __typeof(name) name##suffix __attribute__((alias(#name)))
#define PTSZ(name) ALIAS(name, _ptsz)
#define PTDS(name) ALIAS(name, _ptds)

#define CALL_SITE() __builtin_return_address(0)

#endif

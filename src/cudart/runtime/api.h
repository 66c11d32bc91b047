/* api.h - shared by the files of the runtime interface, which are compiled once per major version of CUDA.
 *
 * Names and signatures are the public ones; every exported function has a row in calls.def.
 */
#ifndef CUDART_RUNTIME_API_H
#define CUDART_RUNTIME_API_H

#include "cudart/core/context.h"
#include "cudart/core/graphs.h"
#include "cudart/core/textures.h"

#define ALIAS(name, suffix) extern __typeof(name) name##suffix __attribute__((alias(#name)))
/* With a stream among the arguments, and without. */
#define PTSZ(name) CUDART_PER_THREAD(name, _ptsz)
#define PTDS(name) CUDART_PER_THREAD(name, _ptds)

/* The version of CUDA that this library represents, as CUDART_VERSION: 9000, 10010, ... (api_version.c). */
extern const int cudart_api_version __attribute__((visibility("hidden")));
/* Error codes in the numbering of that version, and back. */
cudaError_t cudart_error_number(cudaError_t code) __attribute__((visibility("hidden")));
cudaError_t cudart_error_code(cudaError_t number) __attribute__((visibility("hidden")));
#if CUDART_MAJOR <= 10
#define cudart_leave(c, r) cudart_error_number((cudart_leave)(c, r))
#define cudart_leave_with(c, r) cudart_error_number((cudart_leave_with)(c, r))
#define cudart_refuse(call, why) cudart_error_number((cudart_refuse)(call, why))
#endif

#define CALL_SITE() __builtin_return_address(0)

#endif

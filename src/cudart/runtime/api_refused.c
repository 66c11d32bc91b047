/* api_refused.c - calls that return cudaErrorNotSupported or are rejected by name, as in calls.def. */
#include "cudart/runtime/api.h"

#define CUDA_GROUP(title)
#define CUDA_CALL(name, doc)
#define CUDA_LIMITED(name, doc)
#define CUDA_ANSWER(name, about)                                                                        \
  cudaError_t name(void) {                                                                              \
    struct cudart *c = cudart_enter();                                                                  \
    return cudart_leave(c, cudart_why(c, cudaErrorNotSupported, #name ": %s are not modelled", about)); \
  }
#define CUDA_REFUSED(name, why)       \
  cudaError_t name(void) {            \
    return cudart_refuse(#name, why); \
  }
#include "cudart/core/calls.def"

/* api_version.c - the CUDA version that a runtime library represents, which determines the numbering of error codes.
 *
 * Compiled once per library with CUDART_VERSION; the other files of the interface once per major version.
 */
#include "cudart/runtime/api.h"

#ifndef CUDART_VERSION
#define CUDART_VERSION (CUDART_MAJOR * 1000)
#endif

const int cudart_api_version = CUDART_VERSION;

enum { ONE_NUMBERING = 10010 }; /* from CUDA 10.1 on, the numbers of errors.def */

static const struct {
  int number;
  cudaError_t code;
} old[] = {
#define CUDA_OLD_ERROR(value, name) {value, cuda##name},
#include "cudart/runtime/errors_old.def"
};
enum { OLD = sizeof old / sizeof *old };

cudaError_t cudart_error_number(cudaError_t code) {
  for (int i = 0; cudart_api_version < ONE_NUMBERING && i < OLD; i++)
    if (old[i].code == code) return old[i].number;
  return code;
}

cudaError_t cudart_error_code(cudaError_t number) {
  for (int i = 0; cudart_api_version < ONE_NUMBERING && i < OLD; i++)
    if (old[i].number == number) return old[i].code;
  return number;
}

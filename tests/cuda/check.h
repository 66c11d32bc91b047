/* check.h - what the self-checking test programs share: every expectation that fails is printed with its line. */
#ifndef TESTS_CUDA_CHECK_H
#define TESTS_CUDA_CHECK_H
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(cond)                                    \
  do {                                                  \
    if (!(cond)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
      failures++;                                       \
    }                                                   \
  } while (0)
#define GIVES(call, code)                                                                       \
  do {                                                                                          \
    cudaError_t got_ = (call);                                                                  \
    if (got_ != (code)) {                                                                       \
      printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_), \
             cudaGetErrorName(code));                                                           \
      failures++;                                                                               \
    }                                                                                           \
  } while (0)
#define OK(call) GIVES(call, cudaSuccess)

static int verdict(void) {
  puts(failures ? "FAIL" : "PASS");
  return failures != 0;
}
#endif

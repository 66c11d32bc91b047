/* imports.h - CUDA imports of a program that Sluice does not support. */
#ifndef CUDART_CORE_IMPORTS_H
#define CUDART_CORE_IMPORTS_H

#include <stdint.h>

struct cudart;

/* Ends the process with the names of undefined CUDA symbols that Sluice does not provide or support. */
void cudart_scan_imports(struct cudart *c);
struct cudart_refusal {
  const char *call, *why;
};
extern const struct cudart_refusal cudart_refusals[];
extern const uint32_t cudart_refusal_count;

#endif

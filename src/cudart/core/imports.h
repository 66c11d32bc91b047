/* imports.h - what a program imports of CUDA that Sluice refuses. */
#ifndef CUDART_IMPORTS_H
#define CUDART_IMPORTS_H

#include <stdint.h>

struct cudart;

/* Undefined CUDA symbols of the program that we refuse or lack: ends the process naming them. */
void cudart_scan_imports(struct cudart *c);
struct cudart_refusal {
  const char *call, *why;
};
extern const struct cudart_refusal cudart_refusals[];
extern const uint32_t cudart_refusal_count;

#endif

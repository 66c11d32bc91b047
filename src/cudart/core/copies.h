/* copies.h - device memory: allocation, copies, sets, and synchronisation with registered host memory. */
#ifndef CUDART_CORE_COPIES_H
#define CUDART_CORE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/abi.h"
#include "simt/simt.h"

struct cudart;

/* One side of a copy: an array, or memory with a row pitch and a slice height. */
struct cuda_side {
  struct cuda_array *array;
  uint64_t ptr;
  size_t pitch, rows; /* rows per slice */
  size_t x, y, z;     /* start: x in bytes */
};
struct cuda_copy {
  struct cuda_side src, dst;
  size_t bytes, rows, slices; /* extent */
  int kind;                   /* enum cuda_copy_kind */
};
struct cuda_set {
  uint64_t ptr;
  size_t pitch, slice_rows;
  size_t width, rows, slices; /* width in elements */
  uint32_t value, element;    /* element: 1, 2 or 4 bytes */
};

/* Host memory registered by the program: the device uses a copy that is updated around each launch. */
struct cuda_registered {
  struct cuda_registered *next;
  void *host;
  size_t bytes;
  uint32_t flags;
  uint64_t shadow; /* 0 until the program reads its device pointer */
};

/* Memory of the device or of the host: `site`, the caller, is named in reports about the allocation. */
cudaError_t cudart_alloc(struct cudart *c, uint64_t bytes, enum simt_mem_kind kind, const void *site, uint64_t *out);
cudaError_t cudart_release(struct cudart *c, uint64_t base, bool host);
/* Whether the copy or set could be done: cudaSuccess, or what is wrong with it. */
cudaError_t cudart_check_copy(struct cudart *c, const struct cuda_copy *k);
cudaError_t cudart_check_set(struct cudart *c, const struct cuda_set *s);
/* Do it now. */
cudaError_t cudart_copy(struct cudart *c, const struct cuda_copy *k);
cudaError_t cudart_copy_linear(struct cudart *c, uint64_t dst, uint64_t src, size_t bytes, int kind);
cudaError_t cudart_set(struct cudart *c, const struct cuda_set *s);
/* Copy all registered host memory that the device uses to its shadow or back: before and after a launch. */
void cudart_sync_registered(struct cudart *c, bool to_device);
struct cuda_registered *cudart_find_registered(struct cudart *c, const void *p); /* that contains p; NULL: none */
/* The device address of `p` in it; the first call makes the shadow. 0: no memory. */
uint64_t cudart_registered_device(struct cudart *c, struct cuda_registered *r, const void *p);

#endif

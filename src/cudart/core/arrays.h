/* arrays.h - arrays and mipmapped arrays. */
#ifndef CUDART_CORE_ARRAYS_H
#define CUDART_CORE_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/abi.h"

struct cudart;

struct cuda_array {
  struct cudaChannelFormatDesc desc;
  size_t width, height, depth; /* in elements; 0 where the array has no such dimension */
  uint32_t flags, element;     /* bytes of an element */
  size_t pitch, slice;         /* bytes of a row, and from one slice or layer to the next */
  uint64_t base, bytes;
  bool view; /* a view of foreign memory: a mapped graphics resource, external memory */
};
enum { MAX_LEVELS = 17 };
struct cuda_mipmap {
  uint32_t levels;
  struct cuda_array *level[MAX_LEVELS];
  uint64_t block; /* all levels lie in this allocation; 0: each has its own */
  bool mapped;    /* of a graphics resource, which frees it */
};

/* Arrays and mipmaps in device memory, checked as CUDA does: dimensions, format, flags. */
cudaError_t cudart_array_new(struct cudart *c, const struct cudaChannelFormatDesc *d, size_t w, size_t h, size_t depth,
                             uint32_t flags, struct cuda_array **out);
cudaError_t cudart_array_free(struct cudart *c, struct cuda_array *a);
/* The same over allocated memory. */
struct cuda_place {
  uint64_t base;
  size_t pitch, slice; /* 0: the array's own layout */
};
cudaError_t cudart_array_view(struct cudart *c, const struct cudaChannelFormatDesc *d, const struct cudaExtent *extent,
                              uint32_t flags, struct cuda_place at, struct cuda_array **out);
void cudart_array_drop_view(struct cudart *c, struct cuda_array *a);
cudaError_t cudart_mipmap_new(struct cudart *c, const struct cudaChannelFormatDesc *d, struct cudaExtent extent,
                              uint32_t levels, uint32_t flags, struct cuda_mipmap **out);
cudaError_t cudart_mipmap_free(struct cudart *c, struct cuda_mipmap *m);
/* Extent of the next smaller level. False: `e` was the last one. */
bool cudart_smaller_level(struct cudaExtent *e, uint32_t flags);
struct cuda_array *cudart_array(struct cudart *c, struct cuda_array *a); /* NULL: not an array */

#endif

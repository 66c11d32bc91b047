/* textures.h - texture and surface objects and references: what they are bound to and how they are read.
 */
#ifndef CUDART_CORE_TEXTURES_H
#define CUDART_CORE_TEXTURES_H

#include "cudart/core/context.h"

struct cuda_texref;

/* What a texture or surface reads: an array, or linear memory. */
struct cuda_resource {
  struct cuda_array *array; /* NULL: linear */
  uint64_t ptr;
  struct cudaChannelFormatDesc desc;
  size_t width, height, depth, pitch; /* texels; bytes */
};
struct cuda_texture {
  uint64_t id;
  bool surface;
  int type; /* RESOURCE_* as given */
  struct cuda_resource res;
  struct cudaTextureDesc desc;
};

/* Texture objects. The id is what the program passes to kernels. */
cudaError_t texture_new(struct cudart *c, const struct cuda_resource *r, int type, const struct cudaTextureDesc *d,
                        bool surface, uint64_t *id);
struct cuda_texture *texture_find(struct cudart *c, uint64_t id, bool surface);
cudaError_t texture_free(struct cudart *c, uint64_t id, bool surface);
/* Bind a texture reference of a module; replaces an earlier binding. */
cudaError_t texture_bind(struct cudart *c, struct cuda_texref *t, const struct cuda_resource *r, int type,
                         const struct cudaTextureDesc *d);
cudaError_t texture_unbind(struct cudart *c, struct cuda_texref *t);
/* The description that a texture reference of the program's carries. */
struct cudaTextureDesc texture_desc_of(const struct textureReference *ref, int normalized_read);

#endif

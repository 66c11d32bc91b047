/* gl.h - the program's OpenGL, for sharing buffers and textures with CUDA.
 *
 * Nothing links with OpenGL: entry points are looked up among the libraries that the program loaded. All functions
 * work in the calling thread's current context and preserve the application's bindings and error flag. Desktop OpenGL
 * from 1.5 on, OpenGL ES from 3.0 on (images: 3.1).
 */
#ifndef CUDART_INTEROP_GL_H
#define CUDART_INTEROP_GL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/abi.h"

struct gl;

/* One texture or renderbuffer that CUDA can share. */
struct gl_image {
  uint32_t name, target, internal;
  uint32_t format, type; /* of transfers */
  struct cudaChannelFormatDesc desc;
  struct cudaExtent extent; /* of level 0; depth: slices, layers or faces, 0 if there are none */
  uint32_t levels, flags;   /* flags: ARRAY_LAYERED, ARRAY_CUBEMAP */
};

/* Find the entry points; *gl is made at first use and kept. False: this thread has no current OpenGL context. */
bool gl_current(struct gl **gl);
/* False: not a buffer object, or one without storage. */
bool gl_buffer_bytes(struct gl *gl, uint32_t name, uint64_t *bytes);
/* False: OpenGL failed, for instance because the application has mapped the buffer. */
bool gl_buffer_read(struct gl *gl, uint32_t name, void *to, uint64_t bytes);
bool gl_buffer_write(struct gl *gl, uint32_t name, const void *from, uint64_t bytes);
/* The kind of image. NULL, or why CUDA cannot share it. */
const char *gl_image_describe(struct gl *gl, uint32_t name, uint32_t target, struct gl_image *out);
/* All of one level; rows of `row_texels` and slices of `slice_rows` rows in memory. */
bool gl_image_read(struct gl *gl, const struct gl_image *i, uint32_t level, void *to, uint32_t row_texels,
                   uint32_t slice_rows);
bool gl_image_write(struct gl *gl, const struct gl_image *i, uint32_t level, const void *from, uint32_t row_texels,
                    uint32_t slice_rows);

#endif

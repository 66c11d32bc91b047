/* texture.h - textures and surfaces of the functional machine: descriptors, objects, references by name. */
#ifndef SIMT_CORE_TEXTURE_H
#define SIMT_CORE_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

struct simt;
struct simt_module;

enum simt_tex_address {
  SIMT_TEX_WRAP,
  SIMT_TEX_CLAMP,
  SIMT_TEX_MIRROR,
  SIMT_TEX_BORDER
}; /* as cudaTextureAddressMode */

struct simt_tex {
  uint64_t addr;                 /* device address of the first texel */
  uint32_t width, height, depth; /* texels; height and depth 0 for fewer dimensions; linear memory: width only */
  uint32_t layers;               /* layered (array) textures: layers; cube maps: 6 per cube; else 0 */
  uint32_t pitch;                /* bytes from row to row; 0: width * texel bytes */
  uint64_t slice;                /* bytes from slice (or layer) to slice; 0: pitch * height */
  uint8_t channels;              /* 1, 2 or 4 */
  uint8_t bits;                  /* per channel: 8, 16 or 32 */
  uint8_t format;                /* 0 signed, 1 unsigned, 2 float: as cudaChannelFormatKind */
  bool normalized_coords, linear_filter;
  bool read_normalized;    /* 8- and 16-bit integers read as floats in [0, 1] or [-1, 1] */
  bool linear_memory;      /* cudaResourceTypeLinear: integer coordinates, no filter */
  bool blocks;             /* an array: the timing model sees it in blocks (tex.c), the functional one in rows */
  uint8_t address_mode[3]; /* enum simt_tex_address */
  float border[4];
};

/* Handle of a texture or surface object (the 64-bit value that kernels pass to tex, suld, sust); 0: no memory. */
uint64_t simt_tex_create(struct simt *s, const struct simt_tex *t);
bool simt_tex_destroy(struct simt *s, uint64_t handle);
/* Bind (NULL: unbind) the .texref or .surfref `name` of the module. False: no such reference. */
bool simt_tex_bind(struct simt_module *m, const char *name, const struct simt_tex *t);

#endif

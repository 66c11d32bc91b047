/* gl.c - reading and writing the program's OpenGL buffers, textures and renderbuffers.
 *
 * Names and numbers are those of the OpenGL registry. CUDA C Programming Guide, "OpenGL Interoperability", lists the
 * image formats that CUDA shares; other formats are rejected with a reason.
 */
#include "cudart/interop/gl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* ---- the interface ---- */

enum {
  GL_INVALID_ENUM = 0x0500,
  GL_INVALID_VALUE = 0x0501,
  GL_INVALID_OPERATION = 0x0502,
  GL_VERSION = 0x1F02,
  GL_SCISSOR_TEST = 0x0C11,
  GL_COLOR_BUFFER_BIT = 0x4000,
  GL_NEAREST = 0x2600,
  GL_ARRAY_BUFFER = 0x8892,
  GL_ARRAY_BUFFER_BINDING = 0x8894,
  GL_BUFFER_SIZE = 0x8764,
  GL_BUFFER_MAPPED = 0x88BC,
  GL_BUFFER_IMMUTABLE_STORAGE = 0x821F,
  GL_STREAM_COPY = 0x88E2,
  GL_COPY_READ_BUFFER = 0x8F36, /* also the name of its binding */
  GL_COPY_WRITE_BUFFER = 0x8F37,
  GL_MAP_READ_BIT = 1,
  GL_TEXTURE_2D = 0x0DE1,
  GL_TEXTURE_3D = 0x806F,
  GL_TEXTURE_RECTANGLE = 0x84F5,
  GL_TEXTURE_CUBE_MAP = 0x8513,
  GL_TEXTURE_CUBE_MAP_POSITIVE_X = 0x8515,
  GL_TEXTURE_2D_ARRAY = 0x8C1A,
  GL_RENDERBUFFER = 0x8D41,
  GL_RENDERBUFFER_BINDING = 0x8CA7,
  GL_RENDERBUFFER_WIDTH = 0x8D42,
  GL_RENDERBUFFER_HEIGHT = 0x8D43,
  GL_RENDERBUFFER_INTERNAL_FORMAT = 0x8D44,
  GL_RENDERBUFFER_SAMPLES = 0x8CAB,
  GL_TEXTURE_WIDTH = 0x1000,
  GL_TEXTURE_HEIGHT = 0x1001,
  GL_TEXTURE_INTERNAL_FORMAT = 0x1003,
  GL_TEXTURE_DEPTH = 0x8071,
  GL_READ_FRAMEBUFFER = 0x8CA8,
  GL_DRAW_FRAMEBUFFER = 0x8CA9,
  GL_DRAW_FRAMEBUFFER_BINDING = 0x8CA6,
  GL_READ_FRAMEBUFFER_BINDING = 0x8CAA,
  GL_COLOR_ATTACHMENT0 = 0x8CE0,
  GL_PIXEL_PACK_BUFFER = 0x88EB,
  GL_PIXEL_UNPACK_BUFFER = 0x88EC,
  GL_PIXEL_PACK_BUFFER_BINDING = 0x88ED,
  GL_PIXEL_UNPACK_BUFFER_BINDING = 0x88EF,
  MOST_ERRORS = 16, /* one per kind and unit; a lost context repeats its own for ever */
  CUBE_FACES = 6,
  LEVELS = 17
};

/* X(result, name, parameters) */
#define ENTRY_POINTS(X)                                                                                   \
  X(unsigned, GetError, (void))                                                                           \
  X(const char *, GetString, (unsigned))                                                                  \
  X(void, GetIntegerv, (unsigned, int *))                                                                 \
  X(void, PixelStorei, (unsigned, int))                                                                   \
  X(void, Enable, (unsigned))                                                                             \
  X(void, Disable, (unsigned))                                                                            \
  X(unsigned char, IsEnabled, (unsigned))                                                                 \
  X(void, Clear, (unsigned))                                                                              \
  X(void, GenBuffers, (int, unsigned *))                                                                  \
  X(void, DeleteBuffers, (int, const unsigned *))                                                         \
  X(void, BindBuffer, (unsigned, unsigned))                                                               \
  X(unsigned char, IsBuffer, (unsigned))                                                                  \
  X(void, BufferData, (unsigned, ptrdiff_t, const void *, unsigned))                                      \
  X(void, BufferSubData, (unsigned, ptrdiff_t, ptrdiff_t, const void *))                                  \
  X(void, GetBufferSubData, (unsigned, ptrdiff_t, ptrdiff_t, void *))                                     \
  X(void, CopyBufferSubData, (unsigned, unsigned, ptrdiff_t, ptrdiff_t, ptrdiff_t))                       \
  X(void, GetBufferParameteriv, (unsigned, unsigned, int *))                                              \
  X(void, GetBufferParameteri64v, (unsigned, unsigned, int64_t *))                                        \
  X(void *, MapBufferRange, (unsigned, ptrdiff_t, ptrdiff_t, unsigned))                                   \
  X(unsigned char, UnmapBuffer, (unsigned))                                                               \
  X(void, GenTextures, (int, unsigned *))                                                                 \
  X(void, DeleteTextures, (int, const unsigned *))                                                        \
  X(void, BindTexture, (unsigned, unsigned))                                                              \
  X(unsigned char, IsTexture, (unsigned))                                                                 \
  X(void, GetTexLevelParameteriv, (unsigned, int, unsigned, int *))                                       \
  X(void, GetTexImage, (unsigned, int, unsigned, unsigned, void *))                                       \
  X(void, TexImage2D, (unsigned, int, int, int, int, int, unsigned, unsigned, const void *))              \
  X(void, TexSubImage2D, (unsigned, int, int, int, int, int, unsigned, unsigned, const void *))           \
  X(void, TexSubImage3D, (unsigned, int, int, int, int, int, int, int, unsigned, unsigned, const void *)) \
  X(void, ReadPixels, (int, int, int, int, unsigned, unsigned, void *))                                   \
  X(void, GenFramebuffers, (int, unsigned *))                                                             \
  X(void, DeleteFramebuffers, (int, const unsigned *))                                                    \
  X(void, BindFramebuffer, (unsigned, unsigned))                                                          \
  X(void, FramebufferTexture2D, (unsigned, unsigned, unsigned, unsigned, int))                            \
  X(void, FramebufferTextureLayer, (unsigned, unsigned, unsigned, int, int))                              \
  X(void, FramebufferRenderbuffer, (unsigned, unsigned, unsigned, unsigned))                              \
  X(void, BlitFramebuffer, (int, int, int, int, int, int, int, int, unsigned, unsigned))                  \
  X(void, BindRenderbuffer, (unsigned, unsigned))                                                         \
  X(unsigned char, IsRenderbuffer, (unsigned))                                                            \
  X(void, GetRenderbufferParameteriv, (unsigned, unsigned, int *))

struct gl {
#define FIELD(result, name, parameters) result(*name) parameters;
  ENTRY_POINTS(FIELD)
#undef FIELD
  bool es;
  int version; /* 45: 4.5 */
};

/* ---- finding it ---- */

/* Libraries before the program itself: programs have variables called glBindBuffer that hold a pointer to it. */
static void *gl_function(const char *name) {
  static const char *const libraries[] = {"libGL.so.1", "libOpenGL.so.0", "libGLESv2.so.2", "libOSMesa.so.8"};
  static const char *const askers[][2] = {{"libGL.so.1", "glXGetProcAddressARB"},
                                          {"libEGL.so.1", "eglGetProcAddress"},
                                          {"libGLX.so.0", "glXGetProcAddress"}};
  void *p = NULL;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !p; i++) {
    void *lib = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (!lib) continue;
    p = dlsym(lib, name);
    dlclose(lib);
  }
  for (size_t i = 0; i < sizeof askers / sizeof *askers && !p; i++) {
    void *lib = dlopen(askers[i][0], RTLD_LAZY | RTLD_NOLOAD);
    if (!lib) continue;
    void *(*ask)(const char *) = (void *(*)(const char *))(uintptr_t)dlsym(lib, askers[i][1]);
    if (ask) p = ask(name);
    dlclose(lib);
  }
  return p ? p : dlsym(RTLD_DEFAULT, name);
}

static bool gl_load_functions(struct gl *g) {
  char full[64];
#define RESOLVE(result, name, parameters)     \
  snprintf(full, sizeof full, "gl%s", #name); \
  g->name = (result(*) parameters)(uintptr_t)gl_function(full);
  ENTRY_POINTS(RESOLVE)
#undef RESOLVE
  return g->GetError && g->GetString && g->GetIntegerv && g->BindBuffer && g->IsBuffer && g->GetBufferParameteriv &&
         g->BufferSubData && g->BindTexture && g->PixelStorei && g->Enable && g->Disable && g->IsEnabled && g->Clear;
}

bool gl_current(struct gl **gl) {
  if (!*gl) {
    struct gl *g = mem_zeroed(1, sizeof *g);
    if (!gl_load_functions(g)) {
      free(g);
      return false;
    }
    *gl = g;
  }
  const char *version = (*gl)->GetString(GL_VERSION); /* NULL without a context */
  int major = 0, minor = 0;
  if (!version) return false;
  (*gl)->es = strncmp(version, "OpenGL ES", 9) == 0;
  while (*version && (*version < '0' || *version > '9')) version++;
  if (sscanf(version, "%d.%d", &major, &minor) != 2) return false;
  (*gl)->version = major * 10 + minor;
  return true;
}

/* ---- state that is put back ---- */

enum { PACK, UNPACK, SIDES, STORES = 6 };
/* ROW_LENGTH, SKIP_ROWS, SKIP_PIXELS, ALIGNMENT, IMAGE_HEIGHT, SKIP_IMAGES; what is missing from ES comes last. */
static const unsigned stores[SIDES][STORES] = {{0x0D02, 0x0D03, 0x0D04, 0x0D05, 0x806C, 0x806B},
                                               {0x0CF2, 0x0CF3, 0x0CF4, 0x0CF5, 0x806E, 0x806D}};
/* SWAP_BYTES, LSB_FIRST: desktop only. */
static const unsigned orders[SIDES][2] = {{0x0D00, 0x0D01}, {0x0CF0, 0x0CF1}};
struct kept {
  unsigned error;
  int store[SIDES][STORES], order[SIDES][2], pixel_buffer[SIDES], texture, draw, read, renderbuffer;
  unsigned binding, target; /* of the texture */
  bool scissor;
};

static bool has_pixel_buffers(const struct gl *g) {
  return g->version >= (g->es ? 30 : 21);
}

static bool has_framebuffers(const struct gl *g) {
  return g->version >= 30 && g->GenFramebuffers && g->BlitFramebuffer;
}

static int store_count(const struct gl *g, int side) {
  return g->es && side == PACK ? 4 : STORES;
}

static int gl_integer(const struct gl *g, unsigned what) {
  int v = 0;
  g->GetIntegerv(what, &v);
  return v;
}

/* Keep an error that the application has not read yet. */
static unsigned take_error(const struct gl *g) {
  unsigned first = g->GetError(), next = first;
  for (int i = 0; next && i < MOST_ERRORS; i++) next = g->GetError();
  return first;
}

static void give_error_back(const struct gl *g, unsigned error) {
  int v, bound;
  switch (error) {
  case GL_INVALID_ENUM:
    g->Enable(0);
    break;
  case GL_INVALID_VALUE:
    g->Clear(1);
    break;
  case GL_INVALID_OPERATION: /* no buffer is bound */
    bound = gl_integer(g, GL_ARRAY_BUFFER_BINDING);
    g->BindBuffer(GL_ARRAY_BUFFER, 0);
    g->GetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &v);
    g->BindBuffer(GL_ARRAY_BUFFER, (unsigned)bound);
    break;
  default:
    break;
  }
}

/* End of take_error's scope: true without an error in between. */
static bool went_well(const struct gl *g, unsigned before) {
  bool good = take_error(g) == 0;
  give_error_back(g, before);
  return good;
}

static unsigned binding_of(unsigned target) {
  switch (target) {
  case GL_TEXTURE_3D:
    return 0x806A;
  case GL_TEXTURE_RECTANGLE:
    return 0x84F6;
  case GL_TEXTURE_CUBE_MAP:
    return 0x8514;
  case GL_TEXTURE_2D_ARRAY:
    return 0x8C1D;
  default:
    return 0x8069; /* GL_TEXTURE_2D, also for the copy that becomes a renderbuffer */
  }
}

static void keep(const struct gl *g, struct kept *k, unsigned target, uint32_t row_texels, uint32_t slice_rows) {
  *k = (struct kept){.error = take_error(g), .binding = binding_of(target), .target = target};
  if (target == GL_RENDERBUFFER) k->target = GL_TEXTURE_2D;
  k->texture = gl_integer(g, k->binding);
  for (int s = 0; s < SIDES; s++) {
    const int wanted[STORES] = {(int)row_texels, 0, 0, 1, (int)slice_rows, 0};
    for (int i = 0; i < store_count(g, s); i++) {
      k->store[s][i] = gl_integer(g, stores[s][i]);
      g->PixelStorei(stores[s][i], wanted[i]);
    }
    for (int i = 0; i < 2 && !g->es; i++) {
      k->order[s][i] = gl_integer(g, orders[s][i]);
      g->PixelStorei(orders[s][i], 0);
    }
  }
  if (has_pixel_buffers(g)) {
    k->pixel_buffer[PACK] = gl_integer(g, GL_PIXEL_PACK_BUFFER_BINDING);
    k->pixel_buffer[UNPACK] = gl_integer(g, GL_PIXEL_UNPACK_BUFFER_BINDING);
    g->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    g->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  }
  if (has_framebuffers(g)) {
    k->draw = gl_integer(g, GL_DRAW_FRAMEBUFFER_BINDING);
    k->read = gl_integer(g, GL_READ_FRAMEBUFFER_BINDING);
    k->scissor = g->IsEnabled(GL_SCISSOR_TEST); /* a blit obeys it */
    if (k->scissor) g->Disable(GL_SCISSOR_TEST);
  }
}

static bool put_back(const struct gl *g, const struct kept *k) {
  if (has_framebuffers(g)) {
    g->BindFramebuffer(GL_DRAW_FRAMEBUFFER, (unsigned)k->draw);
    g->BindFramebuffer(GL_READ_FRAMEBUFFER, (unsigned)k->read);
    if (k->scissor) g->Enable(GL_SCISSOR_TEST);
  }
  if (has_pixel_buffers(g)) {
    g->BindBuffer(GL_PIXEL_PACK_BUFFER, (unsigned)k->pixel_buffer[PACK]);
    g->BindBuffer(GL_PIXEL_UNPACK_BUFFER, (unsigned)k->pixel_buffer[UNPACK]);
  }
  for (int s = 0; s < SIDES; s++) {
    for (int i = 0; i < store_count(g, s); i++) g->PixelStorei(stores[s][i], k->store[s][i]);
    for (int i = 0; i < 2 && !g->es; i++) g->PixelStorei(orders[s][i], k->order[s][i]);
  }
  g->BindTexture(k->target, (unsigned)k->texture);
  return went_well(g, k->error);
}

/* ---- buffers ---- */

bool gl_buffer_bytes(struct gl *g, uint32_t name, uint64_t *bytes) {
  if (!name || !g->IsBuffer(name)) return false;
  unsigned before = take_error(g);
  int bound = gl_integer(g, GL_ARRAY_BUFFER_BINDING), small = 0;
  int64_t large = 0;
  g->BindBuffer(GL_ARRAY_BUFFER, name);
  g->GetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &small);
  if (g->GetBufferParameteri64v && g->version >= (g->es ? 30 : 32))
    g->GetBufferParameteri64v(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &large);
  g->BindBuffer(GL_ARRAY_BUFFER, (unsigned)bound);
  *bytes = large > 0 ? (uint64_t)large : small > 0 ? (uint64_t)small : 0;
  return went_well(g, before) && *bytes;
}

static bool is_mapped(const struct gl *g) {
  int mapped = 0;
  g->GetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_MAPPED, &mapped);
  return mapped;
}

bool gl_buffer_read(struct gl *g, uint32_t name, void *to, uint64_t bytes) {
  unsigned before = take_error(g);
  int bound = gl_integer(g, GL_ARRAY_BUFFER_BINDING);
  g->BindBuffer(GL_ARRAY_BUFFER, name);
  bool good = !is_mapped(g) && (g->es ? g->MapBufferRange != NULL && g->version >= 30 : g->GetBufferSubData != NULL);
  if (good && g->es) {
    const void *p = g->MapBufferRange(GL_ARRAY_BUFFER, 0, (ptrdiff_t)bytes, GL_MAP_READ_BIT);
    if (p) memcpy(to, p, bytes);
    good = p && g->UnmapBuffer(GL_ARRAY_BUFFER);
  } else if (good) {
    g->GetBufferSubData(GL_ARRAY_BUFFER, 0, (ptrdiff_t)bytes, to);
  }
  g->BindBuffer(GL_ARRAY_BUFFER, (unsigned)bound);
  return went_well(g, before) && good;
}

/* Storage that the application made immutable takes copies from other buffers only. */
static void write_immutable(const struct gl *g, uint32_t name, const void *from, uint64_t bytes) {
  int read = gl_integer(g, GL_COPY_READ_BUFFER), write = gl_integer(g, GL_COPY_WRITE_BUFFER);
  unsigned staging = 0;
  g->GenBuffers(1, &staging);
  g->BindBuffer(GL_COPY_READ_BUFFER, staging);
  g->BufferData(GL_COPY_READ_BUFFER, (ptrdiff_t)bytes, from, GL_STREAM_COPY);
  g->BindBuffer(GL_COPY_WRITE_BUFFER, name);
  g->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, (ptrdiff_t)bytes);
  g->BindBuffer(GL_COPY_READ_BUFFER, (unsigned)read);
  g->BindBuffer(GL_COPY_WRITE_BUFFER, (unsigned)write);
  g->DeleteBuffers(1, &staging);
}

bool gl_buffer_write(struct gl *g, uint32_t name, const void *from, uint64_t bytes) {
  unsigned before = take_error(g);
  int bound = gl_integer(g, GL_ARRAY_BUFFER_BINDING), immutable = 0;
  g->BindBuffer(GL_ARRAY_BUFFER, name);
  bool good = !is_mapped(g);
  if (!g->es && g->version >= 44) g->GetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_IMMUTABLE_STORAGE, &immutable);
  if (good && immutable) write_immutable(g, name, from, bytes);
  else if (good) g->BufferSubData(GL_ARRAY_BUFFER, 0, (ptrdiff_t)bytes, from);
  g->BindBuffer(GL_ARRAY_BUFFER, (unsigned)bound);
  return went_well(g, before) && good;
}

/* ---- images ---- */

enum component { U8, U16, U32, I8, I16, I32, N8, N16, F16, F32 }; /* N: normalised, otherwise integers or floats */
static const struct {
  uint8_t bits, kind;
  uint16_t type;
} components[] = {[U8] = {8, CHANNEL_UNSIGNED, 0x1401},   [U16] = {16, CHANNEL_UNSIGNED, 0x1403},
                  [U32] = {32, CHANNEL_UNSIGNED, 0x1405}, [I8] = {8, CHANNEL_SIGNED, 0x1400},
                  [I16] = {16, CHANNEL_SIGNED, 0x1402},   [I32] = {32, CHANNEL_SIGNED, 0x1404},
                  [N8] = {8, CHANNEL_UNSIGNED, 0x1401},   [N16] = {16, CHANNEL_UNSIGNED, 0x1403},
                  [F16] = {16, CHANNEL_FLOAT, 0x140B},    [F32] = {32, CHANNEL_FLOAT, 0x1406}};
enum { RED = 0x1903, ALPHA = 0x1906, RGBA = 0x1908, LUMINANCE_ALPHA = 0x190A, RG = 0x8227 };
enum { RED_INTEGER = 0x8D94, RG_INTEGER = 0x8228, RGBA_INTEGER = 0x8D99 };
static const struct format {
  uint16_t internal, transfer;
  uint8_t component;
} formats[] = {{0x8229, RED, N8},
               {0x822A, RED, N16},
               {0x822D, RED, F16},
               {0x822E, RED, F32},
               {0x8231, RED_INTEGER, I8},
               {0x8232, RED_INTEGER, U8},
               {0x8233, RED_INTEGER, I16},
               {0x8234, RED_INTEGER, U16},
               {0x8235, RED_INTEGER, I32},
               {0x8236, RED_INTEGER, U32},
               {0x822B, RG, N8},
               {0x822C, RG, N16},
               {0x822F, RG, F16},
               {0x8230, RG, F32},
               {0x8237, RG_INTEGER, I8},
               {0x8238, RG_INTEGER, U8},
               {0x8239, RG_INTEGER, I16},
               {0x823A, RG_INTEGER, U16},
               {0x823B, RG_INTEGER, I32},
               {0x823C, RG_INTEGER, U32},
               {0x8058, RGBA, N8},
               {0x805B, RGBA, N16},
               {0x881A, RGBA, F16},
               {0x8814, RGBA, F32},
               {0x8D8E, RGBA_INTEGER, I8},
               {0x8D7C, RGBA_INTEGER, U8},
               {0x8D88, RGBA_INTEGER, I16},
               {0x8D76, RGBA_INTEGER, U16},
               {0x8D82, RGBA_INTEGER, I32},
               {0x8D70, RGBA_INTEGER, U32},
               {0x1908, RGBA, N8},
               {4, RGBA, N8},
               /* Red in place of luminance and intensity: the same value both ways. */
               {0x8040, RED, N8},
               {0x8042, RED, N16},
               {0x881E, RED, F16},
               {0x8818, RED, F32},
               {0x1909, RED, N8},
               {1, RED, N8},
               {0x804B, RED, N8},
               {0x804D, RED, N16},
               {0x881D, RED, F16},
               {0x8817, RED, F32},
               {0x8049, RED, N8},
               {0x803C, ALPHA, N8},
               {0x803E, ALPHA, N16},
               {0x881C, ALPHA, F16},
               {0x8816, ALPHA, F32},
               {0x1906, ALPHA, N8},
               {0x8045, LUMINANCE_ALPHA, N8},
               {0x8048, LUMINANCE_ALPHA, N16},
               {0x881F, LUMINANCE_ALPHA, F16},
               {0x8819, LUMINANCE_ALPHA, F32},
               {0x190A, LUMINANCE_ALPHA, N8},
               {2, LUMINANCE_ALPHA, N8}};

static bool set_format(struct gl_image *i) {
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
    const struct format *f = &formats[k];
    if (f->internal != i->internal) continue;
    int bits = components[f->component].bits;
    bool two = f->transfer == RG || f->transfer == RG_INTEGER || f->transfer == LUMINANCE_ALPHA;
    bool four = f->transfer == RGBA || f->transfer == RGBA_INTEGER;
    i->format = f->transfer;
    i->type = components[f->component].type;
    i->desc = (struct cudaChannelFormatDesc){bits, two || four ? bits : 0, four ? bits : 0, four ? bits : 0,
                                             components[f->component].kind};
    return true;
  }
  return false;
}

static int level_value(const struct gl *g, unsigned target, uint32_t level, unsigned what) {
  int v = 0;
  g->GetTexLevelParameteriv(target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : target, (int)level, what,
                            &v);
  return v;
}

static const char *describe_renderbuffer(const struct gl *g, struct gl_image *i) {
  int w = 0, h = 0, internal = 0, samples = 0, bound = gl_integer(g, GL_RENDERBUFFER_BINDING);
  if (!has_framebuffers(g) || !g->IsRenderbuffer(i->name)) return "it is not the name of a renderbuffer";
  g->BindRenderbuffer(GL_RENDERBUFFER, i->name);
  g->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &w);
  g->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_HEIGHT, &h);
  g->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_INTERNAL_FORMAT, &internal);
  g->GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &samples);
  g->BindRenderbuffer(GL_RENDERBUFFER, (unsigned)bound);
  i->extent = (struct cudaExtent){(size_t)w, (size_t)h, 0};
  i->internal = (uint32_t)internal;
  i->levels = 1;
  return samples ? "multisampled renderbuffers cannot be shared" : NULL;
}

/* Levels from 0 on whose sizes follow from the one before. */
static void count_levels(const struct gl *g, struct gl_image *i) {
  struct cudaExtent e = i->extent;
  for (i->levels = 1; i->levels < LEVELS && i->target != GL_TEXTURE_RECTANGLE; i->levels++) {
    if (e.width == 1 && e.height == 1 && (e.depth <= 1 || i->flags)) return;
    e.width = e.width > 1 ? e.width / 2 : 1;
    e.height = e.height > 1 ? e.height / 2 : 1;
    if (e.depth > 1 && !i->flags) e.depth /= 2;
    if (level_value(g, i->target, i->levels, GL_TEXTURE_WIDTH) != (int)e.width ||
        level_value(g, i->target, i->levels, GL_TEXTURE_HEIGHT) != (int)e.height ||
        level_value(g, i->target, i->levels, GL_TEXTURE_INTERNAL_FORMAT) != (int)i->internal)
      return;
  }
}

static const char *describe_texture(const struct gl *g, struct gl_image *i) {
  int bound = gl_integer(g, binding_of(i->target));
  if (!g->IsTexture || !g->IsTexture(i->name)) return "it is not the name of a texture";
  if (!g->GetTexLevelParameteriv || (g->es && g->version < 31)) return "OpenGL ES before 3.1 does not tell its format";
  g->BindTexture(i->target, i->name);
  i->extent.width = (size_t)level_value(g, i->target, 0, GL_TEXTURE_WIDTH);
  i->extent.height = (size_t)level_value(g, i->target, 0, GL_TEXTURE_HEIGHT);
  i->internal = (uint32_t)level_value(g, i->target, 0, GL_TEXTURE_INTERNAL_FORMAT);
  if (i->target == GL_TEXTURE_3D || i->target == GL_TEXTURE_2D_ARRAY)
    i->extent.depth = (size_t)level_value(g, i->target, 0, GL_TEXTURE_DEPTH);
  if (i->target == GL_TEXTURE_2D_ARRAY) i->flags = ARRAY_LAYERED;
  if (i->target == GL_TEXTURE_CUBE_MAP) i->extent.depth = CUBE_FACES, i->flags = ARRAY_CUBEMAP;
  if (i->extent.width) count_levels(g, i);
  g->BindTexture(i->target, (unsigned)bound);
  return NULL;
}

const char *gl_image_describe(struct gl *g, uint32_t name, uint32_t target, struct gl_image *i) {
  *i = (struct gl_image){.name = name, .target = target};
  const char *why;
  unsigned before = take_error(g);
  switch (target) {
  case GL_RENDERBUFFER:
    why = describe_renderbuffer(g, i);
    break;
  case GL_TEXTURE_2D:
  case GL_TEXTURE_3D:
  case GL_TEXTURE_RECTANGLE:
  case GL_TEXTURE_CUBE_MAP:
  case GL_TEXTURE_2D_ARRAY:
    why = describe_texture(g, i);
    break;
  default:
    why = "its target is none that CUDA shares (2D, 3D, rectangle, cube map, 2D array, renderbuffer)";
  }
  if (!went_well(g, before) && !why) why = "OpenGL refuses to describe it: is it of this target?";
  if (!why && (!i->extent.width || !i->extent.height)) why = "it has no storage yet";
  if (!why && !set_format(i))
    why = "its internal format is none that CUDA shares (1, 2 or 4 channels of 8, 16, 32 bits)";
  return why;
}

static struct cudaExtent level_extent(const struct gl_image *i, uint32_t level) {
  struct cudaExtent e = i->extent;
  for (uint32_t l = 0; l < level; l++) {
    e.width = e.width > 1 ? e.width / 2 : 1;
    e.height = e.height > 1 ? e.height / 2 : 1;
    if (e.depth > 1 && !i->flags) e.depth /= 2;
  }
  return e;
}

static size_t slice_bytes(const struct gl_image *i, uint32_t row_texels, uint32_t slice_rows) {
  return (size_t)row_texels * slice_rows * (size_t)(i->desc.x + i->desc.y + i->desc.z + i->desc.w) / 8;
}

/* Through a framebuffer: renderbuffers, and everything in OpenGL ES. */
static void read_attached(const struct gl *g, const struct gl_image *i, uint32_t level, char *to, size_t slice) {
  struct cudaExtent e = level_extent(i, level);
  unsigned fb = 0;
  g->GenFramebuffers(1, &fb);
  g->BindFramebuffer(GL_READ_FRAMEBUFFER, fb);
  for (size_t z = 0; z < (e.depth ? e.depth : 1); z++, to += slice) {
    if (i->target == GL_RENDERBUFFER)
      g->FramebufferRenderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, i->name);
    else if (i->target == GL_TEXTURE_3D || i->target == GL_TEXTURE_2D_ARRAY)
      g->FramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, i->name, (int)level, (int)z);
    else
      g->FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                              i->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (unsigned)z
                                                               : i->target,
                              i->name, (int)level);
    g->ReadPixels(0, 0, (int)e.width, (int)e.height, i->format, i->type, to);
  }
  g->DeleteFramebuffers(1, &fb);
}

bool gl_image_read(struct gl *g, const struct gl_image *i, uint32_t level, void *to, uint32_t row_texels,
                   uint32_t slice_rows) {
  struct kept k;
  size_t slice = slice_bytes(i, row_texels, slice_rows);
  keep(g, &k, i->target, row_texels, slice_rows);
  if (i->target == GL_RENDERBUFFER || g->es) {
    read_attached(g, i, level, to, slice);
  } else {
    g->BindTexture(i->target, i->name);
    if (i->target == GL_TEXTURE_CUBE_MAP)
      for (unsigned f = 0; f < CUBE_FACES; f++)
        g->GetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, (int)level, i->format, i->type, (char *)to + f * slice);
    else g->GetTexImage(i->target, (int)level, i->format, i->type, to);
  }
  return put_back(g, &k);
}

/* A renderbuffer takes pixels only from a framebuffer: one with a texture of the same format. */
static void write_renderbuffer(const struct gl *g, const struct gl_image *i, const void *from) {
  int w = (int)i->extent.width, h = (int)i->extent.height;
  unsigned fb[2] = {0}, texture = 0;
  g->GenFramebuffers(2, fb);
  g->GenTextures(1, &texture);
  g->BindTexture(GL_TEXTURE_2D, texture);
  g->TexImage2D(GL_TEXTURE_2D, 0, (int)i->internal, w, h, 0, i->format, i->type, from);
  g->BindFramebuffer(GL_READ_FRAMEBUFFER, fb[0]);
  g->FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  g->BindFramebuffer(GL_DRAW_FRAMEBUFFER, fb[1]);
  g->FramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, i->name);
  g->BlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  g->DeleteFramebuffers(2, fb);
  g->DeleteTextures(1, &texture);
}

bool gl_image_write(struct gl *g, const struct gl_image *i, uint32_t level, const void *from, uint32_t row_texels,
                    uint32_t slice_rows) {
  struct kept k;
  struct cudaExtent e = level_extent(i, level);
  int w = (int)e.width, h = (int)e.height;
  size_t slice = slice_bytes(i, row_texels, slice_rows);
  keep(g, &k, i->target, row_texels, slice_rows);
  if (i->target == GL_RENDERBUFFER) {
    write_renderbuffer(g, i, from);
  } else {
    g->BindTexture(i->target, i->name);
    if (i->target == GL_TEXTURE_CUBE_MAP)
      for (unsigned f = 0; f < CUBE_FACES; f++)
        g->TexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, (int)level, 0, 0, w, h, i->format, i->type,
                         (const char *)from + f * slice);
    else if (i->target == GL_TEXTURE_3D || i->target == GL_TEXTURE_2D_ARRAY)
      g->TexSubImage3D(i->target, (int)level, 0, 0, 0, w, h, (int)e.depth, i->format, i->type, from);
    else g->TexSubImage2D(i->target, (int)level, 0, 0, w, h, i->format, i->type, from);
  }
  return put_back(g, &k);
}

/* driver_memory.c - libcuda: memory, copies, arrays, textures and surfaces, streams, events, virtual address ranges. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/arrays.h"
#include "cudart/core/copies.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/driver/driver.h"

#define CALL_SITE() __builtin_return_address(0)

/* ---- allocation ---- */

static CUresult driver_allocate(uint64_t *out, uint64_t bytes, enum simt_mem_kind kind, const void *site) {
  DRIVER_ENTER();
  if (!out || !bytes) DRIVER_LEAVE(cudaErrorInvalidValue);
  DRIVER_LEAVE(cudart_alloc(c, bytes, kind, site, out));
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) {
  return driver_allocate(p, bytes, SIMT_MEM_DEVICE, CALL_SITE());
}
DRIVER_ALIAS(cuMemAlloc_v2, cuMemAlloc);

CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags) {
  (void)flags;
  return driver_allocate(p, bytes, SIMT_MEM_MANAGED, CALL_SITE());
}

CUresult cuMemAllocHost_v2(void **p, size_t bytes) {
  uint64_t base = 0;
  CUresult r = driver_allocate(&base, bytes, SIMT_MEM_HOST, CALL_SITE());
  if (p) *p = (void *)(uintptr_t)base;
  return r;
}
DRIVER_ALIAS(cuMemAllocHost_v2, cuMemAllocHost);

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
  (void)flags;
  return cuMemAllocHost_v2(p, bytes);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  if (!pitch || width > SIZE_MAX / 2) return cudaErrorInvalidValue;
  size_t bytes;
  *pitch = (width + 511) / 512 * 512;
  if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
  return driver_allocate(p, bytes, SIMT_MEM_DEVICE, CALL_SITE());
}
DRIVER_ALIAS(cuMemAllocPitch_v2, cuMemAllocPitch);

CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, cudaStream_t stream) {
  (void)stream;
  return driver_allocate(p, bytes, SIMT_MEM_DEVICE, CALL_SITE());
}
DRIVER_PTSZ(cuMemAllocAsync);

CUresult cuMemFree_v2(CUdeviceptr p) {
  DRIVER_ENTER();
  DRIVER_LEAVE(cudart_release(c, p, false));
}
DRIVER_ALIAS(cuMemFree_v2, cuMemFree);

CUresult cuMemFreeAsync(CUdeviceptr p, cudaStream_t stream) {
  (void)stream;
  return cuMemFree_v2(p);
}
DRIVER_PTSZ(cuMemFreeAsync);

CUresult cuMemFreeHost(void *p) {
  DRIVER_ENTER();
  DRIVER_LEAVE(cudart_release(c, (uintptr_t)p, true));
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  DRIVER_ENTER();
  if (!free_bytes || !total) DRIVER_LEAVE(cudaErrorInvalidValue);
  *total = simt_mem_capacity(c->simt);
  *free_bytes = *total - simt_mem_used(c->simt);
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuMemGetInfo_v2, cuMemGetInfo);

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p) {
  DRIVER_ENTER();
  const struct simt_alloc *a = simt_mem_find(c->simt, p);
  if (!a) DRIVER_LEAVE(cudaErrorSymbolNotFound);
  if (base) *base = a->base;
  if (bytes) *bytes = a->bytes;
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuMemGetAddressRange_v2, cuMemGetAddressRange);

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags) {
  (void)flags;
  DRIVER_ENTER();
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)host);
  if (!device || !a || a->kind != SIMT_MEM_HOST) DRIVER_LEAVE(cudaErrorInvalidValue);
  *device = (uintptr_t)host;
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer);

/* ---- address ranges: a reservation has its memory at once, and mapping adds nothing. So what is created can be mapped
 * whole and at one address, which is what programs do that let an allocation grow. ---- */

struct physical {
  size_t bytes;
  CUdeviceptr at; /* address of the first mapping; 0: none */
};
enum { GRANULARITY = 2 << 20 };

CUresult cuMemGetAllocationGranularity(size_t *bytes, const void *props, int option) {
  (void)props, (void)option;
  if (!bytes) return cudaErrorInvalidValue;
  *bytes = GRANULARITY;
  return cudaSuccess;
}

CUresult cuMemAddressReserve(CUdeviceptr *p, size_t bytes, size_t alignment, CUdeviceptr where, uint64_t flags) {
  (void)alignment, (void)where;
  if (flags || bytes % GRANULARITY) return cudaErrorInvalidValue;
  return driver_allocate(p, bytes, SIMT_MEM_DEVICE, CALL_SITE());
}

CUresult cuMemAddressFree(CUdeviceptr p, size_t bytes) {
  (void)bytes;
  return cuMemFree_v2(p);
}

CUresult cuMemCreate(uint64_t *handle, size_t bytes, const void *props, uint64_t flags) {
  DRIVER_ENTER();
  if (!handle || !props || flags || !bytes || bytes % GRANULARITY) DRIVER_LEAVE(cudaErrorInvalidValue);
  struct physical *p = ARENA_NEW(&c->arena, struct physical);
  p->bytes = bytes;
  *handle = (uintptr_t)p;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuMemRelease(uint64_t handle) {
  return handle ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult cuMemMap(CUdeviceptr p, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  DRIVER_ENTER();
  struct physical *of = (struct physical *)(uintptr_t)handle;
  if (!of || flags || !simt_mem_at(c->simt, p, bytes)) DRIVER_LEAVE(cudaErrorInvalidValue);
  if (offset || bytes != of->bytes || (of->at && of->at != p))
    DRIVER_LEAVE(cudart_why(c, cudaErrorNotSupported, "cuMemMap: memory is mapped whole and at one address only"));
  of->at = p;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuMemUnmap(CUdeviceptr p, size_t bytes) {
  DRIVER_ENTER();
  DRIVER_LEAVE(simt_mem_at(c->simt, p, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}

CUresult cuMemSetAccess(CUdeviceptr p, size_t bytes, const void *access, size_t count) {
  (void)access, (void)count;
  return cuMemUnmap(p, bytes);
}

/* Sharing with other processes. */
CUresult cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags) {
  (void)out, (void)handle, (void)type, (void)flags;
  return cudaErrorNotSupported;
}

CUresult cuMemImportFromShareableHandle(uint64_t *handle, void *in, int type) {
  (void)handle, (void)in, (void)type;
  return cudaErrorNotSupported;
}

CUresult cuMemGetAllocationPropertiesFromHandle(void *props, uint64_t handle) {
  if (!props || !handle) return cudaErrorInvalidValue;
  const int pinned_on_device[] = {1, 0, 1, 0}; /* type, handle types, location type, location */
  memset(props, 0, 32);
  memcpy(props, pinned_on_device, sizeof pinned_on_device);
  return cudaSuccess;
}

/* ---- copies and sets ---- */

static CUresult copy_linear(uint64_t dst, uint64_t src, size_t bytes, int kind, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  struct cuda_op op = {
      .kind = OP_COPY,
      .u.copy = {.src.ptr = src, .dst.ptr = dst, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind}};
  DRIVER_LEAVE((stream ? cudart_submit : cudart_submit_wait)(c, stream, &op));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes) {
  return copy_linear(dst, (uintptr_t)src, bytes, COPY_H2D, NULL);
}
DRIVER_ALIAS(cuMemcpyHtoD_v2, cuMemcpyHtoD);
DRIVER_PTDS(cuMemcpyHtoD_v2);

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes) {
  return copy_linear((uintptr_t)dst, src, bytes, COPY_D2H, NULL);
}
DRIVER_ALIAS(cuMemcpyDtoH_v2, cuMemcpyDtoH);
DRIVER_PTDS(cuMemcpyDtoH_v2);

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy_linear(dst, src, bytes, COPY_D2D, NULL);
}
DRIVER_ALIAS(cuMemcpyDtoD_v2, cuMemcpyDtoD);
DRIVER_PTDS(cuMemcpyDtoD_v2);

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy_linear(dst, src, bytes, COPY_DEFAULT, NULL);
}
DRIVER_PTDS(cuMemcpy);

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaStream_t stream) {
  return copy_linear(dst, src, bytes, COPY_DEFAULT, stream);
}
DRIVER_PTSZ(cuMemcpyAsync);

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, cudaStream_t stream) {
  return copy_linear(dst, (uintptr_t)src, bytes, COPY_H2D, stream);
}
DRIVER_ALIAS(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);
DRIVER_PTSZ(cuMemcpyHtoDAsync_v2);

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, cudaStream_t stream) {
  return copy_linear((uintptr_t)dst, src, bytes, COPY_D2H, stream);
}
DRIVER_ALIAS(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);
DRIVER_PTSZ(cuMemcpyDtoHAsync_v2);

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaStream_t stream) {
  return copy_linear(dst, src, bytes, COPY_D2D, stream);
}
DRIVER_ALIAS(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);
DRIVER_PTSZ(cuMemcpyDtoDAsync_v2);

enum { TYPE_HOST = 1, TYPE_DEVICE, TYPE_ARRAY, TYPE_UNIFIED };
struct side_2d { /* one half of CUDA_MEMCPY2D */
  size_t x, y;
  int type;
  void *host;
  uint64_t device;
  struct cuda_array *array;
  size_t pitch;
};
struct copy_2d {
  struct side_2d src, dst;
  size_t width, height;
};
struct side_3d { /* one half of CUDA_MEMCPY3D */
  size_t x, y, z, level;
  int type;
  void *host;
  uint64_t device;
  struct cuda_array *array;
  void *reserved;
  size_t pitch, height;
};
struct copy_3d {
  struct side_3d src, dst;
  size_t width, height, depth;
};

static bool side_of_3d(struct cudart *c, const struct side_3d *s, struct cuda_side *out) {
  *out = (struct cuda_side){.pitch = s->pitch, .rows = s->height, .x = s->x, .y = s->y, .z = s->z};
  if (s->type == TYPE_ARRAY) out->array = cudart_array(c, s->array);
  else out->ptr = s->type == TYPE_HOST ? (uintptr_t)s->host : s->device;
  return s->type >= TYPE_HOST && s->type <= TYPE_UNIFIED && (out->array || out->ptr);
}

static CUresult copy_box(const struct copy_3d *k, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_COPY,
                       .u.copy = {.bytes = k->width, .rows = k->height, .slices = k->depth, .kind = COPY_DEFAULT}};
  if (!side_of_3d(c, &k->src, &op.u.copy.src) || !side_of_3d(c, &k->dst, &op.u.copy.dst))
    DRIVER_LEAVE(cudaErrorInvalidValue);
  DRIVER_LEAVE((stream ? cudart_submit : cudart_submit_wait)(c, stream, &op));
}

CUresult cuMemcpy3D_v2(const struct copy_3d *k) {
  return k ? copy_box(k, NULL) : cudaErrorInvalidValue;
}
DRIVER_ALIAS(cuMemcpy3D_v2, cuMemcpy3D);

CUresult cuMemcpy3DAsync_v2(const struct copy_3d *k, cudaStream_t stream) {
  return k ? copy_box(k, stream) : cudaErrorInvalidValue;
}
DRIVER_ALIAS(cuMemcpy3DAsync_v2, cuMemcpy3DAsync);

static struct side_3d lift(const struct side_2d *s, size_t width, size_t height) {
  return (struct side_3d){.x = s->x,
                          .y = s->y,
                          .type = s->type,
                          .host = s->host,
                          .device = s->device,
                          .array = s->array,
                          .pitch = s->pitch ? s->pitch : width,
                          .height = height};
}

CUresult cuMemcpy2DAsync_v2(const struct copy_2d *k, cudaStream_t stream) {
  if (!k) return cudaErrorInvalidValue;
  struct copy_3d box = {.src = lift(&k->src, k->width, k->height),
                        .dst = lift(&k->dst, k->width, k->height),
                        .width = k->width,
                        .height = k->height,
                        .depth = 1};
  return copy_box(&box, stream);
}
DRIVER_ALIAS(cuMemcpy2DAsync_v2, cuMemcpy2DAsync);

CUresult cuMemcpy2D_v2(const struct copy_2d *k) {
  return cuMemcpy2DAsync_v2(k, NULL);
}
DRIVER_ALIAS(cuMemcpy2D_v2, cuMemcpy2D);
DRIVER_ALIAS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2);
DRIVER_ALIAS(cuMemcpy2D_v2, cuMemcpy2DUnaligned);

static CUresult set(CUdeviceptr p, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t rows,
                    cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_SET,
                       .u.set = {.ptr = p,
                                 .pitch = pitch ? pitch : width * element,
                                 .slice_rows = rows,
                                 .width = width,
                                 .rows = rows,
                                 .slices = 1,
                                 .value = value,
                                 .element = element}};
  DRIVER_LEAVE(cudart_submit(c, stream, &op));
}

#define MEMSET(bits, type)                                                                                \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr p, type value, size_t n) {                                    \
    return set(p, 0, value, (bits) / 8, n, 1, NULL);                                                      \
  }                                                                                                       \
  DRIVER_ALIAS(cuMemsetD##bits##_v2, cuMemsetD##bits);                                                    \
  DRIVER_PTDS(cuMemsetD##bits##_v2);                                                                      \
  CUresult cuMemsetD##bits##Async(CUdeviceptr p, type value, size_t n, cudaStream_t stream) {             \
    return set(p, 0, value, (bits) / 8, n, 1, stream);                                                    \
  }                                                                                                       \
  DRIVER_PTSZ(cuMemsetD##bits##Async);                                                                    \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr p, size_t pitch, type value, size_t width, size_t height) { \
    return set(p, pitch, value, (bits) / 8, width, height, NULL);                                         \
  }                                                                                                       \
  DRIVER_ALIAS(cuMemsetD2D##bits##_v2, cuMemsetD2D##bits);                                                \
  DRIVER_PTDS(cuMemsetD2D##bits##_v2)
MEMSET(8, uint8_t);
MEMSET(16, uint16_t);
MEMSET(32, uint32_t);

/* ---- arrays, textures, surfaces ---- */

struct array_2d { /* CUDA_ARRAY_DESCRIPTOR */
  size_t width, height;
  int format;
  unsigned channels;
};

bool driver_channel_desc(int format, unsigned channels, struct cudaChannelFormatDesc *d) {
  static const struct {
    int format, bits, kind;
  } formats[] = {{0x01, 8, CHANNEL_UNSIGNED}, {0x02, 16, CHANNEL_UNSIGNED}, {0x03, 32, CHANNEL_UNSIGNED},
                 {0x08, 8, CHANNEL_SIGNED},   {0x09, 16, CHANNEL_SIGNED},   {0x0a, 32, CHANNEL_SIGNED},
                 {0x10, 16, CHANNEL_FLOAT},   {0x20, 32, CHANNEL_FLOAT}};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (formats[i].format != format) continue;
    int b = formats[i].bits;
    *d = (struct cudaChannelFormatDesc){b, channels > 1 ? b : 0, channels > 2 ? b : 0, channels > 3 ? b : 0,
                                        formats[i].kind};
    return channels == 1 || channels == 2 || channels == 4;
  }
  return false;
}

static CUresult create_array(struct cuda_array **array, size_t w, size_t h, size_t depth, int format, unsigned channels,
                             unsigned flags) {
  DRIVER_ENTER();
  struct cudaChannelFormatDesc d;
  if (!array || !driver_channel_desc(format, channels, &d)) DRIVER_LEAVE(cudaErrorInvalidValue);
  DRIVER_LEAVE(cudart_array_new(c, &d, w, h, depth, flags, array));
}

CUresult cuArrayCreate_v2(struct cuda_array **array, const struct array_2d *d) {
  return d ? create_array(array, d->width, d->height, 0, d->format, d->channels, 0) : cudaErrorInvalidValue;
}
DRIVER_ALIAS(cuArrayCreate_v2, cuArrayCreate);

CUresult cuArray3DCreate_v2(struct cuda_array **array, const struct driver_array_3d *d) {
  return d ? create_array(array, d->width, d->height, d->depth, d->format, d->channels, d->flags)
           : cudaErrorInvalidValue;
}
DRIVER_ALIAS(cuArray3DCreate_v2, cuArray3DCreate);

CUresult cuArrayDestroy(struct cuda_array *array) {
  DRIVER_ENTER();
  DRIVER_LEAVE(cudart_array_free(c, array));
}

struct resource { /* CUDA_RESOURCE_DESC */
  int type;
  union {
    struct cuda_array *array;
    struct {
      uint64_t ptr;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      uint64_t ptr;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } u;
  unsigned flags;
};
struct sampling { /* CUDA_TEXTURE_DESC */
  int address[3], filter;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float bias, min_level, max_level, border[4];
};
enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2 };

static bool resource_of(struct cudart *c, const struct resource *d, struct cuda_resource *r) {
  *r = (struct cuda_resource){0};
  if (d->type == RESOURCE_ARRAY) {
    r->array = cudart_array(c, d->u.array);
    return r->array != NULL;
  }
  if (d->type == RESOURCE_LINEAR && driver_channel_desc(d->u.linear.format, d->u.linear.channels, &r->desc)) {
    r->ptr = d->u.linear.ptr;
    r->width = d->u.linear.bytes / ((size_t)r->desc.x / 8 * d->u.linear.channels);
    return true;
  }
  if (d->type == RESOURCE_PITCH2D && driver_channel_desc(d->u.pitched.format, d->u.pitched.channels, &r->desc)) {
    r->ptr = d->u.pitched.ptr;
    r->width = d->u.pitched.width;
    r->height = d->u.pitched.height;
    r->pitch = d->u.pitched.pitch;
    return true;
  }
  return false;
}

CUresult cuTexObjectCreate(uint64_t *object, const struct resource *resource, const struct sampling *s,
                           const void *view) {
  DRIVER_ENTER();
  struct cuda_resource r;
  if (!object || !resource || !s || view || !resource_of(c, resource, &r)) DRIVER_LEAVE(cudaErrorInvalidValue);
  int format = r.array ? r.array->desc.f : r.desc.f, bits = r.array ? r.array->desc.x : r.desc.x;
  bool normalized = format != CHANNEL_FLOAT && bits < 32 && !(s->flags & READ_AS_INTEGER);
  struct cudaTextureDesc d = {
      .filterMode = s->filter, .readMode = normalized, .normalizedCoords = (s->flags & NORMALIZED_COORDINATES) != 0};
  memcpy(d.addressMode, s->address, sizeof d.addressMode);
  memcpy(d.borderColor, s->border, sizeof d.borderColor);
  DRIVER_LEAVE(texture_new(c, &r, resource->type, &d, false, object));
}

CUresult cuTexObjectDestroy(uint64_t object) {
  DRIVER_ENTER();
  DRIVER_LEAVE(texture_free(c, object, false));
}

CUresult cuSurfObjectCreate(uint64_t *object, const struct resource *resource) {
  DRIVER_ENTER();
  struct cuda_resource r;
  if (!object || !resource || resource->type != RESOURCE_ARRAY || !resource_of(c, resource, &r))
    DRIVER_LEAVE(cudaErrorInvalidValue);
  DRIVER_LEAVE(texture_new(c, &r, RESOURCE_ARRAY, NULL, true, object));
}

CUresult cuSurfObjectDestroy(uint64_t object) {
  DRIVER_ENTER();
  DRIVER_LEAVE(texture_free(c, object, true));
}

/* ---- streams and events ---- */

CUresult cuStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  DRIVER_ENTER_ASYNC();
  if (!stream || flags > STREAM_NON_BLOCKING) DRIVER_LEAVE(cudaErrorInvalidValue);
  struct cuda_stream *s = mem_zeroed(1, sizeof *s);
  *s = (struct cuda_stream){.flags = flags, .priority = priority, .id = ++c->next_id};
  ptrmap_put(&c->streams, (uintptr_t)s, s);
  c->lazy = true;
  *stream = s;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuStreamCreate(cudaStream_t *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  struct cuda_stream *s = ptrmap_remove(&c->streams, (uintptr_t)stream);
  bool known = s != NULL;
  if (known) cudart_forget_stream(c, s);
  free(s);
  DRIVER_LEAVE(known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
DRIVER_ALIAS(cuStreamDestroy_v2, cuStreamDestroy);

CUresult cuStreamSynchronize(cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_stream_wait(c, stream, false));
}
DRIVER_PTSZ(cuStreamSynchronize);

CUresult cuStreamQuery(cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_stream_wait(c, stream, true));
}
DRIVER_PTSZ(cuStreamQuery);

CUresult cuStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)flags;
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_stream_wait_event(c, stream, event));
}
DRIVER_PTSZ(cuStreamWaitEvent);

CUresult cuLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data) {
  DRIVER_ENTER_ASYNC();
  if (!fn) DRIVER_LEAVE(cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_HOST, .u.host = {.fn = fn, .data = data}};
  DRIVER_LEAVE(cudart_submit(c, stream, &op));
}
DRIVER_PTSZ(cuLaunchHostFunc);

CUresult cuEventCreate(cudaEvent_t *event, unsigned flags) {
  DRIVER_ENTER_ASYNC();
  if (!event) DRIVER_LEAVE(cudaErrorInvalidValue);
  struct cuda_event *e = mem_zeroed(1, sizeof *e);
  e->flags = flags;
  ptrmap_put(&c->events, (uintptr_t)e, e);
  *event = e;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuEventDestroy_v2(cudaEvent_t event) {
  DRIVER_ENTER_ASYNC();
  struct cuda_event *e = ptrmap_remove(&c->events, (uintptr_t)event);
  bool known = e != NULL;
  cudart_event_free(e);
  DRIVER_LEAVE(known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
DRIVER_ALIAS(cuEventDestroy_v2, cuEventDestroy);

CUresult cuEventRecord(cudaEvent_t event, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_RECORD, .u.event = cudart_event(c, event)};
  DRIVER_LEAVE(op.u.event ? cudart_submit(c, stream, &op) : cudaErrorInvalidResourceHandle);
}
DRIVER_PTSZ(cuEventRecord);

CUresult cuEventSynchronize(cudaEvent_t event) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_event_wait(c, event, false));
}

CUresult cuEventQuery(cudaEvent_t event) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_event_wait(c, event, true));
}

CUresult cuEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(cudart_elapsed(c, ms, start, end));
}
DRIVER_V2(cuEventElapsedTime);

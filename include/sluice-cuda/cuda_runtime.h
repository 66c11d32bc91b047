/* Sluice's CUDA header: the declarations for compiling a CUDA C program with clang and without NVIDIA software.
 *
 * tools/sluice-cc includes it ahead of every source, as nvcc does with its own. It adds to the C interface the C++
 * forms (typed allocation, symbols, kernels as function arguments), channel descriptions and texture fetches. */
#ifndef SLUICE_CUDA_RUNTIME_H
#define SLUICE_CUDA_RUNTIME_H

#ifndef __CUDA__
#error "cuda_runtime.h is for CUDA sources: compile with tools/sluice-cc"
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include "host_defines.h"
#include "vector_types.h"
#include <__clang_cuda_builtin_vars.h>
#include "device_functions.h"
#include "math_functions.h"
#include "cuda_runtime_api.h"

/* clang's threadIdx and friends convert to these. */
__attribute__((device)) inline __cuda_builtin_threadIdx_t::operator dim3() const {
  return dim3(x, y, z);
}
__attribute__((device)) inline __cuda_builtin_threadIdx_t::operator uint3() const {
  return uint3{x, y, z};
}
__attribute__((device)) inline __cuda_builtin_blockIdx_t::operator dim3() const {
  return dim3(x, y, z);
}
__attribute__((device)) inline __cuda_builtin_blockIdx_t::operator uint3() const {
  return uint3{x, y, z};
}
__attribute__((device)) inline __cuda_builtin_blockDim_t::operator dim3() const {
  return dim3(x, y, z);
}
__attribute__((device)) inline __cuda_builtin_blockDim_t::operator uint3() const {
  return uint3{x, y, z};
}
__attribute__((device)) inline __cuda_builtin_gridDim_t::operator dim3() const {
  return dim3(x, y, z);
}
__attribute__((device)) inline __cuda_builtin_gridDim_t::operator uint3() const {
  return uint3{x, y, z};
}

/* ---- typed forms of the runtime interface ---- */
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes) {
  return cudaMalloc((void **)p, bytes);
}
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned int = 0) {
  return cudaMallocHost((void **)p, bytes);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned int flags) {
  return cudaHostAlloc((void **)p, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void **)p, bytes, flags);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) {
  return cudaMallocPitch((void **)p, pitch, width, height);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
  return cudaHostGetDevicePointer((void **)device, host, flags);
}
static inline cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                                          size_t height = 0) {
  return cudaMallocArray(array, desc, width, height, 0u);
}
static inline cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind) {
  return cudaMemcpyAsync(dst, src, bytes, kind, (cudaStream_t)0);
}
static inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes) {
  return cudaMemsetAsync(p, value, bytes, (cudaStream_t)0);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event) {
  return cudaEventRecord(event, (cudaStream_t)0);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  return cudaStreamWaitEvent(stream, event, 0u);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void *)&symbol, src, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes, size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(dst, (const void *)&symbol, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes, size_t offset,
                                                  enum cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync((const void *)&symbol, src, bytes, offset, kind, stream);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) {
  return cudaGetSymbolAddress(p, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
  return cudaGetSymbolSize(bytes, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func) {
  return cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value) {
  return cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache config) {
  return cudaFuncSetCacheConfig((const void *)func, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *func, int threads,
                                                                        size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, threads, shared);
}
template <class T>
static inline cudaError_t cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                           cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}
static inline struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  return cudaExtent{w, h, d};
}
static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  return cudaPos{x, y, z};
}
static inline struct cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t xsize, size_t ysize) {
  return cudaPitchedPtr{p, pitch, xsize, ysize};
}

/* ---- channel descriptions ---- */
static inline struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                 enum cudaChannelFormatKind f) {
  return cudaChannelFormatDesc{x, y, z, w, f};
}
template <class T> static inline struct cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define SL_CHANNEL(T, b, kind)                                                 \
  template <> inline struct cudaChannelFormatDesc cudaCreateChannelDesc<T>() { \
    return cudaCreateChannelDesc(b, 0, 0, 0, cudaChannelFormatKind##kind);     \
  }
#define SL_CHANNELS(T, V, b, kind)                                                  \
  SL_CHANNEL(T, b, kind)                                                            \
  SL_CHANNEL(V##1, b, kind)                                                         \
  template <> inline struct cudaChannelFormatDesc cudaCreateChannelDesc<V##2>() {   \
    return cudaCreateChannelDesc(b, b, 0, 0, cudaChannelFormatKind##kind);          \
  } template <> inline struct cudaChannelFormatDesc cudaCreateChannelDesc<V##4>() { \
    return cudaCreateChannelDesc(b, b, b, b, cudaChannelFormatKind##kind);          \
  }
SL_CHANNELS(signed char, char, 8, Signed)
SL_CHANNEL(char, 8, Signed)
SL_CHANNELS(unsigned char, uchar, 8, Unsigned)
SL_CHANNELS(short, short, 16, Signed)
SL_CHANNELS(unsigned short, ushort, 16, Unsigned)
SL_CHANNELS(int, int, 32, Signed)
SL_CHANNELS(unsigned int, uint, 32, Unsigned)
SL_CHANNELS(float, float, 32, Float)
#undef SL_CHANNEL
#undef SL_CHANNELS

#include "texture_fetch.h"

#endif

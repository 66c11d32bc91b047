/* Texture references and texture fetches.
 *
 * clang ships the PTX of every fetch (__clang_cuda_texture_intrinsics.h); this header has the types it wants and the
 * fetch functions of the programming guide in terms of it. */
#ifndef SLUICE_CUDA_TEXTURE_FETCH_H
#define SLUICE_CUDA_TEXTURE_FETCH_H

#include "cuda_runtime_api.h"

#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

template <class T, int dim = 1, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  texture(int norm = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
          enum cudaTextureAddressMode address = cudaAddressModeClamp)
      : textureReference() {
    normalized = norm;
    filterMode = filter;
    for (int i = 0; i < 3; i++) addressMode[i] = address;
    channelDesc = cudaCreateChannelDesc<T>();
  }
};

#include <__clang_cuda_texture_intrinsics.h>

template <class T> struct sl_norm { typedef float type; };
#define SL_NORM(V)                                           \
  template <> struct sl_norm<V##2> { typedef float2 type; }; \
  template <> struct sl_norm<V##4> { typedef float4 type; };
SL_NORM(char)
SL_NORM(uchar)
SL_NORM(short)
SL_NORM(ushort)
#undef SL_NORM

/* `name` by object and by reference; PARAMS and ARGS are the coordinates with and without types. */
#define SL_TEX(name, op, dim, PARAMS, ARGS)                                                                \
  template <class T> SL_DEV T name(cudaTextureObject_t t, SL_STRIP PARAMS) {                               \
    T v;                                                                                                   \
    __nv_tex_surf_handler("__i" op, &v, t, SL_STRIP ARGS);                                                 \
    return v;                                                                                              \
  }                                                                                                        \
  template <class T> SL_DEV T name(texture<T, dim, cudaReadModeElementType> t, SL_STRIP PARAMS) {          \
    T v, *type = 0;                                                                                        \
    __nv_tex_surf_handler("__" op "_v2", type, &v, t, SL_STRIP ARGS);                                      \
    return v;                                                                                              \
  }                                                                                                        \
  template <class T>                                                                                       \
  SL_DEV typename sl_norm<T>::type name(texture<T, dim, cudaReadModeNormalizedFloat> t, SL_STRIP PARAMS) { \
    typename sl_norm<T>::type v;                                                                           \
    T *type = 0;                                                                                           \
    __nv_tex_surf_handler("__" op "_rmnf_v2", type, &v, t, SL_STRIP ARGS);                                 \
    return v;                                                                                              \
  }
#define SL_STRIP(...) __VA_ARGS__
SL_TEX(tex1Dfetch, "tex1Dfetch", 1, (int x), (x))
SL_TEX(tex1D, "tex1D", 1, (float x), (x))
SL_TEX(tex2D, "tex2D", 2, (float x, float y), (x, y))
SL_TEX(tex3D, "tex3D", 3, (float x, float y, float z), (x, y, z))
#undef SL_TEX

/* ---- binding, by type of the reference ---- */
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &t, const void *p,
                                          const struct cudaChannelFormatDesc &desc, size_t bytes = ~0u) {
  return cudaBindTexture(offset, (const textureReference *)&t, p, &desc, bytes);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &t, const void *p,
                                          size_t bytes = ~0u) {
  return cudaBindTexture(offset, t, p, cudaCreateChannelDesc<T>(), bytes);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &t, const void *p,
                                            const struct cudaChannelFormatDesc &desc, size_t w, size_t h,
                                            size_t pitch) {
  return cudaBindTexture2D(offset, (const textureReference *)&t, p, &desc, w, h, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &t, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc &desc) {
  return cudaBindTextureToArray((const textureReference *)&t, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &t, cudaArray_const_t array) {
  struct cudaChannelFormatDesc desc;
  cudaError_t e = cudaGetChannelDesc(&desc, array);
  return e ? e : cudaBindTextureToArray(t, array, desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, dim, mode> &t) {
  return cudaUnbindTexture((const textureReference *)&t);
}

#endif

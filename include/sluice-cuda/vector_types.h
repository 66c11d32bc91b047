/* Built-in vector types, dim3, and the make_* functions (CUDA C++ Programming Guide, "Built-in Vector Types"). */
#ifndef SLUICE_CUDA_VECTOR_TYPES_H
#define SLUICE_CUDA_VECTOR_TYPES_H

#include "host_defines.h"

/* Alignments are part of the ABI between host and device: two- and four-element types are aligned to their size, at
 * most 16 bytes; three-element types to their element. */
#define SL_VEC(T, name, a2, a4)                                                  \
  struct name##1 {                                                               \
    T x;                                                                         \
  };                                                                             \
  struct __attribute__((aligned(a2))) name##2 {                                  \
    T x, y;                                                                      \
  };                                                                             \
  struct name##3 {                                                               \
    T x, y, z;                                                                   \
  };                                                                             \
  struct __attribute__((aligned(a4))) name##4 {                                  \
    T x, y, z, w;                                                                \
  };                                                                             \
  static inline __host__ __device__ name##1 make_##name##1(T x) {                \
    return name##1 {x};                                                          \
  }                                                                              \
  static inline __host__ __device__ name##2 make_##name##2(T x, T y) {           \
    return name##2 {x, y};                                                       \
  }                                                                              \
  static inline __host__ __device__ name##3 make_##name##3(T x, T y, T z) {      \
    return name##3 {x, y, z};                                                    \
  }                                                                              \
  static inline __host__ __device__ name##4 make_##name##4(T x, T y, T z, T w) { \
    return name##4 {x, y, z, w};                                                 \
  }

SL_VEC(signed char, char, 2, 4)
SL_VEC(unsigned char, uchar, 2, 4)
SL_VEC(short, short, 4, 8)
SL_VEC(unsigned short, ushort, 4, 8)
SL_VEC(int, int, 8, 16)
SL_VEC(unsigned int, uint, 8, 16)
SL_VEC(long, long, 16, 16)
SL_VEC(unsigned long, ulong, 16, 16)
SL_VEC(long long, longlong, 16, 16)
SL_VEC(unsigned long long, ulonglong, 16, 16)
SL_VEC(float, float, 8, 16)
SL_VEC(double, double, 16, 16)
#undef SL_VEC

struct dim3 {
  unsigned int x, y, z;
  constexpr __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {
  }
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
  }
  constexpr __host__ __device__ operator uint3() const {
    return uint3{x, y, z};
  }
};

#endif

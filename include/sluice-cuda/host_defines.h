/* Qualifiers of CUDA C as clang attributes.
 *
 * Part of Sluice's own CUDA header: with it, clang from Debian compiles CUDA C without any NVIDIA software. The names
 * are those of the CUDA C++ Programming Guide; everything here is written from that guide. */
#ifndef SLUICE_CUDA_HOST_DEFINES_H
#define SLUICE_CUDA_HOST_DEFINES_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
/* Managed variables need host and device to share one address, which a launch-time copy cannot give: not offered. */
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __CUDACC__ 1
#define CUDART_CB

#endif

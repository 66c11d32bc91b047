/* Device intrinsics: barriers, atomics, warp votes and shuffles, bit and integer operations, cached loads, clocks.
 *
 * Each is one PTX instruction, through clang's __nvvm builtins where they exist and inline PTX where they do not. The
 * host pass of clang parses kernel bodies too, so nothing here depends on __CUDA_ARCH__ unless the target decides. */
#ifndef SLUICE_CUDA_DEVICE_FUNCTIONS_H
#define SLUICE_CUDA_DEVICE_FUNCTIONS_H

#include "vector_types.h"

#define SL_DEV static __device__ inline __attribute__((always_inline, unused))
typedef unsigned int sl_uint;
typedef unsigned long long sl_ull;
typedef long long sl_ll;

/* ---- reinterpreting and converting ---- */
SL_DEV int __float_as_int(float v) {
  return __builtin_bit_cast(int, v);
}
SL_DEV sl_uint __float_as_uint(float v) {
  return __builtin_bit_cast(sl_uint, v);
}
SL_DEV float __int_as_float(int v) {
  return __builtin_bit_cast(float, v);
}
SL_DEV float __uint_as_float(sl_uint v) {
  return __builtin_bit_cast(float, v);
}
SL_DEV sl_ll __double_as_longlong(double v) {
  return __builtin_bit_cast(sl_ll, v);
}
SL_DEV double __longlong_as_double(sl_ll v) {
  return __builtin_bit_cast(double, v);
}
SL_DEV int __double2hiint(double v) {
  return (int)(__double_as_longlong(v) >> 32);
}
SL_DEV int __double2loint(double v) {
  return (int)__double_as_longlong(v);
}
SL_DEV double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((sl_ll)hi << 32 | (sl_uint)lo);
}
#define SL_CVT(To, name, From, ptx, r, f)         \
  SL_DEV To name(From v) {                        \
    To d;                                         \
    asm("cvt." ptx " %0, %1;" : "=" r(d) : f(v)); \
    return d;                                     \
  }
SL_CVT(int, __float2int_rn, float, "rni.s32.f32", "r", "f")
SL_CVT(int, __float2int_rz, float, "rzi.s32.f32", "r", "f")
SL_CVT(int, __float2int_rd, float, "rmi.s32.f32", "r", "f")
SL_CVT(int, __float2int_ru, float, "rpi.s32.f32", "r", "f")
SL_CVT(sl_uint, __float2uint_rn, float, "rni.u32.f32", "r", "f")
SL_CVT(sl_uint, __float2uint_rz, float, "rzi.u32.f32", "r", "f")
SL_CVT(int, __double2int_rn, double, "rni.s32.f64", "r", "d")
SL_CVT(int, __double2int_rz, double, "rzi.s32.f64", "r", "d")
SL_CVT(float, __double2float_rn, double, "rn.f32.f64", "f", "d")
SL_CVT(float, __int2float_rn, int, "rn.f32.s32", "f", "r")
SL_CVT(float, __uint2float_rn, sl_uint, "rn.f32.u32", "f", "r")
SL_CVT(double, __int2double_rn, int, "rn.f64.s32", "d", "r")
#undef SL_CVT

/* ---- barriers and fences; __syncthreads() is a builtin of clang ---- */
SL_DEV int __syncthreads_or(int p) {
  return __nvvm_bar0_or(p);
}
SL_DEV int __syncthreads_and(int p) {
  return __nvvm_bar0_and(p);
}
SL_DEV int __syncthreads_count(int p) {
  return __nvvm_bar0_popc(p);
}
SL_DEV void __syncwarp(sl_uint mask = 0xffffffffu) {
  __nvvm_bar_warp_sync(mask);
}
SL_DEV void __threadfence() {
  __nvvm_membar_gl();
}
SL_DEV void __threadfence_block() {
  __nvvm_membar_cta();
}
SL_DEV void __threadfence_system() {
  __nvvm_membar_sys();
}

/* ---- atomics ---- */
#define SL_ATOM(fn, T, bi) \
  SL_DEV T fn(T *p, T v) { \
    return (T)bi;          \
  }
SL_ATOM(atomicAdd, int, __nvvm_atom_add_gen_i(p, v))
SL_ATOM(atomicAdd, sl_uint, __nvvm_atom_add_gen_i((int *)p, (int)v))
SL_ATOM(atomicAdd, sl_ull, __nvvm_atom_add_gen_ll((sl_ll *)p, (sl_ll)v))
SL_ATOM(atomicAdd, float, __nvvm_atom_add_gen_f(p, v))
SL_ATOM(atomicSub, int, __nvvm_atom_add_gen_i(p, -v))
SL_ATOM(atomicSub, sl_uint, __nvvm_atom_add_gen_i((int *)p, (int)(0u - v)))
SL_ATOM(atomicExch, int, __nvvm_atom_xchg_gen_i(p, v))
SL_ATOM(atomicExch, sl_uint, __nvvm_atom_xchg_gen_i((int *)p, (int)v))
SL_ATOM(atomicExch, sl_ull, __nvvm_atom_xchg_gen_ll((sl_ll *)p, (sl_ll)v))
SL_ATOM(atomicExch, float, __int_as_float(__nvvm_atom_xchg_gen_i((int *)p, __float_as_int(v))))
SL_ATOM(atomicMin, int, __nvvm_atom_min_gen_i(p, v))
SL_ATOM(atomicMin, sl_uint, __nvvm_atom_min_gen_ui(p, v))
SL_ATOM(atomicMin, sl_ll, __nvvm_atom_min_gen_ll(p, v))
SL_ATOM(atomicMin, sl_ull, __nvvm_atom_min_gen_ull(p, v))
SL_ATOM(atomicMax, int, __nvvm_atom_max_gen_i(p, v))
SL_ATOM(atomicMax, sl_uint, __nvvm_atom_max_gen_ui(p, v))
SL_ATOM(atomicMax, sl_ll, __nvvm_atom_max_gen_ll(p, v))
SL_ATOM(atomicMax, sl_ull, __nvvm_atom_max_gen_ull(p, v))
SL_ATOM(atomicAnd, int, __nvvm_atom_and_gen_i(p, v))
SL_ATOM(atomicAnd, sl_uint, __nvvm_atom_and_gen_i((int *)p, (int)v))
SL_ATOM(atomicAnd, sl_ull, __nvvm_atom_and_gen_ll((sl_ll *)p, (sl_ll)v))
SL_ATOM(atomicOr, int, __nvvm_atom_or_gen_i(p, v))
SL_ATOM(atomicOr, sl_uint, __nvvm_atom_or_gen_i((int *)p, (int)v))
SL_ATOM(atomicOr, sl_ull, __nvvm_atom_or_gen_ll((sl_ll *)p, (sl_ll)v))
SL_ATOM(atomicXor, int, __nvvm_atom_xor_gen_i(p, v))
SL_ATOM(atomicXor, sl_uint, __nvvm_atom_xor_gen_i((int *)p, (int)v))
SL_ATOM(atomicXor, sl_ull, __nvvm_atom_xor_gen_ll((sl_ll *)p, (sl_ll)v))
SL_ATOM(atomicInc, sl_uint, __nvvm_atom_inc_gen_ui(p, v))
SL_ATOM(atomicDec, sl_uint, __nvvm_atom_dec_gen_ui(p, v))
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
SL_DEV double atomicAdd(double *p, double v) {
  double old;
  asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(p), "d"(v) : "memory");
  return old;
}
#endif
#undef SL_ATOM
SL_DEV int atomicCAS(int *p, int compare, int v) {
  return __nvvm_atom_cas_gen_i(p, compare, v);
}
SL_DEV sl_uint atomicCAS(sl_uint *p, sl_uint compare, sl_uint v) {
  return (sl_uint)__nvvm_atom_cas_gen_i((int *)p, (int)compare, (int)v);
}
SL_DEV sl_ull atomicCAS(sl_ull *p, sl_ull compare, sl_ull v) {
  return (sl_ull)__nvvm_atom_cas_gen_ll((sl_ll *)p, (sl_ll)compare, (sl_ll)v);
}

/* ---- votes and shuffles ---- */
SL_DEV int __any_sync(sl_uint mask, int p) {
  return __nvvm_vote_any_sync(mask, p);
}
SL_DEV int __all_sync(sl_uint mask, int p) {
  return __nvvm_vote_all_sync(mask, p);
}
SL_DEV sl_uint __ballot_sync(sl_uint mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p);
}
SL_DEV sl_uint __activemask() {
  sl_uint m;
  asm volatile("vote.ballot.b32 %0, 1;" : "=r"(m)); /* activemask.b32 needs a newer PTX version than clang 14 writes */
  return m;
}
/* The last operand packs the segment mask (bits 8-12) and the clamp (bits 0-4), see shfl.sync in the PTX manual. */
#define SL_SHFL(name, bi, clamp)                                                                  \
  SL_DEV int name(sl_uint mask, int v, int a, int width = 32) {                                   \
    return bi##i32(mask, v, a, ((32 - width) << 8) | (clamp));                                    \
  }                                                                                               \
  SL_DEV sl_uint name(sl_uint mask, sl_uint v, int a, int width = 32) {                           \
    return (sl_uint)name(mask, (int)v, a, width);                                                 \
  }                                                                                               \
  SL_DEV float name(sl_uint mask, float v, int a, int width = 32) {                               \
    return bi##f32(mask, v, a, ((32 - width) << 8) | (clamp));                                    \
  }                                                                                               \
  SL_DEV sl_ull name(sl_uint mask, sl_ull v, int a, int width = 32) {                             \
    sl_uint lo = name(mask, (sl_uint)v, a, width), hi = name(mask, (sl_uint)(v >> 32), a, width); \
    return (sl_ull)hi << 32 | lo;                                                                 \
  }                                                                                               \
  SL_DEV sl_ll name(sl_uint mask, sl_ll v, int a, int width = 32) {                               \
    return (sl_ll)name(mask, (sl_ull)v, a, width);                                                \
  }                                                                                               \
  SL_DEV double name(sl_uint mask, double v, int a, int width = 32) {                             \
    return __longlong_as_double(name(mask, __double_as_longlong(v), a, width));                   \
  }
SL_SHFL(__shfl_sync, __nvvm_shfl_sync_idx_, 0x1f)
SL_SHFL(__shfl_up_sync, __nvvm_shfl_sync_up_, 0)
SL_SHFL(__shfl_down_sync, __nvvm_shfl_sync_down_, 0x1f)
SL_SHFL(__shfl_xor_sync, __nvvm_shfl_sync_bfly_, 0x1f)
#undef SL_SHFL
#define __shfl(...) __shfl_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(0xffffffffu, __VA_ARGS__)
#define __any(p) __any_sync(0xffffffffu, p)
#define __all(p) __all_sync(0xffffffffu, p)
#define __ballot(p) __ballot_sync(0xffffffffu, p)

/* ---- bits and integers ---- */
SL_DEV int __popc(sl_uint v) {
  return __builtin_popcount(v);
}
SL_DEV int __popcll(sl_ull v) {
  return __builtin_popcountll(v);
}
SL_DEV int __clz(int v) {
  return v ? __builtin_clz((sl_uint)v) : 32;
}
SL_DEV int __clzll(sl_ll v) {
  return v ? __builtin_clzll((sl_ull)v) : 64;
}
SL_DEV int __ffs(int v) {
  return v ? __builtin_ctz((sl_uint)v) + 1 : 0;
}
SL_DEV int __ffsll(sl_ll v) {
  return v ? __builtin_ctzll((sl_ull)v) + 1 : 0;
}
SL_DEV sl_uint __brev(sl_uint v) {
  return __builtin_bitreverse32(v);
}
SL_DEV sl_ull __brevll(sl_ull v) {
  return __builtin_bitreverse64(v);
}
SL_DEV sl_uint __byte_perm(sl_uint a, sl_uint b, sl_uint s) {
  sl_uint d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
  return d;
}
SL_DEV int __mulhi(int a, int b) {
  return (int)(((sl_ll)a * b) >> 32);
}
SL_DEV sl_uint __umulhi(sl_uint a, sl_uint b) {
  return (sl_uint)(((sl_ull)a * b) >> 32);
}
SL_DEV sl_ull __umul64hi(sl_ull a, sl_ull b) {
  return (sl_ull)(((unsigned __int128)a * b) >> 64);
}
SL_DEV int __mul24(int a, int b) {
  return __nvvm_mul24_i(a, b);
}
SL_DEV sl_uint __umul24(sl_uint a, sl_uint b) {
  return __nvvm_mul24_ui(a, b);
}
SL_DEV sl_uint __sad(int a, int b, sl_uint c) {
  sl_uint d;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
SL_DEV sl_uint __usad(sl_uint a, sl_uint b, sl_uint c) {
  sl_uint d;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
SL_DEV sl_uint __funnelshift_l(sl_uint lo, sl_uint hi, sl_uint n) {
  sl_uint d;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lo), "r"(hi), "r"(n));
  return d;
}
SL_DEV sl_uint __funnelshift_r(sl_uint lo, sl_uint hi, sl_uint n) {
  sl_uint d;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lo), "r"(hi), "r"(n));
  return d;
}

/* ---- loads through the read-only path ---- */
#define SL_LDG(T, ptx, r)                                      \
  SL_DEV T __ldg(const T *p) {                                 \
    T v;                                                       \
    asm("ld.global.nc." ptx " %0, [%1];" : "=" r(v) : "l"(p)); \
    return v;                                                  \
  }
#define SL_LDG2(T, ptx, r)                                                            \
  SL_DEV T __ldg(const T *p) {                                                        \
    T v;                                                                              \
    asm("ld.global.nc.v2." ptx " {%0, %1}, [%2];" : "=" r(v.x), "=" r(v.y) : "l"(p)); \
    return v;                                                                         \
  }
#define SL_LDG4(T, ptx, r)                                                                                            \
  SL_DEV T __ldg(const T *p) {                                                                                        \
    T v;                                                                                                              \
    asm("ld.global.nc.v4." ptx " {%0, %1, %2, %3}, [%4];" : "=" r(v.x), "=" r(v.y), "=" r(v.z), "=" r(v.w) : "l"(p)); \
    return v;                                                                                                         \
  }
SL_LDG(int, "s32", "r")
SL_LDG(sl_uint, "u32", "r")
SL_LDG(sl_ll, "s64", "l")
SL_LDG(sl_ull, "u64", "l")
SL_LDG(float, "f32", "f")
SL_LDG(double, "f64", "d")
SL_LDG2(int2, "s32", "r")
SL_LDG2(uint2, "u32", "r")
SL_LDG2(float2, "f32", "f")
SL_LDG2(double2, "f64", "d")
SL_LDG4(int4, "s32", "r")
SL_LDG4(uint4, "u32", "r")
SL_LDG4(float4, "f32", "f")
#undef SL_LDG
#undef SL_LDG2
#undef SL_LDG4
SL_DEV unsigned char __ldg(const unsigned char *p) {
  sl_uint v;
  asm("ld.global.nc.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return (unsigned char)v;
}

/* ---- time and failure ---- */
SL_DEV sl_ll clock64() {
  return __nvvm_read_ptx_sreg_clock64();
}
SL_DEV int clock() {
  return __nvvm_read_ptx_sreg_clock();
}
SL_DEV void __trap() {
  asm volatile("trap;");
}

/* System calls that the driver provides to every kernel; clang turns printf() into vprintf(). */
extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ int printf(const char *, ...);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function,
                             size_t charSize);
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line,
                                            const char *function) {
  __assertfail(message, file, line, function, sizeof(char));
}
}

#endif

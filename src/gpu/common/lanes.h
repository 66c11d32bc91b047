/* lanes.h - vectors of four 32-bit numbers: a time or a set of units for each of four.
 *
 * One vector instruction without branches compares all four and finds the least. The generic form compiles everywhere;
 * x86-64 has better minimum and maximum instructions.
 */
#ifndef GPU_COMMON_LANES_H
#define GPU_COMMON_LANES_H

#include <stdint.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

typedef int32_t lanes __attribute__((vector_size(16)));

static inline lanes lanes_all(int32_t x) {
  return (lanes){x, x, x, x};
}
static inline lanes lanes_most(lanes a, lanes b) {
#ifdef __SSE4_1__
  return (lanes)_mm_max_epi32((__m128i)a, (__m128i)b);
#else
  lanes m = a > b;
  return (a & m) | (b & ~m);
#endif
}
static inline lanes lanes_least(lanes a, lanes b) {
#ifdef __SSE4_1__
  return (lanes)_mm_min_epi32((__m128i)a, (__m128i)b);
#else
  lanes m = a < b;
  return (a & m) | (b & ~m);
#endif
}
static inline lanes lanes_choose(lanes mask, lanes yes, lanes no) {
  return (yes & mask) | (no & ~mask);
}
/* The least of the four. */
static inline int32_t lanes_first(lanes v) {
  v = lanes_least(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
  v = lanes_least(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
  return v[0];
}

#endif

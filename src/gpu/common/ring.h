/* ring.h - remainders and quotients of the cycle loop.
 *
 * A division by a variable costs as much as ten other instructions; together they took a few per cent of a
 * simulation's time.
 */
#ifndef GPU_COMMON_RING_H
#define GPU_COMMON_RING_H

#include <stdint.h>

static inline uint32_t ring_at(uint32_t i, uint32_t size) { /* i < 2 * size */
  return i >= size ? i - size : i;
}
static inline uint32_t modulo(uint32_t x, uint32_t n) { /* n is usually a power of two */
  return n & (n - 1) ? x % n : x & (n - 1);
}
static inline uint32_t quotient_up(uint32_t x, uint32_t n) {
  return n & (n - 1) ? (x + n - 1) / n : (x + n - 1) >> __builtin_ctz(n);
}

#endif

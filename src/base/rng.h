/* rng.h - the one seeded generator (xorshift64*, Vigna 2016). No rand(), no clock anywhere else. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
  uint64_t s;
};

static inline struct rng rng_seed(uint64_t seed) {
  return (struct rng){.s = (seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u) | 1};
}
static inline uint64_t rng_next(struct rng *r) {
  r->s ^= r->s >> 12;
  r->s ^= r->s << 25;
  r->s ^= r->s >> 27;
  return r->s * 0x2545F4914F6CDD1Du;
}
/* Uniform in [0, n), n > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n) {
  return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

#endif

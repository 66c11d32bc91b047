/* exec.h - how operations read and write registers. An operation works on the lanes of `mask` one after the other. */
#ifndef BENCH_SASS_EXEC_H
#define BENCH_SASS_EXEC_H

#include <math.h>
#include <string.h>

#include "sass.h"

#define EACH_LANE(s, lane) \
  for (uint32_t rest_ = (s)->mask, lane = 0; rest_ && (lane = (uint32_t)__builtin_ctz(rest_), 1); rest_ &= rest_ - 1)

static inline uint32_t reg_of(const struct warp *w, unsigned reg, unsigned lane) {
  return reg == RZ ? 0 : w->r[reg][lane];
}

static inline void put(struct step *s, const struct operand *o, unsigned lane, uint32_t v) {
  if (o->reg != RZ) s->w->r[o->reg][lane] = v;
}

static inline void put64(struct step *s, const struct operand *o, unsigned lane, uint64_t v) {
  if (o->reg == RZ) return;
  s->w->r[o->reg][lane] = (uint32_t)v;
  s->w->r[o->reg + 1][lane] = (uint32_t)(v >> 32);
}

static inline bool getp(const struct step *s, const struct operand *o, unsigned lane) {
  return (o->reg == PT || (s->w->p[o->reg] >> lane & 1)) != o->inv;
}

static inline void putp(struct step *s, const struct operand *o, unsigned lane, bool v) {
  if (o->reg == PT) return;
  s->w->p[o->reg] = (s->w->p[o->reg] & ~(1u << lane)) | (uint32_t)v << lane;
}

static inline const uint8_t *bank_at(const struct step *s, const struct operand *o, unsigned lane, unsigned bytes) {
  uint32_t at = (uint32_t)o->offset + reg_of(s->w, o->reg, lane);
  if (at + bytes > BANK_BYTES) die("%s reads %x of bank %u", s->i->opcode, at, o->bank);
  return s->w->cta->k->bank[o->bank] + at;
}

/* The 32 bits of an operand without its signs. */
static inline uint32_t raw(const struct step *s, const struct operand *o, unsigned lane) {
  uint32_t v = o->number;
  if (o->kind == O_REG) v = reg_of(s->w, o->reg, lane);
  else if (o->kind == O_CONST) memcpy(&v, bank_at(s, o, lane, 4), 4);
  if (o->part >= 4) v = v >> 8 * (o->part - 4) & 0xff;
  else if (o->part) v = v >> 16 * (o->part - 2) & 0xffff;
  return v;
}

static inline uint64_t raw64(const struct step *s, const struct operand *o, unsigned lane) {
  uint64_t v = o->number;
  if (o->kind == O_REG && o->reg != RZ) v = s->w->r[o->reg][lane] | (uint64_t)s->w->r[o->reg + 1][lane] << 32;
  else if (o->kind == O_REG) v = 0;
  else if (o->kind == O_CONST) memcpy(&v, bank_at(s, o, lane, 8), 8);
  else v = (uint64_t)(int64_t)(int32_t)v;
  return v;
}

static inline uint32_t get(const struct step *s, const struct operand *o, unsigned lane) {
  uint32_t v = raw(s, o, lane);
  if (o->abs) v = (int32_t)v < 0 ? 0 - v : v;
  if (o->neg) v = 0 - v;
  return o->inv ? ~v : v;
}

static inline float as_float(uint32_t v) {
  float f;
  memcpy(&f, &v, 4);
  return f;
}

static inline uint32_t of_float(float f) {
  uint32_t v;
  memcpy(&v, &f, 4);
  return v;
}

static inline double as_double(uint64_t v) {
  double f;
  memcpy(&f, &v, 8);
  return f;
}

static inline uint64_t of_double(double f) {
  uint64_t v;
  memcpy(&v, &f, 8);
  return v;
}

static inline float flush(float f) {
  return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

static inline float getf(const struct step *s, const struct operand *o, unsigned lane) {
  float f = as_float(raw(s, o, lane));
  if (IS(s->i, FTZ)) f = flush(f);
  if (o->abs) f = fabsf(f);
  return o->neg ? -f : f;
}

static inline double getd(const struct step *s, const struct operand *o, unsigned lane) {
  /* an immediate is the upper half */
  double f = as_double(o->kind == O_NUMBER ? (uint64_t)o->number << 32 : raw64(s, o, lane));
  if (o->abs) f = fabs(f);
  return o->neg ? -f : f;
}

/* Operand `n` from the end; the last is 1. */
static inline const struct operand *last(const struct sass *i, unsigned n) {
  return &i->o[i->n - n];
}

#define OP(name) void op_##name(struct step *s)
#endif

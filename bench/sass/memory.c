/* memory.c - loads, stores and atomics. */
#include <stdlib.h>

#include "exec.h"
#include "ops.h"

/* ---- addresses ---- */

static unsigned bytes_of(const struct sass *i) {
  if (IS(i, U8) || IS(i, S8)) return 1;
  if (IS(i, U16) || IS(i, S16)) return 2;
  return IS(i, B128) ? 16 : IS(i, B64) || IS(i, U64) || IS(i, S64) || IS(i, F64) ? 8 : 4;
}

static uint64_t address_of(const struct step *s, const struct operand *o, unsigned lane, bool wide) {
  if (o->reg == RZ) return (uint64_t)(int64_t)o->offset;
  uint64_t base = s->w->r[o->reg][lane];
  if (o->scale) base *= o->scale;
  if (wide) base |= (uint64_t)s->w->r[o->reg + 1][lane] << 32;
  base += (uint64_t)(int64_t)o->offset;
  return wide ? base : (uint32_t)base;
}

static uint8_t *shared_at(struct step *s, uint64_t at, unsigned bytes) {
  struct cta *c = s->w->cta;
  if (at + bytes > c->shared_bytes)
    die("%s at %04x: shared address %llx of %u bytes", s->i->opcode, s->i->pc, (unsigned long long)at, c->shared_bytes);
  return c->shared + at;
}

static uint8_t *local_at(struct step *s, unsigned lane, uint64_t at, unsigned bytes) {
  uint64_t size = s->w->cta->l->stack;
  if (at + bytes > size) die("%s at %04x: local address %llx", s->i->opcode, s->i->pc, (unsigned long long)at);
  return s->w->local + lane * size + at;
}

static uint8_t *generic_at(struct step *s, unsigned lane, uint64_t at, unsigned bytes) {
  if (at >= SHARED_BASE && at < LOCAL_BASE) return shared_at(s, at - SHARED_BASE, bytes);
  if (at >= LOCAL_BASE && at < LOCAL_END) return local_at(s, lane, at - LOCAL_BASE, bytes);
  uint8_t *p = launch_at(s->w->cta->l, at, bytes);
  if (!p) die("%s at %04x: no memory at %llx", s->i->opcode, s->i->pc, (unsigned long long)at);
  return p;
}

/* The memory of the space that the opcode's third letter names; keeps the address for the trace. */
static uint8_t *place(struct step *s, const struct operand *o, unsigned lane, unsigned bytes) {
  const char *op = s->i->opcode;
  bool shared = !strncmp(op, "LDS", 3) || !strncmp(op, "STS", 3) || !strncmp(op, "ATOMS", 5);
  bool local = !strncmp(op, "LDL", 3) || !strncmp(op, "STL", 3);
  uint64_t at = address_of(s, o, lane, !shared && !local);
  s->memory = true;
  s->address[lane] = at;
  if (at % bytes) die("%s at %04x: address %llx is not aligned", op, s->i->pc, (unsigned long long)at);
  return shared ? shared_at(s, at, bytes) : local ? local_at(s, lane, at, bytes) : generic_at(s, lane, at, bytes);
}

/* ---- loads and stores ---- */

static void loaded(struct step *s, const struct operand *d, unsigned lane, const void *from) {
  const struct sass *i = s->i;
  unsigned bytes = bytes_of(i);
  uint32_t v[4] = {0};
  memcpy(v, from, bytes);
  if (IS(i, S8)) v[0] = (uint32_t)(int8_t)v[0];
  if (IS(i, S16)) v[0] = (uint32_t)(int16_t)v[0];
  for (unsigned k = 0; d->reg != RZ && 4 * k < bytes; k++) s->w->r[d->reg + k][lane] = v[k];
}

OP(load) {
  const struct sass *i = s->i;
  unsigned d = i->o[0].kind == O_PRED;
  EACH_LANE(s, lane) loaded(s, &i->o[d], lane, place(s, &i->o[d + 1], lane, bytes_of(i)));
  s->memory = true;
}

OP(ldc) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) loaded(s, &i->o[0], lane, bank_at(s, &i->o[1], lane, bytes_of(i)));
}

OP(store) {
  const struct sass *i = s->i;
  unsigned bytes = bytes_of(i);
  EACH_LANE(s, lane) {
    uint8_t *to = place(s, &i->o[0], lane, bytes);
    uint32_t v[4];
    for (unsigned k = 0; k < 4; k++) v[k] = i->o[1].reg == RZ ? 0 : s->w->r[(i->o[1].reg + k) & 255][lane];
    memcpy(to, v, bytes);
  }
  s->memory = true;
}

/* ---- atomics ---- */

static uint64_t combined_float(const struct sass *i, uint64_t old, uint64_t v) {
  if (IS(i, F64)) return of_double(as_double(old) + as_double(v));
  float sum = as_float((uint32_t)old) + as_float((uint32_t)v);
  return of_float(IS(i, FTZ) ? flush(sum) : sum);
}

static bool less(const struct sass *i, uint64_t a, uint64_t b) {
  if (IS(i, S64)) return (int64_t)a < (int64_t)b;
  return IS(i, S32) ? (int32_t)a < (int32_t)b : a < b;
}

static uint64_t combined(const struct sass *i, uint64_t old, uint64_t v) {
  if (IS(i, POPC)) return old + 1;
  if (IS(i, F32) || IS(i, F64)) return combined_float(i, old, v);
  if (IS(i, ADD)) return old + v;
  if (IS(i, MIN)) return less(i, v, old) ? v : old;
  if (IS(i, MAX)) return less(i, old, v) ? v : old;
  if (IS(i, INC)) return old >= v ? 0 : old + 1;
  if (IS(i, DEC)) return !old || old > v ? v : old - 1;
  if (IS(i, AND)) return old & v;
  if (IS(i, OR)) return old | v;
  if (IS(i, XOR)) return old ^ v;
  if (IS(i, EXCH)) return v;
  die("%s is not known here", i->opcode);
}

/* [P, ]Rd, [a], v[, w]; RED has no result. CAST stores w where memory is v and says whether it did. */
static void atomic(struct step *s, unsigned at, const struct operand *d) {
  const struct sass *i = s->i;
  unsigned bytes = bytes_of(i);
  EACH_LANE(s, lane) {
    uint8_t *p = place(s, &i->o[at], lane, bytes);
    uint64_t old = 0, v = 0, new;
    memcpy(&old, p, bytes);
    if (i->n > at + 1) v = bytes == 8 ? raw64(s, &i->o[at + 1], lane) : raw(s, &i->o[at + 1], lane);
    if (IS(i, CAS) || IS(i, CAST)) {
      uint64_t w = bytes == 8 ? raw64(s, &i->o[at + 2], lane) : raw(s, &i->o[at + 2], lane);
      new = old == v ? w : old;
    } else {
      new = combined(i, old, v);
    }
    memcpy(p, &new, bytes);
    if (!d) continue;
    if (IS(i, CAST)) put(s, d, lane, old == v);
    else if (bytes == 8) put64(s, d, lane, old);
    else put(s, d, lane, (uint32_t)old);
  }
  s->memory = true;
}

OP(atom) {
  unsigned d = s->i->o[0].kind == O_PRED;
  atomic(s, d + 1, &s->i->o[d]);
}

OP(atom_shared) { /* no predicate; POPC has a count for its value */
  atomic(s, 1, &s->i->o[0]);
}

OP(red) {
  atomic(s, 0, NULL);
}

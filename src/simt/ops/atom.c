/* atom.c - atomics and asynchronous copies. Global and shared atomics only collect addresses and operands at issue;
 * they are performed at the feed driver's request (in the timing model at the L2, and as they leave the pipe of shared
 * memory). Atomics on local memory are performed at issue. The result goes to the register of the frame that issued. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/ops/fp.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"

uint64_t atom_combine(const struct xop *o, uint64_t old, uint64_t b, uint64_t c) {
  enum ptx_type t = o->type;
  char kind = ptx_type_kinds[t];
  bool wide = ptx_type_bytes[t] == 8;
  if (kind == 'f' && o->sub <= ATOM_MAX) {
    struct fp_env env = {.round = FP_RN};
    return fp_eval(o->sub == ATOM_ADD ? FP_ADD : o->sub == ATOM_MIN ? FP_MIN : FP_MAX, t, &env, old, b, 0);
  }
  int64_t so = wide ? (int64_t)old : (int32_t)old, sb = wide ? (int64_t)b : (int32_t)b;
  switch (o->sub) {
  case ATOM_ADD:
    return old + b;
  case ATOM_MIN:
    return (kind == 's' ? sb < so : b < old) ? b : old;
  case ATOM_MAX:
    return (kind == 's' ? sb > so : b > old) ? b : old;
  case ATOM_AND:
    return old & b;
  case ATOM_OR:
    return old | b;
  case ATOM_XOR:
    return old ^ b;
  case ATOM_INC:
    return old >= b ? 0 : old + 1;
  case ATOM_DEC:
    return old == 0 || old > b ? b : old - 1;
  case ATOM_EXCH:
    return b;
  default:
    return old == b ? c : old;
  }
}

/* red.v4.f32 and the like: up to 16 bytes in the two operands; each element is a separate operation. */
static void perform_vector(const struct xop *o, char *host, char *regs, uint32_t lane, uint64_t b, uint64_t c) {
  const struct xaux *a = o->aux;
  const uint64_t both[2] = {b, c};
  uint32_t bytes = ptx_type_bytes[o->type];
  for (uint32_t k = 0; k < a->n; k++) {
    uint64_t old = 0, in = 0, v;
    memcpy(&old, host + k * bytes, bytes);
    memcpy(&in, (const char *)both + k * bytes, bytes);
    v = atom_combine(o, old, in, 0);
    memcpy(host + k * bytes, &v, bytes);
    if (!a->nret || a->v[a->n + k].off == OFF_NONE) continue;
    if (a->v[a->n + k].bytes == 8) ((uint64_t *)(regs + a->v[a->n + k].off))[lane] = old;
    else ((uint32_t *)(regs + a->v[a->n + k].off))[lane] = (uint32_t)old;
  }
}

/* Data sent to memory with the address: the two operands, then their upper halves if they have 128 bits. */
enum { IN_B, IN_C, IN_B_UPPER, IN_C_UPPER, INPUTS };

static void perform_wide(const struct xop *o, char *host, char *regs, uint32_t lane, const uint64_t in[INPUTS]) {
  uint64_t old[2], exchanged[2] = {in[IN_B], in[IN_B_UPPER]}, swapped[2] = {in[IN_C], in[IN_C_UPPER]};
  memcpy(old, host, sizeof old);
  if (o->sub == ATOM_EXCH) memcpy(host, exchanged, sizeof exchanged);
  else if (old[0] == exchanged[0] && old[1] == exchanged[1]) memcpy(host, swapped, sizeof swapped);
  if (o->d == OFF_NONE) return;
  for (uint32_t k = 0; k < 2; k++) ((uint64_t *)(regs + o->d))[k * LANES + lane] = old[k];
}

static void perform_lane(const struct xop *o, char *host, char *regs, uint32_t lane, const uint64_t in[INPUTS]) {
  uint64_t old = 0, v, b = in[IN_B], c = in[IN_C];
  uint32_t bytes = ptx_type_bytes[o->type];
  if (o->vec > 1) {
    perform_vector(o, host, regs, lane, b, c);
    return;
  }
  if (o->type == T_B128) {
    perform_wide(o, host, regs, lane, in);
    return;
  }
  memcpy(&old, host, bytes);
  v = atom_combine(o, old, b, c);
  memcpy(host, &v, bytes);
  if (o->d == OFF_NONE) return;
  if (bytes == 8) ((uint64_t *)(regs + o->d))[lane] = old;
  else ((uint32_t *)(regs + o->d))[lane] = (uint32_t)old;
}

static uint32_t take_token(struct simt_run *r) {
  if (!r->free_token) {
    uint32_t n = r->ntokens ? r->ntokens * 2 : 1024;
    r->tokens = mem_resize(r->tokens, n, sizeof *r->tokens);
    for (uint32_t i = n; i-- > (r->ntokens ? r->ntokens : 1);) {
      r->tokens[i].next = r->free_token;
      r->free_token = i;
    }
    r->ntokens = n;
  }
  uint32_t t = r->free_token;
  r->free_token = r->tokens[t].next;
  return t;
}

static uint64_t operand(struct exec *x, uint32_t off, bool wide, uint32_t i) {
  if (off == OFF_NONE) return 0;
  return wide ? OPND(uint64_t, off)[i] : OPND(uint32_t, off)[i];
}

static void addresses(struct exec *x, const struct xop *o, uint64_t *addr) {
  for (uint32_t i = 0; i < LANES; i++) {
    if (o->a == OFF_NONE) addr[i] = o->imm;
    else if (o->flags & XF_ADDR64) addr[i] = OPND(uint64_t, o->a)[i] + o->imm;
    else addr[i] = (uint32_t)(OPND(uint32_t, o->a)[i] + (uint32_t)o->imm);
    if (o->flags & XF_FRAME) addr[i] += x->e->local;
  }
}

static void sources(struct exec *x, const struct xop *o, uint32_t i, uint64_t in[INPUTS]) {
  bool wide = ptx_type_bytes[o->type] >= 8;
  if (o->vec <= 1) {
    in[IN_B] = operand(x, o->b, wide, i);
    in[IN_C] = operand(x, o->c, wide, i);
    if (o->type == T_B128) {
      in[IN_B_UPPER] = operand(x, o->b, true, LANES + i);
      in[IN_C_UPPER] = operand(x, o->c, true, LANES + i);
    }
    return;
  }
  const struct xaux *a = o->aux;
  uint64_t both[2] = {0, 0};
  uint32_t bytes = ptx_type_bytes[o->type];
  for (uint32_t k = 0; k < a->n; k++) {
    uint64_t v = operand(x, a->v[k].off, a->v[k].bytes == 8, i);
    memcpy((char *)both + k * bytes, &v, bytes);
  }
  in[IN_B] = both[0];
  in[IN_C] = both[1];
}

static uint32_t access_bytes(const struct xop *o) {
  return ptx_type_bytes[o->type] * (o->vec > 1 ? o->vec : 1u);
}

/* The host address of a lane's global access in the allocation of the lane before; else NULL. */
static inline char *in_block(struct exec *x, const struct mem_block *b, uint32_t i, uint64_t addr, uint32_t bytes) {
  if (!b || addr - b->a.base > b->a.bytes - bytes || addr & (bytes - 1)) return NULL;
  x->stray &= ~(1u << i);
  return (char *)(uintptr_t)(addr + b->delta);
}

static void x_atom(struct exec *x, const struct xop *o, uint32_t mask) {
  uint64_t *addr = x->out->addr;
  uint32_t bytes = access_bytes(o);
  uint8_t spaces[LANES];
  char *host[LANES];
  const struct mem_block *b = NULL;
  bool lookup = o->space == SPACE_GLOBAL && !x->run->check;
  addresses(x, o, addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    spaces[i] = o->space;
    if ((host[i] = in_block(x, b, i, addr[i], bytes))) continue;
    host[i] = mem_host(x, o, (int)i, addr[i], bytes, true, &spaces[i]);
    if (!host[i]) return;
    b = lookup ? mem_block_at(x->run->s, addr[i]) : NULL;
    if (b && b->a.bytes < bytes) b = NULL;
    if (o->space == SPACE_GENERIC && spaces[i] == SPACE_SHARED) addr[i] -= SHARED_WINDOW;
    if (spaces[i] == SPACE_SHARED) addr[i] %= UINT64_C(1) << CLUSTER_SHIFT;
    if (o->space == SPACE_GENERIC && spaces[i] == SPACE_LOCAL) addr[i] -= LOCAL_WINDOW;
  }
  uint32_t later = 0;
  for (uint32_t m = mask; m; m &= m - 1) { /* local memory is visible to its thread alone */
    uint32_t i = (uint32_t)__builtin_ctz(m);
    uint64_t in[INPUTS];
    if (spaces[i] != SPACE_LOCAL) {
      later |= m & -m;
      continue;
    }
    sources(x, o, i, in);
    perform_lane(o, host[i], x->base[0], i, in);
  }
  x->out->space = mem_one_space(mask, spaces, addr);
  x->out->width = (uint8_t)bytes;
  if (!later) return;
  struct simt_run *r = x->run;
  uint32_t id = take_token(r);
  struct token *t = &r->tokens[id];
  t->o = o;
  t->cta = x->cta;
  t->w = x->w;
  t->frame = x->e->frame;
  t->lanes = later;
  t->pending = mask;
  for (uint32_t m = later; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    uint64_t in[INPUTS];
    t->addr[i] = addr[i];
    t->shared[i] = spaces[i] == SPACE_SHARED ? host[i] : NULL;
    sources(x, o, i, in);
    t->b[i] = in[IN_B];
    t->c[i] = in[IN_C];
    if (o->type == T_B128) memcpy(t->upper[i], &in[IN_B_UPPER], sizeof t->upper[i]);
  }
  x->out->token = id;
}

static atomic_flag *lock_granule(const struct simt_run *r, uint64_t addr) {
  if (!r->granules) return NULL;
  atomic_flag *g = &r->granules[(addr >> GRANULE_SHIFT) % GRANULE_LOCKS];
  while (atomic_flag_test_and_set_explicit(g, memory_order_acquire)) __builtin_ia32_pause();
  return g;
}

bool atom_perform(struct exec *x, struct token *t, uint32_t lanes);
bool atom_perform(struct exec *x, struct token *t, uint32_t lanes) {
  const struct xop *o = t->o;
  struct mem_block *b = NULL;
  if (x->run->check) check_atomic_performed(x, t->cta);
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    struct simt *s = x->run->s;
    char *host = t->shared[i];
    if (!host) {
      if (!b || t->addr[i] - b->a.base >= b->a.bytes) b = mem_block_at(s, t->addr[i]);
      if (b) host = (char *)(uintptr_t)(t->addr[i] + b->delta);
      else if (s->memory == SIMT_MEMORY_HARDWARE) host = mem_in_page(s, t->addr[i], access_bytes(o));
    }
    if (!host) { /* freed between issue and now */
      x->w = t->w;
      x->cta = t->cta;
      fault_address(x, o, (int)i, t->addr[i], access_bytes(o), "invalid global atomic", 700);
      return false;
    }
    uint64_t in[INPUTS] = {t->b[i], t->c[i]};
    if (o->type == T_B128) memcpy(&in[IN_B_UPPER], t->upper[i], sizeof t->upper[i]);
    atomic_flag *g = t->shared[i] ? NULL : lock_granule(x->run, t->addr[i]);
    perform_lane(o, host, t->w->regs + t->frame, i, in);
    if (g) atomic_flag_clear_explicit(g, memory_order_release);
    if (x->run->ahead && !t->shared[i]) later_wrote(x->run, host);
  }
  return true;
}

static void x_cp_async(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  uint64_t *addr = x->out->addr;
  addresses(x, o, addr);
  x->out->space = SPACE_GLOBAL;
  x->out->width = (uint8_t)a->n;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m), n = o->b == OFF_NONE ? a->n : OPND(uint32_t, o->b)[i];
    uint64_t to = a->v[0].size;
    if (a->v[0].off != OFF_NONE) to += operand(x, a->v[0].off, a->v[0].bytes == 8, i);
    uint8_t g = SPACE_GLOBAL, s = SPACE_SHARED;
    if (n > a->n) n = a->n;
    char *src = n ? mem_host(x, o, (int)i, addr[i], a->n, false, &g) : NULL,
         *dst = mem_host(x, o, (int)i, to, a->n, true, &s);
    if ((n && !src) || !dst) return;
    memset(dst, 0, a->n);
    if (n) memcpy(dst, src, n);
  }
}

void simt_atom_handlers(xop_fn *table) {
  table[X_atom] = x_atom;
  table[X_cp_async] = x_cp_async;
}

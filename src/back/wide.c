/* wide.c - accesses of neighbouring words of one block become one of 8 or 16 bytes (of constant memory 8), where the
 * address is known to be aligned: of shared, local and constant memory, whose variables the assembler places, and of
 * global memory where multiples of an index say so.
 */
#include <string.h>

#include "back/back_impl.h"

enum { ZEROS_TOP = 31, GROUP = 4 };

/* ---- low bits that are zero ---- */

static uint8_t zeros_of_value(uint64_t v) {
  return v ? (uint8_t)__builtin_ctzll(v) : ZEROS_TOP;
}

static uint8_t variable_zeros(const struct ptx_var *v) { /* as simt/lower places them */
  const struct ptx_var *d = v->def ? v->def : v;
  if (d->space != SP_SHARED && d->space != SP_LOCAL && d->space != SP_CONST)
    return d->align ? zeros_of_value(d->align) : 0;
  if (d->is_extern || d->unsized || !d->bytes) return 4;
  uint64_t pad = d->bytes < 128 && !(d->bytes & (d->bytes - 1)) ? d->bytes : 128;
  uint64_t a = pad > d->align ? pad : d->align;
  return a > 16 ? 4 : zeros_of_value(a);
}

static uint8_t operand_zeros(const struct back *k, const struct ptx_opnd *o) {
  if (o->kind == OK_REG && !o->sel && !o->part) return k->r[o->reg->num].zeros;
  if (o->kind == OK_IMM && !o->is_float) return zeros_of_value((uint64_t)o->imm);
  if (o->kind == OK_VAR) return variable_zeros(o->var);
  return 0;
}

static uint8_t least(uint8_t x, uint8_t y) {
  return x < y ? x : y;
}

static uint8_t result_zeros(const struct back *k, const struct ptx_inst *i) {
  const struct ptx_opnd *o = i->ops;
  if (i->nops < 2 || ptx_type_kinds[i->types[0]] == 'f') return 0;
  uint8_t a = operand_zeros(k, &o[1]), b = i->nops > 2 ? operand_zeros(k, &o[2]) : 0;
  uint32_t s;
  switch (i->op) {
  case OP_MOV:
    return i->ops[1].kind == OK_VEC || i->ops[0].kind != OK_REG ? 0 : a;
  case OP_CVTA: /* the windows of the generic space are aligned */
    return a;
  case OP_CVT:
    return ptx_type_kinds[i->types[1]] == 'f' || ptx_has(i, M_SAT) ? 0 : a;
  case OP_ADD:
  case OP_SUB:
  case OP_OR:
  case OP_XOR:
    return least(a, b);
  case OP_AND:
    return a > b ? a : b;
  case OP_SELP:
    return least(a, b);
  case OP_MUL:
    if (ptx_has(i, M_HI)) return 0;
    s = (uint32_t)a + b;
    return s > ZEROS_TOP ? ZEROS_TOP : (uint8_t)s;
  case OP_MAD:
    if (ptx_has(i, M_HI)) return 0;
    s = (uint32_t)a + b;
    return least(s > ZEROS_TOP ? ZEROS_TOP : (uint8_t)s, operand_zeros(k, &o[3]));
  case OP_SHL:
    if (o[2].kind != OK_IMM) return a;
    s = a + (uint32_t)(o[2].imm & 63);
    return s > ZEROS_TOP ? ZEROS_TOP : (uint8_t)s;
  default:
    return 0;
  }
}

/* From "all" down to what every definition gives. */
static void find_zeros(struct back *k) {
  for (uint32_t r = 0; r <= k->nregs; r++) k->r[r].zeros = k->r[r].ssa || k->r[r].defs ? ZEROS_TOP : 0;
  for (uint32_t r = 1; r <= k->orig; r++)
    if (k->f->live_in[r / 64] >> (r % 64) & 1) k->r[r].zeros = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      uint8_t z = n->ndef == 1 ? result_zeros(k, n->in) : 0;
      for (uint32_t d = 0; d < n->ndef; d++) {
        struct fact *r = &k->r[n->def[d]];
        if (z < r->zeros) r->zeros = z, changed = true;
      }
    }
  }
}

/* ---- groups ---- */

struct member {
  uint32_t node;
  struct place p;
};

static uint8_t place_zeros(const struct back *k, const struct place *p) {
  uint8_t z = p->base ? k->r[p->base].zeros : ZEROS_TOP;
  return p->var ? least(z, variable_zeros(p->var)) : z;
}

static const struct ptx_opnd *address(const struct ptx_inst *i) {
  return &i->ops[i->op == OP_ST ? 0 : 1];
}

static bool candidate(const struct ptx_inst *i) {
  if ((i->op != OP_LD && i->op != OP_ST) || i->nops != 2 || ptx_has(i, M_VOLATILE) || ptx_has(i, M_RELAXED) ||
      ptx_has(i, M_ACQUIRE) || ptx_has(i, M_RELEASE) || ptx_has(i, M_V2) || ptx_has(i, M_V4) || ptx_has(i, M_PARAM))
    return false;
  bool constant = i->op == OP_LD && ptx_has(i, M_CONST) && i->ops[1].kind == OK_MEM && i->ops[1].reg;
  if (!ptx_has(i, M_SHARED) && !ptx_has(i, M_GLOBAL) && !ptx_has(i, M_LOCAL) && !constant) return false;
  uint32_t bytes = ptx_type_bytes[i->types[0]];
  const struct ptx_opnd *data = &i->ops[i->op == OP_ST ? 1 : 0];
  return (bytes == 4 || bytes == 8) && data->kind == OK_REG && !data->sel && address(i)->kind == OK_MEM &&
         ptx_type_bytes[data->reg->type] == bytes && !address(i)->n;
}

static bool alike(const struct ptx_inst *x, const struct ptx_inst *y) {
  return x->op == y->op && ptx_type_bytes[x->types[0]] == ptx_type_bytes[y->types[0]] && x->guard == y->guard &&
         x->guard_neg == y->guard_neg && !memcmp(x->mods, y->mods, sizeof x->mods);
}

static bool touches(const struct node *n, uint16_t r, bool writes_only) {
  for (uint32_t d = 0; d < n->ndef; d++)
    if (n->def[d] == r) return true;
  for (uint32_t u = 0; u < n->nuse && !writes_only; u++)
    if (n->use[u] == r) return true;
  return false;
}

/* Does an instruction that the access would cross keep it where it is? */
static bool crosses(const struct back *k, const struct node *n, const struct node *by) {
  bool store = n->in->op == OP_ST;
  const struct ptx_inst *o = by->in;
  if (by->order & (ORD_FENCE | ORD_ALL)) return true;
  if (by->order & (store ? ORD_LOAD | ORD_STORE : ORD_STORE) && back_may_alias(k, n, by)) return true;
  if (o == n->in) return false;
  if (!store) return touches(by, n->def[0], false) || (n->in->guard && touches(by, n->in->guard->num, true));
  for (uint32_t u = 0; u < n->nuse; u++)
    if (touches(by, n->use[u], true)) return true;
  return false;
}

static bool movable(const struct back *k, const struct member *g, uint32_t n) {
  bool store = k->n[g[0].node].in->op == OP_ST;
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t q = 0; q < n; q++) {
    if (g[q].node < first) first = g[q].node;
    if (g[q].node > last) last = g[q].node;
  }
  for (uint32_t q = 0; q < n; q++) {
    uint32_t from = store ? g[q].node + 1 : first, to = store ? last + 1 : g[q].node;
    for (uint32_t i = from; i < to; i++) {
      if (g[q].p.base && touches(&k->n[i], g[q].p.base, true)) return false;
      bool own = false;
      for (uint32_t s = 0; s < n; s++) own |= g[s].node == i;
      if (own && store) continue;
      if (own ? touches(&k->n[i], k->n[g[q].node].def[0], false) : crosses(k, &k->n[g[q].node], &k->n[i])) return false;
    }
  }
  return true;
}

/* The members as one instruction, at the place of the first load or the last store. */
static void merge(struct back *k, const struct member *g, uint32_t n) {
  bool store = k->n[g[0].node].in->op == OP_ST;
  uint32_t at = g[0].node;
  const struct place *p = &g[0].p;
  for (uint32_t q = 1; q < n; q++)
    if (store ? g[q].node > at : g[q].node < at) at = g[q].node, p = &g[q].p;
  struct node *m = &k->n[at];
  struct ptx_opnd *v = ARENA_ARRAY(k->a, struct ptx_opnd, n);
  for (uint32_t q = 0; q < n; q++) v[q] = k->n[g[q].node].in->ops[store];
  struct ptx_inst *i = m->in;
  i->mods[(n == 2 ? M_V2 : M_V4) / 64] |= 1ull << ((n == 2 ? M_V2 : M_V4) % 64);
  struct ptx_opnd *a = &i->ops[store ? 0 : 1];
  a->imm -= p->off - g[0].p.off;
  i->ops[store] = (struct ptx_opnd){.kind = OK_VEC, .n = (uint8_t)n, .vec = v, .line = i->line};
  for (uint32_t q = 0; q < n; q++)
    if (g[q].node != at) k->n[g[q].node].role = ROLE_GONE;
  back_touch(k, m);
}

static bool try_group(struct back *k, struct member *all, uint32_t count, uint32_t from, uint32_t bytes, uint32_t n) {
  struct member g[GROUP] = {all[from]};
  uint32_t got = 1;
  int64_t whole = (int64_t)bytes * n;
  if ((g[0].p.off & (whole - 1)) || (1ll << place_zeros(k, &g[0].p)) < whole) return false;
  for (uint32_t want = 1; want < n; want++)
    for (uint32_t q = 0; q < count; q++)
      if (all[q].p.base == g[0].p.base && all[q].p.var == g[0].p.var &&
          all[q].p.off == g[0].p.off + (int64_t)(want * bytes) && k->n[all[q].node].role != ROLE_GONE &&
          candidate(k->n[all[q].node].in) && alike(k->n[all[q].node].in, k->n[g[0].node].in)) {
        g[got++] = all[q];
        break;
      }
  if (got != n || !movable(k, g, n)) return false;
  for (uint32_t q = 0; q < n; q++) /* a register that two of them load, or one of them reads as its address */
    for (uint32_t s = 0; s < n && k->n[g[0].node].in->op == OP_LD; s++) {
      if (s != q && k->n[g[q].node].def[0] == k->n[g[s].node].def[0]) return false;
      if (touches(&k->n[g[s].node], k->n[g[q].node].def[0], false) && s != q) return false;
    }
  merge(k, g, n);
  return true;
}

static uint32_t widest(const struct ptx_inst *i) {
  return ptx_has(i, M_CONST) ? 8 : 16;
}

static void widen_block(struct back *k, const struct bblock *b) {
  struct member *all = ARENA_ARRAY(&k->scratch, struct member, b->end - b->first + 1);
  uint32_t count = 0;
  for (uint32_t i = b->first; i < b->end; i++)
    if (candidate(k->n[i].in)) all[count++] = (struct member){i, back_place(k, address(k->n[i].in))};
  for (uint32_t n = GROUP; n >= 2; n /= 2)
    for (uint32_t q = 0; q < count; q++) {
      const struct ptx_inst *in = k->n[all[q].node].in;
      uint32_t bytes = ptx_type_bytes[in->types[0]];
      if (k->n[all[q].node].role == ROLE_GONE || !candidate(in) || bytes * n > widest(in)) continue;
      try_group(k, all, count, q, bytes, n);
    }
}

void back_widen(struct back *k) {
  find_zeros(k);
  for (uint32_t q = 0; q < k->nb; q++) widen_block(k, &k->b[q]);
  back_facts(k, false);
  back_drop_unread(k); /* addresses that only merged accesses had */
  back_compact(k);
  back_facts(k, false);
}

/* inline.c - the functions that a kernel calls become part of it, before all other passes. ptxas keeps large ones apart
 * and calls them; what a call itself costs is left out.
 *
 * What a caller stores into a parameter and the function loads from it, and a result the other way round, becomes a
 * register for each place in the variable. A function's local variables exist once, as it never calls itself here.
 * Calls of functions that the machine provides (vprintf, __assertfail) stay.
 */
#include <string.h>

#include "back/back_impl.h"

/* MOST_COPIES also bounds functions that only call each other, which have no instruction. */
enum { MOST_NESTED = 32, MOST_COPIES = 4096, MOST_INLINED = 50000, MOST_SLOTS = 4096 };

/* A function in the place of one call of it; the first is the kernel. */
struct frame {
  const struct ptx_func *g;
  const struct frame *caller;
  const struct ptx_inst *call;
  uint16_t *reg;   /* its registers in the kernel, by number */
  uint32_t id;     /* of this copy */
  uint32_t *start; /* by instruction: its place in the kernel */
};

/* A place in a parameter or result: the register that holds it. */
struct place_held {
  uint32_t frame, off, bytes;
  const struct ptx_var *var;
  uint16_t reg;
};

struct inliner {
  struct ptx_module *m;
  struct ptx_func *f;
  struct arena *a, scratch;
  struct ptx_inst *out;
  uint32_t n, cap;
  struct ptx_reg **regs;
  uint32_t nregs, cap_regs;
  struct ptx_var **locals; /* added */
  const struct ptx_var **locals_of;
  uint32_t nlocals, cap_locals;
  uint8_t *carries; /* by serial: a variable that carries a value into an inlined function or out of one */
  struct place_held *held;
  uint32_t nheld, copies;
};

static uint16_t new_register(struct inliner *l, enum ptx_type t, const char *name) {
  if (++l->nregs >= l->cap_regs) {
    struct ptx_reg **regs = ARENA_ARRAY(l->a, struct ptx_reg *, 2 * l->cap_regs + 64);
    memcpy(regs, l->regs, l->cap_regs * sizeof *regs);
    l->regs = regs;
    l->cap_regs = 2 * l->cap_regs + 64;
  }
  struct ptx_reg *r = ARENA_NEW(l->a, struct ptx_reg);
  *r = (struct ptx_reg){.name = name, .type = (uint8_t)t, .num = (uint16_t)l->nregs, .arch = NO_ARCH};
  l->regs[l->nregs] = r;
  return r->num;
}

static struct ptx_inst *append(struct inliner *l, const struct ptx_inst *from) {
  if (l->n == l->cap) {
    struct ptx_inst *out = ARENA_ARRAY(&l->scratch, struct ptx_inst, l->cap = 2 * l->cap + 256);
    if (l->n) memcpy(out, l->out, l->n * sizeof *out);
    l->out = out;
  }
  struct ptx_inst *i = &l->out[l->n++];
  *i = *from;
  return i;
}

/* A new instruction in the place of `from` and under its guard, which is the kernel's already. */
static struct ptx_inst *append_new(struct inliner *l, const struct ptx_inst *from, enum ptx_opcode op, uint32_t nops) {
  struct ptx_inst *i = append(l, from);
  *i = (struct ptx_inst){.op = (uint8_t)op, .nops = (uint8_t)nops, .guard = from->guard, .guard_neg = from->guard_neg};
  i->line = from->line, i->col = from->col, i->src_line = from->src_line, i->src_file = from->src_file;
  i->ops = ARENA_ARRAY(l->a, struct ptx_opnd, PTX_MAX_OPNDS);
  return i;
}

/* ---- operands of a copy ---- */

/* The kernel's copy of a local variable of an inlined function. */
static struct ptx_var *local_of(struct inliner *l, struct ptx_var *v) {
  for (uint32_t i = 0; i < l->nlocals; i++)
    if (l->locals_of[i] == v) return l->locals[i];
  if (l->nlocals == l->cap_locals) {
    uint32_t cap = 2 * l->cap_locals + 16;
    struct ptx_var **to = ARENA_ARRAY(l->a, struct ptx_var *, cap);
    const struct ptx_var **of = ARENA_ARRAY(l->a, const struct ptx_var *, cap);
    for (uint32_t i = 0; i < l->nlocals; i++) to[i] = l->locals[i], of[i] = l->locals_of[i];
    l->locals = to, l->locals_of = of, l->cap_locals = cap;
  }
  struct ptx_var *c = ARENA_NEW(l->a, struct ptx_var);
  *c = *v;
  c->def = c;
  c->func = l->f;
  c->serial = l->m->serials++;
  l->locals_of[l->nlocals] = v;
  return l->locals[l->nlocals++] = c;
}

static void rename_operand(struct inliner *l, const struct frame *w, struct ptx_opnd *o) {
  if (o->reg) o->reg = l->regs[w->reg[o->reg->num]];
  if (o->reg2) o->reg2 = l->regs[w->reg[o->reg2->num]];
  if (o->var && w->caller && (o->var->space == SP_LOCAL || (o->var->space == SP_PARAM && o->var->func)))
    o->var = local_of(l, o->var);
  bool list = o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM;
  for (uint32_t q = 0; list && o->vec && q < o->n; q++) rename_operand(l, w, &o->vec[q]);
}

static struct ptx_inst *put_copy(struct inliner *l, const struct frame *w, const struct ptx_inst *i) {
  struct ptx_inst *c = append(l, i);
  back_copy_operands(l->a, c, i);
  for (uint32_t q = 0; q < i->nops; q++) rename_operand(l, w, &c->ops[q]);
  if (i->guard) c->guard = l->regs[w->reg[i->guard->num]];
  return c;
}

/* ---- parameters and results ---- */

const struct ptx_func *back_callee(const struct ptx_inst *i) {
  const struct ptx_func *g = i->op == OP_CALL && i->ops[1].kind == OK_FUNC ? i->ops[1].func : NULL;
  if (g && g->def) g = g->def;
  return g && g->has_body && !g->entry ? g : NULL;
}

static void note_list(struct inliner *l, const struct ptx_opnd *list) {
  for (uint32_t q = 0; q < list->n; q++)
    if (list->vec[q].kind == OK_VAR) l->carries[list->vec[q].var->serial] = 1;
}

static void note_carriers(struct inliner *l, const struct frame *w) {
  const struct ptx_func *g = w->g;
  for (uint32_t i = 0; i < g->ncode; i++)
    if (back_callee(&g->code[i])) note_list(l, &g->code[i].ops[0]), note_list(l, &g->code[i].ops[2]);
  if (w->caller && g->ret) l->carries[g->ret->serial] = 1;
  for (uint32_t i = 0; w->caller && i < g->nparams; i++) l->carries[g->params[i]->serial] = 1;
}

/* The caller's variable that stands for a formal, as far up as there is one. */
static bool resolve(const struct frame **w, const struct ptx_var **v) {
  while ((*w)->caller) {
    const struct ptx_func *g = (*w)->g;
    const struct ptx_opnd *actual = NULL;
    if (*v == g->ret && g->ret) actual = (*w)->call->ops[0].n ? &(*w)->call->ops[0].vec[0] : NULL;
    else
      for (uint32_t i = 0; i < g->nparams && !actual; i++)
        if (g->params[i] == *v && *v) actual = i < (*w)->call->ops[2].n ? &(*w)->call->ops[2].vec[i] : NULL;
    if (!actual) return *v != g->ret && !(*v)->formal;
    if (actual->kind != OK_VAR) return false;
    *v = actual->var;
    *w = (*w)->caller;
  }
  return true;
}

/* What holds `bytes` at an offset of a variable: a new register unless there is one; of a load also a wider one. NULL:
 * neither is possible. */
static const struct place_held *held_at(struct inliner *l, const struct frame *w, const struct ptx_var *v, uint32_t off,
                                        uint32_t bytes, bool load) {
  if (!resolve(&w, &v)) return NULL;
  for (uint32_t i = 0; i < l->nheld; i++) {
    const struct place_held *h = &l->held[i];
    if (h->frame != w->id || h->var != v || h->off >= off + bytes || off >= h->off + h->bytes) continue;
    if (h->off == off && h->bytes == bytes) return h;
    return load && h->bytes == 4 && off >= h->off && off + bytes <= h->off + 4 ? h : NULL;
  }
  if (l->nheld == MOST_SLOTS) return NULL;
  struct place_held *h = &l->held[l->nheld++];
  *h = (struct place_held){.frame = w->id, .off = off, .bytes = bytes, .var = v};
  h->reg = new_register(l, bytes == 8 ? T_B64 : T_B32, "%param");
  return h;
}

/* op.type to, of, a, b; the type of a conversion's source is u32 or, from 16 bits, u16. */
static void put_op(struct inliner *l, const struct ptx_inst *from, enum ptx_opcode op, enum ptx_type t,
                   const struct ptx_opnd *ops, uint32_t nops) {
  struct ptx_inst *i = append_new(l, from, op, nops);
  i->ntypes = op == OP_CVT ? 2 : 1;
  i->types[0] = (uint8_t)t;
  if (op == OP_CVT) i->types[1] = ptx_type_bytes[ops[1].reg->type] == 2 ? T_U16 : T_U32;
  memcpy(i->ops, ops, nops * sizeof *ops);
}

static struct ptx_opnd immediate(int64_t n) {
  return (struct ptx_opnd){.kind = OK_IMM, .imm = n};
}

/* A register of 16 to 64 bits gets the low bits of one of 32, or the other way round. */
static void put_converted(struct inliner *l, const struct ptx_inst *from, struct ptx_opnd to, struct ptx_opnd of,
                          bool is_signed) {
  uint32_t bytes = ptx_type_bytes[to.reg->type];
  const struct ptx_opnd ops[] = {to, of};
  if (bytes == ptx_type_bytes[of.reg->type]) put_op(l, from, OP_MOV, T_B32, ops, 2);
  else put_op(l, from, OP_CVT, bytes == 2 ? T_U16 : bytes == 4 ? T_U32 : is_signed ? T_S64 : T_U64, ops, 2);
  if (is_signed && bytes == 8) l->out[l->n - 1].types[1] = T_S32;
}

/* One element of a load or store as instructions on registers. */
static bool put_element(struct inliner *l, const struct frame *w, const struct ptx_inst *i, struct ptx_opnd x,
                        uint32_t off) {
  bool load = i->op == OP_LD, is_signed = ptx_type_kinds[i->types[0]] == 's';
  uint32_t bytes = ptx_type_bytes[i->types[0]];
  const struct ptx_var *v = i->ops[load ? 1 : 0].var;
  if (x.kind == OK_SINK) return true;
  if (x.kind != OK_REG && (load || x.kind != OK_IMM)) return false;
  if (x.kind == OK_REG && bytes >= 4 && ptx_type_bytes[x.reg->type] != bytes) return false;
  const struct place_held *h = held_at(l, w, v, off, bytes, load);
  if (!h) return false;
  struct ptx_opnd held = {.kind = OK_REG, .reg = l->regs[h->reg], .line = x.line, .col = x.col};
  const struct ptx_opnd in[] = {held, x}, out[] = {x, held};
  if (bytes >= 4 && h->bytes == bytes) {
    put_op(l, i, OP_MOV, (enum ptx_type)i->types[0], load ? out : in, 2);
  } else if (!load) {
    if (x.kind == OK_IMM) put_op(l, i, OP_MOV, T_U32, in, 2);
    else put_converted(l, i, held, x, false);
  } else {
    struct ptx_opnd bits = {.kind = OK_REG, .reg = l->regs[new_register(l, T_B32, "%part")]};
    const struct ptx_opnd field[] = {bits, held, immediate(8 * (off - h->off)), immediate(8 * bytes)};
    put_op(l, i, OP_BFE, is_signed ? T_S32 : T_U32, field, 4);
    put_converted(l, i, x, bits, is_signed);
  }
  return true;
}

/* A load from or a store to such a variable, as moves. False: not of whole registers. */
static bool put_transfer(struct inliner *l, const struct frame *w, const struct ptx_inst *i) {
  bool load = i->op == OP_LD;
  struct ptx_inst c = *i;
  back_copy_operands(l->a, &c, i);
  if (i->guard) c.guard = l->regs[w->reg[i->guard->num]];
  const struct ptx_opnd *memory = &i->ops[load ? 1 : 0];
  struct ptx_opnd *value = &c.ops[load ? 0 : 1];
  uint32_t bytes = ptx_type_bytes[i->types[0]], n = value->kind == OK_VEC ? value->n : 1;
  if (memory->reg || memory->imm < 0 || bytes > 8) return false;
  rename_operand(l, w, value);
  for (uint32_t q = 0; q < n; q++)
    if (!put_element(l, w, &c, value->kind == OK_VEC ? value->vec[q] : *value, (uint32_t)memory->imm + q * bytes))
      return false;
  return true;
}

static bool mentions_carrier(const struct inliner *l, const struct ptx_opnd *o) {
  if (o->var && l->carries[o->var->serial]) return true;
  bool list = o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM;
  for (uint32_t q = 0; list && o->vec && q < o->n; q++)
    if (mentions_carrier(l, &o->vec[q])) return true;
  return false;
}

/* ---- code ---- */

static bool put_function(struct inliner *l, struct frame *w, uint32_t depth);

static void put_branch(struct inliner *l, const struct frame *w, const struct ptx_inst *from, bool negated) {
  struct ptx_inst *i = append_new(l, from, OP_BRA, 1);
  i->guard_neg ^= negated;
  if (from->guard) i->guard = l->regs[w->reg[from->guard->num]];
  i->ops[0] = (struct ptx_opnd){.kind = OK_LABEL};
}

static void aim(struct ptx_inst *i, uint32_t at) {
  i->target = at;
  i->ops[0].imm = at;
}

static bool put_call(struct inliner *l, const struct frame *w, const struct ptx_inst *i, uint32_t depth) {
  const struct ptx_func *g = back_callee(i);
  for (const struct frame *up = w; up; up = up->caller)
    if (up->g == g) return false;
  if (depth == MOST_NESTED || l->copies == MOST_COPIES) return false;
  if (g->nparams != i->ops[2].n || g->ret_reg || l->nregs + g->nregs > MOST_INLINED) return false;
  for (uint32_t p = 0; p < g->nparams; p++)
    if (!g->params[p]) return false;
  uint32_t skip = l->n;
  if (i->guard) put_branch(l, w, i, true);
  struct frame into = {.g = g, .caller = w, .call = i, .id = ++l->copies};
  into.reg = ARENA_ARRAY(&l->scratch, uint16_t, g->nregs + 1);
  for (uint32_t r = 1; r <= g->nregs; r++)
    into.reg[r] = new_register(l, (enum ptx_type)g->regs[r]->type, g->regs[r]->name);
  if (!put_function(l, &into, depth + 1)) return false;
  if (i->guard) aim(&l->out[skip], l->n);
  return true;
}

static bool put_one(struct inliner *l, struct frame *w, const struct ptx_inst *i, uint32_t depth) {
  if (back_callee(i)) return put_call(l, w, i, depth);
  if (w->caller && i->op == OP_RET) {
    if (i + 1 != w->g->code + w->g->ncode || i->guard) put_branch(l, w, i, false);
    return true;
  }
  bool carried = false;
  for (uint32_t q = 0; q < i->nops; q++) carried |= mentions_carrier(l, &i->ops[q]);
  if (carried) return (i->op == OP_LD || i->op == OP_ST) && put_transfer(l, w, i);
  put_copy(l, w, i);
  return true;
}

/* Branches of the function's own code: those that are returns go to its end. */
static void aim_branches(struct inliner *l, const struct frame *w) {
  for (uint32_t k = 0; k < w->g->ncode; k++) {
    const struct ptx_inst *i = &w->g->code[k];
    if (w->start[k] == l->n) continue;
    struct ptx_inst *c = &l->out[w->start[k]];
    if (i->op == OP_BRA) aim(c, w->start[i->target]);
    if (i->op == OP_RET && w->caller && c->op == OP_BRA) aim(c, l->n);
    for (int64_t q = 0; i->op == OP_BRX && q < i->ops[1].imm; q++)
      c->ops[1].vec[q].imm = w->start[i->ops[1].vec[q].imm];
  }
}

static bool put_function(struct inliner *l, struct frame *w, uint32_t depth) {
  w->start = ARENA_ARRAY(&l->scratch, uint32_t, w->g->ncode + 1);
  note_carriers(l, w);
  for (uint32_t k = 0; k < w->g->ncode; k++) {
    w->start[k] = l->n;
    if (!put_one(l, w, &w->g->code[k], depth)) return false;
    if (l->n > MOST_INLINED || l->nregs > MOST_INLINED) return false;
  }
  w->start[w->g->ncode] = l->n;
  aim_branches(l, w);
  return true;
}

/* The last instruction may branch behind the code. */
static void put_end(struct inliner *l) {
  bool behind = false;
  for (uint32_t k = 0; k < l->n; k++) behind |= l->out[k].op == OP_BRA && l->out[k].target == l->n;
  if (!behind) return;
  const struct ptx_inst last = {.line = l->out[l->n - 1].line};
  append_new(l, &last, OP_EXIT, 0);
}

static void take_locals(struct inliner *l) {
  struct ptx_func *f = l->f;
  struct ptx_var **all = ARENA_ARRAY(l->a, struct ptx_var *, f->nlocals + l->nlocals + 1);
  for (uint32_t i = 0; i < f->nlocals; i++) all[i] = f->locals[i];
  for (uint32_t i = 0; i < l->nlocals; i++) all[f->nlocals + i] = l->locals[i];
  f->locals = all;
  f->nlocals += l->nlocals;
}

void back_inline(struct ptx_module *m, struct ptx_func *f) {
  bool calls = false;
  for (uint32_t i = 0; i < f->ncode; i++) calls |= back_callee(&f->code[i]) != NULL;
  if (!calls || !f->entry) return;
  struct inliner l = {.m = m, .f = f, .a = &m->arena, .nregs = f->nregs, .cap_regs = f->nregs + 1};
  l.regs = ARENA_ARRAY(l.a, struct ptx_reg *, l.cap_regs);
  memcpy(l.regs, f->regs, l.cap_regs * sizeof *l.regs);
  l.carries = ARENA_ARRAY(&l.scratch, uint8_t, m->serials + 1);
  l.held = ARENA_ARRAY(&l.scratch, struct place_held, MOST_SLOTS);
  struct frame kernel = {.g = f};
  kernel.reg = ARENA_ARRAY(&l.scratch, uint16_t, f->nregs + 1);
  for (uint32_t r = 1; r <= f->nregs; r++) kernel.reg[r] = (uint16_t)r;
  if (put_function(&l, &kernel, 0)) {
    put_end(&l);
    take_locals(&l);
    f->code = ARENA_ARRAY(l.a, struct ptx_inst, l.n);
    memcpy(f->code, l.out, l.n * sizeof *l.out);
    f->ncode = l.n;
    f->regs = l.regs;
    f->nregs = l.nregs;
    ptx_analyse(m, f);
  }
  arena_free(&l.scratch);
}

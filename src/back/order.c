/* order.c - what keeps an instruction in its place: memory that another may touch, barriers, lanes that exchange
 * values, clocks. */
#include "back/back_impl.h"

static uint8_t space_of(const struct ptx_inst *i) {
  if (back_in_shared(i)) return SPACE_SHARED;
  if (ptx_has(i, M_GLOBAL)) return SPACE_GLOBAL;
  if (ptx_has(i, M_LOCAL)) return SPACE_LOCAL;
  if (ptx_has(i, M_CONST)) return SPACE_CONST;
  if (ptx_has(i, M_PARAM) || ptx_has(i, M_PARAM_ENTRY)) return SPACE_PARAM;
  return i->op == OP_SULD || i->op == OP_SUST || i->op == OP_SURED ? SPACE_GLOBAL : SPACE_GENERIC;
}

static bool strong(const struct ptx_inst *i) {
  return ptx_has(i, M_VOLATILE) || ptx_has(i, M_RELAXED) || ptx_has(i, M_ACQUIRE) || ptx_has(i, M_RELEASE) ||
         ptx_has(i, M_ACQ_REL) || ptx_has(i, M_MMIO);
}

static bool reads_clock(const struct ptx_inst *i) {
  for (uint32_t q = 0; q < i->nops; q++)
    if (i->ops[q].kind == OK_SREG && i->ops[q].sreg >= SR_CLOCK && i->ops[q].sreg <= SR_PM) return true;
  return false;
}

static uint8_t order_of(const struct ptx_inst *i, uint8_t space) {
  if (back_ends(i)) return ORD_END;
  if (i->refused || reads_clock(i)) return ORD_ALL;
  switch (i->op) {
  case OP_LD:
  case OP_LDU:
  case OP_LDMATRIX:
    if (space == SPACE_CONST || space == SPACE_PARAM || (ptx_has(i, M_NC) && !strong(i))) return 0;
    return strong(i) ? ORD_FENCE : ORD_LOAD;
  case OP_ST:
    return strong(i) ? ORD_FENCE : ORD_STORE;
  case OP_ATOM:
  case OP_RED:
    return ptx_has(i, M_ACQUIRE) || ptx_has(i, M_RELEASE) || ptx_has(i, M_ACQ_REL) ? ORD_FENCE : ORD_LOAD | ORD_STORE;
  case OP_TEX:
  case OP_TLD4:
  case OP_TXQ:
  case OP_SUQ:
    return 0;
  case OP_SULD:
    return ORD_LOAD;
  case OP_SUST:
  case OP_SURED:
    return ORD_LOAD | ORD_STORE;
  case OP_WMMA:
    return ptx_has(i, M_LOAD) ? ORD_LOAD | ORD_WARP : ptx_has(i, M_STORE) ? ORD_STORE | ORD_WARP : ORD_WARP;
  case OP_MMA:
  case OP_MOVMATRIX:
  case OP_VOTE:
  case OP_SHFL:
  case OP_MATCH:
  case OP_REDUX:
  case OP_ACTIVEMASK:
  case OP_ELECT:
    return ORD_WARP;
  case OP_PREFETCH:
  case OP_PREFETCHU:
  case OP_DISCARD:
  case OP_APPLYPRIORITY:
    return ORD_LOAD;
  case OP_NANOSLEEP:
  case OP_PMEVENT:
  case OP_BRKPT:
  case OP_SETMAXNREG:
  case OP_GRIDDEPCONTROL:
  case OP_ALLOCA:
  case OP_STACKSAVE:
  case OP_STACKRESTORE:
  case OP_CALL:
    return ORD_ALL;
  case OP_ADDC:
  case OP_SUBC:
  case OP_MADC:
    return ORD_CARRY;
  default:
    break;
  }
  if (ptx_ops[i->op].kind != KIND_ALU || i->op == OP_MBARRIER || i->op == OP_CP) return ORD_FENCE | ORD_WARP;
  return ptx_has(i, M_CC) ? ORD_CARRY : 0;
}

bool back_movable(const struct ptx_inst *i) {
  return !order_of(i, space_of(i));
}

void back_orders(struct back *k) {
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    n->space = space_of(n->in);
    n->order = order_of(n->in, n->space);
  }
}

/* ---- aliases ---- */

bool back_adds(const struct back *k, const struct ptx_inst *i, int64_t *c, uint16_t *base) {
  if (i->guard || i->nops != 3 || (i->op != OP_ADD && i->op != OP_SUB) || ptx_has(i, M_CC) || ptx_has(i, M_SAT))
    return false;
  const struct ptx_opnd *x = &i->ops[1], *y = &i->ops[2];
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_bytes[i->types[0]] < 4) return false;
  if (i->op == OP_ADD && y->kind == OK_REG && x->kind == OK_REG && k->r[x->reg->num].konst == K_IMM) {
    const struct ptx_opnd *s = x; /* a variable's address, say, to which an index is added */
    x = y;
    y = s;
  }
  if (x->kind != OK_REG) return false;
  if (y->kind == OK_IMM) *c = y->imm;
  else if (y->kind == OK_REG && k->r[y->reg->num].konst == K_IMM) *c = k->r[y->reg->num].imm;
  else return false;
  if (i->op == OP_SUB) *c = -*c;
  *base = x->reg->num;
  return true;
}

/* The variable of a constant register; NULL: a number. */
const struct ptx_var *back_named(const struct back *k, uint16_t r) {
  const struct ptx_inst *d = back_single(k, r);
  return d && d->op == OP_MOV && d->nops == 2 && d->ops[1].kind == OK_VAR ? d->ops[1].var : NULL;
}

static const struct ptx_var *added_variable(const struct back *k, const struct ptx_inst *i) {
  for (uint32_t q = 1; q < i->nops; q++) {
    const struct ptx_var *v = i->ops[q].kind == OK_REG && i->op != OP_CVTA ? back_named(k, i->ops[q].reg->num) : NULL;
    if (v) return v;
  }
  return NULL;
}

struct place back_place(const struct back *k, const struct ptx_opnd *m) {
  struct place p = {.off = m->imm, .var = m->var, .root = m->var};
  if (!m->reg) return p;
  p.base = m->reg->num;
  for (struct ptx_inst *d = back_single(k, p.base); d; d = back_single(k, p.base)) {
    int64_t c;
    uint16_t base;
    const struct ptx_var *v = added_variable(k, d);
    bool adds = back_adds(k, d, &c, &base) && k->r[base].def != NODE_NONE;
    if (v && adds && p.var) break;
    if (!p.root && v) p.root = v;
    if (!adds) break;
    if (v) p.var = v;
    p.base = base;
    p.off += c;
  }
  const struct ptx_var *v = back_named(k, p.base);
  if (v && !p.root) p.root = v;
  return p;
}

static const struct ptx_opnd *address(const struct ptx_inst *i) {
  for (uint32_t q = 0; q < i->nops; q++)
    if (i->ops[q].kind == OK_MEM) return &i->ops[q];
  return NULL;
}

static uint32_t bytes_of(const struct ptx_inst *i) {
  uint32_t n = ptx_has(i, M_V2) ? 2 : ptx_has(i, M_V4) ? 4 : ptx_has(i, M_V8) ? 8 : 1;
  return n * ptx_type_bytes[i->types[0]];
}

bool back_may_alias(const struct back *k, const struct node *x, const struct node *y) {
  if (x->space != y->space) return x->space == SPACE_GENERIC || y->space == SPACE_GENERIC;
  bool simple = (x->in->op == OP_LD || x->in->op == OP_ST || x->in->op == OP_ATOM || x->in->op == OP_RED) &&
                (y->in->op == OP_LD || y->in->op == OP_ST || y->in->op == OP_ATOM || y->in->op == OP_RED);
  const struct ptx_opnd *mx = address(x->in), *my = address(y->in);
  if (!simple || !mx || !my || mx->n || my->n) return true;
  struct place p = back_place(k, mx), q = back_place(k, my);
  if (p.root && q.root && p.root != q.root && !p.root->unsized && !q.root->unsized) return false;
  bool known = !p.base || k->r[p.base].def != NODE_NONE;
  if (!known || p.base != q.base || p.var != q.var) return true;
  return p.off < q.off + bytes_of(y->in) && q.off < p.off + bytes_of(x->in);
}

/* lower_ctl.c - branches, calls, barriers, votes, shuffles, textures: instructions that involve more than one lane. */
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/run.h"

static struct xopnd argument(struct lowering *l, const struct ptx_opnd *v) {
  if (v->kind == OK_VAR && v->var->space == SP_PARAM)
    return (struct xopnd){.off = (uint32_t)v->var->addr, .kind = 1, .size = (uint32_t)v->var->bytes};
  if (v->kind == OK_REG) {
    uint32_t b = slot_bytes(v->reg->type);
    return (struct xopnd){
        .off = l->reg_off[v->reg->num], .bytes = b >= LANES ? (uint8_t)(b / LANES) : 4, .kind = b == 4 ? 3 : 0};
  }
  if (v->kind == OK_IMM)
    return (struct xopnd){.off = lower_operand(l, v, v->is_float && !v->is_f32 ? T_B64 : T_B64), .bytes = 8};
  return (struct xopnd){.off = OFF_NONE, .kind = 2};
}

static bool lower_call(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  struct xaux *a = lower_aux(l);
  const struct ptx_opnd *ret = &i->ops[0], *fn = &i->ops[1], *args = &i->ops[2];
  a->n = args->n;
  a->nret = ret->n;
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, a->n + a->nret + 1);
  for (uint32_t k = 0; k < a->n; k++) a->v[k] = argument(l, &args->vec[k]);
  for (uint32_t k = 0; k < a->nret; k++) a->v[a->n + k] = argument(l, &ret->vec[k]);
  a->inst = i;
  o->aux = a;
  o->cls = XC_CALL;
  o->id = X_nop;
  if (fn->kind == OK_REG) {
    o->a = l->reg_off[fn->reg->num];
    return true;
  }
  if (fn->kind != OK_FUNC) return lower_malformed(l, i, "the target is no function");
  if (children_known(fn->func->name)) { /* also where NVIDIA's device runtime defines it by calls of its driver */
    a->name = fn->func->name;
    return true;
  }
  const struct ptx_func *f = fn->func->def;
  if (!f)
    return ptx_error(l->m->ptx, (struct ptx_place){l->f->text, fn->line, fn->col}, ERR_UNSUPPORTED, l->e,
                     "the function '%s' is defined in none of the texts and not built in", fn->func->name);
  if (!f->has_body) {
    a->name = f->name;
    return true;
  }
  a->func = lowered_function(l->m, f);
  if (!a->func) return lower_malformed(l, i, "the target has no code");
  if (f->entry) return lower_malformed(l, i, "a kernel cannot be called");
  if (f->nparams != a->n)
    return lower_malformed(l, i, "the number of arguments differs from the function's parameters");
  o->target = a->func->entry;
  return true;
}

static bool lower_brx(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (i->nops != 2 || i->ops[0].kind != OK_REG || i->ops[1].kind != OK_TABLE)
    return lower_malformed(l, i, "expected an index register and a list of targets");
  struct xaux *a = lower_aux(l);
  a->ntargets = (uint32_t)i->ops[1].imm;
  a->targets = ARENA_ARRAY(&l->m->arena, uint32_t, a->ntargets);
  for (uint32_t k = 0; k < a->ntargets; k++) {
    if (i->ops[1].vec[k].kind != OK_LABEL) return lower_malformed(l, i, "a target is no label");
    a->targets[k] = l->pc0 + (uint32_t)i->ops[1].vec[k].imm;
  }
  o->a = l->reg_off[i->ops[0].reg->num];
  o->aux = a;
  o->cls = XC_BRX;
  return set_xop(o, X_nop);
}

/* bar{.warp}.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, p */
static bool lower_barrier(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  bool red = ptx_has(i, M_RED);
  if (ptx_has(i, M_WARP)) { /* lanes of a warp always run together here */
    return set_xop(o, X_nop);
  }
  if (ptx_has(i, M_CLUSTER)) {
    o->sub = ptx_has(i, M_ARRIVE) ? CLUSTER_ARRIVE : CLUSTER_WAIT;
    o->cls = XC_BARRIER;
    return set_xop(o, X_nop);
  }
  struct xaux *a = lower_aux(l);
  int n = 0, nops = i->nops;
  if (red) {
    if (nops < 3) return lower_malformed(l, i, "too few operands");
    bool popc = ptx_has(i, M_POPC);
    o->d = lower_operand(l, &i->ops[n++], popc ? T_U32 : T_PRED);
    const struct ptx_opnd *p = &i->ops[nops - 1];
    if (p->kind == OK_IMM) o->p = lower_const(l->m, p->imm ? FULL_MASK : 0, 4);
    else if (p->kind == OK_REG) o->p = l->reg_off[p->reg->num];
    else return lower_refuse(l, i, "this operand as predicate");
    if (p->neg) o->flags |= XF_NEG_C;
    a->op = popc ? 0 : ptx_has(i, M_AND) ? 1 : 2;
    nops--;
  }
  o->a = n < nops ? lower_operand(l, &i->ops[n++], T_U32) : lower_const(l->m, 0, 4);
  if (n < nops) o->b = lower_operand(l, &i->ops[n++], T_U32);
  o->sub = red ? 2 : ptx_has(i, M_ARRIVE) ? 1 : 0;
  o->aux = a;
  o->cls = XC_BARRIER;
  return set_xop(o, X_nop);
}

static bool lower_vote(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  bool ballot = ptx_has(i, M_BALLOT);
  if (i->nops < 2) return lower_malformed(l, i, "too few operands");
  o->d = lower_operand(l, &i->ops[0], ballot ? T_B32 : T_PRED);
  if (i->ops[1].kind == OK_IMM) o->p = lower_const(l->m, i->ops[1].imm ? 0xFFFFFFFFu : 0, 4);
  else if (i->ops[1].kind == OK_REG) o->p = l->reg_off[i->ops[1].reg->num];
  else return lower_malformed(l, i, "expected a predicate");
  if (i->ops[1].neg) o->flags |= XF_NEG_C;
  if (i->nops > 2) o->a = lower_operand(l, &i->ops[2], T_B32);
  o->sub = ballot ? 3 : ptx_has(i, M_ALL) ? 0 : ptx_has(i, M_ANY) ? 1 : 2;
  return set_xop(o, X_vote);
}

static bool lower_shfl(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  o->d = lower_operand(l, &i->ops[0], T_B32);
  if (i->ops[0].reg2) o->d2 = l->reg_off[i->ops[0].reg2->num];
  o->a = lower_operand(l, &i->ops[1], T_B32);
  o->b = lower_operand(l, &i->ops[2], T_B32);
  o->c = lower_operand(l, &i->ops[3], T_B32);
  o->sub = ptx_has(i, M_UP) ? 0 : ptx_has(i, M_DOWN) ? 1 : ptx_has(i, M_BFLY) ? 2 : 3;
  return set_xop(o, X_shfl);
}

static bool lower_match(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  if (i->nops != 3) return lower_malformed(l, i, "expected three operands");
  o->d = lower_operand(l, &i->ops[0], T_B32);
  if (i->ops[0].reg2) o->d2 = l->reg_off[i->ops[0].reg2->num];
  o->a = lower_operand(l, &i->ops[1], t);
  o->b = lower_operand(l, &i->ops[2], T_B32);
  if (ptx_type_bytes[t] == 8) o->flags |= XF_SRC64;
  o->sub = ptx_has(i, M_ALL);
  return set_xop(o, X_match);
}

static bool lower_redux(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  o->d = lower_operand(l, &i->ops[0], i->types[0]);
  o->a = lower_operand(l, &i->ops[1], i->types[0]);
  o->b = lower_operand(l, &i->ops[2], T_B32);
  o->sub = ptx_has(i, M_ADD)   ? 0
           : ptx_has(i, M_MIN) ? 1
           : ptx_has(i, M_MAX) ? 2
           : ptx_has(i, M_AND) ? 3
           : ptx_has(i, M_OR)  ? 4
                               : 5;
  return set_xop(o, X_redux);
}

static bool lower_alloca(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  o->d = lower_operand(l, &i->ops[0], t);
  if (ptx_type_bytes[t] == 8) o->flags |= XF_DST64;
  if (i->op == OP_STACKSAVE) return set_xop(o, X_stacksave);
  if (i->op == OP_STACKRESTORE) {
    o->a = o->d;
    return set_xop(o, X_stackrestore);
  }
  if (i->nops < 2) return lower_malformed(l, i, "too few operands");
  o->a = lower_operand(l, &i->ops[1], t);
  o->imm = i->nops > 2 ? (uint64_t)i->ops[2].imm : 8;
  return set_xop(o, X_alloca);
}

bool lower_texture(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_matrix(struct lowering *l, const struct ptx_inst *i, struct xop *o);

/* Instructions that exchange values between lanes of a warp. */
static bool lower_lanes(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  switch (i->op) {
  case OP_VOTE:
    return lower_vote(l, i, o);
  case OP_SHFL:
    return lower_shfl(l, i, o);
  case OP_MATCH:
    return lower_match(l, i, o);
  case OP_REDUX:
    return lower_redux(l, i, o);
  default: /* activemask */
    o->d = lower_operand(l, &i->ops[0], T_B32);
    return set_xop(o, X_activemask);
  }
}

bool lower_special(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  switch (i->op) {
  case OP_BRA:
    o->cls = XC_BRANCH;
    return set_xop(o, X_nop);
  case OP_BRX:
    return lower_brx(l, i, o);
  case OP_CALL:
    return lower_call(l, i, o);
  case OP_RET:
    o->cls = l->f->entry ? XC_EXIT : XC_RET;
    return set_xop(o, X_nop);
  case OP_EXIT:
    o->cls = XC_EXIT;
    return set_xop(o, X_nop);
  case OP_TRAP:
    o->cls = XC_TRAP;
    if (i->refused) lower_refusal(l->m, o, i->refused);
    return set_xop(o, X_nop);
  case OP_BAR:
  case OP_BARRIER:
    return lower_barrier(l, i, o);
  case OP_MEMBAR:
  case OP_FENCE:
    return set_xop(o, X_fence);
  case OP_PREFETCH:
  case OP_PREFETCHU:
  case OP_DISCARD:
  case OP_NANOSLEEP:
  case OP_PMEVENT:
  case OP_BRKPT:
    return set_xop(o, X_nop);
  case OP_ALLOCA:
  case OP_STACKSAVE:
  case OP_STACKRESTORE:
    return lower_alloca(l, i, o);
  case OP_TEX:
  case OP_TLD4:
  case OP_TXQ:
  case OP_SUQ:
  case OP_SULD:
  case OP_SUST:
  case OP_SURED:
  case OP_ISTYPEP:
    return lower_texture(l, i, o);
  case OP_MBARRIER:
  case OP_ELECT:
  case OP_MAPA:
  case OP_GETCTARANK:
  case OP_CREATEPOLICY:
  case OP_GRIDDEPCONTROL:
  case OP_SETMAXNREG:
  case OP_APPLYPRIORITY:
    return lower_sm90(l, i, o);
  case OP_WMMA:
  case OP_MMA:
  case OP_LDMATRIX:
  case OP_MOVMATRIX:
    return lower_matrix(l, i, o);
  case OP_VOTE:
  case OP_SHFL:
  case OP_MATCH:
  case OP_REDUX:
  case OP_ACTIVEMASK:
    return lower_lanes(l, i, o);
  default:
    return ptx_is_video(i->op) ? lower_video(l, i, o) : lower_refuse(l, i, "");
  }
}

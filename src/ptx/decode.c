/* decode.c - struct inst for the timing model: pipe, latency class, registers, memory access.
 *
 * The classes follow the reference machine (docs/explanation/gpu-model.md): which pipe and latency an opcode has
 * depends on opcode and first type; destination and source registers are listed as its pre-decoder lists them.
 */
#include <string.h>

#include "ptx/mach.h"
#include "ptx/ptx.h"

static enum lat_class latency(uint8_t family, char kind, uint32_t bytes) {
  bool f32 = kind == 'f' && bytes == 4, f64 = kind == 'f' && bytes == 8;
  switch (family) {
  case LF_ADD:
    return f64 ? LAT_F64_ADD : f32 ? LAT_F32_ADD : LAT_INT_ADD;
  case LF_MAX:
    return f64 ? LAT_F64_MAX : f32 ? LAT_F32_MAX : LAT_INT_MAX;
  case LF_MUL:
    return f64 ? LAT_F64_MUL : f32 ? LAT_F32_MUL : LAT_INT_MUL;
  case LF_MAD:
    return f64 ? LAT_F64_FMA : f32 ? LAT_F32_FMA : LAT_INT_MAD;
  case LF_DIV:
    return f64 ? LAT_F64_DIV : f32 ? LAT_F32_DIV : LAT_INT_DIV;
  case LF_MUL24:
    return LAT_INT_MUL24;
  case LF_MAD24:
    return LAT_INT_MAD24;
  case LF_SFU:
    return LAT_SFU;
  case LF_SHFL:
    return LAT_SHFL;
  default:
    return LAT_ONE;
  }
}

/* What the GTX480 does alike and later GPUs on different pipes. */
static uint8_t class_of_simple(const struct ptx_inst *i) {
  switch (i->op) {
  case OP_MOV:
  case OP_CVTA:
    return LAT_MOV;
  case OP_SETP:
  case OP_SET:
    return LAT_CMP;
  case OP_CVT:
    for (uint32_t k = 0; k < i->ntypes; k++)
      if (ptx_type_kinds[i->types[k]] == 'f') return LAT_CVT;
    return LAT_MOV;
  case OP_POPC:
  case OP_CLZ:
  case OP_BREV:
  case OP_BFIND:
    return LAT_BIT;
  default:
    return LAT_ONE;
  }
}

static enum mem_space space_of_operand(const struct ptx_inst *i, const struct ptx_opnd *mem, bool entry) {
  if (i->op == OP_TEX || i->op == OP_TLD4) return SPACE_TEX;
  if (i->op == OP_SULD || i->op == OP_SUST || i->op == OP_SURED) return SPACE_GLOBAL;
  if (ptx_has(i, M_GLOBAL)) return SPACE_GLOBAL;
  if (ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA) || ptx_has(i, M_SHARED_CLUSTER)) return SPACE_SHARED;
  if (ptx_has(i, M_LOCAL)) return SPACE_LOCAL;
  if (ptx_has(i, M_CONST)) return SPACE_CONST;
  if (ptx_has(i, M_PARAM) || ptx_has(i, M_PARAM_ENTRY) || ptx_has(i, M_PARAM_FUNC)) {
    bool kernel = entry && (!mem || !mem->var || mem->var->formal);
    return kernel ? SPACE_PARAM : SPACE_LOCAL; /* arguments of calls live in the thread's stack */
  }
  return SPACE_GENERIC;
}

static enum cache_op cache_of(const struct ptx_inst *i) {
  static const struct {
    enum ptx_mod m;
    enum cache_op c;
  } ops[] = {{M_CA, CACHE_CA}, {M_CG, CACHE_CG}, {M_CS, CACHE_CS}, {M_LU, CACHE_LU},
             {M_CV, CACHE_CV}, {M_WB, CACHE_WB}, {M_WT, CACHE_WT}, {M_NC, CACHE_NC}};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (ptx_has(i, ops[k].m) && !(ops[k].m == M_CA && ptx_has(i, M_NC))) return ops[k].c;
  if (i->op == OP_ST || i->op == OP_SUST) return CACHE_WB;
  if (i->op == OP_ATOM || i->op == OP_RED) return CACHE_CG;
  return CACHE_CA;
}

/* Priority that one of the modifiers names; HINT_NONE: none does. */
static enum cache_hint hint_of(const struct ptx_inst *i, bool l1) {
  static const struct {
    enum ptx_mod l1, l2;
    enum cache_hint hint;
  } rows[] = {{M_L1_EN, M_L2_EN, HINT_NORMAL},
              {M_L1_EF, M_L2_EF, HINT_FIRST},
              {M_L1_EL, M_L2_EL, HINT_LAST},
              {M_L1_EU, M_L2_EU, HINT_UNCHANGED},
              {M_L1_NO, M_COUNT, HINT_NO_ALLOCATE}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    enum ptx_mod m = l1 ? rows[k].l1 : rows[k].l2;
    if (m != M_COUNT && ptx_has(i, m)) return rows[k].hint;
  }
  return HINT_NONE;
}

/* The priority of a policy register: the primary one of the createpolicy that writes it, in the function's text. The
 * fraction of a fractional policy and the borders of a range are left out. HINT_NONE: written by something else. */
static enum cache_hint policy_of(const struct ptx_func *f, const struct ptx_reg *policy) {
  for (uint32_t n = 0; n < f->ncode; n++) {
    const struct ptx_inst *at = &f->code[n];
    uint32_t group = at->mach && !at->mach->own ? at->mach->ngroup : 1;
    for (uint32_t k = 0; k < group; k++) {
      const struct ptx_inst *i = at->mach && !at->mach->own ? &at->mach->group[k] : at;
      if (i->op == OP_CREATEPOLICY && i->nops && i->ops[0].kind == OK_REG && i->ops[0].reg == policy)
        return hint_of(i, false);
    }
  }
  return HINT_NONE;
}

static void decode_hints(const struct ptx_func *f, const struct ptx_inst *i, struct inst *out) {
  out->hint_l1 = (uint8_t)hint_of(i, true);
  out->hint_l2 = (uint8_t)hint_of(i, false);
  if (!ptx_has(i, M_L2_HINT) || !i->nops) return;
  const struct ptx_opnd *last = &i->ops[i->nops - 1]; /* the policy comes last */
  if (last->kind == OK_REG) out->hint_l2 = (uint8_t)policy_of(f, last->reg);
}

static void add_dst(struct inst *o, const struct ptx_reg *r) {
  if (!r || o->ndst == INST_MAX_DST) return;
  o->dst_arch[o->ndst] = r->arch;
  o->dst[o->ndst++] = r->num;
}

static void add_src(struct inst *o, const struct ptx_reg *r) {
  if (!r || o->nsrc == INST_MAX_SRC) return;
  o->src_arch[o->nsrc] = r->arch;
  o->src[o->nsrc++] = r->num;
}

static void add_operand(struct inst *out, const struct ptx_opnd *o, bool dst) {
  if (o->kind == OK_MEM) {
    if (o->reg) out->addr_reg = o->reg->num, out->addr_arch = o->reg->arch;
    for (uint32_t k = 0; k < o->n; k++) add_operand(out, &o->vec[k], false);
    return;
  }
  void (*add)(struct inst *, const struct ptx_reg *) = dst ? add_dst : add_src;
  if (o->kind == OK_REG) {
    add(out, o->reg);
    add(out, o->reg2);
  } else if (o->kind == OK_VEC || o->kind == OK_LIST) {
    for (uint32_t k = 0; k < o->n; k++) add_operand(out, &o->vec[k], dst);
  }
}

static void decode_memory(const struct ptx_func *f, const struct ptx_inst *i, struct inst *out) {
  const struct ptx_opnd *mem = NULL;
  for (uint32_t k = 0; k < i->nops && !mem; k++)
    if (i->ops[k].kind == OK_MEM) mem = &i->ops[k];
  out->space = (uint8_t)space_of_operand(i, mem, f->entry);
  out->cache_op = (uint8_t)cache_of(i);
  decode_hints(f, i, out);
  out->elem_bytes = i->ntypes ? ptx_type_bytes[i->types[0]] : 4;
  out->vec = ptx_has(i, M_V2) ? 2 : ptx_has(i, M_V4) ? 4 : ptx_has(i, M_V8) ? 8 : 1;
  if (i->op == OP_TEX || i->op == OP_TLD4) out->vec = 1;
  if (i->op == OP_SULD || i->op == OP_SUST) out->elem_bytes = ptx_type_bytes[i->types[0]];
  if (i->op == OP_CP) {
    out->elem_bytes = 4;
    if (i->nops > 2 && i->ops[2].kind == OK_IMM) out->vec = (uint8_t)(i->ops[2].imm / 4);
    if (!ptx_has(i, M_GLOBAL)) out->kind = KIND_ALU, out->space = SPACE_NONE;
    else out->space = SPACE_GLOBAL;
  }
  if (ptx_has(i, M_VOLATILE)) out->flags |= INST_VOLATILE;
  if (i->op == OP_RED) out->flags |= INST_NO_RESULT;
}

/* cp.async; those of bulk copies and mbarriers are performed at once. */
static uint8_t async_of(const struct ptx_inst *i) {
  if (i->op != OP_CP || ptx_has(i, M_BULK) || ptx_has(i, M_MBARRIER)) return ASYNC_NONE;
  if (ptx_has(i, M_COMMIT_GROUP)) return ASYNC_COMMIT;
  if (ptx_has(i, M_WAIT_ALL)) return ASYNC_WAIT_ALL;
  if (ptx_has(i, M_WAIT_GROUP) && i->nops && i->ops[0].kind == OK_IMM) {
    int64_t n = i->ops[0].imm, most = UINT8_MAX - ASYNC_WAIT;
    return (uint8_t)(ASYNC_WAIT + (n < 0 ? 0 : n > most ? most : n));
  }
  return ptx_has(i, M_ASYNC) && ptx_has(i, M_GLOBAL) ? ASYNC_COPY : ASYNC_NONE;
}

/* Of a machine instruction: pipe and class by its own operation, registers as the back end lists them; the memory
 * access is that of the PTX that it executes. */
static void decode_machine(const struct ptx_module *m, const struct ptx_func *f, const struct ptx_inst *i,
                           struct inst *out) {
  const struct ptx_mach *a = i->mach;
  const struct mach_info *info = &mach_infos[a->op];
  const struct ptx_inst *p = a->own ? i : a->ngroup ? &a->group[a->main] : NULL;
  bool memory = info->pipe == PIPE_MEM && p;
  struct inst d = {.kind = KIND_ALU};
  if (p && (memory || a->own)) {
    struct ptx_inst plain = *p;
    plain.mach = NULL;
    ptx_decode(m, f, &plain, &d);
  }
  *out = (struct inst){.kind = d.kind,
                       .space = d.space,
                       .cache_op = d.cache_op,
                       .hint_l1 = d.hint_l1,
                       .hint_l2 = d.hint_l2,
                       .async = d.async,
                       .elem_bytes = d.elem_bytes,
                       .vec = d.vec,
                       .pipe = info->pipe,
                       .lat = info->lat,
                       .flags = info->flags | (d.flags & (INST_VOLATILE | INST_NO_RESULT | INST_PREDICATED)),
                       .pred = a->pred,
                       .addr_reg = d.kind == KIND_ATOM ? 0 : a->addr,
                       .addr_arch = a->addr_bank,
                       .nsrc = a->nsrc,
                       .ndst = a->ndst,
                       .operand = a->operand,
                       .ptx_line = i->line,
                       .src_line = i->src_line,
                       .src_file = (uint16_t)(i->src_file ? i->src_file + m->texts[f->text].file_base : 0)};
  if (memory || d.kind != KIND_ALU) out->pipe = d.pipe;
  if (!memory && info->pipe == PIPE_MEM) out->pipe = PIPE_SP; /* part of a sequence that touches no memory */
  memcpy(out->src, a->src, sizeof out->src);
  memcpy(out->dst, a->dst, sizeof out->dst);
  memcpy(out->src_arch, a->src_bank, sizeof out->src_arch);
  memcpy(out->dst_arch, a->dst_bank, sizeof out->dst_arch);
}

void ptx_decode(const struct ptx_module *m, const struct ptx_func *f, const struct ptx_inst *i, struct inst *out) {
  if (i->mach) {
    decode_machine(m, f, i, out);
    return;
  }
  const struct ptx_op_info *info = &ptx_ops[i->op];
  enum ptx_type t = i->ntypes ? i->types[0] : T_NONE;
  enum ptx_type ft = (i->op == OP_CVT || i->op == OP_SET || i->op == OP_SLCT) && i->ntypes > 1 ? i->types[1] : t;
  char kind = ptx_type_kinds[t];
  uint32_t bytes = ptx_type_bytes[t];
  *out = (struct inst){.kind = info->kind,
                       .async = async_of(i),
                       .ptx_line = i->line,
                       .src_line = i->src_line,
                       .src_file = (uint16_t)(i->src_file ? i->src_file + m->texts[f->text].file_base : 0)};
  out->lat = (uint8_t)latency(info->lat, t == T_F16X2 || t == T_BF16X2 || t == T_TF32 ? 'b' : kind, bytes);
  if (out->lat == LAT_ONE) out->lat = class_of_simple(i);
  if (ptx_type_kinds[ft] == 'f') out->flags |= INST_FLOAT;
  if (ft == T_F64) out->flags |= INST_F64;
  if (i->op == OP_RET && f->entry) out->kind = KIND_EXIT;
  if (i->op == OP_WMMA) out->kind = ptx_has(i, M_LOAD) ? KIND_LOAD : ptx_has(i, M_STORE) ? KIND_STORE : KIND_ALU;
  if (out->kind == KIND_LOAD || out->kind == KIND_STORE || out->kind == KIND_ATOM) decode_memory(f, i, out);
  bool mem = out->kind == KIND_LOAD || out->kind == KIND_STORE || out->kind == KIND_ATOM || out->kind == KIND_FENCE;
  bool sfu = info->lat == LF_SFU || info->lat == LF_DIV || (out->lat >= LAT_F64_ADD && out->lat <= LAT_F64_DIV);
  if (i->op == OP_MMA || (i->op == OP_WMMA && out->kind == KIND_ALU))
    out->lat = t == T_F16 ? LAT_TENSOR_F16 : LAT_TENSOR, sfu = true;
  out->pipe = mem ? PIPE_MEM : sfu ? PIPE_SFU : PIPE_SP;
  if (i->guard) out->pred = i->guard->num, out->flags |= INST_PREDICATED;
  bool has_dst = true;
  switch (i->op) {
  case OP_ST:
  case OP_BRA:
  case OP_RET:
  case OP_RED:
  case OP_SUST:
  case OP_SURED:
  case OP_NANOSLEEP:
  case OP_PREFETCH:
  case OP_CP:
  case OP_STACKRESTORE:
  case OP_SETMAXNREG:
    has_dst = false;
    break;
  case OP_MBARRIER:
    has_dst = i->nops && i->ops[0].kind != OK_MEM;
    break;
  case OP_BAR:
  case OP_BARRIER:
    has_dst = ptx_has(i, M_RED);
    break;
  case OP_WMMA:
    has_dst = !ptx_has(i, M_STORE);
    break;
  default:
    break;
  }
  for (uint32_t k = 0; k < i->nops; k++) add_operand(out, &i->ops[k], has_dst && k == 0);
  /* The reference does not list the address of an atomic among its operands: the atomic neither waits for that
   * register nor reads its bank. It still executes in order. */
  if (i->op == OP_ATOM) out->addr_reg = out->addr_arch = 0;
  /* The reference's scoreboard checks the first three scalar sources only; bfi and shfl have four. */
  bool scalars = true;
  for (uint32_t k = 0; k < i->nops; k++)
    scalars &= i->ops[k].kind != OK_VEC && i->ops[k].kind != OK_LIST && !i->ops[k].n;
  if (out->nsrc > 3 && scalars) out->flags |= INST_WAITS_3;
}

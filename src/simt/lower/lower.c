/* lower.c - lowers a linked PTX module to executable code: frames, addresses of variables, immediates, call graph. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "back/back.h"
#include "ptx/mach.h"
#include "simt/core/lower.h"
#include "base/hash.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"

uint32_t slot_bytes(enum ptx_type t) {
  if (t == T_B128) return 16 * LANES; /* the lower halves of all lanes, then the upper ones */
  return t == T_PRED ? 4 : ptx_type_bytes[t] > 4 ? 8 * LANES : 4 * LANES;
}

struct pooled {
  uint64_t bits;
  uint32_t bytes, at; /* bytes 0: a free entry */
};

static struct pooled *find_pooled(struct pooled *t, uint32_t mask, uint64_t bits, uint32_t bytes) {
  uint32_t k = (uint32_t)hash_u64(bits + bytes) & mask;
  while (t[k].bytes && (t[k].bits != bits || t[k].bytes != bytes)) k = (k + 1) & mask;
  return &t[k];
}

static void grow_pooled(struct simt_module *m) {
  uint32_t mask = m->pooled_mask ? 2 * m->pooled_mask + 1 : 63;
  struct pooled *t = mem_zeroed(mask + 1ull, sizeof *t);
  for (uint32_t k = 0; m->pooled && k <= m->pooled_mask; k++)
    if (m->pooled[k].bytes) *find_pooled(t, mask, m->pooled[k].bits, m->pooled[k].bytes) = m->pooled[k];
  free(m->pooled);
  m->pooled = t;
  m->pooled_mask = mask;
}

struct xfunc *lowered_function(const struct simt_module *m, const struct ptx_func *f) {
  return f->lowered < m->nfuncs && m->funcs[f->lowered].f == f ? &m->funcs[f->lowered] : NULL;
}

struct xfunc *function_at(const struct simt_module *m, uint32_t pc) {
  uint32_t lo = 0, hi = m->nfuncs; /* in the order of their entries, without gaps */
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (m->funcs[mid].entry <= pc) lo = mid;
    else hi = mid;
  }
  return hi && pc >= m->funcs[lo].entry && pc < m->funcs[lo].end ? &m->funcs[lo] : NULL;
}

uint32_t lower_const(struct simt_module *m, uint64_t bits, uint32_t bytes) {
  uint32_t size = bytes * LANES;
  if (bytes < 8) bits &= (1ull << 8 * bytes) - 1;
  if (2 * m->pooled_used >= m->pooled_mask) grow_pooled(m);
  struct pooled *in = find_pooled(m->pooled, m->pooled_mask, bits, bytes);
  if (in->bytes) return in->at | OFF_CONST;
  if (m->pool_bytes + size > m->pool_cap) {
    uint32_t cap = m->pool_cap ? m->pool_cap * 2 : 65536;
    char *p = aligned_alloc(128, cap);
    CHECK(p, "out of memory");
    if (m->pool_bytes) memcpy(p, m->pool, m->pool_bytes);
    free(m->pool);
    m->pool = p;
    m->pool_cap = cap;
  }
  uint32_t at = m->pool_bytes;
  for (uint32_t i = 0; i < LANES; i++) memcpy(m->pool + at + i * bytes, &bits, bytes);
  m->pool_bytes += size;
  *in = (struct pooled){bits, bytes, at};
  m->pooled_used++;
  return at | OFF_CONST;
}

/* ---- variables ---- */

static uint32_t ref_alignment(uint64_t bytes, uint32_t align) { /* the reference's padding rule, and .align */
  uint32_t pad = bytes < 128 && bytes && !(bytes & (bytes - 1)) ? (uint32_t)bytes : 128;
  return pad > align ? pad : align;
}

enum { REF_BYTES = 4 }; /* a texture, sampler or surface reference in the reference's space of variables */

static bool place_variables(struct simt_module *m, struct err *e) {
  struct ptx_module *p = m->ptx;
  for (uint32_t i = 0; i < p->nvars; i++) {
    struct ptx_var *v = p->vars[i];
    if (v->def != v || (v->space != SP_GLOBAL && v->space != SP_CONST)) continue;
    if (v->type == T_TEXREF || v->type == T_SAMPLERREF || v->type == T_SURFREF) {
      mem_pass_symbol(m->s, REF_BYTES, 1); /* bound by its name; only the variables behind it lie higher */
      continue;
    }
    uint64_t bytes = v->bytes ? v->bytes : 1;
    v->addr = v->managed ? simt_mem_alloc(m->s, bytes, SIMT_MEM_MANAGED, v->name)
                         : mem_alloc_symbol(m->s, bytes, v->align, v->name);
    if (!v->addr)
      return ptx_error(p, (struct ptx_place){v->text, v->line, v->col}, ERR_PROGRAM, e,
                       "no room for the %llu bytes of '%s'", (unsigned long long)v->bytes, v->name);
  }
  return true;
}

/* A constant bank has one limit for all texts together. */
static bool constants_fit(const struct simt_module *m, struct err *e) {
  uint64_t bytes[256] = {0};
  for (uint32_t i = 0; i < m->ptx->nvars; i++) {
    const struct ptx_var *v = m->ptx->vars[i];
    if (v->space != SP_CONST || v->def != v) continue;
    bytes[v->bank] += v->bytes;
    if (bytes[v->bank] > PTX_CONST_MOST)
      return ptx_error(m->ptx, (struct ptx_place){v->text, v->line, v->col}, ERR_INPUT, e,
                       "with '%s' the constants have %llu bytes; the limit is %llu", v->name,
                       (unsigned long long)bytes[v->bank], (unsigned long long)PTX_CONST_MOST);
  }
  return true;
}

static void init_variables(struct simt_module *m) {
  struct ptx_module *p = m->ptx;
  for (uint32_t i = 0; i < p->nvars; i++) {
    struct ptx_var *v = p->vars[i];
    if (v->def != v || (v->space != SP_GLOBAL && v->space != SP_CONST) || !v->bytes || !v->addr) continue;
    char *host = simt_mem_at(m->s, v->addr, v->bytes);
    for (uint32_t k = 0; k < v->inits && (uint64_t)(k + 1) * v->elem_bytes <= v->bytes; k++) {
      const struct ptx_init *in = &v->init[k];
      uint64_t x = in->bits;
      if (in->var) x += in->var->def->addr;
      if (in->func) {
        const struct ptx_func *f = in->func->def;
        const struct xfunc *xf = f ? lowered_function(m, f) : NULL;
        if (xf) x += CODE_BASE + 8ull * xf->entry;
      }
      if (in->shift != 0xff) x = x >> in->shift & 0xff;
      memcpy(host + (size_t)k * v->elem_bytes, &x, v->elem_bytes > 8 ? 8 : v->elem_bytes);
    }
  }
}

void simt_reset_variables(struct simt_module *m) {
  for (uint32_t i = 0; i < m->ptx->nvars; i++) {
    const struct ptx_var *v = m->ptx->vars[i];
    if (v->def != v || (v->space != SP_GLOBAL && v->space != SP_CONST) || !v->bytes || !v->addr) continue;
    memset(simt_mem_at(m->s, v->addr, v->bytes), 0, v->bytes);
  }
  init_variables(m);
}

/* Place `v` at the next multiple of `align` from *at on. */
static bool place_var(struct ptx_module *p, struct ptx_var *v, uint64_t align, uint64_t most, uint32_t *at,
                      struct err *e) {
  uint64_t from = (*at + align - 1) & ~(align - 1);
  if (v->bytes > most || from > most - v->bytes)
    return ptx_error(p, (struct ptx_place){v->text, v->line, v->col}, ERR_INPUT, e,
                     "with '%s' the .%s variables have %llu bytes; the limit is %llu", v->name,
                     v->space == SP_SHARED  ? "shared"
                     : v->space == SP_LOCAL ? "local"
                                            : "param",
                     (unsigned long long)(from + v->bytes), (unsigned long long)most);
  v->addr = from;
  *at = (uint32_t)(from + v->bytes);
  return true;
}

/* ---- shared memory: a variable used by one kernel only is placed there; others at one offset for all ---- */

static void mark_shared(struct simt_module *m, struct xfunc *xf, const struct ptx_opnd *o) {
  if (o->var && o->var->space == SP_SHARED) xf->uses_shared[m->shared_of[o->var->def->serial]] = 1;
  for (uint32_t k = 0; (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM) && k < o->n; k++)
    mark_shared(m, xf, &o->vec[k]);
}

/* The system's kilobyte of shared memory lies at its start, as on sm_80 and later; it is reserved only where it is
 * used. */
static bool asks_for_reserved(const struct ptx_inst *i) {
  for (uint32_t k = 0; k < i->nops; k++)
    if (i->ops[k].kind == OK_SREG && i->ops[k].sreg >= SR_RESERVED_BEGIN && i->ops[k].sreg <= SR_RESERVED_END)
      return true;
  return false;
}

/* Marks the shared variables of an instruction; true if it uses the reserved part. */
static bool mentions(struct simt_module *m, struct xfunc *xf, const struct ptx_inst *i) {
  bool reserved = asks_for_reserved(i);
  for (uint32_t q = 0; q < i->nops; q++) mark_shared(m, xf, &i->ops[q]);
  for (uint32_t g = 0; i->mach && g < i->mach->ngroup; g++) reserved |= mentions(m, xf, &i->mach->group[g]);
  return reserved;
}

static bool place_one_shared(struct simt_module *m, struct ptx_var *v, uint32_t *at, struct err *e) {
  return place_var(m->ptx, v, ref_alignment(v->bytes, v->align), PTX_SHARED_MOST, at, e);
}

/* Shared variables by index in `all`, and the functions that use them. */
static bool place_shared_of(struct simt_module *m, struct ptx_var *const *all, uint32_t common, struct err *e) {
  uint32_t n = m->shared_vars;
  bool dynamic_in_func = false;
  for (uint32_t s = 0; s < n; s++) {
    struct ptx_var *v = all[s];
    if (v->def != v) continue;
    uint32_t users = 0;
    bool func = false;
    for (uint32_t k = 0; k < m->nfuncs; k++)
      if (m->funcs[k].uses_shared[s]) users++, func |= !m->funcs[k].f->entry;
    if (v->is_extern || v->unsized) dynamic_in_func |= func;
    else if (users > 1 || func) {
      if (!place_one_shared(m, v, &common, e)) return false;
      v->common = true;
    }
  }
  uint32_t most = 0;
  for (uint32_t k = 0; k < m->nfuncs; k++) {
    struct xfunc *xf = &m->funcs[k];
    xf->shared_bytes = common;
    for (uint32_t s = 0; s < n; s++) {
      struct ptx_var *v = all[s];
      if (v->def == v && xf->uses_shared[s] && !v->is_extern && !v->unsized && !v->common &&
          !place_one_shared(m, v, &xf->shared_bytes, e))
        return false;
    }
    if (xf->f->entry && xf->shared_bytes > most) most = xf->shared_bytes;
  }
  if (dynamic_in_func) /* its offset must not depend on the kernel */
    for (uint32_t k = 0; k < m->nfuncs; k++) m->funcs[k].shared_bytes = (most + 15) & ~15u;
  return true;
}

static bool place_shared(struct simt_module *m, struct err *e) {
  struct ptx_module *p = m->ptx;
  uint32_t common = 0;
  struct ptx_var **all = mem_zeroed(p->serials + 1, sizeof *all);
  m->shared_of = mem_zeroed(p->serials + 1, sizeof *m->shared_of);
  for (uint32_t i = 0; i < p->nvars; i++) all[p->vars[i]->serial] = p->vars[i];
  for (uint32_t k = 0; k < m->nfuncs; k++) {
    const struct ptx_func *f = m->funcs[k].f;
    for (uint32_t i = 0; i < f->nlocals; i++) all[f->locals[i]->serial] = f->locals[i];
  }
  m->shared_vars = 0;
  for (uint32_t s = 0; s < p->serials; s++)
    if (all[s] && all[s]->space == SP_SHARED) m->shared_of[s] = m->shared_vars, all[m->shared_vars++] = all[s];
  for (uint32_t k = 0; k < m->nfuncs; k++) {
    struct xfunc *xf = &m->funcs[k];
    xf->uses_shared = arena_alloc(&m->arena, m->shared_vars + 1);
    for (uint32_t i = 0; i < xf->f->ncode; i++)
      if (mentions(m, xf, &xf->f->code[i])) common = RESERVED_SHARED;
  }
  bool ok = place_shared_of(m, all, common, e);
  free(m->shared_of);
  m->shared_of = NULL;
  free(all);
  return ok;
}

/* ---- frames ---- */

static bool local_place(struct simt_module *m, struct ptx_var *v, uint32_t *at, struct err *e) {
  return place_var(m->ptx, v, v->space == SP_LOCAL ? ref_alignment(v->bytes, v->align) : v->align, PTX_LOCAL_MOST, at,
                   e);
}

/* Registers that may be written outside their stretch: results of atomics, which arrive when the memory performs them,
 * and formals and results of calls. They keep a slot of their own. */
static void mark_alone(const struct ptx_func *f, uint8_t *alone) {
  for (uint32_t i = 0; i < f->ncode; i++) {
    const struct ptx_inst *in = &f->code[i];
    if (in->op != OP_ATOM && in->op != OP_CALL) continue;
    uint16_t use[PTX_MAX_USES], def[PTX_MAX_USES];
    uint32_t nu, nd;
    ptx_uses(in, use, &nu, def, &nd);
    for (uint32_t k = 0; k < nd; k++) alone[def[k]] = 1;
  }
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->param_regs[i]) alone[f->param_regs[i]->num] = 1;
  if (f->ret_reg) alone[f->ret_reg->num] = 1;
  for (uint32_t r = 1; r <= f->nregs; r++) /* more than ptx_uses lists for one instruction: possibly incomplete */
    if (f->live_first[r] > f->live_last[r]) alone[r] = 1;
}

struct slot {
  uint32_t off, until; /* free after this instruction */
};

static int by_first(const void *a, const void *b, void *ctx) {
  const uint32_t *first = ctx, x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return first[x] != first[y] ? (first[x] < first[y] ? -1 : 1) : x < y ? -1 : x > y;
}

/* Slots of one size, shared by registers whose stretches do not overlap. Sharing is safe under divergence, as every
 * write is masked and each lane follows one path. Linear scan (Poletto and Sarkar, 1999). */
static uint32_t share_slots(const struct ptx_func *f, uint32_t bytes, const uint8_t *alone, uint32_t at,
                            uint32_t *reg_off) {
  uint32_t *order = mem_zeroed(f->nregs + 1, sizeof *order), n = 0, slots = 0;
  struct slot *s = mem_zeroed(f->nregs + 1, sizeof *s);
  for (uint32_t r = 1; r <= f->nregs; r++) {
    if (slot_bytes(f->regs[r]->type) != bytes) continue;
    if (!alone[r]) {
      order[n++] = r;
    } else if (f->live_first[r] <= f->live_last[r]) {
      reg_off[r] = at;
      at += bytes;
    } else {
      reg_off[r] = 0; /* never mentioned */
    }
  }
  qsort_r(order, n, sizeof *order, by_first, f->live_first);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t r = order[k], q = 0;
    while (q < slots && s[q].until >= f->live_first[r]) q++;
    if (q == slots) {
      s[slots++].off = at;
      at += bytes;
    }
    s[q].until = f->live_last[r];
    reg_off[r] = s[q].off;
  }
  free(order);
  free(s);
  return at;
}

/* Arguments, results and variables of a function in local memory. */
static bool place_locals(struct simt_module *m, struct xfunc *xf, struct err *e) {
  const struct ptx_func *f = xf->f;
  uint32_t local = 0;
  if (!f->entry) {
    if (f->ret && !local_place(m, f->ret, &local, e)) return false;
    for (uint32_t i = 0; i < f->nparams; i++)
      if (f->params[i] && !local_place(m, f->params[i], &local, e)) return false;
  }
  for (uint32_t i = 0; i < f->nlocals; i++)
    if ((f->locals[i]->space == SP_LOCAL || f->locals[i]->space == SP_PARAM) &&
        !local_place(m, f->locals[i], &local, e))
      return false;
  xf->local_bytes = (local + 15) & ~15u;
  return true;
}

static void place_frame(struct simt_module *m, struct xfunc *xf, uint32_t *reg_off) {
  const struct ptx_func *f = xf->f;
  uint8_t *alone = mem_zeroed(f->nregs + 1, 1);
  mark_alone(f, alone);
  uint32_t at = 0;
  for (uint32_t r = 1; r <= f->nregs; r++)
    if (slot_bytes(f->regs[r]->type) == 4) reg_off[r] = at, at += 4;
  at = (at + 127) & ~127u;
  at = share_slots(f, 4 * LANES, alone, at, reg_off);
  at = share_slots(f, 8 * LANES, alone, at, reg_off);
  at = share_slots(f, 16 * LANES, alone, at, reg_off);
  free(alone);
  xf->frame_bytes = at;
  xf->zero = ARENA_ARRAY(&m->arena, uint32_t, f->nregs + 1);
  xf->zero_bytes = ARENA_ARRAY(&m->arena, uint8_t, f->nregs + 1);
  for (uint32_t r = 1; r <= f->nregs; r++)
    if (f->live_in && (f->live_in[r / 64] >> (r % 64) & 1)) {
      xf->zero[xf->nzero] = reg_off[r];
      xf->zero_bytes[xf->nzero++] = (uint8_t)(slot_bytes(f->regs[r]->type) / 4);
    }
}

static void place_formals(struct simt_module *m, struct xfunc *xf, const uint32_t *reg_off) {
  const struct ptx_func *f = xf->f;
  xf->nformals = f->nparams;
  xf->formals = ARENA_ARRAY(&m->arena, struct xopnd, f->nparams);
  for (uint32_t i = 0; i < f->nparams; i++) {
    if (f->params[i])
      xf->formals[i] =
          (struct xopnd){.off = (uint32_t)f->params[i]->addr, .kind = 1, .size = (uint32_t)f->params[i]->bytes};
    else
      xf->formals[i] = (struct xopnd){.off = reg_off[f->param_regs[i]->num],
                                      .bytes = slot_bytes(f->param_regs[i]->type) / LANES
                                                   ? (uint8_t)(slot_bytes(f->param_regs[i]->type) / LANES)
                                                   : 4};
  }
  xf->ret.kind = 2;
  if (f->ret) xf->ret = (struct xopnd){.off = (uint32_t)f->ret->addr, .kind = 1, .size = (uint32_t)f->ret->bytes};
  else if (f->ret_reg)
    xf->ret = (struct xopnd){.off = reg_off[f->ret_reg->num], .bytes = (uint8_t)(slot_bytes(f->ret_reg->type) / LANES)};
}

static bool place_params(struct simt_module *m, struct simt_kernel *k, struct err *e) {
  const struct ptx_func *f = k->func->f;
  uint32_t *off = ARENA_ARRAY(&m->arena, uint32_t, f->nparams), *bytes = ARENA_ARRAY(&m->arena, uint32_t, f->nparams),
           at = 0;
  for (uint32_t i = 0; i < f->nparams; i++) {
    struct ptx_var *v = f->params[i];
    if (!v) continue;
    if (!place_var(m->ptx, v, v->align, PTX_PARAM_MOST, &at, e)) return false;
    off[i] = (uint32_t)v->addr;
    bytes[i] = (uint32_t)v->bytes;
  }
  k->info.params = f->nparams;
  k->info.param_offset = off;
  k->info.param_bytes = bytes;
  k->info.param_block_bytes = at;
  return true;
}

/* ---- call graph: deepest frames below a function ---- */

/* A function's own frame has at most 65,534 registers of 512 bytes and 512 KB of local memory. */
enum { DEEPEST_CALL = 10000, LARGEST_FRAME = 1 << 30 };

static bool deep_calls(struct simt_module *m, const struct xfunc *xf, struct err *e) {
  return ptx_error(m->ptx, (struct ptx_place){xf->f->text, xf->f->line, 1}, ERR_UNSUPPORTED, e,
                   "'%s' is called %u calls deep or with frames of more than %u bytes below it", xf->f->name,
                   DEEPEST_CALL, LARGEST_FRAME);
}

static bool visit_callees(struct simt_module *m, struct xfunc *xf, uint32_t depth, struct err *e) {
  if (xf->active) {
    xf->recursive = true;
    return true;
  }
  if (xf->visited) return true;
  if (depth == DEEPEST_CALL) return deep_calls(m, xf, e);
  xf->visited = xf->active = true;
  uint32_t frame = 0, local = 0;
  for (uint32_t pc = xf->entry; pc < xf->end; pc++) {
    const struct xop *o = &m->ops[pc];
    if (o->cls != XC_CALL) continue;
    const struct xaux *a = o->aux;
    if (a->name) continue;
    struct xfunc *callee = (struct xfunc *)a->func;
    if (!callee) { /* indirect: any function may be called */
      xf->recursive = true;
      continue;
    }
    if (!visit_callees(m, callee, depth + 1, e)) return false;
    xf->recursive |= callee->recursive;
    if (callee->total_frame > frame) frame = callee->total_frame;
    if (callee->total_local > local) local = callee->total_local;
  }
  xf->active = false;
  if (frame > LARGEST_FRAME || local > LARGEST_FRAME) return deep_calls(m, xf, e);
  xf->total_frame = xf->frame_bytes + frame;
  xf->total_local = xf->local_bytes + local;
  return true;
}

static bool needs_stack(const struct simt_module *m, const struct xop *o) {
  uint32_t pc = (uint32_t)(o - m->ops);
  return o->cls != XC_SIMPLE || o->guard != OFF_NONE || (m->code[pc + 1].flags & INST_RECONVERGE);
}

/* Executing `o` reports `why`, which is copied. */
void lower_refusal(struct simt_module *m, struct xop *o, const char *why) {
  struct xaux *a = ARENA_NEW(&m->arena, struct xaux);
  size_t n = strlen(why);
  while (n && why[n - 1] == '\n') n--;
  a->name = arena_strndup(&m->arena, why, n);
  o->aux = a;
  m->refusals++;
  if (!m->first_refusal) m->first_refusal = a->name;
}

static const struct xop no_operands = {
    .d = OFF_NONE, .a = OFF_NONE, .b = OFF_NONE, .c = OFF_NONE, .d2 = OFF_NONE, .p = OFF_NONE, .guard = OFF_NONE};

/* Instruction `in` as `o`, at place `at` of the module's arrays; `t`: what the timing model knows of it. */
static bool lower_one(struct lowering *l, const struct ptx_inst *in, struct xop *o, const struct inst *t) {
  struct simt_module *m = l->m;
  const struct ptx_func *f = l->f;
  *o = no_operands;
  o->guard_neg = in->guard_neg;
  o->space = t->space;
  o->elem = t->elem_bytes;
  o->vec = t->vec;
  o->type = in->types[0];
  o->type2 = in->types[1];
  o->strong = ptx_has(in, M_VOLATILE) || ptx_has(in, M_RELAXED) || ptx_has(in, M_ACQUIRE) || ptx_has(in, M_RELEASE) ||
              ptx_has(in, M_ACQ_REL) || in->op == OP_ATOM || in->op == OP_RED;
  o->releases = ptx_has(in, M_RELEASE) || ptx_has(in, M_ACQ_REL);
  if (in->guard) o->guard = l->reg_off[in->guard->num];
  if (in->op == OP_BRA || in->op == OP_BRX) {
    o->target = l->xf->entry + in->target;
    o->reconv = in->reconv == PTX_EXIT ? f->entry ? RPC_NONE : RPC_RET : l->xf->entry + in->reconv;
    if (in->reconv != PTX_EXIT && (in->guard || in->op == OP_BRX)) m->code[o->reconv].flags |= INST_RECONVERGE;
  }
  struct xop empty = *o;
  if (!lower_inst(l, in, o)) {
    if (l->e->code != ERR_UNSUPPORTED && m->ptx->texts[f->text].version <= PTX_NEWEST) return false;
    *o = empty; /* a trap: most kernels of a module are never launched */
    o->cls = XC_TRAP;
    o->id = X_nop;
    lower_refusal(m, o, l->e->msg);
    *l->e = (struct err){0};
  }
  if (!o->fn) o->fn = m->s->handlers[o->id];
  return true;
}

/* A machine instruction that executes several of PTX, or none: they lie behind the module's code, one after the
 * other. */
static bool lower_group(struct lowering *l, const struct ptx_inst *in, struct xop *o) {
  struct simt_module *m = l->m;
  const struct ptx_mach *a = in->mach;
  *o = no_operands;
  o->id = X_group;
  o->target = m->members;
  o->imm = a->ngroup;
  o->reconv = a->main;
  o->fn = m->s->handlers[X_group];
  for (uint32_t g = 0; g < a->ngroup; g++) {
    uint32_t at = m->members++;
    struct inst *t = &m->code[at];
    ptx_decode(m->ptx, l->f, &a->group[g], t);
    t->pc = at;
    if (!lower_one(l, &a->group[g], &m->ops[at], t)) return false;
    o->strong |= m->ops[at].strong;
    o->releases |= m->ops[at].releases;
    if (m->ops[at].cls > XC_MEMORY) *o = m->ops[at]; /* a refusal */
  }
  return true;
}

static bool lower_function(struct simt_module *m, struct xfunc *xf, struct err *e, uint32_t *reg_off) {
  const struct ptx_func *f = xf->f;
  struct lowering l = {.m = m, .f = (struct ptx_func *)f, .xf = xf, .e = e, .reg_off = reg_off, .pc0 = xf->entry};
  for (uint32_t i = 0; i < f->ncode; i++) {
    const struct ptx_inst *in = &f->code[i];
    struct xop *o = &m->ops[xf->entry + i];
    struct inst *t = &m->code[xf->entry + i];
    uint16_t marked = t->flags & INST_RECONVERGE; /* by an earlier branch */
    ptx_decode(m->ptx, f, in, t);
    t->flags |= marked;
    t->pc = xf->entry + i;
    t->fetch_pc = 8 * (xf->code_at + i);
    if (!(in->mach && !in->mach->own ? lower_group(&l, in, o) : lower_one(&l, in, o, t))) return false;
  }
  return true;
}

static bool reachable_pass(struct simt_module *m, struct err *e) {
  uint32_t widest = 0;
  for (uint32_t k = 0; k < m->nfuncs; k++)
    if (m->funcs[k].f->nregs > widest) widest = m->funcs[k].f->nregs;
  for (uint32_t k = 0; k < m->nfuncs; k++) {
    struct xfunc *xf = &m->funcs[k];
    uint32_t *reg_off = mem_zeroed(widest + 2, sizeof *reg_off);
    place_frame(m, xf, reg_off);
    bool ok = place_locals(m, xf, e);
    if (ok) place_formals(m, xf, reg_off);
    ok = ok && lower_function(m, xf, e, reg_off);
    free(reg_off);
    if (!ok) return false;
  }
  return true;
}

/* Regions of machine code, and the branches that leave one. */
static void take_regions(struct simt_module *m) {
  uint32_t n = 0, base = 0;
  for (uint32_t i = 0; i < m->nfuncs; i++) n += m->funcs[i].f->regions ? m->funcs[i].f->regions->n : 0;
  if (!n) return;
  m->region_of = ARENA_ARRAY(&m->arena, uint32_t, m->ninsts + 1);
  m->region_up = ARENA_ARRAY(&m->arena, uint32_t, n + 1);
  m->region_end = ARENA_ARRAY(&m->arena, uint32_t, n + 1);
  m->region_meet = ARENA_ARRAY(&m->arena, uint32_t, n + 1);
  m->region_waits = ARENA_ARRAY(&m->arena, uint8_t, n + 1);
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    const struct xfunc *xf = &m->funcs[i];
    const struct ptx_regions *l = xf->f->regions;
    if (!l) continue;
    for (uint32_t k = 1; k <= l->n; k++) {
      m->region_up[base + k] = l->up[k] ? base + l->up[k] : 0;
      m->region_end[base + k] = xf->entry + l->end[k];
      m->region_meet[base + k] = l->meet[k] == PTX_EXIT ? RPC_NONE : xf->entry + l->meet[k];
      m->region_waits[base + k] = l->waits[k];
    }
    for (uint32_t q = 0; q < xf->f->ncode; q++) m->region_of[xf->entry + q] = l->of[q] ? base + l->of[q] : 0;
    base += l->n;
  }
  for (uint32_t i = 0; i < m->ninsts; i++) {
    struct xop *o = &m->ops[i];
    if (o->cls == XC_BRANCH) o->may_break = region_left(m, i, o->target) || region_left(m, i, i + 1);
  }
}

static bool publishes(const struct simt_module *m, const struct xop *o) {
  if (o->id != X_group) return o->id == X_st_global || o->id == X_st_generic;
  for (uint32_t g = 0; g < o->imm; g++)
    if (publishes(m, &m->ops[o->target + g])) return true;
  return false;
}

bool lower_module(struct simt_module *m, struct err *e) {
  struct ptx_module *p = m->ptx;
  for (uint32_t i = 0; i < p->nfuncs; i++)
    if (p->funcs[i]->has_body) m->nfuncs++;
  m->funcs = ARENA_ARRAY(&m->arena, struct xfunc, m->nfuncs + 1);
  m->kernels = ARENA_ARRAY(&m->arena, struct simt_kernel, m->nfuncs + 1);
  uint32_t n = 0, members = 0;
  for (uint32_t i = 0; i < p->nfuncs; i++) {
    struct ptx_func *f = p->funcs[i];
    if (!f->has_body) continue;
    ptx_analyse(p, f);
    if (m->s->back_sm && back_compile(p, f, &(struct back_target){.sm = m->s->back_sm})) ptx_analyse(p, f);
    f->lowered = n;
    struct xfunc *xf = &m->funcs[n++];
    *xf = (struct xfunc){.f = f, .entry = m->ninsts, .end = m->ninsts + f->ncode};
    xf->code_at = code_place(&m->s->code, f->name, f->ncode, f->mach_regs);
    m->ninsts += f->ncode;
    for (uint32_t q = 0; f->mach_regs && q < f->ncode; q++) members += f->code[q].mach->ngroup;
    if (f->entry && f->def == f) {
      struct simt_kernel *k = &m->kernels[m->nkernels++];
      *k = (struct simt_kernel){.func = xf, .m = m};
      if (!place_params(m, k, e)) return false;
    }
  }
  m->members = m->ninsts + 1;
  m->code = mem_zeroed(m->members + members, sizeof *m->code);
  m->ops = mem_zeroed(m->members + members, sizeof *m->ops);
  m->code[m->ninsts].fetch_pc = 8 * m->s->code.next;
  tex_collect(m);
  if (!constants_fit(m, e) || !place_variables(m, e) || !place_shared(m, e) || !reachable_pass(m, e)) return false;
  init_variables(m);
  take_regions(m);
  for (uint32_t i = 0; i < m->ninsts; i++) {
    struct xop *o = &m->ops[i];
    o->publishes = m->s->turn && publishes(m, o);
    o->straight = !o->publishes && !(o->strong && m->s->turn) && !needs_stack(m, o);
  }
  for (uint32_t i = 0; i < m->nfuncs; i++)
    if (!visit_callees(m, &m->funcs[i], 0, e)) return false;
  uint64_t consts = 0;
  for (uint32_t i = 0; i < p->nvars; i++)
    if (p->vars[i]->space == SP_CONST && p->vars[i]->def == p->vars[i]) consts += p->vars[i]->bytes;
  for (uint32_t i = 0; i < m->nkernels; i++) {
    struct simt_kernel *k = &m->kernels[i];
    const struct ptx_func *f = k->func->f;
    k->info.name = f->name;
    k->info.regs = f->mach_regs ? f->mach_regs : f->live_regs;
    if (f->maxnreg && k->info.regs > f->maxnreg) k->info.regs = f->maxnreg;
    k->info.static_shared = k->func->shared_bytes;
    k->info.local_bytes = k->func->total_local;
    k->info.const_bytes = (uint32_t)consts;
    k->info.max_threads = f->maxntid ? f->maxntid : f->reqntid ? f->reqntid : 1024;
    uint64_t resident = (uint64_t)f->minctas * ((k->info.max_threads + LANES - 1) / LANES * LANES);
    if ((f->maxntid || f->reqntid) && resident <= UINT32_MAX) k->info.resident = (uint32_t)resident;
    memcpy(k->info.cluster, f->cluster, sizeof f->cluster);
    k->info.in_clusters = f->in_clusters || f->cluster[0];
    k->info.target_sm = p->texts[f->text].sm;
  }
  return true;
}

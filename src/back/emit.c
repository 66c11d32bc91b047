/* emit.c - the schedule as code of the function: each machine instruction with the PTX that it executes. */
#include <string.h>

#include "back/back_impl.h"

enum {
  MOST_PENDING = 128,  /* of the lists of ptx_uses a group takes a part */
  MOST_REGISTERS = 255 /* that an instruction can name: ptxas keeps more in local memory, which is left out here */
};

/* A branch to instructions for rare operands, which lead back behind it. */
struct rare {
  uint32_t branch, depth;
  const struct ptx_inst *in;
};

struct emit {
  struct back *k;
  struct ptx_inst *out;
  uint32_t n, cap;
  uint32_t block_first;      /* of the block's instructions in `out` */
  struct ptx_inst **pending; /* PTX that costs nothing and waits for a machine instruction to execute it */
  uint32_t npending;
  uint16_t *bank;
  struct rare *rare;
  uint32_t nrare;
};

static struct ptx_inst *add(struct emit *e, const struct ptx_inst *from, enum mach_op op, uint32_t depth) {
  if (e->n == e->cap) {
    struct ptx_inst *o = ARENA_ARRAY(&e->k->scratch, struct ptx_inst, e->cap = 2 * e->cap + 64);
    if (e->n) memcpy(o, e->out, e->n * sizeof *o);
    e->out = o;
  }
  struct ptx_inst *i = &e->out[e->n++];
  *i = (struct ptx_inst){.op = OP_NONE};
  if (from) i->line = from->line, i->col = from->col, i->src_line = from->src_line, i->src_file = from->src_file;
  i->ops = ARENA_ARRAY(e->k->a, struct ptx_opnd, PTX_MAX_OPNDS);
  i->mach = ARENA_NEW(e->k->a, struct ptx_mach);
  i->mach->op = (uint8_t)op;
  i->mach->depth = (uint8_t)(depth > 255 ? 255 : depth);
  return i;
}

/* One that executes nothing and writes register `r`, which only its readers know. */
static struct ptx_mach *add_made(struct emit *e, enum mach_op op, uint32_t depth, uint16_t r) {
  struct ptx_mach *m = add(e, NULL, op, depth)->mach;
  m->dst[m->ndst] = r;
  m->dst_bank[m->ndst++] = NO_ARCH;
  return m;
}

/* ---- registers of a machine instruction ---- */

static void reads(const struct emit *e, struct ptx_mach *m, uint16_t r) {
  if (m->nsrc == INST_MAX_SRC) return;
  bool banked = r < e->k->nregs && back_weight(e->k, r);
  m->src_bank[m->nsrc] = banked ? e->bank[r] : NO_ARCH;
  m->src[m->nsrc++] = r;
}

static void writes(const struct emit *e, struct ptx_mach *m, uint16_t r) {
  if (m->ndst == INST_MAX_DST) return;
  m->dst_bank[m->ndst] = back_weight(e->k, r) ? e->bank[r] : NO_ARCH;
  m->dst[m->ndst++] = r;
}

static void sources(const struct emit *e, struct ptx_mach *m, const struct node *n) {
  for (uint32_t q = 0; q < n->nsrc; q++) reads(e, m, n->src[q]);
  m->addr = n->addr;
  m->addr_bank = n->addr ? e->bank[n->addr] : NO_ARCH;
  m->pred = n->pred;
}

static void results(const struct emit *e, struct ptx_mach *m, const struct node *n) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  uint32_t w = back_writes(e->k, n, r);
  for (uint32_t q = 0; q < w; q++) writes(e, m, r[q]);
}

/* ---- groups ---- */

static bool groupable(const struct ptx_inst *i) {
  switch (ptx_ops[i->op].kind) {
  case KIND_ALU:
  case KIND_LOAD:
  case KIND_STORE:
    return !i->refused && i->op != OP_CP;
  default:
    return false;
  }
}

static void set_group(struct emit *e, struct ptx_inst *i, struct ptx_inst *const *list, uint32_t n, uint32_t main) {
  struct ptx_inst *g = ARENA_ARRAY(e->k->a, struct ptx_inst, n);
  for (uint32_t q = 0; q < n; q++) g[q] = *list[q];
  i->mach->group = g;
  i->mach->ngroup = (uint16_t)n;
  i->mach->main = (uint16_t)main;
}

/* What waits joins the instruction before it, or becomes one. */
static void flush(struct emit *e, uint32_t depth) {
  if (!e->npending) return;
  struct ptx_inst *last = e->n > e->block_first ? &e->out[e->n - 1] : NULL;
  bool own = last && last->mach->own;
  if (!last || (own && !groupable(last))) {
    struct ptx_inst *i = add(e, e->pending[0], MO_MOV, depth);
    set_group(e, i, e->pending, e->npending, e->npending - 1);
    e->npending = 0;
    return;
  }
  uint32_t had = own ? 1 : last->mach->ngroup, n = had + e->npending;
  struct ptx_inst **list = ARENA_ARRAY(&e->k->scratch, struct ptx_inst *, n), *copy = NULL;
  if (own) {
    copy = ARENA_NEW(e->k->a, struct ptx_inst);
    *copy = *last;
    copy->mach = NULL;
    list[0] = copy;
  } else {
    for (uint32_t q = 0; q < had; q++) list[q] = &last->mach->group[q];
  }
  memcpy(list + had, e->pending, e->npending * sizeof *list);
  uint32_t main = own ? 0 : had ? last->mach->main : n - 1;
  if (own) {
    struct ptx_mach *m = last->mach;
    *last = (struct ptx_inst){.op = OP_NONE,
                              .ops = ARENA_ARRAY(e->k->a, struct ptx_opnd, PTX_MAX_OPNDS),
                              .line = copy->line,
                              .col = copy->col,
                              .src_line = copy->src_line,
                              .src_file = copy->src_file,
                              .mach = m};
    m->own = false;
  }
  set_group(e, last, list, n, main);
  e->npending = 0;
}

/* ---- steps of a matrix product ---- */

/* Which step works on a register of the accumulators, in order of these; `lag` of others: each step reads them all. */
static uint32_t step_of(const struct emit *e, const struct node *n, uint32_t accumulators, uint16_t r) {
  const struct ptx_opnd *o = n->in && n->in->nops == 4 ? &n->in->ops[accumulators] : NULL;
  if (!n->lag || !o || o->kind != OK_VEC || o->n % n->lag) return n->lag;
  for (uint32_t q = 0; q < o->n; q++)
    if (o->vec[q].reg && back_same(e->k, o->vec[q].reg->num) == r) return q / (o->n / n->lag);
  return n->lag;
}

/* What step `step` of the first set reads; a later set has the accumulators of the one before. */
static void step_sources(const struct emit *e, struct ptx_mach *m, const struct node *n, uint32_t at) {
  for (uint32_t q = 0; q < n->nsrc; q++) {
    uint32_t step = step_of(e, n, 3, n->src[q]);
    if (step == n->lag || step == at) reads(e, m, n->src[q]);
  }
  m->addr_bank = NO_ARCH;
  m->pred = n->pred;
}

static void step_results(const struct emit *e, struct ptx_mach *m, const struct node *n, uint32_t at) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  uint32_t w = back_writes(e->k, n, r);
  for (uint32_t q = 0; q < w; q++) {
    uint32_t step = step_of(e, n, 0, r[q]);
    if (step == at || (step == n->lag && at + 1 == n->lag)) writes(e, m, r[q]);
  }
}

/* The steps before the last, in sets of `lag`. Returns what the last one waits for, 0: nothing. */
static uint16_t lead_steps(struct emit *e, const struct node *n, uint32_t depth) {
  uint16_t made[MAX_SEQ] = {0};
  for (uint32_t q = 0; q + 1 < n->nops; q++) {
    struct ptx_mach *m = add(e, n->in, (enum mach_op)n->ops[q], depth)->mach;
    step_sources(e, m, n, q % n->lag);
    if (q >= n->lag) reads(e, m, made[q - n->lag]);
    if (q + n->lag >= n->nops) {
      step_results(e, m, n, q % n->lag);
      continue;
    }
    made[q] = back_register(e->k, T_B32);
    m->dst[m->ndst] = made[q];
    m->dst_bank[m->ndst++] = NO_ARCH;
  }
  return n->nops > n->lag ? made[n->nops - 1 - n->lag] : 0;
}

/* ---- branches for rare operands ---- */

/* The last instruction is the branch of the lanes with rare operands of `in`. What finds them joins the one before. */
static void add_rare(struct emit *e, const struct ptx_inst *in, uint32_t depth) {
  uint8_t ops[MAX_SEQ];
  const struct ptx_inst *before = e->n > e->block_first + 1 ? &e->out[e->n - 2] : NULL;
  if (!before || (before->mach->own && !groupable(before)) || !back_rare(e->k, in, ops)) return;
  uint16_t found;
  e->pending[e->npending++] = back_rare_test(e->k, in, &found);
  e->n--; /* the instruction that `flush` knows as the last */
  flush(e, depth);
  struct ptx_inst *b = &e->out[e->n++];
  b->op = OP_BRA;
  b->guard = e->k->f->regs[found];
  b->mach->own = true;
  e->rare[e->nrare++] = (struct rare){.branch = e->n - 1, .depth = depth, .in = in};
}

/* Behind all other code. Where that does not end by a jump, the branches are never taken. */
static void emit_rare(struct emit *e) {
  const struct ptx_inst *last = &e->out[e->n - 1];
  bool ends = !last->guard && back_ends(last);
  e->k->f->mach_common = e->n;
  for (uint32_t r = 0; r < e->nrare; r++) {
    const struct rare *c = &e->rare[r];
    struct ptx_inst *b = &e->out[c->branch];
    if (!ends) {
      b->op = OP_NONE, b->guard = NULL, b->mach->own = false;
      continue;
    }
    uint8_t ops[MAX_SEQ];
    uint32_t n = back_rare(e->k, c->in, ops);
    b->target = e->n;
    uint16_t chain = 0;
    for (uint32_t q = 0; q < n; q++) {
      struct ptx_mach *m = add(e, c->in, (enum mach_op)ops[q], c->depth)->mach;
      if (chain) reads(e, m, chain);
      chain = back_register(e->k, T_B32);
      m->dst_bank[m->ndst] = NO_ARCH;
      m->dst[m->ndst++] = chain;
    }
    struct ptx_inst *home = &e->out[e->n - 1];
    home->op = OP_BRA;
    home->mach->own = true;
    home->target = c->branch + 1;
  }
}

/* The machine instructions before the last of a sequence: they compute what only the next one reads. */
static uint16_t lead_in(struct emit *e, const struct node *n, uint32_t depth) {
  uint16_t chain = 0;
  if (n->lag) return lead_steps(e, n, depth);
  for (uint32_t q = 0; q + 1 < n->nops; q++) {
    struct ptx_inst *i = add(e, n->in, (enum mach_op)n->ops[q], depth);
    sources(e, i->mach, n);
    i->mach->addr = 0;
    if (chain && !n->parallel) i->mach->nsrc = 0, reads(e, i->mach, chain);
    uint16_t t = back_register(e->k, T_B32);
    i->mach->dst[i->mach->ndst] = t;
    i->mach->dst_bank[i->mach->ndst++] = NO_ARCH;
    chain = t;
  }
  return n->parallel ? 0 : chain;
}

static void emit_cost(struct emit *e, const struct node *n, uint32_t depth) {
  bool joins = n->in && groupable(n->in);
  if (n->in && !joins) flush(e, depth);
  uint16_t chain = lead_in(e, n, depth);
  struct ptx_inst *i = add(e, n->in ? n->in : n->line_of, (enum mach_op)n->ops[n->nops - 1], depth);
  struct ptx_mach *m = i->mach;
  m->operand = n->operand;
  if (n->lag) step_sources(e, m, n, (n->nops - 1u) % n->lag);
  else sources(e, m, n);
  if (chain) {
    if (m->nsrc == INST_MAX_SRC) m->nsrc--;
    m->src_bank[m->nsrc] = NO_ARCH;
    m->src[m->nsrc++] = chain;
  }
  if (n->lag) step_results(e, m, n, n->lag - 1u);
  else results(e, m, n);
  if (!n->in && n->line_of && n->ops[n->nops - 1] == MO_BRA) add_rare(e, n->line_of, depth);
  if (!n->in) return;
  if (joins && e->npending) {
    e->pending[e->npending++] = n->in;
    set_group(e, i, e->pending, e->npending, e->npending - 1);
    e->npending = 0;
    return;
  }
  uint32_t line = i->line;
  *i = *n->in;
  i->line = line;
  i->mach = m;
  m->own = true;
}

/* ---- constants come first, where they cost nothing ---- */

static bool is_constant(const struct back *k, const struct node *n) {
  return n->in && n->ndef == 1 && n->role == ROLE_FREE && k->r[n->def[0]].konst != K_NO;
}

static void emit_constants(struct emit *e) {
  enum { MOST_CONSTANTS = 256 };
  struct back *k = e->k;
  uint8_t *done = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      struct node *n = &k->n[i];
      if (done[i] || !is_constant(k, n) || e->npending == MOST_CONSTANTS) continue;
      bool ready = true;
      for (uint32_t u = 0; u < n->nuse; u++) ready &= k->r[n->use[u]].def != NODE_NONE && done[k->r[n->use[u]].def];
      if (!ready) continue;
      done[i] = changed = true;
      n->role = ROLE_GONE;
      e->pending[e->npending++] = n->in;
    }
  }
}

/* ---- shuffles without lanes ---- */

/* A branch back goes to block `q`, and may be taken more than once. */
static bool heads_loop(const struct back *k, uint32_t q) {
  for (uint32_t p = q; p < k->nb; p++)
    for (uint32_t s = 0; s < k->b[p].nsucc; s++)
      if (k->b[p].succ[s] == q && !k->n[k->b[p].end - 1].once) return true;
  return false;
}

static bool in_class(const struct node *n, uint32_t classes) {
  for (uint32_t o = 0; n->role == ROLE_COST && o < n->nops; o++)
    if (classes >> mach_infos[n->ops[o]].cls & 1) return true;
  return false;
}

/* Before 7.5 ptxas 11.8 puts a shuffle that no lane executes (@!PT SHFL) at the begin of a kernel, and of a loop of
 * which the first block has no instruction of the load/store unit, no barrier and no S2R. */
static bool begins_with_shuffle(const struct back *k, uint32_t q) {
  static const uint32_t unit = 1u << MC_LDG | 1u << MC_STG | 1u << MC_LDS | 1u << MC_STS | 1u << MC_LDL | 1u << MC_STL |
                               1u << MC_ATOM | 1u << MC_BAR | 1u << MC_S2R;
  if (k->t->sm >= 75 || !heads_loop(k, q)) return false;
  for (uint32_t i = k->b[q].first; i < k->b[q].end; i++) {
    const struct node *n = &k->n[k->seq[i]];
    if (in_class(n, unit) || (n->in && ptx_ops[n->in->op].kind == KIND_FENCE)) return false;
  }
  return true;
}

static void add_shuffle(struct emit *e, uint32_t depth) {
  add(e, NULL, MO_SHFL, depth)->mach->main = MACH_NO_LANES;
}

/* ---- turns for the other lanes of a warp ---- */

/* The branch back, the last instruction of block `q`: lanes that leave go to the next block, the others vote before and
 * after YIELD and go back if all are there. */
static void add_votes(struct emit *e, uint32_t q) {
  struct back *k = e->k;
  uint32_t depth = k->b[q].depth;
  struct ptx_inst *leave = &e->out[e->n - 1];
  struct ptx_inst back = *leave;
  uint16_t before = back_register(k, T_B32), after = back_register(k, T_B32), all = back_register(k, T_PRED);
  if (leave->guard) leave->guard_neg = !leave->guard_neg, leave->target = q + 1;
  else e->n--;
  if (k->t->sm < 75) add_shuffle(e, depth);
  add_made(e, MO_VOTE, depth, before);
  add(e, NULL, MO_NOP, depth); /* YIELD */
  add(e, NULL, MO_LDC, depth)->mach->main = MACH_NO_LANES;
  add_made(e, MO_VOTE, depth, after);
  struct ptx_mach *same = add_made(e, MO_LOP3, depth, all);
  same->src[same->nsrc] = before, same->src_bank[same->nsrc++] = NO_ARCH;
  same->src[same->nsrc] = after, same->src_bank[same->nsrc++] = NO_ARCH;
  struct ptx_inst *b = add(e, NULL, MO_BRA, depth);
  struct ptx_mach *m = b->mach;
  m->pred = all;
  m->own = true;
  back.guard = NULL;
  back.mach = m;
  *b = back;
}

static void emit_block(struct emit *e, uint32_t q) {
  struct back *k = e->k;
  const struct bblock *b = &k->b[q];
  e->block_first = e->n;
  if (begins_with_shuffle(k, q)) add_shuffle(e, b->depth);
  for (uint32_t m = 0; m < b->meets; m++) add(e, k->n[k->seq[b->first]].in, MO_BSYNC, b->depth);
  if (b->gathers && k->t->sm >= 90) add(e, k->n[k->seq[b->first]].in, MO_WARPSYNC, b->depth);
  if (b->yields) add(e, NULL, MO_NOP, b->depth);
  if (b->lands) add(e, k->n[k->seq[b->first]].in, MO_BRX, b->depth);
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct node *n = &k->n[k->seq[i]];
    for (uint32_t m = 0; m < b->parts && i + 1 == b->end; m++) {
      flush(e, b->depth);
      if (k->t->sm < 80) add(e, n->in, MO_NOP, b->depth); /* BMOV: the outer branch's mask is cleared */
      add(e, n->in, MO_BSSY, b->depth);
    }
    for (uint32_t m = 0; m < b->breaks && i + 1 == b->end; m++) {
      flush(e, b->depth);
      add(e, n->in, MO_BREAK, b->depth);
    }
    if (n->together && !ptx_has(n->in, M_UNI)) back_set(n->in, M_UNI);
    if (n->role == ROLE_COST) emit_cost(e, n, b->depth);
    else if (n->role == ROLE_FREE) e->pending[e->npending++] = n->in;
    if (e->npending == MOST_PENDING) flush(e, b->depth);
  }
  flush(e, b->depth);
  if (b->votes) add_votes(e, q);
  if (e->n == e->block_first) add(e, NULL, MO_NOP, b->depth); /* a place for branches to go to */
}

void back_emit(struct back *k) {
  struct emit e = {.k = k};
  e.pending = ARENA_ARRAY(&k->scratch, struct ptx_inst *, k->nn + 2);
  e.rare = ARENA_ARRAY(&k->scratch, struct rare, k->nn + 1);
  e.bank = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  uint32_t least = back_registers(k, e.bank, false), most = back_most_registers(k, least);
  uint32_t apart = back_registers(k, e.bank, true);
  if (apart > most) back_registers(k, e.bank, false), apart = least > most ? least : most;
  k->f->mach_sm = k->t->sm;
  k->f->mach_regs = apart + RESERVED_REGISTERS < MOST_REGISTERS ? apart + RESERVED_REGISTERS : MOST_REGISTERS;
  uint32_t *start = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
  /* The prologue: the stack pointer, from the constant bank. */
  add(&e, k->n[k->seq[0]].in, k->t->sm < 90 ? MO_MOV : MO_LDC, 0)->mach->operand = 1;
  if (k->t->sm < 75) add_shuffle(&e, 0);
  emit_constants(&e);
  if (e.npending) {
    set_group(&e, &e.out[0], e.pending, e.npending, e.npending - 1);
    e.npending = 0;
  }
  for (uint32_t q = 0; q < k->nb; q++) {
    start[q] = q ? e.n : 0;
    emit_block(&e, q);
  }
  for (uint32_t i = 0; i < e.n; i++) {
    struct ptx_inst *in = &e.out[i];
    if (in->op == OP_BRA) in->target = start[in->target];
    for (int64_t t = 0; in->op == OP_BRX && t < in->ops[1].imm; t++)
      in->ops[1].vec[t].imm = start[in->ops[1].vec[t].imm];
  }
  emit_rare(&e);
  k->f->code = ARENA_ARRAY(k->a, struct ptx_inst, e.n);
  memcpy(k->f->code, e.out, e.n * sizeof *e.out);
  k->f->ncode = e.n;
}

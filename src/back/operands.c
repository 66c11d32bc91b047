/* operands.c - what each machine instruction reads. Constants and parameters are operands from the instruction or the
 * constant bank; a machine instruction has room for one, and others cost a move: of a word of the bank once a block, of
 * a number for all blocks of the same loops that the move dominates. On the way branches come to name blocks, not
 * nodes.
 */
#include <string.h>

#include "back/back_impl.h"

enum { DESCRIPTORS = 80 /* the compute capability since which */, IMMS = 64, LITERALS = 256 };

/* A double-precision number whose lower word is not zero, since Hopper: two moves make a pair of it. */
struct literal {
  int64_t imm;
  uint32_t block, move; /* where, and which of `made` */
  bool uniform;         /* a pair of uniform registers, else one of the thread's */
  bool parted;          /* made where lanes may be apart: uniform, it serves its own block alone */
};

/* A load of a word of the constant bank that stands before a loop of one block. */
struct loaded {
  uint32_t move, loop; /* which of `made`; NODE_NONE: others read it, too */
};

struct operands {
  struct back *k;
  struct node *made; /* moves of constants of the block */
  uint32_t nmade, cap_made;
  uint16_t *moved, *moved_in;     /* by register: the register that holds the constant, and in which block plus one */
  uint16_t *uniform, *uniform_in; /* the same of uniform registers */
  struct {
    int64_t imm;
    uint32_t block;
    uint16_t reg;
  } imms[IMMS], early[8];
  uint32_t nimms, nearly; /* the last IMMS numbers in registers, and those of the first block */
  struct literal literals[LITERALS];
  uint32_t nliterals;
  struct loaded *loaded; /* loads of the bank that stand before a loop of one block */
  uint32_t nloaded, cap_loaded;
  uint32_t *homes; /* by block: where its loads of the bank stand, + 1; 0: not looked for yet */
};

/* The line of the constant banks in which a constant lies, + 1; 0: it is part of the instruction. The sizes of grid and
 * CTA come first, then the parameters (cuobjdump); addresses of variables and variables in constant memory have banks
 * of their own. Approximation: those share the lines after the parameters'. */
static uint8_t operand_of(const struct back *k, uint16_t r) {
  enum { LINE = 64, BANK = 4096, ADDRESSES = 2048, APART = 5 * LINE };
  const struct ptx_inst *i = k->r[r].konst == K_BANK ? back_single(k, r) : NULL;
  if (!i) return 0;
  const struct ptx_opnd *o = &i->ops[1];
  if (i->op == OP_CVTA && o->kind == OK_REG) return operand_of(k, o->reg->num);
  if (o->kind == OK_SREG) return 1;
  if (o->kind == OK_VAR) return (uint8_t)(1 + (ADDRESSES + 8 * (o->var->serial % 256)) / LINE);
  if (ptx_has(i, M_CONST)) {
    uint64_t in_bank = (uint64_t)o->imm + (uint64_t)o->var->serial * APART;
    return (uint8_t)(1 + (ADDRESSES + in_bank % (BANK - ADDRESSES)) / LINE);
  }
  uint64_t at = k->t->sm < 90 ? 0x160 : 0x210;
  for (uint32_t p = 0; p < k->f->nparams; p++) {
    const struct ptx_var *v = k->f->params[p];
    if (!v) continue;
    uint64_t align = v->align ? v->align : 4;
    at = (at + align - 1) / align * align;
    if (v == o->var) return (uint8_t)(1 + (at + (uint64_t)o->imm) % BANK / LINE);
    at += v->bytes;
  }
  return 0;
}

static uint16_t new_move(struct operands *s, uint32_t block, bool wide) {
  struct back *k = s->k;
  static const uint8_t movs[] = {MO_MOV, MO_MOV};
  if (s->nmade == s->cap_made) {
    struct node *m = ARENA_ARRAY(&k->scratch, struct node, s->cap_made = 2 * s->cap_made + 16);
    if (s->nmade) memcpy(m, s->made, s->nmade * sizeof *m);
    s->made = m;
  }
  uint16_t r = back_register(k, wide ? T_B64 : T_B32);
  s->made[s->nmade++] = (struct node){.block = block, .ops = movs, .nops = wide ? 2 : 1, .parallel = true, .fresh = r};
  return r;
}

/* A loop of one block: a constant that it reads is moved before it, not in a block that only some turns reach. */
static bool is_loop(const struct back *k, uint32_t block) {
  for (uint32_t s = 0; s < back_successors(k, block); s++)
    if (back_successor(k, block, s) == block) return true;
  return false;
}

/* The block before all loops around this one, from which a move serves them. */
static uint32_t before_loops(const struct back *k, uint32_t block) {
  while (k->b[block].depth && graph_reached(&k->dom, block) && k->dom.idom[block] != block) block = k->dom.idom[block];
  return block;
}

/* The innermost loop around a block, a span of text: its first and last block. False: there is none, or it has loops
 * within. */
static bool innermost_loop(const struct back *k, uint32_t block, uint32_t *first, uint32_t *last) {
  bool found = false;
  for (uint32_t q = block; q < k->nb; q++)
    for (uint32_t s = 0; s < k->b[q].nsucc; s++) {
      uint32_t to = k->b[q].succ[s];
      if (to > block || k->n[k->b[q].end - 1].once || (found && to < *first)) continue;
      *first = to, *last = q;
      found = true;
    }
  for (uint32_t q = *first; found && q <= *last; q++)
    if (k->b[q].depth != k->b[block].depth) return false;
  return found;
}

/* Since Hopper a load of the bank stands before the innermost loop around its readers, unless that has loops within. */
static uint32_t home_of_load(struct operands *s, uint32_t block) {
  const struct back *k = s->k;
  uint32_t first = 0, last = 0, depth = k->b[block].depth, home = block;
  if (s->homes[block]) return s->homes[block] - 1;
  if (depth && graph_reached(&k->dom, block) && innermost_loop(k, block, &first, &last))
    while (k->b[home].depth >= depth && k->dom.idom[home] != home) home = k->dom.idom[home];
  s->homes[block] = home + 1;
  return home;
}

static void note_loaded(struct operands *s, uint32_t loop) {
  if (s->nloaded == s->cap_loaded) {
    struct loaded *l = ARENA_ARRAY(&s->k->scratch, struct loaded, s->cap_loaded = 2 * s->cap_loaded + 16);
    if (s->nloaded) memcpy(l, s->loaded, s->nloaded * sizeof *l);
    s->loaded = l;
  }
  s->loaded[s->nloaded++] = (struct loaded){.move = s->nmade - 1, .loop = loop};
}

/* A word of the bank in registers, since Hopper: one load for all that its place serves, of 64 bits the readers of one
 * place. */
static uint16_t loaded_in_register(struct operands *s, uint32_t block, uint16_t r) {
  static const uint8_t load[] = {MO_LDC};
  struct back *k = s->k;
  uint32_t home = home_of_load(s, block);
  uint32_t loop = home != block && is_loop(k, block) ? block : NODE_NONE;
  bool wide = back_wide(k, r);
  bool serves = s->moved_in[r] && (wide ? s->moved_in[r] == home + 1 : back_dominates(k, s->moved_in[r] - 1u, home));
  for (uint32_t q = s->nloaded; serves && q-- > 0;)
    if (s->made[s->loaded[q].move].fresh == s->moved[r] && s->loaded[q].loop != loop) s->loaded[q].loop = NODE_NONE;
  if (serves) return s->moved[r];
  s->moved_in[r] = (uint16_t)(home + 1);
  s->moved[r] = new_move(s, home, wide);
  struct node *m = &s->made[s->nmade - 1];
  m->operand = operand_of(k, r);
  m->ops = load;
  m->nops = 1;
  if (loop != NODE_NONE) note_loaded(s, loop);
  return s->moved[r];
}

/* The constant of a register in a register, one move for all readers of a block; `early`: before its loops. */
static uint16_t in_register(struct operands *s, uint32_t block, uint16_t r, bool early) {
  bool loads = s->k->t->sm >= NO_BANK_OPERANDS;
  if (loads && s->k->r[r].konst == K_BANK) return loaded_in_register(s, block, r);
  if (early && is_loop(s->k, block)) block = before_loops(s->k, block);
  if (!loads && s->moved_in[r] && back_dominates(s->k, s->moved_in[r] - 1u, block)) return s->moved[r];
  if (s->moved_in[r] != (uint16_t)(block + 1)) {
    s->moved_in[r] = (uint16_t)(block + 1);
    s->moved[r] = new_move(s, block, back_wide(s->k, r));
    s->made[s->nmade - 1].operand = operand_of(s->k, r);
  }
  return s->moved[r];
}

/* A loop of one block is of memory where a fifth of its instructions load from global memory: there the loads of the
 * bank are part of it, and take no register elsewhere (ptxas 13). One narrower than the widest counts for less. */
static bool is_of_memory(const struct back *k, uint32_t loop, uint32_t loads) {
  uint32_t all = loads, widest = 4, weight = 0;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = k->b[loop].first; i < k->b[loop].end; i++) {
      const struct node *n = &k->n[i];
      if (n->role != ROLE_COST) continue;
      all += pass ? n->nops : 0;
      if (n->in->op != OP_LD || (n->space != SPACE_GLOBAL && n->space != SPACE_GENERIC)) continue;
      uint32_t bytes = ptx_type_bytes[n->in->types[0]] * (n->in->ops[0].kind == OK_VEC ? n->in->ops[0].n : 1u);
      if (!pass) widest = bytes > widest ? bytes : widest;
      else weight += 16 + 64 * (bytes > 4 ? bytes : 4) / widest;
    }
  return widest == 4 ? 16 * (all + 4) <= weight : 16 * all <= weight + 64;
}

/* The loads that stand before a loop of memory go into it. */
static void settle_loaded(struct operands *s) {
  for (uint32_t q = 0; q < s->nloaded; q++) {
    uint32_t loop = s->loaded[q].loop, n = 0;
    if (loop == NODE_NONE) continue;
    for (uint32_t p = 0; p < s->nloaded; p++) n += s->loaded[p].loop == loop;
    if (is_of_memory(s->k, loop, n)) s->made[s->loaded[q].move].block = loop;
  }
}

/* The same in a uniform register, which is none of the thread's, for all blocks that the load dominates. */
static uint16_t in_uniform_register(struct operands *s, uint32_t block, uint16_t r, bool early) {
  static const uint8_t load[] = {MO_ULDC};
  if (early && is_loop(s->k, block)) block = before_loops(s->k, block);
  if (!s->uniform_in[r] || !back_dominates(s->k, s->uniform_in[r] - 1u, block)) {
    s->uniform_in[r] = (uint16_t)(block + 1);
    s->uniform[r] = new_move(s, block, false);
    struct node *m = &s->made[s->nmade - 1];
    s->k->f->regs[m->fresh]->type = T_PRED; /* takes no register */
    m->operand = operand_of(s->k, r);
    m->ops = load;
  }
  return s->uniform[r];
}

/* `early`: in the first block, for all that follow: numbers of floating point, which ptxas takes out of loops. */
static uint16_t number_in_register(struct operands *s, uint32_t block, int64_t imm, bool early, bool wide) {
  if (early) {
    for (uint32_t q = 0; q < s->nearly; q++)
      if (s->early[q].imm == imm) return s->early[q].reg;
    if (s->nearly < 8) {
      s->early[s->nearly].imm = imm;
      return s->early[s->nearly++].reg = new_move(s, 0, wide);
    }
  }
  for (uint32_t q = 0; q < s->nimms; q++) {
    uint32_t from = s->imms[q].block;
    bool serves = from == block || (s->k->b[from].depth == s->k->b[block].depth && back_dominates(s->k, from, block));
    if (s->imms[q].imm == imm && serves) return s->imms[q].reg;
  }
  uint16_t r = new_move(s, block, wide);
  if (s->nimms == IMMS) s->nimms = 0;
  s->imms[s->nimms].imm = imm;
  s->imms[s->nimms].block = block;
  s->imms[s->nimms++].reg = r;
  return r;
}

/* ---- double-precision numbers ---- */

static bool is_double(const struct node *u) {
  uint8_t op = u->ops[u->nops - 1];
  return (mach_infos[op].cls == MC_FP64 || op == MO_DSETP) && u->nops == 1;
}

static bool is_literal(const struct operands *s, const struct node *u, int64_t imm) {
  return s->k->t->sm >= NO_BANK_OPERANDS && is_double(u) && (uint32_t)imm;
}

/* A loop of one block that touches no memory has them before it, others in their body. */
static uint32_t home_of_literal(const struct back *k, uint32_t block) {
  if (!is_loop(k, block) || !graph_reached(&k->dom, block)) return block;
  for (uint32_t i = k->b[block].first; i < k->b[block].end; i++) {
    uint8_t kind = ptx_ops[k->n[i].in->op].kind;
    if (kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOM) return block;
  }
  uint32_t before = k->dom.idom[block];
  while (k->b[before].depth >= k->b[block].depth && k->dom.idom[before] != before) before = k->dom.idom[before];
  return before;
}

static void make_own(struct operands *s, struct literal *l) {
  static const uint8_t movs[] = {MO_MOV, MO_MOV};
  struct node *m = &s->made[l->move];
  m->ops = movs;
  s->k->f->regs[m->fresh]->type = T_B64;
  l->uniform = false;
}

/* The number in a pair of registers, made at its first use for all blocks of the same loops that this one dominates. */
static const struct literal *literal_in_registers(struct operands *s, uint32_t block, int64_t imm, bool room) {
  static const uint8_t movs[] = {MO_UMOV, MO_UMOV};
  const struct back *k = s->k;
  uint32_t home = home_of_literal(k, block);
  for (uint32_t q = 0; q < s->nliterals; q++) {
    struct literal *l = &s->literals[q];
    bool serves = l->block == home || (k->b[l->block].depth == k->b[home].depth && back_dominates(k, l->block, home));
    if (l->imm != imm || !serves) continue;
    if (l->uniform && (!room || (l->parted && l->block != block))) make_own(s, l);
    return l;
  }
  uint16_t r = new_move(s, home, true);
  if (s->nliterals == LITERALS) s->nliterals = 0;
  struct literal *l = &s->literals[s->nliterals++];
  *l = (struct literal){.imm = imm,
                        .block = home,
                        .move = s->nmade - 1,
                        .uniform = true,
                        .parted = k->b[home].parted || k->b[block].parted};
  s->made[l->move].ops = movs;
  k->f->regs[r]->type = T_PRED; /* takes no register of the thread's */
  if (!room || (l->parted && home != block)) make_own(s, l);
  return l;
}

/* Those of an instruction: one is its uniform operand, if it has no other constant, others are the thread's. */
static void literals(struct operands *s, struct node *u, struct leaves *l) {
  int64_t found[16];
  uint32_t n = 0, kept = 0;
  for (uint32_t q = 0; q < l->nkonst; q++) {
    const struct fact *f = &s->k->r[l->konst[q]];
    bool literal = f->konst == K_IMM && back_wide(s->k, l->konst[q]) && is_literal(s, u, f->imm);
    if (literal && n < 16) found[n++] = f->imm;
    else l->konst[kept++] = l->konst[q];
  }
  l->nkonst = kept;
  kept = 0;
  for (uint32_t q = 0; q < l->nimm; q++)
    if (is_literal(s, u, l->imm[q]) && n < 16) found[n++] = l->imm[q];
    else l->imm[kept++] = l->imm[q];
  l->nimm = kept;
  bool room = !l->nkonst && !l->nimm;
  for (uint32_t q = 0; q < n; q++) {
    bool twice = false;
    for (uint32_t p = 0; p < n; p++) twice |= p != q && found[p] == found[q];
    const struct literal *at = literal_in_registers(s, u->block, found[q], room && !twice);
    room &= !at->uniform;
    back_add_source(u, s->made[at->move].fresh);
  }
}

static uint32_t room_for_constants(const struct node *u) {
  enum mach_op op = (enum mach_op)u->ops[u->nops - 1];
  uint8_t cls = mach_infos[op].cls;
  return cls >= MC_LDG && cls <= MC_TEX ? 0 : cls == MC_BRANCH || cls == MC_BAR ? 8 : 1;
}

static void place_address(struct operands *s, struct node *u, const struct ptx_opnd *m) {
  struct back *k = s->k;
  struct place p = back_place(k, m);
  u->addr_imm = p.off;
  if (!p.base) return;
  uint16_t r = m->reg->num; /* as far as the sums on the way are part of it */
  while (r != p.base && k->n[k->r[r].def].role == ROLE_FREE && !k->r[r].konst) {
    int64_t imm;
    uint16_t base = 0;
    if (!back_adds(k, k->n[k->r[r].def].in, &imm, &base)) break;
    r = base;
  }
  if (k->r[r].konst == K_IMM) return;
  if (k->r[r].konst == K_BANK) {
    bool fixed = u->space == SPACE_CONST || u->space == SPACE_PARAM || u->space == SPACE_SHARED;
    if (!fixed) u->addr = in_register(s, u->block, r, s->k->t->sm < NO_BANK_OPERANDS);
    return;
  }
  struct node tmp = {.nsrc = 0};
  struct leaves l = {.nkonst = 0};
  back_leaf(k, &tmp, r, &l, 0);
  u->addr = tmp.nsrc ? tmp.src[0] : 0;
  for (uint32_t q = 1; q < tmp.nsrc; q++) back_add_source(u, tmp.src[q]);
  for (uint32_t q = 0; q < l.nkonst && !tmp.nsrc; q++)
    u->addr = in_register(s, u->block, l.konst[q], s->k->t->sm < NO_BANK_OPERANDS);
}

/* A texture's coordinates lie side by side: one that others read, too, costs a move; one may stay in its place. */
static void coordinates(struct operands *s, struct node *u, const struct ptx_opnd *o) {
  struct back *k = s->k;
  bool list = o->kind == OK_VEC || o->kind == OK_MEM || o->kind == OK_LIST;
  for (uint32_t c = 0, moves = 0; list && c < o->n; c++) {
    uint16_t r = o->vec[c].kind == OK_REG && o->n > 1 ? o->vec[c].reg->num : 0;
    coordinates(s, u, &o->vec[c]);
    if (!r || k->r[r].uses < 2 || k->r[r].konst || ++moves == o->n) continue;
    uint16_t copy = new_move(s, u->block, false);
    struct node *m = &s->made[s->nmade - 1];
    m->src[m->nsrc++] = back_same(k, r);
    back_add_source(u, copy);
  }
}

/* A word of the constant bank in the instruction: an operand, and since Hopper a uniform register. */
static void bank_operand(struct operands *s, struct node *u, uint16_t r) {
  static const uint8_t load[] = {MO_LDC}, uniform[] = {MO_ULDC};
  if (s->k->t->sm < NO_BANK_OPERANDS || s->k->r[r].konst != K_BANK) {
    uint8_t operand = operand_of(s->k, r);
    if (operand) u->operand = operand;
  } else if (u->ops[u->nops - 1] == MO_MOV || u->ops[u->nops - 1] == MO_UMOV) {
    u->operand = operand_of(s->k, r);
    u->ops = u->ops[u->nops - 1] == MO_MOV ? load : uniform;
    u->nops = 1;
  } else {
    bool is_float = ptx_type_kinds[u->in->types[0]] == 'f' && ptx_ops[u->in->op].kind == KIND_ALU;
    back_add_source(u, in_uniform_register(s, u->block, r, is_float));
  }
}

/* Does an instruction of the thread's read a uniform register? */
static bool reads_uniform(const struct back *k, const struct node *u) {
  bool reads = false;
  for (uint32_t q = 0; q < u->nsrc; q++) reads |= k->r[u->src[q]].uniform;
  return reads && mach_infos[u->ops[u->nops - 1]].cls != MC_UNIFORM;
}

/* Numbers come first. */
static void constants(struct operands *s, struct node *u, const struct leaves *l) {
  uint32_t room = room_for_constants(u);
  bool is_float = ptx_type_kinds[u->in->types[0]] == 'f' && ptx_ops[u->in->op].kind == KIND_ALU;
  bool numbers_first = true; /* but where a number takes one move, a word of the bank two */
  for (uint32_t q = 0; q < l->nkonst && s->k->t->sm < NO_BANK_OPERANDS; q++)
    numbers_first &= !back_wide(s->k, l->konst[q]);
  if (back_machine_op(u->in) == MO_SHFL) room = 3;
  if (reads_uniform(s->k, u)) room = 0; /* in the place of the bank's word */
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t q = 0; q < l->nkonst && (pass == 0) != numbers_first; q++) {
      bool inside = room && !(s->moved_in[l->konst[q]] == (uint16_t)(u->block + 1));
      if (inside) room--, bank_operand(s, u, l->konst[q]);
      else back_add_source(u, in_register(s, u->block, l->konst[q], is_float));
    }
    for (uint32_t q = 0; q < l->nimm && (pass == 0) == numbers_first; q++) {
      if (room) room--;
      else
        back_add_source(u,
                        number_in_register(s, u->block, l->imm[q], is_float && is_loop(s->k, u->block), is_double(u)));
    }
  }
}

static void find_sources(struct operands *s, struct node *u) {
  const struct back *k = s->k;
  struct leaves l = {.nkonst = 0};
  const struct ptx_opnd *m = NULL;
  for (uint32_t q = 0; q < u->in->nops; q++)
    if (u->in->ops[q].kind == OK_MEM) m = &u->in->ops[q];
  if (m) place_address(s, u, m);
  if (u->in->guard) {
    struct node tmp = {.nsrc = 0};
    back_leaf(k, &tmp, u->in->guard->num, &l, 0);
    u->pred = tmp.nsrc ? tmp.src[0] : 0;
    for (uint32_t q = 1; q < tmp.nsrc; q++) back_add_source(u, tmp.src[q]);
    l = (struct leaves){.nkonst = 0};
  }
  back_leaves(k, u, &l);
  literals(s, u, &l);
  constants(s, u, &l);
  for (uint32_t q = ptx_dests(u->in); q < u->in->nops && (u->in->op == OP_TEX || u->in->op == OP_TLD4); q++)
    coordinates(s, u, &u->in->ops[q]);
}

/* Two halves that become a pair, or a part that becomes a register, where that register has other definitions, too. */
static void pass_on(struct operands *s, struct node *u) {
  struct node tmp = {.nsrc = 0};
  struct leaves l = {.nkonst = 0};
  for (uint32_t d = 0; d < u->ndef; d++) u->passes |= s->k->r[u->def[d]].def == NODE_NONE;
  if (!u->passes) return;
  for (uint32_t q = 0; q < u->nuse; q++) back_leaf(s->k, &tmp, u->use[q], &l, 0);
  for (uint32_t q = 0; q < tmp.nsrc; q++) back_add_source(u, tmp.src[q]);
}

/* A sequence that leaves out rare operands branches: code before and after it lies in blocks of its own. */
static bool jumps(const struct node *u) {
  bool yes = false;
  for (uint32_t q = 0; q < u->nops && u->role == ROLE_COST && u->in; q++)
    yes |= u->nops > 1 && (u->ops[q] == MO_BRA || u->ops[q] == MO_CALL);
  return yes;
}

/* Sine and cosine begin with the same product: the one of another of them, of the same operand and between `from` and
 * `to`, or 0. */
static uint16_t shared_lead(const struct back *k, const struct node *u, const struct node *from,
                            const struct node *to) {
  const struct ptx_inst *i = u->in;
  if ((i->op != OP_SIN && i->op != OP_COS) || i->guard || i->ops[1].kind != OK_REG || !k->r[i->ops[1].reg->num].ssa)
    return 0;
  for (; from < to; from++) {
    const struct ptx_inst *o = from->in ? NULL : from->line_of;
    if (o && from->fresh && (o->op == OP_SIN || o->op == OP_COS) && !o->guard && o->types[0] == i->types[0] &&
        o->ops[1].reg == i->ops[1].reg && o->ops[1].neg == i->ops[1].neg && o->ops[1].minus == i->ops[1].minus)
      return from->fresh;
  }
  return 0;
}

/* The machine instructions before the last of a sequence, each a node: the first reads what the instruction reads,
 * every other the one before it; the one after a test, whose result is a predicate, both. What begins with a test of
 * its one operand scales it, and the last reads the result alone. `first`: of the block. */
static uint32_t lead_in(struct back *k, struct node *u, const struct node *first, struct node *out) {
  uint32_t n = u->role == ROLE_COST && u->in && !u->parallel && u->nops > 1 ? u->nops - 1u : 0;
  uint16_t last = n ? shared_lead(k, u, first, out) : 0;
  if (last) {
    u->src[0] = last;
    u->nsrc = 1;
    u->ops += n;
    u->nops = 1;
    return 0;
  }
  bool test = false;
  for (uint32_t q = 0; q < n; q++) {
    struct node *c = &out[q];
    *c =
        (struct node){.block = u->block, .ops = u->ops + q, .nops = 1, .line_of = u->in, .operand = q ? 0 : u->operand};
    if (!last || test) memcpy(c->src, u->src, sizeof c->src), c->nsrc = u->nsrc;
    if (last && c->nsrc < MAX_SRC) c->src[c->nsrc++] = last;
    uint8_t cls = mach_infos[u->ops[q]].cls;
    test = cls == MC_SETP;
    c->fresh = last = back_register(k, test ? T_PRED : cls == MC_FP64 ? T_B64 : T_B32);
  }
  if (!n) return 0;
  bool scaled = n > 1 && out[0].ops[0] == MO_FSETP && u->nsrc == 1;
  if (scaled) u->nsrc = 0;
  if (u->nsrc < MAX_SRC) u->src[u->nsrc++] = last;
  u->ops += n;
  u->nops = 1;
  return n;
}

/* The move that makes register r, if it is of this block and not placed yet, goes before its first reader. */
static uint32_t move_before(const struct operands *s, const uint32_t *made_of, uint32_t block, uint16_t r,
                            struct node *out) {
  struct node *c = made_of[r] ? &s->made[made_of[r] - 1] : NULL;
  if (!c || c->block != block || c->role == ROLE_GONE) return 0;
  *out = *c;
  c->role = ROLE_GONE;
  return 1;
}

static uint32_t moves_before(const struct operands *s, const uint32_t *made_of, const struct node *u,
                             struct node *out) {
  uint32_t n = move_before(s, made_of, u->block, u->addr, out);
  for (uint32_t q = 0; q < u->nsrc; q++) n += move_before(s, made_of, u->block, u->src[q], out + n);
  return n;
}

/* The moves of constants, each before its first reader, and the beginnings of sequences join their blocks. */
static void insert_made(struct operands *s) {
  struct back *k = s->k;
  uint32_t most = k->nn + s->nmade;
  for (uint32_t i = 0; i < k->nn; i++) most += k->n[i].nops;
  struct node *n = ARENA_ARRAY(&k->scratch, struct node, most + 1);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1), at = 0;
  uint32_t *made_of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1); /* by register: its move + 1 */
  for (uint32_t m = 0; m < s->nmade; m++) made_of[s->made[m].fresh] = m + 1;
  for (uint32_t q = 0; q < k->nb; q++) {
    struct bblock *b = &k->b[q];
    uint32_t first = at;
    for (uint32_t i = b->first; i < b->end; i++) {
      at += moves_before(s, made_of, &k->n[i], n + at);
      for (uint32_t m = 0; m < s->nmade && i + 1 == b->end; m++) /* for other blocks */
        at += move_before(s, made_of, q, s->made[m].fresh, n + at);
      if (jumps(&k->n[i])) k->n[i].order |= ORD_ALL;
      at += lead_in(k, &k->n[i], n + first, n + at);
      to[i] = at, n[at++] = k->n[i];
    }
    b->first = first;
    b->end = at;
  }
  for (uint32_t r = 0; r <= k->nregs; r++)
    if (k->r[r].def != NODE_NONE) k->r[r].def = to[k->r[r].def];
  for (uint32_t i = 0; i < at; i++) {
    struct ptx_inst *in = n[i].in;
    if (in && in->op == OP_BRA) in->target = k->n[in->target].block; /* from here on a block's number */
    for (int64_t q = 0; in && in->op == OP_BRX && q < in->ops[1].imm; q++)
      in->ops[1].vec[q].imm = k->n[in->ops[1].vec[q].imm].block;
  }
  k->n = n;
  k->nn = at;
  k->blocks_named = true;
}

/* Accesses of global memory read a descriptor from a uniform register: one load of it, with the first outside loops. */
static void descriptor(struct operands *s) {
  static const uint8_t load[] = {MO_ULDC};
  struct back *k = s->k;
  bool any = false;
  uint32_t block = NODE_NONE;
  for (uint32_t i = 0; i < k->nn && block == NODE_NONE; i++) {
    const struct node *n = &k->n[i];
    if (n->role != ROLE_COST || (n->space != SPACE_GLOBAL && n->space != SPACE_GENERIC)) continue;
    uint8_t kind = ptx_ops[n->in->op].kind;
    if (kind != KIND_LOAD && kind != KIND_STORE && kind != KIND_ATOM) continue;
    any = true;
    if (!k->b[n->block].depth) block = n->block;
  }
  if (!any) return;
  new_move(s, block == NODE_NONE ? 0 : block, false);
  struct node *m = &s->made[s->nmade - 1];
  k->f->regs[m->fresh]->type = T_PRED;
  m->ops = load;
  m->operand = 1;
}

/* Since Hopper shared variables lie where the CTA's number in its cluster says: a base, and two instructions more for
 * each other variable. */
static void shared_base(struct operands *s) {
  enum { MOST = 16 };
  static const uint8_t base[] = {MO_S2R, MO_UMOV, MO_UMOV}, other[] = {MO_UMOV, MO_UMOV};
  const struct back *k = s->k;
  const struct ptx_var *met[MOST];
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t o = 0; o < k->n[i].in->nops; o++) {
      const struct ptx_opnd *x = &k->n[i].in->ops[o];
      const struct ptx_var *v = x->kind == OK_VAR || x->kind == OK_MEM ? x->var : NULL;
      uint32_t at = 0;
      if (!v || v->space != SP_SHARED) continue;
      while (at < n && met[at] != v) at++;
      if (at < n || n == MOST) continue;
      met[n++] = v;
      new_move(s, k->n[i].block, false);
      struct node *m = &s->made[s->nmade - 1];
      k->f->regs[m->fresh]->type = T_PRED;
      m->ops = at ? other : base;
      m->nops = at ? sizeof other : sizeof base;
      m->parallel = false;
    }
}

void back_operands(struct back *k) {
  struct operands s = {.k = k};
  back_dominators(k);
  if (k->t->sm >= DESCRIPTORS) descriptor(&s);
  if (k->t->sm >= NO_BANK_OPERANDS) shared_base(&s);
  s.homes = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
  s.moved = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.moved_in = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.uniform = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.uniform_in = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  for (uint32_t q = 0; q < k->nb; q++) {
    for (uint32_t i = k->b[q].first; i < k->b[q].end; i++)
      if (k->n[i].role == ROLE_COST) find_sources(&s, &k->n[i]);
      else if (k->n[i].role == ROLE_FREE) pass_on(&s, &k->n[i]);
  }
  settle_loaded(&s);
  insert_made(&s);
}

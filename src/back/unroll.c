/* unroll.c - loops of one block, as ptxas unrolls them: one whose count is known disappears where its copies stay
 * small; the bodies of others are repeated, four times if the count is not known, then twice where two turns are left,
 * with what is left then for the loop as it was. Before and after the copies the counter is compared with the last
 * value from which all of them run. The limits are those of ptxas 11.8 for loops of sums and loads of all sizes and
 * counts.
 *
 * A register that the body writes has a name of its own in every copy but the last, so that later passes see single
 * definitions; registers to which the body adds a constant begin as a copy, the base of all addresses of the copies.
 */
#include <math.h>
#include <string.h>

#include "back/back_impl.h"

enum {
  MOST_TRIPS = 1024,
  FACTOR = 4,
  MOST_REPEATED = 300,
  MOST_WEIGHT = 95,
  MOST_INDUCTIONS = 32,
  MOST_REGISTERS = 60000
};

struct loop {
  uint32_t block, trips; /* trips: 0 not known */
  enum ptx_mod cond;     /* M_NE, M_LT, M_LE, M_GT, M_GE: the loop continues while the counter is that to the bound */
  uint32_t setp;         /* node that decides */
  uint16_t counter;
  int64_t first, step;
  uint32_t copies; /* of the body */
  bool whole;      /* becomes straight code */
};

struct unroll {
  struct back *k;
  struct node_list out;
  uint16_t *name; /* by register: its name in the copy that is made */
  uint8_t *kept;  /* by register: has the same name in all copies */
  uint32_t *last; /* by register: its last definition in the body, a node + 1 */
  uint8_t *local; /* by register: each round of the body writes it before it reads it, and nothing else reads it */
  uint8_t *after; /* by register: it may be read after the copies */
};

/* ---- what a loop is ---- */

static bool plain_register(const struct ptx_opnd *o) {
  return o->kind == OK_REG && !o->sel && !o->part && !o->neg && !o->minus && !o->reg2;
}

/* The only definition of a register in nodes `from` up to `to`; NODE_NONE: none, or several. */
static uint32_t only_definition(const struct back *k, uint16_t r, uint32_t from, uint32_t to) {
  uint32_t at = NODE_NONE;
  for (uint32_t i = from; i < to; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++)
      if (k->n[i].def[d] == r) {
        if (at != NODE_NONE) return NODE_NONE;
        at = i;
      }
  return at;
}

static bool sum_with_constant(const struct ptx_inst *i, int64_t *c) {
  if ((i->op != OP_ADD && i->op != OP_SUB) || i->guard || i->nops != 3 || ptx_has(i, M_CC) || ptx_has(i, M_SAT))
    return false;
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_bytes[i->types[0]] < 4) return false;
  if (!plain_register(&i->ops[0]) || !plain_register(&i->ops[1])) return false;
  if (i->ops[2].kind != OK_IMM || i->ops[2].is_float) return false;
  *c = i->op == OP_SUB ? -i->ops[2].imm : i->ops[2].imm;
  return *c > -(1 << 20) && *c < 1 << 20;
}

/* The node that adds the constant: r = r + c, or x = r + c and later r = x. NODE_NONE: the body changes r otherwise. */
static uint32_t induction(const struct back *k, const struct bblock *b, uint16_t r, int64_t *step) {
  uint32_t at = only_definition(k, r, b->first, b->end);
  if (at == NODE_NONE) return NODE_NONE;
  const struct ptx_inst *i = k->n[at].in;
  if (i->op == OP_MOV && !i->guard && i->nops == 2 && plain_register(&i->ops[0]) && plain_register(&i->ops[1])) {
    uint32_t add = only_definition(k, i->ops[1].reg->num, b->first, b->end);
    if (add == NODE_NONE || add > at) return NODE_NONE;
    i = k->n[at = add].in;
  }
  if (!sum_with_constant(i, step) || i->ops[1].reg->num != r || !*step) return NODE_NONE;
  return ptx_type_bytes[i->types[0]] == ptx_type_bytes[k->f->regs[r]->type] ? at : NODE_NONE;
}

static bool is_true(const struct ptx_inst *setp, int64_t x) {
  int64_t y = setp->ops[2].imm;
  bool is_unsigned = ptx_type_kinds[setp->types[0]] == 'u';
  if (is_unsigned) x = (uint32_t)x, y = (uint32_t)y;
  else x = (int32_t)x, y = (int32_t)y;
  if (ptx_has(setp, M_EQ)) return x == y;
  if (ptx_has(setp, M_NE)) return x != y;
  if (ptx_has(setp, M_LT)) return x < y;
  if (ptx_has(setp, M_LE)) return x <= y;
  if (ptx_has(setp, M_GT)) return x > y;
  return x >= y;
}

/* Pairs of opposites. */
static const enum ptx_mod conditions[] = {M_EQ, M_NE, M_LT, M_GE, M_GT, M_LE};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static uint32_t condition(const struct ptx_inst *setp) {
  uint32_t c = 0;
  while (c < CONDITIONS && !ptx_has(setp, conditions[c])) c++;
  return c;
}

static bool changes(const struct back *k, uint16_t r, const struct bblock *b) {
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++)
      if (k->n[i].def[d] == r) return true;
  return false;
}

/* Of a register with a number, or with a register that the body leaves alone. */
static bool comparison(const struct back *k, const struct ptx_inst *i, const struct bblock *b) {
  if (i->op != OP_SETP || i->guard || i->nops != 3 || !plain_register(&i->ops[0]) || !plain_register(&i->ops[1]))
    return false;
  const struct ptx_opnd *bound = &i->ops[2];
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_bytes[i->types[0]] != 4 || bound->is_float) return false;
  if (bound->kind != OK_IMM && !plain_register(bound)) return false;
  if (bound->kind == OK_REG && changes(k, bound->reg->num, b)) return false;
  return condition(i) < CONDITIONS;
}

/* The number that register r has everywhere; false: none. */
static bool only_number(const struct back *k, uint16_t r, int64_t *v) {
  uint32_t d = only_definition(k, r, 0, k->nn);
  const struct ptx_inst *in = d == NODE_NONE ? NULL : k->n[d].in;
  if (!in || in->op != OP_MOV || in->guard || in->ops[1].kind != OK_IMM || in->ops[1].is_float) return false;
  *v = in->ops[1].imm;
  return true;
}

/* The counter's value before the loop: a constant that the blocks which only lead here set. */
static bool first_value(const struct back *k, const struct loop *l, int64_t *v) {
  for (uint32_t b = l->block; b-- > 0;) {
    for (uint32_t i = k->b[b].end; i-- > k->b[b].first;)
      for (uint32_t d = 0; d < k->n[i].ndef; d++) {
        const struct ptx_inst *in = k->n[i].in;
        if (k->n[i].def[d] != l->counter) continue;
        if (in->op != OP_MOV || in->guard || in->ops[1].is_float) return false;
        if (plain_register(&in->ops[1])) return only_number(k, in->ops[1].reg->num, v);
        if (in->ops[1].kind != OK_IMM) return false;
        *v = in->ops[1].imm;
        return true;
      }
    if (!b || k->b[b].preds != 1) return false;
    bool from_before = false;
    for (uint32_t s = 0; s < k->b[b - 1].nsucc; s++) from_before |= k->b[b - 1].succ[s] == b;
    if (!from_before) return false;
  }
  return false;
}

static uint32_t trips_of(const struct back *k, const struct loop *l, bool while_true) {
  const struct ptx_inst *setp = k->n[l->setp].in;
  int64_t v = l->first;
  for (uint32_t t = 1; t <= 1 << 16; t++) {
    v = (int32_t)(v + l->step);
    if (is_true(setp, v) != while_true) return t;
  }
  return 0;
}

static bool copyable(const struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    if (back_branches(k, in)) return false; /* its loop has several blocks to ptxas */
    if (in->refused || in->op == OP_WMMA || in->op == OP_MMA || in->op == OP_ALLOCA || ptx_has(in, M_CC)) return false;
    if (in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC) return false;
    for (uint32_t q = 0; q < ptx_dests(in); q++) {
      const struct ptx_opnd *o = &in->ops[q];
      if (o->sel || o->part) return false;
      for (uint32_t v = 0; o->kind == OK_VEC && v < o->n; v++)
        if (o->vec[v].sel || o->vec[v].part) return false;
    }
  }
  return true;
}

/* From which value on not all of n copies run: the bound less their steps but one, if that is a number. */
static bool number_of_last(const struct loop *l, const struct ptx_inst *setp, uint32_t n, int64_t *last) {
  bool is_unsigned = ptx_type_kinds[setp->types[0]] == 'u';
  int64_t bound = is_unsigned ? (int64_t)(uint32_t)setp->ops[2].imm : (int64_t)(int32_t)setp->ops[2].imm;
  *last = bound - (int64_t)(n - 1) * l->step;
  return *last >= (is_unsigned ? 0 : INT32_MIN) && *last <= (is_unsigned ? (int64_t)UINT32_MAX : INT32_MAX);
}

/* Does a comparison say that all copies run? */
static bool copies_all_run(const struct back *k, struct loop *l, bool while_true) {
  const struct ptx_inst *setp = k->n[l->setp].in;
  int64_t last;
  l->cond = conditions[condition(setp) ^ !while_true];
  if (l->cond == M_NE) return true;
  bool up = l->cond == M_LT || l->cond == M_LE, down = l->cond == M_GT || l->cond == M_GE;
  if (up ? l->step < 0 : !down || l->step > 0) return false;
  return setp->ops[2].kind != OK_IMM || number_of_last(l, setp, l->copies, &last);
}

/* Does the instruction count, turns or places? */
static bool counts(const struct back *k, uint32_t i, const struct loop *l) {
  const struct ptx_inst *in = k->n[i].in;
  int64_t step;
  return i == l->setp || (sum_with_constant(in, &step) && in->ops[0].reg == in->ops[1].reg);
}

/* Instructions of the body without those that count. */
static uint32_t body_size(const struct back *k, const struct loop *l) {
  const struct bblock *b = &k->b[l->block];
  uint32_t n = 0;
  for (uint32_t i = b->first; i + 1 < b->end; i++) n += k->n[i].in->op != OP_MOV && !counts(k, i, l);
  return n ? n : 1;
}

/* Twice these, accesses of memory and functions more, those of shared memory less. */
static uint32_t body_weight(const struct back *k, const struct loop *l) {
  const struct bblock *b = &k->b[l->block];
  uint32_t n = 0;
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    uint8_t ops[MAX_SEQ];
    if (counts(k, i, l)) continue;
    uint32_t m = back_expand(k, k->n[i].in, ops);
    for (uint32_t q = 0; q < m; q++) {
      uint8_t cls = mach_infos[ops[q]].cls;
      n += cls == MC_SFU                                      ? 5
           : cls == MC_LDG || cls == MC_STG || cls == MC_ATOM ? 4
           : cls == MC_LDS || cls == MC_STS                   ? 1
                                                              : 2;
    }
  }
  return n;
}

/* 's': shared memory, 'g': global, or unknown; 0: none. */
static char reached(const struct ptx_inst *i) {
  if (ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA)) return 's';
  return ptx_has(i, M_LOCAL) || ptx_has(i, M_CONST) || ptx_has(i, M_PARAM) || ptx_has(i, M_PARAM_ENTRY) ? 0 : 'g';
}

/* Is the loop of block q all the flow of control that a loop around it has? */
static bool alone_in_loop(const struct back *k, uint32_t q) {
  if (!q || q + 1 >= k->nb) return false;
  const struct bblock *before = &k->b[q - 1], *after = &k->b[q + 1];
  const struct ptx_inst *bra = k->n[after->end - 1].in;
  return before->preds == 2 && before->nsucc == 1 && after->preds == 1 && bra->op == OP_BRA && bra->guard &&
         bra->target == before->first;
}

/* The most instructions of a loop that becomes straight code. One with loads of shared memory that is alone in another
 * loop, such as that of a tile's products, may become much longer before 9.0, the more so the more of it is loads:
 * fitted to ptxas 11.8 and 13.0, of 2 to 152 instructions, half to a thirty-second of them loads, within 6 %. */
static uint32_t most_whole(const struct back *k, uint32_t q, uint32_t size) {
  enum { SINCE_SHORT = 90 };
  uint32_t usual = size <= 17 ? 1450 : size <= 26 ? 900 : 600, loads = 0;
  for (uint32_t i = k->b[q].first; i < k->b[q].end; i++) loads += k->n[i].in->op == OP_LD && reached(k->n[i].in) == 's';
  if (!loads || k->t->sm >= SINCE_SHORT || !alone_in_loop(k, q)) return usual;
  uint32_t nested = (uint32_t)(11400 * pow((double)loads / size, 0.63));
  return nested > usual ? nested : usual;
}

/* How many copies of a body that stays a loop; 0: it stays as it is. */
static uint32_t copies_of(const struct back *k, const struct loop *l, uint32_t size) {
  if (l->trips)
    for (uint32_t f = MOST_REPEATED / size; f >= FACTOR; f--)
      if (l->trips % f == 0) return f;
  return body_weight(k, l) <= MOST_WEIGHT ? FACTOR : 0;
}

/* A store at an address that is no variable of the loop, and a load of the same space, which may not pass it: ptxas
 * 11.8 repeats no such body where how often it runs takes a division (`lt` or the like, not `ne`), unless it has a
 * barrier. */
static bool stores_anywhere(const struct back *k, const struct bblock *b) {
  bool loads[128] = {false};
  for (uint32_t i = b->first; i < b->end; i++)
    if (k->n[i].in->op == OP_LD) loads[(uint8_t)reached(k->n[i].in)] = true;
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    int64_t step;
    if (in->op != OP_ST || !reached(in) || !loads[(uint8_t)reached(in)] || in->ops[0].kind != OK_MEM) continue;
    const struct ptx_reg *r = in->ops[0].reg;
    if (!r || induction(k, b, r->num, &step) == NODE_NONE) return true;
  }
  return false;
}

/* Lanes exchange values, or a fence: ptxas 11.8 repeats no such body. */
static bool exchanges(const struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i < b->end; i++) {
    enum ptx_opcode op = (enum ptx_opcode)k->n[i].in->op;
    if (op == OP_SHFL || op == OP_VOTE || op == OP_MATCH || op == OP_REDUX || op == OP_ACTIVEMASK ||
        ptx_ops[op].kind == KIND_FENCE)
      return true;
  }
  return false;
}

/* Barriers and atomics: such a body is repeated only where all lanes are known to go round as often. */
static bool synchronises(const struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i < b->end; i++) {
    uint8_t kind = ptx_ops[k->n[i].in->op].kind;
    if (kind == KIND_BARRIER || kind == KIND_ATOM) return true;
  }
  return false;
}

/* Is any definition of the register, outside nodes `from` up to `to`, made of the number of a thread or of what lanes
 * exchange? `met`: registers on the way here. */
static bool of_lane(const struct back *k, uint16_t r, uint32_t from, uint32_t to, uint8_t *met, uint32_t deep) {
  enum { DEEPEST = 64 };
  if (deep == DEEPEST) return true;
  if (met[r]) return false;
  met[r] = 1;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    bool defines = false;
    for (uint32_t d = 0; d < n->ndef; d++) defines |= n->def[d] == r;
    if (!defines || (i >= from && i < to)) continue;
    if (ptx_ops[n->in->op].kind == KIND_ATOM || n->in->op == OP_SHFL) return true;
    for (uint32_t q = 0; q < n->in->nops; q++) {
      const struct ptx_opnd *o = &n->in->ops[q];
      if (o->kind == OK_SREG && (o->sreg <= SR_TID_Z || o->sreg == SR_LANEID)) return true;
    }
    for (uint32_t u = 0; u < n->nuse; u++)
      if (of_lane(k, n->use[u], 0, 0, met, deep + 1)) return true;
  }
  return false;
}

/* As ptxas 11.8 sees it: up to a number or a word of the constant bank, not to what is computed, and from a value
 * that no thread's number is part of. */
static bool as_often_in_all_lanes(const struct back *k, const struct loop *l) {
  const struct ptx_opnd *bound = &k->n[l->setp].in->ops[2];
  const struct bblock *b = &k->b[l->block];
  uint8_t *met = ARENA_ARRAY((struct arena *)&k->scratch, uint8_t, k->nregs + 1);
  if (bound->kind == OK_REG) {
    uint32_t at = only_definition(k, bound->reg->num, 0, k->nn);
    const struct ptx_inst *d = at == NODE_NONE ? NULL : k->n[at].in;
    bool word = d && !d->guard && d->op == OP_LD && (ptx_has(d, M_PARAM) || ptx_has(d, M_PARAM_ENTRY));
    bool size = d && !d->guard && d->op == OP_MOV && d->ops[1].kind == OK_SREG && d->ops[1].sreg >= SR_NTID_X &&
                d->ops[1].sreg <= SR_NTID_Z;
    if (!word && !size) return false;
  }
  return !of_lane(k, l->counter, b->first, b->end, met, 0);
}

static bool find_loop(const struct back *k, uint32_t q, struct loop *l) {
  const struct bblock *b = &k->b[q];
  const struct ptx_inst *bra = k->n[b->end - 1].in;
  if (!q || bra->op != OP_BRA || !bra->guard || bra->target != b->first || b->preds != 2 || !copyable(k, b))
    return false;
  bool from_before = false;
  for (uint32_t s = 0; s < k->b[q - 1].nsucc; s++) from_before |= k->b[q - 1].succ[s] == q;
  const struct ptx_inst *before = k->n[b->first - 1].in;
  if (!from_before || (before->op == OP_BRA && (!before->guard || before->target == b->first))) return false;
  if (k->n[b->first].in->nounroll || exchanges(k, b)) return false;
  *l = (struct loop){.block = q};
  l->setp = only_definition(k, bra->guard->num, b->first, b->end);
  if (l->setp == NODE_NONE || !comparison(k, k->n[l->setp].in, b)) return false;
  uint32_t add = only_definition(k, k->n[l->setp].in->ops[1].reg->num, b->first, b->end);
  int64_t c;
  if (add == NODE_NONE || add > l->setp || !sum_with_constant(k->n[add].in, &c)) return false;
  l->counter = k->n[add].in->ops[1].reg->num;
  if (induction(k, b, l->counter, &l->step) != add || back_wide(k, l->counter)) return false;
  bool while_true = !bra->guard_neg;
  bool number = k->n[l->setp].in->ops[2].kind == OK_IMM;
  if (number && first_value(k, l, &l->first)) l->trips = trips_of(k, l, while_true);
  uint32_t size = body_size(k, l);
  l->copies = l->trips;
  l->whole = l->trips && l->trips <= MOST_TRIPS && l->trips * size <= most_whole(k, q, size);
  if (l->whole) return true;
  if (!l->trips && synchronises(k, b) && !as_often_in_all_lanes(k, l)) return false;
  l->copies = copies_of(k, l, size);
  if (!l->copies) return false;
  if (l->trips % l->copies) l->trips = 0;
  if (l->trips) return true;
  return copies_all_run(k, l, while_true) && (l->cond == M_NE || synchronises(k, b) || !stores_anywhere(k, b));
}

/* ---- copies ---- */

static struct node *add_node(struct unroll *u, struct ptx_inst *in) {
  return back_append(u->k, &u->out, in);
}

static uint16_t fresh_name(struct unroll *u, uint16_t r) {
  return back_register(u->k, (enum ptx_type)u->k->f->regs[r]->type);
}

static void rename_use(struct unroll *u, struct ptx_opnd *o) {
  if (o->reg && u->name[o->reg->num]) o->reg = u->k->f->regs[u->name[o->reg->num]];
  if (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM)
    for (uint32_t q = 0; q < o->n; q++) rename_use(u, &o->vec[q]);
}

static struct ptx_reg *define(struct unroll *u, struct ptx_reg *r, uint32_t node, bool last) {
  if (u->kept[r->num]) return r;
  bool own = last && !u->local[r->num] && u->after[r->num] && u->last[r->num] == node + 1;
  u->name[r->num] = own ? r->num : fresh_name(u, r->num);
  return u->k->f->regs[u->name[r->num]];
}

static void rename_def(struct unroll *u, struct ptx_opnd *o, uint32_t node, bool last) {
  if (o->reg && o->kind == OK_REG) o->reg = define(u, o->reg, node, last);
  if (o->reg2) o->reg2 = define(u, o->reg2, node, last);
  for (uint32_t q = 0; o->kind == OK_VEC && q < o->n; q++) rename_def(u, &o->vec[q], node, last);
}

static void copy_body(struct unroll *u, const struct loop *l, bool drop_setp, bool last) {
  struct back *k = u->k;
  const struct bblock *b = &k->b[l->block];
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    if (i == l->setp && drop_setp) continue;
    struct ptx_inst *c = back_copy(k, k->n[i].in);
    uint32_t dests = ptx_dests(c);
    if (c->guard && u->name[c->guard->num]) c->guard = k->f->regs[u->name[c->guard->num]];
    for (uint32_t q = dests; q < c->nops; q++) rename_use(u, &c->ops[q]);
    for (uint32_t q = 0; q < dests; q++) {
      if (c->ops[q].kind == OK_MEM) rename_use(u, &c->ops[q]);
      else rename_def(u, &c->ops[q], i, last);
    }
    add_node(u, c);
  }
}

static void find_local(struct unroll *u, const struct bblock *b) {
  const struct back *k = u->k;
  for (uint32_t i = b->end; i-- > b->first;) { /* backwards: the first that reads or writes it decides */
    for (uint32_t d = 0; d < k->n[i].ndef; d++) u->local[k->n[i].def[d]] = !k->n[i].in->guard;
    for (uint32_t q = 0; q < k->n[i].nuse; q++) u->local[k->n[i].use[q]] = false;
  }
  for (uint32_t i = 0; i < k->nn; i++) {
    if (i >= b->first && i < b->end) continue;
    for (uint32_t q = 0; q < k->n[i].nuse; q++) u->local[k->n[i].use[q]] = false;
  }
}

/* What comes first in a block. */
enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };
static enum access first_access(const struct back *k, const struct bblock *b, uint16_t r) {
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct node *n = &k->n[i];
    for (uint32_t u = 0; u < n->nuse; u++)
      if (n->use[u] == r) return ACCESS_READ;
    for (uint32_t d = 0; d < n->ndef; d++)
      if (n->def[d] == r && !n->in->guard) return ACCESS_WRITE;
  }
  return ACCESS_NONE;
}

/* Is the register read on a way from the end of a loop that becomes straight code, before it is written? `met` and
 * `todo`: blocks. */
static bool read_after(const struct back *k, uint32_t q, uint16_t r, uint8_t *met, uint32_t *todo) {
  uint32_t n = 0;
  memset(met, 0, k->nb);
  todo[n++] = q;
  while (n) {
    uint32_t from = todo[--n];
    for (uint32_t s = 0; s < back_successors(k, from); s++) {
      uint32_t to = back_successor(k, from, s);
      if (met[to] || (from == q && to == q)) continue; /* its own branch back goes */
      met[to] = 1;
      enum access how = first_access(k, &k->b[to], r);
      if (how == ACCESS_READ) return true;
      if (how == ACCESS_NONE) todo[n++] = to;
    }
  }
  return false;
}

/* Straight code ends with what is read after it; a loop's last copy is followed by its first. */
static void find_after(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &k->b[l->block];
  uint8_t *met = l->whole ? ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1) : NULL;
  uint32_t *todo = l->whole ? ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1) : NULL;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      u->after[r] = !l->whole || read_after(k, l->block, r, met, todo);
    }
}

static void prepare_names(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &k->b[l->block];
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      u->name[r] = 0;
      u->kept[r] = false;
    }
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      if (k->n[i].in->guard) u->kept[r] = true;
      u->last[r] = i + 1;
    }
  find_local(u, b);
  find_after(u, l);
}

/* A later loop may read registers of the same numbers, written in between. */
static void forget_names(struct unroll *u, const struct loop *l) {
  const struct bblock *b = &u->k->b[l->block];
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < u->k->n[i].ndef; d++) u->name[u->k->n[i].def[d]] = 0;
}

/* Registers that the body adds a constant to, and the counter of a loop whose count is known. */
static void begin(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &k->b[l->block];
  for (uint32_t i = b->first, n = 0; i < b->end && n < MOST_INDUCTIONS; i++) {
    int64_t step;
    const struct ptx_inst *in = k->n[i].in;
    uint16_t r = k->n[i].ndef == 1 ? k->n[i].def[0] : 0;
    if (!r || u->kept[r] || induction(k, b, r, &step) == NODE_NONE) continue;
    struct ptx_inst *c = back_copy(k, in);
    c->op = OP_MOV;
    c->nops = 2;
    c->ntypes = 1;
    c->types[0] = back_wide(k, r) ? T_B64 : T_B32;
    memset(c->mods, 0, sizeof c->mods);
    c->nmods = 0;
    uint16_t t = fresh_name(u, r);
    c->ops[0].reg = k->f->regs[t];
    c->ops[1] = (struct ptx_opnd){.kind = OK_REG, .reg = k->f->regs[r], .line = in->line};
    if (l->whole && r == l->counter) c->ops[1] = (struct ptx_opnd){.kind = OK_IMM, .imm = l->first, .line = in->line};
    add_node(u, c);
    u->name[r] = t;
    n++;
  }
}

/* A comparison like the loop's: of x with y, and of another predicate if there is one. */
static struct ptx_reg *add_comparison(struct unroll *u, const struct loop *l, enum ptx_mod how,
                                      const struct ptx_opnd *x, const struct ptx_opnd *y, struct ptx_reg *also) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[l->setp].in);
  uint16_t r = back_register(k, T_PRED); /* may move regs */
  struct ptx_reg *p = k->f->regs[r];
  memset(c->mods, 0, sizeof c->mods);
  c->nmods = 0;
  back_set(c, how);
  c->ops[0].reg = p;
  c->ops[1] = *x;
  c->ops[2] = *y;
  if (also) {
    back_set(c, M_AND);
    c->ops[3] = (struct ptx_opnd){.kind = OK_REG, .reg = also, .line = c->line};
    c->nops = 4;
  }
  add_node(u, c);
  return p;
}

static struct ptx_opnd add_difference(struct unroll *u, const struct loop *l, const struct ptx_opnd *x,
                                      const struct ptx_opnd *y) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[l->setp].in);
  memset(c->mods, 0, sizeof c->mods);
  c->nmods = 0;
  c->op = OP_SUB;
  c->ntypes = 1;
  c->types[0] = T_U32;
  uint16_t r = back_register(k, T_B32); /* may move regs */
  c->ops[0].reg = k->f->regs[r];
  c->ops[1] = *x;
  c->ops[2] = *y;
  add_node(u, c);
  return c->ops[0];
}

/* Do all of n copies run? `last`: the bound less their steps but one; made before the loop. */
static struct ptx_reg *copies_follow(struct unroll *u, const struct loop *l, uint32_t n, struct ptx_opnd *last,
                                     bool before) {
  struct back *k = u->k;
  const struct ptx_inst *setp = k->n[l->setp].in;
  const struct ptx_opnd *bound = &setp->ops[2],
                        counter = {.kind = OK_REG, .reg = k->f->regs[l->counter], .line = setp->line};
  struct ptx_opnd steps = {.kind = OK_IMM, .imm = (int64_t)(n - 1) * l->step, .line = setp->line};
  int64_t number = 0;
  if (l->cond == M_NE) { /* how far it is, in steps that may pass the end of the numbers */
    struct ptx_opnd far = counter;
    bool zero = bound->kind == OK_IMM && !bound->imm && l->step < 0;
    if (!zero) far = l->step > 0 ? add_difference(u, l, bound, &counter) : add_difference(u, l, &counter, bound);
    if (steps.imm < 0) steps.imm = -steps.imm;
    struct ptx_reg *p = add_comparison(u, l, M_GT, &far, &steps, NULL);
    u->out.n[u->out.nn - 1].in->types[0] = T_U32;
    return p;
  }
  if (!before) return add_comparison(u, l, l->cond, &counter, last, NULL);
  if (bound->kind == OK_IMM) {
    number_of_last(l, setp, n, &number);
    *last = (struct ptx_opnd){.kind = OK_IMM, .imm = number, .line = setp->line};
    return add_comparison(u, l, l->cond, &counter, last, NULL);
  }
  *last = add_difference(u, l, bound, &steps);
  return add_comparison(u, l, l->cond, &counter, last, add_comparison(u, l, l->cond, last, bound, NULL));
}

static uint32_t add_branch(struct unroll *u, const struct loop *l, struct ptx_reg *p, bool neg) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[k->b[l->block].end - 1].in);
  c->guard = p;
  c->guard_neg = neg;
  add_node(u, c);
  return u->out.nn - 1;
}

static bool read_elsewhere(const struct back *k, const struct loop *l) {
  uint16_t p = k->n[l->setp].in->ops[0].reg->num;
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t x = 0; x < k->n[i].nuse; x++)
      if (k->n[i].use[x] == p && i != k->b[l->block].end - 1) return true;
  return false;
}

/* Branches of nodes from `fixed` on name new nodes already: their targets are kept in `own`. */
struct fix {
  uint32_t node, target;
  bool after; /* the node after the loop, an old number */
};

/* To the end of the loop unless it takes another turn. */
static void leave_loop(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  const struct ptx_inst *setp = u->k->n[l->setp].in;
  struct ptx_opnd counter = {.kind = OK_REG, .reg = u->k->f->regs[l->counter], .line = setp->line};
  struct ptx_reg *more = add_comparison(u, l, l->cond, &counter, &setp->ops[2], NULL);
  f[(*nf)++] = (struct fix){add_branch(u, l, more, true), u->k->b[l->block].end, true};
}

static void add_copies(struct unroll *u, const struct loop *l, uint32_t n, bool drop) {
  prepare_names(u, l);
  begin(u, l);
  for (uint32_t t = 1; t <= n; t++) copy_body(u, l, drop && (!l->trips || t < n), t == n);
}

/* Copies while as many turns are left, and twice the body if two are; the loop as it was follows. */
static void repeat(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  bool drop = !read_elsewhere(u->k, l);
  struct ptx_opnd last = {.kind = OK_NONE}, last_of_two = {.kind = OK_NONE};
  uint32_t to_pair = add_branch(u, l, copies_follow(u, l, l->copies, &last, true), true), head = u->out.nn;
  add_copies(u, l, l->copies, drop);
  f[(*nf)++] = (struct fix){add_branch(u, l, copies_follow(u, l, l->copies, &last, false), false), head, false};
  leave_loop(u, l, f, nf);
  f[(*nf)++] = (struct fix){to_pair, u->out.nn, false};
  uint32_t to_rest = add_branch(u, l, copies_follow(u, l, 2, &last_of_two, true), true);
  add_copies(u, l, 2, drop);
  leave_loop(u, l, f, nf);
  f[(*nf)++] = (struct fix){to_rest, u->out.nn, false};
  u->k->n[u->k->b[l->block].end - 1].once = l->cond != M_NE;
}

/* A loop of known count: straight code, or copies that divide the count. */
static void repeat_known(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  bool drop = !read_elsewhere(u->k, l);
  if (l->whole) {
    prepare_names(u, l);
    begin(u, l);
    for (uint32_t t = 0; t < l->trips; t++) copy_body(u, l, drop, t + 1 == l->trips);
    forget_names(u, l);
    return;
  }
  uint32_t head = u->out.nn;
  add_copies(u, l, l->copies, drop);
  const struct ptx_inst *bra = u->k->n[u->k->b[l->block].end - 1].in;
  struct ptx_reg *more = u->k->f->regs[u->name[bra->guard->num]]; /* as the last copy has it */
  f[(*nf)++] = (struct fix){add_branch(u, l, more, bra->guard_neg), head, false};
}

static void finish(struct unroll *u, const uint32_t *to, const struct fix *f, uint32_t nf, const uint8_t *old) {
  for (uint32_t q = 0; q < nf; q++) u->out.n[f[q].node].in->target = f[q].after ? to[f[q].target] : f[q].target;
  back_replace(u->k, &u->out, to, old);
}

/* ---- loops that are entered at their test ---- */

/* Block `q` is the first of a loop of two blocks, the text before it goes to the second, which tests, and the first
 * test is known to succeed. */
static bool entered_at_test(const struct back *k, uint32_t q) {
  if (!q || q + 1 >= k->nb) return false;
  const struct bblock *d = &k->b[q], *h = &k->b[q + 1], *g = q + 2 < k->nb ? &k->b[q + 2] : NULL;
  const struct ptx_inst *in = k->n[d->first - 1].in, *bra = k->n[h->end - 1].in, *back = g ? k->n[g->first].in : NULL;
  if (in->op != OP_BRA || in->guard || in->target != h->first || d->preds != 1 || h->preds != 2) return false;
  if (back_ends(k->n[d->end - 1].in) || bra->op != OP_BRA || !bra->guard) return false;
  bool goes_back = bra->target == d->first; /* else a branch by itself does */
  if (!goes_back && (!g || g->end != g->first + 1 || g->preds != 1 || back->op != OP_BRA || back->guard ||
                     back->target != d->first || bra->target != g->end))
    return false;
  if (!copyable(k, h) || exchanges(k, h) || synchronises(k, h)) return false;
  struct loop l = {.block = q, .setp = only_definition(k, bra->guard->num, h->first, h->end)};
  if (l.setp == NODE_NONE || !comparison(k, k->n[l.setp].in, h)) return false;
  const struct ptx_inst *setp = k->n[l.setp].in;
  l.counter = setp->ops[1].reg->num;
  if (setp->ops[2].kind != OK_IMM || changes(k, l.counter, h) || !first_value(k, &l, &l.first)) return false;
  return is_true(setp, l.first) == (goes_back != bra->guard_neg);
}

static struct unroll begin_copies(struct back *k) {
  uint32_t n = k->nregs + 1;
  struct unroll u = {.k = k};
  u.name = ARENA_ARRAY(&k->scratch, uint16_t, n);
  u.kept = ARENA_ARRAY(&k->scratch, uint8_t, n);
  u.last = ARENA_ARRAY(&k->scratch, uint32_t, n);
  u.local = ARENA_ARRAY(&k->scratch, uint8_t, n);
  u.after = ARENA_ARRAY(&k->scratch, uint8_t, n);
  return u;
}

/* A copy of the test's block goes in front of the loop, which is then one block. */
static void rotate(struct back *k) {
  uint8_t *entered = ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1);
  uint32_t most = k->nn;
  for (uint32_t q = 0; q < k->nb; q++)
    if ((entered[q] = entered_at_test(k, q))) most += k->b[q + 1].end - k->b[q + 1].first;
  if (most == k->nn || k->nregs + most > MOST_REGISTERS) return;
  struct unroll u = begin_copies(k);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, most + 1);
  for (uint32_t i = 0; i < k->nn; i++) {
    uint32_t q = k->n[i].block;
    struct ptx_inst *in = k->n[i].in;
    bool last = i + 1 == k->b[q].end;
    to[i] = u.out.nn;
    if (last && entered[q + 1]) {
      const struct loop test = {.block = q + 2};
      prepare_names(&u, &test);
      copy_body(&u, &test, false, true);
      continue;
    }
    if (last && q > 1 && entered[q - 2] && in->op == OP_BRA && !in->guard && in->target == k->b[q - 2].first) continue;
    if (last && q && entered[q - 1] && in->target != k->b[q - 1].first) {
      in->guard_neg = !in->guard_neg;
      in->target = k->b[q - 1].first;
    }
    old[u.out.nn] = 1;
    add_node(&u, in)->once = k->n[i].once;
  }
  to[k->nn] = u.out.nn;
  finish(&u, to, NULL, 0, old);
}

void back_unroll(struct back *k) {
  rotate(k);
  struct loop *loops = ARENA_ARRAY(&k->scratch, struct loop, k->nb + 1);
  uint32_t n = 0, nf = 0, most = k->nn;
  for (uint32_t q = 0; q < k->nb; q++)
    if (find_loop(k, q, &loops[n])) n++;
  if (!n) return;
  for (uint32_t q = 0; q < n; q++) {
    uint32_t size = k->b[loops[q].block].end - k->b[loops[q].block].first;
    most += (loops[q].copies + 2) * size + 2 * MOST_INDUCTIONS + 20;
  }
  if (k->nregs + most > MOST_REGISTERS) return;
  struct unroll u = begin_copies(k);
  struct fix *f = ARENA_ARRAY(&k->scratch, struct fix, 5 * n + 1);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, most + 1);
  for (uint32_t i = 0, q = 0; i < k->nn; i++) {
    if (q < n && i == k->b[loops[q].block].first) {
      const struct loop *l = &loops[q++];
      uint32_t at = u.out.nn;
      if (!l->trips) {
        repeat(&u, l, f, &nf);
      } else { /* nothing is left of it */
        repeat_known(&u, l, f, &nf);
        for (uint32_t x = i; x < k->b[l->block].end; x++) to[x] = at;
        i = k->b[l->block].end - 1;
        continue;
      }
    }
    to[i] = u.out.nn;
    old[u.out.nn] = 1;
    add_node(&u, k->n[i].in)->once = k->n[i].once;
  }
  to[k->nn] = u.out.nn;
  finish(&u, to, f, nf, old);
}

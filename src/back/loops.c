/* loops.c - see loops.h. The limits are those of ptxas 11.8 for loops of sums, loads and stores of all sizes and
 * counts.
 */
#include "back/loops.h"

#include <math.h>

enum { MOST_TRIPS = 1367, FACTOR = 4, MOST_REPEATED = 300, MOST_WEIGHT = 95 };

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
uint32_t loop_induction(const struct back *k, const struct bblock *b, uint16_t r, int64_t *step) {
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
bool loop_number_of_last(const struct loop *l, const struct ptx_inst *setp, uint32_t n, int64_t *last) {
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
  return setp->ops[2].kind != OK_IMM || loop_number_of_last(l, setp, l->copies, &last);
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
  int64_t step;
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    const struct node *at = &k->n[i];
    bool offset = at->turn && sum_with_constant(at->in, &step); /* a step of the loop that is straight code */
    n += at->in->op != OP_MOV && !offset && !counts(k, i, l);
  }
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
  if (back_in_shared(i)) return 's';
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

/* Instructions of the body that become numbers, or none, in a turn whose counter is a number: made of the counter and
 * of what the loop does not change. */
static uint32_t known_in_a_turn(struct back *k, const struct loop *l) {
  const struct bblock *b = &k->b[l->block];
  uint8_t *changes_in = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  uint32_t n = 0;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) changes_in[k->n[i].def[d]] = 1;
  changes_in[l->counter] = 0;
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    const struct node *u = &k->n[i];
    bool known = ptx_ops[u->in->op].kind == KIND_ALU && back_movable(u->in) && !u->in->guard && u->in->op != OP_MOV;
    for (uint32_t q = 0; q < u->nuse; q++) known &= !changes_in[u->use[q]];
    if (!known || counts(k, i, l)) continue;
    for (uint32_t d = 0; d < u->ndef; d++) changes_in[u->def[d]] = 0;
    n++;
  }
  return n;
}

/* The most instructions of a loop of turns of `size` that becomes straight code: bisected with ptxas 11.8 (a load and
 * FFMA); between these sizes a line. */
static double most_of_turns(uint32_t size) {
  static const uint16_t found[][2] = {{2, 2734}, {3, 2550}, {5, 2205}, {7, 1876}, {9, 1638}, {12, 1296}, {15, 1095},
                                      {18, 972}, {21, 903}, {26, 780}, {31, 651}, {41, 533}, {61, 427},  {81, 324}};
  enum { LAST = sizeof found / sizeof *found - 1 };
  if (size <= found[0][0]) return found[0][1];
  uint32_t q = 1;
  while (q < LAST && found[q][0] < size) q++;
  if (found[q][0] < size) return found[LAST][1];
  double from = found[q - 1][1], share = (double)(size - found[q - 1][0]) / (found[q][0] - found[q - 1][0]);
  return from + share * (found[q][1] - from);
}

/* The same of this loop, of instructions whose results are not known in a turn. One with loads of shared memory that is
 * alone in another loop, such as that of a tile's products, may become much longer before 9.0, the more so the more of
 * it is loads: fitted to ptxas 11.8 and 13.0, 20 bodies of 2 to 152 instructions, half to a thirty-second of them
 * loads, within 7 %. A nest of loops of known counts may have what its innermost loop might. */
static double most_whole(const struct back *k, const struct loop *l, uint32_t own) {
  enum { SINCE_SHORT = 90 };
  double usual = most_of_turns(l->turn);
  uint32_t loads = 0, q = l->block;
  for (uint32_t i = k->b[q].first; i < k->b[q].end; i++) loads += k->n[i].in->op == OP_LD && reached(k->n[i].in) == 's';
  if (!loads || l->nest || k->t->sm >= SINCE_SHORT || !alone_in_loop(k, q)) return usual;
  return fmax(usual, 11400 * pow((double)loads / own, 0.63));
}

/* Of a loop whose body has straight code of another one: the fewest instructions of such a turn; 0: it has none. */
static uint32_t innermost_turn(const struct back *k, const struct bblock *b) {
  uint32_t least = 0;
  for (uint32_t i = b->first; i < b->end; i++) {
    uint32_t turn = k->n[i].turn;
    if (turn && (!least || turn < least)) least = turn;
  }
  return least;
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
    if (!r || loop_induction(k, b, r->num, &step) == NODE_NONE) return true;
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

bool loop_find(struct back *k, uint32_t q, struct loop *l) {
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
  if (loop_induction(k, b, l->counter, &l->step) != add || back_wide(k, l->counter)) return false;
  bool while_true = !bra->guard_neg;
  bool number = k->n[l->setp].in->ops[2].kind == OK_IMM;
  if (number && first_value(k, l, &l->first)) l->trips = trips_of(k, l, while_true);
  uint32_t size = body_size(k, l), known = l->trips ? known_in_a_turn(k, l) : 0, own = size > known ? size - known : 1;
  uint32_t inner = innermost_turn(k, b);
  l->copies = l->trips;
  l->nest = inner != 0;
  l->turn = inner ? inner : own;
  l->whole = l->trips && l->trips <= MOST_TRIPS && (double)l->trips * own <= most_whole(k, l, own);
  if (l->whole) return true;
  if (!l->trips && synchronises(k, b) && !as_often_in_all_lanes(k, l)) return false;
  l->copies = copies_of(k, l, size);
  if (!l->copies) return false;
  if (l->trips % l->copies) l->trips = 0;
  if (l->trips) return true;
  return copies_all_run(k, l, while_true) && (l->cond == M_NE || synchronises(k, b) || !stores_anywhere(k, b));
}

/* Block `q` is the first of a loop of two blocks, the text before it goes to the second, which tests, and the first
 * test is known to succeed. */
bool loop_entered_at_test(const struct back *k, uint32_t q) {
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

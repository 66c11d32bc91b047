/* loops.c - see loops.h. The limits are those of ptxas 11.8 for loops of sums, loads and stores of all sizes and
 * counts.
 */
#include "back/loops.h"

#include <math.h>

enum { MOST_TRIPS = 1367, FACTOR = 4, MOST_BLOCKS = 64 };
static const int64_t MOST_NUMBER = (int64_t)1 << 40;

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

/* Does every turn execute the node? */
bool loop_each_turn(const struct back *k, const struct loop *l, uint32_t node) {
  return !l->spine || l->spine[k->n[node].block - l->head];
}

/* The node that adds the constant: r = r + c, or x = r + c and later r = x. NODE_NONE: the body changes r otherwise. */
uint32_t loop_induction(const struct back *k, const struct loop *l, uint16_t r, int64_t *step) {
  const struct bblock *b = &l->body;
  uint32_t at = only_definition(k, r, b->first, b->end);
  if (at == NODE_NONE || !loop_each_turn(k, l, at)) return NODE_NONE;
  const struct ptx_inst *i = k->n[at].in;
  if (i->op == OP_MOV && !i->guard && i->nops == 2 && plain_register(&i->ops[0]) && plain_register(&i->ops[1])) {
    uint32_t add = only_definition(k, i->ops[1].reg->num, b->first, b->end);
    if (add == NODE_NONE || add > at || !loop_each_turn(k, l, add)) return NODE_NONE;
    i = k->n[at = add].in;
  }
  if (!sum_with_constant(i, step) || i->ops[1].reg->num != r || !*step) return NODE_NONE;
  return ptx_type_bytes[i->types[0]] == ptx_type_bytes[k->f->regs[r]->type] ? at : NODE_NONE;
}

static bool of_64_bits(const struct ptx_inst *setp) {
  return ptx_type_bytes[setp->types[0]] == 8;
}

/* A number as the comparison has it; of 64 bits without a sign only below 2^63 (comparison). */
static int64_t as_compared(const struct ptx_inst *setp, int64_t x) {
  if (of_64_bits(setp)) return x;
  return ptx_type_kinds[setp->types[0]] == 'u' ? (int64_t)(uint32_t)x : (int64_t)(int32_t)x;
}

static bool is_true(const struct ptx_inst *setp, int64_t x) {
  int64_t y = as_compared(setp, setp->ops[2].imm);
  x = as_compared(setp, x);
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
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_bytes[i->types[0]] < 4 || bound->is_float) return false;
  if (ptx_type_bytes[i->types[0]] != ptx_type_bytes[i->ops[1].reg->type]) return false;
  if (bound->kind == OK_IMM && of_64_bits(i) && (bound->imm < 0 || bound->imm > MOST_NUMBER)) return false;
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
  for (uint32_t b = l->head; b-- > 0;) {
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
    v += l->step;
    if (!of_64_bits(setp)) v = (int32_t)v;
    if (is_true(setp, v) != while_true) return t;
  }
  return 0;
}

static bool copyable(const struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    uint8_t kind = ptx_ops[in->op].kind;
    if (kind == KIND_EXIT || kind == KIND_RET || in->op == OP_CALL || in->op == OP_BRX) return false;
    if (in->op != OP_BRA && back_branches(k, in)) return false; /* of rare operands */
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
  *last = as_compared(setp, setp->ops[2].imm) - (int64_t)(n - 1) * l->step;
  if (of_64_bits(setp)) return !is_unsigned || *last >= 0;
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
  const struct bblock *b = &l->body;
  uint32_t n = 0;
  int64_t step;
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    const struct node *at = &k->n[i];
    bool offset = at->turn && sum_with_constant(at->in, &step); /* a step of the loop that is straight code */
    n += at->in->op != OP_MOV && !offset && !counts(k, i, l);
  }
  return n ? n : 1;
}

/* What a turn weighs to ptxas, which counts instructions of PTX: accesses of memory twice, atomics eleven times, a
 * conversion of what is loaded or compared once more, functions that need a scale of their own for small operands six
 * times in all; guards once more. */
static uint32_t weight_of(const struct back *k, const struct ptx_inst *in) {
  enum { ATOMIC = 11, SCALED = 2 };
  uint8_t ops[MAX_SEQ], cls;
  bool narrow = in->ntypes && ptx_type_bytes[in->types[0]] < 4, wide = in->ntypes && ptx_type_bytes[in->types[0]] == 8;
  bool sign = in->ntypes && ptx_type_kinds[in->types[0]] == 'f' && (in->op == OP_NEG || in->op == OP_ABS);
  if (in->op == OP_MOV || in->op == OP_CVTA || sign) return 0;
  if (in->op == OP_BRA) return 1;
  uint32_t m = back_expand(k, in, ops), n = in->guard != NULL;
  for (uint32_t q = 0; q < m; q++) {
    cls = mach_infos[ops[q]].cls;
    bool memory = cls == MC_LDG || cls == MC_STG || cls == MC_LDS || cls == MC_STS || cls == MC_LDL || cls == MC_STL;
    if (cls == MC_ATOM) return n + ATOMIC;
    if (memory) return n + 2 + (narrow && in->op == OP_LD);
    n += cls == MC_SFU && m > 1 ? 1 + SCALED : 1;
  }
  if (wide && ptx_type_kinds[in->types[0]] != 'f') return 1 + (in->guard != NULL);
  return n + (narrow && in->op == OP_SETP ? 2 : 0);
}

static uint32_t times_read(const struct back *k, uint16_t r, const struct bblock *b) {
  uint32_t n = 0;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t u = 0; u < k->n[i].nuse; u++) n += k->n[i].use[u] == r;
  return n;
}

/* A product added to what the loop does not change is one instruction with it. */
static bool adds_product(const struct back *k, const struct loop *l, const struct ptx_inst *in) {
  if (in->op != OP_ADD || in->nops != 3) return false;
  for (uint32_t q = 1; q <= 2; q++) {
    const struct ptx_opnd *x = &in->ops[q], *base = &in->ops[3 - q];
    if (!plain_register(x) || !plain_register(base) || times_read(k, x->reg->num, &l->body) != 1) continue;
    uint32_t d = only_definition(k, x->reg->num, l->body.first, l->body.end);
    bool product = d != NODE_NONE && k->n[d].in->op == OP_MUL && ptx_has(k->n[d].in, M_WIDE);
    if (product && !changes(k, base->reg->num, &l->body)) return true;
  }
  return false;
}

static uint32_t body_weight(const struct back *k, const struct loop *l, bool steps) {
  uint32_t n = 0;
  int64_t step;
  for (uint32_t i = l->body.first; i + 1 < l->body.end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    bool counter = i == l->setp || (in->op == OP_ADD && in->ops[0].reg && in->ops[0].reg->num == l->counter);
    if (counter || adds_product(k, l, in) ||
        (!steps && sum_with_constant(in, &step) && in->ops[0].reg == in->ops[1].reg))
      continue;
    n += weight_of(k, in);
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
  const struct bblock *b = &l->body;
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
  for (uint32_t i = l->body.first; i < l->body.end; i++) loads += k->n[i].in->op == OP_LD && reached(k->n[i].in) == 's';
  if (!loads || l->nest || l->head != l->block || k->t->sm >= SINCE_SHORT || !alone_in_loop(k, q)) return usual;
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

/* The most that a turn may weigh which is repeated: loads that may overlap are worth more (bisected, ptxas 11.8 and
 * 13.0: 25 kinds of instructions, with and without loads). */
static uint32_t most_weight(const struct back *k, const struct loop *l) {
  enum { PLAIN = 18, GLOBAL = 47, SHARED = 19, EACH_SHARED = 5, MOST_SHARED = 97 };
  uint32_t shared = 0, most = PLAIN;
  for (uint32_t i = l->body.first; i < l->body.end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    if (in->op == OP_TEX || in->op == OP_TLD4 || (in->op == OP_LD && reached(in) == 'g')) most = GLOBAL;
    shared += in->op == OP_LD && reached(in) == 's';
  }
  uint32_t of_shared = SHARED + EACH_SHARED * shared;
  if (of_shared > MOST_SHARED) of_shared = MOST_SHARED;
  return shared && of_shared > most ? of_shared : most;
}

/* How many copies of a body that stays a loop; 0: it stays as it is. */
static uint32_t copies_of(const struct back *k, const struct loop *l) {
  enum { MOST_KNOWN = 72, MOST_REPEATED = 344 };
  if (!l->trips) return body_weight(k, l, true) <= most_weight(k, l) ? FACTOR : 0;
  uint32_t weight = body_weight(k, l, false);
  if (l->head != l->block || weight > MOST_KNOWN) return 0;
  for (uint32_t f = weight ? MOST_REPEATED / weight : MOST_REPEATED; f >= FACTOR; f--)
    if (l->trips % f == 0) return f;
  return FACTOR;
}

/* A store at an address that is no variable of the loop, and a load of the same space, which may not pass it: ptxas
 * 11.8 repeats no such body where how often it runs takes a division (`lt` or the like, not `ne`), unless it has a
 * barrier. */
static bool stores_anywhere(const struct back *k, const struct loop *l) {
  const struct bblock *b = &l->body;
  bool loads[128] = {false};
  for (uint32_t i = b->first; i < b->end; i++)
    if (k->n[i].in->op == OP_LD) loads[(uint8_t)reached(k->n[i].in)] = true;
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    int64_t step;
    if (in->op != OP_ST || !reached(in) || !loads[(uint8_t)reached(in)] || in->ops[0].kind != OK_MEM) continue;
    const struct ptx_reg *r = in->ops[0].reg;
    if (!r || loop_induction(k, l, r->num, &step) == NODE_NONE) return true;
  }
  return false;
}

/* Lanes exchange values (since 9.0: but by votes), or a fence: ptxas repeats no such body. */
static bool exchanges(const struct back *k, const struct bblock *b) {
  enum { VOTES_REPEATED = 90 };
  for (uint32_t i = b->first; i < b->end; i++) {
    enum ptx_opcode op = (enum ptx_opcode)k->n[i].in->op;
    if (op == OP_VOTE && k->t->sm >= VOTES_REPEATED) continue;
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
  const struct bblock *b = &l->body;
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

/* The blocks from the target of the branch back at the end of block `q` up to it are a loop that only that branch
 * leaves, in which all other branches lead ahead. Says which blocks every turn executes. */
static bool find_body(struct back *k, uint32_t q, struct loop *l) {
  const struct ptx_inst *bra = k->n[k->b[q].end - 1].in;
  if (bra->op != OP_BRA || !bra->guard || k->n[bra->target].block > q) return false;
  uint32_t h = k->n[bra->target].block, ahead = h;
  *l = (struct loop){.block = q, .head = h, .body = k->b[q]};
  if (!h || bra->target != k->b[h].first || k->b[h].preds != 2 || q - h >= MOST_BLOCKS) return false;
  l->body.first = k->b[h].first;
  if (h == q) return true;
  uint8_t *spine = ARENA_ARRAY(&k->scratch, uint8_t, q - h + 1);
  uint32_t *from = ARENA_ARRAY(&k->scratch, uint32_t, q - h + 1);
  for (uint32_t x = h; x <= q; x++) {
    const struct bblock *b = &k->b[x];
    spine[x - h] = ahead <= x;
    if (x == q) break;
    if (!b->nsucc || b->ntargets) return false;
    if (!spine[x - h] && b->nsucc > 1) l->deep = true;
    if (!spine[x - h] && b->nsucc > 1) l->deep = true;
    for (uint32_t s = 0; s < b->nsucc; s++) {
      if (b->succ[s] <= x || b->succ[s] > q) return false;
      from[b->succ[s] - h]++;
      if (b->succ[s] > ahead) ahead = b->succ[s];
    }
  }
  for (uint32_t x = h + 1; x <= q; x++)
    if (from[x - h] != k->b[x].preds) return false;
  l->spine = spine;
  return true;
}

/* The loop's counter, what it is compared with and, if known, how often it turns. */
static bool find_counter(const struct back *k, struct loop *l) {
  const struct bblock *b = &l->body;
  const struct ptx_inst *bra = k->n[b->end - 1].in;
  int64_t c;
  l->setp = only_definition(k, bra->guard->num, b->first, b->end);
  if (l->setp == NODE_NONE || !loop_each_turn(k, l, l->setp) || !comparison(k, k->n[l->setp].in, b)) return false;
  const struct ptx_inst *setp = k->n[l->setp].in;
  uint32_t add = only_definition(k, setp->ops[1].reg->num, b->first, b->end);
  if (add == NODE_NONE || add > l->setp || !sum_with_constant(k->n[add].in, &c)) return false;
  l->counter = k->n[add].in->ops[1].reg->num;
  if (loop_induction(k, l, l->counter, &l->step) != add) return false;
  if (setp->ops[2].kind == OK_IMM && first_value(k, l, &l->first)) l->trips = trips_of(k, l, !bra->guard_neg);
  return true;
}

bool loop_find(struct back *k, uint32_t q, struct loop *l) {
  if (!find_body(k, q, l) || !copyable(k, &l->body)) return false;
  const struct bblock *b = &l->body;
  bool from_before = false, while_true = !k->n[b->end - 1].in->guard_neg;
  for (uint32_t s = 0; s < k->b[l->head - 1].nsucc; s++) from_before |= k->b[l->head - 1].succ[s] == l->head;
  const struct ptx_inst *before = k->n[b->first - 1].in;
  if (!from_before || (before->op == OP_BRA && (!before->guard || before->target == b->first))) return false;
  if (k->n[b->first].in->nounroll || exchanges(k, b) || !find_counter(k, l)) return false;
  uint32_t size = body_size(k, l), known = l->trips ? known_in_a_turn(k, l) : 0, own = size > known ? size - known : 1;
  uint32_t inner = innermost_turn(k, b);
  l->copies = l->trips;
  l->nest = inner != 0;
  l->turn = inner ? inner : own;
  l->whole = l->trips && l->trips <= MOST_TRIPS && (double)l->trips * own <= most_whole(k, l, own);
  if (l->whole) return true;
  if (l->deep || (l->head != l->block && synchronises(k, b))) return false;
  if (l->deep || (l->head != l->block && synchronises(k, b))) return false;
  if (!l->trips && synchronises(k, b) && !as_often_in_all_lanes(k, l)) return false;
  l->copies = copies_of(k, l);
  if (!l->copies) return false;
  if (l->trips % l->copies) l->trips = 0;
  if (l->trips) return true;
  return copies_all_run(k, l, while_true) && (l->cond == M_NE || synchronises(k, b) || !stores_anywhere(k, l));
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
  struct loop l = {.block = q, .head = q, .setp = only_definition(k, bra->guard->num, h->first, h->end)};
  if (l.setp == NODE_NONE || !comparison(k, k->n[l.setp].in, h)) return false;
  const struct ptx_inst *setp = k->n[l.setp].in;
  l.counter = setp->ops[1].reg->num;
  if (setp->ops[2].kind != OK_IMM || changes(k, l.counter, h) || !first_value(k, &l, &l.first)) return false;
  return is_true(setp, l.first) == (goes_back != bra->guard_neg);
}

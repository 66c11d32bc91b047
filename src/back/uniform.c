/* uniform.c - values of 32 bits that lie in uniform registers, since Turing: numbers of the CTA, arithmetic on them and
 * on words of the constant bank, counters that all lanes step alike. A value does if every reader can take it from
 * there; one reader that would need a move of it keeps it among the thread's registers (ptxas 11.8 and 13). Part of
 * back_select, before the zeros of a block are made in pairs; a set of lanes and what is made of it, after
 * back_operands.
 */
#include "back/back_impl.h"

/* Of two that one instruction reads the higher rank stays; of the same rank neither, of the CTA the first. */
enum rank { NOT_UNIFORM, COUNTER, VALUE, OF_CTA };

struct uniform {
  struct back *k;
  uint8_t *rank; /* by register that others share: enum rank, of a value that may be in a uniform register */
  uint8_t *of_parameters;
  uint32_t *made_in; /* the block of its only definition, NODE_NONE: several */
  bool settled;      /* values and numbers of the CTA: counters give way to them */
};

const uint8_t *back_uniform_op(uint8_t op) {
  static const uint8_t ops[][2] = {{MO_IADD3, MO_UIADD3}, {MO_IADD, MO_UIADD3}, {MO_IMAD, MO_UIMAD}, {MO_LEA, MO_ULEA},
                                   {MO_SHF, MO_USHF},     {MO_LOP3, MO_ULOP3},  {MO_FLO, MO_UFLO},   {MO_MOV, MO_UMOV}};
  for (size_t q = 0; q < sizeof ops / sizeof *ops; q++)
    if (ops[q][0] == op) return &ops[q][1];
  return NULL;
}

static bool reads_cta(const struct ptx_inst *i) {
  return i->op == OP_MOV && i->ops[1].kind == OK_SREG && i->ops[1].sreg >= SR_CTAID_X && i->ops[1].sreg <= SR_CTAID_Z;
}

static bool is_parameter(const struct back *k, uint16_t r) {
  const struct ptx_inst *i = k->r[r].konst == K_BANK ? back_single(k, r) : NULL;
  return i && i->ops[1].kind != OK_SREG;
}

/* What a node reads: registers that may be uniform, those of the thread, words of the bank, numbers; `first`: where the
 * first number of the CTA's, or size, among them is made. */
struct kinds {
  uint32_t may, counters, own, parameters, sizes, bank, numbers;
  uint32_t first;
  enum rank best, second;
};

static void note_first(struct kinds *s, uint32_t def) {
  if (def < s->first) s->first = def;
}

static struct kinds kinds_of(const struct uniform *c, const struct node *n) {
  const struct back *k = c->k;
  struct kinds s = {.first = NODE_NONE};
  struct node tmp = *n;
  struct leaves l = {.nkonst = 0};
  tmp.nsrc = 0;
  back_leaves(k, &tmp, &l);
  for (uint32_t q = 0; q < tmp.nsrc; q++) {
    enum rank rank = (enum rank)c->rank[tmp.src[q]];
    if (!rank) s.own++;
    else s.may++, s.counters += rank == COUNTER, s.parameters += c->of_parameters[tmp.src[q]];
    if (rank == OF_CTA) note_first(&s, k->r[tmp.src[q]].def);
    if (rank >= s.best) s.second = s.best, s.best = rank;
    else if (rank > s.second) s.second = rank;
  }
  for (uint32_t q = 0; q < l.nkonst; q++) {
    if (k->r[l.konst[q]].konst == K_IMM) s.numbers++;
    else if (is_parameter(k, l.konst[q])) s.bank++, s.parameters++;
    else s.bank++, s.sizes++, note_first(&s, k->r[l.konst[q]].def);
  }
  s.numbers += l.nimm;
  return s;
}

static bool is_plain(const struct node *n) {
  return n->role == ROLE_COST && n->in && !n->in->guard && n->nops == 1 && n->ndef == 1;
}

static bool is_word(const struct back *k, uint16_t r) {
  uint8_t type = k->f->regs[r]->type;
  return ptx_type_bytes[type] == 4 && type != T_PRED && ptx_type_kinds[type] != 'f';
}

/* Can the uniform datapath make what node n makes, of what may be uniform? */
static bool makes(const struct uniform *c, const struct node *n) {
  const struct back *k = c->k;
  if (!is_plain(n) || !is_word(k, n->def[0])) return false;
  if (reads_cta(n->in)) return true;
  struct kinds s = kinds_of(c, n);
  if (n->ops[0] == MO_MOV) {
    if (n->in->op != OP_MOV && n->in->op != OP_CVTA) return false;
    const struct ptx_opnd *o = &n->in->ops[1];
    bool single = o->kind == OK_REG && k->r[o->reg->num].def != NODE_NONE && !k->r[o->reg->num].lanes;
    return o->kind != OK_REG || k->r[o->reg->num].konst || s.may || single;
  }
  /* what a loop steps: no products; since Hopper neither parameters nor what is made of them */
  bool steps =
      !s.counters || (n->ops[0] != MO_IMAD && n->ops[0] != MO_IMNMX && (!s.parameters || k->t->sm < NO_BANK_OPERANDS));
  bool set = n->in->op == OP_POPC || n->ops[0] == MO_FLO; /* of lanes: below */
  return (back_uniform_op(n->ops[0]) || n->ops[0] == MO_IMNMX) && !set && !s.own && steps && s.may + s.bank;
}

/* May register r be read as a uniform one where n, or what is part of n, reads it? */
static bool slot(const struct back *k, const struct node *n, uint16_t r, uint32_t deep) {
  uint16_t op = n->in->op;
  for (uint32_t q = 0; q < n->nuse; q++) {
    const struct node *part = deep < 8 ? back_part(k, n->use[q]) : NULL;
    if (part && !slot(k, part, r, deep + 1)) return false;
    if (part || back_same(k, n->use[q]) != r) continue;
    bool sum = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_MAD || op == OP_AND || op == OP_OR ||
               op == OP_XOR || op == OP_NOT;
    if (deep ? !sum
             : (op == OP_SHL || op == OP_SHR) && n->in->ops[1].kind == OK_REG && n->in->ops[1].reg->num == n->use[q])
      return false;
  }
  return true;
}

/* Does r have the one place for a uniform register in node n, or does another? A parameter gives way. */
static bool has_place(const struct uniform *c, const struct kinds *s, uint16_t r) {
  enum rank rank = (enum rank)c->rank[r];
  if (rank == COUNTER && !c->settled) return true;
  if (rank == OF_CTA) return s->first >= c->k->r[r].def;
  return rank == s->best && (s->may == 1 || s->second != s->best) && !s->sizes;
}

/* Can an instruction of the thread's read r from a uniform register? Before Hopper not beside a word of the bank. */
static bool takes(const struct uniform *c, const struct node *n, uint16_t r) {
  const struct back *k = c->k;
  if (n->role != ROLE_COST) return false;
  if (k->b[n->block].parted && c->made_in[r] != n->block) return false;
  const struct ptx_opnd *m = NULL;
  for (uint32_t q = 0; q < n->in->nops; q++)
    if (n->in->ops[q].kind == OK_MEM) m = &n->in->ops[q];
  struct kinds s = kinds_of(c, n);
  if (m) return n->space == SPACE_SHARED && !s.may && (n->in->op == OP_LD || n->in->op == OP_ST);
  if (n->nops != 1 || s.numbers || !slot(k, n, r, 0)) return false;
  if (!has_place(c, &s, r)) return false;
  if (s.bank && k->t->sm < NO_BANK_OPERANDS) return false;
  switch (n->ops[0]) {
  case MO_ISETP:
  case MO_I2F:
    return true;
  case MO_IADD3:
  case MO_IADD:
  case MO_LOP3:
  case MO_IMAD:
  case MO_SHF:
  case MO_IMNMX:
  case MO_LEA:
    return s.own;
  default:
    return false;
  }
}

/* Registers that node n reads, itself or through what is part of it. */
static uint32_t registers_read(const struct uniform *c, const struct node *n, uint16_t *out) {
  struct node tmp = *n;
  struct leaves l = {.nkonst = 0};
  tmp.nsrc = 0;
  for (uint32_t q = 0; q < n->nuse; q++) back_leaf(c->k, &tmp, n->use[q], &l, 0);
  for (uint32_t q = 0; q < tmp.nsrc; q++) out[q] = tmp.src[q];
  return tmp.nsrc;
}

/* Halves that become a pair of several values. */
static bool hands_on(const struct back *k, const struct node *n) {
  return n->role == ROLE_FREE && n->ndef == 1 && n->in->op != OP_MOV && k->r[n->def[0]].def == NODE_NONE;
}

static bool narrow(struct uniform *c) {
  struct back *k = c->k;
  bool changed = false;
  uint16_t r[MAX_SRC];
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    if (n->role != ROLE_COST && !hands_on(k, n)) continue;
    uint8_t *made = n->ndef == 1 ? &c->rank[back_same(k, n->def[0])] : NULL;
    bool good = n->role == ROLE_COST && made && *made && makes(c, n) && !k->b[n->block].parted;
    for (uint32_t d = 0; d < n->ndef; d++) {
      uint8_t *m = &c->rank[back_same(k, n->def[d])];
      if (*m && !good) *m = NOT_UNIFORM, changed = true;
    }
    uint32_t count = good ? 0 : registers_read(c, n, r);
    for (uint32_t q = 0; q < count; q++)
      if (c->rank[r[q]] && !takes(c, n, r[q])) c->rank[r[q]] = NOT_UNIFORM, changed = true;
  }
  return changed;
}

/* A register of several values that may be the same in all lanes, whatever makes them. */
static void find_counters(struct uniform *c) {
  struct back *k = c->k;
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      bool several = k->n[i].role != ROLE_GONE && k->r[r].def == NODE_NONE && !k->r[r].konst && is_word(k, r);
      if (several) c->rank[back_same(k, r)] = COUNTER;
    }
  for (uint32_t i = 0; i < k->nn; i++) /* a lane's value among those of a shared register */
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      if (k->r[r].lanes || k->n[i].in->guard) c->rank[back_same(k, r)] = NOT_UNIFORM;
    }
}

/* Values of one definition; those made of counters have their rank. */
static void find_values(struct uniform *c) {
  struct back *k = c->k;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      if (!is_plain(n) || k->r[n->def[0]].def == NODE_NONE || k->r[n->def[0]].konst) continue;
      uint16_t r = back_same(k, n->def[0]);
      if (c->rank[r] || !makes(c, n)) continue;
      struct kinds s = kinds_of(c, n);
      c->rank[r] = reads_cta(n->in) ? OF_CTA : s.counters ? COUNTER : VALUE;
      c->of_parameters[r] = s.parameters != 0;
      c->made_in[r] = k->r[n->def[0]].same ? NODE_NONE : n->block;
      changed = true;
    }
  }
}

void back_uniform(struct back *k) {
  static const uint8_t less[] = {MO_UISETP, MO_USEL};
  if (k->t->sm < UNIFORM_DATAPATH) return;
  struct uniform c = {.k = k};
  c.rank = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  c.of_parameters = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  c.made_in = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  for (uint32_t r = 0; r <= k->nregs; r++) c.made_in[r] = NODE_NONE;
  find_counters(&c);
  find_values(&c);
  while (narrow(&c)) continue;
  c.settled = true;
  while (narrow(&c)) continue;
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    if (n->role == ROLE_GONE || n->ndef != 1 || !c.rank[back_same(k, n->def[0])]) continue;
    k->r[n->def[0]].uniform = k->r[back_same(k, n->def[0])].uniform = true;
    if (n->role != ROLE_COST || reads_cta(n->in)) continue;
    bool two = n->ops[0] == MO_IMNMX;
    n->ops = two ? less : back_uniform_op(n->ops[0]);
    n->nops = two ? 2 : 1;
  }
}

/* ---- sets of lanes ---- */

/* The set of lanes that do an atomic together (aggregate.c). */
static bool reads_members(const struct ptx_inst *i) {
  return i->op == OP_ACTIVEMASK || (i->op == OP_VOTE && i->nops == 2 && ptx_has(i, M_BALLOT));
}

/* By register: a shuffle reads it, so that it is the thread's. */
static uint8_t *shuffled(struct back *k) {
  uint8_t *by = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t q = 0; k->n[i].in && k->n[i].in->op == OP_SHFL && q < k->n[i].nsrc; q++) by[k->n[i].src[q]] = 1;
  return by;
}

void back_uniform_sets(struct back *k) {
  static const uint8_t vote[] = {MO_VOTEU};
  if (k->t->sm < UNIFORM_DATAPATH) return;
  const uint8_t *own = shuffled(k);
  uint8_t *set = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1); /* by register: made of sets of lanes alone */
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    if (n->role != ROLE_COST || !n->in || n->in->guard || n->ndef != 1 || n->nops != 1) continue;
    uint16_t d = back_same(k, n->def[0]);
    if (k->r[d].def == NODE_NONE || k->r[n->def[0]].def == NODE_NONE || own[d]) continue;
    bool members = reads_members(n->in);
    const uint8_t *op = members ? vote : back_uniform_op(n->ops[0]);
    bool all = members || (op && ptx_type_bytes[k->f->regs[d]->type] == 4 && n->nsrc);
    for (uint32_t q = 0; !members && q < n->nsrc; q++) all &= set[n->src[q]];
    if (!all) continue;
    set[d] = 1;
    k->r[d].uniform = true;
    n->ops = op;
  }
}

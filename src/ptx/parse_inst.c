/* parse_inst.c - instructions and operands of PTX, checked against the op table as they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/parser.h"

static const struct {
  const char *name, *dim;
  enum ptx_sreg sreg;
} special_regs[] = {
    {"%tid", "xyz", SR_TID_X},
    {"%ntid", "xyz", SR_NTID_X},
    {"%ctaid", "xyz", SR_CTAID_X},
    {"%nctaid", "xyz", SR_NCTAID_X},
    {"%laneid", NULL, SR_LANEID},
    {"%warpid", NULL, SR_WARPID},
    {"%nwarpid", NULL, SR_NWARPID},
    {"%smid", NULL, SR_SMID},
    {"%nsmid", NULL, SR_NSMID},
    {"%gridid", NULL, SR_GRIDID},
    {"%lanemask_eq", NULL, SR_LANEMASK_EQ},
    {"%lanemask_le", NULL, SR_LANEMASK_LE},
    {"%lanemask_lt", NULL, SR_LANEMASK_LT},
    {"%lanemask_ge", NULL, SR_LANEMASK_GE},
    {"%lanemask_gt", NULL, SR_LANEMASK_GT},
    {"%clock", NULL, SR_CLOCK},
    {"%clock_hi", NULL, SR_CLOCK_HI},
    {"%clock64", NULL, SR_CLOCK64},
    {"%globaltimer", NULL, SR_GLOBALTIMER},
    {"%globaltimer_lo", NULL, SR_GLOBALTIMER_LO},
    {"%globaltimer_hi", NULL, SR_GLOBALTIMER_HI},
    {"%dynamic_smem_size", NULL, SR_DYNAMIC_SMEM},
    {"%total_smem_size", NULL, SR_TOTAL_SMEM},
    {"%aggr_smem_size", NULL, SR_TOTAL_SMEM},
    {"%clusterid", "xyz", SR_CLUSTERID_X},
    {"%nclusterid", "xyz", SR_NCLUSTERID_X},
    {"%cluster_ctaid", "xyz", SR_CLUSTER_CTAID_X},
    {"%cluster_nctaid", "xyz", SR_CLUSTER_NCTAID_X},
    {"%cluster_ctarank", NULL, SR_CLUSTER_CTARANK},
    {"%cluster_nctarank", NULL, SR_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", NULL, SR_CLUSTER_EXPLICIT},
    {"%reserved_smem_offset_begin", NULL, SR_RESERVED_BEGIN},
    {"%reserved_smem_offset_end", NULL, SR_RESERVED_END},
    {"%reserved_smem_offset_cap", NULL, SR_RESERVED_END},
    {"%reserved_smem_offset_0", NULL, SR_RESERVED_BEGIN},
    {"%reserved_smem_offset_1", NULL, SR_RESERVED_1},
};

static bool special_register(struct parser *p, struct ident *i, struct ptx_opnd *o) {
  if (!strncmp(i->s, "%pm", 3) || !strncmp(i->s, "%envreg", 7)) {
    o->kind = OK_SREG;
    o->sreg = i->s[1] == 'p' ? SR_PM : SR_ENVREG;
    if (!strcmp(i->s, "%envreg1")) o->sreg = SR_ENVREG1;
    if (!strcmp(i->s, "%envreg2")) o->sreg = SR_ENVREG2;
    return true;
  }
  for (size_t k = 0; k < sizeof special_regs / sizeof *special_regs; k++) {
    if (strcmp(special_regs[k].name, i->s)) continue;
    o->kind = OK_SREG;
    o->sreg = (uint8_t)special_regs[k].sreg;
    if (special_regs[k].dim) {
      const struct token *t = &p->lex.t;
      if (t->kind != TOK_DOT || t->len != 1 || !strchr("xyzw", t->s[0]))
        FAIL_TOK(p, "expected .x, .y or .z after %s, found %s", i->s, tok_text(p));
      uint8_t d = (uint8_t)(t->s[0] == 'w' ? 3 : t->s[0] - 'x');
      if (d == 3) o->sreg = SR_ZERO;
      else o->sreg = (uint8_t)(o->sreg + d);
      lex_next(&p->lex);
    }
    return true;
  }
  return false;
}

/* A literal with optional sign or complement; sums, products and shifts of literals. */
static int64_t const_primary(struct parser *p);
static int64_t const_expr(struct parser *p) {
  int64_t v = const_primary(p);
  for (;;) {
    const struct token *t = &p->lex.t;
    if (t->kind != TOK_PUNCT || !strchr("+-*/%<>&|^", t->punct)) return v;
    char op = t->punct;
    lex_next(&p->lex);
    if (op == '<' || op == '>') lex_next(&p->lex);
    int64_t w = const_primary(p);
    switch (op) {
    case '+':
      v = (int64_t)((uint64_t)v + (uint64_t)w);
      break;
    case '-':
      v = (int64_t)((uint64_t)v - (uint64_t)w);
      break;
    case '*':
      v = (int64_t)((uint64_t)v * (uint64_t)w);
      break;
    case '/':
      v = w > 0 ? v / w : 0;
      break;
    case '%':
      v = w > 0 ? v % w : 0;
      break;
    case '<':
      v = (int64_t)((uint64_t)v << (w & 63));
      break;
    case '>':
      v = v >> (w & 63);
      break;
    case '&':
      v &= w;
      break;
    case '|':
      v |= w;
      break;
    default:
      v ^= w;
      break;
    }
  }
}

static int64_t const_primary(struct parser *p) {
  int64_t v;
  if (p->lex.t.kind == TOK_INT) return parse_int(p, "a number");
  parse_deeper(p);
  if (parse_accept(p, '-')) {
    v = (int64_t) - (uint64_t)const_primary(p);
  } else if (parse_accept(p, '~')) {
    v = ~const_primary(p);
  } else if (parse_accept(p, '!')) {
    v = !const_primary(p);
  } else if (parse_accept(p, '(')) {
    v = const_expr(p);
    parse_expect(p, ')', "in the expression");
  } else {
    v = parse_int(p, "a number");
  }
  p->nested--;
  return v;
}

static void name_operand(struct parser *p, struct ptx_opnd *o) {
  struct ident *i = p->lex.t.ident;
  struct symbol *s = i->sym;
  if (i == p->sink) {
    o->kind = OK_SINK;
    lex_next(&p->lex);
    return;
  }
  lex_next(&p->lex);
  if (!s && i->s[0] == '%' && special_register(p, i, o)) return;
  if (!s && !strcmp(i->s, "WARP_SZ")) {
    o->kind = OK_IMM;
    o->imm = 32;
    return;
  }
  if (!s) {
    if (i->s[0] == '%') parse_fail(p, o->line, o->col, ERR_INPUT, "register '%s' is not declared", i->s);
    parse_pending(p, i, o);
    o->kind = OK_LABEL;
    return;
  }
  switch (s->kind) {
  case SYM_REG:
    o->kind = OK_REG, o->reg = s->ptr;
    break;
  case SYM_VAR:
    o->kind = OK_VAR, o->var = s->ptr;
    break;
  case SYM_FUNC:
    o->kind = OK_FUNC, o->func = s->ptr;
    break;
  case SYM_LABEL:
    o->kind = OK_LABEL, o->imm = s->index;
    break;
  case SYM_PROTO:
    o->kind = OK_FUNC, o->func = s->ptr;
    break;
  case SYM_TABLE:
    o->kind = OK_TABLE, o->vec = ((struct ptx_table *)s->ptr)->labels, o->imm = ((struct ptx_table *)s->ptr)->n;
    break;
  default:
    parse_fail(p, o->line, o->col, ERR_INPUT, "'%s' cannot be an operand", i->s);
  }
}

/* The offset of an address: 32 bits, signed or not, as in the instruction. */
static int64_t offset(struct parser *p, bool minus) {
  uint32_t line = p->lex.t.line, col = p->lex.t.col;
  int64_t v = const_expr(p);
  if (v < INT32_MIN || v > UINT32_MAX)
    parse_fail(p, line, col, ERR_INPUT, "an offset of %lld does not fit 32 bits", (long long)v);
  return minus ? -v : v;
}

/* An element of a vector or list: copied afterwards, so it must not wait for a later declaration. */
static void parse_element(struct parser *p, struct ptx_opnd *o) {
  parse_deeper(p);
  parse_operand(p, o);
  p->nested--;
  if (o->kind == OK_LABEL) parse_fail(p, o->line, o->col, ERR_INPUT, "a label or an undeclared name cannot stand here");
  if (o->part || o->minus) parse_fail(p, o->line, o->col, ERR_INPUT, "only a whole register can stand here");
}

static void memory_operand(struct parser *p, struct ptx_opnd *o) {
  o->kind = OK_MEM;
  if (p->lex.t.kind == TOK_IDENT) {
    struct ptx_opnd base = {.line = p->lex.t.line, .col = p->lex.t.col};
    struct ident *i = p->lex.t.ident;
    if (!i->sym) FAIL_TOK(p, "'%s' is not declared", i->s);
    name_operand(p, &base);
    if (base.kind == OK_REG) o->reg = base.reg;
    else if (base.kind == OK_VAR) o->var = base.var;
    else parse_fail(p, base.line, base.col, ERR_INPUT, "expected a register, a variable or a number as the address");
    if (tok_is(&p->lex.t, ',')) { /* textures: [tex, {x, y}] or [tex, sampler, {x, y}] */
      struct ptx_opnd tmp[4];
      uint8_t n = 0;
      while (parse_accept(p, ',')) {
        if (n == 4) FAIL_TOK(p, "too many parts in the address");
        tmp[n] = (struct ptx_opnd){0};
        parse_element(p, &tmp[n++]);
      }
      o->vec = ARENA_ARRAY(&p->m->arena, struct ptx_opnd, n);
      memcpy(o->vec, tmp, n * sizeof *tmp);
      o->n = n;
    } else if (tok_is(&p->lex.t, '+') || tok_is(&p->lex.t, '-')) {
      bool minus = tok_is(&p->lex.t, '-');
      lex_next(&p->lex);
      o->imm = offset(p, minus);
    }
  } else {
    o->imm = const_expr(p);
  }
  parse_expect(p, ']', "after the address");
}

/* The selected part of a register of a video instruction: .b0, .h1, .h32, .b7654; false if the word is not one. */
static bool parse_part(struct parser *p, struct ptx_opnd *o) {
  const struct token *t = &p->lex.t;
  if (t->kind != TOK_DOT || t->len < 2 || t->len > 5 || (t->s[0] != 'b' && t->s[0] != 'h')) return false;
  uint32_t part = PTX_PART_WRITTEN | (t->s[0] == 'b' ? PTX_PART_BYTES : 0), n = t->len - 1;
  for (uint32_t k = 0; k < n; k++) {
    char c = t->s[t->len - 1 - k];
    if (c < '0' || c > '7') return false;
    part |= (uint32_t)(c - '0') << (3 * k);
  }
  o->part = (uint16_t)(part | (n - 1) << PTX_PART_COUNT);
  lex_next(&p->lex);
  return true;
}

static void vector_operand(struct parser *p, struct ptx_opnd *o) {
  struct ptx_opnd tmp[16];
  lex_next(&p->lex);
  o->kind = OK_VEC;
  while (!tok_is(&p->lex.t, '}')) {
    if (o->n == 16) FAIL_TOK(p, "more than 16 elements in a vector operand");
    tmp[o->n] = (struct ptx_opnd){0};
    parse_element(p, &tmp[o->n++]);
    if (!parse_accept(p, ',')) break;
  }
  parse_expect(p, '}', "after the vector operand");
  o->vec = ARENA_ARRAY(&p->m->arena, struct ptx_opnd, o->n);
  memcpy(o->vec, tmp, o->n * sizeof *tmp);
}

/* The operand after '|': %p|%q, %p|_, _|%q. */
static void second_predicate(struct parser *p, struct ptx_opnd *o) {
  struct ptx_opnd second = {.line = p->lex.t.line, .col = p->lex.t.col};
  if (p->lex.t.kind != TOK_IDENT) FAIL_TOK(p, "expected a predicate after '|', found %s", tok_text(p));
  name_operand(p, &second);
  if (second.kind != OK_REG && second.kind != OK_SINK)
    parse_fail(p, second.line, second.col, ERR_INPUT, "expected a predicate after '|'");
  o->reg2 = second.reg;
}

/* A name with an optional offset, second predicate, vector element or register part. */
static void named_operand(struct parser *p, struct ptx_opnd *o) {
  name_operand(p, o);
  if (o->kind == OK_VAR && (tok_is(&p->lex.t, '+') || tok_is(&p->lex.t, '-'))) {
    bool minus = tok_is(&p->lex.t, '-');
    lex_next(&p->lex);
    o->imm = offset(p, minus);
  }
  if ((o->kind == OK_REG || o->kind == OK_SINK) && parse_accept(p, '|')) second_predicate(p, o);
  if (o->kind == OK_REG && p->lex.t.kind == TOK_DOT && p->lex.t.len == 1 && strchr("xyzw", p->lex.t.s[0])) {
    o->sel = (uint8_t)(p->lex.t.s[0] == 'w' ? 4 : p->lex.t.s[0] - 'x' + 1);
    lex_next(&p->lex);
  } else if (o->kind == OK_REG) {
    parse_part(p, o);
  }
}

void parse_operand(struct parser *p, struct ptx_opnd *o) {
  struct token t = p->lex.t;
  o->line = t.line;
  o->col = t.col;
  if (tok_is(&t, '{')) {
    vector_operand(p, o);
    return;
  }
  if (parse_accept(p, '[')) {
    memory_operand(p, o);
    return;
  }
  if (parse_accept(p, '!')) {
    parse_deeper(p);
    parse_operand(p, o);
    p->nested--;
    o->neg = true;
    return;
  }
  if (t.kind == TOK_IDENT) {
    named_operand(p, o);
    return;
  }
  bool neg = false;
  if (tok_is(&t, '-')) {
    struct lexer save = p->lex;
    lex_next(&p->lex);
    if (p->lex.t.kind == TOK_IDENT && p->lex.t.ident->sym && p->lex.t.ident->sym->kind == SYM_REG) {
      parse_operand(p, o);
      o->minus = true;
      return;
    }
    neg = p->lex.t.kind == TOK_F32 || p->lex.t.kind == TOK_F64;
    if (!neg) p->lex = save;
  }
  if (p->lex.t.kind == TOK_F32 || p->lex.t.kind == TOK_F64) {
    o->kind = OK_IMM;
    o->is_float = true;
    o->is_f32 = p->lex.t.kind == TOK_F32;
    o->imm = (int64_t)p->lex.t.bits;
    if (neg) o->imm ^= o->is_f32 ? INT64_C(1) << 31 : INT64_MIN;
    lex_next(&p->lex);
    return;
  }
  if (t.kind == TOK_INT || tok_is(&t, '-') || tok_is(&t, '~') || tok_is(&t, '(')) {
    o->kind = OK_IMM;
    o->imm = const_expr(p);
    return;
  }
  FAIL_TOK(p, "expected an operand, found %s", tok_text(p));
}

static struct ident *intern_word(struct parser *p, const char *s) {
  return lex_intern(&p->lex, s, (uint32_t)strlen(s));
}

const uint64_t *parse_op_mods(struct parser *p, enum ptx_opcode op) {
  uint64_t *set = p->op_mods[op];
  if (p->op_known[op]) return set;
  p->op_known[op] = true;
  for (const char *s = ptx_ops[op].mods; *s;) {
    while (*s == ' ') s++;
    uint32_t n = (uint32_t)strcspn(s, " ");
    uint16_t k = n ? lex_intern(&p->lex, s, n)->mod : 0;
    CHECK(k || !n, "ops.def: unknown modifier '%.*s' of %s", (int)n, s, ptx_ops[op].name);
    if (k) set[k / 64] |= 1ull << (k % 64);
    s += n;
  }
  return set;
}

void parse_words(struct parser *p) {
  for (int i = 1; i < M_COUNT; i++) {
    struct ident *word = intern_word(p, ptx_mod_names[i]);
    CHECK(!word->mod, "mods.def: '%s' stands there twice", word->s);
    word->mod = (uint16_t)i;
  }
  for (int i = 1; i < T_COUNT; i++) intern_word(p, ptx_type_names[i])->type = (uint8_t)i;
  for (int i = 1; i < OP_COUNT; i++) intern_word(p, ptx_ops[i].name)->op = (uint8_t)i;
  p->sink = lex_intern(&p->lex, "_", 1);
}

static void unknown_mod(struct parser *p, enum ptx_opcode op) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)p->lex.t.len, p->lex.t.s);
  const char *cands[M_COUNT + T_COUNT];
  const uint64_t *mods = parse_op_mods(p, op);
  size_t n = 0;
  for (int k = 1; k < M_COUNT; k++)
    if (mods[k / 64] >> (k % 64) & 1) cands[n++] = ptx_mod_names[k];
  for (int k = 1; k < T_COUNT; k++)
    if (ptx_ops[op].types >> k & 1) cands[n++] = ptx_type_names[k];
  const char *near = err_nearest(word, cands, n);
  bool known = parse_type_word(p) != T_NONE || p->lex.t.ident->mod;
  if (near) FAIL_TOK(p, "'.%s' is no modifier of %s; did you mean '.%s'?", word, ptx_ops[op].name, near);
  parse_fail(p, p->lex.t.line, p->lex.t.col, known ? ERR_INPUT : ERR_UNSUPPORTED,
             "'.%s' is no modifier of %s that Sluice knows", word, ptx_ops[op].name);
}

static void parse_modifiers(struct parser *p, struct ptx_inst *i) {
  const uint64_t *mods = parse_op_mods(p, i->op);
  while (p->lex.t.kind == TOK_DOT) {
    enum ptx_mod m = p->lex.t.ident->mod;
    if (!(mods[m / 64] >> (m % 64) & 1)) m = M_NONE;
    enum ptx_type t = m ? T_NONE : parse_type_word(p);
    if (m) {
      i->mods[m / 64] |= 1ull << (m % 64);
      if (i->nmods < 8) i->mod_order[i->nmods++] = (uint8_t)m;
    } else if (t) {
      if (i->ntypes == PTX_MAX_TYPES) FAIL_TOK(p, "too many types");
      if (!i->ntypes && !(ptx_ops[i->op].types >> t & 1))
        FAIL_TOK(p, "'.%s' is not a type that %s takes", ptx_type_names[t], ptx_ops[i->op].name);
      i->types[i->ntypes++] = (uint8_t)t;
    } else if (tok_dot(&p->lex.t, "proxy")) { /* fence.proxy.X has no effect here */
      lex_next(&p->lex);
      i->mods[M_PROXY_ALIAS / 64] |= 1ull << (M_PROXY_ALIAS % 64);
    } else {
      unknown_mod(p, i->op);
    }
    lex_next(&p->lex);
    if (i->op == OP_LD && tok_is(&p->lex.t, '[') && ptx_has(i, M_CONST)) { /* ld.const[0] */
      struct lexer save = p->lex;
      lex_next(&p->lex);
      if (p->lex.t.kind == TOK_INT) {
        lex_next(&p->lex);
        if (tok_is(&p->lex.t, ']')) lex_next(&p->lex);
        if (p->lex.t.kind == TOK_DOT) continue;
      }
      p->lex = save;
    }
  }
}

static void parse_list(struct parser *p, struct ptx_opnd *o) {
  struct ptx_opnd tmp[256];
  uint32_t n = 0;
  o->kind = OK_LIST;
  o->line = p->lex.t.line;
  o->col = p->lex.t.col;
  parse_expect(p, '(', "before the arguments");
  while (!tok_is(&p->lex.t, ')')) {
    if (n == 255) FAIL_TOK(p, "more than 255 arguments");
    tmp[n] = (struct ptx_opnd){0};
    parse_element(p, &tmp[n++]);
    if (!parse_accept(p, ',')) break;
  }
  parse_expect(p, ')', "after the arguments");
  o->vec = ARENA_ARRAY(&p->m->arena, struct ptx_opnd, n);
  if (n) memcpy(o->vec, tmp, n * sizeof *tmp);
  o->n = (uint8_t)n;
}

/* call (ret), target, (args), prototype;  ops[0] = returns, ops[1] = target, ops[2] = arguments */
static void parse_call(struct parser *p, struct ptx_inst *i) {
  i->ops[0].kind = i->ops[2].kind = OK_LIST;
  i->nops = 3;
  if (tok_is(&p->lex.t, '(')) {
    parse_list(p, &i->ops[0]);
    parse_expect(p, ',', "after the return values");
  }
  parse_operand(p, &i->ops[1]);
  if (parse_accept(p, ',')) {
    if (tok_is(&p->lex.t, '(')) {
      parse_list(p, &i->ops[2]);
      if (!parse_accept(p, ',')) return;
    }
    struct ptx_opnd proto = {0};
    parse_operand(p, &proto);
    if (proto.kind == OK_FUNC) i->proto = proto.func;
  }
  if (i->ops[1].kind == OK_LABEL)
    parse_fail(p, i->ops[1].line, i->ops[1].col, ERR_INPUT, "the function to call is not declared");
}

/* Instructions of PTX that are not in the table. */
static const char *const unsupported[] = {"wgmma",    "tcgen05", "multimem", "tensormap", "clusterlaunchcontrol",
                                          "stmatrix", "szext"};

static void parse_guard(struct parser *p, struct ptx_inst *i) {
  if (!parse_accept(p, '@')) return;
  i->guard_neg = parse_accept(p, '!');
  struct ptx_opnd g = {.line = p->lex.t.line, .col = p->lex.t.col};
  if (p->lex.t.kind != TOK_IDENT) FAIL_TOK(p, "expected a predicate after '@', found %s", tok_text(p));
  name_operand(p, &g);
  if (g.kind != OK_REG || g.reg->type != T_PRED)
    parse_fail(p, g.line, g.col, ERR_INPUT, "the guard must be a .pred register");
  i->guard = g.reg;
}

/* The empty draft after the last instruction; drafts are reused for the next function. */
static struct ptx_inst *new_draft(struct parser *p) {
  if (p->ncode == p->ndrafts) {
    GROW(p->code, p->ndrafts, p->cap_code);
    p->code[p->ndrafts] = mem_alloc(sizeof **p->code);
    p->ndrafts++;
  }
  struct draft *d = p->code[p->ncode];
  memset(d, 0, sizeof *d);
  d->inst.ops = d->ops;
  d->inst.nounroll = p->nounroll;
  p->nounroll = false;
  return &d->inst;
}

static void parse_known(struct parser *p) {
  struct ptx_inst *i = new_draft(p);
  parse_guard(p, i);
  struct token t = p->lex.t;
  if (t.kind != TOK_IDENT) FAIL_TOK(p, "expected an instruction, found %s", tok_text(p));
  i->op = t.ident->op;
  if (!i->op) {
    bool newer = p->m->texts[p->text].version > PTX_NEWEST;
    for (size_t k = 0; k < sizeof unsupported / sizeof *unsupported; k++) newer |= !strcmp(unsupported[k], t.ident->s);
    if (newer) parse_fail(p, t.line, t.col, ERR_UNSUPPORTED, "the instruction '%s' is not supported", t.ident->s);
    const char *names[OP_COUNT];
    for (int k = 1; k < OP_COUNT; k++) names[k - 1] = ptx_ops[k].name;
    const char *near = err_nearest(t.ident->s, names, OP_COUNT - 1);
    if (near) FAIL_TOK(p, "unknown instruction '%s'; did you mean '%s'?", t.ident->s, near);
    parse_fail(p, t.line, t.col, ERR_UNSUPPORTED, "unknown instruction '%s'", t.ident->s);
  }
  i->line = t.line;
  i->col = t.col;
  i->src_line = p->src_line;
  i->src_file = p->src_file;
  lex_next(&p->lex);
  parse_modifiers(p, i);
  if (i->op == OP_CALL) {
    parse_call(p, i);
  } else if (!tok_is(&p->lex.t, ';')) {
    do {
      if (i->nops == PTX_MAX_OPNDS) FAIL_TOK(p, "too many operands");
      struct ptx_opnd *o = &i->ops[i->nops++];
      parse_operand(p, o);
      if (o->part && !ptx_is_video(i->op))
        parse_fail(p, o->line, o->col, ERR_INPUT, "%s takes whole registers, not parts of them", ptx_ops[i->op].name);
      if (o->minus && i->op != OP_VMAD)
        parse_fail(p, o->line, o->col, ERR_INPUT, "'-' applies to numbers, and to registers in vmad only");
    } while (parse_accept(p, ','));
  }
  if (!tok_is(&p->lex.t, ';'))
    FAIL_TOK(p, "expected ',' or ';' after operand %u of %s, found %s", i->nops, ptx_ops[i->op].name, tok_text(p));
  lex_next(&p->lex);
  p->ncode++;
  parse_check(p, i);
}

/* Put a trap in place of the instruction that starts at `start`; executing it reports `why`. */
static void refuse_instruction(struct parser *p, const struct lexer *start, const char *why) {
  struct ptx_inst *i = new_draft(p);
  p->lex = *start;
  parse_guard(p, i);
  i->op = OP_TRAP;
  i->refused = arena_strdup(&p->m->arena, why);
  i->line = p->lex.t.line;
  i->col = p->lex.t.col;
  i->src_line = p->src_line;
  i->src_file = p->src_file;
  while (!tok_is(&p->lex.t, ';')) {
    if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected ';' after the instruction of line %u", i->line);
    lex_next(&p->lex);
  }
  lex_next(&p->lex);
  p->ncode++;
}

/* Modules hold many kernels that a program never launches, so an unsupported instruction stops the kernel that
 * executes it, not the load. Compilers write valid PTX, so anything unknown in their output counts as unsupported; so
 * does a parse error in a text of a newer ISA. */
void parse_instruction(struct parser *p) {
  const struct lexer start = p->lex;
  const uint32_t ncode = p->ncode, npend = p->npend, nested = p->nested;
  jmp_buf outer;
  memcpy(&outer, &p->fail, sizeof outer);
  bool ok = !setjmp(p->fail);
  if (ok) parse_known(p);
  memcpy(&p->fail, &outer, sizeof outer);
  if (ok) return;
  const struct ptx_text *text = &p->m->texts[p->text];
  if (p->e->code != ERR_UNSUPPORTED && !text->compiled && text->version <= PTX_NEWEST) longjmp(p->fail, 1);
  p->ncode = ncode;
  p->npend = npend;
  p->nested = nested;
  char why[sizeof p->e->msg];
  memcpy(why, p->e->msg, sizeof why);
  *p->e = (struct err){0};
  refuse_instruction(p, &start, why);
}

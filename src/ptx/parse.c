/* parse.c - module level of the PTX parser: directives, variables, functions. The rest: parse_*.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/parser.h"

enum { ALIGN_MOST = 1 << 20, FILE_MOST = 9999 };

/* ---- errors and small helpers ---- */

static void show_line(struct ptx_text *t, uint32_t line, uint32_t col, char *out, size_t size) {
  if (!t->shown || line < t->shown_line) t->shown = t->src, t->shown_line = 1;
  const char *p = t->shown;
  for (; t->shown_line < line && *p; p++) t->shown_line += *p == '\n';
  t->shown = p;
  int n = 0;
  while (p[n] && p[n] != '\n' && p[n] != '\r' && n < 160) n++;
  int pad = 0;
  char caret[168] = "";
  for (; pad < (int)col - 1 && pad < n; pad++) caret[pad] = p[pad] == '\t' ? '\t' : ' ';
  caret[pad] = '^';
  snprintf(out, size, "\n  %.*s\n  %s", n, p, caret);
}

static void format_error(struct ptx_module *m, struct ptx_place at, enum err_code code, struct err *e, const char *fmt,
                         va_list ap) {
  char what[1024], where[400];
  vsnprintf(what, sizeof what, fmt, ap);
  show_line(&m->texts[at.text], at.line, at.col, where, sizeof where);
  err_set(e, code, "%s:%u:%u: %s%s", m->texts[at.text].name, at.line, at.col, what, where);
}

bool ptx_error(struct ptx_module *m, struct ptx_place at, enum err_code code, struct err *e, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  format_error(m, at, code, e, fmt, ap);
  va_end(ap);
  return false;
}

void parse_fail(struct parser *p, uint32_t line, uint32_t col, enum err_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  format_error(p->m, (struct ptx_place){p->text, line, col}, code, p->e, fmt, ap);
  va_end(ap);
  longjmp(p->fail, 1);
}

const char *tok_text(struct parser *p) {
  const struct token *t = &p->lex.t;
  if (t->kind == TOK_EOF) return "the end of the text";
  return arena_printf(&p->m->arena, "'%s%.*s'", t->kind == TOK_DOT ? "." : "", (int)t->len, t->s);
}

void parse_expect(struct parser *p, char punct, const char *where) {
  if (!tok_is(&p->lex.t, punct)) FAIL_TOK(p, "expected '%c' %s, found %s", punct, where, tok_text(p));
  lex_next(&p->lex);
}

bool parse_accept(struct parser *p, char punct) {
  if (!tok_is(&p->lex.t, punct)) return false;
  lex_next(&p->lex);
  return true;
}

static inline __attribute__((always_inline)) bool accept_dot(struct parser *p, const char *word) {
  if (!tok_dot(&p->lex.t, word)) return false;
  lex_next(&p->lex);
  return true;
}

struct ident *parse_ident(struct parser *p, const char *what) {
  if (p->lex.t.kind != TOK_IDENT) FAIL_TOK(p, "expected %s, found %s", what, tok_text(p));
  struct ident *i = p->lex.t.ident;
  lex_next(&p->lex);
  return i;
}

int64_t parse_int(struct parser *p, const char *what) {
  bool neg = parse_accept(p, '-');
  if (p->lex.t.kind != TOK_INT) FAIL_TOK(p, "expected %s, found %s", what, tok_text(p));
  if (p->lex.t.wide) FAIL_TOK(p, "%s does not fit 64 bits", tok_text(p));
  int64_t v = (int64_t)p->lex.t.bits;
  lex_next(&p->lex);
  return neg ? (int64_t) - (uint64_t)v : v;
}

uint32_t parse_count(struct parser *p, const char *what, uint32_t most) {
  uint32_t line = p->lex.t.line, col = p->lex.t.col;
  int64_t v = parse_int(p, what);
  if (v < 0 || v > most) parse_fail(p, line, col, ERR_INPUT, "%s must be between 0 and %u", what, most);
  return (uint32_t)v;
}

void parse_deeper(struct parser *p) {
  if (++p->nested > PARSE_NESTED) FAIL_TOK(p, "more than %d scopes, brackets or signs inside each other", PARSE_NESTED);
}

enum ptx_type parse_type_word(struct parser *p) {
  return p->lex.t.kind == TOK_DOT ? p->lex.t.ident->type : T_NONE;
}

/* ---- variables ---- */

struct decl { /* the part before the name */
  enum ptx_space space;
  enum ptx_type type;
  uint32_t align, vec, line, col;
  bool is_extern, visible, weak, common, managed;
};

/* The part of a declaration after the space word: [.align n] [.ptr ...] [.v4] .type */
static void parse_decl_type(struct parser *p, struct decl *d) {
  for (;;) {
    enum ptx_type t = parse_type_word(p);
    if (t) {
      d->type = t;
      lex_next(&p->lex);
      if (!tok_dot(&p->lex.t, "ptr")) return;
    } else if (accept_dot(p, "align")) {
      struct token at = p->lex.t;
      d->align = parse_count(p, "an alignment", ALIGN_MOST);
      if (!d->align || (d->align & (d->align - 1)))
        parse_fail(p, at.line, at.col, ERR_INPUT, "an alignment must be a power of two");
      if (d->type) return;
    } else if (accept_dot(p, "v2")) {
      d->vec = 2;
    } else if (accept_dot(p, "v4")) {
      d->vec = 4;
    } else if (accept_dot(p, "ptr")) {
      while (p->lex.t.kind == TOK_DOT) { /* .ptr{.space}{.align n} describes the target of the parameter */
        if (accept_dot(p, "align")) parse_int(p, "an alignment");
        else lex_next(&p->lex);
      }
      if (d->type) return;
    } else if (accept_dot(p, "attribute")) {
      parse_expect(p, '(', "after .attribute");
      while (!parse_accept(p, ')')) {
        if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected ')' after .attribute");
        if (tok_dot(&p->lex.t, "managed")) d->managed = true;
        lex_next(&p->lex);
      }
    } else {
      FAIL_TOK(p, "expected a type such as .u32, found %s", tok_text(p));
    }
  }
}

static struct ptx_var *new_var(struct parser *p, const struct decl *d, const char *name) {
  struct ptx_var *v = ARENA_NEW(&p->m->arena, struct ptx_var);
  uint32_t elem = ptx_type_bytes[d->type] * (d->vec ? d->vec : 1);
  *v = (struct ptx_var){.name = name,
                        .space = d->space,
                        .type = d->type,
                        .managed = d->managed,
                        .vec = (uint8_t)(d->vec ? d->vec : 1),
                        .is_extern = d->is_extern,
                        .visible = d->visible,
                        .weak = d->weak,
                        .common = d->common,
                        .align = d->align ? d->align : elem,
                        .bytes = elem,
                        .elem_bytes = ptx_type_bytes[d->type],
                        .func = p->func,
                        .text = p->text,
                        .line = d->line,
                        .col = d->col,
                        .serial = p->m->serials++};
  v->def = v;
  return v;
}

/* Upper bound of a variable's bytes in a state space; larger sizes do not fit addresses or offsets. */
static uint64_t most_bytes(const struct ptx_var *v) {
  switch (v->space) {
  case SP_CONST:
    return PTX_CONST_MOST;
  case SP_SHARED:
    return PTX_SHARED_MOST;
  case SP_LOCAL:
    return PTX_LOCAL_MOST;
  case SP_PARAM:
    return v->formal && v->func->entry ? PTX_PARAM_MOST : PTX_LOCAL_MOST;
  default:
    return PTX_GLOBAL_MOST;
  }
}

static void parse_array_suffix(struct parser *p, struct ptx_var *v) {
  uint64_t most = most_bytes(v);
  while (parse_accept(p, '[')) {
    if (parse_accept(p, ']')) {
      v->unsized = true;
      continue;
    }
    struct token at = p->lex.t;
    int64_t n = parse_int(p, "an array size");
    if (n < 0) parse_fail(p, at.line, at.col, ERR_INPUT, "an array of %lld elements", (long long)n);
    if (n && v->bytes > most / (uint64_t)n)
      parse_fail(p, at.line, at.col, ERR_INPUT, "'%s' has more than %llu bytes, the most in its state space", v->name,
                 (unsigned long long)most);
    v->bytes *= (uint64_t)n;
    parse_expect(p, ']', "after the array size");
  }
}

static void declare_reg(struct parser *p, struct ident *i, enum ptx_type t, const struct token *at) {
  struct ptx_reg *r = ARENA_NEW(&p->m->arena, struct ptx_reg);
  const char *d = i->s;
  uint64_t arch = 0;
  while (*d && (*d < '0' || *d > '9')) d++;
  if (!*d && strcmp(i->s, "%sp") != 0) arch = NO_ARCH; /* %SPL; the reference numbers %sp only */
  for (; *d >= '0' && *d <= '9'; d++) arch = arch * 10 + (uint64_t)(*d - '0');
  if (p->nregs >= 65534) FAIL_TOK(p, "more than 65534 registers in one function");
  GROW(p->regs, p->nregs, p->cap_regs);
  p->regs[p->nregs++] = r;
  *r = (struct ptx_reg){.name = i->s, .type = (uint8_t)t, .num = (uint16_t)p->nregs, .arch = (uint16_t)arch};
  parse_bind(p, i, &(struct symbol){.kind = SYM_REG, .ptr = r, .line = at->line, .col = at->col});
}

/* "%r" and 12 to "%r12", which is interned. */
static struct ident *numbered(struct parser *p, const struct ident *stem, uint64_t k) {
  char name[300], digits[24];
  uint32_t n = stem->len, d = 0;
  memcpy(name, stem->s, n);
  do digits[d++] = (char)('0' + k % 10);
  while (k /= 10);
  while (d) name[n++] = digits[--d];
  return lex_intern(&p->lex, name, n);
}

static void parse_regs(struct parser *p) {
  struct decl d = {.space = SP_REG};
  parse_decl_type(p, &d);
  if (d.vec)
    parse_fail(p, p->lex.t.line, p->lex.t.col, ERR_UNSUPPORTED, "vector registers (.reg .v%u) are not supported",
               d.vec);
  do {
    struct token at = p->lex.t;
    struct ident *i = parse_ident(p, "a register name");
    if (parse_accept(p, '<')) {
      int64_t n = parse_count(p, "a register count", UINT32_MAX); /* add_reg limits the number */
      parse_expect(p, '>', "after the register count");
      if (i->len > 270) FAIL_TOK(p, "the register's name is longer than 270 characters");
      for (int64_t k = 0; k < n; k++) declare_reg(p, numbered(p, i, (uint64_t)k), d.type, &at);
    } else {
      declare_reg(p, i, d.type, &at);
    }
  } while (parse_accept(p, ','));
  parse_expect(p, ';', "after the register declaration");
}

static void add_module_var(struct parser *p, struct ptx_var *v) {
  struct ptx_module *m = p->m;
  GROW(m->vars, m->nvars, m->cap_vars);
  m->vars[m->nvars++] = v;
}

/* A variable declaration after its linkage words: the space word is current. */
static void parse_vars(struct parser *p, struct decl *d) {
  lex_next(&p->lex); /* the space word */
  uint32_t bank = 0;
  if (d->space == SP_CONST && parse_accept(p, '[')) {
    bank = parse_count(p, "a constant bank", 10);
    parse_expect(p, ']', "after the constant bank");
  }
  parse_decl_type(p, d);
  do {
    d->line = p->lex.t.line, d->col = p->lex.t.col;
    struct ident *i = parse_ident(p, "a variable name");
    struct ptx_var *v = new_var(p, d, i->s);
    v->bank = (uint8_t)bank;
    parse_array_suffix(p, v);
    if (parse_accept(p, '=')) {
      uint32_t cap = 0;
      if (v->type == T_TEXREF || v->type == T_SAMPLERREF || v->type == T_SURFREF) {
        while (!tok_is(&p->lex.t, ';') && p->lex.t.kind != TOK_EOF) lex_next(&p->lex);
      } else {
        parse_init_list(p, v, &cap);
        if (v->unsized) v->unsized = false, v->bytes = (uint64_t)v->inits * v->elem_bytes;
      }
    }
    if (v->unsized) v->bytes = 0;
    if (p->func && v->space != SP_GLOBAL && v->space != SP_CONST) {
      GROW(p->locals, p->nlocals, p->cap_locals);
      p->locals[p->nlocals++] = v;
    } else {
      add_module_var(p, v);
    }
    if (p->depth == 0 && i->sym && i->sym->kind == SYM_VAR) { /* an earlier declaration: the later definition wins */
      struct ptx_var *old = i->sym->ptr;
      parse_same_var(p, old, v);
      if (old->is_extern) old->def = v;
    }
    parse_bind(p, i, &(struct symbol){.kind = SYM_VAR, .ptr = v, .line = v->line, .col = v->col});
  } while (parse_accept(p, ','));
  parse_expect(p, ';', "after the variable declaration");
}

/* ---- functions ---- */

static void parse_formals(struct parser *p, struct ptx_func *f, bool is_ret) {
  struct ptx_var *vars[512];
  struct ptx_reg *regs[512];
  uint32_t n = 0;
  parse_expect(p, '(', "before the parameters");
  while (!tok_is(&p->lex.t, ')')) {
    if (n == 512) FAIL_TOK(p, "more than 512 parameters");
    struct decl d = {.line = p->lex.t.line, .col = p->lex.t.col, .space = SP_PARAM};
    bool reg = tok_dot(&p->lex.t, "reg");
    if (!reg && !tok_dot(&p->lex.t, "param")) FAIL_TOK(p, "expected .param, found %s", tok_text(p));
    lex_next(&p->lex);
    parse_decl_type(p, &d);
    struct token at = p->lex.t;
    struct ident *i = parse_ident(p, "a parameter name");
    if (f->proto) i = p->sink; /* names in a prototype mean nothing */
    vars[n] = NULL;
    regs[n] = NULL;
    if (reg) {
      declare_reg(p, i, d.type, &at);
      regs[n] = p->regs[p->nregs - 1];
    } else {
      vars[n] = new_var(p, &d, i->s);
      vars[n]->func = f;
      vars[n]->formal = true;
      parse_array_suffix(p, vars[n]);
      parse_bind(p, i, &(struct symbol){.kind = SYM_VAR, .ptr = vars[n], .line = at.line, .col = at.col});
    }
    n++;
    if (!parse_accept(p, ',')) break;
  }
  parse_expect(p, ')', "after the parameters");
  if (is_ret) {
    f->ret = n ? vars[0] : NULL;
    f->ret_reg = n ? regs[0] : NULL;
    return;
  }
  f->params = ARENA_ARRAY(&p->m->arena, struct ptx_var *, n);
  f->param_regs = ARENA_ARRAY(&p->m->arena, struct ptx_reg *, n);
  if (n) memcpy(f->params, vars, n * sizeof *vars), memcpy(f->param_regs, regs, n * sizeof *regs);
  f->nparams = n;
}

static void parse_table(struct parser *p, const struct token *name) {
  struct ptx_opnd ops[1024];
  struct ptx_table *t = ARENA_NEW(&p->m->arena, struct ptx_table);
  lex_next(&p->lex);
  do {
    if (t->n == 1024) FAIL_TOK(p, "more than 1024 targets");
    struct ptx_opnd *o = &ops[t->n++];
    *o = (struct ptx_opnd){.line = p->lex.t.line, .col = p->lex.t.col};
    o->vec = (struct ptx_opnd *)parse_ident(p, "a target");
  } while (parse_accept(p, ','));
  parse_expect(p, ';', "after the targets");
  t->labels = ARENA_ARRAY(&p->m->arena, struct ptx_opnd, t->n);
  memcpy(t->labels, ops, t->n * sizeof *ops);
  for (uint32_t k = 0; k < t->n; k++) {
    struct ident *i = (struct ident *)t->labels[k].vec;
    t->labels[k].vec = NULL;
    parse_pending(p, i, &t->labels[k]);
  }
  parse_bind(p, name->ident, &(struct symbol){.kind = SYM_TABLE, .ptr = t, .line = name->line, .col = name->col});
}

static void parse_prototype(struct parser *p, const struct token *name) {
  struct ptx_func *f = ARENA_NEW(&p->m->arena, struct ptx_func);
  *f = (struct ptx_func){.name = name->ident->s, .proto = true, .text = p->text, .line = p->lex.t.line};
  lex_next(&p->lex);
  uint32_t regs = p->nregs;
  p->depth++;
  if (tok_is(&p->lex.t, '(')) parse_formals(p, f, true);
  parse_ident(p, "'_' in the prototype");
  if (tok_is(&p->lex.t, '(')) parse_formals(p, f, false);
  accept_dot(p, "noreturn");
  parse_scope_leave(p, p->npend);
  p->nregs = regs;
  parse_expect(p, ';', "after the prototype");
  parse_bind(p, name->ident, &(struct symbol){.kind = SYM_PROTO, .ptr = f, .line = name->line, .col = name->col});
}

static void parse_loc(struct parser *p) {
  lex_next(&p->lex);
  p->src_file = parse_count(p, "a file number", FILE_MOST);
  p->src_line = parse_count(p, "a line number", UINT32_MAX);
  parse_int(p, "a column number");
  while (parse_accept(p, ',')) { /* keep the inlined position, not the place of the call */
    const struct ident *what = parse_ident(p, "function_name or inlined_at");
    bool name = !strcmp(what->s, "function_name"); /* LABEL {+n}, or .debug_str {+n} */
    if (name) lex_next(&p->lex);
    for (int k = 0; name ? parse_accept(p, '+') : k < 3; k++) parse_int(p, "a number");
  }
}

static bool space_word(struct parser *p, struct decl *d) {
  static const struct {
    const char *word;
    enum ptx_space space;
  } words[] = {{"global", SP_GLOBAL}, {"const", SP_CONST}, {"shared", SP_SHARED},
               {"local", SP_LOCAL},   {"param", SP_PARAM}, {"tex", SP_TEX}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tok_dot(&p->lex.t, words[i].word)) return d->space = words[i].space, true;
  return false;
}

static void parse_statement(struct parser *p) {
  struct token t = p->lex.t;
  struct decl d = {0};
  if (parse_accept(p, ';')) return;
  if (tok_is(&t, '{')) {
    parse_deeper(p);
    lex_next(&p->lex);
    parse_scope_enter(p);
    uint32_t first = p->npend;
    while (!tok_is(&p->lex.t, '}')) {
      if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected '}' to close the block of line %u", t.line);
      parse_statement(p);
    }
    lex_next(&p->lex);
    parse_scope_leave(p, first);
    p->nested--;
  } else if (t.kind == TOK_DOT) {
    if (tok_dot(&t, "reg")) {
      lex_next(&p->lex);
      parse_regs(p);
    } else if (tok_dot(&t, "loc")) {
      parse_loc(p);
    } else if (tok_dot(&t, "pragma")) {
      for (; !tok_is(&p->lex.t, ';') && p->lex.t.kind != TOK_EOF; lex_next(&p->lex))
        p->nounroll |= p->lex.t.kind == TOK_STRING && p->lex.t.len == 8 && !memcmp(p->lex.t.s, "nounroll", 8);
      parse_expect(p, ';', "after .pragma");
    } else if (space_word(p, &d)) {
      parse_vars(p, &d);
    } else if (tok_dot(&t, "extern") || tok_dot(&t, "visible")) {
      d.is_extern = tok_dot(&t, "extern");
      lex_next(&p->lex);
      if (!space_word(p, &d)) FAIL_TOK(p, "expected a state space, found %s", tok_text(p));
      parse_vars(p, &d);
    } else {
      FAIL_TOK(p, "unknown directive %s in a function body", tok_text(p));
    }
  } else if (t.kind == TOK_IDENT) {
    const char *q = p->lex.p;
    while (*q == ' ' || *q == '\t') q++;
    if (*q == ':') { /* label */
      lex_next(&p->lex);
      lex_next(&p->lex);
      if (tok_dot(&p->lex.t, "callprototype")) parse_prototype(p, &t);
      else if (tok_dot(&p->lex.t, "branchtargets") || tok_dot(&p->lex.t, "calltargets")) parse_table(p, &t);
      else parse_bind(p, t.ident, &(struct symbol){.kind = SYM_LABEL, .index = p->ncode, .line = t.line, .col = t.col});
    } else {
      parse_instruction(p);
    }
  } else if (tok_is(&t, '@')) {
    parse_instruction(p);
  } else {
    FAIL_TOK(p, "expected an instruction, a label or a directive, found %s", tok_text(p));
  }
}

/* `old`: what was declared under its name before, or NULL. */
static void add_func(struct parser *p, struct ptx_func *f, struct ptx_func *old) {
  struct ptx_module *m = p->m;
  GROW(m->funcs, m->nfuncs, m->cap_funcs);
  m->funcs[m->nfuncs++] = f;
  f->serial = m->nfuncs - 1;
  if (!old) return;
  parse_same_func(p, old, f);
  if (!old->has_body) old->def = f; /* a prototype before the definition */
  else f->def = old;
}

/* Operands kept for an instruction: see struct ptx_inst. */
static uint32_t room_of(const struct ptx_inst *i) {
  return strchr(ptx_ops[i->op].sig, '*') ? PTX_MAX_OPNDS : i->nops > 4 ? i->nops : 4;
}

/* The drafts become the function's code, with space at the end for an implicit ret. */
static void keep_code(struct parser *p, struct ptx_func *f) {
  uint32_t n = p->ncode, ops = 4;
  for (uint32_t i = 0; i < n; i++) ops += room_of(&p->code[i]->inst);
  f->code = ARENA_ARRAY(&p->m->arena, struct ptx_inst, n + 1);
  struct ptx_opnd *o = ARENA_ARRAY(&p->m->arena, struct ptx_opnd, ops);
  f->code[n].ops = o;
  o += 4;
  for (uint32_t k = 0; k < n; k++) {
    struct ptx_inst *i = &f->code[k];
    *i = p->code[k]->inst;
    i->ops = o;
    memcpy(o, p->code[k]->ops, i->nops * sizeof *o);
    o += room_of(i);
    if (i->op == OP_BRA && i->ops[0].kind == OK_LABEL) i->target = (uint32_t)i->ops[0].imm;
  }
  f->ncode = n;
}

static void parse_body(struct parser *p, struct ptx_func *f) {
  uint32_t open = p->lex.t.line, first = p->npend;
  lex_next(&p->lex);
  p->func = f;
  p->ncode = p->nlocals = 0;
  while (!tok_is(&p->lex.t, '}')) {
    if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected '}' to close the body of '%s' (line %u)", f->name, open);
    parse_statement(p);
  }
  lex_next(&p->lex);
  parse_scope_leave(p, first); /* operands must not move while they are pending: drafts stay where they are */
  p->depth++;
  keep_code(p, f);
  f->locals = ARENA_ARRAY(&p->m->arena, struct ptx_var *, p->nlocals);
  if (p->nlocals) memcpy(f->locals, p->locals, p->nlocals * sizeof *f->locals);
  f->nlocals = p->nlocals;
  for (uint32_t i = 0; i < f->ncode; i++) /* branches to the end of the text: an implicit ret */
    if (f->code[i].op == OP_BRA && f->code[i].target >= f->ncode) f->code[i].target = f->ncode;
  struct ptx_inst *end = &f->code[f->ncode];
  *end = (struct ptx_inst){
      .op = OP_RET, .ops = end->ops, .line = p->lex.t.line, .col = 1, .src_line = p->src_line, .src_file = p->src_file};
  uint8_t last = f->ncode ? f->code[f->ncode - 1].op : OP_NONE;
  bool ends = f->ncode && !f->code[f->ncode - 1].guard &&
              (last == OP_RET || last == OP_EXIT || last == OP_TRAP || last == OP_BRA);
  bool targeted = false;
  for (uint32_t i = 0; i < f->ncode; i++) targeted |= f->code[i].op == OP_BRA && f->code[i].target == f->ncode;
  if (!ends || targeted) f->ncode++;
}

/* Launch directives of a kernel: .maxntid, .reqntid, .reqnctapercluster, .minnctapersm, .maxnreg. */
static void parse_limits(struct parser *p, struct ptx_func *f) {
  bool max = tok_dot(&p->lex.t, "maxntid"), req = tok_dot(&p->lex.t, "reqntid"),
       cluster = tok_dot(&p->lex.t, "reqnctapercluster"), ctas = tok_dot(&p->lex.t, "minnctapersm"),
       regs = tok_dot(&p->lex.t, "maxnreg");
  f->in_clusters |= tok_dot(&p->lex.t, "explicitcluster");
  lex_next(&p->lex);
  uint32_t dims[3] = {1, 1, 1}, n = 0;
  uint64_t v = 1;
  struct token at = p->lex.t;
  while (p->lex.t.kind == TOK_INT) {
    uint32_t d = parse_count(p, "a count", INT32_MAX);
    v *= d;
    if (v > INT32_MAX) parse_fail(p, at.line, at.col, ERR_INPUT, "%llu threads or more", (unsigned long long)v);
    if (n < 3) dims[n++] = d;
    if (!parse_accept(p, ',')) break;
  }
  if (max) f->maxntid = (uint32_t)v;
  if (req) f->reqntid = (uint32_t)v;
  if (ctas) f->minctas = (uint32_t)v;
  if (regs) f->maxnreg = (uint32_t)v;
  if (cluster && v) memcpy(f->cluster, dims, sizeof dims);
}

static void parse_func(struct parser *p, const struct decl *d) {
  struct ptx_func *f = ARENA_NEW(&p->m->arena, struct ptx_func);
  *f = (struct ptx_func){.entry = tok_dot(&p->lex.t, "entry"),
                         .is_extern = d->is_extern,
                         .visible = d->visible,
                         .weak = d->weak,
                         .text = p->text,
                         .line = p->lex.t.line};
  f->def = f;
  lex_next(&p->lex);
  p->depth = 1;
  p->nregs = 0;
  p->src_line = p->src_file = 0;
  if (accept_dot(p, "attribute"))
    while (!parse_accept(p, ')')) {
      if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected ')' after .attribute");
      lex_next(&p->lex);
    }
  if (tok_is(&p->lex.t, '(')) parse_formals(p, f, true);
  struct ident *name = parse_ident(p, "a function name");
  f->name = name->s;
  if (tok_is(&p->lex.t, '(')) parse_formals(p, f, false);
  while (p->lex.t.kind == TOK_DOT) {
    if (accept_dot(p, "noreturn")) {
      f->noreturn = true;
    } else if (tok_dot(&p->lex.t, "pragma")) {
      while (!parse_accept(p, ';')) {
        if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected ';' after .pragma");
        lex_next(&p->lex);
      }
    } else {
      parse_limits(p, f);
    }
  }
  /* the function's own name is visible in its body (recursion) and after it */
  struct symbol **outside = parse_outermost(name), *before = *outside;
  bool again = before && before->kind == SYM_FUNC;
  if (before && !again)
    parse_fail(p, f->line, 1, ERR_INPUT, "'%s' is declared twice (also in line %u)", name->s, before->line);
  f->has_body = tok_is(&p->lex.t, '{');
  add_func(p, f, again ? before->ptr : NULL);
  struct symbol *s = ARENA_NEW(&p->m->arena, struct symbol);
  *s = (struct symbol){
      .kind = SYM_FUNC, .ptr = again && !f->has_body ? before->ptr : f, .line = f->line, .col = 1, .shadowed = before};
  *outside = s;
  if (f->has_body) parse_body(p, f);
  else parse_expect(p, ';', "after the function declaration");
  parse_scope_leave(p, p->npend);
  p->depth = 0;
  GROW(p->binds, p->nbinds, p->cap_binds);
  p->binds[p->nbinds++] = (struct binding){name, 0};
  f->regs = ARENA_ARRAY(&p->m->arena, struct ptx_reg *, p->nregs + 1);
  if (p->nregs) memcpy(f->regs + 1, p->regs, p->nregs * sizeof *f->regs);
  f->nregs = p->nregs;
  p->func = NULL;
}

/* ---- module level ---- */

static void skip_section(struct parser *p) {
  while (!tok_is(&p->lex.t, '{') && p->lex.t.kind != TOK_EOF) lex_next(&p->lex);
  int depth = 0;
  do {
    if (p->lex.t.kind == TOK_EOF) FAIL_TOK(p, "expected '}' to close the section");
    depth += tok_is(&p->lex.t, '{') - tok_is(&p->lex.t, '}');
    lex_next(&p->lex);
  } while (depth);
}

static void parse_version(struct parser *p) {
  struct ptx_text *t = &p->m->texts[p->text];
  lex_next(&p->lex);
  if (p->lex.t.kind != TOK_F64 && p->lex.t.kind != TOK_INT)
    FAIL_TOK(p, "expected a version such as 7.8, found %s", tok_text(p));
  unsigned major = 0, minor = 0;
  sscanf(p->lex.t.s, "%u.%u", &major, &minor);
  t->version = major * 10 + minor;
  lex_next(&p->lex);
}

static void parse_target(struct parser *p) {
  struct ptx_text *t = &p->m->texts[p->text];
  lex_next(&p->lex);
  do {
    struct ident *i = parse_ident(p, "a target such as sm_35");
    if (!strncmp(i->s, "sm_", 3) || !strncmp(i->s, "compute_", 8))
      t->sm = (uint32_t)strtoul(strchr(i->s, '_') + 1, NULL, 10);
  } while (parse_accept(p, ','));
}

/* .file number "name"{, time, size}: may follow the code that refers to it. */
static void parse_file(struct parser *p) {
  struct ptx_module *m = p->m;
  lex_next(&p->lex);
  uint32_t n = parse_count(p, "a file number", FILE_MOST);
  if (p->lex.t.kind != TOK_STRING) FAIL_TOK(p, "expected a file name, found %s", tok_text(p));
  uint32_t at = m->texts[p->text].file_base + n;
  if (at >= m->nfiles) {
    m->files = mem_resize(m->files, at + 1, sizeof *m->files);
    memset(m->files + m->nfiles, 0, (at + 1 - m->nfiles) * sizeof *m->files);
    m->nfiles = at + 1;
  }
  m->files[at] = arena_strndup(&m->arena, p->lex.t.s, p->lex.t.len);
  lex_next(&p->lex);
  while (parse_accept(p, ',')) parse_int(p, "a number");
}

/* Addresses have 64 bits here; those of 32 are among them. */
static void parse_address_size(struct parser *p) {
  uint32_t line = p->lex.t.line, col = p->lex.t.col, bits = parse_count(p, "32 or 64", 64);
  if (bits != 32 && bits != 64) parse_fail(p, line, col, ERR_INPUT, ".address_size is 32 or 64, not %u", bits);
}

static void parse_module_item(struct parser *p) {
  struct decl d = {0};
  for (;;) {
    if (accept_dot(p, "extern")) d.is_extern = true;
    else if (accept_dot(p, "visible")) d.visible = true;
    else if (accept_dot(p, "weak")) d.weak = true;
    else if (accept_dot(p, "common")) d.common = d.visible = true;
    else break;
  }
  if (tok_dot(&p->lex.t, "version")) parse_version(p);
  else if (tok_dot(&p->lex.t, "target")) parse_target(p);
  else if (accept_dot(p, "address_size")) parse_address_size(p);
  else if (tok_dot(&p->lex.t, "entry") || tok_dot(&p->lex.t, "func")) parse_func(p, &d);
  else if (space_word(p, &d)) parse_vars(p, &d);
  else if (tok_dot(&p->lex.t, "file")) {
    parse_file(p);
  } else if (tok_dot(&p->lex.t, "section")) skip_section(p);
  else if (tok_dot(&p->lex.t, "loc")) parse_loc(p);
  else if (tok_dot(&p->lex.t, "pragma") || tok_dot(&p->lex.t, "alias")) {
    while (!tok_is(&p->lex.t, ';') && p->lex.t.kind != TOK_EOF) lex_next(&p->lex);
    parse_expect(p, ';', "at the end of the directive");
  } else FAIL_TOK(p, "expected a directive such as .entry or .global, found %s", tok_text(p));
}

struct ptx_module *ptx_new(void) {
  struct ptx_module *m = mem_zeroed(1, sizeof *m);
  struct parser *p = mem_zeroed(1, sizeof *p);
  m->parser = p;
  p->m = m;
  lex_init(&p->lex, &m->arena);
  parse_words(p);
  return m;
}

void ptx_free(struct ptx_module *m) {
  if (!m) return;
  struct parser *p = m->parser;
  free(p->binds);
  free(p->pend);
  for (uint32_t i = 0; i < p->ndrafts; i++) free(p->code[i]);
  free(p->code);
  free(p->regs);
  free(p->locals);
  lex_free(&p->lex);
  free(p);
  free(m->texts);
  free(m->funcs);
  free(m->vars);
  free(m->files);
  arena_free(&m->arena);
  free(m);
}

bool ptx_parse(struct ptx_module *m, const char *src, const char *name, struct err *e) {
  struct parser *p = m->parser;
  m->texts = mem_resize(m->texts, m->ntexts + 1, sizeof *m->texts);
  m->texts[m->ntexts] = (struct ptx_text){.name = arena_strdup(&m->arena, name), .src = src, .file_base = m->nfiles};
  const char *by = memmem(src, strnlen(src, 400), "Generated by ", 13);
  m->texts[m->ntexts].compiled = m->compiled || by;
  p->text = m->ntexts++;
  p->e = e;
  p->func = NULL;
  p->depth = p->npend = p->nested = 0;
  bool ok = !setjmp(p->fail);
  if (ok) {
    lex_start(&p->lex, src);
    while (p->lex.t.kind != TOK_EOF) parse_module_item(p);
    if (!m->texts[p->text].version)
      ok = ptx_error(m, (struct ptx_place){p->text, 1, 1}, ERR_INPUT, e, "not PTX: there is no .version directive");
  }
  while (p->nbinds) { /* names of one text are not names of the next */
    struct ident *i = p->binds[--p->nbinds].ident;
    i->sym = NULL;
  }
  return ok;
}

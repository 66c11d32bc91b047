/* parse_init.c - initialisers of variables: numbers, addresses of variables and functions, masked and generic
 * addresses. */
#include <string.h>

#include "ptx/parser.h"

/* One element of v's initialiser. */
static struct ptx_init parse_init_item(struct parser *p, struct ptx_var *v) {
  struct ptx_init in = {.shift = 0xff};
  struct token t = p->lex.t;
  bool neg = parse_accept(p, '-');
  if (p->lex.t.kind == TOK_INT) {
    in.bits = (uint64_t)parse_int(p, "a number");
    if (tok_is(&p->lex.t, '(')) { /* 0xFF00(symbol): one byte of an address */
      uint8_t shift = in.bits ? (uint8_t)__builtin_ctzll(in.bits) : 0;
      lex_next(&p->lex);
      parse_deeper(p);
      in = parse_init_item(p, v);
      p->nested--;
      in.shift = shift;
      parse_expect(p, ')', "after the masked address");
      return in;
    }
    if (neg) in.bits = -in.bits;
    return in;
  }
  if (p->lex.t.kind == TOK_F32 || p->lex.t.kind == TOK_F64) {
    bool f32 = p->lex.t.kind == TOK_F32;
    in.bits = p->lex.t.bits;
    if (f32 && v->type == T_F64) {
      float f;
      memcpy(&f, &in.bits, 4);
      double d = f;
      memcpy(&in.bits, &d, 8);
    } else if (!f32 && v->type == T_F32) {
      double d;
      memcpy(&d, &in.bits, 8);
      float f = (float)d;
      in.bits = 0;
      memcpy(&in.bits, &f, 4);
    }
    if (neg) in.bits ^= v->type == T_F64 ? 1ull << 63 : 1ull << 31;
    lex_next(&p->lex);
    return in;
  }
  struct ident *i = parse_ident(p, "a number or the name of a variable in the initialiser");
  if (!strcmp(i->s, "generic") && parse_accept(p, '(')) {
    parse_deeper(p);
    in = parse_init_item(p, v);
    p->nested--;
    in.generic = true;
    parse_expect(p, ')', "after generic(");
  } else if (i->sym && i->sym->kind == SYM_VAR) {
    in.var = i->sym->ptr;
  } else if (i->sym && i->sym->kind == SYM_FUNC) {
    in.func = i->sym->ptr;
  } else {
    parse_fail(p, t.line, t.col, ERR_INPUT, "'%s' in the initialiser is not a variable or function declared before",
               i->s);
  }
  while (tok_is(&p->lex.t, '+') || tok_is(&p->lex.t, '-')) {
    bool minus = tok_is(&p->lex.t, '-');
    lex_next(&p->lex);
    int64_t k = parse_int(p, "an offset");
    in.bits += minus ? -(uint64_t)k : (uint64_t)k;
  }
  return in;
}

void parse_init_list(struct parser *p, struct ptx_var *v, uint32_t *cap) {
  if (parse_accept(p, '{')) {
    parse_deeper(p);
    while (!tok_is(&p->lex.t, '}')) {
      parse_init_list(p, v, cap);
      if (!parse_accept(p, ',')) break;
    }
    parse_expect(p, '}', "at the end of the initialiser");
    p->nested--;
    return;
  }
  if (!v->unsized && (uint64_t)(v->inits + 1) * v->elem_bytes > v->bytes)
    FAIL_TOK(p, "'%s' has %llu elements, and this would be one more", v->name,
             (unsigned long long)(v->bytes / v->elem_bytes));
  if (v->inits == *cap) {
    uint32_t n = *cap ? *cap * 2 : 16;
    struct ptx_init *in = ARENA_ARRAY(&p->m->arena, struct ptx_init, n);
    if (v->inits) memcpy(in, v->init, v->inits * sizeof *in);
    v->init = in;
    *cap = n;
  }
  v->init[v->inits] = parse_init_item(p, v);
  v->inits++;
}

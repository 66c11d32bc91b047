/* lex.h - the tokens of PTX. Identifiers are interned; a scope stores its symbol in the identifier. */
#ifndef PTX_LEX_H
#define PTX_LEX_H

#include "ptx/ptx.h"

enum tok { TOK_EOF, TOK_IDENT, TOK_DOT /* .word */, TOK_INT, TOK_F32, TOK_F64, TOK_STRING, TOK_PUNCT, TOK_BAD };

enum sym_kind { SYM_NONE, SYM_REG, SYM_VAR, SYM_FUNC, SYM_LABEL, SYM_PROTO, SYM_TABLE };

struct symbol {
  enum sym_kind kind;
  void *ptr;      /* ptx_reg, ptx_var, ptx_func, ptx_table */
  uint32_t index; /* label: instruction index */
  uint32_t depth; /* of the scope, 0 outside of functions */
  uint32_t line, col;
  struct symbol *shadowed;
};

struct ident {
  const char *s;
  uint32_t len, hash;
  struct symbol *sym;
  struct ident *next;
  uint16_t mod;     /* enum ptx_mod of that spelling */
  uint8_t type, op; /* enum ptx_type, ptx_opcode of that spelling */
};

struct token {
  enum tok kind;
  char punct;
  const char *s; /* text in the source (dot word: after the dot) */
  uint32_t len, line, col;
  uint64_t bits;       /* numbers */
  bool wide;           /* an integer that exceeds 64 bits */
  struct ident *ident; /* identifiers and dot words */
};

struct lexer {
  struct arena *arena;
  const char *src, *p, *line_start;
  uint32_t line;
  struct ident **buckets;
  uint32_t nbuckets, nidents;
  struct token t; /* the current token */
};

void lex_init(struct lexer *l, struct arena *a);
void lex_free(struct lexer *l);
void lex_start(struct lexer *l, const char *src);
void lex_next(struct lexer *l);
struct ident *lex_intern(struct lexer *l, const char *s, uint32_t len);
static inline bool tok_is(const struct token *t, char punct) {
  return t->kind == TOK_PUNCT && t->punct == punct;
}
static inline __attribute__((always_inline)) bool tok_dot(const struct token *t, const char *word) {
  return t->kind == TOK_DOT && __builtin_strlen(word) == t->len && !__builtin_memcmp(t->s, word, t->len);
}

#endif

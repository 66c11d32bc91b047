/* parser.h - shared by the files of the parser; the public interface is ptx.h. */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include <setjmp.h>

#include "ptx/lex.h"

struct pending { /* an operand that names a symbol declared later in the scope */
  struct ident *ident;
  struct ptx_opnd *opnd;
  uint32_t line, col;
};

struct binding {
  struct ident *ident;
  uint32_t depth;
};

struct draft { /* an instruction of the function being parsed */
  struct ptx_inst inst;
  struct ptx_opnd ops[PTX_MAX_OPNDS];
};

struct parser {
  struct ptx_module *m;
  struct lexer lex;
  struct err *e;
  jmp_buf fail;
  uint32_t text;
  struct binding *binds; /* undo list of scopes */
  uint32_t nbinds, cap_binds, depth;
  struct pending *pend;
  uint32_t npend, cap_pend;
  struct ptx_func *func; /* being parsed, or NULL */
  struct draft **code;
  uint32_t ncode, ndrafts, cap_code;
  struct ptx_reg **regs;
  uint32_t nregs, cap_regs;
  struct ptx_var **locals;
  uint32_t nlocals, cap_locals;
  uint32_t src_file, src_line;
  bool nounroll;                                   /* of the next instruction */
  uint32_t nested;                                 /* open scopes, parentheses and braces: see parse_deeper */
  uint64_t op_mods[OP_COUNT][(M_COUNT + 63) / 64]; /* valid once op_known */
  bool op_known[OP_COUNT];
  struct ident *sink;
};

/* Report and leave the parser. */
_Noreturn void parse_fail(struct parser *p, uint32_t line, uint32_t col, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#define FAIL_TOK(p, ...) parse_fail(p, (p)->lex.t.line, (p)->lex.t.col, ERR_INPUT, __VA_ARGS__)

void parse_expect(struct parser *p, char punct, const char *where);
bool parse_accept(struct parser *p, char punct);
/* parse_names.c. A name means `s` (copied) to the end of the scope; an error if it means something there already. */
void parse_bind(struct parser *p, struct ident *i, const struct symbol *s);
/* Where what the name means outside of functions stands; NULL stands there if it means nothing. */
struct symbol **parse_outermost(struct ident *i);
void parse_scope_enter(struct parser *p);
/* Operands kept since `first_pending` get what their names mean; what was bound in the scope is forgotten. */
void parse_scope_leave(struct parser *p, uint32_t first_pending);
/* A second declaration outside of functions must say what the first one says; at most one is the definition. */
void parse_same_var(struct parser *p, const struct ptx_var *old, const struct ptx_var *v);
void parse_same_func(struct parser *p, const struct ptx_func *old, const struct ptx_func *f);
int64_t parse_int(struct parser *p, const char *what);
uint32_t parse_count(struct parser *p, const char *what, uint32_t most); /* a number from 0 to `most` */
/* For recursion of the parser: enter before, leave after; an error beyond PARSE_NESTED. */
enum { PARSE_NESTED = 256 };
void parse_deeper(struct parser *p);
struct ident *parse_ident(struct parser *p, const char *what);
/* Appends the initialiser after `=` to v->init, nested braces flattened; *cap: allocated elements of v->init, 0 at
 * first. */
void parse_init_list(struct parser *p, struct ptx_var *v, uint32_t *cap);
enum ptx_type parse_type_word(struct parser *p); /* the dot word as a type, T_NONE if it is not one */
void parse_pending(struct parser *p, struct ident *i, struct ptx_opnd *o);
void parse_instruction(struct parser *p);
void parse_words(struct parser *p);                                  /* intern every opcode, modifier and type */
const uint64_t *parse_op_mods(struct parser *p, enum ptx_opcode op); /* bit set of its legal modifiers */
void parse_operand(struct parser *p, struct ptx_opnd *o);
void parse_check(struct parser *p, struct ptx_inst *i);
const char *tok_text(struct parser *p);

#define GROW(arr, n, cap)                            \
  do {                                               \
    if ((n) == (cap)) {                              \
      (cap) = (cap) ? (cap)*2 : 64;                  \
      (arr) = realloc((arr), (cap) * sizeof *(arr)); \
      CHECK(arr, "out of memory");                   \
    }                                                \
  } while (0)

#endif

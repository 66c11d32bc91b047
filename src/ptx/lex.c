/* lex.c - lexer for PTX: see lex.h. Comments of both kinds, every number form of the ISA, dot words with "::". */
#include "ptx/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"

enum { FIRST_BUCKETS = 2048 }; /* a power of two */

void lex_init(struct lexer *l, struct arena *a) {
  *l = (struct lexer){.arena = a, .nbuckets = FIRST_BUCKETS};
  l->buckets = mem_zeroed(FIRST_BUCKETS, sizeof *l->buckets);
}

void lex_free(struct lexer *l) {
  free(l->buckets);
}

static void grow_tokens(struct lexer *l) {
  uint32_t n = l->nbuckets * 4;
  struct ident **b = mem_zeroed(n, sizeof *b);
  for (uint32_t k = 0; k < l->nbuckets; k++)
    for (struct ident *i = l->buckets[k], *next; i; i = next) {
      next = i->next;
      i->next = b[i->hash & (n - 1)];
      b[i->hash & (n - 1)] = i;
    }
  free(l->buckets);
  l->buckets = b;
  l->nbuckets = n;
}

void lex_start(struct lexer *l, const char *src) {
  l->src = l->p = l->line_start = src;
  l->line = 1;
  lex_next(l);
}

static inline bool same_bytes(const char *a, const char *b, uint32_t n) {
  uint64_t x, y;
  for (; n >= 8; n -= 8, a += 8, b += 8) {
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    if (x != y) return false;
  }
  while (n && *a == *b) a++, b++, n--;
  return !n;
}

struct ident *lex_intern(struct lexer *l, const char *s, uint32_t len) {
  uint32_t h = (uint32_t)hash_bytes(HASH_INIT, s, len);
  for (struct ident *i = l->buckets[h & (l->nbuckets - 1)]; i; i = i->next)
    if (i->hash == h && i->len == len && same_bytes(i->s, s, len)) return i;
  if (++l->nidents > 2 * l->nbuckets) grow_tokens(l);
  struct ident *i = arena_alloc(l->arena, sizeof *i + len + 1), **b = &l->buckets[h & (l->nbuckets - 1)];
  char *text = memcpy(i + 1, s, len); /* stored beside the key for locality */
  *i = (struct ident){.s = text, .len = len, .hash = h, .next = *b};
  return *b = i;
}

/* Character classes; letters and digits of the C locale. */
enum { WORD = 1, LETTER = 2, DIGIT = 4, BLANK = 8 };
static const uint8_t classes[256] = {
    ['a' ... 'z'] = WORD | LETTER,
    ['A' ... 'Z'] = WORD | LETTER,
    ['0' ... '9'] = WORD | DIGIT,
    ['_'] = WORD | LETTER,
    ['$'] = WORD | LETTER,
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\r'] = BLANK,
    ['\f'] = BLANK,
    ['\v'] = BLANK,
};

static bool is(char c, unsigned class) {
  return classes[(unsigned char)c] & class;
}

static bool ident_char(char c) {
  return is(c, WORD);
}

static void skip_space(struct lexer *l) {
  for (;;) {
    char c = *l->p;
    if (c == '\n') {
      l->line++;
      l->line_start = ++l->p;
    } else if (is(c, BLANK)) {
      l->p++;
    } else if (c == '/' && l->p[1] == '/') {
      while (*l->p && *l->p != '\n') l->p++;
    } else if (c == '/' && l->p[1] == '*') {
      l->p += 2;
      while (*l->p && !(l->p[0] == '*' && l->p[1] == '/')) {
        if (*l->p == '\n') {
          l->line++;
          l->line_start = l->p + 1;
        }
        l->p++;
      }
      if (*l->p) l->p += 2;
    } else {
      return;
    }
  }
}

static void lex_number(struct lexer *l) {
  struct token *t = &l->t;
  const char *p = l->p;
  int digits = 0;
  t->kind = TOK_INT;
  if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F') && isxdigit((unsigned char)p[2])) digits = 8, t->kind = TOK_F32;
  else if (p[0] == '0' && (p[1] == 'd' || p[1] == 'D') && isxdigit((unsigned char)p[2])) digits = 16, t->kind = TOK_F64;
  if (digits) {
    p += 2;
    t->bits = 0;
    for (int i = 0; i < digits && isxdigit((unsigned char)*p); i++, p++)
      t->bits = t->bits << 4 | (uint64_t)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
  } else {
    char *end;
    const char *q = p;
    while (isdigit((unsigned char)*q)) q++;
    bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    if (!hex && ((*q == '.' && isdigit((unsigned char)q[1])) || (*q == '.' && !ident_char(q[1])) ||
                 ((*q == 'e' || *q == 'E') && (isdigit((unsigned char)q[1]) || q[1] == '-' || q[1] == '+')))) {
      double d = strtod(p, &end);
      memcpy(&t->bits, &d, 8);
      t->kind = TOK_F64;
    } else {
      bool binary = p[0] == '0' && (p[1] == 'b' || p[1] == 'B');
      errno = 0;
      t->bits = strtoull(binary ? p + 2 : p, &end, binary ? 2 : 0);
      t->wide = errno == ERANGE;
    }
    p = end;
    if (t->kind == TOK_INT && (*p == 'U' || *p == 'u')) p++;
  }
  t->len = (uint32_t)(p - l->p);
  l->p = p;
  if (ident_char(*p)) t->kind = TOK_BAD;
}

static void lex_string(struct lexer *l) {
  struct token *t = &l->t;
  const char *p = l->p + 1;
  while (*p && *p != '"' && *p != '\n') p += *p == '\\' && p[1] ? 2 : 1;
  t->s = l->p + 1;
  t->len = (uint32_t)(p - l->p - 1);
  t->kind = *p == '"' ? TOK_STRING : TOK_BAD;
  l->p = *p == '"' ? p + 1 : p;
}

void lex_next(struct lexer *l) {
  struct token *t = &l->t;
  skip_space(l);
  const char *p = l->p;
  *t = (struct token){.line = l->line, .col = (uint32_t)(p - l->line_start) + 1, .s = p, .len = 1};
  if (!*p) {
    t->kind = TOK_EOF;
    t->len = 0;
  } else if (is(*p, LETTER) || (*p == '%' && ident_char(p[1]))) {
    while (ident_char(*++p)) {
    }
    t->kind = TOK_IDENT;
    t->len = (uint32_t)(p - t->s);
    t->ident = lex_intern(l, t->s, t->len);
    l->p = p;
  } else if (*p == '.' && ident_char(p[1])) {
    t->s = ++p;
    while (ident_char(*p) || (p[0] == ':' && p[1] == ':' && ident_char(p[2]))) p += *p == ':' ? 2 : 1;
    t->kind = TOK_DOT;
    t->len = (uint32_t)(p - t->s);
    t->ident = lex_intern(l, t->s, t->len);
    l->p = p;
  } else if (is(*p, DIGIT)) {
    lex_number(l);
  } else if (*p == '"') {
    lex_string(l);
  } else {
    t->kind = TOK_PUNCT;
    t->punct = *p;
    l->p++;
  }
}

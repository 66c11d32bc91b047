/* text.c - the text of cuobjdump -sass, and kernel files. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sass.h"

void die(const char *format, ...) {
  va_list v;
  va_start(v, format);
  vfprintf(stderr, format, v);
  va_end(v);
  fputc('\n', stderr);
  exit(1);
}

/* ---- opcodes ---- */

static bool listed(const char *words, const char *word, size_t n) {
  for (const char *p = words; *p; p += strspn(p, " ")) {
    size_t m = strcspn(p, " ");
    if (m == n && !memcmp(p, word, n)) return true;
    p += m;
  }
  return false;
}

static void parse_modifiers(struct sass *s, const char *p) {
  static const struct {
    enum modifier id;
    const char *words;
  } table[] = {
#define MOD(id, words) {M_##id, words},
#include "modifiers.def"
#undef MOD
  };
  while (*p == '.') {
    size_t n = strcspn(++p, ".");
    bool known = false;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
      if (listed(table[k].words, p, n)) {
        s->mods[table[k].id / 64] |= 1ull << table[k].id % 64;
        known = true;
      }
    if (!known) die("%s: what .%.*s does is not known here", s->opcode, (int)n, p);
    p += n;
  }
}

/* ---- operands ---- */

static uint8_t number_of(const char **p, const char *none, uint8_t value) {
  if (!strncmp(*p, none, strlen(none))) {
    *p += strlen(none);
    return value;
  }
  char *end;
  unsigned long v = strtoul(*p + 1 + (**p == 'B' && (*p)[1] == '_'), &end, 10);
  if (end == *p + 1 || v > 254) die("'%s' where a register was expected", *p);
  *p = end;
  return (uint8_t)v;
}

static void register_suffixes(struct operand *o, const char *p) {
  while (*p == '.') {
    size_t n = strcspn(++p, ".|]+ ");
    if (!strncmp(p, "64", n)) o->whole = true;
    else if (!strncmp(p, "H1_H1", n) || !strncmp(p, "H1", n)) o->part = 3;
    else if (!strncmp(p, "H0_H0", n) || !strncmp(p, "H0", n)) o->part = 2;
    else if (n == 2 && *p == 'B' && p[1] >= '0' && p[1] <= '3') o->part = (uint8_t)(4 + p[1] - '0');
    else if (n > 1 && *p == 'X') o->scale = (uint8_t)strtoul(p + 1, NULL, 10);
    else if (strncmp(p, "reuse", n) && strncmp(p, "U32", n)) die("'%s' behind a register is not known here", p);
    p += n;
  }
}

/* R2, R2.64, R2+0x10, -0x4, R4.X4+0x10 and what is left of them. */
static void parse_address(struct operand *o, const char *p) {
  o->reg = RZ;
  if (*p == 'R') {
    o->reg = number_of(&p, "RZ", RZ);
    register_suffixes(o, p);
    p += strcspn(p, "+-]");
  }
  if (*p == '+') p++;
  if (*p != ']') o->offset = (int32_t)strtol(p, NULL, 16);
}

static const char *parse_signs(struct operand *o, const char *p) {
  for (;; p++) {
    if (*p == '-') o->neg = true;
    else if (*p == '~' || *p == '!') o->inv = true;
    else if (*p == '|') o->abs = true;
    else return p;
  }
}

static void parse_operand(struct sass *s, const char *text) {
  if (s->n == OPERANDS) die("%s has more than %d operands", s->opcode, OPERANDS);
  struct operand *o = &s->o[s->n++];
  const char *p = parse_signs(o, text);
  if (!strncmp(p, "SR", 2)) {
    o->kind = O_SPECIAL;
    snprintf(s->special, sizeof s->special, "%.20s", p);
  } else if (*p == 'R') {
    o->kind = O_REG, o->reg = number_of(&p, "RZ", RZ);
    register_suffixes(o, p);
  } else if (!strncmp(p, "PR", 2)) {
    o->kind = O_PREDS;
  } else if (*p == 'P') {
    o->kind = O_PRED, o->reg = number_of(&p, "PT", PT);
  } else if (*p == 'B') {
    o->kind = O_BARRIER, o->reg = number_of(&p, "BNONE", 0);
  } else if (*p == 'c') {
    o->kind = O_CONST, o->bank = (uint8_t)strtoul(p + 2, NULL, 16);
    parse_address(o, strchr(p, ']') + 2);
    if (o->bank >= BANKS) die("%s reads bank %u", s->opcode, o->bank);
  } else if (*p == '[') {
    o->kind = O_MEMORY;
    parse_address(o, p + 1);
  } else {
    o->kind = O_NUMBER;
    o->text = p[0] == '0' && p[1] == 'x';
    o->number = o->text ? (uint32_t)strtoull(p, NULL, 16) : s->number;
    if (!o->text && o->neg) o->neg = false; /* part of the encoded number */
  }
}

static void parse_operands(struct sass *s, char *p) {
  while (*p) {
    p += strspn(p, " ,");
    size_t n = strcspn(p, ", ;");
    if (*p == '[' || strchr("-~|!c", *p)) n = strcspn(p, ",;"); /* brackets hold no blanks */
    if (!n || *p == ';' || *p == '`' || *p == '(') break;
    char word[128];
    while (n && p[n - 1] == ' ') n--;
    snprintf(word, sizeof word, "%.*s", (int)n, p);
    parse_operand(s, word);
    p += n;
  }
}

/* A line of cuobjdump: address, instruction, the lower half of its encoding. */
void parse_inst(struct sass *s, const char *line) {
  char text[512];
  const char *p = strstr(line, "*/"), *semi = strchr(line, ';'), *code = p ? strstr(p, "/* 0x") : NULL;
  *s = (struct sass){.guard = PT};
  s->pc = (uint32_t)strtoul(strstr(line, "/*") + 2, NULL, 16);
  if (!p || !semi) die("'%s' where an instruction was expected", line);
  if (code) s->number = (uint32_t)(strtoull(code + 3, NULL, 16) >> 32);
  for (p += 2; *p == ' ' || *p == '\t' || *p == '{'; p++) continue;
  snprintf(text, sizeof text, "%.*s", (int)(semi - p), p);
  char *at = text;
  if (*at == '@') {
    s->guard_not = at[1] == '!';
    const char *q = at + 1 + s->guard_not;
    s->guard = number_of(&q, "PT", PT);
    at = text + (q - text);
    at += strspn(at, " ");
  }
  size_t n = strcspn(at, " ");
  snprintf(s->opcode, sizeof s->opcode, "%.*s", (int)(n < 40 ? n : 40), at);
  size_t name = strcspn(s->opcode, ".");
  s->run = op_of(s->opcode, name);
  if (!s->run) die("%s is not known here", s->opcode);
  parse_modifiers(s, s->opcode + name);
  parse_operands(s, at + n);
}

/* ---- kernel files ---- */

static void bank_bytes(struct kernel *k, const char *text) {
  unsigned bank, at;
  int used;
  if (sscanf(text, "%u %u %n", &bank, &at, &used) != 2 || bank >= BANKS) die("'%s' where a bank was expected", text);
  const char *p = text + used;
  for (unsigned v; sscanf(p, "%2x", &v) == 1; p += 2) {
    if (at >= BANK_BYTES) die("a bank of over %d bytes", BANK_BYTES);
    k->bank[bank][at++] = (uint8_t)v;
  }
}

static void kernel_line(struct kernel *k, const char *line) {
  struct symbol s;
  unsigned at, bytes;
  if (sscanf(line, "registers %u", &k->registers) == 1 || sscanf(line, "shared %u", &k->shared) == 1 ||
      sscanf(line, "local %u", &k->local) == 1 || sscanf(line, "sm %u", &k->sm) == 1)
    return;
  if (sscanf(line, "param %u %u", &at, &bytes) == 2 && k->params < 256) {
    k->param[k->params].at = at;
    k->param[k->params++].bytes = bytes;
  } else if (!strncmp(line, "bank ", 5)) {
    bank_bytes(k, line + 5);
  } else if (sscanf(line, "symbol %u %u %255s", &s.bank, &s.at, s.name) == 3 && s.bank < BANKS) {
    k->symbol = realloc(k->symbol, (k->symbols + 1) * sizeof s);
    k->symbol[k->symbols++] = s;
  } else if (strstr(line, "/*")) {
    k->code = realloc(k->code, (k->insts + 1) * sizeof *k->code);
    parse_inst(&k->code[k->insts], line);
    if (k->code[k->insts].pc != 16 * k->insts) die("instruction %u is at %x", k->insts, k->code[k->insts].pc);
    k->insts++;
  } else {
    die("'%s' in a kernel file", line);
  }
}

void kernel_read(struct kernel *k, const char *path, const char *name) {
  FILE *f = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  bool inside = false;
  if (!f) die("cannot read %s", path);
  *k = (struct kernel){.sm = 70};
  snprintf(k->name, sizeof k->name, "%s", name);
  for (int b = 0; b < BANKS; b++) k->bank[b] = calloc(1, BANK_BYTES);
  while (getline(&line, &room, f) > 0) {
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "kernel ", 7)) inside = !strcmp(line + 7, name);
    else if (inside && *line && *line != '#') kernel_line(k, line);
  }
  if (!k->insts) die("%s has no kernel %s", path, name);
  k->count = calloc(k->insts, sizeof *k->count);
  free(line);
  fclose(f);
}

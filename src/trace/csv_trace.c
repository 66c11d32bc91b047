/* csv_trace.c - reading address-only traces: a header that names the columns, then a line per warp instruction. Text
 * is read in blocks and split in place; numbers are parsed by hand, as they dominate the time.
 */
#include "trace/csv_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { BLOCK = 1 << 20, LINE_MAX_BYTES = 65536, MAX_COLUMNS = 16 };

enum column { COL_KERNEL, COL_CTA, COL_WARP, COL_PC, COL_MASK, COL_ADDRESSES, COL_OP, COL_BYTES, COL_OTHER };
static const char *const names[] = {"kernel", "cta", "warp", "pc", "mask", "addresses", "op", "bytes"};

struct csv_trace {
  char *path, *text;
  int fd;
  size_t at, end; /* unread text */
  bool eof;
  uint64_t line;
  double bytes; /* read so far */
  enum column column[MAX_COLUMNS];
  uint32_t columns;
  char kernel[LINE_MAX_BYTES + 1];
  bool begun;
};

static int wrong(const struct csv_trace *t, struct err *e, const char *what, const char *found) {
  err_set(e, ERR_INPUT, "%s:%llu: expected %s%s%.40s%s", t->path, (unsigned long long)(t->line ? t->line : 1), what,
          found ? ", not '" : "", found ? found : "", found ? "'" : "");
  return -1;
}

/* The next line without its end, NUL-terminated: 1; 0 at the end. */
static int next_line(struct csv_trace *t, char **line, struct err *e) {
  for (;;) {
    char *from = t->text + t->at, *nl = memchr(from, '\n', t->end - t->at);
    size_t n = nl ? (size_t)(nl - from) : t->end - t->at;
    if (n > LINE_MAX_BYTES) {
      t->line++;
      return wrong(t, e, "a line of at most 65536 bytes", NULL);
    }
    if (nl || (t->eof && n)) {
      t->line++;
      t->at += n + (nl != NULL);
      if (memchr(from, 0, n)) return wrong(t, e, "text, and not a byte 0", NULL);
      if (n && from[n - 1] == '\r') n--;
      from[n] = 0;
      *line = from;
      return 1;
    }
    if (t->eof) return 0;
    memmove(t->text, from, n);
    t->at = 0;
    t->end = n;
    ssize_t got = read(t->fd, t->text + n, BLOCK - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return err_set(e, ERR_INPUT, "cannot read '%s': %s", t->path, strerror(errno)), -1;
    if (!got) t->eof = true;
    t->end += (size_t)got;
    t->bytes += (double)got;
  }
}

/* ---- the header ---- */

static int read_csv_header(struct csv_trace *t, struct err *e) {
  char *line = NULL, *rest = NULL;
  int r;
  while ((r = next_line(t, &line, e)) == 1 && (!*line || *line == '#')) continue;
  if (r < 0) return r;
  if (!r) return wrong(t, e, "a header line such as kernel,cta,warp,pc,mask,addresses; the file is empty", NULL);
  uint32_t seen = 0;
  for (char *w = strtok_r(line, ", \t", &rest); w; w = strtok_r(NULL, ", \t", &rest)) {
    if (t->columns == MAX_COLUMNS) return wrong(t, e, "at most 16 columns", NULL);
    uint32_t c = 0;
    while (c < COL_OTHER && strcasecmp(w, names[c])) c++;
    if (c < COL_OTHER && seen >> c & 1) return wrong(t, e, "each column once", w);
    seen |= 1u << c;
    t->column[t->columns++] = (enum column)c;
  }
  if (!(seen >> COL_ADDRESSES & 1)) return wrong(t, e, "a header with a column `addresses`", NULL);
  if (!(seen >> COL_CTA & 1)) return wrong(t, e, "a header with a column `cta`", NULL);
  return 1;
}

struct csv_trace *csv_open(const char *path, struct err *e) {
  int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(0);
  if (fd < 0) {
    err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    return NULL;
  }
  struct csv_trace *t = mem_zeroed(1, sizeof *t);
  *t = (struct csv_trace){.fd = fd, .path = mem_text(path), .text = mem_alloc(BLOCK + 1)};
  if (read_csv_header(t, e) == 1) return t;
  csv_close(t);
  return NULL;
}

void csv_close(struct csv_trace *t) {
  if (!t) return;
  close(t->fd);
  free(t->path);
  free(t->text);
  free(t);
}

double csv_bytes(const struct csv_trace *t) {
  return t->bytes;
}

/* ---- fields ---- */

static const int8_t *digits(void) {
  static const int8_t value[256] = {
      ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
      ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
      ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};
  return value; /* the digit + 1; 0: not a digit */
}

/* A number at *p, hexadecimal with 0x (or if `hex`); false if none, or beyond 64 bits. */
static bool parse_field(const char **p, bool hex, uint64_t *out) {
  const int8_t *value = digits();
  const char *s = *p;
  if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) hex = true, s += 2;
  const char *first = s;
  uint64_t v = 0;
  uint32_t base = hex ? 16 : 10;
  for (int d; (d = value[(unsigned char)*s]) && d <= (int)base; s++) {
    if (v > (UINT64_MAX - (uint64_t)(d - 1)) / base) return false;
    v = v * base + (uint64_t)(d - 1);
  }
  *p = s;
  *out = v;
  return s > first;
}

static bool whole_number(const char *field, bool hex, uint64_t max, uint64_t *out) {
  return parse_field(&field, hex, out) && !*field && *out <= max;
}

static bool read_op(const char *field, uint8_t *kind) {
  static const struct {
    const char *word;
    uint8_t kind;
  } ops[] = {{"load", KIND_LOAD}, {"ld", KIND_LOAD},     {"r", KIND_LOAD},    {"store", KIND_STORE}, {"st", KIND_STORE},
             {"w", KIND_STORE},   {"atomic", KIND_ATOM}, {"atom", KIND_ATOM}, {"red", KIND_ATOM},    {"a", KIND_ATOM}};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (!strcasecmp(field, ops[i].word)) return *kind = ops[i].kind, true;
  return false;
}

/* Addresses of the lanes of `mask` in ascending order; or one address and +STRIDE for all of them. Without a mask
 * (`any`), one lane per address, from 0 on. NULL: valid, else the expected content. */
static const char *read_addresses(const char *p, struct csv_access *a, bool any) {
  uint64_t v, stride = 0;
  uint32_t left = any ? UINT32_MAX : a->mask, got = 0;
  while (*p == ' ') p++;
  while (*p) {
    if (!left) return "as many addresses as the mask has lanes; there are more";
    if (!parse_field(&p, false, &v)) return "addresses, decimal or 0x..., with a blank between them";
    if (*p == '+' || *p == '-') {
      bool down = *p++ == '-';
      if (got || !parse_field(&p, false, &stride) || *p) return "one address and +STRIDE, and nothing after it";
      if (down) stride = -stride;
      if (any) a->mask = UINT32_MAX;
      for (uint32_t m = a->mask; m; m &= m - 1) a->addr[__builtin_ctz(m)] = v, v += stride;
      return NULL;
    }
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    a->addr[lane] = v;
    got |= 1u << lane;
    left &= left - 1;
    if (*p && *p != ' ') return "addresses, decimal or 0x..., with a blank between them";
    while (*p == ' ') p++;
  }
  if (any) a->mask = got;
  if (left && !any) return "as many addresses as the mask has lanes; there are fewer";
  return NULL;
}

static const char *read_field(struct csv_access *a, enum column c, const char *field, const char **kernel) {
  uint64_t v;
  switch (c) {
  case COL_KERNEL:
    *kernel = field;
    return NULL;
  case COL_CTA:
    if (!whole_number(field, false, UINT32_MAX, &v)) return "the number of a CTA";
    a->cta = (uint32_t)v;
    return NULL;
  case COL_WARP:
    if (!whole_number(field, false, UINT32_MAX, &v)) return "the number of a warp";
    a->warp = (uint32_t)v;
    return NULL;
  case COL_PC:
    return whole_number(field, false, UINT64_MAX, &a->pc) ? NULL : "a pc, decimal or 0x...";
  case COL_MASK:
    if (!whole_number(field, true, UINT32_MAX, &v)) return "a mask of 32 lanes in hexadecimal";
    a->mask = (uint32_t)v;
    return NULL;
  case COL_OP:
    return read_op(field, &a->kind) ? NULL : "load, store or atomic";
  case COL_BYTES:
    if (!whole_number(field, false, 128, &v) || !v) return "1 to 128 bytes per lane";
    a->width = (uint32_t)v;
    return NULL;
  case COL_ADDRESSES:
  case COL_OTHER:
    break;
  }
  return NULL;
}

static char *trim_left(char *s) {
  return s + strspn(s, " \t");
}

static char *trim(char *s) {
  size_t n = strlen(s);
  while (n && (s[n - 1] == ' ' || s[n - 1] == '\t')) s[--n] = 0;
  return s;
}

/* The next field of *line, which moves behind its comma, NULL at the end; in quotes it may hold commas, and "" for a
 * quote. NULL: text that no quote ends. */
static char *next_field(char **line) {
  char *field = trim_left(*line), *to = field, *p = field;
  if (*field != '"') {
    char *comma = strchr(field, ',');
    if (comma) *comma = 0;
    *line = comma ? comma + 1 : NULL;
    return trim(field);
  }
  for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
    if (*p == '"') p++;
    *to++ = *p;
  }
  if (!*p) return NULL;
  p = trim_left(p + 1);
  if (*p && *p != ',') return NULL;
  *to = 0;
  *line = *p ? p + 1 : NULL;
  return field;
}

int csv_next(struct csv_trace *t, struct csv_access *a, struct err *e) {
  char *line = NULL, *addresses = NULL;
  const char *kernel = "", *expected;
  int r;
  do
    if ((r = next_line(t, &line, e)) != 1) return r;
  while (!*line || *line == '#');
  a->cta = a->warp = a->mask = 0;
  a->pc = 0;
  a->kind = KIND_LOAD;
  a->width = 4;
  bool any = true;
  for (uint32_t c = 0; c < t->columns; c++) {
    if (!line) {
      char what[80];
      snprintf(what, sizeof what, "%u fields, of which `%s` is missing", t->columns,
               t->column[c] < COL_OTHER ? names[t->column[c]] : "another one");
      return wrong(t, e, what, NULL);
    }
    char *field = next_field(&line);
    if (!field) return wrong(t, e, "a field that its quotes end", NULL);
    if (t->column[c] == COL_ADDRESSES) addresses = field;
    if (t->column[c] == COL_MASK) any = false;
    if ((expected = read_field(a, t->column[c], field, &kernel))) return wrong(t, e, expected, field);
  }
  if (line) return wrong(t, e, "as many fields as the header has; addresses are separated by blanks", NULL);
  if ((expected = read_addresses(addresses, a, any))) return wrong(t, e, expected, addresses);
  a->first = !t->begun || strcmp(kernel, t->kernel);
  if (a->first) snprintf(t->kernel, sizeof t->kernel, "%s", kernel);
  t->begun = true;
  a->kernel = t->kernel;
  return 1;
}

/* table.c - tables: columns as wide as their widest cell, and on a terminal no wider than that. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/arena.h"
#include "base/text.h"
#include "cli/frame/cli.h"

enum {
  TABLE_COLUMNS = 24,
  GAP = 2,            /* blanks between columns */
  NAME_COLUMNS = 24,  /* text up to this width is not broken */
  FIRST_COLUMNS = 32, /* the same for the first column */
  TEXT_COLUMNS = 36,  /* longer text is broken; columns are dropped before it gets narrower */
  LEAST_COLUMNS = 8,
  WIDEST = 1024
};

struct table_row {
  struct table_row *next;
  const char *cell[TABLE_COLUMNS];
  bool rule;
};

struct table {
  struct arena arena;
  struct table_row *first, *last; /* the first holds the titles */
  unsigned columns, at;           /* next cell */
  char align[TABLE_COLUMNS], rank[TABLE_COLUMNS];
  const char *hint;
};

/* Layout of a table: width of each column; 0: dropped. */
struct layout {
  unsigned width[TABLE_COLUMNS];
};

static unsigned columns_of(const char *s) {
  return s ? cli_text_columns(s, strlen(s)) : 0;
}

static struct table_row *table_add_row(struct table *t) {
  struct table_row *r = ARENA_NEW(&t->arena, struct table_row);
  if (t->last) t->last->next = r;
  else t->first = r;
  t->last = r;
  return r;
}

struct table *table_new(const char *const *titles, const char *align) {
  struct table *t = mem_zeroed(1, sizeof *t);
  t->columns = (unsigned)strlen(align);
  CHECK(t->columns <= TABLE_COLUMNS, "table of %u columns", t->columns);
  memcpy(t->align, align, t->columns);
  /* From the third column on, numbers are dropped before texts, the last ones first. */
  memset(t->rank, '.', t->columns);
  char rank = '1';
  for (unsigned i = t->columns; i-- > 2;)
    if (align[i] != 'l') t->rank[i] = rank++;
  for (unsigned i = t->columns; i-- > 2;)
    if (align[i] == 'l') t->rank[i] = rank++;
  t->hint = "a wider terminal or `| cat` shows all";
  for (unsigned i = 0; i < t->columns; i++) table_cell(t, "%s", titles[i]);
  table_rule(t);
  return t;
}

void table_order(struct table *t, const char *ranks) {
  CHECK(strlen(ranks) == t->columns, "ranks of %zu of %u columns", strlen(ranks), t->columns);
  memcpy(t->rank, ranks, t->columns);
}

void table_hint(struct table *t, const char *hint) {
  t->hint = arena_strdup(&t->arena, hint);
}

void table_cell(struct table *t, const char *fmt, ...) {
  char text[WIDEST];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  struct table_row *r = t->at ? t->last : table_add_row(t);
  char *shown = text_is_plain(text, false) ? NULL : text_visible(text, false);
  r->cell[t->at] = arena_strdup(&t->arena, shown ? shown : text);
  free(shown);
  t->at = (t->at + 1) % t->columns;
}

void table_rule(struct table *t) {
  table_add_row(t)->rule = true;
}

/* ---- what it holds ---- */

static const struct table_row *row_at(const struct table *t, size_t row) {
  const struct table_row *r = t->first->next;
  for (; r; r = r->next)
    if (!r->rule && !row--) break;
  return r;
}

size_t table_rows(const struct table *t) {
  size_t n = 0;
  for (const struct table_row *r = t->first->next; r; r = r->next) n += !r->rule;
  return n;
}

size_t table_columns(const struct table *t) {
  return t->columns;
}

const char *table_title(const struct table *t, size_t column) {
  return t->first->cell[column];
}

const char *table_at(const struct table *t, size_t row, size_t column) {
  const struct table_row *r = row_at(t, row);
  return r && r->cell[column] ? r->cell[column] : "";
}

bool table_is_number(const struct table *t, size_t column) {
  return t->align[column] == 'r';
}

/* ---- fitting it into a terminal ---- */

static unsigned widest_cell(const struct table *t, unsigned i) {
  unsigned w = 0;
  for (const struct table_row *r = t->first->next; r; r = r->next)
    if (columns_of(r->cell[i]) > w) w = columns_of(r->cell[i]);
  return w;
}

/* The width that fits nine cells of ten. */
static unsigned usual_cell(const struct table *t, unsigned i) {
  unsigned count[WIDEST] = {0}, rows = 0, seen = 0, w = 0;
  for (const struct table_row *r = t->first->next; r; r = r->next)
    if (!r->rule) count[columns_of(r->cell[i]) % WIDEST]++, rows++;
  while (w + 1 < WIDEST && (seen += count[w]) * 10 < rows * 9) w++;
  return w;
}

static unsigned widest_word(const char *s) {
  unsigned w = 0;
  for (size_t n; *s; s += n + strspn(s + n, " ")) {
    n = strcspn(s, " ");
    if (cli_text_columns(s, n) > w) w = cli_text_columns(s, n);
  }
  return w;
}

static unsigned total(const struct table *t, const unsigned *width) {
  unsigned sum = 0;
  for (unsigned i = 0; i < t->columns; i++)
    if (width[i]) sum += width[i] + (sum ? GAP : 0);
  return sum;
}

/* A column that may be broken: with text longer than a name. */
static bool is_text(const struct table *t, unsigned i, const struct layout *l) {
  return t->align[i] == 'l' && l->width[i] > (i ? NAME_COLUMNS : FIRST_COLUMNS);
}

/* The rank dropped next; 0 if the rest must stay. */
static char next_out(const struct table *t, const struct layout *l) {
  char found = 0;
  for (unsigned i = 0; i < t->columns; i++)
    if (l->width[i] && t->rank[i] != '.' && (!found || t->rank[i] < found)) found = t->rank[i];
  return found;
}

/* Drop columns until the others fit and the texts are readable. */
static void leave_out(const struct table *t, struct layout *l, unsigned columns) {
  for (;;) {
    unsigned least[TABLE_COLUMNS] = {0};
    for (unsigned i = 0; i < t->columns; i++) {
      unsigned usual = usual_cell(t, i), enough = i ? TEXT_COLUMNS : NAME_COLUMNS;
      least[i] = !is_text(t, i, l)       ? l->width[i]
                 : usual < LEAST_COLUMNS ? LEAST_COLUMNS
                 : usual < enough        ? usual
                                         : enough;
    }
    char out = 0;
    if (total(t, least) > columns) out = next_out(t, l);
    if (!out) return;
    for (unsigned i = 0; i < t->columns; i++)
      if (t->rank[i] == out) l->width[i] = 0;
  }
}

/* Distribute the remaining width among the texts; unused shares go to the others. */
static void share(const struct table *t, struct layout *l, unsigned columns) {
  unsigned want[TABLE_COLUMNS], left = 0, room = columns + GAP;
  for (unsigned i = 0; i < t->columns; i++) {
    if (!l->width[i]) continue;
    want[i] = is_text(t, i, l) ? usual_cell(t, i) : 0;
    room = room > GAP ? room - GAP : 0;
    if (is_text(t, i, l)) left++;
    else room = room > l->width[i] ? room - l->width[i] : 0;
  }
  for (bool done[TABLE_COLUMNS] = {0}; left; left--) {
    unsigned least = t->columns;
    for (unsigned i = 0; i < t->columns; i++)
      if (l->width[i] && !done[i] && is_text(t, i, l) && (least == t->columns || want[i] < want[least])) least = i;
    if (least == t->columns) return;
    unsigned part = room / left, take = left > 1 && want[least] < part ? want[least] : part;
    if (take > l->width[least]) take = l->width[least];
    done[least] = true;
    l->width[least] = take < LEAST_COLUMNS ? LEAST_COLUMNS : take;
    room = room > l->width[least] ? room - l->width[least] : 0;
  }
}

static struct layout fit(const struct table *t, unsigned columns) {
  struct layout l = {0};
  unsigned cells[TABLE_COLUMNS];
  for (unsigned i = 0; i < t->columns; i++) {
    unsigned title = columns_of(t->first->cell[i]);
    cells[i] = widest_cell(t, i);
    l.width[i] = title > cells[i] ? title : cells[i];
  }
  if (!columns || total(t, l.width) <= columns) return l;
  for (unsigned i = 0; i < t->columns; i++) {
    unsigned word = widest_word(t->first->cell[i]);
    l.width[i] = cells[i] > word ? cells[i] : word;
  }
  leave_out(t, &l, columns);
  if (total(t, l.width) > columns) share(t, &l, columns);
  for (unsigned i = 0; i < t->columns; i++) { /* titles that fit */
    unsigned title = columns_of(t->first->cell[i]);
    if (l.width[i] && title > l.width[i] && total(t, l.width) + title - l.width[i] <= columns) l.width[i] = title;
  }
  return l;
}

/* ---- printing ---- */

/* One line of a row: `rest` is the remaining text of each cell; returns true if any remains. */
static bool print_wrapped(const struct table *t, const struct layout *l, const char **rest, FILE *f) {
  unsigned blanks = 0; /* pending blanks, so that no line ends with blanks */
  bool more = false;
  for (unsigned i = 0; i < t->columns; i++) {
    unsigned w = l->width[i];
    if (!w) continue;
    size_t n = cli_text_break(rest[i], w);
    unsigned pad = w - cli_text_columns(rest[i], n);
    if (n && t->align[i] == 'r') blanks += pad;
    if (n) fprintf(f, "%*s%.*s", (int)blanks, "", (int)n, rest[i]), blanks = 0;
    blanks += GAP + (n && t->align[i] == 'r' ? 0 : pad);
    rest[i] += n + strspn(rest[i] + n, " ");
    more |= *rest[i] != 0;
  }
  fputc('\n', f);
  return more;
}

static void print_rule(const struct table *t, const struct layout *l, FILE *f) {
  bool any = false;
  for (unsigned i = 0; i < t->columns; i++) {
    if (l->width[i] && any) fprintf(f, "%*s", GAP, "");
    for (unsigned k = 0; k < l->width[i]; k++) fputs("─", f);
    any |= l->width[i] > 0;
  }
  fputc('\n', f);
}

static void print_left_out(const struct table *t, const struct layout *l, FILE *f) {
  struct lines lines;
  FILE *in = lines_begin(&lines, f);
  bool any = false;
  for (unsigned i = 0; i < t->columns; i++)
    if (!l->width[i] && *t->first->cell[i])
      fprintf(in, "%s %s", any ? "," : "(not shown:", t->first->cell[i]), any = true;
  if (any) fprintf(in, "; %s)\n", t->hint);
  lines_end(&lines);
}

void table_print(struct table *t, FILE *f) {
  unsigned columns = cli_columns(f);
  struct layout l = fit(t, columns);
  for (const struct table_row *r = t->first; r; r = r->next) {
    const char *rest[TABLE_COLUMNS];
    if (r->rule) {
      print_rule(t, &l, f);
      continue;
    }
    for (unsigned i = 0; i < t->columns; i++) rest[i] = r->cell[i] ? r->cell[i] : "";
    while (print_wrapped(t, &l, rest, f)) {
    }
  }
  if (columns) print_left_out(t, &l, f);
}

void table_free(struct table *t) {
  if (!t) return;
  arena_free(&t->arena);
  free(t);
}

/* rows.c - a table of results as text, CSV, JSON, Markdown or LaTeX. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/tables/rows.h"

static const char *const format_names[] = {
    [DB_TEXT] = "text", [DB_CSV] = "csv", [DB_JSON] = "json", [DB_MARKDOWN] = "markdown", [DB_LATEX] = "latex"};
enum { FORMATS = sizeof format_names / sizeof *format_names };

bool rows_format(const char *name, enum db_format *out, struct err *e) {
  *out = DB_TEXT;
  for (int i = 0; name && i < FORMATS; i++)
    if (!strcmp(name, format_names[i])) return *out = (enum db_format)i, true;
  if (!name) return true;
  const char *near = err_nearest(name, format_names, FORMATS);
  return err_set(e, ERR_USAGE, "unknown format '%s'; %s%s%s", name,
                 near ? "did you mean '" : "it is text, csv, json, markdown or latex", near ? near : "",
                 near ? "'?" : "");
}

static char *doubled(struct arena *a, const char *s, char quote) {
  char *out = arena_alloc(a, 2 * strlen(s) + 3), *p = out;
  *p++ = quote;
  for (; *s; s++) {
    *p++ = *s;
    if (*s == quote) *p++ = *s;
  }
  *p++ = quote;
  return out;
}

char *sql_text(struct arena *a, const char *s) {
  return doubled(a, s, '\'');
}
char *sql_name(struct arena *a, const char *s) {
  return doubled(a, s, '"');
}

/* Numbers for people: significant digits. For programs: all digits. */
static const char *cell_text(const struct db_cell *c, bool full, char *buf, size_t size) {
  switch (c->kind) {
  case CELL_NULL:
    return full ? "" : "-";
  case CELL_INT:
    if (full) snprintf(buf, size, "%lld", (long long)c->i);
    else cli_count(buf, size, (double)c->i);
    return buf;
  case CELL_REAL:
    snprintf(buf, size, full ? "%.15g" : fabs(c->r) >= 1e5 ? "%.0f" : fabs(c->r) >= 100 ? "%.1f" : "%.4g", c->r);
    return buf;
  case CELL_TEXT:
    break;
  }
  return c->s;
}

/* Spreadsheets execute text that begins with these characters as a formula. */
static bool is_formula(const char *s) {
  char *end;
  if (!*s || !strchr("=+-@\t\r", *s)) return false;
  strtod(s, &end);
  return end == s || *end; /* "-1" is a number */
}

/* Texts that would be formulas get an apostrophe in front (OWASP, CSV injection). Files receive the text unchanged,
 * terminals an escaped form. */
static void print_csv_cell(const char *s, FILE *f) {
  if (isatty(fileno(f)) && !text_is_plain(s, true)) {
    char *shown = text_visible(s, true);
    print_csv_cell(shown, f);
    free(shown);
    return;
  }
  bool formula = is_formula(s);
  if (!formula && !s[strcspn(s, ",\"\r\n")]) {
    fputs(s, f);
    return;
  }
  fputs(formula ? "\"'" : "\"", f);
  for (; *s; s++) {
    if (*s == '"') fputc('"', f);
    fputc(*s, f);
  }
  fputc('"', f);
}

static void print_csv(const struct db_table *t, FILE *f) {
  char buf[64];
  for (size_t i = 0; i < t->columns; i++) {
    if (i) fputc(',', f);
    print_csv_cell(t->title[i], f);
  }
  fputc('\n', f);
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    print_csv_cell(cell_text(&t->cell[i], true, buf, sizeof buf), f);
    fputc((i + 1) % t->columns ? ',' : '\n', f);
  }
}

static void print_json(const struct db_table *t, FILE *f) {
  json_t *all = json_array();
  for (size_t r = 0; r < t->rows; r++) {
    json_t *o = json_object();
    for (size_t i = 0; i < t->columns; i++) {
      const struct db_cell *c = &t->cell[r * t->columns + i];
      json_t *v = c->kind == CELL_INT                         ? json_integer(c->i)
                  : c->kind == CELL_REAL && isfinite(c->r)    ? json_real(c->r)
                  : c->kind == CELL_TEXT && json_string(c->s) ? json_string(c->s)
                                                              : json_null();
      json_object_set_new(o, t->title[i], v);
    }
    json_array_append_new(all, o);
  }
  json_dumpf(all, f, JSON_INDENT(1) | JSON_REAL_PRECISION(15) | (isatty(fileno(f)) ? JSON_ENSURE_ASCII : 0));
  fputc('\n', f);
  json_decref(all);
}

static bool is_number(const struct db_table *t, size_t column) {
  for (size_t r = 0; r < t->rows; r++)
    if (t->cell[r * t->columns + column].kind == CELL_TEXT) return false;
  return true;
}

static void print_markdown(const struct db_table *t, FILE *f) {
  char buf[64];
  for (size_t i = 0; i < t->columns; i++) text_say(f, "| %s ", t->title[i]);
  fputs("|\n", f);
  for (size_t i = 0; i < t->columns; i++) fputs(is_number(t, i) ? "|---:" : "|---", f);
  fputs("|\n", f);
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    fputs("| ", f);
    char *shown = text_visible(cell_text(&t->cell[i], false, buf, sizeof buf), true);
    for (const char *s = shown; *s; s++) {
      if (*s == '|') fputc('\\', f);
      fputc(*s == '\n' ? ' ' : *s, f);
    }
    free(shown);
    fputs((i + 1) % t->columns ? " " : " |\n", f);
  }
}

static void print_tex(const char *text, FILE *f) {
  char *shown = text_visible(text, true);
  for (const char *s = shown; *s; s++) {
    if (strchr("&%$#_{}", *s)) fprintf(f, "\\%c", *s);
    else if (*s == '\\') fputs("\\textbackslash{}", f);
    else if (*s == '~') fputs("\\textasciitilde{}", f);
    else if (*s == '^') fputs("\\textasciicircum{}", f);
    else fputc(*s, f);
  }
  free(shown);
}

static void print_latex(const struct db_table *t, FILE *f) {
  char buf[64];
  fputs("\\begin{tabular}{", f);
  for (size_t i = 0; i < t->columns; i++) fputc(is_number(t, i) ? 'r' : 'l', f);
  fputs("}\n\\hline\n", f);
  for (size_t i = 0; i < t->columns; i++) {
    if (i) fputs(" & ", f);
    print_tex(t->title[i], f);
  }
  fputs(" \\\\\n\\hline\n", f);
  for (size_t i = 0; i < t->rows * t->columns; i++) {
    print_tex(cell_text(&t->cell[i], false, buf, sizeof buf), f);
    fputs((i + 1) % t->columns ? " & " : " \\\\\n", f);
  }
  fputs("\\hline\n\\end{tabular}\n", f);
}

/* The column limit of a terminal table: use another format beyond it. */
enum { TEXT_COLUMNS = 24 };

static void print_text(const struct db_table *t, FILE *f) {
  char buf[64], align[TEXT_COLUMNS + 1] = "";
  size_t n = t->columns < TEXT_COLUMNS ? t->columns : TEXT_COLUMNS;
  for (size_t i = 0; i < n; i++) align[i] = is_number(t, i) ? 'r' : 'l';
  struct table *out = table_new((const char *const *)t->title, align);
  for (size_t r = 0; r < t->rows; r++)
    for (size_t i = 0; i < n; i++) {
      const char *s = cell_text(&t->cell[r * t->columns + i], false, buf, sizeof buf);
      table_cell(out, "%.*s", (int)strcspn(s, "\n"), s);
    }
  table_hint(out, "a wider terminal, `| cat` or --format csv shows all");
  table_print(out, f);
  table_free(out);
  if (n < t->columns) fprintf(f, "(%zu more columns: --format csv shows them)\n", t->columns - n);
}

void rows_print(const struct db_table *t, enum db_format format, FILE *f) {
  switch (format) {
  case DB_CSV:
    print_csv(t, f);
    break;
  case DB_JSON:
    print_json(t, f);
    break;
  case DB_MARKDOWN:
    print_markdown(t, f);
    break;
  case DB_LATEX:
    print_latex(t, f);
    break;
  case DB_TEXT:
    print_text(t, f);
    break;
  }
}

static struct db_cell csv_cell(const char *s, bool number) {
  char *end;
  struct db_cell c = {.kind = CELL_TEXT, .s = s};
  if (!number) return c;
  if (!*s || !strcmp(s, "-")) return c.kind = CELL_NULL, c;
  c.i = strtoll(s, &end, 10);
  if (!*end) return c.kind = CELL_INT, c;
  c.r = strtod(s, &end);
  if (!*end) c.kind = CELL_REAL;
  return c;
}

void rows_print_table(const struct table *t, enum db_format format, FILE *f) {
  struct arena a = {0};
  struct db_table out = {.columns = table_columns(t), .rows = table_rows(t)};
  out.title = ARENA_ARRAY(&a, char *, out.columns);
  out.cell = ARENA_ARRAY(&a, struct db_cell, out.rows * out.columns);
  for (size_t i = 0; i < out.columns; i++) {
    out.title[i] = arena_strdup(&a, table_title(t, i));
    for (char *s = out.title[i]; (s = strchr(s, ' '));) *s = '_';
    for (size_t r = 0; r < out.rows; r++)
      out.cell[r * out.columns + i] = csv_cell(table_at(t, r, i), table_is_number(t, i));
  }
  rows_print(&out, format, f);
  arena_free(&a);
}

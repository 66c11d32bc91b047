/* print.c - tables, bars, quantities and progress on a terminal. */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/frame/cli.h"

bool cli_color(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && *no) && isatty(fileno(f)) && (!term || strcmp(term, "dumb"));
}

size_t cli_json_flags(const char *path) {
  return !strcmp(path, "-") && isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0;
}

void cli_bar(char *buf, double fraction, unsigned width) {
  static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(fraction > 0)) fraction = 0;
  if (fraction > 1) fraction = 1;
  unsigned units = (unsigned)lround(fraction * width * 8);
  *buf = 0;
  for (unsigned i = 0; i<width; i++, units = units> 8 ? units - 8 : 0) strcat(buf, units >= 8 ? "█" : eighths[units]);
}

void cli_bytes(char *buf, size_t size, double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned u = 0;
  while (bytes >= 1000 && u < 4) bytes /= 1000, u++;
  snprintf(buf, size, u && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[u]);
}

void cli_count(char *buf, size_t size, double n) {
  char digits[48];
  snprintf(digits, sizeof digits, "%.0f", n);
  size_t len = strlen(digits), used = 0;
  for (size_t i = 0; i < len && used + 2 < size; i++) {
    if (i && (len - i) % 3 == 0 && digits[i - 1] != '-') buf[used++] = ',';
    buf[used++] = digits[i];
  }
  buf[used] = 0;
}

double cli_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- tables ---- */

enum { TABLE_COLUMNS = 24 };

struct table_row {
  struct table_row *next;
  const char *cell[TABLE_COLUMNS];
  bool rule;
};

struct table {
  struct arena arena;
  struct table_row *first, *last;
  unsigned columns, at; /* next cell */
  char align[TABLE_COLUMNS];
  unsigned width[TABLE_COLUMNS];
};

static unsigned columns_of(const char *s) {
  unsigned n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static struct table_row *add_row(struct table *t) {
  struct table_row *r = ARENA_NEW(&t->arena, struct table_row);
  if (t->last) t->last->next = r;
  else t->first = r;
  t->last = r;
  return r;
}

struct table *table_new(const char *const *titles, const char *align) {
  struct table *t = calloc(1, sizeof *t);
  CHECK(t, "out of memory");
  t->columns = (unsigned)strlen(align);
  CHECK(t->columns <= TABLE_COLUMNS, "table of %u columns", t->columns);
  memcpy(t->align, align, t->columns);
  for (unsigned i = 0; i < t->columns; i++) table_cell(t, "%s", titles[i]);
  table_rule(t);
  return t;
}

void table_cell(struct table *t, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  struct table_row *r = t->at ? t->last : add_row(t);
  char *shown = text_is_plain(text, false) ? NULL : text_visible(text, false);
  const char *cell = r->cell[t->at] = arena_strdup(&t->arena, shown ? shown : text);
  free(shown);
  unsigned w = columns_of(cell);
  if (w > t->width[t->at]) t->width[t->at] = w;
  t->at = (t->at + 1) % t->columns;
}

void table_rule(struct table *t) {
  add_row(t)->rule = true;
}

void table_print(struct table *t, FILE *f) {
  for (struct table_row *r = t->first; r; r = r->next) {
    for (unsigned i = 0; i < t->columns; i++) {
      unsigned w = t->width[i];
      if (i) fputs("  ", f);
      if (r->rule) {
        for (unsigned k = 0; k < w; k++) fputs("─", f);
        continue;
      }
      const char *s = r->cell[i] ? r->cell[i] : "";
      unsigned pad = w - columns_of(s);
      if (t->align[i] == 'r') fprintf(f, "%*s%s", (int)pad, "", s);
      else fprintf(f, "%s%*s", s, i + 1 < t->columns ? (int)pad : 0, "");
    }
    fputc('\n', f);
  }
}

void table_free(struct table *t) {
  if (!t) return;
  arena_free(&t->arena);
  free(t);
}

/* ---- progress ---- */

void progress_start(struct progress *p) {
  *p = (struct progress){.started = cli_seconds()};
}

void progress_show(struct progress *p, const char *what, double done, double total) {
  double now = cli_seconds(), spent = now - p->started;
  if (spent < 2 || now - p->shown < 0.2 || !isatty(STDERR_FILENO)) return;
  p->shown = now;
  p->drawn = true;
  char bar[128], left[48] = "";
  double f = total > 0 ? done / total : 0;
  cli_bar(bar, f, 24);
  if (f > 0.01) snprintf(left, sizeof left, ", about %.0f s left", spent * (1 - f) / f);
  fprintf(stderr, "\r\033[K%s %s %3.0f %%, %.0f s%s", what, bar, 100 * f, spent, left);
  fflush(stderr);
}

void progress_clear(struct progress *p) {
  if (p->drawn) fputs("\r\033[K", stderr);
  p->drawn = false;
}

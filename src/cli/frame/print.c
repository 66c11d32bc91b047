/* print.c - bars, quantities, long lines and progress on a terminal. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/frame/cli.h"

bool cli_color(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && *no) && isatty(fileno(f)) && (!term || strcmp(term, "dumb"));
}

/* The innermost stream with line breaking. */
static struct lines *lines_open;

unsigned cli_columns(FILE *f) {
  enum { USUAL = 80, LEAST = 40 };
  struct winsize w = {0};
  const char *set = getenv("COLUMNS");
  for (const struct lines *l = lines_open; l; l = l->outer)
    if (l->in == f) f = l->to;
  if (!isatty(fileno(f))) return 0;
  unsigned long n = set ? strtoul(set, NULL, 10) : 0;
  if ((!n || n > UINT16_MAX) && !ioctl(fileno(f), TIOCGWINSZ, &w)) n = w.ws_col;
  return !n ? USUAL : n < LEAST ? LEAST : (unsigned)n;
}

unsigned cli_page(unsigned most) {
  unsigned columns = cli_columns(stdout);
  return columns && columns < most ? columns : most;
}

/* ---- lines that may be longer than the terminal is wide ---- */

unsigned cli_text_columns(const char *s, size_t bytes) {
  unsigned n = 0;
  for (size_t i = 0; i < bytes; i++) n += ((unsigned char)s[i] & 0xc0) != 0x80;
  return n;
}

size_t cli_text_break(const char *s, unsigned columns) {
  size_t at = 0, blank = 0, mark = 0;
  for (unsigned n = 0; s[at] && n < columns; n++) {
    if (at && s[at] == ' ') blank = at;
    if (at && strchr(",;:/_.(<-+=", s[at - 1])) mark = at;
    do at++;
    while (((unsigned char)s[at] & 0xc0) == 0x80);
  }
  if (!s[at] || s[at] == ' ') return at;
  return blank ? blank : mark > at / 2 ? mark : at;
}

/* Start of continuation lines: after the first two consecutive blanks, else under the line's start. */
static unsigned hang_of(const char *line, unsigned columns) {
  size_t start = strspn(line, " ");
  const char *two = strstr(line + start, "  ");
  size_t at = two ? (size_t)(two - line) + strspn(two, " ") : start;
  return !two || cli_text_columns(line, at) > columns / 2 ? (unsigned)start : cli_text_columns(line, at);
}

static void put_line(const char *line, unsigned columns, FILE *f) {
  unsigned hang = hang_of(line, columns), at = 0;
  size_t start = strspn(line, " ");
  for (const char *s = line + start; at == 0 || *s; at = hang) {
    unsigned indent = at ? hang : (unsigned)start;
    size_t n = cli_text_break(s, columns - indent);
    fprintf(f, "%*s%.*s\n", (int)indent, "", (int)n, s);
    s += n + strspn(s + n, " ");
    if (!*s) break;
  }
}

/* A broken line is joined with the next one if that continues its sentence. */
static void join_paragraphs(char *text, unsigned columns) {
  for (char *s = text, *end; *(end = s + strcspn(s, "\n")) && end[1];) {
    bool goes_on = (end[1] >= 'a' && end[1] <= 'z') || end[1] == '`';
    if (*s != ' ' && goes_on && cli_text_columns(s, (size_t)(end - s)) > columns) *end = ' ';
    else s = end + 1;
  }
}

FILE *lines_begin(struct lines *l, FILE *f) {
  *l = (struct lines){.to = f};
  if (!cli_columns(f) || !(l->in = open_memstream(&l->text, &l->size))) return f;
  l->outer = lines_open;
  lines_open = l;
  return l->in;
}

void lines_end(struct lines *l) {
  if (!l->in) return;
  fclose(l->in);
  lines_open = l->outer;
  unsigned columns = cli_columns(l->to);
  if (l->prose) join_paragraphs(l->text, columns);
  for (char *s = l->text, *end; *s; s = end + 1) {
    end = s + strcspn(s, "\n");
    bool last = !*end;
    *end = 0;
    put_line(s, columns, l->to);
    if (last) break;
  }
  free(l->text);
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

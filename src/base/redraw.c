/* redraw.c - see redraw.h. */
#include "base/redraw.h"

#include <string.h>
#include <sys/ioctl.h>

enum { ROWS = 24, COLUMNS = 80 }; /* of a terminal that does not say */

void redraw_erase(struct redraw *r) {
  for (; r->lines > 1; r->lines--) fputs("\r\033[K\033[A", r->f);
  if (r->lines) fputs("\r\033[K", r->f);
  r->lines = 0;
  fflush(r->f);
}

/* The bytes of a line that are at most `columns` characters. */
static size_t fitting(const char *line, size_t bytes, uint32_t columns) {
  size_t n = 0;
  for (uint32_t shown = 0; n < bytes; n++) {
    if (((unsigned char)line[n] & 0xC0) == 0x80) continue;
    if (shown++ == columns) break;
  }
  return n;
}

void redraw_show(struct redraw *r, const char *text) {
  struct winsize size = {0};
  if (ioctl(fileno(r->f), TIOCGWINSZ, &size)) size = (struct winsize){0};
  uint32_t columns = (size.ws_col > 1 ? size.ws_col : COLUMNS) - 1u, rows = (size.ws_row > 1 ? size.ws_row : ROWS) - 1u;
  redraw_erase(r);
  for (const char *line = text; *line && r->lines < rows;) {
    size_t n = strcspn(line, "\n");
    fprintf(r->f, "%s%.*s", r->lines++ ? "\n" : "", (int)fitting(line, n, columns), line);
    line += n + (line[n] == '\n');
  }
  fflush(r->f);
}

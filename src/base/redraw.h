/* redraw.h - lines on a terminal that are replaced in place, for views of what runs. */
#ifndef BASE_REDRAW_H
#define BASE_REDRAW_H

#include <stdint.h>
#include <stdio.h>

struct redraw {
  FILE *f;        /* the terminal */
  uint32_t lines; /* there now; the cursor is at the end of the last one */
};
/* Replace the lines there by those of `text`, without escapes: as many rows and columns as the terminal has, since
 * what has wrapped or scrolled away could not be erased. */
void redraw_show(struct redraw *r, const char *text);
/* The cursor is then where the first line began. */
void redraw_erase(struct redraw *r);

#endif

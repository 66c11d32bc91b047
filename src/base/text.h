/* text.h - tests text, and prints text from programs and files safely on a terminal.
 *
 * Names of kernels come from traces and records of any origin. Control characters and bytes that are not UTF-8 are
 * escaped as \x1b or \u202e; all other text is unchanged.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool text_ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

/* `s` needs no escapes. With `lines`, line ends and tabs are allowed. */
bool text_is_plain(const char *s, bool lines);
/* An escaped copy, freed by the caller. */
char *text_visible(const char *s, bool lines);
/* fprintf for lines that contain such text. */
void text_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

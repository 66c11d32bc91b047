/* text.c - see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { ESCAPED = 8 }; /* bytes of the longest escape, rounded up */

/* The character at `s`, of `*n` bytes; -1: not UTF-8, one byte. */
static int32_t character(const unsigned char *s, int *n) {
  static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  int length = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;
  int32_t c = length > 1 ? *s & (0x7f >> length) : *s;
  for (int i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) length = 0;
    else c = c << 6 | (s[i] & 0x3f);
  }
  *n = length ? length : 1;
  bool bad = !length || c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000);
  if (bad) *n = 1;
  return bad ? -1 : c;
}

/* Control characters (C0, DEL, C1), line and paragraph separators, and characters that change the direction of text. */
static bool escapes(int32_t c, bool lines) {
  if (lines && (c == '\n' || c == '\t')) return false;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool text_is_plain(const char *s, bool lines) {
  int n;
  for (; *s; s += n)
    if (escapes(character((const unsigned char *)s, &n), lines)) return false;
  return true;
}

char *text_visible(const char *s, bool lines) {
  char *out = mem_alloc(strlen(s) * ESCAPED + 1), *to = out;
  int n;
  for (; *s; s += n) {
    int32_t c = character((const unsigned char *)s, &n);
    if (!escapes(c, lines)) to = (char *)memcpy(to, s, (size_t)n) + n;
    else to += sprintf(to, c >= 0x80 ? "\\u%04x" : "\\x%02x", c < 0 ? *(const unsigned char *)s : (unsigned)c);
  }
  *to = 0;
  return out;
}

void text_say(FILE *f, const char *fmt, ...) {
  char *text = NULL;
  va_list ap;
  va_start(ap, fmt);
  CHECK(vasprintf(&text, fmt, ap) >= 0, "out of memory");
  va_end(ap);
  char *shown = text_visible(text, true);
  fputs(shown, f);
  free(shown);
  free(text);
}

/* text.h - text that programs and files bring with them, as it may be shown on a terminal.
 *
 * Names of kernels come out of traces and records that anybody can have written. Control characters among them are
 * shown as \x1b or \u202e, and so are bytes that are no UTF-8; what is text stays as it is.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Nothing in `s` has to be escaped. With `lines`, line ends and tabs are no control characters. */
bool text_is_plain(const char *s, bool lines);
/* A copy that can be shown, to be freed by the caller. */
char *text_visible(const char *s, bool lines);
/* fprintf for lines with such text in them. */
void text_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

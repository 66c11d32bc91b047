/* jsonfile.h - JSON documents as files that appear whole or not at all. */
#ifndef BASE_JSONFILE_H
#define BASE_JSONFILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Write `document` and a line break to `path`; "-" is standard output. `flags` are jansson's (JSON_INDENT ...); what
 * goes to a terminal has its control characters escaped. Takes the caller's reference. NULL, or text that is not
 * UTF-8, is ERR_INPUT; a failed write is "cannot write 'path': reason". False then; no file is left. */
bool jsonfile_write(json_t *document, const char *path, size_t flags, struct err *e);

/* The same for a document that is text already. Takes `text`, of malloc. */
bool jsonfile_write_text(char *text, const char *path, struct err *e);

/* True if `path` is standard output and that is a terminal. */
bool jsonfile_on_terminal(const char *path);

#endif

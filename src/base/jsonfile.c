/* jsonfile.c - JSON documents as files that appear whole or not at all. */
#include "base/jsonfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/paths.h"

bool jsonfile_on_terminal(const char *path) {
  return !strcmp(path, "-") && isatty(STDOUT_FILENO);
}

bool jsonfile_write_text(char *text, const char *path, struct err *e) {
  size_t n = strlen(text);
  text[n] = '\n'; /* the terminator is not written */
  bool ok = path_write_whole(path, text, n + 1);
  int why = errno;
  free(text);
  return ok || output_failed(path, why, e);
}

bool jsonfile_write(json_t *document, const char *path, size_t flags, struct err *e) {
  char *text = document ? json_dumps(document, flags | (jsonfile_on_terminal(path) ? JSON_ENSURE_ASCII : 0)) : NULL;
  json_decref(document);
  if (!text) return err_set(e, ERR_INPUT, "cannot write '%s': it would hold a name that is not valid UTF-8", path);
  return jsonfile_write_text(text, path, e);
}

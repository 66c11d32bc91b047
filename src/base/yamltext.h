/* yamltext.h - YAML input files: read whole, bounded in size and depth, loaded as a tree of nodes.
 *
 * libyaml's time grows with the square of the depth: 100,000 brackets take a minute.
 */
#ifndef BASE_YAMLTEXT_H
#define BASE_YAMLTEXT_H

#include <stdarg.h>
#include <yaml.h>

#include "base/err.h"

enum { YAML_DEPTH = 32 }; /* Sluice's own files nest at most 6 deep */

/* `doc` from the `bytes` of `text`, deleted by the caller; false with `e` (path:line:column). An empty document has no
 * root node. */
bool yaml_text_load(yaml_document_t *doc, const char *path, const char *text, size_t bytes, struct err *e);
/* The same for a file. */
bool yaml_file_load(yaml_document_t *doc, const char *path,
                    struct err *e); /* False with `e`: what is wrong at node `n` of `path`, as path:line:column. */
bool yaml_refuse(struct err *e, const char *path, const yaml_node_t *n, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool yaml_refuse_va(struct err *e, const char *path, const yaml_node_t *n, const char *fmt, va_list ap);

#endif

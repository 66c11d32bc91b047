/* yamltext.h - YAML files that people write: read whole, bounded in size and depth, and loaded as a tree of nodes.
 *
 * libyaml spends time that grows with the square of the depth: 100,000 brackets take it a minute.
 */
#ifndef BASE_YAMLTEXT_H
#define BASE_YAMLTEXT_H

#include <yaml.h>

#include "base/err.h"

enum { YAML_DEPTH = 32 }; /* no file of ours nests deeper than 6 */

/* `doc` of the `bytes` of `text`, to be deleted by the caller; false with `e` (path:line:column). An empty document has
 * no root node. */
bool yaml_text_load(yaml_document_t *doc, const char *path, const char *text, size_t bytes, struct err *e);
/* The same of a file. */
bool yaml_file_load(yaml_document_t *doc, const char *path, struct err *e);

#endif

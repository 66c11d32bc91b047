/* yamltext.h - YAML input files: read whole, bounded in size and depth, loaded as a tree of nodes.
 *
 * libyaml's time grows with the square of the depth: 100,000 brackets take a minute.
 */
#ifndef BASE_YAMLTEXT_H
#define BASE_YAMLTEXT_H

#include <yaml.h>

#include "base/err.h"

enum { YAML_DEPTH = 32 }; /* Sluice's own files nest at most 6 deep */

/* `doc` from the `bytes` of `text`, deleted by the caller; false with `e` (path:line:column). An empty document has no
 * root node. */
bool yaml_text_load(yaml_document_t *doc, const char *path, const char *text, size_t bytes, struct err *e);
/* The same for a file. */
bool yaml_file_load(yaml_document_t *doc, const char *path, struct err *e);

#endif

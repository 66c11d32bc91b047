/* figurefile.h - the declarative files of figures/, one figure or table of a paper each (docs/how-to/papers.md), and of
 * readings/. */
#ifndef CLI_FIGUREFILE_H
#define CLI_FIGUREFILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* The file as JSON: mappings, lists and texts as they are, numbers as numbers. NULL with `e`, which names
 * file:line:column, when it is not YAML, has a key that figures do not know, or lacks one that they need. */
json_t *figure_load(const char *path, struct err *e);

/* A file of any keys, in the same way. */
json_t *yaml_load(const char *path, struct err *e);

#endif

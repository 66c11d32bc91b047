/* figurefile.h - the declarative files of figures/, one figure or table of a paper each (docs/how-to/papers.md), and of
 * readings/. */
#ifndef CLI_CMD_FIGUREFILE_H
#define CLI_CMD_FIGUREFILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* The file as JSON: mappings, lists and texts unchanged, numbers as numbers. NULL with `e`, which names
 * file:line:column, for invalid YAML, an unknown key, or a missing required key. */
json_t *figure_load(const char *path, struct err *e);

/* A file with any keys, likewise. */
json_t *yaml_load(const char *path, struct err *e);

#endif

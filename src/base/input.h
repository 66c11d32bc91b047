/* input.h - input files: regular files of bounded size, so that no endless device and no pipe without a writer can
 * block a command.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Upper bounds of input files, in bytes. */
#define INPUT_YAML_MOST ((size_t)16 << 20)
#define INPUT_PTX_MOST ((size_t)1 << 30)
#define INPUT_JSON_MOST ((size_t)1 << 30)
#define INPUT_DATA_MOST ((size_t)64 << 30)

/* A descriptor of the regular file `path` and its size; -1 with `e` (ERR_INPUT) otherwise. */
int input_open(const char *path, uint64_t *bytes, struct err *e);
/* The whole file, NUL-terminated, freed by the caller; NULL with `e` on failure or if it has more than `most` bytes.
 * `bytes` may be NULL. */
char *input_read(const char *path, size_t most, size_t *bytes, struct err *e);

#endif

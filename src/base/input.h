/* input.h - files that people hand in: regular files of bounded size, so that neither an endless device nor a pipe
 * without a writer is waited for.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Sizes, in bytes, beyond which a file is not what its name says. */
#define INPUT_YAML_MOST ((size_t)16 << 20)
#define INPUT_PTX_MOST ((size_t)1 << 30)
#define INPUT_JSON_MOST ((size_t)1 << 30)
#define INPUT_DATA_MOST ((size_t)64 << 30)

/* A descriptor of the regular file `path`, and its size; -1 with `e` (ERR_INPUT) if there is no such file. */
int input_open(const char *path, uint64_t *bytes, struct err *e);
/* The whole of it, NUL-terminated, to be freed by the caller; NULL with `e` where it has more than `most` bytes, too.
 * `bytes` may be NULL. */
char *input_read(const char *path, size_t most, size_t *bytes, struct err *e);

#endif

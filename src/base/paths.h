/* paths.h - locations of Sluice's files: the data directory beside the library, in the build tree or installed. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Directory of configs/, the CUDA header, the report page and workloads: $SLUICE_DATA if set, else ../share/sluice
 * relative to the directory of the library that holds this code. */
void path_data(char *out, size_t size);
/* Directory of the library that holds this code, and of the CUDA runtime libraries. */
void path_lib(char *out, size_t size);
/* `name` inside the data directory exists: true, with the full path in `out`. */
bool path_find(char *out, size_t size, const char *name);
/* Write `bytes` of `data` to `path`, whole or not at all (base/output.h). False with errno on failure. */
bool path_write_whole(const char *path, const void *data, size_t bytes);
/* The whole file, NUL-terminated, to be freed by the caller; NULL with errno on failure. `bytes` may be NULL. */
char *path_read_whole(const char *path, size_t *bytes);

#endif

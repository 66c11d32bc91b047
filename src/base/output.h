/* output.h - output files that appear whole or not at all.
 *
 * Data goes to an unnamed file in the folder of the target, which gets its name at the end, so an interrupted process
 * leaves nothing behind. On file systems without unnamed files it has an unguessable temporary name. Symbolic links
 * are followed and kept. A device, pipe or socket is written directly; "-", /dev/stdout, /dev/stderr and /dev/fd/N
 * write to that descriptor.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct output;
/* NULL with errno. */
struct output *output_open(const char *path);
/* Overwrite an existing file in place, from its beginning; another owner names it. NULL with errno. */
struct output *output_open_in_place(const char *path);
/* A path through which child processes can open the file of `o` while this process holds it. */
void output_reach(const struct output *o, char *path, size_t size);
/* The stream to write to. A file-size limit or a closed reader is a write error, never a signal. */
FILE *output_file(struct output *o);
/* Discard everything written from byte `bytes` on and continue there. False with errno. */
bool output_cut(struct output *o, uint64_t bytes);
/* errno of the first failed write, 0 if none failed. */
int output_error(const struct output *o);
/* Complete the file and give it its name. False with errno of the first failure; then no file exists. Frees `o`. */
bool output_commit(struct output *o);
/* Discard the file. Frees `o`, which may be NULL. */
void output_abandon(struct output *o);

/* Before a long run that will write `path`: remove the file of an earlier run, and report a target that cannot be
 * written now rather than at the end. `path` may be NULL. */
bool output_prepare(const char *path, struct err *e);
/* Fill `e` with "cannot write 'path': reason" and return false. */
bool output_failed(const char *path, int why, struct err *e);
/* Remove the temporary files of a killed process, as listed in the private folder `dir` (SLUICE_DIR). */
void output_clear_unfinished(const char *dir);

#endif

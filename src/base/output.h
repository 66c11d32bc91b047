/* output.h - files that somebody asked for: each appears whole or not at all.
 *
 * What is written goes into a file without a name in the folder of the wanted one, which is named at the end: whatever
 * ends the process before that leaves nothing. Where a file system has no such files it has a name that nobody can
 * guess until then. Symbolic links are followed and stay. A device, a pipe or a socket is written as it is; "-",
 * /dev/stdout, /dev/stderr and /dev/fd/N write to that descriptor.
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
/* The file that is there, written as it is from its beginning; its name is somebody else's business. NULL with errno.
 */
struct output *output_open_in_place(const char *path);
/* A path by which other processes of ours can open what `o` writes, as long as this process has it. */
void output_reach(const struct output *o, char *path, size_t size);
/* Where to write. A limit on the size of files or a reader that has gone is an error of the file, never a signal. */
FILE *output_file(struct output *o);
/* Forget what was written from `bytes` on and go on there. False with errno. */
bool output_cut(struct output *o, uint64_t bytes);
/* The errno of the first write that failed, 0 as long as none did. */
int output_error(const struct output *o);
/* The file is complete: it gets its name. False with the errno of the first thing that failed; then nothing is there.
 * Frees `o`. */
bool output_commit(struct output *o);
/* Nothing appears. Frees `o`, which may be NULL. */
void output_abandon(struct output *o);

/* Before a run that will write `path`: what an earlier one left there goes, so that nobody takes it for the new one;
 * and a place that cannot be written is said before hours of work. `path` may be NULL. */
bool output_prepare(const char *path, struct err *e);
/* Fill `e` with "cannot write 'path': reason" and return false. */
bool output_failed(const char *path, int why, struct err *e);
/* Remove what a process that was killed had under such names, as listed in the private folder `dir` (SLUICE_DIR). */
void output_clear_unfinished(const char *dir);

#endif

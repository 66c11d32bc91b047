/* originals.h - the mapping file of a paper (share/sluice/originals/NAME.yaml): the original programs behind the names
 * in the paper, where a folder has them, and their command lines by size. docs/how-to/papers.md has the keys.
 *
 * In the order of use: originals_load; originals_in, which looks what a folder has; originals_run for each run.
 */
#ifndef CLI_CMD_ORIGINALS_H
#define CLI_CMD_ORIGINALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum { ORIGINALS_MAX = 64, INPUT_SIZES = 4 };
extern const char *const input_sizes[INPUT_SIZES]; /* small, medium, large, paper */

struct original_file { /* what a program reads by a fixed name: made in its working folder */
  const char *name, *input;
};

struct original {
  const char *name, *like;     /* in the paper; the bundled workload that stands for it */
  const char *suite, *version; /* "Rodinia 3.1", "yuhc/gpu-rodinia 9c10d3e" */
  const char *make, *rule;     /* how inputs of the same size are made; what chose them */
  double insts;                /* thread instructions in the paper; 0: it gives none */
  struct {
    const char *program, *arguments; /* program: under the folder; arguments NULL: no input of this size */
    double max_insts;                /* thread instructions that are simulated; 0: all */
    const char *launches;            /* those that are timed, as --timing-kernels has them; NULL: all */
    bool missing;                    /* from the folder */
  } input[INPUT_SIZES];
  struct original_file file[8];
  size_t files, line; /* line: of the mapping file */
};

struct originals {
  const char *path;   /* of the mapping file */
  const char *folder; /* absolute; NULL: none, nothing can run */
  const char *figures[32];
  size_t figure_count, count;
  struct original at[ORIGINALS_MAX];
};

/* Texts live in `a`. NULL with `e` (path:line:column): no such file, an unknown or missing key. */
struct originals *originals_load(struct arena *a, const char *paper, struct err *e);
/* The mapping in `path` instead. */
struct originals *originals_load_file(struct arena *a, const char *path, const char *paper, struct err *e);
/* Look into `folder` for the programs and inputs of `size`; what is not there is marked, and said on stdout with where
 * it comes from. False with `e`: there is no such folder, or it has none of them. */
bool originals_in(struct arena *a, struct originals *o, const char *folder, const char *size, struct err *e);
/* By its name in the paper; NULL: the mapping has none. */
const struct original *originals_find(const struct originals *o, const char *name);
/* Index of a size in input_sizes; -1: no such size. */
int originals_size(const char *size);
/* What `sluice run` needs for it, a new reference: {from: suite and version, command, program, arguments: [...], files:
 * {name: path}, max_insts, bytes: of inputs, launches: unless all}. NULL: it has no input of that size, or the folder
 * lacks it. */
json_t *originals_run(struct arena *a, const struct originals *o, const struct original *p, const char *size);

#endif

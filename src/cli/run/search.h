/* search.h - schemes that stand for a search ("swl-best", "profiled=local"): one simulation per value, in parallel;
 * the fastest is kept.
 *
 * The result of every simulation is cached under $XDG_CACHE_HOME/sluice/search (~/.cache without it), by a hash of its
 * inputs: the contents of the program and of every argument that names a file, the arguments, the configuration, the
 * list of schemes and the simulator. Other inputs of a program (files named inside files, the environment) are not
 * part of it: --fresh searches again.
 */
#ifndef CLI_RUN_SEARCH_H
#define CLI_RUN_SEARCH_H

#include <jansson.h>

#include "base/arena.h"
#include "proc/child.h"

struct search {
  /* set by the caller */
  char **program;   /* and its arguments, NULL-terminated */
  const char *list; /* as typed; names a search */
  bool again;       /* the chosen list will be simulated once more: its inputs must exist */
  /* set by search_all */
  const char *chosen;   /* the list with the best value spelt out; NULL if a simulation failed */
  const char *values;   /* "warps=8" */
  uint32_t tried, best; /* number of simulations; index of the best, the first of equals */
  uint32_t cached;      /* number of cached ones */
  const double *ipc;    /* of each */
  json_t *totals;       /* counters of the best: new reference */
  const char *profile;  /* the profile read by the runs (profile.file); NULL: none */
  int exit_code;        /* of a simulation that failed */
};

bool search_named(const char *list); /* true if the list names a search */
/* Run all searches with `jobs` simulations at a time. EXIT_OK if all runnable ones have run (a failed program is in
 * its exit_code, its log printed), 130 on Ctrl-C, else the code of `e`. */
int search_all(struct search *s, size_t n, const struct sim_options *o, unsigned jobs, const struct tempdir *dir,
               struct arena *a, struct err *e);
/* `o` with the options of this search beyond its list. */
struct sim_options search_options(const struct search *s, const struct sim_options *o, struct arena *a);
/* "swl-best: warps=8, the best of 13" */
void search_say(const struct search *s, FILE *f);
/* For records: requested, chosen and tried lists. New reference. */
json_t *search_json(const struct search *s);
void search_free(struct search *s); /* frees what the arena does not own */

#endif

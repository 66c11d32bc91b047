/* search.h - schemes that stand for a search ("swl-best", "profiled=local"): one simulation per value, side by side,
 * the fastest kept.
 *
 * The outcome of every simulation is kept on disk under $XDG_CACHE_HOME/sluice/search (~/.cache without it), by a hash
 * of what decides it: the contents of the program and of every argument that names a file, the arguments, the
 * configuration, the list of schemes and the simulator itself. What a program reads besides (files named inside files,
 * the environment) is not seen: --fresh searches anew.
 */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include <jansson.h>

#include "base/arena.h"
#include "proc/child.h"

struct search {
  /* set by the caller */
  char **program;   /* and its arguments, NULL-terminated */
  const char *list; /* as typed; names a search */
  bool again;       /* the chosen list is going to be simulated once more: what that needs must be there */
  /* set by search_all */
  const char *chosen;   /* the list with the best value spelt out; NULL if a simulation failed */
  const char *values;   /* "warps=8" */
  uint32_t tried, best; /* simulations; the best of them, the first of equals */
  uint32_t cached;      /* of those, known from before */
  const double *ipc;    /* of each */
  json_t *totals;       /* counters of the best: new reference */
  const char *profile;  /* the file that the runs read (profile.file); NULL: none */
  int exit_code;        /* of a simulation that failed */
};

bool search_named(const char *list); /* does the list name a search? */
/* Run all searches with `jobs` simulations at a time. EXIT_OK if all that could run has run (a failed program is in its
 * exit_code, its log printed), 130 on Ctrl-C, else the code of `e`. */
int search_all(struct search *s, size_t n, const struct sim_options *o, unsigned jobs, const struct tempdir *dir,
               struct arena *a, struct err *e);
/* `o` with what a simulation of this search needs besides its list. */
struct sim_options search_options(const struct search *s, const struct sim_options *o, struct arena *a);
/* "swl-best: warps=8, the best of 13" */
void search_say(const struct search *s, FILE *f);
/* For records: what was asked, chosen and tried. New reference. */
json_t *search_json(const struct search *s);
void search_free(struct search *s); /* what the arena does not own */

#endif

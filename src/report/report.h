/* report.h - one self-contained HTML file from several result records: charts, table, configuration, how to reproduce.
 *
 * The page is built from web/ into the data directory; this folder inserts the records.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct report_input {
  const char *title;    /* heading */
  const char *command;  /* how to reproduce it */
  void *const *records; /* json_t documents as in results/record.h, not owned */
  size_t count;
  void *figures;      /* json_t list of {id, where, title, note, svg}, or NULL: placed first */
  void *league;       /* json_t list of ranked schemes (sluice league), or NULL */
  void *claims;       /* json_t list of published numbers with the simulated ones, or NULL: placed before everything */
  const char *order;  /* lines about the order of schemes, below the claims; may be NULL */
  const char *origin; /* where its results come from, in a sentence; may be NULL */
};

bool report_write(const char *path, const struct report_input *in, struct err *e);

#endif

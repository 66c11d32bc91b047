/* finding.h - errors found in the simulated program: stored once per place (or pair of places), then counted, and
 * reported as they occur.
 */
#ifndef SIMT_CORE_FINDING_H
#define SIMT_CORE_FINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "simt/simt.h"

enum { FINDINGS_KEPT = 1024, FINDINGS_TOLD = 32 };

struct finding {
  const void *at, *other; /* the instruction, and the one it conflicts with; of a copy: NULL and its allocation */
  unsigned kind;          /* defined by the checker */
  struct simt_finding f;
  char text[1024];
};

struct findings {
  struct finding *list; /* NULL: none */
  uint16_t *table;      /* by hash: index + 1 */
  uint32_t count;
  FILE *report; /* NULL: no output */
};

/* The finding for this place, counted; a new one has an empty text. NULL when the table is full. */
struct finding *finding_note(struct findings *s, const void *at, const void *other, unsigned kind, const char *check);
/* Prints "sluice: PREFIX: text" for the first FINDINGS_TOLD findings. `out`: the program's output, flushed first. */
void finding_report(const struct findings *s, const struct finding *f, const char *prefix, FILE *out);
uint32_t findings_of(const struct findings *s, unsigned kind); /* places */
void findings_free(struct findings *s);

#endif

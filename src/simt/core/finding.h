/* finding.h - what was found wrong in the simulated program: kept once per place (or pair of places), counted after
 * that, and told as it occurs.
 */
#ifndef SIMT_FINDING_H
#define SIMT_FINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "simt/simt.h"

enum { FINDINGS_KEPT = 1024, FINDINGS_TOLD = 32 };

struct finding {
  const void *at, *other; /* the instruction, and the one it conflicts with; a copy: NULL, and its allocation */
  unsigned kind;          /* in the terms of whoever looks */
  struct simt_finding f;
  char text[1024];
};

struct findings {
  struct finding *list; /* NULL: none yet */
  uint16_t *table;      /* by hash: index + 1 */
  uint32_t count;
  FILE *report; /* NULL: kept only */
};

/* The finding for this place, counted; its text is empty while it is new. NULL when there is no room for another. */
struct finding *finding_note(struct findings *s, const void *at, const void *other, unsigned kind, const char *check);
/* "sluice: PREFIX: text", the first FINDINGS_TOLD of them. `out`: what the program prints, flushed before. */
void finding_report(const struct findings *s, const struct finding *f, const char *prefix, FILE *out);
uint32_t findings_of(const struct findings *s, unsigned kind); /* places */
void findings_free(struct findings *s);

#endif

/* check_impl.h - the inside of the opt-in checks, shared by check.c and race.c. */
#ifndef SIMT_CHECK_IMPL_H
#define SIMT_CHECK_IMPL_H

#include "simt/check.h"
#include "simt/machine.h"

enum check_kind { CHECK_INIT, CHECK_RACE, CHECK_BARRIER, CHECK_KINDS };

struct check_finding {
  const void *at, *other; /* the instruction, and the one it conflicts with; a copy: NULL, and its allocation */
  enum check_kind kind;
  struct simt_finding f;
  char text[1024];
};

struct check { /* of one device */
  unsigned on; /* enum simt_checks */
  FILE *report;
  uint8_t *global; /* shadow of the mapping of device memory */
  struct check_finding *findings;
  uint32_t nfindings;
  uint64_t count[CHECK_KINDS];
};

struct race; /* see race.c */
struct check_run {
  unsigned on;
  uint8_t *shared, *local; /* shadows of all CTA slots' memories */
  size_t shared_bytes, local_bytes;
  struct race *race;
};

void check_report(struct exec *x, const struct xop *o, const struct xop *other, int lane, enum check_kind kind,
                  const char *what);

void race_new(struct check_run *k, struct simt_run *r);
void race_free(struct check_run *k);
void race_cta_start(struct simt_run *r, const struct cta *c);
void race_touch(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, enum check_access kind,
                bool changed);

#endif

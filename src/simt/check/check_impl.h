/* check_impl.h - the inside of the opt-in checks, shared by check.c and race.c. */
#ifndef SIMT_CHECK_CHECK_IMPL_H
#define SIMT_CHECK_CHECK_IMPL_H

#include "simt/core/check.h"
#include "simt/core/finding.h"
#include "simt/core/machine.h"

enum check_kind {
  CHECK_INIT,
  CHECK_RACE,
  CHECK_BARRIER,
  CHECK_KINDS_ASKED,
  CHECK_SAME = CHECK_KINDS_ASKED,
  CHECK_KINDS
};

struct check {     /* of one device */
  unsigned on;     /* enum simt_checks */
  uint8_t *global; /* shadow of the mapping of device memory */
  struct race_shadow *shadow;
  bool fast;             /* race_handlers are in place */
  xop_fn plain[X_COUNT]; /* what they stand for */
  struct findings found;
  uint64_t count[CHECK_KINDS];
};

struct race;        /* see race.c */
struct race_shadow; /* of device memory, see race_global.c */
struct race_grid;   /* of a launch */
struct check_run {
  unsigned on;
  uint8_t *shared, *local; /* shadows of all CTA slots' memories */
  size_t shared_bytes, local_bytes;
  struct race *race;
  struct race_grid *grid;
};

/* Count a finding; NULL unless it is new and must be reported. */
struct finding *check_note(struct exec *x, const struct xop *o, const struct xop *other, enum check_kind kind);
void check_describe(struct exec *x, const struct xop *o, int lane, struct finding *f, const char *what);
/* Both, where the text is at hand. */
void check_report(struct exec *x, const struct xop *o, const struct xop *other, int lane, enum check_kind kind,
                  const char *what);

void race_new(struct check_run *k, struct simt_run *r);
void race_free(struct check_run *k, struct simt *s);
void race_cta_start(struct simt_run *r, const struct cta *c);
/* Clock of a warp of the CTA on x; whether an access of `warp` at `clock` precedes barriers that it has passed. */
uint32_t race_clock_of(const struct exec *x);
bool race_passed(const struct exec *x, uint32_t warp, uint32_t clock);

/* Races on global memory. */
bool race_shadow_new(struct simt *s);
void race_shadow_free(struct simt *s);
void race_grid_new(struct check_run *k, struct simt_run *r);
void race_grid_free(struct check_run *k, struct simt *s);
void race_grid_start(struct simt_run *r, const struct cta *c);
void race_grid_barrier(struct exec *x); /* complete, for the whole CTA */
/* An access of a lane; `changed`: a write that changes memory. */
struct checked {
  int lane;
  uint8_t space;
  uint64_t addr;
  uint32_t bytes;
  enum check_access kind;
  bool changed;
};
void race_access(struct exec *x, const struct xop *o, const struct checked *a);
/* Loads and stores whose lanes all lie where the fast path of exec_mem.inc reaches, when races are all that is looked
 * for; the table then has these in the place of its own, which they call. */
void race_handlers(struct simt *s);
#endif

/* signature.h - what a launch does, without time: the counts by which launches are compared (docs/how-to/estimate.md).
 *
 * A signer taps feeds that are driven functionally. Its counts depend on the executed instructions only, so equal
 * launches have equal signatures.
 */
#ifndef SAMPLE_SIGNATURE_H
#define SAMPLE_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/feed.h"
#include "sample/touches.h"

struct signature {
  uint64_t warp_insts, thread_insts; /* their ratio is the divergence */
  uint64_t loads, stores, atomics;   /* warp instructions on global memory */
  uint64_t shared, other;            /* the same on shared memory; on local, constant and texture memory */
  uint64_t lines;                    /* 128 B lines that the global ones touch, each instruction by itself */
  uint64_t footprint;                /* different lines of them in the launch, an estimate above 10^5 */
  uint64_t longest;                  /* warp instructions of the longest CTA */
  uint32_t shape;                    /* equal for launches of a kernel with nearly equal shares of each
                                                * instruction in the executed ones: the first such launch */
};

/* Fields of a signature by name, for files and for comparing. */
struct signature_row {
  const char *key;
  uint32_t offset;
};
enum { SIGNATURE_ROWS = 10 };
extern const struct signature_row signature_rows[SIGNATURE_ROWS];

/* The L2 that a launch touches; `sink` NULL: none. */
struct signer_l2 {
  touches_sink *sink;
  void *ctx;
  uint32_t side; /* CTAs that the GPU runs side by side */
  uint32_t sms;  /* which get them in turn */
};

struct signer;
struct signer *signer_new(void);
void signer_free(struct signer *s);
/* The feed to drive instead of `inner`, until signer_end. `slots`: CTA slots of the driver. The L2 sees the accesses in
 * the order in which the driver runs the CTAs. */
struct feed *signer_begin(struct signer *s, struct feed *inner, uint32_t slots, const struct signer_l2 *l2);
/* ---- CTAs of the launch on several host threads; between signer_begin and signer_end, instead of its feed ---- */
/* The feed of worker `i`, over `inner`, which has `slots` slots and runs a CTA at a time. What touches the L2 is kept
 * until signer_commit, and reaches it as if CTAs ran side by side (sample/touches.h). */
struct feed *signer_share(struct signer *s, uint32_t i, struct feed *inner, uint32_t slots);
struct signed_cta; /* what a CTA did there */
/* Of the worker's CTA since the last time; it continues with `unused`, which has been committed, or NULL. By the
 * worker's thread. Without an L2 nothing is kept and there is nothing to take: see signer_keeps. */
struct signed_cta *signer_take(struct signer *s, uint32_t i, struct signed_cta *unused);
bool signer_keeps(const struct signer *s);
/* The worker should take what it has before its CTA ends. */
bool signer_full(const struct signer *s, uint32_t i);
/* In the order of CTAs, by one thread at a time. `part`: the CTA has not ended. `c` stays the caller's: to use again,
 * or for signer_free_log. */
void signer_commit(struct signer *s, struct signed_cta *c, bool part);
/* What was committed has reached the L2. */
void signer_flush(struct signer *s);
void signer_free_log(struct signed_cta *c);
/* Before signer_end: the place of the last execution of each instruction among all, from 1, 0 for none; and the lines
 * of 32 B of constants and parameters that were read. */
const uint64_t *signer_last(const struct signer *s);
/* And with an L2, for the first of `sms` SMs that got a CTA, the second, and so on, the set of instructions that were
 * executed there: `words` each. */
const uint64_t *signer_ran(const struct signer *s, uint32_t *words);
const uint64_t *signer_constants(const struct signer *s, uint32_t *n);
/* And the set of words of local memory that some thread accessed, of the first SIGNED_LOCAL. */
enum { SIGNED_LOCAL = 4096 };
const uint64_t *signer_local(const struct signer *s);
/* The launch is the number `launch` of the run. */
void signer_end(struct signer *s, uint32_t launch, struct signature *out);

#endif

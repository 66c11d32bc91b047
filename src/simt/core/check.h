/* check.h - opt-in checks of the simulated program: uninitialised reads, races, barriers that only part of a CTA
 * reaches. Bounds, alignment and lifetime are always checked (access.c).
 *
 * With any check on, no access takes the fast path of exec_mem.inc: every lane of every access takes access.c, which
 * calls check_touch. With none on, `simt_run.check` is NULL and nothing here is called.
 */
#ifndef SIMT_CORE_CHECK_H
#define SIMT_CORE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct check_run; /* of one launch */
struct cta;
struct exec;
struct simt;
struct simt_run;
struct warp;
struct xop;

enum check_access { CHECK_READ, CHECK_WRITE, CHECK_ATOMIC };

/* NULL when no check is on. */
struct check_run *check_run_new(struct simt_run *r);
void check_run_free(struct check_run *k, struct simt *s);

bool check_is_fast(const struct simt *s); /* the fast path of exec_mem.inc is allowed: see race_handlers */
void check_cta_start(struct simt_run *r, const struct cta *c);
/* One lane's access, in a resolved space, before it is performed. */
void check_touch(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr, uint32_t bytes,
                 enum check_access kind);
/* After a store of ld and st: a store that leaves memory unchanged does not race with another write. */
void check_store(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr, uint32_t bytes,
                 bool changed);
/* A fence; all CTAs of a cluster at its barrier. */
void check_fence(struct exec *x);
struct cluster;
void check_cluster_met(struct exec *x, const struct cluster *k);
/* Atomics of the CTA, of which check_touch was called at issue, read and write memory now. */
void check_atomic_performed(struct exec *x, const struct cta *c);
/* A call: the callee's frame, `bytes` at `at` of each lane's local memory, is uninitialised. */
void check_frame(struct exec *x, uint32_t mask, uint32_t at, uint32_t bytes);
/* The machine wrote there: an argument or a result. */
void check_local_written(struct exec *x, int lane, uint32_t at, uint32_t bytes);

/* A warp arrives at barrier `b`, leaves it, or has ended; the barrier completes. `all`: without a count, for the whole
 * CTA. */
void check_barrier_arrive(struct exec *x, const struct xop *o, uint32_t mask, uint32_t b, bool all);
void check_barrier_pass(struct exec *x, const struct warp *w, uint32_t b, bool all);
void check_barrier_done(struct exec *x, uint32_t b);
void check_warp_done(struct exec *x, const struct warp *w);

/* An mbarrier: the warp arrives (or completes bytes), or finds a phase complete. */
void check_signal(struct exec *x, bool arrives);

/* ---- memory.c tells of allocations ---- */
void check_allocated(struct simt *s, uint64_t base, uint64_t bytes, bool initialised);
void check_free(struct simt *s);

#endif

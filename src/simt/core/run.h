/* run.h - services of a running launch for handlers: faults, the divergence stack, barriers, clusters, built-in
 * functions. */
#ifndef SIMT_CORE_RUN_H
#define SIMT_CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct cta;
struct exec;
struct simt_run;
struct warp;
struct xop;

/* fault.c: the place of an instruction in the source, as text; a fault of the program at an address, or of another
 * kind, which ends the launch. `code`: cudaError_t. */
int fault_place(struct exec *x, const struct xop *o, int lane, char *out, size_t size);
void fault_address(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, const char *what,
                   int code);
void fault_text(struct exec *x, const struct xop *o, int lane, int code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* warp.c: the divergence stack. A branch, call, return or exit; pop the entries that have reconverged; the warp at the
 * kernel's entry. */
void warp_control(struct exec *x, const struct xop *o, uint32_t mask);
void warp_settle(struct exec *x, struct warp *w);
void warp_start(struct simt_run *r, struct cta *c, uint32_t index);
/* barrier.c: a warp arrives at a barrier; it has ended, so that barriers of all warps no longer wait for it */
void barrier_arrive(struct exec *x, const struct xop *o, uint32_t mask);
void barrier_warp_done(struct exec *x);
/* cluster.c */
void cluster_start_cta(struct simt_run *r, struct cta *c);
void cluster_end_cta(struct simt_run *r, struct cta *c);
/* Shared memory of the CTA that *addr names; *addr becomes an offset in it. NULL with *why. */
char *cluster_shared(struct exec *x, const struct xop *o, int lane, uint64_t *addr, const char **why);
uint32_t cluster_register(const struct exec *x, enum ptx_sreg s);
void cluster_barrier(struct exec *x, const struct xop *o, uint32_t mask);
void cluster_warp_done(struct exec *x);
/* builtin.c: functions that the machine provides (printf, malloc, ...): calls, and their arguments and results */
bool builtin_known(const char *name);
bool builtin_call(struct exec *x, const struct xop *o, uint32_t mask, const char *name);
uint64_t builtin_argument(struct exec *x, const struct xop *o, uint32_t k, uint32_t lane);
void builtin_bytes(struct exec *x, const struct xop *o, uint32_t k, uint32_t lane, void *out, uint32_t bytes);
void builtin_result(struct exec *x, const struct xop *o, uint32_t lane, uint64_t v);
/* children.c: true if the call changed allocations */
bool children_known(const char *name);
bool children_call(struct exec *x, const struct xop *o, uint32_t lane, const char *name);
void children_free(struct simt_run *r);

#endif

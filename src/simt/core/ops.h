/* ops.h - handlers of instructions, and the slow paths of memory accesses. */
#ifndef SIMT_CORE_OPS_H
#define SIMT_CORE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "simt/core/xop.h"

/* handlers by instruction set: identical results, different speed */
extern const xop_fn simt_handlers_v2[X_COUNT], simt_handlers_v3[X_COUNT], simt_handlers_v4[X_COUNT];
/* access.c: slow paths of memory, called from the handlers */
bool mem_global_slow(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write);
/* The same, with addresses in registers. */
void mem_check_slow(struct exec *x, const struct xop *o, uint32_t mask, bool write);
/* Load, given the host addresses of the lanes. */
void mem_load_lanes(struct exec *x, const struct xop *o, uint32_t mask, const uint64_t *host);
/* Host address; counts as a read, write or (instruction atom) atomic for the checks. */
char *mem_host(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
               uint8_t *space);
uint8_t mem_one_space(uint32_t mask, const uint8_t *spaces, uint64_t *addr);
/* generic.c: put the handlers common to all instruction sets into `table`, its own and those of the other files */
void simt_generic_handlers(xop_fn *table);
void simt_atom_handlers(xop_fn *table), simt_wide_handlers(xop_fn *table), simt_tex_handlers(xop_fn *table),
    simt_matrix_handlers(xop_fn *table), simt_sm90_handlers(xop_fn *table), simt_cluster_handlers(xop_fn *table),
    simt_video_handlers(xop_fn *table);
/* generic.c: the comparison eq, ne, lt, le, gt, ge (0 to 5) of two numbers */
bool generic_compare(uint32_t cmp, double a, double b);
/* tex.c */
void tex_collect(struct simt_module *m);
void tex_free(struct simt *s);
/* atom.c: the new memory content after an atomic o->sub on o->type */
uint64_t atom_combine(const struct xop *o, uint64_t old, uint64_t b, uint64_t c);

#endif

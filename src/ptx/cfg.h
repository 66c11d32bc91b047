/* cfg.h - the control flow of a function while it is analysed; shared by cfg.c and reconverge.c. */
#ifndef PTX_CFG_H
#define PTX_CFG_H

#include "base/graph.h"
#include "ptx/ptx.h"

struct block {
  uint32_t first, end;
  uint32_t succ[2], nsucc; /* fixed successors; brx.idx adds its targets */
  const struct ptx_opnd *targets;
  uint32_t ntargets;
};

struct cfg {
  const struct ptx_func *f;
  struct block *b;
  uint32_t n; /* blocks; index n is the virtual exit */
  uint32_t *block_of;
  struct graph ahead, back; /* of blocks and the exit */
  struct arena *scratch;
};

/* Does the instruction end its lanes' run of the function? */
static inline bool cfg_leaves(const struct ptx_inst *i) {
  return i->op == OP_RET || i->op == OP_EXIT || i->op == OP_TRAP;
}

static inline uint32_t cfg_degree(const struct block *b) {
  return b->nsucc + b->ntargets;
}

static inline uint32_t cfg_successor(const struct cfg *c, const struct block *b, uint32_t k) {
  return k < b->nsucc ? b->succ[k] : c->block_of[b->targets[k - b->nsucc].imm];
}

/* reconverge.c: of machine code. Sets `reconv` of branches and the regions of
 * the function. */
void cfg_reconverge(struct ptx_module *m, struct ptx_func *f, const struct cfg *c);

#endif

/* front.h - the front end of a sub-core since Volta: stall counts, an instruction buffer filled one instruction at a
 * time, constant operands looked up at issue. Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU
 * Cores", MICRO 2025, sections 4, 5.1 and 5.2. Its code: gpu/sm/front.inc.
 */
#ifndef GPU_STATE_FRONT_H
#define GPU_STATE_FRONT_H

#include <stdbool.h>
#include <stdint.h>

enum { FRONT_STALLS = 128, FRONT_CORES = 4 }; /* more than any stall */

struct front_core {
  uint32_t pc;      /* with a warp in `decode`: the instruction that was fetched */
  int8_t decode;    /* the warp fetched for in the last cycle; -1: none */
  uint64_t blocked; /* until this cycle it issues nothing: a constant operand has missed */
};

/* Warps are bits. */
struct front {
  bool lookups;                /* of constant operands, at issue */
  uint64_t room;               /* with a free entry in their buffers and code that is left to fetch */
  uint64_t stalled;            /* their stall count is not zero */
  uint64_t ends[FRONT_STALLS]; /* by cycle modulo FRONT_STALLS: those whose count becomes zero then */
  uint64_t constant;           /* the next instruction has a constant operand */
  uint64_t waits;              /* that operand is under way */
  struct front_core core[FRONT_CORES];
};

/* A new warp. */
static inline void front_start(struct front *f, uint32_t w) {
  uint64_t bit = 1ull << w;
  f->room |= bit;
  f->stalled &= ~bit, f->waits &= ~bit, f->constant &= ~bit;
}

/* A new instruction at the head of a warp's buffer. */
static inline void front_head(struct front *f, uint32_t w, bool constant) {
  f->constant = (f->constant & ~(1ull << w)) | (uint64_t)constant << w;
}

/* The constant operand of a warp's next instruction has arrived. */
static inline void front_operand(struct front *f, uint32_t w, uint32_t core) {
  f->waits &= ~(1ull << w);
  f->core[core].blocked = 0;
}

/* Warps that cannot issue whatever their registers are. */
static inline uint64_t front_held(const struct front *f) {
  return f->stalled | f->waits;
}

#endif

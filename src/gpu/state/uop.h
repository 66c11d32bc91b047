/* uop.h - a predecoded instruction for an SM's pipeline: one cache line of the host.
 *
 * struct inst is complete and takes two lines. The fields for fetch, scoreboard, schedulers and operand collectors are
 * computed here once, when a warp first reaches the instruction. A launch has one uop per instruction of its kernel's
 * code (gpu_work.uop), initially all zero.
 */
#ifndef GPU_STATE_UOP_H
#define GPU_STATE_UOP_H

#include <stdint.h>

#include "gpu/common/config.h"
#include "ptx/inst.h"

enum uop_flags {
  UOP_SFU = 1 << 0,    /* goes to the SFU pipe */
  UOP_MEMORY = 1 << 1, /* goes to the memory pipe; neither: an SP pipe */
  UOP_LOADS = 1 << 2,  /* a load of global or local memory */
  UOP_WIDE = 1 << 3,   /* has registers beyond the first UOP_REGS: `waits` and `writes` are incomplete */
  UOP_EXIT = 1 << 4,
  UOP_FENCE = 1 << 5, /* the warp may have to wait for its memory accesses; a commit of a group of copies, too */
};

/* A row of the scoreboard: the registers used first in a launch have the first bits, in that order; any others follow
 * by number. */
enum { UOP_REGS = 128, UOP_WORDS = UOP_REGS / 64 };
struct uop_regs {
  uint8_t *place; /* by register: bit + 1, 0 if it has none of the first */
  uint32_t room, used;
};

struct uop {
  const struct inst *inst;    /* NULL: not computed yet */
  uint64_t waits[UOP_WORDS];  /* registers that must have no pending write */
  uint64_t writes[UOP_WORDS]; /* registers that it writes */
  uint16_t counter;           /* of executions by kind, in lanes: its place in struct gpu_stats */
  uint8_t flags, lat;
  uint8_t ndst, reg_reads; /* registers written and read, as the energy model charges them */
  uint16_t dst_bit;        /* the first destination's scoreboard bit + 1, 0 if none */
  uint8_t dst_bank;        /* its operand bank for warp 0, NO_BANK */
  uint8_t reads; /* operands that the collector reads, and their banks for warp 0: a register number that occurs
                  * several times is read once, as in the reference */
  uint8_t read[INST_MAX_SRC + 1];
  uint8_t stall; /* stall count (front.inc) */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct uop) == 64, "an instruction of the pipeline takes more than a line of the host's cache");

enum { NO_BANK = 0xFF };
static inline uint8_t uop_bank(uint16_t name, uint32_t banks) {
  return name == NO_ARCH ? NO_BANK : (uint8_t)(name % banks);
}

void uop_make(struct uop *u, const struct inst *i, struct uop_regs *regs, uint32_t banks);

/* A load of constants by an address in a register (LDC). */
static inline bool uop_by_register(const struct inst *i) {
  return i->pipe == PIPE_MEM && i->addr_reg && (i->space == SPACE_CONST || i->space == SPACE_PARAM);
}

/* The stall count of an instruction beyond what the scoreboard gives; `next`: the instruction behind it, or NULL. */
uint8_t uop_stall(const struct gpu_config *c, const struct inst *i, const struct inst *next);

/* Bit of a register in the scoreboard. */
static inline uint32_t uop_bit(const struct uop_regs *regs, uint32_t reg) {
  return regs->place[reg] ? regs->place[reg] - 1u : UOP_REGS + reg;
}

/* Sources checked by the scoreboard: for some instructions not all (docs/explanation/gpu-model.md "Front of the SM").
 */
static inline uint32_t uop_waited_sources(const struct inst *i) {
  return i->flags & INST_WAITS_3 ? 3 : i->nsrc;
}

#endif

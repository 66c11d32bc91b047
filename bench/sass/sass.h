/* sass.h - an interpreter of Volta's machine code (sm_70): types that its files share.
 *
 * A kernel file (cubin.py writes it) holds what a cubin holds: registers, memory, parameters, constants and the text of
 * cuobjdump -sass. A launch file (record.c writes it) holds one launch of a program: sizes, arguments, and global
 * memory before and after it.
 */
#ifndef BENCH_SASS_H
#define BENCH_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LANES = 32, RZ = 255, PT = 7, BARRIERS = 16, OPERANDS = 9, PARAM_AT = 0x160, BANKS = 5, BANK_BYTES = 65536 };
#define SHARED_BASE 0x00007f5500000000ull /* windows of generic addresses */
#define LOCAL_BASE 0x00007f5501000000ull
#define LOCAL_END 0x00007f5502000000ull

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- code ---- */

enum operand_kind { O_NONE, O_REG, O_PRED, O_NUMBER, O_CONST, O_MEMORY, O_SPECIAL, O_BARRIER, O_PREDS };
struct operand {
  uint8_t kind, reg; /* register, predicate, barrier, or base of an address; RZ, PT: none */
  uint8_t bank, part, scale;
  bool neg, abs, inv, whole; /* whole: all 64 bits of a register pair are the address */
  bool text;                 /* a number that the text has in hexadecimal */
  int32_t offset;
  uint32_t number;
};
struct step;
struct sass {
  uint32_t pc, number; /* number: the upper half of the encoding, an immediate */
  uint8_t guard;
  bool guard_not;
  char opcode[48], special[24];
  uint64_t mods[2];
  uint8_t n;
  struct operand o[OPERANDS];
  void (*run)(struct step *);
};
enum modifier {
#define MOD(id, text) M_##id,
#include "modifiers.def"
#undef MOD
  M_COUNT
};
_Static_assert(M_COUNT <= 128, "modifiers are bits of two words");
#define IS(i, m) (((i)->mods[M_##m / 64] >> M_##m % 64) & 1)

struct kernel {
  char name[1024];
  unsigned registers, shared, local, sm;
  struct {
    unsigned at, bytes;
  } param[256];
  unsigned params;
  uint8_t *bank[BANKS];
  struct symbol {
    char name[256];
    unsigned bank, at;
  } * symbol; /* variables of constant memory (bank 3), addresses of variables (bank 4) */
  unsigned symbols;
  struct sass *code;
  unsigned insts;
  uint64_t *count; /* dynamic warp instructions */
};
/* The kernel of that name in the file. Dies where the text has what is not known here. */
void kernel_read(struct kernel *k, const char *path, const char *name);
void parse_inst(struct sass *s, const char *line);
void (*op_of(const char *name, size_t n))(struct step *);

/* ---- launch ---- */

struct region {
  uint64_t address, bytes;
  uint8_t *data, *after;
};
struct launch {
  char kernel[1024];
  uint32_t grid[3], block[3], dynamic;
  struct region *region;
  unsigned regions;
  uint64_t stack;
};
/* Reads the launch; arguments and variables go into the kernel's banks. */
void launch_read(struct launch *l, struct kernel *k, const char *path, const char *kernels);
uint8_t *launch_at(struct launch *l, uint64_t address, unsigned bytes);
/* Compares memory with that after the launch; floats within `tolerance`. Prints differences, returns their number. */
uint64_t launch_compare(const struct launch *l, double tolerance);

/* ---- execution ---- */

enum lane_state { RUNS, AT_SYNC, AT_WARPSYNC, AT_BAR, DONE };
struct warp {
  struct cta *cta;
  unsigned number;
  uint32_t r[256][LANES];
  uint32_t p[8]; /* lanes where it holds */
  uint32_t pc[LANES];
  uint8_t state[LANES];
  uint32_t wait[LANES]; /* mask of WARPSYNC, number of BAR */
  uint32_t b[BARRIERS][LANES];
  uint32_t current; /* lanes that run together */
  uint8_t *local;
  char *lines;
  size_t used, room;
  uint64_t insts;
};
struct cta {
  struct kernel *k;
  struct launch *l;
  uint32_t at[3];
  struct warp *warp;
  unsigned warps, threads;
  uint8_t *shared;
  uint32_t shared_bytes;
  uint32_t bar_result[BARRIERS], bar_live[BARRIERS];
  bool tracing;
};
struct step {
  struct warp *w;
  const struct sass *i;
  uint32_t active, mask; /* lanes at the instruction; of those where the guard holds */
  uint32_t next;
  bool memory; /* addresses are set */
  uint64_t address[LANES];
};
void cta_run(struct cta *c);

/* ---- trace ---- */
void trace_header(FILE *f, const struct kernel *k, const struct launch *l, unsigned id);
void trace_line(struct step *s);
void trace_cta(FILE *f, const struct cta *c);

#endif

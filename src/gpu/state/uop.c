/* uop.c - predecodes instructions for the stages of the pipeline. */
#include "gpu/state/uop.h"

#include <stdbool.h>
#include <stddef.h>

#include "gpu/common/stats.h"

/* Counter of executions, for the energy model. */
static uint16_t counter_of(const struct inst *i) {
  static const uint16_t field[LAT_COUNT] = {
      [LAT_INT_DIV] = offsetof(struct gpu_stats, exec_div),   [LAT_F32_ADD] = offsetof(struct gpu_stats, exec_f32),
      [LAT_F32_MAX] = offsetof(struct gpu_stats, exec_f32),   [LAT_F32_MUL] = offsetof(struct gpu_stats, exec_fma),
      [LAT_F32_FMA] = offsetof(struct gpu_stats, exec_fma),   [LAT_F32_DIV] = offsetof(struct gpu_stats, exec_fdiv),
      [LAT_INT_ADD] = offsetof(struct gpu_stats, exec_add),   [LAT_INT_MAX] = offsetof(struct gpu_stats, exec_add),
      [LAT_INT_MUL] = offsetof(struct gpu_stats, exec_mul),   [LAT_INT_MAD] = offsetof(struct gpu_stats, exec_mul),
      [LAT_INT_MUL24] = offsetof(struct gpu_stats, exec_mul), [LAT_INT_MAD24] = offsetof(struct gpu_stats, exec_mul),
      [LAT_F64_ADD] = offsetof(struct gpu_stats, exec_f64),   [LAT_F64_MAX] = offsetof(struct gpu_stats, exec_f64),
      [LAT_F64_MUL] = offsetof(struct gpu_stats, exec_f64),   [LAT_F64_FMA] = offsetof(struct gpu_stats, exec_f64),
      [LAT_F64_DIV] = offsetof(struct gpu_stats, exec_f64),   [LAT_SFU] = offsetof(struct gpu_stats, exec_sfu),
  };
  if (i->pipe == PIPE_MEM) return offsetof(struct gpu_stats, exec_mem);
  return field[i->lat] ? field[i->lat] : offsetof(struct gpu_stats, exec_int); /* no counter is first in the struct */
}

static void uop_add_reg(struct uop *u, struct uop_regs *regs, uint64_t *set, uint32_t reg) {
  if (!reg) return;
  if (!regs->place[reg] && regs->used < UOP_REGS) regs->place[reg] = (uint8_t)++regs->used;
  uint32_t bit = uop_bit(regs, reg);
  if (bit >= UOP_REGS) u->flags |= UOP_WIDE;
  else set[bit / 64] |= 1ull << (bit % 64);
}

static uint8_t flags_of(const struct inst *i) {
  uint32_t f = i->pipe == PIPE_MEM ? UOP_MEMORY : i->pipe == PIPE_SFU ? UOP_SFU : 0;
  bool cached = i->space == SPACE_GLOBAL || i->space == SPACE_LOCAL || i->space == SPACE_GENERIC;
  if (f & UOP_MEMORY && i->kind == KIND_LOAD && cached) f |= UOP_LOADS;
  if (i->kind == KIND_EXIT) f |= UOP_EXIT;
  if (i->kind == KIND_FENCE || i->async > ASYNC_COPY) f |= UOP_FENCE;
  return (uint8_t)f;
}

static bool named_before(const struct inst *i, uint32_t r, uint16_t name) {
  for (uint32_t q = 0; q < r; q++)
    if (i->src[q] && i->src_arch[q] == name) return true;
  return false;
}

static void add_read(struct uop *u, uint16_t name, uint32_t banks) {
  if (name != NO_ARCH) u->read[u->reads++] = uop_bank(name, banks);
}

void uop_make(struct uop *u, const struct inst *i, struct uop_regs *regs, uint32_t banks) {
  *u = (struct uop){.inst = i,
                    .counter = counter_of(i),
                    .flags = flags_of(i),
                    .lat = i->lat,
                    .ndst = i->ndst,
                    .reg_reads = (uint8_t)(i->nsrc + (i->addr_reg != 0)),
                    .dst_bank = uop_bank(i->dst_arch[0], banks)};
  for (uint32_t r = 0; r < i->ndst; r++) uop_add_reg(u, regs, u->writes, i->dst[r]);
  if (i->ndst && i->dst[0]) u->dst_bit = (uint16_t)(uop_bit(regs, i->dst[0]) + 1);
  for (uint32_t k = 0; k < UOP_WORDS; k++) u->waits[k] = u->writes[k];
  for (uint32_t r = 0, n = uop_waited_sources(i); r < n; r++) uop_add_reg(u, regs, u->waits, i->src[r]);
  uop_add_reg(u, regs, u->waits, i->pred);
  uop_add_reg(u, regs, u->waits, i->addr_reg);
  for (uint32_t r = 0; r < i->nsrc; r++)
    if (i->src[r] && !named_before(i, r, i->src_arch[r])) add_read(u, i->src_arch[r], banks);
  if (i->addr_reg && !named_before(i, i->nsrc, i->addr_arch)) add_read(u, i->addr_arch, banks);
}

/* In the queue of the load/store units. */
static bool queued(const struct inst *i) {
  return i->pipe == PIPE_MEM || i->lat == LAT_SHFL;
}

uint8_t uop_stall(const struct gpu_config *c, const struct inst *i, const struct inst *next) {
  if (i->flags & INST_INDIRECT) return (uint8_t)c->indirect_stall;
  bool control = i->kind >= KIND_BARRIER && i->kind != KIND_FENCE;
  if (control || i->flags & INST_STALLS) return (uint8_t)c->control_stall;
  if (!next || !queued(i) || !queued(next)) return 0;
  if (c->const_interval && uop_by_register(i) && uop_by_register(next)) return (uint8_t)c->const_interval;
  return (uint8_t)c->memory_stall;
}

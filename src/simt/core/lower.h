/* lower.h - lowering from PTX instructions to those of the machine: shared by the lowering files. */
#ifndef SIMT_CORE_LOWER_H
#define SIMT_CORE_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "simt/core/module.h"

/* lower.c */
bool lower_module(struct simt_module *m, struct err *e);
struct lowering {
  struct simt_module *m;
  struct ptx_func *f;
  struct xfunc *xf;
  struct err *e;
  uint32_t *reg_off; /* by register number */
  uint32_t pc0;
};
/* Select the handler. Returns true. */
static inline bool set_xop(struct xop *o, enum xop_id id) {
  o->id = (uint16_t)id;
  return true;
}
/* An instruction of PTX as a handler with its operands; the others serve it for a part of the instructions. False with
 * l->e. */
bool lower_inst(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_memory(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_address(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *m, struct xop *o);
/* video.c */
bool lower_video(struct lowering *l, const struct ptx_inst *i, struct xop *o);
/* b128.c: 128-bit values */
bool lower_mentions_wide(const struct ptx_inst *i);
bool lower_wide_move(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_wide_value(struct lowering *l, const struct ptx_opnd *v, struct xop *o, bool load);
/* cluster.c */
bool lower_mapa(struct lowering *l, const struct ptx_inst *i, struct xop *o);
/* sm90.c */
bool lower_sm90(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_cp_sm90(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_special(struct lowering *l, const struct ptx_inst *i, struct xop *o);
/* Refuses what no handler covers, by name; `why` may be "". */
bool lower_refuse(struct lowering *l, const struct ptx_inst *i, const char *why);
/* An error of the program at `at`, an instruction or operand of the function: a format and its values follow. False. */
#define LOWER_ERROR(l, at, ...) \
  ptx_error((l)->m->ptx, (struct ptx_place){(l)->f->text, (at)->line, (at)->col}, ERR_INPUT, (l)->e, __VA_ARGS__)
/* The instruction's form, and what is wrong with it. */
bool lower_malformed(struct lowering *l, const struct ptx_inst *i, const char *what);
/* The offset of an operand of type `t` in a warp's registers; constants get a place there. */
uint32_t lower_operand(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t);
/* The code of a function, NULL if it has none; the function that contains `pc`. */
struct xfunc *lowered_function(const struct simt_module *m, const struct ptx_func *f);
struct xfunc *function_at(const struct simt_module *m, uint32_t pc);
/* The place of a constant; bytes of a register of that type. */
uint32_t lower_const(struct simt_module *m, uint64_t bits, uint32_t slot_bytes);
uint32_t slot_bytes(enum ptx_type t);
/* The instruction ends the launch with `why` when it is reached. */
void lower_refusal(struct simt_module *m, struct xop *o, const char *why);
/* Further operands of an instruction (vectors, lists of arguments); one of them. */
struct xaux *lower_aux(struct lowering *l);
struct xopnd lower_elem(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t);

#endif

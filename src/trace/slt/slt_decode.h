/* slt_decode.h - one warp's stream back into its instructions. Private to the room. */
#ifndef TRACE_SLT_DECODE_H
#define TRACE_SLT_DECODE_H

#include "trace/common/input.h"
#include "trace/slt/slt.h"

struct slt_decoder {
  struct slt_in plane[SLT_PLANES];
  uint32_t pc, left; /* the next instruction; how many of its run are left, itself included */
  uint32_t active;
  bool lanes; /* the next instruction has a lane byte without a guard */
  bool done;
  struct slt_state state;
};

enum slt_decoded {
  SLT_OK,
  SLT_MORE, /* the planes are at their end and the warp is not: give it its next part, then slt_decode_run */
  SLT_BROKEN
};

/* Begin a warp; its planes are set by the caller. Then slt_decode_run reads the first run. */
void slt_decoder_start(struct slt_decoder *w, const struct slt_code *c, uint32_t entry_pc);
/* Read the next run: pc, left and active of the warp, or `done`. */
enum slt_decoded slt_decode_run(struct slt_decoder *w, uint32_t insts);
/* The next instruction into `out`, as `step` of a trace_input. After SLT_MORE, next_pc is to be set by the caller. */
enum slt_decoded slt_decode(struct slt_decoder *w, const struct slt_code *c, struct issued *out);
/* The same for at least `limit` instructions, or up to one that ends the warp or arrives at a barrier, counted and not
 * shown: `out` has next_pc, and the barrier. A warp is skimmed from its first instruction to its last, or not at all:
 * addresses are passed over, and so is what would foretell the next ones. */
enum slt_decoded slt_skim(struct slt_decoder *w, const struct slt_code *c, uint32_t limit, struct issued *out,
                          struct trace_counts *n);

#endif

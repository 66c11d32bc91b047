/* slt_decode.h - decodes one warp's stream into its instructions. Private to this folder. */
#ifndef TRACE_SLT_SLT_DECODE_H
#define TRACE_SLT_SLT_DECODE_H

#include "trace/common/input.h"
#include "trace/slt/slt.h"

struct slt_decoder {
  struct slt_in plane[SLT_PLANES];
  uint32_t pc, left; /* the next instruction; remaining instructions of its run, including it */
  uint32_t active;
  bool lanes; /* the next instruction has a lane byte without a guard */
  bool done;
  struct slt_state state;
};

enum slt_decoded {
  SLT_OK,
  SLT_MORE, /* the planes are used up but the warp is not: supply its next part, then slt_decode_run */
  SLT_BROKEN
};

/* Begin a warp; its planes are set by the caller. Then slt_decode_run reads the first run. */
void slt_decoder_start(struct slt_decoder *w, const struct slt_code *c, uint32_t entry_pc);
/* Read the next run: pc, left and active of the warp, or `done`. */
enum slt_decoded slt_decode_run(struct slt_decoder *w, uint32_t insts);
/* The next instruction into `out`, as `step` of a trace_input. After SLT_MORE, the caller sets next_pc. */
enum slt_decoded slt_decode(struct slt_decoder *w, const struct slt_code *c, struct issued *out);
/* The same for at least `limit` instructions, or up to one that ends the warp or arrives at a barrier; only next_pc
 * and the barrier fields of `out` are set. A warp is skimmed from its first instruction to its last, or not at all:
 * addresses and the prediction state are skipped. */
enum slt_decoded slt_skim(struct slt_decoder *w, const struct slt_code *c, uint32_t limit, struct issued *out,
                          struct trace_counts *n);

#endif

/* slt_encode.h - one warp's instructions into the four planes of its stream (docs/reference/trace-format.md, "A warp's
 * stream"). Private to the room.
 */
#ifndef TRACE_SLT_SLT_ENCODE_H
#define TRACE_SLT_SLT_ENCODE_H

#include "trace/slt/slt.h"

struct slt_encoder {
  struct slt_state state;
  struct slt_buf plane[SLT_PLANES];
  uint32_t pc;       /* of the next instruction */
  uint32_t run_len;  /* the current run; 0: none yet */
  uint32_t expected; /* the pc after it */
  uint32_t active;
  bool done;
};

void slt_encoder_start(struct slt_encoder *w, uint32_t entry_pc);
/* Add the warp's last instruction. False: not representable in the format (`why`). */
bool slt_encode(struct slt_encoder *w, const struct inst *code, const uint8_t *cls, const uint8_t *slot,
                const struct issued *is, const char **why);
/* Bytes in the planes. */
size_t slt_encoder_bytes(const struct slt_encoder *w);
/* The planes end with complete runs: they may be cut here. */
bool slt_encoder_at_cut(const struct slt_encoder *w);
void slt_encoder_empty(struct slt_encoder *w);
void slt_encoder_free(struct slt_encoder *w);

#endif

/* op.h - an instruction in flight on an SM. */
#ifndef GPU_STATE_OP_H
#define GPU_STATE_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/state/uop.h"

typedef uint16_t op_id;
#define NO_BUFFER 0xffff

/* An instruction in flight, from issue until its last result is written. */
struct op {
  const struct uop *uop;
  uint64_t order; /* issue order on this SM */
  uint64_t born;  /* cycle of issue */
  uint32_t mask, token;
  uint32_t cta; /* linear CTA id */
  uint8_t warp, space, width;
  bool remote; /* shared memory of another CTA of the cluster */
  bool load;   /* waits for data: loads and atomics */
  bool atomic : 1;
  bool posted : 1;  /* an atomic that nothing waits for */
  bool bypass;      /* its accesses bypass the L1 */
  bool admitted;    /* the per-load admission hooks have been called */
  bool away;        /* stands for a load or store of another SM, whose request is `token` (gpu/l1/net.h) */
  uint8_t wb_done;  /* bit per destination whose bank write is done */
  uint16_t left;    /* accesses not yet accepted: acc[0 .. left) */
  uint16_t degree;  /* accesses of the instruction */
  uint16_t pending; /* accesses whose data has not been written back */
  uint16_t passes;  /* shared memory: cycles left in the memory pipe; L1 with banks of tags: its turns (ldst.inc) */
  uint16_t buffer;  /* access buffer, NO_BUFFER if none */
  op_id next;
  /* Copies from `uop`, which is on another cache line of the host, for the last stages. */
  uint8_t lat, ndst;
  uint16_t dst_bit; /* the first destination; further ones are rare */
  uint8_t dst_bank;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct op) == 64, "an instruction in flight takes more than a line of the host's cache");

#endif

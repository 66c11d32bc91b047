/* accel_text.h - lines of Accel-Sim's trace files: kernel header and instruction lines, of all tracer versions.
 *
 * Facts of the format: Accel-Sim's tracer (NVBit) from version 1.2 of 2020 to 6; docs/how-to/accel-sim.md lists what is
 * read.
 */
#ifndef TRACE_ACCEL_ACCEL_TEXT_H
#define TRACE_ACCEL_ACCEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { ACCEL_REGS = 6, ACCEL_NAME = 2048, ACCEL_LANES = 32 };

struct accel_header {
  char name[ACCEL_NAME]; /* mangled */
  unsigned id, nregs, shmem, binary_version;
  long stream;
  uint32_t grid[3], block[3];
  uint32_t cluster[3]; /* CTAs of a cluster, as an import recorded it; 0: none named in the file */
  uint64_t shmem_base, local_base;
  char nvbit[32];
  double version; /* 1.2, 3, 4, 5, 6; 0: not in the header */
  bool lineinfo, seen_grid, seen_block;
};
/* Parse one header line. *end becomes true at the line that ends the header ('#'). Unknown lines are skipped. */
bool accel_header_line(struct accel_header *h, const char *line, size_t n, bool *end, struct err *e);

/* One instruction line. Texts point into the line. */
struct accel_inst {
  uint32_t pc, mask, line; /* line: of the source, 0 if not recorded */
  /* From the number of destinations to the memory width, as written; of a bulk copy from the mask, which here is not
   * that of `mask`, to the bytes out of bounds. */
  const char *head;
  size_t head_len;
  const char *opcode;
  size_t opcode_len;
  uint16_t dst[ACCEL_REGS], src[ACCEL_REGS]; /* names R0.. as 1.., RZ and names of other files 0 */
  uint8_t ndst, nsrc;
  uint32_t width; /* bytes per lane as written; 0: not memory */
  bool addresses;
  uint32_t naddr;             /* addresses that the line holds: lanes of `mask`, or all of a bulk copy */
  uint64_t addr[ACCEL_LANES]; /* in the order of the lanes set in `mask`; of a bulk copy the first 32 */
  uint8_t mode;               /* as written: 0 list, 1 stride, 2 delta, 3 and 4 bulk copies */
  bool lossy;                 /* more addresses than lanes, with unknown assignment */
  const char *tail;           /* immediate as written, "" if none */
  size_t tail_len;
};
/* Parse one instruction line of a file with header `h`. False with `e`: the expected content (no file name, no line).
 */
bool accel_inst_line(const struct accel_header *h, const char *line, size_t n, struct accel_inst *i, struct err *e);
/* True for the head of a bulk copy, which begins with the mask. */
bool accel_head_is_bulk(const char *head);

/* An import's additions to a kernel's header, for the export only. */
#define ACCEL_CLUSTER "-sluice cluster dim"

#endif

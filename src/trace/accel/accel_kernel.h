/* accel_kernel.h - one kernel file of Accel-Sim, read and packed: static code, and the CTAs' records. */
#ifndef TRACE_ACCEL_ACCEL_KERNEL_H
#define TRACE_ACCEL_ACCEL_KERNEL_H

#include "ptx/feed.h"
#include "trace/accel/accel_pack.h"
#include "trace/accel/accel_text.h"
#include "trace/common/input.h"

struct accel_cta {
  uint64_t at;            /* in the temporary file */
  uint32_t packed, bytes; /* compressed and whole; 0: the CTA has no instructions in the file */
};

struct accel_kernel {
  struct accel_header header;
  struct feed_kernel feed;
  struct inst *code;
  char *origin;          /* the header's lines */
  char **text;           /* per entry of code: the line without PC, mask and addresses, "HEAD\tTAIL" */
  uint32_t *place;       /* static instruction by number in the records -> index in code */
  struct accel_cta *cta; /* by linear id */
  uint64_t warp_insts, thread_insts, lossy;
  int fd; /* of the temporary file, -1 before there is one */
};

/* Read the file at `path`; `who` receives progress. False with `e` (file:line and expected content); free in either
 * case. */
bool accel_kernel_read(struct accel_kernel *k, const char *path, const struct trace_input *who, struct err *e);
/* The CUDA stream in the header of the file at `path`. False with `e`: unreadable. */
bool accel_kernel_stream(const char *path, long *stream, struct err *e);
/* Unpack a CTA into `out` (reused); cursors over its warps' records are set up by the caller from `warp_at`. */
bool accel_kernel_cta(const struct accel_kernel *k, uint32_t cta, struct pack *out, struct pack *scratch,
                      struct err *e);
void accel_kernel_free(struct accel_kernel *k);

#endif

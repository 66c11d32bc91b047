/* csv_trace.h - address-only traces as text, one warp instruction a line (docs/reference/trace-format.md, "Address-only
 * traces").
 */
#ifndef TRACE_CSV_TRACE_H
#define TRACE_CSV_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ptx/feed.h"

struct csv_access {
  const char *kernel; /* valid until the next one */
  bool first;         /* first of its kernel: the previous line names another one, or there is none */
  uint32_t cta, warp;
  uint64_t pc;
  uint8_t kind; /* KIND_LOAD, KIND_STORE, KIND_ATOM */
  uint32_t width, mask;
  uint64_t addr[WARP_LANES];
};

struct csv_trace;
/* NULL with `e` ("FILE:1: ..."). "-" is standard input. */
struct csv_trace *csv_open(const char *path, struct err *e);
/* The next access: 1; 0 at the end; -1 with `e`, which names the line. */
int csv_next(struct csv_trace *t, struct csv_access *a, struct err *e);
double csv_bytes(const struct csv_trace *t); /* read so far */
void csv_close(struct csv_trace *t);

#endif

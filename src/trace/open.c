/* open.c - selects the reader of a trace: by the first bytes, then by the name. */
#include "trace/common/input.h"

#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "trace/accel/accel.h"
#include "trace/slt/slt.h"
#include "trace/slt/slt_read.h"
#include "base/text.h"

static bool begins_with(const char *path, const char *magic, size_t n) {
  char head[16];
  uint64_t bytes;
  int fd = input_open(path, &bytes, NULL);
  if (fd < 0) return false;
  bool same = read(fd, head, n) == (ssize_t)n && !memcmp(head, magic, n);
  close(fd);
  return same;
}

static bool is_slt(const char *path) {
  return text_ends_with(path, ".slt") || begins_with(path, SLT_MAGIC, 8);
}

bool trace_is_trace(const char *path) {
  return is_slt(path) || accel_is_name(path);
}

struct trace_input *trace_open(const char *path, bool salvage, struct err *e) {
  if (is_slt(path)) return slt_open(path, salvage, e);
  if (accel_is_name(path)) return accel_open(path, e);
  err_set(e, ERR_INPUT, "%s: expected a trace: a file of sluice record (.slt), kernelslist.g or a .traceg of Accel-Sim",
          path);
  return NULL;
}

void trace_close(struct trace_input *t) {
  if (t) t->ops->close(t);
}

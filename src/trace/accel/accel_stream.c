/* accel_stream.c - see accel_stream.h. liblzma unpacks xz, libzstd the frames of .tracez. */
#include "trace/accel/accel_stream.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/input.h"
#include "trace/accel/accel_tracez.h"

enum { IN_BYTES = 1 << 18, OUT_BYTES = 1 << 20, LINE_MOST = 1 << 22 };

struct accel_stream {
  char path[1024];
  FILE *f;
  uint64_t file_bytes, number;
  bool xz, xz_done, at_end;
  lzma_stream lzma;
  struct tracez *tracez;
  unsigned char *in;
  /* text[from..to) is not consumed yet */
  char *text;
  size_t from, to, size;
};

static bool ends(const char *s, const char *with) {
  size_t a = strlen(s), b = strlen(with);
  return a >= b && !strcmp(s + a - b, with);
}

struct accel_stream *accel_stream_open(const char *path, struct err *e) {
  struct accel_stream *s = mem_zeroed(1, sizeof *s);
  snprintf(s->path, sizeof s->path, "%s", path);
  int fd = input_open(path, &s->file_bytes, e);
  if (fd < 0) {
    free(s);
    return NULL;
  }
  s->f = fdopen(fd, "rb");
  CHECK(s->f, "out of memory");
  s->in = mem_alloc(IN_BYTES);
  s->size = OUT_BYTES;
  s->text = mem_alloc(s->size);
  if (ends(path, ".tracez")) {
    s->tracez = tracez_open(path, s->f, s->file_bytes, e);
    if (!s->tracez) {
      accel_stream_close(s);
      return NULL;
    }
  }
  s->xz = ends(path, ".xz");
  if (s->xz) {
    lzma_ret rc = lzma_stream_decoder(&s->lzma, UINT64_C(512) << 20, LZMA_CONCATENATED);
    CHECK(rc == LZMA_OK, "liblzma: %d", (int)rc);
  }
  return s;
}

static const char *lzma_text(lzma_ret rc) {
  switch (rc) {
  case LZMA_FORMAT_ERROR:
    return "not an xz file";
  case LZMA_DATA_ERROR:
    return "the xz data is damaged";
  case LZMA_BUF_ERROR:
    return "the xz data ends too early";
  case LZMA_OPTIONS_ERROR:
    return "xz options that liblzma does not know";
  case LZMA_MEMLIMIT_ERROR:
    return "the xz data needs over 512 MB to unpack";
  default:
    return "xz error";
  }
}

/* Add bytes behind text[to). False: the end, or an error. */
static bool refill(struct accel_stream *s, struct err *e) {
  if (s->at_end) return false;
  if (s->from) {
    memmove(s->text, s->text + s->from, s->to - s->from);
    s->to -= s->from;
    s->from = 0;
  }
  if (s->size - s->to < OUT_BYTES / 2) {
    if (s->size > LINE_MOST)
      return err_set(e, ERR_INPUT, "%s:%llu: a line of over %d MB", s->path, (unsigned long long)s->number + 1,
                     LINE_MOST >> 20);
    s->text = mem_resize(s->text, s->size *= 2, 1);
  }
  if (s->tracez) {
    size_t n = tracez_read(s->tracez, s->text + s->to, s->size - s->to, e);
    s->to += n;
    s->at_end = !n;
    return n > 0;
  }
  if (!s->xz) {
    size_t n = fread(s->text + s->to, 1, s->size - s->to, s->f);
    if (!n && ferror(s->f)) return err_set(e, ERR_INPUT, "%s: %s", s->path, strerror(errno));
    s->to += n;
    s->at_end = !n;
    return n > 0;
  }
  size_t room = s->size - s->to;
  s->lzma.next_out = (unsigned char *)s->text + s->to;
  s->lzma.avail_out = room;
  while (s->lzma.avail_out == room && !s->xz_done) {
    bool last = false;
    if (!s->lzma.avail_in) {
      s->lzma.next_in = s->in;
      s->lzma.avail_in = fread(s->in, 1, IN_BYTES, s->f);
      last = !s->lzma.avail_in;
    }
    lzma_ret rc = lzma_code(&s->lzma, last ? LZMA_FINISH : LZMA_RUN);
    if (rc == LZMA_STREAM_END) s->xz_done = true;
    else if (rc != LZMA_OK)
      return err_set(e, ERR_INPUT, "%s: offset %llu: %s (after line %llu)", s->path,
                     (unsigned long long)s->lzma.total_in, lzma_text(rc), (unsigned long long)s->number);
  }
  s->to += room - s->lzma.avail_out;
  s->at_end = s->xz_done && s->lzma.avail_out == room;
  return s->lzma.avail_out < room;
}

bool accel_stream_line(struct accel_stream *s, const char **line, size_t *n, struct err *e) {
  size_t searched = 0;
  for (;;) {
    char *nl = memchr(s->text + s->from + searched, '\n', s->to - s->from - searched);
    if (nl) {
      *line = s->text + s->from;
      *n = (size_t)(nl - *line);
      s->from += *n + 1;
      if (*n && (*line)[*n - 1] == '\r') (*n)--;
      s->number++;
      return true;
    }
    searched = s->to - s->from;
    if (refill(s, e)) continue;
    if (e->code || s->from == s->to) return false;
    *line = s->text + s->from; /* a last line without a line end */
    *n = s->to - s->from;
    s->from = s->to;
    s->number++;
    return true;
  }
}

uint64_t accel_stream_number(const struct accel_stream *s) {
  return s->number;
}

void accel_stream_progress(const struct accel_stream *s, uint64_t *done, uint64_t *total) {
  long at = s->tracez ? (long)tracez_position(s->tracez) : ftell(s->f);
  *done = at > 0 ? (uint64_t)at : 0;
  *total = s->file_bytes;
}

void accel_stream_close(struct accel_stream *s) {
  if (!s) return;
  if (s->xz) lzma_end(&s->lzma);
  tracez_close(s->tracez);
  fclose(s->f);
  free(s->in);
  free(s->text);
  free(s);
}

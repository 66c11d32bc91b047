/* slt_file.c - reading blocks: sizes against the file, checksum, zstd with or without a dictionary. */
#include "trace/slt/slt_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/input.h"

struct dict {
  uint64_t at;
  ZSTD_DDict *ready; /* created at first use */
};

struct slt_file {
  char *path;
  int fd;
  uint64_t bytes;
  ZSTD_DCtx *zstd;
  struct dict *dict;
  uint32_t dicts;
  struct slt_buf stored;
};

struct slt_file *slt_file_open(const char *path, struct err *e) {
  uint64_t bytes;
  int fd = input_open(path, &bytes, e);
  if (fd < 0) return NULL;
  struct slt_file *f = mem_zeroed(1, sizeof *f);
  *f = (struct slt_file){.path = mem_text(path), .fd = fd, .bytes = bytes, .zstd = ZSTD_createDCtx()};
  CHECK(f->path && f->zstd, "out of memory");
  return f;
}

void slt_file_close(struct slt_file *f) {
  if (!f) return;
  slt_file_forget_dicts(f);
  ZSTD_freeDCtx(f->zstd);
  slt_buf_free(&f->stored);
  close(f->fd);
  free(f->dict);
  free(f->path);
  free(f);
}

uint64_t slt_file_bytes(const struct slt_file *f) {
  return f->bytes;
}
bool slt_file_wrong(const struct slt_file *f, uint64_t at, struct err *e, const char *fmt, ...) {
  char text[600];
  va_list a;
  va_start(a, fmt);
  vsnprintf(text, sizeof text, fmt, a);
  va_end(a);
  return err_set(e, ERR_INPUT, "%s: offset %llu: %s", f->path, (unsigned long long)at, text);
}

bool slt_file_read(const struct slt_file *f, uint64_t at, void *into, size_t n, struct err *e) {
  if (at > f->bytes || n > f->bytes - at)
    return slt_file_wrong(f, at, e, "expected %zu more bytes, but the file ends at %llu: it was cut off", n,
                          (unsigned long long)f->bytes);
  for (size_t got = 0; got < n;) {
    ssize_t r = pread(f->fd, (char *)into + got, n - got, (off_t)(at + got));
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) return slt_file_wrong(f, at, e, "cannot read: %s", r ? strerror(errno) : "the file has shrunk");
    got += (size_t)r;
  }
  return true;
}

/* ---- blocks ---- */

bool slt_file_block(const struct slt_file *f, uint64_t at, struct slt_block *b, struct err *e) {
  uint8_t h[SLT_BLOCK_HEADER];
  if (!slt_file_read(f, at, h, sizeof h, e)) return false;
  *b = (struct slt_block){.type = h[0],
                          .codec = h[1],
                          .dict = (uint16_t)(h[2] | h[3] << 8),
                          .stored = slt_get32(h + 4),
                          .raw = slt_get32(h + 8),
                          .at = at};
  if (!b->type || !strchr("MCDYKSLOX", b->type))
    return slt_file_wrong(f, at, e, "expected a block (M, C, D, Y, K, S, L, O or X), and not the byte %u", b->type);
  if (b->raw > SLT_MAX_RAW)
    return slt_file_wrong(f, at, e, "expected a block of at most %u bytes, and not %u", (unsigned)SLT_MAX_RAW, b->raw);
  if (b->stored > f->bytes - at - SLT_BLOCK_HEADER)
    return slt_file_wrong(f, at, e, "the block promises %u bytes, but the file ends after %llu: it was cut off",
                          b->stored, (unsigned long long)(f->bytes - at - SLT_BLOCK_HEADER));
  if (b->codec > SLT_ZSTD_DICT || (b->codec == SLT_ZSTD_DICT) != (b->dict != 0) || b->dict > f->dicts ||
      (b->codec == SLT_RAW && b->stored != b->raw))
    return slt_file_wrong(f, at, e, "expected codec 0, 1 or 2 with a dictionary up to %u, and not codec %u with %u",
                          f->dicts, b->codec, b->dict);
  return true;
}

/* Stored bytes of a block, checked, in f->stored. */
static bool read_stored(struct slt_file *f, const struct slt_block *b, struct err *e) {
  f->stored.used = 0;
  uint8_t *p = slt_room(&f->stored, (size_t)b->stored + SLT_BLOCK_HEADER);
  if (!slt_file_read(f, b->at, p, (size_t)b->stored + SLT_BLOCK_HEADER, e)) return false;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  if (slt_block_check(p, p + SLT_BLOCK_HEADER, b->stored) != slt_get32(p + 12))
    return slt_file_wrong(f, b->at, e, "the block of %u bytes does not have its checksum: it is damaged", b->stored);
#endif
  return true;
}

static const ZSTD_DDict *dictionary(struct slt_file *f, uint32_t n, struct err *e) {
  struct dict *d = &f->dict[n - 1];
  if (d->ready) return d->ready;
  struct slt_block b;
  uint8_t *raw = slt_file_load(f, d->at, SLT_DICT, &b, e);
  if (!raw) return NULL;
  d->ready = ZSTD_createDDict(raw, b.raw);
  free(raw);
  if (!d->ready) slt_file_wrong(f, d->at, e, "expected a zstd dictionary");
  return d->ready;
}

uint8_t *slt_file_payload(struct slt_file *f, const struct slt_block *b, struct err *e) {
  const ZSTD_DDict *d = NULL;
  if (b->codec == SLT_ZSTD_DICT && b->type == SLT_DICT) {
    slt_file_wrong(f, b->at, e, "a dictionary cannot need one");
    return NULL;
  }
  if (b->codec == SLT_ZSTD_DICT && !(d = dictionary(f, b->dict, e))) return NULL;
  if (!read_stored(f, b, e)) return NULL;
  const uint8_t *from = f->stored.at + SLT_BLOCK_HEADER;
  uint8_t *raw = mem_alloc(b->raw + 1u);
  if (b->codec == SLT_RAW) {
    memcpy(raw, from, b->raw);
    return raw;
  }
  size_t n = d ? ZSTD_decompress_usingDDict(f->zstd, raw, b->raw, from, b->stored, d)
               : ZSTD_decompressDCtx(f->zstd, raw, b->raw, from, b->stored);
  if (!ZSTD_isError(n) && n == b->raw) return raw;
  free(raw);
  slt_file_wrong(f, b->at, e, "expected zstd data of %u bytes: %s", b->raw,
                 ZSTD_isError(n) ? ZSTD_getErrorName(n) : "there are fewer");
  return NULL;
}

uint8_t *slt_file_load(struct slt_file *f, uint64_t at, uint8_t type, struct slt_block *b, struct err *e) {
  if (!slt_file_block(f, at, b, e)) return NULL;
  if (b->type == type) return slt_file_payload(f, b, e);
  slt_file_wrong(f, at, e, "expected a block of type %c, and not %c", type, b->type);
  return NULL;
}

void slt_file_add_dict(struct slt_file *f, uint64_t at) {
  f->dict = mem_resize(f->dict, f->dicts + 1, sizeof *f->dict);
  f->dict[f->dicts++] = (struct dict){.at = at};
}

void slt_file_forget_dicts(struct slt_file *f) {
  for (uint32_t i = 0; i < f->dicts; i++) ZSTD_freeDDict(f->dict[i].ready);
  f->dicts = 0;
}

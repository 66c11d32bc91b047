/* accel_tracez.c - see accel_tracez.h. */
#include "trace/accel/accel_tracez.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"

enum { HEADER_MOST = 1 << 20, DICT_MOST = 1 << 24, CHUNK_MOST = 1 << 28, CTA_WORDS = 11 };

struct tracez {
  const char *path;
  FILE *f;
  uint64_t file_bytes, index_at, at; /* at: position of the next CTA of the index */
  uint32_t ctas, cta, warps, warp, chunks, chunk;
  uint64_t chunk_at;
  bool clusters; /* this version names the cluster of every CTA */
  ZSTD_DCtx *ctx;
  ZSTD_DDict *dict;
  /* text[from..to) is not consumed yet */
  char *text, *packed;
  size_t from, to, size, packed_size;
};

static bool read_at(struct tracez *t, uint64_t at, void *to, size_t n, const char *what, struct err *e) {
  if (at <= t->file_bytes && n <= t->file_bytes - at && !fseeko(t->f, (off_t)at, SEEK_SET) &&
      fread(to, 1, n, t->f) == n)
    return true;
  return err_set(e, ERR_INPUT, "%s: %s at offset %llu exceeds the end of the file (%llu bytes)", t->path, what,
                 (unsigned long long)at, (unsigned long long)t->file_bytes);
}

static uint32_t u32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool read_u32(struct tracez *t, uint64_t *at, uint32_t *v, const char *what, struct err *e) {
  unsigned char b[4];
  if (!read_at(t, *at, b, 4, what, e)) return false;
  *v = u32(b);
  *at += 4;
  return true;
}

static bool read_u64(struct tracez *t, uint64_t *at, uint64_t *v, const char *what, struct err *e) {
  unsigned char b[8];
  if (!read_at(t, *at, b, 8, what, e)) return false;
  *v = u32(b) | (uint64_t)u32(b + 4) << 32;
  *at += 8;
  return true;
}

static void room(struct tracez *t, size_t more) {
  if (t->from == t->to) t->from = t->to = 0;
  if (t->size - t->to >= more) return;
  t->size = t->to + more + 4096;
  t->text = mem_resize(t->text, t->size, 1);
}

__attribute__((format(printf, 2, 3))) static void say(struct tracez *t, const char *fmt, ...) {
  va_list ap;
  room(t, 256);
  va_start(ap, fmt);
  t->to += (size_t)vsnprintf(t->text + t->to, 256, fmt, ap);
  va_end(ap);
}

static bool open_header(struct tracez *t, struct err *e) {
  size_t most = t->file_bytes < HEADER_MOST ? (size_t)t->file_bytes : HEADER_MOST;
  room(t, most + 1);
  if (!read_at(t, 0, t->text, most, "the header", e)) return false;
  char *end = memchr(t->text, 0, most);
  if (!end) return err_set(e, ERR_INPUT, "%s: no NUL ends the header text", t->path);
  t->to = (size_t)(end - t->text);
  uint64_t at = t->to + 1;
  uint32_t dict_bytes, per_chunk;
  if (!read_u32(t, &at, &dict_bytes, "the dictionary's size", e) || !read_u32(t, &at, &per_chunk, "the chunk size", e))
    return false;
  if (dict_bytes > DICT_MOST)
    return err_set(e, ERR_INPUT, "%s: a dictionary of %u bytes at offset %llu: at most %d are possible", t->path,
                   dict_bytes, (unsigned long long)at - 8, DICT_MOST);
  if (dict_bytes) {
    void *dict = mem_alloc(dict_bytes);
    if (!read_at(t, at, dict, dict_bytes, "the dictionary", e)) return free(dict), false;
    t->dict = ZSTD_createDDict(dict, dict_bytes);
    free(dict);
    if (!t->dict)
      return err_set(e, ERR_INPUT, "%s: not a zstd dictionary at offset %llu", t->path, (unsigned long long)at);
  }
  const char *version = strstr(t->text, "-accelsim tracer version = ");
  t->clusters = version && strtod(strchr(version, '=') + 1, NULL) >= 6;
  if (t->to && t->text[t->to - 1] != '\n') say(t, "\n");
  if (!memchr(t->text, '#', t->to)) say(t, "#traces format\n");
  return true;
}

struct tracez *tracez_open(const char *path, FILE *f, uint64_t file_bytes, struct err *e) {
  struct tracez *t = mem_zeroed(1, sizeof *t);
  t->path = path;
  t->f = f;
  t->file_bytes = file_bytes;
  t->ctx = ZSTD_createDCtx();
  CHECK(t->ctx, "out of memory");
  uint64_t at = file_bytes >= 8 ? file_bytes - 8 : file_bytes;
  bool ok = read_u64(t, &at, &t->index_at, "the offset of the index", e) && open_header(t, e);
  t->at = t->index_at;
  if (ok) ok = read_u32(t, &t->at, &t->ctas, "the index", e);
  if (ok) return t;
  tracez_close(t);
  return NULL;
}

static bool next_cta(struct tracez *t, struct err *e) {
  uint32_t v[CTA_WORDS];
  for (int i = 0; i < CTA_WORDS; i++)
    if (!read_u32(t, &t->at, &v[i], "an index entry of a CTA", e)) return false;
  t->cta++;
  t->warps = v[10];
  t->warp = 0;
  if (t->warps > 64) return err_set(e, ERR_INPUT, "%s: a CTA of %u warps in the index", t->path, t->warps);
  say(t, "#BEGIN_TB\nthread block = %u,%u,%u\n", v[0], v[1], v[2]);
  if (t->clusters)
    say(t, "cluster id = %u,%u,%u\ncluster cta = %u,%u,%u\ncluster rank = %u\n", v[3], v[4], v[5], v[6], v[7], v[8],
        v[9]);
  return true;
}

static bool next_warp(struct tracez *t, struct err *e) {
  uint32_t insts, again, chunks;
  if (!read_u32(t, &t->at, &insts, "an index entry of a warp", e) ||
      !read_u32(t, &t->at, &t->chunks, "the number of chunks", e) ||
      !read_u64(t, &t->at, &t->chunk_at, "the offset of a warp", e))
    return false;
  if (t->chunks > t->file_bytes / 4)
    return err_set(e, ERR_INPUT, "%s: a warp of %u chunks in a file of %llu bytes", t->path, t->chunks,
                   (unsigned long long)t->file_bytes);
  t->at += 4 * (uint64_t)t->chunks; /* sizes, repeated by the chunks */
  say(t, "warp = %u\ninsts = %u\n", t->warp++, insts);
  t->chunk = 0;
  if (!t->chunks) return true;
  uint64_t at = t->chunk_at; /* the warp's own head: repeats instructions and chunks */
  if (!read_u32(t, &at, &again, "a warp", e) || !read_u32(t, &at, &chunks, "a warp", e)) return false;
  if (again == insts && chunks == t->chunks) t->chunk_at = at;
  return true;
}

static bool next_chunk(struct tracez *t, struct err *e) {
  uint32_t packed;
  uint64_t where = t->chunk_at;
  if (!read_u32(t, &t->chunk_at, &packed, "the size of a chunk", e)) return false;
  if (packed > t->packed_size) {
    if (packed > t->file_bytes) packed = UINT32_MAX;
    else t->packed = mem_resize(t->packed, t->packed_size = packed, 1);
  }
  if (packed > t->packed_size || !read_at(t, t->chunk_at, t->packed, packed, "a chunk", e))
    return e->code ? false
                   : err_set(e, ERR_INPUT, "%s: a chunk at offset %llu is larger than the file", t->path,
                             (unsigned long long)where);
  t->chunk_at += packed;
  t->chunk++;
  unsigned long long bytes = ZSTD_getFrameContentSize(t->packed, packed);
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes > CHUNK_MOST)
    return err_set(e, ERR_INPUT, "%s: no zstd frame with its size at offset %llu", t->path,
                   (unsigned long long)where + 4);
  room(t, (size_t)bytes + 1);
  size_t got = t->dict ? ZSTD_decompress_usingDDict(t->ctx, t->text + t->to, (size_t)bytes, t->packed, packed, t->dict)
                       : ZSTD_decompressDCtx(t->ctx, t->text + t->to, (size_t)bytes, t->packed, packed);
  if (ZSTD_isError(got))
    return err_set(e, ERR_INPUT, "%s: chunk at offset %llu: %s", t->path, (unsigned long long)where,
                   ZSTD_getErrorName(got));
  t->to += got;
  if (got && t->text[t->to - 1] != '\n') t->text[t->to++] = '\n';
  return true;
}

/* Some more text, false at the end or with `e`. */
static bool more(struct tracez *t, struct err *e) {
  if (t->chunk < t->chunks) return next_chunk(t, e);
  if (t->warp < t->warps) return next_warp(t, e);
  if (t->cta && t->warps) say(t, "#END_TB\n"), t->warps = 0;
  if (t->cta == t->ctas) {
    if (t->at + 8 != t->file_bytes)
      return err_set(e, ERR_INPUT, "%s: the index ends at offset %llu, not 8 bytes before the end of the file (%llu)",
                     t->path, (unsigned long long)t->at, (unsigned long long)t->file_bytes);
    return t->from < t->to;
  }
  return next_cta(t, e);
}

size_t tracez_read(struct tracez *t, char *to, size_t size, struct err *e) {
  while (t->from == t->to)
    if (!more(t, e)) return 0;
  size_t n = t->to - t->from < size ? t->to - t->from : size;
  memcpy(to, t->text + t->from, n);
  t->from += n;
  return n;
}

uint64_t tracez_position(const struct tracez *t) {
  return t->chunk_at;
}

void tracez_close(struct tracez *t) {
  if (!t) return;
  ZSTD_freeDCtx(t->ctx);
  ZSTD_freeDDict(t->dict);
  free(t->text);
  free(t->packed);
  free(t);
}

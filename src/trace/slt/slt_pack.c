/* slt_pack.c - writing blocks. A kernel that is launched many times with small grids gives many similar small blocks:
 * when there are enough, a zstd dictionary is built from those written so far.
 */
#include "trace/slt/slt_pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>

#include "base/mem.h"

enum { LEVEL = 9, DICT_BYTES = 16 << 10, SAMPLE_MAX = 16 << 10, SAMPLES_BYTES = 96 << 10, SAMPLES_LEAST = 16 };

struct slt_pack_kernel {
  uint32_t code, entry;
  uint32_t dict; /* 0: none yet */
  bool settled;  /* no more samples: the dictionary exists, or none will be built */
  struct slt_buf samples;
  size_t *sizes;
  uint32_t nsamples;
  ZSTD_CDict *ready;
};

struct slt_pack {
  struct output *file; /* NULL once it is complete or discarded */
  FILE *out;           /* of `file` */
  uint64_t at;
  int error; /* errno of the first failed write */
  char *path;
  ZSTD_CCtx *zstd;
  uint8_t *packed;
  size_t packed_size;
  uint64_t *codes, *code_hash, *dicts;
  uint32_t ncodes, ndicts;
  struct slt_pack_kernel **kernels;
  uint32_t nkernels;
};

struct slt_pack *slt_pack_create(const char *path, const char *temp, struct err *e) {
  struct output *file = temp ? output_open_in_place(temp) : output_open(path);
  if (!file) return output_failed(path, errno, e), NULL;
  struct slt_pack *p = mem_zeroed(1, sizeof *p);
  *p = (struct slt_pack){.file = file, .out = output_file(file), .path = mem_text(path), .zstd = ZSTD_createCCtx()};
  CHECK(p->path && p->zstd, "out of memory");
  uint8_t header[SLT_HEADER] = {0}; /* not a trace yet: the real header is written last */
  fwrite(header, 1, sizeof header, p->out);
  p->at = SLT_HEADER;
  return p;
}

void slt_pack_free(struct slt_pack *p) {
  if (!p) return;
  output_abandon(p->file);
  ZSTD_freeCCtx(p->zstd);
  for (uint32_t i = 0; i < p->nkernels; i++) {
    ZSTD_freeCDict(p->kernels[i]->ready);
    slt_buf_free(&p->kernels[i]->samples);
    free(p->kernels[i]->sizes);
    free(p->kernels[i]);
  }
  free(p->kernels);
  free(p->codes);
  free(p->code_hash);
  free(p->dicts);
  free(p->packed);
  free(p->path);
  free(p);
}

bool slt_pack_error(const struct slt_pack *p, struct err *e) {
  int why = p->error || !p->file ? p->error : output_error(p->file);
  if (why) output_failed(p->path, why, e);
  return why;
}

/* ---- blocks ---- */

static uint64_t write_block(struct slt_pack *p, const struct slt_block *b, const uint8_t *payload) {
  uint8_t h[SLT_BLOCK_HEADER] = {b->type, b->codec, (uint8_t)b->dict, (uint8_t)(b->dict >> 8)};
  slt_put32(h + 4, b->stored);
  slt_put32(h + 8, b->raw);
  slt_put32(h + 12, slt_block_check(h, payload, b->stored));
  fwrite(h, 1, sizeof h, p->out);
  fwrite(payload, 1, b->stored, p->out);
  uint64_t at = p->at;
  p->at += SLT_BLOCK_HEADER + (uint64_t)b->stored;
  return at;
}

static uint64_t pack(struct slt_pack *p, uint8_t type, const uint8_t *raw, size_t bytes, const ZSTD_CDict *dict,
                     uint32_t number) {
  CHECK(bytes <= SLT_MAX_RAW, "a block of %zu bytes", bytes);
  struct slt_block b = {.type = type, .stored = (uint32_t)bytes, .raw = (uint32_t)bytes};
  size_t room = ZSTD_compressBound(bytes);
  if (room > p->packed_size) {
    p->packed = mem_resize(p->packed, room, 1);
    p->packed_size = room;
  }
  size_t n = type == SLT_DICT ? bytes
             : dict           ? ZSTD_compress_usingCDict(p->zstd, p->packed, room, raw, bytes, dict)
                              : ZSTD_compressCCtx(p->zstd, p->packed, room, raw, bytes, LEVEL);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  n = bytes; /* seeds that a fuzzer can change */
#endif
  if (ZSTD_isError(n) || n >= bytes) return write_block(p, &b, raw);
  b.codec = dict ? SLT_ZSTD_DICT : SLT_ZSTD;
  b.dict = (uint16_t)number;
  b.stored = (uint32_t)n;
  return write_block(p, &b, p->packed);
}

uint64_t slt_pack_block(struct slt_pack *p, uint8_t type, const uint8_t *raw, size_t bytes) {
  return pack(p, type, raw, bytes, NULL, 0);
}

/* ---- dictionaries ---- */

static void make_dictionary(struct slt_pack *p, struct slt_pack_kernel *k) {
  uint8_t *dict = mem_alloc(DICT_BYTES);
  size_t n = ZDICT_trainFromBuffer(dict, DICT_BYTES, k->samples.at, k->sizes, k->nsamples);
  k->settled = true;
  slt_buf_free(&k->samples);
  if (!ZDICT_isError(n) && p->ndicts < UINT16_MAX && (k->ready = ZSTD_createCDict(dict, n, LEVEL))) {
    p->dicts = mem_resize(p->dicts, p->ndicts + 1, sizeof *p->dicts);
    p->dicts[p->ndicts++] = pack(p, SLT_DICT, dict, n, NULL, 0);
    k->dict = p->ndicts;
  }
  free(dict);
}

static void keep_sample(struct slt_pack *p, struct slt_pack_kernel *k, const struct slt_buf *raw) {
  if (raw->used > SAMPLE_MAX) { /* blocks large enough to compress without a dictionary */
    if (!k->nsamples) k->settled = true;
    return;
  }
  k->sizes = mem_resize(k->sizes, k->nsamples + 1, sizeof *k->sizes);
  k->sizes[k->nsamples++] = raw->used;
  slt_bytes(&k->samples, raw->at, raw->used);
  if (k->samples.used >= SAMPLES_BYTES && k->nsamples >= SAMPLES_LEAST) make_dictionary(p, k);
}

uint64_t slt_pack_slices(struct slt_pack *p, struct slt_pack_kernel *k, const struct slt_buf *raw) {
  uint64_t at = pack(p, SLT_SLICES, raw->at, raw->used, k->ready, k->dict);
  if (!k->settled) keep_sample(p, k, raw);
  return at;
}

struct slt_pack_kernel *slt_pack_kernel(struct slt_pack *p, uint32_t code, uint32_t entry) {
  for (uint32_t i = 0; i < p->nkernels; i++)
    if (p->kernels[i]->code == code && p->kernels[i]->entry == entry) return p->kernels[i];
  p->kernels = mem_resize(p->kernels, p->nkernels + 1, sizeof *p->kernels);
  struct slt_pack_kernel *k = mem_zeroed(1, sizeof *k);
  k->code = code;
  k->entry = entry;
  return p->kernels[p->nkernels++] = k;
}

uint32_t slt_pack_dicts(const struct slt_pack *p) {
  return p->ndicts;
}

void slt_pack_back_to(struct slt_pack *p, uint64_t at, uint32_t dicts) {
  if (!output_cut(p->file, at) && !p->error) p->error = errno;
  p->at = at;
  p->ndicts = dicts;
  for (uint32_t i = 0; i < p->nkernels; i++) {
    struct slt_pack_kernel *k = p->kernels[i];
    if (k->dict <= dicts) continue;
    ZSTD_freeCDict(k->ready);
    k->ready = NULL;
    k->dict = 0;
  }
}

/* ---- static code ---- */

uint32_t slt_pack_code(struct slt_pack *p, const struct feed_kernel *k) {
  struct slt_buf b = {0};
  slt_code_encode(&b, k);
  uint64_t h = hash_bytes(HASH_INIT, b.at, b.used);
  uint32_t n = 0;
  while (n < p->ncodes && p->code_hash[n] != h) n++;
  if (n == p->ncodes) {
    p->codes = mem_resize(p->codes, n + 1, sizeof *p->codes);
    p->code_hash = mem_resize(p->code_hash, n + 1, sizeof *p->code_hash);
    p->code_hash[n] = h;
    p->codes[n] = pack(p, SLT_CODE, b.at, b.used, NULL, 0);
    p->ncodes++;
  }
  slt_buf_free(&b);
  return n;
}

/* ---- the end ---- */

static void put_offsets(struct slt_buf *b, const uint64_t *at, uint32_t n) {
  slt_v(b, n);
  for (uint32_t i = 0; i < n; i++) slt_v(b, at[i] - (i ? at[i - 1] : 0));
}

void slt_pack_lists(const struct slt_pack *p, struct slt_buf *b) {
  put_offsets(b, p->codes, p->ncodes);
  put_offsets(b, p->dicts, p->ndicts);
}

void slt_pack_flush(struct slt_pack *p) {
  fflush(p->out); /* an error is kept there */
}

bool slt_pack_finish(struct slt_pack *p, const struct slt_buf *index, uint32_t launches, struct err *e) {
  uint64_t at = pack(p, SLT_INDEX, index->at, index->used, NULL, 0);
  uint8_t h[SLT_HEADER] = {0};
  memcpy(h, SLT_MAGIC, 8);
  slt_put32(h + 8, SLT_VERSION);
  slt_put32(h + 12, SLT_ORDER);
  slt_put64(h + 16, p->at);
  slt_put64(h + 24, at);
  slt_put32(h + 32, launches);
  slt_put64(h + 40, hash_bytes(HASH_INIT, h, 40));
  bool good = !p->error && !fseeko(p->out, 0, SEEK_SET) && fwrite(h, 1, sizeof h, p->out) == sizeof h;
  if (good) {
    good = output_commit(p->file);
    p->file = NULL;
    if (!good) p->error = errno;
  } else if (!p->error) {
    p->error = output_error(p->file) ? output_error(p->file) : EIO;
  }
  return good || !slt_pack_error(p, e);
}

/* accel_kernel.c - see accel_kernel.h.
 *
 * A CTA's bytes: per warp a u32 length of its records, then the records of the warps one after the other.
 */
#include "trace/accel/accel_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/hash.h"
#include "trace/accel/accel_stream.h"
#include "trace/accel/sass.h"

enum { WARPS_MOST = 64, CTAS_MOST = 1 << 28, FIRST_OWN = 256, OWN_MOST = 1024 };

struct static_inst {
  uint32_t pc, line, bytes; /* bytes per lane */
  char *text;
  uint8_t opcode_at, opcode_len;
  uint8_t ndst, nsrc;
  uint16_t dst[ACCEL_REGS], src[ACCEL_REGS];
  bool memory;
};

struct reader {
  struct accel_kernel *k;
  struct accel_stream *s;
  const char *path;
  struct static_inst *inst;
  uint32_t insts, inst_room, *bucket, buckets; /* hash table of inst numbers + 1 */
  struct pack warp, cta, packed, header;
  struct pack_warp state;
  uint32_t length[WARPS_MOST];
  uint64_t file_end;
  uint32_t cluster[3]; /* the highest place of a CTA in its cluster, plus 1; 0: no CTA names one */
  ZSTD_CCtx *zstd;
  const struct trace_input *who; /* receives progress */
};

static bool at_line(struct reader *r, struct err *e) { /* put file:line before the message */
  char text[sizeof e->msg];
  enum err_code code = e->code;
  snprintf(text, sizeof text, "%s", e->msg);
  uint64_t line = accel_stream_number(r->s);
  err_set(e, code, "%s:%llu: %.400s", r->path, (unsigned long long)(line ? line : 1), text);
  return false;
}

#define LINE_ERROR(r, e, ...) (err_set(e, ERR_INPUT, __VA_ARGS__), at_line(r, e))

/* ---- static instructions ---- */

static uint64_t inst_hash(const struct accel_inst *i) {
  uint64_t h = hash_bytes(HASH_INIT ^ hash_u64((uint64_t)i->line << 32 | i->pc), i->head, i->head_len);
  return hash_u64(hash_bytes(h, i->tail, i->tail_len));
}

static bool same(const struct static_inst *a, const struct accel_inst *i) {
  size_t n = strlen(a->text);
  return a->pc == i->pc && a->line == i->line && n == i->head_len + 1 + i->tail_len &&
         !memcmp(a->text, i->head, i->head_len) && !memcmp(a->text + i->head_len + 1, i->tail, i->tail_len);
}

static void rehash(struct reader *r) {
  r->buckets = r->buckets ? 2 * r->buckets : 1024;
  free(r->bucket);
  r->bucket = mem_zeroed(r->buckets, sizeof *r->bucket);
  for (uint32_t n = 0; n < r->insts; n++) {
    const struct static_inst *a = &r->inst[n];
    const char *tab = strchr(a->text, '\t');
    struct accel_inst i = {.pc = a->pc,
                           .line = a->line,
                           .head = a->text,
                           .head_len = (size_t)(tab - a->text),
                           .tail = tab + 1,
                           .tail_len = strlen(tab + 1)};
    uint32_t b = (uint32_t)inst_hash(&i) & (r->buckets - 1);
    while (r->bucket[b]) b = (b + 1) & (r->buckets - 1);
    r->bucket[b] = n + 1;
  }
}

static uint32_t static_of(struct reader *r, const struct accel_inst *i) {
  if (2 * r->insts >= r->buckets) rehash(r);
  uint32_t b = (uint32_t)inst_hash(i) & (r->buckets - 1);
  for (; r->bucket[b]; b = (b + 1) & (r->buckets - 1))
    if (same(&r->inst[r->bucket[b] - 1], i)) return r->bucket[b] - 1;
  if (r->insts == r->inst_room) {
    r->inst_room = r->inst_room ? 2 * r->inst_room : 256;
    r->inst = mem_resize(r->inst, r->inst_room, sizeof *r->inst);
  }
  struct static_inst *a = &r->inst[r->insts];
  *a = (struct static_inst){.pc = i->pc, .line = i->line, .ndst = i->ndst, .nsrc = i->nsrc, .memory = i->addresses};
  a->bytes = i->width;
  a->text = mem_alloc(i->head_len + i->tail_len + 2);
  sprintf(a->text, "%.*s\t%.*s", (int)i->head_len, i->head, (int)i->tail_len, i->tail);
  a->opcode_at = (uint8_t)(i->opcode - i->head);
  a->opcode_len = (uint8_t)i->opcode_len;
  memcpy(a->dst, i->dst, sizeof a->dst);
  memcpy(a->src, i->src, sizeof a->src);
  r->bucket[b] = ++r->insts;
  return r->insts - 1;
}

static void inst_add_reg(struct inst *out, bool dst, uint16_t reg) {
  uint8_t *n = dst ? &out->ndst : &out->nsrc;
  if (*n == (dst ? (int)INST_MAX_DST : (int)INST_MAX_SRC)) return;
  (dst ? out->dst : out->src)[*n] = reg;
  (dst ? out->dst_arch : out->src_arch)[(*n)++] = (uint16_t)(reg - 1);
}

static void finish_inst(const struct accel_kernel *k, const struct static_inst *a, struct inst *out) {
  *out = (struct inst){.fetch_pc = a->pc, .ptx_line = a->line, .src_line = a->line};
  const char *opcode = a->text + a->opcode_at;
  sass_classify(out, opcode, a->opcode_len, a->memory, k->header.binary_version);
  bool memory = out->pipe == PIPE_MEM && out->kind != KIND_FENCE;
  for (uint8_t d = 0; d < a->ndst; d++) {
    inst_add_reg(out, true, a->dst[d]);
    /* Wide loads write a range of registers, of which the trace names the first. */
    for (uint16_t w = 1; out->kind == KIND_LOAD && 4u * w < (uint32_t)out->elem_bytes * out->vec && a->dst[d] + w < 256;
         w++)
      inst_add_reg(out, true, (uint16_t)(a->dst[d] + w));
  }
  for (uint8_t s = 0; s < a->nsrc; s++) {
    if (memory && !s) out->addr_reg = a->src[0], out->addr_arch = (uint16_t)(a->src[0] - 1);
    else inst_add_reg(out, false, a->src[s]);
  }
}

static int by_pc(const void *a, const void *b) {
  const struct static_inst *x = *(const struct static_inst *const *)a, *y = *(const struct static_inst *const *)b;
  if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Static instructions in order of address: neighbours in memory are neighbours in `code`. */
static void finish_code(struct reader *r) {
  struct accel_kernel *k = r->k;
  const struct static_inst **order = mem_zeroed(r->insts + 1, sizeof *order);
  k->code = mem_zeroed(r->insts + 1, sizeof *k->code);
  k->text = mem_zeroed(r->insts + 1, sizeof *k->text);
  k->place = mem_zeroed(r->insts + 1, sizeof *k->place);
  for (uint32_t n = 0; n < r->insts; n++) order[n] = &r->inst[n];
  qsort(order, r->insts, sizeof *order, by_pc);
  for (uint32_t n = 0; n < r->insts; n++) {
    finish_inst(k, order[n], &k->code[n]);
    struct inst *i = &k->code[n];
    if (i->kind == KIND_LOAD &&
        !i->ndst) { /* LDGSTS, loads to RZ: a register of their own, so that their data is awaited */
      if (k->feed.max_reg < FIRST_OWN + OWN_MOST) k->feed.max_reg++;
      i->dst[i->ndst++] = (uint16_t)k->feed.max_reg;
    }
    k->code[n].pc = n;
    k->text[n] = order[n]->text;
    k->place[order[n] - r->inst] = n;
  }
  if (!r->insts)
    k->code[0] = (struct inst){.kind = KIND_EXIT, .pipe = PIPE_SP}; /* an empty kernel needs one
                                                                                  * instruction */
  free(order);
}

/* ---- CTAs ---- */

static bool end_cta(struct reader *r, uint32_t linear, struct err *e) {
  struct accel_kernel *k = r->k;
  struct pack whole = {0};
  pack_bytes(&whole, r->length, k->feed.warps_per_cta * sizeof *r->length);
  pack_bytes(&whole, r->cta.at, r->cta.used);
  if (whole.used > UINT32_MAX / 2) {
    pack_free(&whole);
    return LINE_ERROR(r, e, "a CTA of over 2 GB");
  }
  size_t bound = ZSTD_compressBound(whole.used);
  if (r->packed.size < bound) {
    r->packed.at = mem_resize(r->packed.at, r->packed.size = bound, 1);
  }
  size_t n = ZSTD_compressCCtx(r->zstd, r->packed.at, bound, whole.at, whole.used, 1);
  CHECK(!ZSTD_isError(n), "zstd: %s", ZSTD_getErrorName(n));
  k->cta[linear] = (struct accel_cta){.at = r->file_end, .packed = (uint32_t)n, .bytes = (uint32_t)whole.used};
  pack_free(&whole);
  for (size_t done = 0; done < n;) {
    ssize_t w = pwrite(k->fd, r->packed.at + done, n - done, (off_t)(r->file_end + done));
    if (w <= 0)
      return err_set(e, ERR_INPUT, "%s: cannot write its packed form to the folder for temporary files: %s", r->path,
                     strerror(errno));
    done += (size_t)w;
  }
  r->file_end += n;
  return true;
}

static bool warp_lines(struct reader *r, unsigned long insts, struct err *e) {
  struct accel_inst i;
  const char *line;
  size_t n;
  r->warp.used = 0;
  r->state = (struct pack_warp){0};
  for (unsigned long done = 0; done < insts;) {
    if (!accel_stream_line(r->s, &line, &n, e))
      return e->code ? false : LINE_ERROR(r, e, "the file ends in a warp of %lu instructions after %lu", insts, done);
    if (!n) continue;
    if (!accel_inst_line(&r->k->header, line, n, &i, e)) return at_line(r, e);
    struct pack_record rec = {.id = static_of(r, &i), .mask = i.mask, .naddr = i.naddr};
    memcpy(rec.addr, i.addr, i.naddr * sizeof *rec.addr);
    pack_put(&r->warp, &r->state, &rec);
    r->k->warp_insts++;
    r->k->thread_insts += (uint32_t)__builtin_popcount(i.mask);
    r->k->lossy += i.lossy;
    done++;
  }
  return true;
}

static bool starts(const char *line, size_t n, const char *with) {
  size_t k = strlen(with);
  return n >= k && !memcmp(line, with, k);
}

/* Clusters of version 6: their size is the highest place of a CTA in its cluster, plus 1. */
static void note_cluster(struct reader *r, const char *line, size_t n) {
  char text[64];
  unsigned at[3];
  snprintf(text, sizeof text, "%.*s", (int)(n < 60 ? n : 60), line);
  if (sscanf(text, "cluster cta = %u,%u,%u", &at[0], &at[1], &at[2]) != 3) return;
  for (int d = 0; d < 3; d++)
    if (at[d] < INT32_MAX && r->cluster[d] <= at[d]) r->cluster[d] = at[d] + 1;
}

/* The lines of one CTA after its "thread block" line, up to #END_TB. */
static bool read_cta(struct reader *r, struct err *e) {
  const char *line;
  size_t n;
  int warp = -1;
  r->cta.used = 0;
  memset(r->length, 0, sizeof r->length);
  while (accel_stream_line(r->s, &line, &n, e)) {
    unsigned long v;
    char text[64];
    if (!n) continue;
    if (starts(line, n, "cluster")) {
      note_cluster(r, line, n);
      continue;
    }
    snprintf(text, sizeof text, "%.*s", (int)(n < 60 ? n : 60), line);
    if (starts(line, n, "#END_TB")) return true;
    if (sscanf(text, "warp = %lu", &v) == 1) {
      if (v >= r->k->feed.warps_per_cta || r->length[v])
        return LINE_ERROR(r, e,
                          v >= r->k->feed.warps_per_cta ? "warp %lu of a CTA of %u warps"
                                                        : "warp %lu comes twice in a CTA (of %u warps)",
                          v, r->k->feed.warps_per_cta);
      warp = (int)v;
    } else if (sscanf(text, "insts = %lu", &v) == 1) {
      if (warp < 0) return LINE_ERROR(r, e, "`insts =` before any `warp =`");
      if (!warp_lines(r, v, e)) return false;
      r->length[warp] = (uint32_t)r->warp.used;
      pack_bytes(&r->cta, r->warp.at, r->warp.used);
      /* Warps must be in order; another order would need sorting. */
      for (uint32_t later = (uint32_t)warp + 1; later < r->k->feed.warps_per_cta; later++)
        if (r->length[later])
          return LINE_ERROR(r, e, "warp %d after warp %u: warps of a CTA come in order", warp, later);
      warp = -1;
    } else {
      return LINE_ERROR(r, e, "'%s' where `warp = N`, `insts = N` or #END_TB was expected", text);
    }
  }
  return e->code ? false : LINE_ERROR(r, e, "the file ends within a CTA (no #END_TB)");
}

static bool read_ctas(struct reader *r, struct err *e) {
  struct accel_kernel *k = r->k;
  const char *line;
  size_t n;
  uint32_t ctas = 0;
  while (accel_stream_line(r->s, &line, &n, e)) {
    unsigned long x, y, z;
    char text[96];
    if (!n || starts(line, n, "#")) continue;
    snprintf(text, sizeof text, "%.*s", (int)(n < 90 ? n : 90), line);
    if (sscanf(text, "thread block = %lu,%lu,%lu", &x, &y, &z) != 3)
      return LINE_ERROR(r, e, "'%s' where `thread block = x,y,z` was expected", text);
    const uint32_t *g = k->header.grid;
    if (x >= g[0] || y >= g[1] || z >= g[2])
      return LINE_ERROR(r, e, "thread block %lu,%lu,%lu in a grid of %u,%u,%u", x, y, z, g[0], g[1], g[2]);
    uint32_t linear = (uint32_t)((z * g[1] + y) * g[0] + x);
    if (k->cta[linear].bytes) return LINE_ERROR(r, e, "thread block %lu,%lu,%lu comes twice", x, y, z);
    if (!read_cta(r, e) || !end_cta(r, linear, e)) return false;
    if (r->who->reading) {
      uint64_t done, total;
      accel_stream_progress(r->s, &done, &total);
      r->who->reading(r->who->reading_ctx, done, total);
    }
    ctas++;
  }
  if (e->code || ctas == k->feed.ctas) return !e->code;
  return LINE_ERROR(r, e, "the file ends after %u of the %u CTAs that its header says: it was cut off", ctas,
                    k->feed.ctas);
}

/* ---- the file ---- */

static bool read_kernel_header(struct reader *r, struct err *e) {
  struct accel_kernel *k = r->k;
  struct accel_header *h = &k->header;
  const char *line;
  size_t n;
  bool end = false;
  while (!end && accel_stream_line(r->s, &line, &n, e)) {
    if (!accel_header_line(h, line, n, &end, e)) return at_line(r, e);
    if (n) pack_bytes(&r->header, line, n), pack_bytes(&r->header, "\n", 1);
  }
  if (e->code) return false;
  if (!end) return LINE_ERROR(r, e, "no line that begins with '#' ends the header: is this an Accel-Sim kernel file?");
  if (!h->seen_grid || !h->seen_block)
    return LINE_ERROR(r, e, "the header has no `-%s dim = (x,y,z)`", h->seen_grid ? "block" : "grid");
  uint64_t threads = (uint64_t)h->block[0] * h->block[1] * h->block[2],
           ctas = (uint64_t)h->grid[0] * h->grid[1] * h->grid[2];
  if (threads > 1024)
    return LINE_ERROR(r, e, "%llu threads in a CTA: at most 1024 are possible", (unsigned long long)threads);
  if (h->grid[1] > 65535 || h->grid[2] > 65535 || ctas > CTAS_MOST)
    return LINE_ERROR(r, e, "a grid of %llu CTAs: at most %d are possible", (unsigned long long)ctas, CTAS_MOST);
  struct feed_kernel *f = &k->feed;
  *f = (struct feed_kernel){.name = h->name, .ctas = (uint32_t)ctas, .threads_per_cta = (uint32_t)threads};
  memcpy(f->grid, h->grid, sizeof f->grid);
  memcpy(f->block, h->block, sizeof f->block);
  f->warps_per_cta = (f->threads_per_cta + WARP_LANES - 1) / WARP_LANES;
  f->regs_per_thread = h->nregs ? h->nregs : 1;
  f->shared_bytes = h->shmem;
  f->max_reg = FIRST_OWN;
  k->cta = mem_zeroed(f->ctas, sizeof *k->cta);
  return true;
}

static void keep_header(struct reader *r) {
  if (r->cluster[0] && r->cluster[1] && r->cluster[2]) {
    char line[96];
    int n = snprintf(line, sizeof line, ACCEL_CLUSTER " = (%u,%u,%u)\n", r->cluster[0], r->cluster[1], r->cluster[2]);
    pack_bytes(&r->header, line, (size_t)n);
  }
  pack_bytes(&r->header, "", 1);
  r->k->feed.origin = r->k->origin = mem_text((char *)r->header.at);
}

static bool temp_file(struct accel_kernel *k, struct err *e) {
  const char *dir = getenv("TMPDIR");
  char path[600];
  snprintf(path, sizeof path, "%.500s/sluice-trace-XXXXXX", dir && *dir ? dir : "/tmp");
  k->fd = mkstemp(path);
  if (k->fd < 0)
    return err_set(e, ERR_INPUT, "cannot make a temporary file in %s: %s", dir && *dir ? dir : "/tmp", strerror(errno));
  unlink(path);
  return true;
}

bool accel_kernel_stream(const char *path, long *stream, struct err *e) {
  struct accel_header h = {0};
  struct accel_stream *s = accel_stream_open(path, e);
  const char *line;
  size_t n;
  bool end = false, ok = s != NULL;
  while (ok && !end && accel_stream_line(s, &line, &n, e)) ok = accel_header_line(&h, line, n, &end, e);
  accel_stream_close(s);
  *stream = h.stream;
  return ok && !e->code;
}

bool accel_kernel_read(struct accel_kernel *k, const char *path, const struct trace_input *who, struct err *e) {
  *k = (struct accel_kernel){.fd = -1};
  struct reader r = {.k = k, .path = path, .who = who, .s = accel_stream_open(path, e)};
  if (!r.s) return false;
  r.zstd = ZSTD_createCCtx();
  CHECK(r.zstd, "out of memory");
  bool ok = temp_file(k, e) && read_kernel_header(&r, e) && read_ctas(&r, e);
  if (ok) {
    finish_code(&r);
    keep_header(&r);
    k->feed.code = k->code;
    k->feed.text = r.insts ? (const char *const *)k->text : NULL;
    k->feed.insts = r.insts ? r.insts : 1;
  } else {
    for (uint32_t n = 0; n < r.insts; n++) free(r.inst[n].text);
  }
  accel_stream_close(r.s);
  ZSTD_freeCCtx(r.zstd);
  pack_free(&r.warp);
  pack_free(&r.cta);
  pack_free(&r.packed);
  pack_free(&r.header);
  free(r.inst);
  free(r.bucket);
  return ok;
}

bool accel_kernel_cta(const struct accel_kernel *k, uint32_t cta, struct pack *out, struct pack *scratch,
                      struct err *e) {
  const struct accel_cta *c = &k->cta[cta];
  out->used = scratch->used = 0;
  if (!c->bytes) return true;
  if (scratch->size < c->packed) scratch->at = mem_resize(scratch->at, scratch->size = c->packed, 1);
  if (out->size < c->bytes) out->at = mem_resize(out->at, out->size = c->bytes, 1);
  if (pread(k->fd, scratch->at, c->packed, (off_t)c->at) != (ssize_t)c->packed)
    return err_set(e, ERR_INPUT, "cannot read the temporary file of kernel %s back: %s", k->header.name,
                   strerror(errno));
  out->used = ZSTD_decompress(out->at, c->bytes, scratch->at, c->packed);
  CHECK(out->used == c->bytes, "a CTA was packed from %u bytes, %zu came back", c->bytes, out->used);
  return true;
}

void accel_kernel_free(struct accel_kernel *k) {
  for (uint32_t n = 0; k->text && n < k->feed.insts; n++) free(k->text[n]);
  free(k->text);
  free(k->origin);
  free(k->code);
  free(k->place);
  free(k->cta);
  if (k->fd >= 0) close(k->fd);
  *k = (struct accel_kernel){.fd = -1};
}

/* slt_read.c - .slt files as a trace_input: the list of launches, the static code of each, and the streams of open
 * CTAs.
 */
#include "trace/slt/slt_read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/slt/slt_decode.h"
#include "trace/slt/slt_file.h"
#include "trace/slt/slt_slices.h"

enum { CODES_KEPT = 8, MAX_WARPS = 32 };

/* One S block as a launch's L block lists it. */
struct slice_ref {
  uint64_t at;
  uint32_t cta, warp; /* warp + 1; 0: several */
};

struct code_ref {
  uint64_t at;
  struct slt_code *code; /* while kept */
  uint64_t used;
};

struct launch_ref {
  uint64_t at, end; /* of its K and L blocks */
};

struct warp_reader {
  struct slt_decoder d;
  struct slt_slices *block;
  uint32_t ref; /* index in `sorted` of the next block to visit */
};

struct cta_reader {
  uint32_t cta;
  struct warp_reader *warp;
};

struct slt_reader {
  struct trace_input in;
  struct trace_order order;
  struct slt_file *file;
  struct slt_shelf *shelf;
  char *path, *program;
  struct code_ref *codes;
  struct launch_ref *launches;
  uint32_t ncodes, nlaunches;
  uint64_t at;     /* position of `next`: offset of a block */
  uint32_t launch; /* the launch that `next` gives when it meets a K block */
  uint64_t stop;   /* offset at which the events end */
  uint64_t clock;  /* for replacing cached code */
  /* the launch that `next` gave last */
  struct feed_kernel kernel;
  char *name, *origin;
  const struct slt_code *code;
  struct slice_ref *refs; /* in order of the file, then sorted by CTA (stable) */
  uint32_t nrefs, *first; /* by CTA: index of its first ref; with one extra at the end */
  struct cta_reader *ctas;
  uint32_t slots;
};

static struct slt_reader *self(struct trace_input *t) {
  return (struct slt_reader *)t;
}

/* ---- static code ---- */

static const struct slt_code *get_code(struct slt_reader *r, uint64_t n, uint64_t at, struct err *e) {
  if (n >= r->ncodes) {
    slt_file_wrong(r->file, at, e, "expected a code block below %u, and not %llu", r->ncodes, (unsigned long long)n);
    return NULL;
  }
  struct code_ref *c = &r->codes[n], *old = NULL;
  c->used = ++r->clock;
  if (c->code) return c->code;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->ncodes; i++) {
    if (!r->codes[i].code) continue;
    kept++;
    if (!old || r->codes[i].used < old->used) old = &r->codes[i];
  }
  if (kept >= CODES_KEPT) {
    slt_code_free(old->code);
    free(old->code);
    old->code = NULL;
  }
  struct slt_block b;
  char why[128];
  uint8_t *raw = slt_file_load(r->file, c->at, SLT_CODE, &b, e);
  if (!raw) return NULL;
  struct slt_code *code = mem_zeroed(1, sizeof *code);
  bool ok = slt_code_decode(code, (struct slt_in){raw, raw + b.raw, false}, why);
  free(raw);
  if (ok) return c->code = code;
  free(code);
  slt_file_wrong(r->file, c->at, e, "expected %s", why);
  return NULL;
}

/* ---- launches ---- */

static void forget_launch(struct slt_reader *r) {
  for (uint32_t s = 0; s < r->slots; s++)
    for (uint32_t w = 0; r->ctas[s].warp && w < r->kernel.warps_per_cta; w++)
      if (r->ctas[s].warp[w].block) slt_shelf_give(r->shelf, r->ctas[s].warp[w].block);
  for (uint32_t s = 0; s < r->slots; s++) free(r->ctas[s].warp);
  free(r->ctas);
  free(r->refs);
  free(r->first);
  free(r->name);
  free(r->origin);
  r->origin = NULL;
  r->ctas = NULL;
  r->refs = NULL;
  r->first = NULL;
  r->name = NULL;
  r->slots = r->nrefs = 0;
}

/* Requirements of the timing model: dimensions that multiply without overflow, at most 1024 threads, registers in
 * range.
 */
static const char *check_kernel(const struct feed_kernel *k, const struct slt_code *c) {
  uint64_t ctas = 1, threads = 1;
  for (int d = 0; d < 3; d++) {
    ctas *= k->grid[d];
    threads *= k->block[d];
    if (!ctas || ctas > UINT32_MAX) return "a grid of 1 to 2^32 - 1 CTAs";
    if (!threads || threads > 1024) return "a block of 1 to 1024 threads";
  }
  if (k->entry_pc >= c->insts) return "an entry within the code";
  if (k->max_reg < c->max_reg || k->max_reg > UINT16_MAX) return "a highest register that is that of the code";
  return NULL;
}

static bool read_launch(struct slt_reader *r, uint64_t at, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, at, SLT_LAUNCH, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  struct feed_kernel *k = &r->kernel;
  forget_launch(r);
  *k = (struct feed_kernel){0};
  r->name = slt_in_text(&in);
  uint64_t code = slt_in_v(&in);
  k->entry_pc = (uint32_t)slt_in_max(&in, UINT32_MAX);
  for (int d = 0; d < 3; d++) k->grid[d] = (uint32_t)slt_in_max(&in, UINT32_MAX);
  for (int d = 0; d < 3; d++) k->block[d] = (uint32_t)slt_in_max(&in, 1024);
  k->regs_per_thread = (uint32_t)slt_in_max(&in, UINT16_MAX);
  k->shared_bytes = (uint32_t)slt_in_max(&in, 1 << 28);
  k->local_bytes = (uint32_t)slt_in_max(&in, 1 << 28);
  k->max_reg = (uint32_t)slt_in_max(&in, UINT16_MAX);
  k->param_base = slt_in_v(&in);
  if (!in.bad && in.p < in.end) r->origin = slt_in_text(&in);
  bool good = !in.bad && in.p <= in.end;
  free(raw);
  if (!good) return slt_file_wrong(r->file, at, e, "expected the description of a launch: name, code, sizes");
  r->code = get_code(r, code, at, e);
  if (!r->code) return false;
  const char *wrong = check_kernel(k, r->code);
  if (wrong) return slt_file_wrong(r->file, at, e, "expected %s", wrong);
  k->name = r->name;
  k->code = r->code->code;
  k->insts = r->code->insts;
  k->files = (const char *const *)r->code->files;
  k->text = (const char *const *)r->code->text;
  k->origin = r->origin;
  k->nfiles = r->code->nfiles;
  k->ctas = k->grid[0] * k->grid[1] * k->grid[2];
  k->threads_per_cta = k->block[0] * k->block[1] * k->block[2];
  k->warps_per_cta = (k->threads_per_cta + WARP_LANES - 1) / WARP_LANES;
  return true;
}

/* The L block of launch `l`: its instruction counts. */
static bool read_totals(struct slt_reader *r, uint32_t l, struct trace_event *ev, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, r->launches[l].end, SLT_END, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  ev->warp_insts = slt_in_v(&in);
  ev->thread_insts = slt_in_v(&in);
  free(raw);
  return !in.bad || slt_file_wrong(r->file, b.at, e, "expected the totals of a launch");
}

static bool read_refs(struct slt_reader *r, const struct launch_ref *l, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, l->end, SLT_END, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  slt_in_v(&in), slt_in_v(&in);
  uint64_t n = slt_in_max(&in, b.raw / 3), at = l->at, cta = 0;
  bool good = !in.bad && n >= r->kernel.ctas;
  struct slice_ref *list = mem_alloc((n + 1) * sizeof *list);
  for (uint64_t i = 0; good && i < n; i++) {
    at += slt_in_v(&in);
    cta += (uint64_t)slt_in_z(&in);
    list[i] = (struct slice_ref){at, (uint32_t)cta, (uint32_t)slt_in_max(&in, MAX_WARPS)};
    good = !in.bad && cta < r->kernel.ctas && at > l->at && at < l->end;
  }
  free(raw);
  if (good) {
    r->nrefs = (uint32_t)n;
    r->refs = mem_alloc((n + 1) * sizeof *r->refs);
    r->first = mem_zeroed(r->kernel.ctas + 2ull, sizeof *r->first);
    for (uint64_t i = 0; i < n; i++) r->first[list[i].cta + 2ull]++;
    for (uint64_t c = 2; c < r->kernel.ctas + 2ull; c++) r->first[c] += r->first[c - 1];
    for (uint64_t i = 0; i < n; i++) r->refs[r->first[list[i].cta + 1ull]++] = list[i];
  }
  free(list);
  return good || slt_file_wrong(r->file, l->end, e, "expected a list of blocks for each of %u CTAs", r->kernel.ctas);
}

/* ---- the input's operations ---- */

static bool input_next(struct trace_input *t, struct trace_event *ev, struct err *e) {
  struct slt_reader *r = self(t);
  *ev = (struct trace_event){.kind = TRACE_END};
  while (r->at < r->stop) {
    struct slt_block b;
    if (!slt_file_block(r->file, r->at, &b, e)) return false;
    if (b.type == SLT_COPY) {
      uint8_t *raw = slt_file_payload(r->file, &b, e);
      if (!raw) return false;
      struct slt_in in = {raw, raw + b.raw, false};
      ev->kind = TRACE_COPY;
      ev->bytes = slt_in_v(&in);
      ev->to_device = slt_in_v(&in);
      if (in.p < in.end) ev->addr = slt_in_v(&in);
      free(raw);
      r->at += SLT_BLOCK_HEADER + (uint64_t)b.stored;
      return !in.bad || slt_file_wrong(r->file, b.at, e, "expected the size and direction of a copy");
    }
    if (b.type == SLT_LAUNCH) {
      uint32_t l = r->launch;
      if (l >= r->nlaunches || r->launches[l].at != r->at)
        return slt_file_wrong(r->file, r->at, e, "a launch that the index does not list");
      if (!read_launch(r, r->at, e) || !read_totals(r, l, ev, e)) return false;
      ev->kind = TRACE_LAUNCH;
      ev->launch = r->launch++;
      ev->kernel = &r->kernel;
      r->at = r->launches[l].end;
      return true;
    }
    r->at += SLT_BLOCK_HEADER + (uint64_t)b.stored;
  }
  return true;
}

static bool input_seek(struct trace_input *t, uint32_t launch, struct err *e) {
  struct slt_reader *r = self(t);
  if (launch >= r->nlaunches)
    return err_set(e, ERR_USAGE, "%s: there is no launch %u: it holds %u, counted from 0", r->path, launch,
                   r->nlaunches);
  r->launch = launch;
  r->at = r->launches[launch].at;
  return true;
}

static bool input_begin(struct trace_input *t, uint32_t slots, struct err *e) {
  struct slt_reader *r = self(t);
  if (!r->refs && !read_refs(r, &r->launches[r->launch - 1], e)) return false;
  r->ctas = mem_zeroed(slots, sizeof *r->ctas);
  r->slots = slots;
  return true;
}

/* Supply a warp with the next part of its stream. */
static bool next_part(struct slt_reader *r, const struct cta_reader *c, struct warp_reader *w, uint32_t warp,
                      struct err *e) {
  uint32_t end = r->first[c->cta + 1];
  for (; w->ref < end; w->ref++) {
    const struct slice_ref *ref = &r->refs[w->ref];
    if (ref->warp && ref->warp != warp + 1) continue;
    struct slt_slices *b = slt_shelf_take(r->shelf, ref->at, e);
    if (!b) return false;
    const struct slt_part *p = slt_slices_part(b, c->cta, warp);
    if (!p) {
      slt_shelf_give(r->shelf, b);
      continue;
    }
    if (w->block) slt_shelf_give(r->shelf, w->block);
    w->block = b;
    w->ref++;
    for (int k = 0; k < SLT_PLANES; k++) {
      const uint8_t *at = b->raw + p->at[k];
      w->d.plane[k] = (struct slt_in){at, at + p->bytes[k], false};
    }
    return true;
  }
  return slt_file_wrong(r->file, r->launches[r->launch - 1].end, e,
                        "the stream of CTA %u, warp %u ends before its warp", c->cta, warp);
}

static bool broken(struct slt_reader *r, const struct cta_reader *c, uint32_t warp, struct err *e) {
  const struct warp_reader *w = &c->warp[warp];
  return slt_file_wrong(r->file, w->block ? w->block->at : 0, e,
                        "the stream of CTA %u, warp %u of kernel %s makes no sense at instruction %u", c->cta, warp,
                        r->name, w->d.pc);
}

/* The run after the one that has ended, from the next part if necessary. */
static bool next_run(struct slt_reader *r, const struct cta_reader *c, uint32_t warp, struct err *e) {
  struct warp_reader *w = &c->warp[warp];
  enum slt_decoded what;
  do {
    trace_lock(&r->in);
    bool good = next_part(r, c, w, warp, e);
    trace_unlock(&r->in);
    if (!good) return false;
    what = slt_decode_run(&w->d, r->kernel.insts);
  } while (what == SLT_MORE);
  return what == SLT_OK || broken(r, c, warp, e);
}

static bool input_open_cta(struct trace_input *t, uint32_t slot, uint32_t cta, struct err *e) {
  struct slt_reader *r = self(t);
  struct cta_reader *c = &r->ctas[slot];
  const struct feed_kernel *k = &r->kernel;
  if (!c->warp) {
    c->warp = mem_zeroed(k->warps_per_cta, sizeof *c->warp);
  }
  c->cta = cta;
  for (uint32_t i = 0; i < k->warps_per_cta; i++) {
    struct warp_reader *w = &c->warp[i];
    w->ref = r->first[cta];
    slt_decoder_start(&w->d, r->code, k->entry_pc);
    if (!next_run(r, c, i, e)) return false;
    if (w->d.done || w->d.pc != k->entry_pc) return broken(r, c, i, e);
  }
  return true;
}

static bool input_step(struct trace_input *t, uint32_t slot, uint32_t warp, struct issued *out, struct err *e) {
  struct slt_reader *r = self(t);
  const struct cta_reader *c = &r->ctas[slot];
  struct warp_reader *w = &c->warp[warp];
  enum slt_decoded what = slt_decode(&w->d, r->code, out);
  if (__builtin_expect(what == SLT_OK, 1)) return true;
  if (what == SLT_BROKEN) return broken(r, c, warp, e);
  if (!next_run(r, c, warp, e)) return false;
  out->next_pc = w->d.done ? FEED_DONE : w->d.pc;
  return true;
}

static bool input_skim(struct trace_input *t, uint32_t slot, uint32_t warp, uint32_t limit, struct issued *out,
                       struct trace_counts *n, struct err *e) {
  struct slt_reader *r = self(t);
  const struct cta_reader *c = &r->ctas[slot];
  struct warp_reader *w = &c->warp[warp];
  enum slt_decoded what = slt_skim(&w->d, r->code, limit, out, n);
  if (what == SLT_OK) return true;
  if (what == SLT_BROKEN) return broken(r, c, warp, e);
  if (!next_run(r, c, warp, e)) return false;
  out->next_pc = w->d.done ? FEED_DONE : w->d.pc;
  return true;
}

static void input_close_cta(struct trace_input *t, uint32_t slot) {
  struct slt_reader *r = self(t);
  trace_lock(t);
  for (uint32_t i = 0; i < r->kernel.warps_per_cta; i++) {
    struct warp_reader *w = &r->ctas[slot].warp[i];
    if (w->block) slt_shelf_give(r->shelf, w->block);
    w->block = NULL;
  }
  trace_unlock(t);
}

static void input_close(struct trace_input *t) {
  struct slt_reader *r = self(t);
  forget_launch(r);
  slt_shelf_free(r->shelf);
  for (uint32_t i = 0; i < r->ncodes; i++) {
    if (r->codes[i].code) slt_code_free(r->codes[i].code);
    free(r->codes[i].code);
  }
  trace_order_free(&r->order);
  slt_file_close(r->file);
  free(r->codes);
  free(r->launches);
  free(r->path);
  free(r->program);
  free(r);
}

static const struct trace_input_ops operations = {.format = "slt",
                                                  .next = input_next,
                                                  .seek = input_seek,
                                                  .begin = input_begin,
                                                  .open_cta = input_open_cta,
                                                  .step = input_step,
                                                  .skim = input_skim,
                                                  .close_cta = input_close_cta,
                                                  .close = input_close};

/* ---- opening ---- */

static void add_code(struct slt_reader *r, uint64_t at) {
  r->codes = mem_resize(r->codes, r->ncodes + 1, sizeof *r->codes);
  r->codes[r->ncodes++] = (struct code_ref){.at = at};
}

static void add_launch(struct slt_reader *r, uint64_t at, uint64_t end) {
  if (!(r->nlaunches & (r->nlaunches - 1)))
    r->launches = mem_resize(r->launches, r->nlaunches ? r->nlaunches * 2 : 1, sizeof *r->launches);
  r->launches[r->nlaunches++] = (struct launch_ref){at, end};
}

static bool read_slt_header(struct slt_reader *r, uint64_t *index, struct err *e) {
  uint8_t h[SLT_HEADER];
  if (slt_file_bytes(r->file) < SLT_HEADER)
    return slt_file_wrong(r->file, 0, e, "expected a trace (.slt), whose header has %d bytes, and not %llu in all",
                          SLT_HEADER, (unsigned long long)slt_file_bytes(r->file));
  if (!slt_file_read(r->file, 0, h, sizeof h, e)) return false;
  if (memcmp(h, SLT_MAGIC, 8)) return slt_file_wrong(r->file, 0, e, "expected a trace of sluice record (.slt)");
  uint32_t order = slt_get32(h + 12);
  if (order == __builtin_bswap32(SLT_ORDER))
    return slt_file_wrong(r->file, 12, e,
                          "expected little-endian numbers; this file was written in the other byte order");
  if (slt_get32(h + 8) != SLT_VERSION)
    return slt_file_wrong(r->file, 8, e, "expected version %d of the format, and not %u; record it again", SLT_VERSION,
                          slt_get32(h + 8));
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  if (order != SLT_ORDER || slt_get64(h + 40) != hash_bytes(HASH_INIT, h, 40))
    return slt_file_wrong(r->file, 0, e, "the header does not have its checksum: it is damaged");
#endif
  uint64_t bytes = slt_get64(h + 16);
  *index = slt_get64(h + 24);
  if (bytes != slt_file_bytes(r->file))
    return slt_file_wrong(r->file, slt_file_bytes(r->file), e,
                          "the header promises %llu bytes, and the file has %llu: it %s", (unsigned long long)bytes,
                          (unsigned long long)slt_file_bytes(r->file),
                          bytes > slt_file_bytes(r->file) ? "was cut off" : "has grown");
  return true;
}

/* Possible overlap of launches. */
static bool read_order(struct slt_reader *r, uint64_t at, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, at, SLT_STEPS, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  uint64_t steps = slt_in_max(&in, b.raw);
  uint32_t *deps = mem_alloc(b.raw * sizeof *deps + 1);
  for (uint64_t i = 0; i < steps && !in.bad; i++) {
    struct trace_step s = {.wait = slt_in_max(&in, 1), .launch = TRACE_NO_LAUNCH};
    if (!s.wait) {
      uint64_t launch = slt_in_max(&in, r->nlaunches);
      if (launch) s.launch = (uint32_t)launch - 1;
      s.stream = (uint32_t)slt_in_max(&in, UINT32_MAX);
      s.priority = (int32_t)slt_in_z(&in);
    }
    uint64_t n = slt_in_max(&in, b.raw);
    for (uint64_t d = 0; d < n && !in.bad; d++) {
      uint64_t back = slt_in_max(&in, i);
      if (!back) in.bad = true;
      deps[d] = (uint32_t)(i - back);
    }
    if (!in.bad) trace_order_add(&r->order, s, deps, (uint32_t)n);
  }
  free(deps);
  free(raw);
  r->in.order = &r->order;
  return !in.bad ||
         slt_file_wrong(r->file, at, e, "expected the launches and waits of the host with what they wait for");
}

static bool read_index(struct slt_reader *r, uint64_t at, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, at, SLT_INDEX, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  uint64_t off = 0, n = slt_in_max(&in, b.raw);
  for (uint64_t i = 0; i < n && !in.bad; i++) add_code(r, off += slt_in_v(&in));
  off = 0, n = slt_in_max(&in, UINT16_MAX);
  for (uint64_t i = 0; i < n && !in.bad; i++) slt_file_add_dict(r->file, off += slt_in_v(&in));
  slt_in_v(&in);
  off = 0, n = slt_in_max(&in, b.raw / 2);
  for (uint64_t i = 0; i < n && !in.bad; i++) {
    uint64_t k = off += slt_in_v(&in);
    add_launch(r, k, off += slt_in_v(&in));
    if (off > at || k >= off) in.bad = true;
  }
  uint64_t order = !in.bad && in.p < in.end ? slt_in_v(&in) : 0;
  free(raw);
  r->stop = at;
  if (!in.bad && order && !read_order(r, order, e)) return false;
  return !in.bad || slt_file_wrong(r->file, at, e, "expected a list of code, dictionaries and launches");
}

/* Without an index: block by block up to the first incomplete one. */
static void scan(struct slt_reader *r) {
  struct slt_block b;
  struct err ignored = {0};
  uint64_t at = SLT_HEADER, launch = 0;
  r->stop = at;
  for (; slt_file_block(r->file, at, &b, &ignored) && b.type != SLT_INDEX;
       at += SLT_BLOCK_HEADER + (uint64_t)b.stored) {
    uint8_t *raw = slt_file_payload(r->file, &b, &ignored);
    if (!raw) break;
    free(raw);
    if (b.type == SLT_CODE) add_code(r, at);
    if (b.type == SLT_DICT) slt_file_add_dict(r->file, at);
    if (b.type == SLT_LAUNCH) launch = at;
    if (b.type != SLT_END || !launch) continue;
    add_launch(r, launch, at);
    launch = 0;
    r->stop = at + SLT_BLOCK_HEADER + b.stored;
  }
}

/* "sass", "sm_70"; others are unknown and PTX. */
static uint32_t machine_of(const char *code) {
  if (!strcmp(code, "sass")) return TRACE_SASS;
  unsigned long sm = strncmp(code, "sm_", 3) ? 0 : strtoul(code + 3, NULL, 10);
  return sm > TRACE_SASS && sm < 1000 ? (uint32_t)sm : 0;
}

static bool read_meta(struct slt_reader *r, struct err *e) {
  struct slt_block b;
  uint8_t *raw = slt_file_load(r->file, SLT_HEADER, SLT_META, &b, e);
  if (!raw) return false;
  struct slt_in in = {raw, raw + b.raw, false};
  while (in.p < in.end && !in.bad) {
    char *key = slt_in_text(&in), *value = slt_in_text(&in);
    if (key && value && !strcmp(key, "program") && !r->program) r->program = value, value = NULL;
    if (key && value && !strcmp(key, "code")) r->in.machine = machine_of(value);
    free(key);
    free(value);
  }
  free(raw);
  return !in.bad || slt_file_wrong(r->file, b.at, e, "expected pairs of texts");
}

struct trace_input *slt_open(const char *path, bool salvage, struct err *e) {
  struct slt_file *file = slt_file_open(path, e);
  if (!file) return NULL;
  struct slt_reader *r = mem_zeroed(1, sizeof *r);
  r->in.ops = &operations;
  r->file = file;
  r->shelf = slt_shelf_new(file);
  r->in.path = r->path = mem_text(path);
  r->at = SLT_HEADER;
  uint64_t index = 0;
  if (!read_slt_header(r, &index, e) || !read_index(r, index, e) || !read_meta(r, e)) {
    r->ncodes = r->nlaunches = 0;
    slt_file_forget_dicts(file);
    trace_order_free(&r->order);
    r->in.order = NULL;
    uint8_t magic[8];
    if (salvage && slt_file_read(file, 0, magic, 8, NULL) && !memcmp(magic, SLT_MAGIC, 8)) scan(r);
    if (!r->nlaunches) {
      input_close(&r->in);
      return NULL;
    }
  }
  r->in.program = r->program;
  r->in.launches = r->nlaunches;
  return &r->in;
}

/* slt_write.c - recording: a feed around another one that encodes each warp's instructions and writes CTAs in groups
 * as they end (docs/reference/trace-format.md).
 */
#include "trace/slt/slt_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/slt/slt_encode.h"
#include "trace/slt/slt_pack.h"

struct launch_ref {
  uint64_t at, end;
};
struct slice_ref {
  uint64_t at;
  uint32_t cta, warp;
};
/* A finished stretch of a warp's stream, in the planes of the group. */
struct part {
  uint32_t cta, warp;
  size_t at[SLT_PLANES], bytes[SLT_PLANES];
};

struct cta_writer {
  uint32_t cta;
  struct slt_encoder *warp;
};

struct slt_writer {
  struct slt_pack *pack;
  struct launch_ref *launches;
  uint32_t nlaunches, copies;
  struct trace_order order;
  struct err err; /* the first error */
  /* the running launch */
  struct feed feed, *inner;
  uint64_t launch_at;
  uint32_t dicts_before;
  uint8_t *cls, *slot;
  struct slt_pack_kernel *kernel; /* its compression state */
  struct cta_writer *ctas;
  uint32_t slots;
  struct part *parts; /* the group being collected */
  uint32_t nparts, parts_size;
  struct slt_buf group[SLT_PLANES], payload;
  struct slice_ref *refs;
  uint32_t nrefs, refs_size;
  uint64_t warp_insts, thread_insts;
};

/* ---- groups of parts ---- */

static void add_ref(struct slt_writer *w, uint64_t at, uint32_t cta, uint32_t warp) {
  if (w->nrefs == w->refs_size) {
    w->refs_size = w->refs_size ? w->refs_size * 2 : 256;
    w->refs = mem_resize(w->refs, w->refs_size, sizeof *w->refs);
  }
  w->refs[w->nrefs++] = (struct slice_ref){at, cta, warp};
}

/* Write `n` parts, ascending, whose planes lie in `from`. Returns the offset of the block. */
static uint64_t write_parts(struct slt_writer *w, const struct part *part, uint32_t n, const struct slt_buf *from) {
  struct slt_buf *b = &w->payload;
  uint32_t before = 0;
  b->used = 0;
  slt_v(b, n);
  for (uint32_t i = 0; i < n; i++) {
    slt_v(b, part[i].cta - before);
    slt_v(b, part[i].warp);
    for (int k = 0; k < SLT_PLANES; k++) slt_v(b, part[i].bytes[k]);
    before = part[i].cta;
  }
  for (int k = 0; k < SLT_PLANES; k++)
    for (uint32_t i = 0; i < n; i++) slt_bytes(b, from[k].at + part[i].at[k], part[i].bytes[k]);
  return slt_pack_slices(w->pack, w->kernel, b);
}

static int ascending(const void *a, const void *b) {
  const struct part *p = a, *q = b;
  if (p->cta != q->cta) return p->cta < q->cta ? -1 : 1;
  return (p->warp > q->warp) - (p->warp < q->warp);
}

static void write_group(struct slt_writer *w) {
  if (!w->nparts) return;
  qsort(w->parts, w->nparts, sizeof *w->parts, ascending);
  uint64_t at = write_parts(w, w->parts, w->nparts, w->group);
  for (uint32_t i = 0; i < w->nparts; i++)
    if (!i || w->parts[i].cta != w->parts[i - 1].cta) add_ref(w, at, w->parts[i].cta, 0);
  w->nparts = 0;
  for (int k = 0; k < SLT_PLANES; k++) w->group[k].used = 0;
}

/* A warp has enough data: its planes become a separate block. */
static void write_slice(struct slt_writer *w, struct slt_encoder *enc, uint32_t cta, uint32_t warp) {
  struct part p = {.cta = cta, .warp = warp};
  for (int k = 0; k < SLT_PLANES; k++) p.bytes[k] = enc->plane[k].used;
  uint64_t at = write_parts(w, &p, 1, enc->plane);
  add_ref(w, at, cta, warp + 1);
  slt_encoder_empty(enc);
}

static void add_to_group(struct slt_writer *w, const struct slt_encoder *enc, uint32_t cta, uint32_t warp) {
  if (w->nparts == w->parts_size) {
    w->parts_size = w->parts_size ? w->parts_size * 2 : 256;
    w->parts = mem_resize(w->parts, w->parts_size, sizeof *w->parts);
  }
  struct part *p = &w->parts[w->nparts++];
  *p = (struct part){.cta = cta, .warp = warp};
  for (int k = 0; k < SLT_PLANES; k++) {
    p->at[k] = w->group[k].used;
    p->bytes[k] = enc->plane[k].used;
    slt_bytes(&w->group[k], enc->plane[k].at, enc->plane[k].used);
  }
}

/* ---- the feed ---- */

static void tee_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct slt_writer *w = ctx;
  struct cta_writer *c = &w->ctas[slot];
  const struct feed_kernel *k = w->inner->kernel;
  if (!c->warp) {
    c->warp = mem_zeroed(k->warps_per_cta, sizeof *c->warp);
  }
  c->cta = cta;
  for (uint32_t i = 0; i < k->warps_per_cta; i++) slt_encoder_start(&c->warp[i], k->entry_pc);
  w->inner->ops->start_cta(w->inner->ctx, slot, cta, sm, first_warp);
}

static bool tee_issue(void *ctx, uint32_t slot, uint32_t warp, struct issued *out) {
  struct slt_writer *w = ctx;
  struct cta_writer *c = &w->ctas[slot];
  struct slt_encoder *enc = &c->warp[warp];
  const struct feed_kernel *k = w->inner->kernel;
  const char *why;
  out->bar_id = FEED_NO_BARRIER;
  if (w->cls[enc->pc] & SLT_ACCESS) { /* some accesses without effect (outside a texture) have no width */
    out->space = slt_default_space(&k->code[enc->pc]);
    out->width = slt_default_width(&k->code[enc->pc]);
  }
  if (!w->inner->ops->issue(w->inner->ctx, slot, warp, out)) return false;
  w->warp_insts++;
  w->thread_insts += (uint32_t)__builtin_popcount(out->mask);
  uint32_t pc = enc->pc;
  if (w->err.code) return true;
  if (!slt_encode(enc, k->code, w->cls, w->slot, out, &why))
    err_set(&w->err, ERR_UNSUPPORTED, "cannot record kernel %s: PTX line %u: %s", k->name, k->code[pc].ptx_line, why);
  else if (slt_encoder_at_cut(enc) && slt_encoder_bytes(enc) >= SLT_SLICE_BYTES && !enc->done)
    write_slice(w, enc, c->cta, warp);
  return true;
}

static bool tee_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  struct slt_writer *w = ctx;
  return w->inner->ops->atomic(w->inner->ctx, token, lanes);
}

static void tee_end(void *ctx, uint32_t slot) {
  struct slt_writer *w = ctx;
  struct cta_writer *c = &w->ctas[slot];
  size_t bytes = 0;
  for (uint32_t i = 0; i < w->inner->kernel->warps_per_cta; i++) add_to_group(w, &c->warp[i], c->cta, i);
  for (int k = 0; k < SLT_PLANES; k++) bytes += w->group[k].used;
  if (bytes >= SLT_GROUP_BYTES) write_group(w);
  w->inner->ops->end_cta(w->inner->ctx, slot);
}

static const struct feed_fault *tee_fault(void *ctx) {
  struct slt_writer *w = ctx;
  return w->inner->ops->fault(w->inner->ctx);
}

static bool tee_data(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  const struct slt_writer *w = ctx;
  return w->inner->ops->data && w->inner->ops->data(w->inner->ctx, addr, bytes, out);
}

static const struct feed_ops operations = {.start_cta = tee_start,
                                           .issue = tee_issue,
                                           .atomic = tee_atomic,
                                           .end_cta = tee_end,
                                           .fault = tee_fault,
                                           .data = tee_data};

/* ---- launches ---- */

struct feed *slt_begin(struct slt_writer *w, struct feed *inner, uint32_t slots, struct err *e) {
  const struct feed_kernel *k = inner->kernel;
  if (w->err.code) {
    if (e) *e = w->err;
    return NULL;
  }
  if (k->cluster > 1) {
    if (e)
      err_set(e, ERR_UNSUPPORTED,
              "kernel %s runs in clusters of %u CTAs, which wait for each other: a trace has no place for that; run it "
              "without recording",
              k->name, k->cluster);
    return NULL;
  }
  uint32_t code = slt_pack_code(w->pack, k);
  struct slt_buf *b = &w->payload;
  b->used = 0;
  slt_text(b, k->name);
  slt_v(b, code);
  slt_v(b, k->entry_pc);
  for (int d = 0; d < 3; d++) slt_v(b, k->grid[d]);
  for (int d = 0; d < 3; d++) slt_v(b, k->block[d]);
  slt_v(b, k->regs_per_thread);
  slt_v(b, k->shared_bytes);
  slt_v(b, k->local_bytes);
  slt_v(b, k->max_reg);
  slt_v(b, k->param_base);
  if (k->origin) slt_text(b, k->origin);
  w->dicts_before = slt_pack_dicts(w->pack);
  w->launch_at = slt_pack_block(w->pack, SLT_LAUNCH, b->at, b->used);
  w->kernel = slt_pack_kernel(w->pack, code, k->entry_pc);
  w->inner = inner;
  w->feed = (struct feed){.ops = &operations, .ctx = w, .kernel = k};
  w->cls = mem_zeroed(k->insts, 1);
  w->slot = mem_zeroed(k->insts, 1);
  w->ctas = mem_zeroed(slots, sizeof *w->ctas);
  slt_classify(k->code, k->insts, w->cls, w->slot);
  w->slots = slots;
  w->nrefs = w->nparts = 0;
  w->warp_insts = w->thread_insts = 0;
  return &w->feed;
}

static void write_end(struct slt_writer *w) {
  struct slt_buf *b = &w->payload;
  uint64_t at = w->launch_at, cta = 0;
  b->used = 0;
  slt_v(b, w->warp_insts);
  slt_v(b, w->thread_insts);
  slt_v(b, w->nrefs);
  for (uint32_t i = 0; i < w->nrefs; i++) {
    const struct slice_ref *r = &w->refs[i];
    slt_v(b, r->at - at);
    slt_z(b, (int64_t)r->cta - (int64_t)cta);
    slt_v(b, r->warp);
    at = r->at, cta = r->cta;
  }
  if (!(w->nlaunches & (w->nlaunches - 1)))
    w->launches = mem_resize(w->launches, w->nlaunches ? w->nlaunches * 2 : 1, sizeof *w->launches);
  uint64_t end = slt_pack_block(w->pack, SLT_END, b->at, b->used);
  w->launches[w->nlaunches++] = (struct launch_ref){w->launch_at, end};
}

static void free_launch(struct slt_writer *w) {
  for (uint32_t s = 0; w->ctas && s < w->slots; s++) {
    for (uint32_t i = 0; w->ctas[s].warp && i < w->feed.kernel->warps_per_cta; i++)
      slt_encoder_free(&w->ctas[s].warp[i]);
    free(w->ctas[s].warp);
  }
  free(w->ctas);
  free(w->cls);
  free(w->slot);
  w->ctas = NULL;
  w->cls = w->slot = NULL;
}

bool slt_end(struct slt_writer *w, bool whole, struct err *e) {
  if (whole && !w->err.code) {
    write_group(w);
    write_end(w);
    slt_pack_flush(w->pack);
  } else {
    w->nparts = 0;
    for (int k = 0; k < SLT_PLANES; k++) w->group[k].used = 0;
    slt_pack_back_to(w->pack, w->launch_at, w->dicts_before);
  }
  free_launch(w);
  if (!w->err.code) slt_pack_error(w->pack, &w->err);
  if (w->err.code && e) *e = w->err;
  return !w->err.code;
}

void slt_note_copy(struct slt_writer *w, uint64_t addr, uint64_t bytes, bool to_device) {
  uint8_t room[48];
  struct slt_buf b = {.at = room, .size = sizeof room};
  slt_v(&b, bytes);
  slt_v(&b, to_device);
  slt_v(&b, addr);
  slt_pack_block(w->pack, SLT_COPY, b.at, b.used);
  w->copies++;
}

/* ---- what could overlap ---- */

uint32_t slt_note_submit(struct slt_writer *w, uint32_t stream, int priority, const uint32_t *deps, uint32_t n) {
  struct trace_step step = {.launch = TRACE_NO_LAUNCH, .stream = stream, .priority = priority};
  return trace_order_add(&w->order, step, deps, n);
}

void slt_note_wait(struct slt_writer *w, const uint32_t *deps, uint32_t n) {
  if (w->order.steps) trace_order_add(&w->order, (struct trace_step){.wait = true}, deps, n);
}

void slt_note_ran(struct slt_writer *w, uint32_t step) {
  w->order.step[step].launch = w->nlaunches;
}

void slt_set_order(struct slt_writer *w, const struct trace_order *order) {
  trace_order_copy(&w->order, order);
}

/* Offset of the block, 0 for none. */
static uint64_t write_order(struct slt_writer *w) {
  const struct trace_order *o = &w->order;
  struct slt_buf *b = &w->payload;
  if (!trace_order_overlaps(o)) return 0;
  b->used = 0;
  slt_v(b, o->steps);
  for (uint32_t i = 0; i < o->steps; i++) {
    const struct trace_step *s = &o->step[i];
    slt_v(b, s->wait);
    if (!s->wait) {
      slt_v(b, s->launch >= w->nlaunches ? 0 : s->launch + 1ull);
      slt_v(b, s->stream);
      slt_z(b, s->priority);
    }
    slt_v(b, s->deps);
    for (uint32_t d = 0; d < s->deps; d++) slt_v(b, i - o->dep[s->first + d]);
  }
  return slt_pack_block(w->pack, SLT_STEPS, b->at, b->used);
}

/* ---- the file ---- */

static void put_machine(struct slt_buf *b, uint32_t machine) {
  char name[16];
  if (!machine) return;
  snprintf(name, sizeof name, machine == TRACE_SASS ? "sass" : "sm_%u", machine);
  slt_text(b, "code"), slt_text(b, name);
}

struct slt_writer *slt_create(const char *path, const char *temp, const char *program, uint32_t machine,
                              struct err *e) {
  struct slt_writer *w = mem_zeroed(1, sizeof *w);
  w->pack = slt_pack_create(path, temp, e);
  if (!w->pack) {
    slt_abandon(w);
    return NULL;
  }
  struct slt_buf *b = &w->payload;
  if (program) slt_text(b, "program"), slt_text(b, program);
  slt_text(b, "writer"), slt_text(b, "sluice");
  put_machine(b, machine);
  slt_pack_block(w->pack, SLT_META, b->at, b->used);
  return w;
}

static void free_writer(struct slt_writer *w) {
  slt_pack_free(w->pack);
  for (int k = 0; k < SLT_PLANES; k++) slt_buf_free(&w->group[k]);
  slt_buf_free(&w->payload);
  free(w->parts);
  trace_order_free(&w->order);
  free(w->refs);
  free(w->launches);
  free(w);
}

bool slt_finish(struct slt_writer *w, struct err *e) {
  struct slt_buf *b = &w->payload;
  uint64_t off = 0, order = write_order(w);
  b->used = 0;
  slt_pack_lists(w->pack, b);
  slt_v(b, w->copies);
  slt_v(b, w->nlaunches);
  for (uint32_t i = 0; i < w->nlaunches; i++) {
    slt_v(b, w->launches[i].at - off);
    slt_v(b, w->launches[i].end - w->launches[i].at);
    off = w->launches[i].end;
  }
  if (order) slt_v(b, order);
  bool good = slt_pack_finish(w->pack, b, w->nlaunches, &w->err);
  if (!good && e) *e = w->err;
  if (!good) slt_abandon(w);
  else free_writer(w);
  return good;
}

void slt_abandon(struct slt_writer *w) {
  if (!w) return;
  if (w->ctas) free_launch(w);
  free_writer(w);
}

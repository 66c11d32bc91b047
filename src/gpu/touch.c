/* touch.c - accesses without time: what launches and CTAs that run functionally leave in caches and translated pages,
 * and what the front end writes before a launch. See touch.h and gpu.h.
 */
#include "gpu/touch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/dispatch.h"
#include "gpu/gpu.h"
#include "gpu/icnt/icnt.h"
#include "gpu/mem/l2.h"
#include "gpu/mem/partition.h"
#include "gpu/turns.h"

/* The cycle in which the oldest of the running CTAs began. */
static uint64_t oldest_start(const struct gpu *g) {
  uint64_t oldest = g->now;
  for (uint32_t i = 0; i < g->config.sms; i++)
    for (uint32_t k = 0; k < g->cta_slots_per_sm; k++)
      if (g->sm[i].cta_warps_left[k] && g->sm[i].cta_born[k] < oldest) oldest = g->sm[i].cta_born[k];
  return oldest;
}

/* The stamp of an access without time: between launches the clock stands still. While CTAs run, those that run without
 * time have ended before the oldest of them began: else they would replace what the running ones are about to use. */
static uint64_t touch_order(struct gpu *g) {
  if (g->works && g->touched_at != g->now) {
    g->touched_at = g->now;
    g->touched_as = oldest_start(g);
  }
  if (g->works) return g->touched_as;
  if (!g->touched) g->touched = g->now;
  return ++g->touched;
}

/* Returns the slice. */
static uint32_t touch_l2(struct gpu *g, const struct gpu_touched *t) {
  struct req r = {.addr = t->addr};
  partition_locate(g->parts, &r);
  struct l2_warm w = {t->addr, touch_order(g), t->sectors, t->part, t->write};
  l2_warm(partition_slice(g->parts, r.subpart), &w);
  return r.subpart;
}

void gpu_touch(struct gpu *g, const struct gpu_touched *t) {
  tlb_touch(&g->tlb, t->addr);
  uint32_t slice = touch_l2(g, t);
  uint32_t sm = (g->last_sm + 1 + t->place) % g->config.sms;
  for (uint32_t i = 0; i < g->config.icnt_ports && !g->works; i++)
    icnt_granted_last(g->icnt, gpu_subpart_node(g, slice, i), sm);
}

/* What is not in the read-only cache comes from the L2. True: it was there. */
static bool touch_read_only(struct gpu *g, struct rocache *c, uint64_t addr, uint32_t line) {
  uint64_t at = addr / line * line;
  if (rocache_touch(c, addr, touch_order(g))) return true;
  for (uint64_t end = at + line; at < end; at = (at | 127) + 1) {
    uint32_t bytes = end - at < 128 - at % 128 ? (uint32_t)(end - at) : (uint32_t)(128 - at % 128);
    uint32_t sectors = ((1u << (bytes + 31) / 32) - 1) << at % 128 / 32;
    touch_l2(g, &(struct gpu_touched){.addr = at & ~127ull, .sectors = sectors});
  }
  return false;
}

static void touch_constant(struct gpu *g, struct sm *s, uint64_t addr) {
  uint32_t line = g->config.l15c.line;
  if (s->l15c.latency) {
    rocache_touch(&s->l1c, addr, touch_order(g));
    touch_read_only(g, &s->l15c.cache, addr ^ line, line); /* a miss fetches the other line of the pair, too */
    touch_read_only(g, &s->l15c.cache, addr, line);
  } else {
    touch_read_only(g, &s->l1c, addr, g->config.l1c.line);
  }
}

/* Lines of code in the order of their last execution. `begun`: fetched from its start on. */
struct code_line {
  uint64_t addr, last;
  bool begun;
};

static int by_last(const void *a, const void *b) {
  const struct code_line *x = a, *y = b;
  if (x->last != y->last) return x->last > y->last ? 1 : -1;
  return x->addr > y->addr ? 1 : -1;
}

static uint64_t code_address(const struct gpu *g, const struct feed_kernel *k, uint32_t i) {
  uint64_t bytes = k->origin ? 0 : g->config.inst_bytes;
  return CODE_BASE + (bytes ? bytes * (k->code[i].fetch_pc / 8) : k->code[i].fetch_pc);
}

/* Of the instructions of a set, and of those that are fetched behind them. */
static struct code_line *code_lines(const struct gpu *g, const struct gpu_executed *c, const uint64_t *set,
                                    uint32_t *n) {
  enum { BEHIND = 2, START = 32 };
  const struct feed_kernel *k = c->kernel;
  uint64_t size = g->config.l1i.line, first = k->insts ? code_address(g, k, 0) / size : 0;
  uint32_t all = k->insts ? (uint32_t)(code_address(g, k, k->insts - 1) / size - first) + 1 : 0, some = 0;
  struct code_line *out = mem_zeroed(all + 1, sizeof *out);
  for (uint32_t i = 0; i < k->insts; i++) {
    if (!(set[i / 64] >> i % 64 & 1)) continue;
    for (uint32_t j = i; j <= i + BEHIND && j < k->insts; j++) {
      uint64_t at = code_address(g, k, j);
      struct code_line *line = &out[at / size - first];
      line->addr = at / size * size;
      line->begun |= at % size < START;
      if (c->last[i] > line->last) line->last = c->last[i];
    }
  }
  for (uint32_t i = 0; i < all; i++)
    if (out[i].last) out[some++] = out[i];
  qsort(out, some, sizeof *out, by_last);
  *n = some;
  return out;
}

/* A line, and those that are fetched ahead of it: see sm/fetch.inc. */
static void touch_code(struct gpu *g, struct sm *s, const struct feed_kernel *k, const struct code_line *line) {
  uint64_t size = g->config.l1i.line, ahead = g->config.l1i_prefetch * size, last = line->addr + ahead,
           end = k->insts ? code_address(g, k, k->insts - 1) : 0;
  bool hit = touch_read_only(g, &s->l1i, line->addr, (uint32_t)size);
  if (!ahead || (hit && !line->begun)) return;
  for (uint64_t at = hit ? last : line->addr + size; at <= last && at <= end; at += size)
    touch_read_only(g, &s->l1i, at, (uint32_t)size);
}

/* Lines of local memory of the CTAs that would run first, each on its SM and slot: the L1 has written them back, or
 * loaded them. Their addresses: local_accesses in sm/ldst.inc. */
static void touch_local(struct gpu *g, const struct gpu_executed *c) {
  const struct feed_kernel *k = c->kernel;
  uint32_t n = g->config.sms, fit = gpu_ctas_per_sm(g, k), ctas = k->ctas < n * fit ? k->ctas : n * fit;
  uint64_t padded = (uint64_t)k->warps_per_cta * WARP_LANES, threads = padded * fit * n;
  for (uint32_t i = 0; i < ctas && k->local_bytes; i++) {
    uint64_t first = LOCAL_BASE + 4 * padded * ((g->last_sm + 1 + i) % n + n * (uint64_t)(i / n));
    for (uint32_t w = 0; w < c->local_words / 64; w++) EACH_BIT(w, c->local[w], word) {
        uint64_t from = first + word * threads * 4;
        for (uint64_t at = from & ~127ull; at < from + 4 * padded; at += 128)
          gpu_touch(g, &(struct gpu_touched){.addr = at, .sectors = 15, .place = i, .write = true});
      }
  }
}

void gpu_touch_code(struct gpu *g, const struct gpu_executed *c) {
  uint32_t n = g->config.sms, ctas = c->kernel->ctas, lines = 0;
  const uint64_t *set = NULL;
  struct code_line *line = NULL;
  for (uint32_t i = 0; i < n && i < ctas; i++) {
    struct sm *s = &g->sm[(g->last_sm + 1 + i) % n];
    const uint64_t *own = &c->on_sm[i * c->set_words];
    if (!set || memcmp(set, own, c->set_words * sizeof *own) != 0) {
      free(line);
      line = code_lines(g, c, set = own, &lines);
    }
    for (uint32_t k = 0; k < lines; k++) touch_code(g, s, c->kernel, &line[k]);
    for (uint32_t k = 0; k < c->constants; k++) touch_constant(g, s, c->constant[k]);
  }
  touch_local(g, c);
  g->last_sm = (g->last_sm + ctas % n) % n;
  turns_touch(g, c->kernel);
  free(line);
}

void gpu_write_operands(struct gpu *g, const struct gpu_work *k) {
  const struct feed_kernel *fk = k->feed->kernel;
  uint32_t end = 0, line = g->config.l15c_latency ? 2 * g->config.l15c.line : 64; /* it fetches pairs of lines */
  for (uint32_t i = 0; g->sm[0].imc.ways && i < fk->insts; i++)
    if (fk->code[i].operand * 64u > end) end = fk->code[i].operand * 64u;
  end = (end + line - 1) / line * line;
  for (uint32_t at = 0; at < end; at += 128)
    touch_l2(g, &(struct gpu_touched){.addr = operand_bank(k) + at, .sectors = 15});
}

void gpu_end_touches(struct gpu *g) {
  if (!g->touched) return;
  for (uint32_t i = 0; i < g->subparts; i++) l2_warm_end(partition_slice(g->parts, i), g->now);
  for (uint32_t i = 0; i < g->config.sms; i++) {
    rocache_touch_end(&g->sm[i].l1i, g->now);
    rocache_touch_end(&g->sm[i].l1c, g->now);
    if (g->sm[i].l15c.latency) rocache_touch_end(&g->sm[i].l15c.cache, g->now);
  }
  g->touched = 0;
}

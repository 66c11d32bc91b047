/* survey.c - one pass over a trace: every warp of every CTA, in order. A table holds each memory line with the CTA
 * that touched it last, which gives the number of lines, lines per CTA, and shared lines.
 */
#include "trace/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"

struct line {
  uint64_t key; /* line + 1; 0: free */
  uint64_t cta; /* last CTA that touched it, counted over all launches; top bit: another CTA also did */
};
#define SHARED (1ull << 63)

struct surveyor {
  struct survey r;
  struct line *table;
  uint64_t size; /* power of two */
  uint64_t cta_lines;
};

struct surveyor *survey_new(void) {
  struct surveyor *s = mem_zeroed(1, sizeof *s);
  s->size = 1024;
  s->table = mem_zeroed(s->size, sizeof *s->table);
  return s;
}

void survey_free(struct surveyor *s) {
  if (!s) return;
  free(s->table);
  free(s);
}

const struct survey *survey_result(const struct surveyor *s) {
  return &s->r;
}

static struct line *find_slot(struct line *table, uint64_t size, uint64_t key) {
  uint64_t at = hash_u64(key) & (size - 1);
  while (table[at].key && table[at].key != key) at = (at + 1) & (size - 1);
  return &table[at];
}

static void grow_table(struct surveyor *s) {
  struct line *bigger = mem_zeroed(s->size * 2, sizeof *bigger);
  for (uint64_t i = 0; i < s->size; i++)
    if (s->table[i].key) *find_slot(bigger, s->size * 2, s->table[i].key) = s->table[i];
  free(s->table);
  s->table = bigger;
  s->size *= 2;
}

static void touch(struct surveyor *s, uint64_t line) {
  struct line *l = find_slot(s->table, s->size, line + 1);
  if (!l->key) {
    *l = (struct line){line + 1, s->r.ctas};
    s->cta_lines++;
    if (++s->r.lines * 2 > s->size) grow_table(s);
  } else if ((l->cta & ~SHARED) != s->r.ctas) {
    if (!(l->cta & SHARED)) s->r.shared_lines++;
    l->cta = s->r.ctas | SHARED;
    s->cta_lines++;
  }
}

static void memory(struct surveyor *s, const struct inst *i, const struct issued *o) {
  uint32_t lanes = (uint32_t)__builtin_popcount(o->mask), n = 0;
  uint64_t seen[2 * WARP_LANES];
  s->r.space[o->space]++;
  s->r.space_lanes[o->space] += lanes;
  s->r.space_bytes[o->space] += (uint64_t)lanes * o->width;
  if (o->space != SPACE_GLOBAL && o->space != SPACE_TEX) return;
  for (uint32_t m = o->mask; m; m &= m - 1) {
    uint64_t first = o->addr[__builtin_ctz(m)], last = (first + o->width - 1) / SURVEY_LINE;
    for (uint64_t line = first / SURVEY_LINE; line <= last && n < 2 * WARP_LANES; line++) {
      uint32_t k = n;
      while (k && seen[k - 1] != line) k--;
      if (k) continue;
      seen[n++] = line;
      touch(s, line);
    }
  }
  if (i->kind == KIND_LOAD && o->space == SPACE_GLOBAL) s->r.degree[n < 32 ? n : 32]++;
}

static void count_inst(struct surveyor *s, const struct inst *i, const struct issued *o, uint32_t full) {
  s->r.warp_insts++;
  s->r.thread_insts += (uint32_t)__builtin_popcount(o->mask);
  s->r.diverged += o->mask != full;
  s->r.kind[i->kind]++;
  if (i->kind == KIND_ALU && i->lat < LAT_COUNT) s->r.lat[i->lat]++;
  bool access = i->kind == KIND_LOAD || i->kind == KIND_STORE || i->kind == KIND_ATOM;
  if (access && o->mask && o->space < SURVEY_SPACES) memory(s, i, o);
}

static bool survey_cta(struct surveyor *s, struct trace_input *t, const struct feed_kernel *k, uint32_t cta,
                       struct err *e) {
  if (!t->ops->open_cta(t, 0, cta, e)) return false;
  struct issued out = {0};
  s->cta_lines = 0;
  for (uint32_t w = 0; w < k->warps_per_cta; w++) {
    uint32_t threads = k->threads_per_cta - w * WARP_LANES, full = threads >= WARP_LANES ? ~0u : (1u << threads) - 1;
    for (uint32_t pc = k->entry_pc; pc != FEED_DONE; pc = out.next_pc) {
      out.waits = false, out.token = 0, out.bar_id = FEED_NO_BARRIER;
      if (!t->ops->step(t, 0, w, &out, e)) return false;
      count_inst(s, &k->code[pc], &out, full);
    }
  }
  s->r.ctas++;
  s->r.warps += k->warps_per_cta;
  s->r.set_sum += s->cta_lines;
  if (s->cta_lines > s->r.set_max) s->r.set_max = s->cta_lines;
  t->ops->close_cta(t, 0);
  return true;
}

bool survey_launch(struct surveyor *s, struct trace_input *t, const struct trace_event *ev, struct err *e) {
  if (!t->ops->begin(t, 1, e)) return false;
  for (uint32_t c = 0; c < ev->kernel->ctas; c++)
    if (!survey_cta(s, t, ev->kernel, c, e)) return false;
  return true;
}

/* loads.c - the character of a launch's loads: cost of un-coalescing, use of the fetched lines (BUCL, Fig 2, 3 and 5;
 * TSC, Fig 1), reuse distances, and causes of misses. See observe.h.
 */
#include "gpu/observe/observe.h"
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { OP_WORDS = 65536 / 64, NOT_A_LOAD = 255, SECTOR = 32 };

const char *const gpu_degree_names[DEGREE_CLASSES] = {"1", "2", "3-10", "11-20", "21-32"};

const char *const gpu_reuse_names[REUSE_STREAMS] = {"asked", "in_l1"};
const char *const gpu_miss_names[MISS_CAUSES] = {"first", "store", "capacity", "conflict", "partial"};

static uint32_t degree_class(uint32_t degree) {
  return degree <= 2 ? degree - 1 : degree <= 10 ? 2 : degree <= 20 ? 3 : 4;
}

static uint32_t lines_of(const struct gpu *g) {
  return g->config.l1d.sets * g->config.l1d.ways;
}

void observe_character(struct gpu *g) {
  struct gpu_character *c = mem_zeroed(1, sizeof *c);
  c->has_blocks = !g->slots.n_l1;
  c->line_bytes = g->sm[0].l1d.line_bytes;
  c->missed = mem_zeroed((size_t)g->config.sms * OP_WORDS, sizeof *c->missed);
  c->fetched_by = mem_zeroed(g->config.sms, lines_of(g));
  c->stream = mem_zeroed((size_t)g->config.sms * REUSE_STREAMS, sizeof *c->stream);
  g->observed.character = c;
}

void observe_character_free(struct gpu_character *c, uint32_t sms) {
  if (!c) return;
  for (uint32_t i = 0; i < sms * REUSE_STREAMS; i++) reuse_free(&c->stream[i]);
  free(c->stream);
  free(c->missed);
  free(c->fetched_by);
  free(c);
}

void observe_character_begin(struct gpu_character *c) {
  memset(c->degree, 0, sizeof c->degree);
  memset(c->used, 0, sizeof c->used);
  memset(c->reused, 0, sizeof c->reused);
  memset(c->reuse, 0, sizeof c->reuse);
  memset(c->miss, 0, sizeof c->miss);
}

/* ---- loads ---- */

static struct gpu_degree_class *of_op(struct sm *s, uint32_t op) {
  return &s->g->observed.character->degree[degree_class(s->op[op].degree)];
}

static bool is_load(const struct sm *s, uint32_t op) {
  const struct op *o = &s->op[op];
  return o->load && !o->atomic && o->space == SPACE_GLOBAL && o->degree;
}

static uint64_t *missed_word(struct sm *s, uint32_t op) {
  return &s->g->observed.character->missed[(size_t)s->id * OP_WORDS + op / 64];
}

void observe_load(struct sm *s, uint32_t op) {
  if (!is_load(s, op)) return;
  struct gpu_degree_class *d = of_op(s, op);
  d->loads++;
  d->accesses += s->op[op].degree;
  *missed_word(s, op) &= ~(1ull << op % 64);
  observe_l2_load(s, op);
}

static struct reuse_stream *stream_of(struct sm *s, uint32_t which) {
  return &s->g->observed.character->stream[s->id * REUSE_STREAMS + which];
}

/* An access to the L1: count its reuse and the cause of a miss. */
static void see_reuse(struct sm *s, uint64_t line, enum l1_outcome out) {
  struct gpu_character *c = s->g->observed.character;
  const struct cache_config *k = &s->g->config.l1d;
  struct reuse_stream *in = stream_of(s, REUSE_ADMITTED);
  uint64_t capacity = (uint64_t)k->sets * k->ways * k->line / s->l1d.line_bytes;
  bool stored = reuse_stored(in, line);
  uint64_t distance = reuse_access(in, line, &c->reuse[REUSE_ADMITTED]);
  if (out == L1_PARTIAL) c->miss[MISS_PARTIAL]++;
  if (out != L1_MISS) return;
  c->miss[distance == REUSE_FIRST ? MISS_FIRST
          : stored                ? MISS_STORE
          : distance >= capacity  ? MISS_CAPACITY
                                  : MISS_CONFLICT]++;
}

void observe_access(struct sm *s, uint32_t op, uint64_t addr, int out) {
  if (!is_load(s, op)) return;
  if (out == L1_HIT) of_op(s, op)->hits++;
  else *missed_word(s, op) |= 1ull << op % 64;
  uint64_t line = addr & ~(uint64_t)(s->l1d.line_bytes - 1);
  reuse_access(stream_of(s, REUSE_LOADS), line, &s->g->observed.character->reuse[REUSE_LOADS]);
  if (out != L1_BYPASS) see_reuse(s, line, (enum l1_outcome)out);
}

void observe_store(struct sm *s, uint64_t addr) {
  reuse_store(stream_of(s, REUSE_ADMITTED), addr & ~(uint64_t)(s->l1d.line_bytes - 1));
}

void observe_load_done(struct sm *s, uint32_t op) {
  if (!is_load(s, op)) return;
  struct gpu_degree_class *d = of_op(s, op);
  d->done++;
  d->latency += s->g->now - s->op[op].born;
  d->all_hit_loads += !(*missed_word(s, op) >> op % 64 & 1);
  observe_l2_load_done(s, op);
}

/* ---- lines ---- */

void observe_line(struct sm *s, uint32_t index, bool local, uint32_t degree) {
  struct gpu_character *c = s->g->observed.character;
  c->fetched_by[(size_t)s->id * lines_of(s->g) + index] = local ? NOT_A_LOAD : (uint8_t)degree_class(degree);
}

/* Quarters of a line covered by these sectors, rounded up. */
static uint32_t quarters_of(const struct sm *s, uint32_t sectors) {
  uint32_t bytes = (uint32_t)__builtin_popcount(sectors) * SECTOR * LINE_QUARTERS;
  uint32_t quarters = (bytes + s->l1d.line_bytes - 1) / s->l1d.line_bytes;
  return quarters > LINE_QUARTERS ? LINE_QUARTERS : quarters;
}

void observe_line_end(struct sm *s, uint32_t index) {
  struct gpu_character *c = s->g->observed.character;
  uint8_t by = c->fetched_by[(size_t)s->id * lines_of(s->g) + index];
  if (by == NOT_A_LOAD) return;
  const struct l1_line *l = &s->l1d.line[index];
  c->degree[by].blocks++;
  c->degree[by].reused += l->reused;
  uint32_t used = quarters_of(s, l->used_chunks);
  c->used[used ? used - 1 : 0]++;
  c->reused[quarters_of(s, l->reused_chunks)]++;
}

void observe_end(struct gpu *g) {
  if (g->observed.l2) observe_l2_end(g);
  struct gpu_character *c = g->observed.character;
  for (uint32_t i = 0; c && i < g->config.sms * REUSE_STREAMS; i++)
    reuse_end(&c->stream[i], &c->reuse[i % REUSE_STREAMS]);
  if (!c || !c->has_blocks) return;
  for (uint32_t i = 0; i < g->config.sms; i++)
    for (uint32_t k = 0; k < lines_of(g); k++)
      if (g->sm[i].l1d.state[k] != LINE_INVALID) observe_line_end(&g->sm[i], k);
}

/* observe_loads.c - the character of a launch's loads: what un-coalescing costs them, and how well the lines that they
 * fetch are used (BUCL, Fig 2, 3 and 5; TSC, Fig 1). See observe.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/gpu_impl.h"

enum { OP_WORDS = 65536 / 64, NOT_A_LOAD = 255, SECTOR = 32 };

const char *const gpu_degree_names[DEGREE_CLASSES] = {"1", "2", "3-10", "11-20", "21-32"};

static uint32_t class_of(uint32_t degree) {
  return degree <= 2 ? degree - 1 : degree <= 10 ? 2 : degree <= 20 ? 3 : 4;
}

static uint32_t lines_of(const struct gpu *g) {
  return g->config.l1d.sets * g->config.l1d.ways;
}

void gpu_see_character(struct gpu *g) {
  struct gpu_character *c = calloc(1, sizeof *c);
  CHECK(c, "out of memory");
  c->has_blocks = !g->slots.n_l1;
  c->missed = calloc((size_t)g->config.sms * OP_WORDS, sizeof *c->missed);
  c->fetched_by = calloc(g->config.sms, lines_of(g));
  CHECK(c->missed && c->fetched_by, "out of memory for the loads of %u SMs", g->config.sms);
  g->seen.character = c;
}

void gpu_see_character_free(struct gpu_character *c) {
  if (!c) return;
  free(c->missed);
  free(c->fetched_by);
  free(c);
}

void gpu_see_character_begin(struct gpu_character *c) {
  memset(c->degree, 0, sizeof c->degree);
  memset(c->used, 0, sizeof c->used);
}

/* ---- loads ---- */

static struct gpu_degree_class *of_op(struct sm *s, uint32_t op) {
  return &s->g->seen.character->degree[class_of(s->op[op].degree)];
}

static bool is_load(const struct sm *s, uint32_t op) {
  const struct op *o = &s->op[op];
  return o->load && !o->atomic && o->space == SPACE_GLOBAL && o->degree;
}

static uint64_t *missed_word(struct sm *s, uint32_t op) {
  return &s->g->seen.character->missed[(size_t)s->id * OP_WORDS + op / 64];
}

void gpu_see_load(struct sm *s, uint32_t op) {
  if (!is_load(s, op)) return;
  struct gpu_degree_class *d = of_op(s, op);
  d->loads++;
  d->accesses += s->op[op].degree;
  *missed_word(s, op) &= ~(1ull << op % 64);
  gpu_see_l2_load(s, op);
}

void gpu_see_access(struct sm *s, uint32_t op, bool hit) {
  if (!is_load(s, op)) return;
  if (hit) of_op(s, op)->hits++;
  else *missed_word(s, op) |= 1ull << op % 64;
}

void gpu_see_load_done(struct sm *s, uint32_t op) {
  if (!is_load(s, op)) return;
  struct gpu_degree_class *d = of_op(s, op);
  d->done++;
  d->latency += s->g->now - s->op[op].born;
  d->all_hit_loads += !(*missed_word(s, op) >> op % 64 & 1);
  gpu_see_l2_load_done(s, op);
}

/* ---- lines ---- */

void gpu_see_line(struct sm *s, uint32_t index, bool local, uint32_t degree) {
  struct gpu_character *c = s->g->seen.character;
  c->fetched_by[(size_t)s->id * lines_of(s->g) + index] = local ? NOT_A_LOAD : (uint8_t)class_of(degree);
}

void gpu_see_line_end(struct sm *s, uint32_t index) {
  struct gpu_character *c = s->g->seen.character;
  uint8_t by = c->fetched_by[(size_t)s->id * lines_of(s->g) + index];
  if (by == NOT_A_LOAD) return;
  const struct l1_line *l = &s->l1d.line[index];
  c->degree[by].blocks++;
  c->degree[by].reused += l->reused;
  uint32_t used = (uint32_t)__builtin_popcount(l->used_chunks) * SECTOR * LINE_QUARTERS;
  uint32_t quarters = (used + s->l1d.line_bytes - 1) / s->l1d.line_bytes;
  c->used[quarters > LINE_QUARTERS ? LINE_QUARTERS - 1 : quarters ? quarters - 1 : 0]++;
}

void gpu_seen_end(struct gpu *g) {
  if (g->seen.l2) gpu_see_l2_end(g);
  if (!g->seen.character || !g->seen.character->has_blocks) return;
  for (uint32_t i = 0; i < g->config.sms; i++)
    for (uint32_t k = 0; k < lines_of(g); k++)
      if (g->sm[i].l1d.state[k] != LINE_INVALID) gpu_see_line_end(&g->sm[i], k);
}

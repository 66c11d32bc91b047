/* race_global.c - races on global memory, between CTAs of a launch and between the warps of a CTA, and on shared
 * memory.
 *
 * A cell of shadow for four bytes of memory: two marks, the last write and the last read, two reads where nothing in
 * the launch wrote, or a volatile or atomic write and what was there before it. It takes eight bytes for shared memory
 * and for variables, mostly four elsewhere (race_words.h). A mark names a context (which warp, which instruction, since
 * which barrier) in a table, the lane, and which of the four bytes were touched. An access races with an earlier one of
 * the same launch if both touch a byte, one is a write, they are not both volatile or atomic, and nothing orders them:
 * the program order of a warp, the barriers of a CTA (race.c), or a fence and a volatile or atomic write after the
 * earlier access that a volatile or atomic read came after. Which location that was is not looked at, and who of the
 * CTA did it neither: a race may be missed for that, and none is reported that is ordered. Launches are ordered, also
 * where they overlap.
 *
 * The table is bounded. When it is full, all marks are dropped and it starts empty: races across that point are
 * missed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "simt/check/race_impl.h"

enum { RECENT = 16 };

struct recent { /* the contexts that a warp used last */
  uint32_t pc, clock, epoch, id;
  uint32_t kind, generation;
};

/* Where a launch begins, nothing older can race any more. From so many contexts on everything is dropped then: the
 * table and the marks stay small in programs of many launches. */
enum { CONTEXTS_KEPT = 1 << 18 };

static void *reserve_shadow(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

struct spare race_take(struct spare *kept, size_t bytes) {
  struct spare s = *kept;
  *kept = (struct spare){0};
  if (s.bytes >= bytes) return s;
  if (s.p) munmap(s.p, s.bytes);
  s = (struct spare){reserve_shadow(bytes), bytes};
  CHECK(s.p, "out of memory");
  return s;
}

void race_give(struct spare *kept, struct spare *s) {
  if (s->bytes > kept->bytes) {
    struct spare old = *kept;
    *kept = *s;
    *s = old;
  }
  if (s->p) munmap(s->p, s->bytes);
  *s = (struct spare){0};
}

bool race_shadow_new(struct simt *s) {
  struct race_shadow *d = mem_zeroed(1, sizeof *d);
  s->check->shadow = d;
  d->symbols_bytes = s->sym_bytes * 2;
  d->symbols = reserve_shadow(d->symbols_bytes);
  d->contexts = d->epochs = d->settled = 1; /* 0: none */
  return race_words_new(&d->words, s->map_bytes / 4) && d->symbols;
}

void race_shadow_free(struct simt *s) {
  struct race_shadow *d = s->check->shadow;
  if (!d) return;
  race_words_free(&d->words);
  if (d->symbols) munmap(d->symbols, d->symbols_bytes);
  const struct spare kept[] = {d->shared, d->recent, d->clocks};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (kept[i].p) munmap(kept[i].p, kept[i].bytes);
  free(d->context);
  free(d->epoch);
  free(d);
}

static void drop_all(struct race_shadow *d) {
  race_words_drop(&d->words);
  madvise(d->symbols, d->symbols_bytes, MADV_DONTNEED);
  if (d->shared.p) madvise(d->shared.p, d->shared.bytes, MADV_DONTNEED);
  d->contexts = d->epochs = d->settled = 1;
  d->generation++; /* what shared memory has is dropped when it is next looked at */
}

void race_grid_new(struct check_run *k, struct simt_run *r) {
  struct race_shadow *d = r->s->check->shadow;
  struct race_grid *g = mem_zeroed(1, sizeof *g);
  if (!d->live && d->contexts > CONTEXTS_KEPT) drop_all(d);
  if (!d->live) d->settled = d->contexts;
  d->live++;
  g->launch = ++d->launches;
  g->cta = mem_zeroed(r->slots, sizeof *g->cta);
  g->recent = race_take(&d->recent, (size_t)r->slots * r->fk.warps_per_cta * RECENT * sizeof(struct recent));
  g->shared = race_take(&d->shared, 2 * r->shareds_bytes + 8);
  g->first = d->contexts;
  g->generation = g->shared_generation = d->generation;
  k->grid = g;
}

void race_grid_free(struct check_run *k, struct simt *s) {
  struct race_shadow *d = s->check->shadow;
  if (!k->grid) return;
  d->live--;
  race_give(&d->recent, &k->grid->recent);
  if (k->grid->shared_generation == d->generation) race_give(&d->shared, &k->grid->shared);
  else munmap(k->grid->shared.p, k->grid->shared.bytes); /* its marks name contexts that are gone */
  free(k->grid->cta);
  free(k->grid);
}

/* ---- contexts and epochs ---- */

static void *grown(void *table, uint32_t used, uint32_t *room, size_t each) {
  if (used < *room) return table;
  *room = *room ? 2 * *room : 1024;
  table = mem_resize(table, *room * each, 1);
  return table;
}

static void new_epoch(struct simt_run *r, const struct cta *c) {
  struct race_shadow *d = r->s->check->shadow;
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  if (d->epochs == RACE_MOST) drop_all(d);
  d->epoch = grown(d->epoch, d->epochs, &d->epoch_room, sizeof *d->epoch);
  d->epoch[d->epochs] = (struct epoch){.launch = r->check->grid->launch, .cta = c->id};
  q->epoch = d->epochs++;
  if (q->generation != d->generation) q->floor = 0;
  q->generation = d->generation;
}

void race_grid_start(struct simt_run *r, const struct cta *c) {
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  *q = (struct grid_cta){0};
  new_epoch(r, c);
}

/* The epoch of the CTA on x if a context of it can hold clock and pc, else a continuation of it. */
static uint32_t epoch_for(struct exec *x, uint32_t clock, uint32_t pc) {
  struct race_shadow *d = x->run->s->check->shadow;
  const struct grid_cta *q = &x->run->check->grid->cta[x->cta->slot];
  if (q->generation != d->generation) new_epoch(x->run, x->cta);
  const struct epoch *e = &d->epoch[q->epoch];
  if (clock - e->clock < 1u << RACE_CLOCK_BITS && pc - e->pc < 1u << RACE_PC_BITS) return q->epoch;
  uint32_t before = q->epoch, generation = d->generation, lag = 1u << (RACE_CLOCK_BITS - 1);
  new_epoch(x->run, x->cta);
  struct epoch *now = &d->epoch[q->epoch];
  now->clock = clock > lag ? clock - lag : 0;
  now->pc = pc >> RACE_PC_BITS << RACE_PC_BITS;
  now->part = generation == d->generation ? before : 0;
  return q->epoch;
}

uint32_t race_context(struct exec *x, const struct xop *o, uint8_t kind) {
  struct simt_run *r = x->run;
  struct race_shadow *d = r->s->check->shadow;
  struct race_grid *g = r->check->grid;
  uint32_t pc = (uint32_t)(o - x->ops), clock = race_clock_of(x);
  uint32_t epoch = epoch_for(x, clock, pc);
  struct recent *k = (struct recent *)g->recent.p + ((size_t)x->cta->slot * r->fk.warps_per_cta + x->w->index) * RECENT;
  k += (pc ^ (uint32_t)kind * 5) % RECENT;
  if (k->id && k->pc == pc && k->clock == clock && k->epoch == epoch && k->kind == kind &&
      k->generation == d->generation)
    return k->id;
  if (d->contexts == RACE_MOST) {
    drop_all(d);
    epoch = epoch_for(x, clock, pc);
  }
  d->context = grown(d->context, d->contexts, &d->context_room, sizeof *d->context);
  const struct epoch *e = &d->epoch[epoch];
  d->context[d->contexts] = (struct context){
      .epoch = epoch, .clock = clock - e->clock, .pc = pc - e->pc, .warp = (uint8_t)x->w->index, .kind = kind};
  *k = (struct recent){pc, clock, epoch, d->contexts, kind, d->generation};
  return d->contexts++;
}

/* ---- what orders ---- */

void check_fence(struct exec *x) {
  const struct check_run *k = x->run->check;
  if (k->grid) k->grid->cta[x->cta->slot].fenced = true;
}

void race_grid_barrier(struct exec *x) {
  const struct race_shadow *d = x->run->s->check->shadow;
  struct grid_cta *q = &x->run->check->grid->cta[x->cta->slot];
  if (q->generation == d->generation) q->floor = d->contexts;
}

static void release_cta(struct simt_run *r, const struct cta *c) {
  struct race_shadow *d = r->s->check->shadow;
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  d->releases++;
  for (uint32_t n = q->generation == d->generation ? q->epoch : 0; n; n = d->epoch[n].part)
    d->epoch[n].released = d->releases;
  q->fenced = false;
  new_epoch(r, c);
}

/* A volatile access or an atomic: it may publish the CTA's accesses before its last fence, and may acquire those
 * published by others. */
static void synchronise(struct exec *x, const struct xop *o, bool writes) {
  struct grid_cta *q = &x->run->check->grid->cta[x->cta->slot];
  if (writes && (q->fenced || o->releases)) release_cta(x->run, x->cta);
  q->acquired = x->run->s->check->shadow->releases;
}

void check_atomic_performed(struct exec *x, const struct cta *c) {
  const struct check_run *k = x->run->check;
  if (k->grid) k->grid->cta[c->slot].acquired = x->run->s->check->shadow->releases;
}

void check_cluster_met(struct exec *x, const struct cluster *k) {
  struct race_grid *g = x->run->check->grid;
  if (!g) return;
  for (uint32_t n = 0; n < x->run->fk.cluster; n++)
    if (k->cta[n]) release_cta(x->run, k->cta[n]);
  for (uint32_t n = 0; n < x->run->fk.cluster; n++)
    if (k->cta[n]) g->cta[k->cta[n]->slot].acquired = x->run->s->check->shadow->releases;
}

/* The earlier access `m` of another context against one of `kind` on `x` now, which touch a byte in common. */
static enum race_verdict judge_race(const struct exec *x, const struct context *m, uint8_t kind) {
  const struct race_shadow *d = x->run->s->check->shadow;
  const struct race_grid *g = x->run->check->grid;
  const struct grid_cta *q = &g->cta[x->cta->slot];
  const struct epoch *e = &d->epoch[m->epoch];
  if (kind & KIND_SHARED && e->cta != x->cta->id) return ORDERED;
  if (e->launch != g->launch || (e->released && e->released <= q->acquired)) return ORDERED;
  if (e->cta == x->cta->id && (m->warp == x->w->index || race_passed(x, m->warp, e->clock + m->clock))) return ORDERED;
  if (!((m->kind | kind) & KIND_WRITES) || m->kind & kind & KIND_STRONG) return ORDERED;
  if (kind & KIND_SHARED) return kind & KIND_SAME && m->kind & KIND_WRITES ? ORDERED : RACES;
  if (kind & KIND_SAME || (m->kind & KIND_SAME && !(kind & KIND_WRITES))) return SAME_VALUE;
  return RACES;
}

bool race_ordered(const struct exec *x, uint32_t id, uint8_t kind) {
  const struct race_shadow *d = x->run->s->check->shadow;
  return id < d->contexts && judge_race(x, &d->context[id], kind) == ORDERED;
}

static void report_race(struct exec *x, const struct xop *o, const struct checked *word, const struct context *m,
                        uint32_t their_lane, enum race_verdict v) {
  const struct epoch *e = &x->run->s->check->shadow->epoch[m->epoch];
  uint32_t pc = e->pc + m->pc;
  struct finding *f = check_note(x, o, &x->ops[pc], v == SAME_VALUE ? CHECK_SAME : CHECK_RACE);
  if (!f) return; /* racing programs do so at thousands of addresses */
  const struct simt_run *r = x->run;
  const struct inst *in = &r->m->code[pc];
  const char *file = in->src_file < r->fk.nfiles ? r->fk.files[in->src_file] : NULL;
  const uint32_t *grid = r->fk.grid, *block = r->fk.block, t = m->warp * LANES + their_lane;
  const struct simt_alloc *a = simt_mem_find(r->s, word->addr);
  char src[200] = "", place[200] = "", what[700];
  static const char *const verbs[] = {"read", "write", "atomic"};
  if (in->src_line && file) snprintf(src, sizeof src, "%.160s:%u, ", file, in->src_line);
  if (a)
    snprintf(place, sizeof place, " (byte %llu of %s%.80s%s, %llu bytes)", (unsigned long long)(word->addr - a->base),
             a->label ? "'" : "an allocation", a->label ? a->label : "", a->label ? "'" : "",
             (unsigned long long)a->bytes);
  bool atomic = r->m->code[pc].kind == KIND_ATOM;
  const char *theirs = atomic ? "atomic" : m->kind & KIND_WRITES ? "write" : "read";
  if (m->kind & KIND_SHARED) {
    snprintf(
        what, sizeof what,
        "%s of shared 0x%llx races with the %s by thread (%u,%u,%u) at %sPTX line %u: no barrier lies between them",
        verbs[word->kind], (unsigned long long)word->addr, theirs, t % block[0], t / block[0] % block[1],
        t / block[0] / block[1], src, in->ptx_line);
    check_describe(x, o, word->lane, f, what);
    return;
  }
  snprintf(what, sizeof what,
           "%s of global 0x%llx%s races with the %s by CTA (%u,%u,%u), thread (%u,%u,%u) at %sPTX line %u%s",
           verbs[word->kind], (unsigned long long)word->addr, place, theirs, e->cta % grid[0],
           e->cta / grid[0] % grid[1], e->cta / grid[0] / grid[1], t % block[0], t / block[0] % block[1],
           t / block[0] / block[1], src, in->ptx_line,
           v == SAME_VALUE ? ": both leave the same value" : ": nothing orders them");
  check_describe(x, o, word->lane, f, what);
}

/* ---- accesses ---- */

static bool live(const struct race_shadow *d, const struct race_grid *g, uint32_t mark) {
  return mark && race_mark_id(mark) < d->contexts && d->epoch[d->context[race_mark_id(mark)].epoch].launch == g->launch;
}

/* Whether what races with an earlier access of this launch may be ordered with a volatile or atomic one on x now: that
 * was neither volatile nor atomic, or of another warp. */
static bool races_with_more(const struct exec *x, uint32_t mark) {
  const struct race_shadow *d = x->run->s->check->shadow;
  if (!live(d, x->run->check->grid, mark)) return false;
  const struct context *m = &d->context[race_mark_id(mark)];
  return !(m->kind & KIND_STRONG) || d->epoch[m->epoch].cta != x->cta->id || m->warp != x->w->index;
}

enum race_verdict race_touch(struct exec *x, const struct xop *o, const struct checked *word, uint8_t how,
                             uint32_t mark, uint64_t *cell, bool reported) {
  const struct race_shadow *d = x->run->s->check->shadow;
  uint32_t marks[2] = {(uint32_t)*cell, (uint32_t)(*cell >> 32)};
  enum race_verdict worst = ORDERED, first = ORDERED;
  for (int n = 0; n < 2; n++) {
    uint32_t old = marks[n];
    if (!(old & mark & 15) || race_mark_id(old) == race_mark_id(mark) || race_mark_id(old) >= d->contexts) continue;
    const struct context *m = &d->context[race_mark_id(old)];
    enum race_verdict v = judge_race(x, m, how);
    if (!n) first = v;
    if (v > worst) worst = v;
    if (v != ORDERED && !reported) report_race(x, o, word, m, old >> RACE_LANE_SHIFT & (LANES - 1), v), reported = true;
  }
  if (how & KIND_WRITES) {
    if (how & KIND_STRONG && first != SAME_VALUE && races_with_more(x, marks[0])) marks[1] = marks[0];
    if (first != SAME_VALUE) marks[0] = mark; /* otherwise the mark of the writer stays */
  } else if (live(d, x->run->check->grid, marks[0]) && race_mark_id(marks[0]) != race_mark_id(mark)) {
    marks[1] = mark;
  } else {
    marks[0] = mark;
  }
  *cell = marks[0] | (uint64_t)marks[1] << 32;
  return worst;
}

uint64_t *race_cell(const struct exec *x, uint8_t space, uint64_t addr) {
  const struct race_shadow *d = x->run->s->check->shadow;
  struct race_grid *g = x->run->check->grid;
  if (space == SPACE_SHARED && g->shared_generation != d->generation) {
    madvise(g->shared.p, g->shared.bytes, MADV_DONTNEED);
    g->shared_generation = d->generation;
  }
  if (space == SPACE_SHARED) return (uint64_t *)g->shared.p + ((size_t)x->cta->slot * x->run->shared_stride + addr) / 4;
  return space == SPACE_GLOBAL && addr < SYMBOL_LIMIT ? d->symbols + addr / 4 : NULL;
}

void race_access(struct exec *x, const struct xop *o, const struct checked *a) {
  uint8_t space = a->space;
  if (space != SPACE_SHARED && space != SPACE_GLOBAL) return;
  uint8_t how = race_kind(o, space, a->kind) | (a->changed ? 0 : KIND_SAME);
  if (space == SPACE_SHARED && a->kind != CHECK_ATOMIC)
    how &= (uint8_t)~KIND_STRONG; /* no barrier: a race, if volatile */
  if (how & KIND_STRONG && space == SPACE_GLOBAL) synchronise(x, o, how & KIND_WRITES);
  uint32_t id = race_context(x, o, how), within = (uint32_t)a->addr & 3, end = a->bytes + within;
  struct race_shadow *d = x->run->s->check->shadow;
  bool reported = false, mapped = space == SPACE_GLOBAL && race_mapped(d, a->addr);
  uint64_t *cell = mapped ? NULL : race_cell(x, space, a->addr);
  struct checked word = *a;
  if (!cell && !mapped) return;
  for (uint32_t at = 0; at < end; at += 4) {
    uint32_t from = at ? 0 : within, to = end - at < 4 ? end - at : 4;
    uint32_t mask = (1u << to) - (1u << from), mark = race_mark(id, how, (uint32_t)a->lane, mask);
    word.addr = a->addr + at - (at ? within : 0);
    uint64_t n = race_word_of(a->addr) + at / 4, now = mapped ? race_words_load(&d->words, n) : cell[at / 4];
    reported |= race_touch(x, o, &word, how, mark, &now, reported) != ORDERED;
    if (mapped) race_words_store(&d->words, n, race_settled(now, d->settled));
    else cell[at / 4] = now;
  }
}

void race_handlers(struct simt *s) {
  memcpy(s->check->plain, s->handlers, sizeof s->check->plain);
  if (s->isa == 4) race_fast_v4(s->handlers);
  else if (s->isa == 3) race_fast_v3(s->handlers);
  else race_fast_v2(s->handlers);
  s->check->fast = true;
}

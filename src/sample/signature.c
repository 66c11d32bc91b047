/* signature.c - see signature.h. */
#include "sample/signature.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LINE_SHIFT = 7, SECTOR_SHIFT = 5, SEEN_BITS = 1 << 17, MOST_SHAPES = 512, MOST_CONSTANTS = 256 };
static const double shape_distance = 0.05; /* half the sum of the differences of two shares */

#define ROW(field) \
  { #field, offsetof(struct signature, field) }
const struct signature_row signature_rows[SIGNATURE_ROWS] = {
    ROW(warp_insts), ROW(thread_insts), ROW(loads), ROW(stores),    ROW(atomics),
    ROW(shared),     ROW(other),        ROW(lines), ROW(footprint), ROW(longest)};
#undef ROW

/* The shares of the instructions in a launch. */
struct shape {
  char *kernel;
  float *share;
  uint32_t insts, launch;
};

struct executed { /* the instruction, and its last execution among those of the CTA, from 1 */
  uint32_t pc;
  uint64_t at;
};
struct signed_cta {
  struct touched_cta touched; /* until its turn comes */
  struct executed *pcs;
  uint64_t constant[MOST_CONSTANTS], local[SIGNED_LOCAL / 64];
  uint32_t touch_room, executed, pc_room, constants;
  uint64_t warp_insts;
  struct signed_cta *next; /* unused ones */
};

/* A feed of the launch, with what its CTAs did. */
struct tap {
  struct feed feed;
  struct feed *inner;
  struct signer *s;
  struct signature now;
  uint32_t *pc;        /* of each warp of each slot */
  uint32_t *steps;     /* of these, executed instructions of the CTA */
  uint64_t *cta_insts; /* of the CTA on each slot */
  uint32_t *cta;       /* its number */
  uint64_t *ran;       /* of the launch: its set of executed instructions, `words` for each slot; of workers: NULL */
  uint32_t warp_room, slot_room, ran_room, words;
  uint64_t *count; /* executions of each instruction */
  uint64_t *last;  /* which instruction was its last execution, from 1; 0: none */
  uint32_t count_room;
  uint64_t seen[SEEN_BITS / 64]; /* lines, by a hash: linear counting */
  uint64_t constant[MOST_CONSTANTS], local[SIGNED_LOCAL / 64];
  uint32_t constants;
  struct signed_cta *log; /* touches go there; NULL: to the L2 at once */
  uint64_t logged;        /* warp instructions that were in earlier logs */
};

struct signer {
  const struct inst *code;
  struct signer_l2 l2;
  struct touches *order; /* in which workers' CTAs touch it */
  uint32_t warps;        /* of a CTA */
  struct tap all;        /* of the launch */
  uint64_t *on_sm;       /* sets of executed instructions of the SMs in the order of their first CTAs */
  uint32_t on_sm_room, committed;
  struct tap **share; /* of workers, NULL: none yet */
  uint32_t shares, used;
  struct signed_cta *free;
  struct shape *shape;
  uint32_t shapes;
};

static uint64_t *signature_at(struct signature *s, uint32_t row) {
  return (uint64_t *)((char *)s + signature_rows[row].offset);
}

/* ---- the tap ---- */

static void tap_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct tap *t = ctx;
  uint32_t warps = t->s->warps;
  t->cta_insts[slot] = 0;
  t->cta[slot] = cta;
  if (t->ran) memset(&t->ran[slot * t->words], 0, t->words * sizeof *t->ran);
  for (uint32_t w = 0; w < warps; w++) t->pc[slot * warps + w] = t->feed.kernel->entry_pc;
  memset(&t->steps[slot * warps], 0, warps * sizeof *t->steps);
  t->inner->ops->start_cta(t->inner->ctx, slot, cta, sm, first_warp);
}

static void log_line(struct signed_cta *c, struct touched touch) {
  struct touched_cta *p = &c->touched;
  if (p->n == c->touch_room) {
    c->touch_room = c->touch_room ? 2 * c->touch_room : 256;
    p->touch = mem_resize(p->touch, c->touch_room, sizeof *p->touch);
  }
  touch.place = p->n;
  p->touch[p->n++] = touch;
}

/* An access at time `at` of the CTA, which is at a place among those side by side. `store`: not an atomic, which reads
 * its sectors. */
struct access {
  const struct issued *out;
  uint32_t at, place;
  bool write, store;
};

/* What an instruction touches of a line: words of four bytes as the machine's coalescing. */
struct touch {
  uint64_t line;
  uint32_t words;
};

static void touch_line(struct tap *t, const struct touch *l, const struct access *a) {
  enum { WORDS = 8, WHOLE = 255 }; /* of a sector */
  uint64_t line = l->line, h = (line >> LINE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >> 47;
  uint32_t sectors = 0, part = 0;
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t words = l->words >> k * WORDS & WHOLE;
    sectors |= (uint32_t)(words != 0) << k;
    part |= (uint32_t)(words && words != WHOLE && a->store) << k;
  }
  t->seen[h / 64] |= 1ull << h % 64;
  t->now.lines++;
  uint64_t what = line | sectors | a->write * TOUCHED_WRITE | (uint64_t)part << TOUCHED_PART;
  if (t->log) log_line(t->log, (struct touched){.what = what, .at = a->at});
  else if (t->s->l2.sink) {
    struct touched_line touched = touched_line(what, a->place);
    t->s->l2.sink(t->s->l2.ctx, &touched);
  }
}

static uint32_t words_of(uint64_t line, uint64_t from, uint64_t to) {
  uint32_t a = from <= line ? 0 : (uint32_t)(from - line) >> 2;
  uint32_t b = to - line >= 1u << LINE_SHIFT ? 31 : (uint32_t)(to - line) >> 2;
  return (uint32_t)((UINT64_C(2) << b) - (UINT64_C(1) << a));
}

/* The lines of one instruction, each once. */
static void touch_lines(struct tap *t, const struct access *a) {
  const struct issued *out = a->out;
  struct touch line[2 * WARP_LANES];
  uint32_t n = 0;
  for (uint32_t left = out->mask & ~out->remote; left; left &= left - 1) {
    uint64_t from = out->addr[__builtin_ctz(left)], to = from + (out->width ? out->width : 1) - 1;
    for (uint64_t l = from >> LINE_SHIFT << LINE_SHIFT; l <= to; l += 1u << LINE_SHIFT) {
      uint32_t i = n;
      while (i && line[i - 1].line != l) i--;
      if (!i && n < 2 * WARP_LANES) line[n] = (struct touch){.line = l}, i = ++n;
      if (!i) continue;
      line[i - 1].words |= words_of(l, from, to);
    }
  }
  for (uint32_t i = 0; i < n; i++) touch_line(t, &line[i], a);
}

static void note_constant(uint64_t *list, uint32_t *n, uint64_t line) {
  uint32_t i = *n;
  while (i && list[i - 1] != line) i--;
  if (!i && *n < MOST_CONSTANTS) list[(*n)++] = line;
}

static void touch_constants(struct tap *t, const struct issued *out) {
  uint64_t *list = t->log ? t->log->constant : t->constant;
  for (uint32_t left = out->mask; left; left &= left - 1)
    note_constant(list, t->log ? &t->log->constants : &t->constants,
                  out->addr[__builtin_ctz(left)] >> SECTOR_SHIFT << SECTOR_SHIFT);
}

/* Of a vector the words of its first element, as the timing model. */
static void touch_local(struct tap *t, const struct inst *in, const struct issued *out) {
  uint64_t *set = t->log ? t->log->local : t->local;
  uint32_t words = in->elem_bytes > 4 ? in->elem_bytes / 4 : 1;
  for (uint32_t left = out->mask; left; left &= left - 1) {
    uint64_t at = out->addr[__builtin_ctz(left)] / 4;
    for (uint32_t i = 0; i < words && at + i < SIGNED_LOCAL; i++) set[(at + i) / 64] |= 1ull << (at + i) % 64;
  }
}

static void count_access(struct tap *t, const struct inst *in, const struct access *a) {
  const struct issued *out = a->out;
  if (out->space == SPACE_SHARED) t->now.shared++;
  else if (out->space != SPACE_GLOBAL) t->now.other++;
  if (t->s->l2.sink && (out->space == SPACE_CONST || out->space == SPACE_PARAM)) touch_constants(t, out);
  if (t->s->l2.sink && out->space == SPACE_LOCAL) touch_local(t, in, out);
  if (out->space != SPACE_GLOBAL) return;
  *(in->kind == KIND_LOAD ? &t->now.loads : in->kind == KIND_STORE ? &t->now.stores : &t->now.atomics) += 1;
  touch_lines(t, a);
}

static bool tap_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *out) {
  struct tap *t = ctx;
  uint32_t warp = slot * t->s->warps + w, *pc = &t->pc[warp], at = t->steps[warp]++;
  if (!t->inner->ops->issue(t->inner->ctx, slot, w, out)) return false;
  const struct inst *in = &t->s->code[*pc];
  t->count[*pc]++;
  t->last[*pc] = ++t->now.warp_insts;
  t->cta_insts[slot]++;
  if (t->ran) t->ran[slot * t->words + *pc / 64] |= 1ull << *pc % 64;
  t->now.thread_insts += (uint32_t)__builtin_popcount(out->mask);
  if (in->kind >= KIND_LOAD && in->kind <= KIND_ATOM && out->mask)
    count_access(
        t, in, &(struct access){out, at, t->cta[slot] % t->s->l2.side, in->kind != KIND_LOAD, in->kind == KIND_STORE});
  if (out->next_pc != FEED_DONE) *pc = out->next_pc;
  return true;
}

static bool tap_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  const struct tap *t = ctx;
  return t->inner->ops->atomic(t->inner->ctx, token, lanes);
}

/* Its longest warp. */
static uint32_t most_steps(const struct tap *t, uint32_t slot) {
  uint32_t most = 0, warps = t->s->warps;
  for (uint32_t i = slot * warps; i < (slot + 1) * warps; i++)
    if (t->steps[i] > most) most = t->steps[i];
  return most;
}

/* Of the SM that gets CTA `cta` of the launch. */
static uint64_t *ran_by(const struct signer *s, uint32_t cta) {
  return &s->on_sm[cta % s->l2.sms * s->all.words];
}

static void tap_end(void *ctx, uint32_t slot) {
  struct tap *t = ctx;
  for (uint32_t i = 0; t->ran && i < t->words; i++) ran_by(t->s, t->cta[slot])[i] |= t->ran[slot * t->words + i];
  if (t->log) t->log->touched.end = most_steps(t, slot);
  if (t->cta_insts[slot] > t->now.longest) t->now.longest = t->cta_insts[slot];
  t->inner->ops->end_cta(t->inner->ctx, slot);
}

static const struct feed_fault *tap_fault(void *ctx) {
  const struct tap *t = ctx;
  return t->inner->ops->fault(t->inner->ctx);
}

static const struct feed_ops operations = {
    .start_cta = tap_start, .issue = tap_issue, .atomic = tap_atomic, .end_cta = tap_end, .fault = tap_fault};

static void tap_open(struct tap *t, struct signer *s, struct feed *inner, uint32_t slots) {
  const struct feed_kernel *k = inner->kernel;
  t->s = s;
  t->inner = inner;
  t->now = (struct signature){0};
  t->constants = 0;
  memset(t->local, 0, sizeof t->local);
  t->logged = 0;
  if (slots * s->warps > t->warp_room) {
    t->warp_room = slots * s->warps;
    t->pc = mem_resize(t->pc, t->warp_room, sizeof *t->pc);
    t->steps = mem_resize(t->steps, t->warp_room, sizeof *t->steps);
  }
  if (slots > t->slot_room) {
    t->slot_room = slots;
    t->cta_insts = mem_resize(t->cta_insts, slots, sizeof *t->cta_insts);
    t->cta = mem_resize(t->cta, slots, sizeof *t->cta);
  }
  if (k->insts > t->count_room) {
    t->count_room = k->insts;
    t->count = mem_resize(t->count, k->insts, sizeof *t->count);
    t->last = mem_resize(t->last, k->insts, sizeof *t->last);
  }
  memset(t->count, 0, k->insts * sizeof *t->count);
  memset(t->last, 0, k->insts * sizeof *t->last);
  memset(t->seen, 0, sizeof t->seen);
  t->feed = (struct feed){.ops = &operations, .ctx = t, .kernel = k, .watch = inner->watch};
}

static void tap_close(struct tap *t) {
  free(t->pc);
  free(t->steps);
  free(t->cta_insts);
  free(t->cta);
  free(t->ran);
  free(t->count);
  free(t->last);
}

/* ---- workers ---- */

static void empty_log(struct signed_cta *c) {
  c->touched.n = c->touched.end = c->executed = c->constants = 0;
  memset(c->local, 0, sizeof c->local);
}

static struct signed_cta *new_log(struct signer *s) {
  struct signed_cta *c = s->free;
  if (!c) return mem_zeroed(1, sizeof *c);
  s->free = c->next;
  empty_log(c);
  c->warp_insts = 0;
  return c;
}

struct feed *signer_share(struct signer *s, uint32_t i, struct feed *inner, uint32_t slots) {
  if (i >= s->shares) {
    s->share = mem_resize(s->share, i + 1, sizeof(struct tap *));
    while (s->shares <= i) s->share[s->shares++] = mem_zeroed(1, sizeof(struct tap));
  }
  if (i >= s->used) s->used = i + 1;
  tap_open(s->share[i], s, inner, slots);
  if (s->l2.sink) s->share[i]->log = new_log(s);
  return &s->share[i]->feed;
}

bool signer_keeps(const struct signer *s) {
  return s->l2.sink != NULL;
}

bool signer_full(const struct signer *s, uint32_t i) {
  enum { MOST_TOUCHES = 1 << 17 };
  return s->share[i]->log && s->share[i]->log->touched.n >= MOST_TOUCHES;
}

/* Instructions of the kernel that were executed since the last time, with their places among these. */
static void log_code(struct tap *t) {
  struct signed_cta *c = t->log;
  uint32_t n = t->feed.kernel->insts;
  if (n > c->pc_room) {
    c->pc_room = n;
    c->pcs = mem_resize(c->pcs, n, sizeof *c->pcs);
  }
  for (uint32_t pc = 0; pc < n; pc++)
    if (t->last[pc] > t->logged) c->pcs[c->executed++] = (struct executed){pc, t->last[pc] - t->logged};
  c->warp_insts = t->now.warp_insts - t->logged;
  t->logged = t->now.warp_insts;
}

struct signed_cta *signer_take(struct signer *s, uint32_t i, struct signed_cta *unused) {
  struct tap *t = s->share[i];
  struct signed_cta *c = t->log;
  log_code(t);
  if (unused) empty_log(unused);
  t->log = unused ? unused : mem_zeroed(1, sizeof *unused);
  return c;
}

void signer_commit(struct signer *s, struct signed_cta *c, bool part) {
  struct tap *all = &s->all;
  c->touched.place = s->committed % s->l2.side;
  if (part) touches_part(s->order, &c->touched);
  else touches_cta(s->order, &c->touched);
  uint64_t *set = ran_by(s, s->committed);
  for (uint32_t i = 0; i < c->executed; i++) {
    uint32_t pc = c->pcs[i].pc;
    all->last[pc] = all->logged + c->pcs[i].at;
    set[pc / 64] |= 1ull << pc % 64;
  }
  s->committed += !part;
  for (uint32_t i = 0; i < c->constants; i++) note_constant(all->constant, &all->constants, c->constant[i]);
  for (uint32_t i = 0; i < SIGNED_LOCAL / 64; i++) all->local[i] |= c->local[i];
  all->logged += c->warp_insts;
}

void signer_flush(struct signer *s) {
  touches_flush(s->order);
}

void signer_free_log(struct signed_cta *c) {
  if (!c) return;
  free(c->touched.touch);
  free(c->pcs);
  free(c);
}

/* No worker has a part in the launch any more. */
static void drop_shares(struct signer *s) {
  for (uint32_t i = 0; i < s->used; i++) {
    struct tap *t = s->share[i];
    if (t->log) t->log->next = s->free, s->free = t->log;
    t->log = NULL;
  }
  s->used = 0;
}

/* Their counts join those of the launch. */
static void end_shares(struct signer *s) {
  struct tap *all = &s->all;
  for (uint32_t i = 0; i < s->used; i++) {
    struct tap *t = s->share[i];
    uint64_t longest = t->now.longest > all->now.longest ? t->now.longest : all->now.longest;
    for (uint32_t k = 0; k < SIGNATURE_ROWS; k++) *signature_at(&all->now, k) += *signature_at(&t->now, k);
    all->now.longest = longest;
    for (uint32_t pc = 0; pc < t->feed.kernel->insts; pc++) all->count[pc] += t->count[pc];
    for (uint32_t k = 0; k < SEEN_BITS / 64; k++) all->seen[k] |= t->seen[k];
  }
  drop_shares(s);
}

/* ---- shapes ---- */

static double distance(const struct shape *p, const uint64_t *count, double all) {
  double sum = 0;
  for (uint32_t i = 0; i < p->insts; i++) sum += fabs(p->share[i] - (double)count[i] / all);
  return sum / 2;
}

static uint32_t shape_of(struct signer *s, uint32_t launch) {
  const struct feed_kernel *k = s->all.feed.kernel;
  const uint64_t *count = s->all.count;
  double all = s->all.now.warp_insts ? (double)s->all.now.warp_insts : 1, least = HUGE_VAL;
  uint32_t nearest = launch;
  for (uint32_t i = 0; i < s->shapes; i++) {
    const struct shape *p = &s->shape[i];
    if (p->insts != k->insts || strcmp(p->kernel, k->name) != 0) continue;
    double d = distance(p, count, all);
    if (d < least) least = d, nearest = p->launch;
  }
  if (least <= shape_distance || s->shapes == MOST_SHAPES) return nearest;
  s->shape = mem_resize(s->shape, s->shapes + 1, sizeof *s->shape);
  struct shape *p = &s->shape[s->shapes++];
  *p = (struct shape){.kernel = mem_text(k->name), .insts = k->insts, .launch = launch};
  p->share = mem_zeroed(k->insts, sizeof *p->share);
  for (uint32_t i = 0; i < k->insts; i++) p->share[i] = (float)((double)count[i] / all);
  return launch;
}

/* Linear counting (Whang et al., "A linear-time probabilistic counting algorithm", TODS 1990). */
static uint64_t footprint(const struct signer *s) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < SEEN_BITS / 64; i++) used += (uint32_t)__builtin_popcountll(s->all.seen[i]);
  double free_bits = used < SEEN_BITS ? (double)(SEEN_BITS - used) : 0.5;
  return (uint64_t)(SEEN_BITS * log(SEEN_BITS / free_bits) + 0.5);
}

/* ---- for callers ---- */

struct signer *signer_new(void) {
  struct signer *s = mem_zeroed(1, sizeof *s);
  s->order = touches_new();
  return s;
}

void signer_free(struct signer *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->shapes; i++) free(s->shape[i].kernel), free(s->shape[i].share);
  free(s->shape);
  for (uint32_t i = 0; i < s->shares; i++) {
    tap_close(s->share[i]);
    signer_free_log(s->share[i]->log);
    free(s->share[i]);
  }
  free(s->share);
  for (struct signed_cta *c = s->free, *next; c; c = next) {
    next = c->next;
    signer_free_log(c);
  }
  tap_close(&s->all);
  free(s->on_sm);
  touches_free(s->order);
  free(s);
}

const uint64_t *signer_last(const struct signer *s) {
  return s->all.last;
}

const uint64_t *signer_ran(const struct signer *s, uint32_t *words) {
  *words = s->all.words;
  return s->on_sm;
}

const uint64_t *signer_constants(const struct signer *s, uint32_t *n) {
  *n = s->all.constants;
  return s->all.constant;
}

const uint64_t *signer_local(const struct signer *s) {
  return s->all.local;
}

/* Sets of executed instructions: none of any SM and slot yet. */
static void open_sets(struct signer *s, uint32_t slots) {
  struct tap *t = &s->all;
  uint32_t words = (t->feed.kernel->insts + 63) / 64, all = words * s->l2.sms;
  t->words = words;
  s->committed = 0;
  if (slots * words > t->ran_room) {
    t->ran_room = slots * words;
    t->ran = mem_resize(t->ran, t->ran_room, sizeof *t->ran);
  }
  if (all > s->on_sm_room) {
    s->on_sm_room = all;
    s->on_sm = mem_resize(s->on_sm, all, sizeof *s->on_sm);
  }
  memset(s->on_sm, 0, all * sizeof *s->on_sm);
}

struct feed *signer_begin(struct signer *s, struct feed *inner, uint32_t slots, const struct signer_l2 *l2) {
  drop_shares(s); /* of a launch that was not ended */
  s->code = inner->kernel->code;
  s->l2 = *l2;
  touches_begin(s->order, l2->side, l2->sink, l2->ctx);
  s->warps = inner->kernel->warps_per_cta;
  tap_open(&s->all, s, inner, slots);
  if (s->l2.sink) open_sets(s, slots);
  else free(s->all.ran), s->all.ran = NULL, s->all.ran_room = 0;
  return &s->all.feed;
}

void signer_end(struct signer *s, uint32_t launch, struct signature *out) {
  end_shares(s);
  s->all.now.footprint = footprint(s);
  s->all.now.shape = shape_of(s, launch);
  *out = s->all.now;
}

/* test_l2.c - one L2 sub-partition against a model that searches every list and counts its ports down each cycle, under
 * random traffic with a DRAM that answers out of order; hits and victims, ports, merging, writes and atomics at exact
 * cycles; the banked form's order, latency and conservation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/mem/l2.h"
#include "units.h"

/* ---- the slow model ---- */

struct thing { /* a request as the model sees it */
  uint64_t addr, ready;
  uint32_t id; /* of the request it stands for; 0: made by the L2 */
  uint32_t bytes;
  uint8_t type;
  bool write, atomic, fills;
  int line; /* of `fills` */
};
struct list {
  struct thing *at[4096];
  int n;
};
static void add(struct list *l, struct thing *x) {
  assert_true(l->n < 4096);
  l->at[l->n++] = x;
}
static struct thing *take(struct list *l, int i) {
  struct thing *x = l->at[i];
  memmove(&l->at[i], &l->at[i + 1], (size_t)(--l->n - i) * sizeof l->at[0]);
  return x;
}

struct entry {
  uint64_t addr;
  struct list waiting;
  bool used, ready, atomic;
};
struct slow {
  const struct gpu_config *c;
  const struct addrmap *map;
  struct {
    uint64_t addr, used;
    enum { NONE, COMING, CLEAN, CHANGED } is;
  } line[1024];
  struct entry entry[64];
  struct entry *ready[64];
  int readies;
  struct list rop, in, miss, to_dram, from_dram, out;
  uint32_t data_busy, fill_busy;
  uint64_t accesses, hits, pending, misses, rejects, evictions, writebacks, in_queue;
};

static struct entry *entry_of(struct slow *s, uint64_t addr) {
  for (uint32_t i = 0; i < s->c->l2.mshrs; i++)
    if (s->entry[i].used && s->entry[i].addr == addr) return &s->entry[i];
  return NULL;
}
static bool can_track(struct slow *s, uint64_t addr) {
  struct entry *e = entry_of(s, addr);
  if (e) return e->waiting.n < (int)s->c->l2.merges;
  uint32_t used = 0;
  for (uint32_t i = 0; i < s->c->l2.mshrs; i++) used += s->entry[i].used;
  return used < s->c->l2.mshrs;
}
static struct thing *copy(struct thing x) {
  struct thing *p = malloc(sizeof *p);
  assert_non_null(p);
  *p = x;
  return p;
}
static bool miss_full(struct slow *s, int n) {
  return s->miss.n + n >= (int)s->c->l2.miss_queue;
}

/* Track a miss and return the victim's write-back, if any. */
static struct thing *slow_fetch(struct slow *s, struct thing *x, int line, uint64_t addr, uint64_t now) {
  struct thing *wb = NULL;
  if (s->line[line].is != COMING || s->line[line].addr != addr) {
    s->evictions += s->line[line].is != NONE;
    if (s->line[line].is == CHANGED && s->c->l2_write == WRITE_BACK) {
      wb = copy(
          (struct thing){.addr = s->line[line].addr, .bytes = s->c->l2.line, .type = REQ_L2_WRITEBACK, .write = true});
      s->writebacks++;
    }
    s->line[line].addr = addr;
    s->line[line].is = COMING;
  }
  s->line[line].used = now;
  struct entry *e = entry_of(s, addr);
  if (!e) {
    for (e = s->entry; e->used; e++) {
    }
    memset(e, 0, sizeof *e);
    e->used = true;
    e->addr = addr;
    x->fills = true;
    x->line = line;
    add(&s->miss, x);
  }
  e->atomic |= x->atomic;
  add(&e->waiting, x);
  return wb;
}

/* True if the access is done with (it leaves the queue). */
static bool slow_access(struct slow *s, struct thing *x, uint64_t now) {
  uint64_t addr = x->addr / s->c->l2.line * s->c->l2.line;
  uint32_t set = (uint32_t)(addrmap_local(s->map, x->addr) / s->c->l2.line % s->c->l2.sets), ways = s->c->l2.ways;
  int found = -1, victim = -1, empty = -1;
  for (int i = (int)(set * ways); i < (int)((set + 1) * ways); i++) {
    if (s->line[i].is != NONE && s->line[i].addr == addr) found = i;
    if (s->line[i].is == NONE) empty = i;
    if (s->line[i].is == CLEAN || s->line[i].is == CHANGED)
      if (victim < 0 || s->line[i].used < s->line[victim].used) victim = i;
  }
  if (empty >= 0) victim = empty;
  if (found >= 0 && s->line[found].is != COMING) {
    bool through = x->write && s->c->l2_write == WRITE_THROUGH;
    if (through && miss_full(s, 0)) return s->rejects++, false;
    s->line[found].used = now;
    if (x->write || x->atomic) s->line[found].is = CHANGED;
    s->hits++, s->accesses++;
    s->data_busy += (x->bytes + s->c->l2_port_bytes - 1) / s->c->l2_port_bytes;
    if (through) add(&s->miss, x);
    else if (x->type == REQ_L1_WRITEBACK) free(x);
    else add(&s->out, x);
    return true;
  }
  int line = found >= 0 ? found : victim;
  if (line < 0 || !can_track(s, addr) || miss_full(s, x->write ? 2 : 1)) return s->rejects++, false;
  s->accesses++;
  *(found >= 0 ? &s->pending : &s->misses) += 1;
  struct thing *fetch = x;
  if (x->write) {
    add(&s->miss, x);
    fetch = copy((struct thing){.addr = x->addr, .bytes = s->c->l2.line, .type = REQ_L2_WRITE_ALLOC});
  }
  struct thing *wb = slow_fetch(s, fetch, line, addr, now);
  if (wb) add(&s->miss, wb);
  if (wb && x->write) s->data_busy += s->c->l2.line / s->c->l2_port_bytes;
  return true;
}

static void slow_reply_one(struct slow *s) {
  struct entry *e = s->ready[0];
  struct thing *x = take(&e->waiting, 0);
  if (!e->waiting.n) {
    e->used = false;
    memmove(&s->ready[0], &s->ready[1], (size_t)--s->readies * sizeof s->ready[0]);
  }
  if (x->type == REQ_L2_WRITE_ALLOC) free(x);
  else add(&s->out, x);
}

static void slow_step(struct slow *s, uint64_t now) {
  s->in_queue += (uint64_t)s->in.n;
  bool room_out = s->out.n < (int)s->c->l2_to_icnt;
  if (s->readies && room_out) slow_reply_one(s);
  if (s->from_dram.n) {
    struct thing *x = s->from_dram.at[0];
    if (x->fills) {
      if (!s->fill_busy) {
        take(&s->from_dram, 0);
        struct entry *e = entry_of(s, s->line[x->line].addr);
        s->line[x->line].is = e->atomic ? CHANGED : CLEAN;
        x->fills = false;
        s->ready[s->readies++] = e;
        s->fill_busy += s->c->l2.line / s->c->l2_port_bytes;
      }
    } else if (s->out.n < (int)s->c->l2_to_icnt) {
      add(&s->out, take(&s->from_dram, 0));
    }
  }
  if (s->miss.n && s->to_dram.n < (int)s->c->l2_to_dram) add(&s->to_dram, take(&s->miss, 0));
  s->data_busy -= s->data_busy > 0;
  s->fill_busy -= s->fill_busy > 0;
  if (s->to_dram.n < (int)s->c->l2_to_dram && s->in.n && s->out.n < (int)s->c->l2_to_icnt && !s->data_busy)
    if (slow_access(s, s->in.at[0], now)) take(&s->in, 0);
  if (s->rop.n && now >= s->rop.at[0]->ready && s->in.n < (int)s->c->icnt_to_l2) add(&s->in, take(&s->rop, 0));
}

/* ---- the sub-partition under test ---- */

struct rig {
  struct gpu_config c;
  struct gpu_stats st;
  struct req_pool pool;
  uint64_t now;
  struct partition_env env;
  struct addrmap map;
  struct l2_slice s;
};

static void rig_init(struct rig *r, const struct gpu_config *c) {
  memset(r, 0, sizeof *r);
  if (c) r->c = *c;
  else gpu_config_defaults(&r->c);
  r->env = (struct partition_env){.config = &r->c, .pool = &r->pool, .stats = &r->st, .now = &r->now};
  assert_true(addrmap_init(&r->map, &r->c, NULL));
  l2_init(&r->s, &r->env, &r->map, 0);
}
static void rig_free(struct rig *r) {
  l2_free(&r->s);
  req_pool_destroy(&r->pool);
}
static req_id rig_make(struct rig *r, uint64_t addr, uint32_t bytes, enum req_type type, bool atomic) {
  req_id id = req_new(&r->pool);
  struct req *q = &r->pool.at[id];
  q->addr = addr;
  q->bytes = bytes;
  q->type = (uint8_t)type;
  q->write = type == REQ_GLOBAL_WRITE || type == REQ_LOCAL_WRITE || type == REQ_L1_WRITEBACK;
  q->atomic = atomic;
  addrmap_split(&r->map, q);
  return id;
}
/* The k-th line of sub-partition 0, channel 0. */
static uint64_t line_at(const struct rig *r, uint32_t k) {
  uint64_t quotient = (uint64_t)(k / 2) * r->c.subparts;
  return quotient * r->c.channels * 256 + (k & 1) * 128;
}
static void tick(struct rig *r) {
  l2_step(&r->s);
  l2_count(&r->s);
  r->now++;
}

static void same_thing(const struct rig *r, const struct l2_op *op, const struct thing *x) {
  const struct req *q = &r->pool.at[op->r];
  assert_int_equal(q->type, x->type);
  assert_int_equal(q->addr, x->addr);
  assert_int_equal(q->write, x->write);
  if (x->id) assert_int_equal(op->r, x->id);
}
static void same_queue(const struct rig *r, const struct l2_queue *q, const struct list *l) {
  assert_int_equal(q->count, l->n);
  for (int i = 0; i < l->n; i++) same_thing(r, &q->at[(q->head + (uint32_t)i) & q->mask], l->at[i]);
}

struct traffic {
  uint32_t lines, offer, writes, atomics, locals, dram_take, dram_give, drain;
};

/* Requests in flight at the test's DRAM. */
struct far {
  struct l2_op op[512];
  struct thing *x[512];
  int n;
};

static void dram_side(struct rig *r, struct slow *s, struct far *f, struct rng *g, const struct traffic *w) {
  if (r->s.to_dram.count && f->n < 500 && rng_below(g, 100) < w->dram_take) {
    f->op[f->n] = l2_take(&r->s);
    f->x[f->n] = take(&s->to_dram, 0);
    const struct thing *x = f->x[f->n];
    assert_int_equal(f->op[f->n].bytes, x->fills ? r->c.l2.line : x->bytes);
    f->n++;
  }
  if (!f->n || rng_below(g, 100) >= w->dram_give) return;
  int i = (int)rng_below(g, (uint32_t)f->n);
  bool silent = f->x[i]->type == REQ_L1_WRITEBACK || f->x[i]->type == REQ_L2_WRITEBACK;
  if (silent) {
    req_free(&r->pool, f->op[i].r);
    free(f->x[i]);
  } else {
    assert_int_equal(l2_can_return(&r->s, &f->op[i]), s->from_dram.n < (int)r->c.dram_to_l2);
    if (!l2_can_return(&r->s, &f->op[i])) return;
    l2_return(&r->s, f->op[i]);
    add(&s->from_dram, f->x[i]);
  }
  f->n--;
  f->op[i] = f->op[f->n];
  f->x[i] = f->x[f->n];
}

static void offer(struct rig *r, struct slow *s, struct rng *g, const struct traffic *w) {
  bool room = s->in.n + 4 <= (int)r->c.icnt_to_l2;
  assert_int_equal(l2_can_push(&r->s), room);
  if (!room || rng_below(g, 100) >= w->offer) return;
  uint32_t k = rng_below(g, w->lines), kind = rng_below(g, 100);
  bool write = kind < w->writes, atomic = !write && kind < w->writes + w->atomics;
  bool local = write && rng_below(g, 100) < w->locals;
  uint32_t bytes = 32u << rng_below(g, 3);
  enum req_type type = local ? REQ_L1_WRITEBACK : write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ;
  if (!write && rng_below(g, 10) == 0) type = REQ_TEX_READ;
  uint64_t addr = line_at(r, k) + rng_below(g, 128 / bytes) * bytes;
  req_id id = rig_make(r, addr, bytes, type, atomic);
  l2_push(&r->s, id);
  struct thing x = {.addr = addr, .id = id, .bytes = bytes, .type = (uint8_t)type, .write = write, .atomic = atomic};
  x.ready = r->now + r->c.rop_latency;
  add(type == REQ_TEX_READ ? &s->in : &s->rop, copy(x));
}

static void compare(const struct gpu_config *config, struct traffic w, uint64_t seed, uint32_t cycles, bool skipping) {
  struct rig r;
  rig_init(&r, config);
  struct slow *s = calloc(1, sizeof *s);
  struct far *f = calloc(1, sizeof *f);
  assert_non_null(s);
  assert_non_null(f);
  s->c = &r.c;
  s->map = &r.map;
  struct rng g = rng_seed(seed);
  uint32_t slept = 0;
  for (uint32_t t = 0; t < cycles; t++) {
    if (s->out.n && rng_below(&g, 100) < w.drain) {
      req_id id = l2_queue_pop(&r.s.out).r;
      struct thing *x = take(&s->out, 0);
      assert_int_equal(id, x->id);
      free(x);
      req_free(&r.pool, id);
    }
    dram_side(&r, s, f, &g, &w);
    if ((t / 1500) % 4 != 3) offer(&r, s, &g, &w); /* pauses in which everything drains */
    slow_step(s, r.now);
    if (skipping && l2_quiet(&r.s)) {
      l2_skip(&r.s);
      r.now++;
      slept++;
    } else {
      tick(&r);
    }
    same_queue(&r, &r.s.out, &s->out);
    same_queue(&r, &r.s.to_dram, &s->to_dram);
    same_queue(&r, &r.s.bank[0].miss, &s->miss);
    same_queue(&r, &r.s.bank[0].in, &s->in);
    assert_int_equal(r.st.l2_rejects, s->rejects);
  }
  assert_int_equal(r.st.l2_accesses, s->accesses);
  assert_int_equal(r.st.l2_hits, s->hits);
  assert_int_equal(r.st.l2_pending, s->pending);
  assert_int_equal(r.st.l2_misses, s->misses);
  assert_int_equal(r.st.l2_evictions, s->evictions);
  assert_int_equal(r.st.l2_writebacks, s->writebacks);
  assert_int_equal(s->accesses, s->hits + s->pending + s->misses);
  assert_true(r.s.waited <= s->in_queue); /* those still in the queue are not in it */
  assert_true(s->accesses > cycles * (w.offer < 20 ? w.offer : 20) / 1000);
  if (skipping) assert_true(slept > cycles / 20);
  for (uint32_t i = 0; i < 64; i++) /* a request that waits and fetches is in two lists: free it from its entry only */
    while (s->entry[i].used && s->entry[i].waiting.n) {
      struct thing *x = take(&s->entry[i].waiting, 0);
      for (int k = 0; k < s->miss.n; k++)
        if (s->miss.at[k] == x) take(&s->miss, k--);
      for (int k = 0; k < s->to_dram.n; k++)
        if (s->to_dram.at[k] == x) take(&s->to_dram, k--);
      for (int k = 0; k < s->from_dram.n; k++)
        if (s->from_dram.at[k] == x) take(&s->from_dram, k--);
      for (int k = 0; k < f->n; k++)
        if (f->x[k] == x) f->x[k--] = f->x[--f->n];
      free(x);
    }
  struct list *left[] = {&s->rop, &s->in, &s->miss, &s->to_dram, &s->from_dram, &s->out};
  for (uint32_t i = 0; i < 6; i++)
    while (left[i]->n) free(take(left[i], 0));
  while (f->n) free(f->x[--f->n]);
  free(s);
  free(f);
  rig_free(&r);
}

static const struct traffic shapes[] = {
    /* lines, offer, writes, atomics, locals, take, give, drain */
    {3000, 60, 25, 5, 20, 60, 60, 90}, {100, 90, 25, 5, 0, 60, 60, 90},   {30, 90, 50, 10, 10, 40, 40, 60},
    {700, 90, 0, 0, 0, 90, 90, 90},    {700, 90, 100, 0, 50, 60, 60, 90}, {600, 80, 40, 20, 10, 20, 20, 90},
    {600, 80, 40, 5, 10, 90, 90, 15},  {3000, 3, 30, 5, 20, 60, 60, 90},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void same_as_the_searching_model(void **state) {
  (void)state;
  for (uint32_t i = 0; i < SHAPES; i++) compare(NULL, shapes[i], 10 + i, 20000, false);
}

static void same_with_a_tiny_cache(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.l2.sets = 2, c.l2.ways = 2, c.l2.mshrs = 3, c.l2.merges = 2;
  for (uint32_t i = 0; i < SHAPES; i++) {
    struct traffic w = shapes[i];
    w.lines = 3 + 5 * i;
    compare(&c, w, 50 + i, 20000, false);
  }
}

static void same_when_writing_through(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.l2_write = WRITE_THROUGH;
  for (uint32_t i = 0; i < SHAPES; i++) compare(&c, shapes[i], 70 + i, 15000, i & 1 && i != 7);
}

static void same_when_quiet_cycles_are_skipped(void **state) {
  (void)state;
  struct traffic w = shapes[7];
  compare(NULL, w, 90, 40000, true);
  w = shapes[0];
  w.offer = 1;
  compare(NULL, w, 91, 40000, true);
}

/* ---- exact cycles ---- */

/* Step until `out` holds something; the cycle in which it appeared. */
static uint64_t until_out(struct rig *r, uint32_t limit) {
  while (!r->s.out.count && limit--) tick(r);
  assert_true(r->s.out.count > 0);
  return r->now - 1;
}

/* Bring a line in; its DRAM answers at once. */
static void warm(struct rig *r, uint64_t addr) {
  req_id id = rig_make(r, addr, 128, REQ_GLOBAL_READ, false);
  l2_push(&r->s, id);
  for (int k = 0; k < 400 && !r->s.out.count; k++) {
    if (r->s.to_dram.count) l2_return(&r->s, l2_take(&r->s));
    tick(r);
  }
  assert_int_equal(l2_queue_pop(&r->s.out).r, id);
  req_free(&r->pool, id);
  for (int k = 0; k < 10; k++) tick(r);
}

static void a_hit_answers_after_the_rop_delay_and_holds_the_port(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  warm(&r, line_at(&r, 0));
  uint64_t start = r.now;
  for (int k = 0; k < 3; k++) l2_push(&r.s, rig_make(&r, line_at(&r, 0), k == 1 ? 32 : 128, REQ_GLOBAL_READ, false));
  uint64_t at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = until_out(&r, 300);
    l2_queue_pop(&r.s.out);
  }
  assert_int_equal(at[0], start + 120 + 1); /* ROP, then one cycle in the queue */
  assert_int_equal(at[1], at[0] + 4);       /* 128 B at 32 B a cycle */
  assert_int_equal(at[2], at[1] + 1);       /* 32 B */
  assert_int_equal(r.st.l2_hits, 3);
  rig_free(&r);
}

static void fills_are_four_cycles_apart(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  for (uint32_t k = 0; k < 3; k++) l2_push(&r.s, rig_make(&r, line_at(&r, 2 * k), 128, REQ_GLOBAL_READ, false));
  while (r.s.to_dram.count < 3) tick(&r);
  for (int k = 0; k < 3; k++) l2_return(&r.s, l2_take(&r.s));
  uint64_t at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = until_out(&r, 300);
    l2_queue_pop(&r.s.out);
  }
  assert_int_equal(at[1] - at[0], 4);
  assert_int_equal(at[2] - at[1], 4);
  rig_free(&r);
}

static void a_write_miss_writes_and_fetches_a_clean_line(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  req_id w = rig_make(&r, line_at(&r, 5) + 32, 32, REQ_GLOBAL_WRITE, false);
  l2_push(&r.s, w);
  while (r.s.to_dram.count < 2) tick(&r);
  struct l2_op first = l2_take(&r.s), second = l2_take(&r.s);
  assert_int_equal(first.r, w);
  assert_int_equal(first.bytes, 32);
  assert_int_equal(second.bytes, 128);
  assert_int_equal(r.pool.at[second.r].type, REQ_L2_WRITE_ALLOC);
  assert_int_equal(r.s.out.count, 0); /* DRAM acknowledges it */
  l2_return(&r.s, second);
  for (int k = 0; k < 10; k++) tick(&r);
  assert_int_equal(r.s.out.count, 0);
  assert_int_equal(r.pool.live, 1);
  l2_return(&r.s, first);
  tick(&r);
  assert_int_equal(l2_queue_pop(&r.s.out).r, w);
  uint32_t line =
      l2_tags_find(&r.s.tags, l2_tags_set(&r.s.tags, addrmap_local(&r.map, line_at(&r, 5))), line_at(&r, 5));
  assert_int_equal(r.s.tags.state[line], L2_VALID);
  /* The next write to it hits: the L2 acknowledges, the line is dirty. */
  l2_push(&r.s, rig_make(&r, line_at(&r, 5), 32, REQ_GLOBAL_WRITE, false));
  until_out(&r, 300);
  assert_int_equal(r.s.tags.state[line], L2_DIRTY);
  assert_int_equal(r.s.to_dram.count, 0);
  assert_true(l2_idle(&r.s) == false);
  rig_free(&r);
}

static void merges_end_at_the_limit(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  for (int k = 0; k < 6; k++) l2_push(&r.s, rig_make(&r, line_at(&r, 9), 32, REQ_GLOBAL_READ, false));
  for (int k = 0; k < 140; k++) tick(&r);
  assert_int_equal(r.st.l2_misses, 1);
  assert_int_equal(r.st.l2_pending, 3); /* 4 to an entry */
  assert_true(r.st.l2_rejects > 10);
  assert_int_equal(r.s.to_dram.count, 1);
  l2_return(&r.s, l2_take(&r.s));
  for (int k = 0; k < 20; k++) tick(&r);
  assert_int_equal(r.s.out.count, 6);
  assert_int_equal(r.st.l2_hits, 2);
  rig_free(&r);
}

static void a_set_of_reserved_lines_refuses(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  /* Lines 64 apart share a set. */
  for (uint32_t k = 0; k < 9; k++) {
    l2_push(&r.s, rig_make(&r, line_at(&r, 64 * k), 128, REQ_GLOBAL_READ, false));
    for (int t = 0; t < 10; t++) tick(&r);
  }
  struct l2_op first = {0};
  for (int k = 0, got = 0; k < 200; k++) {
    tick(&r);
    if (!r.s.to_dram.count) continue;
    struct l2_op op = l2_take(&r.s);
    if (!got++) first = op;
  }
  assert_int_equal(r.st.l2_misses, 8);
  assert_true(r.st.l2_rejects > 50);
  l2_return(&r.s, first);
  tick(&r);
  tick(&r);
  assert_int_equal(r.st.l2_misses, 9);
  assert_int_equal(r.st.l2_evictions, 1);
  rig_free(&r);
}

static void an_atomic_makes_its_line_dirty(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  l2_push(&r.s, rig_make(&r, line_at(&r, 1), 32, REQ_GLOBAL_READ, true));
  while (!r.s.to_dram.count) tick(&r);
  l2_return(&r.s, l2_take(&r.s));
  until_out(&r, 20);
  uint32_t line =
      l2_tags_find(&r.s.tags, l2_tags_set(&r.s.tags, addrmap_local(&r.map, line_at(&r, 1))), line_at(&r, 1));
  assert_int_equal(r.s.tags.state[line], L2_DIRTY);
  rig_free(&r);
}

static void a_perfect_l2_never_asks_dram(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.l2_perfect = true;
  struct rig r;
  rig_init(&r, &c);
  for (uint32_t k = 0; k < 5; k++)
    l2_push(&r.s, rig_make(&r, line_at(&r, 100 * k), 32, k & 1 ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ, false));
  for (int k = 0; k < 200; k++) tick(&r);
  assert_int_equal(r.s.out.count, 5);
  assert_int_equal(r.st.l2_hits, 5);
  assert_int_equal(r.s.to_dram.count, 0);
  rig_free(&r);
}

/* ---- MeDiC's banks ---- */

static void banked_config(struct gpu_config *c) {
  gpu_config_defaults(c);
  c->subparts = 1, c->l2.ways = 16, c->l2_banked = true, c->l2_banks = 2, c->l2_ports = 2, c->l2_lookup = 10;
  c->l2_write = WRITE_THROUGH;
}

static void a_banked_hit_adds_port_arbiter_and_lookup(void **state) {
  (void)state;
  struct gpu_config c;
  banked_config(&c);
  struct rig r;
  rig_init(&r, &c);
  warm(&r, 0);
  uint64_t start = r.now;
  l2_push(&r.s, rig_make(&r, 0, 32, REQ_GLOBAL_READ, false));
  /* 120 ROP, at the port; 1 port and arbiter; 1 bank queue; 10 lookup. */
  assert_int_equal(until_out(&r, 300), start + 120 + 1 + 1 + 10);
  rig_free(&r);
}

static void different_banks_do_not_wait_for_each_other(void **state) {
  (void)state;
  struct gpu_config c;
  banked_config(&c);
  uint64_t last[2];
  for (uint32_t same = 0; same < 2; same++) {
    struct rig r;
    rig_init(&r, &c);
    warm(&r, 0);
    warm(&r, 128);
    assert_int_equal(l2_tags_set(&r.s.tags, 0) % 2, 0);
    assert_int_equal(l2_tags_set(&r.s.tags, 128) % 2, 1);
    uint64_t start = r.now;
    for (uint32_t k = 0; k < 6; k++) l2_push(&r.s, rig_make(&r, same ? 0 : 128 * (k & 1), 128, REQ_GLOBAL_READ, false));
    for (uint32_t k = 0; k < 6; k++) {
      last[same] = until_out(&r, 400) - start;
      l2_queue_pop(&r.s.out);
    }
    rig_free(&r);
  }
  assert_true(last[1] >= last[0] + 11); /* six 4-cycle transfers over one bank's port instead of over two */
}

/* Six hits of 32 B in one bank: a cycle apart where the lookup is a pipeline, its ten cycles where it is not. */
static void a_lookup_may_occupy_its_bank(void **state) {
  (void)state;
  struct gpu_config c;
  banked_config(&c);
  for (uint32_t apart = 1; apart <= 10; apart += 9) {
    c.l2_lookup_pipelined = apart == 1;
    struct rig r;
    rig_init(&r, &c);
    warm(&r, 0);
    uint64_t start = r.now;
    for (uint32_t k = 0; k < 6; k++) l2_push(&r.s, rig_make(&r, 0, 32, REQ_GLOBAL_READ, false));
    for (uint32_t k = 0; k < 6; k++) {
      assert_int_equal(until_out(&r, 400), start + 132 + (uint64_t)k * apart);
      l2_queue_pop(&r.s.out);
    }
    rig_free(&r);
  }
}

static void banked_traffic_is_conserved(void **state) {
  (void)state;
  struct gpu_config c;
  banked_config(&c);
  for (uint64_t seed = 1; seed < 5; seed++) {
    struct rig r;
    rig_init(&r, &c);
    struct rng g = rng_seed(seed);
    struct l2_op far[256];
    uint32_t away = 0, sent = 0, got = 0;
    for (uint32_t t = 0; t < 30000; t++) {
      if (r.s.out.count && rng_below(&g, 10)) req_free(&r.pool, l2_queue_pop(&r.s.out).r), got++;
      if (r.s.to_dram.count && away < 256) far[away++] = l2_take(&r.s);
      if (away && rng_below(&g, 2)) {
        uint32_t i = rng_below(&g, away);
        if (l2_can_return(&r.s, &far[i])) {
          l2_return(&r.s, far[i]);
          far[i] = far[--away];
        }
      }
      if (t < 25000 && l2_can_push(&r.s) && rng_below(&g, 100) < 50) {
        bool write = rng_below(&g, 4) == 0;
        uint64_t addr = (uint64_t)rng_below(&g, 3000) / 2 * 256 * c.channels + 128 * rng_below(&g, 2);
        l2_push(&r.s, rig_make(&r, addr, 128, write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ, false));
        sent++;
      }
      tick(&r);
    }
    assert_true(sent > 5000);
    assert_int_equal(got, sent);
    assert_int_equal(r.st.l2_accesses, sent);
    assert_int_equal(r.pool.live, 0);
    assert_int_equal(r.st.l2_writebacks, 0);
    assert_true(l2_idle(&r.s));
    rig_free(&r);
  }
}

/* ---- accesses without time ---- */

static uint32_t set_at(const struct rig *r, uint64_t addr) {
  return l2_tags_set(&r->s.tags, addrmap_local(&r->map, addr));
}
static bool there(const struct rig *r, uint64_t addr) {
  return l2_tags_find(&r->s.tags, set_at(r, addr), addr) != L2_NONE;
}
/* The k-th line of set 0. */
static uint64_t of_set(const struct rig *r, uint32_t k) {
  uint32_t i = 0;
  while (set_at(r, line_at(r, i)) || k--) i++;
  return line_at(r, i);
}

/* A set of 8 ways: lines 0 to 3 are used in cycles 10 to 13, lines 4 to 7 in 20 to 23 by running CTAs, which began in
 * cycle 15. Six lines of CTAs that run without time take the place of the first four, then of each other. */
static void accesses_without_time_leave_the_lines_of_running_ctas(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  for (uint32_t i = 0; i < 8; i++)
    l2_warm(&r.s, &(struct l2_warm){.addr = of_set(&r, i), .order = i < 4 ? 10 + i : 16 + i, .sectors = 15});
  for (uint32_t i = 8; i < 14; i++) l2_warm(&r.s, &(struct l2_warm){.addr = of_set(&r, i), .order = 15, .sectors = 15});
  for (uint32_t i = 0; i < 14; i++) assert_int_equal(there(&r, of_set(&r, i)), (i >= 4 && i < 8) || i >= 10);
  /* One that hits such a line leaves its age; the next miss replaces the oldest of the others. */
  l2_warm(&r.s, &(struct l2_warm){.addr = of_set(&r, 4), .order = 15, .sectors = 15});
  l2_warm(&r.s, &(struct l2_warm){.addr = of_set(&r, 14), .order = 15, .sectors = 15});
  assert_true(there(&r, of_set(&r, 4)) && !there(&r, of_set(&r, 10)));
  rig_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_the_searching_model),
      cmocka_unit_test(same_with_a_tiny_cache),
      cmocka_unit_test(same_when_writing_through),
      cmocka_unit_test(same_when_quiet_cycles_are_skipped),
      cmocka_unit_test(a_hit_answers_after_the_rop_delay_and_holds_the_port),
      cmocka_unit_test(fills_are_four_cycles_apart),
      cmocka_unit_test(a_write_miss_writes_and_fetches_a_clean_line),
      cmocka_unit_test(merges_end_at_the_limit),
      cmocka_unit_test(a_set_of_reserved_lines_refuses),
      cmocka_unit_test(an_atomic_makes_its_line_dirty),
      cmocka_unit_test(a_perfect_l2_never_asks_dram),
      cmocka_unit_test(a_banked_hit_adds_port_arbiter_and_lookup),
      cmocka_unit_test(different_banks_do_not_wait_for_each_other),
      cmocka_unit_test(a_lookup_may_occupy_its_bank),
      cmocka_unit_test(banked_traffic_is_conserved),
      cmocka_unit_test(accesses_without_time_leave_the_lines_of_running_ctas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

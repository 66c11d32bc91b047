/* test_l2_sector.c - the sectored L2: what single accesses ask of DRAM, and random traffic followed with data: every
 * half sector carries the number of its last store, every load must see the latest one accepted before it, and nothing
 * that was stored is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/sm/coalesce.h"
#include "gpu/common/invariants.h"
#include "gpu/mem/l2.h"
#include "units.h"

enum { LINES = 48, SECTORS = 4, HALVES = 2 * SECTORS };

struct half {
  uint32_t dram, cached, latest; /* numbers of stores: what DRAM has, what the L2 has, the last one accepted */
  bool here, dirty;
};
struct waiting {
  req_id id;
  uint32_t line, mask;           /* sectors */
  uint32_t least[HALVES];        /* what it must see or something newer */
  uint32_t got[HALVES], got_all; /* halves that it has been given */
  bool accepted;
};

struct rig {
  struct gpu_config c;
  struct gpu_stats st;
  struct req_pool pool;
  uint64_t now;
  struct partition_env env;
  struct mem_hooks hooks;
  struct addrmap map;
  struct l2_slice s;
  struct half half[LINES][HALVES];
  struct waiting load[256];
  int loads;
  struct { /* write-backs under way: what they carry */
    uint32_t line, mask, value[HALVES];
  } wb[64];
  int wbs;
  struct l2_op arriving[64]; /* handed to the L2, in its order */
  int arrivings;
  uint32_t store, half_of[1 << 16]; /* number of a store by request: which halves it writes */
  uint32_t replies;
};

/* The k-th line of sub-partition 0, channel 0. */
static uint64_t line_at(const struct rig *r, uint32_t k) {
  return (uint64_t)(k / 2) * r->c.subparts * r->c.channels * 256 + (k & 1) * 128;
}
static uint32_t line_of(const struct rig *r, uint64_t addr) {
  for (uint32_t k = 0; k < LINES; k++)
    if (line_at(r, k) == (addr & ~127ull)) return k;
  fail_msg("an address that was not asked for");
  return 0;
}

static void see(struct rig *r, struct waiting *w) {
  for (uint32_t h = 0; h < HALVES; h++) {
    struct half *x = &r->half[w->line][h];
    if (!(w->mask >> h / 2 & 1) || !x->here || w->got_all >> h & 1) continue;
    w->got[h] = x->cached;
    w->got_all |= 1u << h;
  }
}

/* What the L2 has taken from its queue of returns is here from now on. */
static void arrived(struct rig *r) {
  while (r->arrivings > (int)r->s.bank[0].from_dram.count) {
    struct l2_op op = r->arriving[0];
    memmove(&r->arriving[0], &r->arriving[1], (size_t)--r->arrivings * sizeof op);
    if (op.mshr == L2_NO_MSHR) continue;
    uint32_t k = line_of(r, r->pool.at[op.r].addr);
    for (uint32_t h = 0; h < HALVES; h++) {
      struct half *x = &r->half[k][h];
      if (!(op.sectors >> h / 2 & 1) || (x->here && x->dirty)) continue;
      x->cached = x->dram;
      x->here = true;
    }
    for (int i = 0; i < r->loads; i++)
      if (r->load[i].accepted && r->load[i].line == k) see(r, &r->load[i]);
  }
}

/* Before the line goes: its write-back carries the dirty halves. */
static void evicted(void *ctx, const struct mem_event *e) {
  struct rig *r = ctx;
  uint32_t k = line_of(r, e->line), mask = 0;
  arrived(r);
  for (uint32_t h = 0; h < HALVES; h++) {
    struct half *x = &r->half[k][h];
    if (x->dirty) r->wb[r->wbs].value[h] = x->cached, mask |= 1u << h;
    x->here = x->dirty = false;
  }
  if (!mask) return;
  assert_true(r->wbs < 64);
  r->wb[r->wbs].line = k;
  r->wb[r->wbs++].mask = mask;
}

static void accessed(void *ctx, const struct req *q, enum l2_outcome o) {
  struct rig *r = ctx;
  uint32_t k = line_of(r, q->addr), id = (uint32_t)(q - r->pool.at);
  arrived(r);
  if (q->write) {
    bool through = r->c.l2_write == WRITE_THROUGH;
    bool present =
        l2_tags_find(&r->s.tags, l2_tags_set(&r->s.tags, addrmap_local(&r->map, q->addr)), line_at(r, k)) != L2_NONE;
    for (uint32_t h = 0; h < HALVES; h++) {
      struct half *x = &r->half[k][h];
      if (!(r->half_of[id] >> h & 1)) continue;
      x->latest = ++r->store;
      if (through) x->dram = x->latest; /* in order here */
      if (through && !x->here && !(q->whole >> h / 2 & 1 && present)) continue;
      x->cached = x->latest;
      x->here = true;
      if (!through) x->dirty = true;
    }
    return;
  }
  for (int i = 0; i < r->loads; i++) {
    struct waiting *w = &r->load[i];
    if (w->id != id) continue;
    w->accepted = true;
    for (uint32_t h = 0; h < HALVES; h++) w->least[h] = r->half[k][h].latest;
    see(r, w);
    if (o == L2_HIT)
      for (uint32_t h = 0; h < HALVES; h++)
        if (w->mask >> h / 2 & 1) assert_true(w->got_all >> h & 1);
    return;
  }
  fail_msg("an access that nobody made");
}

static void rig_init(struct rig *r, const struct gpu_config *c) {
  memset(r, 0, sizeof *r);
  if (c) r->c = *c;
  else gpu_config_defaults(&r->c);
  r->c.l2_org = L2_SECTORS;
  r->hooks = (struct mem_hooks){.ctx = r, .on_evict = evicted};
  r->env = (struct partition_env){.config = &r->c,
                                  .pool = &r->pool,
                                  .stats = &r->st,
                                  .now = &r->now,
                                  .hooks = &r->hooks,
                                  .listener = {.access = accessed, .ctx = r}};
  assert_true(addrmap_init(&r->map, &r->c, NULL));
  l2_init(&r->s, &r->env, &r->map, 0);
}
static void rig_free(struct rig *r) {
  l2_free(&r->s);
  req_pool_destroy(&r->pool);
  free(r);
}
static struct rig *rig_new(const struct gpu_config *c) {
  struct rig *r = aligned_alloc(64, sizeof *r);
  assert_non_null(r);
  rig_init(r, c);
  return r;
}

static req_id push(struct rig *r, uint32_t k, uint32_t first, uint32_t bytes, enum req_type type, uint32_t halves) {
  req_id id = req_new(&r->pool);
  struct req *q = &r->pool.at[id];
  q->addr = line_at(r, k) + 32 * first;
  q->bytes = bytes;
  q->type = (uint8_t)type;
  q->write = type == REQ_GLOBAL_WRITE;
  addrmap_split(&r->map, q);
  if (q->write) {
    r->half_of[id] = halves;
    for (uint32_t s = 0; s < SECTORS; s++)
      if ((halves >> 2 * s & 3) == 3) q->whole |= (uint8_t)(1u << s);
  } else {
    struct waiting *w = &r->load[r->loads++];
    assert_true(r->loads <= 256);
    *w = (struct waiting){.id = id, .line = k, .mask = ((1u << bytes / 32) - 1) << first};
  }
  l2_push(&r->s, id);
  return id;
}

static void tick(struct rig *r) {
  l2_step(&r->s);
  l2_count(&r->s);
  r->now++;
  arrived(r);
}

static void give(struct rig *r, struct l2_op op) {
  l2_return(&r->s, op);
  assert_true(r->arrivings < 64);
  r->arriving[r->arrivings++] = op;
}

/* The next request to DRAM, which takes stores at once. */
static struct l2_op dram_takes(struct rig *r) {
  struct l2_op op = l2_take(&r->s);
  struct req *q = &r->pool.at[op.r];
  if (q->type != REQ_L2_WRITEBACK || op.mshr != L2_NO_MSHR) return op;
  uint32_t k = line_of(r, q->addr), sectors = 0;
  int i = 0;
  while (i < r->wbs && r->wb[i].line != k) i++;
  assert_true(i < r->wbs);
  for (uint32_t h = 0; h < HALVES; h++) {
    if (!(r->wb[i].mask >> h & 1)) continue;
    r->half[k][h].dram = r->wb[i].value[h];
    sectors |= 1u << h / 2;
  }
  assert_int_equal(sectors, q->sectors); /* the mask of the write-back is what was stored */
  memmove(&r->wb[i], &r->wb[i + 1], (size_t)(--r->wbs - i) * sizeof r->wb[0]);
  return op;
}

static void reply(struct rig *r) {
  req_id id = l2_queue_pop(&r->s.out).r;
  r->replies++;
  if (!r->pool.at[id].write) {
    int i = 0;
    while (i < r->loads && r->load[i].id != id) i++;
    assert_true(i < r->loads);
    struct waiting *w = &r->load[i];
    for (uint32_t h = 0; h < HALVES; h++) {
      if (!(w->mask >> h / 2 & 1)) continue;
      if (!(w->got_all >> h & 1)) fail_msg("a reply without half sector %u of line %u", h, w->line);
      if (w->got[h] < w->least[h])
        fail_msg("cycle %lu, write %u: half sector %u of line %u: store %u where %u was the last",
                 (unsigned long)r->now, r->c.l2_write, h, w->line, w->got[h], w->least[h]);
    }
    *w = r->load[--r->loads];
  }
  req_free(&r->pool, id);
}

static void random_traffic(const struct gpu_config *c, uint64_t seed, uint32_t lines, uint32_t writes) {
  struct rig *r = rig_new(c);
  struct rng g = rng_seed(seed);
  struct l2_op far[64];
  int n = 0;
  uint32_t pushed = 0, idle = 0;
  for (uint32_t t = 0; t < 40000 || idle < 300; t++) {
    if (r->s.to_dram.count && n < 60 && rng_below(&g, 3)) {
      struct l2_op op = dram_takes(r);
      if (r->pool.at[op.r].type == REQ_L2_WRITEBACK) req_free(&r->pool, op.r);
      else far[n++] = op;
    }
    if (n && rng_below(&g, 2)) {
      int i = (int)rng_below(&g, (uint32_t)n);
      if (l2_can_return(&r->s, &far[i])) {
        give(r, far[i]);
        far[i] = far[--n];
      }
    }
    if (r->s.out.count && rng_below(&g, 4)) reply(r);
    if (t < 40000 && l2_can_push(&r->s) && r->loads < 200 && rng_below(&g, 3)) {
      uint32_t size = 1u << rng_below(&g, 3), first = rng_below(&g, SECTORS / size) * size;
      bool write = rng_below(&g, 100) < writes;
      uint32_t halves = ((1u << 2 * size) - 1) << 2 * first;
      if (write && rng_below(&g, 3) == 0) halves &= (uint32_t)rng_next(&g) | 1u << 2 * first;
      for (uint32_t s = 0; s < size && write; s++) /* every sector of a store is written somewhere */
        if (!(halves >> 2 * (first + s) & 3)) halves |= 1u << 2 * (first + s);
      push(r, rng_below(&g, lines), first, 32 * size, write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ, halves);
      pushed++;
    }
    tick(r);
    idle = t < 40000 ? 0 : idle + 1;
    if (!l2_idle(&r->s) || n) idle = 0;
    assert_true(t < 200000);
  }
  assert_int_equal(r->replies, pushed);
  assert_int_equal(r->loads + r->wbs + r->arrivings, 0);
  assert_int_equal(r->st.l2_sectors_fetched, r->st.l2_sectors_filled);
  assert_int_equal(r->st.l2_accesses, r->st.l2_hits + r->st.l2_pending + r->st.l2_misses);
  assert_true(r->st.l2_sector_misses && r->st.l2_sector_misses < r->st.l2_misses);
  assert_true(r->st.l2_pending || writes > 90);
  for (uint32_t k = 0; k < lines; k++)
    for (uint32_t h = 0; h < HALVES; h++) {
      const struct half *x = &r->half[k][h];
      assert_int_equal(x->here && x->dirty ? x->cached : x->dram, x->latest);
    }
  if (r->c.l2_write == WRITE_BACK && writes) assert_true(r->st.l2_sectors_written > 0);
  rig_free(r);
}

static struct gpu_config tiny(void) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.l2.sets = 4, c.l2.ways = 3, c.l2.mshrs = 6, c.l2.merges = 3;
  return c;
}

static void data_is_right_under_random_traffic(void **state) {
  (void)state;
  struct gpu_config c = tiny();
  static const uint32_t writes[] = {0, 20, 50, 90};
  for (uint32_t i = 0; i < 4; i++) {
    random_traffic(&c, 10 + i, LINES, writes[i]);
    random_traffic(&c, 20 + i, 14, writes[i]);
  }
  c.dram_bus_bytes = 4, c.dram_chips = 1; /* bursts of 32 B */
  for (uint32_t i = 0; i < 4; i++) random_traffic(&c, 30 + i, LINES, writes[i]);
  c.l2_write = WRITE_THROUGH;
  random_traffic(&c, 40, LINES, 40);
}

/* ---- single accesses ---- */

static struct l2_op next_fetch(struct rig *r) {
  for (int k = 0; k < 300 && !r->s.to_dram.count; k++) tick(r);
  assert_true(r->s.to_dram.count > 0);
  return dram_takes(r);
}
static void settle(struct rig *r) {
  for (int k = 0; k < 300; k++) {
    tick(r);
    if (r->s.out.count) reply(r);
  }
}

static void a_miss_fetches_the_bursts_of_the_sectors_it_lacks(void **state) {
  (void)state;
  for (uint32_t burst = 32; burst <= 128; burst *= 2) {
    struct gpu_config c;
    gpu_config_defaults(&c);
    c.dram_chips = 1;
    c.dram_bus_bytes = burst / 8;
    struct rig *r = rig_new(&c);
    push(r, 0, 1, 32, REQ_GLOBAL_READ, 0);
    struct l2_op op = next_fetch(r);
    assert_int_equal(op.bytes, burst);
    assert_int_equal(op.sectors, burst == 32 ? 2 : burst == 64 ? 3 : 15);
    give(r, op);
    settle(r);
    assert_int_equal(r->replies, 1);
    push(r, 0, 0, 128, REQ_GLOBAL_READ, 0); /* the rest, and no more */
    if (burst < 128) {
      op = next_fetch(r);
      assert_int_equal(op.sectors, burst == 32 ? 13 : 12);
      assert_int_equal(op.bytes, burst == 32 ? 96 : 64);
      give(r, op);
    }
    settle(r);
    assert_int_equal(r->replies, 2);
    assert_int_equal(r->st.l2_sector_misses, burst < 128);
    assert_int_equal(r->st.l2_hits, burst == 128);
    rig_free(r);
  }
}

/* Two loads of one line: both wait until no sector of it is pending. */
static void one_mshr_holds_a_line(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.dram_chips = 1;
  struct rig *r = rig_new(&c);
  push(r, 0, 0, 32, REQ_GLOBAL_READ, 0);
  push(r, 0, 3, 32, REQ_GLOBAL_READ, 0);
  push(r, 0, 3, 32, REQ_GLOBAL_READ, 0);
  struct l2_op a = next_fetch(r), b = next_fetch(r);
  settle(r);
  assert_int_equal(r->s.bank[0].mshrs.used, 1);
  assert_int_equal(a.sectors, 1);
  assert_int_equal(b.sectors, 8);
  give(r, b);
  settle(r);
  assert_int_equal(r->replies, 0);
  give(r, a);
  settle(r);
  assert_int_equal(r->replies, 3);
  assert_int_equal(r->s.bank[0].mshrs.used, 0);
  assert_int_equal(r->st.l2_pending, 1);
  assert_int_equal(r->st.l2_misses, 2);
  rig_free(r);
}

static void a_store_fetches_nothing_and_its_sectors_go_back(void **state) {
  (void)state;
  struct gpu_config c = tiny();
  c.dram_chips = 1;
  c.l2.ways = 1;
  struct rig *r = rig_new(&c);
  push(r, 0, 1, 64, REQ_GLOBAL_WRITE, 0x3c); /* sectors 1 and 2, whole */
  push(r, 0, 3, 32, REQ_GLOBAL_WRITE, 0x40); /* half of 3 */
  settle(r);
  assert_int_equal(r->replies, 2);
  assert_int_equal(r->s.to_dram.count, 0);
  push(r, 0, 1, 32, REQ_GLOBAL_READ, 0); /* was stored */
  settle(r);
  assert_int_equal(r->replies, 3);
  assert_int_equal(r->st.l2_hits, 1);
  push(r, 0, 3, 32, REQ_GLOBAL_READ, 0); /* the other half is missing */
  struct l2_op op = next_fetch(r);
  assert_int_equal(op.sectors, 8);
  give(r, op);
  settle(r);
  assert_int_equal(r->replies, 4);
  /* Another line of the set: the fetch, then 96 B back. */
  uint32_t k = 1, set = l2_tags_set(&r->s.tags, addrmap_local(&r->map, line_at(r, 0)));
  while (l2_tags_set(&r->s.tags, addrmap_local(&r->map, line_at(r, k))) != set) k++;
  push(r, k, 0, 32, REQ_GLOBAL_READ, 0);
  give(r, next_fetch(r));
  op = next_fetch(r);
  assert_int_equal(r->pool.at[op.r].type, REQ_L2_WRITEBACK);
  assert_int_equal(r->pool.at[op.r].sectors, 14);
  assert_int_equal(op.bytes, 96);
  assert_int_equal(r->st.l2_sectors_written, 3);
  settle(r);
  rig_free(r);
}

/* Of launches without time: a store of a part leaves a sector unreadable, and one that was readable as it was. */
static void parts_of_sectors_without_time(void **state) {
  (void)state;
  struct gpu_config c = tiny();
  c.dram_chips = 1;
  struct rig *r = rig_new(&c);
  uint64_t addr = line_at(r, 0);
  l2_warm(&r->s, &(struct l2_warm){.addr = addr, .order = 1, .sectors = 1, .write = true});
  l2_warm(&r->s, &(struct l2_warm){.addr = addr, .order = 2, .sectors = 3, .part = 3, .write = true});
  l2_warm_end(&r->s, 3);
  const struct l2_tags *t = &r->s.tags;
  uint32_t line = l2_tags_find(t, l2_tags_set(t, addrmap_local(&r->map, addr)), addr);
  assert_int_equal(t->valid[line], 1);
  assert_int_equal(t->dirty[line], 3);
  push(r, 0, 1, 32, REQ_GLOBAL_READ, 0);
  struct l2_op op = next_fetch(r);
  assert_int_equal(op.sectors, 2);
  assert_int_equal(r->st.l2_sector_misses, 1);
  give(r, op);
  settle(r);
  assert_int_equal(r->replies, 1);
  rig_free(r);
}

static void whole_sectors_of_a_store(void **state) {
  (void)state;
  struct access a = {.addr = 0x1000, .bytes = 128, .words = 0xf0f7};
  assert_int_equal(coalesce_whole(&a, 128), 8 | 2);
  a = (struct access){.addr = 0x1040, .bytes = 64, .words = 0xff00};
  assert_int_equal(coalesce_whole(&a, 128), 12);
  assert_int_equal(coalesce_whole(&a, 64), 3);
  assert_int_equal(coalesce_whole(&a, 32), 1);
  a = (struct access){.addr = 0x1080, .bytes = 128, .words = 0xffff};
  assert_int_equal(coalesce_whole(&a, 256), 0xf0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(data_is_right_under_random_traffic),
                                     cmocka_unit_test(a_miss_fetches_the_bursts_of_the_sectors_it_lacks),
                                     cmocka_unit_test(one_mshr_holds_a_line),
                                     cmocka_unit_test(a_store_fetches_nothing_and_its_sectors_go_back),
                                     cmocka_unit_test(whole_sectors_of_a_store),
                                     cmocka_unit_test(parts_of_sectors_without_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

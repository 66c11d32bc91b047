/* test_partition.c - the memory side as a whole: stepping every cycle and jumping over quiet ones give the same reply
 * times and counters; every request is answered once; DRAM obeys its rules; counters add up; runs repeat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/mem/partition.h"
#include "gpu/slots/slots.h"
#include "dram_check.h"

enum { SUBS = 64, CHANNELS = 16 };

struct machine {
  struct gpu_config c;
  struct gpu_stats st;
  struct req_pool pool;
  uint64_t now, dram_phase;
  struct partition_set *p;
  struct dram_check check[CHANNELS];
  uint32_t subs;
  uint32_t atomics;
  uint64_t jumped;
  /* what hooks saw */
  uint32_t asked, past, seen[5], evicted, sorted;
  uint64_t latency[2], answered[2]; /* by parity of the request's number */
};

static void atomic_done(void *ctx, req_id r) {
  struct machine *m = ctx;
  assert_true(m->pool.at[r].atomic);
  m->atomics++;
}

static void machine_init(struct machine *m, const struct gpu_config *c, struct mem_hooks *hooks) {
  memset(m, 0, sizeof *m);
  if (c) m->c = *c;
  else gpu_config_defaults(&m->c);
  m->subs = m->c.channels * m->c.subparts;
  struct partition_env env = {
      .config = &m->c, .pool = &m->pool, .stats = &m->st, .now = &m->now, .atomic = atomic_done};
  env.ctx = m;
  if (hooks) hooks->ctx = m;
  env.hooks = hooks;
  m->p = partition_new(&env);
  for (uint32_t i = 0; i < m->c.channels; i++) {
    dram_check_init(&m->check[i], &m->c);
    partition_watch_dram(m->p, i, dram_check_watch, &m->check[i]);
  }
}
static void machine_free(struct machine *m) {
  for (uint32_t i = 0; i < m->c.channels; i++) assert_string_equal(m->check[i].violation, "");
  partition_free(m->p);
  req_pool_destroy(&m->pool);
}

/* DRAM edges in the next `cycles` core cycles. */
static uint32_t dram_edges(const struct machine *m, uint64_t cycles) {
  return (uint32_t)((m->dram_phase + cycles * m->c.dram_mhz) / m->c.core_mhz);
}

static void one_cycle_dram(struct machine *m) {
  for (uint32_t n = dram_edges(m, 1); n; n--) partition_tick_dram(m->p);
  m->dram_phase = (m->dram_phase + m->c.dram_mhz) % m->c.core_mhz;
}

/* How many cycles, at most `most`, nothing can happen in. */
static uint64_t quiet(const struct machine *m, uint64_t most) {
  uint32_t l2 = partition_all_quiet_l2(m->p), dram = partition_all_quiet_dram(m->p);
  uint64_t n = l2 < most ? l2 : most;
  while (n && dram_edges(m, n) > dram) n--;
  return n;
}

static void jump(struct machine *m, uint64_t n) {
  uint32_t edges = dram_edges(m, n);
  partition_skip_all_l2(m->p, n);
  partition_skip_all_dram(m->p, edges);
  m->dram_phase = (m->dram_phase + n * m->c.dram_mhz) % m->c.core_mhz;
  m->now += n;
  m->jumped += n;
}

struct load {
  uint32_t requests, lines, writes, atomics, gap; /* gap: mean pause between bursts, cycles */
  uint32_t burst, drain;
};

/* Hash of (request number, reply cycle) in order of arrival, and the counters. */
struct outcome {
  uint64_t hash, last;
  struct gpu_stats st;
  struct machine m; /* only what hooks saw is of use */
};

struct sender {
  req_id waiting[SUBS];
  uint32_t made, answered, left, atomics;
  uint64_t next;
};

/* True: the partitions hold replies, taken here or not. */
static bool take_replies(struct machine *m, struct load w, struct sender *t, struct outcome *o) {
  bool replies = false;
  for (uint32_t s = 0; s < m->subs; s++) {
    if (!partition_top(m->p, s)) continue;
    replies = true;
    if (w.drain > 1 && m->now % w.drain) continue; /* a slow interconnect */
    req_id r = partition_pop(m->p, s);
    struct req *q = &m->pool.at[r];
    assert_int_equal(q->subpart, s);
    assert_true(q->type != REQ_L2_WRITEBACK && q->type != REQ_L2_WRITE_ALLOC && q->type != REQ_L1_WRITEBACK);
    o->hash = o->hash * 1000003 + q->token * 65537ull + m->now;
    m->latency[q->token & 1] += m->now - q->arrived;
    m->answered[q->token & 1]++;
    req_free(&m->pool, r);
    t->answered++;
  }
  return replies;
}

static void make_requests(struct machine *m, struct load w, struct sender *t, struct rng *g) {
  if (m->now < t->next) return;
  for (uint32_t k = 0; k < 4 && t->left && t->made < w.requests; k++) {
    uint32_t kind = rng_below(g, 100), bytes = 32u << rng_below(g, 3);
    bool write = kind < w.writes, atomic = !write && kind < w.writes + w.atomics;
    struct req q = {.bytes = bytes, .write = write, .atomic = atomic, .token = t->made};
    q.type = write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ;
    q.addr = 0xC0000000ull + 128ull * rng_below(g, w.lines) + rng_below(g, 128 / bytes) * bytes;
    partition_locate(m->p, &q);
    if (t->waiting[q.subpart]) continue;
    req_id r = req_new(&m->pool);
    m->pool.at[r] = q;
    t->waiting[q.subpart] = r;
    t->made++;
    t->left--;
    t->atomics += atomic;
  }
}

/* A request of each sub-partition goes in where there is room. True: one has none. */
static bool push_requests(struct machine *m, struct sender *t) {
  bool stuck = false;
  for (uint32_t s = 0; s < m->subs; s++) {
    if (t->waiting[s] && partition_can_push(m->p, s)) {
      partition_push(m->p, s, t->waiting[s]);
      t->waiting[s] = 0;
    }
    stuck |= t->waiting[s] != 0;
  }
  partition_tick_l2(m->p);
  return stuck;
}

/* Write-backs may still be in flight; after them nothing is. */
static void settle(struct machine *m) {
  for (uint32_t k = 0; k < 3000; k++) {
    one_cycle_dram(m);
    partition_tick_l2(m->p);
    m->now++;
  }
  assert_int_equal(partition_all_quiet_l2(m->p), UINT32_MAX);
  assert_int_equal(partition_all_quiet_dram(m->p), UINT32_MAX);
  assert_int_equal(m->pool.live, 0);
}

static struct outcome run_with(const struct gpu_config *config, struct mem_hooks *hooks, struct load w, uint64_t seed,
                               bool skipping) {
  struct machine m;
  machine_init(&m, config, hooks);
  struct rng g = rng_seed(seed);
  struct sender t = {.left = w.burst};
  struct outcome o = {0};
  while (t.answered < w.requests) {
    assert_true(m.now < 4000000);
    bool replies = take_replies(&m, w, &t, &o);
    one_cycle_dram(&m);
    make_requests(&m, w, &t, &g);
    bool stuck = push_requests(&m, &t);
    m.now++;
    if (!t.left) {
      t.left = w.burst;
      t.next = m.now + rng_below(&g, 2 * w.gap + 1);
    }
    if (!skipping || replies || stuck || m.now >= t.next) continue;
    bool waiting_reply = false;
    for (uint32_t s = 0; s < m.subs; s++) waiting_reply |= partition_top(m.p, s) != 0;
    uint64_t n = waiting_reply ? 0 : quiet(&m, t.made < w.requests ? t.next - m.now : 10000);
    if (n) jump(&m, n);
  }
  o.last = m.now;
  settle(&m);
  assert_int_equal(m.atomics, t.atomics);
  partition_settle(m.p);
  assert_int_equal(m.st.l2_accesses, w.requests);
  assert_int_equal(m.st.l2_hits + m.st.l2_pending + m.st.l2_misses + m.st.l2_bypasses, w.requests);
  if (skipping && w.gap > 300) assert_true(m.jumped > m.now / 4);
  o.st = m.st;
  o.m = m;
  machine_free(&m);
  return o;
}
static struct outcome run(const struct gpu_config *config, struct load w, uint64_t seed, bool skipping) {
  return run_with(config, NULL, w, seed, skipping);
}

static void same(const struct outcome *a, const struct outcome *b) {
  assert_int_equal(a->hash, b->hash);
  assert_int_equal(a->last, b->last);
  assert_memory_equal(&a->st, &b->st, sizeof a->st);
}

static const struct load loads[] = {
    /* requests, lines, writes, atomics, gap, burst, drain */
    {6000, 1 << 20, 25, 5, 0, 64, 1},  {3000, 1 << 20, 25, 5, 400, 8, 1}, {6000, 2000, 30, 10, 0, 64, 1},
    {1500, 30000, 20, 0, 900, 3, 1},   {6000, 40, 50, 10, 10, 16, 1},     {4000, 1 << 20, 10, 0, 0, 64, 37},
    {3000, 20000, 100, 0, 500, 30, 1}, {400, 1 << 20, 0, 0, 5000, 1, 1},
};
enum { LOADS = sizeof loads / sizeof *loads };

static void jumping_changes_nothing(void **state) {
  (void)state;
  for (uint32_t i = 0; i < LOADS; i++) {
    struct outcome a = run(NULL, loads[i], 40 + i, false), b = run(NULL, loads[i], 40 + i, true);
    same(&a, &b);
  }
}

static void jumping_changes_nothing_on_other_machines(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.dram_mhz = 1674, c.dram_banks = 8, c.subparts = 1, c.l2.ways = 16, c.l2_banked = true;
  c.l2_banks = c.l2_ports = 2, c.l2_lookup = 10, c.l2_write = WRITE_THROUGH;
  strcpy(c.dram_map, "00000000 00000000 00000000 00000000 0000RRRR RRRRRRRR RBBCCCCB CCSSSSSS");
  for (uint32_t i = 0; i < LOADS; i++) {
    struct outcome a = run(&c, loads[i], 60 + i, false), b = run(&c, loads[i], 60 + i, true);
    same(&a, &b);
    assert_int_equal(a.st.l2_writebacks, 0);
  }
  gpu_config_defaults(&c);
  c.dram_sched = DRAM_FCFS, c.channels = 4, c.dram_mhz = 350;
  for (uint32_t i = 0; i < LOADS; i++) {
    struct outcome a = run(&c, loads[i], 80 + i, false), b = run(&c, loads[i], 80 + i, true);
    same(&a, &b);
  }
}

static void runs_repeat(void **state) {
  (void)state;
  struct outcome a = run(NULL, loads[0], 1, true), b = run(NULL, loads[0], 1, true), c = run(NULL, loads[0], 2, true);
  same(&a, &b);
  assert_true(a.hash != c.hash);
}

/* The relations that the calibration counters show: requests and 64 B commands per kind of miss. */
static void dram_commands_add_up(void **state) {
  (void)state;
  for (uint32_t i = 0; i < LOADS; i++) {
    struct load w = loads[i];
    w.writes = i & 1 ? 0 : 100;
    w.atomics = 0;
    struct outcome o = run(NULL, w, 7 + i, false);
    uint64_t fetched = o.st.l2_misses;
    assert_int_equal(o.st.dram_reads, 2 * fetched);
    if (w.writes) {
      uint64_t written = o.st.l2_misses + o.st.l2_pending;
      assert_int_equal(o.st.dram_requests, fetched + written + o.st.l2_writebacks);
      assert_true(o.st.dram_writes >= written + 2 * o.st.l2_writebacks);
    } else {
      assert_int_equal(o.st.dram_requests, fetched);
      assert_int_equal(o.st.dram_writes, 0);
    }
    assert_true(o.st.dram_activates <= o.st.dram_requests);
    assert_true(o.st.dram_activates >= o.st.dram_precharges);
    assert_int_equal(o.st.dram_busy_cycles, 2 * (o.st.dram_reads + o.st.dram_writes));
  }
}

/* Round trip of a lone read, in core cycles from the push to the reply at the top of the queue. */
static uint64_t latency(struct machine *m, uint64_t addr) {
  req_id r = req_new(&m->pool);
  m->pool.at[r] = (struct req){.addr = addr, .bytes = 128, .type = REQ_GLOBAL_READ};
  partition_locate(m->p, &m->pool.at[r]);
  uint32_t s = m->pool.at[r].subpart;
  uint64_t start = m->now;
  for (bool pushed = false; !partition_top(m->p, s);) {
    one_cycle_dram(m);
    if (!pushed) partition_push(m->p, s, r), pushed = true;
    partition_tick_l2(m->p);
    m->now++;
    assert_true(m->now < start + 1000);
  }
  assert_int_equal(partition_pop(m->p, s), r);
  req_free(&m->pool, r);
  return m->now - start;
}

/* The calibration's pointer chases, less the 22 cycles of their networks: chase_l1 (rows mostly open) 261, chase_dram
 * (rows mostly in conflict) 276 to 278, hits of chase_l2 about 146. */
static void lone_latencies(void **state) {
  (void)state;
  struct machine m;
  machine_init(&m, NULL, NULL);
  uint64_t closed = latency(&m, 0xC0000000), hit = latency(&m, 0xC0000000), open = latency(&m, 0xC0000080);
  uint64_t conflict = latency(&m, 0xC0000000 + 6ull * 0x10000);
  assert_int_equal(hit, 122);
  assert_int_equal(closed, 247);
  assert_int_equal(open, 238);     /* 12 command cycles of tRCD less */
  assert_int_equal(conflict, 256); /* 12 of tRP more */
  machine_free(&m);
}

/* Reads pushed as fast as both sub-partitions of a one-channel machine take them, each to lines of its own. */
static void flood(struct machine *m, uint32_t *made, uint32_t cycles, uint64_t *replies) {
  for (uint32_t t = 0; t < cycles; t++) {
    one_cycle_dram(m);
    for (uint32_t s = 0; s < m->subs; s++) {
      if (partition_top(m->p, s)) {
        req_free(&m->pool, partition_pop(m->p, s));
        replies[s]++;
      }
      if (partition_can_push(m->p, s)) {
        req_id r = req_new(&m->pool);
        m->pool.at[r] = (struct req){.bytes = 128, .type = REQ_GLOBAL_READ, .addr = made[s]++ * 512ull + s * 256};
        partition_locate(m->p, &m->pool.at[r]);
        assert_int_equal(m->pool.at[r].subpart, s);
        partition_push(m->p, s, r);
      }
    }
    partition_tick_l2(m->p);
    m->now++;
  }
}

/* Queue 16 and return queue 1: 16 shared credits and one private to each sub-partition. */
static void credits_bound_what_a_channel_accepts(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.channels = 1, c.dram_return_queue = 1, c.dram_delay = 400, c.rop_latency = 0;
  struct machine m;
  machine_init(&m, &c, NULL);
  uint32_t made[SUBS] = {0};
  uint64_t replies[SUBS] = {0};
  flood(&m, made, 520, replies);
  partition_settle(m.p);
  assert_int_equal(m.st.dram_requests, 18);
  flood(&m, made, 400, replies);
  partition_settle(m.p);
  assert_true(m.st.dram_requests > 30);
  machine_free(&m);
}

/* Few credits, so that the order of asking decides who gets them. */
static void sub_partitions_take_turns(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.channels = 1, c.dram_queue = 3, c.dram_return_queue = 2;
  struct machine m;
  machine_init(&m, &c, NULL);
  uint32_t made[SUBS] = {0};
  uint64_t replies[SUBS] = {0};
  flood(&m, made, 20000, replies);
  assert_true(replies[0] + replies[1] > 400);
  assert_in_range(replies[0] * 100, replies[1] * 90, replies[1] * 110);
  machine_free(&m);
}

/* ---- hooks ---- */

static bool bypass_none(void *ctx, const struct mem_event *e) {
  struct machine *m = ctx;
  assert_false(e->atomic);
  assert_int_equal(e->line, e->addr & ~127ull);
  m->asked++;
  return false;
}
static bool bypass_all(void *ctx, const struct mem_event *e) {
  bypass_none(ctx, e);
  return true;
}
static bool bypass_third(void *ctx, const struct mem_event *e) {
  bypass_none(ctx, e);
  return e->line / 128 % 3 == 0;
}
static int oldest(void *ctx, const struct cache_set *s, const struct mem_event *e) {
  (void)ctx, (void)e;
  int best = -1;
  assert_true(s->usable != 0);
  for (uint32_t w = 0; w < s->ways; w++)
    if (s->usable >> w & 1 && (best < 0 || s->used[w] < s->used[best])) best = (int)w;
  return best;
}
static int nobody(void *ctx, const struct cache_set *s, const struct mem_event *e) {
  (void)ctx, (void)s, (void)e;
  return -1;
}
static void note_access(void *ctx, const struct mem_event *e, enum l2_outcome out) {
  struct machine *m = ctx;
  assert_true(out != L2_REFUSED);
  if (out != L2_BYPASSED) assert_true(e->way < m->c.l2.ways);
  m->seen[out]++;
}
static void note_evict(void *ctx, const struct mem_event *e) {
  struct machine *m = ctx;
  assert_true(e->way < m->c.l2.ways);
  assert_int_equal(e->line % 128, 0);
  m->evicted++;
}
static uint32_t by_parity(void *ctx, const struct req *r) {
  ((struct machine *)ctx)->sorted++;
  return r->token & 1;
}

static void hooks_that_change_nothing_change_nothing(void **state) {
  (void)state;
  struct mem_hooks h = {.bypass = bypass_none, .find_victim = oldest, .on_access = note_access, .on_evict = note_evict};
  for (uint32_t i = 0; i < LOADS; i++) {
    struct outcome a = run(NULL, loads[i], 40 + i, false), b = run_with(NULL, &h, loads[i], 40 + i, true);
    same(&a, &b);
    assert_true(b.m.asked > 0);
    assert_int_equal(b.m.seen[L2_HIT], b.st.l2_hits);
    assert_int_equal(b.m.seen[L2_PENDING], b.st.l2_pending);
    assert_int_equal(b.m.seen[L2_MISS], b.st.l2_misses);
    assert_int_equal(b.m.evicted, b.st.l2_evictions);
  }
}

static void bypassing_requests_carry_only_their_bytes(void **state) {
  (void)state;
  struct mem_hooks h = {.bypass = bypass_all};
  struct load w = {4000, 3000, 0, 0, 0, 64, 1};
  struct outcome o = run_with(NULL, &h, w, 3, false), p = run_with(NULL, &h, w, 3, true);
  same(&o, &p);
  assert_int_equal(o.st.l2_bypasses, 4000);
  assert_int_equal(o.m.asked, 4000); /* once each */
  assert_int_equal(o.st.dram_requests, 4000);
  assert_in_range(o.st.dram_reads, 4000 * 4 / 3 - 150, 4000 * 4 / 3 + 150); /* 32, 64 and 128 B: 1, 1 and 2 commands */
  assert_int_equal(o.st.l2_evictions, 0);
}

static void some_bypass_on_every_machine(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  for (uint32_t banked = 0; banked < 2; banked++) {
    if (banked) c.subparts = 1, c.l2.ways = 16, c.l2_banked = true, c.l2_banks = c.l2_ports = 2, c.l2_lookup = 10;
    struct mem_hooks h = {.bypass = bypass_third, .dram_class = by_parity};
    for (uint32_t i = 0; i < LOADS; i++) {
      struct outcome a = run_with(&c, &h, loads[i], 20 + i, false), b = run_with(&c, &h, loads[i], 20 + i, true);
      same(&a, &b);
      assert_true(a.st.l2_bypasses > 0);
    }
  }
}

static void without_a_victim_dram_answers(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.l2.sets = 4;
  struct mem_hooks h = {.find_victim = nobody, .on_access = note_access};
  struct load w = {5000, 5000, 30, 10, 0, 64, 1};
  struct outcome a = run_with(&c, &h, w, 9, false), b = run_with(&c, &h, w, 9, true);
  same(&a, &b);
  assert_true(a.st.l2_bypasses > 3000);
  assert_int_equal(a.m.seen[L2_BYPASSED], a.st.l2_bypasses);
}

static void the_first_dram_class_waits_less(void **state) {
  (void)state;
  struct mem_hooks h = {.dram_class = by_parity};
  struct load w = {8000, 1 << 20, 20, 0, 0, 64, 1};
  struct outcome o = run_with(NULL, &h, w, 5, false), plain = run(NULL, w, 5, false);
  double first = (double)o.m.latency[0] / o.m.answered[0], second = (double)o.m.latency[1] / o.m.answered[1];
  assert_true(first < 0.95 * second);
  assert_true(o.m.sorted > 8000);
  double even = (double)plain.m.latency[0] / plain.m.answered[0],
         odd = (double)plain.m.latency[1] / plain.m.answered[1];
  assert_true(even > 0.98 * odd && odd > 0.98 * even);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jumping_changes_nothing),
      cmocka_unit_test(jumping_changes_nothing_on_other_machines),
      cmocka_unit_test(runs_repeat),
      cmocka_unit_test(dram_commands_add_up),
      cmocka_unit_test(lone_latencies),
      cmocka_unit_test(credits_bound_what_a_channel_accepts),
      cmocka_unit_test(sub_partitions_take_turns),
      cmocka_unit_test(hooks_that_change_nothing_change_nothing),
      cmocka_unit_test(bypassing_requests_carry_only_their_bytes),
      cmocka_unit_test(some_bypass_on_every_machine),
      cmocka_unit_test(without_a_victim_dram_answers),
      cmocka_unit_test(the_first_dram_class_waits_less),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_dram.c - the DRAM channel against a model that counts every constraint down cycle by cycle, and against
 * dram_check; dram_check itself at t-1 and t of every rule, and on a channel whose constraints are each one too short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/mem/addrmap.h"
#include "gpu/mem/dram.h"
#include "dram_check.h"
#include "units.h"

/* ---- the slow model: counters, a pipe with explicit empty places, lists in arrays ---- */

struct slow_req {
  uint32_t id, bank, row, issue, move;
  bool write;
};
struct slow_bank {
  uint32_t RCD, RCDW, RAS, RP, RC, WTP, RTP, row;
  bool open;
  int serving; /* index in req, -1: none */
};
enum { SLOW_REQS = 256, SLOW_PIPE = 64 };
struct slow {
  const struct gpu_config *c;
  struct slow_bank bank[64];
  uint32_t CCD, RRD, RTW, WTR, CCDL[64], RTPL[64], prio;
  struct slow_req req[SLOW_REQS];
  int queue[SLOW_REQS], queued;       /* oldest first */
  int pipe[SLOW_PIPE], length, least; /* -1: empty place */
  bool writing;
  uint32_t returned[SLOW_REQS];
  uint32_t returns;
  uint64_t t;
  struct command {
    uint64_t t;
    uint32_t cmd, bank;
    uint64_t row; /* no padding: compared as memory */
  } * log;
  uint32_t logged, room;
};

static void record(struct command **log, uint32_t *n, uint32_t *room, struct command c) {
  if (*n == *room) {
    *room = *room ? *room * 2 : 1024;
    *log = realloc(*log, *room * sizeof **log);
    assert_non_null(*log);
  }
  (*log)[(*n)++] = c;
}

static void slow_init(struct slow *s, const struct gpu_config *c) {
  memset(s, 0, sizeof *s);
  s->c = c;
  for (int i = 0; i < 64; i++) s->bank[i].serving = -1;
  s->length = s->least = (int)c->tCL;
  for (int i = 0; i < s->length; i++) s->pipe[i] = -1;
}

static uint32_t slow_bl(const struct slow *s) {
  return s->c->dram_burst / s->c->dram_rate;
}

static void slow_pipe_push(struct slow *s, int r) {
  if (s->length && s->pipe[s->length - 1] < 0) s->pipe[s->length - 1] = r;
  else s->pipe[s->length++] = r;
}

static bool slow_column(struct slow *s, uint32_t j) {
  struct slow_bank *b = &s->bank[j];
  if (b->serving < 0) return false;
  struct slow_req *r = &s->req[b->serving];
  uint32_t g = j % s->c->dram_groups;
  if (s->CCD || s->CCDL[g] || !b->open || b->row != r->row || s->length >= (int)s->c->tCL + 1) return false;
  if (r->write ? s->RTW || b->RCDW : s->WTR || b->RCD) return false;
  if (r->write != s->writing) {
    s->writing = r->write;
    s->least = (int)(r->write ? s->c->tWL : s->c->tCL);
    while (s->length < s->least) s->pipe[s->length++] = -1;
    while (s->length > s->least && s->pipe[s->length - 1] < 0) s->length--;
  }
  slow_pipe_push(s, b->serving);
  s->CCD = s->c->tCCD;
  s->CCDL[g] = s->c->tCCDL;
  if (r->write) {
    s->WTR = s->c->tWL + slow_bl(s) + s->c->tCDLR;
    b->WTP = s->c->tWL + slow_bl(s) + s->c->tWR;
  } else {
    s->RTW = s->c->tCL + slow_bl(s) + 2 - s->c->tWL;
    b->RTP = slow_bl(s);
    s->RTPL[g] = s->c->tRTPL;
  }
  record(&s->log, &s->logged, &s->room, (struct command){s->t, r->write ? DRAM_WRITE : DRAM_READ, j, b->row});
  if (!--r->issue) b->serving = -1;
  return true;
}

static bool slow_row(struct slow *s, uint32_t j) {
  struct slow_bank *b = &s->bank[j];
  if (b->serving < 0) return false;
  struct slow_req *r = &s->req[b->serving];
  uint32_t g = j % s->c->dram_groups;
  if (!b->open) {
    if (s->RRD || b->RP || b->RC) return false;
    b->open = true;
    b->row = r->row;
    s->RRD = s->c->tRRD;
    b->RCD = s->c->tRCD;
    b->RCDW = s->c->tRCD - (s->c->tWL + 1);
    b->RAS = s->c->tRAS;
    b->RC = s->c->tRC;
    record(&s->log, &s->logged, &s->room, (struct command){s->t, DRAM_ACTIVATE, j, b->row});
  } else {
    if (b->row == r->row || b->RAS || b->WTP || b->RTP || s->RTPL[g]) return false;
    b->open = false;
    b->RP = s->c->tRP;
    record(&s->log, &s->logged, &s->room, (struct command){s->t, DRAM_PRECHARGE, j, b->row});
  }
  s->prio = (j + 1) % s->c->dram_banks;
  return true;
}

static void slow_schedule(struct slow *s) {
  for (uint32_t i = 0; i < s->c->dram_banks; i++) {
    uint32_t j = (i + s->prio) % s->c->dram_banks;
    if (s->bank[j].serving >= 0) continue;
    int best = -1;
    for (int k = 0; k < s->queued && best < 0; k++)
      if (s->req[s->queue[k]].bank == j && s->req[s->queue[k]].row == s->bank[j].row) best = k;
    for (int k = 0; k < s->queued && best < 0; k++)
      if (s->req[s->queue[k]].bank == j) best = k;
    if (best < 0) continue;
    s->bank[j].serving = s->queue[best];
    memmove(&s->queue[best], &s->queue[best + 1], (size_t)(--s->queued - best) * sizeof *s->queue);
    s->prio = (s->prio + 1) % s->c->dram_banks;
    return;
  }
}

static void down(uint32_t *x) {
  if (*x) --*x;
}

static void slow_step(struct slow *s) {
  if (s->returns < s->c->dram_return_queue) {
    int r = s->length ? s->pipe[0] : -1;
    if (s->length) memmove(&s->pipe[0], &s->pipe[1], (size_t)--s->length * sizeof *s->pipe);
    if (s->length < s->least) s->pipe[s->length++] = -1;
    if (r >= 0 && !--s->req[r].move) s->returned[s->returns++] = s->req[r].id;
  }
  slow_schedule(s);
  bool column = false, row = false;
  for (uint32_t i = 0; i < s->c->dram_banks; i++) {
    uint32_t j = (i + s->prio) % s->c->dram_banks;
    if (!column) column = slow_column(s, j);
    if (!column && !row) row = slow_row(s, j);
  }
  down(&s->CCD), down(&s->RRD), down(&s->RTW), down(&s->WTR);
  for (uint32_t j = 0; j < s->c->dram_banks; j++) {
    struct slow_bank *b = &s->bank[j];
    down(&b->RCD), down(&b->RCDW), down(&b->RAS), down(&b->RP), down(&b->RC), down(&b->WTP), down(&b->RTP);
    down(&s->CCDL[j]), down(&s->RTPL[j]);
  }
  s->t++;
}

/* ---- the channel under test ---- */

struct rig {
  struct gpu_config c;
  struct gpu_stats st;
  struct req_pool pool;
  uint64_t now;
  struct partition_env env;
  struct dram d;
  struct dram_check check;
  struct command *log;
  uint32_t logged, room;
};

static void rig_watch(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  struct rig *r = ctx;
  dram_check_watch(&r->check, t, cmd, bank, row);
  record(&r->log, &r->logged, &r->room, (struct command){t, cmd, bank, row});
}

static void rig_init(struct rig *r, const struct gpu_config *c) {
  memset(r, 0, sizeof *r);
  if (c) r->c = *c;
  else gpu_config_defaults(&r->c);
  r->env = (struct partition_env){.config = &r->c, .pool = &r->pool, .stats = &r->st, .now = &r->now};
  dram_init(&r->d, &r->env);
  dram_check_init(&r->check, &r->c);
  r->d.watch = rig_watch;
  r->d.watch_ctx = r;
}

static void rig_free(struct rig *r) {
  dram_free(&r->d);
  req_pool_destroy(&r->pool);
  free(r->log);
}

static req_id rig_push(struct rig *r, uint32_t bank, uint32_t row, uint32_t bytes, bool write) {
  req_id id = req_new(&r->pool);
  r->pool.at[id].bank = (uint8_t)bank;
  r->pool.at[id].row = row;
  r->pool.at[id].write = write;
  r->pool.at[id].bytes = bytes;
  r->pool.at[id].type = write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ;
  dram_push(&r->d, (struct l2_op){.r = id, .bytes = (uint16_t)bytes});
  return id;
}

/* Traffic shapes: how wide banks and rows spread, share of writes, how often returns are taken. */
struct traffic {
  uint32_t banks, rows, writes, offer, take;
};

static void compare_from(uint64_t start, const struct gpu_config *config, struct traffic w, uint64_t seed,
                         uint32_t cycles, bool skipping) {
  struct rig r;
  rig_init(&r, config);
  r.d.t = start;
  struct slow *s = malloc(sizeof *s);
  assert_non_null(s);
  slow_init(s, &r.c);
  s->t = start;
  struct rng g = rng_seed(seed);
  uint32_t slept = 0;
  for (uint32_t t = 0; t < cycles; t++) {
    if (rng_below(&g, 100) < w.take) {
      assert_int_equal(s->returns, r.d.returns.count);
      if (s->returns) {
        req_id got = l2_queue_pop(&r.d.returns).r;
        assert_int_equal(s->returned[0], got);
        memmove(&s->returned[0], &s->returned[1], --s->returns * sizeof *s->returned);
        req_free(&r.pool, got);
      }
    }
    slow_step(s);
    if (skipping && dram_wake(&r.d) > r.d.t) {
      r.d.t++;
      slept++;
    } else {
      assert_int_equal(dram_step(&r.d), 0);
    }
    assert_int_equal(dram_full(&r.d, 0), s->queued >= (int)r.c.dram_queue);
    /* Bursts of demand, then pauses long enough to drain. */
    bool busy = (t / 400) % 3 != 2;
    if (!busy || rng_below(&g, 100) >= w.offer || dram_full(&r.d, 0) || r.pool.live >= SLOW_REQS - 1) continue;
    uint32_t bank = rng_below(&g, w.banks), row = rng_below(&g, w.rows), bytes = 32u << rng_below(&g, 3);
    bool write = rng_below(&g, 100) < w.writes;
    req_id id = rig_push(&r, bank, row, bytes, write);
    uint32_t bursts = (bytes + 63) / 64;
    int slot = (int)id % SLOW_REQS;
    s->req[slot] = (struct slow_req){id, bank, row, bursts, bursts, write};
    s->queue[s->queued++] = slot;
  }
  assert_int_equal(s->logged, r.logged);
  for (uint32_t i = 0; i < s->logged; i++) assert_memory_equal(&s->log[i], &r.log[i], sizeof r.log[i]);
  assert_string_equal(r.check.violation, "");
  assert_true(r.check.commands > cycles / 20);
  dram_count(&r.d);
  assert_int_equal(r.st.dram_reads + r.st.dram_writes + r.st.dram_activates + r.st.dram_precharges, r.logged);
  if (skipping) assert_true(slept > (w.take == 100 ? cycles / 20 : 0));
  free(s->log);
  free(s);
  rig_free(&r);
}

static void compare(const struct gpu_config *config, struct traffic w, uint64_t seed, uint32_t cycles, bool skipping) {
  compare_from(0, config, w, seed, cycles, skipping);
}

static const struct traffic shapes[] = {
    {16, 4, 30, 90, 100},  {16, 4096, 20, 90, 100}, {1, 3, 50, 60, 100},  {4, 2, 50, 90, 100},
    {16, 1, 50, 100, 100}, {16, 8, 0, 100, 100},    {8, 2, 100, 80, 100}, {16, 2, 10, 100, 20},
};

static void same_commands_as_the_counting_model(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) compare(NULL, shapes[i], 100 + i, 12000, false);
}

static void same_when_quiet_cycles_are_skipped(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) compare(NULL, shapes[i], 200 + i, 12000, true);
}

static void same_with_a_return_queue_that_blocks(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.dram_return_queue = 2;
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    struct traffic w = shapes[i];
    w.take = 8;
    compare(&c, w, 300 + i, 20000, i & 1);
  }
}

static void same_with_other_timing(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.dram_banks = 8, c.dram_groups = 1, c.tCCDL = 0, c.tRTPL = 0, c.tRRD = 8, c.tRCD = 5, c.tWL = 4, c.tCL = 9;
  struct traffic w = {8, 3, 40, 90, 100};
  compare(&c, w, 7, 12000, false); /* a write may share the cycle of its activation */
  c.tRCD = 20, c.tWL = 6, c.tRRD = 1, c.dram_queue = 64;
  compare(&c, w, 8, 12000, true);
}

/* Longer than the channel notes ahead at once, more than one bank group held back, more banks than a lane has bits. */
static void same_with_long_constraints(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.tRC = 90, c.tRAS = 68, c.tRP = 22, c.tRCD = 22, c.tRRD = 7, c.tCL = 22, c.tCCDL = 6, c.tRTPL = 7;
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) compare(&c, shapes[i], 400 + i, 12000, i & 1);
  c.dram_banks = 64;
  compare(&c, (struct traffic){64, 4, 30, 90, 100}, 9, 12000, true);
}

/* Constraints are kept in 32 bits, counted from a base that moves on every 2^29 cycles. */
static void same_after_a_long_time(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    compare_from((1u << 29) - 3000 - i, NULL, shapes[i], 500 + i, 8000, true);
    compare_from((11ull << 40) + i, NULL, shapes[i], 500 + i, 8000, i & 1);
  }
}

/* ---- exact times of a lone request ---- */

static uint64_t until_returned(struct rig *r) {
  for (uint32_t k = 0; k < 200 && !r->d.returns.count; k++) dram_step(&r->d);
  assert_int_equal(r->d.returns.count, 1);
  l2_queue_pop(&r->d.returns);
  return r->d.t - 1;
}

static void a_lone_read_takes_tRCD_and_CL(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  rig_push(&r, 3, 77, 128, false);
  assert_int_equal(until_returned(&r), 12 + 3 + 12); /* tRCD, tCCDL to the second atom, CL */
  assert_int_equal(r.logged, 3);
  assert_int_equal(r.log[0].t, 0);
  assert_int_equal(r.log[1].t, 12);
  assert_int_equal(r.log[2].t, 15);
  assert_int_equal(r.st.dram_row_hits, 0);
  /* Same row: no activation. Another row: precharge, tRP, tRCD. */
  uint64_t t = r.d.t;
  rig_push(&r, 3, 77, 64, false);
  assert_int_equal(until_returned(&r), t + 12);
  dram_count(&r.d);
  assert_int_equal(r.st.dram_row_hits, 1);
  t = r.d.t;
  rig_push(&r, 3, 78, 64, false);
  assert_int_equal(until_returned(&r), t + 12 + 12 + 12);
  dram_count(&r.d);
  assert_int_equal(r.st.dram_activates, 2);
  rig_free(&r);
}

static void a_lone_write_takes_its_shorter_latencies(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  rig_push(&r, 0, 1, 64, true);
  assert_int_equal(until_returned(&r), 7 + 4); /* tRCD - (WL + 1), WL */
  rig_free(&r);
}

/* Of 16 banks, bank 8 is refreshed in cycles 500 to 800, 1500 to 1800 and so on, bank 3 from 187 on. */
static void a_bank_under_refresh_waits_and_finds_its_row_closed(void **state) {
  (void)state;
  struct rig r;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.tREFI = 1000, c.tRFC = 300;
  rig_init(&r, &c);
  r.d.watch = NULL; /* the check would miss a precharge: a refresh closes rows without a command */
  rig_push(&r, 8, 5, 64, false);
  assert_int_equal(until_returned(&r), 12 + 12);
  rig_push(&r, 8, 5, 64, false);
  assert_int_equal(until_returned(&r), 25 + 12); /* the row is open */
  while (r.d.t < 700) dram_step(&r.d);
  rig_push(&r, 3, 5, 64, false);
  assert_int_equal(until_returned(&r), 700 + 12 + 12); /* its refresh has ended */
  rig_push(&r, 8, 5, 64, false);
  assert_int_equal(until_returned(&r), 800 + 12 + 12);
  uint64_t t = r.d.t;
  rig_push(&r, 8, 5, 64, false);
  assert_int_equal(until_returned(&r), t + 12);
  while (r.d.t < 1900) dram_step(&r.d);
  rig_push(&r, 8, 5, 64, false);
  assert_int_equal(until_returned(&r), 1900 + 12 + 12); /* a refresh between two requests closes it, too */
  dram_count(&r.d);
  assert_int_equal(r.st.dram_row_hits, 2);
  assert_int_equal(r.st.dram_activates, 4);
  assert_int_equal(r.st.dram_precharges, 0);
  rig_free(&r);
}

static void fr_fcfs_serves_the_open_row_first(void **state) {
  (void)state;
  struct rig r;
  rig_init(&r, NULL);
  req_id a = rig_push(&r, 0, 1, 64, false);
  dram_step(&r.d);
  req_id b = rig_push(&r, 0, 2, 64, false), c = rig_push(&r, 0, 1, 64, false);
  req_id order[3];
  for (int i = 0; i < 3; i++) {
    while (!r.d.returns.count) dram_step(&r.d);
    order[i] = l2_queue_pop(&r.d.returns).r;
  }
  assert_int_equal(order[0], a);
  assert_int_equal(order[1], c);
  assert_int_equal(order[2], b);
  rig_free(&r);
}

static void fcfs_serves_in_order(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.dram_sched = DRAM_FCFS;
  struct rig r;
  rig_init(&r, &c);
  req_id sent[40], got[40];
  uint32_t n = 0, m = 0;
  struct rng g = rng_seed(5);
  while (m < 40) {
    /* one bank: order must be kept */
    if (n < 40 && !dram_full(&r.d, 0)) sent[n] = rig_push(&r, 5, rng_below(&g, 2), 64, false), n++;
    dram_step(&r.d);
    if (r.d.returns.count) got[m++] = l2_queue_pop(&r.d.returns).r;
  }
  assert_memory_equal(sent, got, sizeof sent);
  assert_string_equal(r.check.violation, "");
  rig_free(&r);
}

/* ---- dram_check ---- */

struct scenario {
  const char *rule;
  struct {
    uint32_t t;
    enum dram_command cmd;
    uint32_t bank, row;
  } before[6];
  uint32_t count;
  enum dram_command cmd;
  uint32_t bank, row, legal;
};
#define A DRAM_ACTIVATE
#define P DRAM_PRECHARGE
#define R DRAM_READ
#define W DRAM_WRITE
static const struct scenario scenarios[] = {
    {"tRRD", {{0, A, 0, 1}}, 1, A, 1, 1, 6},
    {"tRC", {{0, A, 0, 1}, {28, P, 0, 1}}, 2, A, 0, 1, 40},
    {"tRP", {{0, A, 0, 1}, {50, P, 0, 1}}, 2, A, 0, 2, 62},
    {"tRCD (read)", {{0, A, 0, 1}}, 1, R, 0, 1, 12},
    {"tRCD (write)", {{0, A, 0, 1}}, 1, W, 0, 1, 7},
    {"tRAS", {{0, A, 0, 1}}, 1, P, 0, 1, 28},
    {"tCCD (read-read)", {{0, A, 0, 1}, {6, A, 1, 1}, {30, R, 0, 1}}, 3, R, 1, 1, 32},
    {"tCCDL (read-read)", {{0, A, 0, 1}, {6, A, 4, 1}, {30, R, 0, 1}}, 3, R, 4, 1, 33},
    {"tCCDL (write-write)", {{0, A, 0, 1}, {6, A, 4, 1}, {30, W, 0, 1}}, 3, W, 4, 1, 33},
    {"tCCD (write-write)", {{0, A, 0, 1}, {6, A, 1, 1}, {30, W, 0, 1}}, 3, W, 1, 1, 32},
    {"read-to-write", {{0, A, 0, 1}, {6, A, 1, 1}, {30, R, 0, 1}}, 3, W, 1, 1, 42},
    {"write-to-read", {{0, A, 0, 1}, {6, A, 1, 1}, {30, W, 0, 1}}, 3, R, 1, 1, 41},
    {"read-to-precharge", {{0, A, 0, 1}, {40, R, 0, 1}}, 2, P, 0, 1, 42},
    {"tRTPL", {{0, A, 0, 1}, {6, A, 4, 1}, {60, R, 0, 1}}, 3, P, 4, 1, 62},
    {"tWR", {{0, A, 0, 1}, {40, W, 0, 1}}, 2, P, 0, 1, 58},
};

static bool replay(struct dram_check *k, const struct scenario *s, uint32_t t) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  dram_check_init(k, &c);
  for (uint32_t i = 0; i < s->count; i++)
    assert_true(dram_check_command(k, s->before[i].t, s->before[i].cmd, s->before[i].bank, s->before[i].row));
  return dram_check_command(k, t, s->cmd, s->bank, s->row);
}

static void every_rule_is_illegal_at_t_minus_1_and_legal_at_t(void **state) {
  (void)state;
  struct dram_check k;
  for (uint32_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    const struct scenario *s = &scenarios[i];
    assert_false(replay(&k, s, s->legal - 1));
    /* CCD and the burst length are both 2: either may be named. */
    if (!strstr(k.violation, s->rule)) assert_non_null(strstr(k.violation, "the data bus"));
    if (!replay(&k, s, s->legal)) fail_msg("%s at t: %s", s->rule, k.violation);
  }
}

static void bank_states_are_judged(void **state) {
  (void)state;
  static const struct scenario bad[] = {
      {"open", {{0, A, 0, 1}}, 1, A, 0, 2, 100},
      {"closed", {{0, A, 0, 1}}, 1, R, 1, 1, 100},
      {"closed", {{0, A, 0, 1}}, 1, P, 1, 1, 100},
      {"the open row", {{0, A, 0, 1}}, 1, R, 0, 2, 100},
      {"number of banks", {{0, A, 0, 1}}, 1, A, 16, 1, 100},
      {"order of time", {{10, A, 0, 1}}, 1, A, 1, 1, 9},
      {"command bus", {{0, A, 0, 1}, {6, A, 4, 1}, {60, P, 0, 1}}, 3, P, 4, 1, 60},
  };
  struct dram_check k;
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(replay(&k, &bad[i], bad[i].legal));
    assert_non_null(strstr(k.violation, bad[i].rule));
    /* The first violation stays. */
    assert_false(dram_check_command(&k, 10000, A, 9, 1));
    assert_non_null(strstr(k.violation, bad[i].rule));
  }
}

/* A channel with one constraint a cycle short, judged by the true rules. */
static void a_shortened_constraint_is_caught(void **state) {
  (void)state;
  struct {
    const char *rule;
    size_t field;
    uint32_t writes, rows, banks;
  } cut[] = {
      {"tRC", offsetof(struct gpu_config, tRC), 0, 4096, 2},
      {"tRRD", offsetof(struct gpu_config, tRRD), 0, 4096, 16},
      {"tRCD", offsetof(struct gpu_config, tRCD), 0, 4096, 16},
      {"tRAS", offsetof(struct gpu_config, tRAS), 0, 4096, 16},
      {"tRP", offsetof(struct gpu_config, tRP), 0, 4096, 16},
      {"tCCD", offsetof(struct gpu_config, tCCD), 0, 1, 16},
      {"tCCDL", offsetof(struct gpu_config, tCCDL), 0, 1, 4},
      {"write-to-read", offsetof(struct gpu_config, tCDLR), 50, 1, 16},
      {"tWR", offsetof(struct gpu_config, tWR), 100, 3, 2},
  };
  for (uint32_t i = 0; i < sizeof cut / sizeof *cut; i++) {
    struct gpu_config c;
    gpu_config_defaults(&c);
    if (i == 0) c.tRAS = 20, c.tRP = 12; /* else tRAS + tRP hides tRC */
    struct dram_check true_rules;
    dram_check_init(&true_rules, &c);
    uint32_t *field = (uint32_t *)((char *)&c + cut[i].field);
    *field -= 1;
    struct rig r;
    rig_init(&r, &c);
    r.check = true_rules;
    struct rng g = rng_seed(i + 1);
    for (uint32_t t = 0; t < 4000; t++) {
      dram_step(&r.d);
      if (r.d.returns.count) l2_queue_pop(&r.d.returns);
      if (!dram_full(&r.d, 0))
        rig_push(&r, rng_below(&g, cut[i].banks), rng_below(&g, cut[i].rows), 64, rng_below(&g, 100) < cut[i].writes);
    }
    if (!strstr(r.check.violation, cut[i].rule) && !(i == 5 && strstr(r.check.violation, "data bus")))
      fail_msg("%s cut by one: \"%s\"", cut[i].rule, r.check.violation);
    rig_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_commands_as_the_counting_model),
      cmocka_unit_test(same_when_quiet_cycles_are_skipped),
      cmocka_unit_test(same_with_a_return_queue_that_blocks),
      cmocka_unit_test(same_with_other_timing),
      cmocka_unit_test(same_with_long_constraints),
      cmocka_unit_test(same_after_a_long_time),
      cmocka_unit_test(a_lone_read_takes_tRCD_and_CL),
      cmocka_unit_test(a_lone_write_takes_its_shorter_latencies),
      cmocka_unit_test(a_bank_under_refresh_waits_and_finds_its_row_closed),
      cmocka_unit_test(fr_fcfs_serves_the_open_row_first),
      cmocka_unit_test(fcfs_serves_in_order),
      cmocka_unit_test(every_rule_is_illegal_at_t_minus_1_and_legal_at_t),
      cmocka_unit_test(bank_states_are_judged),
      cmocka_unit_test(a_shortened_constraint_is_caught),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

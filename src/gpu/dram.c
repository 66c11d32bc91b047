/* dram.c - GDDR5 command timing of one channel, cycle for cycle as the reference machine does it.
 *
 * Order in a command cycle: the burst at the end of the data pipe moves; the scheduler gives at most one idle bank a
 * request; commands are issued. Banks are looked at from `prio` on, each for a column command and then for a row
 * command. After a row command only column commands are looked for, and since the row command moves `prio` while the
 * walk goes on by index, the walk jumps: this decides who is served under load, so it is reproduced. A row and a column
 * command may thus share a cycle; two of one kind never do.
 */
#include "gpu/dram.h"

#include <stdlib.h>

#include "base/err.h"

void dram_timing_init(struct dram_timing *d, const struct gpu_config *c) {
  uint32_t burst = c->dram_burst / c->dram_rate ? c->dram_burst / c->dram_rate : 1;
  *d = (struct dram_timing){
      .CCD = c->tCCD,
      .CCDL = c->tCCDL,
      .RRD = c->tRRD,
      .RCD = c->tRCD,
      .RCDW = c->tRCD > c->tWL + 1 ? c->tRCD - (c->tWL + 1) : 0,
      .RAS = c->tRAS,
      .RP = c->tRP,
      .RC = c->tRC,
      .RTPL = c->tRTPL,
      .RTW = c->tCL + burst + 2 > c->tWL ? c->tCL + burst + 2 - c->tWL : 0,
      .WTR = c->tWL + burst + c->tCDLR,
      .WTP = c->tWL + burst + c->tWR,
      .RTP = burst,
      .CL = c->tCL,
      .WL = c->tWL,
      .BL = burst,
      .atom = c->dram_burst * c->dram_bus_bytes * c->dram_chips,
      .banks = c->dram_banks,
      .groups = c->dram_groups,
  };
}

void dram_init(struct dram *d, const struct partition_env *env) {
  const struct gpu_config *c = env->config;
  *d = (struct dram){.env = env, .fcfs = c->dram_sched == DRAM_FCFS};
  dram_timing_init(&d->tm, c);
  const struct dram_timing *tm = &d->tm;
  CHECK(tm->banks <= 64, "%u DRAM banks", tm->banks);
  d->limit = d->fcfs ? 2 : c->dram_queue; /* in-order service: the reference's input queue of two */
  d->bank = calloc(tm->banks, sizeof *d->bank);
  d->group_col_at = calloc(tm->banks, sizeof *d->group_col_at);
  d->group_pre_at = calloc(tm->banks, sizeof *d->group_pre_at);
  uint32_t longest = (tm->CL > tm->WL ? tm->CL : tm->WL) + 1;
  d->spares = 2 * d->limit + tm->banks + longest + 2;
  CHECK(d->spares < DRAM_NO_SLOT, "%u requests in a DRAM channel", d->spares);
  d->slot = calloc(d->spares, sizeof *d->slot);
  d->spare = calloc(d->spares, sizeof *d->spare);
  for (d->pipe_size = 8; d->pipe_size < longest + 2;) d->pipe_size *= 2;
  d->pipe = calloc(d->pipe_size, sizeof *d->pipe);
  d->own_at = calloc(tm->banks, sizeof *d->own_at);
  d->group_banks = calloc(tm->banks, sizeof *d->group_banks);
  d->groups = tm->groups < tm->banks ? tm->groups : tm->banks;
  d->one_group = tm->CCDL <= 2 * tm->CCD;
  CHECK(d->bank && d->own_at && d->group_banks && d->group_col_at && d->group_pre_at && d->slot && d->spare && d->pipe,
        "out of memory for DRAM");
  for (uint32_t i = 0; i < d->spares; i++) d->spare[i] = (uint16_t)(d->spares - 1 - i);
  for (uint32_t i = 0; i < tm->banks; i++) {
    d->bank[i].serving = d->bank[i].oldest = d->bank[i].youngest = DRAM_NO_SLOT;
    d->bank[i].group = i % tm->groups; /* neighbouring banks lie in different groups */
    d->group_banks[d->bank[i].group] |= 1ull << i;
  }
  d->pipe_len = d->pipe_min = tm->CL;
  l2_queue_init(&d->fifo, 0);
  l2_queue_init(&d->returns, c->dram_return_queue);
}

void dram_free(struct dram *d) {
  l2_queue_free(&d->fifo);
  l2_queue_free(&d->returns);
  free(d->bank);
  free(d->own_at);
  free(d->group_banks);
  free(d->group_col_at);
  free(d->group_pre_at);
  free(d->slot);
  free(d->spare);
  free(d->pipe);
  *d = (struct dram){0};
}

void dram_push(struct dram *d, struct l2_op op) {
  const struct req *r = &d->env->pool->at[op.r];
  CHECK(d->spares, "no DRAM slot at command cycle %llu for request %u", (unsigned long long)d->t, op.r);
  uint16_t i = d->spare[--d->spares];
  uint32_t bursts = quotient_up(op.bytes, d->tm.atom);
  d->slot[i] = (struct dram_slot){
      .op = op,
      .row = r->row,
      .next = DRAM_NO_SLOT,
      .to_issue = (uint16_t)(bursts ? bursts : 1),
      .to_move = (uint16_t)(bursts ? bursts : 1),
      .bank = r->bank,
      .write = r->write,
      .silent = r->type == REQ_L1_WRITEBACK || r->type == REQ_L2_WRITEBACK,
  };
  d->pending[op.cls]++;
  d->env->stats->dram_requests++;
  if (d->fcfs) {
    l2_queue_push(&d->fifo, (struct l2_op){.set = i});
    return;
  }
  struct dram_bank *b = &d->bank[r->bank];
  if (b->oldest == DRAM_NO_SLOT) b->oldest = i;
  else d->slot[b->youngest].next = i;
  b->youngest = i;
  d->waiting |= 1ull << r->bank;
  if (op.cls) return;
  b->urgent++;
  d->urgent |= 1ull << r->bank;
}

/* ---- scheduler ---- */

/* Which waiting request of a bank is served next: of the most urgent class present the oldest to the row opened last,
 * else the oldest. Gives its predecessor in the queue too. */
static uint16_t pick(const struct dram *d, const struct dram_bank *b, uint16_t *before) {
  uint8_t cls = b->urgent ? 0 : 1;
  uint16_t prev = DRAM_NO_SLOT, best = DRAM_NO_SLOT;
  for (uint16_t i = b->oldest; i != DRAM_NO_SLOT; prev = i, i = d->slot[i].next) {
    if (d->slot[i].op.cls != cls) continue;
    bool open = d->slot[i].row == b->row;
    if (best == DRAM_NO_SLOT || open) {
      best = i;
      *before = prev;
    }
    if (open) break;
  }
  return best;
}

/* Note the next command of bank `j` and when the bank itself allows it. */
static void classify(struct dram *d, uint32_t j) {
  const struct dram_bank *b = &d->bank[j];
  uint64_t bit = 1ull << j;
  for (uint32_t k = 0; k < 4; k++) d->next[k] &= ~bit;
  d->unripe &= ~bit;
  if (b->serving == DRAM_NO_SLOT) {
    d->busy &= ~bit;
    return;
  }
  d->busy |= bit;
  const struct dram_slot *s = &d->slot[b->serving];
  if (!b->open) {
    d->next[DRAM_ACTIVATE] |= bit;
    d->own_at[j] = b->act_at;
  } else if (b->row != s->row) {
    d->next[DRAM_PRECHARGE] |= bit;
    d->own_at[j] = b->pre_at;
  } else {
    d->next[s->write ? DRAM_WRITE : DRAM_READ] |= bit;
    d->own_at[j] = s->write ? b->wr_at : b->rd_at;
  }
  if (d->own_at[j] <= d->t) return;
  d->unripe |= bit;
  if (d->own_at[j] < d->ripe_at) d->ripe_at = d->own_at[j];
}

static void serve(struct dram *d, uint32_t j, uint16_t i) {
  struct dram_bank *b = &d->bank[j];
  b->serving = i;
  classify(d, j);
  d->pending[d->slot[i].op.cls]--;
  d->env->stats->dram_row_hits += b->open && b->row == d->slot[i].row;
  d->issue_at = 0;
}

/* The first set bit from `from` on, in rotation over 64 or fewer banks; mask must not be 0. */
static uint32_t first_from(uint64_t mask, uint32_t from) {
  uint64_t high = mask >> from;
  return high ? from + (uint32_t)__builtin_ctzll(high) : (uint32_t)__builtin_ctzll(mask);
}

static void schedule(struct dram *d) {
  if (d->fcfs) {
    if (!d->fifo.count) return;
    uint16_t i = (uint16_t)l2_queue_top(&d->fifo)->set;
    uint32_t j = d->slot[i].bank;
    if (d->busy >> j & 1) return;
    l2_queue_pop(&d->fifo);
    serve(d, j, i);
    return;
  }
  uint64_t ready = d->waiting & ~d->busy;
  if (!ready) return;
  if (ready & d->urgent) ready &= d->urgent;
  uint32_t j = first_from(ready, d->prio);
  struct dram_bank *b = &d->bank[j];
  uint16_t before = DRAM_NO_SLOT, i = pick(d, b, &before), next = d->slot[i].next;
  if (before == DRAM_NO_SLOT) b->oldest = next;
  else d->slot[before].next = next;
  if (b->youngest == i) b->youngest = before;
  if (b->oldest == DRAM_NO_SLOT) d->waiting &= ~(1ull << j);
  if (!d->slot[i].op.cls && !--b->urgent) d->urgent &= ~(1ull << j);
  d->prio = d->prio + 1 == d->tm.banks ? 0 : d->prio + 1;
  serve(d, j, i);
}

/* ---- data pipe ---- */

/* The pipe has moved one place: its length shrinks to the latency of the present direction, never below. */
static void pipe_move(struct dram *d, uint64_t places) {
  d->pipe_moved += places;
  uint64_t above = d->pipe_len - d->pipe_min;
  d->pipe_len = d->pipe_min + (uint32_t)(above > places ? above - places : 0);
}

static void pipe_turn(struct dram *d, bool write) {
  if (d->writing == write) return;
  d->writing = write;
  d->pipe_min = write ? d->tm.WL : d->tm.CL;
  uint64_t occupied = d->pipe_last_due > d->pipe_moved ? d->pipe_last_due - d->pipe_moved : 0;
  /* Longer: empty places are added. Shorter: empty places at the end go, those before the last burst stay. */
  if (d->pipe_len > d->pipe_min) d->pipe_len = (uint32_t)(occupied > d->pipe_min ? occupied : d->pipe_min);
  else d->pipe_len = d->pipe_min;
}

static bool pipe_full(const struct dram *d) {
  return d->pipe_len >= (d->tm.CL > d->tm.WL ? d->tm.CL : d->tm.WL) + 1;
}

/* The last place takes the burst if it is empty, else a place is added. */
static void pipe_push(struct dram *d, uint16_t slot) {
  uint64_t end = d->pipe_moved + d->pipe_len;
  if (d->pipe_last_due == end && d->pipe_count) {
    end++;
    d->pipe_len++;
  } else if (!d->pipe_len) {
    end++;
    d->pipe_len = 1;
  }
  d->pipe_last_due = end;
  uint32_t at = (d->pipe_head + d->pipe_count++) & (d->pipe_size - 1);
  d->pipe[at].due = end;
  d->pipe[at].slot = slot;
}

static req_id pipe_pop(struct dram *d) {
  if (l2_queue_full(&d->returns)) return 0;
  pipe_move(d, 1);
  if (!d->pipe_count || d->pipe[d->pipe_head].due > d->pipe_moved) return 0;
  uint16_t i = d->pipe[d->pipe_head].slot;
  d->pipe_head = (d->pipe_head + 1) & (d->pipe_size - 1);
  d->pipe_count--;
  struct dram_slot *s = &d->slot[i];
  if (--s->to_move) return 0;
  d->spare[d->spares++] = i;
  if (s->silent) return s->op.r;
  l2_queue_push(&d->returns, s->op);
  return 0;
}

/* ---- commands ---- */

static void note(struct dram *d, enum dram_command cmd, uint32_t bank, uint32_t row) {
  if (d->watch) d->watch(d->watch_ctx, d->t, cmd, bank, row);
}
static void later(uint64_t *at, uint64_t t) {
  if (*at < t) *at = t;
}

static void column(struct dram *d, uint32_t j) {
  const struct dram_timing *tm = &d->tm;
  struct dram_bank *b = &d->bank[j];
  struct dram_slot *s = &d->slot[b->serving];
  uint32_t g = b->group;
  uint64_t t = d->t;
  pipe_turn(d, s->write);
  pipe_push(d, b->serving);
  later(&d->rd_at, t + tm->CCD);
  later(&d->wr_at, t + tm->CCD);
  d->group_col_at[g] = t + tm->CCDL;
  d->col_group = g;
  if (s->write) {
    later(&d->rd_at, t + tm->WTR);
    later(&b->pre_at, t + tm->WTP);
    d->env->stats->dram_writes++;
    d->env->stats->dram_write_bytes += tm->atom;
  } else {
    later(&d->wr_at, t + tm->RTW);
    later(&b->pre_at, t + tm->RTP);
    d->group_pre_at[g] = t + tm->RTPL;
    d->env->stats->dram_reads++;
    d->env->stats->dram_read_bytes += tm->atom;
  }
  d->env->stats->dram_busy_cycles += tm->BL;
  note(d, s->write ? DRAM_WRITE : DRAM_READ, j, b->row);
  if (--s->to_issue) return;
  b->serving = DRAM_NO_SLOT;
  classify(d, j);
}

static void row(struct dram *d, uint32_t j) {
  const struct dram_timing *tm = &d->tm;
  struct dram_bank *b = &d->bank[j];
  uint64_t t = d->t;
  if (b->open) {
    note(d, DRAM_PRECHARGE, j, b->row);
    b->open = false;
    later(&b->act_at, t + tm->RP);
    d->env->stats->dram_precharges++;
  } else {
    b->open = true;
    b->row = d->slot[b->serving].row;
    note(d, DRAM_ACTIVATE, j, b->row);
    d->act_at = t + tm->RRD;
    b->act_at = t + tm->RC;
    b->rd_at = t + tm->RCD;
    b->wr_at = t + tm->RCDW;
    later(&b->pre_at, t + tm->RAS);
    d->env->stats->dram_activates++;
  }
  d->prio = j + 1 == tm->banks ? 0 : j + 1;
  classify(d, j);
}

/* `banks` with bank `from` at bit 0. */
static uint64_t rotated(const struct dram *d, uint64_t banks, uint32_t from) {
  uint64_t all = d->tm.banks == 64 ? UINT64_MAX : (1ull << d->tm.banks) - 1;
  return from ? (banks >> from | banks << (d->tm.banks - from)) & all : banks;
}

/* Banks whose next command is `cmd`, if the constraint they share allows it now; else *soonest learns when. */
static uint64_t allowed(const struct dram *d, enum dram_command cmd, uint64_t at, uint64_t *soonest) {
  if (at <= d->t || !d->next[cmd]) return d->next[cmd];
  if (at < *soonest) *soonest = at;
  return 0;
}

static uint64_t columns_allowed(const struct dram *d, uint64_t *soonest) {
  uint64_t cols = allowed(d, DRAM_READ, d->rd_at, soonest) | allowed(d, DRAM_WRITE, d->wr_at, soonest);
  if (!cols || !pipe_full(d)) return cols;
  *soonest = d->t + 1;
  return 0;
}

/* Banks whose own constraints have passed leave `unripe`; ripe_at becomes exact. */
static void ripen(struct dram *d) {
  d->ripe_at = UINT64_MAX;
  for (uint64_t m = d->unripe; m; m &= m - 1) {
    uint32_t j = (uint32_t)__builtin_ctzll(m);
    if (d->own_at[j] <= d->t) d->unripe &= ~(1ull << j);
    else if (d->own_at[j] < d->ripe_at) d->ripe_at = d->own_at[j];
  }
}

/* Of `banks`, those whose group holds them back: `at` has a time per group. */
static uint64_t held_by_group(const struct dram *d, uint64_t banks, const uint64_t *at, uint64_t *soonest) {
  uint64_t held = 0;
  for (uint32_t g = 0; g < d->groups; g++) {
    if (at[g] <= d->t || !(banks & d->group_banks[g])) continue;
    held |= d->group_banks[g];
    if (at[g] < *soonest) *soonest = at[g];
  }
  return banks & held;
}

/* Banks of `cols` whose column command is legal now. */
static uint64_t legal_columns(const struct dram *d, uint64_t *soonest) {
  uint64_t cols = columns_allowed(d, soonest) & ~d->unripe;
  if (!cols) return 0;
  uint64_t at = d->group_col_at[d->col_group];
  if (at <= d->t) return cols; /* those before it ended before it */
  if (!d->one_group) return cols & ~held_by_group(d, cols, d->group_col_at, soonest);
  uint64_t held = cols & d->group_banks[d->col_group];
  if (held && at < *soonest) *soonest = at;
  return cols & ~held;
}

static void issue(struct dram *d) {
  if (d->t < d->issue_at) return;
  uint64_t soonest = UINT64_MAX;
  if (d->t >= d->ripe_at) ripen(d);
  uint64_t cols = legal_columns(d, &soonest), pre = d->next[DRAM_PRECHARGE] & ~d->unripe;
  uint64_t rows = allowed(d, DRAM_ACTIVATE, d->act_at, &soonest) & ~d->unripe;
  if (pre) rows |= pre & ~held_by_group(d, pre, d->group_pre_at, &soonest);
  if (!(cols | rows)) {
    d->issue_at = d->unripe && d->ripe_at < soonest ? d->ripe_at : soonest;
    return;
  }
  d->issue_at = d->t + 1;
  uint32_t n = d->tm.banks, from = d->prio, k = (uint32_t)__builtin_ctzll(rotated(d, cols | rows, from));
  uint32_t j = from + k >= n ? from + k - n : from + k;
  if (cols >> j & 1) {
    column(d, j);
    return;
  }
  row(d, j);
  if (k == 63) return;
  from = d->prio;
  uint64_t later_cols = rotated(d, legal_columns(d, &soonest), from) & ~((2ull << k) - 1);
  if (!later_cols) return;
  k = (uint32_t)__builtin_ctzll(later_cols);
  column(d, from + k >= n ? from + k - n : from + k);
}

req_id dram_step(struct dram *d) {
  req_id done = pipe_pop(d);
  schedule(d);
  issue(d);
  d->t++;
  return done;
}

uint64_t dram_wake(const struct dram *d) {
  if (d->returns.count || d->waiting & ~d->busy || d->fifo.count) return d->t;
  uint64_t at = d->busy ? d->issue_at : UINT64_MAX;
  if (d->pipe_count) {
    /* The step of cycle t + k makes pipe_moved + k + 1 current. */
    uint64_t due = d->t + (d->pipe[d->pipe_head].due - d->pipe_moved) - 1;
    if (due < at) at = due;
  }
  return at > d->t ? at : d->t;
}

void dram_skip(struct dram *d, uint64_t steps) {
  d->t += steps;
  pipe_move(d, steps);
}

bool dram_idle(const struct dram *d) {
  return !d->pending[0] && !d->pending[1] && !d->busy && !d->pipe_count && !d->returns.count;
}

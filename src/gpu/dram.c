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
      .CCD = (uint16_t)c->tCCD,
      .CCDL = (uint16_t)c->tCCDL,
      .RRD = (uint16_t)c->tRRD,
      .RCD = (uint16_t)c->tRCD,
      .RCDW = (uint16_t)(c->tRCD > c->tWL + 1 ? c->tRCD - (c->tWL + 1) : 0),
      .RAS = (uint16_t)c->tRAS,
      .RP = (uint16_t)c->tRP,
      .RC = (uint16_t)c->tRC,
      .RTPL = (uint16_t)c->tRTPL,
      .RTW = (uint16_t)(c->tCL + burst + 2 > c->tWL ? c->tCL + burst + 2 - c->tWL : 0),
      .WTR = (uint16_t)(c->tWL + burst + c->tCDLR),
      .WTP = (uint16_t)(c->tWL + burst + c->tWR),
      .RTP = (uint16_t)burst,
      .CL = (uint16_t)c->tCL,
      .WL = (uint16_t)c->tWL,
      .BL = (uint16_t)burst,
      .atom = c->dram_burst * c->dram_bus_bytes * c->dram_chips,
      .banks = (uint8_t)c->dram_banks,
      .groups = (uint8_t)c->dram_groups,
  };
  uint16_t next = d->CCD ? d->CCD : 1; /* two columns never share a cycle */
  d->to_read[0] = d->to_write[1] = next;
  d->to_write[0] = d->RTW > next ? d->RTW : next;
  d->to_read[1] = d->WTR > next ? d->WTR : next;
}

void dram_init(struct dram *d, const struct partition_env *env) {
  const struct gpu_config *c = env->config;
  *d = (struct dram){.env = env, .fcfs = c->dram_sched == DRAM_FCFS};
  dram_timing_init(&d->tm, c);
  const struct dram_timing *tm = &d->tm;
  CHECK(c->dram_banks <= 64, "%u DRAM banks", c->dram_banks);
  d->banks = tm->banks;
  d->limit = d->fcfs ? 2 : (uint16_t)c->dram_queue; /* in-order service: the reference's input queue of two */
  d->bank = aligned_alloc(64, tm->banks * sizeof *d->bank);
  d->group_col_at = calloc(tm->banks, sizeof *d->group_col_at);
  d->group_pre_at = calloc(tm->banks, sizeof *d->group_pre_at);
  uint32_t longest = (tm->CL > tm->WL ? tm->CL : tm->WL) + 1;
  uint32_t spares = 2u * d->limit + tm->banks + longest + 2;
  CHECK(spares < DRAM_NO_SLOT, "%u requests in a DRAM channel", spares);
  d->spares = (uint16_t)spares;
  d->slot = calloc(d->spares, sizeof *d->slot);
  d->spare = calloc(d->spares, sizeof *d->spare);
  for (d->pipe_size = 8; d->pipe_size < longest + 2;) d->pipe_size *= 2;
  d->pipe = calloc(d->pipe_size, sizeof *d->pipe);
  d->group_banks = calloc(tm->banks, sizeof *d->group_banks);
  d->groups = tm->groups < tm->banks ? tm->groups : tm->banks;
  d->one_group = tm->CCDL <= 2 * tm->CCD;
  d->one_held = tm->RTPL <= tm->CCD;
  CHECK(d->bank && d->group_banks && d->group_col_at && d->group_pre_at && d->slot && d->spare && d->pipe,
        "out of memory for DRAM");
  for (uint32_t i = 0; i < d->spares; i++) d->spare[i] = (uint16_t)(d->spares - 1 - i);
  for (uint32_t i = 0; i < tm->banks; i++) {
    d->bank[i] = (struct dram_bank){.serving = DRAM_NO_SLOT, .oldest = DRAM_NO_SLOT, .youngest = DRAM_NO_SLOT};
    d->bank[i].group = (uint8_t)(i % tm->groups); /* neighbouring banks lie in different groups */
    d->group_banks[d->bank[i].group] |= 1ull << i;
  }
  for (uint32_t i = 0; i < tm->banks; i++) d->bank[i].mates = d->group_banks[d->bank[i].group];
  d->pipe_min = tm->CL;
  d->pipe_most = (uint16_t)longest;
  d->issue_at = d->pop_at = UINT64_MAX;
  l2_queue_init(&d->fifo, 0);
  l2_queue_init(&d->returns, c->dram_return_queue);
}

void dram_free(struct dram *d) {
  l2_queue_free(&d->fifo);
  l2_queue_free(&d->returns);
  free(d->bank);
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
      .r = op.r,
      .row = r->row,
      .set = op.set,
      .bytes = op.bytes,
      .mshr = op.mshr,
      .cls = op.cls,
      .sectors = op.sectors,
      .sub = op.sub,
      .next = DRAM_NO_SLOT,
      .to_issue = (uint16_t)(bursts ? bursts : 1),
      .bank = r->bank,
      .write = r->write,
      .silent = r->type == REQ_L1_WRITEBACK || r->type == REQ_L2_WRITEBACK,
  };
  d->pending[op.cls]++;
  d->env->stats->dram_requests++;
  if (d->fcfs) {
    if (!d->fifo.count) d->waiting = 1ull << r->bank;
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
    if (d->slot[i].cls != cls) continue;
    bool open = d->slot[i].row == b->row;
    if (best == DRAM_NO_SLOT || open) {
      best = i;
      *before = prev;
    }
    if (open) break;
  }
  return best;
}

/* The next command of bank `j` is `cmd`, which the bank itself allows from cycle `at` on. Returns the first cycle in
 * which nothing known now holds it back: what other banks' commands do so comes later and later. */
static uint64_t expect(struct dram *d, uint32_t j, enum dram_command cmd, uint64_t at) {
  uint64_t bit = 1ull << j;
  uint64_t all = cmd == DRAM_ACTIVATE ? d->act_at : cmd == DRAM_READ ? d->rd_at : cmd == DRAM_WRITE ? d->wr_at : 0;
  d->next[cmd] |= bit;
  if (at < all) at = all;
  if (at <= d->t) return d->t;
  uint64_t slot = at - d->t < DRAM_RIPE ? at % DRAM_RIPE : (d->t - 1) % DRAM_RIPE;
  d->bank[j].own_at = at;
  d->unripe |= bit;
  d->ripe[slot] |= bit;
  d->ripe_slots |= 1ull << slot;
  return at;
}

static void serve(struct dram *d, uint32_t j, uint16_t i) {
  struct dram_bank *b = &d->bank[j];
  const struct dram_slot *s = &d->slot[i];
  uint64_t at;
  b->serving = i;
  d->busy |= 1ull << j;
  if (!b->open) {
    at = expect(d, j, DRAM_ACTIVATE, b->act_at);
  } else if (b->row != s->row) {
    at = expect(d, j, DRAM_PRECHARGE, b->pre_at);
  } else {
    at = expect(d, j, s->write ? DRAM_WRITE : DRAM_READ, s->write ? b->wr_at : b->rd_at);
    d->env->stats->dram_row_hits++;
  }
  d->pending[s->cls]--;
  /* Later than DRAM_RIPE cycles from now it is noted again, for which `issue` has to look. */
  uint64_t look = d->t + DRAM_RIPE - 1;
  if (at > look) at = look;
  if (at < d->issue_at) d->issue_at = at;
}

/* The first set bit from `from` on, in rotation over 64 or fewer banks; mask must not be 0. */
static uint32_t first_from(uint64_t mask, uint32_t from) {
  uint64_t high = mask >> from << from;
  return (uint32_t)__builtin_ctzll(high ? high : mask);
}

/* `ready`: banks that have waiting requests and serve none; not empty. */
static void schedule(struct dram *d, uint64_t ready) {
  if (d->fcfs) {
    uint16_t i = (uint16_t)l2_queue_pop(&d->fifo).set;
    serve(d, d->slot[i].bank, i);
    d->waiting = d->fifo.count ? 1ull << d->slot[l2_queue_top(&d->fifo)->set].bank : 0;
    return;
  }
  if (ready & d->urgent) ready &= d->urgent;
  uint32_t j = first_from(ready, d->prio);
  struct dram_bank *b = &d->bank[j];
  uint16_t before = DRAM_NO_SLOT, i = pick(d, b, &before), next = d->slot[i].next;
  if (before == DRAM_NO_SLOT) b->oldest = next;
  else d->slot[before].next = next;
  if (b->youngest == i) b->youngest = before;
  if (b->oldest == DRAM_NO_SLOT) d->waiting &= ~(1ull << j);
  if (!d->slot[i].cls && !--b->urgent) d->urgent &= ~(1ull << j);
  d->prio = d->prio + 1 == d->banks ? 0 : (uint8_t)(d->prio + 1);
  serve(d, j, i);
}

/* ---- data pipe ---- */

/* Moves of the pipe so far, this step's included. */
static uint64_t pipe_moved(const struct dram *d) {
  return d->t + 1 - d->stalled;
}

static void pipe_turn(struct dram *d, bool write) {
  uint64_t moved = pipe_moved(d), longer = moved + (write ? d->tm.WL : d->tm.CL);
  bool above = d->pipe_end > longer || moved + d->pipe_min > longer;
  d->writing = write;
  d->pipe_min = write ? d->tm.WL : d->tm.CL;
  /* Longer: empty places are added. Shorter: empty places at the end go, those before the last burst stay. */
  d->pipe_end = above ? d->pipe_last_due : 0;
}

/* The last place takes the burst if it is empty, else a place is added. */
static void pipe_push(struct dram *d, uint16_t slot, bool last) {
  uint64_t moved = pipe_moved(d), end = moved + d->pipe_min;
  if (d->pipe_end > end) end = d->pipe_end;
  if (d->pipe_last_due == end || end == moved) d->pipe_end = ++end;
  d->pipe_last_due = end;
  if (!last) return;
  if (!d->pipe_count) d->pop_at = end + d->stalled - 1;
  uint32_t at = (d->pipe_head + d->pipe_count++) & (d->pipe_size - 1);
  d->pipe[at].due = end;
  d->pipe[at].slot = slot;
}

static req_id pipe_pop(struct dram *d) {
  uint16_t i = d->pipe[d->pipe_head].slot;
  d->pipe_head = (d->pipe_head + 1) & (d->pipe_size - 1);
  d->pop_at = --d->pipe_count ? d->pipe[d->pipe_head].due + d->stalled - 1 : UINT64_MAX;
  struct dram_slot *s = &d->slot[i];
  d->spare[d->spares++] = i;
  if (s->silent) return s->r;
  l2_queue_push(&d->returns, (struct l2_op){.r = s->r,
                                            .set = s->set,
                                            .bytes = s->bytes,
                                            .mshr = s->mshr,
                                            .cls = s->cls,
                                            .sectors = s->sectors,
                                            .sub = s->sub});
  return 0;
}

/* ---- commands ---- */

static void note(struct dram *d, enum dram_command cmd, uint32_t bank, uint32_t row) {
  if (__builtin_expect(d->watch != NULL, 0)) d->watch(d->watch_ctx, d->t, cmd, bank, row);
}
static void later(uint64_t *at, uint64_t t) {
  if (*at < t) *at = t;
}

static void column(struct dram *d, uint32_t j) {
  const struct dram_timing *tm = &d->tm;
  struct dram_bank *b = &d->bank[j];
  struct dram_slot *s = &d->slot[b->serving];
  struct gpu_stats *st = d->env->stats;
  uint64_t t = d->t;
  if (d->writing != s->write) pipe_turn(d, s->write);
  bool last = !--s->to_issue;
  pipe_push(d, b->serving, last);
  later(&d->rd_at, t + tm->to_read[s->write]);
  later(&d->wr_at, t + tm->to_write[s->write]);
  d->col_at = t + tm->CCDL;
  d->col_banks = b->mates;
  if (!d->one_group) d->group_col_at[b->group] = d->col_at;
  if (s->write) {
    later(&b->pre_at, t + tm->WTP);
    st->dram_writes++;
    st->dram_write_bytes += tm->atom;
  } else {
    later(&b->pre_at, t + tm->RTP);
    d->pre_at = t + tm->RTPL;
    d->pre_banks = b->mates;
    if (!d->one_held) d->group_pre_at[b->group] = d->pre_at;
    st->dram_reads++;
    st->dram_read_bytes += tm->atom;
  }
  st->dram_busy_cycles += tm->BL;
  note(d, s->write ? DRAM_WRITE : DRAM_READ, j, b->row);
  if (!last) return;
  b->serving = DRAM_NO_SLOT;
  d->next[s->write ? DRAM_WRITE : DRAM_READ] &= ~(1ull << j);
  d->busy &= ~(1ull << j);
}

static void row(struct dram *d, uint32_t j) {
  const struct dram_timing *tm = &d->tm;
  struct dram_bank *b = &d->bank[j];
  uint64_t t = d->t, bit = 1ull << j;
  if (b->open) {
    note(d, DRAM_PRECHARGE, j, b->row);
    b->open = false;
    later(&b->act_at, t + tm->RP);
    d->next[DRAM_PRECHARGE] &= ~bit;
    expect(d, j, DRAM_ACTIVATE, b->act_at);
    d->env->stats->dram_precharges++;
  } else {
    const struct dram_slot *s = &d->slot[b->serving];
    b->open = true;
    b->row = s->row;
    note(d, DRAM_ACTIVATE, j, b->row);
    d->act_at = t + tm->RRD;
    b->act_at = t + tm->RC;
    b->rd_at = t + tm->RCD;
    b->wr_at = t + tm->RCDW;
    later(&b->pre_at, t + tm->RAS);
    d->next[DRAM_ACTIVATE] &= ~bit;
    expect(d, j, s->write ? DRAM_WRITE : DRAM_READ, s->write ? b->wr_at : b->rd_at);
    d->env->stats->dram_activates++;
  }
  d->prio = j + 1 == d->banks ? 0 : (uint8_t)(j + 1);
}

/* `banks` with bank `from` at bit 0. */
static uint64_t rotated(const struct dram *d, uint64_t banks, uint32_t from) {
  uint64_t all = d->banks == 64 ? UINT64_MAX : (1ull << d->banks) - 1;
  return from ? (banks >> from | banks << (d->banks - from)) & all : banks;
}

/* Banks whose own constraints end with this cycle leave `unripe`. */
static void ripen(struct dram *d) {
  uint32_t slot = d->t % DRAM_RIPE;
  uint64_t banks = d->ripe[slot];
  d->ripe[slot] = 0;
  d->ripe_slots &= ~(1ull << slot);
  for (uint64_t m = banks; m; m &= m - 1) {
    uint32_t j = (uint32_t)__builtin_ctzll(m);
    uint64_t own_at = d->bank[j].own_at;
    if (own_at <= d->t) continue;
    banks &= ~(1ull << j);
    uint64_t again = own_at - d->t < DRAM_RIPE ? own_at % DRAM_RIPE : (d->t - 1) % DRAM_RIPE;
    d->ripe[again] |= 1ull << j;
    d->ripe_slots |= 1ull << again;
  }
  d->unripe &= ~banks;
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

/* Of `cols`, whose column command nothing else holds back, those that the data pipe and their group let go. */
static uint64_t unhindered(const struct dram *d, uint64_t cols, uint64_t *soonest) {
  if (d->pipe_end >= pipe_moved(d) + d->pipe_most) { /* the pipe is full */
    *soonest = d->t + 1;
    return 0;
  }
  if (d->col_at <= d->t) return cols; /* those before it ended before it */
  if (!d->one_group) return cols & ~held_by_group(d, cols, d->group_col_at, soonest);
  if (cols & d->col_banks && d->col_at < *soonest) *soonest = d->col_at;
  return cols & ~d->col_banks;
}

/* Banks of `pre`, precharges that nothing else holds back, that a read of their group does. */
static uint64_t held_by_read(const struct dram *d, uint64_t pre, uint64_t *soonest) {
  if (d->t >= d->pre_at || !pre) return 0;
  if (!d->one_held) return held_by_group(d, pre, d->group_pre_at, soonest);
  if (pre & d->pre_banks && d->pre_at < *soonest) *soonest = d->pre_at;
  return pre & d->pre_banks;
}

static inline uint64_t legal_columns(const struct dram *d, uint64_t *soonest) {
  uint64_t cols =
      (d->next[DRAM_READ] & -(uint64_t)(d->t >= d->rd_at)) | (d->next[DRAM_WRITE] & -(uint64_t)(d->t >= d->wr_at));
  cols &= ~d->unripe;
  return cols ? unhindered(d, cols, soonest) : 0;
}

/* Nothing is legal now, and `soonest` bounds what a group or the pipe holds back: the same for the rest. */
static uint64_t next_issue(const struct dram *d, uint64_t soonest) {
  uint64_t t = d->t, ripe_now = ~d->unripe; /* which of them is first is a toss-up: no branches */
  uint64_t rd = d->rd_at > t && d->next[DRAM_READ] & ripe_now ? d->rd_at : UINT64_MAX;
  uint64_t wr = d->wr_at > t && d->next[DRAM_WRITE] & ripe_now ? d->wr_at : UINT64_MAX;
  uint64_t act = d->act_at > t && d->next[DRAM_ACTIVATE] & ripe_now ? d->act_at : UINT64_MAX;
  wr = wr < act ? wr : act;
  rd = rd < wr ? rd : wr;
  soonest = rd < soonest ? rd : soonest;
  if (!d->ripe_slots) return soonest;
  uint32_t from = (t + 1) % DRAM_RIPE;
  uint64_t ripe = t + 1 + (uint64_t)__builtin_ctzll(d->ripe_slots >> from | d->ripe_slots << (-from % DRAM_RIPE));
  return ripe < soonest ? ripe : soonest;
}

/* After a row command in place `k` of the walk, the first column command further on, if there is one. */
static bool column_after(struct dram *d, uint64_t cols, uint32_t k) {
  uint32_t from = d->prio, n = d->banks;
  uint64_t later_cols = k < 63 ? rotated(d, cols, from) & ~((2ull << k) - 1) : 0;
  if (!later_cols) return false;
  k = (uint32_t)__builtin_ctzll(later_cols);
  column(d, from + k >= n ? from + k - n : from + k);
  return true;
}

static void issue(struct dram *d) {
  uint64_t soonest = UINT64_MAX, t = d->t;
  if (d->ripe_slots >> t % DRAM_RIPE & 1) ripen(d);
  uint64_t cols = legal_columns(d, &soonest), rows = d->next[DRAM_ACTIVATE] & -(uint64_t)(t >= d->act_at);
  rows = (rows | d->next[DRAM_PRECHARGE]) & ~d->unripe;
  rows &= ~held_by_read(d, rows & d->next[DRAM_PRECHARGE], &soonest);
  if (!(cols | rows)) {
    d->issue_at = next_issue(d, soonest);
    return;
  }
  uint32_t n = d->banks, from = d->prio, j = first_from(cols | rows, from);
  if (cols >> j & 1) {
    column(d, j);
    cols = 0; /* CCD holds back what is left of them */
  } else {
    row(d, j);
    rows &= ~(1ull << j);
    /* Only the bank that has just been opened may be new among them. */
    if ((d->next[DRAM_READ] | d->next[DRAM_WRITE]) & ~d->unripe & 1ull << j) cols = legal_columns(d, &soonest);
    if (cols && column_after(d, cols, j >= from ? j - from : j + n - from)) cols = 0;
  }
  rows &= ~(d->next[DRAM_ACTIVATE] & -(uint64_t)(t + 1 < d->act_at));
  d->issue_at = cols | rows ? t + 1 : next_issue(d, soonest);
}

req_id dram_step(struct dram *d) {
  req_id done = 0;
  if (d->t >= d->pop_at || d->returns.count) {
    if (!l2_queue_full(&d->returns)) {
      if (d->t >= d->pop_at) done = pipe_pop(d);
    } else {
      d->stalled++;
      if (d->pipe_count) d->pop_at++;
    }
  }
  uint64_t ready = d->waiting & ~d->busy;
  if (ready) schedule(d, ready);
  if (d->t >= d->issue_at) issue(d);
  d->t++;
  return done;
}

bool dram_idle(const struct dram *d) {
  return !d->pending[0] && !d->pending[1] && !d->busy && !d->pipe_count && !d->returns.count;
}

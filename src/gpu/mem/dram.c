/* dram.c - GDDR5 command timing of one channel, cycle-exact with the reference machine.
 *
 * Order in a command cycle: the burst at the end of the data pipe moves; the scheduler gives at most one idle bank a
 * request; commands are issued. Banks are examined from `prio` on, each for a column command and then for a row
 * command. After a row command only column commands are considered; the row command moves `prio` while the walk
 * continues by index, so the walk jumps. This decides the order of service under load and is reproduced. A row and a
 * column command may thus share a cycle; two of one kind never do.
 */
#include "gpu/mem/dram.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

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
      .to_pre = {(uint16_t)burst, (uint16_t)(c->tWL + burst + c->tWR)},
      .CL = (uint16_t)c->tCL,
      .WL = (uint16_t)c->tWL,
      .BL = (uint16_t)burst,
      .REFI = c->tREFI,
      .RFC = c->tRFC,
      .atom = c->dram_burst * c->dram_bus_bytes * c->dram_chips,
      .banks = (uint8_t)c->dram_banks,
      .groups = (uint8_t)c->dram_groups,
  };
  uint16_t next = d->CCD ? d->CCD : 1; /* two columns never share a cycle */
  d->to_read[0] = d->to_write[1] = next;
  d->to_write[0] = d->RTW > next ? d->RTW : next;
  d->to_read[1] = d->WTR > next ? d->WTR : next;
}

/* Constraints lie at most this many cycles back, and none was ever so far ahead: NONE plus a time stays below all. */
enum { DRAM_ERA = 1 << 29, NONE = -(1 << 30) };

/* True for the default machine: its sets of banks fit a lane, its constraints end within a turn of `ripe`, and no
 * command becomes legal for a bank in the cycle of its previous one. */
static bool is_narrow(const struct dram *d, const struct partition_env *env) {
  const struct dram_timing *tm = &d->tm;
  uint32_t shortest = tm->RP, longest = d->pipe_most + 2u;
  const uint16_t spans[] = {tm->RCD, tm->RCDW, tm->RRD};
  for (uint32_t i = 0; i < sizeof spans / sizeof *spans; i++)
    if (spans[i] < shortest) shortest = spans[i];
  const uint16_t ends[] = {tm->RP, tm->RC, tm->RAS, tm->RCD, tm->RRD, tm->RTW, tm->WTR, tm->to_pre[0], tm->to_pre[1]};
  for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (ends[i] > longest) longest = ends[i];
  return tm->banks == DRAM_NARROW && !(tm->atom & (tm->atom - 1)) && !d->fcfs && !env->hooks && !tm->REFI &&
         d->one_group && d->one_held && shortest && longest < DRAM_RIPE;
}

static struct dram_rules *make_rules(const struct dram_timing *tm) {
  struct dram_rules *r = mem_lines((sizeof *r + 63) / 64 * 64, 1);
  memset(r, 0, sizeof *r);
  for (uint32_t cmd = 0; cmd < 4; cmd++) r->after[cmd].all = r->after[cmd].own = lanes_all(NONE);
  r->after[DRAM_ACTIVATE].all[DRAM_ACTIVATE] = tm->RRD;
  r->after[DRAM_READ].all[DRAM_READ] = tm->to_read[0];
  r->after[DRAM_READ].all[DRAM_WRITE] = tm->to_write[0];
  r->after[DRAM_WRITE].all[DRAM_READ] = tm->to_read[1];
  r->after[DRAM_WRITE].all[DRAM_WRITE] = tm->to_write[1];
  r->after[DRAM_ACTIVATE].own[DRAM_ACTIVATE] = tm->RC;
  r->after[DRAM_ACTIVATE].own[DRAM_PRECHARGE] = tm->RAS;
  r->after[DRAM_ACTIVATE].own[DRAM_READ] = tm->RCD;
  r->after[DRAM_ACTIVATE].own[DRAM_WRITE] = tm->RCDW;
  r->after[DRAM_PRECHARGE].own[DRAM_ACTIVATE] = tm->RP;
  r->after[DRAM_READ].own[DRAM_PRECHARGE] = tm->to_pre[0];
  r->after[DRAM_WRITE].own[DRAM_PRECHARGE] = tm->to_pre[1];
  for (uint32_t write = 0; write < 2; write++) {
    r->hold[write] = lanes_all(NONE);
    r->hold[write][DRAM_READ] = r->hold[write][DRAM_WRITE] = tm->CCDL;
  }
  r->hold[0][DRAM_PRECHARGE] = tm->RTPL;
  r->kept[1][DRAM_PRECHARGE] = -1;
  return r;
}

void dram_init(struct dram *d, const struct partition_env *env) {
  const struct gpu_config *c = env->config;
  *d = (struct dram){.env = env, .fcfs = c->dram_sched == DRAM_FCFS};
  dram_timing_init(&d->tm, c);
  const struct dram_timing *tm = &d->tm;
  CHECK(c->dram_banks <= 64, "%u DRAM banks", c->dram_banks);
  d->banks = tm->banks;
  d->limit = d->fcfs ? 2 : (uint16_t)c->dram_queue; /* in-order service: the reference's input queue of two */
  d->bank = mem_lines(tm->banks, sizeof *d->bank);
  uint32_t longest = (tm->CL > tm->WL ? tm->CL : tm->WL) + 1;
  uint32_t spares = 2u * d->limit + tm->banks + longest + 2;
  CHECK(spares < DRAM_NO_SLOT, "%u requests in a DRAM channel", spares);
  d->spares = (uint16_t)spares;
  d->slot = mem_zeroed(d->spares, sizeof *d->slot);
  d->spare = mem_zeroed(d->spares, sizeof *d->spare);
  for (d->pipe_size = 8; d->pipe_size < longest + 2;) d->pipe_size *= 2;
  d->pipe = mem_zeroed(d->pipe_size, sizeof *d->pipe);
  d->pipe_most = (uint16_t)longest;
  d->one_group = tm->CCDL <= 2 * tm->CCD;
  d->one_held = tm->RTPL <= tm->CCD;
  d->narrow = is_narrow(d, env);
  d->wide = d->narrow ? NULL : mem_zeroed(1, sizeof *d->wide);
  for (uint32_t i = 0; i < d->spares; i++) d->spare[i] = (uint16_t)(d->spares - 1 - i);
  for (uint32_t i = 0; i < tm->banks; i++) {
    d->bank[i] = (struct dram_bank){.serving = DRAM_NO_SLOT, .oldest = DRAM_NO_SLOT, .youngest = DRAM_NO_SLOT};
    d->bank[i].group = (uint8_t)(i % tm->groups); /* neighbouring banks belong to different groups */
    d->bank[i].bit = lanes_all((int32_t)(1u << i % 32));
    for (uint32_t j = i % tm->groups; j < tm->banks && d->narrow; j += tm->groups) d->bank[i].mates |= 1u << j;
    if (d->wide) d->wide->banks[d->bank[i].group] |= 1ull << i;
  }
  if (d->wide) d->wide->groups = tm->groups < tm->banks ? tm->groups : tm->banks;
  d->rules = d->own_rules = make_rules(tm);
  d->pipe_min = tm->CL;
  d->atom_shift = (uint8_t)__builtin_ctz(tm->atom);
  d->issue_at = d->pop_at = UINT64_MAX;
  l2_queue_init(&d->fifo, 0);
  l2_queue_init(&d->returns, c->dram_return_queue);
}

void dram_free(struct dram *d) {
  l2_queue_free(&d->fifo);
  l2_queue_free(&d->returns);
  free(d->bank);
  free(d->wide);
  free(d->own_rules);
  free(d->slot);
  free(d->spare);
  free(d->pipe);
  *d = (struct dram){0};
}

void dram_share(struct dram *d, const struct dram *first) {
  free(d->own_rules);
  d->own_rules = NULL;
  d->rules = first->rules;
}

/* ---- times ---- */

static inline int32_t now_of(const struct dram *d) {
  return (int32_t)(d->t - d->base);
}

/* Set constraints that have ended to those of the new base. */
__attribute__((noinline, cold)) static void new_era(struct dram *d) {
  uint64_t ahead = (d->t - d->base) / DRAM_RIPE * DRAM_RIPE;
  int32_t by = ahead > DRAM_ERA * 2u ? DRAM_ERA * 2 : (int32_t)ahead;
  d->base += ahead;
  d->at = lanes_most(d->at - by, lanes_all(0));
  d->held_at = lanes_most(d->held_at - by, lanes_all(0));
  for (uint32_t i = 0; i < d->banks; i++) d->bank[i].own = lanes_most(d->bank[i].own - by, lanes_all(0));
  for (uint32_t g = 0; d->wide && g < d->wide->groups; g++) {
    int32_t *col_at = &d->wide->col_at[g], *pre_at = &d->wide->pre_at[g];
    *col_at = *col_at > by ? *col_at - by : 0;
    *pre_at = *pre_at > by ? *pre_at - by : 0;
  }
}

/* ---- queues ---- */

__attribute__((always_inline)) inline void dram_push_as(struct dram *d, const struct l2_op *op, bool narrow) {
  const struct req *r = &d->env->pool->at[op->r];
  if (__builtin_expect(d->t - d->base >= DRAM_ERA, 0)) new_era(d); /* no burst is served longer than the rest of it */
  CHECK(d->spares, "no DRAM slot at command cycle %llu for request %u", (unsigned long long)d->t, op->r);
  uint16_t i = d->spare[--d->spares];
  uint32_t bursts =
      narrow ? (op->bytes + (1u << d->atom_shift) - 1) >> d->atom_shift : quotient_up(op->bytes, d->tm.atom);
  uint32_t cls = narrow ? 0 : op->cls;
  struct dram_slot *s = &d->slot[i];
  s->op = *op;
  s->row = r->row;
  s->next = DRAM_NO_SLOT;
  s->bursts = (uint16_t)(bursts ? bursts : 1);
  s->bank = r->bank;
  s->write = r->write;
  s->silent = r->type == REQ_L1_WRITEBACK || r->type == REQ_L2_WRITEBACK;
  d->pending[cls]++;
  d->pushed++;
  if (!narrow && d->fcfs) {
    if (!d->fifo.count) d->waiting = 1ull << r->bank;
    l2_queue_push(&d->fifo, (struct l2_op){.set = i});
    return;
  }
  struct dram_bank *b = &d->bank[r->bank];
  if (b->oldest == DRAM_NO_SLOT) b->oldest = i;
  else d->slot[b->youngest].next = i;
  b->youngest = i;
  d->waiting |= 1ull << r->bank;
  if (narrow || cls) return;
  b->urgent++;
  d->urgent |= 1ull << r->bank;
}

/* ---- sets of banks by command ---- */

static inline lanes lane_of(uint32_t cmd) {
  static const lanes at[4] = {{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}};
  return at[cmd];
}

static inline void drop_request(struct dram *d, const struct dram_bank *b, uint32_t cmd, uint32_t j, bool narrow) {
  if (narrow) d->next &= ~(b->bit & lane_of(cmd));
  else d->wide->next[cmd] &= ~(1ull << j);
}

/* Set the next command of busy bank `j` to `cmd`. Returns the first cycle without a known constraint, if `ripe` covers
 * it; constraints of other banks' commands are added later. */
static inline int32_t expect(struct dram *d, struct dram_bank *b, uint32_t j, uint32_t cmd, bool narrow) {
  int32_t now = now_of(d), own = b->own[cmd], at = d->at[cmd];
  if (at < now) at = now;
  uint64_t ahead = own > at; /* a toss-up */
  if (ahead) at = own;
  if (!narrow && at - now >= DRAM_RIPE) at = now + DRAM_RIPE - 1;
  uint32_t slot = (uint32_t)at % DRAM_RIPE;
  d->ripe_slots |= ahead << slot;
  if (narrow) {
    d->next |= b->bit & lane_of(cmd);
    d->unripe |= (uint32_t)(ahead << j);
    d->ripe[slot] |= (uint16_t)(ahead << j);
  } else {
    struct dram_wide *w = d->wide;
    w->next[cmd] |= 1ull << j;
    w->unripe |= ahead << j;
    w->ripe[slot] |= ahead << j;
    w->cmd[j] = (uint8_t)cmd;
  }
  return at;
}

/* Banks whose own constraints end in this cycle become ripe. */
static inline void ripen_narrow(struct dram *d) {
  uint64_t slot = d->t % DRAM_RIPE;
  d->unripe &= ~(uint32_t)d->ripe[slot];
  d->ripe[slot] = 0;
  d->ripe_slots &= ~(1ull << slot);
}

static void ripen_wide(struct dram *d) {
  struct dram_wide *w = d->wide;
  uint32_t slot = d->t % DRAM_RIPE;
  uint64_t banks = w->ripe[slot];
  w->ripe[slot] = 0;
  w->unripe &= ~banks;
  d->ripe_slots &= ~(1ull << slot);
  for (uint64_t m = banks; m; m &= m - 1) {
    uint32_t j = (uint32_t)__builtin_ctzll(m);
    expect(d, &d->bank[j], j, w->cmd[j], false);
  }
}

/* ---- scheduler ---- */

/* Select the next request of a bank: of the most urgent class, the oldest to the last opened row, else the oldest.
 * Also returns its predecessor in the queue. */
static inline uint16_t pick_request(const struct dram *d, const struct dram_bank *b, uint16_t *before, bool narrow) {
  uint8_t cls = b->urgent ? 0 : 1;
  uint16_t prev = DRAM_NO_SLOT, best = DRAM_NO_SLOT;
  for (uint16_t i = b->oldest; i != DRAM_NO_SLOT; prev = i, i = d->slot[i].next) {
    if (!narrow && d->slot[i].op.cls != cls) continue;
    bool open = d->slot[i].row == b->row;
    if (best == DRAM_NO_SLOT || open) {
      best = i;
      *before = prev;
    }
    if (open) break;
  }
  return best;
}

/* Per-bank refresh (JESD238, REFpb): bank j is refreshed in command cycles j / banks * REFI + k * REFI. A bank that
 * serves a request then puts it off, which costs no time here; the next request finds its row closed. */
static void refresh(struct dram *d, struct dram_bank *b, uint32_t j) {
  uint64_t first = (uint64_t)j * d->tm.REFI / d->banks;
  if (d->t < first) return;
  uint32_t n = (uint32_t)((d->t - first) / d->tm.REFI) + 1;
  uint64_t end = first + (n - 1ull) * d->tm.REFI + d->tm.RFC;
  if (n == b->refreshes) return;
  b->refreshes = n;
  b->open = false;
  if (end > d->t) b->own = lanes_most(b->own, lanes_all((int32_t)(end - d->base)));
}

static inline void serve(struct dram *d, uint32_t j, uint16_t i, bool narrow) {
  struct dram_bank *b = &d->bank[j];
  const struct dram_slot *s = &d->slot[i];
  if (!narrow && d->tm.REFI) refresh(d, b, j);
  bool hit = b->open && b->row == s->row;
  uint32_t column = s->write ? DRAM_WRITE : DRAM_READ, row = b->open ? DRAM_PRECHARGE : DRAM_ACTIVATE;
  b->serving = i;
  b->wanted = s->row;
  b->left = s->bursts;
  b->write = s->write;
  d->busy |= 1ull << j;
  d->pending[narrow ? 0 : s->op.cls]--;
  d->hits += hit;
  uint64_t at = d->base + (uint32_t)expect(d, b, j, hit ? column : row, narrow);
  d->issue_at = at < d->issue_at ? at : d->issue_at;
}

/* The bank examined first after bank `j`. */
static inline uint8_t after(const struct dram *d, uint32_t j, bool narrow) {
  if (narrow) return (j + 1) % DRAM_NARROW;
  return j + 1 == d->banks ? 0 : (uint8_t)(j + 1);
}

/* `banks` of DRAM_NARROW with bank `from` at bit 0. */
static inline uint32_t rotated16(uint32_t banks, uint32_t from) {
  return (banks | banks << DRAM_NARROW) >> from & ((1u << DRAM_NARROW) - 1);
}

/* The first set bit from `from` on, in rotation over the banks; mask must not be 0. */
static inline uint32_t first_from(uint64_t mask, uint32_t from, bool narrow) {
  if (narrow) return (from + (uint32_t)__builtin_ctz(rotated16((uint32_t)mask, from))) % DRAM_NARROW;
  uint64_t high = mask >> from << from;
  return (uint32_t)__builtin_ctzll(high ? high : mask);
}

/* `idle`: banks with waiting requests and none in service; not empty. */
static inline void schedule(struct dram *d, uint64_t idle, bool narrow) {
  if (!narrow && d->fcfs) {
    uint16_t i = (uint16_t)l2_queue_pop(&d->fifo).set;
    serve(d, d->slot[i].bank, i, false);
    d->waiting = d->fifo.count ? 1ull << d->slot[l2_queue_top(&d->fifo)->set].bank : 0;
    return;
  }
  if (!narrow && idle & d->urgent) idle &= d->urgent;
  uint32_t j = first_from(idle, d->prio, narrow);
  struct dram_bank *b = &d->bank[j];
  uint16_t i = b->oldest;
  if (i == b->youngest) { /* usually no other waits */
    b->oldest = b->youngest = DRAM_NO_SLOT;
    d->waiting &= ~(1ull << j);
  } else {
    uint16_t before = DRAM_NO_SLOT;
    i = pick_request(d, b, &before, narrow);
    if (before == DRAM_NO_SLOT) b->oldest = d->slot[i].next;
    else d->slot[before].next = d->slot[i].next;
    if (b->youngest == i) b->youngest = before;
  }
  if (!narrow && !d->slot[i].op.cls && !--b->urgent) d->urgent &= ~(1ull << j);
  d->prio = after(d, d->prio, narrow);
  serve(d, j, i, narrow);
}

/* ---- data pipe ---- */

/* Moves of the pipe so far, this step's included. */
static inline uint64_t pipe_moved(const struct dram *d) {
  return d->t + 1 - d->stalled;
}

static void pipe_turn(struct dram *d, bool write) {
  uint64_t moved = pipe_moved(d), longer = moved + (write ? d->tm.WL : d->tm.CL);
  bool above = d->pipe_end > longer || moved + d->pipe_min > longer;
  d->writing = write;
  d->pipe_min = write ? d->tm.WL : d->tm.CL;
  /* To lengthen, add empty places; to shorten, remove empty places at the end. Those before the last burst stay. */
  d->pipe_end = above ? d->pipe_last_due : 0;
}

/* The last place takes the burst if it is empty, else a place is added. */
static inline void pipe_push(struct dram *d, uint16_t slot, bool last) {
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

static inline req_id pipe_pop(struct dram *d) {
  uint16_t i = d->pipe[d->pipe_head].slot;
  d->pipe_head = (d->pipe_head + 1) & (d->pipe_size - 1);
  d->pop_at = --d->pipe_count ? d->pipe[d->pipe_head].due + d->stalled - 1 : UINT64_MAX;
  struct dram_slot *s = &d->slot[i];
  d->spare[d->spares++] = i;
  if (s->silent) return s->op.r;
  l2_queue_push(&d->returns, s->op);
  return 0;
}

/* The return queue is full: the pipe does not move. Only a column command can follow then. */
static void pipe_stall(struct dram *d) {
  d->stalled++;
  if (d->pipe_count) d->pop_at++;
  uint64_t room_at = d->pipe_end + d->stalled - d->pipe_most;
  if (d->pipe_end + d->stalled < d->t + d->pipe_most) return;
  for (uint32_t cmd = DRAM_READ; cmd <= DRAM_WRITE; cmd++)
    if (d->at[cmd] < (int32_t)(room_at - d->base)) d->at[cmd] = (int32_t)(room_at - d->base);
}

/* ---- commands ---- */

static inline void note_command(struct dram *d, enum dram_command cmd, uint32_t bank, uint32_t row) {
  if (__builtin_expect(d->watch != NULL, 0)) d->watch(d->watch_ctx, d->t, cmd, bank, row);
}

static inline void constrain(struct dram *d, struct dram_bank *b, uint32_t cmd) {
  lanes now = lanes_all(now_of(d));
  d->at = lanes_most(d->at, now + d->rules->after[cmd].all);
  b->own = lanes_most(b->own, now + d->rules->after[cmd].own);
}

static inline void column(struct dram *d, uint32_t j, bool narrow) {
  struct dram_bank *b = &d->bank[j];
  const struct dram_rules *r = d->rules;
  bool write = b->write;
  enum dram_command cmd = write ? DRAM_WRITE : DRAM_READ;
  if (d->writing != write) pipe_turn(d, write);
  bool last = !--b->left;
  pipe_push(d, b->serving, last);
  constrain(d, b, cmd);
  d->held_at = lanes_most(d->held_at, lanes_all(now_of(d)) + r->hold[write]);
  if (narrow) {
    lanes mates = lanes_all((int32_t)b->mates) & ~lane_of(DRAM_ACTIVATE);
    d->held = lanes_choose(r->kept[write], d->held, mates);
  } else {
    struct dram_wide *w = d->wide;
    w->held[DRAM_READ] = w->held[DRAM_WRITE] = w->banks[b->group];
    w->col_at[b->group] = d->held_at[DRAM_READ];
    if (!write) w->held[DRAM_PRECHARGE] = w->banks[b->group];
    if (!write) w->pre_at[b->group] = d->held_at[DRAM_PRECHARGE];
  }
  d->columns[write]++;
  note_command(d, cmd, j, b->row);
  if (!last) return;
  b->serving = DRAM_NO_SLOT;
  drop_request(d, b, cmd, j, narrow);
  d->busy &= ~(1ull << j);
}

static inline void row(struct dram *d, uint32_t j, bool narrow) {
  struct dram_bank *b = &d->bank[j];
  bool open = b->open;
  enum dram_command cmd = open ? DRAM_PRECHARGE : DRAM_ACTIVATE, column = b->write ? DRAM_WRITE : DRAM_READ;
  note_command(d, cmd, j, open ? b->row : b->wanted);
  b->open = !open;
  b->row = b->wanted; /* no request for the old row remains */
  constrain(d, b, cmd);
  drop_request(d, b, cmd, j, narrow);
  d->rows[open]++;
  expect(d, b, j, open ? DRAM_ACTIVATE : column, narrow);
  d->prio = after(d, j, narrow);
}

/* As rotated16, for any number. */
static inline uint64_t rotated(const struct dram *d, uint64_t banks, uint32_t from) {
  uint64_t all = d->banks == 64 ? UINT64_MAX : (1ull << d->banks) - 1;
  return from ? (banks >> from | banks << (d->banks - from)) & all : banks;
}

/* After a row command in place `k` of the walk: the first later column command, if any. */
static inline void column_after(struct dram *d, uint64_t cols, uint32_t k, bool narrow) {
  uint32_t from = d->prio, n = narrow ? DRAM_NARROW : d->banks;
  uint64_t later_cols = narrow ? rotated16((uint32_t)cols, from) : rotated(d, cols, from);
  later_cols &= k < 63 ? ~((2ull << k) - 1) : 0;
  if (!later_cols) return;
  k = (uint32_t)__builtin_ctzll(later_cols);
  column(d, from + k >= n ? from + k - n : from + k, narrow);
}

/* Of all banks, those whose group delays command `cmd`: `one`: the last such group; else `each` has a time per group.
 */
static uint64_t held_by_group(const struct dram *d, uint32_t cmd, bool one, const int32_t *each) {
  const struct dram_wide *w = d->wide;
  int32_t now = now_of(d);
  if (one) return now < d->held_at[cmd] ? w->held[cmd] : 0;
  uint64_t held = 0;
  for (uint32_t g = 0; g < w->groups; g++)
    if (now < each[g]) held |= w->banks[g];
  return held;
}

/* Banks whose next command is `cmd`, delayed at most by their groups. */
static uint64_t wide_next(const struct dram *d, uint32_t cmd) {
  return now_of(d) < d->at[cmd] ? 0 : d->wide->next[cmd] & ~d->wide->unripe;
}

static uint64_t legal_wide_columns(const struct dram *d) {
  uint64_t cols = wide_next(d, DRAM_READ) | wide_next(d, DRAM_WRITE);
  return cols ? cols & ~held_by_group(d, DRAM_READ, d->one_group, d->wide->col_at) : 0;
}

/* The legal commands of `rows` and `cols`, sets of banks. */
static inline void command(struct dram *d, uint64_t rows, uint64_t cols, bool narrow) {
  uint32_t n = narrow ? DRAM_NARROW : d->banks, from = d->prio, j = first_from(cols | rows, from, narrow);
  if (cols >> j & 1) {
    column(d, j, narrow);
    return;
  }
  row(d, j, narrow);
  if (!narrow) cols = legal_wide_columns(d); /* the bank just opened may be new among them */
  if (cols) column_after(d, cols, j >= from ? j - from : j + n - from, narrow);
}

/* ---- what is legal now, and when ---- */

/* `first`: first cycle in which a ready bank may have a command; INT32_MAX: none. Other banks become ready. */
static inline void issue_again(struct dram *d, int32_t first) {
  uint64_t next = d->t + 1, at = d->base + (uint32_t)first;
  at = at < next ? next : first == INT32_MAX ? UINT64_MAX : at;
  if (d->ripe_slots) {
    uint32_t from = next % DRAM_RIPE;
    uint64_t ripe = next + (uint64_t)__builtin_ctzll(d->ripe_slots >> from | d->ripe_slots << (-from % DRAM_RIPE));
    at = ripe < at ? ripe : at;
  }
  d->issue_at = at;
}

/* Branch-free: which constraint ends first, and when, is unpredictable. */
static inline void issue_narrow(struct dram *d) {
  ripen_narrow(d);
  lanes now = lanes_all(now_of(d));
  lanes legal = d->next & ~(lanes_all((int32_t)d->unripe) | (d->at > now) | (d->held & (d->held_at > now)));
  uint64_t low, high;
  memcpy(&low, &legal, sizeof low);
  memcpy(&high, (const char *)&legal + sizeof low, sizeof high);
  if (low | high) command(d, (uint32_t)(low | low >> 32), (uint32_t)(high | high >> 32), true);
  lanes ready = d->next & ~lanes_all((int32_t)d->unripe), held = (ready & ~d->held) == 0, none = ready == 0;
  lanes at = lanes_most(d->at, d->held_at & held);
  issue_again(d, lanes_first(at | (none & INT32_MAX)));
}

/* The first cycle in which a group releases one of `banks`. */
static int32_t let_go_at(const struct dram *d, uint64_t banks, uint32_t cmd, bool one, const int32_t *each) {
  const struct dram_wide *w = d->wide;
  if (one) return banks & ~w->held[cmd] ? 0 : d->held_at[cmd];
  int32_t first = INT32_MAX;
  for (uint32_t g = 0; g < w->groups; g++)
    if (banks & w->banks[g] && each[g] < first) first = each[g];
  return first;
}

static int32_t wide_again(const struct dram *d) {
  const struct dram_wide *w = d->wide;
  uint64_t act = w->next[DRAM_ACTIVATE] & ~w->unripe, pre = w->next[DRAM_PRECHARGE] & ~w->unripe;
  uint64_t rd = w->next[DRAM_READ] & ~w->unripe, wr = w->next[DRAM_WRITE] & ~w->unripe;
  int32_t first = act ? d->at[DRAM_ACTIVATE] : INT32_MAX;
  if (rd | wr) {
    int32_t at = let_go_at(d, rd | wr, DRAM_READ, d->one_group, w->col_at), all = INT32_MAX;
    if (rd) all = d->at[DRAM_READ];
    if (wr && d->at[DRAM_WRITE] < all) all = d->at[DRAM_WRITE];
    if (at < all) at = all;
    if (at < first) first = at;
  }
  if (!pre) return first;
  int32_t at = let_go_at(d, pre, DRAM_PRECHARGE, d->one_held, w->pre_at);
  return at < first ? at : first;
}

static void issue_wide(struct dram *d) {
  ripen_wide(d);
  uint64_t cols = legal_wide_columns(d), rows = wide_next(d, DRAM_ACTIVATE), pre = wide_next(d, DRAM_PRECHARGE);
  if (pre) rows |= pre & ~held_by_group(d, DRAM_PRECHARGE, d->one_held, d->wide->pre_at);
  if (cols | rows) command(d, rows, cols, false);
  issue_again(d, wide_again(d));
}

req_id dram_move(struct dram *d) {
  if (l2_queue_full(&d->returns)) pipe_stall(d);
  else if (d->t >= d->pop_at) return pipe_pop(d);
  return 0;
}

__attribute__((always_inline)) inline void dram_work_as(struct dram *d, bool narrow) {
  uint64_t idle = d->waiting & ~d->busy;
  if (idle) schedule(d, idle, narrow);
  if (d->t >= d->issue_at) {
    if (narrow) issue_narrow(d);
    else issue_wide(d);
  }
  d->t++;
}

void dram_count(struct dram *d) {
  struct gpu_stats *st = d->env->stats;
  uint64_t reads = d->columns[0], writes = d->columns[1];
  st->dram_reads += reads;
  st->dram_writes += writes;
  st->dram_read_bytes += reads * d->tm.atom;
  st->dram_write_bytes += writes * d->tm.atom;
  st->dram_busy_cycles += (reads + writes) * d->tm.BL;
  st->dram_activates += d->rows[0];
  st->dram_precharges += d->rows[1];
  st->dram_requests += d->pushed;
  st->dram_row_hits += d->hits;
  d->pushed = d->hits = d->columns[0] = d->columns[1] = d->rows[0] = d->rows[1] = 0;
}

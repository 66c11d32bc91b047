/* partition.c - the memory channels: sub-partitions, their arbitration for DRAM, the fixed delay, the DRAM channel.
 *
 * Credits bound what a channel has accepted and not yet returned: one private credit per sub-partition keeps each of
 * them moving, the rest are shared. Order of work in a DRAM command cycle: a return enters its sub-partition's queue;
 * the DRAM works; one request moves into the fixed delay; one leaves it for the DRAM queue.
 */
#include "gpu/mem/partition.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/err.h"
#include "base/mem.h"
#include "gpu/mem/addrmap.h"
#include "gpu/mem/dram.h"
#include "gpu/mem/l2.h"

struct channel {
  _Alignas(64) uint64_t enter[2]; /* per class: command cycle before which the head of `delay` cannot enter */
  uint16_t wanted;                /* requests offered by its sub-partitions */
  uint8_t private_used;           /* bit per sub-partition */
  uint8_t last;                   /* sub-partition served last */
  uint16_t shared_used, shared_limit;
  struct l2_queue delay[2]; /* per class; op.at: core cycle in which it may enter the DRAM queue */
  struct dram dram;
  uint64_t cycles; /* DRAM cycles already counted */
};

/* Units of one clock, whose time is `ticks`; a unit's state may lag behind it. Unit i has no event before tick at[i].
 * The low half of at[i] is stored, so that four are compared at once; idle units cost nothing. NEVER: until disturbed,
 * or for some thousand million ticks. */
enum { NEVER = INT32_MAX, LANES = 4 };
typedef uint32_t ticks_vec __attribute__((vector_size(4 * LANES), may_alias));
struct clocked {
  uint64_t ticks;
  uint32_t *at; /* room for a multiple of 64 */
  uint32_t n, words;
};

struct partition_set {
  struct partition_env env;
  struct addrmap map;
  uint32_t channels, per_channel;
  uint16_t *home; /* channel of each sub-partition */
  struct channel *channel;
  struct l2_slice *slice;
  struct clocked l2, dram;
  bool narrow, baseline;          /* as in the channels, in the sub-partitions */
  uint64_t *replies;              /* set of sub-partitions with a reply */
  struct partition_env *unit_env; /* of units with their own counters: sub-partitions, then channels; else NULL */
};

static void clocked_init(struct clocked *k, uint32_t n) {
  *k = (struct clocked){.n = n, .words = (n + 63) / 64};
  k->at = mem_lines((size_t)k->words * 64 * sizeof *k->at, 1);
  memset(k->at, 0, (size_t)k->words * 64 * sizeof *k->at);
}

/* Ticks until unit `i` is due; <= 0: now. */
static inline int32_t ahead(const struct clocked *k, uint32_t i) {
  return (int32_t)(k->at[i] - (uint32_t)k->ticks);
}

/* Unit `i`, at time `now`, has no event before its time `wake` (UINT64_MAX: until disturbed). */
static inline void sleeps(struct clocked *k, uint32_t i, uint64_t now, uint64_t wake) {
  k->at[i] = (uint32_t)wake;
  if (__builtin_expect(wake - now > NEVER / 4, 0))
    k->at[i] = (uint32_t)k->ticks + (wake == UINT64_MAX ? NEVER : NEVER / 4);
}

static inline void disturb(struct clocked *k, uint32_t i) {
  k->at[i] = (uint32_t)k->ticks;
}

/* Bit per lane: the top bit. */
static inline uint32_t signs(ticks_vec v) {
#ifdef __SSE2__
  return (uint32_t)_mm_movemask_ps((__m128)v);
#else
  uint32_t m = 0;
  for (uint32_t i = 0; i < LANES; i++) m |= v[i] >> 31 << i;
  return m;
#endif
}

/* The units of word `w` that are due. */
static inline uint64_t due(const struct clocked *k, uint32_t w) {
  uint64_t m = 0;
  uint32_t n = k->n - w * 64 < 64 ? k->n - w * 64 : 64;
  ticks_vec after = (ticks_vec){0} + (uint32_t)(k->ticks + 1);
  for (uint32_t i = 0; i < n; i += LANES) m |= (uint64_t)signs(*(const ticks_vec *)&k->at[w * 64 + i] - after) << i;
  return n < 64 ? m & ((1ull << n) - 1) : m;
}

static uint32_t quiet(const struct clocked *k, uint32_t i) {
  int32_t n = ahead(k, i);
  return n <= 0 ? 0 : n >= NEVER / 2 ? UINT32_MAX : (uint32_t)n;
}

/* The least of all; may be too small. */
static uint32_t all_quiet(const struct clocked *k) {
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i < k->n && least; i++) {
    uint32_t n = quiet(k, i);
    if (n < least) least = n;
  }
  return least;
}

/* Apply skipped steps to the unit before any other operation. */
static inline struct l2_slice *slice_now(struct partition_set *p, uint32_t s) {
  struct l2_slice *l = &p->slice[s];
  l2_skip_to(l, p->l2.ticks);
  return l;
}

/* The same for a channel, whose cycles are counted here. */
static void channel_now(struct partition_set *p, uint32_t c) {
  struct channel *ch = &p->channel[c];
  ch->dram.t = p->dram.ticks;
  ch->dram.env->stats->dram_cycles += ch->dram.t - ch->cycles;
  ch->cycles = ch->dram.t;
  dram_count(&ch->dram);
}

struct partition_set *partition_new(const struct partition_env *env) {
  const struct gpu_config *c = env->config;
  struct partition_set *p = mem_zeroed(1, sizeof *p);
  p->env = *env;
  struct err e = {0};
  CHECK(addrmap_init(&p->map, c, &e), "%s", e.msg);
  p->channels = c->channels;
  p->per_channel = c->subparts;
  p->channel = mem_lines(p->channels * sizeof *p->channel, 1);
  p->slice = mem_lines(p->channels * p->per_channel * sizeof *p->slice, 1);
  clocked_init(&p->l2, p->channels * p->per_channel);
  clocked_init(&p->dram, p->channels);
  p->replies = mem_zeroed((p->channels * p->per_channel + 63) / 64, sizeof *p->replies);
  p->env.full = mem_zeroed((p->channels * p->per_channel + 63) / 64, sizeof *p->env.full);
  p->home = mem_zeroed(p->channels * p->per_channel, sizeof *p->home);
  for (uint32_t i = 0; i < p->channels * p->per_channel; i++) p->home[i] = (uint16_t)(i / p->per_channel);
  for (uint32_t i = 0; i < p->channels; i++) {
    struct channel *ch = &p->channel[i];
    *ch = (struct channel){0};
    dram_init(&ch->dram, &p->env);
    if (i) dram_share(&ch->dram, &p->channel[0].dram);
    ch->enter[0] = ch->enter[1] = UINT64_MAX;
    l2_queue_init(&ch->delay[0], 0);
    l2_queue_init(&ch->delay[1], 0);
    ch->shared_limit = (uint16_t)(c->dram_queue + c->dram_return_queue - (p->per_channel - 1));
    ch->last = (uint8_t)(p->per_channel - 1);
  }
  p->narrow = p->channel[0].dram.narrow;
  for (uint32_t i = 0; i < p->channels * p->per_channel; i++) l2_init(&p->slice[i], &p->env, &p->map, i);
  p->baseline = p->slice[0].baseline;
  return p;
}

void partition_free(struct partition_set *p) {
  if (!p) return;
  for (uint32_t i = 0; i < p->channels; i++) {
    dram_free(&p->channel[i].dram);
    l2_queue_free(&p->channel[i].delay[0]);
    l2_queue_free(&p->channel[i].delay[1]);
  }
  for (uint32_t i = 0; i < p->channels * p->per_channel; i++) l2_free(&p->slice[i]);
  free(p->channel);
  free(p->slice);
  free(p->l2.at);
  free(p->dram.at);
  free(p->replies);
  free(p->env.full);
  free(p->home);
  free(p->unit_env);
  free(p);
}

void partition_split_stats(struct partition_set *p, struct gpu_stats *subpart, struct gpu_stats *channel) {
  uint32_t slices = p->channels * p->per_channel;
  CHECK(!p->unit_env, "counters split twice");
  p->unit_env = mem_zeroed(slices + p->channels, sizeof *p->unit_env);
  for (uint32_t i = 0; i < slices + p->channels; i++) {
    p->unit_env[i] = p->env;
    p->unit_env[i].stats = i < slices ? &subpart[i] : &channel[i - slices];
    if (i < slices) p->slice[i].env = &p->unit_env[i];
    else p->channel[i - slices].dram.env = &p->unit_env[i];
  }
}

void partition_listen(struct partition_set *p, const struct mem_listener *l) {
  p->env.listener = *l;
  for (uint32_t i = 0; p->unit_env && i < p->channels * (p->per_channel + 1); i++) p->unit_env[i].listener = *l;
  for (uint32_t i = 0; i < p->channels * p->per_channel; i++)
    p->baseline = p->slice[i].baseline = l2_is_baseline(&p->slice[i]);
}

void partition_locate(const struct partition_set *p, struct req *r) {
  addrmap_route(&p->map, r);
}

void partition_watch_dram(struct partition_set *p, uint32_t c,
                          void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row),
                          void *ctx) {
  p->channel[c].dram.watch = watch;
  p->channel[c].dram.watch_ctx = ctx;
}

/* ---- interconnect side ---- */

bool partition_can_push(struct partition_set *p, uint32_t s) {
  const struct l2_slice *l = &p->slice[s];
  if (l2_can_push(l)) return true;
  if (!l->ports) p->env.full[s / 64] |= 1ull << (s % 64); /* until a request leaves its queue */
  return false;
}

__attribute__((flatten)) void partition_push(struct partition_set *p, uint32_t s, req_id r) {
  struct l2_slice *l = &p->slice[s];
  if (l2_joins(l, r)) { /* it queues behind others: no earlier event */
    l2_push(l, r);
    return;
  }
  slice_now(p, s);
  l2_push(l, r);
  sleeps(&p->l2, s, l->t, l->wake > l->t ? l->wake : l->t);
}

req_id partition_top(struct partition_set *p, uint32_t s) {
  const struct l2_queue *q = &p->slice[s].out;
  return q->count ? l2_queue_top(q)->r : 0;
}

req_id partition_pop(struct partition_set *p, uint32_t s) {
  req_id r = l2_queue_pop(&p->slice[s].out).r;
  if (!p->slice[s].out.count) p->replies[s / 64] &= ~(1ull << (s % 64));
  if (p->env.pool->at[r].atomic && p->env.atomic) p->env.atomic(p->env.ctx, r);
  return r;
}

/* ---- L2 clock ---- */

static bool closed(const struct partition_set *p, const struct channel *ch);

static inline void step_slice(struct partition_set *p, uint32_t s, uint64_t now, bool baseline) {
  struct l2_slice *l = slice_now(p, s);
  uint16_t offered = l->to_dram.count;
  l2_step_as(l, now, baseline);
  sleeps(&p->l2, s, l->t, l->wake);
  if (l->out.count) p->replies[s / 64] |= 1ull << (s % 64);
  if (l->to_dram.count == offered) return;
  uint32_t c = p->home[s];
  struct channel *ch = &p->channel[c];
  ch->wanted = (uint16_t)(ch->wanted + l->to_dram.count - offered);
  if (ahead(&p->dram, c) > 0 && !closed(p, ch)) disturb(&p->dram, c);
}

/* Step the units of set `m` of word `w`. The steps are inlined: calls would cost as much as the work. */
__attribute__((flatten, noinline)) static void step_slices(struct partition_set *p, uint32_t w, uint64_t m) {
  uint64_t now = *p->env.now;
  for (; m; m &= m - 1) step_slice(p, w * 64 + (uint32_t)__builtin_ctzll(m), now, false);
}
__attribute__((flatten, noinline)) static void step_slices_lines(struct partition_set *p, uint32_t w, uint64_t m) {
  uint64_t now = *p->env.now;
  for (; m; m &= m - 1) step_slice(p, w * 64 + (uint32_t)__builtin_ctzll(m), now, true);
}

void partition_tick_l2(struct partition_set *p) {
  for (uint32_t w = 0; w < p->l2.words; w++) {
    uint64_t m = due(&p->l2, w);
    if (!m) continue;
    if (p->baseline) step_slices_lines(p, w, m);
    else step_slices(p, w, m);
  }
  p->l2.ticks++;
}

uint32_t partition_all_quiet_l2(const struct partition_set *p) {
  return all_quiet(&p->l2);
}

void partition_skip_all_l2(struct partition_set *p, uint64_t steps) {
  p->l2.ticks += steps;
}

double partition_input_fill(struct partition_set *p, uint32_t s) {
  const struct l2_slice *l = slice_now(p, s);
  uint64_t area = l->waited;
  uint32_t room = 0;
  for (uint32_t b = 0; b < l->banks; b++) {
    const struct l2_queue *q = &l->bank[b].in;
    room += q->limit;
    for (uint32_t i = 0; i < q->count; i++) area += l->t - q->at[(q->head + i) & q->mask].at;
  }
  return (double)area / room;
}

/* ---- DRAM clock ---- */

static bool has_credit(const struct channel *ch, uint32_t sub) {
  return !(ch->private_used >> sub & 1) || ch->shared_used < ch->shared_limit;
}

static void borrow(struct channel *ch, uint32_t sub) {
  if (!(ch->private_used >> sub & 1)) ch->private_used |= (uint8_t)(1u << sub);
  else ch->shared_used++;
  ch->last = (uint8_t)sub;
}

static void give_back(struct channel *ch, uint32_t sub) {
  if (ch->private_used >> sub & 1) ch->private_used &= (uint8_t) ~(1u << sub);
  else ch->shared_used--;
}

static void take_returned(struct partition_set *p, struct channel *ch, uint32_t c) {
  struct l2_op *op = l2_queue_top(&ch->dram.returns);
  uint32_t sub = c * p->per_channel + op->sub;
  if (!l2_can_return(&p->slice[sub], op)) return;
  l2_return(slice_now(p, sub), *op);
  disturb(&p->l2, sub);
  struct l2_op taken = l2_queue_pop(&ch->dram.returns);
  give_back(ch, taken.sub);
}

static uint32_t request_class(const struct partition_set *p, const struct l2_op *op) {
  const struct mem_hooks *h = p->env.hooks;
  return h && h->dram_class ? h->dram_class(h->ctx, &p->env.pool->at[op->r]) != 0 : 0;
}

/* True if no request from a sub-partition can be accepted: then only the DRAM can change that. */
static bool closed(const struct partition_set *p, const struct channel *ch) {
  return dram_full(&ch->dram, 0) && (!p->env.hooks || dram_full(&ch->dram, 1));
}

/* The command cycle before which the request at the head of the fixed delay cannot enter the DRAM queue. */
static uint64_t enters_at(const struct partition_set *p, const struct channel *ch, uint32_t cls) {
  const struct partition_env *e = &p->env;
  uint64_t ready = l2_queue_top(&ch->delay[cls])->at, now = *e->now;
  if (ready <= now) return ch->dram.t - 1; /* still in this cycle */
  if (e->core_edge) {
    /* The core edge at which it is ready, relative to the current command cycle. */
    uint64_t away = *e->core_edge + (ready - now - 1) * e->core_period - *e->dram_edge;
    uint64_t steps = away >> 32 ? away / e->dram_period : (uint32_t)away / (uint32_t)e->dram_period;
    return ch->dram.t - 1 + steps + (steps * e->dram_period < away);
  }
  uint64_t steps = l2_steps_before(ready - now, e->config->dram_mhz, e->config->core_mhz);
  return ch->dram.t + (steps ? steps - 1 : 0);
}

/* One request from a sub-partition into the fixed delay, starting after the one served last. */
static inline void accept(struct partition_set *p, struct channel *ch, struct l2_slice *slices, bool narrow) {
  if (narrow ? dram_full(&ch->dram, 0) : closed(p, ch)) return;
  for (uint32_t k = 1; k <= p->per_channel; k++) {
    uint32_t sub = ch->last + k >= p->per_channel ? ch->last + k - p->per_channel : ch->last + k;
    struct l2_slice *s = &slices[sub];
    if (!s->to_dram.count || !has_credit(ch, sub) || !l2_can_return(s, l2_queue_top(&s->to_dram))) continue;
    uint32_t cls = narrow ? 0 : request_class(p, l2_queue_top(&s->to_dram));
    if (!narrow && dram_full(&ch->dram, cls)) continue; /* the other class may have room */
    if (l2_queue_full(&s->to_dram)) {
      uint32_t id = (uint32_t)(s - p->slice);
      slice_now(p, id);
      disturb(&p->l2, id);
    }
    struct l2_op op = l2_take(s);
    ch->wanted--;
    op.at = *p->env.now + p->env.config->dram_delay;
    op.cls = (uint8_t)cls;
    op.sub = sub;
    l2_queue_push(&ch->delay[cls], op);
    if (ch->delay[cls].count == 1) ch->enter[cls] = enters_at(p, ch, cls);
    borrow(ch, sub);
    return;
  }
}

/* One request whose fixed delay is over enters the DRAM queue of its class. */
static inline void enter_dram(struct partition_set *p, struct channel *ch, bool narrow) {
  for (uint32_t cls = 0; cls < (narrow ? 1 : 2); cls++) {
    struct l2_queue *q = &ch->delay[cls];
    if ((!narrow && ch->dram.t <= ch->enter[cls]) || dram_full(&ch->dram, cls)) continue;
    if (*p->env.now < l2_queue_top(q)->at) {
      ch->enter[cls] = ch->dram.t;
      continue;
    }
    struct l2_op op = l2_queue_pop(q);
    dram_push_as(&ch->dram, &op, narrow);
    ch->enter[cls] = q->count ? enters_at(p, ch, cls) : UINT64_MAX;
    return;
  }
}

/* Cycle before which the channel is idle. A request that is ready to enter waits for room, which only the DRAM frees;
 * one offered by a sub-partition also needs room. Few branches: which is first is unpredictable. */
static inline uint64_t wake_at(const struct partition_set *p, const struct channel *ch, bool narrow) {
  const struct dram *d = &ch->dram;
  uint64_t at = d->issue_at < d->pop_at ? d->issue_at : d->pop_at;
  for (uint32_t cls = 0; cls < (narrow ? 1 : 2); cls++) {
    uint64_t enter = ch->enter[cls] < d->t && dram_full(d, cls) ? UINT64_MAX : ch->enter[cls];
    at = enter < at ? enter : at;
  }
  bool room = narrow ? !dram_full(d, 0) : !closed(p, ch);
  uint64_t now = d->returns.count | (d->waiting & ~d->busy) | (ch->wanted != 0 && room);
  return now || at < d->t ? d->t : at;
}

static inline void step_channel(struct partition_set *p, uint32_t c, bool narrow) {
  struct channel *ch = &p->channel[c];
  struct dram *d = &ch->dram;
  d->t = p->dram.ticks;
  if (dram_moves(d)) {
    if (d->returns.count) take_returned(p, ch, c);
    req_id written = dram_move(d);
    if (written) {
      give_back(ch, p->env.pool->at[written].subpart - c * p->per_channel);
      req_free(p->env.pool, written);
    }
  }
  dram_work_as(d, narrow);
  if (ch->wanted) accept(p, ch, &p->slice[c * p->per_channel], narrow);
  if (d->t > ch->enter[0] || (!narrow && d->t > ch->enter[1])) enter_dram(p, ch, narrow);
  sleeps(&p->dram, c, d->t, wake_at(p, ch, narrow));
}

/* As step_slices, for channels. */
__attribute__((flatten, noinline)) static void step_channels(struct partition_set *p, uint32_t w, uint64_t m) {
  for (; m; m &= m - 1) step_channel(p, w * 64 + (uint32_t)__builtin_ctzll(m), false);
}
__attribute__((flatten, noinline)) static void step_channels_narrow(struct partition_set *p, uint32_t w, uint64_t m) {
  for (; m; m &= m - 1) step_channel(p, w * 64 + (uint32_t)__builtin_ctzll(m), true);
}

void partition_tick_dram(struct partition_set *p) {
  for (uint32_t w = 0; w < p->dram.words; w++) {
    uint64_t m = due(&p->dram, w);
    if (!m) continue;
    if (p->narrow) step_channels_narrow(p, w, m);
    else step_channels(p, w, m);
  }
  p->dram.ticks++;
}

uint32_t partition_all_quiet_dram(const struct partition_set *p) {
  return all_quiet(&p->dram);
}

void partition_skip_all_dram(struct partition_set *p, uint64_t steps) {
  p->dram.ticks += steps;
}

void partition_clocks_changed(struct partition_set *p) {
  for (uint32_t c = 0; c < p->channels; c++) {
    struct channel *ch = &p->channel[c];
    for (uint32_t cls = 0; cls < 2; cls++)
      if (ch->delay[cls].count) {
        ch->enter[cls] = 0;
        disturb(&p->dram, c);
      }
  }
}

const uint64_t *partition_replies(const struct partition_set *p) {
  return p->replies;
}

const uint64_t *partition_full(const struct partition_set *p) {
  return p->env.full;
}

void partition_empty_l2(struct partition_set *p) {
  for (uint32_t s = 0; s < p->channels * p->per_channel; s++) l2_tags_empty(&p->slice[s].tags);
}

struct l2_slice *partition_slice(const struct partition_set *p, uint32_t s) {
  return &p->slice[s];
}
struct dram *partition_dram(const struct partition_set *p, uint32_t c) {
  return &p->channel[c].dram;
}
uint32_t partition_delayed(const struct partition_set *p, uint32_t c) {
  return p->channel[c].delay[0].count + p->channel[c].delay[1].count;
}

void partition_settle(struct partition_set *p) {
  for (uint32_t s = 0; s < p->channels * p->per_channel; s++) l2_count(slice_now(p, s));
  for (uint32_t c = 0; c < p->channels; c++) channel_now(p, c);
}

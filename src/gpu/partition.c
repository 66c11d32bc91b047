/* partition.c - the memory channels: sub-partitions, their arbitration for DRAM, the fixed delay, the DRAM channel.
 *
 * Credits bound what a channel has accepted and not yet returned: one private credit per sub-partition keeps each of
 * them moving, the rest are shared. Order of work in a DRAM command cycle: a return enters its sub-partition's queue;
 * the DRAM works; one request moves into the fixed delay; one leaves it for the DRAM queue.
 */
#include "gpu/partition.h"

#include <stdlib.h>

#include "base/err.h"
#include "gpu/addrmap.h"
#include "gpu/dram.h"
#include "gpu/l2.h"

struct channel {
  struct dram dram;
  struct l2_queue delay[2]; /* per class; op.at: core cycle in which it may enter the DRAM queue */
  uint32_t private_used;    /* bit per sub-partition */
  uint32_t shared_used, shared_limit;
  uint32_t last; /* sub-partition served last */
  uint64_t
      wake; /* nothing happens before this command cycle, unless the DRAM queue accepts a sub-partition's request */
};

struct partition_set {
  struct partition_env env;
  struct addrmap map;
  uint32_t channels, per_channel;
  struct channel *channel;
  struct l2_slice *slice;
  /* Per unit: steps known to change nothing (UINT32_MAX: until disturbed), and steps skipped that it does not know of
   * yet. A unit with nothing to do costs no more than these. */
  uint32_t *quiet_l2, *quiet_dram;
  uint64_t *behind_l2, *behind_dram;
  uint64_t *replies;              /* set of sub-partitions with a reply */
  struct partition_env *unit_env; /* of units that count on their own: sub-partitions, then channels; else NULL */
};

/* Skipped steps reach the unit before anything else does. */
static struct l2_slice *slice_now(const struct partition_set *p, uint32_t s) {
  if (p->behind_l2[s]) {
    l2_skip(&p->slice[s], p->behind_l2[s]);
    p->behind_l2[s] = 0;
  }
  return &p->slice[s];
}

static struct channel *channel_now(const struct partition_set *p, uint32_t c) {
  struct channel *ch = &p->channel[c];
  if (p->behind_dram[c]) {
    dram_skip(&ch->dram, p->behind_dram[c]);
    ch->dram.env->stats->dram_cycles += p->behind_dram[c];
    p->behind_dram[c] = 0;
  }
  return ch;
}

struct partition_set *partition_new(const struct partition_env *env) {
  const struct gpu_config *c = env->config;
  struct partition_set *p = calloc(1, sizeof *p);
  CHECK(p, "out of memory");
  p->env = *env;
  struct err e = {0};
  CHECK(addrmap_init(&p->map, c, &e), "%s", e.msg);
  p->channels = c->channels;
  p->per_channel = c->subparts;
  p->channel = calloc(p->channels, sizeof *p->channel);
  p->slice = calloc(p->channels * p->per_channel, sizeof *p->slice);
  p->quiet_l2 = calloc(p->channels * p->per_channel, sizeof *p->quiet_l2);
  p->quiet_dram = calloc(p->channels, sizeof *p->quiet_dram);
  p->behind_l2 = calloc(p->channels * p->per_channel, sizeof *p->behind_l2);
  p->behind_dram = calloc(p->channels, sizeof *p->behind_dram);
  p->replies = calloc((p->channels * p->per_channel + 63) / 64, sizeof *p->replies);
  CHECK(p->quiet_l2 && p->quiet_dram && p->behind_l2 && p->behind_dram && p->replies, "out of memory");
  CHECK(p->channel && p->slice, "out of memory for %u memory channels", p->channels);
  for (uint32_t i = 0; i < p->channels; i++) {
    struct channel *ch = &p->channel[i];
    dram_init(&ch->dram, &p->env);
    l2_queue_init(&ch->delay[0], 0);
    l2_queue_init(&ch->delay[1], 0);
    ch->shared_limit = c->dram_queue + c->dram_return_queue - (p->per_channel - 1);
    ch->last = p->per_channel - 1;
  }
  for (uint32_t i = 0; i < p->channels * p->per_channel; i++) l2_init(&p->slice[i], &p->env, &p->map, i);
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
  free(p->quiet_l2);
  free(p->quiet_dram);
  free(p->behind_l2);
  free(p->behind_dram);
  free(p->replies);
  free(p->unit_env);
  free(p);
}

void partition_split_stats(struct partition_set *p, struct gpu_stats *subpart, struct gpu_stats *channel) {
  uint32_t slices = p->channels * p->per_channel;
  CHECK(!p->unit_env, "counters split twice");
  p->unit_env = calloc(slices + p->channels, sizeof *p->unit_env);
  CHECK(p->unit_env, "out of memory");
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
}

void partition_locate(const struct partition_set *p, struct req *r) {
  addrmap_split(&p->map, r);
}

void partition_watch_dram(struct partition_set *p, uint32_t c,
                          void (*watch)(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row),
                          void *ctx) {
  p->channel[c].dram.watch = watch;
  p->channel[c].dram.watch_ctx = ctx;
}

/* ---- interconnect side ---- */

bool partition_can_push(const struct partition_set *p, uint32_t s) {
  return l2_can_push(&p->slice[s]);
}

void partition_push(struct partition_set *p, uint32_t s, req_id r) {
  struct l2_slice *l = slice_now(p, s);
  l2_push(l, r);
  p->quiet_l2[s] = l2_quiet(l);
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

void partition_step_l2(struct partition_set *p, uint32_t s) {
  struct l2_slice *l = slice_now(p, s);
  l2_step(l);
  p->quiet_l2[s] = l2_quiet(l);
  if (l->out.count) p->replies[s / 64] |= 1ull << (s % 64);
  uint32_t c = s / p->per_channel;
  if (l->to_dram.count && p->quiet_dram[c] && !closed(p, &p->channel[c])) p->quiet_dram[c] = 0;
}

void partition_tick_l2(struct partition_set *p, uint32_t s) {
  if (p->quiet_l2[s]) partition_skip_l2(p, s, 1);
  else partition_step_l2(p, s);
}

bool partition_idle_l2(const struct partition_set *p, uint32_t s) {
  return l2_idle(&p->slice[s]);
}

uint32_t partition_quiet_l2(const struct partition_set *p, uint32_t s) {
  return p->quiet_l2[s];
}

void partition_skip_l2(struct partition_set *p, uint32_t s, uint32_t steps) {
  p->behind_l2[s] += steps;
  if (p->quiet_l2[s] != UINT32_MAX) p->quiet_l2[s] -= steps < p->quiet_l2[s] ? steps : p->quiet_l2[s];
}

double partition_input_fill(const struct partition_set *p, uint32_t s) {
  const struct l2_slice *l = slice_now(p, s);
  uint64_t area = l->waited;
  uint32_t room = 0;
  for (uint32_t b = 0; b < l->banks; b++) {
    const struct l2_queue *q = &l->bank[b].in;
    room += q->limit;
    for (uint32_t i = 0; i < q->count; i++) area += l->t - q->at[(q->head + i) & (q->size - 1)].at;
  }
  return (double)area / room;
}

/* ---- DRAM clock ---- */

static bool has_credit(const struct channel *ch, uint32_t sub) {
  return !(ch->private_used >> sub & 1) || ch->shared_used < ch->shared_limit;
}

static void borrow(struct channel *ch, uint32_t sub) {
  if (!(ch->private_used >> sub & 1)) ch->private_used |= 1u << sub;
  else ch->shared_used++;
  ch->last = sub;
}

static void give_back(struct channel *ch, uint32_t sub) {
  if (ch->private_used >> sub & 1) ch->private_used &= ~(1u << sub);
  else ch->shared_used--;
}

static void take_returned(struct partition_set *p, struct channel *ch) {
  struct l2_op *op = l2_queue_top(&ch->dram.returns);
  uint32_t sub = p->env.pool->at[op->r].subpart;
  if (!l2_can_return(&p->slice[sub], op)) return;
  l2_return(slice_now(p, sub), *op);
  p->quiet_l2[sub] = 0;
  l2_queue_pop(&ch->dram.returns);
  give_back(ch, sub % p->per_channel);
}

static uint32_t class_of(const struct partition_set *p, const struct l2_op *op) {
  const struct mem_hooks *h = p->env.hooks;
  return h && h->dram_class ? h->dram_class(h->ctx, &p->env.pool->at[op->r]) != 0 : 0;
}

/* Would a request that a sub-partition offers surely find no room? Then only the DRAM itself can change that. */
static bool closed(const struct partition_set *p, const struct channel *ch) {
  return dram_full(&ch->dram, 0) && (!p->env.hooks || dram_full(&ch->dram, 1));
}

/* One request from a sub-partition into the fixed delay, starting after the one served last. */
static void accept(struct partition_set *p, struct channel *ch, struct l2_slice *slices) {
  if (closed(p, ch)) return;
  for (uint32_t k = 1; k <= p->per_channel; k++) {
    uint32_t sub = ch->last + k >= p->per_channel ? ch->last + k - p->per_channel : ch->last + k;
    struct l2_slice *s = &slices[sub];
    if (!s->to_dram.count || !has_credit(ch, sub) || !l2_can_return(s, l2_queue_top(&s->to_dram))) continue;
    uint32_t cls = class_of(p, l2_queue_top(&s->to_dram));
    if (dram_full(&ch->dram, cls)) continue; /* the other class may have room */
    struct l2_op op = l2_queue_pop(&s->to_dram);
    op.at = *p->env.now + p->env.config->dram_delay;
    op.cls = (uint8_t)cls;
    l2_queue_push(&ch->delay[cls], op);
    borrow(ch, sub);
    return;
  }
}

static uint32_t demand(const struct partition_set *p, uint32_t c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->per_channel; i++) n += p->slice[c * p->per_channel + i].to_dram.count;
  return n;
}

static uint64_t wake_at(const struct partition_set *p, const struct channel *ch) {
  uint64_t at = dram_wake(&ch->dram), now = *p->env.now;
  const struct gpu_config *c = p->env.config;
  for (uint32_t cls = 0; cls < 2; cls++) {
    if (!ch->delay[cls].count || at <= ch->dram.t) continue;
    uint64_t ready = l2_queue_top(&ch->delay[cls])->at, enter = ch->dram.t;
    if (ready > now) enter += l2_steps_before(ready - now, c->dram_mhz, c->core_mhz);
    else if (dram_full(&ch->dram, cls)) continue; /* only the DRAM itself makes room */
    if (enter < at) at = enter;
  }
  return at;
}

/* One request whose fixed delay is over enters the DRAM queue of its class. */
static void enter_dram(struct partition_set *p, struct channel *ch) {
  for (uint32_t cls = 0; cls < 2; cls++) {
    struct l2_queue *q = &ch->delay[cls];
    if (!q->count || *p->env.now < l2_queue_top(q)->at || dram_full(&ch->dram, cls)) continue;
    dram_push(&ch->dram, l2_queue_pop(q));
    return;
  }
}

static uint32_t quiet_dram(const struct partition_set *p, uint32_t c) {
  const struct channel *ch = &p->channel[c];
  if (ch->wake <= ch->dram.t || (demand(p, c) && !closed(p, ch))) return 0;
  uint64_t n = ch->wake - ch->dram.t;
  return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void partition_step_dram(struct partition_set *p, uint32_t c) {
  struct channel *ch = channel_now(p, c);
  ch->dram.env->stats->dram_cycles++;
  uint32_t wanted = demand(p, c);
  if (ch->dram.t < ch->wake && (!wanted || closed(p, ch))) {
    dram_skip(&ch->dram, 1);
    p->quiet_dram[c] = quiet_dram(p, c);
    return;
  }
  if (ch->dram.returns.count) take_returned(p, ch);
  req_id written = dram_step(&ch->dram);
  if (written) {
    give_back(ch, p->env.pool->at[written].subpart % p->per_channel);
    req_free(p->env.pool, written);
  }
  if (wanted) accept(p, ch, &p->slice[c * p->per_channel]);
  enter_dram(p, ch);
  ch->wake = ch->dram.busy && ch->dram.issue_at <= ch->dram.t ? ch->dram.t : wake_at(p, ch);
  p->quiet_dram[c] = quiet_dram(p, c);
}

void partition_tick_dram(struct partition_set *p) {
  for (uint32_t c = 0; c < p->channels; c++)
    if (p->quiet_dram[c]) partition_skip_dram(p, c, 1);
    else partition_step_dram(p, c);
}

bool partition_idle_dram(const struct partition_set *p, uint32_t c) {
  const struct channel *ch = &p->channel[c];
  return !demand(p, c) && !ch->delay[0].count && !ch->delay[1].count && dram_idle(&ch->dram);
}

uint32_t partition_quiet_dram(const struct partition_set *p, uint32_t c) {
  return p->quiet_dram[c];
}

void partition_skip_dram(struct partition_set *p, uint32_t c, uint32_t steps) {
  p->behind_dram[c] += steps;
  if (p->quiet_dram[c] != UINT32_MAX) p->quiet_dram[c] -= steps < p->quiet_dram[c] ? steps : p->quiet_dram[c];
}

const uint64_t *partition_replies(const struct partition_set *p) {
  return p->replies;
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
  for (uint32_t s = 0; s < p->channels * p->per_channel; s++) slice_now(p, s);
  for (uint32_t c = 0; c < p->channels; c++) channel_now(p, c);
}

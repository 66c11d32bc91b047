/* l2.c - queues and cycle of an L2 sub-partition (docs/explanation/gpu-model.md, "L2 and DRAM"); l2_access.c has the
 * access itself.
 */
#include "gpu/mem/l2.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void l2_queue_init(struct l2_queue *q, uint32_t limit) {
  uint32_t size = 8;
  while (size < limit) size *= 2;
  CHECK(limit <= UINT16_MAX / 2, "a queue of %u", limit);
  *q = (struct l2_queue){.at = mem_alloc(size * sizeof *q->at),
                         .mask = (uint16_t)(size - 1),
                         .limit = limit ? (uint16_t)limit : UINT16_MAX};
}

void l2_queue_free(struct l2_queue *q) {
  free(q->at);
  *q = (struct l2_queue){0};
}

void l2_queue_grow(struct l2_queue *q) {
  uint32_t size = 2 * (q->mask + 1u);
  CHECK(q->limit == UINT16_MAX && size <= UINT16_MAX, "a queue of %u overflows", q->count);
  struct l2_op *at = mem_alloc(size * sizeof *at);
  for (uint32_t i = 0; i < q->count; i++) at[i] = q->at[(q->head + i) & q->mask];
  free(q->at);
  q->at = at;
  q->head = 0;
  q->mask = (uint16_t)(size - 1);
}

void l2_mshrs_init(struct l2_mshrs *m, uint32_t entries, uint32_t merges) {
  *m = (struct l2_mshrs){.limit = entries, .merges = merges};
  m->at = mem_zeroed(entries, sizeof *m->at);
  m->ready = mem_zeroed(entries, sizeof *m->ready);
  m->spare = mem_zeroed(entries, sizeof *m->spare);
  for (uint32_t i = 0; i < entries; i++) m->spare[i] = (uint16_t)(entries - 1 - i);
}

void l2_mshrs_free(struct l2_mshrs *m) {
  free(m->at);
  free(m->ready);
  free(m->spare);
  *m = (struct l2_mshrs){0};
}

bool l2_is_baseline(const struct l2_slice *s) {
  const struct gpu_config *c = s->env->config;
  const struct mem_listener *l = &s->env->listener;
  return !c->l2_banked && c->l2_mhz == c->core_mhz && !s->tags.valid && !c->l2_perfect && c->l2_write == WRITE_BACK &&
         !s->env->hooks && !s->env->prefetch && !l->access && !l->waited;
}

/* Slices of neighbouring numbers lie far from each other: multiples of the golden ratio. */
static uint32_t latency_of(const struct gpu_config *c, uint32_t id) {
  uint32_t place = id * 2654435769u >> 16,
           first = c->rop_latency > c->rop_spread / 2 ? c->rop_latency - c->rop_spread / 2 : 0;
  return first + (place * c->rop_spread >> 16);
}

void l2_init(struct l2_slice *s, const struct partition_env *env, const struct addrmap *map, uint32_t id) {
  const struct gpu_config *c = env->config;
  *s = (struct l2_slice){.env = env, .map = map, .id = id, .banks = (uint16_t)(c->l2_banked ? c->l2_banks : 1)};
  l2_tags_init(&s->tags, c);
  l2_queue_init(&s->rop, 0);
  s->rop_latency = latency_of(c, id);
  s->rop_at = UINT64_MAX;
  s->port_shift = (uint8_t)__builtin_ctz(c->l2_port_bytes); /* a power of two (config.c) */
  s->line_cycles = (uint16_t)(c->l2.line >> s->port_shift);
  l2_queue_init(&s->to_dram, c->l2_to_dram);
  l2_queue_init(&s->out, c->l2_to_icnt);
  s->bank = mem_lines(s->banks * sizeof *s->bank, 1);
  for (uint32_t i = 0; i < s->banks; i++) {
    struct l2_bank *b = &s->bank[i];
    *b = (struct l2_bank){0};
    l2_mshrs_init(&b->mshrs, c->l2.mshrs, c->l2.merges);
    l2_queue_init(&b->in, c->l2_banked ? c->l2_bank_queue : c->icnt_to_l2);
    l2_queue_init(&b->miss, c->l2.miss_queue);
    l2_queue_init(&b->from_dram, c->dram_to_l2);
    l2_queue_init(&b->lookup, 0);
  }
  s->baseline = l2_is_baseline(s);
  if (!c->l2_banked) return;
  s->ports = (uint16_t)c->l2_ports;
  s->port = mem_zeroed(s->ports, sizeof *s->port);
  for (uint32_t i = 0; i < s->ports; i++) l2_queue_init(&s->port[i], c->icnt_to_l2);
}

void l2_free(struct l2_slice *s) {
  l2_tags_free(&s->tags);
  l2_queue_free(&s->rop);
  l2_queue_free(&s->to_dram);
  l2_queue_free(&s->out);
  for (uint32_t i = 0; i < s->banks; i++) {
    l2_mshrs_free(&s->bank[i].mshrs);
    l2_queue_free(&s->bank[i].in);
    l2_queue_free(&s->bank[i].miss);
    l2_queue_free(&s->bank[i].from_dram);
    l2_queue_free(&s->bank[i].lookup);
  }
  for (uint32_t i = 0; i < s->ports; i++) l2_queue_free(&s->port[i]);
  free(s->bank);
  free(s->port);
  *s = (struct l2_slice){0};
}

static struct req *req_of(const struct l2_slice *s, req_id r) {
  return &s->env->pool->at[r];
}

void l2_reply(struct l2_slice *s, req_id r) {
  l2_queue_push(&s->out, (struct l2_op){.r = r});
}

/* ---- a cycle ---- */

/* The access at the head of the queue; it stays there if refused. */
static inline void take_access(struct l2_slice *s, struct l2_bank *b, bool baseline) {
  struct l2_op *op = l2_queue_top(&b->in);
  if (b->refused) {
    s->env->stats->l2_rejects++;
    return;
  }
  bool reply;
  enum l2_outcome o = baseline ? l2_access_baseline(s, b, op, &reply) : l2_access(s, b, op, &reply);
  /* Where a scheme chooses slices, another one may be what it waits for. */
  b->refused = o == L2_REFUSED && (baseline || !l2_chosen(s));
  if (o == L2_REFUSED) return;
  if (!baseline && s->env->listener.waited) s->env->listener.waited(s->env->listener.ctx, s->t - op->at);
  s->waited += s->t - op->at;
  s->taken++;
  req_id r = l2_queue_pop(&b->in).r;
  if (s->env->full) s->env->full[s->id / 64] &= ~(1ull << (s->id % 64));
  if (!reply) return;
  if (req_of(s, r)->type == REQ_L1_WRITEBACK) req_free(s->env->pool, r); /* it has no reply */
  else l2_reply(s, r);
}

struct l2_op l2_rop_pop(struct l2_slice *s) {
  struct l2_op op = l2_queue_pop(&s->rop);
  s->rop_at = s->rop.count ? l2_queue_top(&s->rop)->at : UINT64_MAX;
  return op;
}

enum l2_release l2_release(struct l2_slice *s) {
  if (*s->env->now < s->rop_at) return L2_HELD;
  if (!s->env->hooks || !l2_bypasses(s, l2_queue_top(&s->rop))) return L2_RELEASED;
  if (l2_queue_full(&s->to_dram)) return L2_HELD;
  l2_bypass(s, l2_rop_pop(s));
  return L2_GONE;
}

static inline void step_unbanked(struct l2_slice *s, uint64_t now, bool baseline) {
  struct l2_bank *b = s->bank;
  if (b->mshrs.ready_count && !l2_queue_full(&s->out)) {
    req_id r = l2_take_filled(s, b);
    if (r) l2_reply(s, r);
    b->refused = false;
  }
  if (b->from_dram.count && l2_take_return(s, b, baseline)) b->refused = false;
  if (b->miss.count && !l2_queue_full(&s->to_dram)) {
    l2_queue_push(&s->to_dram, l2_queue_pop(&b->miss));
    b->refused = false;
  }
  if (b->in.count && !l2_queue_full(&s->to_dram) && !l2_queue_full(&s->out) && s->t >= b->data_free)
    take_access(s, b, baseline);
  if (now < s->rop_at) return;
  if ((baseline || l2_release(s) == L2_RELEASED) && !l2_queue_full(&b->in)) {
    struct l2_op op = l2_rop_pop(s);
    op.at = s->t;
    l2_queue_push(&b->in, op);
  }
}

uint64_t l2_steps_before(uint64_t cycles, uint32_t mhz, uint32_t core_mhz) {
  if (!cycles) return 0;
  if (mhz == core_mhz) return cycles - 1;
  uint64_t steps = (cycles - 1) * mhz / core_mhz;
  return steps ? steps - 1 : 0; /* the phase of the clocks is unknown here */
}

/* First L2 cycle after `t` in which the ROP delay releases a request. */
uint64_t l2_rop_wake(const struct l2_slice *s) {
  if (!s->rop.count) return UINT64_MAX;
  const struct gpu_config *c = s->env->config;
  uint64_t at = s->rop_at, now = *s->env->now;
  return at <= now ? s->t : s->t + l2_steps_before(at - now, c->l2_mhz, c->core_mhz);
}

static inline uint64_t wake_unbanked(struct l2_slice *s, uint64_t now, bool baseline) {
  const struct l2_bank *b = s->bank;
  s->retries = 0;
  bool shut = l2_queue_full(&s->to_dram); /* until l2_take */
  if (b->mshrs.ready_count || b->from_dram.count || (b->miss.count && !shut)) return s->t;
  uint64_t rop = UINT64_MAX;
  if (baseline && s->rop_at != UINT64_MAX) rop = s->rop_at <= now ? s->t : s->t + (s->rop_at - now) - 1;
  if (!baseline) rop = l2_rop_wake(s);
  if (l2_queue_full(&b->in) && (baseline || !s->env->hooks)) rop = UINT64_MAX;
  if (!b->in.count || shut) return rop;
  /* A refused access is retried every cycle; until a return from DRAM the result is the same. */
  if (b->refused && !l2_queue_full(&s->out) && b->data_free <= s->t) {
    s->retries = 1;
    return rop;
  }
  uint64_t in = b->data_free > s->t ? b->data_free : s->t;
  return in < rop ? in : rop;
}

__attribute__((always_inline)) inline void l2_step_as(struct l2_slice *s, uint64_t now, bool baseline) {
  bool banked = !baseline && s->ports != 0;
  if (banked) l2_step_banked(s);
  else step_unbanked(s, now, baseline);
  s->t++;
  s->wake = banked ? l2_wake_banked(s) : wake_unbanked(s, now, baseline);
}

void l2_count(struct l2_slice *s) {
  struct gpu_stats *st = s->env->stats;
  for (uint32_t type = 0; type < REQ_TYPES; type++) {
    const uint64_t *n = s->seen[type];
    uint64_t all = n[L2_HIT] + n[L2_PENDING] + n[L2_MISS] + n[L2_BYPASSED];
    st->l2_accesses += all;
    st->l2_hits += n[L2_HIT];
    st->l2_pending += n[L2_PENDING];
    st->l2_misses += n[L2_MISS];
    st->l2_bypasses += n[L2_BYPASSED];
    if (type == REQ_GLOBAL_READ) {
      st->l2_read_accesses += all;
      st->l2_read_hits += n[L2_HIT];
    } else if (type == REQ_GLOBAL_WRITE) {
      st->l2_write_accesses += all;
      st->l2_write_hits += n[L2_HIT];
    }
  }
  st->l2_queue_cycles += s->waited - s->waited_counted;
  st->l2_queue_count += s->taken;
  s->waited_counted = s->waited;
  s->taken = 0;
  memset(s->seen, 0, sizeof s->seen);
}

/* ---- borders ---- */

bool l2_port_free(const struct l2_slice *s) {
  for (uint32_t i = 0; i < s->ports; i++)
    if (!l2_queue_full(&s->port[i])) return true;
  return false;
}

bool l2_joins(const struct l2_slice *s, req_id r) {
  return s->rop.count && (s->ports || req_of(s, r)->type != REQ_TEX_READ);
}

void l2_push(struct l2_slice *s, req_id id) {
  struct req *r = req_of(s, id);
  r->arrived = *s->env->now;
  struct l2_op op = {
      .r = id, .set = (uint16_t)l2_tags_set(&s->tags, addrmap_local(s->map, r->addr)), .mshr = L2_NO_MSHR};
  if (r->type == REQ_TEX_READ && !s->ports) { /* textures bypass the ROP */
    op.at = s->t;
    l2_queue_push(&s->bank[0].in, op);
    s->wake = s->t;
  } else {
    op.at = *s->env->now + s->rop_latency;
    l2_queue_push(&s->rop, op);
    if (s->rop.count > 1) return;
    s->rop_at = op.at;
    uint64_t wake = l2_rop_wake(s);
    if (wake < s->wake) s->wake = wake;
  }
}

static struct l2_bank *bank_of(const struct l2_slice *s, const struct l2_op *op) {
  return s->banks == 1 ? s->bank : &s->bank[op->set % s->banks];
}

bool l2_can_return(const struct l2_slice *s, const struct l2_op *op) {
  return !l2_queue_full(&bank_of(s, op)->from_dram);
}

void l2_return(struct l2_slice *s, struct l2_op op) {
  l2_queue_push(&bank_of(s, &op)->from_dram, op);
  s->wake = s->t;
}

/* l2_banked.c - MeDiC's banked L2 (Ausavarungnirun et al., PACT 2015, section 5, "Modeling L2 Bank Conflicts").
 *
 * Requests that leave the ROP delay arrive at a port, travel through port and arbiter for a cycle, and join the queue
 * of the bank their set belongs to; a full bank queue holds them at the port. A bank looks up its tags for
 * l2.lookup_cycles (pipelined, or with l2.lookup_pipelined=false one after the other), then accesses. Port and bank
 * examined first rotate every cycle, so do the banks whose replies enter the one queue to the interconnect. Misses of
 * all banks share the queue to DRAM; returns come to a queue per bank. Not specified in the paper, chosen here: every
 * bank has its own MSHRs, miss queue and ports of the configured width; each port and each bank moves one request a
 * cycle.
 */
#include "gpu/mem/l2.h"

static uint32_t turn(uint32_t first, uint32_t k, uint32_t n) {
  return first + k >= n ? first + k - n : first + k;
}

/* The first bank in rotation with a reply of a filled line sends it. */
static void reply_filled(struct l2_slice *s) {
  for (uint32_t k = 0; k < s->banks && !l2_queue_full(&s->out); k++) {
    struct l2_bank *b = &s->bank[turn(s->first_bank, k, s->banks)];
    if (!b->mshrs.ready_count) continue;
    req_id r = l2_take_filled(s, b);
    if (r) l2_reply(s, r);
    return;
  }
}

/* The access after the tag lookup, in order. A refused one blocks the bank. */
static void access_bank(struct l2_slice *s, struct l2_bank *b) {
  if (!b->lookup.count || s->t < l2_queue_top(&b->lookup)->at || s->t < b->data_free) return;
  if (l2_queue_full(&s->out) || l2_queue_full(&s->to_dram)) return;
  bool reply;
  if (l2_access(s, b, l2_queue_top(&b->lookup), &reply) == L2_REFUSED) return;
  req_id r = l2_queue_pop(&b->lookup).r;
  if (!reply) return;
  if (s->env->pool->at[r].type == REQ_L1_WRITEBACK) req_free(s->env->pool, r);
  else l2_reply(s, r);
}

/* A request enters the tag pipeline unless it would collide with a blocked one; a bank without a pipeline looks up one
 * request at a time. */
static void start_lookup(struct l2_slice *s, struct l2_bank *b) {
  uint32_t depth = s->env->config->l2_lookup;
  if (!b->in.count || b->lookup.count > (s->env->config->l2_lookup_pipelined ? depth : 0)) return;
  struct l2_op op = l2_queue_pop(&b->in);
  if (s->env->listener.waited) s->env->listener.waited(s->env->listener.ctx, s->t - op.at);
  s->waited += s->t - op.at;
  s->taken++;
  op.at = s->t + depth;
  l2_queue_push(&b->lookup, op);
}

/* Heads of the ports that have been there for a cycle move to their banks. */
static void arbitrate(struct l2_slice *s) {
  for (uint32_t k = 0; k < s->ports; k++) {
    struct l2_queue *p = &s->port[turn(s->first_port, k, s->ports)];
    if (!p->count || l2_queue_top(p)->at >= s->t) continue;
    struct l2_bank *b = &s->bank[l2_queue_top(p)->set % s->banks];
    if (!l2_queue_full(&b->in)) l2_queue_push(&b->in, l2_queue_pop(p));
  }
}

/* Each port takes one request from the ROP delay, unless the request bypasses the L2. */
static void fill_ports(struct l2_slice *s) {
  for (uint32_t k = 0; k < s->ports; k++) {
    enum l2_release r = l2_release(s);
    if (r == L2_HELD) return;
    struct l2_queue *p = &s->port[turn(s->first_port, k, s->ports)];
    if (r == L2_GONE || l2_queue_full(p)) continue;
    struct l2_op op = l2_rop_pop(s);
    op.at = s->t;
    l2_queue_push(p, op);
  }
}

void l2_step_banked(struct l2_slice *s) {
  s->first_port = (uint32_t)(s->t % s->ports);
  s->first_bank = (uint32_t)(s->t % s->banks);
  reply_filled(s);
  for (uint32_t k = 0; k < s->banks; k++) {
    struct l2_bank *b = &s->bank[turn(s->first_bank, k, s->banks)];
    if (b->from_dram.count) l2_take_return(s, b, false);
    if (b->miss.count && !l2_queue_full(&s->to_dram)) l2_queue_push(&s->to_dram, l2_queue_pop(&b->miss));
    access_bank(s, b);
    start_lookup(s, b);
  }
  arbitrate(s);
  fill_ports(s);
}

uint64_t l2_wake_banked(const struct l2_slice *s) {
  for (uint32_t i = 0; i < s->ports; i++)
    if (s->port[i].count) return s->t;
  for (uint32_t i = 0; i < s->banks; i++) {
    const struct l2_bank *b = &s->bank[i];
    if (b->mshrs.ready_count || b->from_dram.count || b->miss.count || b->in.count || b->lookup.count) return s->t;
  }
  return l2_rop_wake(s);
}

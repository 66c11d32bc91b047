/* stuck.c - why a launch makes no progress: what its warps wait for, and the chain of queues to memory.
 *
 * The chain follows one request: memory pipe, L1, interconnect, L2 sub-partition, DRAM channel and bank, and back to
 * the SM. Each link gives the fill of its queues; the last full one blocks the others, and its knob is printed before
 * the chain.
 */
#include <stdarg.h>
#include <stdio.h>

#include "gpu/icnt/icnt.h"
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"
#include "gpu/mem/dram.h"
#include "gpu/mem/l2.h"

enum { WARPS_SHOWN = 8, CHAINS_SHOWN = 2 };

struct text {
  char *at;
  size_t size, n;
};

/* The full resource furthest along the chain, with its knob. */
struct lacking {
  char text[160];
};

static void __attribute__((format(printf, 2, 3))) lacks(struct lacking *k, const char *fmt, ...) {
  va_list a;
  va_start(a, fmt);
  vsnprintf(k->text, sizeof k->text, fmt, a);
  va_end(a);
}

static void __attribute__((format(printf, 2, 3))) say(struct text *t, const char *fmt, ...) {
  va_list a;
  va_start(a, fmt);
  if (t->n < t->size) t->n += (size_t)vsnprintf(t->at + t->n, t->size - t->n, fmt, a);
  va_end(a);
  if (t->n >= t->size) t->n = t->size - 1;
}

static uint32_t source_line(const struct sm *s, uint32_t w, uint32_t pc) {
  const struct warp_state *ws = &s->w[w];
  return pc < s->cta_feed[ws->cta_slot]->kernel->insts ? ws->feed->kernel->code[pc].ptx_line : 0;
}

/* A line being fetched that a load of warp `w` (any warp if w is SM_WARPS) waits for. */
static bool awaited_line(const struct sm *s, uint32_t w, uint64_t *line) {
  const struct l1d *l = &s->l1d;
  for (uint32_t i = 0; i < l->mshrs; i++) {
    const struct l1_mshr *m = &l->mshr[i];
    if (!m->busy || m->ready) continue;
    for (uint32_t k = 0; k < m->count; k++) {
      uint32_t at = l->org ? k : (m->head + k) % l->merges;
      if (w != SM_WARPS && s->op[m->waiter[at]].warp != w) continue;
      *line = m->line;
      return true;
    }
  }
  return false;
}

/* The pipe whose collectors block an otherwise ready instruction, and their knob. */
static void say_collectors(struct text *t, const struct sm *s, uint64_t bit) {
  const struct gpu_config *c = s->c;
  bool mem = s->to_mem & bit, sfu = s->to_sfu & bit;
  uint64_t set = mem ? s->g->plan.set_mem : sfu ? s->g->plan.set_sfu : s->g->plan.set_sp;
  uint32_t count = mem ? c->oc_mem : sfu ? c->oc_sfu : c->oc_sp;
  if (c->sub_cores) {
    say(t, ", no room in its sub-core (sm.collectors=%u)", c->oc_gen);
  } else if (set && (s->col_used & set) == set) {
    say(t, ", all its collectors busy (sm.collectors_%s=%u)", mem ? "mem" : sfu ? "sfu" : "sp", count);
  }
}

static void say_barrier(struct text *t, const struct sm *s, const struct warp_state *me) {
  uint32_t here = 0, exited = 0, all = 0;
  for (uint64_t m = s->live; m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctzll(m);
    if (s->w[w].cta_slot != me->cta_slot) continue;
    here += s->barrier >> w & 1;
    exited += s->done >> w & 1;
    all++;
  }
  const struct feed_kernel *k = s->cta_feed[me->cta_slot]->kernel;
  say(t, "waits at a barrier: %u of the block's %u warps wait", here, k->warps_per_cta);
  exited += k->warps_per_cta - all;
  if (exited) say(t, ", %u have exited", exited);
  if (here == all && k->cluster <= 1) say(t, " (not at the same one, or for more threads than come)");
  if (k->cluster > 1) say(t, "; if it is the cluster's, for warps of its %u blocks", k->cluster);
}

static void say_warp(struct text *t, const struct sm *s, uint32_t w, bool silent) {
  uint64_t bit = 1ull << w, line;
  const struct warp_state *ws = &s->w[w];
  say(t, "\n  SM %u warp %u (block %u, warp %u): PTX line %u, ", s->id, w, ws->cta, ws->index,
      source_line(s, w, ws->pc));
  if (s->done & bit) {
    say(t, "has exited: %u instructions in flight, stores not acknowledged: %u, loads not answered: %u", ws->in_pipe,
        ws->stores, ws->loads);
  } else if (s->barrier & bit) {
    say_barrier(t, s, ws);
  } else if (s->atomic_wait & bit) {
    say(t, "waits for atomics: %u lanes not performed", ws->atomics);
  } else if (s->fence & bit) {
    say(t, "waits at a fence: %u instructions in flight, stores not acknowledged: %u", ws->in_pipe, ws->stores);
  } else if (s->hazard & bit) {
    say(t, "waits for a register");
    if (awaited_line(s, w, &line)) say(t, ", for the line at %#lx", (unsigned long)line);
  } else if (s->imiss & bit) {
    say(t, "waits for instructions");
  } else if (silent) {
    say(t, "cannot issue");
    say_collectors(t, s, bit);
  } else {
    say(t, "runs");
  }
}

/* Launches with CTAs left and none on an SM, and what they lack on the first SM. */
static const char *no_place(const struct gpu *g, const struct gpu_work *k, char *out, size_t size) {
  const struct gpu_config *c = &g->config;
  const struct sm *s = g->sm;
  if (g->slots.n_may_launch || g->slots.n_pick_cta) snprintf(out, size, "a scheme that chooses blocks gives out none");
  else if (!g->free_slots[0]) snprintf(out, size, "CTA slots (sm.ctas=%u)", c->sm_ctas);
  else if (s->ctas != k->on_sm[0] && !c->share_sm)
    snprintf(out, size, "an SM without blocks of other launches (kernels.share_sm=false)");
  else if (s->regs_taken + k->regs > c->sm_regs)
    snprintf(out, size, "registers: %u taken, %u needed (sm.registers=%u)", s->regs_taken, k->regs, c->sm_regs);
  else if (s->shared_taken + k->shared > c->sm_shared)
    snprintf(out, size, "shared memory: %u B taken, %u needed (sm.shared_bytes=%u)", s->shared_taken, k->shared,
             c->sm_shared);
  else if (k->feed->kernel->cluster > 1)
    snprintf(out, size, "SMs of a GPC for a cluster of %u blocks (sms=%u, sm.ctas=%u)", k->feed->kernel->cluster,
             c->sms, c->sm_ctas);
  else snprintf(out, size, "warp slots (sm.threads=%u)", c->sm_threads);
  return out;
}

static void say_unplaced(struct text *t, const struct gpu *g) {
  char why[160];
  for (uint32_t i = 0; i < g->works; i++) {
    const struct gpu_work *k = &g->work[g->turn[i]];
    uint32_t left = k->feed->kernel->ctas - k->next_cta;
    if (left && !k->running_ctas)
      say(t, "\n  kernel %s: %u blocks find no place; SM 0 lacks %s", k->feed->kernel->name, left,
          no_place(g, k, why, sizeof why));
  }
}

/* ---- the chain ---- */

static void say_refusal(struct text *t, struct lacking *k, const struct sm *s) {
  const struct l1d *l = &s->l1d;
  switch (s->now_counts.l1_reject) {
  case L1_NO_LINE:
    lacks(k, "a line of the L1: every line of its set awaits data (l1d.ways=%u)", l->ways);
    break;
  case L1_NO_MISSQ:
    lacks(k, "the L1's miss queue, which is full (l1d.miss_queue=%u)", l->missq_limit);
    break;
  case L1_NO_MSHR:
    lacks(k, "an MSHR of the L1: all are busy (l1d.mshrs=%u)", l->mshrs);
    break;
  case L1_NO_MERGE:
    lacks(k, "the list of an MSHR of the L1, which is full (l1d.mshr_merges=%u)", l->merges);
    break;
  default:
    say(t, "it was not looked up");
    return;
  }
  say(t, "it needs %s", k->text);
}

static void say_read_only(struct text *t, struct lacking *k, const struct sm *s, const struct rocache *c,
                          const char *key) {
  uint32_t busy = 0;
  for (uint32_t i = 0; i < c->mshrs; i++) busy += c->mshr[i].busy;
  if (!busy && !c->missq_count) return;
  say(t, "\n  %s of SM %u: MSHRs %u of %u, miss queue %u of %u", key, s->id, busy, c->mshrs, c->missq_count,
      c->missq_limit);
  if (busy == c->mshrs) lacks(k, "an MSHR of the cache %s: all are busy (%s.mshrs=%u)", key, key, c->mshrs);
  if (c->missq_count >= c->missq_limit)
    lacks(k, "the miss queue of the cache %s, which is full (%s.miss_queue=%u)", key, key, c->missq_limit);
}

static void say_sm(struct text *t, struct lacking *k, const struct sm *s) {
  const struct l1d *l = &s->l1d;
  uint8_t kind = s->now_counts.stall_kind;
  say_read_only(t, k, s, &s->l1i, "l1i");
  say_read_only(t, k, s, &s->l1c, "l1c");
  if (s->l15c.latency) say_read_only(t, k, s, &s->l15c.cache, "l15c");
  if (s->dispatch) {
    const struct op *o = &s->op[s->dispatch];
    say(t, "\n  SM %u: memory pipe held by warp %u, PTX line %u%s", s->id, o->warp,
        source_line(s, o->warp, o->uop->inst->pc),
        kind == STALL_L1D      ? ": the L1 takes no access"
        : kind == STALL_BYPASS ? ": the interconnect takes no request"
        : kind == STALL_CONST  ? ": the constant cache takes no access"
        : kind == STALL_TEX    ? ": the texture cache takes no access"
                               : "");
    if (kind == STALL_TEX)
      lacks(k, "the texture cache (l1t.fifo=%u, l1t.mshrs=%u, l1t.miss_queue=%u)", s->c->l1t_fifo, s->c->l1t.mshrs,
            s->c->l1t.miss_queue);
  }
  if (l->lat_count) {
    say(t, "\n  L1 of SM %u: access to %#lx refused, ", s->id, (unsigned long)l->lat[l->lat_head].acc.addr);
    say_refusal(t, k, s);
  }
  say(t, "\n  L1 of SM %u: MSHRs %u of %u, miss queue %u of %u", s->id, l->mshrs_busy, l->mshrs, l->missq.count,
      l->missq_limit);
}

static void say_requests(struct text *t, struct lacking *k, const struct gpu *g, const struct sm *s) {
  uint32_t to;
  if (!icnt_can_push(g->icnt, s->id, REQ_HEADER_BYTES))
    lacks(k, "the interconnect's injection buffer of SM %u, which is full (icnt.injection_buffer=%u)", s->id,
          g->config.icnt_in_buf);
  if (icnt_bound(g->icnt, s->id, &to))
    say(t, "\n  interconnect: a packet of SM %u waits to go to L2 sub-partition %u%s", s->id,
        (to - g->config.sms) / g->config.icnt_ports,
        icnt_can_push(g->icnt, s->id, REQ_HEADER_BYTES) ? "" : ", with no room behind it");
}

static void say_replies(struct text *t, struct lacking *k, const struct gpu *g, const struct sm *s) {
  if (!icnt_peek(g->icnt, s->id) && !s->eject.count && !s->response.count) return;
  say(t, "\n  replies at SM %u: %sejection queue %u of %u, response queue %u of %u", s->id,
      icnt_peek(g->icnt, s->id) ? "one waits in the interconnect, " : "", s->eject.count, s->eject.limit,
      s->response.count, s->response.limit);
  if (reqq_full(&s->eject))
    lacks(k, "the ejection queue of SM %u, which is full (sm.ejection_queue=%u)", s->id, s->eject.limit);
  if (reqq_full(&s->response))
    lacks(k, "the response queue of SM %u, which is full (sm.response_queue=%u)", s->id, s->response.limit);
}

/* A queue of sub-partition `p`; `waits`: an entry is blocked in front of it. */
static void say_queue(struct text *t, struct lacking *k, uint32_t p, const char *name, const struct l2_queue *q,
                      const char *knob, bool waits) {
  say(t, ", %s %u of %u", name, q->count, q->limit);
  if (knob && waits && q->count >= q->limit)
    lacks(k, "the queue '%s' of L2 sub-partition %u, which is full (%s=%u)", name, p, knob, q->limit);
}

static void say_l2_bank(struct text *t, struct lacking *k, const struct l2_slice *l, const struct l2_bank *b) {
  uint32_t p = l->id;
  const char *in = l->env->config->l2_banked ? "l2.bank_queue" : "l2.queue_in";
  bool waits = b->in.count > 0;
  say_queue(t, k, p, "input", &b->in, in, l->rop.count || !l2_can_push(l));
  if (waits && b->refused) {
    say(t, " (its head is refused)");
    if (b->mshrs.used < b->mshrs.limit)
      lacks(k, "L2 sub-partition %u: its line, MSHR or miss has no place (l2.ways=%u, l2.mshr_merges=%u)", p,
            l->env->config->l2.ways, b->mshrs.merges);
  }
  if (waits && b->data_free > l->t) {
    say(t, " (the data port is busy)");
    lacks(k, "the data port of L2 sub-partition %u (l2.port_bytes=%u)", p, l->env->config->l2_port_bytes);
  }
  say(t, ", MSHRs %u of %u", b->mshrs.used, b->mshrs.limit);
  if (waits && b->mshrs.used >= b->mshrs.limit)
    lacks(k, "an MSHR of L2 sub-partition %u: all are busy (l2.mshrs=%u)", p, b->mshrs.limit);
  /* A miss also needs room for its victim: l2_miss_room. */
  say_queue(t, k, p, "miss queue", &b->miss, "l2.miss_queue", waits);
  if (waits && b->refused && !l2_miss_room(b, 2) && b->miss.count < b->miss.limit)
    lacks(k, "room in the miss queue of L2 sub-partition %u for a miss and what it evicts (l2.miss_queue=%u)", p,
          b->miss.limit);
}

static bool request_waits(const struct gpu *g, uint32_t p) {
  for (uint32_t k = 0; k < g->config.icnt_ports; k++)
    if (icnt_peek(g->icnt, gpu_subpart_node(g, p, k))) return true;
  return false;
}

/* No node of the sub-partition has room for a reply. */
static bool shut(const struct gpu *g, uint32_t p) {
  for (uint32_t k = 0; k < g->config.icnt_ports; k++)
    if (icnt_can_push(g->icnt, gpu_subpart_node(g, p, k), REQ_HEADER_BYTES)) return false;
  return true;
}

static void say_l2(struct text *t, struct lacking *k, const struct gpu *g, uint32_t p) {
  const struct l2_slice *l = partition_slice(g->parts, p);
  uint32_t misses = 0, waiting = 0;
  say(t, "\n  L2 sub-partition %u:%s ROP delay %u", p,
      request_waits(g, p) ? " a request waits in the interconnect," : "", l->rop.count);
  for (uint32_t i = 0; i < l->banks; i++) {
    const struct l2_bank *b = &l->bank[i];
    misses += b->miss.count, waiting += b->in.count;
    if (!l->rop.count && !b->in.count && !b->mshrs.used && !b->miss.count && !b->from_dram.count) continue;
    if (l->banks > 1) say(t, "; bank %u", i);
    say_l2_bank(t, k, l, b);
  }
  say_queue(t, k, p, "to DRAM", &l->to_dram, "l2.queue_to_dram", misses + waiting > 0);
}

static void say_dram(struct text *t, struct lacking *k, const struct gpu *g, const struct req *r) {
  const struct dram *d = partition_dram(g->parts, r->channel);
  const struct dram_bank *b = &d->bank[r->bank];
  uint32_t queued = d->pending[0] + d->pending[1], delayed = partition_delayed(g->parts, r->channel);
  uint32_t waiting = delayed + partition_slice(g->parts, r->subpart)->to_dram.count;
  say(t, "\n  DRAM channel %u: fixed delay %u, queue %u of %u, return queue %u of %u; bank %u: row %u %s, %s",
      r->channel, delayed, queued, d->limit, d->returns.count, d->returns.limit, r->bank, b->row,
      b->open ? "open" : "closed",
      d->busy >> r->bank & 1      ? "serves a request"
      : d->waiting >> r->bank & 1 ? "has requests waiting"
                                  : "has no request");
  if (waiting && queued >= d->limit)
    lacks(k, "the queue of DRAM channel %u, which is full (dram.queue=%u)", r->channel, d->limit);
  if (d->pipe_count && d->returns.count >= d->returns.limit)
    lacks(k, "the return queue of DRAM channel %u, which is full (dram.return_queue=%u)", r->channel, d->returns.limit);
}

/* Output of the L2: data from DRAM, replies to the SMs. */
static void say_l2_out(struct text *t, struct lacking *k, const struct gpu *g, uint32_t p) {
  const struct l2_slice *l = partition_slice(g->parts, p);
  const struct dram *d = partition_dram(g->parts, p / g->config.subparts);
  bool filled = false;
  say(t, "\n  back from L2 sub-partition %u", p);
  for (uint32_t i = 0; i < l->banks; i++) {
    const struct l2_bank *b = &l->bank[i];
    filled |= b->mshrs.ready_count || b->from_dram.count;
    /* DRAM requests are limited by the room here. */
    if (b->from_dram.count || d->returns.count || l->to_dram.count)
      say_queue(t, k, p, "from DRAM", &b->from_dram, "l2.queue_from_dram", d->returns.count || l->to_dram.count);
    filled |= b->in.count > 0;
  }
  say_queue(t, k, p, "replies", &l->out, "l2.queue_out", filled);
  if (l->out.count && shut(g, p)) {
    say(t, " (the interconnect has no room)");
    lacks(k, "the interconnect's injection buffer of L2 sub-partition %u, which is full (icnt.injection_buffer=%u)", p,
          g->config.icnt_in_buf);
  }
}

/* A line that one of the read-only caches waits for. */
static bool awaited_read_only(const struct rocache *c, uint64_t *line) {
  for (uint32_t i = 0; i < c->mshrs; i++) {
    if (!c->mshr[i].busy || c->mshr[i].ready) continue;
    *line = c->mshr[i].line;
    return true;
  }
  return false;
}

/* A request of this SM without progress: the oldest known one. Its bank is 0 if only its path is known. */
static bool destination(const struct gpu *g, const struct sm *s, struct req *r) {
  req_id head = reqq_top(&s->l1d.missq);
  uint32_t to;
  if (icnt_bound(g->icnt, s->id, &to)) {
    r->subpart = (uint8_t)(to - g->config.sms);
    r->channel = (uint8_t)(r->subpart / g->config.subparts);
    return true;
  }
  if (head) r->addr = g->pool.at[head].addr;
  else if (s->now_counts.stall_kind == STALL_BYPASS && s->dispatch && s->op[s->dispatch].left)
    r->addr = s->buffer[s->op[s->dispatch].buffer][s->op[s->dispatch].left - 1].addr;
  else if (awaited_line(s, SM_WARPS, &r->addr) || awaited_read_only(&s->l1i, &r->addr) ||
           awaited_read_only(&s->l1c, &r->addr) || texcache_awaited(&s->l1t, &r->addr)) {
    /* its address is known now */
  } else if (s->l1d.lat_count) r->addr = s->l1d.lat[s->l1d.lat_head].acc.addr;
  else return false;
  partition_locate(g->parts, r);
  return true;
}

void gpu_describe_stuck(const struct gpu *g, struct err *e) {
  char warps[900], queues[1500];
  struct text t = {.at = warps, .size = sizeof warps}, q = {.at = queues, .size = sizeof queues};
  struct lacking k = {0};
  uint32_t shown = 0, chains = 0;
  bool silent = g->now - g->progress_at > g->watchdog;
  warps[0] = queues[0] = 0;
  for (uint32_t i = 0; i < g->config.sms; i++)
    for (uint64_t m = g->sm[i].live; m && shown < WARPS_SHOWN; m &= m - 1, shown++)
      say_warp(&t, &g->sm[i], (uint32_t)__builtin_ctzll(m), silent);
  say_unplaced(&t, g);
  for (uint32_t i = 0; silent && i < g->config.sms && chains < CHAINS_SHOWN; i++) {
    const struct sm *s = &g->sm[i];
    struct req r = {0};
    struct lacking one = {0};
    if (!s->live || !destination(g, s, &r)) continue;
    chains++;
    say_sm(&q, &one, s);
    say_requests(&q, &one, g, s);
    say_l2(&q, &one, g, r.subpart);
    say_dram(&q, &one, g, &r);
    say_l2_out(&q, &one, g, r.subpart);
    say_replies(&q, &one, g, s);
    if (!*k.text) k = one;
  }
  err_set(e, ERR_STUCK, "kernel %s makes no progress: %s for %lu cycles (cycle %lu of the launch)%s%s%s%s%s",
          g->kernel->name, silent ? "nothing issued" : "warps issue, but no block began or ended",
          (unsigned long)(g->now - (silent ? g->progress_at : g->block_at)), (unsigned long)(g->now - g->start),
          *k.text ? "\n it waits for " : "", k.text, warps, chains ? "\n queues from there to memory and back:" : "",
          queues);
}

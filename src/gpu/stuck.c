/* stuck.c - why a launch makes no progress: what its warps wait for, and the chain of queues from there to memory.
 *
 * The chain follows one request: memory pipe, L1, interconnect, L2 sub-partition, DRAM channel and bank, and back to
 * the SM. Each link says how full its queues are, so that the last one that is full is what the others wait for.
 */
#include <stdarg.h>
#include <stdio.h>

#include "gpu/dram.h"
#include "gpu/gpu_impl.h"
#include "gpu/l2.h"

enum { WARPS_SHOWN = 8, CHAINS_SHOWN = 2 };

struct text {
  char *at;
  size_t size, n;
};

static void __attribute__((format(printf, 2, 3))) say(struct text *t, const char *fmt, ...) {
  va_list a;
  va_start(a, fmt);
  if (t->n < t->size) t->n += (size_t)vsnprintf(t->at + t->n, t->size - t->n, fmt, a);
  va_end(a);
  if (t->n >= t->size) t->n = t->size - 1;
}

static uint32_t line_of(const struct sm *s, uint32_t w, uint32_t pc) {
  const struct warp_state *ws = &s->w[w];
  return pc < s->cta_feed[ws->cta_slot]->kernel->insts ? ws->feed->kernel->code[pc].ptx_line : 0;
}

/* A line that a load of warp `w` (any warp if w is SM_WARPS) waits for, and is being fetched. */
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

static void say_warp(struct text *t, const struct sm *s, uint32_t w, bool silent) {
  uint64_t bit = 1ull << w, line;
  const struct warp_state *ws = &s->w[w];
  const char *why = s->done & bit          ? "stores not acknowledged"
                    : s->barrier & bit     ? "waits at a barrier"
                    : s->atomic_wait & bit ? "waits for atomics"
                    : s->fence & bit       ? "waits at a fence"
                    : s->hazard & bit      ? "waits for a register"
                    : s->imiss & bit       ? "waits for instructions"
                    : silent               ? "cannot issue"
                                           : "runs";
  say(t, "\n  SM %u warp %u (block %u, warp %u): PTX line %u, %s", s->id, w, ws->cta, ws->index, line_of(s, w, ws->pc),
      why);
  if (s->hazard & bit && awaited_line(s, w, &line)) say(t, ", for the line at %#lx", (unsigned long)line);
}

/* ---- the chain ---- */

static const char *refusal(uint32_t why) {
  return why == L1_NO_LINE    ? "every line of its set awaits data"
         : why == L1_NO_MISSQ ? "the miss queue is full"
         : why == L1_NO_MSHR  ? "no MSHR is free"
         : why == L1_NO_MERGE ? "the list of its MSHR is full"
                              : "it was not looked up";
}

static void say_sm(struct text *t, const struct gpu *g, const struct sm *s) {
  const struct l1d *l = &s->l1d;
  uint8_t kind = s->now_counts.stall_kind;
  if (s->dispatch) {
    const struct op *o = &s->op[s->dispatch];
    say(t, "\n  SM %u: memory pipe held by warp %u, PTX line %u%s", s->id, o->warp,
        line_of(s, o->warp, o->uop->inst->pc),
        kind == STALL_L1D      ? ": the L1 takes no access"
        : kind == STALL_BYPASS ? ": the interconnect takes no request"
        : kind == STALL_CONST  ? ": the constant cache takes no access"
        : kind == STALL_TEX    ? ": the texture cache takes no access"
                               : "");
  }
  if (l->lat_count)
    say(t, "\n  L1 of SM %u: access to %#lx refused, %s", s->id, (unsigned long)l->lat[l->lat_head].acc.addr,
        refusal(s->now_counts.l1_reject));
  say(t, "\n  L1 of SM %u: MSHRs %u of %u, miss queue %u of %u", s->id, l->mshrs_busy, l->mshrs, l->missq.count,
      l->missq_limit);
  uint32_t to;
  if (icnt_bound(g->icnt, s->id, &to))
    say(t, "\n  interconnect: a packet of SM %u waits to go to L2 sub-partition %u%s", s->id, to - g->config.sms,
        icnt_can_push(g->icnt, s->id, REQ_HEADER_BYTES) ? "" : ", with no room behind it");
  if (icnt_peek(g->icnt, s->id) || s->eject.count || s->response.count)
    say(t, "\n  replies at SM %u: %sejection queue %u of %u, response queue %u of %u", s->id,
        icnt_peek(g->icnt, s->id) ? "one waits in the interconnect, " : "", s->eject.count, s->eject.limit,
        s->response.count, s->response.limit);
}

static void say_queue(struct text *t, const char *name, const struct l2_queue *q) {
  say(t, ", %s %u of %u", name, q->count, q->limit);
}

static void say_l2(struct text *t, const struct gpu *g, uint32_t p) {
  const struct l2_slice *l = partition_slice(g->parts, p);
  say(t, "\n  L2 sub-partition %u:%s ROP delay %u", p,
      icnt_peek(g->icnt, g->config.sms + p) ? " a request waits in the interconnect," : "", l->rop.count);
  for (uint32_t i = 0; i < l->banks; i++) {
    const struct l2_bank *b = &l->bank[i];
    if (!b->in.count && !b->mshrs.used && !b->miss.count && !b->from_dram.count) continue;
    if (l->banks > 1) say(t, "; bank %u", i);
    say_queue(t, "input", &b->in);
    if (b->in.count && b->refused) say(t, " (its head is refused)");
    if (b->in.count && b->data_free > l->t) say(t, " (the data port is busy)");
    say(t, ", MSHRs %u of %u", b->mshrs.used, b->mshrs.limit);
    say_queue(t, "miss queue", &b->miss);
    say_queue(t, "from DRAM", &b->from_dram);
  }
  say_queue(t, "to DRAM", &l->to_dram);
  say_queue(t, "replies", &l->out);
  if (l->out.count && !icnt_can_push(g->icnt, g->config.sms + p, REQ_HEADER_BYTES))
    say(t, " (the interconnect has no room)");
}

static void say_dram(struct text *t, const struct gpu *g, const struct req *r) {
  const struct dram *d = partition_dram(g->parts, r->channel);
  const struct dram_bank *b = &d->bank[r->bank];
  say(t, "\n  DRAM channel %u: fixed delay %u, queue %u of %u, return queue %u of %u; bank %u: row %u %s, %s",
      r->channel, partition_delayed(g->parts, r->channel), d->pending[0] + d->pending[1], d->limit, d->returns.count,
      d->returns.limit, r->bank, b->row, b->open ? "open" : "closed",
      d->busy >> r->bank & 1      ? "serves a request"
      : d->waiting >> r->bank & 1 ? "has requests waiting"
                                  : "has no request");
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

/* A request of this SM that makes no progress: the oldest that is known. Its bank is 0 if only its way is. */
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
  else if (!awaited_line(s, SM_WARPS, &r->addr) && !awaited_read_only(&s->l1i, &r->addr) &&
           !awaited_read_only(&s->l1c, &r->addr) && !texcache_awaited(&s->l1t, &r->addr))
    return false;
  partition_locate(g->parts, r);
  return true;
}

void gpu_describe_stuck(const struct gpu *g, struct err *e) {
  char buf[1800];
  struct text t = {.at = buf, .size = sizeof buf};
  buf[0] = 0;
  uint32_t shown = 0, chains = 0;
  bool silent = g->now - g->progress_at > g->watchdog;
  for (uint32_t i = 0; i < g->config.sms; i++)
    for (uint64_t m = g->sm[i].live; m && shown < WARPS_SHOWN; m &= m - 1, shown++)
      say_warp(&t, &g->sm[i], (uint32_t)__builtin_ctzll(m), silent);
  for (uint32_t i = 0; silent && i < g->config.sms && chains < CHAINS_SHOWN; i++) {
    const struct sm *s = &g->sm[i];
    struct req r = {0};
    if (!s->live || !destination(g, s, &r)) continue;
    if (!chains++) say(&t, "\n queues from there to memory and back:");
    say_sm(&t, g, s);
    say_l2(&t, g, r.subpart);
    say_dram(&t, g, &r);
  }
  err_set(e, ERR_STUCK, "kernel %s makes no progress: %s for %lu cycles (cycle %lu of the launch)%s", g->kernel->name,
          silent ? "nothing issued" : "warps issue, but no block began or ended",
          (unsigned long)(g->now - (silent ? g->progress_at : g->block_at)), (unsigned long)(g->now - g->start), buf);
}

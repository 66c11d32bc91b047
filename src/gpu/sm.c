/* sm.c - a streaming multiprocessor: its state, the warp schedulers, and the order of work within a cycle.
 *
 * Model: gpu-model "Front of the SM". A cycle is: write results back, start pipes and the memory unit (operand
 * collectors step inside it), issue, decode, fetch.
 */
#include "gpu/sm.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/gpu_impl.h"

static void *take(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  CHECK(p, "out of memory for an SM");
  return p;
}

/* Aligned to the host's cache lines, cleared. */
static void *take_lines(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
  CHECK(p, "out of memory for an SM");
  return memset(p, 0, bytes);
}

void sm_plan_init(struct sm_plan *p, const struct gpu_config *c) {
  *p = (struct sm_plan){.col_sfu = (uint8_t)c->oc_sp, .col_mem = (uint8_t)(c->oc_sp + c->oc_sfu)};
  for (uint32_t w = 0; w < SM_WARPS; w += c->schedulers) p->turns |= 1ull << w;
  p->set_sp = (1ull << c->oc_sp) - 1;
  p->set_sfu = ((1ull << c->oc_sfu) - 1) << p->col_sfu;
  p->set_mem = ((1ull << c->oc_mem) - 1) << p->col_mem;
}

/* The warps of scheduler `k`. */
static inline uint64_t sm_turn(const struct sm *s, uint32_t k) {
  return s->g->plan.turns << k;
}

void sm_init(struct sm *s, struct gpu *g, uint32_t id) {
  const struct gpu_config *c = &g->config;
  s->g = g;
  s->c = c;
  s->id = id;
  s->st = &g->stats;
  s->wb_due = UINT64_MAX;
  s->shared_depth = c->shared_latency;
  rocache_init(&s->l1i, &c->l1i);
  rocache_init(&s->l1c, &c->l1c);
  texcache_init(&s->l1t, c);
  l1d_init(&s->l1d, c);
  if (g->slots.n_l1) l1_org_init(s);
  if (g->slots.n_queues) l1_order_init(s);
  s->id_sp.width = s->ex_sp.width = (uint8_t)c->sp_width;
  s->id_sfu.width = s->ex_sfu.width = (uint8_t)c->sfu_width;
  s->id_mem.width = s->ex_mem.width = 1;
  if (c->sub_cores) sm_sub_init(s);
  reqq_init(&s->response, c->ldst_response_queue);
  reqq_init(&s->eject, c->cluster_response_queue);
  s->op_size = 256;
  s->op = take_lines(s->op_size * sizeof *s->op);
  for (uint32_t i = s->op_size - 1; i > 0; i--) s->op[i].next = s->op_free, s->op_free = (op_id)i;
}

void sm_destroy(struct sm *s) {
  sm_sub_destroy(s);
  rocache_destroy(&s->l1i);
  rocache_destroy(&s->l1c);
  texcache_destroy(&s->l1t);
  l1d_destroy(&s->l1d);
  reqq_free(&s->response);
  reqq_free(&s->eject);
  free(s->op);
  for (uint32_t b = 0; b < ACCESS_BUFFERS; b++) free(s->buffer[b]);
  free(s->score);
  free(s->score_long);
}

op_id sm_op_new(struct sm *s) {
  if (!s->op_free) {
    uint32_t old = s->op_size, n = old * 2;
    CHECK(n <= 65536, "SM %u has %u instructions in flight", s->id, old);
    struct op *op = take_lines(n * sizeof *op);
    memcpy(op, s->op, old * sizeof *op);
    free(s->op);
    s->op = op;
    for (uint32_t i = n; i-- > old;) s->op[i].next = s->op_free, s->op_free = (op_id)i;
    s->op_size = n;
  }
  op_id id = s->op_free;
  s->op_free = s->op[id].next;
  return id;
}

void sm_op_free(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (o->buffer != NO_BUFFER) s->buffer_used &= ~(1ull << o->buffer);
  o->next = s->op_free;
  s->op_free = id;
}

static uint64_t *widen(uint64_t *rows, uint32_t from, uint32_t to) {
  uint64_t *out = take((size_t)to * SM_WARPS, sizeof *out);
  for (uint32_t w = 0; from && w < SM_WARPS; w++)
    memcpy(out + (size_t)w * to, rows + (size_t)w * from, from * sizeof *out);
  free(rows);
  return out;
}

static inline uint64_t *score_row(const struct sm *s, uint32_t w) {
  return s->score + (size_t)w * s->score_words;
}

void sm_grow_score(struct sm *s, uint32_t max_reg) {
  uint32_t words = UOP_WORDS + max_reg / 64 + 1;
  if (words <= s->score_words) return;
  s->score = widen(s->score, s->score_words, words);
  if (s->c->warp_sched == SCHED_TWO_LEVEL) s->score_long = widen(s->score_long, s->score_words, words);
  s->score_words = words;
}

void sm_begin_kernel(struct sm *s) {
  CHECK(!s->live && !s->ctas, "SM %u still has warps when a kernel begins", s->id);
  s->warps_taken = s->regs_taken = s->shared_taken = 0;
  s->launch = s->g->launches;
  s->insts = s->warp_insts = 0;
  s->fetch_valid = false;
  s->asleep = false;
  l1d_invalidate(&s->l1d);
  if (s->l1d.org) l1_org_begin_kernel(s);
  for (uint32_t k2 = 0; k2 < s->c->schedulers; k2++)
    if (s->last_issued[k2] < 0 || !s->ages) s->last_issued[k2] = s->c->warp_sched == SCHED_LRR ? -1 : (int8_t)k2;
}

/* A launch that begins while others run finds the L1 of an SM that is empty invalidated, as the first one does. An SM
 * that holds CTAs of others keeps its lines. */
static void join_launch(struct sm *s, uint64_t launch) {
  struct l1d *l = &s->l1d;
  s->launch = launch;
  if (s->ctas || l->mshrs_busy || l->lat_count || l->missq.count || l->ready_count || l->order_waiting) return;
  l1d_invalidate(l);
  if (RARE(l->org)) l->org->clear(&l->org_of->ctx, s->id);
}

void sm_start_cta(struct sm *s, uint32_t work, uint32_t slot, uint32_t first, uint32_t cta) {
  struct gpu *g = s->g;
  const struct feed *feed = g->work[work].feed;
  const struct feed_kernel *k = feed->kernel;
  sm_settle(s, g->now + 1); /* dispatch comes after the SMs in a cycle */
  s->asleep = s->none_to_issue = false;
  gpu_wake_sm(g, s->id);
  if (g->work[work].order > s->launch) join_launch(s, g->work[work].order);
  s->ctas++;
  s->cta_id[slot] = cta;
  s->cta_first[slot] = (uint8_t)first;
  s->cta_work[slot] = (uint8_t)work;
  s->cta_feed[slot] = feed;
  s->cta_born[slot] = g->now;
  s->cta_warps_left[slot] = k->warps_per_cta;
  feed->ops->start_cta(feed->ctx, s->id * g->cta_slots_per_sm + slot, cta, s->id, first);
  for (uint32_t i = 0; i < k->warps_per_cta; i++) {
    uint32_t w = first + i;
    uint64_t bit = 1ull << w;
    s->w[w] = (struct warp_state){.pc = k->entry_pc,
                                  .fetch_pc = k->entry_pc,
                                  .cta_slot = (uint8_t)slot,
                                  .index = (uint8_t)i,
                                  .age = s->ages++,
                                  .inst_bytes = k->origin ? 0 : (uint8_t)s->c->inst_bytes,
                                  .cta = cta,
                                  .code_at = k->origin ? 0 : k->code[0].fetch_pc / 8,
                                  .uop = g->work[work].uop,
                                  .feed = feed};
    s->w_queued[w] = s->queued++;
    s->live |= bit;
    s->done &= ~bit;
    memset(score_row(s, w), 0, s->score_words * sizeof *s->score);
    if (RARE(s->score_long)) memset(s->score_long + (size_t)w * s->score_words, 0, s->score_words * sizeof *s->score);
    for (uint32_t h = 0; h < g->slots.n_on_warp_start; h++) {
      struct slot_instance *in = &g->slots.at[g->slots.on_warp_start[h]];
      in->scheme->on_warp_start(&in->ctx, s->id, w, cta);
    }
    if (RARE(g->seen.timeline)) timeline_warp_start(s, w);
  }
}

/* ---- scoreboard ---- */

/* Bit of a register in the warp's row. */
static uint32_t bit_of(const struct sm *s, uint32_t w, uint32_t reg) {
  return uop_bit(&s->g->work[s->cta_work[s->w[w].cta_slot]].reg_bits, reg);
}

static bool collides_wide(const struct sm *s, uint32_t w, const struct inst *i) {
  const uint64_t *row = score_row(s, w);
#define PENDING(reg) ((reg) && row[bit_of(s, w, reg) / 64] >> (bit_of(s, w, reg) % 64) & 1)
  for (uint32_t r = 0, n = uop_waited_sources(i); r < n; r++)
    if (PENDING(i->src[r])) return true;
  for (uint32_t r = 0; r < i->ndst; r++)
    if (PENDING(i->dst[r])) return true;
  return PENDING(i->pred) || PENDING(i->addr_reg);
#undef PENDING
}

/* Does a register of the instruction have a write pending? */
static inline bool collides(const struct sm *s, uint32_t w, const struct uop *u) {
  const uint64_t *row = score_row(s, w);
  if ((row[0] & u->waits[0]) | (row[1] & u->waits[1])) return true;
  return RARE(u->flags & UOP_WIDE) && s->w[w].regs_pending && collides_wide(s, w, u->inst);
}

static void reserve_bit(struct sm *s, uint32_t w, uint32_t b) {
  uint64_t *word = &score_row(s, w)[b / 64], bit = 1ull << (b % 64);
  if (!(*word & bit)) s->w[w].regs_pending++;
  *word |= bit;
}

static void release_bit(struct sm *s, uint32_t w, uint32_t b) {
  uint64_t *word = &score_row(s, w)[b / 64], bit = 1ull << (b % 64);
  if (*word & bit) s->w[w].regs_pending--;
  *word &= ~bit;
}

static void reserve_long(struct sm *s, uint32_t w, const struct inst *i) {
  bool memory =
      i->space == SPACE_GLOBAL || i->space == SPACE_LOCAL || i->space == SPACE_GENERIC || i->space == SPACE_TEX;
  if (i->kind != KIND_LOAD || !memory) return;
  uint64_t *row = s->score_long + (size_t)w * s->score_words;
  for (uint32_t r = 0; r < i->ndst; r++)
    if (i->dst[r]) row[i->dst[r] / 64] |= 1ull << (i->dst[r] % 64);
}

static inline void reserve_regs(struct sm *s, uint32_t w, const struct uop *u) {
  if (u->ndst == 1) {
    if (u->dst_bit) reserve_bit(s, w, u->dst_bit - 1u);
  } else {
    for (uint32_t r = 0; r < u->ndst; r++)
      if (u->inst->dst[r]) reserve_bit(s, w, bit_of(s, w, u->inst->dst[r]));
  }
  if (RARE(s->score_long)) reserve_long(s, w, u->inst);
}

static void release_long(struct sm *s, uint32_t w, const struct inst *i) {
  for (uint32_t r = 0; r < i->ndst; r++)
    s->score_long[(size_t)w * s->score_words + i->dst[r] / 64] &= ~(1ull << (i->dst[r] % 64));
}

/* Does the warp's next instruction wait for a load? Asked only of warps with a hazard. */
static bool waits_for_load(const struct sm *s, uint32_t w) {
  const struct inst *i = s->w[w].uop[s->w[w].pc].inst;
  const uint64_t *row = s->score_long + (size_t)w * s->score_words;
#define LONG(reg) ((reg) && row[(reg) / 64] >> ((reg) % 64) & 1)
  for (uint32_t r = 0; r < uop_waited_sources(i); r++)
    if (LONG(i->src[r])) return true;
  for (uint32_t r = 0; r < i->ndst; r++)
    if (LONG(i->dst[r])) return true;
  return LONG(i->pred) || LONG(i->addr_reg);
#undef LONG
}

static void update_long(struct sm *s, uint32_t w) {
  uint64_t bit = 1ull << w;
  s->hazard_long = s->hazard & bit && waits_for_load(s, w) ? s->hazard_long | bit : s->hazard_long & ~bit;
}

/* Nothing keeps the warp from issuing its memory instruction but the turn of others. */
static inline void issues_soon(struct sm *s, uint32_t w) {
  const struct feed *f = s->w[w].feed;
  if (f->ops->soon) f->ops->soon(f->ctx, s->id * s->g->cta_slots_per_sm + s->w[w].cta_slot, s->w[w].index);
}

void sm_release_regs(struct sm *s, const struct op *o) {
  uint32_t w = o->warp;
  uint64_t bit = 1ull << w;
  if (o->ndst == 1) {
    if (o->dst_bit) release_bit(s, w, o->dst_bit - 1u);
  } else {
    for (uint32_t r = 0; r < o->ndst; r++)
      if (o->uop->inst->dst[r]) release_bit(s, w, bit_of(s, w, o->uop->inst->dst[r]));
  }
  if (RARE(s->score_long)) release_long(s, w, o->uop->inst);
  s->drained |= bit;
  if (s->fence & bit && !s->w[w].regs_pending) {
    s->fence &= ~bit;
    s->fenced = true;
    s->none_to_issue = false;
  }
  if (s->hazard & bit && !collides(s, w, &s->w[w].uop[s->w[w].pc])) {
    s->hazard &= ~bit;
    s->none_to_issue = false;
    if (s->to_mem & bit) issues_soon(s, w);
  }
  if (RARE(s->score_long)) update_long(s, w);
}

/* ---- instruction buffers as masks ---- */

static struct uop *uop_new(struct sm *s, const struct warp_state *ws) {
  struct gpu_work *k = &s->g->work[s->cta_work[ws->cta_slot]];
  struct uop *u = &ws->uop[ws->pc];
  uop_make(u, &k->feed->kernel->code[ws->pc], &k->reg_bits, s->c->reg_banks);
  return u;
}

void sm_update_head(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  uint64_t bit = 1ull << w;
  s->none_to_issue = false;
  s->head &= ~bit, s->stale &= ~bit, s->hazard &= ~bit;
  if (ws->ibuf_valid) s->ibuf_any |= bit;
  else s->ibuf_any &= ~bit;
  if (s->done & bit || !(ws->ibuf_valid >> ws->ibuf_next & 1)) return;
  if (ws->ibuf[ws->ibuf_next] != ws->pc) {
    s->stale |= bit;
    return;
  }
  struct uop *u = &ws->uop[ws->pc];
  if (RARE(!u->inst)) u = uop_new(s, ws);
  s->head |= bit;
  s->to_sfu = (s->to_sfu & ~bit) | (u->flags & UOP_SFU ? bit : 0);
  s->to_mem = (s->to_mem & ~bit) | (u->flags & UOP_MEMORY ? bit : 0);
  s->load_head = (s->load_head & ~bit) | (u->flags & UOP_LOADS ? bit : 0);
  if (RARE(s->c->sub_cores)) sm_sub_head(s, w, u->inst);
  if (collides(s, w, u)) s->hazard |= bit;
  else if (u->flags & UOP_MEMORY) issues_soon(s, w);
  if (RARE(s->score_long)) update_long(s, w);
}

void sm_flush_ibuf(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  ws->in_pipe = (uint16_t)(ws->in_pipe - __builtin_popcount(ws->ibuf_valid));
  ws->ibuf_valid = 0;
  s->drained |= 1ull << w;
  sm_update_head(s, w);
}

/* ---- issue ---- */

static inline void pipe_reg_push(struct pipe_reg *r, op_id id) {
  r->at[r->count++] = id;
}

/* Instruction mix and register traffic: what the energy model charges. */
static inline void count_unit(struct gpu_stats *st, const struct uop *u, uint32_t lanes) {
  st->reg_reads += u->reg_reads;
  st->reg_writes += u->ndst;
  *(uint64_t *)((char *)st + u->counter) += lanes;
}

/* While launches overlap, what each of them executes is counted once more for itself. */
static void count_for_launch(struct sm *s, uint32_t slot, const struct uop *u, uint32_t lanes) {
  struct gpu_stats *own = &s->g->work[s->cta_work[slot]].own;
  own->warp_insts++;
  own->thread_insts += lanes;
  count_unit(own, u, lanes);
}

static bool issue(struct sm *s, uint32_t w) {
  struct gpu *g = s->g;
  struct warp_state *ws = &s->w[w];
  const struct uop *u = &ws->uop[ws->pc];
  uint64_t bit = 1ull << w;
  struct issued *is = &g->issued;
  is->cycle = g->now;
  is->waits = false;
  is->released = 0;
  is->peers = 0;
  is->remote = 0;
  is->token = 0;
  const struct feed *feed = ws->feed;
  if (!feed->ops->issue(feed->ctx, s->id * g->cta_slots_per_sm + ws->cta_slot, ws->index, is)) {
    g->faulted = feed;
    return false;
  }

  op_id id = sm_op_new(s);
  struct op *o = &s->op[id];
  *o = (struct op){.uop = u,
                   .order = ++s->orders,
                   .born = g->now,
                   .mask = is->mask,
                   .token = is->token,
                   .cta = ws->cta,
                   .warp = (uint8_t)w,
                   .buffer = NO_BUFFER,
                   .lat = u->lat,
                   .ndst = u->ndst,
                   .dst_bit = u->dst_bit,
                   .dst_bank = u->dst_bank};
  s->st->warp_insts++;
  uint32_t lanes = (uint32_t)__builtin_popcount(is->mask);
  s->st->thread_insts += lanes;
  count_unit(s->st, u, lanes);
  if (RARE(g->overlap)) count_for_launch(s, ws->cta_slot, u, lanes);
  s->insts += lanes;
  s->warp_insts++;
  for (uint32_t h = 0; h < g->slots.n_on_issue; h++) {
    struct slot_instance *in = &g->slots.at[g->slots.on_issue[h]];
    in->scheme->on_issue(&in->ctx, s->id, w, u->inst);
  }

  ws->ibuf_valid = (uint8_t)(ws->ibuf_valid & ~(1u << ws->ibuf_next));
  ws->ibuf_next ^= 1;
  reserve_regs(s, w, u);
  if (u->flags & UOP_MEMORY) {
    sm_prepare_memory(s, id, is);
    if (!s->c->sub_cores) pipe_reg_push(&s->id_mem, id);
  } else if (!s->c->sub_cores) {
    pipe_reg_push(u->flags & UOP_SFU ? &s->id_sfu : &s->id_sp, id);
  }
  if (RARE(s->c->sub_cores)) sm_sub_issue(s, w, id);
  ws->fetch_pc = ws->pc + 1;
  ws->pc = is->next_pc;
  if (is->next_pc == FEED_DONE) s->done |= bit, s->drained |= bit;
  /* Lanes that exit empty the buffer; a recorded warp may end with any instruction. */
  if ((u->flags & UOP_EXIT && is->mask) || is->next_pc == FEED_DONE) {
    ws->in_pipe = (uint16_t)(ws->in_pipe - __builtin_popcount(ws->ibuf_valid));
    ws->ibuf_valid = 0;
    s->drained |= bit;
  }
  if (is->waits) s->barrier |= bit;
  if (u->flags & UOP_FENCE) {
    if (ws->regs_pending) s->fence |= bit;
    else l1d_drop(s);
  }
  if (is->released) {
    uint64_t cta = is->released << s->cta_first[ws->cta_slot];
    s->barrier &= ~cta;
  }
  for (uint32_t p = 0; RARE(p < is->peers); p++) gpu_release_later(g, &is->peer[p]);
  sm_update_head(s, w);
  return true;
}

/* Two-level scheduling (Narasiman et al., MICRO 2011; Gebhart et al., ISCA 2011): warps that wait for a load, a barrier
 * or a fence leave the active set of their scheduler for the pending one; its places go to the warps that have been
 * pending longest and no longer wait. Repeating it without an event changes nothing. */
static uint64_t active_warps(struct sm *s, uint32_t k, uint64_t waiting) {
  uint64_t mine = sm_turn(s, k) & s->live, waits = waiting | (s->hazard & s->hazard_long);
  uint64_t active = s->active[k] & mine;
  for (uint64_t m = active & waits; m; m &= m - 1) s->w_queued[__builtin_ctzll(m)] = s->queued++;
  active &= ~waits;
  while ((uint32_t)__builtin_popcountll(active) < s->c->two_level_active && mine & ~waits & ~active) {
    uint64_t free = mine & ~waits & ~active;
    int first = __builtin_ctzll(free);
    for (uint64_t m = free & (free - 1); m; m &= m - 1)
      if (s->w_queued[__builtin_ctzll(m)] < s->w_queued[first]) first = __builtin_ctzll(m);
    active |= 1ull << first;
  }
  return s->active[k] = active;
}

/* The warp that issues next under a scheduler, -1 if none of `eligible`. */
static int pick(struct sm *s, uint32_t k, uint64_t eligible) {
  int last = s->last_issued[k];
  if (!eligible) return -1;
  if (RARE(s->g->slots.n_pick_warp)) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.pick_warp[0]];
    int w = in->scheme->pick_warp(&in->ctx, s->id, k, eligible);
    if (w >= 0) return w;
  }
  if (s->c->warp_sched != SCHED_GTO) {
    uint64_t after = last < 0 || last == 63 ? 0 : eligible & ~0ull << (last + 1);
    return __builtin_ctzll(after ? after : eligible);
  }
  if (last >= 0 && eligible >> last & 1) return last;
  int best = __builtin_ctzll(eligible);
  for (uint64_t m = eligible & (eligible - 1); m; m &= m - 1) {
    int w = __builtin_ctzll(m);
    if (s->w[w].age < s->w[best].age) best = w;
  }
  return best;
}

/* Warps whose buffered instruction is not the one at their pc are flushed when the scheduler looks at them, which it
 * does in priority order until one has issued. */
static void flush_stale(struct sm *s, uint32_t k, uint64_t stale, int issued) {
  int last = s->last_issued[k];
  for (uint64_t m = stale; m; m &= m - 1) {
    int w = __builtin_ctzll(m);
    bool looked = true;
    if (issued >= 0) {
      if (s->c->warp_sched != SCHED_GTO) {
        uint32_t n = SM_WARPS, from = (uint32_t)(last + 1);
        looked = ((uint32_t)w + n - from) % n < ((uint32_t)issued + n - from) % n;
      } else {
        looked = w == last || (issued != last && s->w[w].age < s->w[issued].age);
      }
    }
    if (!looked) continue;
    s->w[w].fetch_pc = s->w[w].pc;
    sm_flush_ibuf(s, (uint32_t)w);
    s->acted = true;
  }
}

/* What the schedulers see of the warps; with all that could issue. */
struct view {
  uint64_t look;     /* those that wait for nothing but their next instruction */
  uint64_t ready;    /* of them, those whose next instruction has its operands */
  uint64_t eligible; /* of them, those with room for it behind the schedulers */
  uint64_t stale;    /* of `look`: to be flushed */
};

static inline struct view view_of(const struct sm *s) {
  struct view v;
  v.look = s->live & ~(s->done | s->barrier | s->fence | s->atomic_wait);
  v.ready = v.look & s->head & ~s->hazard;
  v.stale = v.look & s->stale;
  v.eligible = 0;
  if (RARE(s->c->sub_cores)) {
    for (uint32_t k = 0; v.ready && k < s->c->schedulers; k++)
      v.eligible |= v.ready & sm_turn(s, k) & sm_sub_room(s, k);
    return v;
  }
  if (s->id_sp.count < s->id_sp.width) v.eligible |= v.ready & ~(s->to_sfu | s->to_mem);
  if (s->id_sfu.count < s->id_sfu.width) v.eligible |= v.ready & s->to_sfu;
  if (s->id_mem.count < s->id_mem.width) v.eligible |= v.ready & s->to_mem;
  return v;
}

/* Why a scheduler with the warps `mine` issues nothing. */
static inline uint8_t blocked_category(const struct sm *s, const struct view *v, uint64_t mine) {
  if (v->ready & mine) return v->ready & mine & s->to_mem ? CAT_MEMORY : CAT_PIPE;
  if (v->look & s->head & mine) return CAT_DATA;
  if (!(mine & s->live & ~s->done)) return CAT_IDLE;
  return v->look & mine ? CAT_CONTROL : CAT_BARRIER;
}

/* Schemes and two-level scheduling restrict the warps that scheduler `k` may take. */
static void restrict_warps(struct sm *s, uint32_t k, const struct view *v, uint64_t *eligible, uint64_t *stale) {
  uint64_t allowed = ~0ull;
  for (uint32_t h = 0; h < s->g->slots.n_may_issue && (*eligible || s->score_long); h++) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.may_issue[h]];
    allowed &= in->scheme->may_issue(&in->ctx, s->id, v->look, s->load_head & s->head);
  }
  if (RARE(s->score_long)) {
    uint64_t active = active_warps(s, k, ~v->look | ~allowed);
    allowed &= active;
    *stale &= active;
  }
  *eligible &= allowed;
}

/* The schedulers take turns in going first. What one has issued changes what the next one sees. */
static bool schedule(struct sm *s) {
  struct view v = view_of(s);
  uint32_t n = s->c->schedulers, k = s->first;
  bool restricted = s->score_long || s->g->slots.n_may_issue;
  if (!(v.eligible | v.stale) && !s->score_long) {
    for (k = 0; k < n; k++) s->now_counts.sched_cat[k] = blocked_category(s, &v, sm_turn(s, k));
    s->none_to_issue = true;
    return true;
  }
  for (uint32_t i = 0; i < n; i++, k = ring_at(k + 1, n)) {
    uint64_t mine = sm_turn(s, k), eligible = v.eligible & mine, stale = v.stale & mine;
    if (RARE(restricted)) restrict_warps(s, k, &v, &eligible, &stale);
    int w = pick(s, k, eligible);
    s->now_counts.sched_cat[k] = w >= 0 ? CAT_ISSUED : blocked_category(s, &v, mine);
    if (stale) flush_stale(s, k, stale, w);
    if (w >= 0) {
      s->acted = true;
      if (!issue(s, (uint32_t)w)) return false;
      s->last_issued[k] = (int8_t)w;
    }
    if (i + 1 < n && (stale || w >= 0)) v = view_of(s);
  }
  return true;
}

/* ---- counters of one cycle, or of `n` cycles that repeat it ---- */

static void count_refusals(struct sm *s, uint64_t n) {
  const struct sm_counts *c = &s->run_counts;
  struct gpu_stats *st = s->st;
  if (c->l1_reject_of & REJECT_WRITE) {
    *(c->l1_reject_of & REJECT_LOCAL ? &st->l1d_local_write_rejects : &st->l1d_write_rejects) += n;
    return;
  }
  if (c->l1_reject_of & REJECT_LOCAL) {
    st->l1d_local_read_rejects += n;
    return;
  }
  st->l1d_read_rejects += n;
  switch (c->l1_reject) {
  case L1_NO_LINE:
    st->l1d_rej_line += n;
    break;
  case L1_NO_MISSQ:
    st->l1d_rej_missq += n;
    break;
  case L1_NO_MSHR:
    st->l1d_rej_mshr += n;
    break;
  case L1_NO_MERGE:
    st->l1d_rej_merge += n;
    break;
  default:
    break;
  }
}

/* The head of the memory pipe stalled in `n` cycles: who watches wants to know which instruction it was. */
static void see_stalls(struct sm *s, uint64_t from, uint64_t n) {
  if (s->g->seen.inst) sm_seen_inst(s, &s->op[s->dispatch])->stalls += n;
  if (s->g->seen.timeline) timeline_stall(s, from, n, s->now_counts.stall_kind);
}

/* The cycles of the run. */
static void count_run(struct sm *s) {
  const struct sm_counts *c = &s->run_counts;
  uint64_t n = s->run;
  for (uint32_t k = 0; k < s->c->schedulers; k++) s->tally.issue[c->sched_cat[k]] += n;
  if (c->stall_kind != STALL_NONE) s->tally.stall[c->stall_kind] += n;
  if (c->icnt) s->tally.icnt += n;
  if (c->l1_reject != L1_HIT) count_refusals(s, n);
  s->run = 0;
}

void sm_count(struct sm *s) {
  count_run(s);
  struct sm_tally *t = &s->tally;
  struct gpu_stats *st = s->st;
  for (uint32_t k = 0; k < 8; k++) st->issue_slots += t->issue[k];
  st->issue_issued += t->issue[CAT_ISSUED];
  st->issue_data += t->issue[CAT_DATA];
  st->issue_memory += t->issue[CAT_MEMORY];
  st->issue_pipe += t->issue[CAT_PIPE];
  st->issue_barrier += t->issue[CAT_BARRIER];
  st->issue_control += t->issue[CAT_CONTROL];
  st->issue_idle += t->issue[CAT_IDLE] + t->issue[CAT_NONE];
  st->stall_shared += t->stall[STALL_SHARED];
  st->stall_const += t->stall[STALL_CONST];
  st->stall_tex += t->stall[STALL_TEX];
  st->stall_l1d += t->stall[STALL_L1D];
  st->stall_bypass += t->stall[STALL_BYPASS];
  st->stall_coalesce += t->stall[STALL_COALESCE];
  st->stall_icnt += t->icnt;
  *t = (struct sm_tally){0};
}

/* This cycle, and `n` - 1 that repeat it. */
static inline void count_cycles(struct sm *s, uint64_t from, uint64_t n) {
  s->now_counts.icnt = s->wait_icnt;
  if (memcmp(&s->now_counts, &s->run_counts, sizeof s->run_counts) != 0) {
    count_run(s);
    s->run_counts = s->now_counts;
  }
  s->run += n;
  if (s->now_counts.stall_kind != STALL_NONE && RARE(s->g->seen.inst || s->g->seen.timeline)) see_stalls(s, from, n);
}

void sm_settle(struct sm *s, uint64_t until) {
  if (!s->asleep || until <= s->slept_from) return;
  uint64_t n = until - s->slept_from;
  count_cycles(s, s->slept_from, n);
  s->first = (uint8_t)((s->first + n) % s->c->schedulers);
  s->slept_from = until;
}

static void fall_asleep(struct sm *s) {
  uint64_t wake = s->wb_due;
  for (uint32_t h = 0; h < s->g->slots.n_issue_wake; h++) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.issue_wake[h]];
    uint64_t at = in->scheme->issue_wake(&in->ctx, s->id);
    if (at < wake) wake = at;
  }
  if (s->wake_at > wake) s->wake_at = wake;
  s->asleep = s->wake_at > s->g->now + 1;
  if (RARE(s->g->slots.count)) s->need_icnt = REQ_HEADER_BYTES; /* a scheme may look at the room itself */
  s->slept_from = s->g->now + 1;
}

/* Is there anything in a part of the SM that its function would look at? */
static inline bool memory_busy(const struct sm *s) {
  const struct l1d *l = &s->l1d;
  return s->next_wb | s->dispatch | s->ex_mem.count | s->shared_count | s->next_global | l->ready_count | l->lat_count |
         l->missq.count | l->order_waiting | s->response.count | (s->ro_active & (RO_TEX | RO_CONST));
}
/* Does an operand collector fill or empty? */
static inline bool collectors_move(const struct sm *s) {
  uint64_t leave = s->col_ready, unused = ~s->col_used;
  if (leave && ((s->ex_sp.count < s->ex_sp.width && leave & s->g->plan.set_sp) ||
                (s->ex_sfu.count < s->ex_sfu.width && leave & s->g->plan.set_sfu) ||
                (s->ex_mem.count < s->ex_mem.width && leave & s->g->plan.set_mem)))
    return true;
  return (s->id_sp.count && unused & s->g->plan.set_sp) || (s->id_sfu.count && unused & s->g->plan.set_sfu) ||
         (s->id_mem.count && unused & s->g->plan.set_mem);
}
static inline bool fetch_busy(const struct sm *s) {
  return s->fetch_valid | (s->ro_active & RO_INST) ||
         (s->live & ((s->done & s->drained) | ~(s->done | s->imiss | s->ibuf_any)));
}

bool sm_step(struct sm *s) {
  s->acted = false;
  s->wait_icnt = s->watch_icnt = false;
  s->need_icnt = UINT32_MAX;
  s->wake_at = UINT64_MAX;
  s->now_counts.stall_kind = STALL_NONE;
  s->now_counts.l1_reject = L1_HIT;
  s->bank_write = 0;
  if (s->wb_due == s->g->now) sm_writeback(s);
  if (s->c->sub_cores || s->ex_sp.count | s->ex_sfu.count) {
    if (s->alu_at != s->g->now) sm_execute_alu(s, s->g->now);
    else s->acted = true; /* what is left waits for the next cycle */
  }
  if (memory_busy(s) && !sm_ldst(s)) return false;
  if (s->c->sub_cores || s->bank_wait || collectors_move(s)) sm_collect(s);
  if (RARE(s->fenced)) s->fenced = false, l1d_drop(s);
  if (!s->none_to_issue && !schedule(s)) return false;
  for (uint32_t i = 0; i < s->c->fetch_width && fetch_busy(s); i++) sm_fetch(s);
  count_cycles(s, s->g->now, 1);
  s->first = (uint8_t)ring_at(s->first + 1u, s->c->schedulers);
  if (!s->acted && s->g->may_sleep && !s->g->every_cycle) fall_asleep(s);
  return true;
}

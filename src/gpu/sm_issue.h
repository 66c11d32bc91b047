/* sm_issue.h - of an SM's step (sm_step.h): the warp schedulers and the issue of an instruction. */

/* The warps of scheduler `k`. */
static inline uint64_t sm_turn(const struct sm *s, uint32_t k) {
  return PLAN(s, turns) << k;
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

ONCE bool issue(struct sm *s, uint32_t w) {
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

  op_id id = op_new(s);
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
  if (OVERLAP(s)) count_for_launch(s, ws->cta_slot, u, lanes);
  s->insts += lanes;
  s->warp_insts++;
  for (uint32_t h = 0; h < HOOKS(s, on_issue); h++) {
    struct slot_instance *in = &g->slots.at[g->slots.on_issue[h]];
    in->scheme->on_issue(&in->ctx, s->id, w, u->inst);
  }

  ws->ibuf_valid = (uint8_t)(ws->ibuf_valid & ~(1u << ws->ibuf_next));
  ws->ibuf_next ^= 1;
  reserve_regs(s, w, u);
  s->collect_look = true;
  if (u->flags & UOP_MEMORY) {
    prepare_memory(s, id, is);
    if (!SUB_CORES(s)) pipe_reg_push(&s->id_mem, id), s->col_wanted |= PLAN(s, set_mem);
  } else if (!SUB_CORES(s)) {
    pipe_reg_push(u->flags & UOP_SFU ? &s->id_sfu : &s->id_sp, id);
    s->col_wanted |= u->flags & UOP_SFU ? PLAN(s, set_sfu) : PLAN(s, set_sp);
  }
  if (SUB_CORES(s)) sm_sub_issue(s, w, id);
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
  if (ws->ibuf_valid) head_comes(s, w);
  else head_gone(s, w);
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
  if (HOOKS(s, pick_warp)) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.pick_warp[0]];
    int w = in->scheme->pick_warp(&in->ctx, s->id, k, eligible);
    if (w >= 0) return w;
  }
  if (KNOB(s, warp_sched) != SCHED_GTO) {
    uint64_t after = last < 0 || last == 63 ? 0 : eligible & ~0ull << (last + 1);
    return __builtin_ctzll(after ? after : eligible);
  }
  if (last >= 0 && eligible >> last & 1) return last;
  /* CTAs fill the slots from the first on: the first one is often the oldest. */
  int best = __builtin_ctzll(eligible);
  for (uint64_t older; (older = eligible & s->older[best]);) best = __builtin_ctzll(older);
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
      if (KNOB(s, warp_sched) != SCHED_GTO) {
        uint32_t n = SM_WARPS, from = (uint32_t)(last + 1);
        looked = ((uint32_t)w + n - from) % n < ((uint32_t)issued + n - from) % n;
      } else {
        looked = w == last || (issued != last && s->older[issued] >> w & 1);
      }
    }
    if (!looked) continue;
    s->w[w].fetch_pc = s->w[w].pc;
    flush_ibuf(s, (uint32_t)w);
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
  if (SUB_CORES(s)) {
    for (uint32_t k = 0; v.ready && k < KNOB(s, schedulers); k++)
      v.eligible |= v.ready & sm_turn(s, k) & sm_sub_room(s, k);
    return v;
  }
  if (s->id_sp.count < WIDTH(s->id_sp, PLAIN_sp_width)) v.eligible |= v.ready & ~(s->to_sfu | s->to_mem);
  if (s->id_sfu.count < WIDTH(s->id_sfu, PLAIN_sfu_width)) v.eligible |= v.ready & s->to_sfu;
  if (!s->id_mem.count) v.eligible |= v.ready & s->to_mem;
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
  for (uint32_t h = 0; h < HOOKS(s, may_issue) && (*eligible || s->score_long); h++) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.may_issue[h]];
    allowed &= in->scheme->may_issue(&in->ctx, s->id, v->look, s->load_head & s->head);
  }
  if (TWO_LEVEL(s)) {
    uint64_t active = active_warps(s, k, ~v->look | ~allowed);
    allowed &= active;
    *stale &= active;
  }
  *eligible &= allowed;
}

/* The schedulers take turns in going first. What one has issued changes what the next one sees. */
ONCE bool schedule(struct sm *s) {
  struct view v = view_of(s);
  uint32_t n = KNOB(s, schedulers), k = s->first;
  bool restricted = TWO_LEVEL(s) || HOOKS(s, may_issue);
  if (!(v.eligible | v.stale) && !TWO_LEVEL(s)) {
    for (k = 0; k < n; k++) s->now_counts.sched_cat[k] = blocked_category(s, &v, sm_turn(s, k));
    s->none_to_issue = true;
    return true;
  }
  for (uint32_t i = 0; i < n; i++, k = modulo(k + 1, n)) {
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

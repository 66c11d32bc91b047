/* sm_regs.h - of an SM's step (sm_step.h): instructions in flight, the scoreboard, and what stands at the head of the
 * warps' instruction buffers, as masks. */

static op_id op_new(struct sm *s) {
  if (RARE(!s->op_free)) sm_more_ops(s);
  op_id id = s->op_free;
  s->op_free = s->op[id].next;
  return id;
}

static void op_free(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (o->buffer != NO_BUFFER) s->buffer_used &= ~(1ull << o->buffer);
  o->next = s->op_free;
  s->op_free = id;
}

/* ---- scoreboard ---- */

/* Bit of a register in the warp's row. */
static uint32_t bit_of(const struct sm *s, uint32_t w, uint32_t reg) {
  return uop_bit(&s->g->work[s->cta_work[s->w[w].cta_slot]].reg_bits, reg);
}

static bool is_pending(struct sm *s, uint32_t w, uint32_t reg) {
  uint32_t b = bit_of(s, w, reg);
  return *score_word(s, w, b) >> (b % 64) & 1;
}

static bool collides_wide(struct sm *s, uint32_t w, const struct inst *i) {
#define PENDING(reg) ((reg) && is_pending(s, w, reg))
  for (uint32_t r = 0, n = uop_waited_sources(i); r < n; r++)
    if (PENDING(i->src[r])) return true;
  for (uint32_t r = 0; r < i->ndst; r++)
    if (PENDING(i->dst[r])) return true;
  return PENDING(i->pred) || PENDING(i->addr_reg);
#undef PENDING
}

/* Does a register of the instruction have a write pending? */
static inline bool collides(struct sm *s, uint32_t w, const struct uop *u) {
  const uint64_t *row = s->pending[w];
  if ((row[0] & u->waits[0]) | (row[1] & u->waits[1])) return true;
  return RARE(u->flags & UOP_WIDE) && s->w[w].regs_pending && collides_wide(s, w, u->inst);
}

static void reserve_bit(struct sm *s, uint32_t w, uint32_t b) {
  uint64_t *word = score_word(s, w, b), bit = 1ull << (b % 64);
  if (!(*word & bit)) s->w[w].regs_pending++;
  *word |= bit;
}

static void release_bit(struct sm *s, uint32_t w, uint32_t b) {
  uint64_t *word = score_word(s, w, b), bit = 1ull << (b % 64);
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
  if (TWO_LEVEL(s)) reserve_long(s, w, u->inst);
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

static void release_regs(struct sm *s, const struct op *o) {
  uint32_t w = o->warp;
  uint64_t bit = 1ull << w;
  if (o->ndst == 1) {
    if (o->dst_bit) release_bit(s, w, o->dst_bit - 1u);
  } else {
    for (uint32_t r = 0; r < o->ndst; r++)
      if (o->uop->inst->dst[r]) release_bit(s, w, bit_of(s, w, o->uop->inst->dst[r]));
  }
  if (TWO_LEVEL(s)) release_long(s, w, o->uop->inst);
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
  if (TWO_LEVEL(s)) update_long(s, w);
}

/* ---- instruction buffers as masks ---- */

static struct uop *uop_new(struct sm *s, const struct warp_state *ws) {
  struct gpu_work *k = &s->g->work[s->cta_work[ws->cta_slot]];
  struct uop *u = &ws->uop[ws->pc];
  uop_make(u, &k->feed->kernel->code[ws->pc], &k->reg_bits, KNOB(s, reg_banks));
  return u;
}

/* A warp's buffer has become empty. */
static inline void head_gone(struct sm *s, uint32_t w) {
  uint64_t bit = 1ull << w;
  s->none_to_issue = false;
  s->fetch_look = true;
  s->head &= ~bit, s->stale &= ~bit, s->hazard &= ~bit, s->ibuf_any &= ~bit;
}

/* Another instruction stands at the head of a warp's buffer: the one that follows. */
static inline void head_comes(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  uint64_t bit = 1ull << w;
  s->none_to_issue = false;
  s->head &= ~bit, s->stale &= ~bit, s->hazard &= ~bit;
  s->ibuf_any |= bit;
  if (RARE(s->done & bit)) return;
  if (ws->ibuf[ws->ibuf_next] != ws->pc) {
    s->stale |= bit;
    return;
  }
  struct uop *u = &ws->uop[ws->pc];
  if (RARE(!u->inst)) u = uop_new(s, ws);
  s->head |= bit;
  s->to_sfu = (s->to_sfu & ~bit) | (uint64_t)((u->flags & UOP_SFU) != 0) << w;
  s->to_mem = (s->to_mem & ~bit) | (uint64_t)((u->flags & UOP_MEMORY) != 0) << w;
  if (SM_KIND != SM_PLAIN) s->load_head = (s->load_head & ~bit) | (uint64_t)((u->flags & UOP_LOADS) != 0) << w;
  if (SUB_CORES(s)) sm_sub_head(s, w, u->inst);
  bool waits = collides(s, w, u);
  s->hazard |= (uint64_t)waits << w;
  if (u->flags & UOP_MEMORY && !waits) issues_soon(s, w);
  if (TWO_LEVEL(s)) update_long(s, w);
}

static void flush_ibuf(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  ws->in_pipe = (uint16_t)(ws->in_pipe - __builtin_popcount(ws->ibuf_valid));
  ws->ibuf_valid = 0;
  s->drained |= 1ull << w;
  head_gone(s, w);
}

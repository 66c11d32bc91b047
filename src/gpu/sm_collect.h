/* sm_collect.c - operand collectors, register banks, the SP and SFU pipes, and the write-back of their results.
 *
 * An issued instruction takes a free collector of its pipe's set, queues a read at the bank of each register source,
 * and leaves when all are read: one read per bank a cycle, bank writes first; a collector may take several operands in
 * the same cycle. Banks are chosen by register name plus warp (docs/gpu-model.md "Front of the SM"). A name that an
 * instruction has twice is read once, whatever the classes of the two registers, as in the reference.
 *
 * A pipe holds an instruction in its dispatch register for the class's interval; its result is written `latency` + 2
 * cycles after it entered. At most `writeback_width` results end in the same cycle.
 */
/* `first`: the bank for warp 0 (uop.h). */
static inline uint32_t bank_of(const struct sm *s, uint32_t first, uint32_t warp) {
  uint32_t banks = KNOB(s, reg_banks);
  if (!SUB_CORES(s)) return modulo(first + warp, banks);
  uint32_t n = KNOB(s, schedulers), each = banks / n; /* a sub-core's own */
  return warp % n * each + (first + warp / n) % each;
}

static bool write_bank(struct sm *s, const struct op *o, uint32_t dst) {
  const struct inst *i = dst ? o->uop->inst : NULL;
  if (!(i ? i->dst[dst] : o->dst_bit)) return true;
  uint32_t first = i ? uop_bank(i->dst_arch[dst], KNOB(s, reg_banks)) : o->dst_bank;
  if (RARE(first == NO_BANK)) return true;
  uint32_t b = bank_of(s, first, o->warp);
  if (s->bank_write >> b & 1) return false;
  s->bank_write |= 1ull << b;
  return true;
}

/* ---- pipes ---- */

static bool result_at(struct sm *s, op_id id, uint64_t cycle) {
  uint32_t at = (uint32_t)cycle % WB_RING;
  if (s->wb[at].count >= KNOB(s, writeback_width)) return false;
  if (!s->wb[at].count) s->wb_waiting++;
  if (cycle < s->wb_due) s->wb_due = cycle;
  op_id *last = &s->wb[at].first;
  for (uint32_t k = s->wb[at].count++; k; k--) last = &s->op[*last].next;
  *last = id;
  s->wb_any[at / 64] |= 1ull << (at % 64);
  return true;
}

/* Try to start the oldest instruction of `from`, which collectors of `set` fill, on pipe `p` in `cycle`. */
static void start(struct sm *s, uint32_t p, struct pipe_reg *from, uint64_t set, uint64_t cycle) {
  if (!from->count) return;
  if (s->pipe_free_at[p] > cycle) {
    if (s->pipe_free_at[p] < s->wake_at) s->wake_at = s->pipe_free_at[p];
    return;
  }
  uint32_t best = 0;
  for (uint32_t i = 1; i < from->count; i++)
    if (s->op[from->at[i]].order < s->op[from->at[best]].order) best = i;
  op_id id = from->at[best];
  struct latency_config l = s->c->lat[s->op[id].lat];
  uint32_t end = (uint32_t)(cycle + l.latency) % WB_RING;
  s->acted = true; /* a conflict for the last stage or for a result bus is tried again every cycle */
  if (s->pipe_busy[end] >> p & 1) return;
  if (!result_at(s, id, cycle + l.latency + 2)) return;
  from->at[best] = from->at[--from->count];
  s->col_leave |= set;
  s->collect_look = true;
  s->pipe_busy[end] |= (uint8_t)(1u << p);
  s->pipe_free_at[p] = cycle + l.interval;
}

static void execute_alu(struct sm *s, uint64_t cycle) {
  if (SUB_CORES(s)) {
    sm_sub_execute(s);
    return;
  }
  s->alu_at = cycle;
  if (s->ex_sp.count)
    for (uint32_t i = 0; i < KNOB(s, sp_width); i++) start(s, i, &s->ex_sp, PLAN(s, set_sp), cycle);
  if (s->ex_sfu.count)
    for (uint32_t i = 0; i < KNOB(s, sfu_width); i++) start(s, SM_SFU_PIPE + i, &s->ex_sfu, PLAN(s, set_sfu), cycle);
}

/* The first cycle after now, which is at `at` of the ring, in which a result is written back. */
static uint64_t next_result(const struct sm *s, uint32_t at) {
  for (uint32_t d = 1; d < WB_RING;) {
    uint32_t next = (at + d) % WB_RING;
    uint64_t word = s->wb_any[next / 64] >> (next % 64);
    if (word) return s->g->now + d + (uint32_t)__builtin_ctzll(word);
    d += 64 - next % 64;
  }
  return UINT64_MAX;
}

ONCE void writeback(struct sm *s) {
  uint32_t at = (uint32_t)s->g->now % WB_RING;
  s->acted = true;
  op_id id = s->wb[at].first, next;
  for (uint32_t k = 0; k < s->wb[at].count; k++, id = next) {
    struct op *o = &s->op[id];
    next = o->next;
    for (uint32_t d = 0; d < o->ndst; d++)
      if (!write_bank(s, o, d)) break; /* results of the pipes never wait */
    release_regs(s, o);
    s->w[o->warp].in_pipe--;
    s->drained |= 1ull << o->warp;
    op_free(s, id);
  }
  s->pipe_busy[(at + WB_RING - 2) % WB_RING] = 0; /* when these left their pipes' last stages */
  s->wb[at].count = 0;
  s->wb_any[at / 64] &= ~(1ull << (at % 64));
  s->wb_due = --s->wb_waiting ? next_result(s, at) : UINT64_MAX;
}

/* ---- collectors ---- */

static inline op_id pop_oldest(struct sm *s, struct pipe_reg *r, uint32_t width) {
  if (width == 1) return r->at[--r->count];
  uint32_t best = 0;
  for (uint32_t i = 1; i < r->count; i++)
    if (s->op[r->at[i]].order < s->op[r->at[best]].order) best = i;
  op_id id = r->at[best];
  r->at[best] = r->at[--r->count];
  return id;
}

static void queue_read(struct sm *s, uint32_t c, uint32_t operand, uint32_t first, uint32_t warp) {
  uint32_t b = bank_of(s, first, warp);
  uint16_t read = (uint16_t)(c * SM_OPERANDS + operand);
  if (s->bank_wait >> b & 1) s->bank_next[s->bank[b].last] = read;
  else s->bank[b].first = read;
  s->bank[b].last = read;
  s->bank_wait |= 1ull << b;
  s->col[c].waiting |= (uint16_t)(1u << operand);
}

static void collector_take(struct sm *s, uint32_t c, op_id id) {
  const struct op *o = &s->op[id];
  const struct uop *u = o->uop;
  s->col[c].op = id;
  s->col[c].waiting = 0;
  s->col_used |= 1ull << c;
  s->acted = true;
  for (uint32_t k = 0; k < u->reads; k++) queue_read(s, c, k, u->read[k], o->warp);
  if (!s->col[c].waiting) s->col_ready |= 1ull << c;
}

/* `width`: of `from`; `ports`: how many collectors take one in a cycle. */
static inline void allocate(struct sm *s, struct pipe_reg *from, uint64_t set, uint32_t width, uint32_t ports) {
  while (ports-- && from->count) {
    uint64_t unused = set & ~s->col_used;
    if (!unused) return;
    s->none_to_issue = false;
    if (from->count == 1) s->col_wanted &= ~set;
    collector_take(s, (uint32_t)__builtin_ctzll(unused), pop_oldest(s, from, width));
  }
}

static inline void dispatch(struct sm *s, struct pipe_reg *to, uint32_t width, uint32_t first, uint64_t set,
                            uint8_t *last) {
  uint64_t ready = s->col_ready & set;
  if (!ready || to->count >= width) return;
  uint64_t after = ready >> (first + *last) >> 1; /* in rotation from the one after the last */
  uint32_t c = after ? first + *last + 1 + (uint32_t)__builtin_ctzll(after) : (uint32_t)__builtin_ctzll(ready);
  *last = (uint8_t)(c - first);
  to->at[to->count++] = s->col[c].op;
  if (to->count == width) s->col_leave &= ~set;
  s->col_used &= ~(1ull << c);
  s->col_ready &= ~(1ull << c);
  s->acted = true;
}

ONCE void read_banks(struct sm *s) {
  uint64_t banks = s->bank_wait & ~s->bank_write;
  if (!banks) {
    if (s->bank_wait) s->acted = true; /* a write held the only reads back */
    return;
  }
  for (uint64_t m = banks; m; m &= m - 1) {
    uint32_t b = (uint32_t)__builtin_ctzll(m);
    uint32_t read = s->bank[b].first, c = read / SM_OPERANDS;
    s->col[c].waiting &= (uint16_t) ~(1u << read % SM_OPERANDS);
    if (!s->col[c].waiting) s->col_ready |= 1ull << c;
    if (read == s->bank[b].last) s->bank_wait &= ~(1ull << b);
    else s->bank[b].first = s->bank_next[read];
  }
  s->acted = true;
}

ONCE void collect(struct sm *s) {
  if (SUB_CORES(s)) {
    sm_sub_collect(s);
    return;
  }
  uint32_t sp = WIDTH(s->ex_sp, PLAIN_sp_width), sfu = WIDTH(s->ex_sfu, PLAIN_sfu_width);
  if (s->col_ready) {
    for (uint32_t p = 0; s->col_ready & PLAN(s, set_sp) && p < sp; p++)
      dispatch(s, &s->ex_sp, sp, PLAN(s, col_sp), PLAN(s, set_sp), &s->col_last_sp[p]);
    dispatch(s, &s->ex_sfu, sfu, PLAN(s, col_sfu), PLAN(s, set_sfu), &s->col_last_sfu);
    dispatch(s, &s->ex_mem, 1, PLAN(s, col_mem), PLAN(s, set_mem), &s->col_last_mem);
    if (s->ex_mem.count) s->memory_look = true;
    /* Nothing else reaches the pipes before they start these: begin the next cycle with that. */
    if (s->ex_sp.count | s->ex_sfu.count) execute_alu(s, s->g->now + 1);
  }
  if (s->bank_wait) read_banks(s);
  if (s->id_sp.count) allocate(s, &s->id_sp, PLAN(s, set_sp), sp, sp);
  if (s->id_sfu.count) allocate(s, &s->id_sfu, PLAN(s, set_sfu), sfu, 1);
  if (s->id_mem.count) allocate(s, &s->id_mem, PLAN(s, set_mem), 1, 1);
}

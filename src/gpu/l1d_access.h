/* l1d_access.h - of an SM's step (sm_step.h): reads, writes and fills of the L1 data cache (l1d.c). A refusal changes
 * nothing and names its reason. */

/* Does anybody want to know more of lines than their tags? */
#define LINE_INFO(s) (SM_KIND == SM_ANY || HOOKS(s, on_evict) || KNOB(s, l1d_repl) == REPL_FIFO)
#define TELL(s, hook, e)                      \
  do {                                        \
    if (HOOKS(s, hook)) L1D_TELL(s, hook, e); \
  } while (0)
/* Is there a hook that hears of accepted reads, or one that is asked for a victim? The event is made for them alone. */
#define READ_HOOKS(s) (SM_KIND != SM_PLAIN && RARE((s)->g->read_hooks))
#define VICTIM_HOOKS(s) (HOOKS(s, may_allocate) | HOOKS(s, find_victim))
static inline enum l1_outcome seen(struct sm *s, struct l1_event *e, enum l1_outcome out) {
  return HOOKS(s, on_access) ? l1d_seen(s, e, out) : out;
}

static inline uint32_t set_of(const struct sm *s, uint64_t addr) {
  return l1_set(KNOB(s, l1d_index), s->l1d.sets, s->l1d.line_bytes, addr);
}

static struct l1_mshr *find_mshr(struct l1d *l, uint64_t line) {
  if (!l->mshrs_busy) return NULL;
  for (uint32_t i = 0; i < l->mshrs; i++)
    if (l->mshr[i].busy && l->mshr[i].line == line) return &l->mshr[i];
  return NULL;
}

static struct l1_mshr *take_mshr(struct l1d *l) {
  if (l->mshrs_busy >= l->mshrs) return NULL;
  return &l->mshr[l->spare[l->mshrs - ++l->mshrs_busy]];
}

/* The MSHR that fetches the reserved line `index`, NULL if it has gone. */
static struct l1_mshr *mshr_of(const struct l1d *l, uint32_t index, uint64_t line) {
  struct l1_mshr *m = &l->mshr[l->line_mshr[index]];
  return m->busy && m->line == line ? m : NULL;
}

static bool is_coming(struct l1d *l, enum l1_outcome why, uint64_t line) {
  if (why == L1_NO_MERGE) return true;
  if (why != L1_NO_MISSQ) return false; /* the others are refusals of lines of which nothing is on its way */
  return SM_KIND != SM_PLAIN && l->org ? l->coming : l->way >= 0 || find_mshr(l, line);
}

/* An MSHR whose line has come, and been replaced before the last load of its list was answered. As in the reference, a
 * miss of that line joins it: it is answered, but nothing fetches the line that it reserves, which stays reserved until
 * the next access to it fetches it or the kernel ends. */
static struct l1_mshr *late_mshr(const struct l1d *l, uint64_t line) {
  for (uint32_t i = 0; i < l->ready_count; i++) {
    struct l1_mshr *m = &l->mshr[l->ready[ring_at(l->ready_head + i, l->mshrs)]];
    if (m->line == line) return m;
  }
  return NULL;
}

enum { NO_WAY = -1, NO_CACHE = -2 };

enum { MANY_WAYS = 16 };

/* The same for many ways: the last invalid one, else the one with the least of age and number in one word. */
static int lru_of_many(const struct l1d *l, uint32_t base) {
  const uint64_t *used = l1_used(l, base);
  const uint8_t *state = l->state + base;
  const uint8_t *invalid = memrchr(state, LINE_INVALID, l->ways);
  if (invalid) return (int)(invalid - state);
  uint64_t least = UINT64_MAX;
  for (uint32_t w = 0; w < l->ways; w++) {
    uint64_t key = state[w] == LINE_RESERVED ? UINT64_MAX : used[w] << 16 | w;
    least = key < least ? key : least;
  }
  return least == UINT64_MAX ? NO_WAY : (int)(least & 0xffff);
}

/* What `victim` finds with LRU and no scheme that has a say, without a branch for each way. */
static int lru_victim(const struct l1d *l, uint32_t base) {
  uint64_t oldest = UINT64_MAX;
  int best = NO_WAY;
  const uint64_t *used = l1_used(l, base);
  for (uint32_t w = 0; w < l->ways; w++) {
    uint8_t st = l->state[base + w];
    uint64_t age = st == LINE_INVALID ? 0 : st == LINE_RESERVED ? UINT64_MAX : used[w] + 1;
    bool older = age < oldest || !age;
    best = older ? (int)w : best;
    oldest = older ? age : oldest;
  }
  return best;
}

/* The way to replace: an invalid one (the highest), else by policy among lines that are not reserved; NO_WAY when all
 * are reserved, NO_CACHE when a scheme will not have the access cached. */
static int victim(struct sm *s, uint32_t set, const struct l1_event *e) {
  const struct l1d *l = &s->l1d;
  uint32_t base = set * l->ways;
  if (KNOB(s, l1d_repl) == REPL_LRU && !VICTIM_HOOKS(s))
    return l->ways >= MANY_WAYS ? lru_of_many(l, base) : lru_victim(l, base);
  int best = NO_WAY;
  bool invalid = false;
  uint64_t oldest = UINT64_MAX;
  uint32_t usable = 0;
  for (uint32_t w = 0; w < l->ways; w++) {
    uint8_t st = l->state[base + w];
    if (st == LINE_RESERVED) continue;
    if (st == LINE_INVALID) {
      invalid = true;
      best = (int)w;
      continue;
    }
    if (w < 32) usable |= 1u << w;
    if (invalid) continue;
    uint64_t t = KNOB(s, l1d_repl) == REPL_FIFO ? l->line[base + w].filled : l1_used(l, base)[w];
    if (t < oldest) oldest = t, best = (int)w;
  }
  if (best == NO_WAY) return best;
  if (HOOKS(s, may_allocate) && !l1d_may_allocate(s, e)) return NO_CACHE;
  if (invalid || !HOOKS(s, find_victim)) return best;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.find_victim[0]];
  struct cache_set cs = {
      .set = set, .ways = l->ways, .usable = usable, .tag = l1_tags(l, base), .used = l1_used(l, base)};
  int w = in->scheme->find_victim(&in->ctx, s->id, &cs, e);
  return w >= 0 ? w : e->local ? best : NO_CACHE;
}

static void write_line_back(struct sm *s, uint64_t line) {
  req_id id = sm_request(s, REQ_L1_WRITEBACK, line, s->l1d.line_bytes);
  reqq_push(&s->l1d.missq, id);
}

static void evict(struct sm *s, uint32_t base, uint32_t way, const struct l1_event *e) {
  struct l1d *l = &s->l1d;
  uint32_t index = base + way;
  uint64_t line = l1_tags(l, base)[way];
  if (l->state[index] != LINE_VALID && l->state[index] != LINE_DIRTY) return;
  s->st->l1d_evictions++;
  if (SEEN(s, character)) gpu_see_line_end(s, index);
  if (HOOKS(s, on_evict)) {
    struct l1_event v = *e;
    v.line = v.addr = line;
    v.way = way;
    v.chunks = l->line[index].used_chunks;
    for (uint32_t h = 0; h < HOOKS(s, on_evict); h++) {
      struct slot_instance *in = &s->g->slots.at[s->g->slots.on_evict[h]];
      in->scheme->on_evict(&in->ctx, &v, l->line[index].warp, l->line[index].reused);
    }
  }
  if (l->state[index] == LINE_DIRTY) write_line_back(s, line);
}

static void wait_in(struct l1_mshr *m, uint32_t merges, op_id op) {
  m->waiter[ring_at(m->head + m->count++, merges)] = op;
}

/* Start fetching a line for the MSHR. */
static void fetch_line(struct sm *s, struct l1_mshr *m, const struct op *o, const struct access *a, uint64_t born) {
  struct l1d *l = &s->l1d;
  req_id id = sm_request(s, o->space == SPACE_LOCAL ? REQ_LOCAL_READ : REQ_GLOBAL_READ, m->line, l->line_bytes);
  struct req *r = &s->g->pool.at[id];
  r->warp = o->warp;
  r->cta = o->cta;
  r->pc = o->uop->inst->pc;
  r->degree = o->degree;
  r->lanes = a->lanes;
  r->chunks = a->chunks;
  r->owner = (uint32_t)(m - l->mshr);
  r->born = born;
  s->st->l1d_fetch_bytes += r->bytes;
  reqq_push(&l->missq, id);
}

/* The way of `line` in the set, NO_WAY if absent. */
static int find_way(const struct l1d *l, uint32_t base, uint64_t line) {
  for (uint32_t w = 0; w < l->ways; w++)
    if (l1_tags(l, base)[w] == line && l->state[base + w] != LINE_INVALID) return (int)w;
  return NO_WAY;
}

static enum l1_outcome read_line(struct sm *s, op_id op, const struct access *a) {
  struct l1d *l = &s->l1d;
  const struct op *o = &s->op[op];
  if (KNOB(s, l1d_perfect)) return L1_HIT;
  if (L1_ORG(s)) return l1_org_read(s, op, a);
  uint64_t line = a->addr & ~(uint64_t)(l->line_bytes - 1), now = s->g->now;
  if (!l->probed) {
    l->set = set_of(s, line);
    l->way = find_way(l, l->set * l->ways, line);
  }
  uint32_t set = l->set, base = set * l->ways;
  int way = l->way;
  struct l1_event e;
  bool on_fill = KNOB(s, l1d_alloc) == ALLOC_ON_FILL;
  if (way >= 0 && l->state[base + (uint32_t)way] != LINE_RESERVED) {
    uint32_t i = base + (uint32_t)way;
    l1_used(l, base)[way] = now;
    if (LINE_INFO(s)) l->line[i].reused = true, l->line[i].used_chunks |= a->chunks;
    if (READ_HOOKS(s)) {
      e = l1d_event(s, o, a, set);
      e.way = (uint32_t)way;
      TELL(s, on_hit, &e);
      seen(s, &e, L1_HIT);
    }
    return L1_HIT;
  }
  int v = NO_WAY;
  bool made = false; /* the event */
  if (way < 0 && !on_fill) {
    if (!l->probed) {
      if (VICTIM_HOOKS(s)) e = l1d_event(s, o, a, set), made = true;
      l->victim = victim(s, set, &e);
    }
    v = l->victim;
    if (v < 0) return v == NO_CACHE ? L1_BYPASS : L1_NO_LINE;
  }
  if (l->missq.count + 1 >= l->missq_limit) return L1_NO_MISSQ;
  struct l1_mshr *m = l->dropped || (on_fill && way < 0) ? find_mshr(l, line)
                      : way >= 0                         ? mshr_of(l, base + (uint32_t)way, line)
                                                         : late_mshr(l, line);
  bool merges = m != NULL;
  if (m && m->count >= l->merges) return L1_NO_MERGE;
  if (!m) {
    m = take_mshr(l);
    if (!m) return L1_NO_MSHR;
    *m = (struct l1_mshr){.line = line, .index = UINT32_MAX, .busy = true, .waiter = m->waiter};
  }
  wait_in(m, l->merges, op);
  if (!merges) fetch_line(s, m, o, a, l->lat[l->lat_head].at);
  if (o->space != SPACE_LOCAL) s->st->l1d_read_late += merges && v >= 0, s->st->l1d_read_again += !merges && way >= 0;
  if (READ_HOOKS(s) && !made) e = l1d_event(s, o, a, set);
  if (way >= 0) { /* pending; it fetches where the MSHR that reserved the line was late */
    uint32_t i = base + (uint32_t)way;
    l1_used(l, base)[way] = now;
    if (LINE_INFO(s)) l->line[i].used_chunks |= a->chunks;
    if (!merges) l->line_mshr[i] = (uint16_t)(m - l->mshr), m->index = i;
    return seen(s, &e, L1_PENDING);
  }
  if (on_fill && merges) return seen(s, &e, L1_PENDING);
  if (!on_fill) {
    uint32_t i = base + (uint32_t)v;
    e.way = (uint32_t)v;
    evict(s, base, (uint32_t)v, &e);
    l1_tags(l, base)[v] = line;
    l->state[i] = LINE_RESERVED;
    l1_used(l, base)[v] = now;
    l->line_mshr[i] = (uint16_t)(m - l->mshr);
    if (LINE_INFO(s)) l->line[i] = (struct l1_line){.filled = now, .warp = o->warp, .used_chunks = a->chunks};
    if (!merges) m->index = i;
    if (SEEN(s, character)) gpu_see_line(s, i, o->space == SPACE_LOCAL, o->degree);
    TELL(s, on_place, &e);
  } else {
    e.way = UINT32_MAX;
  }
  TELL(s, on_miss, &e);
  return seen(s, &e, L1_MISS);
}

static enum l1_outcome write_line(struct sm *s, op_id op, const struct access *a, bool *sent) {
  struct l1d *l = &s->l1d;
  const struct op *o = &s->op[op];
  uint64_t line = a->addr & ~(uint64_t)(l->line_bytes - 1);
  uint32_t set = set_of(s, line), base = set * l->ways;
  int way = L1_ORG(s) ? NO_WAY : find_way(l, base, line);
  bool local = o->space == SPACE_LOCAL;
  if (L1_ORG(s) && local && l1_org_write_back(s, op, a)) {
    *sent = false;
    return L1_HIT;
  }
  bool present = way >= 0 && l->state[base + (uint32_t)way] != LINE_RESERVED;
  if (present && local) { /* write back */
    l->state[base + (uint32_t)way] = LINE_DIRTY;
    l1_used(l, base)[way] = s->g->now;
    *sent = false;
    return L1_HIT;
  }
  if (l->missq.count >= l->missq_limit) return L1_NO_MISSQ;
  req_id id = sm_request(s, local ? REQ_LOCAL_WRITE : REQ_GLOBAL_WRITE, a->addr, a->bytes);
  struct req *r = &s->g->pool.at[id];
  r->warp = o->warp;
  r->cta = o->cta;
  r->pc = o->uop->inst->pc;
  r->degree = o->degree;
  r->lanes = a->lanes;
  r->chunks = a->chunks;
  if (KNOB(s, l2_org)) r->whole = (uint8_t)coalesce_whole(a, s->c->l2.line);
  r->born = l->lat[l->lat_head].at;
  reqq_push(&l->missq, id);
  *sent = true;
  if (L1_ORG(s)) return l1_org_write(s, op, a);
  if (!present) return L1_MISS;
  l->state[base + (uint32_t)way] = LINE_INVALID; /* write-evict */
  if (SEEN(s, character)) gpu_see_line_end(s, base + (uint32_t)way);
  return L1_HIT;
}

static void allocate_on_fill(struct sm *s, struct l1_mshr *m, struct l1_event *e) {
  struct l1d *l = &s->l1d;
  int v = victim(s, e->set, e);
  e->way = UINT32_MAX;
  if (v < 0) return; /* a scheme keeps it out; the waiting loads still get their data */
  e->way = (uint32_t)v;
  uint32_t base = e->set * l->ways, i = base + (uint32_t)v;
  evict(s, base, (uint32_t)v, e);
  l1_tags(l, base)[v] = m->line;
  l->state[i] = LINE_VALID;
  l1_used(l, base)[v] = s->g->now;
  l->line[i] = (struct l1_line){.filled = s->g->now, .warp = (uint8_t)e->warp, .used_chunks = e->chunks};
  if (SEEN(s, character)) gpu_see_line(s, i, e->local, e->degree);
  TELL(s, on_place, e);
}

/* The part of a fill of which schemes hear, and that which takes a line only now. The pool may move. */
static void fill_with_event(struct sm *s, struct l1_mshr *m, const struct req *r, uint32_t set) {
  struct l1_event e = {.addr = r->addr,
                       .line = r->addr,
                       .cycle = s->g->now,
                       .sm = s->id,
                       .warp = r->warp,
                       .cta = r->cta,
                       .pc = r->pc,
                       .degree = r->degree,
                       .chunks = r->chunks,
                       .set = set,
                       .note = r->note,
                       .local = r->type == REQ_LOCAL_READ};
  if (m->index != UINT32_MAX) e.way = m->index - set * s->l1d.ways;
  else allocate_on_fill(s, m, &e);
  TELL(s, on_fill, &e);
}

static void fill_line(struct sm *s, req_id id) {
  struct l1d *l = &s->l1d;
  if (SEEN(s, l2)) gpu_see_fill(s, s->g->pool.at[id].addr, s->g->pool.at[id].type == REQ_LOCAL_READ);
  if (L1_ORG(s)) {
    l1_org_fill(s, id);
    return;
  }
  const struct req *r = &s->g->pool.at[id];
  uint64_t line = r->addr;
  uint32_t owner = r->owner, set = set_of(s, line);
  struct l1_mshr *m = &l->mshr[owner];
  CHECK(m->busy && !m->ready && m->line == line, "SM %u: a line arrived that no MSHR waits for (%#lx)", s->id,
        (unsigned long)line);
  s->st->l1d_fill_bytes += r->bytes;
  /* A line that comes into another set does not change why a load was refused, unless it pushes out a dirty one. */
  if (!l->probed || l->set == set || m->index == UINT32_MAX) l->refused = 0, l->probed = false;
  if (m->index != UINT32_MAX) l->state[m->index] = LINE_VALID;
  if (HOOKS(s, on_fill) || RARE(m->index == UINT32_MAX)) fill_with_event(s, m, r, set);
  m->ready = true;
  __builtin_prefetch(&m->waiter[m->head]);
  l->ready[ring_at(l->ready_head + l->ready_count++, l->mshrs)] = (uint16_t)owner;
}

static op_id next_answered(struct sm *s) {
  struct l1d *l = &s->l1d;
  if (L1_ORG(s)) return l1_org_next(s);
  struct l1_mshr *m = &l->mshr[l->ready[l->ready_head]];
  if (l->refused == L1_NO_MERGE) l->refused = 0;
  op_id op = m->waiter[m->head];
  __builtin_prefetch(&s->op[op], 1); /* it was issued long ago, and is looked at in the next cycle */
  m->head = (uint16_t)ring_at(m->head + 1u, l->merges);
  if (!--m->count) {
    m->busy = false;
    if (l->refused == L1_NO_MSHR) l->refused = 0;
    l->spare[l->mshrs - l->mshrs_busy--] = (uint16_t)(m - l->mshr);
    if (!l->mshrs_busy) l->dropped = false;
    l->ready_head = ring_at(l->ready_head + 1, l->mshrs);
    l->ready_count--;
  }
  return op;
}

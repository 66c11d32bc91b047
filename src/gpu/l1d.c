/* l1d.c - the L1 data cache: tags, MSHRs, miss queue. Global stores write through and evict; local memory writes back.
 *
 * Model: gpu-model "Loads and stores". A refusal changes nothing and names its reason. Reads leave one place of the
 * miss queue free, since a read miss may also write a dirty victim back.
 *
 * A warp that gets past a fence empties the L1 of its SM, as in the reference: other SMs' stores are not seen here, so
 * its copies may be stale. Nothing is written back. Lines on their way lose their places too, but not their MSHRs: a
 * miss of such a line joins its MSHR and reserves a place that this fetch does not fill, for the data goes where the
 * line was reserved first, whatever is there by then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/gpu_impl.h"
#include "gpu/sm.h"

static void *take(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  CHECK(p, "out of memory for an L1");
  return p;
}

enum { ORG_LINES = 64 }; /* chunks of a set, at most, in an organisation */

void l1d_init(struct l1d *l, const struct gpu_config *c) {
  const struct cache_config *k = &c->l1d;
  uint32_t lines = k->sets * k->ways;
  *l = (struct l1d){.sets = k->sets,
                    .ways = k->ways,
                    .line_bytes = k->line,
                    .line_shift = (uint32_t)__builtin_ctz(k->line),
                    .mshrs = k->mshrs,
                    .merges = k->merges,
                    .missq_limit = k->miss_queue};
  l->tag = take(lines, sizeof *l->tag);
  l->used = take(lines, sizeof *l->used);
  l->state = take(lines, sizeof *l->state);
  l->line = take(lines, sizeof *l->line);
  l->mshr = take(l->mshrs, sizeof *l->mshr);
  for (uint32_t i = 0; i < l->mshrs; i++) l->mshr[i].waiter = take(l->merges, sizeof *l->mshr->waiter);
  l->ready = take(l->mshrs, sizeof *l->ready);
  l->spare = take(l->mshrs, sizeof *l->spare);
  for (uint32_t i = 0; i < l->mshrs; i++) l->spare[i] = (uint16_t)(l->mshrs - 1 - i);
  /* Lines allocated on the fill may push out dirty ones when the queue is full: at most one for each miss under way,
   * since a full queue lets no other in. Replies that waited for room there could block it for good. A load in an
   * organisation in chunks pushes out as many lines as a set has chunks. */
  reqq_init(&l->missq, l->missq_limit + 2 + l->mshrs + ORG_LINES);
  l->lat_size = c->l1d_latency + 1;
  l->lat = take(l->lat_size, sizeof *l->lat);
}

void l1d_destroy(struct l1d *l) {
  l1_org_destroy(l);
  l1_order_destroy(l);
  for (uint32_t i = 0; i < l->mshrs; i++) free(l->mshr[i].waiter);
  free(l->tag);
  free(l->used);
  free(l->state);
  free(l->line);
  free(l->mshr);
  free(l->ready);
  free(l->spare);
  free(l->lat);
  reqq_free(&l->missq);
}

void l1d_invalidate(struct l1d *l) {
  memset(l->state, LINE_INVALID, (size_t)l->sets * l->ways);
  l->refused = 0;
  l->dropped = l->probed = false;
}

void l1d_drop(struct sm *s) {
  struct l1d *l = &s->l1d;
  if (RARE(l->org)) {
    l->org->drop(&l->org_of->ctx, s->id);
    l->dirty_count = 0;
    l->refused = 0;
    return;
  }
  for (uint32_t i = 0; s->g->seen.character && i < l->sets * l->ways; i++)
    if (l->state[i] == LINE_VALID || l->state[i] == LINE_DIRTY) gpu_see_line_end(s, i);
  l1d_invalidate(l);
  l->dropped = l->mshrs_busy;
}

uint32_t gpu_l1_set(const struct gpu_config *c, uint32_t sets, uint32_t line, uint64_t addr) {
  uint32_t shift = (uint32_t)__builtin_ctz(line);
  uint32_t linear = (uint32_t)(addr >> shift);
  switch (c->l1d_index) {
  case INDEX_FERMI_HASH: {
    /* Nugteren et al., HPCA 2014: bits 7-11 with bits 13, 14, 15, 17, 19; bit 12 on top for 64 sets. Other numbers of
     * sets fold the same upper bits into as many low ones as they have. */
    uint32_t lower = linear & 31;
    uint32_t upper = (uint32_t)(addr >> 13 & 7) | (uint32_t)(addr >> 17 & 1) << 3 | (uint32_t)(addr >> 19 & 1) << 4;
    uint32_t set = lower ^ upper;
    if (sets == 64) set |= (uint32_t)(addr >> 12 & 1) << 5;
    else if (sets > 32) set = (linear & ~31u) | set;
    return set & (sets - 1);
  }
  case INDEX_XOR:
    return (linear ^ linear >> __builtin_ctz(sets)) & (sets - 1);
  case INDEX_IPOLY: {
    /* Remainder of the line number by a primitive polynomial (Rau, ISCA 1991): x^5+x^2+1 and its like by size. */
    static const uint32_t poly[] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033, 2053, 4179};
    uint32_t bits = (uint32_t)__builtin_ctz(sets);
    uint64_t v = addr >> shift;
    for (int b = 47; b >= (int)bits; b--)
      if (v >> b & 1) v ^= (uint64_t)poly[bits] << (b - (int)bits);
    return (uint32_t)v & (sets - 1);
  }
  default:
    return linear & (sets - 1);
  }
}

uint32_t l1d_set_index(const struct gpu_config *c, uint64_t addr) {
  return gpu_l1_set(c, c->l1d.sets, c->l1d.line, addr);
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
  struct l1_mshr *m = &l->mshr[l->line[index].mshr];
  return m->busy && m->line == line ? m : NULL;
}

bool l1d_coming(struct l1d *l, enum l1_outcome why, uint64_t line) {
  if (why == L1_NO_MERGE) return true;
  if (why != L1_NO_MISSQ) return false; /* the others are refusals of lines of which nothing is on its way */
  return l->org ? l->coming : l->way >= 0 || find_mshr(l, line);
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

/* What `victim` finds with LRU and no scheme that has a say, without a branch for each way. */
static int lru_victim(const struct l1d *l, uint32_t base) {
  uint64_t oldest = UINT64_MAX;
  int best = NO_WAY;
  for (uint32_t w = 0; w < l->ways; w++) {
    uint8_t st = l->state[base + w];
    uint64_t age = st == LINE_INVALID ? 0 : st == LINE_RESERVED ? UINT64_MAX : l->used[base + w] + 1;
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
  if (s->c->l1d_repl == REPL_LRU && !RARE(s->g->slots.count)) return lru_victim(l, base);
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
    uint64_t t = s->c->l1d_repl == REPL_FIFO ? l->line[base + w].filled : l->used[base + w];
    if (t < oldest) oldest = t, best = (int)w;
  }
  if (best == NO_WAY) return best;
  if (s->g->slots.n_may_allocate && !l1d_may_allocate(s, e)) return NO_CACHE;
  if (invalid || !s->g->slots.n_find_victim) return best;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.find_victim[0]];
  struct cache_set cs = {.set = set, .ways = l->ways, .usable = usable, .tag = l->tag + base, .used = l->used + base};
  int w = in->scheme->find_victim(&in->ctx, s->id, &cs, e);
  return w >= 0 ? w : e->local ? best : NO_CACHE;
}

struct l1_event l1d_event(const struct sm *s, const struct op *o, const struct access *a, uint32_t set) {
  return (struct l1_event){.addr = a->addr,
                           .line = a->addr & ~(uint64_t)(s->l1d.line_bytes - 1),
                           .cycle = s->g->now,
                           .sm = s->id,
                           .warp = o->warp,
                           .cta = o->cta,
                           .pc = o->uop->inst->pc,
                           .degree = o->degree,
                           .chunks = a->chunks,
                           .set = set,
                           .local = o->space == SPACE_LOCAL,
                           .write = !o->load};
}

void l1d_tell(struct sm *s, const uint8_t *list, uint32_t n, const struct l1_event *e, size_t hook) {
  for (uint32_t h = 0; h < n; h++) {
    struct slot_instance *in = &s->g->slots.at[list[h]];
    void (*f)(struct scheme_ctx *, const struct l1_event *);
    memcpy(&f, (const char *)in->scheme + hook, sizeof f);
    f(&in->ctx, e);
  }
}

static void write_line_back(struct sm *s, uint64_t line) {
  req_id id = sm_request(s, REQ_L1_WRITEBACK, line, s->l1d.line_bytes);
  reqq_push(&s->l1d.missq, id);
}

static void evict(struct sm *s, uint32_t index, const struct l1_event *e) {
  struct l1d *l = &s->l1d;
  if (l->state[index] != LINE_VALID && l->state[index] != LINE_DIRTY) return;
  s->st->l1d_evictions++;
  if (RARE(s->g->seen.character)) gpu_see_line_end(s, index);
  if (RARE(s->g->slots.n_on_evict)) {
    struct l1_event v = *e;
    v.line = v.addr = l->tag[index];
    v.way = index % l->ways;
    v.chunks = l->line[index].used_chunks;
    for (uint32_t h = 0; h < s->g->slots.n_on_evict; h++) {
      struct slot_instance *in = &s->g->slots.at[s->g->slots.on_evict[h]];
      in->scheme->on_evict(&in->ctx, &v, l->line[index].warp, l->line[index].reused);
    }
  }
  if (l->state[index] == LINE_DIRTY) write_line_back(s, l->tag[index]);
}

static void wait_in(struct l1_mshr *m, uint32_t merges, op_id op) {
  m->waiter[ring_at(m->head + m->count++, merges)].op = op;
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
    if (l->tag[base + w] == line && l->state[base + w] != LINE_INVALID) return (int)w;
  return NO_WAY;
}

/* Do the schemes let this miss take a line? Local data always may. */
bool l1d_may_allocate(struct sm *s, const struct l1_event *e) {
  struct slots *k = &s->g->slots;
  for (uint32_t h = 0; h < k->n_may_allocate && !e->local; h++) {
    struct slot_instance *in = &k->at[k->may_allocate[h]];
    if (!in->scheme->may_allocate(&in->ctx, e)) return false;
  }
  return true;
}

/* Tell observers of every accepted access. Without a scheme nobody looks into `e`, and nobody fills it. */
enum l1_outcome l1d_seen(struct sm *s, struct l1_event *e, enum l1_outcome out) {
  for (uint32_t h = 0; h < s->g->slots.n_on_access; h++) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.on_access[h]];
    in->scheme->on_access(&in->ctx, e, out);
  }
  return out;
}

enum l1_outcome l1d_read(struct sm *s, op_id op, const struct access *a) {
  struct l1d *l = &s->l1d;
  const struct op *o = &s->op[op];
  if (s->c->l1d_perfect) return L1_HIT;
  if (RARE(l->org)) return l1_org_read(s, op, a);
  uint64_t line = a->addr & ~(uint64_t)(l->line_bytes - 1), now = s->g->now;
  if (!l->probed) {
    l->set = l1d_set_index(s->c, line);
    l->way = find_way(l, l->set * l->ways, line);
  }
  uint32_t set = l->set, base = set * l->ways;
  int way = l->way;
  struct l1_event e;
  if (RARE(s->g->slots.count)) e = l1d_event(s, o, a, set);
  bool on_fill = s->c->l1d_alloc == ALLOC_ON_FILL;
  if (way >= 0 && l->state[base + (uint32_t)way] != LINE_RESERVED) {
    uint32_t i = base + (uint32_t)way;
    l->used[i] = now;
    l->line[i].reused = true;
    l->line[i].used_chunks |= a->chunks;
    e.way = (uint32_t)way;
    L1D_TELL(s, on_hit, &e);
    return l1d_seen(s, &e, L1_HIT);
  }
  int v = NO_WAY;
  if (way < 0 && !on_fill) {
    if (!l->probed) l->victim = victim(s, set, &e);
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
  if (way >= 0) { /* pending; it fetches where the MSHR that reserved the line was late */
    uint32_t i = base + (uint32_t)way;
    l->used[i] = now;
    l->line[i].used_chunks |= a->chunks;
    if (!merges) l->line[i].mshr = (uint16_t)(m - l->mshr), m->index = i;
    return l1d_seen(s, &e, L1_PENDING);
  }
  if (on_fill && merges) return l1d_seen(s, &e, L1_PENDING);
  if (!on_fill) {
    uint32_t i = base + (uint32_t)v;
    e.way = (uint32_t)v;
    evict(s, i, &e);
    l->tag[i] = line;
    l->state[i] = LINE_RESERVED;
    l->used[i] = now;
    l->line[i] =
        (struct l1_line){.filled = now, .mshr = (uint16_t)(m - l->mshr), .warp = o->warp, .used_chunks = a->chunks};
    if (!merges) m->index = i;
    if (RARE(s->g->seen.character)) gpu_see_line(s, i, o->space == SPACE_LOCAL, o->degree);
    L1D_TELL(s, on_place, &e);
  } else {
    e.way = UINT32_MAX;
  }
  L1D_TELL(s, on_miss, &e);
  return l1d_seen(s, &e, L1_MISS);
}

enum l1_outcome l1d_write(struct sm *s, op_id op, const struct access *a, bool *sent) {
  struct l1d *l = &s->l1d;
  const struct op *o = &s->op[op];
  uint64_t line = a->addr & ~(uint64_t)(l->line_bytes - 1);
  uint32_t set = l1d_set_index(s->c, line), base = set * l->ways;
  int way = l->org ? NO_WAY : find_way(l, base, line);
  bool local = o->space == SPACE_LOCAL;
  if (l->org && local && l1_org_write_back(s, op, a)) {
    *sent = false;
    return L1_HIT;
  }
  bool present = way >= 0 && l->state[base + (uint32_t)way] != LINE_RESERVED;
  if (present && local) { /* write back */
    l->state[base + (uint32_t)way] = LINE_DIRTY;
    l->used[base + (uint32_t)way] = s->g->now;
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
  if (s->c->l2_org) r->whole = (uint8_t)coalesce_whole(a, s->c->l2.line);
  r->born = l->lat[l->lat_head].at;
  reqq_push(&l->missq, id);
  *sent = true;
  if (RARE(l->org)) return l1_org_write(s, op, a);
  if (!present) return L1_MISS;
  l->state[base + (uint32_t)way] = LINE_INVALID; /* write-evict */
  if (RARE(s->g->seen.character)) gpu_see_line_end(s, base + (uint32_t)way);
  return L1_HIT;
}

static void allocate_on_fill(struct sm *s, struct l1_mshr *m, struct l1_event *e) {
  struct l1d *l = &s->l1d;
  int v = victim(s, e->set, e);
  e->way = UINT32_MAX;
  if (v < 0) return; /* a scheme keeps it out; the waiting loads still get their data */
  e->way = (uint32_t)v;
  uint32_t i = e->set * l->ways + (uint32_t)v;
  evict(s, i, e);
  l->tag[i] = m->line;
  l->state[i] = LINE_VALID;
  l->used[i] = s->g->now;
  l->line[i] = (struct l1_line){.filled = s->g->now, .warp = (uint8_t)e->warp, .used_chunks = e->chunks};
  if (RARE(s->g->seen.character)) gpu_see_line(s, i, e->local, e->degree);
  L1D_TELL(s, on_place, e);
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
  L1D_TELL(s, on_fill, &e);
}

void l1d_fill(struct sm *s, req_id id) {
  struct l1d *l = &s->l1d;
  if (RARE(s->g->seen.l2)) gpu_see_fill(s, s->g->pool.at[id].addr, s->g->pool.at[id].type == REQ_LOCAL_READ);
  if (RARE(l->org)) {
    l1_org_fill(s, id);
    return;
  }
  const struct req *r = &s->g->pool.at[id];
  uint64_t line = r->addr;
  uint32_t owner = r->owner, set = l1d_set_index(s->c, line);
  struct l1_mshr *m = &l->mshr[owner];
  CHECK(m->busy && !m->ready && m->line == line, "SM %u: a line arrived that no MSHR waits for (%#lx)", s->id,
        (unsigned long)line);
  s->st->l1d_fill_bytes += r->bytes;
  /* A line that comes into another set does not change why a load was refused, unless it pushes out a dirty one. */
  if (!l->probed || l->set == set || m->index == UINT32_MAX) l->refused = 0, l->probed = false;
  if (m->index != UINT32_MAX) l->state[m->index] = LINE_VALID;
  if (RARE(s->g->slots.count || m->index == UINT32_MAX)) fill_with_event(s, m, r, set);
  m->ready = true;
  __builtin_prefetch(&m->waiter[m->head]);
  l->ready[ring_at(l->ready_head + l->ready_count++, l->mshrs)] = (uint16_t)owner;
}

op_id l1d_next(struct sm *s) {
  struct l1d *l = &s->l1d;
  if (RARE(l->org)) return l1_org_next(s);
  struct l1_mshr *m = &l->mshr[l->ready[l->ready_head]];
  if (l->refused == L1_NO_MERGE) l->refused = 0;
  op_id op = m->waiter[m->head].op;
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

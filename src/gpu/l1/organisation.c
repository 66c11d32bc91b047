/* organisation.c - the L1 data cache when a scheme provides its organisation: lines kept in chunks.
 *
 * The scheme places chunks (struct l1_org); this file has the rest: one MSHR per line with a mask of requested chunks,
 * the waiting loads (each for its own chunks), and requests and replies that carry only requested chunks (Li et al.,
 * "Tag-Split Cache for Efficient GPGPU Cache Utilization", ICS 2016, section 3.4). With chunks of a whole line it
 * refuses, merges and fetches exactly as l1d.c does.
 */
#include "gpu/l1/l1.h"
#include "gpu/observe/observe.h"
#include "gpu/state/port.h"
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

enum { L2_BLOCK = 128, WORD = 8 }; /* a request stays within one block; bytes per bit of access.words */

void l1_org_init(struct sm *s) {
  struct l1d *l = &s->l1d;
  struct slots *own = &s->g->slots;
  l->org_of = &own->at[own->n_l1 ? own->l1[0] : own->line_size[0]];
  l->org = own->n_l1 ? l->org_of->scheme->l1 : l1_packed_init(s);
  struct l1_shape shape = l->org->shape(&l->org_of->ctx);
  CHECK(shape.line / shape.chunk <= 32, "an L1 line of %u chunks", shape.line / shape.chunk);
  l->line_bytes = shape.line;
  l->org_chunk = shape.chunk;
  l->org_sets = shape.sets;
  l->org_ready_size = l->mshrs * l->merges;
  l->org_ready = mem_zeroed(l->org_ready_size, sizeof *l->org_ready);
  l->org_left = mem_zeroed(l->org_ready_size, sizeof *l->org_left);
  l->org_free = mem_zeroed((l->mshrs + 63) / 64, sizeof *l->org_free);
  l->org_next = mem_zeroed(l->mshrs, sizeof *l->org_next);
  const struct cache_config *k = &s->c->l1d;
  l->dirty_max = k->sets * k->ways * k->line / shape.chunk;
  l->dirty = mem_zeroed(l->dirty_max, sizeof *l->dirty);
  for (uint32_t i = 0; i < l->mshrs; i++) l->org_free[i / 64] |= 1ull << i % 64;
}

void l1_org_destroy(struct l1d *l) {
  free(l->org_ready);
  free(l->org_left);
  free(l->org_free);
  free(l->org_next);
  free(l->dirty);
}

void l1_org_begin_kernel(struct sm *s) {
  struct l1d *l = &s->l1d;
  l->org->clear(&l->org_of->ctx, s->id);
  l->dirty_count = 0;
}

/* Chunks of its line that an access touches. */
static inline uint32_t chunks_of(const struct l1d *l, const struct access *a) {
  if (l->org_chunk == 32 && l->line_bytes == L2_BLOCK && a->bytes <= L2_BLOCK) return a->chunks;
  uint32_t block = a->bytes > L2_BLOCK ? a->bytes : L2_BLOCK, mask = 0;
  uint64_t base = a->addr & ~(uint64_t)(block - 1), line = a->addr & ~(uint64_t)(l->line_bytes - 1);
  bool power = !(l->org_chunk & (l->org_chunk - 1));
  uint32_t shift = (uint32_t)__builtin_ctz(l->org_chunk);
  for (uint32_t m = a->words; m; m &= m - 1) {
    uint64_t at = base + (uint32_t)__builtin_ctz(m) * WORD - line;
    mask |= 1u << (power ? at >> shift : at / l->org_chunk);
  }
  return mask;
}

static uint16_t *waiting_list(struct l1d *l, uint64_t line) {
  return &l->org_first[(line / 32 ^ line >> 12) % L1_ORG_HASH];
}

static struct l1_mshr *find_mshr(struct l1d *l, uint64_t line) {
  for (uint16_t i = *waiting_list(l, line); i; i = l->org_next[i - 1])
    if (l->mshr[i - 1].line == line) return &l->mshr[i - 1];
  return NULL;
}

/* The chunks that loads in an MSHR still wait for. */
static uint32_t *left_of(struct l1d *l, const struct l1_mshr *m) {
  return l->org_left + (m->waiter - l->waiting);
}

/* The free MSHR with the lowest number, for this line. */
static struct l1_mshr *take_mshr(struct l1d *l, uint64_t line) {
  if (l->mshrs_busy == l->mshrs) return NULL;
  uint32_t w = 0;
  while (!l->org_free[w]) w++;
  uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(l->org_free[w]);
  struct l1_mshr *m = &l->mshr[i];
  uint16_t *first = waiting_list(l, line);
  l->org_free[w] &= l->org_free[w] - 1;
  l->org_next[i] = *first;
  *first = (uint16_t)(i + 1);
  *m = (struct l1_mshr){.line = line, .busy = true, .waiter = m->waiter};
  l->mshrs_busy++;
  return m;
}

static void release_mshr(struct l1d *l, struct l1_mshr *m) {
  if (m->count || m->outstanding) return;
  uint32_t i = (uint32_t)(m - l->mshr);
  uint16_t *at = waiting_list(l, m->line);
  while (*at != i + 1) at = &l->org_next[*at - 1];
  *at = l->org_next[i];
  l->org_free[i / 64] |= 1ull << i % 64;
  m->busy = false;
  l->mshrs_busy--;
}

/* 32 B sectors of the L2 line at `addr` that contain `chunks` of `bytes` each. */
static uint8_t sectors_of_access(const struct gpu_config *c, uint64_t addr, uint32_t chunks, uint32_t bytes) {
  uint32_t mask = 0, from = (uint32_t)(addr & (c->l2.line - 1));
  for (uint32_t m = chunks; m; m &= m - 1) {
    uint32_t at = from + (uint32_t)__builtin_ctz(m) * bytes;
    mask |= ((2u << ((at + bytes - 1) / 32)) - 1) & ~((1u << at / 32) - 1);
  }
  return (uint8_t)mask;
}

/* A request stays within an L2 block: number of its chunks, and their mask from chunk `b` on. */
static uint32_t chunks_a_request(const struct l1d *l) {
  return l->line_bytes > L2_BLOCK ? L2_BLOCK / l->org_chunk : 32;
}
static uint32_t block_of(const struct l1d *l, uint32_t b) {
  uint32_t per = chunks_a_request(l);
  return per == 32 ? ~0u : ((1u << per) - 1) << b;
}

/* What requests chunks: a load or, without one, a prefetch. */
struct fetch {
  const struct op *o;
  const struct access *a;
  const struct l1_event *e;
};

/* Request `chunks` of the line, one request per L2 block. */
static void fetch_sectors(struct sm *s, struct l1_mshr *m, const struct fetch *f, uint32_t chunks) {
  const struct op *o = f->o;
  struct l1d *l = &s->l1d;
  uint32_t sent = 0;
  for (uint32_t b = 0; b < 32 && chunks >> b; b += chunks_a_request(l)) {
    uint32_t part = chunks & block_of(l, b);
    if (!part) continue;
    uint64_t addr = m->line + (uint64_t)b * l->org_chunk;
    uint32_t bytes = (uint32_t)__builtin_popcount(part) * l->org_chunk;
    req_id id = sm_request(s, o && o->space == SPACE_LOCAL ? REQ_LOCAL_READ : REQ_GLOBAL_READ, addr, bytes);
    struct req *r = &s->g->pool.at[id];
    if (o) sm_stamp(r, o, f->a), r->born = l->lat[l->lat_head].at;
    else l1_prefetch_sent(s, r, f->e);
    r->chunks = part;
    if (s->c->l2_org) r->sectors = sectors_of_access(s->c, addr, part >> b, l->org_chunk);
    r->owner = (uint32_t)(m - l->mshr);
    s->st->l1d_fetch_bytes += bytes;
    if (sent++ && o && o->space != SPACE_LOCAL) s->st->l1d_read_split++;
    reqq_push(&l->missq, id);
  }
  m->outstanding |= chunks;
}

/* Hooks that get the way of a line are called with it. */
static inline void find_way(struct sm *s, struct l1_event *e) {
  const struct slots *k = &s->g->slots;
  if (s->l1d.org->way && (k->n_on_hit | k->n_on_fill | k->n_on_miss | k->n_on_access))
    e->way = s->l1d.org->way(&s->l1d.org_of->ctx, e);
}

/* Some chunks of a load are absent. */
static __attribute__((noinline)) enum l1_outcome read_miss(struct sm *s, op_id op, const struct access *a,
                                                           struct l1_event *e, uint32_t want, uint32_t here) {
  struct l1d *l = &s->l1d;
  struct scheme_ctx *c = &l->org_of->ctx;
  struct l1_mshr *m = find_mshr(l, e->line);
  uint32_t missing = want & ~here & ~(m ? m->outstanding : 0);
  if (missing) {
    enum l1_plan p = l->org->plan(c, e, missing);
    if (p == PLAN_FULL) return L1_NO_LINE;
    if (p == PLAN_BYPASS || (s->g->slots.n_may_allocate && !l1d_may_allocate(s, e))) return L1_BYPASS;
  }
  l->pending = !missing;
  if (l->missq.count + 1 >= l->missq_limit) return L1_NO_MISSQ;
  if (m && m->count >= l->merges) return L1_NO_MERGE;
  enum l1_outcome out = !missing ? L1_PENDING : want & ~missing ? L1_PARTIAL : L1_MISS;
  if (!m) {
    m = take_mshr(l, e->line);
    if (!m) return L1_NO_MSHR;
  }
  left_of(l, m)[m->head] = want & ~here;
  m->waiter[m->head++] = op; /* the first `head` entries wait; `count` have not been delivered */
  m->count++;
  l->org->touch(c, e, here & want, out);
  s->st->l1d_sectors_read += (uint32_t)__builtin_popcount(want);
  if (!missing) {
    find_way(s, e);
    return l1d_notify_access(s, e, out);
  }
  const struct fetch f = {.o = &s->op[op], .a = a};
  fetch_sectors(s, m, &f, missing);
  l->org_busy = s->g->now + 1 + l->org->reserve(c, e, missing);
  find_way(s, e);
  L1D_NOTIFY(s, on_miss, e);
  return l1d_notify_access(s, e, out);
}

enum l1_outcome l1_org_read(struct sm *s, op_id op, const struct access *a) {
  struct l1d *l = &s->l1d;
  struct scheme_ctx *c = &l->org_of->ctx;
  struct l1_event e = l1_event_of_access(s, &s->op[op], a, l1_event_set(s, a->addr));
  uint32_t need = chunks_of(l, a), here = l->org->find(c, &e);
  uint32_t want = l->org->want ? l->org->want(c, &e, need) : need;
  if (want & ~here) return read_miss(s, op, a, &e, want, here);
  l->later = 0;
  l->org->touch(c, &e, want, L1_HIT);
  s->st->l1d_sectors_read += (uint32_t)__builtin_popcount(want);
  find_way(s, &e);
  L1D_NOTIFY(s, on_hit, &e);
  return l1d_notify_access(s, &e, L1_HIT);
}

enum prefetch_fate l1_org_prefetch(struct sm *s, struct l1_event *e) {
  struct l1d *l = &s->l1d;
  struct scheme_ctx *c = &l->org_of->ctx;
  uint32_t chunks = l->line_bytes / l->org_chunk, need = chunks >= 32 ? ~0u : (1u << chunks) - 1;
  if (need & (need - 1) && l->org_chunk == 32 && l->line_bytes == L2_BLOCK) need &= e->chunks;
  e->set = l1_event_set(s, e->addr);
  uint32_t here = l->org->find(c, e), want = l->org->want ? l->org->want(c, e, need) : need;
  uint32_t missing = want & ~here;
  if (!missing || find_mshr(l, e->line)) return PREFETCH_REDUNDANT;
  if (l->mshrs_busy == l->mshrs) return PREFETCH_NO_MSHR;
  if (l->org->plan(c, e, missing) != PLAN_PLACE) return PREFETCH_NO_LINE;
  if (s->g->slots.n_may_allocate && !l1d_may_allocate(s, e)) return PREFETCH_NO_LINE;
  const struct fetch f = {.e = e};
  fetch_sectors(s, take_mshr(l, e->line), &f, missing);
  l->org_busy = s->g->now + 1 + l->org->reserve(c, e, missing);
  return (enum prefetch_fate)PREFETCH_ISSUED;
}

static struct l1_dirty *dirty_of(struct l1d *l, uint64_t line) {
  for (uint32_t i = 0; i < l->dirty_count; i++)
    if (l->dirty[i].line == line) return &l->dirty[i];
  return NULL;
}

/* Clear the dirty state of these chunks of the line. Returns those that were dirty. */
static uint32_t clean(struct l1d *l, uint64_t line, uint32_t chunks) {
  struct l1_dirty *d = dirty_of(l, line);
  if (!d) return 0;
  uint32_t were = d->chunks & chunks;
  d->chunks &= ~chunks;
  if (!d->chunks) *d = l->dirty[--l->dirty_count];
  return were;
}

/* The way of a store's line, if an organisation has ways; UINT32_MAX if no chunk of the store is there. */
static void find_store(struct sm *s, struct l1_event *e, uint32_t here) {
  struct l1d *l = &s->l1d;
  e->way = !here ? UINT32_MAX : l->org->way ? l->org->way(&l->org_of->ctx, e) : 0;
}

bool l1_org_write_back(struct sm *s, op_id op, const struct access *a) {
  struct l1d *l = &s->l1d;
  struct scheme_ctx *c = &l->org_of->ctx;
  struct l1_event e = l1_event_of_access(s, &s->op[op], a, l1_event_set(s, a->addr));
  uint32_t need = chunks_of(l, a);
  if (need & ~l->org->find(c, &e)) return false;
  l->org->touch(c, &e, need, L1_HIT);
  if (s->g->slots.n_on_store) find_store(s, &e, need), l1d_stored(s, &e, STORE_UPDATED);
  struct l1_dirty *d = dirty_of(l, e.line);
  if (!d) {
    CHECK(l->dirty_count < l->dirty_max, "SM %u: more dirty lines than its L1 holds", s->id);
    d = &l->dirty[l->dirty_count++];
    *d = (struct l1_dirty){.line = e.line};
  }
  d->chunks |= need;
  return true;
}

bool l1_org_drop_stored(struct sm *s, const struct l1_event *e, const struct access *a) {
  struct l1d *l = &s->l1d;
  return l->org->store(&l->org_of->ctx, e, chunks_of(l, a));
}

/* The words of a store that it may place: all, or of local memory those of sectors that it writes whole. */
static uint32_t words_placed(const struct sm *s, const struct access *a, bool local) {
  if (s->l1d.line_bytes != L2_BLOCK || !s->l1d.org->put) return 0;
  uint32_t words = a->words & 0xFFFF, whole = words & words >> 1 & words >> 2 & words >> 3 & 0x1111;
  if (s->c->l1d_store == STORE_PLACES) return words;
  return local ? whole * 15 : 0;
}

enum l1_outcome l1_org_write(struct sm *s, op_id op, const struct access *a) {
  struct l1d *l = &s->l1d;
  struct l1_event e = l1_event_of_access(s, &s->op[op], a, l1_event_set(s, a->addr));
  uint32_t need = chunks_of(l, a);
  clean(l, e.line, need); /* the store itself writes the data */
  const struct slots *k = &s->g->slots;
  bool hooks = k->n_store_keeps | k->n_on_store, keeps = s->c->l1d_store != STORE_EVICTS;
  uint32_t here = hooks || keeps ? need & l->org->find(&l->org_of->ctx, &e) : 0;
  if (hooks) find_store(s, &e, here);
  if (here && k->n_store_keeps) keeps = l1d_store_keeps(s, &e);
  if (k->n_on_store) l1d_stored(s, &e, !here ? STORE_MISSED : keeps ? STORE_UPDATED : STORE_EVICTED);
  if (!keeps) return l->org->store(&l->org_of->ctx, &e, need) ? L1_HIT : L1_MISS;
  if (here && k->n_line_size) l1_packed_stored(s, &e);
  if (here && k->n_store_keeps) l->org->touch(&l->org_of->ctx, &e, here, L1_HIT);
  uint32_t words = words_placed(s, a, e.local);
  if (words && l->org->put(&l->org_of->ctx, &e, words) && s->c->l1d_store == STORE_PLACES) here = need;
  s->st->l1d_sectors_written += (uint32_t)__builtin_popcount(need);
  s->st->l1d_sectors_written_hit += (uint32_t)__builtin_popcount(here);
  return here ? L1_HIT : L1_MISS;
}

void l1_org_fill(struct sm *s, req_id id) {
  struct l1d *l = &s->l1d;
  const struct req *r = &s->g->pool.at[id];
  struct l1_mshr *m = &l->mshr[r->owner];
  uint64_t line = r->addr & ~(uint64_t)(l->line_bytes - 1);
  CHECK(m->busy && m->line == line && !(r->chunks & ~m->outstanding),
        "SM %u: chunks arrived that no MSHR waits for (%#lx)", s->id, (unsigned long)r->addr);
  struct l1_event e = l1_event_of_fill(s, r, l1_event_set(s, line));
  l->refused = 0;
  m->outstanding &= ~r->chunks;
  l->org->fill(&l->org_of->ctx, &e, r->chunks);
  r = &s->g->pool.at[id]; /* a dirty line that it replaced has left: the pool may have moved */
  s->st->l1d_fill_bytes += r->bytes;
  find_way(s, &e);
  L1D_NOTIFY(s, on_fill, &e);
  if (RARE(r->prefetch)) l1_prefetch_arrived(s, r, true);
  uint16_t kept = 0;
  uint32_t *left = left_of(l, m);
  for (uint16_t i = 0; i < m->head; i++) {
    left[i] &= ~r->chunks;
    if (left[i]) {
      left[kept] = left[i];
      m->waiter[kept++] = m->waiter[i];
      continue;
    }
    uint32_t at = (l->ready_head + l->ready_count++) % l->org_ready_size;
    l->org_ready[at].op = m->waiter[i];
    l->org_ready[at].mshr = (uint16_t)r->owner;
  }
  m->head = kept;
  release_mshr(l, m);
}

op_id l1_org_next(struct sm *s) {
  struct l1d *l = &s->l1d;
  uint32_t at = l->ready_head;
  struct l1_mshr *m = &l->mshr[l->org_ready[at].mshr];
  if (l->refused == L1_NO_MSHR || l->refused == L1_NO_MERGE) l->refused = 0;
  l->ready_head = (at + 1) % l->org_ready_size;
  l->ready_count--;
  m->count--;
  release_mshr(l, m);
  return l->org_ready[at].op;
}

bool gpu_l1_has_chooser(const struct gpu *g) {
  return g->slots.n_find_victim;
}

int gpu_l1_choose(struct gpu *g, const struct cache_set *set, const struct l1_event *e) {
  struct slot_instance *in = &g->slots.at[g->slots.find_victim[0]];
  return in->scheme->find_victim(&in->ctx, e->sm, set, e);
}

void gpu_l1_placed(struct gpu *g, const struct l1_event *e, uint32_t way) {
  struct l1_event placed = *e;
  placed.way = way;
  L1D_NOTIFY(&g->sm[e->sm], on_place, &placed);
}

void gpu_l1_ask_again(struct gpu *g) {
  for (uint32_t i = 0; i < g->config.sms; i++) {
    g->sm[i].l1d.refused = 0;
    g->sm[i].memory_look = true;
  }
}

void gpu_l1_lost(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks) {
  struct sm *s = &g->sm[e->sm];
  struct l1d *l = &s->l1d;
  uint32_t dirty = l->dirty_count ? clean(l, line, chunks) : 0;
  for (uint32_t b = 0, part; b < 32 && dirty >> b; b += chunks_a_request(l)) {
    if (!(part = dirty & block_of(l, b))) continue;
    uint32_t bytes = (uint32_t)__builtin_popcount(part) * l->org_chunk;
    uint64_t addr = line + (uint64_t)b * l->org_chunk;
    req_id id = sm_request(s, REQ_L1_WRITEBACK, addr, bytes);
    if (s->c->l2_org) s->g->pool.at[id].sectors = sectors_of_access(s->c, addr, part >> b, l->org_chunk);
    reqq_push(&l->missq, id);
  }
}

void gpu_l1_evicted(struct gpu *g, const struct l1_event *e, uint64_t line, uint32_t chunks, uint32_t owner_warp,
                    bool reused) {
  g->sm[e->sm].st->l1d_evictions++;
  gpu_l1_lost(g, e, line, chunks);
  if (g->slots.n_on_prefetch) l1_prefetch_gone(&g->sm[e->sm], line, PREFETCH_EVICTED);
  struct l1_event v = *e;
  v.line = v.addr = line;
  v.chunks = chunks;
  EACH_HOOK (in, &g->slots, on_evict) in->scheme->on_evict(&in->ctx, &v, owner_warp, reused);
}

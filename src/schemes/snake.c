/* snake.c - chains of variable strides: the loads of a warp follow each other at strides that other warps share.
 *
 * Paper: Mostofi, Falahati, Mahani, Lotfi-Kamran, Sarbazi-Azad, "Snake: A Variable-length Chain-based Prefetching for
 * GPUs", MICRO 2023. Its abstract and a public implementation's reading of it were at hand, which names the sections
 * below: head and tail table, promotion in three warps, removal after two mismatches (3.1, 3.2, 3.4); a flag per
 * prefetched line, a quarter of the space freed at a time, from the side that 80 % decides (3.2); halts of 50 cycles
 * for lack of space and between 70 % and 50 % of the bandwidth (3.3); 10 entries, 768 bytes (5.5).
 *
 * Deviations: the space that prefetched lines share is the L1 of 16 KB, not the 128 KB that shared memory leaves. The
 * limit of 50 % for other lines, before a chain is known, is left out: a line is not kept empty here. Freed lines are
 * those replaced first, and hit until then.
 *
 * Choices: a load counts with its first access, if its accesses are at equal distances; one line is requested of a
 * predicted load. The head table keeps the last load of each warp. A promoted entry serves all warps but those it
 * failed for. A chain visits each entry once at most, the first that fits at each step. A stride between warps is that
 * per slot among three warps whose last load is the same; it serves the next `ahead` slots that have a warp. Of the
 * tail table the entry with fewest warps among the three least recently used goes. Bandwidth is that of the SM's
 * replies, in windows of 128 cycles. Space lacks when a prefetch replaces a line while none of the L1 is free or freed.
 */
#include <string.h>

#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { SNAKE_ON, SNAKE_TAIL, SNAKE_DEPTH, SNAKE_AHEAD, SNAKE_DECOUPLE, SNAKE_THROTTLE, SNAKE_HALT, SNAKE_PROMOTE };
enum { SNAKE_WARPS = 64, SNAKE_TAIL_MAX = 64, SNAKE_LINES = 4096, SNAKE_FAILS = 2, SNAKE_OLD = 3 };
enum { SNAKE_WINDOW = 128 };

static const struct scheme_param params[] = {
    {"on", "", "1: prefetch; 0: never", 0, 1, 1, true},
    {"tail", "entry", "entries of the tail table", 1, SNAKE_TAIL_MAX, 10, true},
    {"depth", "load", "links of a chain that are followed", 0, SNAKE_TAIL_MAX, 10, true},
    {"ahead", "warp", "following warps that a stride between warps serves", 0, SNAKE_WARPS, 4, true},
    {"decouple", "", "1: prefetched lines and others are replaced apart; 0: LRU", 0, 1, 1, true},
    {"throttle", "", "1: prefetching halts for lack of space or bandwidth; 0: never", 0, 1, 1, true},
    {"halt", "core cycle", "halt for lack of space", 1, 10000, 50, true},
    {"warps", "warp", "warps that must agree on a stride before it is used", 1, SNAKE_WARPS, 3, true},
    {0},
};
enum { TRAINED, PROMOTED, DEMOTED, BY_CHAIN, WITHIN, BETWEEN, HALTED, FULL, SATURATED };
static const struct scheme_counter counters[] = {
    {"trained", "load", "loads that followed another of their warp", true},
    {"promoted", "link", "links between two loads seen in three warps", false},
    {"demoted", "link", "promoted links that failed too often", false},
    {"by_chain", "line", "lines requested along chains", false},
    {"within_warps", "line", "lines requested by strides within a warp", false},
    {"between_warps", "line", "lines requested by strides between warps", false},
    {"halted", "load", "loads that requested nothing during a halt", false},
    {"full", "halt", "halts for lack of space", false},
    {"saturated", "halt", "halts for lack of bandwidth", false},
    {0},
};

struct snake_head { /* the last load of a warp */
  uint64_t addr;
  uint32_t pc;
  bool valid;
};
struct snake_tail { /* a link: `to` follows `from` at `stride` */
  uint64_t warps, used;
  int64_t stride, within, between; /* to the next load; of `from`: to the warp's next time, and from warp to warp */
  uint64_t within_warps;
  uint32_t from, to, fails;
  bool valid, promoted;
};
struct snake_line {
  uint64_t used;
  bool valid, prefetched, freed;
};
struct snake_sm {
  struct prefetch_load load;
  uint64_t first, last; /* addresses of the load in progress */
  int64_t step;
  uint32_t accesses;
  bool even;
  struct snake_head head[SNAKE_WARPS];
  struct snake_tail tail[SNAKE_TAIL_MAX];
  uint64_t uses, running; /* running: slots with a warp, a bit each */
  struct snake_line line[SNAKE_LINES];
  uint32_t busy;           /* lines that are valid and not freed */
  uint32_t fetched, moved; /* prefetched lines since space was freed; of these, those loaded */
  bool free_others;        /* the side that gives way */
  uint64_t halted_until, window;
  uint32_t flits;
  bool saturated;
};

static bool snake_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (k->sets * k->ways <= SNAKE_LINES) return true;
  return err_set(e, ERR_USAGE, "scheme snake: an L1 of %u lines is larger than %d", k->sets * k->ways, SNAKE_LINES);
}

static void snake_on_kernel(struct scheme_ctx *c) { /* the L1 is empty, another program has other loads */
  memset(c->sm_state, 0, c->sm_state_bytes * c->config->sms);
}

static void snake_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, sm);
  s->head[warp].valid = false;
  s->running |= 1ull << warp;
}

static void snake_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, sm);
  s->head[warp].valid = false;
  s->running &= ~(1ull << warp);
}

/* ---- links ---- */

static struct snake_tail *snake_from(struct scheme_ctx *c, struct snake_sm *s, uint32_t pc, uint64_t warp,
                                     uint64_t visited) {
  for (uint32_t i = 0; i < c->param[SNAKE_TAIL]; i++) {
    struct snake_tail *t = &s->tail[i];
    if (t->valid && t->from == pc && t->warps & warp && !(visited >> i & 1)) return t;
  }
  return NULL;
}

/* The entry that a new link takes: an empty one, else of the least recently used ones that with fewest warps. */
static struct snake_tail *snake_place(struct scheme_ctx *c, struct snake_sm *s) {
  struct snake_tail *best = NULL;
  for (uint32_t i = 0; i < c->param[SNAKE_TAIL]; i++) {
    struct snake_tail *t = &s->tail[i];
    uint32_t older = 0;
    if (!t->valid) return t;
    for (uint32_t k = 0; k < c->param[SNAKE_TAIL]; k++) older += s->tail[k].used < t->used;
    if (older >= SNAKE_OLD) continue;
    if (!best || __builtin_popcountll(t->warps) < __builtin_popcountll(best->warps)) best = t;
  }
  return best;
}

/* Warp `e->warp` went from load `from` to e->pc with this stride. Promoted links that said otherwise lose the warp. */
static void snake_link(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e, uint32_t from,
                       int64_t stride) {
  struct snake_tail *link = NULL;
  uint64_t warp = 1ull << e->warp;
  for (uint32_t i = 0; i < c->param[SNAKE_TAIL]; i++) {
    struct snake_tail *t = &s->tail[i];
    if (!t->valid || t->from != from) continue;
    if (t->to == e->pc && t->stride == stride) {
      link = t;
      continue;
    }
    if (!t->promoted || !(t->warps & warp)) continue;
    t->warps &= ~warp;
    if (++t->fails <= SNAKE_FAILS) continue;
    t->promoted = false;
    t->warps = t->fails = 0;
    c->counter[DEMOTED]++;
  }
  if (!link) {
    link = snake_place(c, s);
    *link = (struct snake_tail){.stride = stride, .from = from, .to = e->pc, .valid = true};
  }
  link->used = ++s->uses;
  link->warps |= warp;
  if (link->promoted || __builtin_popcountll(link->warps) < (int)c->param[SNAKE_PROMOTE]) return;
  link->promoted = true;
  link->warps = ~0ull;
  c->counter[PROMOTED]++;
}

/* The address of this load the last time, from the warp's load before it, back along the chain. False: not known. */
static bool snake_before(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e, const struct snake_head *h,
                         uint64_t *addr) {
  uint64_t visited = 0, sum = 0;
  for (uint32_t pc = e->pc; pc != h->pc;) {
    const struct snake_tail *t = snake_from(c, s, pc, 1ull << e->warp, visited);
    if (!t) return false;
    visited |= 1ull << (t - s->tail);
    sum += (uint64_t)t->stride;
    pc = t->to;
  }
  *addr = h->addr - sum;
  return true;
}

static void snake_train_within(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e,
                               const struct snake_head *h) {
  uint64_t before, warp = 1ull << e->warp;
  struct snake_tail *t = snake_from(c, s, e->pc, warp, 0);
  if (!t || !snake_before(c, s, e, h, &before)) return;
  int64_t stride = (int64_t)(s->first - before);
  if (stride != t->within) t->within_warps = 0;
  t->within = stride;
  t->within_warps |= warp;
}

/* Three warps, of which this one, at the same load with the same stride per slot. */
static void snake_train_between(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e) {
  struct snake_tail *t = snake_from(c, s, e->pc, 1ull << e->warp, 0);
  int64_t stride = 0;
  uint32_t agree = 0;
  if (!t) return;
  for (uint64_t m = s->running & ~(1ull << e->warp); m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctzll(m);
    const struct snake_head *h = &s->head[w];
    int64_t slots = (int64_t)e->warp - w, bytes = (int64_t)(s->first - h->addr);
    if (!h->valid || h->pc != e->pc) continue;
    if (!bytes || bytes % slots || (agree && bytes / slots != stride)) continue;
    stride = bytes / slots;
    agree++;
  }
  if (agree && agree + 1 >= c->param[SNAKE_PROMOTE]) t->between = stride;
}

/* ---- requests ---- */

static bool snake_halted(struct scheme_ctx *c, const struct snake_sm *s) {
  return c->param[SNAKE_THROTTLE] == 1 && (s->saturated || *c->now < s->halted_until);
}

static void snake_ask(struct scheme_ctx *c, const struct l1_event *e, uint64_t addr, uint32_t why) {
  c->counter[why]++;
  gpu_prefetch(c, e, addr);
}

static void snake_request(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e) {
  uint64_t visited = 0, addr = s->first, warp = 1ull << e->warp;
  uint32_t pc = e->pc;
  const struct snake_tail *own = snake_from(c, s, pc, warp, 0), *t;
  for (uint32_t i = 0; i < c->param[SNAKE_DEPTH] && (t = snake_from(c, s, pc, warp, visited)) && t->promoted; i++) {
    visited |= 1ull << (t - s->tail);
    addr += (uint64_t)t->stride;
    pc = t->to;
    snake_ask(c, e, addr, BY_CHAIN);
  }
  if (!own) return;
  if (own->within && __builtin_popcountll(own->within_warps) >= (int)c->param[SNAKE_PROMOTE])
    snake_ask(c, e, s->first + (uint64_t)own->within, WITHIN);
  uint64_t later = s->running & ~((2ull << e->warp) - 1);
  for (uint32_t i = 0; own->between && later && i < c->param[SNAKE_AHEAD]; i++, later &= later - 1) {
    int64_t slots = (int64_t)__builtin_ctzll(later) - (int64_t)e->warp;
    snake_ask(c, e, s->first + (uint64_t)(slots * own->between), BETWEEN);
  }
}

static void snake_loaded(struct scheme_ctx *c, struct snake_sm *s, const struct l1_event *e) {
  struct snake_head *h = &s->head[e->warp];
  if (h->valid) {
    c->counter[TRAINED]++;
    snake_link(c, s, e, h->pc, (int64_t)(s->first - h->addr));
    snake_train_within(c, s, e, h);
  }
  snake_train_between(c, s, e);
  *h = (struct snake_head){.addr = s->first, .pc = e->pc, .valid = true};
  if (snake_halted(c, s)) c->counter[HALTED]++;
  else snake_request(c, s, e);
}

/* ---- bandwidth ---- */

static void snake_bandwidth(struct scheme_ctx *c, struct snake_sm *s, uint32_t flits) {
  uint64_t window = *c->now / SNAKE_WINDOW;
  if (window != s->window) {
    double peak = (double)SNAKE_WINDOW * c->config->icnt_mhz / c->config->core_mhz;
    bool was = s->saturated;
    if (window > s->window + 1) s->flits = 0; /* nothing came in the window before this one */
    if (s->flits >= 0.7 * peak) s->saturated = true;
    if (s->flits <= 0.5 * peak) s->saturated = false;
    c->counter[SATURATED] += s->saturated && !was;
    s->window = window;
    s->flits = 0;
  }
  s->flits += flits;
}

static void snake_on_fill(struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t flit = c->config->icnt_reply_flit ? c->config->icnt_reply_flit : c->config->icnt_flit;
  snake_bandwidth(c, SCHEME_SM(c, struct snake_sm, e->sm), (c->config->l1d.line + REQ_HEADER_BYTES + flit - 1) / flit);
}

/* ---- the lines of the L1 ---- */

static struct snake_line *snake_line(const struct scheme_ctx *c, struct snake_sm *s, uint32_t set, uint32_t way) {
  return &s->line[set * c->config->l1d.ways + way];
}

/* A freed line, else the least recently used one of the side that gives way, else any. */
static int snake_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, sm);
  bool apart = c->param[SNAKE_DECOUPLE] == 1;
  int best = -1;
  uint64_t least = UINT64_MAX;
  for (uint32_t w = 0; w < cs->ways; w++) {
    const struct snake_line *l = snake_line(c, s, cs->set, w);
    uint64_t rank = !apart || l->freed ? 0 : l->prefetched != s->free_others ? 1 : 2;
    if (!(cs->usable >> w & 1) || (best >= 0 && (rank << 60 | cs->used[w]) >= least)) continue;
    best = (int)w;
    least = rank << 60 | cs->used[w];
  }
  return best;
}

/* No line was free for a prefetch: free a quarter of all, the least recently used of one side first. */
static void snake_free(struct scheme_ctx *c, struct snake_sm *s) {
  uint32_t n = c->config->l1d.sets * c->config->l1d.ways;
  s->free_others = s->moved > 0.8 * s->fetched;
  s->fetched = s->moved = 0;
  s->halted_until = *c->now + (uint64_t)c->param[SNAKE_HALT];
  c->counter[FULL]++;
  for (uint32_t i = 0; i < (n + 3) / 4; i++) {
    struct snake_line *best = NULL;
    for (uint32_t k = 0; k < n; k++) {
      struct snake_line *l = &s->line[k];
      if (!l->valid || l->freed || l->prefetched == s->free_others) continue;
      if (!best || l->used < best->used) best = l;
    }
    if (!best) return;
    best->freed = true;
    s->busy--;
  }
}

static void snake_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)owner, (void)reused;
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, e->sm);
  bool full = s->busy == c->config->l1d.sets * c->config->l1d.ways;
  if (e->prefetch && full && !snake_line(c, s, e->set, e->way)->freed) snake_free(c, s);
}

static void snake_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, e->sm);
  struct snake_line *l = snake_line(c, s, e->set, e->way);
  s->busy += !l->valid || l->freed;
  *l = (struct snake_line){.used = ++s->uses, .valid = true, .prefetched = e->prefetch};
  s->fetched += e->prefetch;
}

static void snake_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, e->sm);
  struct snake_line *l = snake_line(c, s, e->set, e->way);
  s->moved += l->prefetched;
  s->busy += l->freed;
  l->prefetched = l->freed = false;
  l->used = ++s->uses;
}

static void snake_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  struct snake_sm *s = SCHEME_SM(c, struct snake_sm, e->sm);
  if (e->local) return;
  snake_bandwidth(c, s, 0);
  if (prefetch_first(&s->load, e)) {
    s->first = e->addr;
    s->accesses = 1;
    s->even = true;
  } else {
    int64_t step = (int64_t)(e->addr - s->last);
    if (s->accesses++ == 1) s->step = step;
    s->even &= step == s->step;
  }
  s->last = e->addr;
  if (s->accesses == e->degree && s->even) snake_loaded(c, s, e);
}

static void snake_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  (void)c, (void)e, (void)fate; /* it judges its links by the addresses of loads */
}

static bool snake_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[SNAKE_ON];
}

SCHEME_STORAGE(snake_storage, {"head table, 14 bytes for every two warps", 7.0 * 8 * g->sm_threads / 32 * g->sms},
               {"tail table, 32 bytes an entry", 256.0 * param[SNAKE_TAIL] * g->sms},
               {"prefetched and freed bit per line", 2.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"throttle: 50-cycle timer 6, flits of a window 9, lines fetched and loaded 2 x 10, state 2 bits",
                37.0 * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme snake = {
    .name = "snake",
    .title = "prefetching along chains of strides between the loads of a warp",
    .paper =
        "Mostofi, Falahati, Mahani, Lotfi-Kamran, Sarbazi-Azad: Snake: A Variable-length Chain-based Prefetching for "
        "GPUs. MICRO 2023",
    .idea =
        "From one load of a warp to its next the address often moves by a stride that the other warps share, though\n"
        "it differs from load to load. Links seen in three warps form chains, along which a load requests the lines\n"
        "of the following ones. Prefetched lines are replaced apart from the others, and requests halt while the L1\n"
        "or its bandwidth is full.",
    .params = params,
    .counters = counters,
    .positional = "on",
    .sm_state_bytes = sizeof(struct snake_sm),
    .init = snake_init,
    .idle = snake_idle,
    .by_sm = true,
    .storage = snake_storage,
    .on_kernel = snake_on_kernel,
    .on_warp_start = snake_on_warp_start,
    .on_warp_done = snake_on_warp_done,
    .find_victim = snake_find_victim,
    .on_evict = snake_on_evict,
    .on_hit = snake_on_hit,
    .on_access = snake_on_access,
    .on_place = snake_on_place,
    .on_fill = snake_on_fill,
    .on_prefetch = snake_on_prefetch,
};
SCHEME(snake);

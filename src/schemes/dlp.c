/* dlp.c - dynamic line protection: each load instruction has a protection distance, learnt from hits in the L1 and in
 * the tags that it lost.
 *
 * Paper: Zhu, Wernsman, Zambreno, "Improving First Level Cache Efficiency for GPUs Using Dynamic Line Protection", ICPP
 * 2018. Only the abstract was at hand: distances per memory instruction from reuse data of the L1, and a bypass when
 * all lines of a set are protected. The tables, their widths, the period and the steps are as recalled, not as read;
 * they are to be checked against the paper.
 *
 * A line keeps the instruction that used it last, and a life. An access to its set takes one from the life; a use gives
 * the line the distance of the instruction that uses it. The least recently used line with no life left is replaced.
 * The tags of replaced lines go to a victim tag array as large as the L1. A hit counts for the instruction kept
 * with the line or tag. At the end of a period, over all instructions: fewer hits in the L1 than in the victim tags
 * raise the distances, each by the associativity times 4, 2, 1 or 1/2 where an instruction's victim hits are at least
 * 4, 2, 1 or 1/2 times its L1 hits; more than twice as many lower all of them by the associativity.
 *
 * Choices: the accesses of a set are the loads that the L1 accepts or that this scheme bypasses; a load that joins
 * a line in flight neither renews it nor counts as a hit. A line in flight is protected, too. A victim tag that hits is
 * removed, the oldest goes first. Instructions share an entry of the table modulo its size. A line evicted by a store
 * leaves no tag: there is no eviction event.
 */
#include <string.h>

#include "gpu/scheme.h"

enum { DLP_MAX, DLP_PERIOD, DLP_ENTRIES };
enum { DLP_LINES = 4096, DLP_ENTRIES_MAX = 1024 };

static const struct scheme_param params[] = {
    {"max", "access", "largest distance, in accesses of the set; 0: nothing is protected", 0, 255, 15, true},
    {"period", "access", "loads of an SM between changes of the distances", 1, 1e6, 200, true},
    {"entries", "instruction", "entries of the table of distances", 1, DLP_ENTRIES_MAX, 128, true},
    {0},
};
enum { BYPASSES, L1_HITS, VICTIM_HITS, RAISED, LOWERED, DISTANCES };
static const struct scheme_counter counters[] = {
    {"bypasses", "access", "misses that bypassed the L1 because all lines of the set were protected", false},
    {"l1_hits", "hit", "hits in the L1", true},
    {"victim_hits", "miss", "misses found in the victim tags", true},
    {"raised", "period", "periods that raised distances", true},
    {"lowered", "period", "periods that lowered distances", true},
    {"distances", "access", "distance given to a line, summed over its uses", false},
    {0},
};

struct dlp_line {
  uint16_t load; /* entry of the instruction that used it last */
  uint8_t life;
};
struct dlp_tag {
  uint64_t line; /* address | 1; 0: empty */
  uint64_t age;  /* higher is younger */
  uint16_t load;
};
struct dlp_load {
  uint32_t hits, victim_hits; /* of this period */
  uint8_t distance;
};
struct dlp_sm {
  struct dlp_line line[DLP_LINES];
  struct dlp_tag tag[DLP_LINES];
  struct dlp_load load[DLP_ENTRIES_MAX];
  uint64_t ages;
  struct dlp_tag gone; /* the line just evicted; it becomes a tag when the access has looked the tags up */
  uint32_t accesses;   /* of this period */
};

static bool dlp_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (k->sets * k->ways <= DLP_LINES) return true;
  return err_set(e, ERR_USAGE, "scheme dlp: an L1 of %u lines is larger than %d", k->sets * k->ways, DLP_LINES);
}

static void dlp_on_kernel(struct scheme_ctx *c) { /* the L1 is empty, another program has other loads */
  memset(c->sm_state, 0, c->sm_state_bytes * c->config->sms);
}

static struct dlp_line *dlp_set(const struct scheme_ctx *c, struct dlp_sm *s, uint32_t set) {
  return s->line + set * c->config->l1d.ways;
}

static uint16_t dlp_load_of(const struct scheme_ctx *c, const struct l1_event *e) {
  return (uint16_t)(e->pc % (uint32_t)c->param[DLP_ENTRIES]);
}

/* ---- the period ---- */

static uint32_t dlp_step(const struct dlp_load *p, uint32_t ways) {
  uint32_t l1 = p->hits, lost = p->victim_hits;
  if (!lost) return 0;
  return lost >= 4 * l1 ? 4 * ways : lost >= 2 * l1 ? 2 * ways : lost >= l1 ? ways : 2 * lost >= l1 ? ways / 2 : 0;
}

static void dlp_end_period(struct scheme_ctx *c, struct dlp_sm *s) {
  uint32_t ways = c->config->l1d.ways, n = (uint32_t)c->param[DLP_ENTRIES], max = (uint32_t)c->param[DLP_MAX];
  uint64_t l1 = 0, lost = 0;
  for (uint32_t i = 0; i < n; i++) l1 += s->load[i].hits, lost += s->load[i].victim_hits;
  bool raise = l1<lost, lower = l1> 2 * lost;
  for (uint32_t i = 0; i < n; i++) {
    struct dlp_load *p = &s->load[i];
    uint32_t d = p->distance;
    if (raise) d += dlp_step(p, ways);
    if (lower) d -= d < ways ? d : ways;
    *p = (struct dlp_load){.distance = (uint8_t)(d < max ? d : max)};
  }
  c->counter[RAISED] += raise;
  c->counter[LOWERED] += lower;
  s->accesses = 0;
}

/* An access to the set passes; `way` >= 0: a use of that line. */
static void dlp_access(struct scheme_ctx *c, struct dlp_sm *s, const struct l1_event *e, int way) {
  struct dlp_line *lines = dlp_set(c, s, e->set);
  for (uint32_t w = 0; w < c->config->l1d.ways; w++) lines[w].life -= lines[w].life > 0;
  if (way >= 0) {
    uint16_t load = dlp_load_of(c, e);
    lines[way] = (struct dlp_line){.load = load, .life = s->load[load].distance};
    c->counter[DISTANCES] += s->load[load].distance;
  }
  if (++s->accesses >= c->param[DLP_PERIOD]) dlp_end_period(c, s);
}

/* ---- victim tags ---- */

static void dlp_look_up_tags(struct scheme_ctx *c, struct dlp_sm *s, const struct l1_event *e) {
  struct dlp_tag *tags = s->tag + e->set * c->config->l1d.ways;
  for (uint32_t w = 0; w < c->config->l1d.ways; w++) {
    if (tags[w].line != (e->line | 1)) continue;
    s->load[tags[w].load].victim_hits++;
    c->counter[VICTIM_HITS]++;
    tags[w].line = tags[w].age = 0;
    return;
  }
}

static void dlp_keep_tag(struct scheme_ctx *c, struct dlp_sm *s, uint32_t set) {
  struct dlp_tag *tags = s->tag + set * c->config->l1d.ways, *oldest = tags;
  if (!s->gone.line) return;
  for (uint32_t w = 1; w < c->config->l1d.ways; w++)
    if (tags[w].age < oldest->age) oldest = &tags[w];
  s->gone.age = ++s->ages;
  *oldest = s->gone;
  s->gone.line = 0;
}

/* ---- hooks ---- */

static bool dlp_all_protected(const struct scheme_ctx *c, struct dlp_sm *s, uint32_t set) {
  const struct dlp_line *lines = dlp_set(c, s, set);
  for (uint32_t w = 0; w < c->config->l1d.ways; w++)
    if (!lines[w].life) return false;
  return true;
}

static int dlp_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  const struct dlp_line *lines = dlp_set(c, SCHEME_SM(c, struct dlp_sm, sm), cs->set);
  int best = -1;
  for (uint32_t w = 0; w < cs->ways; w++)
    if (cs->usable >> w & 1 && !lines[w].life && (best < 0 || cs->used[w] < cs->used[best])) best = (int)w;
  return best;
}

static void dlp_bypassed(struct scheme_ctx *c, const struct l1_event *e) {
  struct dlp_sm *s = SCHEME_SM(c, struct dlp_sm, e->sm);
  c->counter[BYPASSES]++;
  dlp_look_up_tags(c, s, e);
  dlp_access(c, s, e, -1);
}

static bool dlp_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  if (why != L1_NO_LINE || !dlp_all_protected(c, SCHEME_SM(c, struct dlp_sm, e->sm), e->set)) return false;
  dlp_bypassed(c, e);
  return true;
}

static void dlp_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  if (by == BYPASS_BY_CACHE) dlp_bypassed(c, e);
}

static void dlp_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)owner, (void)reused;
  struct dlp_sm *s = SCHEME_SM(c, struct dlp_sm, e->sm);
  s->gone = (struct dlp_tag){.line = e->line | 1, .load = dlp_set(c, s, e->set)[e->way].load};
}

/* Lines placed by loads at the miss are used there, in on_access; others, prefetched or placed at the fill, here. */
static void dlp_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  struct dlp_sm *s = SCHEME_SM(c, struct dlp_sm, e->sm);
  uint16_t load = dlp_load_of(c, e);
  if (c->config->l1d_alloc != ALLOC_ON_FILL && !e->prefetch) dlp_look_up_tags(c, s, e);
  dlp_keep_tag(c, s, e->set);
  dlp_set(c, s, e->set)[e->way] = (struct dlp_line){.load = load, .life = s->load[load].distance};
}

static void dlp_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct dlp_sm *s = SCHEME_SM(c, struct dlp_sm, e->sm);
  bool missed = out == L1_MISS || out == L1_PARTIAL, on_fill = c->config->l1d_alloc == ALLOC_ON_FILL;
  if (out == L1_HIT) {
    s->load[dlp_set(c, s, e->set)[e->way].load].hits++;
    c->counter[L1_HITS]++;
  }
  if (missed && on_fill) dlp_look_up_tags(c, s, e);
  dlp_access(c, s, e, out == L1_HIT || (missed && !on_fill) ? (int)e->way : -1);
}

static bool dlp_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[DLP_MAX];
}

SCHEME_STORAGE(dlp_storage, {"instruction 7 bits and life 4 bits per line", 11.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"victim tags, 32 bits and instruction 7 bits, as many as lines",
                39.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"table: instruction 7, L1 hits 8, victim hits 10, distance 4 bits", 29 * param[DLP_ENTRIES] * g->sms})

static const struct scheme dlp = {
    .name = "dlp",
    .title = "dynamic line protection: a protection distance for each load instruction",
    .paper = "Zhu, Wernsman, Zambreno: Improving First Level Cache Efficiency for GPUs Using Dynamic Line Protection. "
             "ICPP 2018",
    .idea =
        "Lines are protected for some accesses of their set, and a miss bypasses a set whose lines are all protected.\n"
        "Loads differ in how far apart they reuse lines, so that each has its own distance. It rises while tags of\n"
        "replaced lines are found again more often than lines in the L1, and falls while they are not.",
    .params = params,
    .counters = counters,
    .positional = "max",
    .sm_state_bytes = sizeof(struct dlp_sm),
    .by_sm = true,
    .steady = true,
    .init = dlp_init,
    .idle = dlp_idle,
    .storage = dlp_storage,
    .on_kernel = dlp_on_kernel,
    .find_victim = dlp_find_victim,
    .on_stall = dlp_on_stall,
    .on_evict = dlp_on_evict,
    .on_place = dlp_on_place,
    .on_access = dlp_on_access,
    .on_bypass = dlp_on_bypass,
};
SCHEME(dlp);

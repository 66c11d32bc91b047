/* decoupled_l1d.c - an L1 with more tags than lines: a block gets a line when its tag has counted enough references.
 *
 * Paper: Li, Song, Dai, Sidelnik, Hari, Zhou, "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 4,
 * Table 3.
 *
 * Choices: the reference that allocates a tag counts as one (first=1), so that with the threshold of 2 a block gets a
 * line at its second reference; most blocks of the cache-unfriendly programs are used less than three times (Fig 3),
 * and counted otherwise the threshold would need three. A replacement that evicts and allocates ages the other tags of
 * the set once. Ties of the least frequently used tag go to the one referenced longest ago. A block that qualifies
 * while all lines of its set await data waits, as in the baseline. A store takes the line and leaves the tag.
 * References by loads that other schemes bypass before the lookup do not count. Local memory always gets a line. SM
 * dueling: section 4.3 disables the design where its miss rate is higher and enables it otherwise, so equal rates
 * (programs without hits) enable it; "higher" means by more than Table 3's difference, in points. "All the SMs" use
 * the outcome, including SM 0 and SM 1, otherwise a grid of few CTAs could never gain; both must return to sampling
 * from time to time, which the paper does not specify: here in one interval of eight (rest). The others follow SM 1 at
 * first. A miss is an access that neither hits nor merges, including a bypassed one: section 4.2 makes bypass a
 * separate status, so it could also be excluded (bypassed=0). The extra cycle of the larger tag store is hidden in the
 * paper and not modelled.
 */
#include "gpu/scheme.h"

enum {
  DL_THRESHOLD,
  DL_TAGS,
  DL_RC_BITS,
  DL_FIRST,
  DL_REPL,
  DL_DUEL,
  DL_INTERVAL,
  DL_DIFFERENCE,
  DL_BYPASSED,
  DL_REST,
  DL_VICTIM
};
enum { DL_LRU, DL_RRIP, DL_SHIP };
enum { DL_TAGS_MAX = 16384, DL_LINES_MAX = 4096, DL_TABLE = 16384, DL_FAR = 3, DL_TABLE_TOP = 7, DL_NONE = 0xff };

static const struct scheme_param params[] = {
    {"threshold", "reference", "references at which a block gets a line; 0: at once (section 6.2)", 0, 63, 2, true},
    {"tags", "tag", "tags of a set (Table 3)", 1, 64, 8, true},
    {"rc_bits", "bit", "width of the saturating reference count (section 4.1)", 1, 8, 6, true},
    {"first", "reference", "what the reference that allocates the tag counts", 0, 1, 1, true},
    {"repl", "", "data replacement: 0 LRU, 1 SRRIP, 2 SHiP (Table 3)", 0, 2, 0, true},
    {"duel", "", "1: SMs choose between the designs by SM dueling; 0: all run the new one (section 4.3)", 0, 1, 1,
     true},
    {"interval", "core cycle", "time between comparisons (Table 3)", 1, 1e9, 500, true},
    {"difference", "", "difference of miss rates that matters (Table 3)", 0, 1, 0.1, false},
    {"bypassed", "", "1: SM dueling counts a bypassed access as a miss; 0: not at all (section 4.2)", 0, 1, 1, true},
    {"rest", "interval", "intervals between comparisons in which SM 0 and 1 follow the outcome too (section 4.3)", 0,
     1000, 7, true},
    {"victim", "",
     "the tag to replace: 1 the least count of all (section 4.2), 0 of those without a line if there is one", 0, 1, 1,
     true},
    {0},
};
enum { NEW_TAGS, COUNTED, LINES, HELD_TAGS, TO_NEW, TO_BASELINE };
static const struct scheme_counter counters[] = {
    {"new_tags", "access", "accesses that bypassed and allocated a tag", true},
    {"counted", "access", "accesses that bypassed and raised the count of their tag", false},
    {"lines", "line", "lines allocated", true},
    {"held_tags", "tag", "tags replaced although they held a line", false},
    {"to_new", "time", "changes of the followers to the new design", false},
    {"to_baseline", "time", "changes of the followers to the baseline", false},
    {0},
};

struct dl_tag {
  uint64_t line, used;
  uint8_t rc, way; /* way of the data store, DL_NONE without a line */
  bool valid;
};
struct dl_line {
  uint64_t used;
  uint32_t signature;
  uint8_t tag, warp, rrpv; /* tag: of the set, DL_NONE if free */
  bool pending, reused;
};
struct dl_sm {
  struct dl_tag tag[DL_TAGS_MAX];
  struct dl_line line[DL_LINES_MAX];
  uint8_t table[DL_TABLE]; /* SHiP */
  uint64_t accesses, misses;
};
struct dl {
  uint32_t tags; /* of a set: the parameter, converted once */
  bool followers_new;
  uint32_t rest; /* intervals until SM 0 and SM 1 are compared again; 0: comparison in progress */
};

static uint32_t dl_tag_count(const struct scheme_ctx *c) {
  return ((const struct dl *)c->state)->tags;
}
static struct dl_tag *dl_tags(struct scheme_ctx *c, uint32_t sm, uint32_t set) {
  return SCHEME_SM(c, struct dl_sm, sm)->tag + set * dl_tag_count(c);
}
static struct dl_line *dl_lines(struct scheme_ctx *c, uint32_t sm, uint32_t set) {
  return SCHEME_SM(c, struct dl_sm, sm)->line + set * c->config->l1d.ways;
}

static bool dl_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (c->param[DL_TAGS] < k->ways)
    return err_set(e, ERR_USAGE,
                   "scheme decoupled-l1d: tags=%g is less than the %u lines of a set; tags=%u is as many again",
                   c->param[DL_TAGS], k->ways, 2 * k->ways);
  if (k->sets * c->param[DL_TAGS] > DL_TAGS_MAX || k->sets * k->ways > DL_LINES_MAX)
    return err_set(e, ERR_USAGE, "scheme decoupled-l1d: more than %d tags or %d lines", DL_TAGS_MAX, DL_LINES_MAX);
  if (c->param[DL_THRESHOLD] >= (double)(1u << (uint32_t)c->param[DL_RC_BITS]))
    return err_set(e, ERR_USAGE, "scheme decoupled-l1d: threshold=%g is beyond a count of %g bits",
                   c->param[DL_THRESHOLD], c->param[DL_RC_BITS]);
  ((struct dl *)c->state)->tags = (uint32_t)c->param[DL_TAGS];
  for (uint32_t i = 0; i < c->config->sms; i++)
    for (uint32_t t = 0; t < DL_TABLE; t++) SCHEME_SM(c, struct dl_sm, i)->table[t] = 1;
  return true;
}

/* True if this SM filters by reference counts. */
static bool dl_filters(const struct scheme_ctx *c, const struct l1_event *e) {
  if (e->local || c->param[DL_THRESHOLD] == 0) return false;
  if (c->param[DL_DUEL] == 0) return true;
  const struct dl *d = c->state;
  return e->sm > 1 || d->rest ? d->followers_new : e->sm == 0;
}

static int dl_tag_of(struct scheme_ctx *c, const struct l1_event *e) {
  const struct dl_tag *t = dl_tags(c, e->sm, e->set);
  for (uint32_t i = 0, n = dl_tag_count(c); i < n; i++)
    if (t[i].line == e->line && t[i].valid) return (int)i;
  return -1;
}

/* ---- the data store ---- */

/* The line to use: a free one (the highest), else by policy among lines whose data has arrived; -1 if all are pending.
 */
static int dl_choose_line(struct scheme_ctx *c, const struct l1_event *e) {
  const struct dl_line *l = dl_lines(c, e->sm, e->set);
  int best = -1;
  for (uint32_t w = 0; w < c->config->l1d.ways; w++)
    if (l[w].tag == DL_NONE) best = (int)w;
  if (best >= 0) return best;
  bool lru = c->param[DL_REPL] == DL_LRU;
  for (uint32_t w = 0; w < c->config->l1d.ways; w++) {
    if (l[w].pending) continue;
    if (best < 0 || (lru ? l[w].used < l[best].used : l[w].rrpv > l[best].rrpv)) best = (int)w;
  }
  return best;
}

static void dl_insert_position(struct scheme_ctx *c, const struct l1_event *e, uint32_t way) {
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, e->sm);
  struct dl_line *l = dl_lines(c, e->sm, e->set);
  l[way].signature = e->pc % DL_TABLE;
  bool far = c->param[DL_REPL] == DL_SHIP && !s->table[l[way].signature];
  l[way].rrpv = far ? DL_FAR : DL_FAR - 1;
}

static void dl_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t way) {
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, e->sm);
  struct dl_line *l = dl_lines(c, e->sm, e->set) + way;
  struct dl_tag *t = dl_tags(c, e->sm, e->set) + l->tag;
  uint8_t *taught = &s->table[l->signature];
  if (!l->reused && *taught) --*taught;
  gpu_l1_evicted(c->gpu, e, t->line, 1, l->warp, l->reused);
  t->way = DL_NONE;
  t->rc = 0;
  /* RRIP: the others age by the victim's distance to the maximum. */
  uint8_t age = (uint8_t)(DL_FAR - l->rrpv);
  for (uint32_t w = 0; w < c->config->l1d.ways; w++) {
    struct dl_line *o = dl_lines(c, e->sm, e->set) + w;
    if (o->tag != DL_NONE && !o->pending) o->rrpv = (uint8_t)(o->rrpv + age > DL_FAR ? DL_FAR : o->rrpv + age);
  }
  l->tag = DL_NONE;
}

/* ---- the tag store ---- */

/* Which of two tags goes: the one of smaller count; of equal ones one without a line, then the older. With victim=0, or
 * where the counts decide nothing, any without a line goes before those whose line is here. */
static bool dl_goes_before(const struct scheme_ctx *c, const struct dl_tag *a, const struct dl_tag *b) {
  bool bare = a->way == DL_NONE, differ = bare != (b->way == DL_NONE);
  if (differ && (c->param[DL_VICTIM] == 0 || c->param[DL_THRESHOLD] == 0 || a->rc == b->rc)) return bare;
  return a->rc != b->rc ? a->rc < b->rc : a->used < b->used;
}

/* The tag to replace: a free one (the highest), else the first to go of those that await no data. */
static uint32_t dl_choose_tag(struct scheme_ctx *c, const struct l1_event *e) {
  const struct dl_tag *t = dl_tags(c, e->sm, e->set);
  const struct dl_line *l = dl_lines(c, e->sm, e->set);
  int free = -1, best = -1;
  for (uint32_t i = 0; i < dl_tag_count(c); i++) {
    if (!t[i].valid) {
      free = (int)i;
      continue;
    }
    if (t[i].way != DL_NONE && l[t[i].way].pending) continue;
    if (best < 0 || dl_goes_before(c, &t[i], &t[best])) best = (int)i;
  }
  return (uint32_t)(free >= 0 ? free : best);
}

/* If every line is pending, no tag can be allocated. */
static bool dl_has_tag(struct scheme_ctx *c, const struct l1_event *e) {
  return dl_choose_tag(c, e) != (uint32_t)-1;
}

static uint32_t dl_new_tag(struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t i = dl_choose_tag(c, e);
  struct dl_tag *t = dl_tags(c, e->sm, e->set) + i;
  if (t->valid && t->way != DL_NONE) {
    c->counter[HELD_TAGS]++;
    dl_evict(c, e, t->way);
  }
  *t = (struct dl_tag){.line = e->line, .used = e->cycle, .way = DL_NONE, .valid = true};
  return i;
}

static void dl_count(const struct scheme_ctx *c, struct dl_tag *t, uint32_t more) {
  uint32_t max = (1u << (uint32_t)c->param[DL_RC_BITS]) - 1, rc = t->rc + more;
  t->rc = (uint8_t)(rc > max ? max : rc);
}

/* ---- the slot ---- */

static struct l1_shape dl_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, c->config->l1d.line, c->config->l1d.sets};
}

static uint32_t dl_find(struct scheme_ctx *c, const struct l1_event *e) {
  int i = dl_tag_of(c, e);
  if (i < 0) return 0;
  uint8_t way = dl_tags(c, e->sm, e->set)[i].way;
  return way != DL_NONE && !dl_lines(c, e->sm, e->set)[way].pending;
}

static enum l1_plan dl_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  (void)missing;
  int i = dl_tag_of(c, e);
  if (dl_filters(c, e)) {
    double rc = i < 0 ? c->param[DL_FIRST] : dl_tags(c, e->sm, e->set)[i].rc + 1.0;
    if (rc < c->param[DL_THRESHOLD]) return PLAN_BYPASS;
  }
  return dl_choose_line(c, e) >= 0 && (i >= 0 || dl_has_tag(c, e)) ? PLAN_PLACE : PLAN_FULL;
}

static uint32_t dl_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  (void)missing;
  int way = dl_choose_line(c, e), old = -1;
  struct dl_line *l = dl_lines(c, e->sm, e->set) + way;
  if (l->tag != DL_NONE) {
    old = l->tag;
    dl_evict(c, e, (uint32_t)way);
  }
  int have = dl_tag_of(c, e);
  uint32_t i = have >= 0 ? (uint32_t)have : dl_new_tag(c, e);
  struct dl_tag *t = dl_tags(c, e->sm, e->set);
  for (uint32_t k = 0; k < dl_tag_count(c); k++)
    if (k != i && (int)k != old && t[k].rc) t[k].rc--;
  dl_count(c, &t[i], have >= 0 ? 1 : (uint32_t)c->param[DL_FIRST]);
  t[i].used = e->cycle;
  t[i].way = (uint8_t)way;
  *l = (struct dl_line){.used = e->cycle, .tag = (uint8_t)i, .warp = (uint8_t)e->warp, .pending = true};
  dl_insert_position(c, e, (uint32_t)way);
  c->counter[LINES]++;
  return 0;
}

static void dl_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  (void)here;
  int i = dl_tag_of(c, e);
  if (i < 0) return;
  struct dl_tag *t = dl_tags(c, e->sm, e->set) + i;
  t->used = e->cycle;
  if (t->way == DL_NONE) return;
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, e->sm);
  struct dl_line *l = dl_lines(c, e->sm, e->set) + t->way;
  l->used = e->cycle;
  if (out != L1_HIT) return;
  l->rrpv = 0;
  l->reused = true;
  if (s->table[l->signature] < DL_TABLE_TOP) s->table[l->signature]++;
}

static void dl_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  (void)chunks;
  int i = dl_tag_of(c, e);
  CHECK(i >= 0, "decoupled-l1d: data arrived for a line without a tag (%#lx)", (unsigned long)e->line);
  dl_lines(c, e->sm, e->set)[dl_tags(c, e->sm, e->set)[i].way].pending = false;
}

static bool dl_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  (void)chunks;
  if (!dl_find(c, e)) return false;
  struct dl_tag *t = dl_tags(c, e->sm, e->set) + dl_tag_of(c, e);
  dl_lines(c, e->sm, e->set)[t->way].tag = DL_NONE;
  t->way = DL_NONE;
  return true;
}

static void dl_clear(struct scheme_ctx *c, uint32_t sm) {
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, sm);
  for (uint32_t i = 0; i < c->config->l1d.sets * dl_tag_count(c); i++) s->tag[i].valid = false;
  for (uint32_t i = 0; i < c->config->l1d.sets * c->config->l1d.ways; i++)
    s->line[i] = (struct dl_line){.tag = DL_NONE};
}
static void dl_drop(struct scheme_ctx *c, uint32_t sm) {
  for (uint32_t set = 0; set < c->config->l1d.sets; set++)
    for (uint32_t w = 0; w < c->config->l1d.ways; w++) {
      struct dl_line *l = dl_lines(c, sm, set) + w;
      if (l->tag == DL_NONE || l->pending) continue;
      dl_tags(c, sm, set)[l->tag].way = DL_NONE;
      l->tag = DL_NONE;
    }
}

/* ---- what was sent around the L1, and dueling ---- */

static void dl_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, e->sm);
  if (c->param[DL_BYPASSED] == 1) s->accesses++, s->misses++;
  if (by != BYPASS_BY_CACHE || !dl_filters(c, e)) return;
  int i = dl_tag_of(c, e);
  struct dl_tag *t = dl_tags(c, e->sm, e->set);
  if (i >= 0) {
    c->counter[COUNTED]++;
    t[i].used = e->cycle;
    dl_count(c, &t[i], 1);
  } else if (dl_has_tag(c, e)) {
    c->counter[NEW_TAGS]++;
    dl_count(c, &t[dl_new_tag(c, e)], (uint32_t)c->param[DL_FIRST]);
  }
}

static void dl_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct dl_sm *s = SCHEME_SM(c, struct dl_sm, e->sm);
  s->accesses += !e->local;
  s->misses += !e->local && out == L1_MISS;
}

static void dl_on_epoch(struct scheme_ctx *c) {
  struct dl *d = c->state;
  if (c->param[DL_DUEL] == 0 || c->config->sms < 2) return;
  struct dl_sm *fresh = SCHEME_SM(c, struct dl_sm, 0), *base = SCHEME_SM(c, struct dl_sm, 1);
  if (d->rest) {
    d->rest--;
  } else if (fresh->accesses && base->accesses) {
    double a = (double)fresh->misses / (double)fresh->accesses, b = (double)base->misses / (double)base->accesses;
    bool before = d->followers_new;
    d->followers_new = a - b <= c->param[DL_DIFFERENCE];
    d->rest = (uint32_t)c->param[DL_REST];
    c->counter[TO_NEW] += !before && d->followers_new;
    c->counter[TO_BASELINE] += before && !d->followers_new;
  }
  fresh->accesses = fresh->misses = base->accesses = base->misses = 0;
}

static uint32_t dl_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double lines = (double)g->l1d.sets * g->l1d.ways * g->sms, tags = (double)g->l1d.sets * param[DL_TAGS] * g->sms;
  const struct scheme_bits rows[] = {
      {"tags beyond the lines', 20 bits, valid and 2 bits of order", 23 * (tags - lines)},
      {"reference count of every tag", param[DL_RC_BITS] * tags},
      {"position of every tag, 2 bits and valid", 3 * tags},
      {"free lines of every set, 2 bits and one", 3.0 * g->l1d.sets * g->sms},
      {"access and miss counters of two SMs, 2 x 9 bits", 36},
      {"prediction values, 2 bits per line (rrip, ship)", param[DL_REPL] == DL_LRU ? 0 : 2 * lines},
      {"signatures, outcome bits and history table (ship)",
       param[DL_REPL] == DL_SHIP ? 15 * lines + 3.0 * DL_TABLE * g->sms : 0},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct l1_org dl_org = {
    .steady = true,
    .shape = dl_shape,
    .find = dl_find,
    .plan = dl_plan,
    .reserve = dl_reserve,
    .touch = dl_touch,
    .fill = dl_fill,
    .store = dl_store,
    .clear = dl_clear,
    .drop = dl_drop,
};

static const struct scheme decoupled_l1d = {
    .name = "decoupled-l1d",
    .title = "decoupled tag and data stores that exclude blocks without reuse",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015",
    .idea =
        "There are twice as many tags as lines. A block first gets only a tag, which counts its references while its\n"
        "loads bypass the L1; when the count reaches the threshold it gets a line. Counts age as lines change hands.\n"
        "Two SMs duel to turn the filter off where the baseline cache hits more.",
    .params = params,
    .counters = counters,
    .positional = "threshold",
    .state_bytes = sizeof(struct dl),
    .sm_state_bytes = sizeof(struct dl_sm),
    .init = dl_init,
    .by_sm = true,
    .storage = dl_storage,
    .probe_picojoule = 2.0, /* section 6.5 */
    .l1 = &dl_org,
    .epoch = 500,
    .epoch_param = "interval",
    .on_epoch = dl_on_epoch,
    .on_access = dl_on_access,
    .on_bypass = dl_on_bypass,
};
SCHEME(decoupled_l1d);

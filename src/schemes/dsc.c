/* dsc.c - decoupled sectored cache: N tags to a sector frame, each sector names its tag.
 *
 * Papers: Seznec, "Decoupled Sectored Caches: Conciliating Low Tag Implementation Cost and Low Miss Ratio", ISCA 1994;
 * as DSC-2 and DSC-4 in Li et al., "Tag-Split Cache", ICS 2016, section 5.2, with chunk masks in the MSHRs.
 *
 * Choices (Seznec leaves replacement open): a tag belongs to one frame and a sector of a line can only be in its place
 * of that frame. A line without a tag takes the tag whose victims are least recently used: the line that has the tag,
 * and the lines of the frame that own the needed sectors; among equals, the one that evicts fewest sectors (victim=0;
 * the LRU order of all tags that Table 3 of the Tag-Split Cache counts). With victim=1 it takes a tag that owns no
 * sector, of these the one whose frame loses fewest valid sectors, else the least recently used: with four tags per
 * frame such a tag nearly always exists, and recency decides nothing. A tag with pending sectors, and a place that
 * awaits another line's sector, cannot be taken; without another choice the access is refused. Every line beyond the
 * first that loses sectors to one access costs a cycle (lines go one at a time). With one tag per frame it is a sector
 * cache. Storage: Table 3 counts tags, their valid bits and LRU order, and owners, but no valid bits of sectors.
 */
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include "gpu/scheme.h"

enum { DSC_TAGS, DSC_SECTOR, DSC_VICTIM };
enum { DSC_TAGS_MAX = 16384 };

static const struct scheme_param params[] = {
    {"tags", "tag", "tags of a frame (TSC section 5.2: 2 and 4)", 1, 8, 2, true},
    {"sector", "B", "sector size, a power of two up to the line", 8, 128, 32, true},
    {"victim", "", "a new line displaces: 0 the least recently used; 1 the fewest sectors, under a tag without any", 0,
     1, 0, true},
    {0},
};
enum { PARTIAL, STOLEN, EXTRA };
static const struct scheme_counter counters[] = {
    {"partial_misses", "access", "some of the requested sectors were present or pending", true},
    {"stolen", "sector", "valid sectors overwritten by another line of the frame", false},
    {"replacement_cycles", "cycle", "cycles spent on replacing further lines", false},
    {0},
};

struct dsc_tag {
  uint64_t line, used;
  uint32_t valid, pending; /* sectors that it owns */
  uint8_t warp;
  bool reused;
};
struct dsc_sm {
  uint64_t absent;      /* a line without a tag: the last failed lookup, until a tag is allocated */
  struct dsc_tag *last; /* the tag found last; tried first */
  struct {              /* the last choice, until the state changes */
    uint64_t line;
    uint32_t missing; /* 0: there is none */
    int tag;
  } plan;
  uint32_t tags, all;   /* of a set, of all sets */
  struct dsc_tag tag[]; /* sets x frames x tags of a frame; after them the line of each once more, to be compared */
};

static bool dsc_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t sector = (uint32_t)c->param[DSC_SECTOR];
  if (sector & (sector - 1) || sector > k->line)
    return err_set(e, ERR_USAGE, "scheme dsc: sector=%u is not a power of two up to the line of %u", sector, k->line);
  if (k->sets * k->ways * (uint32_t)c->param[DSC_TAGS] > DSC_TAGS_MAX)
    return err_set(e, ERR_USAGE, "scheme dsc: more than %d tags", DSC_TAGS_MAX);
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct dsc_sm *s = SCHEME_SM(c, struct dsc_sm, i);
    s->tags = k->ways * (uint32_t)c->param[DSC_TAGS];
    s->last = s->tag;
    s->all = s->tags * k->sets;
  }
  return true;
}

static uint64_t *dsc_lines(struct dsc_sm *s) {
  return (uint64_t *)(s->tag + s->all);
}

static uint32_t dsc_n(const struct scheme_ctx *c) {
  return (uint32_t)c->param[DSC_TAGS];
}
/* First tag of the set. */
static struct dsc_tag *dsc_set(struct scheme_ctx *c, uint32_t sm, uint32_t set) {
  struct dsc_sm *s = SCHEME_SM(c, struct dsc_sm, sm);
  return s->tag + set * s->tags;
}
static bool dsc_owns(const struct dsc_tag *t, const struct l1_event *e) {
  return t->line == e->line && (t->valid | t->pending);
}
static __attribute__((noinline)) struct dsc_tag *dsc_search(struct dsc_sm *s, const struct l1_event *e) {
  uint32_t tags = s->tags, i = 0;
  struct dsc_tag *t = s->tag + e->set * tags;
  if (s->absent == e->line) return NULL;
#ifdef __SSE4_1__
  const uint64_t *line = dsc_lines(s) + e->set * tags;
  __m128i both = _mm_set1_epi64x((long long)e->line);
  for (uint32_t from = 0; i + 4 <= tags; from = i) {
    uint32_t same = 0; /* of up to 32 tags; branch-free, since the match is unpredictable */
    for (; i + 4 <= tags && i < from + 32; i += 4) {
      __m128 low = _mm_castsi128_ps(_mm_cmpeq_epi64(_mm_loadu_si128((const __m128i *)(line + i)), both));
      __m128 high = _mm_castsi128_ps(_mm_cmpeq_epi64(_mm_loadu_si128((const __m128i *)(line + i + 2)), both));
      same |= (uint32_t)_mm_movemask_ps(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0))) << (i - from);
    }
    for (; same; same &= same - 1) {
      struct dsc_tag *its = &t[from + (uint32_t)__builtin_ctz(same)];
      if (dsc_owns(its, e)) return s->last = its;
    }
  }
#endif
  for (; i < tags; i++)
    if (dsc_owns(&t[i], e)) return s->last = &t[i];
  s->absent = e->line;
  return NULL;
}
/* The tag of the line; NULL: it has none. */
static inline struct dsc_tag *dsc_tag_of(struct scheme_ctx *c, const struct l1_event *e) {
  struct dsc_sm *s = SCHEME_SM(c, struct dsc_sm, e->sm);
  return dsc_owns(s->last, e) ? s->last : dsc_search(s, e);
}

/* Sectors of the frame of tag `i` that tags other than `i` hold or await. */
static uint32_t dsc_others(const struct dsc_tag *t, uint32_t i, uint32_t n, bool pending) {
  uint32_t first = i / n * n, mask = 0;
  for (uint32_t k = first; k < first + n; k++)
    if (k != i) mask |= pending ? t[k].pending : t[k].valid;
  return mask;
}

/* For a line without a tag: a tag that owns no sector and displaces fewest, else the least recently used; -1: none. */
static int dsc_fewest(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  const struct dsc_tag *t = dsc_set(c, e->sm, e->set);
  uint32_t n = dsc_n(c), fewest = UINT32_MAX;
  int best = -1;
  for (uint32_t i = 0; i < c->config->l1d.ways * n; i++) {
    if (t[i].valid | t[i].pending || dsc_others(t, i, n, true) & missing) continue;
    uint32_t loses = (uint32_t)__builtin_popcount(dsc_others(t, i, n, false) & missing);
    if (loses <= fewest) fewest = loses, best = (int)i;
  }
  if (best >= 0) return best;
  for (uint32_t i = 0; i < c->config->l1d.ways * n; i++) {
    if (t[i].pending || dsc_others(t, i, n, true) & missing) continue;
    if (best < 0 || t[i].used < t[best].used) best = (int)i;
  }
  return best;
}

/* The tag for the missing sectors, -1 if none can be used. */
static int dsc_choose(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  const struct dsc_tag *t = dsc_set(c, e->sm, e->set);
  uint32_t n = dsc_n(c);
  const struct dsc_tag *its = dsc_tag_of(c, e);
  int have = its ? (int)(its - t) : -1, best = -1;
  if (have >= 0) return dsc_others(t, (uint32_t)have, n, true) & missing ? -1 : have;
  if (c->param[DSC_VICTIM] == 1) return dsc_fewest(c, e, missing);
  uint64_t oldest = UINT64_MAX;
  uint32_t fewest = UINT32_MAX;
  for (uint32_t first = 0; first < c->config->l1d.ways * n; first += n)
    for (uint32_t i = first; i < first + n; i++) {
      if (t[i].pending) continue;
      uint64_t last = t[i].valid ? t[i].used : 0; /* latest use of the victims: its own line, and the lines that lose
                                                   * sectors */
      uint32_t pending = 0, valid = 0;            /* of the others */
      for (uint32_t k = first; k < first + n; k++) {
        if (k == i) continue;
        pending |= t[k].pending;
        valid |= t[k].valid;
        if (t[k].valid & missing && t[k].used > last) last = t[k].used;
      }
      if (pending & missing || last > oldest) continue;
      uint32_t loses = (uint32_t)(__builtin_popcount(t[i].valid) + __builtin_popcount(valid & missing));
      if (last < oldest || loses <= fewest) oldest = last, fewest = loses, best = (int)i;
    }
  return best;
}

/* Repeating the query is free. */
static int dsc_planned(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct dsc_sm *s = SCHEME_SM(c, struct dsc_sm, e->sm);
  if (s->plan.missing != missing || s->plan.line != e->line) {
    s->plan.tag = dsc_choose(c, e, missing);
    s->plan.missing = missing;
    s->plan.line = e->line;
  }
  return s->plan.tag;
}
static void dsc_changed(struct scheme_ctx *c, uint32_t sm) {
  SCHEME_SM(c, struct dsc_sm, sm)->plan.missing = 0;
}

static size_t dsc_more_sm_state(const struct gpu_config *g, const double *param) {
  return (size_t)g->l1d.sets * g->l1d.ways * (uint32_t)param[DSC_TAGS] * (sizeof(struct dsc_tag) + sizeof(uint64_t));
}
static struct l1_shape dsc_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, (uint32_t)c->param[DSC_SECTOR], c->config->l1d.sets};
}
static uint32_t dsc_find(struct scheme_ctx *c, const struct l1_event *e) {
  const struct dsc_tag *t = dsc_tag_of(c, e);
  return t ? t->valid : 0;
}
static enum l1_plan dsc_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  return dsc_planned(c, e, missing) < 0 ? PLAN_FULL : PLAN_PLACE;
}

static void dsc_lose(struct scheme_ctx *c, const struct l1_event *e, struct dsc_tag *t, uint32_t sectors) {
  t->valid &= ~sectors;
  if (t->valid | t->pending) gpu_l1_lost(c->gpu, e, t->line, sectors);
  else gpu_l1_evicted(c->gpu, e, t->line, sectors, t->warp, t->reused);
}

static uint32_t dsc_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct dsc_sm *s = SCHEME_SM(c, struct dsc_sm, e->sm);
  struct dsc_tag *t = dsc_set(c, e->sm, e->set);
  uint32_t n = dsc_n(c), lines = 0;
  int at = dsc_planned(c, e, missing);
  CHECK(at >= 0, "dsc planned a place and then had none (set %u)", e->set);
  uint32_t i = (uint32_t)at, first = i / n * n;
  if (t[i].line != e->line || !(t[i].valid | t[i].pending)) {
    if (t[i].valid) lines++, dsc_lose(c, e, &t[i], t[i].valid);
    t[i] = (struct dsc_tag){.line = e->line, .used = e->cycle, .warp = (uint8_t)e->warp};
    dsc_lines(s)[e->set * s->tags + i] = e->line;
  }
  for (uint32_t k = first; k < first + n; k++) {
    uint32_t taken = k == i ? 0 : t[k].valid & missing;
    if (!taken) continue;
    c->counter[STOLEN] += (uint64_t)__builtin_popcount(taken);
    dsc_lose(c, e, &t[k], taken);
    lines++;
  }
  t[i].pending |= missing;
  s->absent = UINT64_MAX;
  dsc_changed(c, e->sm);
  uint32_t extra = lines > 1 ? lines - 1 : 0;
  c->counter[EXTRA] += extra;
  return extra;
}

static void dsc_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  (void)here;
  c->counter[PARTIAL] += out == L1_PARTIAL;
  struct dsc_tag *t = dsc_tag_of(c, e);
  if (!t) return;
  dsc_changed(c, e->sm);
  t->used = e->cycle;
  t->reused |= out == L1_HIT;
}
static void dsc_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct dsc_tag *t = dsc_tag_of(c, e);
  if (!t) return;
  dsc_changed(c, e->sm);
  t->valid |= chunks & t->pending;
  t->pending &= ~chunks;
}
static bool dsc_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct dsc_tag *t = dsc_tag_of(c, e);
  if (!t) return false;
  dsc_changed(c, e->sm);
  bool hit = t->valid & chunks;
  t->valid &= ~chunks;
  return hit;
}
static void dsc_clear(struct scheme_ctx *c, uint32_t sm) {
  struct dsc_tag *t = dsc_set(c, sm, 0);
  dsc_changed(c, sm);
  for (uint32_t i = 0; i < c->config->l1d.sets * c->config->l1d.ways * dsc_n(c); i++) t[i].valid = t[i].pending = 0;
}
static void dsc_drop(struct scheme_ctx *c, uint32_t sm) {
  struct dsc_tag *t = dsc_set(c, sm, 0);
  dsc_changed(c, sm);
  for (uint32_t i = 0; i < c->config->l1d.sets * c->config->l1d.ways * dsc_n(c); i++) t[i].valid = 0;
}

static double dsc_log2(double x) {
  double n = 0;
  while ((double)(1u << (uint32_t)n) < x) n++;
  return n;
}

static uint32_t dsc_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double frames = (double)g->l1d.sets * g->l1d.ways * g->sms, tags = frames * param[DSC_TAGS];
  double slots = frames * g->l1d.line / param[DSC_SECTOR];
  const struct scheme_bits rows[] = {
      {"tags beyond one a frame, 20 bits and valid", 21 * (tags - frames)},
      {"LRU order of all tags of a set", dsc_log2(param[DSC_TAGS] * g->l1d.ways) * tags},
      {"less: LRU order of the lines", -dsc_log2(g->l1d.ways) * frames},
      {"owner of every sector", dsc_log2(param[DSC_TAGS]) * slots},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct l1_org dsc_org = {
    .shape = dsc_shape,
    .find = dsc_find,
    .plan = dsc_plan,
    .reserve = dsc_reserve,
    .touch = dsc_touch,
    .fill = dsc_fill,
    .store = dsc_store,
    .clear = dsc_clear,
    .drop = dsc_drop,
    .steady = true,
};

static const struct scheme dsc = {
    .name = "dsc",
    .title = "decoupled sectored cache",
    .paper =
        "Seznec: Decoupled Sectored Caches: Conciliating Low Tag Implementation Cost and Low Miss Ratio. ISCA 1994",
    .idea = "A sector frame has several tags, and each of its sectors names its tag, so that lines\n"
            "which use different sectors share a frame.",
    .params = params,
    .counters = counters,
    .positional = "tags",
    .sm_state_bytes = sizeof(struct dsc_sm),
    .by_sm = true,
    .more_sm_state = dsc_more_sm_state,
    .init = dsc_init,
    .storage = dsc_storage,
    .l1 = &dsc_org,
};
SCHEME(dsc);

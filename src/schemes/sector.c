/* sector.c - a sector cache as L1: frames of one line of which only requested sectors are fetched.
 *
 * Papers: Liptay, IBM Systems Journal 7(1), 1968; compared with in Li et al., "Tag-Split Cache", ICS 2016, section 5.2
 * and Fig 9 (private tag of 0 bits).
 *
 * Choices: least recently used frames, or as l1d.replacement or a scheme that decides L1 replacement says. A store
 * evicts the sectors that it touches. With l1d.allocate=on-fill a line gets its frame when data arrive, so that misses
 * wait for MSHRs alone: as GPUs since Volta (configs/volta.yaml).
 */
#include "schemes/lib/frames.h"

enum { SECTOR_BYTES, SECTOR_NRU, SECTOR_WAYS = 64 };
static const struct scheme_param params[] = {
    {"bytes", "B", "sector size, a power of two up to the line (TSC section 3.1)", 8, 128, 32, true},
    {"nru", "", "1: victims by recently-used bits of sectors, as in the Tag-Split Cache; 0: least recently used", 0, 1,
     0, true},
    {0},
};
enum { PARTIAL };
static const struct scheme_counter counters[] = {
    {"sectors_added", "access", "misses in a frame that held or awaited other sectors of the line", true},
    {0},
};

static bool sector_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t bytes = (uint32_t)c->param[SECTOR_BYTES];
  if (bytes & (bytes - 1) || bytes > k->line)
    return err_set(e, ERR_USAGE, "scheme sector: bytes=%u is not a power of two up to the line of %u", bytes, k->line);
  if (k->sets * k->ways > FRAMES_MAX) return err_set(e, ERR_USAGE, "scheme sector: more than %d frames", FRAMES_MAX);
  bool nru = c->param[SECTOR_NRU] != 0;
  if (nru && k->line / bytes * k->ways > 64)
    return err_set(e, ERR_USAGE, "scheme sector: more than 64 sectors in a set");
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct frames *f = SCHEME_SM(c, struct frames, i);
    f->per = nru ? k->line / bytes : 0;
    f->fifo = c->config->l1d_repl == REPL_FIFO;
  }
  return true;
}

static size_t sector_more_sm_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return frames_bytes(g->l1d.sets, g->l1d.ways);
}

static struct frames *sector_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct frames, sm);
}
static struct l1_shape sector_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, (uint32_t)c->param[SECTOR_BYTES], c->config->l1d.sets};
}
static uint32_t sector_find(struct scheme_ctx *c, const struct l1_event *e) {
  const struct frame *f = frames_find(sector_of(c, e->sm), e, c->config->l1d.ways);
  return f ? f->valid : 0;
}
/* The frame for a line that has none, or NULL: *plan says why. The scheme that decides L1 replacement chooses among
 * several that are in use. */
static struct frame *sector_victim(struct scheme_ctx *c, const struct l1_event *e, enum l1_plan *plan) {
  struct frames *f = sector_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  struct frame *set = f->at + e->set * ways, *at = frames_victim(f, e, ways);
  *plan = at ? PLAN_PLACE : PLAN_FULL;
  if (!at || !at->valid || !gpu_l1_has_chooser(c->gpu)) return at;
  uint64_t tag[SECTOR_WAYS], used[SECTOR_WAYS];
  struct cache_set s = {.set = e->set, .ways = ways, .tag = tag, .used = used};
  for (uint32_t w = 0; w < ways; w++) {
    tag[w] = set[w].line, used[w] = set[w].used;
    if (set[w].valid && !set[w].pending) s.usable |= 1ull << w;
  }
  int way = gpu_l1_choose(c->gpu, &s, e);
  if (way >= 0) return &set[way];
  if (e->local) return at;
  *plan = PLAN_BYPASS;
  return NULL;
}
static bool on_fill(const struct scheme_ctx *c) {
  return c->config->l1d_alloc == ALLOC_ON_FILL;
}
static enum l1_plan sector_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  enum l1_plan plan = PLAN_PLACE;
  (void)missing;
  if (!on_fill(c) && !frames_find(sector_of(c, e->sm), e, c->config->l1d.ways)) sector_victim(c, e, &plan);
  return plan;
}
static uint32_t sector_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct frames *f = sector_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  enum l1_plan plan;
  if (on_fill(c)) return 0;
  bool new = !frames_find(f, e, ways);
  if (new) frames_replace(c, f, e, ways, sector_victim(c, e, &plan)), f->absent = UINT64_MAX;
  const struct frame *at = frames_reserve(c, f, e, ways, missing, NULL);
  if (new) gpu_l1_placed(c->gpu, e, (uint32_t)(at - (f->at + e->set * ways)));
  return 0;
}
static uint32_t sector_way(struct scheme_ctx *c, const struct l1_event *e) {
  struct frames *f = sector_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  const struct frame *at = frames_find(f, e, ways);
  return at ? (uint32_t)(at - (f->at + e->set * ways)) : UINT32_MAX;
}
static void sector_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  frames_touch(sector_of(c, e->sm), e, c->config->l1d.ways, here, out);
  c->counter[PARTIAL] += out == L1_PARTIAL;
}
static void sector_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct frames *f = sector_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  if (!on_fill(c)) {
    frames_fill(f, e, ways, chunks);
    return;
  }
  enum l1_plan plan;
  struct frame *at = frames_find(f, e, ways);
  bool new = !at;
  if (new && !(at = sector_victim(c, e, &plan))) return; /* a scheme keeps it out */
  if (new) frames_replace(c, f, e, ways, at), f->absent = UINT64_MAX;
  at->valid |= chunks;
  at->words &= (uint16_t)~frames_words(chunks);
  frames_recent(f, e, ways, at, chunks);
  f->draw++;
  if (new) gpu_l1_placed(c->gpu, e, (uint32_t)(at - (f->at + e->set * ways)));
}
static bool sector_put(struct scheme_ctx *c, const struct l1_event *e, uint32_t words) {
  struct frames *f = sector_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  enum l1_plan plan;
  if (!on_fill(c) || c->param[SECTOR_BYTES] != 32 || c->config->l1d.line != 128 || f->per)
    return sector_find(c, e) != 0;
  struct frame *at = frames_find(f, e, ways);
  bool new = !at;
  if (new && !(at = sector_victim(c, e, &plan))) return false;
  if (new) frames_replace(c, f, e, ways, at), f->absent = UINT64_MAX;
  frames_write(at, words);
  if (!f->fifo) at->used = e->cycle;
  if (new) gpu_l1_placed(c->gpu, e, (uint32_t)(at - (f->at + e->set * ways)));
  return !new;
}
static bool sector_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  return frames_store(sector_of(c, e->sm), e, c->config->l1d.ways, chunks);
}
static void sector_clear(struct scheme_ctx *c, uint32_t sm) {
  frames_clear(sector_of(c, sm), c->config->l1d.sets * c->config->l1d.ways);
}
static void sector_drop(struct scheme_ctx *c, uint32_t sm) {
  frames_drop(sector_of(c, sm), c->config->l1d.sets * c->config->l1d.ways);
}

static uint32_t sector_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double sectors = g->l1d.line / param[SECTOR_BYTES], lines = (double)g->l1d.sets * g->l1d.ways * g->sms;
  if (max > 0) out[0] = (struct scheme_bits){"valid bit of every sector but the first", (sectors - 1) * lines};
  if (max > 1) out[1] = (struct scheme_bits){"issued mask, a bit per sector and MSHR", sectors * g->l1d.mshrs * g->sms};
  return 2;
}

static const struct l1_org sector_org = {
    .shape = sector_shape,
    .find = sector_find,
    .plan = sector_plan,
    .reserve = sector_reserve,
    .touch = sector_touch,
    .fill = sector_fill,
    .put = sector_put,
    .store = sector_store,
    .clear = sector_clear,
    .drop = sector_drop,
    .way = sector_way,
    .steady = true,
};

static const struct scheme sector = {
    .name = "sector",
    .title = "sector cache: only requested sectors are fetched",
    .paper = "Liptay: Structural Aspects of the System/360 Model 85, II: The Cache. IBM Systems Journal 7(1), 1968",
    .idea =
        "A frame has the tag of one line and a valid bit for each of its sectors. A miss fetches the sectors that the\n"
        "load needs, which saves traffic; absent sectors still occupy space in the cache.",
    .params = params,
    .counters = counters,
    .positional = "bytes",
    .sm_state_bytes = sizeof(struct frames),
    .by_sm = true,
    .more_sm_state = sector_more_sm_state,
    .init = sector_init,
    .storage = sector_storage,
    .l1 = &sector_org,
};
SCHEME(sector);

/* ciao.c - warps whose loads evict the lines of others fetch into unused shared memory; if that is not enough, they
 * pause.
 *
 * Paper: Zhang, Gao, Kim, Jung, "CIAO: Cache Interference-Aware Throughput-Oriented Architecture and Scheduling for
 * GPUs", IPDPS 2018 (arXiv 1805.07718).
 *
 * What was at hand: the abstract. A severely interfering warp has its requests redirected to unused shared memory; if
 * interference stays severe the warp is throttled. All else is as recalled and to be checked against the paper:
 *   - victim tags, 8 for each warp, with the warp whose line took the place; a miss that finds its tag is a
 *     re-reference that this warp prevented;
 *   - a warp's score, re-references / (instructions / active warps); above 0.01, looked at each 5000 instructions, the
 *     warp that interferes most with it is redirected, and throttled if it was already; below 0.005, each 100, its
 *     warp is released, throttling first;
 *   - the warp that interferes most: one number and a saturating count of two bits for each warp;
 *   - shared memory as a direct-mapped cache of lines, with its tags in shared memory, too.
 * Modes: redirect and throttle (CIAO-C), redirect only (CIAO-P), throttle only (CIAO-T).
 *
 * Choices: instructions count from the start of the warp. A warp that evicts its own lines does not interfere. One step
 * for a warp at a check; the last running warp of an SM keeps running. A throttled warp issues nothing, unless all
 * others of its SM wait at barriers, fences or atomics. Lines that redirected warps evict from shared memory leave
 * victim tags, too. Without unused shared memory a warp is throttled at once. A line has one copy and all warps look
 * into both places; the paper moves a line that a redirected warp finds in the L1. The lines are a power of two, 132 B
 * each, so that few go when a CTA comes or leaves; a line whose data have not arrived is not replaced. Local memory is
 * not redirected. A hit takes what gpu_space_hit says.
 */
#include <string.h>

#include "schemes/lib/frames.h"

enum { CIAO_MODE, CIAO_HIGH, CIAO_LOW, CIAO_HIGH_EPOCH, CIAO_LOW_EPOCH, CIAO_TAGS, CIAO_CHUNK };
enum ciao_mode { CIAO_OFF, CIAO_BOTH, CIAO_REDIRECT, CIAO_THROTTLE };
enum { CIAO_WARPS = 64, CIAO_TAGS_MAX = 32, CIAO_TAG_BYTES = 4, CIAO_NONE = 255, CIAO_MOST = 3 };
static const char *const ciao_modes[] = {"off", "both", "redirect", "throttle", NULL};

static const struct scheme_param params[] = {
    {"mode", "", "0 off, 1 both (CIAO-C), 2 redirect (CIAO-P), 3 throttle (CIAO-T)", 0, 3, 1, true},
    {"high", "", "score above which a warp's interferer is acted on", 0, 1000, 0.01, false},
    {"low", "", "score at or below which it is released", 0, 1000, 0.005, false},
    {"high_epoch", "instruction", "warp instructions of an SM between two looks for high scores", 10, 1e9, 5000, true},
    {"low_epoch", "instruction", "and for low ones", 1, 1e9, 100, true},
    {"tags", "tag", "victim tags of a warp", 1, CIAO_TAGS_MAX, 8, true},
    {"bytes", "B", "unit of a fetch; 0: sectors of 32 B on GPUs that have them, else lines", 0, 256, 0, true},
    {0},
};
enum { VICTIMS, REREFERENCES, ISOLATED, THROTTLED, RELEASED, PLACED, HITS };
static const struct scheme_counter counters[] = {
    {"victims", "line", "evicted lines remembered for the warp that fetched them", true},
    {"rereferences", "miss", "misses on lines that another warp's loads evicted", true},
    {"isolated", "warp", "times that a warp's requests were redirected", false},
    {"throttled", "warp", "times that a warp was throttled", false},
    {"released", "warp", "times that either ended because the other warp's score had fallen", false},
    {"placed", "line", "lines fetched into shared memory", false},
    {"hits", "access", "loads that hit there", false},
    {0},
};

struct ciao_block {
  uint64_t line;
  uint32_t valid, pending; /* chunks */
  uint8_t warp;
};
struct ciao_warp {
  uint64_t tag[CIAO_TAGS_MAX]; /* line | 1; 0: empty */
  uint8_t by[CIAO_TAGS_MAX];   /* the warp whose line took its place */
  uint8_t next;
  uint8_t interferer, count; /* CIAO_NONE: none */
  uint8_t cause[2];          /* the warp for whose sake this one is redirected, throttled */
  uint64_t hits, since;      /* re-references; instructions of the SM when it started */
};
struct ciao_sm {
  uint32_t blocks, most; /* lines of shared memory, now and ever */
  uint64_t insts, isolated, throttled;
  struct ciao_warp warp[CIAO_WARPS];
  struct ciao_block *block; /* after the frames */
  struct frames f;          /* the L1 */
};

/* ---- space ---- */

static uint32_t ciao_power(uint32_t n) {
  return n ? 1u << (31 - __builtin_clz(n)) : 0;
}
static uint32_t ciao_most(const struct gpu_config *g) {
  return ciao_power(g->sm_shared / (g->l1d.line + CIAO_TAG_BYTES));
}
static size_t ciao_more_sm_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return frames_bytes(g->l1d.sets, g->l1d.ways) + ciao_most(g) * sizeof(struct ciao_block);
}
static uint32_t ciao_chunk(const struct gpu_config *g, const double *param) {
  uint32_t bytes = (uint32_t)param[CIAO_CHUNK];
  return bytes ? bytes : *g->l1d_org ? 32 : g->l1d.line;
}

static struct ciao_sm *ciao_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct ciao_sm, sm);
}

static bool ciao_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t bytes = ciao_chunk(c->config, c->param);
  if (bytes & (bytes - 1) || bytes > k->line || k->line / bytes > 32)
    return err_set(e, ERR_USAGE, "scheme ciao: bytes=%u is not a power of two up to the line of %u", bytes, k->line);
  if (k->sets * k->ways > FRAMES_MAX) return err_set(e, ERR_USAGE, "scheme ciao: more than %d lines", FRAMES_MAX);
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct ciao_sm *s = ciao_of(c, i);
    s->block = (struct ciao_block *)(s->f.at + (size_t)k->sets * k->ways);
    s->f.fifo = c->config->l1d_repl == REPL_FIFO;
    s->most = ciao_most(c->config);
  }
  return true;
}

static bool ciao_idle(const double *param, size_t hook) {
  (void)hook;
  return param[CIAO_MODE] == CIAO_OFF;
}

static uint32_t ciao_index(const struct scheme_ctx *c, const struct ciao_sm *s, uint64_t line) {
  return (uint32_t)(line / c->config->l1d.line) & (s->blocks - 1);
}

static void ciao_on_space(struct scheme_ctx *c, uint32_t sm, const struct sm_space *unused) {
  struct ciao_sm *s = ciao_of(c, sm);
  uint32_t n = ciao_power(unused->shared / (c->config->l1d.line + CIAO_TAG_BYTES));
  if (n > s->most) n = s->most;
  if (c->param[CIAO_MODE] == CIAO_THROTTLE) n = 0;
  if (n == s->blocks) return;
  memset(s->block + n, 0, (s->most - n) * sizeof *s->block);
  s->blocks = n;
  for (uint32_t i = 0; i < n; i++)
    if (ciao_index(c, s, s->block[i].line) != i) s->block[i] = (struct ciao_block){0};
}

/* ---- who interferes with whom ---- */

static void ciao_forget(struct ciao_sm *s, uint32_t sm_warp) {
  for (uint32_t w = 0; w < CIAO_WARPS; w++)
    for (uint32_t k = 0; k < 2; k++) {
      uint64_t *set = k ? &s->throttled : &s->isolated;
      if (w == sm_warp || (*set >> w & 1 && s->warp[w].cause[k] == sm_warp)) *set &= ~(1ull << w);
    }
}

static void ciao_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  struct ciao_sm *s = ciao_of(c, sm);
  (void)cta;
  ciao_forget(s, warp);
  s->warp[warp] = (struct ciao_warp){.interferer = CIAO_NONE, .since = s->insts};
}
static void ciao_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  ciao_forget(ciao_of(c, sm), warp);
}

static void ciao_victim(struct scheme_ctx *c, struct ciao_sm *s, uint64_t line, uint32_t owner, uint32_t by) {
  struct ciao_warp *w = &s->warp[owner];
  w->tag[w->next] = line | 1;
  w->by[w->next] = (uint8_t)by;
  w->next = (uint8_t)((w->next + 1) % (uint32_t)c->param[CIAO_TAGS]);
  c->counter[VICTIMS]++;
}

static void ciao_missed(struct scheme_ctx *c, struct ciao_sm *s, uint64_t line, uint32_t warp) {
  struct ciao_warp *w = &s->warp[warp];
  for (uint32_t i = 0; i < (uint32_t)c->param[CIAO_TAGS]; i++) {
    if (w->tag[i] != (line | 1)) continue;
    w->tag[i] = 0;
    if (w->by[i] == warp) return;
    w->hits++;
    c->counter[REREFERENCES]++;
    if (w->interferer == w->by[i]) w->count += w->count < CIAO_MOST;
    else if (w->interferer != CIAO_NONE && w->count) w->count--;
    else w->interferer = w->by[i];
    return;
  }
}

static double ciao_score(const struct ciao_sm *s, uint64_t running, uint32_t warp) {
  uint64_t insts = s->insts - s->warp[warp].since;
  uint64_t active = (uint64_t)__builtin_popcountll(running & ~s->throttled);
  return insts ? (double)s->warp[warp].hits * (double)active / (double)insts : 0;
}

static void ciao_look_high(struct scheme_ctx *c, struct ciao_sm *s, uint64_t running) {
  uint64_t stepped = 0;
  for (uint64_t m = running & ~s->throttled; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(m), j = s->warp[i].interferer;
    if (s->throttled >> i & 1 || j == CIAO_NONE || !(running & ~stepped & ~s->throttled) ||
        ciao_score(s, running, i) <= c->param[CIAO_HIGH])
      continue;
    uint64_t bit = 1ull << j;
    if (!(running & bit) || (stepped | s->throttled) & bit) continue;
    bool last = !(running & ~s->throttled & ~bit);
    if (s->blocks && !(s->isolated & bit)) {
      s->isolated |= bit;
      s->warp[j].cause[0] = (uint8_t)i;
      c->counter[ISOLATED]++;
    } else if (c->param[CIAO_MODE] != CIAO_REDIRECT && !last) {
      s->throttled |= bit;
      s->warp[j].cause[1] = (uint8_t)i;
      c->counter[THROTTLED]++;
    }
    stepped |= bit;
  }
}

static void ciao_look_low(struct scheme_ctx *c, struct ciao_sm *s, uint64_t running) {
  for (uint64_t m = s->isolated | s->throttled; m; m &= m - 1) {
    uint32_t j = (uint32_t)__builtin_ctzll(m), k = s->throttled >> j & 1;
    if (ciao_score(s, running, s->warp[j].cause[k]) > c->param[CIAO_LOW]) continue;
    *(k ? &s->throttled : &s->isolated) &= ~(1ull << j);
    c->counter[RELEASED]++;
  }
}

static void ciao_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  struct ciao_sm *s = ciao_of(c, sm);
  (void)warp, (void)i;
  s->insts++;
  if ((s->isolated | s->throttled) && s->insts % (uint64_t)c->param[CIAO_LOW_EPOCH] == 0)
    ciao_look_low(c, s, gpu_sm_warps(c->gpu, sm));
  if (s->insts % (uint64_t)c->param[CIAO_HIGH_EPOCH] == 0) ciao_look_high(c, s, gpu_sm_warps(c->gpu, sm));
}

static uint64_t ciao_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  const struct ciao_sm *s = ciao_of(c, sm);
  (void)loads;
  return warps & ~s->throttled ? ~s->throttled : ~0ull;
}

/* ---- the L1 and shared memory ---- */

static struct l1_shape ciao_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, ciao_chunk(c->config, c->param), c->config->l1d.sets};
}

/* The block that has the line, or waits for it. */
static struct ciao_block *ciao_find_block(struct scheme_ctx *c, struct ciao_sm *s, const struct l1_event *e) {
  if (!s->blocks || e->local) return NULL;
  struct ciao_block *b = &s->block[ciao_index(c, s, e->line)];
  return b->line == e->line && (b->valid | b->pending) ? b : NULL;
}

/* Where a line goes that is in neither place: a block, NULL for the L1. */
static struct ciao_block *ciao_new_block(struct scheme_ctx *c, struct ciao_sm *s, const struct l1_event *e) {
  bool there = s->blocks && !e->local && s->isolated >> e->warp & 1 && !frames_find(&s->f, e, c->config->l1d.ways);
  return there ? &s->block[ciao_index(c, s, e->line)] : NULL;
}

static uint32_t ciao_find(struct scheme_ctx *c, const struct l1_event *e) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  const struct frame *f = frames_find(&s->f, e, c->config->l1d.ways);
  const struct ciao_block *b = ciao_find_block(c, s, e);
  return (f ? f->valid : 0) | (b ? b->valid : 0);
}

static enum l1_plan ciao_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  (void)missing;
  if (ciao_find_block(c, s, e)) return PLAN_PLACE;
  const struct ciao_block *b = ciao_new_block(c, s, e);
  bool place = b ? !b->pending : frames_has_place(&s->f, e, c->config->l1d.ways);
  return place ? PLAN_PLACE : PLAN_FULL;
}

static void ciao_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  frames_touch(&s->f, e, c->config->l1d.ways, here, out);
  if (e->local || e->write) return;
  if (out == L1_MISS) ciao_missed(c, s, e->line, e->warp);
  const struct ciao_block *b = ciao_find_block(c, s, e);
  if (!b || !(b->valid & here) || out != L1_HIT) return;
  c->counter[HITS]++;
  gpu_space_hit(c->gpu, e->sm);
}

static uint32_t ciao_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  struct ciao_block *b = ciao_find_block(c, s, e);
  if (!b && (b = ciao_new_block(c, s, e))) {
    if (b->valid) {
      ciao_victim(c, s, b->line, b->warp, e->warp);
      gpu_l1_evicted(c->gpu, e, b->line, b->valid, b->warp, false);
    }
    *b = (struct ciao_block){.line = e->line, .warp = (uint8_t)e->warp};
    s->f.absent = UINT64_MAX;
    c->counter[PLACED]++;
  }
  if (b) {
    b->pending |= missing;
    return 0;
  }
  struct frame old = {0};
  bool new = !frames_find(&s->f, e, c->config->l1d.ways);
  frames_reserve(c, &s->f, e, c->config->l1d.ways, missing, &old);
  if (new &&old.valid) ciao_victim(c, s, old.line, old.warp, e->warp);
  return 0;
}

static void ciao_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  struct ciao_block *b = ciao_find_block(c, s, e);
  if (!b || !(b->pending & chunks)) {
    frames_fill(&s->f, e, c->config->l1d.ways, chunks);
    return;
  }
  b->valid |= b->pending & chunks;
  b->pending &= ~chunks;
  gpu_space_keep(c->gpu, e->sm);
}

static bool ciao_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct ciao_sm *s = ciao_of(c, e->sm);
  struct ciao_block *b = ciao_find_block(c, s, e);
  bool there = frames_store(&s->f, e, c->config->l1d.ways, chunks);
  if (!b || !(b->valid & chunks)) return there;
  b->valid &= ~chunks;
  return true;
}

static void ciao_clear(struct scheme_ctx *c, uint32_t sm) {
  struct ciao_sm *s = ciao_of(c, sm);
  struct sm_space unused = gpu_sm_space(c->gpu, sm);
  frames_clear(&s->f, c->config->l1d.sets * c->config->l1d.ways);
  memset(s->block, 0, s->most * sizeof *s->block);
  ciao_on_space(c, sm, &unused);
}

static void ciao_drop(struct scheme_ctx *c, uint32_t sm) {
  struct ciao_sm *s = ciao_of(c, sm);
  frames_drop(&s->f, c->config->l1d.sets * c->config->l1d.ways);
  for (uint32_t i = 0; i < s->blocks; i++) s->block[i].valid = 0;
}

#define CIAO_PER_SM(bits) ((double)g->sms * (bits))
SCHEME_STORAGE(ciao_storage,
               {"victim tags: 25 bits, the warp that took the place, 6",
                CIAO_PER_SM(g->sm_threads / 32.0 * param[CIAO_TAGS] * 31)},
               {"warp of each line of the L1, 6 bits", CIAO_PER_SM((double)g->l1d.sets * g->l1d.ways * 6)},
               {"warps: interferer and count, two causes, two states, 22 bits; re-references, 16, and start, 32",
                CIAO_PER_SM(g->sm_threads / 32.0 * (22 + 16 + 32))},
               {"instructions, 32 bits", CIAO_PER_SM(32)})

static const struct l1_org ciao_org = {
    .shape = ciao_shape,
    .find = ciao_find,
    .plan = ciao_plan,
    .reserve = ciao_reserve,
    .touch = ciao_touch,
    .fill = ciao_fill,
    .store = ciao_store,
    .clear = ciao_clear,
    .drop = ciao_drop,
};

static const struct scheme ciao = {
    .name = "ciao",
    .title = "interfering warps fetch into unused shared memory, then pause",
    .paper =
        "Zhang, Gao, Kim, Jung: CIAO: Cache Interference-Aware Throughput-Oriented Architecture and Scheduling for "
        "GPUs. IPDPS 2018",
    .idea = "Victim tags tell whose loads evict the lines that a warp still needs. If a warp suffers much, the one\n"
            "that harms it most fetches into shared memory that no CTA holds, so that the L1 is left to the others.\n"
            "If that does not help, the warp pauses until the other suffers less.",
    .params = params,
    .counters = counters,
    .positional = "mode",
    .words = ciao_modes,
    .sm_state_bytes = sizeof(struct ciao_sm),
    .more_sm_state = ciao_more_sm_state,
    .init = ciao_init,
    .idle = ciao_idle,
    .storage = ciao_storage,
    .l1 = &ciao_org,
    .on_space = ciao_on_space,
    .on_warp_start = ciao_on_warp_start,
    .on_warp_done = ciao_on_warp_done,
    .on_issue = ciao_on_issue,
    .may_issue = ciao_may_issue,
};
SCHEME(ciao);

/* apcm.c - access pattern-aware cache management: loads that stream bypass the
 * L1, lines that a warp uses again are protected.
 *
 * Paper: Koo, Oh, Ro, Annavaram, "Access Pattern-Aware Cache Management for
 * Improving Data Utilization in GPU", ISCA 2017. At hand were its abstract and
 * a reader's note: one warp is monitored, tags beside the L1 tell which data is
 * used once (streaming), again by its warp (intra-warp), by others (inter-warp)
 * or both; a load instruction is of one type for all warps; streaming loads
 * bypass the L1, inter-warp ones use it as ever, lines of intra-warp ones are
 * protected for their estimated life. Sizes and thresholds are choices, to be
 * checked against the paper.
 *
 * Choices: the monitored warp of an SM is the first that loads, and after its
 * end the next. The tags are sets of 8 ways, least recently used, and hold the
 * lines that it loads, with the instruction that brought them. A tag that goes
 * counts for its instruction as reused by its warp, by others, both or neither;
 * the life of a line is the loads of the warp between the first and the last
 * use, that of an instruction the longest of its lines. After `lines` lines an
 * instruction has its type for the rest of the launch: a reuse counts where at
 * least `share` of its lines had it. Loads of both kinds use the L1 as ever. A
 * streaming load may hit; its misses take no line. A protected line is kept
 * until its warp has executed as many loads as the life, or has ended; a miss
 * in a set whose lines are all protected bypasses the L1. The victim is the
 * least recently used line that is not protected. Instructions share an entry
 * of the table modulo its size.
 */
#include <string.h>

#include "base/hash.h"
#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { APCM_BYPASS, APCM_PROTECT, APCM_LINES, APCM_SHARE, APCM_TAGS, APCM_LOADS };
enum { APCM_L1_LINES = 4096, APCM_TAGS_MAX = 1024, APCM_LOADS_MAX = 1024, APCM_WARPS = 64, APCM_WAYS = 8 };

static const struct scheme_param params[] = {
    {"bypass", "", "1: streaming loads bypass the L1; 0: they do not", 0, 1, 1, true},
    {"protect", "", "1: lines of intra-warp loads are protected; 0: they are not", 0, 1, 1, true},
    {"lines", "line", "monitored lines of a load before it gets its type", 1, 4096, 16, true},
    {"share", "", "least share of them that is reused, for a load to be of that kind", 0.001, 1, 0.125, false},
    {"tags", "tag", "monitor tags of an SM, in sets of 8", 8, APCM_TAGS_MAX, 128, true},
    {"loads", "instruction", "entries of the table of load instructions", 1, APCM_LOADS_MAX, 128, true},
    {0},
};
enum { MONITORED, STREAMING, INTRA, INTER, MIXED, BYPASSED, BYPASSED_FULL, PROTECTED };
static const struct scheme_counter counters[] = {
    {"monitored", "line", "lines of monitored warps whose reuse was counted", true},
    {"streaming", "instruction", "loads found to be streaming, over all SMs and launches", false},
    {"intra_warp", "instruction", "loads whose lines are reused by their warp", false},
    {"inter_warp", "instruction", "loads whose lines are reused by other warps", false},
    {"mixed", "instruction", "loads whose lines are reused by both", false},
    {"bypassed", "access", "misses of streaming loads that bypassed the L1", false},
    {"bypassed_protected", "access", "other misses that did, since all lines of the set were protected", false},
    {"protected", "line", "lines protected when they were placed", false},
    {0},
};

enum apcm_type { UNKNOWN, STREAM, WITHIN, BETWEEN, BOTH };
struct apcm_tag {
  uint64_t line; /* address | 1; 0: empty */
  uint64_t used;
  uint32_t first, last; /* loads of the monitored warp before them */
  uint16_t load;
  bool within, between;
};
struct apcm_load {
  uint32_t lines, within, between, life;
  uint8_t type;
};
struct apcm_line {
  uint32_t until, warps; /* loads of its warp; number of that warp in its slot */
  uint8_t warp;
  bool protected;
};
struct apcm_sm {
  struct apcm_tag tag[APCM_TAGS_MAX];
  struct apcm_load load[APCM_LOADS_MAX];
  struct apcm_line line[APCM_L1_LINES];
  uint32_t executed[APCM_WARPS], warps[APCM_WARPS]; /* loads of a slot's warp; warps that the slot has had
                          */
  struct prefetch_load at;                          /* the load that passes the L1 */
  uint64_t uses;
  uint32_t monitored; /* warp slot + 1; 0: none */
};

static bool apcm_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if ((uint32_t)c->param[APCM_TAGS] % APCM_WAYS)
    return err_set(e, ERR_USAGE, "scheme apcm: tags=%g is not a multiple of %d, the ways of a set", c->param[APCM_TAGS],
                   APCM_WAYS);
  if (k->sets * k->ways <= APCM_L1_LINES) return true;
  return err_set(e, ERR_USAGE, "scheme apcm: the L1 has %u sets of %u ways (l1d.sets, l1d.ways), more than %d lines",
                 k->sets, k->ways, APCM_L1_LINES);
}

static void apcm_on_kernel(struct scheme_ctx *c) { /* the L1 is empty, another
                                                      program has other loads */
  memset(c->sm_state, 0, c->sm_state_bytes * c->config->sms);
}

static uint16_t apcm_load_of(const struct scheme_ctx *c, uint32_t pc) {
  return (uint16_t)(pc % (uint32_t)c->param[APCM_LOADS]);
}

/* ---- the monitor ---- */

static void apcm_judge(struct scheme_ctx *c, struct apcm_load *p) {
  static const uint32_t counter[] = {[STREAM] = STREAMING, [WITHIN] = INTRA, [BETWEEN] = INTER, [BOTH] = MIXED};
  double least = c->param[APCM_SHARE] * p->lines;
  bool within = p->within >= least, between = p->between >= least;
  p->type = within && between ? BOTH : within ? WITHIN : between ? BETWEEN : STREAM;
  c->counter[counter[p->type]]++;
}

static void apcm_retire(struct scheme_ctx *c, struct apcm_sm *s, struct apcm_tag *t) {
  struct apcm_load *p = &s->load[t->load];
  if (!t->line) return;
  t->line = t->used = 0;
  c->counter[MONITORED]++;
  if (p->type != UNKNOWN) return;
  uint32_t life = t->last - t->first;
  p->within += t->within;
  p->between += t->between;
  if (t->within && life > p->life) p->life = life;
  if (++p->lines >= c->param[APCM_LINES]) apcm_judge(c, p);
}

static void apcm_monitor(struct scheme_ctx *c, struct apcm_sm *s, const struct l1_event *e) {
  uint32_t sets = (uint32_t)c->param[APCM_TAGS] / APCM_WAYS;
  struct apcm_tag *set = s->tag + hash_u64(e->line) % sets * APCM_WAYS, *old = set;
  if (!s->monitored) s->monitored = e->warp + 1;
  bool mine = s->monitored == e->warp + 1;
  uint32_t now = s->executed[s->monitored - 1];
  for (uint32_t w = 0; w < APCM_WAYS; w++) {
    if (set[w].used < old->used) old = &set[w];
    if (set[w].line != (e->line | 1)) continue;
    set[w].used = ++s->uses;
    if (mine) set[w].within = true, set[w].last = now;
    else set[w].between = true;
    return;
  }
  if (!mine) return;
  apcm_retire(c, s, old);
  *old = (struct apcm_tag){
      .line = e->line | 1, .used = ++s->uses, .first = now, .last = now, .load = apcm_load_of(c, e->pc)};
}

/* An access has passed the L1, or around it. */
static void apcm_passed(struct scheme_ctx *c, const struct l1_event *e) {
  struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, e->sm);
  if (prefetch_first(&s->at, e)) s->executed[e->warp]++;
  if (!e->local) apcm_monitor(c, s, e);
}

static void apcm_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, sm);
  s->executed[warp] = 0;
  s->warps[warp]++;
}

static void apcm_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, sm);
  s->warps[warp]++; /* its lines are no longer protected */
  if (s->monitored != warp + 1) return;
  for (uint32_t i = 0; i < c->param[APCM_TAGS]; i++) apcm_retire(c, s, &s->tag[i]);
  s->monitored = 0;
}

/* ---- the L1 ---- */

static bool apcm_streams(struct scheme_ctx *c, const struct l1_event *e) {
  const struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, e->sm);
  return c->param[APCM_BYPASS] == 1 && !e->local && s->load[apcm_load_of(c, e->pc)].type == STREAM;
}

static bool apcm_is_protected(const struct apcm_sm *s, const struct apcm_line *l) {
  return l->protected && s->warps[l->warp] == l->warps && s->executed[l->warp] <= l->until;
}

static bool apcm_all_protected(struct scheme_ctx *c, const struct l1_event *e) {
  const struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, e->sm);
  uint32_t ways = c->config->l1d.ways;
  for (uint32_t w = 0; w < ways; w++)
    if (!apcm_is_protected(s, &s->line[e->set * ways + w])) return false;
  return true;
}

static bool apcm_may_allocate(struct scheme_ctx *c, const struct l1_event *e) {
  return e->prefetch || !apcm_streams(c, e);
}

static int apcm_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  const struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, sm);
  int best = -1;
  for (uint32_t w = 0; w < cs->ways; w++)
    if (cs->usable >> w & 1 && !apcm_is_protected(s, &s->line[cs->set * cs->ways + w]) &&
        (best < 0 || cs->used[w] < cs->used[best]))
      best = (int)w;
  return best;
}

static bool apcm_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  return why == L1_NO_LINE && (apcm_streams(c, e) || apcm_all_protected(c, e));
}

static void apcm_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  if (by == BYPASS_BY_INST) return;
  if (apcm_streams(c, e)) c->counter[BYPASSED]++;
  else c->counter[BYPASSED_FULL] += apcm_all_protected(c, e);
  apcm_passed(c, e);
}

static void apcm_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  struct apcm_sm *s = SCHEME_SM(c, struct apcm_sm, e->sm);
  const struct apcm_load *p = &s->load[apcm_load_of(c, e->pc)];
  struct apcm_line *l = &s->line[e->set * c->config->l1d.ways + e->way];
  bool protect = c->param[APCM_PROTECT] == 1 && p->type == WITHIN && !e->local && !e->prefetch;
  *l = (struct apcm_line){.protected = protect, .warp = (uint8_t)e->warp, .warps = s->warps[e->warp]};
  l->until = s->executed[e->warp] + 1 + p->life; /* the load itself is not counted yet */
  c->counter[PROTECTED] += protect;
}

static void apcm_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  apcm_passed(c, e);
}

static bool apcm_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[APCM_BYPASS] && !param[APCM_PROTECT];
}

SCHEME_STORAGE(apcm_storage,
               {"monitor tags: line 25, instruction 7, first and last use 2 x "
                "8, reuse 2, age 3 bits each",
                53 * param[APCM_TAGS] * g->sms},
               {"loads: lines, reuse within and between warps, life 4 x 8, "
                "type 3 bits each",
                35 * param[APCM_LOADS] * g->sms},
               {"monitored warp, 6 bits per SM", 6.0 * g->sms},
               {"executed loads, 8 bits per warp", 8.0 * g->sm_threads / 32 * g->sms},
               {"protected bit, warp 6, end of life 8 bits per line", 15.0 * g->l1d.sets * g->l1d.ways * g->sms})

static const struct scheme apcm = {
    .name = "apcm",
    .title = "access pattern-aware management: streaming loads bypass, "
             "intra-warp lines are protected",
    .paper = "Koo, Oh, Ro, Annavaram: Access Pattern-Aware Cache Management "
             "for Improving Data Utilization in GPU. ISCA "
             "2017",
    .idea = "A load instruction shows the same kind of locality in all warps, "
            "so that one warp tells it for all. Data\n"
            "used once goes around the L1; data that its warp uses again stays "
            "until the warp has done so; data that\n"
            "warps share is left to the usual replacement.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct apcm_sm),
    .by_sm = true,
    .init = apcm_init,
    .idle = apcm_idle,
    .storage = apcm_storage,
    .on_kernel = apcm_on_kernel,
    .on_warp_start = apcm_on_warp_start,
    .on_warp_done = apcm_on_warp_done,
    .may_allocate = apcm_may_allocate,
    .find_victim = apcm_find_victim,
    .on_stall = apcm_on_stall,
    .on_place = apcm_on_place,
    .on_access = apcm_on_access,
    .on_bypass = apcm_on_bypass,
};
SCHEME(apcm);

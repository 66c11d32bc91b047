/* linebacker.c - Linebacker: lines that leave the L1 stay in registers that no CTA holds, if their load reuses lines.
 *
 * Paper: Oh, Koo, Annavaram, Ro, "Linebacker: Preserving Victim Cache Lines in Idle Register Files of GPUs", ISCA 2019.
 *
 * What was at hand: the abstract. A load that finds its line there copies it register to register; only loads of high
 * locality get space; CTAs are throttled to make more of it, and their registers saved in memory. All else is as
 * recalled and to be checked against the paper: windows of 50,000 cycles; a load (its number, hashed to 5 bits) has
 * high locality if at least 20 % of its accesses hit the L1 or a victim tag; as long as no load has, victims leave
 * their tags only; partitions of four ways with the sets of the L1; a CTA less as long as an SM's IPC rises by 10 %
 * from window to window, one more when it falls by as much.
 *
 * Left out: a running CTA is not suspended, so that no registers are saved in memory and fetched again. Throttling
 * waits until a CTA ends, and then starts none in its place.
 *
 * Choices: a window without accesses leaves a load as it was. A hit does not move the line back to the L1. The least
 * recently used victim of a set gives way. When a CTA starts, the lines in its registers go. Loads and their counts are
 * kept between launches; limits of CTAs are not. Local lines are no victims. A hit takes what gpu_space_hit says; its
 * energy is that of an access of the L1.
 */
#include <string.h>

#include "schemes/lib/frames.h"

enum { LB_MOST, LB_THRESHOLD, LB_WINDOW, LB_PARTITION, LB_CHUNK, LB_THROTTLE, LB_IPC };
enum { LOADS = 32, LOAD_BITS = 5, LOCAL = LOADS };
static const struct scheme_param params[] = {
    {"most", "KB", "registers of an SM used at most; 0: none", 0, 1024, 256, true},
    {"threshold", "percent", "hits of a load's accesses that make its locality high", 0, 100, 20, true},
    {"window", "core cycle", "time after which loads and IPC are judged", 100, 1e7, 50000, true},
    {"partition", "way", "ways that are added or taken together", 1, 64, 4, true},
    {"bytes", "B", "unit of a fetch; 0: sectors of 32 B on GPUs that have them, else lines", 0, 256, 0, true},
    {"throttle", "", "1: CTAs are throttled (abstract); 0: they are not", 0, 1, 1, true},
    {"ipc", "percent", "change of IPC that a CTA more or less is worth", 0, 100, 10, true},
    {0},
};
enum { TAGS, KEPT, HITS, TAG_HITS, SELECTED, WITHHELD, TAKEN };
static const struct scheme_counter counters[] = {
    {"tags", "line", "lines whose tag alone was kept", true},
    {"kept", "line", "lines kept in registers", false},
    {"hits", "access", "loads that hit there", false},
    {"tag_hits", "access", "misses whose tag was there", true},
    {"selected", "load", "loads of high locality, summed over windows and SMs", false},
    {"withheld", "CTA", "CTAs that an SM may run less, summed over windows and SMs", false},
    {"taken", "line", "kept lines that went because a CTA took their registers", false},
    {0},
};

struct lb_load {
  uint32_t accesses, hits;
  bool selected;
};
struct lb_victim {
  uint64_t line, used;
  uint32_t chunks; /* 0: the place is free */
  bool kept;       /* the data, not the tag alone */
};
struct lb_sm {
  uint32_t ways;  /* of victims in each set, now */
  uint32_t most;  /* of them, ever */
  uint32_t limit; /* CTAs; 0: none yet */
  uint64_t insts; /* warp instructions of the launch at the end of the window before */
  double ipc;     /* of the window before; negative: none */
  bool any;       /* a load is selected */
  struct lb_load load[LOADS];
  struct lb_victim *victim; /* most ways of each set; after the frames */
  struct frames f;          /* the L1; `bits` of a frame: the load that fetched it, LOCAL */
};

/* ---- space ---- */

static uint32_t lb_most_ways(const struct gpu_config *g, const double *param) {
  uint32_t bytes = (uint32_t)param[LB_MOST] * 1024, all = g->sm_regs * 4;
  return (bytes < all ? bytes : all) / (g->l1d.sets * g->l1d.line);
}

static size_t lb_more_sm_state(const struct gpu_config *g, const double *param) {
  return frames_bytes(g->l1d.sets, g->l1d.ways) +
         (size_t)g->l1d.sets * lb_most_ways(g, param) * sizeof(struct lb_victim);
}

static uint32_t lb_chunk(const struct gpu_config *g, const double *param) {
  uint32_t bytes = (uint32_t)param[LB_CHUNK];
  return bytes ? bytes : *g->l1d_org ? 32 : g->l1d.line;
}

static bool lb_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t bytes = lb_chunk(c->config, c->param);
  if (bytes & (bytes - 1) || bytes > k->line || k->line / bytes > 32)
    return err_set(e, ERR_USAGE, "scheme linebacker: bytes=%u is not a power of two up to the line of %u", bytes,
                   k->line);
  if (k->sets * k->ways > FRAMES_MAX) return err_set(e, ERR_USAGE, "scheme linebacker: more than %d lines", FRAMES_MAX);
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct lb_sm *s = SCHEME_SM(c, struct lb_sm, i);
    s->victim = (struct lb_victim *)(s->f.at + (size_t)k->sets * k->ways);
    s->f.fifo = c->config->l1d_repl == REPL_FIFO;
    s->most = lb_most_ways(c->config, c->param);
  }
  return true;
}

static bool lb_idle(const double *param, size_t hook) {
  (void)hook;
  return param[LB_MOST] == 0;
}

static struct lb_sm *lb_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct lb_sm, sm);
}

static struct lb_victim *lb_set(struct lb_sm *s, uint32_t set) {
  return s->victim + (size_t)set * s->most;
}

static struct lb_victim *lb_find_victim(struct lb_sm *s, uint32_t set, uint64_t line) {
  struct lb_victim *v = lb_set(s, set);
  for (uint32_t w = 0; w < s->ways; w++)
    if (v[w].line == line && v[w].chunks) return &v[w];
  return NULL;
}

static void lb_on_space(struct scheme_ctx *c, uint32_t sm, const struct sm_space *unused) {
  struct lb_sm *s = lb_of(c, sm);
  const struct cache_config *k = &c->config->l1d;
  uint32_t step = (uint32_t)c->param[LB_PARTITION];
  uint32_t ways = unused->registers / (k->sets * k->line);
  if (ways > s->most) ways = s->most;
  ways -= ways % step;
  for (uint32_t set = 0; ways < s->ways && set < k->sets; set++)
    for (uint32_t w = ways; w < s->ways; w++) {
      struct lb_victim *v = &lb_set(s, set)[w];
      c->counter[TAKEN] += v->chunks && v->kept;
      *v = (struct lb_victim){0};
    }
  if (ways != s->ways) gpu_l1_ask_again(c->gpu);
  s->ways = ways;
}

/* ---- the L1 and its victims ---- */

static struct l1_shape lb_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, lb_chunk(c->config, c->param), c->config->l1d.sets};
}

static uint32_t lb_find(struct scheme_ctx *c, const struct l1_event *e) {
  struct lb_sm *s = lb_of(c, e->sm);
  const struct frame *f = frames_find(&s->f, e, c->config->l1d.ways);
  const struct lb_victim *v = e->local ? NULL : lb_find_victim(s, e->set, e->line);
  return (f ? f->valid : 0) | (v && v->kept ? v->chunks : 0);
}

static enum l1_plan lb_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  (void)missing;
  return frames_has_place(&lb_of(c, e->sm)->f, e, c->config->l1d.ways) ? PLAN_PLACE : PLAN_FULL;
}

static uint32_t lb_load_of(const struct l1_event *e) {
  return (e->pc ^ e->pc >> LOAD_BITS ^ e->pc >> 2 * LOAD_BITS) % LOADS;
}

static void lb_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  struct lb_sm *s = lb_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways;
  const struct frame *f = frames_find(&s->f, e, ways);
  uint32_t valid = f ? f->valid : 0;
  frames_touch(&s->f, e, ways, here, out);
  if (e->local || e->write) return;
  struct lb_victim *v = lb_find_victim(s, e->set, e->line);
  struct lb_load *l = &s->load[lb_load_of(e)];
  bool tag = v && !v->kept && out != L1_HIT;
  l->accesses++;
  l->hits += out == L1_HIT || tag;
  c->counter[TAG_HITS] += tag;
  if (!v || !v->kept || !(here & ~valid)) return;
  v->used = e->cycle;
  if (out != L1_HIT) return;
  c->counter[HITS]++;
  gpu_space_hit(c->gpu, e->sm);
}

/* A line has left the L1. */
static void lb_keep(struct scheme_ctx *c, const struct l1_event *e, const struct frame *old) {
  struct lb_sm *s = lb_of(c, e->sm);
  if (!s->ways || old->bits == LOCAL) return;
  bool kept = s->load[old->bits].selected;
  if (s->any && !kept) return;
  struct lb_victim *set = lb_set(s, e->set), *at = lb_find_victim(s, e->set, old->line);
  uint32_t before = at && at->kept ? at->chunks : 0;
  if (!at) {
    at = set;
    for (uint32_t w = 1; w < s->ways && at->chunks; w++)
      if (!set[w].chunks || set[w].used < at->used) at = &set[w];
  }
  *at = (struct lb_victim){.line = old->line, .used = e->cycle, .chunks = old->valid | before, .kept = kept};
  c->counter[kept ? KEPT : TAGS]++;
  if (kept) gpu_space_keep(c->gpu, e->sm);
}

static uint32_t lb_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct lb_sm *s = lb_of(c, e->sm);
  struct frame old = {0}, *f = frames_find(&s->f, e, c->config->l1d.ways);
  bool new = !f;
  f = frames_reserve(c, &s->f, e, c->config->l1d.ways, missing, &old);
  if (!new) return 0;
  f->bits = e->local ? LOCAL : lb_load_of(e);
  if (old.valid) lb_keep(c, e, &old);
  struct lb_victim *v = lb_find_victim(s, e->set, e->line);
  if (v && !v->kept) *v = (struct lb_victim){0};
  return 0;
}

static void lb_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  frames_fill(&lb_of(c, e->sm)->f, e, c->config->l1d.ways, chunks);
}

static bool lb_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct lb_sm *s = lb_of(c, e->sm);
  struct lb_victim *v = lb_find_victim(s, e->set, e->line);
  bool there = frames_store(&s->f, e, c->config->l1d.ways, chunks);
  if (!v || !(v->chunks & chunks)) return there;
  v->chunks &= ~chunks;
  return there || v->kept;
}

static void lb_forget(struct scheme_ctx *c, struct lb_sm *s) {
  size_t n = (size_t)c->config->l1d.sets * s->most;
  memset(s->victim, 0, n * sizeof *s->victim);
}

static void lb_clear(struct scheme_ctx *c, uint32_t sm) {
  struct lb_sm *s = lb_of(c, sm);
  struct sm_space unused = gpu_sm_space(c->gpu, sm);
  frames_clear(&s->f, c->config->l1d.sets * c->config->l1d.ways);
  lb_forget(c, s);
  lb_on_space(c, sm, &unused);
}

static void lb_drop(struct scheme_ctx *c, uint32_t sm) {
  struct lb_sm *s = lb_of(c, sm);
  frames_drop(&s->f, c->config->l1d.sets * c->config->l1d.ways);
  lb_forget(c, s);
}

/* ---- which loads, and how many CTAs ---- */

static void lb_on_kernel(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct lb_sm *s = lb_of(c, i);
    s->limit = 0;
    s->insts = 0;
    s->ipc = -1;
  }
}

static void lb_select(struct scheme_ctx *c, struct lb_sm *s) {
  s->any = false;
  for (uint32_t i = 0; i < LOADS; i++) {
    struct lb_load *l = &s->load[i];
    if (l->accesses) l->selected = 100.0 * l->hits >= c->param[LB_THRESHOLD] * l->accesses;
    l->accesses = l->hits = 0;
    s->any |= l->selected;
    c->counter[SELECTED] += l->selected;
  }
}

static void lb_throttle(struct scheme_ctx *c, struct lb_sm *s, double ipc) {
  uint32_t most = gpu_sm_cta_limit(c->gpu);
  double step = c->param[LB_IPC] / 100;
  if (!s->limit) s->limit = most > 1 ? most - 1 : 1;
  else if (s->ipc >= 0 && ipc >= s->ipc * (1 + step) && s->limit > 1) s->limit--;
  else if (s->ipc >= 0 && ipc <= s->ipc * (1 - step) && s->limit < most) s->limit++;
  c->counter[WITHHELD] += most - s->limit;
}

static void lb_on_epoch(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct lb_sm *s = lb_of(c, i);
    uint64_t insts = gpu_sm_warp_insts(c->gpu, i);
    double ipc = (double)(insts - s->insts) / c->param[LB_WINDOW];
    if (!gpu_sm_warps(c->gpu, i)) continue;
    lb_select(c, s);
    if (s->any && c->param[LB_THROTTLE] != 0) lb_throttle(c, s, ipc);
    s->insts = insts;
    s->ipc = ipc;
  }
}

static bool lb_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  const struct lb_sm *s = lb_of(c, sm);
  return !s->limit || running < s->limit;
}

SCHEME_STORAGE(lb_storage,
               {"victim tags: 24 bits of tag, a bit a unit of fetch, one for tags alone, 8 of recency",
                (double)g->sms * g->l1d.sets *lb_most_ways(g, param) * (24 + g->l1d.line / lb_chunk(g, param) + 1 + 8)},
               {"load of each line of the L1, 5 bits", (double)g->sms * g->l1d.sets * g->l1d.ways *LOAD_BITS},
               {"32 loads: two counters of 16 bits and a bit", (double)g->sms *LOADS * 33},
               {"limit of CTAs and IPC, 8 and 32 bits", (double)g->sms * 40})

static const struct l1_org lb_org = {
    .shape = lb_shape,
    .find = lb_find,
    .plan = lb_plan,
    .reserve = lb_reserve,
    .touch = lb_touch,
    .fill = lb_fill,
    .store = lb_store,
    .clear = lb_clear,
    .drop = lb_drop,
    .steady = true,
};

static const struct scheme linebacker = {
    .name = "linebacker",
    .title = "lines that leave the L1 stay in idle registers, if their load reuses lines",
    .paper = "Oh, Koo, Annavaram, Ro: Linebacker: Preserving Victim Cache Lines in Idle Register Files of GPUs. ISCA "
             "2019",
    .idea = "An SM's register file is several times its L1, and CTAs seldom fill it. Lines that leave the L1 stay in\n"
            "registers that no CTA holds, if they were fetched by loads that reuse lines; a load finds them there a\n"
            "little later than in the L1. Fewer CTAs leave more registers, as long as IPC gains by it.",
    .params = params,
    .counters = counters,
    .positional = "most",
    .epoch_param = "window",
    .epoch = 50000,
    .sm_state_bytes = sizeof(struct lb_sm),
    .more_sm_state = lb_more_sm_state,
    .init = lb_init,
    .idle = lb_idle,
    .storage = lb_storage,
    .l1 = &lb_org,
    .on_kernel = lb_on_kernel,
    .on_epoch = lb_on_epoch,
    .on_space = lb_on_space,
    .may_launch = lb_may_launch,
};
SCHEME(linebacker);

/* l2_mockingjay.c - Mockingjay at the L2: predict when each line is used next, and replace the one furthest away.
 *
 * Paper: Shah, Jain, Lin, "Effective Mimicry of Belady's MIN Policy", HPCA 2022.
 *
 * What was at hand: the abstract, an encyclopedia's description and facts of the authors' public code (sizes, rounding,
 * what is trained when). Not the paper's sections.
 *
 * What is built. A sampled set counts its accesses and remembers lines in a small cache of 5 ways, with their time and
 * signature: a hash of the instruction and whether it hit. A line that is used again trains the prediction of the
 * signature that used it last: the distance seen if there was none, else one step towards it if they are 16 or more
 * apart. A line that leaves the small cache unused raises its signature's prediction by one, or sets it to the
 * longest. Every line of the L2 has a counter: the predicted distance when it was used, divided by `grain`. Every
 * `grain` accesses to the set it falls by one, also below zero, down to its limit. The victim has the largest
 * magnitude; of equals a negative one, whose use is overdue. A request that is predicted beyond all lines of its set
 * takes none.
 *
 * Choices: the longest distance is 8 x ways - 1; a prediction within its upper 22/127, the authors' share for 16 ways,
 * counts as never. `samples` sets of every sub-partition; a small cache of as many sets as the L2 has ways for each.
 * One table for the whole L2; times do not wrap. The PC is the number of the instruction, so that kernels share
 * entries. A request that merges with a line in flight is no access. Without a prediction the counter is 0. A line
 * brought by a write-back of the L1 is overdue by the most and trains nothing. Prefetches are as other accesses.
 */
#include <stdlib.h>

#include "schemes/lib/l2_sample.h"

enum { SAMPLES, HISTORY, GRAIN, TABLE, BYPASS };
enum { JAY_WAYS = 5, JAY_TAG_BITS = 14, JAY_STEP = 16, JAY_NONE = UINT16_MAX };

static const struct scheme_param params[] = {
    {"samples", "set", "sampled sets of a sub-partition; 0: least recently used as in the baseline", 0, 4096, 4, true},
    {"history", "way", "the longest distance in accesses to a set, times its ways", 2, 32, 8, true},
    {"grain", "access", "accesses to a set after which the counters of its lines fall", 1, 16, 8, true},
    {"table", "entry", "predictions", 16, 65536, 2048, true},
    {"bypass", "", "1: a request predicted beyond all lines of its set takes none", 0, 1, 1, true},
    {0},
};
enum { TRAINED, SCANS, OVERDUE, FAR, BYPASSED };
static const struct scheme_counter counters[] = {
    {"trained", "access", "distances seen in sampled sets", true},
    {"scans", "line", "lines that left a sampled set's memory unused", false},
    {"overdue", "line", "lines replaced after their predicted use", false},
    {"far", "line", "lines replaced before it", false},
    {"bypassed", "request", "requests that took no line", false},
    {0},
};

struct jay_sample {
  uint64_t time; /* from 1; 0: empty */
  uint16_t tag, signature;
};
struct jay_line {
  uint64_t line; /* its address plus 1; 0: none */
  int16_t left;  /* until its use; negative: overdue */
};
struct jay {
  int32_t longest, never, limit; /* distance; beyond this distance: not again; of the counters */
  uint64_t *time;                /* accesses to each sampled set */
  struct jay_line *line;
  struct jay_sample *sample;
  uint16_t *table; /* predicted distances, JAY_NONE: none yet */
  uint8_t *clock;  /* of each set, in accesses */
  uint64_t room[]; /* for them */
};

static size_t jay_sampled(const struct gpu_config *g, const double *param) {
  return (size_t)l2_sample_sets(g, param[SAMPLES]) * l2_sample_subparts(g);
}
static size_t jay_samples(const struct gpu_config *g, const double *param) {
  return jay_sampled(g, param) * g->l2.ways * JAY_WAYS;
}
static size_t jay_more_state(const struct gpu_config *g, const double *param) {
  return jay_sampled(g, param) * sizeof(uint64_t) + l2_sample_lines(g) * sizeof(struct jay_line) +
         jay_samples(g, param) * sizeof(struct jay_sample) + (size_t)param[TABLE] * sizeof(uint16_t) +
         (size_t)l2_sample_subparts(g) * g->l2.sets;
}

static bool jay_init(struct scheme_ctx *c, struct err *e) {
  struct jay *j = c->state;
  uint32_t span = (uint32_t)c->param[HISTORY] * c->config->l2.ways, grain = (uint32_t)c->param[GRAIN];
  if (span < 2 * grain || span > INT16_MAX)
    return err_set(e, ERR_USAGE, "scheme l2-mockingjay: history x ways is %u; allowed is 2 x grain to %d", span,
                   INT16_MAX);
  j->longest = (int32_t)span - 1;
  j->never = j->longest - j->longest * 22 / 127;
  j->limit = j->longest / (int32_t)grain;
  j->time = j->room;
  j->line = (struct jay_line *)(j->time + jay_sampled(c->config, c->param));
  j->sample = (struct jay_sample *)(j->line + l2_sample_lines(c->config));
  j->table = (uint16_t *)(j->sample + jay_samples(c->config, c->param));
  j->clock = (uint8_t *)(j->table + (size_t)c->param[TABLE]);
  for (uint32_t i = 0; i < c->param[TABLE]; i++) j->table[i] = JAY_NONE;
  return true;
}

static uint16_t jay_signature(const struct scheme_ctx *c, const struct mem_event *e, bool hit) {
  return (uint16_t)(hash_u64(l2_sample_pc(e) << 1 | hit) % (uint32_t)c->param[TABLE]);
}

/* ---- the sampled sets ---- */

static void jay_train(struct scheme_ctx *c, uint16_t signature, int32_t seen) {
  uint16_t *t = &((struct jay *)c->state)->table[signature];
  if (*t == JAY_NONE) *t = (uint16_t)seen;
  else if (seen >= *t + JAY_STEP) ++*t;
  else if (seen <= *t - JAY_STEP) --*t;
  c->counter[TRAINED]++;
}

static void jay_forget(struct scheme_ctx *c, struct jay_sample *s) {
  struct jay *j = c->state;
  uint16_t *t = &j->table[s->signature];
  if (*t == JAY_NONE) *t = (uint16_t)j->longest;
  else if (*t < j->longest) ++*t;
  s->time = 0;
  c->counter[SCANS]++;
}

static void jay_sample(struct scheme_ctx *c, uint32_t sampled, const struct mem_event *e, uint16_t signature) {
  struct jay *j = c->state;
  uint32_t ways = c->config->l2.ways;
  uint64_t now = ++j->time[sampled];
  struct jay_sample *set = j->sample + ((size_t)sampled * ways + hash_u64(e->line) % ways) * JAY_WAYS, *at = NULL;
  uint16_t tag = l2_sample_tag(e->line, JAY_TAG_BITS);
  for (uint32_t w = 0; w < JAY_WAYS; w++) {
    struct jay_sample *s = &set[w];
    if (!s->time) continue;
    if (now - s->time > (uint64_t)j->longest) jay_forget(c, s);
    else if (s->tag == tag) {
      jay_train(c, s->signature, (int32_t)(now - s->time));
      s->time = 0;
    }
  }
  for (uint32_t w = 0; w < JAY_WAYS; w++)
    if (!at || set[w].time < at->time) at = &set[w];
  if (at->time) jay_forget(c, at);
  *at = (struct jay_sample){.time = now, .tag = tag, .signature = signature};
}

/* ---- the lines ---- */

static int jay_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  const struct jay *j = c->state;
  const struct jay_line *l = j->line + l2_sample_set(c->config, e);
  int best = -1, far = -1;
  for (uint32_t w = 0; w < s->ways; w++) {
    if (!(s->usable >> w & 1)) continue;
    int left = abs(l[w].left);
    if (left > far || (left == far && l[w].left < 0)) best = (int)w, far = left;
  }
  int32_t next = j->table[jay_signature(c, e, false)];
  bool beyond = next != JAY_NONE && (next > j->never || next / (int32_t)c->param[GRAIN] > far);
  return beyond && c->param[BYPASS] && !l2_sample_writeback(e) && !e->atomic ? -1 : best;
}

static void jay_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  const struct jay_line *l = ((struct jay *)c->state)->line + l2_sample_set(c->config, e) + e->way;
  if (l->line == e->line + 1) c->counter[l->left < 0 ? OVERDUE : FAR]++;
}

static void jay_tick(struct scheme_ctx *c, const struct mem_event *e, struct jay_line *set) {
  struct jay *j = c->state;
  uint8_t *clock = &j->clock[(size_t)e->subpart * c->config->l2.sets + e->set];
  for (uint32_t w = 0; !*clock && w < c->config->l2.ways; w++)
    if (w != e->way && abs(set[w].left) < j->limit) set[w].left--;
  *clock = (uint8_t)((*clock + 1) % (uint32_t)c->param[GRAIN]);
}

static void jay_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct jay *j = c->state;
  struct jay_line *set = j->line + l2_sample_set(c->config, e), *l = e->way == UINT32_MAX ? NULL : set + e->way;
  if (out == L2_PENDING || (out != L2_BYPASSED && !l)) return;
  bool hit = l && l->line == e->line + 1; /* or a sectored L2 misses in a line that is present */
  if (l) l->line = e->line + 1;
  if (l2_sample_writeback(e)) {
    if (l && !hit) l->left = (int16_t)-j->limit;
    return;
  }
  uint16_t signature = jay_signature(c, e, hit);
  int sampled = l2_sample_of(c->config, c->param[SAMPLES], e);
  if (sampled >= 0) jay_sample(c, (uint32_t)sampled, e, signature);
  jay_tick(c, e, set);
  c->counter[BYPASSED] += out == L2_BYPASSED;
  if (!l) return;
  int32_t next = j->table[signature];
  if (next == JAY_NONE) l->left = 0;
  else l->left = (int16_t)(next > j->never ? j->limit : next / (int32_t)c->param[GRAIN]);
}

static bool jay_idle(const double *param, size_t hook) {
  (void)hook;
  return param[SAMPLES] == 0;
}

static uint32_t jay_bits(double most) {
  uint32_t bits = 0;
  while (1u << bits < (uint32_t)most) bits++;
  return bits;
}

static uint32_t jay_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double span = param[HISTORY] * g->l2.ways, sets = (double)l2_sample_subparts(g) * g->l2.sets;
  const struct scheme_bits rows[] = {
      {"counter per L2 line", (1.0 + jay_bits(span / param[GRAIN])) * (double)l2_sample_lines(g)},
      {"clock per L2 set", jay_bits(param[GRAIN]) * sets},
      {"samples: tag of 14 bits, signature, time and a bit",
       (JAY_TAG_BITS + jay_bits(param[TABLE]) + jay_bits(span) + 2.0) * (double)jay_samples(g, param)},
      {"time per sampled set", (jay_bits(span) + 1.0) * (double)jay_sampled(g, param)},
      {"predicted distances and a bit", (jay_bits(span) + 1.0) * param[TABLE]},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme l2_mockingjay = {
    .name = "l2-mockingjay",
    .title = "Mockingjay at the L2: replace the line predicted to be used last",
    .paper = "Shah, Jain, Lin: Effective Mimicry of Belady's MIN Policy. HPCA 2022",
    .idea = "The distance to a line's next use is predicted from the instruction that used it, learnt in a few sets.\n"
            "Lines count down to it. The one furthest from its use goes, before or after it; a request predicted\n"
            "further than all lines of its set takes none.",
    .params = params,
    .counters = counters,
    .positional = "samples",
    .state_bytes = sizeof(struct jay),
    .more_state = jay_more_state,
    .idle = jay_idle,
    .init = jay_init,
    .storage = jay_storage,
    .l2_find_victim = jay_l2_find_victim,
    .on_l2_access = jay_on_l2_access,
    .on_l2_evict = jay_on_l2_evict,
};
SCHEME(l2_mockingjay);

/* l2_hawkeye.c - Hawkeye at the L2: what Belady's MIN would have kept of past accesses tells which instructions bring
 * lines worth keeping.
 *
 * Paper: Jain, Lin, "Back to the Future: Leveraging Belady's Algorithm for Improved Cache Replacement", ISCA 2016.
 *
 * What was at hand: the abstract, an encyclopedia's description and facts of the authors' entry to the second Cache
 * Replacement Championship (sizes, what is trained when). Not the paper's sections.
 *
 * What is built. OPTgen: in a sampled set every access is a step of time. A step has a count of the lines that MIN
 * would hold over it. An access to a line last used at step t hits under MIN if every count from t to now is below
 * the number of ways; then these counts rise by one. The table entry of the instruction that used the line at t is
 * counted up after such a hit, else down. The predictor: an instruction whose entry is in its upper half is friendly.
 * The lines: an access of an averse instruction sets the line's value to 7, one of a friendly instruction to 0, and if
 * it was a miss the other values below 6 rise by one. The victim has 7, else the highest value; then, if the set
 * is sampled and remembers the line, the instruction that used it last is counted down.
 *
 * Choices: a history of 8 x ways steps per sampled set, with an entry for each (the paper keeps fewer). `samples` sets
 * of every sub-partition; one predictor for the whole L2. The PC is the number of the instruction, so that
 * kernels share entries. Loads, stores, atomics and fetches are accesses; a request that merges with a line in flight
 * is not, since it needs no line of its own. A line brought by a write-back of the L1 is averse and trains nothing.
 * Entries begin weakly friendly. Prefetches have no predictor of their own.
 */
#include "schemes/lib/l2_sample.h"

enum { SAMPLES, HISTORY, TABLE, BITS };
enum { HAWK_AVERSE = 7, HAWK_OLD = 6, HAWK_TAG_BITS = 16 };

static const struct scheme_param params[] = {
    {"samples", "set", "sampled sets of a sub-partition; 0: least recently used as in the baseline", 0, 4096, 4, true},
    {"history", "way", "accesses that a sampled set remembers, times its ways", 1, 32, 8, true},
    {"table", "entry", "counters of the predictor", 16, 65536, 8192, true},
    {"bits", "bit", "width of a counter", 1, 8, 3, true},
    {0},
};
enum { FRIENDLY, AVERSE, OPT_HITS, OPT_MISSES, DETRAINED };
static const struct scheme_counter counters[] = {
    {"friendly", "access", "accesses whose instruction is predicted friendly", true},
    {"averse", "access", "accesses whose instruction is predicted averse", false},
    {"opt_hits", "access", "accesses in sampled sets that hit under MIN", true},
    {"opt_misses", "access", "accesses to a remembered line that miss under MIN", false},
    {"detrained", "line", "friendly lines replaced in a sampled set that remembers them", false},
    {0},
};

struct hawk_step { /* of a sampled set: its access */
  uint16_t tag, signature;
  uint8_t held; /* lines that MIN holds over this step */
  bool last;    /* no later access to the line */
};
struct hawk_line {
  uint64_t line; /* its address plus 1; 0: none */
  uint8_t value;
};
struct hawk {
  uint32_t history; /* steps of a sampled set */
  uint64_t *time;   /* of each sampled set */
  struct hawk_line *line;
  struct hawk_step *step;
  uint8_t *table;
  uint64_t room[]; /* for them */
};

static uint32_t hawk_sampled(const struct gpu_config *g, const double *param) {
  return l2_sample_sets(g, param[SAMPLES]) * l2_sample_subparts(g);
}
static size_t hawk_more_state(const struct gpu_config *g, const double *param) {
  size_t sampled = hawk_sampled(g, param), steps = (size_t)param[HISTORY] * g->l2.ways;
  return sampled * sizeof(uint64_t) + l2_sample_lines(g) * sizeof(struct hawk_line) +
         sampled * steps * sizeof(struct hawk_step) + (size_t)param[TABLE];
}

static bool hawk_init(struct scheme_ctx *c, struct err *e) {
  struct hawk *h = c->state;
  size_t sampled = hawk_sampled(c->config, c->param);
  if (c->config->l2.ways >= UINT8_MAX)
    return err_set(e, ERR_USAGE, "scheme l2-hawkeye: %u ways of the L2 are more than %d", c->config->l2.ways,
                   UINT8_MAX - 1);
  h->history = (uint32_t)c->param[HISTORY] * c->config->l2.ways;
  h->time = h->room;
  h->line = (struct hawk_line *)(h->time + sampled);
  h->step = (struct hawk_step *)(h->line + l2_sample_lines(c->config));
  h->table = (uint8_t *)(h->step + sampled * h->history);
  for (uint32_t i = 0; i < c->param[TABLE]; i++) h->table[i] = (uint8_t)(1u << ((uint32_t)c->param[BITS] - 1));
  return true;
}

static uint16_t hawk_signature(const struct scheme_ctx *c, const struct mem_event *e) {
  return (uint16_t)(hash_u64(l2_sample_pc(e)) % (uint32_t)c->param[TABLE]);
}
static bool hawk_friendly(const struct scheme_ctx *c, uint16_t signature) {
  return ((struct hawk *)c->state)->table[signature] >> ((uint32_t)c->param[BITS] - 1);
}
static void hawk_train(struct scheme_ctx *c, uint16_t signature, bool up) {
  uint8_t *t = &((struct hawk *)c->state)->table[signature], most = (uint8_t)((1u << (uint32_t)c->param[BITS]) - 1);
  if (up && *t < most) ++*t;
  if (!up && *t) --*t;
}

/* The step of the last access to a line; NULL: not remembered. */
static struct hawk_step *hawk_last(const struct hawk *h, uint32_t sample, uint16_t tag) {
  struct hawk_step *step = h->step + (size_t)sample * h->history;
  for (uint32_t i = 0; i < h->history; i++)
    if (step[i].last && step[i].tag == tag) return &step[i];
  return NULL;
}

/* MIN keeps the line from step `from` to now if it has room in every step between. */
static bool hawk_keeps(struct hawk *h, uint32_t sample, uint32_t from, uint32_t ways) {
  struct hawk_step *step = h->step + (size_t)sample * h->history;
  uint32_t now = (uint32_t)(h->time[sample] % h->history), i = from;
  do
    if (step[i].held >= ways) return false;
  while ((i = (i + 1) % h->history) != now);
  do step[from].held++;
  while ((from = (from + 1) % h->history) != now);
  return true;
}

/* OPTgen: the next step of a sampled set. */
static void hawk_sample(struct scheme_ctx *c, uint32_t sample, const struct mem_event *e, uint16_t signature) {
  struct hawk *h = c->state;
  struct hawk_step *step = h->step + (size_t)sample * h->history;
  uint16_t tag = l2_sample_tag(e->line, HAWK_TAG_BITS);
  struct hawk_step *last = hawk_last(h, sample, tag);
  if (last) {
    bool kept = hawk_keeps(h, sample, (uint32_t)(last - step), c->config->l2.ways);
    hawk_train(c, last->signature, kept);
    c->counter[kept ? OPT_HITS : OPT_MISSES]++;
    last->last = false;
  }
  step[h->time[sample]++ % h->history] = (struct hawk_step){.tag = tag, .signature = signature, .last = true};
}

static int hawk_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  const struct hawk_line *l = ((struct hawk *)c->state)->line + l2_sample_set(c->config, e);
  int best = -1;
  for (uint32_t w = 0; w < s->ways; w++)
    if (s->usable >> w & 1 && (best < 0 || l[w].value > l[best].value)) best = (int)w;
  return best;
}

static void hawk_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  struct hawk *h = c->state;
  const struct hawk_line *l = h->line + l2_sample_set(c->config, e) + e->way;
  int sample = l2_sample_of(c->config, c->param[SAMPLES], e);
  if (sample < 0 || l->value == HAWK_AVERSE || l->line != e->line + 1) return;
  const struct hawk_step *last = hawk_last(h, (uint32_t)sample, l2_sample_tag(e->line, HAWK_TAG_BITS));
  if (!last) return;
  hawk_train(c, last->signature, false);
  c->counter[DETRAINED]++;
}

static void hawk_use(struct scheme_ctx *c, const struct mem_event *e, bool friendly) {
  struct hawk_line *set = ((struct hawk *)c->state)->line + l2_sample_set(c->config, e), *l = set + e->way;
  bool placed = l->line != e->line + 1; /* a sectored L2 also misses in lines that are present */
  for (uint32_t w = 0; placed && friendly && w < c->config->l2.ways; w++) set[w].value += set[w].value < HAWK_OLD;
  *l = (struct hawk_line){.line = e->line + 1, .value = friendly ? 0 : HAWK_AVERSE};
}

static void hawk_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct hawk *h = c->state;
  if (e->way == UINT32_MAX || (out != L2_HIT && out != L2_MISS)) return;
  if (l2_sample_writeback(e)) {
    if (h->line[l2_sample_set(c->config, e) + e->way].line != e->line + 1) hawk_use(c, e, false);
    return;
  }
  uint16_t signature = hawk_signature(c, e);
  int sample = l2_sample_of(c->config, c->param[SAMPLES], e);
  if (sample >= 0) hawk_sample(c, (uint32_t)sample, e, signature);
  bool friendly = hawk_friendly(c, signature);
  c->counter[friendly ? FRIENDLY : AVERSE]++;
  hawk_use(c, e, friendly);
}

static bool hawk_idle(const double *param, size_t hook) {
  (void)hook;
  return param[SAMPLES] == 0;
}

static uint32_t hawk_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double steps = param[SAMPLES] ? param[HISTORY] * g->l2.ways * hawk_sampled(g, param) : 0, signature = 0, held = 0;
  while (1u << (uint32_t)signature < (uint32_t)param[TABLE]) signature++;
  while (1u << (uint32_t)held <= g->l2.ways) held++;
  const struct scheme_bits rows[] = {
      {"value, 3 bits per L2 line", 3.0 * (double)l2_sample_lines(g)},
      {"tag of 16 bits, signature and a bit per remembered access", (HAWK_TAG_BITS + signature + 1) * steps},
      {"lines held, per remembered access", held * steps},
      {"counters of the predictor", param[TABLE] * param[BITS]},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme l2_hawkeye = {
    .name = "l2-hawkeye",
    .title = "Hawkeye at the L2: learn from what Belady's MIN would have kept",
    .paper = "Jain, Lin: Back to the Future: Leveraging Belady's Algorithm for Improved Cache Replacement. ISCA 2016",
    .idea = "The past is known: in some sets the accesses are remembered, and what MIN would have kept of them trains\n"
            "a counter per instruction. Lines of instructions that MIN would not have served go first, the others in\n"
            "the order of their age.",
    .params = params,
    .counters = counters,
    .positional = "samples",
    .state_bytes = sizeof(struct hawk),
    .more_state = hawk_more_state,
    .idle = hawk_idle,
    .init = hawk_init,
    .storage = hawk_storage,
    .l2_find_victim = hawk_l2_find_victim,
    .on_l2_access = hawk_on_l2_access,
    .on_l2_evict = hawk_on_l2_evict,
};
SCHEME(l2_hawkeye);

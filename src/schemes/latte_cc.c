/* latte_cc.c - LATTE-CC: the L1 keeps lines compressed as far as the warps hide the time of decompression.
 *
 * Paper: Arunkumar, Lee, Soundararajan, Wu, "LATTE-CC: Latency Tolerance Aware Adaptive Cache Compression Management
 * for Energy Efficient GPUs", HPCA 2018. Only the abstract was at hand: three modes (none, low latency, high capacity)
 * of which one is chosen by the predicted latency tolerance of the SM. All else is as recalled and to be checked
 * against the paper: low latency is BDI with 2 cycles, high capacity is SC (Huffman codes of frequent values) with 14;
 * four times the tags and sub-blocks of 32 B (l1d.compressed_tags, l1d.compressed_segment); experimental phases of 256
 * accesses, ten in a period, of which the first learns the values; four dedicated sets for each mode; the mode of the
 * other sets is the one of least mean access time, in which a hit costs only what the tolerance does not cover; the
 * tolerance is the mean number of ready warps times the mean length of their runs under greedy scheduling.
 *
 * Choices: ready warps are sampled at each load that the L1 accepts, and divided by the schedulers, each of which
 * issues one instruction a cycle. The counts of the dedicated sets grow during a period; a decision falls at the end
 * of each phase. The time of a miss is that of the SM's own misses in the period, from the miss to the fill. Loads
 * that join a pending fetch count as neither hit nor miss. A line that compression would not shorten by a segment
 * stays as it is, and its hits are as fast as before. Codes are renewed once a period; lines under the codes before
 * stay readable, for which the hardware keeps both. All equal, the mode of less time to decompress wins.
 */
#include "gpu/scheme.h"
#include "schemes/lib/compress.h"
#include "schemes/lib/compress_sc.h"

enum { LATTE_MODE, LATTE_PHASE, LATTE_PERIOD, LATTE_SETS, LATTE_BDI, LATTE_SC };
enum { OFF, ADAPTIVE, STATIC }; /* values of `mode`; from STATIC on, one of the modes below */
enum { NONE, BDI, SC, MODES };
enum { LATTE_MISSES = 64, LATTE_SCHEDULERS = 4 };

static const char *const modes[] = {"off", "adaptive", "none", "bdi", "sc", NULL};
static const struct scheme_param params[] = {
    {"mode", "", "0 off, 1 adaptive, 2 none, 3 bdi, 4 sc: all lines in that mode (abstract)", 0, 4, 1, true},
    {"phase", "access", "loads of an experimental phase", 16, 1e6, 256, true},
    {"period", "phase", "phases of a period, the first of which learns the values", 1, 1000, 10, true},
    {"sets", "set", "dedicated sets of each mode", 1, 64, 4, true},
    {"bdi", "cycle", "time to decompress BDI", 0, 64, 2, true},
    {"sc", "cycle", "time to decompress SC", 0, 64, 14, true},
    {0},
};
enum { WHOLE, BY_BDI, BY_SC, PHASES_NONE, PHASES_BDI, PHASES_SC, TOLERATED, CODES };
static const struct scheme_counter counters[] = {
    {"whole", "line", "lines kept as they are", true},
    {"bdi", "line", "lines kept under BDI", false},
    {"sc", "line", "lines kept under SC", false},
    {"phases.none", "phase", "phases after which the sets that are not dedicated were in mode none", false},
    {"phases.bdi", "phase", "the same, low latency", false},
    {"phases.sc", "phase", "the same, high capacity", false},
    {"tolerance", "cycle", "latency tolerance, summed over phases", false},
    {"codes", "time", "codes made from the values of a phase", false},
    {0},
};

struct latte_sm {
  uint32_t mode, accesses, phases;     /* of the followers; in this phase; in this period */
  uint64_t ready, samples;             /* ready warps at loads of this phase */
  uint64_t issues, runs;               /* instructions of this phase, and changes of warp between them */
  uint32_t last[LATTE_SCHEDULERS];     /* warp + 1 */
  uint64_t hits[MODES], misses[MODES]; /* of the dedicated sets in this period */
  uint64_t miss_cycles, miss_count;
  struct {
    uint64_t line, at;
  } miss[LATTE_MISSES];
  uint32_t next_miss;
  bool coded;
  struct sc_table learns, codes;
};

static void latte_on_kernel(struct scheme_ctx *c) { /* what it has learnt stays, but for times */
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct latte_sm *s = SCHEME_SM(c, struct latte_sm, i);
    memset(s->miss, 0, sizeof s->miss);
    memset(s->last, 0, sizeof s->last);
  }
}

/* The mode that a set is dedicated to; MODES: none. */
static uint32_t latte_dedicated(const struct scheme_ctx *c, uint32_t set) {
  uint32_t sets = (uint32_t)c->param[LATTE_SETS], step = c->config->l1d.sets / sets;
  if (step < MODES) step = MODES;
  return set % step < MODES && set / step < sets ? set % step : MODES;
}

static uint32_t latte_mode(const struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t fixed = (uint32_t)c->param[LATTE_MODE], own = latte_dedicated(c, e->set);
  if (fixed >= STATIC) return fixed - STATIC;
  return own < MODES ? own : SCHEME_SM(c, struct latte_sm, e->sm)->mode;
}

/* ---- what is measured ---- */

static void latte_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  struct latte_sm *s = SCHEME_SM(c, struct latte_sm, sm);
  uint32_t *last = &s->last[warp % c->config->schedulers % LATTE_SCHEDULERS];
  (void)i;
  s->issues++;
  s->runs += *last != warp + 1;
  *last = warp + 1;
}

static void latte_on_miss(struct scheme_ctx *c, const struct l1_event *e) {
  struct latte_sm *s = SCHEME_SM(c, struct latte_sm, e->sm);
  s->miss[s->next_miss].line = e->line;
  s->miss[s->next_miss].at = e->cycle;
  s->next_miss = (s->next_miss + 1) % LATTE_MISSES;
}

static void latte_on_fill(struct scheme_ctx *c, const struct l1_event *e) {
  struct latte_sm *s = SCHEME_SM(c, struct latte_sm, e->sm);
  for (uint32_t i = 0; i < LATTE_MISSES; i++)
    if (s->miss[i].at && s->miss[i].line == e->line) {
      s->miss_cycles += e->cycle - s->miss[i].at;
      s->miss_count++;
      s->miss[i].at = 0;
    }
}

static double latte_tolerance(const struct scheme_ctx *c, const struct latte_sm *s) {
  if (!s->samples || !s->runs) return 0;
  double ready = (double)s->ready / (double)s->samples, run = (double)s->issues / (double)s->runs;
  return ready * run / c->config->schedulers;
}

/* ---- decisions ---- */

static void latte_decide(struct scheme_ctx *c, struct latte_sm *s) {
  const double later[MODES] = {0, c->param[LATTE_BDI], c->param[LATTE_SC]};
  double hidden = latte_tolerance(c, s), best = 0;
  double miss = s->miss_count ? (double)s->miss_cycles / (double)s->miss_count : 0;
  uint32_t mode = MODES;
  for (uint32_t m = 0; m < MODES; m++) {
    uint64_t n = s->hits[m] + s->misses[m];
    double hit = c->config->l1d_latency + (later[m] > hidden ? later[m] - hidden : 0);
    double mean = n ? ((double)s->hits[m] * hit + (double)s->misses[m] * miss) / (double)n : 0;
    if (n && (mode == MODES || mean < best)) mode = m, best = mean;
  }
  if (mode < MODES) s->mode = mode;
  c->counter[PHASES_NONE + s->mode]++;
  c->counter[TOLERATED] += (uint64_t)(hidden + 0.5);
}

static void latte_end_phase(struct scheme_ctx *c, struct latte_sm *s) {
  latte_decide(c, s);
  if (!s->phases && s->learns.values) {
    s->codes = s->learns;
    sc_code(&s->codes);
    memset(&s->learns, 0, sizeof s->learns);
    s->coded = true;
    c->counter[CODES]++;
  }
  s->accesses = 0;
  s->ready = s->samples = s->issues = s->runs = 0;
  s->phases = (s->phases + 1) % (uint32_t)c->param[LATTE_PERIOD];
  if (s->phases) return;
  memset(s->hits, 0, sizeof s->hits);
  memset(s->misses, 0, sizeof s->misses);
  s->miss_cycles = s->miss_count = 0;
}

static void latte_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct latte_sm *s = SCHEME_SM(c, struct latte_sm, e->sm);
  uint32_t own = latte_dedicated(c, e->set);
  if (e->local) return;
  if (own < MODES && out == L1_HIT) s->hits[own]++;
  else if (own < MODES && out == L1_MISS) s->misses[own]++;
  s->ready += (uint64_t)__builtin_popcountll(gpu_sm_ready(c->gpu, e->sm));
  s->samples++;
  if (++s->accesses == (uint32_t)c->param[LATTE_PHASE]) latte_end_phase(c, s);
}

/* ---- sizes ---- */

static struct l1_size latte_line_size(struct scheme_ctx *c, const struct l1_event *e, const uint8_t *data) {
  struct latte_sm *s = SCHEME_SM(c, struct latte_sm, e->sm);
  uint32_t line = c->config->l1d.line, unit = c->config->packed_segment, bytes = line, mode = latte_mode(c, e);
  if (!s->phases || !s->coded) sc_learn(&s->learns, data, line);
  if (mode == BDI) bytes = bdi_bytes(data, line);
  else if (mode == SC && s->coded) bytes = (sc_bits(&s->codes, data, line) + 7) / 8;
  if (bytes + unit > line) mode = NONE;
  c->counter[mode == NONE ? WHOLE : mode == BDI ? BY_BDI : BY_SC]++;
  if (mode == NONE) return (struct l1_size){.bytes = line};
  return (struct l1_size){.bytes = bytes, .later = (uint32_t)c->param[mode == BDI ? LATTE_BDI : LATTE_SC]};
}

static bool latte_idle(const double *param, size_t hook) {
  (void)hook;
  return param[LATTE_MODE] == OFF;
}

static uint32_t latte_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double lines = (double)g->l1d.sets * g->l1d.ways * g->sms, tags = lines * g->packed_tags;
  uint32_t whole = (g->l1d.line + g->packed_segment - 1) / g->packed_segment, place = 0;
  while (g->l1d.ways * whole >> place) place++;
  (void)param;
  const struct scheme_bits rows[] = {
      {"further tags: 25 bits, valid, reserved", (tags - lines) * 27},
      {"of every tag: first segment and number, mode 2, encoding 4 bits", tags * (2 * place + 6)},
      {"values that SC counts: 32 bits, count 16", 48.0 * SC_VALUES * g->sms},
      {"codes of two periods: value 32, code 32, length 5 bits", 2 * 69.0 * SC_VALUES * g->sms},
      {"of each MSHR: the cycle of its miss, 16 bits", 16.0 * g->l1d.mshrs * g->sms},
      {"counters of phases and modes, 14 of 16 bits", 14 * 16.0 * g->sms}};
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme latte_cc = {
    .name = "latte-cc",
    .title = "lines of the L1 compressed as far as the warps hide the time of decompression",
    .paper =
        "Arunkumar, Lee, Soundararajan, Wu: LATTE-CC: Latency Tolerance Aware Adaptive Cache Compression Management "
        "for Energy Efficient GPUs. HPCA 2018",
    .idea = "Compressed lines give an L1 more room and each hit more time. Warps that are ready hide that time, some\n"
            "more, some less, and that changes as a program runs. A few sets are dedicated to no compression, to a\n"
            "fast one (BDI) and to a strong one (Huffman codes of frequent values); the rest follows the mode whose\n"
            "loads take the least time, after what the SM's ready warps hide.",
    .params = params,
    .counters = counters,
    .positional = "mode",
    .words = modes,
    .sm_state_bytes = sizeof(struct latte_sm),
    .idle = latte_idle,
    .storage = latte_storage,
    .on_kernel = latte_on_kernel,
    .on_issue = latte_on_issue,
    .on_miss = latte_on_miss,
    .on_fill = latte_on_fill,
    .on_access = latte_on_access,
    .line_size = latte_line_size,
};
SCHEME(latte_cc);

/* next_line.c - sequential prefetching: lines that follow a loaded one are fetched ahead of it.
 *
 * Paper: Smith, "Cache Memories", ACM Computing Surveys 14 (3), 1982, section 2.1 (one block lookahead: always, on
 * misses, tagged); with a degree above one, Dahlgren, Dubois, Stenstrom, "Fixed and Adaptive Sequential Prefetching in
 * Shared Memory Multiprocessors", ICPP 1993.
 *
 * Choices: global loads only, one access at a time after coalescing. `tagged` requests on a miss and on the first use
 * of a prefetched line, as the paper's tag bit does. A prefetch may cross any boundary: the machine translates its
 * address like that of a load.
 */
#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { NEXT_DEGREE, NEXT_WHEN, NEXT_INTO };
enum { ALWAYS, ON_MISS, TAGGED };

static const struct scheme_param params[] = {
    {"degree", "line", "lines requested at a time; 0: none (Smith: 1)", 0, 16, 1, true},
    {"when", "", "0 on every load, 1 on a miss, 2 on a miss and on the first use of a prefetched line (section 2.1)", 0,
     2, TAGGED, true},
    PREFETCH_INTO,
    {0},
};
enum { ON_LOADS, ON_USES };
static const struct scheme_counter counters[] = {
    {"by_load", "line", "lines requested because of a load", true},
    {"by_use", "line", "lines requested because a prefetched line was used", false},
    {0},
};

static void next_ask(struct scheme_ctx *c, const struct l1_event *e, uint32_t why) {
  for (uint32_t i = 1; i <= c->param[NEXT_DEGREE]; i++) {
    c->counter[why]++;
    prefetch_into(c, e, e->line + (uint64_t)i * c->config->l1d.line, c->param[NEXT_INTO]);
  }
}

static void next_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  bool missed = out == L1_MISS || out == L1_PARTIAL;
  if (!e->local && (missed || c->param[NEXT_WHEN] == ALWAYS)) next_ask(c, e, ON_LOADS);
}

static void next_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  bool used = fate == PREFETCH_USEFUL || fate == PREFETCH_LATE;
  if (used && c->param[NEXT_WHEN] == TAGGED) next_ask(c, e, ON_USES);
}

static bool next_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[NEXT_DEGREE];
}

/* The fates of lines in the L2 lead to requests of SMs. */
static bool next_into_l2(const double *param) {
  return param[NEXT_INTO] == 1;
}

SCHEME_STORAGE(next_storage,
               {"tag bit per line (tagged)", param[NEXT_WHEN] != TAGGED ? 0
                                             : param[NEXT_INTO] == 1
                                                 ? (double)g->l2.sets * g->l2.ways * g->channels * g->subparts
                                                 : (double)g->l1d.sets * g->l1d.ways * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme next_line = {
    .name = "next-line",
    .title = "sequential prefetching of the next lines",
    .paper = "Smith: Cache Memories. ACM Computing Surveys 14 (3), 1982, section 2.1",
    .idea =
        "Programs that walk through an array need the line after the one they load. It is requested on a miss, and\n"
        "again when a line that came so is first used, so that a stream stays one line ahead.",
    .params = params,
    .counters = counters,
    .positional = "degree",
    .words = prefetch_into_words,
    .worded = "into",
    .idle = next_idle,
    .by_sm = true,
    .not_by_sm = next_into_l2,
    .storage = next_storage,
    .on_access = next_on_access,
    .on_prefetch = next_on_prefetch,
};
SCHEME(next_line);

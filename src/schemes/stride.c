/* stride.c - stride prefetching by a reference prediction table.
 *
 * Paper: Chen, Baer, "Effective Hardware-Based Data Prefetching for High-Performance Processors", IEEE Transactions on
 * Computers 44 (5), 1995 (the table and its four states); Lee, Lakshminarayana, Kim, Vuduc, "Many-Thread Aware
 * Prefetching Mechanisms for GPGPU Applications", MICRO 2010 (an entry for each warp and load). Both as later papers
 * describe them: their own sections are not cited.
 *
 * Choices: the table is direct-mapped by a hash of instruction and warp, with both as its tag. A load trains it with
 * its first access after coalescing, whatever the others do. Lines are requested in the steady state only; `eager` also
 * does in the transient one. The look-ahead program counter is left out: `distance` strides take its place.
 */
#include "base/hash.h"
#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { STRIDE_DEGREE, STRIDE_DISTANCE, STRIDE_ENTRIES, STRIDE_WARP, STRIDE_EAGER, STRIDE_INTO };
enum { STRIDE_ENTRIES_MAX = 4096 };

static const struct scheme_param params[] = {
    {"degree", "stride", "lines requested at a time, one stride after the other; 0: none", 0, 16, 1, true},
    {"distance", "stride", "strides between the load and the first of them", 1, 64, 1, true},
    {"entries", "entry", "entries of an SM's table (Chen, Baer: 512)", 1, STRIDE_ENTRIES_MAX, 512, true},
    {"warp", "", "1: an entry for each warp and load; 0: for each load", 0, 1, 1, true},
    {"eager", "", "1: request in the transient state, too", 0, 1, 0, true},
    PREFETCH_INTO,
    {0},
};
enum { TRAINED, CORRECT, REQUESTED };
static const struct scheme_counter counters[] = {
    {"trained", "load", "loads that looked the table up", true},
    {"correct", "load", "of these, loads at the predicted address", false},
    {"requested", "line", "lines requested", false},
    {0},
};

/* Chen, Baer: the four states of an entry. */
enum rpt_state { INITIAL, TRANSIENT, STEADY, NO_PREDICTION };
static const uint8_t rpt_next[2][4] = {
    [false] = {[INITIAL] = TRANSIENT, [TRANSIENT] = NO_PREDICTION, [STEADY] = INITIAL, [NO_PREDICTION] = NO_PREDICTION},
    [true] = {[INITIAL] = STEADY, [TRANSIENT] = STEADY, [STEADY] = STEADY, [NO_PREDICTION] = TRANSIENT},
};
struct rpt_entry {
  uint64_t last;
  int64_t stride;
  uint32_t pc;
  uint8_t warp, state;
  bool used;
};
struct stride_sm {
  struct prefetch_load load;
  struct rpt_entry at[STRIDE_ENTRIES_MAX];
};

static void stride_on_kernel(struct scheme_ctx *c) { /* another program has other loads */
  for (uint32_t i = 0; i < c->config->sms; i++)
    for (uint32_t k = 0; k < c->param[STRIDE_ENTRIES]; k++) SCHEME_SM(c, struct stride_sm, i)->at[k].used = false;
}

static void stride_request(struct scheme_ctx *c, const struct l1_event *e, int64_t stride) {
  uint64_t line = c->config->l1d.line, last = e->addr / line;
  for (uint32_t i = 0; i < c->param[STRIDE_DEGREE]; i++) {
    uint64_t addr = e->addr + (uint64_t)(stride * (int64_t)(c->param[STRIDE_DISTANCE] + i));
    if (addr / line == last) continue;
    last = addr / line;
    c->counter[REQUESTED]++;
    prefetch_into(c, e, addr, c->param[STRIDE_INTO]);
  }
}

static void stride_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  struct stride_sm *s = SCHEME_SM(c, struct stride_sm, e->sm);
  if (e->local || !prefetch_first(&s->load, e)) return;
  uint32_t warp = c->param[STRIDE_WARP] == 1 ? e->warp : 0;
  struct rpt_entry *r = &s->at[hash_u64((uint64_t)e->pc << 8 | warp) % (uint32_t)c->param[STRIDE_ENTRIES]];
  c->counter[TRAINED]++;
  if (!r->used || r->pc != e->pc || r->warp != warp) {
    *r = (struct rpt_entry){.last = e->addr, .pc = e->pc, .warp = (uint8_t)warp, .used = true};
    return;
  }
  bool correct = e->addr == r->last + (uint64_t)r->stride;
  c->counter[CORRECT] += correct;
  if (!correct && r->state != STEADY) r->stride = (int64_t)(e->addr - r->last);
  r->state = rpt_next[correct][r->state];
  r->last = e->addr;
  bool sure = r->state == STEADY || (r->state == TRANSIENT && c->param[STRIDE_EAGER] == 1);
  if (sure && r->stride) stride_request(c, e, r->stride);
}

static void stride_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  (void)c, (void)e, (void)fate; /* it has no feedback */
}

static bool stride_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[STRIDE_DEGREE];
}

/* The fates of lines in the L2 lead to requests of SMs. */
static bool stride_into_l2(const double *param) {
  return param[STRIDE_INTO] == 1;
}

SCHEME_STORAGE(stride_storage,
               {"table: instruction 32, warp 6, address 32, stride 32, state 2 bits each",
                104.0 * param[STRIDE_ENTRIES] * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme stride = {
    .name = "stride",
    .title = "stride prefetching, an entry for each load and warp",
    .paper = "Chen, Baer: Effective Hardware-Based Data Prefetching for High-Performance Processors. IEEE Transactions "
             "on Computers 44 (5), 1995",
    .idea =
        "A load in a loop often walks with a constant stride. The table keeps the last address and the stride of each\n"
        "load of each warp; when a stride has occurred twice in a row, the next address is requested ahead.",
    .params = params,
    .counters = counters,
    .positional = "degree",
    .words = prefetch_into_words,
    .worded = "into",
    .sm_state_bytes = sizeof(struct stride_sm),
    .idle = stride_idle,
    .by_sm = true,
    .not_by_sm = stride_into_l2,
    .storage = stride_storage,
    .on_kernel = stride_on_kernel,
    .on_access = stride_on_access,
    .on_prefetch = stride_on_prefetch,
};
SCHEME(stride);

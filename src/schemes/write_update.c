/* write_update.c - stores update the copy of their line in the L1, in place of evicting it.
 *
 * Paper: Jouppi, "Cache Write Policies and Performance", ISCA 1993: of caches that write through, write-invalidate
 * against policies that keep the written line (sections 2 and 4). Choosing between two policies by a few sets of each:
 * Qureshi et al., "Adaptive Insertion Policies for High Performance Caching", ISCA 2007, section 3.3 (set dueling).
 *
 * Choices: stores that miss allocate no line, since a line that a store makes would need a valid bit for each word.
 * Data goes through to the L2 either way. A store counts as a use of the line, for LRU too. With dueling, misses of
 * loads in the sets of a policy count against it, each SM for itself; the selector has 10 bits as in the paper.
 *
 * Deviations: copies of the line in the L1s of other SMs are not updated, as the baseline's stores do not evict them.
 */
#include "gpu/scheme.h"

enum { UPDATE_DUEL, UPDATE_LEADERS };
enum { UPDATE_MIDDLE = 512, UPDATE_MAX = 1023 };
static const struct scheme_param params[] = {
    {"duel", "", "0: every store updates; 1: leader sets choose between updating and evicting", 0, 1, 0, true},
    {"leaders", "set", "with duel: leader sets of each policy", 1, 16, 4, true},
    {0},
};
enum { UPDATED, EVICTED, MISSED };
static const struct scheme_counter counters[] = {
    {"updated", "store", "global stores whose line stayed", true},
    {"evicted", "store", "global stores whose line went", false},
    {"missed", "store", "stores whose line was not in the L1", true},
    {0},
};

struct write_update_sm {
  uint32_t psel; /* above the middle: updating misses more */
};

static bool write_update_init(struct scheme_ctx *c, struct err *e) {
  uint32_t sets = c->config->l1d.sets;
  if (c->param[UPDATE_DUEL] != 0 && 2 * c->param[UPDATE_LEADERS] > sets)
    return err_set(e, ERR_USAGE, "scheme write-update: leaders=%g of each policy are more than the %u sets of the L1",
                   c->param[UPDATE_LEADERS], sets);
  for (uint32_t i = 0; i < c->config->sms; i++) SCHEME_SM(c, struct write_update_sm, i)->psel = UPDATE_MIDDLE;
  return true;
}

/* 1: its stores update, 2: its stores evict, 0: it follows. */
static int write_update_leader(const struct scheme_ctx *c, uint32_t set) {
  uint32_t step = c->config->l1d.sets / (uint32_t)c->param[UPDATE_LEADERS];
  if (c->param[UPDATE_DUEL] == 0) return 1;
  return set % step == 0 ? 1 : set % step == step / 2 ? 2 : 0;
}

static bool write_update_store_keeps(struct scheme_ctx *c, const struct l1_event *e) {
  int leader = write_update_leader(c, e->set);
  return leader ? leader == 1 : SCHEME_SM(c, struct write_update_sm, e->sm)->psel <= UPDATE_MIDDLE;
}

static void write_update_on_store(struct scheme_ctx *c, const struct l1_event *e, enum l1_store_end end) {
  if (end == STORE_MISSED) c->counter[MISSED]++;
  else if (!e->local) c->counter[end == STORE_UPDATED ? UPDATED : EVICTED]++;
}

static void write_update_on_miss(struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t *psel = &SCHEME_SM(c, struct write_update_sm, e->sm)->psel;
  int leader = write_update_leader(c, e->set);
  if (leader == 1 && *psel < UPDATE_MAX) ++*psel;
  if (leader == 2 && *psel > 0) --*psel;
}

/* Without dueling no miss counts. */
static bool write_update_idle(const double *param, size_t hook) {
  return param[UPDATE_DUEL] == 0 && hook == offsetof(struct scheme, on_miss);
}

SCHEME_STORAGE(write_update_storage, {"write path into the data array, one bit of control per SM", 1.0 * g->sms},
               {"selector of 10 bits per SM", param[UPDATE_DUEL] != 0 ? 10.0 * g->sms : 0})

static const struct scheme write_update = {
    .name = "write-update",
    .title = "stores update the copy of their line in the L1",
    .paper = "Jouppi: Cache Write Policies and Performance. ISCA 1993",
    .idea = "A store that finds its line in the L1 evicts it on Fermi, so that the next load of the line misses. Here\n"
            "it writes the copy as well as the L2, as L1s since Volta do. With dueling a few sets always update and\n"
            "a few always evict; the others do what misses less.",
    .params = params,
    .counters = counters,
    .positional = "duel",
    .sm_state_bytes = sizeof(struct write_update_sm),
    .by_sm = true,
    .init = write_update_init,
    .storage = write_update_storage,
    .idle = write_update_idle,
    .store_keeps = write_update_store_keeps,
    .on_store = write_update_on_store,
    .on_miss = write_update_on_miss,
};
SCHEME(write_update);

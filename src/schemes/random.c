/* random.c - random replacement at the L1 data cache.
 *
 * Paper: a yardstick of every replacement study; Jaleel et al. (RRIP), ISCA 2010, section 2.
 *
 * Deviations: pseudo-random from the number of lines placed so far, so that a run repeats;
 * hardware would have a shift register.
 */
#include "gpu/scheme.h"
#include "schemes/lib/nru.h"

enum { VICTIMS };
static const struct scheme_counter counters[] = {
    {"victims", "line", "lines replaced at random", true},
    {0},
};

struct random_sm {
  uint64_t draw;
};

static int random_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  return (int)nru_random(cs->usable, SCHEME_SM(c, struct random_sm, sm)->draw);
}

static void random_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)e, (void)owner, (void)reused;
  c->counter[VICTIMS]++;
}

static void random_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  SCHEME_SM(c, struct random_sm, e->sm)->draw++;
}

SCHEME_STORAGE(random_storage, {"shift register that draws the way, 16 bits per SM", 16.0 * g->sms})

static const struct scheme random_scheme = {
    .name = "random",
    .title = "random replacement",
    .paper = "Jaleel, Theobald, Steely, Emer: High Performance Cache Replacement Using RRIP. ISCA 2010, section 2",
    .idea = "Any line of the set that is not being fetched may be the victim, with equal chances.",
    .counters = counters,
    .sm_state_bytes = sizeof(struct random_sm),
    .by_sm = true,
    .storage = random_storage,
    .find_victim = random_find_victim,
    .on_evict = random_on_evict,
    .on_place = random_on_place,
};
SCHEME(random_scheme);

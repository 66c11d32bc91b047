/* apres.c - adaptive prefetching and scheduling: warps about to execute the same load are scheduled together after a
 * hit and have their lines requested after a miss.
 *
 * Paper: Oh, Kim, Yoon, Park, Park, Ro, Annavaram, "APRES: Improving Cache Efficiency by Exploiting Load
 * Characteristics on GPUs", ISCA 2016; the abstract of its extension, "Adaptive Cooperation of Prefetching and Warp
 * Scheduling on GPUs", IEEE Transactions on Computers 68 (4), 2019, and a reader's note and a class project's public
 * scheduler were at hand. They give the locality-aware scheduler (LAWS: last-load table, warp group table, groups to
 * the head after a hit and to the tail after a miss) and the scheduling-aware prefetcher (SAP: strides between warps,
 * lines for the warps of the group that missed, which then go first). Sizes are as recalled, not as read: 3 groups, 10
 * strides, 724 bytes. They are to be checked against the paper.
 *
 * Choices: a warp issues if no ready one of its scheduler is nearer to the head of the SM's order; new warps join at
 * the tail. The group of a load is made when it issues: the other warps whose last load is the same as the warp's was
 * before. The oldest group is lost if a fourth load issues before its own reaches the L1. The first access of a load
 * decides: a line that is present is a hit, anything else a miss. A stride is the difference of two warps' first
 * accesses by that of their slots; it is used when two pairs in a row agree. All accesses of the load that missed are
 * then repeated for each warp of the group. Loads that bypass the L1 decide nothing. The partition of the L1 of the
 * extension is left out.
 */
#include <string.h>

#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { APRES_LAWS, APRES_SAP, APRES_GROUPS, APRES_STRIDES };
enum { APRES_WARPS = 64, APRES_MAX = 64 };

static const struct scheme_param params[] = {
    {"laws", "", "1: groups are moved in the order of the warps; 0: the machine's scheduler", 0, 1, 1, true},
    {"sap", "", "1: lines are requested for groups that miss; 0: none", 0, 1, 1, true},
    {"groups", "group", "loads between issue and L1 whose group is kept", 1, APRES_MAX, 3, true},
    {"strides", "instruction", "loads whose stride between warps is kept", 1, APRES_MAX, 10, true},
    {0},
};
enum { TO_HEAD, TO_TAIL, LOST, STRIDES, REQUESTED };
static const struct scheme_counter counters[] = {
    {"to_head", "group", "groups moved to the head because of a hit", true},
    {"to_tail", "group", "groups moved to the tail because of a miss", true},
    {"lost", "group", "groups that made place for younger ones before their load reached the L1", false},
    {"prefetched", "group", "groups that missed with a known stride: lines requested, moved to the head", false},
    {"requested", "line", "lines requested", false},
    {0},
};

struct apres_group {
  uint64_t warps;
  uint32_t pc;
  uint8_t warp;
  bool valid;
};
struct apres_stride {
  uint64_t addr, used;
  int64_t stride;
  uint32_t pc;
  uint8_t warp;
  bool valid;
};
struct apres_sm {
  uint8_t order[APRES_WARPS]; /* warp slots, the head first */
  uint32_t warps;
  uint32_t last_load[APRES_WARPS]; /* instruction + 1; 0: none yet */
  struct apres_group group[APRES_MAX];
  uint32_t oldest; /* of the groups: the next to be lost */
  struct apres_stride at[APRES_MAX];
  uint64_t uses;
  struct prefetch_load load;
  uint64_t targets; /* warps for which the accesses of the load in progress are repeated, and their stride */
  int64_t stride;
};

static void apres_on_kernel(struct scheme_ctx *c) { /* another program has other loads */
  memset(c->sm_state, 0, c->sm_state_bytes * c->config->sms);
}

/* ---- the order of the warps ---- */

static void apres_drop(struct apres_sm *s, uint32_t warp) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->warps; i++)
    if (s->order[i] != warp) s->order[n++] = s->order[i];
  s->warps = n;
}

/* The warps of the set go to one end and keep their order among themselves, as the others do. */
static void apres_move(struct apres_sm *s, uint64_t set, bool head) {
  uint8_t was[APRES_WARPS];
  uint32_t n = 0;
  memcpy(was, s->order, sizeof was);
  for (uint32_t turn = 0; turn < 2; turn++)
    for (uint32_t i = 0; i < s->warps; i++)
      if ((set >> was[i] & 1) == (head ? !turn : turn)) s->order[n++] = was[i];
}

static void apres_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  struct apres_sm *s = SCHEME_SM(c, struct apres_sm, sm);
  apres_drop(s, warp);
  s->order[s->warps++] = (uint8_t)warp;
  s->last_load[warp] = 0;
}

static void apres_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  apres_drop(SCHEME_SM(c, struct apres_sm, sm), warp);
}

static int apres_pick_warp(struct scheme_ctx *c, uint32_t sm, uint32_t scheduler, uint64_t eligible) {
  (void)scheduler;
  const struct apres_sm *s = SCHEME_SM(c, struct apres_sm, sm);
  for (uint32_t i = 0; i < s->warps; i++)
    if (eligible >> s->order[i] & 1) return s->order[i];
  return -1;
}

/* ---- groups ---- */

static void apres_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  struct apres_sm *s = SCHEME_SM(c, struct apres_sm, sm);
  if (i->kind != KIND_LOAD || (i->space != SPACE_GLOBAL && i->space != SPACE_GENERIC)) return;
  struct apres_group *g = &s->group[s->oldest];
  s->oldest = (s->oldest + 1) % (uint32_t)c->param[APRES_GROUPS];
  c->counter[LOST] += g->valid;
  *g = (struct apres_group){.pc = i->pc, .warp = (uint8_t)warp, .valid = true};
  for (uint32_t k = 0; k < s->warps; k++)
    if (s->order[k] != warp && s->last_load[s->order[k]] == s->last_load[warp]) g->warps |= 1ull << s->order[k];
  s->last_load[warp] = i->pc + 1;
}

static bool apres_take_group(struct scheme_ctx *c, struct apres_sm *s, const struct l1_event *e, uint64_t *warps) {
  uint32_t n = (uint32_t)c->param[APRES_GROUPS];
  for (uint32_t i = 0; i < n; i++) {
    struct apres_group *g = &s->group[(s->oldest + i) % n];
    if (!g->valid || g->warp != e->warp || g->pc != e->pc) continue;
    g->valid = false;
    *warps = g->warps;
    return true;
  }
  return false;
}

/* ---- strides ---- */

/* The stride between warps of this load that missed; 0: not known for sure. */
static int64_t apres_stride(struct scheme_ctx *c, struct apres_sm *s, const struct l1_event *e) {
  struct apres_stride *p = &s->at[0];
  for (uint32_t i = 0; i < c->param[APRES_STRIDES]; i++) {
    if (s->at[i].used < p->used) p = &s->at[i];
    if (!s->at[i].valid || s->at[i].pc != e->pc) continue;
    p = &s->at[i];
    int64_t slots = (int64_t)e->warp - p->warp, bytes = (int64_t)(e->addr - p->addr), was = p->stride;
    if (slots) p->stride = bytes % slots ? 0 : bytes / slots;
    p->used = ++s->uses;
    p->addr = e->addr;
    p->warp = (uint8_t)e->warp;
    return slots && p->stride == was ? was : 0;
  }
  *p = (struct apres_stride){.addr = e->addr, .used = ++s->uses, .pc = e->pc, .warp = (uint8_t)e->warp, .valid = true};
  return 0;
}

static void apres_request(struct scheme_ctx *c, const struct apres_sm *s, const struct l1_event *e) {
  for (uint64_t m = s->targets; m; m &= m - 1) {
    int64_t slots = (int64_t)__builtin_ctzll(m) - (int64_t)e->warp;
    c->counter[REQUESTED]++;
    gpu_prefetch(c, e, e->addr + (uint64_t)(slots * s->stride));
  }
}

/* The load of a group has looked up the L1. */
static void apres_decide(struct scheme_ctx *c, struct apres_sm *s, const struct l1_event *e, bool hit) {
  uint64_t warps;
  s->targets = 0;
  if (!apres_take_group(c, s, e, &warps)) return;
  if (hit) {
    if (warps) c->counter[TO_HEAD]++;
    apres_move(s, warps, true);
    return;
  }
  s->stride = c->param[APRES_SAP] == 1 ? apres_stride(c, s, e) : 0;
  if (s->stride && warps) {
    c->counter[STRIDES]++;
    s->targets = warps;
    apres_move(s, warps, true);
    apres_move(s, 1ull << e->warp, false);
    return;
  }
  if (warps) c->counter[TO_TAIL]++;
  apres_move(s, warps | 1ull << e->warp, false);
}

static void apres_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct apres_sm *s = SCHEME_SM(c, struct apres_sm, e->sm);
  if (e->local) return;
  if (prefetch_first(&s->load, e)) apres_decide(c, s, e, out == L1_HIT);
  apres_request(c, s, e);
}

static void apres_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  (void)c, (void)e, (void)fate; /* it has no feedback */
}

static bool apres_idle(const double *param, size_t hook) {
  if (!param[APRES_LAWS] && !param[APRES_SAP]) return true;
  return !param[APRES_LAWS] && hook == offsetof(struct scheme, pick_warp);
}

SCHEME_STORAGE(apres_storage, {"last load, 32 bits per warp", 32.0 * g->sm_threads / 32 * g->sms},
               {"groups, a bit per warp each", g->sm_threads / 32 * param[APRES_GROUPS] * g->sms},
               {"strides: instruction 32, address 64, stride 64, warp 8 bits each",
                168 * param[APRES_STRIDES] * g->sms},
               {"queue of missed accesses, 32 of 64 bits", 32.0 * 64 * g->sms},
               {"queue of warps, 8 bits per warp", 8.0 * g->sm_threads / 32 * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme apres = {
    .name = "apres",
    .title = "warps grouped by their next load: scheduled together after a hit, prefetched for after a miss",
    .paper = "Oh, Kim, Yoon, Park, Park, Ro, Annavaram: APRES: Improving Cache Efficiency by Exploiting Load "
             "Characteristics on GPUs. ISCA 2016",
    .idea =
        "Loads either find the same lines in all warps or walk with a stride from warp to warp. The first warp of a\n"
        "group to execute a load tells which: after a hit the others follow at once, while the line is there;\n"
        "after a miss their lines are requested and they go first, or they wait behind the other warps.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct apres_sm),
    .idle = apres_idle,
    .by_sm = true,
    .storage = apres_storage,
    .on_kernel = apres_on_kernel,
    .on_warp_start = apres_on_warp_start,
    .on_warp_done = apres_on_warp_done,
    .pick_warp = apres_pick_warp,
    .on_issue = apres_on_issue,
    .on_access = apres_on_access,
    .on_prefetch = apres_on_prefetch,
};
SCHEME(apres);

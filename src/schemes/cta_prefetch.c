/* cta_prefetch.c - CTA-aware prefetching: the address of a CTA's first warp and a stride between warps give those of
 * its other warps.
 *
 * Paper: Koo, Jeon, Liu, Kim, Annavaram, "CTA-Aware Prefetching and Scheduling for GPU", IPDPS 2018, the prefetcher
 * (CAP); first in Jeon, Koo, Annavaram, "CTA-aware Prefetching for GPGPU", technical report CENG-2014-08, USC, 2014.
 * The texts at hand were its abstract, the opening of the report, and the tables' sizes as others quote them: an entry
 * of the PerCTA table has 21 bytes, four a CTA, one of the DIST table 9; loads of more than four accesses and loads of
 * addresses that were loaded are left alone; 128 wrong predictions stop a load.
 *
 * Deviations: its warp scheduler (PAS), which runs the leading warps first, is left out.
 *
 * Choices: the leading warp of a CTA and load is the first that executes it, and leads again in each round of a loop.
 * A stride is the difference of the first accesses divided by the distance of the warp slots; all accesses must agree.
 * With a stride, the leading warp's load requests the lines of all other warps of its CTA; the load that finds the
 * stride does so for every CTA on the SM that has a leading warp. A load whose address comes from a load of global,
 * local, shared or texture memory, through any registers, is not traced. Tables replace the least recently used entry.
 */
#include <string.h>

#include "gpu/scheme.h"
#include "schemes/lib/prefetch.h"

enum { CAP_ON, CAP_PER_CTA, CAP_DIST, CAP_WRONG };
enum { CAP_CTAS = 32, CAP_WARPS = 64, CAP_ENTRIES = 16, CAP_ACCESSES = 4, CAP_REGS = 512, CAP_PCS = 4096 };

static const struct scheme_param params[] = {
    {"on", "", "1: prefetch; 0: never", 0, 1, 1, true},
    {"percta", "load", "loads of a CTA in the PerCTA table", 1, CAP_ENTRIES, 4, true},
    {"dist", "load", "loads in the DIST table of an SM", 1, CAP_ENTRIES, 4, true},
    {"wrong", "load", "wrong predictions that stop the prefetches of a load", 1, 255, 128, true},
    {0},
};
enum { LEADING, STRIDES, REQUESTED, RIGHT, WRONG, INDIRECT };
static const struct scheme_counter counters[] = {
    {"leading", "load", "loads of leading warps that gave a CTA its base addresses", true},
    {"strides", "stride", "strides found", false},
    {"requested", "line", "lines requested", false},
    {"right", "load", "loads of other warps at the predicted addresses", false},
    {"wrong", "load", "loads of other warps at other addresses", false},
    {"indirect", "load", "loads left alone: of an address that was loaded", false},
    {0},
};

struct cap_base { /* an entry of the PerCTA table */
  uint64_t addr[CAP_ACCESSES], used;
  uint32_t pc, warp, accesses;
  bool valid;
};
struct cap_dist {
  uint64_t used;
  int64_t stride;
  uint32_t pc, wrong;
  bool valid;
};
struct cap_cta {
  uint32_t id;
  uint64_t warps; /* its slots, a bit each; 0: no CTA */
  struct cap_base at[CAP_ENTRIES];
};
struct cap_sm {
  struct cap_cta cta[CAP_CTAS];
  struct cap_dist dist[CAP_ENTRIES];
  uint64_t uses;
  /* the accesses of the load that passes the L1 */
  struct prefetch_load load;
  uint64_t addr[CAP_ACCESSES];
  uint32_t accesses;
  /* registers of a warp with data of memory, and loads whose address such a register held, by instruction */
  uint64_t loaded[CAP_WARPS][CAP_REGS / 64], indirect[CAP_PCS / 64];
};

static void cap_on_kernel(struct scheme_ctx *c) {
  memset(c->sm_state, 0, c->sm_state_bytes * c->config->sms);
}

/* ---- which loads are traced ---- */

static bool cap_bit(const uint64_t *bits, uint32_t i) {
  return bits[i / 64] >> i % 64 & 1;
}

static void cap_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  struct cap_sm *s = SCHEME_SM(c, struct cap_sm, sm);
  uint64_t *loaded = s->loaded[warp];
  bool data = (i->kind == KIND_LOAD || i->kind == KIND_ATOM) && i->space != SPACE_CONST && i->space != SPACE_PARAM;
  if (i->kind == KIND_LOAD && cap_bit(loaded, i->addr_reg % CAP_REGS)) {
    uint32_t pc = i->pc % CAP_PCS;
    s->indirect[pc / 64] |= 1ull << pc % 64;
  }
  for (uint32_t k = 0; k < i->nsrc; k++) data |= cap_bit(loaded, i->src[k] % CAP_REGS);
  for (uint32_t k = 0; k < i->ndst; k++) {
    uint32_t r = i->dst[k] % CAP_REGS;
    loaded[r / 64] = (loaded[r / 64] & ~(1ull << r % 64)) | (uint64_t)data << r % 64;
  }
}

/* ---- CTAs ---- */

static void cap_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  struct cap_sm *s = SCHEME_SM(c, struct cap_sm, sm);
  struct cap_cta *free = NULL, *at = NULL;
  for (uint32_t i = 0; i < CAP_CTAS; i++) {
    if (s->cta[i].warps && s->cta[i].id == cta) at = &s->cta[i];
    if (!s->cta[i].warps && !free) free = &s->cta[i];
  }
  memset(s->loaded[warp], 0, sizeof s->loaded[warp]);
  if (!at && !free) return;
  if (!at) *(at = free) = (struct cap_cta){.id = cta};
  at->warps |= 1ull << warp;
}

static void cap_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  struct cap_sm *s = SCHEME_SM(c, struct cap_sm, sm);
  for (uint32_t i = 0; i < CAP_CTAS; i++) s->cta[i].warps &= ~(1ull << warp);
}

/* ---- the tables ---- */

static struct cap_dist *cap_find_dist(struct scheme_ctx *c, struct cap_sm *s, uint32_t pc) {
  for (uint32_t i = 0; i < c->param[CAP_DIST]; i++)
    if (s->dist[i].valid && s->dist[i].pc == pc) return &s->dist[i];
  return NULL;
}

static struct cap_base *cap_find_base(struct scheme_ctx *c, struct cap_cta *k, uint32_t pc) {
  for (uint32_t i = 0; i < c->param[CAP_PER_CTA]; i++)
    if (k->at[i].valid && k->at[i].pc == pc) return &k->at[i];
  return NULL;
}

/* The lines of the other warps of a CTA. */
static void cap_request(struct scheme_ctx *c, const struct l1_event *e, const struct cap_cta *k, struct cap_base *b,
                        const struct cap_dist *d) {
  if (d->wrong >= c->param[CAP_WRONG] || !d->stride) return;
  for (uint64_t m = k->warps & ~(1ull << b->warp) & ~(1ull << e->warp); m; m &= m - 1) {
    int64_t warps = (int64_t)__builtin_ctzll(m) - (int64_t)b->warp;
    for (uint32_t i = 0; i < b->accesses; i++) {
      c->counter[REQUESTED]++;
      gpu_prefetch(c, e, b->addr[i] + (uint64_t)(warps * d->stride));
    }
  }
}

/* The load of warp `e->warp` has the accesses s->addr: the stride from those of the leading warp; false: none. */
static bool cap_stride(const struct cap_sm *s, const struct l1_event *e, const struct cap_base *b, int64_t *stride) {
  int64_t warps = (int64_t)e->warp - (int64_t)b->warp, bytes = (int64_t)(s->addr[0] - b->addr[0]);
  if (s->accesses != b->accesses || bytes % warps) return false;
  for (uint32_t i = 1; i < s->accesses; i++)
    if ((int64_t)(s->addr[i] - b->addr[i]) != bytes) return false;
  *stride = bytes / warps;
  return true;
}

static void cap_lead(struct scheme_ctx *c, struct cap_sm *s, const struct l1_event *e, struct cap_cta *k) {
  struct cap_base *b = cap_find_base(c, k, e->pc);
  if (!b) b = &k->at[0];
  for (uint32_t i = 0; b->pc != e->pc && i < c->param[CAP_PER_CTA]; i++)
    if (!k->at[i].valid || k->at[i].used < b->used) b = &k->at[i];
  *b = (struct cap_base){.used = s->uses, .pc = e->pc, .warp = e->warp, .accesses = s->accesses, .valid = true};
  memcpy(b->addr, s->addr, sizeof b->addr);
  c->counter[LEADING]++;
  struct cap_dist *d = cap_find_dist(c, s, e->pc);
  if (!d) return;
  d->used = s->uses;
  cap_request(c, e, k, b, d);
}

static void cap_follow(struct scheme_ctx *c, struct cap_sm *s, const struct l1_event *e, struct cap_base *b) {
  struct cap_dist *d = cap_find_dist(c, s, e->pc);
  int64_t stride;
  bool found = cap_stride(s, e, b, &stride);
  b->used = s->uses;
  if (d) {
    bool right = found && stride == d->stride;
    d->used = s->uses;
    d->wrong += !right && d->wrong < 255;
    c->counter[right ? RIGHT : WRONG]++;
    return;
  }
  if (!found) return;
  d = &s->dist[0];
  for (uint32_t i = 0; i < c->param[CAP_DIST]; i++)
    if (!s->dist[i].valid || (d->valid && s->dist[i].used < d->used)) d = &s->dist[i];
  *d = (struct cap_dist){.used = s->uses, .stride = stride, .pc = e->pc, .valid = true};
  c->counter[STRIDES]++;
  for (uint32_t i = 0; i < CAP_CTAS; i++) {
    struct cap_base *other = s->cta[i].warps ? cap_find_base(c, &s->cta[i], e->pc) : NULL;
    if (other) cap_request(c, e, &s->cta[i], other, d);
  }
}

static void cap_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  struct cap_sm *s = SCHEME_SM(c, struct cap_sm, e->sm);
  if (e->local) return;
  if (prefetch_first(&s->load, e)) s->accesses = 0;
  if (e->degree > CAP_ACCESSES) return;
  s->addr[s->accesses++ % CAP_ACCESSES] = e->addr;
  if (s->accesses < e->degree) return;
  if (cap_bit(s->indirect, e->pc % CAP_PCS)) {
    c->counter[INDIRECT]++;
    return;
  }
  s->uses++;
  for (uint32_t i = 0; i < CAP_CTAS; i++) {
    struct cap_cta *k = &s->cta[i];
    if (!(k->warps >> e->warp & 1)) continue;
    struct cap_base *b = cap_find_base(c, k, e->pc);
    if (!b || b->warp == e->warp) cap_lead(c, s, e, k);
    else cap_follow(c, s, e, b);
    return;
  }
}

static void cap_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  (void)c, (void)e, (void)fate; /* it judges its predictions by the addresses of loads */
}

static bool cap_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[CAP_ON];
}

SCHEME_STORAGE(cap_storage,
               {"PerCTA table: instruction 32, warp 8, 4 addresses of 32 bits each",
                168 * param[CAP_PER_CTA] * g->sm_ctas * g->sms},
               {"DIST table: instruction 32, stride 32, wrong predictions 8 bits each", 72 * param[CAP_DIST] * g->sms},
               {"prefetch queue, 25-bit line addresses", prefetch_queue_bits(g)})

static const struct scheme cta_prefetch = {
    .name = "cta-prefetch",
    .title = "CTA-aware prefetching: base address of the CTA and stride between its warps",
    .paper = "Koo, Jeon, Liu, Kim, Annavaram: CTA-Aware Prefetching and Scheduling for GPU. IPDPS 2018",
    .idea = "Where a CTA's data begins is hard to predict, but its warps walk from there with a stride that all CTAs\n"
            "share. The first warp of a CTA to execute a load gives the base, and the lines of the CTA's other warps\n"
            "are requested at once.",
    .params = params,
    .counters = counters,
    .positional = "on",
    .sm_state_bytes = sizeof(struct cap_sm),
    .idle = cap_idle,
    .by_sm = true,
    .storage = cap_storage,
    .on_kernel = cap_on_kernel,
    .on_warp_start = cap_on_warp_start,
    .on_warp_done = cap_on_warp_done,
    .on_issue = cap_on_issue,
    .on_access = cap_on_access,
    .on_prefetch = cap_on_prefetch,
};
SCHEME(cta_prefetch);

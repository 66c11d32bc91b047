/* pc_byp.c - PC-Byp: bypassing of the L2 by static instructions that mostly miss.
 *
 * Paper: the yardstick "PC-Byp" of Ausavarungnirun et al. (MeDiC), PACT 2015, section 5, in the manner of PC-based
 * cache bypassing (Tyson et al., MICRO 1995): "bypasses requests from static instructions that mostly miss".
 *
 * Choices: one table of `entries` pairs of 10-bit counters (hits, accesses) for the GPU, indexed by a hash of the
 * instruction's number, without tags: two instructions may share an entry, which the paper names as the scheme's
 * weakness. The rule is MeDiC's: no bypassing for the first `profile` accesses, then at or below the ratio
 * `mostly_miss`; counters are halved when the access counter's top bit sets and cleared every `period` cycles and at
 * each launch. A store whose line the L2 holds is not bypassed, nor are atomics.
 */
#include "base/hash.h"
#include "gpu/scheme.h"

enum { PC_BYP_ENTRIES, PC_BYP_PROFILE, PC_BYP_MISS, PC_BYP_PERIOD };
enum { PC_BYP_TOP = 512 };
static const struct scheme_param params[] = {
    {"entries", "entry", "size of the hashed table", 1, 4096, 64, true},
    {"profile", "access", "accesses of an entry before it decides; above 511 it never does", 1, 1024, 30, true},
    {"mostly_miss", "", "hit ratio up to which its requests bypass", 0, 1, 0.2, false},
    {"period", "core cycle", "counters are cleared after this", 1, 1e9, 100000, true},
    {0},
};
enum { BYPASSED, KEPT_STORES, SHARED };
static const struct scheme_counter counters[] = {
    {"bypassed", "request", "requests sent straight to DRAM", true},
    {"kept_stores", "request", "stores that used the L2 because it held their line", false},
    {"shared", "access", "accesses to an entry that another instruction used last", true},
    {0},
};

struct pc_byp_entry {
  uint16_t hits, accesses;
  uint32_t last; /* instruction that used it last: for the counter only */
};

static size_t pc_byp_more_state(const struct gpu_config *g, const double *param) {
  (void)g;
  return sizeof(struct pc_byp_entry) * (size_t)param[PC_BYP_ENTRIES];
}

static struct pc_byp_entry *pc_byp_of(struct scheme_ctx *c, uint32_t pc) {
  struct pc_byp_entry *t = c->state;
  return &t[(hash_u64(pc) >> 20) % (uint32_t)c->param[PC_BYP_ENTRIES]];
}
static bool pc_byp_tracked(const struct mem_event *e) {
  return e->type == REQ_GLOBAL_READ || e->type == REQ_LOCAL_READ || e->type == REQ_GLOBAL_WRITE ||
         e->type == REQ_LOCAL_WRITE;
}

static void pc_byp_clear(struct scheme_ctx *c) {
  struct pc_byp_entry *t = c->state;
  for (uint32_t i = 0; i < (uint32_t)c->param[PC_BYP_ENTRIES]; i++) t[i] = (struct pc_byp_entry){.last = UINT32_MAX};
}

static bool pc_byp_init(struct scheme_ctx *c, struct err *e) {
  (void)e;
  pc_byp_clear(c);
  return true;
}

static bool pc_byp_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  if (!pc_byp_tracked(e)) return false;
  const struct pc_byp_entry *p = pc_byp_of(c, e->pc);
  if (p->accesses < c->param[PC_BYP_PROFILE] || p->hits > c->param[PC_BYP_MISS] * p->accesses) return false;
  bool keep = e->write && e->way != UINT32_MAX;
  c->counter[keep ? KEPT_STORES : BYPASSED]++;
  return !keep;
}

static void pc_byp_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  if (!pc_byp_tracked(e) || out == L2_BYPASSED) return;
  struct pc_byp_entry *p = pc_byp_of(c, e->pc);
  c->counter[SHARED] += p->last != UINT32_MAX && p->last != e->pc;
  p->last = e->pc;
  p->accesses++;
  p->hits += out == L2_HIT;
  if (p->accesses & PC_BYP_TOP) p->accesses >>= 1, p->hits >>= 1;
}

SCHEME_STORAGE(pc_byp_storage, {"hit and access counters, 2 x 10 bits per entry", 20 * param[PC_BYP_ENTRIES]})

static const struct scheme pc_byp = {
    .name = "pc-byp",
    .title = "bypassing of the L2 by instructions that mostly miss",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015, "
             "section 5",
    .idea = "Hit ratios at the L2 are kept per static instruction rather than per warp; requests of instructions that\n"
            "mostly miss go straight to DRAM.",
    .params = params,
    .counters = counters,
    .positional = "entries",
    .more_state = pc_byp_more_state,
    .init = pc_byp_init,
    .storage = pc_byp_storage,
    .epoch = 100000,
    .epoch_param = "period",
    .on_kernel = pc_byp_clear,
    .on_epoch = pc_byp_clear,
    .l2_bypass = pc_byp_l2_bypass,
    .on_l2_access = pc_byp_on_l2_access,
};
SCHEME(pc_byp);

/* bucl.c - cache bypassing for un-coalesced loads, with a threshold adapted at run time (BUCL-Dyn).
 *
 * Paper: Zhao, Wang, Lin, Zhou, Zheng, "Selectively GPU Cache Bypassing for Un-Coalesced Loads", ICPADS 2016, sections
 * IV-A and IV-B, Table II.
 *
 * Per load: if it has more accesses after coalescing than the threshold TUCD, all of them bypass the L1. Per access: a
 * refused access bypasses the L1 when last period's L1 hit rate and the fill of the target sub-partition's input
 * buffer are both below their thresholds (evaluated only while the interconnect has room).
 *
 * Choices not specified in the paper: the hit rate is that of the accepted accesses of SM 0 (bypassed ones do not
 * reach the L1 and do not count), accesses to pending lines included (lib/bucl.h says why); a period without any
 * access counts as a hit rate of 0. Stores, atomics and local memory behave as in the baseline.
 */
#include "gpu/scheme.h"
#include "schemes/lib/bucl.h"

enum { BUCL_PERIOD, BUCL_L1DHR, BUCL_UIB, BUCL_TUCD, BUCL_MIN, BUCL_MAX, BUCL_PENDING, BUCL_MERGE };

static const struct scheme_param params[] = {
    {"period", "core cycle", "sampling period (Table II)", 1, 1e9, 1000, true},
    {"l1dhr", "", "hit rate below which a refused access may bypass; at 0 none does (Table II)", 0, 1, 0.8, false},
    {"uib", "", "input-buffer fill below which a refused access may bypass (Table II)", 0, 1, 0.7, false},
    {"tucd", "access", "initial threshold of un-coalescing degree (Table II)", 1, 32, 5, true},
    {"min", "access", "lowest threshold (section V)", 1, 32, 2, true},
    {"max", "access", "highest threshold (section V)", 1, 32, 25, true},
    BUCL_READING_PARAMS,
    {0},
};
enum { BYPASSED_LOADS, STALLS, PERIODS = STALLS + 4, TUCD_SUM };
static const struct scheme_counter counters[] = {
    {"bypassed_loads", "load", "loads whose degree exceeded the threshold", true},
    BUCL_STALL_COUNTERS,
    {"periods", "period", "sampling periods", true},
    {"tucd_sum", "access", "threshold summed over periods: divide by periods for its mean", true},
    {0},
};

struct bucl {
  uint32_t tucd;
  struct bucl_monitor m;
};

static bool bucl_init(struct scheme_ctx *c, struct err *e) {
  struct bucl *b = c->state;
  if (c->param[BUCL_MIN] > c->param[BUCL_MAX])
    return err_set(e, ERR_USAGE, "scheme bucl: min=%g is above max=%g", c->param[BUCL_MIN], c->param[BUCL_MAX]);
  if (!bucl_monitor_init(c, "bucl", e)) return false;
  b->tucd = (uint32_t)c->param[BUCL_TUCD];
  return true;
}

static void bucl_on_epoch(struct scheme_ctx *c) {
  struct bucl *b = c->state;
  bucl_monitor_period(c, &b->m, c->param[BUCL_PERIOD]);
  bool up = b->m.hit_rate > c->param[BUCL_L1DHR];
  if (up && b->tucd < c->param[BUCL_MAX]) b->tucd++;
  if (!up && b->tucd > c->param[BUCL_MIN]) b->tucd--;
  if (c->param[BUCL_MIN] == c->param[BUCL_MAX]) return; /* a fixed threshold has no history to report */
  c->counter[PERIODS]++;
  c->counter[TUCD_SUM] += b->tucd;
}

static bool bucl_bypass_load(struct scheme_ctx *c, const struct l1_event *e) {
  struct bucl *b = c->state;
  if (e->degree <= b->tucd) return false;
  c->counter[BYPASSED_LOADS]++;
  return true;
}

static bool bucl_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  struct bucl *b = c->state;
  return bucl_may_pass(&b->m, e, why, c->param[BUCL_L1DHR], c->param[BUCL_UIB], c->param[BUCL_MERGE],
                       &c->counter[STALLS]);
}

static void bucl_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct bucl *b = c->state;
  bucl_monitor_access(&b->m, e, out, c->param[BUCL_PENDING] == 1);
}

SCHEME_STORAGE(bucl_storage, {"TUCD, 5 bits", 5}, {"hit and access counters of one SM, 2 x 10 bits", 20},
               {"hit rate of the last period, 7 bits", 7},
               {"input-buffer fill, sum and last mean, 14 + 7 bits per sub-partition",
                21.0 * g->channels * g->subparts},
               {"degree counter of the load bypass logic, 6 bits per SM", 6.0 * g->sms})

static const struct scheme bucl = {
    .name = "bucl",
    .title = "bypassing for un-coalesced loads, adaptive threshold (BUCL-Dyn)",
    .paper = "Zhao, Wang, Lin, Zhou, Zheng: Selectively GPU Cache Bypassing for Un-Coalesced Loads. ICPADS 2016",
    .idea = "A load that touches many lines brings data that is seldom reused and blocks the L1 for all warps.\n"
            "Loads whose un-coalescing degree exceeds a threshold skip the L1; accesses that the L1 refuses skip it\n"
            "while its hit rate is low and the memory side has room. The threshold follows the hit rate.",
    .params = params,
    .counters = counters,
    .positional = "tucd",
    .state_bytes = sizeof(struct bucl),
    .init = bucl_init,
    .by_sm = true,
    .storage = bucl_storage,
    .epoch = 1000,
    .epoch_param = "period",
    .on_epoch = bucl_on_epoch,
    .bypass_load = bucl_bypass_load,
    .on_stall = bucl_on_stall,
    .on_access = bucl_on_access,
};
SCHEME(bucl);

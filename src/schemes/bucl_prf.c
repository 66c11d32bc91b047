/* bucl_prf.c - BUCL-Prf: the threshold of un-coalescing degree is chosen by trying one on each SM.
 *
 * Paper: Zhao, Wang, Lin, Zhou, Zheng, "Selectively GPU Cache Bypassing for Un-Coalesced Loads", ICPADS 2016, section
 * IV-C and Table II.
 *
 * Deviations and choices: each launch is profiled ("at the beginning of kernel execution"). With a number of SMs other
 * than 15, SM i takes the entry of Table II at i * 15 / SMs. Of equal IPC the lowest SM wins. A launch that ends
 * within the window never chooses. The period of hit rate and buffer fill is BUCL's 1000 cycles; the window ends with
 * the first period that is not before its end. Refused accesses are treated as in BUCL-Dyn.
 */
#include "gpu/scheme.h"
#include "schemes/lib/bucl.h"

enum { PRF_CYCLES, PRF_PERIOD, PRF_L1DHR, PRF_UIB, PRF_PENDING, PRF_MERGE };

static const struct scheme_param params[] = {
    {"cycles", "core cycle", "profiling window (Table II: 5000 or 10000)", 1, 1e9, 5000, true},
    {"period", "core cycle", "sampling period of hit rate and buffer fill (Table II)", 1, 1e9, 1000, true},
    {"l1dhr", "", "hit rate below which a refused access may bypass; at 0 none does (Table II)", 0, 1, 0.8, false},
    {"uib", "", "input-buffer fill below which a refused access may bypass (Table II)", 0, 1, 0.7, false},
    BUCL_READING_PARAMS,
    {0},
};
enum { BYPASSED_LOADS, STALLS, SELECTIONS = STALLS + 4, TUCD_SUM };
static const struct scheme_counter counters[] = {
    {"bypassed_loads", "load", "loads whose degree exceeded the threshold", true},
    BUCL_STALL_COUNTERS,
    {"selections", "launch", "launches that outlived the window and chose a threshold", false},
    {"tucd_sum", "access", "threshold chosen, summed over selections: divide by them for its mean", false},
    {0},
};

static const uint8_t table2[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 25};
enum { TABLE2 = sizeof table2 };

struct prf {
  bool profiling;
  uint32_t tucd;
  uint64_t end; /* of the window */
  struct bucl_monitor m;
};

static bool prf_init(struct scheme_ctx *c, struct err *e) {
  return bucl_monitor_init(c, "bucl-prf", e);
}

static uint32_t prf_own(const struct scheme_ctx *c, uint32_t sm) {
  return table2[sm * TABLE2 / c->config->sms];
}

static void prf_on_kernel(struct scheme_ctx *c) {
  struct prf *p = c->state;
  p->profiling = true;
  p->end = *c->now + (uint64_t)c->param[PRF_CYCLES];
}

static void prf_on_epoch(struct scheme_ctx *c) {
  struct prf *p = c->state;
  bucl_monitor_period(c, &p->m, c->param[PRF_PERIOD]);
  if (!p->profiling || *c->now < p->end) return;
  uint32_t best = 0;
  for (uint32_t i = 1; i < c->config->sms; i++)
    if (gpu_sm_insts(c->gpu, i) > gpu_sm_insts(c->gpu, best)) best = i;
  p->profiling = false;
  p->tucd = prf_own(c, best);
  c->counter[SELECTIONS]++;
  c->counter[TUCD_SUM] += p->tucd;
}

static bool prf_bypass_load(struct scheme_ctx *c, const struct l1_event *e) {
  struct prf *p = c->state;
  if (e->degree <= (p->profiling ? prf_own(c, e->sm) : p->tucd)) return false;
  c->counter[BYPASSED_LOADS]++;
  return true;
}

static bool prf_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  struct prf *p = c->state;
  return bucl_may_pass(&p->m, e, why, c->param[PRF_L1DHR], c->param[PRF_UIB], c->param[PRF_MERGE], &c->counter[STALLS]);
}

static void prf_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  bucl_monitor_access(&((struct prf *)c->state)->m, e, out, c->param[PRF_PENDING] == 1);
}

SCHEME_STORAGE(prf_storage, {"TUCD while profiling, 5 bits per SM", 5.0 * g->sms},
               {"instruction counter, 20 bits per SM", 20.0 * g->sms}, {"TUCD chosen, 5 bits", 5},
               {"hit and access counters of one SM, 2 x 10 bits", 20}, {"hit rate of the last period, 7 bits", 7},
               {"input-buffer fill, sum and last mean, 14 + 7 bits per sub-partition",
                21.0 * g->channels * g->subparts},
               {"degree counter of the load bypass logic, 6 bits per SM", 6.0 * g->sms})

static const struct scheme bucl_prf = {
    .name = "bucl-prf",
    .title = "bypassing for un-coalesced loads, threshold by profiling (BUCL-Prf)",
    .paper = "Zhao, Wang, Lin, Zhou, Zheng: Selectively GPU Cache Bypassing for Un-Coalesced Loads. ICPADS 2016",
    .idea = "As BUCL, but each SM begins a launch with a threshold of its own (Table II). When the profiling window\n"
            "ends, the threshold of the SM that executed most instructions is used by all.",
    .params = params,
    .counters = counters,
    .positional = "cycles",
    .state_bytes = sizeof(struct prf),
    .init = prf_init,
    .by_sm = true,
    .storage = prf_storage,
    .epoch = 1000,
    .epoch_param = "period",
    .on_kernel = prf_on_kernel,
    .on_epoch = prf_on_epoch,
    .bypass_load = prf_bypass_load,
    .on_stall = prf_on_stall,
    .on_access = prf_on_access,
};
SCHEME(bucl_prf);

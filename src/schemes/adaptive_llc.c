/* adaptive_llc.c - slices of the L2 shared by address, or private to a cluster of SMs, chosen while a launch runs.
 *
 * Paper: Zhao, Adileh, Yu, Wang, Jaleel, Eeckhout, "Adaptive Memory-Side Last-Level GPU Caching", ISCA 2019.
 *
 * What was at hand: the abstract (at the publisher's and an author's page). Sampling, rules and numbers below are as
 * recalled; no section is cited.
 *
 * What is built. A memory channel has as many slices as there are clusters of SMs. Shared: the address chooses among
 * the slices of its channel. Private: the cluster of the SM does, so that lines read by several clusters have several
 * copies, which are read at once; the channel stays that of the address (the cache is at the memory's side). A launch
 * begins shared. For `profile` cycles the scheme counts hits and the balance of the slices, and what both would be
 * under private slices: hits in an auxiliary tag directory of `sets` sets of one private slice, balance from the
 * cluster of each access. Then it goes private
 *   1. if the private miss rate is at most `margin` percent higher; or else
 *   2. if private slices would supply more bytes: hit rate x slice parallelism x bytes of a slice's port, plus miss
 *      rate x bytes of DRAM, per cycle.
 * It is shared again in the next launch and after `period` cycles, when it profiles again. Slice parallelism: all
 * accesses over those of the busiest slice, per epoch, as a mean weighted by accesses.
 *
 * Choices: clusters are neighbouring SMs, as many as the machine has slices in a channel (the paper: 8; most machines
 * here: 2, memory.subpartitions sets it). A launch with an atomic in its profile stays shared: the machine performs
 * atomics in the home slice. Private stores go to the slice of their cluster and through to DRAM unless it is the
 * home; the machine keeps copies equal (gpu/mem/l2_copies.c), where the paper invalidates by software. No stall and no
 * flush when the organisation changes: dirty lines are written back when other slices request them, and copies stay
 * until replaced. The second stage of the paper's crossbar is not modelled, nor what it saves when it is off. Rule 1
 * therefore needs more parallelism, too: with equal balance there is nothing to gain here.
 */
#include <string.h>

#include "base/err.h"
#include "gpu/scheme.h"

enum { MODE, PROFILE, PERIOD, MARGIN, SETS };
enum llc_mode { LLC_ADAPTIVE, LLC_SHARED, LLC_PRIVATE, LLC_REPLICATED };
enum { LLC_TAG_BITS = 32, LLC_COUNT_BITS = 16, LLC_EPOCH = 1000 };
static const char *const llc_modes[] = {"adaptive", "shared", "private", "replicated", NULL};

static const struct scheme_param params[] = {
    {"mode", "", "0 adaptive, 1 shared, 2 private, 3 replicated: private for loads, stores at home", 0, 3, 0, true},
    {"profile", "cycle", "cycles of a launch that are counted before the choice", 1000, 1e9, 50000, true},
    {"period", "cycle", "cycles after the choice until it is made again", 1000, 1e12, 1e6, true},
    {"margin", "%", "by how much the private miss rate may be higher in rule 1", 0, 100, 2, true},
    {"sets", "set", "sampled sets of the auxiliary tag directory", 1, 4096, 8, true},
    {0},
};
enum { PROFILED, SAMPLED, SAMPLED_HITS, BY_MISSES, BY_BANDWIDTH, STAYED };
static const struct scheme_counter counters[] = {
    {"profiled", "access", "accesses of the L2 that were counted", true},
    {"sampled", "access", "of these, in the auxiliary tag directory", false},
    {"sampled_hits", "access", "of these, hits", false},
    {"by_misses", "choice", "private by rule 1", false},
    {"by_bandwidth", "choice", "private by rule 2", false},
    {"stayed", "choice", "shared", false},
    {0},
};

struct llc {
  bool private_now, chosen, atomics;
  uint64_t since; /* when the profile or the choice began */
  uint64_t accesses, hits, sampled, sampled_hits;
  uint64_t all, busiest_shared, busiest_private; /* sums over epochs */
  uint32_t slices, sets, step;                   /* of the GPU; of the directory, each step-th of the L2 */
  uint32_t *shared, *own;                        /* accesses of this epoch, by slice */
  uint64_t *tag, *used;
  uint64_t room[]; /* for them */
};

static uint32_t llc_sets(const struct gpu_config *g, const double *param) {
  return param[SETS] < g->l2.sets ? (uint32_t)param[SETS] : g->l2.sets;
}
static size_t llc_more_state(const struct gpu_config *g, const double *param) {
  return 2 * (size_t)llc_sets(g, param) * g->l2.ways * sizeof(uint64_t) +
         2 * (size_t)g->channels * g->subparts * sizeof(uint32_t);
}

static bool llc_init(struct scheme_ctx *c, struct err *e) {
  struct llc *l = c->state;
  (void)e;
  l->slices = c->config->channels * c->config->subparts;
  l->sets = llc_sets(c->config, c->param);
  l->step = c->config->l2.sets / l->sets;
  l->tag = l->room;
  l->used = l->tag + (size_t)l->sets * c->config->l2.ways;
  l->shared = (uint32_t *)(l->used + (size_t)l->sets * c->config->l2.ways);
  l->own = l->shared + l->slices;
  return true;
}

static void llc_profile(struct scheme_ctx *c) {
  struct llc *l = c->state;
  size_t lines = (size_t)l->sets * c->config->l2.ways;
  l->private_now = l->chosen = l->atomics = false;
  l->since = *c->now;
  l->accesses = l->hits = l->sampled = l->sampled_hits = l->all = l->busiest_shared = l->busiest_private = 0;
  memset(l->tag, 0, 2 * lines * sizeof *l->tag);
  memset(l->shared, 0, 2 * l->slices * sizeof *l->shared);
}

static uint32_t llc_cluster(const struct gpu_config *g, uint32_t sm) {
  return sm * g->subparts / g->sms;
}

/* An access in the directory; true: a hit. */
static bool llc_look(struct scheme_ctx *c, const struct mem_event *e) {
  struct llc *l = c->state;
  uint32_t ways = c->config->l2.ways;
  uint64_t *tag = l->tag + (size_t)(e->set / l->step) * ways, *used = l->used + (size_t)(e->set / l->step) * ways;
  uint32_t oldest = 0;
  for (uint32_t w = 0; w < ways; w++) {
    if (tag[w] == e->line + 1) {
      used[w] = e->cycle + 1;
      return true;
    }
    if (used[w] < used[oldest]) oldest = w;
  }
  tag[oldest] = e->line + 1;
  used[oldest] = e->cycle + 1;
  return false;
}

static void llc_on_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct llc *l = c->state;
  const struct gpu_config *g = c->config;
  if (c->param[MODE] != LLC_ADAPTIVE || l->chosen || e->type == REQ_L2_PREFETCH) return;
  uint32_t channel = e->subpart / g->subparts, cluster = llc_cluster(g, e->sm);
  l->atomics |= e->atomic;
  l->accesses++;
  l->hits += out == L2_HIT || out == L2_PENDING;
  l->shared[e->subpart]++;
  l->own[channel * g->subparts + cluster]++;
  c->counter[PROFILED]++;
  if (channel || cluster || e->set % l->step || e->set / l->step >= l->sets) return;
  bool hit = llc_look(c, e);
  l->sampled++;
  l->sampled_hits += hit;
  c->counter[SAMPLED]++;
  c->counter[SAMPLED_HITS] += hit;
}

static void llc_end_epoch(struct llc *l) {
  uint32_t shared = 0, own = 0;
  for (uint32_t i = 0; i < l->slices; i++) {
    l->all += l->shared[i];
    if (l->shared[i] > shared) shared = l->shared[i];
    if (l->own[i] > own) own = l->own[i];
  }
  l->busiest_shared += shared;
  l->busiest_private += own;
  memset(l->shared, 0, 2 * l->slices * sizeof *l->shared);
}

/* Bytes per core cycle. */
static double llc_supply(const struct gpu_config *g, double hits, double parallel) {
  double slice = (double)g->l2_port_bytes * g->l2_mhz / g->core_mhz;
  double dram = (double)g->dram_bus_bytes * g->dram_chips * g->dram_rate * g->channels * g->dram_mhz / g->core_mhz;
  return hits * parallel * slice + (1 - hits) * dram;
}

static void llc_choose(struct scheme_ctx *c) {
  struct llc *l = c->state;
  l->chosen = true;
  l->since = *c->now;
  c->counter[STAYED]++;
  if (!l->accesses || !l->sampled || l->atomics || !l->busiest_private || !l->busiest_shared) return;
  double shared = (double)l->hits / (double)l->accesses, own = (double)l->sampled_hits / (double)l->sampled;
  double by_address = (double)l->all / (double)l->busiest_shared, by_sm = (double)l->all / (double)l->busiest_private;
  bool misses = shared - own <= c->param[MARGIN] / 100 && by_sm > by_address;
  l->private_now = misses || llc_supply(c->config, own, by_sm) > llc_supply(c->config, shared, by_address);
  if (!l->private_now) return;
  c->counter[STAYED]--;
  c->counter[misses ? BY_MISSES : BY_BANDWIDTH]++;
}

static void llc_on_epoch(struct scheme_ctx *c) {
  struct llc *l = c->state;
  if (c->param[MODE] != LLC_ADAPTIVE) return;
  if (!l->chosen) llc_end_epoch(l);
  if (!l->chosen && *c->now - l->since >= c->param[PROFILE]) llc_choose(c);
  else if (l->chosen && *c->now - l->since >= c->param[PERIOD]) llc_profile(c);
}

static uint32_t llc_slice(struct scheme_ctx *c, const struct mem_event *e) {
  const struct llc *l = c->state;
  uint32_t home = e->subpart % c->config->subparts;
  enum llc_mode mode = (enum llc_mode)c->param[MODE];
  if (mode == LLC_ADAPTIVE) mode = l->private_now ? LLC_PRIVATE : LLC_SHARED;
  if (mode == LLC_SHARED || (mode == LLC_REPLICATED && e->write)) return home;
  return llc_cluster(c->config, e->sm);
}

static bool llc_idle(const double *param, size_t hook) {
  (void)hook;
  return param[MODE] == LLC_SHARED;
}

/* Tags and recency of the directory; per slice two counters; the sums. */
static uint32_t llc_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  uint32_t recency = 0;
  while (1u << recency < g->l2.ways) recency++;
  double lines = (double)llc_sets(g, param) * g->l2.ways, slices = (double)g->channels * g->subparts;
  bool adaptive = param[MODE] == LLC_ADAPTIVE;
  const struct scheme_bits rows[] = {
      {"auxiliary tag directory", adaptive ? lines * (LLC_TAG_BITS + recency) : 0},
      {"accesses of the slices", adaptive ? 2 * slices * LLC_COUNT_BITS : 0},
      {"hits, misses and busiest slices", adaptive ? 7 * 32 : 0},
      {"organisation", 1},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme adaptive_llc = {
    .name = "adaptive-llc",
    .title = "slices of the L2 shared by address or private to clusters of SMs",
    .paper = "Zhao, Adileh, Yu, Wang, Jaleel, Eeckhout: Adaptive Memory-Side Last-Level GPU Caching. ISCA 2019",
    .idea = "Lines that many SMs read are served by one slice of the L2 when the address chooses it.\n"
            "Private slices hold a copy for each cluster of SMs, which supplies more bytes and misses more.\n"
            "Counts of the first cycles of a launch tell which organisation supplies more.",
    .params = params,
    .counters = counters,
    .positional = "mode",
    .words = llc_modes,
    .state_bytes = sizeof(struct llc),
    .more_state = llc_more_state,
    .init = llc_init,
    .idle = llc_idle,
    .storage = llc_storage,
    .by_sm = true,
    .epoch = LLC_EPOCH,
    .on_kernel = llc_profile,
    .on_epoch = llc_on_epoch,
    .on_l2_access = llc_on_access,
    .l2_slice = llc_slice,
};
SCHEME(adaptive_llc);

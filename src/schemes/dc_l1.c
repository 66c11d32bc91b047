/* dc_l1.c - L1s decoupled from the SMs: nodes of one or more L1s, private to a group of SMs or shared by address.
 *
 * Paper: Ibrahim, Kayiran, Eckert, Loh, Jog, "Analyzing and Leveraging Decoupled L1 Caches in GPUs", HPCA 2021. Only
 * the abstract was at hand, and that of the authors' earlier shared L1 (PACT 2020). The three designs are as recalled:
 * with N SMs and Y nodes, PrY gives each node to N/Y SMs; ShY lets all SMs share the nodes, each line having one home
 * by its address; ShY+CZ does so within Z clusters. They are to be checked against the paper.
 *
 *   PrY     dc-l1:l1s=N/Y/cluster=N/Y
 *   ShY     dc-l1:l1s=N/Y/cluster=N
 *   ShY+CZ  dc-l1:l1s=N/Y/cluster=N/Z      the default: two L1s in a node and eight SMs in a cluster, the paper's
 *                                          Sh40+C10 for 80 SMs
 *
 * All loads and stores travel to their node over the network between the L1s (the paper's NoC#1) and are answered over
 * it; a node has the L2 port of one SM (NoC#2). The paper's doubled frequency of NoC#1 is l1net.bytes=64.
 *
 * Choices: a node of k L1s has k times the sets and MSHRs and one lookup a cycle. It lies at the first of its SMs. The
 * last cluster has what SMs are left and so many nodes as fit, one at least. A line's node is its number, folded,
 * modulo the nodes: the low bits alone also choose the set. Requests that bypass the L1, atomics and other caches use
 * the port of their own SM. A fence empties the nodes of its cluster. Shared memory stays at the SM; where it shares
 * its space with the L1 (sm.unified_kb) a node has the rest of its SMs' space.
 */
#include "schemes/lib/l1net.h"

enum { DC_L1S, DC_CLUSTER };
static const struct scheme_param params[] = {
    {"l1s", "L1", "L1s in a node: 1, 2, 4 or 8", 1, 8, 2, true},
    {"cluster", "SM", "SMs that share nodes; l1s: private nodes, all SMs: one home for each line", 1, 256, 8, true},
    {0},
};
enum { LOADS, OTHERS, OTHERS_HIT, STORES };
static const struct scheme_counter counters[] = {
    {"loads", "access", "loads that the nodes accepted", true},
    {"others", "access", "of these, loads of another SM than the one before in that node", true},
    {"others_hit", "access", "of those, hits", false},
    {"stores", "access", "stores that the nodes accepted", true},
    {0},
};

struct dc_node {
  uint32_t last; /* SM of the last load, plus 1 */
};

static bool dc_configure(struct gpu_config *c, const double *param, struct err *e) {
  uint32_t k = (uint32_t)param[DC_L1S];
  if (k & (k - 1)) return err_set(e, ERR_USAGE, "scheme dc-l1: l1s=%u is not 1, 2, 4 or 8", k);
  if (k > param[DC_CLUSTER])
    return err_set(e, ERR_USAGE, "scheme dc-l1: l1s=%u is above cluster=%g", k, param[DC_CLUSTER]);
  c->l1d.sets *= k;
  c->l1d.mshrs *= k;
  c->l1d_pooled *= k;
  return true;
}

/* A node for each SM is its own L1, and nothing is decoupled. */
static bool dc_idle(const double *param, size_t hook) {
  (void)hook;
  return param[DC_CLUSTER] == 1;
}

static uint32_t dc_home(struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t cluster = (uint32_t)c->param[DC_CLUSTER], k = (uint32_t)c->param[DC_L1S];
  uint32_t first = e->from / cluster * cluster, left = c->config->sms - first;
  uint32_t size = left < cluster ? left : cluster, nodes = size > k ? size / k : 1;
  uint64_t line = e->line / c->config->l1d.line, fold = 0;
  for (; line; line >>= 5) fold ^= line;
  return first + (uint32_t)(fold % nodes) * k;
}

static bool dc_reads(struct scheme_ctx *c, uint32_t sm, uint32_t at) {
  return l1net_same((uint32_t)c->param[DC_CLUSTER], sm, at);
}

static void dc_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  struct dc_node *n = SCHEME_SM(c, struct dc_node, e->sm);
  bool other = n->last && n->last != e->from + 1;
  c->counter[LOADS]++;
  c->counter[OTHERS] += other;
  c->counter[OTHERS_HIT] += other && out == L1_HIT;
  n->last = e->from + 1;
}

static void dc_on_store(struct scheme_ctx *c, const struct l1_event *e, enum l1_store_end end) {
  (void)e, (void)end;
  c->counter[STORES]++;
}

/* The L1s move; a tag of a larger node loses a bit of its own for each bit of the set. */
SCHEME_STORAGE(dc_storage, {"queues between SMs and nodes, 48 bits and lines of data", l1net_bits(g, true)})

static const struct l1_place dc_place = {.home = dc_home, .reads = dc_reads, .decoupled = true};

static const struct scheme dc_l1 = {
    .name = "dc-l1",
    .title = "decoupled L1s: nodes of several L1s, private to a group of SMs or shared by address",
    .paper = "Ibrahim, Kayiran, Eckert, Loh, Jog: Analyzing and Leveraging Decoupled L1 Caches in GPUs. HPCA 2021",
    .idea = "L1s that belong to one SM each keep the same lines many times, and lie idle while the L2 is busy. Apart\n"
            "from the SMs they can be put together and shared: a line has one home in a cluster of SMs, at the price\n"
            "of a network between SMs and L1s on the path of every hit.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct dc_node),
    .configure = dc_configure,
    .idle = dc_idle,
    .storage = dc_storage,
    .place = &dc_place,
    .on_access = dc_on_access,
    .on_store = dc_on_store,
};
SCHEME(dc_l1);

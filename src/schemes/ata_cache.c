/* ata_cache.c - ATA-Cache: the tag arrays of the L1s of a cluster lie together, so that each request is compared with
 * all of them, and another SM's L1 is accessed only if it has the data.
 *
 * Paper: Xu, Wang, Xiao, Liu, Xie, Han, Liu, "ATA-Cache: Contention Mitigation for GPU Shared L1 Cache With Aggregated
 * Tag Array", IEEE TCAD 43(5), 2024 (early access 2023); arXiv 2302.10638. Only the two abstracts were at hand: tag
 * arrays decoupled from the caches and aggregated, compared in parallel, and the caches of other cores accessed only
 * when they hold a copy. The journal's two-level scheduling of thread blocks is left out: its rules are not in the
 * abstract.
 *
 * A load looks up its own L1 first. A miss is compared with the tags of the other L1s of its cluster a cycle later;
 * if one holds the line, the data comes from there over the network between the L1s, else from the L2.
 *
 * Choices: the size of a cluster. Of several L1s that hold a line, the next one after the SM, in the order of the
 * cluster, gives it. A line that another L1 is still fetching is not waited for. The data fills the L1 that missed, as
 * one from the L2 would. The aggregated tags see stores, too: a store evicts the line from all L1s of the cluster, and
 * a fence empties them, as no copy may be older than what the SM has stored or waited for. The tags move, they are not
 * doubled: storage is that of the network's queues.
 */
#include "schemes/lib/l1net.h"

enum { ATA_CLUSTER };
static const struct scheme_param params[] = {
    {"cluster", "SM", "SMs whose tag arrays lie together; 1: each by itself", 1, 256, 5, true},
    {0},
};
enum { COMPARED, FOUND, COPIES };
static const struct scheme_counter counters[] = {
    {"compared", "miss", "misses compared with the tags of the cluster", true},
    {"found", "miss", "of these, misses for which another L1 held the data", true},
    {"copies", "line", "copies in other L1s, summed over the misses found", false},
    {0},
};

static uint32_t ata_peer(struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t cluster = (uint32_t)c->param[ATA_CLUSTER], first = e->sm / cluster * cluster, found = PLACE_NONE;
  uint32_t size = c->config->sms - first < cluster ? c->config->sms - first : cluster;
  c->counter[COMPARED]++;
  for (uint32_t k = 1; k < size; k++) {
    uint32_t at = first + (e->sm - first + k) % size;
    if (!gpu_l1_holds(c->gpu, e, at)) continue;
    c->counter[COPIES]++;
    if (found == PLACE_NONE) found = at;
  }
  c->counter[FOUND] += found != PLACE_NONE;
  return found;
}

static bool ata_reads(struct scheme_ctx *c, uint32_t sm, uint32_t at) {
  return l1net_same((uint32_t)c->param[ATA_CLUSTER], sm, at);
}

static bool ata_idle(const double *param, size_t hook) {
  (void)hook;
  return param[ATA_CLUSTER] == 1;
}

SCHEME_STORAGE(ata_storage, {"queues between the L1s, 48 bits and a line in answers", l1net_bits(g, false)})

static const struct l1_place ata_place = {.peer = ata_peer, .reads = ata_reads};

static const struct scheme ata_cache = {
    .name = "ata-cache",
    .title = "ATA-Cache: misses are compared with the tags of other L1s, which are accessed only if they hold the data",
    .paper = "Xu, Wang, Xiao, Liu, Xie, Han, Liu: ATA-Cache: Contention Mitigation for GPU Shared L1 Cache With "
             "Aggregated Tag Array. IEEE TCAD 2023",
    .idea =
        "SMs fetch the same lines from the L2, one after the other. Sharing the L1s saves that, but looks into the\n"
        "L1s of others in vain cost them bandwidth. With the tag arrays of a cluster side by side, a miss is\n"
        "compared with all of them at once, and only an L1 that has the data is accessed.",
    .params = params,
    .counters = counters,
    .positional = "cluster",
    .idle = ata_idle,
    .storage = ata_storage,
    .place = &ata_place,
};
SCHEME(ata_cache);

/* invariants.c - the conservation laws. See invariants.h. */
#include "gpu/common/invariants.h"

#include <stddef.h>

#define F(field) (offsetof(struct gpu_stats, field) + 1)

const struct law gpu_laws[] = {
    {"every issue slot has one reason",
     false,
     {F(issue_issued), F(issue_data), F(issue_memory), F(issue_pipe), F(issue_barrier), F(issue_control),
      F(issue_idle)},
     {F(issue_slots)}},
    {"every issued slot is a warp instruction", false, {F(issue_issued)}, {F(warp_insts)}},
    {"an L1 load hits, is pending, or misses",
     false,
     {F(l1d_read_hits), F(l1d_read_pending), F(l1d_read_misses), F(l1d_read_partial)},
     {F(l1d_read_accesses)}},
    {"a local load hits, is pending, or misses",
     false,
     {F(l1d_local_read_hits), F(l1d_local_read_pending), F(l1d_local_read_misses), F(l1d_local_read_partial)},
     {F(l1d_local_read_accesses)}},
    {"a refused load has one reason",
     false,
     {F(l1d_rej_line), F(l1d_rej_missq), F(l1d_rej_mshr), F(l1d_rej_merge)},
     {F(l1d_read_rejects)}},
    {"store hits are stores", true, {F(l1d_write_hits)}, {F(l1d_write_accesses)}},
    {"misses of the second constant cache are accesses", true, {F(l15c_misses)}, {F(l15c_accesses)}},
    {"constant misses are accesses", true, {F(l1c_misses)}, {F(l1c_accesses)}},
    {"texture misses are accesses", true, {F(l1t_misses)}, {F(l1t_accesses)}},
    {"fetch misses are fetches", true, {F(l1i_misses)}, {F(l1i_accesses)}},
    {"an L2 access hits, is pending, misses, or bypasses",
     false,
     {F(l2_hits), F(l2_pending), F(l2_misses), F(l2_bypasses)},
     {F(l2_accesses)}},
    {"misses of sectors are L2 misses", true, {F(l2_sector_misses)}, {F(l2_misses)}},
    {"every L2 sector fetched comes", false, {F(l2_sectors_filled)}, {F(l2_sectors_fetched)}},
    {"every request is answered once", false, {F(requests_answered)}, {F(requests_awaited)}},
    {"every packet up has a flit", true, {F(packets_up)}, {F(flits_up)}},
    {"every packet down has a flit", true, {F(packets_down)}, {F(flits_down)}},
    {"every packet up is an L2 access or a prefetch", false, {F(packets_up)}, {F(l2_accesses), F(l2_prefetch_sent)}},
    {"every packet down is an answer", false, {F(packets_down)}, {F(requests_answered)}},
    {"what awaits an answer was sent", true, {F(requests_awaited)}, {F(packets_up)}},
    {"read requests are L2 reads", true, {F(mem_reads)}, {F(l2_read_accesses)}},
    {"L2 reads and writes are accesses", true, {F(l2_read_accesses), F(l2_write_accesses)}, {F(l2_accesses)}},
    {"L2 read hits are reads", true, {F(l2_read_hits)}, {F(l2_read_accesses)}},
    {"L2 write hits are writes", true, {F(l2_write_hits)}, {F(l2_write_accesses)}},
    {"loads that leave the SM missed or bypassed the L1",
     false,
     {F(l1d_read_misses), F(l1d_read_partial), F(l1d_read_split), F(l1d_read_again), F(l1d_read_bypasses),
      F(atomic_requests), F(prefetch_requests)},
     {F(mem_reads), F(l1d_read_late), F(net_answers)}},
    {"a load at another SM's L1 hits, is pending, or misses",
     false,
     {F(net_hits), F(net_pending), F(net_misses)},
     {F(net_lookups)}},
    {"an answer of another L1 follows a question", true, {F(net_answers)}, {F(net_asked)}},
    {"an answer of another L1 is a hit there", true, {F(net_answers)}, {F(net_hits)}},
    {"a packet between L1s has a flit", true, {F(net_packets)}, {F(net_flits)}},
    {"a requested line is fetched, or not for one reason",
     false,
     {F(prefetch_issued), F(prefetch_redundant), F(prefetch_no_queue), F(prefetch_no_mshr), F(prefetch_no_line),
      F(prefetch_ended)},
     {F(prefetch_requested)}},
    {"a prefetched line has one fate",
     false,
     {F(prefetch_useful), F(prefetch_late), F(prefetch_evicted), F(prefetch_left)},
     {F(prefetch_issued)}},
    {"a line requested in the L2 is sent, or not for one reason",
     false,
     {F(l2_prefetch_issued), F(l2_prefetch_redundant), F(l2_prefetch_no_queue), F(l2_prefetch_no_mshr),
      F(l2_prefetch_no_line), F(l2_prefetch_ended)},
     {F(l2_prefetch_requested)}},
    {"a line prefetched into the L2 has one fate",
     false,
     {F(l2_prefetch_useful), F(l2_prefetch_late), F(l2_prefetch_evicted), F(l2_prefetch_left)},
     {F(l2_prefetch_issued)}},
    {"a line prefetched into the L2 is a request", true, {F(l2_prefetch_issued)}, {F(l2_prefetch_sent)}},
    {"a prefetched line is a request or more", true, {F(prefetch_issued)}, {F(prefetch_requests)}},
    {"prefetched bytes are fetched bytes", true, {F(prefetch_bytes)}, {F(l1d_fetch_bytes)}},
    {"bytes filled are bytes fetched", false, {F(l1d_fill_bytes)}, {F(l1d_fetch_bytes)}},
};
const uint32_t gpu_law_count = sizeof gpu_laws / sizeof *gpu_laws;

static uint64_t sum(const struct gpu_stats *s, const uint32_t *terms) {
  uint64_t v = 0;
  for (uint32_t i = 0; i < LAW_TERMS && terms[i]; i++) v += *(const uint64_t *)((const char *)s + terms[i] - 1);
  return v;
}

bool gpu_check_laws(const struct gpu_stats *s, struct err *e) {
  for (uint32_t i = 0; i < gpu_law_count; i++) {
    const struct law *l = &gpu_laws[i];
    uint64_t a = sum(s, l->left), b = sum(s, l->right);
    if (l->at_most ? a <= b : a == b) continue;
    return err_set(e, ERR_INTERNAL, "conservation law violated: %s (%lu %s %lu)", l->name, (unsigned long)a,
                   l->at_most ? "is more than" : "is not", (unsigned long)b);
  }
  return true;
}

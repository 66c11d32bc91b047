/* derived.c - rates computed from counters: one row each gives the JSON key, the label and the documentation. */
#include "results/record.h"

static double ratio(uint64_t a, uint64_t b) {
  return b ? (double)a / (double)b : 0;
}

static double ipc(const struct gpu_stats *s) {
  return gpu_stats_ipc(s);
}
static double l1d_hit_rate(const struct gpu_stats *s) {
  return ratio(s->l1d_read_hits, s->l1d_read_accesses);
}
static double l1d_pending_rate(const struct gpu_stats *s) {
  return ratio(s->l1d_read_pending, s->l1d_read_accesses);
}
static double l1d_miss_rate(const struct gpu_stats *s) {
  return ratio(s->l1d_read_misses, s->l1d_read_accesses);
}
static double l1d_bypass_rate(const struct gpu_stats *s) {
  return ratio(s->l1d_read_bypasses, s->l1d_read_accesses + s->l1d_read_bypasses);
}
static double l2_hit_rate(const struct gpu_stats *s) {
  return ratio(s->l2_hits, s->l2_accesses);
}
static double row_hit_rate(const struct gpu_stats *s) {
  return ratio(s->dram_row_hits, s->dram_requests);
}
static double dram_utilisation(const struct gpu_stats *s) {
  return ratio(s->dram_busy_cycles, s->dram_cycles);
}
static double dram_bytes(const struct gpu_stats *s) {
  return 64.0 * (double)(s->dram_reads + s->dram_writes);
}
static double simt_efficiency(const struct gpu_stats *s) {
  return ratio(s->thread_insts, 32 * s->warp_insts);
}

const struct derived_row derived_rows[] = {
    {"ipc", "instruction/cycle", "thread instructions per core cycle", ipc},
    {"simt_efficiency", "", "active lanes of an executed warp instruction, as a fraction of 32", simt_efficiency},
    {"l1d.read.hit_rate", "", "l1d.read.hits / l1d.read.accesses", l1d_hit_rate},
    {"l1d.read.pending_rate", "", "l1d.read.pending_hits / l1d.read.accesses", l1d_pending_rate},
    {"l1d.read.miss_rate", "", "l1d.read.misses / l1d.read.accesses", l1d_miss_rate},
    {"l1d.read.bypass_rate", "", "bypassing loads among loads that used or bypassed the L1", l1d_bypass_rate},
    {"l2.hit_rate", "", "l2.hits / l2.accesses", l2_hit_rate},
    {"dram.row_hit_rate", "", "dram.row_hits / dram.requests", row_hit_rate},
    {"dram.utilisation", "", "dram.busy_cycles / dram.cycles", dram_utilisation},
    {"dram.bytes", "B", "bytes moved by read and write commands of 64 B", dram_bytes},
};
const uint32_t derived_row_count = sizeof derived_rows / sizeof *derived_rows;

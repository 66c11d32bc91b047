/* derived.c - rates computed from counters: one row each gives the JSON key, the label and the documentation. */
#include "model/energy.h"
#include "results/record.h"

static double ipc(const struct gpu_stats *s) {
  return gpu_stats_ipc(s);
}
static double l1d_hit_rate(const struct gpu_stats *s) {
  return record_ratio(s->l1d_read_hits, s->l1d_read_accesses);
}
static double l1d_pending_rate(const struct gpu_stats *s) {
  return record_ratio(s->l1d_read_pending, s->l1d_read_accesses);
}
static double l1d_miss_rate(const struct gpu_stats *s) {
  return record_ratio(s->l1d_read_misses, s->l1d_read_accesses);
}
static double l1d_bypass_rate(const struct gpu_stats *s) {
  return record_ratio(s->l1d_read_bypasses, s->l1d_read_accesses + s->l1d_read_bypasses);
}
static double l1d_misses_per_load(const struct gpu_stats *s) {
  return record_ratio(s->l1d_read_misses + s->l1d_read_partial,
                      s->loads_1 + s->loads_2 + s->loads_10 + s->loads_20 + s->loads_32);
}
static double l1d_mpki(const struct gpu_stats *s) {
  return 1000 * record_ratio(s->l1d_read_misses + s->l1d_read_partial, s->thread_insts);
}
static double prefetch_accuracy(const struct gpu_stats *s) {
  return record_ratio(s->prefetch_useful + s->prefetch_late, s->prefetch_issued);
}
static double prefetch_coverage(const struct gpu_stats *s) {
  uint64_t first = s->prefetch_useful + s->prefetch_late;
  return record_ratio(first, first + s->l1d_read_misses + s->l1d_read_partial);
}
static double prefetch_lateness(const struct gpu_stats *s) {
  return record_ratio(s->prefetch_late, s->prefetch_useful + s->prefetch_late);
}
static double prefetch_traffic(const struct gpu_stats *s) {
  return record_ratio(s->prefetch_bytes, s->l1d_fetch_bytes);
}
static double l2_prefetch_accuracy(const struct gpu_stats *s) {
  return record_ratio(s->l2_prefetch_useful + s->l2_prefetch_late, s->l2_prefetch_issued);
}
static double l2_prefetch_coverage(const struct gpu_stats *s) {
  uint64_t first = s->l2_prefetch_useful + s->l2_prefetch_late;
  return record_ratio(first, first + s->l2_misses);
}
static double l2_prefetch_lateness(const struct gpu_stats *s) {
  return record_ratio(s->l2_prefetch_late, s->l2_prefetch_useful + s->l2_prefetch_late);
}
static double compression(const struct gpu_stats *s) {
  return record_ratio(s->packed_from, s->packed_bytes);
}
static double net_hit_rate(const struct gpu_stats *s) {
  return record_ratio(s->net_hits, s->net_lookups);
}
static double net_share(const struct gpu_stats *s) {
  return record_ratio(s->net_answers, s->l1d_read_misses + s->l1d_read_partial);
}
static double l2_hit_rate(const struct gpu_stats *s) {
  return record_ratio(s->l2_hits, s->l2_accesses);
}
static double row_hit_rate(const struct gpu_stats *s) {
  return record_ratio(s->dram_row_hits, s->dram_requests);
}
static double dram_utilisation(const struct gpu_stats *s) {
  return record_ratio(s->dram_busy_cycles, s->dram_cycles);
}
static double dram_bytes(const struct gpu_stats *s) {
  return (double)(s->dram_read_bytes + s->dram_write_bytes);
}
static double simt_efficiency(const struct gpu_stats *s) {
  return record_ratio(s->thread_insts, 32 * s->warp_insts);
}

#define ENERGY_ROW(c)                                   \
  static double energy_##c(const struct gpu_stats *s) { \
    return 1e6 * energy_of(s, ENERGY_##c);              \
  }
ENERGY_ROW(regfile)
ENERGY_ROW(exec)
ENERGY_ROW(l1d)
ENERGY_ROW(shared)
ENERGY_ROW(l2)
ENERGY_ROW(mem_ctrl)
ENERGY_ROW(icnt)
ENERGY_ROW(dram)
ENERGY_ROW(idle_core)
static double energy_front(const struct gpu_stats *s) {
  return 1e6 * (energy_of(s, ENERGY_icache) + energy_of(s, ENERGY_ibuffer) + energy_of(s, ENERGY_scheduler) +
                energy_of(s, ENERGY_pipeline));
}
static double energy_total(const struct gpu_stats *s) {
  return 1e6 * energy_report(s, 1, NULL).total;
}
static double energy_efficiency(const struct gpu_stats *s) {
  return energy_report(s, 1, NULL).per_joule;
}

const struct derived_row derived_rows[] = {
    {"ipc", "instruction/cycle", "thread instructions per core cycle", ipc},
    {"simt_efficiency", "", "active lanes of an executed warp instruction, as a fraction of 32", simt_efficiency},
    {"l1d.read.hit_rate", "", "l1d.read.hits / l1d.read.accesses", l1d_hit_rate},
    {"l1d.read.pending_rate", "", "l1d.read.pending_hits / l1d.read.accesses", l1d_pending_rate},
    {"l1d.read.miss_rate", "", "l1d.read.misses / l1d.read.accesses", l1d_miss_rate},
    {"l1d.read.bypass_rate", "", "share of bypassing loads among all global loads", l1d_bypass_rate},
    {"l1d.read.misses_per_load", "access", "misses, partial ones included, per global load instruction",
     l1d_misses_per_load},
    {"l1d.read.mpki", "access", "the same per 1000 thread instructions", l1d_mpki},
    {"prefetch.accuracy", "", "share of the prefetched lines that a load needed: useful or late", prefetch_accuracy},
    {"prefetch.coverage", "", "prefetched lines that a load needed, as a share of these and the misses",
     prefetch_coverage},
    {"prefetch.lateness", "", "prefetch.late / (prefetch.useful + prefetch.late)", prefetch_lateness},
    {"prefetch.traffic", "", "prefetch.bytes / l1d.fetch_bytes", prefetch_traffic},
    {"l2.prefetch.accuracy", "", "share of the lines prefetched into the L2 that an access needed: useful or late",
     l2_prefetch_accuracy},
    {"l2.prefetch.coverage", "",
     "lines prefetched into the L2 that an access needed, as a share of these and l2.misses", l2_prefetch_coverage},
    {"l2.prefetch.lateness", "", "l2.prefetch.late / (l2.prefetch.useful + l2.prefetch.late)", l2_prefetch_lateness},
    {"l1d.compressed.ratio", "", "l1d.compressed.bytes_before / l1d.compressed.bytes", compression},
    {"l1net.hit_rate", "", "l1net.hits / l1net.loads", net_hit_rate},
    {"l1net.answered", "", "share of the L1's misses that another L1 answered", net_share},
    {"l2.hit_rate", "", "l2.hits / l2.accesses", l2_hit_rate},
    {"dram.row_hit_rate", "", "dram.row_hits / dram.requests", row_hit_rate},
    {"dram.utilisation", "", "dram.busy_cycles / dram.cycles", dram_utilisation},
    {"energy.total", "uJ", "dynamic energy: events times the table of energies, without leakage", energy_total},
    {"energy.front", "uJ", "of it: fetch, instruction buffer, scheduler, pipeline registers", energy_front},
    {"energy.regfile", "uJ", "of it: register file and collectors", energy_regfile},
    {"energy.exec", "uJ", "of it: execution units", energy_exec},
    {"energy.l1d", "uJ", "of it: L1 data cache", energy_l1d},
    {"energy.shared", "uJ", "of it: shared memory", energy_shared},
    {"energy.l2", "uJ", "of it: L2", energy_l2},
    {"energy.mem_ctrl", "uJ", "of it: memory controllers", energy_mem_ctrl},
    {"energy.icnt", "uJ", "of it: interconnect", energy_icnt},
    {"energy.dram", "uJ", "of it: DRAM", energy_dram},
    {"energy.idle_core", "uJ", "of it: SMs without work", energy_idle_core},
    {"energy.efficiency", "instruction/cycle/J", "ipc / energy.total", energy_efficiency},
    {"dram.bytes", "B", "bytes moved by read and write commands", dram_bytes},
};
const uint32_t derived_row_count = sizeof derived_rows / sizeof *derived_rows;

/* energy.c - sums over energy.def. */
#include "model/energy.h"

#include <stddef.h>

/* Column reads that fetch lines after a write miss: two 64 B commands each. A write that merges with a pending fetch
 * counts as a miss, so this is an upper bound, limited to all reads. */
static double energy_write_fetches(const struct gpu_stats *s) {
  double n = 2.0 * (double)(s->l2_write_accesses - s->l2_write_hits), reads = (double)s->dram_reads;
  return n < reads ? n : reads;
}

/* Lanes without work, over all warp instructions. */
static double energy_idle_lanes(const struct gpu_stats *s) {
  double n = 32.0 * (double)s->warp_insts - (double)s->thread_insts;
  return n > 0 ? n : 0;
}

/* Operands that are not registers, with three operands per instruction: the reference charges its register file for
 * those as well. */
static double energy_other_operands(const struct gpu_stats *s) {
  double n = 3.0 * (double)s->warp_insts - (double)s->reg_reads;
  return n > 0 ? n : 0;
}

const char *const energy_component_names[ENERGY_COMPONENTS] = {"icache", "ibuffer", "scheduler", "regfile", "pipeline",
                                                               "exec",   "l1d",     "shared",    "l2",      "mem_ctrl",
                                                               "icnt",   "dram",    "idle_core"};

const struct energy_event energy_events[] = {
#define ENERGY(component, event, count, pj, source) {ENERGY_##component, event, source, pj},
#include "model/energy.def"
#undef ENERGY
};
const struct energy_constant energy_constants[ENERGY_CONSTANTS] = {
#define CONSTANT(name, value, unit, meaning, source) {#name, unit, meaning, source, value},
#include "model/energy.def"
#undef CONSTANT
};
const uint32_t energy_event_count = sizeof energy_events / sizeof *energy_events;

double energy_events_of(const struct gpu_stats *s, uint32_t i) {
  double counts[] = {
#define ENERGY(component, event, count, pj, source) (double)(count),
#include "model/energy.def"
#undef ENERGY
  };
  return counts[i];
}

struct energy_report energy_report(const struct gpu_stats *s, double core_mhz, const double *factor) {
  struct energy_report r = {0};
  for (uint32_t i = 0; i < energy_event_count; i++) {
    double j = energy_events_of(s, i) * energy_events[i].picojoule * 1e-12 * (factor ? factor[i] : 1);
    r.joule[energy_events[i].component] += j;
    r.total += j;
  }
  if (!s->cycles || r.total <= 0) return r;
  double seconds = (double)s->cycles / (core_mhz * 1e6);
  r.watt = r.total / seconds;
  r.dram_watt = r.joule[ENERGY_dram] / seconds;
  r.per_joule = (double)s->thread_insts / (double)s->cycles / r.total;
  return r;
}

double energy_of(const struct gpu_stats *s, enum energy_component c) {
  return energy_report(s, 1, NULL).joule[c];
}

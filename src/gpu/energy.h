/* energy.h - dynamic energy from counters: events times joules per event (energy.def), by component. */
#ifndef GPU_ENERGY_H
#define GPU_ENERGY_H

#include <stdint.h>

#include "gpu/stats.h"

enum energy_component {
  ENERGY_icache,
  ENERGY_ibuffer,
  ENERGY_scheduler,
  ENERGY_regfile,
  ENERGY_pipeline,
  ENERGY_exec,
  ENERGY_l1d,
  ENERGY_shared,
  ENERGY_l2,
  ENERGY_mem_ctrl,
  ENERGY_icnt,
  ENERGY_dram,
  ENERGY_idle_core,
  ENERGY_COMPONENTS
};
extern const char *const energy_component_names[ENERGY_COMPONENTS]; /* as in reference-energy.csv, without "_uj" */

struct energy_event {
  enum energy_component component;
  const char *name, *source;
  double picojoule;
};
extern const struct energy_event energy_events[];
extern const uint32_t energy_event_count;

struct energy_report {
  double joule[ENERGY_COMPONENTS], total;
  double watt, dram_watt; /* mean over the kernel's cycles */
  double per_joule;       /* thread instructions per cycle and joule */
};
/* How often event `i` happened. */
double energy_events_of(const struct gpu_stats *s, uint32_t i);
/* Energy of one component, in joules. */
double energy_of(const struct gpu_stats *s, enum energy_component c);
/* `factor` (NULL: all 1) scales each event's energy: for sensitivity runs. `core_mhz` turns cycles into time. */
struct energy_report energy_report(const struct gpu_stats *s, double core_mhz, const double *factor);

#endif

/* energy.h - dynamic energy from counters: events times joules per event (energy.def), by component. */
#ifndef MODEL_ENERGY_H
#define MODEL_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"
#include "gpu/common/stats.h"

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

/* Constants, by name: energy_constants[ENERGY_CONST_leakage].value and so on. */
enum energy_constant_id {
#define CONSTANT(name, value, unit, meaning, source) ENERGY_CONST_##name,
#include "model/energy.def"
#undef CONSTANT
  ENERGY_CONSTANTS
};
struct energy_constant {
  const char *name, *unit, *meaning, *source;
  double value;
};
extern const struct energy_constant energy_constants[ENERGY_CONSTANTS];

struct energy_report {
  double joule[ENERGY_COMPONENTS], total;
  double watt, dram_watt; /* mean over the kernel's cycles */
  double per_joule;       /* thread instructions per cycle and joule */
};
/* Number of events of row `i`. */
double energy_events_of(const struct gpu_stats *s, uint32_t i);
/* Energy of one component, in joules. */
double energy_of(const struct gpu_stats *s, enum energy_component c);
/* `factor` (NULL: all 1) scales each event's energy: for sensitivity runs. `core_mhz` turns cycles into time. */
struct energy_report energy_report(const struct gpu_stats *s, double core_mhz, const double *factor);

/* ---- beside the dynamic energy of the machine ---- */
/* Leakage and refresh of a configuration, in watts. */
double energy_leakage_watt(const struct gpu_config *c);
double energy_refresh_watt(const struct gpu_config *c);
/* Cost of the tables of a list of schemes: size, and energy over a run with these counters. A scheme reads its tables
 * once per access of each cache whose hooks it fills, and once per DRAM request, CTA or issued load that it decides. */
struct energy_tables {
  double bits, mm2, probes;
  double joule;      /* of the probes */
  double leak_joule; /* of the tables over the run */
};
/* False for a list that is not one machine (searches, errors); `out` is then zero. */
bool energy_of_tables(const char *schemes, const struct gpu_config *c, const struct gpu_stats *s,
                      struct energy_tables *out);

/* ---- the whole board, for GPUs whose configuration says what it takes (knobs power.*) ---- */
struct energy_board {
  double constant, instructions, l1, l2, dram, watt; /* W, mean over the launches and their overhead; watt: the sum */
};
/* False: the configuration does not say, or nothing was timed. */
bool energy_board(const struct gpu_config *c, const struct gpu_stats *s, struct energy_board *out);

#endif

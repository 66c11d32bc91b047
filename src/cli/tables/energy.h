/* energy.h - the tables of `--energy` and `--energy-sensitivity`, for one run, a comparison and a suite. */
#ifndef CLI_TABLES_ENERGY_H
#define CLI_TABLES_ENERGY_H

#include "cli/frame/cli.h"
#include "gpu/common/stats.h"
#include "results/record.h"

/* Programs by schemes; cell i of program p under scheme k is at p * schemes + k. A run is one cell. */
struct energy_grid {
  struct gpu_config config;
  const char *const *scheme;
  const char *const *program; /* NULL for one */
  size_t programs, schemes;
  struct gpu_stats *stats; /* cycles 0: not there */
};

/* Where the energy of a run went: components, power, efficiency. */
void energy_print_run(const struct energy_grid *g, FILE *f);
/* Each scheme's energy relative to the first's: geometric means over the programs. */
void energy_print_compare(const struct energy_grid *g, FILE *f);
/* Effect of halving and doubling each value of the table. */
void energy_print_sensitivity(const struct energy_grid *g, FILE *f);

#endif

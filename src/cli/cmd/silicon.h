/* silicon.h - `sluice calibrate --silicon`: kernels beside the hardware counters of a GPU. */
#ifndef CLI_CMD_SILICON_H
#define CLI_CMD_SILICON_H

#include "cli/frame/cli.h"

struct silicon_options {
  const char *file, *dir, *csv, *gpu; /* csv, gpu: NULL where not given */
  const struct opt_list *sets, *kernels;
  unsigned jobs;
};
/* Returns an exit code. */
int silicon_run(const struct silicon_options *o);

#endif

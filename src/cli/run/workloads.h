/* workloads.h - the bundled CUDA programs, with their papers' suites and groups.
 *
 * Read from share/sluice/workloads.json, which is generated from the header comments of the programs
 * (workloads/gen.sh).
 */
#ifndef CLI_RUN_WORKLOADS_H
#define CLI_RUN_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { WORKLOADS_MAX = 128, WORKLOAD_SIZES = 3 };

struct workload {
  const char *name, *about;
  const char *alias; /* the paper's name for it in the chosen suite; "" in suite all */
  const char *group; /* its class in the suite's paper, "" if the paper has none */
  /* Dynamic warp instructions and processor seconds of one core under the baseline, by size; 0 where not measured. */
  double warp_insts[WORKLOAD_SIZES], seconds[WORKLOAD_SIZES];
};

struct workload_list {
  struct workload at[WORKLOADS_MAX];
  size_t count;
  void *json; /* owns the texts */
};

/* The workloads of `suite` ("all" or a paper's), ordered by group and name. False: no such suite or size, or nothing is
 * built; `size` NULL is not checked. Free with workloads_free in either case. */
bool workloads_load(struct workload_list *l, const char *suite, const char *size, struct err *e);
void workloads_free(struct workload_list *l);

#endif

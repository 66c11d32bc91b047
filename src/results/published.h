/* published.h - the papers' published figures as data (share/sluice/published.csv), and their comparison with
 * simulated results: the scheme and workloads of a row, its metric as counters, and the paper's mean over a group.
 *
 * In the order of use: open; pick rows by paper, scheme and group; published_ratio of every workload that a row
 * covers; published_mean and published_interval over them; published_present turns the results into the row's unit.
 */
#ifndef RESULTS_PUBLISHED_H
#define RESULTS_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct published_figure {
  const char *paper;  /* bucl, tsc, medic, decoupled-l1d, sharing-aware */
  const char *where;  /* "Fig 7 text" */
  const char *metric; /* "ipc_improvement" */
  const char *scheme; /* the paper's word: "bucl-dyn" */
  const char *group;  /* the paper's word: "uncoalesced average", or a workload: "KMN" */
  const char *unit;   /* "percent over baseline" */
  double value;
};

struct published;
/* `path` NULL: the bundled table. NULL with `e` if it cannot be read or has a row that is not seven fields. */
struct published *published_open(const char *path, struct err *e);
size_t published_count(const struct published *p);
const struct published_figure *published_at(const struct published *p, size_t i);
void published_close(struct published *p);

/* ---- whose figure it is ---- */
/* True if it belongs to the paper of --suite NAME, and to the scheme that a user types as `list`. */
bool published_of_suite(const struct published_figure *f, const char *suite);
bool published_of_scheme(const struct published_figure *f, const char *list);
enum published_kind {
  PUBLISHED_ARITHMETIC,
  PUBLISHED_GEOMETRIC,
  PUBLISHED_HARMONIC,
  PUBLISHED_MINIMUM,
  PUBLISHED_MAXIMUM
};
extern const char *const published_kind_names[];
/* True for a figure of a group, with the group as in workloads.json ("" for all workloads of the suite) and the kind
 * of mean. False: it is of the one workload that the paper calls f->group, or not of a set of workloads. */
bool published_of_group(const struct published_figure *f, const char **group, enum published_kind *kind);
/* True if the mean is over the kernels of every workload, not over workloads (MeDiC, section 5): ratios of IPC. */
bool published_by_kernel(const struct published_figure *f);
/* True for a figure of the workload that the paper calls so, or of a class of its loads ("KMN degree 1"). */
bool published_of_workload(const struct published_figure *f, const char *alias);
/* The GPU of the row if it differs from that of the paper's other figures; NULL otherwise. */
const char *published_gpu(const struct published_figure *f);

/* ---- what it is in our counters ---- */
/* Value of a counter or derived value by its key, of the totals of a run; 0 if absent. With --characterise there may be
 * keys of its parts, summed over launches: "loads.by_degree.0.loads". Without them, metrics of such parts cannot be
 * had. */
typedef double published_get(const void *run, const char *key);
/* The reference scheme (as typed) of the metric: "baseline" for most, "mrpb" for ..._over_mrpb. */
const char *published_over(const struct published_figure *f);
/* True if `list`, as users type it, is that scheme. For MeDiC's comparators with any setting, including searched ones.
 */
bool published_over_is(const struct published_figure *f, const char *list);
/* The quantity that is averaged, of one workload: `run` under the figure's scheme relative to `over`, or a rate of
 * `run` alone. False: the metric cannot be computed from totals of runs. */
bool published_ratio(const struct published_figure *f, published_get *get, const void *run, const void *over,
                     double *ratio);
double published_mean(enum published_kind kind, const double *ratio, size_t n);
/* The 95 % interval of that mean by Student's t over the workloads: of the logarithms for a geometric mean, of the
 * inverses for a harmonic one. False: fewer than two, or no mean but the best or worst of them. */
bool published_interval(enum published_kind kind, const double *ratio, size_t n, double *low, double *high);
/* A ratio as the figure prints it: 1.36 is 36 for ipc_improvement. */
double published_present(const struct published_figure *f, double ratio);
/* The value of "no change" in the row's unit: 0 for a gain, 1 for a ratio. False: a rate or a count of one scheme. */
bool published_no_change(const struct published_figure *f, double *value);
/* 1: the number is a lower bound ("percent at least"), -1: an upper bound, 0: neither. */
int published_bound(const struct published_figure *f);
/* The counters of the metric as an expression of figure files, "a + b / c"; "" if it has none. */
void published_quantity(const struct published_figure *f, char *out, size_t size);
/* True if the run is compared with another; false for a value of the run alone. */
bool published_is_relative(const struct published_figure *f);
/* Properties of the metric: it needs --characterise; it depends on the threads' requests only, whatever the size of
 * caches and inputs; it is storage, which needs no run. */
bool published_needs_character(const struct published_figure *f);
bool published_at_any_size(const struct published_figure *f);
bool published_is_storage(const struct published_figure *f);

#endif

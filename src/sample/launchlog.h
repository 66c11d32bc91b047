/* launchlog.h - what each launch of a run did, for estimates: its signature, and its counters if it was timed.
 *
 * A session writes the log of one run; `sluice run --estimate` joins the logs of several by the launches' numbers.
 */
#ifndef SAMPLE_LAUNCHLOG_H
#define SAMPLE_LAUNCHLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/common/stats.h"
#include "sample/signature.h"

/* A counter of a scheme. */
struct logged_counter {
  char *key;
  uint64_t value;
};

/* Of a counter the estimate for the whole launch, and its variance. */
struct logged_estimate {
  double value, variance;
};
enum { LOGGED_COUNTERS = sizeof(struct gpu_stats) / sizeof(uint64_t) }; /* by place in struct gpu_stats */

/* CTAs of a launch that were timed in place of all (sample/inside.h). */
struct logged_inside {
  uint32_t ctas;                     /* timed; 0: all */
  uint64_t warp_insts, thread_insts; /* of the timed ones */
  double cycles, variance;           /* estimate for the whole launch, and its variance */
  uint32_t freedom;                  /* degrees of freedom of the variances */
  struct logged_estimate *counter;   /* LOGGED_COUNTERS of them; NULL: not known. Those of maxima mean nothing */
};

struct logged_launch {
  char *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes, regs;
  uint32_t resident; /* CTAs that the GPU holds at a time */
  bool timed, signed_, overlapped, orderly;
  struct signature sig; /* without `signed_`: warp_insts and thread_insts only */
  struct gpu_stats stats;
  struct logged_counter *scheme;
  uint32_t schemes;
  struct logged_inside inside;
};

/* Launches in the order of submission. */
struct launchlog {
  struct logged_launch *at;
  uint32_t n, room;
};

struct logged_launch *launchlog_at(struct launchlog *l, uint32_t launch); /* grows the log */
void launchlog_add_counter(struct logged_launch *l, const char *key, uint64_t value);
bool launchlog_write(const struct launchlog *l, const char *path, struct err *e);
bool launchlog_read(struct launchlog *l, const char *path, struct err *e);
void launchlog_free(struct launchlog *l);
/* CTAs of a launch. */
uint64_t launchlog_ctas(const struct logged_launch *l);

#endif

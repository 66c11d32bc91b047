/* plan.h - which launches of a program are timed in place of all: clusters of launches that do nearly the same, each
 * with its members in a random order and the number of them that is timed.
 */
#ifndef SAMPLE_PLAN_H
#define SAMPLE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sample/launchlog.h"

struct plan_cluster {
  char *kernel;
  uint32_t *launch; /* the members, in the order in which they are drawn */
  uint32_t members, timed;
  uint32_t blocks;   /* of each timed launch, groups of CTAs that are timed; 0: all CTAs */
  bool alone;        /* the first launch of a kernel */
  bool level;        /* all members execute the same number of warp instructions */
  uint32_t first;    /* the earliest member */
  double warp_insts; /* of all members */
};

struct sample_plan {
  char *program;
  double error, confidence; /* the bound as a fraction, and 0.95 say */
  uint64_t seed;
  bool cold;         /* launches that run functionally leave the L2 as it is */
  uint32_t launches; /* of the whole program */
  struct plan_cluster *cluster;
  uint32_t clusters;
  uint32_t *before; /* launches that are timed for the sake of the next one only */
  uint32_t befores;
};

/* Launches [first, end) of a log, clustered into series: in the order of their warp instructions, a launch joins the
 * first series of its kernel and block size whose last member's counts differ by at most `plan_likeness` of the larger
 * (`plan_likeness_of_shapes`, if their shapes differ). The first launch of a kernel is a cluster of its own. */
struct plan_range {
  uint32_t first, end;
};
extern const double plan_likeness, plan_likeness_of_shapes;
void plan_cluster_launches(struct sample_plan *p, const struct launchlog *l, struct plan_range r);
/* The number of members that any cluster is timed with at least: all of five, or five; three of one whose members do
 * the same work, two of one with little work. */
void plan_first_samples(struct sample_plan *p, const struct launchlog *l);
/* A plan that leaves less than a tenth of the warp instructions out times all instead: it saves nothing, and what it
 * finds is exact. */
void plan_round_up(struct sample_plan *p, const struct launchlog *l);
/* The warp instructions of a cluster's members in ascending order into x[members], and which of these are timed: their
 * places there, and their launches. Returns how many. */
size_t plan_series(const struct plan_cluster *c, const struct launchlog *l, double *x, size_t *place, uint32_t *timed);
/* Groups of CTAs of which each member has at least so many (sample/inside.h); 0: some are not alike. */
uint32_t plan_groups(const struct plan_cluster *c, const struct launchlog *l);
/* Text for a person: why this number is timed. */
bool plan_write(const struct sample_plan *p, const char *path, struct err *e);
/* False with `e`: no plan, or a damaged one. */
bool plan_read(struct sample_plan *p, const char *path, struct err *e);
void plan_free(struct sample_plan *p);
/* The launches before short ones that are timed: behind a launch that ran functionally, DRAM rows, refresh and the
 * turns of arbiters are not as in a whole run, which a short launch shows. None that is much larger than the one it
 * precedes, and none of a kernel and grid of which a launch was timed before it: the turns are known then
 * (gpu/turns.h). */
void plan_add_before(struct sample_plan *p, const struct launchlog *l);
/* Is the launch timed for the sake of the next one only? */
bool plan_precedes(const struct sample_plan *p, uint32_t launch);
/* The cluster of a launch if it is timed, else NULL. */
const struct plan_cluster *plan_times(const struct sample_plan *p, uint32_t launch);

#endif

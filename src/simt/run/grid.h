/* grid.h - the grid of a launch in functional mode, and the host threads that share it.
 *
 * Each worker has a share of the CTA slots and a struct simt_run of its own, which has no memory but refers to that of
 * the launch. CTAs are handed out in order. Workers share device memory: on it atomics take turns, for each granule of
 * 32 bytes, and fences are fences of the host.
 */
#ifndef SIMT_RUN_GRID_H
#define SIMT_RUN_GRID_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "simt/core/machine.h"

enum { FIRST_TURNS = 2 }; /* of a starting CTA, for each round over its warps: see simt_run */
#define NO_CTA UINT64_MAX

struct grid {
  atomic_uint_fast32_t next, ended; /* CTAs */
  uint32_t workers;
  bool apart; /* the last launch of the kernel stored to no allocation that it loaded from */
  /* more than one worker */
  atomic_uint_fast64_t stop;   /* no CTA from this one on is of interest: it has a fault; NO_CTA: none */
  bool together;               /* the first turns end for all workers together */
  pthread_barrier_t turn_ends; /* with `together` */
  pthread_mutex_t lock;        /* of the fault */
  struct feed_fault fault;     /* of the first CTA that has one */
  struct err e;
};

/* Run CTAs of the grid on the slots of `r` until none is left; run.c. False with `e`. */
bool run_ctas(struct simt_run *r, struct grid *g, struct simt_counts *n, struct err *e);
/* workers.c: host threads for this launch, 1 if it must run on one; run all its CTAs on that many. */
uint32_t workers_for(const struct simt_run *r);
bool workers_run(struct simt_run *r, struct grid *g, struct simt_counts *n, struct err *e);
/* feed_ops.share */
bool workers_share(void *ctx, uint32_t n, const uint64_t *const *now, const struct feed **out);
/* At the end of a launch: its shares (simt_share, workers_share) end. */
void workers_end(struct simt_run *r);
/* CTA `id` of a worker has a fault: the others continue with CTAs before it. */
void workers_failed(struct grid *g, const struct simt_run *r, uint32_t id, const struct err *e);

#endif

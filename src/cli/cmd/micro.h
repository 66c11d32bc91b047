/* micro.h - the microbenchmarks of `sluice microbench`: PTX kernels and what is measured with them. */
#ifndef CLI_CMD_MICRO_H
#define CLI_CMD_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum micro_kind {
  MICRO_LATENCY,   /* cycles of one of a chain of operations that need each other's result */
  MICRO_RATE,      /* lanes per cycle and SM of independent operations of 1,024 threads */
  MICRO_BANDWIDTH, /* bytes per cycle: of one SM (shared, l1) or of the whole GPU */
  MICRO_CAPACITY,  /* KiB that a chase can cover without its loads becoming slower */
  MICRO_SECTOR,    /* bytes to the next address whose first load misses */
};

struct micro {
  const char *name, *unit;
  enum micro_kind kind;
  const char *setup, *op; /* PTX; `op` of a rate has # for the number of one of four chains */
  uint32_t threads;       /* of the CTA; 0: 1 (latency) or 1,024 */
  uint32_t stride;        /* latency: bytes between the places of a chase through fresh memory, 0: it stays where it is;
                           * bandwidth: bytes that a thread moves with one operation; capacity: bytes that it surely
                           * holds, 0: 1,024 */
  uint32_t least_cc;      /* compute capability, times 10 */
  const char *less;       /* name of a benchmark whose result is part of this one and is taken away */
  bool grid;              /* bandwidth: CTAs on all SMs, the figure is the GPU's */
  bool warm;              /* the L2 holds what is read; latency: a chase through lines of many slices */
  bool writes;            /* bandwidth: each byte read is written as well: both count */
};
extern const struct micro micros[];
extern const size_t micro_count;

/* The PTX of all of them for a compute capability, a kernel `k0`, `k1`, ... each and `chase` for capacities; the caller
 * frees it. */
char *micro_ptx(uint32_t cc);

/* A GPU that runs the kernels: a simulated one (microbench.c) or hardware (bench/silicon). */
struct micro_device {
  void *ctx;
  uint64_t data; /* address of MICRO_DATA bytes of its memory */
  uint32_t cc, sms, sm_threads, cta_threads, core_mhz;
  bool own_clocks; /* each SM counts from a cycle of its own */
  /* Run a kernel, one-dimensional, on `data` with the count `n`, to its end; false with `e`. */
  bool (*launch)(void *ctx, const char *kernel, uint32_t ctas, uint32_t threads, uint64_t data, uint32_t n);
  const uint32_t *(*results)(void *ctx);                         /* of the last launch, 4 KiB */
  void (*point)(void *ctx, uint64_t offset, uint64_t to_offset); /* an address within the data into the data */
  struct err *e;
};
#define MICRO_DATA (640ull << 20)

/* Measure those whose names begin with `only` (NULL: all): result[i] of micros[i], NAN where the GPU has no such thing.
 * `tell`, if not NULL, hears which one begins. */
bool micro_measure(const struct micro_device *d, const char *only, void (*tell)(void *ctx, size_t i), void *ctx,
                   double *result);

#endif

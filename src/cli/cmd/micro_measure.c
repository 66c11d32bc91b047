/* micro_measure.c - runs the microbenchmarks (micro.h) on a GPU and computes their figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/micro.h"

enum {
  SHORT_CHAIN = 8,
  LONG_CHAIN = 24,
  TURNS = 3,       /* of the loop around what is timed */
  SHORT_RATE = 64, /* operations of a thread between two clocks */
  LONG_RATE = 320,
  STREAM_TURNS = 4, /* of four loads of a thread */
  THREADS = 1024,
  MIB = 1 << 20,
};

struct bench {
  const struct micro_device *d;
  uint64_t fresh; /* bytes of the data that have been touched */
};

static bool launch_kernel(const struct bench *b, size_t i, uint32_t ctas, uint32_t threads, uint64_t at, uint32_t n) {
  char name[32];
  snprintf(name, sizeof name, "k%zu", i);
  return b->d->launch(b->d->ctx, name, ctas, threads, b->d->data + at, n);
}

static const uint32_t *kernel_results(const struct bench *b) {
  return b->d->results(b->d->ctx);
}

static void point(const struct bench *b, uint64_t from, uint64_t to) {
  b->d->point(b->d->ctx, from, to);
}

/* Through untouched lines, in random order, far enough apart that each is in another row of DRAM. */
static uint64_t fresh_chase(struct bench *b, uint32_t line) {
  enum { PLACES = TURNS * (SHORT_CHAIN + LONG_CHAIN) + 1, APART = 256 * 1024 };
  uint64_t at = b->fresh, first = at;
  for (uint32_t k = 1, place = 0; k <= PLACES; k++) {
    place = (place + 37) % PLACES; /* 37 and PLACES have no common factor */
    uint64_t next = b->fresh + (uint64_t)place * APART + (uint64_t)((k * 2654435761u >> 20) + line) % 512 * 256;
    point(b, at, next);
    at = next;
  }
  b->fresh += (uint64_t)(PLACES + 1) * APART;
  return first;
}

static double latency(struct bench *b, size_t i) {
  const struct micro *m = &micros[i];
  uint64_t at = 0;
  if (m->stride) { /* once through other lines of the same pages, which are translated then */
    uint64_t fresh = b->fresh;
    at = fresh_chase(b, 1);
    if (!launch_kernel(b, i, 1, 1, at, TURNS)) return NAN;
    b->fresh = fresh;
    at = fresh_chase(b, 0);
  } else if (m->warm) { /* twice through the same lines, of many slices; none of those above */
    uint64_t fresh = b->fresh;
    at = fresh_chase(b, 2);
    if (!launch_kernel(b, i, 1, 1, at, TURNS)) return NAN;
    b->fresh = fresh;
  } else {
    point(b, 0, 0);
  }
  if (!launch_kernel(b, i, 1, m->threads ? m->threads : 1, at, TURNS)) return NAN;
  const uint32_t *r = kernel_results(b);
  double ops = LONG_CHAIN - SHORT_CHAIN;
  for (const char *more = strchr(m->op, '\n'); more && !m->less; more = strchr(more + 1, '\n'))
    ops += LONG_CHAIN - SHORT_CHAIN; /* several operations a link */
  return ((double)r[1] - r[0]) / ops;
}

/* Threads that the machine runs as one CTA. */
static uint32_t cta_threads(const struct bench *b) {
  return b->d->cta_threads < THREADS ? b->d->cta_threads : THREADS;
}

static double rate(struct bench *b, size_t i) {
  uint32_t threads = cta_threads(b);
  if (!launch_kernel(b, i, 1, threads, 0, TURNS)) return NAN;
  double each = micros[i].kind == MICRO_BANDWIDTH ? micros[i].stride : 1;
  for (const char *more = strchr(micros[i].op, '\n'); more; more = strchr(more + 1, '\n')) each++; /* operations */
  const uint32_t *r = kernel_results(b);
  return each * threads * (LONG_RATE - SHORT_RATE) / ((double)r[1] - r[0]);
}

/* First to last clock of all CTAs. Where SMs count from different cycles, the longest time of a CTA: they start
 * together. */
static double stream(struct bench *b, size_t i) {
  const struct micro *m = &micros[i];
  uint32_t threads = cta_threads(b), ctas = b->d->sms * (b->d->sm_threads / threads);
  uint64_t bytes = (uint64_t)ctas * threads * m->stride, at = m->warm ? 0 : b->fresh, ops = 4 * STREAM_TURNS;
  if (m->warm && !launch_kernel(b, i, ctas, threads, 0, 1)) return NAN;
  if (!launch_kernel(b, i, ctas, threads, at, STREAM_TURNS)) return NAN;
  b->fresh += m->warm ? 0 : (ops + 4) * bytes;
  const uint32_t *r = kernel_results(b);
  uint32_t first = UINT32_MAX, last = 0, longest = 0;
  for (uint32_t k = 0; k < ctas; k++) {
    if (r[2 * k] < first) first = r[2 * k];
    if (r[2 * k + 1] > last) last = r[2 * k + 1];
    if (r[2 * k + 1] - r[2 * k] > longest) longest = r[2 * k + 1] - r[2 * k];
  }
  double per_cycle = (double)(bytes * ops * (m->writes ? 2 : 1)) / (b->d->own_clocks ? longest : last - first);
  return strcmp(m->unit, "GB/s") ? per_cycle : per_cycle * b->d->core_mhz / 1e3;
}

/* Cycles of a load of a chase over `bytes`, a line at a time, when it has been there before. */
static double chase(struct bench *b, size_t i, uint32_t bytes) {
  bool constant = !strcmp(micros[i].op, "const");
  uint32_t line = constant ? 64 : 128, n = bytes / line;
  for (uint32_t k = 0; !constant && k < n; k++) point(b, k * line, (k + 1) % n * line);
  if (!launch_kernel(b, i, 1, 1, 0, n)) return NAN;
  return (double)kernel_results(b)[0] / n;
}

static double capacity(struct bench *b, size_t i) {
  uint32_t sure = micros[i].stride ? micros[i].stride : 1024;
  double fast = chase(b, i, sure);
  uint32_t fits = sure / 1024, most = strcmp(micros[i].op, "const") ? 512 : 64; /* KiB */
  while (fits < most && !b->d->e->code) {
    uint32_t half = (fits + most + 1) / 2;
    if (chase(b, i, half * 1024) < 1.1 * fast) fits = half;
    else most = half - 1;
  }
  return fits;
}

static double sector(struct bench *b, size_t i) {
  double near = NAN;
  for (uint32_t apart = 4; apart <= 256; apart *= 2) {
    if (!launch_kernel(b, i, 1, 1, b->fresh, apart)) return NAN;
    b->fresh += 4 * 65536;
    double t = kernel_results(b)[0];
    if (isnan(near)) near = t;
    if (t > 1.5 * near) return apart;
  }
  return NAN;
}

static double measure_row(struct bench *b, size_t i) {
  switch (micros[i].kind) {
  case MICRO_LATENCY:
    return latency(b, i);
  case MICRO_CAPACITY:
    return capacity(b, i);
  case MICRO_SECTOR:
    return sector(b, i);
  default:
    return micros[i].grid ? stream(b, i) : rate(b, i);
  }
}

static double result_named(const double *result, const char *name) {
  for (size_t i = 0; i < micro_count; i++)
    if (!strcmp(micros[i].name, name)) return result[i];
  return NAN;
}

/* True if it is requested, or another one needs it. */
static bool asked(const char *only, const struct micro *m) {
  if (!only || !strncmp(m->name, only, strlen(only))) return true;
  for (size_t i = 0; i < micro_count; i++)
    if (micros[i].less && !strcmp(micros[i].less, m->name) && asked(only, &micros[i])) return true;
  return false;
}

bool micro_measure(const struct micro_device *d, const char *only, void (*tell)(void *ctx, size_t i), void *ctx,
                   double *result) {
  struct bench b = {.d = d, .fresh = 32 * MIB}; /* what stays where it is lies before it */
  for (size_t i = 0; i < micro_count; i++) {
    result[i] = NAN;
    if (micros[i].least_cc > d->cc || !asked(only, &micros[i])) continue;
    if (tell) tell(ctx, i);
    result[i] = measure_row(&b, i);
    if (d->e->code) return false;
    if (micros[i].less) result[i] -= result_named(result, micros[i].less);
  }
  return true;
}

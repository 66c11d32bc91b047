/* micro_measure.c - runs the microbenchmarks (micro.h) on a simulated GPU and computes their figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmd/micro.h"
#include "gpu/common/config.h"
#include "session/session.h"

enum {
  SHORT_CHAIN = 8,
  LONG_CHAIN = 24,
  TURNS = 3,       /* of the loop around what is timed */
  SHORT_RATE = 16, /* operations of a thread between two clocks */
  LONG_RATE = 80,
  STREAM_TURNS = 4, /* of four loads of a thread */
  THREADS = 1024,
  MIB = 1 << 20,
  DATA = 640 * MIB, /* a copy writes 256 MiB after what it reads */
};

struct bench {
  struct session *s;
  struct simt_module *module;
  const struct gpu_config *c;
  uint64_t out, data;
  uint64_t fresh; /* bytes of `data` that have been touched */
  struct err *e;
};

struct args {
  uint64_t out, data;
  uint32_t n, one;
};

static bool launch(struct bench *b, size_t i, uint32_t ctas, uint32_t threads, uint64_t data, uint32_t n) {
  char name[32];
  int cuda_error;
  struct args a = {b->out, data, n, 1};
  snprintf(name, sizeof name, "k%zu", i);
  struct simt_launch l = {
      .kernel = simt_find_kernel(b->module, name), .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &a};
  return session_launch(b->s, &l, &cuda_error, b->e);
}

static const uint32_t *results(const struct bench *b) {
  return simt_mem_at(session_simt(b->s), b->out, 4096);
}

/* A pointer at `from` (bytes into the data) to `to`. */
static void point(const struct bench *b, uint64_t from, uint64_t to) {
  uint64_t address = b->data + to;
  memcpy(simt_mem_at(session_simt(b->s), b->data + from, 8), &address, 8);
}

/* Through lines that nobody has touched, in no order, far enough apart that each is in another row of DRAM. */
static uint64_t fresh_chase(struct bench *b) {
  enum { PLACES = TURNS * (SHORT_CHAIN + LONG_CHAIN) + 1, APART = 256 * 1024 };
  uint64_t at = b->fresh, first = at;
  for (uint32_t k = 1, place = 0; k <= PLACES; k++) {
    place = (place + 37) % PLACES; /* 37 and PLACES have no common factor */
    uint64_t next = b->fresh + (uint64_t)place * APART + (uint64_t)(k * 2654435761u >> 20) % 512 * 256;
    point(b, at, next);
    at = next;
  }
  b->fresh += (uint64_t)(PLACES + 1) * APART;
  return first;
}

static double latency(struct bench *b, size_t i) {
  const struct micro *m = &micros[i];
  uint64_t at = m->stride ? fresh_chase(b) : 0;
  if (!m->stride) point(b, 0, 0);
  if (!launch(b, i, 1, m->threads ? m->threads : 1, b->data + at, TURNS)) return NAN;
  const uint32_t *r = results(b);
  double ops = LONG_CHAIN - SHORT_CHAIN;
  for (const char *more = strchr(m->op, '\n'); more && !m->less; more = strchr(more + 1, '\n'))
    ops += LONG_CHAIN - SHORT_CHAIN; /* several operations a link */
  return ((double)r[1] - r[0]) / ops;
}

/* Threads that the machine runs as one CTA. */
static uint32_t cta_threads(const struct bench *b) {
  return b->c->sm_cta_threads < THREADS ? b->c->sm_cta_threads : THREADS;
}

static double rate(struct bench *b, size_t i) {
  uint32_t threads = cta_threads(b);
  if (!launch(b, i, 1, threads, b->data, TURNS)) return NAN;
  double each = micros[i].kind == MICRO_BANDWIDTH ? micros[i].stride : 1;
  const uint32_t *r = results(b);
  return each * threads * (LONG_RATE - SHORT_RATE) / ((double)r[1] - r[0]);
}

/* First to last clock of all CTAs. */
static double stream(struct bench *b, size_t i) {
  const struct micro *m = &micros[i];
  uint32_t threads = cta_threads(b), ctas = b->c->sms * (b->c->sm_threads / threads), first = UINT32_MAX, last = 0;
  uint64_t bytes = (uint64_t)ctas * threads * m->stride, at = m->warm ? 0 : b->fresh, ops = 4 * STREAM_TURNS;
  if (m->warm && !launch(b, i, ctas, threads, b->data, 1)) return NAN;
  if (!launch(b, i, ctas, threads, b->data + at, STREAM_TURNS)) return NAN;
  b->fresh += m->warm ? 0 : (ops + 4) * bytes;
  const uint32_t *r = results(b);
  for (uint32_t k = 0; k < ctas; k++) {
    if (r[2 * k] < first) first = r[2 * k];
    if (r[2 * k + 1] > last) last = r[2 * k + 1];
  }
  double per_cycle = (double)(bytes * ops * (m->writes ? 2 : 1)) / (last - first);
  return strcmp(m->unit, "GB/s") ? per_cycle : per_cycle * b->c->core_mhz / 1e3;
}

/* Cycles of a load of a chase over `bytes`, a line at a time, when it has been there before. */
static double chase(struct bench *b, size_t i, uint32_t bytes) {
  uint32_t line = b->c->l1d.line, n = bytes / line;
  for (uint32_t k = 0; k < n; k++) point(b, k * line, (k + 1) % n * line);
  if (!launch(b, i, 1, 1, b->data, n)) return NAN;
  return (double)results(b)[0] / n;
}

static double capacity(struct bench *b, size_t i) {
  double fast = chase(b, i, 1024);
  uint32_t fits = 1, most = 512; /* KiB */
  while (fits < most && !b->e->code) {
    uint32_t half = (fits + most + 1) / 2;
    if (chase(b, i, half * 1024) < 1.1 * fast) fits = half;
    else most = half - 1;
  }
  return fits;
}

static double sector(struct bench *b, size_t i) {
  double near = NAN;
  for (uint32_t apart = 4; apart <= 256; apart *= 2) {
    if (!launch(b, i, 1, 1, b->data + b->fresh, apart)) return NAN;
    b->fresh += 4 * 65536;
    double t = results(b)[0];
    if (isnan(near)) near = t;
    if (t > 1.5 * near) return apart;
  }
  return NAN;
}

static double measure(struct bench *b, size_t i) {
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

static double find(const double *result, const char *name) {
  for (size_t i = 0; i < micro_count; i++)
    if (!strcmp(micros[i].name, name)) return result[i];
  return NAN;
}

/* Is it asked for, or what another one needs? */
static bool asked(const struct micro_run *run, const struct micro *m) {
  if (!run->only || !strncmp(m->name, run->only, strlen(run->only))) return true;
  for (size_t i = 0; i < micro_count; i++)
    if (micros[i].less && !strcmp(micros[i].less, m->name) && asked(run, &micros[i])) return true;
  return false;
}

static bool measure_all(struct bench *b, uint32_t cc, const struct micro_run *run, double *result) {
  b->out = simt_mem_alloc(session_simt(b->s), 4096, SIMT_MEM_DEVICE, "results");
  b->data = simt_mem_alloc(session_simt(b->s), DATA, SIMT_MEM_DEVICE, "data");
  if (!b->data)
    return err_set(b->e, ERR_INPUT, "%s has no room for %d MiB of data (memory.size_mb)", b->c->name, DATA / MIB);
  b->fresh = 32 * MIB; /* what stays where it is lies before it */
  for (size_t i = 0; i < micro_count; i++) {
    result[i] = NAN;
    if (micros[i].least_cc > cc || !asked(run, &micros[i])) continue;
    if (run->tell) run->tell(run->ctx, i);
    result[i] = measure(b, i);
    if (b->e->code) return false;
    if (micros[i].less) result[i] -= find(result, micros[i].less);
  }
  return true;
}

bool micro_measure(const struct micro_run *run, double *result, struct err *e) {
  struct session_options so = {.gpu = run->gpu,
                               .sets = run->sets,
                               .set_count = run->set_count,
                               .record_unread = true,
                               .quiet = true,
                               .program = "microbench"};
  struct gpu_config c;
  if (!gpu_config_load(&c, run->gpu ? run->gpu : "fermi", e)) return false;
  for (size_t i = 0; i < run->set_count; i++) {
    char *key = mem_text(run->sets[i]), *value = strchr(key, '=');
    bool ok = value && (*value++ = 0, gpu_config_set(&c, key, value, "--set", e));
    free(key);
    if (!ok) return e->code ? false : err_set(e, ERR_USAGE, "--set %s: KEY=VALUE", run->sets[i]);
  }
  struct bench b = {.c = &c, .e = e, .s = session_open(&so, e)};
  if (!b.s) return false;
  uint32_t cc = c.cc_major * 10 + c.cc_minor;
  char *text = micro_ptx(cc);
  struct simt_text t = {.ptx = text, .name = "microbench"};
  b.module = simt_load(session_simt(b.s), &t, 1, e);
  bool ok = b.module && measure_all(&b, cc, run, result);
  struct err ignored = {0};
  session_close(b.s, ok ? e : &ignored);
  free(text);
  return ok && !e->code;
}

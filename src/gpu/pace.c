/* pace.c - see pace.h. Only now() reads the clock; no result depends on it. */
#include "gpu/pace.h"

#include <string.h>
#include <time.h>

enum { TRIAL = 1 + 2 * PACE_PAIRS, GAIN_PERCENT = 2 };

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + 1;
}

void pace_init(struct pace *p) {
  *p = (struct pace){.on = true, .rest = PACE_KEPT / 2};
}

/* Other work of the host lengthens some chunks. */
static uint64_t median(const uint64_t *ns) {
  for (uint32_t i = 0; i < PACE_PAIRS; i++) {
    uint32_t below = 0, above = 0;
    for (uint32_t k = 0; k < PACE_PAIRS; k++) below += ns[k]<ns[i], above += ns[k]> ns[i];
    if (2 * below < PACE_PAIRS && 2 * above < PACE_PAIRS) return ns[i];
  }
  return 0;
}

static void end_trial(struct pace *p) {
  bool on = median(p->ns[true]) * 100 < median(p->ns[false]) * (100 - GAIN_PERCENT);
  p->rest = on != p->before ? PACE_KEPT : p->rest < PACE_LONGEST ? 2 * p->rest : PACE_LONGEST;
  p->on = p->before = on;
  p->kept = true;
}

/* Chunk 0 of a trial counts for nothing; 1, 3, .. are without windows, 2, 4, .. with them. */
void pace_chunk(struct pace *p, uint64_t ns) {
  uint32_t k = p->chunk++;
  if (p->kept) {
    if (p->chunk < p->rest) return;
    p->kept = false;
    p->on = true;
    p->chunk = 0;
    return;
  }
  if (k) p->ns[p->on][(k - 1) / 2] = ns;
  p->on = k % 2;
  if (p->chunk < TRIAL) return;
  p->chunk = 0;
  end_trial(p);
}

void pace_pause(struct pace *p) {
  if (p->since) p->spent += now() - p->since;
  p->since = 0;
}

void pace_read(struct pace *p) {
  uint64_t t = now();
  if (p->cycles >= PACE_CHUNK) {
    pace_chunk(p, p->spent + (p->since ? t - p->since : 0));
    p->spent = p->cycles = 0;
  }
  p->since = t;
}

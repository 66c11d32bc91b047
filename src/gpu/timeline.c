/* timeline.c - see timeline.h. */
#include "gpu/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/gpu_impl.h"

enum { WARPS = 64 };

void timeline_start(struct gpu *g, uint64_t first, uint64_t last, uint32_t sms) {
  struct gpu_timeline *t = calloc(1, sizeof *t);
  CHECK(t, "out of memory");
  *t = (struct gpu_timeline){.first = first, .last = last, .banks = g->config.dram_banks};
  t->sms = sms && sms < g->config.sms ? sms : g->config.sms;
  t->warp_from = calloc((size_t)g->config.sms * WARPS, sizeof *t->warp_from);
  t->stall = calloc(g->config.sms, sizeof *t->stall);
  CHECK(t->warp_from && t->stall, "out of memory");
  g->seen.timeline = t;
}

void timeline_free(struct gpu_timeline *t) {
  if (!t) return;
  free(t->event);
  free(t->warp_from);
  free(t->stall);
  free(t->name);
  free(t);
}

/* Slices are cut to the window, what lies outside is left out. */
static void add(struct gpu_timeline *t, struct gpu_event e) {
  bool slice = e.kind <= EVENT_STALL;
  if (slice && e.from < t->first) e.from = t->first;
  if (slice && e.to > t->last) e.to = t->last;
  if (e.from < t->first || e.from >= t->last || (slice && e.to <= e.from)) return;
  if (t->count == TIMELINE_EVENTS) {
    t->dropped++;
    return;
  }
  if (t->count == t->room) {
    t->room = t->room ? 2 * t->room : 4096;
    t->event = realloc(t->event, t->room * sizeof *t->event);
    CHECK(t->event, "out of memory for %zu events", t->room);
  }
  t->event[t->count++] = e;
}

void timeline_launch(struct gpu *g) {
  struct gpu_timeline *t = g->seen.timeline;
  t->name = realloc(t->name, (t->names + 1) * sizeof *t->name);
  CHECK(t->name, "out of memory");
  snprintf(t->name[t->names++], sizeof *t->name, "%s", g->kernel->name);
  t->launch_from = g->now;
}

static void close_stall(struct gpu_timeline *t, uint32_t sm) {
  if (t->stall[sm].to) add(t, t->stall[sm]);
  t->stall[sm].to = 0;
}

void timeline_end(struct gpu *g) {
  struct gpu_timeline *t = g->seen.timeline;
  for (uint32_t i = 0; i < t->sms; i++) close_stall(t, i);
  add(t, (struct gpu_event){.kind = EVENT_LAUNCH, .from = t->launch_from, .to = g->now, .value = t->names - 1});
}

void timeline_warp_start(struct sm *s, uint32_t warp) {
  struct gpu_timeline *t = s->g->seen.timeline;
  t->warp_from[s->id * WARPS + warp] = s->g->now;
}

void timeline_warp_end(struct sm *s, uint32_t warp, uint32_t cta) {
  struct gpu_timeline *t = s->g->seen.timeline;
  uint64_t from = t->warp_from[s->id * WARPS + warp];
  if (s->id < t->sms)
    add(t, (struct gpu_event){
               .kind = EVENT_WARP, .from = from, .to = s->g->now, .value = cta, .unit = s->id, .part = (uint16_t)warp});
}

void timeline_stall(struct sm *s, uint64_t from, uint64_t cycles, uint32_t kind) {
  struct gpu_timeline *t = s->g->seen.timeline;
  if (s->id >= t->sms) return;
  struct gpu_event *e = &t->stall[s->id];
  if (e->to == from && e->part == kind) {
    e->to += cycles;
    return;
  }
  close_stall(t, s->id);
  *e =
      (struct gpu_event){.kind = EVENT_STALL, .from = from, .to = from + cycles, .unit = s->id, .part = (uint16_t)kind};
}

void timeline_l1(struct sm *s, uint32_t warp, uint64_t addr, bool miss) {
  struct gpu_timeline *t = s->g->seen.timeline;
  if (s->id >= t->sms || !miss) return;
  struct gpu_event e = {.kind = EVENT_MISS, .from = s->g->now, .value = addr, .unit = s->id, .part = (uint16_t)warp};
  add(t, e);
  e.kind = EVENT_MSHRS;
  e.value = s->l1d.mshrs_busy;
  add(t, e);
}

void timeline_dram(struct gpu *g, uint32_t bank, uint32_t command, uint32_t row) {
  add(g->seen.timeline,
      (struct gpu_event){.kind = EVENT_DRAM, .from = g->now, .value = row, .unit = bank, .part = (uint16_t)command});
}

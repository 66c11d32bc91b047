/* timeline.c - see timeline.h. */
#include "gpu/icnt/icnt.h"
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"
#include "gpu/observe/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/mem/dram.h"
#include "gpu/mem/l2.h"

enum { WARPS = 64 };

static uint32_t queue_units(const struct gpu *g, const struct gpu_timeline *t, uint32_t queue) {
  return queue <= QUEUE_UP ? t->sms : queue == QUEUE_DRAM ? g->config.channels : g->subparts;
}

void timeline_start(struct gpu *g, uint64_t first, uint64_t last, uint32_t sms) {
  struct gpu_timeline *t = mem_zeroed(1, sizeof *t);
  *t = (struct gpu_timeline){.first = first, .last = last, .banks = g->config.dram_banks};
  t->sms = sms && sms < g->config.sms ? sms : g->config.sms;
  t->warp_from = mem_zeroed((size_t)g->config.sms * WARPS, sizeof *t->warp_from);
  t->stall = mem_zeroed(g->config.sms, sizeof *t->stall);
  for (uint32_t q = 0; q < QUEUES; q++) {
    uint32_t n = queue_units(g, t, q);
    t->length[q] = mem_alloc(n * sizeof *t->length[q]);
    memset(t->length[q], 0xff, n * sizeof *t->length[q]);
  }
  g->observed.timeline = t;
}

void timeline_free(struct gpu_timeline *t) {
  if (!t) return;
  free(t->event);
  free(t->warp_from);
  free(t->stall);
  free(t->name);
  for (uint32_t q = 0; q < QUEUES; q++) free(t->length[q]);
  free(t);
}

/* Slices are clipped to the window; events outside it are dropped. */
static void add_event(struct gpu_timeline *t, struct gpu_event e) {
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
    t->event = mem_resize(t->event, t->room, sizeof *t->event);
  }
  t->event[t->count++] = e;
}

void timeline_launch(struct gpu *g, struct gpu_work *k) {
  struct gpu_timeline *t = g->observed.timeline;
  t->name = mem_resize(t->name, t->names + 1, sizeof *t->name);
  snprintf(t->name[t->names++], sizeof *t->name, "%s", k->feed->kernel->name);
  k->name = t->names - 1;
}

static void close_stall(struct gpu_timeline *t, uint32_t sm) {
  if (t->stall[sm].to) add_event(t, t->stall[sm]);
  t->stall[sm].to = 0;
}

void timeline_end(struct gpu *g, const struct gpu_work *k) {
  struct gpu_timeline *t = g->observed.timeline;
  for (uint32_t i = 0; g->works == 1 && i < t->sms; i++) close_stall(t, i);
  add_event(t, (struct gpu_event){
                   .kind = EVENT_LAUNCH, .from = k->start, .to = g->now, .value = k->name, .unit = k->how.stream});
}

void timeline_warp_start(struct sm *s, uint32_t warp) {
  struct gpu_timeline *t = s->g->observed.timeline;
  t->warp_from[s->id * WARPS + warp] = s->g->now;
}

void timeline_warp_end(struct sm *s, uint32_t warp, uint32_t cta) {
  struct gpu_timeline *t = s->g->observed.timeline;
  uint64_t from = t->warp_from[s->id * WARPS + warp];
  if (s->id < t->sms)
    add_event(
        t, (struct gpu_event){
               .kind = EVENT_WARP, .from = from, .to = s->g->now, .value = cta, .unit = s->id, .part = (uint16_t)warp});
}

void timeline_stall(struct sm *s, uint64_t from, uint64_t cycles, uint32_t kind) {
  struct gpu_timeline *t = s->g->observed.timeline;
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
  struct gpu_timeline *t = s->g->observed.timeline;
  if (s->id >= t->sms || !miss) return;
  add_event(t, (struct gpu_event){
                   .kind = EVENT_MISS, .from = s->g->now, .value = addr, .unit = s->id, .part = (uint16_t)warp});
}

void timeline_dram(struct gpu *g, uint32_t bank, uint32_t command, uint32_t row) {
  add_event(
      g->observed.timeline,
      (struct gpu_event){.kind = EVENT_DRAM, .from = g->now, .value = row, .unit = bank, .part = (uint16_t)command});
}

static uint32_t l2_waiting(const struct l2_slice *l) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < l->banks; b++) n += l->bank[b].in.count;
  for (uint32_t p = 0; p < l->ports; p++) n += l->port[p].count;
  return n;
}

/* Flits of replies at the nodes of a sub-partition. */
static uint32_t down_waiting(const struct gpu *g, uint32_t subpart) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < g->config.icnt_ports; k++) n += icnt_waiting(g->icnt, gpu_subpart_node(g, subpart, k));
  return n;
}

static uint32_t queue_length(const struct gpu *g, uint32_t queue, uint32_t unit) {
  switch (queue) {
  case QUEUE_MSHRS:
    return g->sm[unit].l1d.mshrs_busy;
  case QUEUE_UP:
    return icnt_waiting(g->icnt, unit);
  case QUEUE_L2_IN:
    return l2_waiting(partition_slice(g->parts, unit));
  case QUEUE_TO_DRAM:
    return partition_slice(g->parts, unit)->to_dram.count;
  case QUEUE_OUT:
    return partition_slice(g->parts, unit)->out.count;
  case QUEUE_DOWN:
    return down_waiting(g, unit);
  default: {
    const struct dram *d = partition_dram(g->parts, unit);
    return d->pending[0] + d->pending[1];
  }
  }
}

void timeline_queues(struct gpu *g) {
  struct gpu_timeline *t = g->observed.timeline;
  if (g->now < t->first || g->now >= t->last) return;
  for (uint32_t q = 0; q < QUEUES; q++)
    for (uint32_t u = 0, n = queue_units(g, t, q); u < n; u++) {
      uint32_t length = queue_length(g, q, u);
      if (length == t->length[q][u]) continue;
      t->length[q][u] = length;
      add_event(
          t, (struct gpu_event){.kind = EVENT_QUEUE, .from = g->now, .value = length, .unit = u, .part = (uint16_t)q});
    }
}

/* timeline.c - see timeline.h. The messages are packed by protobuf-c from perfetto.proto; a trace is a sequence of
 * packets, each one field of the outermost message, so they are packed in turn.
 */
#include "results/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "gpu/observe/timeline.h"
#include "results/perfetto.pb-c.h"

typedef Sluice__Perfetto__Trace trace_msg;
typedef Sluice__Perfetto__TracePacket packet_msg;
typedef Sluice__Perfetto__TrackEvent event_msg;
typedef Sluice__Perfetto__TrackDescriptor track_msg;

struct out {
  uint8_t *at;
  size_t bytes, room;
};

static void put_packet(struct out *o, packet_msg *p) {
  packet_msg *one[1] = {p};
  trace_msg t = SLUICE__PERFETTO__TRACE__INIT;
  p->has_trusted_packet_sequence_id = 1;
  p->trusted_packet_sequence_id = 1;
  t.n_packet = 1;
  t.packet = one;
  size_t n = sluice__perfetto__trace__get_packed_size(&t);
  while (o->bytes + n > o->room) {
    o->room = o->room ? 2 * o->room : 1 << 20;
    o->at = mem_resize(o->at, o->room, 1);
  }
  o->bytes += sluice__perfetto__trace__pack(&t, o->at + o->bytes);
}

/* Tracks: a group per SM with its stalls, MSHRs, injection buffer and warp slots; the launches; the queues of the L2; a
 * track per DRAM channel's queue and per bank. */
enum {
  UUID_LAUNCHES = 1,
  UUID_DRAM = 2,
  UUID_L2 = 3,
  UUID_STREAM = 100, /* from here on: streams, in the order of their first launch */
  UUID_SM = 1000,
  SM_STRIDE = 100,
  SM_STALL = 90,
  SM_MSHRS = 91,
  SM_UP = 92,
  UUID_BANK = 1000000,
  UUID_QUEUE = 2000000,
  MAX_ROWS = 800,
  QUEUE_STRIDE = 100000
};

static uint64_t queue_track(uint32_t queue, uint32_t unit) {
  if (queue > QUEUE_UP) return UUID_QUEUE + queue * QUEUE_STRIDE + unit;
  return UUID_SM + (uint64_t)unit * SM_STRIDE + (queue == QUEUE_UP ? SM_UP : SM_MSHRS);
}

static void put_track(struct out *o, uint64_t uuid, uint64_t parent, const char *name, const char *unit) {
  packet_msg p = SLUICE__PERFETTO__TRACE_PACKET__INIT;
  track_msg d = SLUICE__PERFETTO__TRACK_DESCRIPTOR__INIT;
  Sluice__Perfetto__CounterDescriptor c = SLUICE__PERFETTO__COUNTER_DESCRIPTOR__INIT;
  d.has_uuid = 1;
  d.uuid = uuid;
  d.name = (char *)name;
  d.has_parent_uuid = parent != 0;
  d.parent_uuid = parent;
  c.unit_name = (char *)unit;
  if (unit) d.counter = &c;
  p.track_descriptor = &d;
  put_packet(o, &p);
}

static void event(struct out *o, uint64_t at, int type, uint64_t track, const char *name, const char *key,
                  uint64_t value) {
  packet_msg p = SLUICE__PERFETTO__TRACE_PACKET__INIT;
  event_msg v = SLUICE__PERFETTO__TRACK_EVENT__INIT;
  Sluice__Perfetto__DebugAnnotation a = SLUICE__PERFETTO__DEBUG_ANNOTATION__INIT, *as[1] = {&a};
  p.has_timestamp = 1;
  p.timestamp = at;
  p.track_event = &v;
  v.has_type = 1;
  v.type = (Sluice__Perfetto__TrackEvent__Type)type;
  v.has_track_uuid = 1;
  v.track_uuid = track;
  v.name = (char *)name;
  if (type == SLUICE__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER) {
    v.has_counter_value = 1;
    v.counter_value = (int64_t)value;
  } else if (key) {
    a.name = (char *)key;
    a.has_uint_value = 1;
    a.uint_value = value;
    v.n_debug_annotations = 1;
    v.debug_annotations = as;
  }
  put_packet(o, &p);
}

#define BEGIN SLUICE__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
#define END SLUICE__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END
#define INSTANT SLUICE__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
#define COUNT SLUICE__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER

static void slice(struct out *o, const struct gpu_event *e, uint64_t track, const char *name, const char *key) {
  event(o, e->from, BEGIN, track, name, key, e->value);
  event(o, e->to, END, track, NULL, NULL, 0);
}

/* Launches of one stream are sequential, except those of a graph, which get further rows. */
struct rows {
  struct launch_row {
    uint32_t stream;
    uint64_t to;
  } at[MAX_ROWS];
  uint32_t used;
};

static uint32_t row_of(struct rows *r, const struct gpu_event *e) {
  uint32_t i = 0;
  while (i < r->used && (r->at[i].stream != e->unit || r->at[i].to > e->from)) i++;
  if (i == MAX_ROWS) return MAX_ROWS - 1;
  if (i == r->used) r->used++;
  r->at[i] = (struct launch_row){e->unit, e->to};
  return i;
}

static void one(struct out *o, const struct gpu_timeline *t, const struct gpu_event *e, const uint32_t *row) {
  static const char *const stalls[] = {"none",       "shared-memory conflict", "constant cache",  "texture cache",
                                       "L1 refusal", "bypass, no room",        "further accesses"};
  static const char *const commands[] = {"activate", "precharge", "read", "write"};
  uint64_t sm = UUID_SM + (uint64_t)e->unit * SM_STRIDE;
  char name[32];
  switch (e->kind) {
  case EVENT_LAUNCH:
    slice(o, e, UUID_STREAM + row[e->value], t->name[e->value], NULL);
    break;
  case EVENT_WARP:
    snprintf(name, sizeof name, "CTA %llu", (unsigned long long)e->value);
    slice(o, e, sm + e->part + 1, name, "cta");
    break;
  case EVENT_STALL:
    slice(o, e, sm + SM_STALL, stalls[e->part], NULL);
    break;
  case EVENT_MISS:
    event(o, e->from, INSTANT, sm + e->part + 1, "L1 miss", "address", e->value);
    break;
  case EVENT_QUEUE:
    event(o, e->from, COUNT, queue_track(e->part, e->unit), NULL, NULL, e->value);
    break;
  default:
    event(o, e->from, INSTANT, UUID_BANK + e->unit, commands[e->part], "row", e->value);
  }
}

static void l2_tracks(struct out *o, const uint32_t *units) {
  static const struct {
    uint32_t queue;
    const char *name, *unit;
  } of[] = {{QUEUE_L2_IN, "input queue", "requests"},
            {QUEUE_TO_DRAM, "queue to DRAM", "requests"},
            {QUEUE_OUT, "replies waiting", "replies"},
            {QUEUE_DOWN, "waiting for the interconnect", "flits"}};
  char name[64];
  if (units[QUEUE_L2_IN]) put_track(o, UUID_L2, 0, "L2", NULL);
  for (uint32_t p = 0; p < units[QUEUE_L2_IN]; p++)
    for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) {
      snprintf(name, sizeof name, "sub-partition %u %s", p, of[i].name);
      put_track(o, queue_track(of[i].queue, p), UUID_L2, name, of[i].unit);
    }
}

static void tracks(struct out *o, const struct gpu_timeline *t, const struct rows *rows) {
  uint64_t warps[256] = {0};
  uint32_t banks = 0, units[QUEUES] = {0};
  char name[48];
  for (size_t i = 0; i < t->count; i++) {
    const struct gpu_event *e = &t->event[i];
    if ((e->kind == EVENT_WARP || e->kind == EVENT_MISS) && e->unit < 256) warps[e->unit] |= 1ull << e->part;
    if (e->kind == EVENT_DRAM && e->unit >= banks) banks = e->unit + 1;
    if (e->kind == EVENT_QUEUE && e->unit >= units[e->part]) units[e->part] = e->unit + 1;
  }
  put_track(o, UUID_LAUNCHES, 0, "kernel launches", NULL);
  for (uint32_t i = 0; i < rows->used; i++) {
    snprintf(name, sizeof name, rows->at[i].stream ? "stream %u" : "default stream", rows->at[i].stream);
    put_track(o, UUID_STREAM + i, UUID_LAUNCHES, name, NULL);
  }
  for (uint32_t s = 0; s < t->sms; s++) {
    uint64_t sm = UUID_SM + (uint64_t)s * SM_STRIDE;
    snprintf(name, sizeof name, "SM %u", s);
    put_track(o, sm, 0, name, NULL);
    put_track(o, sm + SM_STALL, sm, "memory pipe held by", NULL);
    put_track(o, sm + SM_MSHRS, sm, "L1 lines in flight", "lines");
    put_track(o, sm + SM_UP, sm, "waiting for the interconnect", "flits");
    for (uint32_t w = 0; w < 64; w++) {
      snprintf(name, sizeof name, "warp slot %u", w);
      if (warps[s < 256 ? s : 255] >> w & 1) put_track(o, sm + w + 1, sm, name, NULL);
    }
  }
  l2_tracks(o, units);
  if (banks || units[QUEUE_DRAM]) put_track(o, UUID_DRAM, 0, "DRAM", NULL);
  for (uint32_t c = 0; c < units[QUEUE_DRAM]; c++) {
    snprintf(name, sizeof name, "channel %u queue", c);
    put_track(o, queue_track(QUEUE_DRAM, c), UUID_DRAM, name, "requests");
  }
  for (uint32_t b = 0; b < banks; b++) {
    snprintf(name, sizeof name, "channel %u bank %u", b / t->banks, b % t->banks);
    put_track(o, UUID_BANK + b, UUID_DRAM, name, NULL);
  }
}

static int by_start(const void *a, const void *b) {
  const struct gpu_event *const *p = a, *const *q = b;
  if ((*p)->from != (*q)->from) return (*p)->from < (*q)->from ? -1 : 1;
  return ((*p)->value > (*q)->value) - ((*p)->value < (*q)->value);
}

/* The row of each launch, by its number. */
static uint32_t *place_launches(const struct gpu_timeline *t, struct rows *rows) {
  const struct gpu_event **all = mem_zeroed(t->count + 1, sizeof *all);
  uint32_t *row = mem_zeroed(t->names + 1u, sizeof *row), n = 0;
  for (size_t i = 0; i < t->count; i++)
    if (t->event[i].kind == EVENT_LAUNCH) all[n++] = &t->event[i];
  qsort(all, n, sizeof *all, by_start);
  for (uint32_t i = 0; i < n; i++) row[all[i]->value] = row_of(rows, all[i]);
  free(all);
  return row;
}

bool timeline_write(const struct gpu_timeline *t, const char *path, struct err *e) {
  struct out o = {0};
  struct rows rows = {0};
  uint32_t *row = place_launches(t, &rows);
  tracks(&o, t, &rows);
  for (size_t i = 0; i < t->count; i++) one(&o, t, &t->event[i], row);
  free(row);
  bool ok = path_write_whole(path, o.at, o.bytes);
  if (!ok) output_failed(path, errno, e);
  free(o.at);
  return ok;
}

/* timeline.h - events in a window of core cycles: warps, stalls of the memory pipes, L1 misses, queue lengths, DRAM
 * commands. `sluice run --timeline` turns it into a Perfetto trace (results/timeline.h).
 *
 * Without a timeline each of these places tests one pointer, beside the tests of other observers.
 */
#ifndef GPU_OBSERVE_TIMELINE_H
#define GPU_OBSERVE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_event_kind {
  EVENT_LAUNCH, /* slice: value is the index of its name */
  EVENT_WARP,   /* slice: unit SM, part warp slot, value CTA */
  EVENT_STALL,  /* slice: unit SM, part enum stall_kind */
  EVENT_MISS,   /* instant: unit SM, part warp slot, value address */
  EVENT_DRAM,   /* instant: unit bank over all channels, part enum dram_command, value row */
  EVENT_QUEUE   /* counter: unit of the queue's kind, part enum gpu_queue, value requests or flits in it */
};
/* Queues whose length is a track: one per SM, sub-partition (over all channels), or channel. */
enum gpu_queue {
  QUEUE_MSHRS,   /* SM: L1 lines in flight */
  QUEUE_UP,      /* SM: flits in the injection buffer */
  QUEUE_L2_IN,   /* sub-partition: requests in front of the L2, after the ROP delay */
  QUEUE_TO_DRAM, /* sub-partition: requests that leave the L2 for its channel */
  QUEUE_OUT,     /* sub-partition: replies that wait for room in the interconnect */
  QUEUE_DOWN,    /* sub-partition: flits in the injection buffer */
  QUEUE_DRAM,    /* channel: requests visible to the scheduler */
  QUEUES
};
struct gpu_event {
  uint64_t from, to, value; /* core cycles; `to`: slices only */
  uint32_t unit;
  uint16_t part;
  uint8_t kind;
};

enum { TIMELINE_EVENTS = 2000000, TIMELINE_NAME = 96 };
struct gpu_timeline {
  uint64_t first, last; /* window: core cycles since the machine was built, last excluded */
  uint32_t sms;         /* number of SMs observed, from 0 */
  uint32_t banks;       /* of one channel */
  struct gpu_event *event;
  size_t count, room;
  uint64_t dropped; /* events beyond TIMELINE_EVENTS */
  uint64_t *warp_from;
  uint32_t *length[QUEUES]; /* last written, UINT32_MAX: none yet */
  struct gpu_event *stall;  /* per SM: the slice that may continue; to 0: none */
  char (*name)[TIMELINE_NAME];
  uint32_t names;
};

struct gpu;
struct sm;
void timeline_start(struct gpu *g, uint64_t first, uint64_t last, uint32_t sms);
void timeline_free(struct gpu_timeline *t);
struct gpu_work;
void timeline_launch(struct gpu *g, struct gpu_work *k);
void timeline_end(struct gpu *g, const struct gpu_work *k); /* of a launch */
void timeline_warp_start(struct sm *s, uint32_t warp);
void timeline_warp_end(struct sm *s, uint32_t warp, uint32_t cta);
void timeline_stall(struct sm *s, uint64_t from, uint64_t cycles, uint32_t kind);
void timeline_l1(struct sm *s, uint32_t warp, uint64_t addr, bool miss);
/* After every tick: lengths that changed. Sleeping units are included; their queues do not change. */
void timeline_queues(struct gpu *g);
void timeline_dram(struct gpu *g, uint32_t bank, uint32_t command, uint32_t row);

#endif

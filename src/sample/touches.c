/* touches.c - see touches.h. */
#include "sample/touches.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Accesses that are kept at most: 64 MiB. With more the CTAs at hand end together. */
enum { MOST_KEPT = 1 << 22 };

/* A CTA beside others. */
struct place {
  struct touched *touch;
  uint32_t room, n, next;
  uint64_t start, end;
};

/* Of a place the time of its next access, or of its end. */
struct event {
  uint64_t time;
  uint32_t place;
};

struct touches {
  touches_sink *sink;
  void *ctx;
  uint32_t side, places; /* places that were ever used */
  struct place *place;
  struct event *heap; /* of the CTAs that run, the earliest first */
  uint32_t running;
  uint64_t kept;
};

/* ---- the heap ---- */

static bool before(const struct event *a, const struct event *b) {
  return a->time != b->time ? a->time < b->time : a->place < b->place;
}

static void sink_down(struct touches *t) {
  struct event *h = t->heap, moved = h[0];
  uint32_t i = 0;
  for (uint32_t k; (k = 2 * i + 1) < t->running; i = k) {
    if (k + 1 < t->running && before(&h[k + 1], &h[k])) k++;
    if (!before(&h[k], &moved)) break;
    h[i] = h[k];
  }
  h[i] = moved;
}

static void add_event(struct touches *t, struct event e) {
  struct event *h = t->heap;
  uint32_t i = t->running++;
  for (; i && before(&e, &h[(i - 1) / 2]); i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
  h[i] = e;
}

/* ---- CTAs ---- */

static void emit(const struct touches *t, const struct touched *p, uint32_t place) {
  struct touched_line l = touched_line(p->what, place);
  t->sink(t->ctx, &l);
}

static uint64_t next_time(const struct place *p) {
  return p->next < p->n ? p->start + p->touch[p->next].at : p->end;
}

/* Up to the end of the first CTA that ends; its place. */
static uint32_t run_to_end(struct touches *t) {
  for (;;) {
    struct event *e = &t->heap[0];
    struct place *p = &t->place[e->place];
    if (p->next == p->n) {
      uint32_t ended = e->place;
      t->heap[0] = t->heap[--t->running];
      sink_down(t);
      t->kept -= p->n;
      return ended;
    }
    emit(t, &p->touch[p->next++], e->place);
    e->time = next_time(p);
    sink_down(t);
  }
}

static int by_time(const void *a, const void *b) {
  const struct touched *p = a, *q = b;
  if (p->at != q->at) return p->at < q->at ? -1 : 1;
  return (p->place > q->place) - (p->place < q->place);
}

/* Mostly one warp's, or warps' that run at the same pace: often sorted. */
static void sort(const struct touched_cta *c) {
  for (uint32_t i = 1; i < c->n; i++) {
    if (c->touch[i].at >= c->touch[i - 1].at) continue;
    qsort(c->touch, c->n, sizeof *c->touch, by_time);
    return;
  }
}

static void occupy(struct touches *t, uint32_t place, uint64_t time, const struct touched_cta *c) {
  struct place *p = &t->place[place];
  if (c->n > p->room) {
    p->room = c->n;
    p->touch = mem_resize(p->touch, p->room, sizeof *p->touch);
  }
  if (c->n) memcpy(p->touch, c->touch, c->n * sizeof *p->touch);
  p->n = c->n;
  p->next = 0;
  p->start = time;
  p->end = time + c->end;
  t->kept += c->n;
  add_event(t, (struct event){next_time(p), place});
}

/* ---- for callers ---- */

struct touches *touches_new(void) {
  return mem_zeroed(1, sizeof(struct touches));
}

void touches_free(struct touches *t) {
  if (!t) return;
  for (uint32_t i = 0; i < t->places; i++) free(t->place[i].touch);
  free(t->place);
  free(t->heap);
  free(t);
}

void touches_begin(struct touches *t, uint32_t side, touches_sink *sink, void *ctx) {
  t->sink = sink;
  t->ctx = ctx;
  t->side = side ? side : 1;
  t->running = 0;
  t->kept = 0;
  if (t->side <= t->places) return;
  t->place = mem_resize(t->place, t->side, sizeof *t->place);
  t->heap = mem_resize(t->heap, t->side, sizeof *t->heap);
  memset(&t->place[t->places], 0, (t->side - t->places) * sizeof *t->place);
  t->places = t->side;
}

void touches_cta(struct touches *t, const struct touched_cta *c) {
  sort(c);
  if (t->kept + c->n > MOST_KEPT) touches_flush(t);
  if (t->running < t->side) {
    occupy(t, t->running, 0, c);
    return;
  }
  uint32_t place = run_to_end(t);
  occupy(t, place, t->place[place].end, c);
}

void touches_part(struct touches *t, const struct touched_cta *c) {
  sort(c);
  touches_flush(t);
  for (uint32_t i = 0; i < c->n; i++) emit(t, &c->touch[i], c->place);
}

void touches_flush(struct touches *t) {
  while (t->running) run_to_end(t);
}

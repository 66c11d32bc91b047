/* reuse.c - see reuse.h. Each line has one mark in the tree, at the time of its last access: the marks after it are
 * the distinct lines accessed since. When the times are used up, the marks are renumbered in order.
 */
#include "gpu/common/reuse.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/hash.h"

enum { REUSE_START = 256, REUSE_ROOM = 4 /* times per line after a move */ };

struct reuse_line {
  uint64_t line;
  uint32_t last, count; /* count 0: empty place */
  bool stored;
};

const char *const reuse_count_names[REUSE_COUNTS] = {"0", "1", "2", "3", "4-7", "8-15", "16 and more"};

static struct reuse_line *find_line(const struct reuse_stream *s, uint64_t line) {
  uint32_t i = (uint32_t)hash_u64(line) & (s->size - 1);
  while (s->line[i].count && s->line[i].line != line) i = (i + 1) & (s->size - 1);
  return &s->line[i];
}

static void grow_lines(struct reuse_stream *s) {
  struct reuse_stream old = *s;
  s->size = old.size ? 2 * old.size : REUSE_START;
  s->line = mem_zeroed(s->size, sizeof *s->line);
  for (uint32_t i = 0; i < old.size; i++)
    if (old.line[i].count) *find_line(s, old.line[i].line) = old.line[i];
  free(old.line);
}

static void mark(struct reuse_stream *s, uint32_t at, uint32_t by) {
  for (; at <= s->times; at += at & -at) s->tree[at] += by;
}

static uint32_t marks_up_to(const struct reuse_stream *s, uint32_t at) {
  uint32_t n = 0;
  for (; at; at -= at & -at) n += s->tree[at];
  return n;
}

/* Renumber the times of last accesses 1, 2, ... in order, with free times behind them. */
static void make_room(struct reuse_stream *s) {
  uint32_t *at = mem_zeroed((size_t)s->times + 1, sizeof *at), next = 0;
  for (uint32_t i = 0; i < s->size; i++)
    if (s->line[i].count && s->line[i].last) at[s->line[i].last] = i + 1;
  for (uint32_t t = 1; t <= s->times; t++)
    if (at[t]) s->line[at[t] - 1].last = ++next;
  free(at);
  free(s->tree);
  s->times = REUSE_START;
  while (s->times < REUSE_ROOM * (next + 1)) s->times *= 2;
  s->tree = mem_zeroed((size_t)s->times + 1, sizeof *s->tree);
  for (uint32_t t = 1; t <= next; t++) mark(s, t, 1);
  s->now = next;
}

uint64_t reuse_access(struct reuse_stream *s, uint64_t line, struct reuse_histogram *h) {
  if (2 * (s->used + 1) > s->size) grow_lines(s);
  if (s->now == s->times) make_room(s);
  struct reuse_line *l = find_line(s, line);
  uint64_t distance = REUSE_FIRST;
  if (l->count) {
    distance = s->used - marks_up_to(s, l->last);
    uint32_t bucket = distance ? 64 - (uint32_t)__builtin_clzll(distance) : 0;
    h->distance[bucket < REUSE_DISTANCES ? bucket : REUSE_DISTANCES - 1]++;
    mark(s, l->last, UINT32_MAX); /* minus one */
  } else {
    *l = (struct reuse_line){.line = line};
    s->used++;
    h->first++;
  }
  l->count++;
  l->last = ++s->now;
  l->stored = false;
  mark(s, l->last, 1);
  return distance;
}

void reuse_store(struct reuse_stream *s, uint64_t line) {
  struct reuse_line *l = s->size ? find_line(s, line) : NULL;
  if (l && l->count) l->stored = true;
}

bool reuse_stored(const struct reuse_stream *s, uint64_t line) {
  return s->size && find_line(s, line)->stored;
}

void reuse_end(struct reuse_stream *s, struct reuse_histogram *h) {
  for (uint32_t i = 0; i < s->size; i++) {
    uint32_t n = s->line[i].count, again = n - 1;
    if (!n) continue;
    uint32_t bucket = again < 4 ? again : again < 8 ? 4 : again < 16 ? 5 : 6;
    h->lines[bucket]++;
    h->accesses[bucket] += n;
  }
  if (s->size) memset(s->line, 0, s->size * sizeof *s->line);
  if (s->times) memset(s->tree, 0, ((size_t)s->times + 1) * sizeof *s->tree);
  s->used = s->now = 0;
}

void reuse_free(struct reuse_stream *s) {
  free(s->line);
  free(s->tree);
  *s = (struct reuse_stream){0};
}

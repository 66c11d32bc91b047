/* future.h - the accesses of a first run, recorded for a second one that knows its future: for schemes belady and
 * l2-belady.
 *
 * profile.file: a mark of 8 bytes, then words of 64 bits in the order of events: kind in 2 bits, unit (SM or
 * sub-partition) in 12, value in 50. Accesses are those of a launch, a unit and a line, in order. The second run counts
 * its accesses of a line: the next use of a line after n accesses is the place of the recorded access n in the order
 * of the launch.
 */
#ifndef SCHEMES_LIB_FUTURE_H
#define SCHEMES_LIB_FUTURE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "gpu/scheme.h"

enum future_kind { FUTURE_LAUNCH, FUTURE_ACCESS, FUTURE_CTA };
enum { FUTURE_MARK = 8, FUTURE_UNIT_SHIFT = 50, FUTURE_KIND_SHIFT = 62 };
#define FUTURE_NEVER UINT64_MAX

struct future_line { /* the accesses of a line: places [first, first + total) of `place` */
  uint64_t key;      /* unit and line, plus 1; 0: empty */
  uint32_t first, total, done;
};

struct future {
  uint64_t *word; /* all events */
  size_t words, room, at;
  /* of the present launch, in the second run */
  struct future_line *line; /* hash table of `size` */
  uint32_t *place;
  size_t size;
};

static inline uint64_t future_word(enum future_kind kind, uint32_t unit, uint64_t value) {
  return (uint64_t)kind << FUTURE_KIND_SHIFT | (uint64_t)unit << FUTURE_UNIT_SHIFT | value;
}
static inline enum future_kind future_kind(uint64_t word) {
  return (enum future_kind)(word >> FUTURE_KIND_SHIFT);
}

static inline void future_record(struct future *f, enum future_kind kind, uint32_t unit, uint64_t value) {
  if (f->words == f->room) f->word = mem_resize(f->word, f->room = f->room ? 2 * f->room : 4096, sizeof *f->word);
  f->word[f->words++] = future_word(kind, unit, value);
}

/* ---- the file ---- */

/* `scheme` names it in errors; `mark`: 8 bytes that begin its file. */
static inline bool future_init(struct scheme_ctx *c, struct future *f, const char *scheme, const char *mark,
                               bool second, struct err *e) {
  const char *path = c->config->profile;
  size_t bytes;
  if (!second) return !*path || output_prepare(path, e);
  if (!*path)
    return err_set(e, ERR_USAGE,
                   "scheme %s: run=2 needs the accesses of a run=1: name their file, --set profile.file=F", scheme);
  char *data = input_read(path, INPUT_DATA_MOST, &bytes, e);
  if (!data) return false;
  bool ok = bytes >= FUTURE_MARK && !memcmp(data, mark, FUTURE_MARK) && !(bytes % sizeof *f->word);
  f->words = ok ? (bytes - FUTURE_MARK) / sizeof *f->word : 0;
  f->word = mem_alloc(bytes);
  memcpy(f->word, data + FUTURE_MARK, f->words * sizeof *f->word);
  free(data);
  for (size_t i = 0; i < f->words; i++) ok &= future_kind(f->word[i]) <= FUTURE_CTA;
  return ok || err_set(e, ERR_INPUT, "%s: not a file written by scheme %s", path, scheme);
}

static inline void future_finish(struct scheme_ctx *c, struct future *f, const char *mark, bool second, struct err *e) {
  const char *path = c->config->profile;
  if (!second && *path) {
    size_t bytes = FUTURE_MARK + f->words * sizeof *f->word;
    char *data = mem_alloc(bytes);
    memcpy(data, mark, FUTURE_MARK);
    if (f->words) memcpy(data + FUTURE_MARK, f->word, f->words * sizeof *f->word);
    if (!path_write_whole(path, data, bytes)) output_failed(path, errno, e);
    free(data);
  }
  free(f->word);
  free(f->line);
  free(f->place);
  *f = (struct future){0};
}

/* ---- the second run ---- */

static inline struct future_line *future_find(const struct future *f, uint32_t unit, uint64_t line) {
  uint64_t key = ((uint64_t)unit << FUTURE_UNIT_SHIFT | line) + 1;
  for (size_t i = hash_u64(key) & (f->size - 1);; i = (i + 1) & (f->size - 1))
    if (f->line[i].key == key || !f->line[i].key) return &f->line[i];
}

static inline struct future_line *future_of(const struct future *f, uint64_t word) {
  enum { UNITS = (1 << (FUTURE_KIND_SHIFT - FUTURE_UNIT_SHIFT)) - 1 };
  uint32_t unit = (uint32_t)(word >> FUTURE_UNIT_SHIFT) & UNITS;
  uint64_t line = word & ((1ull << FUTURE_UNIT_SHIFT) - 1);
  struct future_line *l = future_find(f, unit, line);
  l->key = ((uint64_t)unit << FUTURE_UNIT_SHIFT | line) + 1;
  return l;
}

/* The next launch begins: index its accesses. Returns the first of its events, `n`: how many. */
static inline const uint64_t *future_launch(struct future *f, size_t *n) {
  size_t from = f->at, to, accesses = 0;
  while (from < f->words && future_kind(f->word[from]) != FUTURE_LAUNCH) from++;
  from += from < f->words;
  for (to = from; to < f->words && future_kind(f->word[to]) != FUTURE_LAUNCH; to++)
    accesses += future_kind(f->word[to]) == FUTURE_ACCESS;
  CHECK(accesses < UINT32_MAX / 4, "a launch of %zu accesses is too long to look ahead", accesses);
  f->at = to;
  free(f->line);
  free(f->place);
  for (f->size = 16; f->size < 2 * accesses;) f->size *= 2;
  f->line = mem_zeroed(f->size, sizeof *f->line);
  f->place = mem_alloc(accesses * sizeof *f->place + 1);
  for (size_t i = from; i < to; i++)
    if (future_kind(f->word[i]) == FUTURE_ACCESS) future_of(f, f->word[i])->total++;
  uint32_t first = 0, order = 0;
  for (size_t i = 0; i < f->size; i++) f->line[i].first = first, first += f->line[i].total;
  for (size_t i = from; i < to; i++) {
    if (future_kind(f->word[i]) != FUTURE_ACCESS) continue;
    struct future_line *l = future_of(f, f->word[i]);
    f->place[l->first + l->done++] = order++;
  }
  for (size_t i = 0; i < f->size; i++) f->line[i].done = 0;
  *n = to - from;
  return f->word + from;
}

static inline void future_used(struct future *f, uint32_t unit, uint64_t line) {
  struct future_line *l = future_find(f, unit, line);
  if (l->key) l->done++;
}

/* When the line is used next; `beyond` further uses of it come before. */
static inline uint64_t future_next(const struct future *f, uint32_t unit, uint64_t line, uint32_t beyond) {
  const struct future_line *l = f->size ? future_find(f, unit, line) : NULL;
  return l && l->key && l->done + beyond < l->total ? f->place[l->first + l->done + beyond] : FUTURE_NEVER;
}

/* The usable way whose line is used last; -1 if `bypass` and the new line is used later than all of them. */
static inline int future_victim(const struct future *f, uint32_t unit, const struct cache_set *s, uint64_t line,
                                bool bypass) {
  int best = -1;
  uint64_t latest = 0;
  for (uint32_t w = 0; w < s->ways; w++) {
    if (!(s->usable >> w & 1)) continue;
    uint64_t next = future_next(f, unit, s->tag[w], 0);
    if (best < 0 || next > latest || (next == latest && s->used[w] < s->used[best])) best = (int)w, latest = next;
  }
  return bypass && future_next(f, unit, line, 1) > latest ? -1 : best;
}

#endif

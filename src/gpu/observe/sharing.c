/* sharing.c - blocks shared by CTAs and SMs, and how long CTAs run. See l2.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/hash.h"
#include "gpu/observe/observe.h"
#include "gpu/observe/character.h"

enum { BLOCK_SHIFT = 7, LATE = 1000 /* cycles; sharing-aware management, section VI-C */ };

const char *const gpu_distance_names[DISTANCE_BINS] = {"1", "2-4", "5-9", "10-19", "20-49", "50-99", "100-"};

static uint32_t distance_bin(uint32_t d) {
  static const uint32_t from[DISTANCE_BINS] = {1, 2, 5, 10, 20, 50, 100};
  uint32_t bin = 0;
  while (bin + 1 < DISTANCE_BINS && d >= from[bin + 1]) bin++;
  return bin;
}

/* ---- the table of blocks ---- */

static struct observed_block *place_of(struct observed_block *table, uint32_t room, uint64_t line) {
  uint32_t i = (uint32_t)(hash_u64(line) & (room - 1));
  while (table[i].line && table[i].line != line) i = (i + 1) & (room - 1);
  return &table[i];
}

static void grow_owners(struct l2_observer *o) {
  uint32_t room = o->block_room ? 2 * o->block_room : 1 << 14;
  struct observed_block *table = mem_zeroed(room, sizeof *table);
  for (uint32_t i = 0; i < o->block_room; i++)
    if (o->block[i].line) *place_of(table, room, o->block[i].line) = o->block[i];
  free(o->block);
  o->block = table;
  o->block_room = room;
}

static struct observed_block *block_of(struct l2_observer *o, uint64_t addr) {
  if (2 * o->blocks >= o->block_room) grow_owners(o);
  uint64_t line = (addr >> BLOCK_SHIFT) + 1;
  struct observed_block *b = place_of(o->block, o->block_room, line);
  if (b->line) return b;
  o->blocks++;
  *b = (struct observed_block){.line = line, .last_cta = UINT32_MAX, .distance = UINT32_MAX};
  return b;
}

/* ---- events ---- */

void observe_block(struct sm *s, uint32_t op, uint64_t addr, enum l1_outcome out) {
  const struct op *o = &s->op[op];
  if (o->space != SPACE_GLOBAL) return;
  struct observed_block *b = block_of(s->g->observed.l2, addr);
  b->sms |= 1ull << s->id % 64; /* beyond 64 SMs, two share a bit */
  if (b->last_cta != UINT32_MAX && b->last_cta != o->cta) {
    uint32_t d = b->last_cta > o->cta ? b->last_cta - o->cta : o->cta - b->last_cta;
    if (d < b->distance) b->distance = d;
  }
  b->last_cta = o->cta;
  if (!o->load || o->atomic) return;
  b->loads++;
  b->hits += out == L1_HIT;
  b->merges += out == L1_PENDING;
  if (!b->filled || out == L1_PENDING) return;
  b->reuses++;
  b->late += s->g->now - b->filled >= LATE;
}

void observe_fill(struct sm *s, uint64_t addr, bool local) {
  if (!local) block_of(s->g->observed.l2, addr)->filled = s->g->now;
}

void observe_cta(struct gpu *g, uint32_t sm, uint32_t slot) {
  g->observed.l2->cta_start[sm * OBSERVED_CTAS + slot] = g->now;
}

void observe_cta_done(struct gpu *g, uint32_t sm, uint32_t slot) {
  struct l2_observer *o = g->observed.l2;
  uint64_t t = g->now - o->cta_start[sm * OBSERVED_CTAS + slot];
  if (!o->character.sums.ctas || t < o->shortest) o->shortest = t;
  if (t > o->longest) o->longest = t;
  o->character.sums.ctas++;
  o->character.sums.cta_cycles += t;
}

/* ---- a launch ---- */

void observe_sharing_begin(struct l2_observer *o) {
  if (o->block_room) memset(o->block, 0, o->block_room * sizeof *o->block);
  o->blocks = 0;
  o->shortest = o->longest = 0;
}

void observe_sharing_end(struct l2_observer *o) {
  struct gpu_l2_sums *s = &o->character.sums;
  for (uint32_t i = 0; i < o->block_room; i++) {
    const struct observed_block *b = &o->block[i];
    if (!b->line) continue;
    uint32_t sharers = (uint32_t)__builtin_popcountll(b->sms);
    if (!sharers) continue; /* prefetched or filled only */
    s->blocks++;
    s->sharers[sharers]++;
    if (b->distance != UINT32_MAX) s->cta_shared++, s->distance[distance_bin(b->distance)]++;
    if (sharers < 2) continue;
    s->shared_loads += b->loads;
    s->shared_hits += b->hits;
    s->shared_merges += b->merges;
    s->reuses += b->reuses;
    s->late_reuses += b->late;
  }
  s->cta_mean = s->ctas ? s->cta_cycles / s->ctas : 0;
  s->cta_shortest = o->shortest;
  s->cta_longest = o->longest;
  s->launches = 1;
}

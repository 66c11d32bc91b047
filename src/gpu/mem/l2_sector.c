/* l2_sector.c - the L2 of GPUs since Volta: lines of 128 B with sectors of 32 B that are fetched, stored and written
 * back individually (l2.organisation: sector).
 *
 * A missing load requests from DRAM the sectors that are absent and not requested yet, in whole DRAM bursts. One MSHR
 * holds all loads that wait for a line; they leave when no sector is pending, so an early load may wait for sectors of
 * a later one. A store is acknowledged at once and fetches nothing: a fully covered sector becomes readable; the rest
 * of a partly covered sector is fetched when it is read (Accel-Sim, "lazy fetch on read"). A sector written in parts
 * by several stores counts as partial even if together they cover it. Evicting a line writes its dirty sectors back.
 */
#include "gpu/mem/l2_prefetch.h"

enum { SECTOR = 32 };

/* Sectors of its line that a request touches. */
uint32_t l2_request_sectors(const struct l2_slice *s, const struct req *r) {
  if (r->sectors) return r->sectors;
  uint32_t line = 1u << s->tags.shift, first = (uint32_t)(r->addr & (line - 1)) / SECTOR;
  uint32_t end = ((uint32_t)(r->addr & (line - 1)) + r->bytes + SECTOR - 1) / SECTOR;
  if (end > line / SECTOR) end = line / SECTOR;
  return ((1u << end) - 1) & ~((1u << first) - 1);
}

/* Sectors per DRAM burst, and the bytes of the bursts that contain some sectors. */
static uint32_t burst_sectors(const struct l2_slice *s) {
  const struct gpu_config *c = s->env->config;
  uint32_t burst = c->dram_bus_bytes * c->dram_chips * c->dram_burst, line = 1u << s->tags.shift;
  return burst <= SECTOR ? 1 : (burst < line ? burst : line) / SECTOR;
}
static uint32_t in_bursts(const struct l2_slice *s, uint32_t sectors) {
  uint32_t per = burst_sectors(s), all = 0;
  for (uint32_t k = 0; sectors >> k; k += per) {
    uint32_t one = ((1u << per) - 1) << k;
    if (sectors & one) all |= one;
  }
  return all;
}
uint16_t l2_burst_bytes(const struct l2_slice *s, uint32_t sectors) {
  return (uint16_t)(SECTOR * (uint32_t)__builtin_popcount(in_bursts(s, sectors)));
}

/* Allocate `line` for the address of `op`, empty. */
static void take_line(struct l2_slice *s, struct l2_bank *b, uint32_t line, const struct l2_op *op) {
  struct l2_tags *t = &s->tags;
  uint32_t dirty = t->dirty[line];
  req_id wb = l2_evict(s, line, op->r, op->set);
  if (wb) {
    s->env->pool->at[wb].bytes = l2_burst_bytes(s, dirty);
    s->env->pool->at[wb].sectors = (uint8_t)dirty;
    s->env->stats->l2_sectors_written += (uint32_t)__builtin_popcount(dirty);
    l2_to_dram(s, b, wb, op->set);
  }
  t->tag[line] = s->env->pool->at[op->r].addr >> t->shift << t->shift;
  t->valid[line] = t->dirty[line] = t->pending[line] = 0;
  l2_tags_stamp(t, line, *s->env->now, true);
}

/* More lines of the set are dirty than may be: write back the one of them used longest ago, if there is room. */
static void limit_dirty(struct l2_slice *s, struct l2_bank *b, const struct l2_op *op, uint32_t just) {
  struct l2_tags *t = &s->tags;
  uint32_t base = op->set * t->ways, most = t->ways * s->env->config->l2_dirty / 100, n = 0, oldest = L2_NONE;
  for (uint32_t k = base; k < base + t->ways; k++) {
    if (t->state[k] != L2_DIRTY) continue;
    n++;
    if (k != just && (oldest == L2_NONE || t->stamp[k] < t->stamp[oldest])) oldest = k;
  }
  if (n <= most || oldest == L2_NONE || !l2_miss_room(b, 0)) return;
  uint32_t dirty = t->dirty[oldest];
  req_id wb = l2_write_back(s, oldest);
  struct req *w = &s->env->pool->at[wb];
  w->bytes = l2_burst_bytes(s, dirty);
  w->sectors = (uint8_t)dirty;
  s->env->stats->l2_sectors_written += (uint32_t)__builtin_popcount(dirty);
  l2_to_dram(s, b, wb, op->set);
  t->dirty[oldest] = 0;
  t->state[oldest] = L2_VALID;
}

static void use_port(struct l2_slice *s, struct l2_bank *b, uint32_t bytes) {
  uint32_t width = s->env->config->l2_port_bytes;
  b->data_free = s->t + (bytes + width - 1) / width;
}

static void use_port_for_atomic(struct l2_slice *s, struct l2_bank *b, const struct req *r) {
  uint32_t most = b->atomic_part + s->env->config->l2_atomic * (1u + r->repeats);
  if (b->data_free < s->t + most / 100) b->data_free = s->t + most / 100;
  b->atomic_part = (uint8_t)(most % 100);
}

static enum l2_outcome store_sectors(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                                     bool *reply) {
  struct l2_tags *t = &s->tags;
  struct req *r = &s->env->pool->at[op->r];
  bool through = s->env->config->l2_write == WRITE_THROUGH || l2_away(s, r->addr), absent = *line == L2_NONE,
       no_line = false;
  uint32_t mask = l2_request_sectors(s, r), whole = r->type == REQ_L1_WRITEBACK ? mask : mask & r->whole,
           bytes = r->bytes;
  if ((through || absent) && !l2_miss_room(b, 0)) return L2_REFUSED;
  if (absent && through) {
    l2_to_dram(s, b, op->r, op->set);
    return L2_MISS;
  }
  if (absent) {
    *line = l2_victim(s, r, op->set, &no_line);
    if (*line == L2_NONE && !no_line) return L2_REFUSED;
    if (no_line) {
      l2_to_dram(s, b, op->r, op->set);
      return L2_BYPASSED;
    }
    take_line(s, b, *line, op);
    t->state[*line] = L2_DIRTY;
  }
  s->env->stats->l2_sectors_stored += (uint32_t)__builtin_popcount(mask);
  uint32_t known = t->valid[*line] | t->dirty[*line] | t->pending[*line];
  t->valid[*line] |= (uint8_t)whole;
  if (through) {
    l2_to_dram(s, b, op->r, op->set);
  } else {
    t->dirty[*line] |= (uint8_t)mask;
    if (t->state[*line] == L2_VALID) t->state[*line] = L2_DIRTY;
    *reply = true;
  }
  l2_tags_stamp(t, *line, *s->env->now, false);
  use_port(s, b, bytes);
  if (!through && s->env->config->l2_dirty < 100 && t->state[*line] == L2_DIRTY) limit_dirty(s, b, op, *line);
  if (!(mask & ~known)) return L2_HIT;
  s->env->stats->l2_sector_misses += !absent;
  return L2_MISS;
}

/* Loads and atomics. */
static enum l2_outcome load_sectors(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                                    bool *reply) {
  struct l2_tags *t = &s->tags;
  struct req *r = &s->env->pool->at[op->r];
  uint32_t mask = l2_request_sectors(s, r), valid = 0, pending = 0;
  bool absent = *line == L2_NONE, atomic = r->atomic, no_line = false, ahead = r->type == REQ_L2_PREFETCH;
  if (!absent) valid = t->valid[*line], pending = t->pending[*line];
  uint32_t missing = mask & ~valid & ~pending;
  if (!(mask & ~valid)) {
    l2_tags_stamp(t, *line, *s->env->now, false);
    use_port(s, b, r->bytes);
    if (atomic) use_port_for_atomic(s, b, r);
    *reply = true;
  } else {
    if (missing && !l2_miss_room(b, absent)) return L2_REFUSED;
    if (pending ? b->mshrs.at[t->mshr[*line]].merged >= b->mshrs.merges : b->mshrs.used >= b->mshrs.limit)
      return L2_REFUSED;
    if (absent) {
      *line = l2_victim(s, r, op->set, &no_line);
      if (*line == L2_NONE && !no_line) return L2_REFUSED;
      if (no_line) {
        if (!ahead) l2_to_dram(s, b, op->r, op->set);
        return L2_BYPASSED;
      }
    }
    uint16_t m = pending ? t->mshr[*line] : l2_mshrs_take(&b->mshrs, r->addr >> t->shift << t->shift, *line);
    if (missing) {
      uint32_t ask = in_bursts(s, missing) & ~valid & ~pending;
      struct l2_op fetch = {
          .r = op->r, .set = op->set, .bytes = l2_burst_bytes(s, ask), .mshr = m, .sectors = (uint8_t)ask};
      l2_queue_push(&b->miss, fetch);
      if (absent) take_line(s, b, *line, op); /* its write-back follows the fetch */
      t->pending[*line] |= (uint8_t)ask;
      s->env->stats->l2_sectors_fetched += (uint32_t)__builtin_popcount(ask);
      s->env->stats->l2_sector_misses += !absent && !ahead;
    }
    if (!absent) l2_tags_stamp(t, *line, *s->env->now, false);
    t->state[*line] = L2_RESERVED;
    t->mshr[*line] = m;
    l2_mshrs_add(&b->mshrs, m, s->env->pool, op->r);
  }
  if (r->type != REQ_INST_READ && r->type != REQ_CONST_READ && !ahead)
    s->env->stats->l2_sectors_read += (uint32_t)__builtin_popcount(mask);
  if (atomic) { /* performed when it leaves */
    t->dirty[*line] |= (uint8_t)mask;
    if (t->state[*line] == L2_VALID) t->state[*line] = L2_DIRTY;
  }
  return *reply ? L2_HIT : missing ? L2_MISS : L2_PENDING;
}

enum l2_outcome l2_sector_access(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line, bool *reply) {
  return s->env->pool->at[op->r].write ? store_sectors(s, b, op, line, reply) : load_sectors(s, b, op, line, reply);
}

bool l2_sector_prefetch(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                        enum prefetch_fate *why) {
  const struct l2_tags *t = &s->tags;
  uint32_t mask = l2_request_sectors(s, &s->env->pool->at[op->r]);
  uint32_t here = *line == L2_NONE ? 0 : t->valid[*line] | t->pending[*line];
  bool reply = false;
  *why = PREFETCH_REDUNDANT;
  if (s->env->config->l2_perfect || !(mask & ~here)) return false;
  enum l2_outcome o = load_sectors(s, b, op, line, &reply);
  *why = o == L2_BYPASSED ? PREFETCH_NO_LINE : PREFETCH_NO_MSHR;
  return o == L2_MISS;
}

bool l2_sector_arrive(struct l2_slice *s, uint32_t line, const struct l2_op *op, struct l2_mshr *e) {
  struct l2_tags *t = &s->tags;
  s->env->stats->l2_sectors_filled += (uint32_t)__builtin_popcount(op->sectors);
  t->valid[line] |= op->sectors & (uint8_t)~e->gone;
  e->gone &= (uint8_t)~op->sectors;
  t->pending[line] &= (uint8_t)~op->sectors;
  if (t->pending[line]) return false;
  if (!(t->valid[line] | t->dirty[line])) {
    l2_forget(s, line);
    return true;
  }
  t->state[line] = t->dirty[line] ? L2_DIRTY : L2_VALID;
  return true;
}

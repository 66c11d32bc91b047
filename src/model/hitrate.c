/* hitrate.c - caches without time: tags and LRU stamps, one access after the other. */
#include "model/hitrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/mem/addrmap.h"
#include "gpu/mem/l2_tags.h"
#include "gpu/slots/scheme.h"

enum { SECTOR = 32, LINES_MOST = 160 };

struct tags {
  uint64_t *tag; /* line address + 1; 0: invalid */
  uint32_t *stamp;
  uint8_t *valid; /* sectors; NULL: whole lines */
  uint32_t sets, ways;
};

struct hitrate {
  struct gpu_config c;
  struct addrmap map;
  struct tags *l1;    /* per SM */
  struct l2_tags *l2; /* per sub-partition */
  uint32_t subparts, clock;
  uint32_t burst; /* sectors that one DRAM burst moves */
  bool sectors;   /* some cache keeps sectors of its lines */
  uint64_t now;
  struct hitrate_counts n;
};

struct hitrate *hitrate_new(const struct gpu_config *c, bool l1_sectors, struct err *e) {
  struct hitrate *h = mem_zeroed(1, sizeof *h);
  h->c = *c;
  if (!addrmap_init(&h->map, c, e)) {
    free(h);
    return NULL;
  }
  h->subparts = c->channels * c->subparts;
  bool fits = c->l1d.line >= SECTOR && c->l1d.line <= 8 * SECTOR;
  l1_sectors &= fits;
  uint32_t burst = c->dram_bus_bytes * c->dram_chips * c->dram_burst;
  h->burst = burst <= SECTOR ? 1 : (burst < c->l2.line ? burst : c->l2.line) / SECTOR;
  h->sectors = l1_sectors || (fits && c->l2_org == L2_SECTORS);
  h->l1 = mem_zeroed(c->sms, sizeof *h->l1);
  h->l2 = mem_zeroed(h->subparts, sizeof *h->l2);
  for (uint32_t s = 0; s < c->sms; s++) {
    uint32_t lines = c->l1d.sets * c->l1d.ways;
    h->l1[s] =
        (struct tags){calloc(lines, sizeof(uint64_t)), calloc(lines, sizeof(uint32_t)), NULL, c->l1d.sets, c->l1d.ways};
    if (l1_sectors) h->l1[s].valid = mem_zeroed(lines, 1);
    CHECK(h->l1[s].tag && h->l1[s].stamp && (h->l1[s].valid || !l1_sectors), "out of memory");
  }
  for (uint32_t p = 0; p < h->subparts; p++) l2_tags_init(&h->l2[p], c);
  return h;
}

void hitrate_free(struct hitrate *h) {
  if (!h) return;
  for (uint32_t s = 0; s < h->c.sms; s++) free(h->l1[s].tag), free(h->l1[s].stamp), free(h->l1[s].valid);
  for (uint32_t p = 0; p < h->subparts; p++) l2_tags_free(&h->l2[p]);
  free(h->l1);
  free(h->l2);
  free(h);
}

void hitrate_kernel(struct hitrate *h) {
  for (uint32_t s = 0; s < h->c.sms; s++)
    memset(h->l1[s].tag, 0, (size_t)h->l1[s].sets * h->l1[s].ways * sizeof *h->l1[s].tag);
}

/* Part of a line that a warp touches. */
struct piece {
  uint64_t line;
  uint32_t sectors, whole; /* touched; `whole`: those of which every byte is */
};

static uint64_t burst_bytes(const struct hitrate *h, uint32_t sectors) {
  uint64_t n = 0;
  for (uint32_t k = 0; sectors >> k; k += h->burst)
    if (sectors >> k & ((1u << h->burst) - 1)) n += h->burst;
  return n * SECTOR;
}

static void evict_l2(struct hitrate *h, struct l2_tags *t, uint32_t at) {
  if (t->state[at] != L2_DIRTY) return;
  h->n.dram_writes++;
  h->n.dram_write_bytes += t->dirty ? burst_bytes(h, t->dirty[at]) : h->c.l2.line;
}

/* What an access does to the L2; an atomic does both. L2_FETCHES: absent sectors come from DRAM. A store to a sectored
 * L2 covers a sector or leaves the fetch to a later reader. */
enum l2_use { L2_FETCHES = 1, L2_WRITES = 2 };

/* Sectors of a line that is present or was just allocated (`absent`). */
static void sectors_l2(struct hitrate *h, struct l2_tags *t, uint32_t at, const struct piece *p, unsigned use,
                       bool absent) {
  bool fetches = use & L2_FETCHES;
  uint32_t missing = p->sectors & ~t->valid[at], known = t->valid[at] | t->dirty[at];
  if (fetches && missing) {
    h->n.dram_reads++;
    h->n.dram_read_bytes += burst_bytes(h, missing);
    for (uint32_t k = 0; k < 8; k += h->burst) /* whole bursts */
      if (missing >> k & ((1u << h->burst) - 1)) missing |= ((1u << h->burst) - 1) << k;
    t->valid[at] |= (uint8_t)missing;
  }
  bool hit = fetches ? !missing : !(p->sectors & ~known);
  h->n.l2_hits += hit;
  h->n.l2_partial += !hit && !absent;
  if (!(use & L2_WRITES)) return;
  if (!fetches) t->valid[at] |= (uint8_t)p->whole;
  t->dirty[at] |= (uint8_t)p->sectors;
}

static void access_l2(struct hitrate *h, const struct piece *p, unsigned use) {
  uint64_t line = p->line & ~(uint64_t)(h->c.l2.line - 1);
  struct req r = {.addr = line};
  addrmap_split(&h->map, &r);
  struct l2_tags *t = &h->l2[r.subpart];
  uint32_t set = l2_tags_set(t, addrmap_local(&h->map, line)), at = l2_tags_find(t, set, line);
  bool absent = at == L2_NONE;
  h->n.l2_accesses++;
  if (absent) {
    at = l2_tags_victim(t, set);
    evict_l2(h, t, at);
    t->tag[at] = line;
    t->state[at] = L2_VALID;
    if (t->valid) t->valid[at] = t->dirty[at] = 0;
    l2_tags_stamp(t, at, ++h->now, true);
  }
  if (t->valid) {
    uint32_t shift = (uint32_t)(p->line - line) / SECTOR; /* a line of the L1 may be part of an L2 line */
    struct piece q = {line, p->sectors << shift, p->whole << shift};
    sectors_l2(h, t, at, &q, use, absent);
  } else if (absent) {
    h->n.dram_reads++;
    h->n.dram_read_bytes += h->c.l2.line;
  } else {
    h->n.l2_hits++;
  }
  l2_tags_stamp(t, at, ++h->now, false);
  if (use & L2_WRITES) t->state[at] = L2_DIRTY;
}

/* Way of the line in its set, or the number of ways; `base`: index of the set's first way. */
static uint32_t find_l1(const struct hitrate *h, const struct tags *t, uint64_t line, uint32_t *base) {
  uint32_t way = 0;
  *base = gpu_l1_set(&h->c, h->c.l1d.sets, h->c.l1d.line, line) * t->ways;
  while (way < t->ways && t->tag[*base + way] != line + 1) way++;
  return way;
}

static void load_l1(struct hitrate *h, struct tags *t, const struct piece *p) {
  uint32_t base, way = find_l1(h, t, p->line, &base);
  struct piece missing = *p;
  h->n.loads++;
  if (way < t->ways) {
    if (t->valid) missing.sectors &= ~(uint32_t)t->valid[base + way];
    if (!t->valid || !missing.sectors) {
      h->n.l1_hits++;
      t->stamp[base + way] = ++h->clock;
      return;
    }
    h->n.l1_partial++;
  } else {
    way = 0;
    for (uint32_t k = 0; k < t->ways; k++) {
      if (!t->tag[base + k]) {
        way = k;
        break;
      }
      if (h->clock - t->stamp[base + k] > h->clock - t->stamp[base + way]) way = k; /* unsigned: survives the wrap */
    }
    t->tag[base + way] = p->line + 1;
    if (t->valid) t->valid[base + way] = 0;
    else missing.sectors = (1u << (h->c.l1d.line / SECTOR)) - 1;
  }
  if (t->valid) t->valid[base + way] |= (uint8_t)missing.sectors;
  access_l2(h, &missing, L2_FETCHES);
  t->stamp[base + way] = ++h->clock;
}

static void bypass_l1(struct hitrate *h, struct tags *t, const struct piece *p, bool store) {
  uint32_t base, way = store ? find_l1(h, t, p->line, &base) : t->ways;
  if (way < t->ways && t->valid) t->valid[base + way] &= (uint8_t)~p->sectors;
  if (way < t->ways && (!t->valid || !t->valid[base + way])) t->tag[base + way] = 0;
  if (store) h->n.stores++;
  else h->n.atomics++;
  access_l2(h, p, store ? L2_WRITES : L2_FETCHES | L2_WRITES);
}

static void touch(struct hitrate *h, struct tags *t, uint8_t kind, const struct piece *p) {
  if (kind == KIND_LOAD && h->c.l1d_enabled) load_l1(h, t, p);
  else if (kind == KIND_LOAD) h->n.loads++, access_l2(h, p, L2_FETCHES);
  else bypass_l1(h, t, p, kind == KIND_STORE);
}

/* The bytes of a line that a store covers: bit k is byte k, lines of up to 256 B. */
struct cover {
  uint64_t byte[4];
};

static void cover_bytes(struct cover *c, uint32_t from, uint32_t to) {
  for (uint32_t w = from / 64; w <= to / 64; w++) {
    uint32_t lo = w == from / 64 ? from % 64 : 0, hi = w == to / 64 ? to % 64 : 63;
    c->byte[w] |= (~UINT64_C(0) >> (63 - hi)) & (~UINT64_C(0) << lo);
  }
}

static uint32_t whole_sectors(const struct cover *c) {
  uint32_t whole = 0;
  for (uint32_t s = 0; s < 8; s++) whole |= (uint32_t)((uint32_t)(c->byte[s / 2] >> (s % 2 * 32)) == UINT32_MAX) << s;
  return whole;
}

/* Lines with the sectors that a warp touches, in the order of their first lanes. */
static void access_sectors(struct hitrate *h, struct tags *t, uint8_t kind, uint32_t width, uint32_t mask,
                           const uint64_t *addr) {
  uint64_t line_mask = ~(uint64_t)(h->c.l1d.line - 1);
  struct piece seen[LINES_MOST];
  struct cover covered[LINES_MOST];
  bool store = kind == KIND_STORE;
  uint32_t n = 0, k = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t a = addr[__builtin_ctz(m)], end = a + width - 1;
    for (uint64_t line = a & line_mask;; line += h->c.l1d.line) {
      if (k >= n || seen[k].line != line)
        for (k = 0; k < n && seen[k].line != line;) k++;
      if (k == n && n < LINES_MOST) {
        seen[n] = (struct piece){.line = line};
        if (store) covered[n] = (struct cover){0};
        n++;
      }
      bool last = line == (end & line_mask);
      uint32_t from = line == (a & line_mask) ? (uint32_t)(a - line) : 0;
      uint32_t to = last ? (uint32_t)(end - line) : h->c.l1d.line - 1;
      if (k < n) seen[k].sectors |= (2u << (to / SECTOR)) - (1u << (from / SECTOR));
      if (store && k < n) cover_bytes(&covered[k], from, to);
      if (last) break;
    }
  }
  for (k = 0; k < n; k++) {
    if (store) seen[k].whole = whole_sectors(&covered[k]);
    touch(h, t, kind, &seen[k]);
  }
}

static void access_lines(struct hitrate *h, struct tags *t, uint8_t kind, uint32_t width, uint32_t mask,
                         const uint64_t *addr) {
  uint64_t line_mask = ~(uint64_t)(h->c.l1d.line - 1), seen[LINES_MOST], before = 1;
  uint32_t n = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t a = addr[__builtin_ctz(m)], last = (a + width - 1) & line_mask;
    for (uint64_t line = a & line_mask;; line += h->c.l1d.line) {
      uint32_t k = line == before ? 1 : n;
      while (k && seen[k - 1] != line && line != before) k--;
      if (!k && n < LINES_MOST) {
        seen[n++] = before = line;
        touch(h, t, kind, &(struct piece){.line = line});
      }
      if (line == last) break;
    }
  }
}

void hitrate_access(struct hitrate *h, uint32_t cta, uint8_t kind, uint32_t width, uint32_t mask,
                    const uint64_t *addr) {
  struct tags *t = &h->l1[cta % h->c.sms];
  h->n.insts++;
  h->n.lanes += (uint32_t)__builtin_popcount(mask);
  if (h->sectors) access_sectors(h, t, kind, width, mask, addr);
  else access_lines(h, t, kind, width, mask, addr);
}

struct hitrate_counts hitrate_take(struct hitrate *h) {
  struct hitrate_counts n = h->n;
  h->n = (struct hitrate_counts){0};
  return n;
}

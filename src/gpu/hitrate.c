/* hitrate.c - caches without time: tags and LRU stamps, one access after the other. */
#include "gpu/hitrate.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/addrmap.h"
#include "gpu/l2_tags.h"
#include "gpu/sm.h"

struct tags {
  uint64_t *tag; /* line address + 1; 0: invalid */
  uint32_t *stamp;
  uint32_t sets, ways;
};

struct hitrate {
  struct gpu_config c;
  struct addrmap map;
  struct tags *l1;    /* per SM */
  struct l2_tags *l2; /* per sub-partition */
  uint32_t subparts, clock;
  uint64_t now;
  struct hitrate_counts n;
};

struct hitrate *hitrate_new(const struct gpu_config *c, struct err *e) {
  struct hitrate *h = calloc(1, sizeof *h);
  CHECK(h, "out of memory");
  h->c = *c;
  if (!addrmap_init(&h->map, c, e)) {
    free(h);
    return NULL;
  }
  h->subparts = c->channels * c->subparts;
  h->l1 = calloc(c->sms, sizeof *h->l1);
  h->l2 = calloc(h->subparts, sizeof *h->l2);
  CHECK(h->l1 && h->l2, "out of memory");
  for (uint32_t s = 0; s < c->sms; s++) {
    uint32_t lines = c->l1d.sets * c->l1d.ways;
    h->l1[s] =
        (struct tags){calloc(lines, sizeof(uint64_t)), calloc(lines, sizeof(uint32_t)), c->l1d.sets, c->l1d.ways};
    CHECK(h->l1[s].tag && h->l1[s].stamp, "out of memory");
  }
  for (uint32_t p = 0; p < h->subparts; p++) l2_tags_init(&h->l2[p], c);
  return h;
}

void hitrate_free(struct hitrate *h) {
  if (!h) return;
  for (uint32_t s = 0; s < h->c.sms; s++) free(h->l1[s].tag), free(h->l1[s].stamp);
  for (uint32_t p = 0; p < h->subparts; p++) l2_tags_free(&h->l2[p]);
  free(h->l1);
  free(h->l2);
  free(h);
}

void hitrate_kernel(struct hitrate *h) {
  for (uint32_t s = 0; s < h->c.sms; s++)
    memset(h->l1[s].tag, 0, (size_t)h->l1[s].sets * h->l1[s].ways * sizeof *h->l1[s].tag);
}

static void access_l2(struct hitrate *h, uint64_t addr, bool write) {
  uint64_t line = addr & ~(uint64_t)(h->c.l2.line - 1);
  struct req r = {.addr = line};
  addrmap_split(&h->map, &r);
  struct l2_tags *t = &h->l2[r.subpart];
  uint32_t set = l2_tags_set(t, addrmap_local(&h->map, line)), at = l2_tags_find(t, set, line);
  h->n.l2_accesses++;
  if (at != L2_NONE) {
    h->n.l2_hits++;
  } else {
    at = l2_tags_victim(t, set);
    h->n.dram_writes += t->state[at] == L2_DIRTY;
    h->n.dram_reads++;
    t->tag[at] = line;
    t->state[at] = L2_VALID;
    l2_tags_stamp(t, at, ++h->now, true);
  }
  l2_tags_stamp(t, at, ++h->now, false);
  if (write) t->state[at] = L2_DIRTY;
}

/* Way of the line in its set, or the set's ways; `base`: where the set begins. */
static uint32_t find_l1(const struct hitrate *h, const struct tags *t, uint64_t line, uint32_t *base) {
  uint32_t way = 0;
  *base = l1d_set_index(&h->c, line) * t->ways;
  while (way < t->ways && t->tag[*base + way] != line + 1) way++;
  return way;
}

static void load_l1(struct hitrate *h, struct tags *t, uint64_t line) {
  uint32_t base, way = find_l1(h, t, line, &base);
  h->n.loads++;
  if (way < t->ways) {
    h->n.l1_hits++;
  } else {
    way = 0;
    for (uint32_t k = 0; k < t->ways; k++) {
      if (!t->tag[base + k]) {
        way = k;
        break;
      }
      if (h->clock - t->stamp[base + k] > h->clock - t->stamp[base + way]) way = k; /* unsigned: survives the wrap */
    }
    t->tag[base + way] = line + 1;
    access_l2(h, line, false);
  }
  t->stamp[base + way] = ++h->clock;
}

static void past_l1(struct hitrate *h, struct tags *t, uint64_t line, bool store) {
  uint32_t base, way = store ? find_l1(h, t, line, &base) : t->ways;
  if (way < t->ways) t->tag[base + way] = 0;
  if (store) h->n.stores++;
  else h->n.atomics++;
  access_l2(h, line, true);
}

void hitrate_access(struct hitrate *h, uint32_t cta, uint8_t kind, uint32_t width, uint32_t mask,
                    const uint64_t *addr) {
  struct tags *t = &h->l1[cta % h->c.sms];
  uint64_t line_mask = ~(uint64_t)(h->c.l1d.line - 1), seen[160], before = 1;
  uint32_t n = 0;
  h->n.insts++;
  h->n.lanes += (uint32_t)__builtin_popcount(mask);
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t a = addr[__builtin_ctz(m)], last = (a + width - 1) & line_mask;
    for (uint64_t line = a & line_mask;; line += h->c.l1d.line) {
      uint32_t k = line == before ? 1 : n;
      while (k && seen[k - 1] != line && line != before) k--;
      if (!k && n < 160) {
        seen[n++] = before = line;
        if (kind == KIND_LOAD && h->c.l1d_enabled) load_l1(h, t, line);
        else if (kind == KIND_LOAD) h->n.loads++, access_l2(h, line, false);
        else past_l1(h, t, line, kind == KIND_STORE);
      }
      if (line == last) break;
    }
  }
}

struct hitrate_counts hitrate_take(struct hitrate *h) {
  struct hitrate_counts n = h->n;
  h->n = (struct hitrate_counts){0};
  return n;
}

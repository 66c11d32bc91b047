/* cache.c - an L2 without the rest of the machine. See cache.h. */
#include "model/cache.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gpu/mem/l2.h"

enum { SECTOR = 32 };

struct cache {
  struct gpu_config config;
  struct addrmap map;
  struct req_pool pool;
  struct gpu_stats stats;
  uint64_t now;
  struct partition_env env;
  struct l2_slice l2;
  struct l2_op *asked; /* sent to the level below and not answered; r 0: free */
  uint32_t *spare;     /* indices of the free ones */
  uint32_t room, spares;
  uint64_t fetches, fetched_bytes;
};

/* One channel with one sub-partition, so every address belongs to this L2. Sectors are fetched one by one. Timing and
 * schemes are off. */
static bool alone(struct gpu_config *c, struct err *e) {
  c->channels = c->subparts = 1;
  c->l2_banked = c->l2_perfect = false;
  c->l1d.line = SECTOR; /* at most the L2's */
  if (!gpu_config_check(c, e)) return false;
  c->l2_to_icnt = 0; /* a completed access waits until the caller takes it */
  c->dram_bus_bytes = 4;
  c->dram_chips = 1;
  c->dram_burst = SECTOR / 4;
  return true;
}

struct cache *cache_new(const struct gpu_config *config, struct err *e) {
  struct cache *c = mem_lines((sizeof *c + 63) / 64 * 64, 1);
  *c = (struct cache){.config = *config};
  if (!alone(&c->config, e) || !addrmap_init(&c->map, &c->config, e)) {
    free(c);
    return NULL;
  }
  c->env = (struct partition_env){.config = &c->config, .pool = &c->pool, .stats = &c->stats, .now = &c->now};
  l2_init(&c->l2, &c->env, &c->map, 0);
  return c;
}

static bool on_time(struct cache *c, uint64_t cycle, struct err *e) {
  if (cycle < c->now)
    return err_set(e, ERR_USAGE, "cycle %llu comes after cycle %llu", (unsigned long long)cycle,
                   (unsigned long long)c->now);
  c->now = c->l2.t = cycle;
  return true;
}

/* Sectors of the line that a write covers completely. */
static uint8_t whole_sectors(uint64_t addr, uint32_t bytes, uint32_t line) {
  uint32_t at = (uint32_t)(addr & (line - 1)), first = (at + SECTOR - 1) / SECTOR, end = (at + bytes) / SECTOR;
  return line > 8 * SECTOR || first >= end ? 0 : (uint8_t)((1u << end) - (1u << first));
}

bool cache_access(struct cache *c, struct cache_access *a, enum cache_outcome *out, struct err *e) {
  static const enum cache_outcome names[L2_OUTCOMES] = {
      [L2_HIT] = CACHE_HIT, [L2_PENDING] = CACHE_PENDING, [L2_MISS] = CACHE_MISS, [L2_REFUSED] = CACHE_REFUSED};
  uint32_t line = c->config.l2.line, at = (uint32_t)(a->addr & (line - 1));
  if (!a->bytes || a->bytes > line - at)
    return err_set(e, ERR_USAGE, "%u bytes at 0x%llx are not within one line of %u", a->bytes,
                   (unsigned long long)a->addr, line);
  if (!on_time(c, a->cycle, e)) return false;
  req_id id = req_new(&c->pool);
  struct req *r = &c->pool.at[id];
  r->type = a->write ? REQ_GLOBAL_WRITE : REQ_GLOBAL_READ;
  r->addr = a->addr;
  r->bytes = (uint16_t)a->bytes;
  r->write = a->write;
  r->whole = a->write ? whole_sectors(a->addr, a->bytes, line) : 0;
  r->owner = (uint32_t)a->id;
  r->token = (uint32_t)(a->id >> 32);
  struct l2_op op = {
      .r = id, .set = (uint16_t)l2_tags_set(&c->l2.tags, addrmap_local(&c->map, a->addr)), .mshr = L2_NO_MSHR};
  bool reply;
  enum l2_outcome o = l2_access(&c->l2, c->l2.bank, &op, &reply);
  a->waits = o != L2_REFUSED && !reply;
  if (!a->waits) req_free(&c->pool, id);
  *out = names[o];
  return true;
}

/* ---- the level below ---- */

static uint32_t remember(struct cache *c, struct l2_op op) {
  if (!c->spares) {
    uint32_t old = c->room, room = old ? 2 * old : 16;
    struct l2_op *asked = mem_resize(c->asked, room, sizeof *asked);
    if (asked) c->asked = asked;
    uint32_t *spare = mem_resize(c->spare, room, sizeof *spare);
    if (spare) c->spare = spare;
    for (c->room = room; room-- > old;) {
      c->asked[room].r = 0;
      c->spare[c->spares++] = room;
    }
  }
  uint32_t i = c->spare[--c->spares];
  c->asked[i] = op;
  return i + 1;
}

bool cache_next(struct cache *c, struct cache_request *out) {
  struct l2_bank *b = c->l2.bank;
  if (!b->miss.count) return false;
  struct l2_op op = l2_queue_pop(&b->miss);
  const struct req *r = &c->pool.at[op.r];
  *out = (struct cache_request){.addr = r->addr, .bytes = op.bytes};
  if (op.mshr != L2_NO_MSHR) {
    out->kind = CACHE_FETCH;
    out->addr = b->mshrs.at[op.mshr].line_addr;
    out->sectors = op.sectors;
    c->fetches++;
    c->fetched_bytes += op.bytes;
  } else if (r->type == REQ_L2_WRITEBACK) {
    out->kind = CACHE_WRITE_BACK;
    out->sectors = r->sectors;
    req_free(&c->pool, op.r);
    return true;
  } else {
    out->kind = CACHE_WRITE;
  }
  out->answer = remember(c, op);
  return true;
}

bool cache_answer(struct cache *c, uint32_t answer, uint64_t cycle, struct err *e) {
  if (!answer || answer > c->room || !c->asked[answer - 1].r)
    return err_set(e, ERR_USAGE, "no request %u waits for an answer", answer);
  if (!on_time(c, cycle, e)) return false;
  struct l2_op op = c->asked[answer - 1];
  c->asked[answer - 1].r = 0;
  c->spare[c->spares++] = answer - 1;
  c->l2.bank->fill_free = 0; /* ports take no time */
  l2_return(&c->l2, op);
  CHECK(l2_take_return(&c->l2, c->l2.bank, false), "an answer has no place");
  return true;
}

bool cache_done(struct cache *c, uint64_t *id) {
  struct l2_bank *b = c->l2.bank;
  req_id r = c->l2.out.count ? l2_queue_pop(&c->l2.out).r : 0;
  while (!r && b->mshrs.ready_count) r = l2_take_filled(&c->l2, b); /* 0: fetched for a completed write */
  if (!r) return false;
  *id = (uint64_t)c->pool.at[r].token << 32 | c->pool.at[r].owner;
  req_free(&c->pool, r);
  return true;
}

struct cache_counts cache_count(struct cache *c) {
  l2_count(&c->l2);
  const struct gpu_stats *s = &c->stats;
  return (struct cache_counts){.accesses = s->l2_accesses,
                               .hits = s->l2_hits,
                               .pending = s->l2_pending,
                               .misses = s->l2_misses,
                               .refused = s->l2_rejects,
                               .evictions = s->l2_evictions,
                               .write_backs = s->l2_writebacks,
                               .fetches = c->fetches,
                               .fetched_bytes = c->fetched_bytes};
}

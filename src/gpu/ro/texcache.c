/* texcache.c - the texture cache of an SM. See texcache.h. */
#include "gpu/ro/texcache.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static bool full(const struct tex_fifo *f) {
  return f->count >= f->limit;
}
static uint32_t push(struct tex_fifo *f) {
  return (f->head + f->count++) % f->limit;
}
static uint32_t pop(struct tex_fifo *f) {
  uint32_t at = f->head;
  f->head = (f->head + 1) % f->limit;
  f->count--;
  return at;
}

void texcache_init(struct texcache *c, const struct gpu_config *cfg) {
  const struct cache_config *k = &cfg->l1t;
  *c = (struct texcache){.sets = k->sets,
                         .ways = k->ways,
                         .line_shift = (uint32_t)__builtin_ctz(k->line),
                         .fragments.limit = cfg->l1t_fifo,
                         .requests.limit = k->miss_queue,
                         .results.limit = cfg->l1t_results,
                         .rob.limit = k->mshrs};
  size_t lines = (size_t)c->sets * c->ways;
  c->tag = mem_zeroed(lines, sizeof *c->tag);
  memset(c->tag, 0xff, lines * sizeof *c->tag);
  c->used = mem_zeroed(lines, sizeof *c->used);
  c->fragment = mem_zeroed(c->fragments.limit, sizeof *c->fragment);
  c->request = mem_zeroed(c->requests.limit, sizeof *c->request);
  c->result = mem_zeroed(c->results.limit, sizeof *c->result);
  c->place = mem_zeroed(c->rob.limit, sizeof *c->place);
}

void texcache_destroy(struct texcache *c) {
  free(c->tag);
  free(c->used);
  free(c->fragment);
  free(c->request);
  free(c->result);
  free(c->place);
  *c = (struct texcache){0};
}

/* True if the line is present. It is afterwards: an absent one replaces an invalid line (the highest), else the least
 * recently used.
 */
static bool look_up(struct texcache *c, uint64_t line, uint64_t now) {
  uint32_t base = ((uint32_t)(line >> c->line_shift) & (c->sets - 1)) * c->ways, victim = base;
  bool invalid = false;
  for (uint32_t i = base; i < base + c->ways; i++) {
    if (c->tag[i] == line) {
      c->used[i] = now;
      return true;
    }
    if (c->tag[i] == UINT64_MAX) victim = i, invalid = true;
    else if (!invalid && c->used[i] < c->used[victim]) victim = i;
  }
  c->tag[victim] = line;
  c->used[victim] = now;
  return false;
}

enum tex_outcome texcache_access(struct texcache *c, uint64_t addr, uint16_t waiter, uint64_t now) {
  if (full(&c->fragments) || full(&c->requests) || full(&c->rob)) return TEX_REFUSED;
  uint64_t line = addr >> c->line_shift << c->line_shift;
  bool miss = !look_up(c, line, now);
  c->fragment[push(&c->fragments)] = (struct tex_fragment){waiter, miss};
  if (!miss) return TEX_HIT;
  uint32_t rob = push(&c->rob);
  c->place[rob] = (struct tex_place){.line = line};
  c->request[push(&c->requests)] = (uint16_t)rob;
  return TEX_MISS;
}

bool texcache_request(const struct texcache *c, uint64_t *line, uint16_t *rob) {
  if (!c->requests.count) return false;
  *rob = c->request[c->requests.head];
  *line = c->place[*rob].line;
  return true;
}

void texcache_request_sent(struct texcache *c) {
  pop(&c->requests);
}

void texcache_fill(struct texcache *c, uint16_t rob) {
  CHECK(rob < c->rob.limit && !c->place[rob].ready, "a texture line arrived that nothing waits for");
  c->place[rob].ready = true;
}

bool texcache_step(struct texcache *c) {
  if (!c->fragments.count || full(&c->results)) return false;
  const struct tex_fragment *f = &c->fragment[c->fragments.head];
  if (f->miss) {
    if (!c->place[c->rob.head].ready) return false;
    pop(&c->rob);
  }
  c->result[push(&c->results)] = f->waiter;
  pop(&c->fragments);
  return true;
}

bool texcache_awaited(const struct texcache *c, uint64_t *line) {
  for (uint32_t i = 0; i < c->rob.count; i++) {
    const struct tex_place *p = &c->place[(c->rob.head + i) % c->rob.limit];
    if (p->ready) continue;
    *line = p->line;
    return true;
  }
  return false;
}

uint16_t texcache_next(struct texcache *c) {
  return c->result[pop(&c->results)];
}

/* texcache.h - the texture cache of an SM: in order, with a latency FIFO instead of MSHRs.
 *
 * An access looks up its tag and allocates the line at once; hits and misses then wait in one FIFO, so that a hit
 * behind a miss waits for it, and leave it one per cycle as results. An entry of the reorder buffer holds each pending
 * line. Igehy, Eldridge and Proudfoot, "Prefetching in a texture cache architecture", 1998; sizes of the reference
 * machine.
 */
#ifndef GPU_RO_TEXCACHE_H
#define GPU_RO_TEXCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"

struct tex_fifo { /* a ring of `limit` places */
  uint32_t head, count, limit;
};
struct texcache {
  uint32_t sets, ways, line_shift;
  uint64_t *tag;  /* sets x ways, line address, ~0 when invalid */
  uint64_t *used; /* last access */
  struct tex_fifo fragments, requests, results, rob;
  struct tex_fragment {
    uint16_t waiter;
    bool miss;
  } * fragment;
  uint16_t *request; /* places of the reorder buffer */
  uint16_t *result;
  struct tex_place { /* of the reorder buffer */
    uint64_t line;
    bool ready;
  } * place;
};

enum tex_outcome { TEX_HIT, TEX_MISS, TEX_REFUSED };

void texcache_init(struct texcache *c, const struct gpu_config *cfg);
void texcache_destroy(struct texcache *c);
enum tex_outcome texcache_access(struct texcache *c, uint64_t addr, uint16_t waiter, uint64_t now);
/* The oldest line to request and its place in the reorder buffer; false if none. */
bool texcache_request(const struct texcache *c, uint64_t *line, uint16_t *rob);
void texcache_request_sent(struct texcache *c);
void texcache_fill(struct texcache *c, uint16_t rob);
bool texcache_step(struct texcache *c); /* one access leaves the FIFO; false: none could */
/* A line that an access waits for; false if none. */
bool texcache_awaited(const struct texcache *c, uint64_t *line);
static inline bool texcache_busy(const struct texcache *c) {
  return c->fragments.count | c->requests.count | c->results.count;
}
static inline bool texcache_ready(const struct texcache *c) {
  return c->results.count;
}
uint16_t texcache_next(struct texcache *c); /* whose result is ready */

#endif

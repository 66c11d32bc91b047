/* req.c - pool and queues of memory requests. */
#include "gpu/common/req.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static __attribute__((noinline)) void grow(struct req_pool *p) {
  CHECK(!p->lent, "a pool of %u requests cannot grow while others use them", p->size);
  uint32_t old = p->size, n = old ? old * 2 : 1024;
  struct req *at = mem_lines(n * sizeof *at, 1);
  if (old) memcpy(at, p->at, old * sizeof *at);
  free(p->at);
  p->at = at;
  p->size = n;
  for (uint32_t i = n; i-- > (old ? old : 1);) {
    at[i].next = p->free;
    p->free = i;
  }
}

req_id req_new(struct req_pool *p) {
  if (!p->free) grow(p);
  req_id id = p->free;
  p->free = p->at[id].next;
  p->at[id] = (struct req){0};
  if (++p->live > p->peak) p->peak = p->live;
  return id;
}

void req_free(struct req_pool *p, req_id id) {
  p->at[id].next = p->free;
  p->free = id;
  p->live--;
}

void req_lend(struct req_pool *p, struct req_pool *to, uint32_t n) {
  for (; n; n--) {
    if (!p->free) grow(p);
    req_id id = p->free;
    p->free = p->at[id].next;
    p->at[id].next = to->free;
    to->free = id;
    to->lent++;
  }
  to->at = p->at;
  to->size = p->size;
}

void req_pool_destroy(struct req_pool *p) {
  free(p->at);
  *p = (struct req_pool){0};
}

void reqq_init(struct req_queue *q, uint32_t limit) {
  uint32_t size = 1;
  while (size < limit) size *= 2;
  *q = (struct req_queue){.at = mem_zeroed(size, sizeof(req_id)), .size = size, .limit = limit};
}

void reqq_free(struct req_queue *q) {
  free(q->at);
  *q = (struct req_queue){0};
}

/* l2_mshr.h - the miss status holding registers of one L2 bank.
 *
 * An entry collects the requests for one line (chained through req.next) until the line is filled, then waits in the
 * ready ring while its requests leave one per cycle. A ready entry still counts as occupied and still merges: its line
 * may be evicted before the last request leaves; a new request for it then joins the entry without a fetch.
 */
#ifndef GPU_MEM_L2_MSHR_H
#define GPU_MEM_L2_MSHR_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/req.h"

#define L2_NO_MSHR UINT16_MAX

struct l2_mshr {
  uint64_t line_addr;
  uint32_t line; /* index of the reserved line */
  req_id head, tail;
  uint16_t merged; /* requests chained; 0: free */
  bool atomic, ready;
  uint8_t gone; /* sectors written in another slice since (lines: any bit): they are not kept (l2_copies.c) */
};

struct l2_mshrs {
  struct l2_mshr *at;
  uint16_t *ready; /* ring of filled entries */
  uint16_t *spare; /* stack of free entries */
  uint32_t ready_head, ready_count, used, limit, merges;
};

void l2_mshrs_init(struct l2_mshrs *m, uint32_t entries, uint32_t merges);
void l2_mshrs_free(struct l2_mshrs *m);

/* The filled entry of an address whose line has left the tags (a reserved line names its entry). */
static inline uint16_t l2_mshrs_find_ready(const struct l2_mshrs *m, uint64_t line_addr) {
  for (uint32_t k = 0; k < m->ready_count; k++) {
    uint32_t slot = m->ready_head + k;
    uint16_t i = m->ready[slot >= m->limit ? slot - m->limit : slot];
    if (m->at[i].line_addr == line_addr) return i;
  }
  return L2_NO_MSHR;
}
static inline uint16_t l2_mshrs_take(struct l2_mshrs *m, uint64_t line_addr, uint32_t line) {
  uint16_t i = m->spare[m->limit - ++m->used];
  m->at[i] = (struct l2_mshr){.line_addr = line_addr, .line = line};
  return i;
}
static inline void l2_mshrs_add(struct l2_mshrs *m, uint16_t i, struct req_pool *pool, req_id r) {
  struct l2_mshr *e = &m->at[i];
  pool->at[r].next = 0;
  if (e->merged++) pool->at[e->tail].next = r;
  else e->head = r;
  e->tail = r;
  e->atomic |= pool->at[r].atomic;
}
static inline void l2_mshrs_fill(struct l2_mshrs *m, uint16_t i) {
  uint32_t slot = m->ready_head + m->ready_count++;
  m->ready[slot >= m->limit ? slot - m->limit : slot] = i;
  m->at[i].ready = true;
}
/* The next request of the oldest filled entry. */
static inline req_id l2_mshrs_next(struct l2_mshrs *m, struct req_pool *pool) {
  uint16_t i = m->ready[m->ready_head];
  struct l2_mshr *e = &m->at[i];
  req_id r = e->head;
  e->head = pool->at[r].next;
  if (!--e->merged) {
    m->ready_head = m->ready_head + 1 == m->limit ? 0 : m->ready_head + 1;
    m->ready_count--;
    m->spare[m->limit - m->used--] = i; /* the free entries are spare[0 .. limit - used) */
  }
  return r;
}

#endif

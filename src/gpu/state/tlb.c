/* tlb.c - translation of addresses. See tlb.h. */
#include "gpu/state/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void tlb_init(struct tlb *t, const struct gpu_config *c) {
  *t = (struct tlb){.entries = c->tlb_entries, .latency = c->tlb_latency, .page_bytes = c->tlb_page_kb * 1024ull};
  if (!t->entries) return;
  t->at = mem_zeroed(t->entries, sizeof *t->at);
  tlb_clear(t);
}

void tlb_destroy(struct tlb *t) {
  free(t->at);
  *t = (struct tlb){0};
}

void tlb_clear(struct tlb *t) {
  t->low = UINT64_MAX;
  t->high = 0;
  for (uint32_t i = 0; i < t->entries; i++) t->at[i] = (struct tlb_page){.page = UINT64_MAX};
}

uint64_t tlb_look(struct tlb *t, uint64_t addr, uint64_t now, bool *missed) {
  uint64_t page = addr / t->page_bytes;
  struct tlb_page *p = &t->at[page % t->entries];
  *missed = p->page != page;
  if (*missed && page < t->low) t->low = page;
  if (*missed && page > t->high) t->high = page;
  if (*missed) *p = (struct tlb_page){.page = page, .ready = now + t->latency};
  return p->ready;
}

void tlb_touch(struct tlb *t, uint64_t addr) {
  if (!t->entries) return;
  bool missed;
  tlb_look(t, addr, 0, &missed);
  if (missed) t->at[addr / t->page_bytes % t->entries].ready = 0;
}

void tlb_hold(struct tlb_wait *w, req_id id, uint64_t ready) {
  if (w->first + w->count == w->room) {
    if (w->first) {
      memmove(w->held, w->held + w->first, w->count * sizeof *w->held);
      w->first = 0;
    } else {
      w->held = mem_resize(w->held, w->room = 2 * w->room + 16, sizeof *w->held);
    }
  }
  uint32_t at = w->first + w->count++;
  for (; at > w->first && w->held[at - 1].ready > ready; at--) w->held[at] = w->held[at - 1];
  w->held[at] = (struct tlb_held){.ready = ready, .id = id};
}

void tlb_leave(struct tlb_wait *w) {
  w->first++;
  if (!--w->count) w->first = 0;
}

/* l2_warm.c - accesses of launches and CTAs that run functionally: tags and replacement order of the L2, without time.
 *
 * Between launches the clock stands still, so these accesses are ordered by a count that starts at the present cycle;
 * l2_warm_end turns the order within each set into cycles up to now. While the machine runs, all have the cycle in
 * which the oldest running CTA began, the latest one in front: lines that running CTAs have used since are newer, and
 * stay. Schemes are not called: their own state per line stays as it was.
 */
#include "gpu/common/recency.h"
#include "gpu/mem/l2.h"

static void fill_line(struct l2_tags *t, uint32_t line, uint64_t addr) {
  t->tag[line] = addr;
  t->state[line] = L2_VALID;
  if (t->valid) t->valid[line] = t->dirty[line] = t->pending[line] = 0;
}

static void write_line(struct l2_slice *s, uint32_t line, uint32_t sectors, bool was_there) {
  struct l2_tags *t = &s->tags;
  if (s->env->config->l2_write == WRITE_THROUGH) return;
  if (t->valid) t->dirty[line] |= (uint8_t)sectors;
  if (t->valid || was_there) t->state[line] = L2_DIRTY; /* lines: a store that misses fetches the line, clean */
}

void l2_warm(struct l2_slice *s, const struct l2_warm *w) {
  struct l2_tags *t = &s->tags;
  uint64_t addr = w->addr >> t->shift << t->shift;
  uint32_t set = l2_tags_set(t, addrmap_local(s->map, w->addr)), line = l2_tags_find(t, set, addr);
  bool there = line != L2_NONE;
  if (!there && w->write && t->valid && s->env->config->l2_write == WRITE_THROUGH) return;
  if (there && t->state[line] == L2_RESERVED) return; /* it is being fetched */
  if (!there) {
    line = l2_tags_victim(t, set);
    if (line == L2_NONE) return;
    fill_line(t, line, addr);
  }
  if (t->valid) t->valid[line] |= (uint8_t)(w->sectors & ~w->part);
  if (w->write) write_line(s, line, w->sectors, there);
  if (!there || t->stamp[line] < w->order) l2_tags_stamp(t, line, w->order, !there);
  uint32_t base = set * t->ways;
  if (t->stamp[line] == w->order) recency_place(&t->stamp[base], t->ways, line - base);
}

void l2_warm_end(struct l2_slice *s, uint64_t now) {
  struct l2_tags *t = &s->tags;
  for (uint32_t base = 0; base < t->sets * t->ways; base += t->ways) recency_rebase(&t->stamp[base], t->ways, now);
}

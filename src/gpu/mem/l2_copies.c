/* l2_copies.c - copies of a line in several slices of its memory channel, where a scheme chooses the slice (l2_slice).
 *
 * The slice that an address belongs to is its home: the only one that holds data newer than DRAM, and the one that
 * performs atomics. A store in another slice updates what is there and continues to DRAM. Three rules keep the copies
 * equal; the tags of the slices of a channel are looked up together, at no cost in time:
 *   - a read that finds the sectors it needs dirty in another slice writes them back first, by its own queue to DRAM;
 *   - a store or an atomic invalidates the sectors it touches in the other slices; data still in flight there serve
 *     the requests that wait for them and are not kept (`gone`), and later reads of them wait;
 *   - an access of a line with an atomic in flight waits for it.
 * Which of a store and a fetch of two slices reaches DRAM first is the channel's arbitration.
 */
#include "base/err.h"
#include "gpu/mem/l2.h"
#include "gpu/mem/l2_prefetch.h"

static struct l2_slice *first_of_channel(const struct l2_slice *s) {
  return (struct l2_slice *)s - s->id % s->env->config->subparts;
}

static uint32_t find_copy(const struct l2_slice *s, uint32_t set, uint64_t addr) {
  return l2_tags_find(&s->tags, set, addr >> s->tags.shift << s->tags.shift);
}

static struct l2_mshrs *mshrs_of_set(struct l2_slice *s, uint32_t set) {
  return &s->bank[s->banks == 1 ? 0 : set % s->banks].mshrs;
}

/* The MSHR of a line that is being fetched. A reserved line may have none (l2_mshr.h). */
static struct l2_mshr *mshr_of_line(struct l2_slice *s, uint32_t line) {
  const struct l2_tags *t = &s->tags;
  if (t->state[line] != L2_RESERVED) return NULL;
  struct l2_mshr *e = &mshrs_of_set(s, line / t->ways)->at[t->mshr[line]];
  return e->merged && e->line_addr == t->tag[line] ? e : NULL;
}

/* The filled MSHR of an address, which still merges; unsectored lines only. */
static struct l2_mshr *filled_mshr(struct l2_slice *s, uint32_t set, uint64_t addr) {
  struct l2_mshrs *m = mshrs_of_set(s, set);
  uint16_t i = l2_mshrs_find_ready(m, addr >> s->tags.shift << s->tags.shift);
  return i == L2_NO_MSHR ? NULL : &m->at[i];
}

bool l2_chosen(const struct l2_slice *s) {
  return s->env->hooks && s->env->hooks->slices;
}

bool l2_away(const struct l2_slice *s, uint64_t addr) {
  struct req probe = {.addr = addr};
  if (!l2_chosen(s)) return false;
  addrmap_route(s->map, &probe);
  return probe.subpart != s->id;
}

bool l2_copied(const struct l2_slice *s, uint32_t set, uint64_t addr) {
  const struct l2_slice *other = first_of_channel(s);
  for (uint32_t k = 0; l2_chosen(s) && k < s->env->config->subparts; k++)
    if (&other[k] != s && find_copy(&other[k], set, addr) != L2_NONE) return true;
  return false;
}

/* Sectors of a line that are newer than DRAM; of unsectored lines: 1. */
static uint8_t dirty_of(const struct l2_slice *s, uint32_t line) {
  if (s->tags.dirty) return s->tags.dirty[line];
  return s->tags.state[line] == L2_DIRTY && s->env->config->l2_write == WRITE_BACK;
}

/* Slice `s` writes the dirty sectors of another slice's line back. */
static void clean(struct l2_slice *s, struct l2_bank *b, struct l2_slice *other, uint32_t line, uint32_t set) {
  struct l2_tags *t = &other->tags;
  req_id wb = l2_write_back(other, line);
  struct req *w = &s->env->pool->at[wb];
  w->subpart = (uint8_t)s->id;
  if (t->dirty) {
    w->bytes = l2_burst_bytes(other, t->dirty[line]);
    w->sectors = t->dirty[line];
    s->env->stats->l2_sectors_written += (uint32_t)__builtin_popcount(t->dirty[line]);
    t->dirty[line] = 0;
  }
  if (t->state[line] == L2_DIRTY) t->state[line] = L2_VALID;
  s->env->stats->l2_copies_cleaned++;
  l2_to_dram(s, b, wb, set);
}

void l2_forget(struct l2_slice *s, uint32_t line) {
  struct l2_tags *t = &s->tags;
  if (s->env->prefetch) l2_prefetch_gone(s->env->prefetch, t->tag[line], s->env->stats);
  t->state[line] = L2_INVALID;
  t->tag[line] = UINT64_MAX;
}

/* Invalidate `sectors` of a clean line, or all of an unsectored one. */
static void drop(struct l2_slice *s, uint32_t line, uint32_t sectors) {
  struct l2_tags *t = &s->tags;
  struct l2_mshr *e = mshr_of_line(s, line);
  if (!t->valid) {
    if (!e) e = filled_mshr(s, line / t->ways, t->tag[line]);
    if (e) e->gone = 1;
    if (!e || e->ready) l2_forget(s, line);
    s->env->stats->l2_copies_dropped++;
    return;
  }
  if (e) e->gone |= (uint8_t)(t->pending[line] & sectors);
  s->env->stats->l2_copies_dropped += ((t->valid[line] | t->pending[line]) & sectors) != 0;
  t->valid[line] &= (uint8_t)~sectors;
  if (!(t->valid[line] | t->pending[line] | t->dirty[line])) l2_forget(s, line);
}

/* True if a read of `need` would join a fetch whose data are older than a store. */
static bool overtaken(struct l2_slice *s, uint32_t set, uint64_t addr, uint32_t need) {
  uint32_t line = find_copy(s, set, addr);
  if (!s->tags.valid) {
    const struct l2_mshr *e = line == L2_NONE ? filled_mshr(s, set, addr) : mshr_of_line(s, line);
    return e && e->gone;
  }
  const struct l2_mshr *e = line == L2_NONE ? NULL : mshr_of_line(s, line);
  return e && e->gone & s->tags.pending[line] & need;
}

bool l2_agree(struct l2_slice *s, struct l2_bank *b, const struct l2_op *op) {
  const struct req *r = &s->env->pool->at[op->r];
  struct l2_slice *other = first_of_channel(s);
  uint64_t addr = r->addr;
  bool changes = r->write || r->atomic;
  uint32_t need = s->tags.valid ? l2_request_sectors(s, r) : 1;
  if (!r->write && overtaken(s, op->set, addr, need)) return false;
  for (uint32_t k = 0; k < s->env->config->subparts; k++) {
    uint32_t line = &other[k] == s ? L2_NONE : find_copy(&other[k], op->set, addr);
    if (line == L2_NONE) continue;
    const struct l2_mshr *e = mshr_of_line(&other[k], line);
    if (e && e->atomic) return false;
    if (dirty_of(&other[k], line) & need) {
      if (!l2_miss_room(b, 0)) return false;
      clean(s, b, &other[k], line, op->set);
    }
    if (changes) drop(&other[k], line, need);
  }
  return true;
}

/* later.c - see later.h. */
#include "simt/core/later.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"

struct noted {
  const struct xop *o;
  char *regs;              /* the frame */
  uint64_t lo, hi;         /* of all lanes' bytes, both included */
  struct simt_run *atomic; /* posted here, `token`; NULL: a load or a store */
  uint32_t mask, sm;
  uint32_t width, token;
  bool write;
  uint64_t host[LANES];
  char data[]; /* of a store: `width` bytes of each lane */
};

/* ---- by the threads ---- */

static struct noted *add(struct later *l, size_t bytes, bool write) {
  struct later_step *s = &l->step[*l->now % LATER_STEPS];
  bytes = (bytes + 63) & ~(size_t)63;
  if (l->room - l->used < bytes) {
    l->room = 2 * l->room + 64 * 1024;
    l->bytes = mem_resize(l->bytes, l->room, 1);
  }
  if (s->n == s->room) {
    s->room = 2 * s->room + 64;
    s->at = mem_resize(s->at, s->room, sizeof *s->at);
  }
  s->at[s->n++] = l->used;
  s->stores += write;
  l->used += bytes;
  return (struct noted *)(l->bytes + l->used - bytes);
}

/* The data of a store, element by element. */
static void take_data(struct exec *x, const struct xop *o, struct noted *a) {
  const struct xaux *aux = o->aux;
  for (uint32_t v = 0; v < o->vec; v++) {
    uint32_t off = o->vec > 1 ? aux->v[v].off : o->b, slot = o->flags & XF_SRC64 ? 8 : 4;
    const char *from = OPND(char, off);
    for (uint32_t m = a->mask; m; m &= m - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(m);
      memcpy(a->data + i * a->width + v * o->elem, from + i * slot, o->elem);
    }
  }
}

void later_note(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write, const uint64_t *host,
                uint64_t delta) {
  struct noted *a = add(x->run->later, sizeof *a + (write ? LANES * width : 0), write);
  uint64_t lo = UINT64_MAX, hi = 0;
  a->atomic = NULL;
  a->o = o;
  a->regs = x->base[0];
  a->mask = mask;
  a->sm = x->cta->sm;
  a->width = width;
  a->write = write;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    uint64_t at = a->host[i] = host[i] + delta;
    lo = at < lo ? at : lo;
    hi = at > hi ? at : hi;
  }
  a->lo = lo;
  a->hi = hi + width - 1;
  if (write) take_data(x, o, a);
}

void later_post(struct simt_run *r, uint32_t token, uint32_t lanes) {
  struct noted *a = add(r->later, sizeof *a, true);
  a->atomic = r;
  a->token = token;
  a->mask = lanes;
  a->sm = r->tokens[token].cta->sm;
  a->write = true;
}

/* ---- in order ---- */

static uint32_t granule_bit(uint64_t host) {
  return (uint32_t)((host >> WRITTEN_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >> 52);
}

static void mark(struct written *w, uint64_t host) {
  uint32_t k = granule_bit(host);
  w->bits[k / 64] |= UINT64_C(1) << (k % 64);
}

static void widen_written(struct written *w, uint64_t lo, uint64_t hi) {
  w->lo = w->any && w->lo < lo ? w->lo : lo;
  w->hi = w->any && w->hi > hi ? w->hi : hi;
  w->any = true;
}

void later_wrote(struct simt_run *r, const void *host) {
  uint64_t at = (uintptr_t)host;
  struct written *w = r->written;
  widen_written(w, at, at + (1 << WRITTEN_SHIFT) - 1);
  mark(w, at);
}

static void store(struct written *w, const struct noted *a) {
  widen_written(w, a->lo, a->hi);
  for (uint32_t m = a->mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    char *to = (char *)(uintptr_t)a->host[i];
    if (a->width == 4) memcpy(to, a->data + 4 * i, 4);
    else memcpy(to, a->data + (size_t)i * a->width, a->width);
    mark(w, a->host[i]);
  }
}

/* Does it overlap with what has been written, as far as that is known? */
static bool may_overlap(const struct written *w, const struct noted *a) {
  if (a->hi < w->lo || a->lo > w->hi) return false;
  for (uint32_t m = a->mask; m; m &= m - 1) {
    uint64_t host = a->host[__builtin_ctz(m)];
    uint32_t k = granule_bit(host);
    if (w->bits[k / 64] >> (k % 64) & 1) return true;
  }
  return false;
}

static void settle_access(struct simt_run *r, const struct noted *a) {
  struct exec *x = &r->x;
  if (a->atomic) {
    bool fine = simt_atomic(a->atomic, a->token, a->mask);
    CHECK(fine, "the memory of an atomic is gone within a window");
  } else if (a->write) {
    store(r->written, a);
  } else if (r->written->any && may_overlap(r->written, a)) {
    x->base[0] = a->regs;
    mem_load_lanes(x, a->o, a->mask, a->host);
  }
}

/* Accesses of a cycle with rising numbers of SMs: those of the SMs ahead, and of those that the machine stepped. */
struct rising {
  const struct later *l;
  const size_t *at;
  uint32_t n;
};

static const struct noted *first_of(const struct rising *q) {
  return (const struct noted *)(q->l->bytes + *q->at);
}

static uint32_t split(const struct later *l, const struct later_step *s, struct rising *out) {
  uint32_t lists = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    struct rising q = {.l = l, .at = &s->at[i], .n = 1};
    if (i && first_of(&q)->sm >= ((const struct noted *)(l->bytes + s->at[i - 1]))->sm) out[lists - 1].n++;
    else out[lists++] = q;
    CHECK(lists <= 2, "accesses of SMs ahead are not in order");
  }
  return lists;
}

static void in_order(struct simt_run *r, struct rising *list, uint32_t lists) {
  while (lists) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < lists; i++)
      if (first_of(&list[i])->sm < first_of(&list[best])->sm) best = i;
    settle_access(r, first_of(&list[best]));
    list[best].at++;
    if (!--list[best].n) list[best] = list[--lists];
  }
}

void later_settle(struct simt_run *r, uint64_t now) {
  uint32_t k = now % LATER_STEPS, stores = 0, lists = 0;
  for (uint32_t i = 0; i < r->nforks; i++) stores += r->forks[i]->later->step[k].stores;
  if (stores || r->written->any) {
    struct rising list[2 * LATER_THREADS];
    for (uint32_t i = 0; i < r->nforks; i++)
      lists += split(r->forks[i]->later, &r->forks[i]->later->step[k], &list[lists]);
    in_order(r, list, lists);
  }
  for (uint32_t i = 0; i < r->nforks; i++) r->forks[i]->later->step[k].n = r->forks[i]->later->step[k].stores = 0;
}

void later_window(struct simt_run *r, bool begins) {
  for (uint32_t i = 0; i < r->nforks; i++) {
    struct later *l = r->forks[i]->later;
    r->forks[i]->ahead = begins;
    l->used = 0;
    for (uint32_t k = 0; k < LATER_STEPS; k++) l->step[k].n = l->step[k].stores = 0;
  }
  if (r->written->any) memset(r->written, 0, sizeof *r->written);
}

void later_free(struct simt_run *f) {
  struct later *l = f->later;
  if (!l) return;
  for (uint32_t k = 0; k < LATER_STEPS; k++) free(l->step[k].at);
  free(l->bytes);
  free(l);
}

/* turns.c - see turns.h. */
#include "gpu/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "gpu/icnt/icnt.h"

enum { NOT_ASKED = UINT32_MAX, NEIGHBOURS = 8 };

/* Of a kernel and grid. */
struct left {
  char *kernel;
  uint32_t ctas;
  uint32_t *sm; /* of each node of a sub-partition: SMs from that of the last CTA to the one granted last; NOT_ASKED */
};

struct turns {
  uint32_t *start; /* SM granted last, of each node, when the launch began */
  struct left *left;
  uint32_t n;
  uint64_t touched; /* launches without time so far */
};

static uint32_t nodes_of(const struct gpu *g) {
  return g->subparts * g->config.icnt_ports;
}

static struct turns *turns_made(struct gpu *g) {
  if (g->turns) return g->turns;
  g->turns = mem_zeroed(1, sizeof *g->turns);
  g->turns->start = mem_zeroed(nodes_of(g), sizeof *g->turns->start);
  return g->turns;
}

void turns_free(struct turns *t) {
  if (!t) return;
  for (uint32_t i = 0; i < t->n; i++) free(t->left[i].kernel), free(t->left[i].sm);
  free(t->left);
  free(t->start);
  free(t);
}

static struct left *find(const struct turns *t, const struct feed_kernel *k) {
  for (uint32_t i = 0; i < t->n; i++)
    if (t->left[i].ctas == k->ctas && !strcmp(t->left[i].kernel, k->name)) return &t->left[i];
  return NULL;
}

void turns_begin(struct gpu *g) {
  struct turns *t = turns_made(g);
  for (uint32_t i = 0; i < nodes_of(g); i++) t->start[i] = icnt_granted(g->icnt, g->config.sms + i);
}

void turns_end(struct gpu *g, const struct feed_kernel *k) {
  struct turns *t = turns_made(g);
  struct left *l = find(t, k);
  uint32_t n = nodes_of(g), sms = g->config.sms;
  if (!l) {
    t->left = mem_resize(t->left, t->n + 1, sizeof *t->left);
    l = &t->left[t->n++];
    *l = (struct left){.kernel = mem_text(k->name), .ctas = k->ctas};
    l->sm = mem_zeroed(n, sizeof *l->sm);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t last = icnt_granted(g->icnt, sms + i);
    l->sm[i] = last == t->start[i] ? NOT_ASKED : (last + sms - g->last_sm) % sms;
  }
}

void turns_touch(struct gpu *g, const struct feed_kernel *k) {
  const struct left *l = g->turns ? find(g->turns, k) : NULL;
  if (!l) return;
  uint32_t n = nodes_of(g), shift = (uint32_t)(hash_u64(g->turns->touched++) % NEIGHBOURS);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t sm = l->sm[(i + shift) % n];
    if (sm != NOT_ASKED) icnt_granted_last(g->icnt, g->config.sms + i, (g->last_sm + sm) % g->config.sms);
  }
}

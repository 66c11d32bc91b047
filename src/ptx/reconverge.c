/* reconverge.c - where the lanes of a warp reconverge in machine code (base/reconverge.h). */
#include <string.h>

#include "base/mem.h"
#include "base/reconverge.h"
#include "ptx/cfg.h"
#include "ptx/mach.h"

/* May a loop with this instruction end because another thread has written? */
static bool waits(const struct ptx_inst *i) {
  const struct ptx_mach *a = i->mach;
  for (uint32_t g = 0; a && !a->own && g < a->ngroup; g++)
    if (waits(&a->group[g])) return true;
  uint8_t kind = ptx_ops[i->op].kind;
  if (kind == KIND_ATOM || kind == KIND_FENCE || kind == KIND_BARRIER) return true;
  return kind == KIND_LOAD && (ptx_has(i, M_VOLATILE) || ptx_has(i, M_RELAXED) || ptx_has(i, M_ACQUIRE));
}

/* Numbers plus one. */
static void keep_regions(const struct reconvergence *r, struct ptx_module *m, struct ptx_func *f, const struct cfg *c) {
  struct ptx_regions *k = ARENA_NEW(&m->arena, struct ptx_regions);
  k->n = r->n;
  k->of = ARENA_ARRAY(&m->arena, uint32_t, f->ncode + 1);
  k->up = ARENA_ARRAY(&m->arena, uint32_t, r->n + 1);
  k->end = ARENA_ARRAY(&m->arena, uint32_t, r->n + 1);
  k->meet = ARENA_ARRAY(&m->arena, uint32_t, r->n + 1);
  k->waits = ARENA_ARRAY(&m->arena, uint8_t, r->n + 1);
  for (uint32_t q = 0; q < r->n; q++) {
    k->up[q + 1] = r->up[q] == NO_REGION ? 0 : r->up[q] + 1;
    k->end[q + 1] = c->b[r->end[q]].first;
    k->meet[q + 1] = r->meet[q] >= c->n ? PTX_EXIT : c->b[r->meet[q]].first;
  }
  for (uint32_t b = 0; b < c->n; b++)
    for (uint32_t i = c->b[b].first; i < c->b[b].end; i++) {
      k->of[i] = r->of[b] == NO_REGION ? 0 : r->of[b] + 1;
      if (!waits(&f->code[i])) continue;
      for (uint32_t q = k->of[i]; q; q = k->up[q]) k->waits[q] = 1;
    }
  f->regions = k;
}

void cfg_reconverge(struct ptx_module *m, struct ptx_func *f, const struct cfg *c) {
  uint8_t *flags = ARENA_ARRAY(c->scratch, uint8_t, c->n + 1);
  for (uint32_t k = 0; k < c->n; k++) {
    const struct ptx_inst *last = &f->code[c->b[k].end - 1];
    bool alone = last->op == OP_BRA && !last->guard && c->b[k].end == c->b[k].first + 1;
    flags[k] = (uint8_t)((last->guard && cfg_leaves(last) ? ENDS_SOME : 0) | (ptx_has(last, M_UNI) ? TOGETHER : 0) |
                         (alone ? LEADS_ON : 0) | (last->op == OP_BRX ? CHOOSES : 0));
  }
  struct reconvergence r = graph_reconverge(&c->ahead, &c->back, flags, f->mach_sm >= 90, c->scratch);
  for (uint32_t k = 0; k < c->n; k++)
    if (r.at[k] != GRAPH_NONE) f->code[c->b[k].end - 1].reconv = r.at[k] == c->n ? PTX_EXIT : c->b[r.at[k]].first;
  if (r.n) keep_regions(&r, m, f, c);
}

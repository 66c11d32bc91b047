/* yield.c - a loop's variable takes its next value by a copy at the end (`mov x, y`). It costs nothing if both share a
 * register: that is, if y is made after x was read last. Where that may be, y is made later; not behind an access of
 * memory, which reads its registers late (ptxas copies them for it).
 */
#include "back/back_impl.h"

static bool uses_register(const struct node *n, uint16_t r) {
  for (uint32_t u = 0; u < n->nuse; u++)
    if (n->use[u] == r) return true;
  return false;
}

static bool sets_register(const struct node *n, uint16_t r) {
  for (uint32_t d = 0; d < n->ndef; d++)
    if (n->def[d] == r) return true;
  return false;
}

/* May node n come after node x, which follows it? */
static bool may_follow(const struct node *n, const struct node *x) {
  for (uint32_t d = 0; d < n->ndef; d++)
    if (uses_register(x, n->def[d]) || sets_register(x, n->def[d])) return false;
  for (uint32_t u = 0; u < n->nuse; u++)
    if (sets_register(x, n->use[u])) return false;
  return true;
}

/* Moves the definition of the value that the copy at `at` takes behind the last reader of what the copy replaces. */
static void make_later(struct back *k, uint32_t at) {
  const struct ptx_inst *copy = k->n[at].in;
  uint16_t x = copy->ops[0].reg->num, y = copy->ops[1].reg->num;
  uint32_t d = k->r[y].def, last = 0;
  if (d == NODE_NONE || d >= at || k->n[d].block != k->n[at].block || k->r[y].konst) return;
  const struct ptx_inst *in = k->n[d].in;
  if (in->guard || !back_movable(in) || ptx_ops[in->op].kind != KIND_ALU || k->n[d].ndef != 1) return;
  for (uint32_t q = d + 1; q < at; q++)
    if (uses_register(&k->n[q], x)) {
      if (ptx_ops[k->n[q].in->op].kind != KIND_ALU) return;
      last = q;
    }
  for (uint32_t q = d + 1; q <= last; q++)
    if (!may_follow(&k->n[d], &k->n[q])) return;
  if (!last) return;
  struct node moved = k->n[d];
  for (uint32_t q = d; q < last; q++) k->n[q] = k->n[q + 1];
  k->n[last] = moved;
  for (uint32_t q = d; q <= last; q++)
    for (uint32_t r = 0; r < k->n[q].ndef; r++)
      if (k->r[k->n[q].def[r]].def != NODE_NONE) k->r[k->n[q].def[r]].def = q;
}

void back_yield(struct back *k) {
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct ptx_inst *in = k->n[i].in;
    bool copy = in->op == OP_MOV && !in->guard && in->nops == 2 && in->ops[0].kind == OK_REG &&
                in->ops[1].kind == OK_REG && !in->ops[1].sel && !in->ops[1].neg;
    if (copy && k->n[i].role == ROLE_COST && k->r[in->ops[0].reg->num].def == NODE_NONE) make_later(k, i);
  }
}

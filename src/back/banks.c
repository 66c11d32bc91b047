/* banks.c - the two banks of the register file: what one instruction reads together lies in both, as ptxas 11.8 has it
 * (nine of ten instructions of two operands). Registers that should differ form groups of two sides; a pair begins in
 * the even bank.
 */
#include "back/back_impl.h"

enum { PAIRS = 0 }; /* stands for all pairs */

static uint16_t root_of(const struct banks *g, uint16_t r, uint8_t *side) {
  uint8_t s = 0;
  while (g->parent[r] != r) s ^= g->side[r], r = g->parent[r];
  *side = s;
  return r;
}

static bool in_one_group(const struct banks *g, uint16_t a, uint16_t b, bool *apart) {
  uint8_t x, y;
  bool same = root_of(g, a, &x) == root_of(g, b, &y);
  *apart = same && x != y;
  return same;
}

static void keep_apart(struct banks *g, uint16_t a, uint16_t b) {
  uint8_t x, y;
  uint16_t ra = root_of(g, a, &x), rb = root_of(g, b, &y);
  if (ra == rb) return;
  if (ra == PAIRS) ra = rb, rb = PAIRS;
  g->parent[ra] = rb;
  g->side[ra] = x ^ y ^ 1;
}

/* The registers that an instruction of arithmetic reads: at most three. */
static uint32_t operands(const struct back *k, const struct node *n, uint16_t *out) {
  uint32_t m = 0;
  if (n->role != ROLE_COST || n->nops != 1) return 0;
  uint8_t cls = mach_infos[n->ops[0]].cls;
  bool store = cls == MC_STG || cls == MC_STS || cls == MC_STL || cls == MC_ATOM; /* of a value: the address, too */
  if (cls >= MC_LDG && cls <= MC_TEX && !store) return 0;
  if (store && n->addr) out[m++] = back_weight(k, n->addr) > 1 ? PAIRS : n->addr;
  for (uint32_t q = 0; q < n->nsrc; q++) {
    uint32_t w = back_weight(k, n->src[q]);
    if (!w) continue;
    if (m == 3) return 0;
    out[m++] = w > 1 ? PAIRS : n->src[q];
  }
  return m;
}

static void three(struct banks *g, const uint16_t *r) {
  bool apart, any = false;
  for (uint32_t q = 0; q < 3; q++) any |= in_one_group(g, r[q], r[(q + 1) % 3], &apart) && apart;
  for (uint32_t q = 0; q < 3 && !any; q++)
    if (!in_one_group(g, r[q], r[(q + 1) % 3], &apart)) keep_apart(g, r[q], r[(q + 1) % 3]), any = true;
}

/* Inner loops first, and of one depth instructions of two operands. */
struct banks back_banks(struct back *k) {
  struct banks g = {.parent = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1),
                    .side = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1),
                    .odd = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1)};
  uint16_t r[3];
  uint32_t deepest = 0;
  for (uint32_t x = 0; x <= k->nregs; x++) g.parent[x] = (uint16_t)x;
  for (uint32_t q = 0; q < k->nb; q++)
    if (k->b[q].depth > deepest) deepest = k->b[q].depth;
  for (uint32_t pass = 0; pass < 2 * (deepest + 1); pass++)
    for (uint32_t q = 0; q < k->nb; q++) {
      if (k->b[q].depth != deepest - pass / 2) continue;
      for (uint32_t i = k->b[q].first; i < k->b[q].end; i++) {
        uint32_t n = operands(k, &k->n[k->seq ? k->seq[i] : i], r);
        if (n == 2 && pass % 2 == 0) keep_apart(&g, r[0], r[1]);
        if (n == 3 && pass % 2 == 1) three(&g, r);
      }
    }
  g.odd[PAIRS] = BANK_EVEN;
  return g;
}

uint8_t back_bank_of(const struct banks *g, uint16_t r) {
  uint8_t side, bank = g->odd[root_of(g, r, &side)];
  return bank == BANK_ANY ? BANK_ANY : side ? 3 - bank : bank;
}

void back_take_bank(struct banks *g, uint16_t r, bool odd) {
  uint8_t side;
  uint16_t root = root_of(g, r, &side);
  if (g->odd[root] == BANK_ANY) g->odd[root] = (odd != (bool)side) ? BANK_ODD : BANK_EVEN;
}

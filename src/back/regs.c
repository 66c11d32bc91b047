/* regs.c - which machine registers are live where, and how many a kernel takes. */
#include <string.h>

#include "back/back_impl.h"

uint32_t back_weight(const struct back *k, uint16_t r) {
  enum ptx_type t = (enum ptx_type)k->f->regs[r]->type;
  return t == T_PRED ? 0 : ptx_type_bytes[t] <= 4 ? 1 : ptx_type_bytes[t] / 4;
}

static uint32_t add_once(uint16_t *out, uint32_t n, uint16_t r) {
  for (uint32_t q = 0; q < n; q++)
    if (out[q] == r) return n;
  out[n] = r;
  return n + 1;
}

uint32_t back_reads(const struct back *k, const struct node *n, uint16_t *out) {
  (void)k;
  uint32_t m = 0;
  if (n->role != ROLE_COST) return 0;
  for (uint32_t q = 0; q < n->nsrc; q++) m = add_once(out, m, n->src[q]);
  if (n->addr) m = add_once(out, m, n->addr);
  if (n->pred) m = add_once(out, m, n->pred);
  return m;
}

uint32_t back_writes(const struct back *k, const struct node *n, uint16_t *out) {
  uint32_t m = 0;
  if (n->role != ROLE_COST) return 0;
  if (n->fresh) m = add_once(out, m, n->fresh);
  for (uint32_t q = 0; q < n->ndef; q++) m = add_once(out, m, back_same(k, n->def[q]));
  return m;
}

bool back_overwrites(const struct node *n) {
  return !n->in || !n->in->guard;
}

static const struct node *at_place(const struct back *k, uint32_t i) {
  return &k->n[k->seq ? k->seq[i] : i];
}

static void local_sets(const struct back *k, const struct live *l, uint32_t q, uint64_t *use, uint64_t *def) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  (void)l;
  for (uint32_t i = k->b[q].end; i-- > k->b[q].first;) {
    const struct node *n = at_place(k, i);
    uint32_t m = back_writes(k, n, r);
    for (uint32_t s = 0; s < m; s++) {
      bool whole = back_overwrites(n) || k->r[r[s]].ssa;
      if (whole) use[r[s] / 64] &= ~(1ull << r[s] % 64), def[r[s] / 64] |= 1ull << r[s] % 64;
    }
    m = back_reads(k, n, r);
    for (uint32_t s = 0; s < m; s++) use[r[s] / 64] |= 1ull << r[s] % 64;
  }
}

struct live back_liveness(struct back *k) {
  struct live l = {.words = k->nregs / 64 + 1};
  size_t row = l.words;
  l.in = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  l.out = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  uint64_t *use = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  uint64_t *def = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  for (uint32_t q = 0; q < k->nb; q++) local_sets(k, &l, q, use + q * row, def + q * row);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t q = k->nb; q-- > 0;) {
      for (uint32_t s = 0; s < back_successors(k, q); s++) {
        const uint64_t *in = l.in + back_successor(k, q, s) * row;
        for (uint32_t w = 0; w < row; w++) l.out[q * row + w] |= in[w];
      }
      for (uint32_t w = 0; w < row; w++) {
        uint64_t v = use[q * row + w] | (l.out[q * row + w] & ~def[q * row + w]);
        if (v != l.in[q * row + w]) l.in[q * row + w] = v, changed = true;
      }
    }
  }
  return l;
}

/* ---- physical registers: each takes the first that is free in all stretches of the schedule where it is live, in the
 * order of their begins ---- */

/* A stretch: from the place after which the value is there up to the one that reads it last. */
struct stretch {
  uint32_t from, to, next; /* next: of the same register + 1 */
};

struct places {
  struct back *k;
  struct stretch *at;
  uint32_t n, cap;
  uint32_t *of;    /* by register: first stretch + 1 */
  uint32_t *until; /* by register: end of the stretch under way, going backwards; 0: not live */
};

static void add_stretch(struct places *p, uint16_t r, uint32_t from, uint32_t to) {
  if (p->n == p->cap) {
    struct stretch *s = ARENA_ARRAY(&p->k->scratch, struct stretch, p->cap = 2 * p->cap + 256);
    if (p->n) memcpy(s, p->at, p->n * sizeof *s);
    p->at = s;
  }
  p->at[p->n++] = (struct stretch){.from = from, .to = to, .next = p->of[r]};
  p->of[r] = p->n;
}

static void block_stretches(struct places *p, const struct live *l, uint32_t q) {
  const struct back *k = p->k;
  const uint64_t *out = l->out + (size_t)q * l->words, *in = l->in + (size_t)q * l->words;
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t x = 1; x <= k->nregs; x++)
    if (out[x / 64] >> (x % 64) & 1) p->until[x] = k->b[q].end + 1;
  for (uint32_t i = k->b[q].end; i-- > k->b[q].first;) { /* places begin at 1 */
    const struct node *n = at_place(k, i);
    uint32_t m = back_writes(k, n, r);
    for (uint32_t s = 0; s < m; s++) {
      bool whole = back_overwrites(n) || k->r[r[s]].ssa;
      if (!p->until[r[s]]) add_stretch(p, r[s], i + 1, i + 2);
      else if (whole) add_stretch(p, r[s], i + 1, p->until[r[s]]), p->until[r[s]] = 0;
    }
    m = back_reads(k, n, r);
    for (uint32_t s = 0; s < m; s++)
      if (!p->until[r[s]]) p->until[r[s]] = i + 1;
  }
  for (uint32_t x = 1; x <= k->nregs; x++) {
    if (p->until[x] && in[x / 64] >> (x % 64) & 1) add_stretch(p, (uint16_t)x, k->b[q].first + 1, p->until[x]);
    p->until[x] = 0;
  }
}

enum { FILE_SIZE = 256 };

static bool is_free(const struct places *p, const uint64_t *busy, uint16_t r) {
  for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
    for (uint32_t x = p->at[s - 1].from; x < p->at[s - 1].to; x++) {
      if (x % 64 == 0 && x + 64 <= p->at[s - 1].to) { /* a word at a time */
        if (busy[x / 64]) return false;
        x += 63;
      } else if (busy[x / 64] >> (x % 64) & 1) {
        return false;
      }
    }
  return true;
}

static void occupy(const struct places *p, uint64_t *busy, uint16_t r) {
  for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
    for (uint32_t x = p->at[s - 1].from; x < p->at[s - 1].to; x++) busy[x / 64] |= 1ull << x % 64;
}

/* The first of `w` neighbours that are free, at a multiple of w. */
static uint32_t find_place(const struct places *p, uint64_t *const *busy, uint16_t r, uint32_t w) {
  for (uint32_t at = 0; at + w <= FILE_SIZE; at += w) {
    bool room = true;
    for (uint32_t q = 0; q < w && room; q++) room = is_free(p, busy[at + q], r);
    if (room) return at;
  }
  return r % (FILE_SIZE - 4);
}

static uint32_t assign(const struct places *p, uint32_t places, uint16_t *bank) {
  struct back *k = p->k;
  uint64_t *busy[FILE_SIZE];
  size_t words = places / 64 + 1;
  uint64_t *bits = ARENA_ARRAY(&k->scratch, uint64_t, words * FILE_SIZE);
  for (uint32_t q = 0; q < FILE_SIZE; q++) busy[q] = bits + q * words;
  uint32_t *head = ARENA_ARRAY(&k->scratch, uint32_t, places + 1),
           *next = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  for (uint32_t r = k->nregs; r > 0; r--) {
    uint32_t first = UINT32_MAX;
    if (!p->of[r] || !back_weight(k, (uint16_t)r)) continue;
    for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
      if (p->at[s - 1].from < first) first = p->at[s - 1].from;
    next[r] = head[first];
    head[first] = r;
  }
  uint32_t most = 0;
  for (uint32_t at = 0; at <= places; at++)
    for (uint32_t r = head[at]; r; r = next[r]) {
      uint32_t w = back_weight(k, (uint16_t)r), first = find_place(p, busy, (uint16_t)r, w);
      for (uint32_t q = 0; q < w; q++) occupy(p, busy[first + q], (uint16_t)r);
      if (first + w > most) most = first + w;
      bank[r] = (uint16_t)first;
    }
  return most;
}

uint32_t back_registers(struct back *k, uint16_t *bank) {
  struct live l = back_liveness(k);
  struct places p = {.k = k};
  p.of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.until = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  for (uint32_t q = 0; q < k->nb; q++) block_stretches(&p, &l, q);
  return assign(&p, k->b[k->nb - 1].end + 2, bank);
}

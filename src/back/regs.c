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

/* ---- physical registers: linear scan over stretches of the schedule (Poletto and Sarkar, 1999) ---- */

static void cover(uint32_t *first, uint32_t *last, uint16_t r, uint32_t at) {
  if (at < first[r]) first[r] = at;
  if (at > last[r]) last[r] = at;
}

static void stretches(struct back *k, const struct live *l, uint32_t *first, uint32_t *last) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t q = 0; q < k->nb; q++) {
    const uint64_t *in = l->in + (size_t)q * l->words, *out = l->out + (size_t)q * l->words;
    for (uint32_t x = 1; x <= k->nregs; x++) {
      if (in[x / 64] >> (x % 64) & 1) cover(first, last, (uint16_t)x, k->b[q].first);
      if (out[x / 64] >> (x % 64) & 1) cover(first, last, (uint16_t)x, k->b[q].end);
    }
    for (uint32_t i = k->b[q].first; i < k->b[q].end; i++) {
      const struct node *n = at_place(k, i);
      uint32_t m = back_reads(k, n, r);
      for (uint32_t s = 0; s < m; s++) cover(first, last, r[s], i);
      m = back_writes(k, n, r);
      for (uint32_t s = 0; s < m; s++) cover(first, last, r[s], i);
    }
  }
}

static uint32_t assign(const struct back *k, const uint32_t *first, const uint32_t *last, uint32_t places,
                       uint16_t *bank) {
  enum { FILE_SIZE = 256 };
  uint32_t until[FILE_SIZE] = {0}, most = 0;
  uint32_t *head = ARENA_ARRAY((struct arena *)&k->scratch, uint32_t, places + 2);
  uint32_t *next = ARENA_ARRAY((struct arena *)&k->scratch, uint32_t, k->nregs + 1);
  for (uint32_t r = k->nregs; r > 0; r--) {
    if (first[r] == UINT32_MAX || !back_weight(k, (uint16_t)r)) continue;
    next[r] = head[first[r]];
    head[first[r]] = r;
  }
  for (uint32_t at = 0; at <= places; at++)
    for (uint32_t r = head[at]; r; r = next[r]) {
      uint32_t w = back_weight(k, (uint16_t)r), p = 0;
      for (; p + w <= FILE_SIZE; p += w) {
        bool room = true;
        for (uint32_t q = 0; q < w; q++) room &= until[p + q] <= at;
        if (room) break;
      }
      if (p + w > FILE_SIZE) p = r % (FILE_SIZE - 4);
      for (uint32_t q = 0; q < w; q++) until[p + q] = last[r];
      if (p + w > most) most = p + w;
      bank[r] = (uint16_t)p;
    }
  return most;
}

uint32_t back_registers(struct back *k, uint16_t *bank) {
  struct live l = back_liveness(k);
  uint32_t *first = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1),
           *last = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  memset(first, 0xff, (k->nregs + 1) * sizeof *first);
  uint32_t places = k->b[k->nb - 1].end;
  stretches(k, &l, first, last);
  return assign(k, first, last, places, bank);
}

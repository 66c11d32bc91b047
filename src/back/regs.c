/* regs.c - which machine registers are live where, and how many a kernel takes. */
#include <string.h>

#include "back/back_impl.h"

uint32_t back_weight(const struct back *k, uint16_t r) {
  enum ptx_type t = (enum ptx_type)k->f->regs[r]->type;
  if (t == T_PRED || k->r[r].uniform) return 0;
  return (ptx_type_bytes[t] <= 4 ? 1 : ptx_type_bytes[t] / 4) - k->r[r].spared;
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
  if (n->role != ROLE_COST && !n->passes) return 0;
  for (uint32_t q = 0; q < n->nsrc; q++) m = add_once(out, m, n->src[q]);
  if (n->addr) m = add_once(out, m, n->addr);
  if (n->pred) m = add_once(out, m, n->pred);
  return m;
}

uint32_t back_writes(const struct back *k, const struct node *n, uint16_t *out) {
  uint32_t m = 0;
  if (n->role != ROLE_COST && !n->passes) return 0;
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
  uint32_t from, to, late, next; /* late: its register stays free up to there; next: of the same register + 1 */
};

struct places {
  struct back *k;
  struct stretch *at;
  uint32_t n, cap;
  uint32_t *of;    /* by register: first stretch + 1 */
  uint32_t *until; /* by register: end of the stretch under way, going backwards; 0: not live */
  uint32_t *late;
  bool apart; /* accesses of memory read late: their registers stay free for a while */
  struct banks banks;
};

static void add_stretch(struct places *p, uint16_t r, uint32_t from, uint32_t to, uint32_t late) {
  if (p->n == p->cap) {
    struct stretch *s = ARENA_ARRAY(&p->k->scratch, struct stretch, p->cap = 2 * p->cap + 256);
    if (p->n) memcpy(s, p->at, p->n * sizeof *s);
    p->at = s;
  }
  p->at[p->n++] = (struct stretch){.from = from, .to = to, .late = late, .next = p->of[r]};
  p->of[r] = p->n;
}

/* Up to where a register that node n at place i reads last is not free for another. */
static uint32_t last_place(const struct places *p, const struct node *n, uint32_t i, uint32_t end) {
  enum { AFTER_ACCESS = 10 };
  uint8_t cls = n->nops ? mach_infos[n->ops[n->nops - 1]].cls : MC_OTHER;
  uint32_t at = i + 1;
  if (!p->apart || cls < MC_LDG || cls > MC_TEX) return at;
  for (uint32_t passed = 0; at < end && passed < AFTER_ACCESS; at++) {
    const struct node *x = at_place(p->k, at);
    passed += x->role == ROLE_COST ? x->nops : 0;
  }
  return at;
}

static void block_stretches(struct places *p, const struct live *l, uint32_t q) {
  const struct back *k = p->k;
  const uint64_t *out = l->out + (size_t)q * l->words, *in = l->in + (size_t)q * l->words;
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t x = 1; x <= k->nregs; x++)
    if (out[x / 64] >> (x % 64) & 1) p->until[x] = p->late[x] = k->b[q].end + 1;
  for (uint32_t i = k->b[q].end; i-- > k->b[q].first;) { /* places begin at 1 */
    const struct node *n = at_place(k, i);
    uint32_t m = back_writes(k, n, r);
    for (uint32_t s = 0; s < m; s++) {
      bool whole = back_overwrites(n) || k->r[r[s]].ssa;
      bool masked = n->nops && mach_infos[n->ops[n->nops - 1]].cls == MC_TEX; /* unread results take no register */
      if (!p->until[r[s]] && !masked) add_stretch(p, r[s], i + 1, i + 2, i + 2);
      if (p->until[r[s]] && whole) add_stretch(p, r[s], i + 1, p->until[r[s]], p->late[r[s]]), p->until[r[s]] = 0;
    }
    m = back_reads(k, n, r);
    for (uint32_t s = 0; s < m; s++)
      if (!p->until[r[s]]) p->until[r[s]] = i + 1, p->late[r[s]] = last_place(p, n, i, k->b[q].end);
  }
  for (uint32_t x = 1; x <= k->nregs; x++) {
    if (p->until[x] && in[x / 64] >> (x % 64) & 1)
      add_stretch(p, (uint16_t)x, k->b[q].first + 1, p->until[x], p->late[x]);
    p->until[x] = 0;
  }
}

enum { FILE_SIZE = 256 };

static uint32_t end_of(const struct stretch *s, bool late) {
  return late ? s->late : s->to;
}

/* `late`: with the places after an access of memory where its registers wait. */
static bool is_free(const struct places *p, const uint64_t *busy, uint16_t r, bool late) {
  for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
    for (uint32_t x = p->at[s - 1].from, end = end_of(&p->at[s - 1], late); x < end; x++) {
      if (x % 64 == 0 && x + 64 <= end) { /* a word at a time */
        if (busy[x / 64]) return false;
        x += 63;
      } else if (busy[x / 64] >> (x % 64) & 1) {
        return false;
      }
    }
  return true;
}

static void occupy(const struct places *p, uint64_t *busy, uint16_t r, bool late) {
  for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
    for (uint32_t x = p->at[s - 1].from, end = end_of(&p->at[s - 1], late); x < end; x++)
      busy[x / 64] |= 1ull << x % 64;
}

/* What is allocated: by physical register the places where it has a value, and those where it waits as well. */
struct file {
  uint64_t *live[FILE_SIZE], *busy[FILE_SIZE];
  uint16_t *bank; /* by register: its first physical one */
};

static bool has_room(const struct places *p, uint64_t *const *busy, uint16_t r, uint32_t at, uint32_t w, bool late) {
  for (uint32_t q = 0; q < w; q++)
    if (!is_free(p, busy[at + q], r, late)) return false;
  return true;
}

/* A load may put its result where its address was. */
static uint32_t place_of_address(const struct places *p, const struct file *f, uint16_t r, uint32_t w, uint8_t bank) {
  const struct back *k = p->k;
  uint32_t d = k->r[r].def;
  const struct node *n = d == NODE_NONE || !p->apart ? NULL : &k->n[d];
  if (!n || !n->in || n->ndef != 1 || n->def[0] != r || !n->addr || ptx_ops[n->in->op].kind != KIND_LOAD)
    return FILE_SIZE;
  uint32_t from = f->bank[n->addr], end = from + back_weight(k, n->addr);
  for (uint32_t at = bank == BANK_ODD ? from | 1 : from; at + w <= end; at++)
    if (at % w == 0 && has_room(p, f->live, r, at, w, false)) return at;
  return FILE_SIZE;
}

/* The first of `w` neighbours that are free, at a multiple of w; of single ones the first of its bank. */
static uint32_t find_place(struct places *p, const struct file *f, uint16_t r, uint32_t w) {
  uint8_t bank = p->apart && w == 1 ? back_bank_of(&p->banks, r) : BANK_ANY;
  uint32_t at = place_of_address(p, f, r, w, bank);
  if (at == FILE_SIZE)
    for (at = bank == BANK_ODD; at + w <= FILE_SIZE; at += bank == BANK_ANY ? w : 2)
      if (has_room(p, f->busy, r, at, w, true)) break;
  if (at + w > FILE_SIZE) return r % (FILE_SIZE - 4);
  if (p->apart && w == 1) back_take_bank(&p->banks, r, at % 2);
  return at;
}

/* ---- subroutines for rare operands: one of a kind in a kernel, its registers apart from what is live across any call
 * of it ---- */

/* Registers of the subroutine, arguments and return address among them (ptxas 11.8); 0: none is called. */
static uint32_t subroutine(const struct back *k, const struct ptx_inst *i, uint32_t *kind) {
  static const struct {
    uint16_t op;
    uint8_t bytes, registers;
    bool is_float;
  } subs[] = {{OP_DIV, 4, 11, true},   {OP_RCP, 4, 11, true},  {OP_SQRT, 4, 7, true},
              {OP_DIV, 8, 18, true},   {OP_RCP, 8, 10, true},  {OP_SQRT, 8, 12, true},
              {OP_RSQRT, 8, 12, true}, {OP_DIV, 8, 14, false}, {OP_REM, 8, 14, false}};
  for (*kind = 0; *kind < sizeof subs / sizeof *subs; ++*kind)
    if (subs[*kind].op == i->op && subs[*kind].bytes == ptx_type_bytes[i->types[0]] &&
        subs[*kind].is_float == (ptx_type_kinds[i->types[0]] == 'f'))
      return back_branches(k, i) ? subs[*kind].registers : 0;
  return 0;
}

static bool is_busy(const uint64_t *busy, uint32_t place) {
  return busy[place / 64] >> (place % 64) & 1;
}

/* How many registers a kernel needs for its subroutines. */
static uint32_t with_subroutines(const struct back *k, uint64_t *const *busy, const uint16_t *bank) {
  enum { KINDS = 16 };
  uint8_t across[KINDS][FILE_SIZE] = {{0}};
  uint32_t need[KINDS] = {0}, most = 0, kind;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = at_place(k, i);
    uint32_t m = n->in && n->role == ROLE_COST ? subroutine(k, n->in, &kind) : 0;
    uint16_t result = m && n->ndef == 1 ? bank[back_same(k, n->def[0])] : FILE_SIZE;
    if (!m) continue;
    need[kind] = m;
    for (uint32_t q = 0; q < FILE_SIZE; q++)
      across[kind][q] |= q != result && is_busy(busy[q], i) && is_busy(busy[q], i + 1);
  }
  for (kind = 0; kind < KINDS; kind++)
    for (uint32_t q = 0; q < FILE_SIZE && need[kind]; q++)
      if (!across[kind][q] && !--need[kind] && q + 1 > most) most = q + 1;
  return most;
}

static uint32_t assign(struct places *p, uint32_t places, uint16_t *bank) {
  struct back *k = p->k;
  struct file f = {.bank = bank};
  size_t words = places / 64 + 1;
  uint64_t *bits = ARENA_ARRAY(&k->scratch, uint64_t, 2 * words * FILE_SIZE);
  for (uint32_t q = 0; q < FILE_SIZE; q++) f.live[q] = bits + 2 * q * words, f.busy[q] = f.live[q] + words;
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
      uint32_t w = back_weight(k, (uint16_t)r), first = find_place(p, &f, (uint16_t)r, w);
      for (uint32_t q = 0; q < w; q++) {
        occupy(p, f.live[first + q], (uint16_t)r, false);
        occupy(p, f.busy[first + q], (uint16_t)r, true);
      }
      if (first + w > most) most = first + w;
      bank[r] = (uint16_t)first;
    }
  uint32_t subs = with_subroutines(k, f.live, bank);
  return subs > most ? subs : most;
}

uint32_t back_registers(struct back *k, uint16_t *bank, bool apart) {
  struct live l = back_liveness(k);
  struct places p = {.k = k, .apart = apart};
  p.of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.until = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.late = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  if (apart) p.banks = back_banks(k);
  for (uint32_t q = 0; q < k->nb; q++) block_stretches(&p, &l, q);
  return assign(&p, k->b[k->nb - 1].end + 2, bank);
}

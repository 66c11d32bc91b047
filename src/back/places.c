/* places.c - physical registers: each register of the machine takes the first that is free in all stretches of the
 * schedule where it is live, in the order of their begins; the registers of one access of memory are neighbours.
 */
#include <string.h>

#include "back/back_impl.h"

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
  uint32_t places;       /* of the schedule, and one more */
  uint32_t *head, *next; /* by place: the first register that begins there; by register: the next one; 0: none */
  uint16_t *readers;     /* by register: nodes that read it */
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
    const struct node *x = back_node_at(p->k, at);
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
    const struct node *n = back_node_at(k, i);
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

/* ---- registers at fixed distances: of one access of memory, or the lower half of a pair and the pair ---- */

enum { TIED = 4 };
struct tie {
  uint16_t r[TIED];
  uint8_t at[TIED]; /* behind the first physical register of all */
  uint8_t n, width; /* registers of the machine; physical ones */
};

struct ties {
  struct tie *t;
  uint32_t n;
  uint32_t *of; /* by register: its tie + 1 */
};

static void add_tie(struct ties *all, const struct tie *t) {
  all->t[all->n++] = *t;
  for (uint32_t q = 0; q < t->n; q++) all->of[t->r[q]] = all->n;
}

static void tie_vector(const struct back *k, struct ties *all, const uint16_t *r, uint32_t n) {
  struct tie t = {.n = (uint8_t)n};
  for (uint32_t q = 0; q < n; q++) {
    uint16_t x = back_same(k, r[q]);
    for (uint32_t s = 0; s < q; s++)
      if (t.r[s] == x) return;
    if (!back_weight(k, x) || all->of[x]) return;
    t.r[q] = x;
    t.at[q] = t.width;
    t.width += (uint8_t)back_weight(k, x);
  }
  if (t.width <= TIED) add_tie(all, &t);
}

static bool overlap(const struct places *p, uint16_t a, uint16_t b) {
  for (uint32_t s = p->of[a]; s; s = p->at[s - 1].next)
    for (uint32_t t = p->of[b]; t; t = p->at[t - 1].next)
      if (p->at[s - 1].from < p->at[t - 1].to && p->at[t - 1].from < p->at[s - 1].to) return true;
  return false;
}

static void tie_half(const struct places *p, struct ties *all, const struct node *n) {
  uint16_t pair = back_pair_of_half(p->k, n);
  if (!pair || !back_weight(p->k, n->fresh) || all->of[pair] || overlap(p, n->fresh, pair)) return;
  add_tie(all, &(struct tie){.r = {n->fresh, pair}, .n = 2, .width = 2});
}

/* Loads first: a store copies what lies otherwise. */
static struct ties find_ties(const struct places *p) {
  struct back *k = p->k;
  struct ties all = {.t = ARENA_ARRAY(&k->scratch, struct tie, k->nn + 1),
                     .of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1)};
  for (uint32_t stores = 0; stores < 2; stores++)
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      if (n->role != ROLE_COST || !n->in || !n->nops) continue;
      uint8_t kind = ptx_ops[n->in->op].kind;
      if (!stores && kind == KIND_LOAD && n->ndef >= 2 && n->ndef <= TIED) tie_vector(k, &all, n->def, n->ndef);
      if (stores && kind == KIND_STORE && n->nsrc >= 2 && n->nsrc <= TIED) tie_vector(k, &all, n->src, n->nsrc);
    }
  for (uint32_t i = 0; i + 1 < k->nn; i++) tie_half(p, &all, &k->n[i]);
  return all;
}

/* ---- the register file ---- */

enum { FILE_SIZE = 256, STACK_POINTER = 1 };

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
  struct places *p;
  uint64_t *live[FILE_SIZE], *busy[FILE_SIZE];
  uint16_t *bank;  /* by register: its first physical one */
  uint8_t *placed; /* by register */
};

/* Physical registers of which only the places where they have a value count. */
struct span {
  uint32_t from, end;
};

static bool has_room(const struct file *f, const struct tie *t, uint32_t at, struct span over) {
  if (at + t->width > FILE_SIZE) return false;
  for (uint32_t q = 0; q < t->n; q++)
    for (uint32_t w = back_weight(f->p->k, t->r[q]), x = at + t->at[q]; w-- > 0; x++) {
      bool late = x < over.from || x >= over.end;
      if (!is_free(f->p, late ? f->busy[x] : f->live[x], t->r[q], late)) return false;
    }
  return true;
}

/* Where the address of the load is that makes the registers, if nothing else reads it: they may lie there. */
static struct span span_of_address(const struct file *f, const struct tie *t) {
  const struct back *k = f->p->k;
  uint32_t d = k->r[t->r[0]].def;
  const struct node *n = d == NODE_NONE || !f->p->apart ? NULL : &k->n[d];
  struct span none = {0, 0};
  if (!n || !n->in || !n->ndef || n->def[0] != t->r[0] || !n->addr || ptx_ops[n->in->op].kind != KIND_LOAD) return none;
  if (!f->placed[n->addr] || f->p->readers[n->addr] > 1) return none;
  return (struct span){f->bank[n->addr], f->bank[n->addr] + back_weight(k, n->addr)};
}

/* The first neighbours that are free, at a multiple of their number; of single ones the first of its bank. */
static uint32_t find_place(struct file *f, const struct tie *t) {
  struct places *p = f->p;
  bool single = p->apart && t->width == 1;
  uint8_t bank = single ? back_bank_of(&p->banks, t->r[0]) : BANK_ANY;
  uint32_t align = t->width > 2 ? 4 : t->width, step = bank == BANK_ANY ? align : 2, odd = bank == BANK_ODD, at;
  struct span over = span_of_address(f, t);
  for (at = over.from / align * align + odd; at < over.end; at += step)
    if (has_room(f, t, at, over)) break;
  if (at >= over.end)
    for (at = odd; at + t->width <= FILE_SIZE; at += step)
      if (has_room(f, t, at, (struct span){0, 0})) break;
  if (at + t->width > FILE_SIZE) return t->r[0] % (FILE_SIZE / TIED) * TIED;
  if (single) back_take_bank(&p->banks, t->r[0], at % 2);
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
    const struct node *n = back_node_at(k, i);
    uint32_t m = n->in && n->role == ROLE_COST ? subroutine(k, n->in, &kind) : 0;
    uint16_t result = m && n->ndef == 1 ? bank[back_same(k, n->def[0])] : FILE_SIZE;
    if (!m) continue;
    need[kind] = m;
    for (uint32_t q = 0; q < FILE_SIZE; q++)
      across[kind][q] |= q != result && is_busy(busy[q], i) && is_busy(busy[q], i + 1);
  }
  for (kind = 0; kind < KINDS; kind++)
    for (uint32_t q = 0; q < FILE_SIZE && need[kind]; q++)
      if (q != STACK_POINTER && !across[kind][q] && !--need[kind] && q + 1 > most) most = q + 1;
  return most;
}

/* ---- all registers ---- */

static void count_readers(struct places *p) {
  const struct back *k = p->k;
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t q = back_reads(k, &k->n[i], r); q-- > 0;) p->readers[r[q]]++;
}

/* By place the registers whose first stretch begins there, the one of the lowest number first; next[r]: the one after
 * r, or 0. */
static void sort_by_begin(struct places *p) {
  for (uint32_t r = p->k->nregs; r > 0; r--) {
    uint32_t first = UINT32_MAX;
    if (!p->of[r] || !back_weight(p->k, (uint16_t)r)) continue;
    for (uint32_t s = p->of[r]; s; s = p->at[s - 1].next)
      if (p->at[s - 1].from < first) first = p->at[s - 1].from;
    p->next[r] = p->head[first];
    p->head[first] = r;
  }
}

/* Returns the end of the physical registers that it takes. */
static uint32_t place_tie(struct file *f, const struct tie *t) {
  uint32_t at = find_place(f, t);
  for (uint32_t q = 0; q < t->n; q++) {
    uint16_t r = t->r[q];
    f->placed[r] = 1;
    f->bank[r] = (uint16_t)(at + t->at[q]);
    for (uint32_t w = back_weight(f->p->k, r), x = f->bank[r]; w-- > 0; x++)
      occupy(f->p, f->live[x], r, false), occupy(f->p, f->busy[x], r, true);
  }
  return at + t->width;
}

/* `widest`: those of four neighbours first, then those of two. */
static uint32_t assign(struct places *p, const struct ties *ties, uint16_t *bank, bool widest) {
  struct back *k = p->k;
  struct file f = {.p = p, .bank = bank};
  size_t words = p->places / 64 + 1;
  uint64_t *bits = ARENA_ARRAY(&k->scratch, uint64_t, 2 * words * FILE_SIZE);
  uint32_t most = STACK_POINTER + 1;
  for (uint32_t q = 0; q < FILE_SIZE; q++) f.live[q] = bits + 2 * q * words, f.busy[q] = f.live[q] + words;
  memset(f.live[STACK_POINTER], 0xFF, 2 * words * sizeof *bits);
  f.placed = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t least = widest ? 3 : 1; least > 0; least--)
    for (uint32_t at = 0; at <= p->places; at++)
      for (uint32_t r = p->head[at]; r; r = p->next[r]) {
        if (f.placed[r]) continue;
        struct tie one = {.r = {(uint16_t)r}, .n = 1, .width = (uint8_t)back_weight(k, (uint16_t)r)};
        const struct tie *t = ties->of[r] ? &ties->t[ties->of[r] - 1] : &one;
        if (t->width < least) continue;
        uint32_t end = place_tie(&f, t);
        if (end > most) most = end;
      }
  uint32_t subs = with_subroutines(k, f.live, bank);
  return (subs > most ? subs : most) - 1;
}

/* The fewer of two orders; where registers are to be kept apart, they are taken as they come. */
uint32_t back_registers(struct back *k, uint16_t *bank, bool apart) {
  struct live l = back_liveness(k);
  struct places p = {.k = k, .apart = apart};
  p.of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.until = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.late = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  if (apart) p.banks = back_banks(k);
  for (uint32_t q = 0; q < k->nb; q++) block_stretches(&p, &l, q);
  p.places = k->b[k->nb - 1].end + 2;
  p.head = ARENA_ARRAY(&k->scratch, uint32_t, p.places + 1);
  p.next = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  p.readers = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  sort_by_begin(&p);
  count_readers(&p);
  struct ties ties = find_ties(&p);
  uint32_t used = assign(&p, &ties, bank, false);
  if (apart) return used;
  uint16_t *other = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  uint32_t fewer = assign(&p, &ties, other, true);
  if (fewer >= used) return used;
  memcpy(bank, other, (k->nregs + 1) * sizeof *bank);
  return fewer;
}

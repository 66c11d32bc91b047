/* sched.c - the order of instructions within a block: a list scheduler over the dependences through registers,
 * predicates, memory, barriers and the condition code. The longest way to the end of the block goes first (loads, that
 * is), until as many registers are live as do not cost a CTA: each beyond these counts as so many cycles, or what ends
 * the life of registers goes first. Of the schedules whose registers fit, the shortest is taken.
 *
 * Instructions that cost nothing are placed as soon as what they read is there.
 */
#include <string.h>

#include "back/back_impl.h"

enum { ALU_CYCLES = 5, SHARED_CYCLES = 24, GLOBAL_CYCLES = 250, SFU_CYCLES = 20, F64_CYCLES = 10, MEMORY_WINDOW = 400 };
/* Cycles from one access of memory to the next. */
enum { PORT_CYCLES = 2 };
/* Predicates of a thread; how early an instruction may come. */
enum { PREDICATES = 7, SPILL_CYCLES = 10, EARLY = GLOBAL_CYCLES };

/* Prices of registers beyond the limit, in turn. */
enum { STRICT = UINT32_MAX };
static const uint32_t prices[] = {0, 2, 6, 16, STRICT};

struct edge {
  uint32_t to, next, latency;
};

struct sched {
  struct back *k;
  uint32_t first, n; /* of the block */
  struct edge *e;
  uint32_t ne, cap;
  uint32_t *out;  /* by node of the block: first edge + 1 */
  uint32_t *wait; /* predecessors not yet placed */
  uint32_t *height, *ready_at;
  uint32_t *last_def; /* by register: node + 1 */
  uint32_t *uses_of;  /* by register: first entry + 1 of `use_list`, readers since the last definition */
  struct {
    uint32_t node, next;
  } * use_list;
  uint32_t nuse, cap_use;
  uint32_t live, limit; /* registers */
  uint32_t price;       /* cycles for a register beyond the limit; STRICT: none while another node may come */
  bool as_text;         /* of what need not wait for memory, the first of the text goes first */
  bool backward, exact; /* the order made from the block's end stands for the text, or is taken as it is */
  uint32_t *rank;       /* by node of the block: its place in that order */
  uint32_t port;        /* the cycle from which on memory takes an access */
  uint64_t length;      /* cycles of the blocks, issued in order, weighted by their loops */
  uint64_t *alive;      /* machine registers with a value that is read later */
  int predicates;       /* that are live */
  uint64_t *out_live;
  uint16_t *left;    /* by machine register: readers in this block, yet to be placed, of the value that it has now */
  uint16_t *later;   /* by machine register: values yet to be made in this block */
  uint32_t *value;   /* by machine register, while readers are counted: its value in `readers`, + 1 */
  uint32_t *made_at; /* by node of the block: where its values are in `readers` */
  uint16_t *readers; /* of each value that the block makes, in it */
};

static uint32_t latency_of(const struct node *n) {
  if (n->role != ROLE_COST) return 0;
  uint32_t sum = 0;
  for (uint32_t q = 0; q < n->nops; q++) {
    uint32_t c;
    switch (mach_infos[n->ops[q]].cls) {
    case MC_LDG:
    case MC_LDL:
    case MC_TEX:
    case MC_ATOM:
      c = GLOBAL_CYCLES;
      break;
    case MC_LDS:
    case MC_LDC:
    case MC_SHFL:
      c = SHARED_CYCLES;
      break;
    case MC_SFU:
    case MC_CVT:
    case MC_S2R:
    case MC_TENSOR:
      c = SFU_CYCLES;
      break;
    case MC_FP64:
      c = F64_CYCLES;
      break;
    default:
      c = ALU_CYCLES;
    }
    sum = n->parallel ? (c > sum ? c : sum) : sum + c;
  }
  if (n->lag) sum += (n->nops / n->lag - 1) * SFU_CYCLES / 2;
  return sum;
}

static void edge(struct sched *s, uint32_t from, uint32_t to, uint32_t latency) {
  if (from == to) return;
  if (s->ne == s->cap) {
    struct edge *e = ARENA_ARRAY(&s->k->scratch, struct edge, s->cap = 2 * s->cap + 64);
    if (s->ne) memcpy(e, s->e, s->ne * sizeof *e);
    s->e = e;
  }
  s->e[s->ne++] = (struct edge){to, s->out[from], latency};
  s->out[from] = s->ne;
  s->wait[to]++;
}

static void note_use(struct sched *s, uint32_t i, uint16_t r) {
  if (s->nuse == s->cap_use) {
    void *u = ARENA_ARRAY(&s->k->scratch, uint64_t, s->cap_use = 2 * s->cap_use + 64);
    if (s->nuse) memcpy(u, s->use_list, s->nuse * sizeof *s->use_list);
    s->use_list = u;
  }
  s->use_list[s->nuse].node = i;
  s->use_list[s->nuse].next = s->uses_of[r];
  s->uses_of[r] = ++s->nuse;
}

static void reads(struct sched *s, uint32_t i, uint16_t r) {
  if (s->last_def[r]) edge(s, s->last_def[r] - 1, i, latency_of(&s->k->n[s->first + s->last_def[r] - 1]));
  note_use(s, i, r);
}

static void writes(struct sched *s, uint32_t i, uint16_t r) {
  if (s->last_def[r]) edge(s, s->last_def[r] - 1, i, 1);
  for (uint32_t u = s->uses_of[r]; u; u = s->use_list[u - 1].next) edge(s, s->use_list[u - 1].node, i, 0);
  s->uses_of[r] = 0;
  s->last_def[r] = i + 1;
}

static void register_edges(struct sched *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    const struct node *n = &s->k->n[s->first + i];
    for (uint32_t u = 0; u < n->nuse; u++) reads(s, i, n->use[u]);
    /* what the machine reads besides: constants moved to registers, operands of what was absorbed elsewhere */
    for (uint32_t u = 0; u < n->nsrc; u++) reads(s, i, n->src[u]);
    if (n->addr) reads(s, i, n->addr);
    for (uint32_t d = 0; d < n->ndef; d++) writes(s, i, n->def[d]);
    if (n->fresh) writes(s, i, n->fresh);
  }
  for (uint32_t i = 0; i < s->n; i++) {
    const struct node *n = &s->k->n[s->first + i];
    for (uint32_t u = 0; u < n->nuse; u++) s->uses_of[n->use[u]] = s->last_def[n->use[u]] = 0;
    for (uint32_t u = 0; u < n->nsrc; u++) s->uses_of[n->src[u]] = s->last_def[n->src[u]] = 0;
    for (uint32_t d = 0; d < n->ndef; d++) s->uses_of[n->def[d]] = s->last_def[n->def[d]] = 0;
    if (n->addr) s->uses_of[n->addr] = s->last_def[n->addr] = 0;
    if (n->fresh) s->uses_of[n->fresh] = s->last_def[n->fresh] = 0;
  }
}

static bool keeps_order(const struct sched *s, const struct node *x, const struct node *y) {
  if ((x->order | y->order) & ORD_ALL) return true;
  if (x->order & y->order & (ORD_WARP | ORD_CARRY)) return true;
  uint8_t memory = ORD_LOAD | ORD_STORE | ORD_FENCE;
  if (!(x->order & memory) || !(y->order & memory)) return false;
  if ((x->order | y->order) & ORD_FENCE) return true;
  if (!((x->order | y->order) & ORD_STORE)) return false;
  return back_may_alias(s->k, x, y);
}

/* Every MEMORY_WINDOW-th access is one that none crosses: a bound on comparisons. */
static void order_edges(struct sched *s) {
  uint32_t *list = ARENA_ARRAY(&s->k->scratch, uint32_t, s->n + 1), m = 0, from = 0, all = UINT32_MAX;
  for (uint32_t i = 0; i < s->n; i++) {
    const struct node *n = &s->k->n[s->first + i];
    if (n->order & (ORD_ALL | ORD_END)) {
      for (uint32_t q = all == UINT32_MAX ? 0 : all; q < i; q++) edge(s, q, i, 0);
      all = i;
    } else if (all != UINT32_MAX) {
      edge(s, all, i, 0);
    }
    if (!n->order) continue;
    bool wall = m - from >= MEMORY_WINDOW;
    if (from) edge(s, list[from], i, 0);
    for (uint32_t q = m; q-- > from;)
      if (wall || keeps_order(s, &s->k->n[s->first + list[q]], n)) edge(s, list[q], i, 0);
    if (wall) from = m;
    list[m++] = i;
  }
}

static void heights(struct sched *s) {
  for (uint32_t i = s->n; i-- > 0;) {
    uint32_t h = 0;
    for (uint32_t e = s->out[i]; e; e = s->e[e - 1].next) {
      uint32_t t = s->height[s->e[e - 1].to] + s->e[e - 1].latency;
      if (t > h) h = t;
    }
    s->height[i] = h + s->k->n[s->first + i].nops * (s->k->n[s->first + i].role == ROLE_COST);
  }
}

static bool is_predicate(const struct back *k, uint16_t r) {
  return r <= k->orig && k->f->regs[r]->type == T_PRED;
}

static bool in_set(const uint64_t *set, uint16_t r) {
  return set[r / 64] >> (r % 64) & 1;
}

static bool is_memory(const struct node *n) {
  if (n->role != ROLE_COST || !n->nops) return false;
  uint8_t cls = mach_infos[n->ops[n->nops - 1]].cls;
  return cls >= MC_LDG && cls <= MC_TEX;
}

/* ---- values: what a register has from one of its definitions to the next ---- */

/* Is the value that the register has now read behind the block? */
static bool stays(const struct sched *s, uint16_t r) {
  return !s->later[r] && in_set(s->out_live, r);
}

static bool replaces(const struct sched *s, const struct node *n, uint16_t r) {
  return back_overwrites(n) || s->k->r[r].ssa;
}

/* Readers, in the block, of the values that are there before it and of those that its nodes make. */
static void count_readers(struct sched *s, const struct bblock *b) {
  struct back *k = s->k;
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  uint32_t n = 0;
  s->made_at = ARENA_ARRAY(&k->scratch, uint32_t, s->n + 1);
  for (uint32_t i = b->first; i < b->end; i++) s->made_at[i - b->first] = n, n += back_writes(k, &k->n[i], r);
  s->readers = ARENA_ARRAY(&k->scratch, uint16_t, n + 1);
  for (uint32_t i = b->first; i < b->end; i++) {
    for (uint32_t q = back_reads(k, &k->n[i], r); q-- > 0;)
      if (s->value[r[q]]) s->readers[s->value[r[q]] - 1]++;
      else s->left[r[q]]++;
    for (uint32_t q = back_writes(k, &k->n[i], r); q-- > 0;)
      if (replaces(s, &k->n[i], r[q])) s->value[r[q]] = s->made_at[i - b->first] + q + 1, s->later[r[q]]++;
  }
}

static void forget_readers(struct sched *s, const struct bblock *b) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t i = b->first; i < b->end; i++) {
    for (uint32_t q = back_reads(s->k, &s->k->n[i], r); q-- > 0;) s->left[r[q]] = 0;
    for (uint32_t q = back_writes(s->k, &s->k->n[i], r); q-- > 0;)
      s->left[r[q]] = s->later[r[q]] = 0, s->value[r[q]] = 0;
  }
}

/* How many more are live after a node than before. */
struct growth {
  int registers, predicates;
};

static void add_growth(const struct sched *s, struct growth *g, uint16_t r, int sign) {
  g->registers += sign * (int)back_weight(s->k, r);
  g->predicates += sign * is_predicate(s->k, r);
}

static struct growth growth(const struct sched *s, uint32_t i) {
  const struct node *n = &s->k->n[s->first + i];
  uint16_t read[MAX_SRC + PTX_MAX_USES], r[MAX_SRC + PTX_MAX_USES];
  struct growth g = {0};
  uint32_t m = back_reads(s->k, n, read), ends = 0;
  for (uint32_t q = 0; q < m; q++)
    if (s->left[read[q]] == 1 && !stays(s, read[q])) add_growth(s, &g, read[ends++] = read[q], -1);
  m = back_writes(s->k, n, r);
  for (uint32_t q = 0; q < m; q++) {
    bool last = s->later[r[q]] == 1 && in_set(s->out_live, r[q]), alive = in_set(s->alive, r[q]);
    for (uint32_t e = 0; e < ends; e++) alive &= read[e] != r[q];
    bool live = replaces(s, n, r[q]) ? s->readers[s->made_at[i] + q] || last : s->left[r[q]] || stays(s, r[q]);
    if (live && !alive) add_growth(s, &g, r[q], 1);
  }
  return g;
}

static void set_alive(struct sched *s, uint16_t r, bool alive) {
  if (alive) s->alive[r / 64] |= 1ull << r % 64;
  else s->alive[r / 64] &= ~(1ull << r % 64);
}

static void place(struct sched *s, uint32_t i, uint32_t *clock) {
  struct back *k = s->k;
  const struct node *n = &k->n[s->first + i];
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  struct growth g = growth(s, i);
  int live = (int)s->live + g.registers;
  s->live = live > 0 ? (uint32_t)live : 0;
  s->predicates += g.predicates;
  uint32_t m = back_reads(k, n, r);
  for (uint32_t q = 0; q < m; q++) {
    if (s->left[r[q]]) s->left[r[q]]--;
    if (!s->left[r[q]] && !stays(s, r[q])) set_alive(s, r[q], false);
  }
  m = back_writes(k, n, r);
  for (uint32_t q = 0; q < m; q++) {
    if (replaces(s, n, r[q])) s->left[r[q]] = s->readers[s->made_at[i] + q], s->later[r[q]]--;
    if (s->left[r[q]] || stays(s, r[q])) set_alive(s, r[q], true);
  }
  k->seq[k->nseq++] = s->first + i;
  uint32_t start = *clock;
  if (n->role == ROLE_COST) *clock += n->nops;
  if (is_memory(n)) s->port = *clock - 1 + PORT_CYCLES;
  for (uint32_t e = s->out[i]; e; e = s->e[e - 1].next) {
    uint32_t t = s->e[e - 1].to, at = start + s->e[e - 1].latency;
    if (n->role != ROLE_COST) at = s->ready_at[i];
    if (at > s->ready_at[t]) s->ready_at[t] = at;
    s->wait[t]--;
  }
}

/* A node that may come next. */
struct candidate {
  uint32_t at; /* cycle */
  int growth;  /* of registers, or of predicates where these have run out */
  bool tight;
};

/* When the node may be issued. */
static uint32_t earliest(const struct sched *s, uint32_t i, uint32_t clock) {
  uint32_t at = s->ready_at[i] > clock ? s->ready_at[i] : clock;
  return at < s->port && is_memory(&s->k->n[s->first + i]) ? s->port : at;
}

/* What takes a register comes an access of memory before its result is needed at the earliest, loads as soon as they
 * may: `end` is the cycle at which the longest way of all that is left ends. */
static struct candidate candidate(const struct sched *s, uint32_t i, uint32_t clock, uint32_t end) {
  const struct node *n = &s->k->n[s->first + i];
  struct growth g = growth(s, i);
  struct candidate c = {.at = earliest(s, i, clock), .growth = g.registers};
  bool load = n->in && ptx_ops[n->in->op].kind == KIND_LOAD;
  if (load) c.at = c.at > clock + ALU_CYCLES ? c.at - ALU_CYCLES : clock;
  if (c.growth > 0 && !load && c.at + s->height[i] + EARLY < end) c.at = end - s->height[i] - EARLY;
  if (s->predicates >= PREDICATES && g.predicates > 0) c.at += SPILL_CYCLES * (uint32_t)g.predicates;
  int64_t beyond = (int64_t)s->live + c.growth - s->limit;
  if (s->price == STRICT) c.tight = s->live > s->limit;
  else if (c.growth > 0 && beyond > 0) c.at += s->price * (uint32_t)beyond;
  return c;
}

/* ---- an order made from the end of a block: last goes what makes the fewest registers live, of the like what the
 * node behind it reads ---- */

struct backward {
  uint64_t *alive;
  uint32_t *edge, *next, *from; /* by node: its first incoming edge + 1; of an edge the next of its node, its begin */
  uint32_t *left, *wanted;      /* by node: successors without a place; when the last of them got one */
};

static int backward_growth(const struct sched *s, const struct backward *w, const struct node *n) {
  uint16_t written[MAX_SRC + PTX_MAX_USES], r[MAX_SRC + PTX_MAX_USES];
  uint32_t m = back_writes(s->k, n, written), ends = 0;
  int g = 0;
  for (uint32_t q = 0; q < m; q++)
    if (in_set(w->alive, written[q]) && (back_overwrites(n) || s->k->r[written[q]].ssa))
      g -= (int)back_weight(s->k, written[ends++] = written[q]);
  m = back_reads(s->k, n, r);
  for (uint32_t q = 0; q < m; q++) {
    bool alive = in_set(w->alive, r[q]);
    for (uint32_t e = 0; e < ends; e++) alive &= written[e] != r[q];
    if (!alive) g += (int)back_weight(s->k, r[q]);
  }
  return g;
}

static void place_backward(const struct sched *s, struct backward *w, uint32_t i, uint32_t when) {
  const struct node *n = &s->k->n[s->first + i];
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  uint32_t m = back_writes(s->k, n, r);
  for (uint32_t q = 0; q < m; q++)
    if (back_overwrites(n) || s->k->r[r[q]].ssa) w->alive[r[q] / 64] &= ~(1ull << r[q] % 64);
  m = back_reads(s->k, n, r);
  for (uint32_t q = 0; q < m; q++) w->alive[r[q] / 64] |= 1ull << r[q] % 64;
  for (uint32_t e = w->edge[i]; e; e = w->next[e - 1]) w->left[w->from[e - 1]]--, w->wanted[w->from[e - 1]] = when;
}

static struct backward begin_backward(const struct sched *s) {
  struct arena *a = &s->k->scratch;
  size_t words = s->k->nregs / 64 + 1;
  struct backward w = {.alive = ARENA_ARRAY(a, uint64_t, words)};
  memcpy(w.alive, s->out_live, words * sizeof *w.alive);
  w.edge = ARENA_ARRAY(a, uint32_t, s->n + 1);
  w.next = ARENA_ARRAY(a, uint32_t, s->ne + 1);
  w.from = ARENA_ARRAY(a, uint32_t, s->ne + 1);
  w.left = ARENA_ARRAY(a, uint32_t, s->n + 1);
  w.wanted = ARENA_ARRAY(a, uint32_t, s->n + 1);
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t e = s->out[i]; e; e = s->e[e - 1].next) {
      uint32_t to = s->e[e - 1].to;
      w.from[e - 1] = i, w.left[i]++;
      w.next[e - 1] = w.edge[to], w.edge[to] = e;
    }
  return w;
}

static uint32_t choose_backward(const struct sched *s, const struct backward *w, const uint32_t *ready, uint32_t n) {
  uint32_t best = 0;
  int least = 0;
  for (uint32_t q = 0; q < n; q++) {
    uint32_t x = ready[q], y = ready[best];
    int g = backward_growth(s, w, &s->k->n[s->first + x]);
    bool later = w->wanted[x] != w->wanted[y] ? w->wanted[x] > w->wanted[y] : x > y;
    if (!q || g < least || (g == least && later)) best = q, least = g;
  }
  return best;
}

static void backward_order(struct sched *s) {
  struct backward w = begin_backward(s);
  uint32_t *ready = ARENA_ARRAY(&s->k->scratch, uint32_t, s->n + 1), n = 0;
  uint8_t *queued = ARENA_ARRAY(&s->k->scratch, uint8_t, s->n + 1);
  s->rank = ARENA_ARRAY(&s->k->scratch, uint32_t, s->n + 1);
  for (uint32_t i = 0; i < s->n; i++)
    if (!w.left[i]) ready[n++] = i, queued[i] = 1;
  for (uint32_t when = 1; n; when++) {
    uint32_t q = choose_backward(s, &w, ready, n), i = ready[q];
    ready[q] = ready[--n];
    s->rank[i] = s->n - when;
    place_backward(s, &w, i, when);
    for (uint32_t e = w.edge[i]; e; e = w.next[e - 1]) {
      uint32_t from = w.from[e - 1];
      if (!w.left[from] && !queued[from]) ready[n++] = from, queued[from] = 1;
    }
  }
}

static uint32_t place_in_text(const struct sched *s, uint32_t i) {
  return s->backward ? s->rank[i] : i;
}

static uint32_t first_of_order(const struct sched *s, const uint32_t *ready, uint32_t n) {
  uint32_t first = 0;
  for (uint32_t q = 1; q < n; q++)
    if (s->rank[ready[q]] < s->rank[ready[first]]) first = q;
  return first;
}

/* The best of the nodes that may come next. */
static uint32_t choose(const struct sched *s, const uint32_t *ready, uint32_t n, uint32_t clock) {
  if (s->exact) return first_of_order(s, ready, n);
  uint32_t best = 0, end = 0, soon = clock + (s->as_text ? 2 * ALU_CYCLES : 0);
  struct candidate b = {0};
  for (uint32_t q = 0; q < n; q++) {
    uint32_t i = ready[q], from = earliest(s, i, clock);
    if (s->k->n[s->first + i].role != ROLE_COST) return q;
    if (from + s->height[i] > end) end = from + s->height[i];
  }
  for (uint32_t q = 0; q < n; q++) {
    uint32_t i = ready[q];
    struct candidate c = candidate(s, i, clock, end);
    bool better, tight = c.tight || b.tight;
    if (!q) better = true;
    else if (!s->limit && c.growth != b.growth) better = c.growth < b.growth;
    else if (tight && c.growth > 0 && b.growth > 0 && c.tight == b.tight)
      better = place_in_text(s, i) < place_in_text(s, ready[best]); /* as in the text, to be free again soon */
    else if (tight && (c.growth > 0 || b.growth > 0)) better = c.growth < b.growth;
    else if (c.at != b.at && !(c.at <= soon && b.at <= soon)) better = c.at < b.at;
    else if (!s->as_text && s->height[i] != s->height[ready[best]]) better = s->height[i] > s->height[ready[best]];
    else better = place_in_text(s, i) < place_in_text(s, ready[best]);
    if (better) best = q, b = c;
  }
  return best;
}

static uint32_t list_schedule(struct sched *s) {
  uint32_t *ready = ARENA_ARRAY(&s->k->scratch, uint32_t, s->n + 1), n = 0, clock = 0;
  uint8_t *queued = ARENA_ARRAY(&s->k->scratch, uint8_t, s->n + 1);
  for (uint32_t i = 0; i < s->n; i++)
    if (!s->wait[i]) ready[n++] = i, queued[i] = 1;
  while (n) {
    uint32_t q = choose(s, ready, n, clock), i = ready[q];
    if (s->k->n[s->first + i].role == ROLE_COST) clock = earliest(s, i, clock);
    ready[q] = ready[--n];
    place(s, i, &clock);
    for (uint32_t e = s->out[i]; e; e = s->e[e - 1].next) {
      uint32_t t = s->e[e - 1].to;
      if (!s->wait[t] && !queued[t]) ready[n++] = t, queued[t] = 1;
    }
  }
  return clock;
}

/* A loop has eight turns. */
static uint64_t turns_of(const struct bblock *b) {
  return 1ull << 3 * (b->depth < 8 ? b->depth : 8);
}

static void schedule_block(struct sched *s, struct bblock *b, uint64_t *in, uint64_t *out) {
  struct back *k = s->k;
  s->first = b->first;
  s->n = b->end - b->first;
  s->ne = s->nuse = 0;
  s->out = ARENA_ARRAY(&k->scratch, uint32_t, s->n + 1);
  s->wait = ARENA_ARRAY(&k->scratch, uint32_t, s->n + 1);
  s->height = ARENA_ARRAY(&k->scratch, uint32_t, s->n + 1);
  s->ready_at = ARENA_ARRAY(&k->scratch, uint32_t, s->n + 1);
  s->out_live = out;
  s->live = s->port = 0;
  s->predicates = 0;
  memcpy(s->alive, in, (k->nregs / 64 + 1) * sizeof *in);
  for (uint32_t x = 1; x <= k->nregs; x++)
    if (in[x / 64] >> (x % 64) & 1)
      s->live += back_weight(k, (uint16_t)x), s->predicates += is_predicate(k, (uint16_t)x);
  count_readers(s, b);
  register_edges(s);
  order_edges(s);
  heights(s);
  if (s->backward) backward_order(s);
  s->length += list_schedule(s) * turns_of(b);
  forget_readers(s, b);
}

/* CTAs of `threads` threads that an SM with 64 K registers holds, of 32 each; with 0 threads its warps. */
static uint32_t resident(uint32_t own, uint32_t threads) {
  enum { WARPS = 64, FILE_WARPS = 2048 /* of one register each */, MOST_CTAS = 32 };
  uint32_t warps = FILE_WARPS / own, cta = (threads + 31) / 32;
  if (!cta) return warps;
  if (warps > WARPS) warps = WARPS;
  return warps / cta < MOST_CTAS ? warps / cta : MOST_CTAS;
}

/* Registers that do not cost a resident CTA more than `used` do; a resident warp, where the CTA's size is not known. */
static uint32_t free_registers(uint32_t used, uint32_t threads) {
  uint32_t own = used < 32 ? 32 : (used + 7) & ~7u, now = resident(own, threads);
  while (own + 8 <= 255 && resident(own + 8, threads) == now) own += 8;
  return own;
}

uint32_t back_most_registers(const struct back *k, uint32_t used) {
  const struct ptx_func *f = k->f;
  uint32_t threads = f->maxntid ? f->maxntid : f->reqntid, ctas = f->minctas ? f->minctas : 1;
  uint32_t limit = free_registers(used + RESERVED_REGISTERS, threads) - RESERVED_REGISTERS;
  if (threads && 65536 / (threads * ctas) < limit) limit = 65536 / (threads * ctas);
  if (f->maxnreg && f->maxnreg < limit) limit = f->maxnreg;
  return limit;
}

/* With fewer registers to spare ptxas 11.8 takes the next step; where shared values become uniform, with fewer than
 * one more. */
enum { TO_SPARE = 2, SPARE_PROMOTED = 3 };

/* All blocks, and how many registers they take. */
static uint32_t schedule_all(struct sched *s, const struct live *l, uint32_t *seq, uint16_t *bank) {
  struct back *k = s->k;
  k->seq = seq;
  k->nseq = 0;
  s->length = 0;
  for (uint32_t q = 0; q < k->nb; q++)
    schedule_block(s, &k->b[q], l->in + (size_t)q * l->words, l->out + (size_t)q * l->words);
  CHECK(k->nseq == k->nn, "the schedule of %s lost an instruction", k->f->name);
  return back_registers(k, bank, false);
}

/* The shortest of some schedules of at most `goal` registers, or that of the fewest. Pairs leave gaps: it aims lower
 * until one fits. Beside the text, and at last by itself, the order made from the end. */
static void fit_registers(struct sched *s, const struct live *l, uint32_t goal, uint32_t *seq, uint32_t *best,
                          uint16_t *bank) {
  enum { TRIES = 6, PRICES = sizeof prices / sizeof *prices };
  bool free = false; /* of any concern for registers */
  uint32_t least = UINT32_MAX;
  uint64_t shortest = UINT64_MAX;
  for (uint32_t p = 0; p < 3 * PRICES + 1 && (p < PRICES || !free); p++) {
    uint32_t used = UINT32_MAX;
    s->limit = goal;
    s->price = prices[p % PRICES];
    s->as_text = p >= PRICES;
    s->backward = p >= 2 * PRICES;
    s->exact = p == 3 * PRICES;
    for (uint32_t t = 0; t < (s->price ? TRIES : 1) && used > goal; t++) {
      used = schedule_all(s, l, seq, bank);
      bool better = used <= goal ? least > goal || s->length < shortest : used < least;
      if (better) least = used, shortest = s->length, memcpy(best, seq, s->k->nn * sizeof *seq);
      free |= !p && used <= goal;
      if (used > goal) s->limit -= s->limit < used - goal ? s->limit : used - goal;
    }
  }
  s->backward = s->exact = false;
}

/* The fewest registers of two orders: what frees most, or takes fewest, goes first; the one made from the end. */
static uint32_t fewest(struct sched *s, const struct live *l, uint32_t *seq, uint16_t *bank) {
  s->limit = 0;
  s->price = STRICT;
  s->as_text = true;
  uint32_t greedy = schedule_all(s, l, seq, bank);
  s->backward = s->exact = true;
  uint32_t back = schedule_all(s, l, seq, bank);
  s->backward = s->exact = false;
  return back < greedy ? back : greedy;
}

/* Since Turing shared values become uniform where that lets more warps be resident; returns the registers that an order
 * takes then. */
static uint32_t with_promoted(struct sched *s, const struct live *l, uint32_t least, uint32_t *seq, uint16_t *bank) {
  struct back *k = s->k;
  if (k->t->sm < UNIFORM_DATAPATH) return least;
  uint16_t *shared = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  uint32_t n = back_shared_values(k, shared);
  for (uint32_t q = 0; q < n; q++) k->r[shared[q]].uniform = true;
  uint32_t other = n ? fewest(s, l, seq, bank) : least;
  if (other < least &&
      back_most_registers(k, other + SPARE_PROMOTED) < back_most_registers(k, least + SPARE_PROMOTED)) {
    back_promoted(k);
    return other;
  }
  for (uint32_t q = 0; q < n; q++) k->r[shared[q]].uniform = false;
  return least;
}

void back_schedule(struct back *k) {
  uint16_t *bank = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  struct sched s = {.k = k};
  uint32_t text = back_registers(k, bank, false);
  struct live l = back_liveness(k);
  uint32_t *seq = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1), *best = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  s.last_def = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  s.uses_of = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  s.alive = ARENA_ARRAY(&k->scratch, uint64_t, k->nregs / 64 + 1);
  s.left = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.later = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.value = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  uint32_t least = fewest(&s, &l, seq, bank);
  if (least < text) text = least;
  text = with_promoted(&s, &l, text, seq, bank);
  k->seq = NULL;
  fit_registers(&s, &l, back_most_registers(k, text + TO_SPARE), seq, best, bank);
  k->seq = best;
}

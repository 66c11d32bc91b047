/* race_global.c - races on global memory, between CTAs of a launch and between the warps of a CTA, and on shared
 * memory.
 *
 * Eight bytes of shadow for four of memory: two marks, the last write and the last read, or two reads where nothing in
 * the launch wrote. A mark names a context (which warp, which instruction, since which barrier) in a table, the lane,
 * and which of the four bytes were touched. An access races with an earlier one of the same launch if both touch a
 * byte, one is a write, they are not both volatile or atomic, and nothing orders them: the program order of a warp, the
 * barriers of a CTA (race.c), or a fence and a volatile or atomic write after the earlier access that a volatile or
 * atomic read came after. Which location that was is not looked at, and who of the CTA did it neither: a race may be
 * missed for that, and none is reported that is ordered. Launches are ordered, also where they overlap.
 *
 * The table is bounded. When it is full, all marks are dropped and it begins anew: races across that point are missed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/check/check_impl.h"

enum { ID_BITS = 20, LANE_BITS = 5, MOST = 1 << ID_BITS, RECENT = 16 };
enum { KIND_WRITES = 1, KIND_STRONG = 2, KIND_SAME = 4 /* the value that was there */, KIND_SHARED = 8 };

struct context {
  uint32_t epoch, clock, pc;
  uint8_t warp, kind;
};

struct epoch { /* of a CTA: from its start or a release to the next release */
  uint32_t launch, cta;
  uint64_t released; /* by the count of releases; 0: not yet */
};

struct race_shadow { /* of a device */
  uint64_t *cells;   /* of the mapping of device memory */
  uint64_t *symbols; /* of variables */
  size_t cells_bytes, symbols_bytes;
  struct context *context;
  struct epoch *epoch;
  uint32_t contexts, context_room, epochs, epoch_room;
  uint32_t generation; /* how often all was dropped */
  uint32_t launches;
  uint64_t releases;
};

struct recent { /* the contexts that a warp used last */
  uint32_t pc, clock, epoch, id;
  uint32_t kind, generation;
};

struct grid_cta {
  uint32_t epoch, generation;
  uint32_t floor;    /* contexts below it, if of this CTA, lie before its last barrier */
  uint64_t acquired; /* releases that its accesses come after */
  bool fenced;
};

struct race_grid {                    /* of a launch */
  uint32_t launch, first, generation; /* contexts below `first` of that generation are of launches before it */
  uint64_t *shared;                   /* cells of all CTA slots' shared memory */
  size_t shared_bytes;
  uint32_t shared_generation;
  struct grid_cta *cta; /* by slot */
  struct recent *recent;
};

static void *reserve(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

bool race_shadow_new(struct simt *s) {
  struct race_shadow *d = calloc(1, sizeof *d);
  CHECK(d, "out of memory");
  s->check->shadow = d;
  d->cells_bytes = s->map_bytes * 2;
  d->symbols_bytes = s->sym_bytes * 2;
  d->cells = reserve(d->cells_bytes);
  d->symbols = reserve(d->symbols_bytes);
  d->contexts = d->epochs = 1; /* 0: none */
  return d->cells && d->symbols;
}

void race_shadow_free(struct simt *s) {
  struct race_shadow *d = s->check->shadow;
  if (!d) return;
  if (d->cells) munmap(d->cells, d->cells_bytes);
  if (d->symbols) munmap(d->symbols, d->symbols_bytes);
  free(d->context);
  free(d->epoch);
  free(d);
}

void race_grid_new(struct check_run *k, struct simt_run *r) {
  struct race_grid *g = calloc(1, sizeof *g);
  CHECK(g, "out of memory");
  g->launch = ++r->s->check->shadow->launches;
  g->cta = calloc(r->slots, sizeof *g->cta);
  g->recent = calloc((size_t)r->slots * r->fk.warps_per_cta * RECENT, sizeof *g->recent);
  g->shared_bytes = 2 * r->shareds_bytes + 8;
  g->shared = reserve(g->shared_bytes);
  CHECK(g->cta && g->recent && g->shared, "out of memory");
  g->first = r->s->check->shadow->contexts;
  g->generation = g->shared_generation = r->s->check->shadow->generation;
  k->grid = g;
}

void race_grid_free(struct check_run *k) {
  if (!k->grid) return;
  free(k->grid->cta);
  free(k->grid->recent);
  munmap(k->grid->shared, k->grid->shared_bytes);
  free(k->grid);
}

/* ---- contexts and epochs ---- */

static void *grown(void *table, uint32_t used, uint32_t *room, size_t each) {
  if (used < *room) return table;
  *room = *room ? 2 * *room : 1024;
  table = realloc(table, *room * each);
  CHECK(table, "out of memory");
  return table;
}

static void drop_all(struct race_shadow *d) {
  madvise(d->cells, d->cells_bytes, MADV_DONTNEED);
  madvise(d->symbols, d->symbols_bytes, MADV_DONTNEED);
  d->contexts = d->epochs = 1;
  d->generation++; /* what shared memory has is dropped when it is next looked at */
}

static void new_epoch(struct simt_run *r, const struct cta *c) {
  struct race_shadow *d = r->s->check->shadow;
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  if (d->epochs == MOST) drop_all(d);
  d->epoch = grown(d->epoch, d->epochs, &d->epoch_room, sizeof *d->epoch);
  d->epoch[d->epochs] = (struct epoch){.launch = r->check->grid->launch, .cta = c->id};
  q->epoch = d->epochs++;
  if (q->generation != d->generation) q->floor = 0;
  q->generation = d->generation;
}

void race_grid_start(struct simt_run *r, const struct cta *c) {
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  *q = (struct grid_cta){0};
  new_epoch(r, c);
}

static uint32_t context_of(struct exec *x, const struct xop *o, uint8_t kind) {
  struct simt_run *r = x->run;
  struct race_shadow *d = r->s->check->shadow;
  struct race_grid *g = r->check->grid;
  uint32_t pc = (uint32_t)(o - x->ops), clock = race_clock_of(x);
  if (g->cta[x->cta->slot].generation != d->generation) new_epoch(r, x->cta);
  struct recent *k = &g->recent[((size_t)x->cta->slot * r->fk.warps_per_cta + x->w->index) * RECENT];
  k += (pc ^ (uint32_t)kind * 5) % RECENT;
  uint32_t epoch = g->cta[x->cta->slot].epoch;
  if (k->id && k->pc == pc && k->clock == clock && k->epoch == epoch && k->kind == kind &&
      k->generation == d->generation)
    return k->id;
  if (d->contexts == MOST) {
    drop_all(d);
    new_epoch(r, x->cta);
    epoch = g->cta[x->cta->slot].epoch;
  }
  d->context = grown(d->context, d->contexts, &d->context_room, sizeof *d->context);
  d->context[d->contexts] =
      (struct context){.epoch = epoch, .clock = clock, .pc = pc, .warp = (uint8_t)x->w->index, .kind = kind};
  *k = (struct recent){pc, clock, epoch, d->contexts, kind, d->generation};
  return d->contexts++;
}

/* ---- what orders ---- */

void check_fence(struct exec *x) {
  const struct check_run *k = x->run->check;
  if (k->grid) k->grid->cta[x->cta->slot].fenced = true;
}

void race_grid_barrier(struct exec *x) {
  const struct race_shadow *d = x->run->s->check->shadow;
  struct grid_cta *q = &x->run->check->grid->cta[x->cta->slot];
  if (q->generation == d->generation) q->floor = d->contexts;
}

static void release(struct simt_run *r, const struct cta *c) {
  struct race_shadow *d = r->s->check->shadow;
  struct grid_cta *q = &r->check->grid->cta[c->slot];
  d->releases++;
  if (q->generation == d->generation) d->epoch[q->epoch].released = d->releases;
  q->fenced = false;
  new_epoch(r, c);
}

/* A volatile access or an atomic: it may publish what its CTA did before the last fence, and may see what others
 * published. */
static void synchronise(struct exec *x, const struct xop *o, bool writes) {
  struct grid_cta *q = &x->run->check->grid->cta[x->cta->slot];
  if (writes && (q->fenced || o->releases)) release(x->run, x->cta);
  q->acquired = x->run->s->check->shadow->releases;
}

void check_cluster_met(struct exec *x, const struct cluster *k) {
  struct race_grid *g = x->run->check->grid;
  if (!g) return;
  for (uint32_t n = 0; n < x->run->fk.cluster; n++)
    if (k->cta[n]) release(x->run, k->cta[n]);
  for (uint32_t n = 0; n < x->run->fk.cluster; n++)
    if (k->cta[n]) g->cta[k->cta[n]->slot].acquired = x->run->s->check->shadow->releases;
}

enum verdict { ORDERED, SAME_VALUE, RACES };

/* The earlier access `m` of another context against one of `kind` on `x` now, which touch a byte in common. */
static enum verdict judge(const struct exec *x, const struct context *m, uint8_t kind) {
  const struct race_shadow *d = x->run->s->check->shadow;
  const struct race_grid *g = x->run->check->grid;
  const struct grid_cta *q = &g->cta[x->cta->slot];
  const struct epoch *e = &d->epoch[m->epoch];
  if (kind & KIND_SHARED && e->cta != x->cta->id) return ORDERED;
  if (e->launch != g->launch || (e->released && e->released <= q->acquired)) return ORDERED;
  if (e->cta == x->cta->id && (m->warp == x->w->index || race_passed(x, m->warp, m->clock))) return ORDERED;
  if (!((m->kind | kind) & KIND_WRITES) || m->kind & kind & KIND_STRONG) return ORDERED;
  if (kind & KIND_SHARED) return kind & KIND_SAME && m->kind & KIND_WRITES ? ORDERED : RACES;
  if (kind & KIND_SAME || (m->kind & KIND_SAME && !(kind & KIND_WRITES))) return SAME_VALUE;
  return RACES;
}

static void report(struct exec *x, const struct xop *o, int lane, uint64_t addr, enum check_access kind,
                   const struct context *m, uint32_t their_lane, enum verdict v) {
  const struct simt_run *r = x->run;
  const struct epoch *e = &r->s->check->shadow->epoch[m->epoch];
  const struct inst *in = &r->m->code[m->pc];
  const char *file = in->src_file < r->fk.nfiles ? r->fk.files[in->src_file] : NULL;
  const uint32_t *grid = r->fk.grid, *block = r->fk.block, t = m->warp * LANES + their_lane;
  const struct simt_alloc *a = simt_mem_find(r->s, addr);
  char src[200] = "", place[200] = "", what[700];
  static const char *const verbs[] = {"read", "write", "atomic"};
  if (in->src_line && file) snprintf(src, sizeof src, "%.160s:%u, ", file, in->src_line);
  if (a)
    snprintf(place, sizeof place, " (byte %llu of %s%.80s%s, %llu bytes)", (unsigned long long)(addr - a->base),
             a->label ? "'" : "an allocation", a->label ? a->label : "", a->label ? "'" : "",
             (unsigned long long)a->bytes);
  bool atomic = r->m->code[m->pc].kind == KIND_ATOM;
  const char *theirs = atomic ? "atomic" : m->kind & KIND_WRITES ? "write" : "read";
  if (m->kind & KIND_SHARED) {
    snprintf(
        what, sizeof what,
        "%s of shared 0x%llx races with the %s by thread (%u,%u,%u) at %sPTX line %u: no barrier lies between them",
        verbs[kind], (unsigned long long)addr, theirs, t % block[0], t / block[0] % block[1], t / block[0] / block[1],
        src, in->ptx_line);
    check_report(x, o, &x->ops[m->pc], lane, CHECK_RACE, what);
    return;
  }
  snprintf(what, sizeof what,
           "%s of global 0x%llx%s races with the %s by CTA (%u,%u,%u), thread (%u,%u,%u) at %sPTX line %u%s",
           verbs[kind], (unsigned long long)addr, place, theirs, e->cta % grid[0], e->cta / grid[0] % grid[1],
           e->cta / grid[0] / grid[1], t % block[0], t / block[0] % block[1], t / block[0] / block[1], src,
           in->ptx_line, v == SAME_VALUE ? ": both leave the same value" : ": nothing orders them");
  check_report(x, o, &x->ops[m->pc], lane, v == SAME_VALUE ? CHECK_SAME : CHECK_RACE, what);
}

/* ---- accesses ---- */

/* From the top: whether it is a write, the context, the lane, the bytes. */
#define MARK_WRITES (1u << 31)

static uint32_t mark_of(uint32_t id, uint8_t how, uint32_t lane, uint32_t bytes) {
  return (how & KIND_WRITES ? MARK_WRITES : 0) | id << (LANE_BITS + 4) | lane << 4 | bytes;
}

static uint32_t id_of(uint32_t mark) {
  return mark >> (LANE_BITS + 4) & (MOST - 1);
}

static bool live(const struct race_shadow *d, const struct race_grid *g, uint32_t mark) {
  return mark && id_of(mark) < d->contexts && d->epoch[d->context[id_of(mark)].epoch].launch == g->launch;
}

/* One cell: the marks it holds against a new one, then the new one in the place of an old one. */
static enum verdict touch(struct exec *x, const struct xop *o, int lane, uint64_t addr, enum check_access kind,
                          uint8_t how, uint32_t mark, uint32_t *cell, bool told) {
  const struct race_shadow *d = x->run->s->check->shadow;
  enum verdict worst = ORDERED, first = ORDERED;
  for (int n = 0; n < 2; n++) {
    uint32_t old = cell[n];
    if (!(old & mark & 15) || id_of(old) == id_of(mark) || id_of(old) >= d->contexts) continue;
    const struct context *m = &d->context[id_of(old)];
    enum verdict v = judge(x, m, how);
    if (!n) first = v;
    if (v > worst) worst = v;
    if (v != ORDERED && !told) report(x, o, lane, addr, kind, m, old >> 4 & (LANES - 1), v), told = true;
  }
  if (how & KIND_WRITES) {
    if (first != SAME_VALUE) cell[0] = mark; /* else whoever changed it stays */
  } else if (live(d, x->run->check->grid, cell[0]) && id_of(cell[0]) != id_of(mark)) {
    cell[1] = mark;
  } else {
    cell[0] = mark;
  }
  return worst;
}

/* The cell of an address; NULL where there is none. */
static uint32_t *cell_of(const struct exec *x, uint8_t space, uint64_t addr) {
  const struct simt *s = x->run->s;
  const struct race_shadow *d = s->check->shadow;
  struct race_grid *g = x->run->check->grid;
  if (space == SPACE_SHARED && g->shared_generation != d->generation) {
    madvise(g->shared, g->shared_bytes, MADV_DONTNEED);
    g->shared_generation = d->generation;
  }
  if (space == SPACE_SHARED) return (uint32_t *)(g->shared + ((size_t)x->cta->slot * x->run->shared_stride + addr) / 4);
  if (space != SPACE_GLOBAL) return NULL;
  if (addr - SIMT_GLOBAL_BASE < s->map_bytes) return (uint32_t *)(d->cells + (addr - SIMT_GLOBAL_BASE) / 4);
  return addr < SYMBOL_LIMIT ? (uint32_t *)(d->symbols + addr / 4) : NULL;
}

static uint8_t kind_of(const struct xop *o, uint8_t space, enum check_access kind) {
  return (kind != CHECK_READ ? KIND_WRITES : 0) | (kind == CHECK_ATOMIC || o->strong ? KIND_STRONG : 0) |
         (space == SPACE_SHARED ? KIND_SHARED : 0);
}

void race_access(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr, uint32_t bytes,
                 enum check_access kind, bool changed) {
  if (space != SPACE_SHARED && space != SPACE_GLOBAL) return;
  uint8_t how = kind_of(o, space, kind) | (changed ? 0 : KIND_SAME);
  if (space == SPACE_SHARED && kind != CHECK_ATOMIC) how &= (uint8_t)~KIND_STRONG; /* no barrier: a race, if volatile */
  if (how & KIND_STRONG && space == SPACE_GLOBAL) synchronise(x, o, how & KIND_WRITES);
  uint32_t id = context_of(x, o, how), within = (uint32_t)addr & 3, *cell = cell_of(x, space, addr);
  bool told = false;
  if (!cell) return;
  for (uint32_t at = 0; at < bytes + within; at += 4, cell += 2) {
    uint32_t from = at ? 0 : within, to = bytes + within - at < 4 ? bytes + within - at : 4;
    uint32_t mask = (1u << to) - (1u << from), mark = mark_of(id, how, (uint32_t)lane, mask);
    told |= touch(x, o, lane, addr + at - (at ? within : 0), kind, how, mark, cell, told) != ORDERED;
  }
}

/* ---- whole instructions on the fast path ---- */

/* Addresses of the lanes, if the fast path will take them all. */
static bool fast_lanes(const struct exec *x, const struct xop *o, uint32_t mask, uint64_t base, uint64_t span,
                       uint32_t width, uint64_t *addr) {
  uint64_t bad = 0, imm = o->imm, room = span - width;
  if (span < width || o->strong) return false;
  if (o->a == OFF_NONE) {
    for (uint32_t i = 0; i < LANES; i++) addr[i] = imm;
  } else if (o->flags & XF_ADDR64) {
    const uint64_t *a = OPND(uint64_t, o->a);
    for (uint32_t i = 0; i < LANES; i++) addr[i] = a[i] + imm;
  } else {
    const uint32_t *a = OPND(uint32_t, o->a);
    for (uint32_t i = 0; i < LANES; i++) addr[i] = (uint32_t)(a[i] + (uint32_t)imm);
  }
  for (uint32_t i = 0; i < LANES; i++) {
    uint64_t off = addr[i] - base;
    bad |= ((off | (room - off)) >> 63 | (addr[i] & (width - 1))) & -(uint64_t)(mask >> i & 1);
  }
  return !bad;
}

/* Lanes whose store leaves memory as it is. */
static uint32_t leaving(const struct exec *x, const struct xop *o, uint32_t mask, const uint64_t *addr,
                        uint64_t delta) {
  const struct xaux *aux = o->aux;
  uint32_t same = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    const char *host = (const char *)(uintptr_t)(addr[i] + delta);
    bool equal = true;
    for (uint32_t v = 0; v < o->vec && equal; v++) {
      uint32_t off = o->vec > 1 ? aux->v[v].off : o->b;
      uint64_t value = o->flags & XF_SRC64 ? OPND(uint64_t, off)[i] : OPND(uint32_t, off)[i], old = 0;
      memcpy(&old, host + v * o->elem, o->elem);
      equal = !((value ^ old) << (64 - 8u * o->elem));
    }
    same |= (uint32_t)equal << i;
  }
  return same;
}

/* What an access of all lanes to their cells needs to know. */
struct lanes {
  uint32_t mask, first; /* contexts below `first` are of earlier launches, or ordered by a barrier */
  uint32_t id[LANES], mark[LANES];
  uint32_t *cell[LANES];
};

/* Marks where nobody else of this launch, or readers only if this is a read, were before. Returns the other lanes. */
static uint32_t mark_lanes(const struct lanes *l, bool write) {
  uint32_t lo[LANES], hi[LANES], slow[LANES], rest = 0;
  for (uint32_t i = 0; i < LANES; i++) lo[i] = l->cell[i][0], hi[i] = l->cell[i][1];
  for (uint32_t i = 0; i < LANES; i++) {
    uint32_t a = id_of(lo[i]), b = id_of(hi[i]);
    uint32_t old_a = (a < l->first) | (a == l->id[i]), old_b = (b < l->first) | (b == l->id[i]);
    uint32_t fine = write ? old_a & old_b : (old_a | (lo[i] >> 31 ^ 1)) & (old_b | (hi[i] >> 31 ^ 1));
    uint32_t to_a = -(write | old_a), mark = l->mark[i];
    slow[i] = fine ^ 1;
    lo[i] = (mark & to_a) | (lo[i] & ~to_a);
    hi[i] = (mark & ~to_a) | (hi[i] & to_a);
  }
  for (uint32_t i = 0; i < LANES; i++) rest |= slow[i] << i;
  for (uint32_t left = l->mask & ~rest; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    l->cell[i][0] = lo[i], l->cell[i][1] = hi[i];
  }
  return rest & l->mask;
}

/* The cells of the first words, and the marks. False: the memory has none. */
static bool find_lanes(struct exec *x, const struct xop *o, uint32_t width, uint8_t how, const uint64_t *addr,
                       uint32_t same, struct lanes *l) {
  uint32_t ids[2] = {0, 0}, lead = (uint32_t)__builtin_ctz(l->mask);
  if (l->mask & ~same) ids[0] = context_of(x, o, how);
  if (same) ids[1] = context_of(x, o, how | KIND_SAME);
  if (ids[0] && ids[1]) ids[0] = context_of(x, o, how); /* the second may have dropped all */
  const struct race_shadow *d = x->run->s->check->shadow;
  const struct race_grid *g = x->run->check->grid;
  const struct grid_cta *q = &g->cta[x->cta->slot];
  l->first = g->generation == d->generation ? g->first : 1;
  if (how & KIND_SHARED && q->generation == d->generation && q->floor > l->first) l->first = q->floor;
  uint32_t *cell = cell_of(x, how & KIND_SHARED ? SPACE_SHARED : SPACE_GLOBAL, addr[lead]);
  if (!cell) return false;
  for (uint32_t i = 0; i < LANES; i++) {
    bool active = l->mask >> i & 1;
    int64_t words = active ? (int64_t)(addr[i] >> 2) - (int64_t)(addr[lead] >> 2) : 0;
    uint32_t bytes = width < 4 ? ((1u << width) - 1) << (addr[i] & 3) : 15;
    l->cell[i] = cell + 2 * words;
    l->id[i] = ids[same >> i & 1];
    l->mark[i] = mark_of(l->id[i], how, i, bytes);
  }
  return true;
}

static void fast_access(struct exec *x, const struct xop *o, uint32_t mask, uint8_t space, const uint64_t *addr,
                        uint32_t width, uint64_t delta, bool write) {
  struct lanes l = {.mask = mask};
  uint8_t how = kind_of(o, space, write ? CHECK_WRITE : CHECK_READ);
  uint32_t same = write ? leaving(x, o, mask, addr, delta) : 0, told = 0;
  if (!find_lanes(x, o, width, how, addr, same, &l)) return;
  for (uint32_t w = 0; 4 * w < width; w++) {
    for (uint32_t left = mark_lanes(&l, write); left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left);
      enum verdict v = touch(x, o, (int)i, addr[i] + 4 * w, write ? CHECK_WRITE : CHECK_READ,
                             how | (same >> i & 1 ? KIND_SAME : 0), l.mark[i], l.cell[i], told >> i & 1);
      told |= (uint32_t)(v != ORDERED) << i;
    }
    for (uint32_t i = 0; i < LANES; i++) l.cell[i] += 2;
  }
}

static void checked_global(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct range *r = &x->run->ranges[o - x->ops];
  uint32_t width = (uint32_t)o->elem * o->vec;
  uint64_t addr[LANES];
  bool write = o->id == X_st_global || o->id == X_st_generic;
  if (fast_lanes(x, o, mask, r->base, r->span, width, addr)) {
    fast_access(x, o, mask, SPACE_GLOBAL, addr, width, r->delta, write);
    x->run->s->check->plain[o->id](x, o, mask);
  } else {
    mem_check_slow(x, o, mask, write);
  }
}

static void checked_shared(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t width = (uint32_t)o->elem * o->vec;
  uint64_t addr[LANES];
  bool write = o->id == X_st_shared;
  if (fast_lanes(x, o, mask, 0, x->run->fk.shared_bytes, width, addr)) {
    fast_access(x, o, mask, SPACE_SHARED, addr, width, (uint64_t)(uintptr_t)x->cta->shared, write);
    x->run->s->check->plain[o->id](x, o, mask);
  } else {
    mem_check_slow(x, o, mask, write);
  }
}

void race_handlers(struct simt *s) {
  static const uint16_t global[] = {X_ld_global, X_ld_generic, X_st_global, X_st_generic},
                        shared[] = {X_ld_shared, X_st_shared};
  memcpy(s->check->plain, s->handlers, sizeof s->check->plain);
  for (size_t i = 0; i < sizeof global / sizeof *global; i++) s->handlers[global[i]] = checked_global;
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) s->handlers[shared[i]] = checked_shared;
  s->check->fast = true;
}

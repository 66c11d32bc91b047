/* access.c - memory, lane by lane: the path for accesses that the fast one in exec_mem.inc cannot handle. Finds the
 * allocation of each lane, resolves generic addresses, refreshes the range cache, reports faults. */
#include <string.h>

#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"

static const char *const space_names[] = {"",         "global",    "shared",  "local",
                                          "constant", "parameter", "texture", "generic"};

static void fault_access(struct exec *x, const struct xop *o, const struct lane_access *a, const char *how, int code) {
  char what[64];
  snprintf(what, sizeof what, "%s %s %s", how, space_names[a->space], a->write ? "write" : "read");
  fault_address(x, o, a->lane, a->addr, a->bytes, what, code);
}

/* Memory from 0 to `limit` bytes; the first `there` bytes are at `own`. */
static char *within(struct exec *x, const struct xop *o, const struct lane_access *a, char *own, uint64_t limit,
                    uint64_t there) {
  if (a->addr <= limit && a->bytes <= limit - a->addr) return own + a->addr;
  char *host = stray_limited(x, o, a, own, there);
  if (host) return host;
  fault_text(x, o, a->lane, 700, "invalid %s %s of %u bytes at 0x%llx, outside the %llu bytes of %s memory",
             space_names[a->space], a->write ? "write" : "read", a->bytes, (unsigned long long)a->addr,
             (unsigned long long)limit, space_names[a->space]);
  return NULL;
}

static char *resolve_shared(struct exec *x, const struct xop *o, struct lane_access *a) {
  const struct simt_run *r = x->run;
  const char *why = NULL;
  char *host = x->cta->shared;
  if (a->addr >> CLUSTER_SHIFT) host = cluster_shared(x, o, a->lane, &a->addr, &why);
  if (host) return within(x, o, a, host, r->fk.shared_bytes, r->shared_stride);
  fault_text(x, o, a->lane, 700, "invalid shared %s of %u bytes at 0x%llx: %s", a->write ? "write" : "read", a->bytes,
             (unsigned long long)a->addr, why);
  return NULL;
}

/* See simt_run. Workers of a launch do this at the same time. */
static void note_use(struct simt_run *r, struct mem_block *b, bool write) {
  if (__atomic_load_n(write ? &b->stored : &b->loaded, __ATOMIC_RELAXED) == r->number) return;
  __atomic_store_n(write ? &b->stored : &b->loaded, r->number, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(write ? &b->loaded : &b->stored, __ATOMIC_SEQ_CST) == r->number)
    __atomic_store_n(&r->k->apart, false, __ATOMIC_RELAXED);
}

/* Host address of a lane's access; a->space is the instruction's and becomes the resolved one, a->addr the address in
 * it. NULL after a fault was reported. */
static char *resolve_lane(struct exec *x, const struct xop *o, struct lane_access *a) {
  struct simt_run *r = x->run;
  x->out->remote &= ~(1u << a->lane);
  x->stray &= ~(1u << a->lane);
  if (a->space == SPACE_GENERIC) {
    if (a->addr - SHARED_WINDOW < WINDOW_BYTES) a->space = SPACE_SHARED, a->addr -= SHARED_WINDOW;
    else if (a->addr - LOCAL_WINDOW < WINDOW_BYTES) a->space = SPACE_LOCAL, a->addr -= LOCAL_WINDOW;
    else a->space = SPACE_GLOBAL;
  }
  if (a->addr & (a->bytes - 1)) {
    fault_access(x, o, a, "misaligned", 716);
    return NULL;
  }
  uint32_t params = r->k->info.param_block_bytes, stride = r->local_stride;
  switch (a->space) {
  case SPACE_SHARED:
    return resolve_shared(x, o, a);
  case SPACE_LOCAL: {
    char *own = x->cta->local + ((size_t)x->w->index * LANES + (size_t)a->lane) * stride;
    return within(x, o, a, own, stride, stride);
  }
  case SPACE_PARAM:
    return within(x, o, a, r->params, params, params);
  default:
    break;
  }
  struct mem_block *b = mem_block_at(r->s, a->addr);
  if (b && a->bytes <= b->a.bytes - (a->addr - b->a.base)) {
    if (r->timed) note_use(r, b, a->write);
    return (char *)(uintptr_t)(a->addr + b->delta);
  }
  char *host = stray_access(x, o, a);
  if (!host) fault_access(x, o, a, "invalid", 700);
  return host;
}

char *mem_host(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
               uint8_t *space) {
  struct lane_access a = {.addr = addr, .bytes = bytes, .lane = lane, .write = write, .space = *space};
  char *host = resolve_lane(x, o, &a);
  *space = a.space;
  if (host && x->run->check && !((x->out->remote | x->stray) >> lane & 1))
    check_touch(x, o, lane, a.space, a.addr, bytes,
                o->id == X_atom || o->id == X_mbarrier || o->id == X_cp_arrive ? CHECK_ATOMIC
                : write                                                        ? CHECK_WRITE
                                                                               : CHECK_READ);
  return host;
}

static void load_lane(struct exec *x, const struct xop *o, int lane, const char *host, uint32_t off) {
  uint64_t v = 0;
  if (off == OFF_NONE) return;
  memcpy(&v, host, o->elem);
  if (o->flags & XF_SIGNED) {
    uint32_t shift = 64 - 8u * o->elem;
    v = (uint64_t)((int64_t)(v << shift) >> shift);
  }
  if (o->flags & XF_DST64) OPND(uint64_t, off)[lane] = v;
  else OPND(uint32_t, off)[lane] = o->sub == 2 ? (uint16_t)v : (uint32_t)v;
}

static void store_lane(struct exec *x, const struct xop *o, int lane, char *host, uint32_t off) {
  uint64_t v = o->flags & XF_SRC64 ? OPND(uint64_t, off)[lane] : OPND(uint32_t, off)[lane];
  memcpy(host, &v, o->elem);
}

void mem_load_lanes(struct exec *x, const struct xop *o, uint32_t mask, const uint64_t *host) {
  const struct xaux *aux = o->aux;
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    for (uint32_t v = 0; v < o->vec; v++)
      load_lane(x, o, i, (const char *)(uintptr_t)host[i] + v * o->elem, o->vec > 1 ? aux->v[v].off : o->d);
  }
}

/* The timing model has one space per instruction: global if any lane uses it. A lane in another space is given the
 * address of the first global lane, so it adds no traffic. The functional access is unaffected. */
uint8_t mem_one_space(uint32_t mask, const uint8_t *spaces, uint64_t *addr) {
  uint8_t space = SPACE_NONE;
  uint64_t first = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (space == SPACE_NONE || (spaces[i] == SPACE_GLOBAL && space != SPACE_GLOBAL)) space = spaces[i], first = addr[i];
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (spaces[i] != space) addr[i] = first;
  }
  return space;
}

/* Of an SM ahead of others: the lanes whose accesses to global memory are put in order. What strays sees no order. */
static uint32_t note_ahead(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write,
                           char *const *host, const uint8_t *spaces) {
  uint32_t noted = 0;
  uint64_t at[LANES];
  if (!x->run->ahead) return 0;
  for (uint32_t left = mask & ~x->stray; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (spaces[i] != SPACE_GLOBAL) continue;
    noted |= 1u << i;
    at[i] = (uintptr_t)host[i];
  }
  if (noted) later_note(x, o, noted, width, write, at, 0);
  return noted;
}

bool mem_global_slow(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write) {
  uint64_t *addr = x->out->addr;
  const struct xaux *aux = o->aux;
  char *host[LANES];
  uint8_t spaces[LANES] = {SPACE_NONE}; /* of the lanes in `mask` */
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    struct lane_access a = {.addr = addr[i], .bytes = width, .lane = i, .write = write, .space = o->space};
    host[i] = resolve_lane(x, o, &a);
    addr[i] = a.addr;
    spaces[i] = a.space;
    if (!host[i]) return false;
  }
  uint64_t own[LANES];
  if (x->run->check) memcpy(own, addr, sizeof own);
  uint8_t space = mem_one_space(mask, spaces, addr);
  uint32_t noted = note_ahead(x, o, mask, width, write, host, spaces);
  for (uint32_t left = write ? mask & ~noted : mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    char before[64];
    bool other = (x->out->remote | x->stray) >> i & 1; /* the checks cover a CTA's own shared memory */
    if (x->run->check && !write && !other) check_touch(x, o, i, spaces[i], own[i], width, CHECK_READ);
    if (x->run->check && write && !other) memcpy(before, host[i], width);
    for (uint32_t v = 0; v < o->vec; v++) {
      uint32_t off = o->vec > 1 ? aux->v[v].off : write ? o->b : o->d;
      if (write) store_lane(x, o, i, host[i] + v * o->elem, off);
      else load_lane(x, o, i, host[i] + v * o->elem, off);
    }
    if (x->run->check && write && !other)
      check_store(x, o, i, spaces[i], own[i], width, memcmp(before, host[i], width) != 0);
  }
  x->out->space = space;
  uint32_t sound = mask & ~x->stray;
  if ((space == SPACE_GLOBAL || space == SPACE_CONST) && sound) { /* cache the first lane's allocation */
    struct simt_run *r = x->run;
    struct mem_block *b = mem_block_at(r->s, addr[__builtin_ctz(sound)]);
    if (!b) return true;
    note_use(r, b, write);
    if (!r->check || check_is_fast(r->s)) r->ranges[o - x->ops] = (struct range){b->a.base, b->a.bytes, b->delta};
  }
  return true;
}

void mem_check_slow(struct exec *x, const struct xop *o, uint32_t mask, bool write) {
  uint64_t *addr = x->out->addr;
  for (uint32_t i = 0; i < LANES; i++) {
    if (o->a == OFF_NONE) addr[i] = o->imm;
    else if (o->flags & XF_ADDR64) addr[i] = OPND(uint64_t, o->a)[i] + o->imm;
    else addr[i] = (uint32_t)(OPND(uint32_t, o->a)[i] + (uint32_t)o->imm);
  }
  x->out->width = (uint8_t)(o->elem * o->vec);
  mem_global_slow(x, o, mask, x->out->width, write);
}

/* access.c - memory, lane by lane: the path taken when the fast one in exec_mem.h cannot vouch for all lanes. Finds the
 * allocation of each lane, resolves generic addresses, refreshes the range cache, reports faults. */
#include <string.h>

#include "simt/machine.h"

/* Host address of [addr, addr + bytes) as lane sees it; *space: in the instruction's, out the resolved space, and
 * *local the address within it. NULL after reporting a fault. */
static char *resolve(struct exec *x, const struct xop *o, int lane, uint64_t *addr, uint32_t bytes, bool write,
                     uint8_t *space) {
  struct simt_run *r = x->run;
  uint64_t a = *addr;
  const char *verb = write ? "write" : "read";
  char what[64];
  x->out->remote &= ~(1u << lane);
  if (*space == SPACE_GENERIC) {
    if (a - SHARED_WINDOW < WINDOW_BYTES) *space = SPACE_SHARED, a -= SHARED_WINDOW;
    else if (a - LOCAL_WINDOW < WINDOW_BYTES) *space = SPACE_LOCAL, a -= LOCAL_WINDOW;
    else *space = SPACE_GLOBAL;
    *addr = a;
  }
  static const char *const names[] = {"", "global", "shared", "local", "constant", "parameter", "texture", "generic"};
  snprintf(what, sizeof what, "invalid %s %s", names[*space], verb);
  uint32_t mis = (uint32_t)(a & (bytes - 1));
  if (mis) {
    snprintf(what, sizeof what, "misaligned %s %s", names[*space], verb);
    fault_address(x, o, 0, lane, a, bytes, what, 716);
    return NULL;
  }
  char *host = NULL;
  uint64_t limit = 0;
  switch (*space) {
  case SPACE_SHARED: {
    const char *why = NULL;
    host = x->cta->shared, limit = r->fk.shared_bytes;
    if (a >> CLUSTER_SHIFT) {
      host = cluster_shared(x, o, lane, &a, &why);
      *addr = a;
    }
    if (host) break;
    fault_text(x, o, lane, 700, "%s of %u bytes at 0x%llx: %s", what, bytes, (unsigned long long)a, why);
    return NULL;
  }
  case SPACE_LOCAL:
    host = x->cta->local + ((size_t)x->w->index * LANES + (size_t)lane) * r->local_stride, limit = r->local_stride;
    break;
  case SPACE_PARAM:
    host = r->params, limit = r->k->info.param_block_bytes;
    break;
  default: {
    struct mem_block *b = mem_block_at(r->s, a);
    if (b && bytes <= b->a.bytes - (a - b->a.base)) return (char *)(uintptr_t)(a + b->delta);
    fault_address(x, o, 0, lane, a, bytes, what, 700);
    return NULL;
  }
  }
  if (a <= limit && bytes <= limit - a) return host + a;
  fault_text(x, o, lane, 700, "%s of %u bytes at 0x%llx, outside the %llu bytes of %s memory", what, bytes,
             (unsigned long long)a, (unsigned long long)limit, names[*space]);
  return NULL;
}

char *mem_host(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
               uint8_t *space) {
  char *host = resolve(x, o, lane, &addr, bytes, write, space);
  if (host && x->run->check && !(x->out->remote >> lane & 1))
    check_touch(x, o, lane, *space, addr, bytes,
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

/* One instruction has one space for the timing model: global if any lane is there. A lane elsewhere is given the
 * address of the first lane in that space, so that it adds no traffic. Its own access has nothing to do with this. */
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

bool mem_global_slow(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write) {
  uint64_t *addr = x->out->addr;
  const struct xaux *aux = o->aux;
  char *host[LANES];
  uint8_t spaces[LANES];
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    spaces[i] = o->space;
    host[i] = resolve(x, o, i, &addr[i], width, write, &spaces[i]);
    if (!host[i]) return false;
  }
  uint64_t own[LANES];
  if (x->run->check) memcpy(own, addr, sizeof own);
  uint8_t space = mem_one_space(mask, spaces, addr);
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    char before[64];
    bool store_shared = write && spaces[i] == SPACE_SHARED;
    bool other = x->out->remote >> i & 1; /* the checks know a CTA's own shared memory */
    if (x->run->check && !store_shared && !other)
      check_touch(x, o, i, spaces[i], own[i], width, write ? CHECK_WRITE : CHECK_READ);
    if (x->run->check && store_shared && !other) memcpy(before, host[i], width);
    for (uint32_t v = 0; v < o->vec; v++) {
      uint32_t off = o->vec > 1 ? aux->v[v].off : write ? o->b : o->d;
      if (write) store_lane(x, o, i, host[i] + v * o->elem, off);
      else load_lane(x, o, i, host[i] + v * o->elem, off);
    }
    if (x->run->check && store_shared && !other)
      check_shared_store(x, o, i, own[i], width, memcmp(before, host[i], width) != 0);
  }
  x->out->space = space;
  if ((space == SPACE_GLOBAL || space == SPACE_CONST) &&
      !x->run->check) { /* remember the allocation of the first lane */
    struct mem_block *b = mem_block_at(x->run->s, addr[__builtin_ctz(mask)]);
    x->run->ranges[o - x->ops] = (struct range){b->a.base, b->a.bytes, b->delta};
  }
  return true;
}

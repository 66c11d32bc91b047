/* sub_cores.c - an SM with sub-cores (knob sm.sub_cores), as in NVIDIA GPUs since Volta: every scheduler has its own
 * operand collectors, register banks and execution units.
 *
 * A sub-core has one FP32, INT, SFU, FP64 and tensor pipe, and a share of the SM's generic collectors and register
 * banks. Its scheduler issues to one latch per pipe; a collector reads the operands; the instruction then waits at its
 * pipe. Memory instructions of all sub-cores take turns at the one memory unit.
 *
 * With sm.fixed_latency there are no collectors: an instruction issues when its pipe is free, and its result is there
 * `latency` cycles later, when an instruction that needs it can issue. Compilers since Volta count on that and let the
 * operands of most instructions be read without a conflict (Huerta et al., "Analyzing Modern NVIDIA GPU cores", 2025,
 * sections 4 and 5: operands are read at a fixed time, memory instructions wait in a queue per sub-core for the unit
 * that they share). Conflicts of register banks, which compilers avoid, are not modelled. Control instructions take no
 * pipe.
 *
 * Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, chapter 2; Khairy et
 * al., "Accel-Sim", ISCA 2020, section III.
 */
#include "gpu/sm/sm.h"
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { MEM_QUEUE = 16 }; /* most of sm.memory_queue */

struct sub_core {
  op_id id[SUB_UNITS], ex[SUB_UNITS]; /* issued, waiting for a collector; collected, waiting for the pipe; 0: empty */
  uint64_t free_at[SUB_UNITS];        /* first cycle in which the pipe accepts the next */
  uint64_t set;                       /* its collectors */
  op_id mem[MEM_QUEUE];               /* fixed latencies: memory instructions, oldest first */
  uint32_t mems;
  uint64_t mem_at; /* first cycle in which the next of them has its addresses */
  uint64_t
      left[MEM_QUEUE]; /* sm.memory_hold: those that the memory unit has taken give up their places in these cycles */
  uint32_t first_left, lefts;
};

struct sub_cores {
  uint64_t to[SUB_KINDS + 1]; /* warps by the unit of the instruction at their head; the last: it takes none */
  struct sub_core core[4];
  uint32_t turn;            /* sub-core whose memory instruction goes first */
  uint64_t unit_at, tex_at; /* fixed latencies: first cycle in which the memory unit and the texture units take one */
  uint32_t held;            /* instructions in `id` */
  /* The barrier unit: first cycle in which it takes an arrival; warps that continue, in the order of their cycles. */
  uint64_t barrier_at;
  uint32_t first_let, lets;
  struct {
    uint64_t warps, at;
  } let[SM_WARPS];
};

enum { SUB_NO_UNIT = SUB_KINDS };

static enum sub_unit unit_by_type(const struct inst *i) {
  if (i->lat == LAT_TENSOR || i->lat == LAT_TENSOR_F16) return SUB_TENSOR;
  if (i->flags & INST_F64) return SUB_FP64;
  if (i->pipe == PIPE_SFU) return SUB_SFU;
  return i->flags & INST_FLOAT ? SUB_FP32 : SUB_INT;
}

static enum sub_unit unit_of(const struct sm *s, const struct inst *i) {
  static const uint8_t unit[] = {[PIPE_FP32] = SUB_FP32, [PIPE_INT] = SUB_INT,   [PIPE_EITHER] = SUB_INT,
                                 [PIPE_XU] = SUB_SFU,    [PIPE_FP64] = SUB_FP64, [PIPE_TENSOR] = SUB_TENSOR};
  if (i->pipe == PIPE_MEM) return SUB_MEM;
  uint32_t pipe = s->c->lat[i->lat].pipe;
  return pipe == PIPE_BY_TYPE || i->kind != KIND_ALU ? unit_by_type(i) : (enum sub_unit)unit[pipe];
}

/* Shuffles and special registers (S2R) come from the load/store unit (NVIDIA, "Nsight Compute", Pipelines, LSU). */
static bool is_shuffle(const struct inst *i) {
  return i->lat == LAT_SHFL;
}

/* With fixed latencies: control takes no pipe, and some classes have the choice of two. */
static uint32_t fixed_unit_of(const struct sm *s, const struct inst *i) {
  if (i->pipe == PIPE_MEM || is_shuffle(i)) return SUB_MEM;
  if (i->kind != KIND_ALU) return SUB_NO_UNIT;
  return s->c->lat[i->lat].pipe == PIPE_EITHER ? SUB_EITHER : unit_of(s, i);
}

void sm_sub_init(struct sm *s) {
  uint32_t n = s->c->schedulers, each = s->c->oc_gen / n;
  s->sub = mem_zeroed(1, sizeof *s->sub);
  for (uint32_t k = 0; k < n; k++) s->sub->core[k].set = ((1ull << each) - 1) << (k * each);
}

void sm_sub_destroy(struct sm *s) {
  free(s->sub);
}

void sm_sub_head(struct sm *s, uint32_t w, const struct inst *i) {
  uint64_t bit = 1ull << w;
  uint32_t u = s->c->fixed_issue ? fixed_unit_of(s, i) : unit_of(s, i);
  for (uint32_t k = 0; k <= SUB_NO_UNIT; k++) s->sub->to[k] &= ~bit;
  s->sub->to[u] |= bit;
}

/* Places in the memory queue that are held no more are free. */
static void release_places(const struct sm *s, struct sub_core *c) {
  for (; c->lefts && c->left[c->first_left] <= s->g->now; c->lefts--) c->first_left = (c->first_left + 1) % MEM_QUEUE;
}

static uint64_t fixed_room(const struct sm *s, struct sub_core *c) {
  const struct sub_cores *b = s->sub;
  uint64_t room = b->to[SUB_NO_UNIT], now = s->g->now;
  for (uint32_t u = 0; u < SUB_MEM; u++)
    if (c->free_at[u] <= now) room |= b->to[u];
  if (c->free_at[SUB_INT] <= now || c->free_at[SUB_FP32] <= now) room |= b->to[SUB_EITHER];
  if (RARE(c->lefts)) release_places(s, c);
  if (c->mems + c->lefts < s->c->mem_queue) room |= b->to[SUB_MEM];
  return room;
}

void sm_sub_arrive(struct sm *s) {
  uint64_t *at = &s->sub->barrier_at, now = s->g->now;
  *at = (*at > now ? *at : now) + s->c->barrier_interval;
}

void sm_sub_let(struct sm *s, uint64_t warps) {
  struct sub_cores *b = s->sub;
  uint64_t now = s->g->now, at = (b->barrier_at > now ? b->barrier_at : now) + s->c->barrier_latency;
  uint32_t i = (b->first_let + b->lets++) % SM_WARPS;
  CHECK(b->lets <= SM_WARPS, "SM %u: more barriers have ended than it has warps", s->id);
  b->let[i].warps = warps;
  b->let[i].at = at;
  s->lets = true;
}

void sm_sub_go(struct sm *s) {
  struct sub_cores *b = s->sub;
  uint64_t now = s->g->now;
  for (; b->lets && b->let[b->first_let].at <= now; b->lets--) {
    s->barrier &= ~b->let[b->first_let].warps;
    b->first_let = (b->first_let + 1) % SM_WARPS;
    s->none_to_issue = false;
  }
  s->lets = b->lets;
  if (b->lets && b->let[b->first_let].at < s->wake_at) s->wake_at = b->let[b->first_let].at;
}

uint64_t sm_sub_wake(const struct sm *s, uint32_t k, uint64_t ready) {
  const struct sub_cores *b = s->sub;
  const struct sub_core *c = &b->core[k];
  uint64_t wake = UINT64_MAX, now = s->g->now;
  for (uint32_t u = 0; u < SUB_MEM; u++) {
    uint64_t waits = b->to[u] | (u == SUB_INT || u == SUB_FP32 ? b->to[SUB_EITHER] : 0);
    if (waits & ready && c->free_at[u] > now && c->free_at[u] < wake) wake = c->free_at[u];
  }
  if (c->lefts && b->to[SUB_MEM] & ready && c->left[c->first_left] < wake) wake = c->left[c->first_left];
  return wake;
}

uint64_t sm_sub_room(const struct sm *s, uint32_t k) {
  uint64_t room = 0;
  if (s->c->fixed_issue) return fixed_room(s, &s->sub->core[k]);
  for (uint32_t u = 0; u < SUB_UNITS; u++)
    if (!s->sub->core[k].id[u]) room |= s->sub->to[u];
  return room;
}

static void fixed_issue(struct sm *s, struct sub_core *c, op_id id) {
  const struct inst *i = s->op[id].uop->inst;
  struct latency_config l = s->c->lat[i->lat];
  uint32_t u = fixed_unit_of(s, i);
  uint64_t now = s->g->now;
  if (u == SUB_MEM) {
    c->mem[c->mems++] = id;
    s->sub->held++;
    return;
  }
  if (u == SUB_EITHER) u = c->free_at[SUB_INT] <= now ? SUB_INT : SUB_FP32;
  if (u != SUB_NO_UNIT) c->free_at[u] = now + l.interval;
  sm_result_due(s, id, now + l.latency);
}

void sm_sub_issue(struct sm *s, uint32_t w, op_id id) {
  struct sub_core *c = &s->sub->core[w % s->c->schedulers];
  if (s->c->fixed_issue) {
    fixed_issue(s, c, id);
    return;
  }
  enum sub_unit u = unit_of(s, s->op[id].uop->inst);
  CHECK(!c->id[u], "SM %u: two instructions issued to one unit of a sub-core", s->id);
  c->id[u] = id;
  s->sub->held++;
}

/* Move collected instructions to their pipes, oldest first on conflicts. */
static void dispatch(struct sm *s, struct sub_core *c) {
  for (uint64_t m = s->col_ready & c->set; m; m &= m - 1) {
    uint32_t at = (uint32_t)__builtin_ctzll(m), best = at;
    enum sub_unit u = unit_of(s, s->op[s->col[at].op].uop->inst);
    if (c->ex[u]) continue;
    for (uint64_t later = m & (m - 1); later; later &= later - 1) {
      uint32_t other = (uint32_t)__builtin_ctzll(later);
      const struct op *o = &s->op[s->col[other].op];
      if (unit_of(s, o->uop->inst) == u && o->order < s->op[s->col[best].op].order) best = other;
    }
    c->ex[u] = s->col[best].op;
    s->col_used &= ~(1ull << best);
    s->col_ready &= ~(1ull << best);
    s->acted = true;
  }
}

static void collect_issued(struct sm *s, struct sub_core *c) {
  for (uint64_t unused = c->set & ~s->col_used; unused; unused &= unused - 1) {
    int oldest = -1;
    for (int u = 0; u < SUB_UNITS; u++)
      if (c->id[u] && (oldest < 0 || s->op[c->id[u]].order < s->op[c->id[oldest]].order)) oldest = u;
    if (oldest < 0) return;
    sm_collector_take(s, (uint32_t)__builtin_ctzll(unused), c->id[oldest]);
    c->id[oldest] = 0;
    s->none_to_issue = false;
    s->sub->held--;
  }
}

static bool is_texture(const struct op *o) {
  return o->uop->inst->space == SPACE_TEX && o->mask;
}

/* Cycles of an instruction in the texture units: groups of four lanes without an active one take none. */
static uint64_t texture_cycles(const struct sm *s, const struct op *o) {
  uint32_t m = o->mask | o->mask >> 1, quads = (uint32_t)__builtin_popcount((m | m >> 2) & 0x11111111u);
  return (quads + s->c->l1t_quads - 1) / s->c->l1t_quads;
}

/* First cycle in which the memory unit can take the oldest memory instruction of a sub-core. */
static uint64_t memory_at(const struct sm *s, const struct sub_core *c) {
  const struct sub_cores *b = s->sub;
  uint64_t at = c->mem_at > b->unit_at ? c->mem_at : b->unit_at;
  if (s->c->l1t_quads && b->tex_at > at && is_texture(&s->op[c->mem[0]])) at = b->tex_at;
  return at;
}

/* The memory unit has taken an instruction: when it takes the next, of this sub-core and of any. */
static void occupy_unit(struct sm *s, struct sub_core *c, const struct inst *i) {
  uint64_t now = s->g->now;
  uint32_t own = s->c->mem_interval, all = s->c->unit_interval;
  if (s->c->const_interval && uop_by_register(i)) own = s->c->const_interval;
  if (is_shuffle(i)) own = s->c->lat[i->lat].interval, all = (own + s->c->schedulers - 1) / s->c->schedulers;
  c->mem_at = now + own;
  s->sub->unit_at = now + all;
  if (s->c->mem_hold) c->left[(c->first_left + c->lefts++) % MEM_QUEUE] = now + s->c->mem_hold;
}

/* The memory unit takes one instruction, of the sub-cores in turn. */
static void fixed_collect(struct sm *s) {
  struct sub_cores *b = s->sub;
  uint32_t n = s->c->schedulers;
  uint64_t now = s->g->now;
  for (uint32_t k = 0; b->held && !s->ex_mem.count && k < n; k++) {
    struct sub_core *c = &b->core[(b->turn + k) % n];
    if (!c->mems) continue;
    uint64_t at = memory_at(s, c);
    if (at > now) {
      if (at < s->wake_at) s->wake_at = at;
      continue;
    }
    const struct op *o = &s->op[c->mem[0]];
    const struct inst *i = o->uop->inst;
    if (s->c->l1t_quads && is_texture(o)) b->tex_at = now + texture_cycles(s, o);
    occupy_unit(s, c, i);
    if (is_shuffle(i)) sm_result_due(s, c->mem[0], now + s->c->lat[i->lat].latency - 1); /* issued a cycle ago */
    else s->ex_mem.at[s->ex_mem.count++] = c->mem[0];
    memmove(c->mem, c->mem + 1, --c->mems * sizeof *c->mem);
    b->held--;
    b->turn = (b->turn + k + 1) % n;
    s->memory_look = s->acted = true;
    s->none_to_issue = false;
  }
}

void sm_sub_collect(struct sm *s) {
  struct sub_cores *b = s->sub;
  uint32_t n = s->c->schedulers;
  if (s->c->fixed_issue) {
    fixed_collect(s);
    return;
  }
  for (uint32_t k = 0; s->col_ready && k < n; k++) dispatch(s, &b->core[k]);
  for (uint32_t k = 0; k < n && !s->ex_mem.count; k++) {
    struct sub_core *c = &b->core[(b->turn + k) % n];
    if (!c->ex[SUB_MEM]) continue;
    s->ex_mem.at[s->ex_mem.count++] = c->ex[SUB_MEM];
    s->memory_look = true;
    c->ex[SUB_MEM] = 0;
    b->turn = (b->turn + k + 1) % n;
    s->acted = true;
  }
  sm_read_banks(s);
  for (uint32_t k = 0; b->held && k < n; k++) collect_issued(s, &b->core[k]);
}

void sm_sub_execute(struct sm *s) {
  uint64_t now = s->g->now;
  if (s->c->fixed_issue) return;
  for (uint32_t k = 0; k < s->c->schedulers; k++) {
    struct sub_core *c = &s->sub->core[k];
    for (uint32_t u = 0; u < SUB_MEM; u++) {
      if (!c->ex[u]) continue;
      if (c->free_at[u] > now) {
        if (c->free_at[u] < s->wake_at) s->wake_at = c->free_at[u];
        continue;
      }
      struct latency_config l = s->c->lat[s->op[c->ex[u]].lat];
      s->acted = true; /* a conflict for a result bus is retried every cycle */
      if (!sm_result_at(s, c->ex[u], now + l.latency + 2)) continue;
      c->free_at[u] = now + l.interval;
      c->ex[u] = 0;
    }
  }
}

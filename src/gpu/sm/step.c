/* step.c - a core cycle of an SM: write results back, start pipes and the memory unit (operand collectors step inside
 * it), issue, decode, fetch (docs/explanation/gpu-model.md "Front of the SM"). Its parts are the .inc files, all of
 * them one unit. They are compiled once for each kind of machine (kind.inc).
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/l1/set.h"
#include "gpu/sm/kind.inc"
/* in order of dependence */
#include "gpu/sm/regs.inc"
#include "gpu/sm/count.inc"
#include "gpu/sm/collect.inc"
#include "gpu/l1/access.inc"
#include "gpu/l1/prefetch.inc"
#include "gpu/l1/net.inc"
#include "gpu/sm/ldst.inc"
#include "gpu/sm/fetch.inc"
#include "gpu/sm/front.inc"
#include "gpu/sm/issue.inc"

STEP void fall_asleep(struct sm *s, enum sm_kind kind) {
  uint64_t wake = s->wb_due;
  EACH_SM_HOOK (in, s, issue_wake) {
    uint64_t at = in->scheme->issue_wake(&in->ctx, s->id);
    if (at < wake) wake = at;
  }
  if (FRONT(s)) {
    uint64_t at = front_wake(s);
    if (at < wake) wake = at;
  }
  if (s->wake_at > wake) s->wake_at = wake;
  s->asleep = s->wake_at > s->g->now + 1;
  if (SCHEMES(s)) s->need_icnt = REQ_HEADER_BYTES; /* a scheme may test the room itself */
  s->slept_from = s->g->now + 1;
}

/* An access that waits for the L1's hit latency, or for a busy organisation. */
STEP bool memory_waits(const struct sm *s, enum sm_kind kind) {
  const struct l1d *l = &s->l1d;
  /* requests wait for their translation, lines of constants for the second level's latency */
  if (GENERAL(kind) && RARE(s->untranslated.count | s->l15c.count)) return true;
  if (GENERAL(kind) && RARE(s->const_at > s->g->now)) return true;
  if (HOOKS(s, on_prefetch) && l1_prefetch_waits(l)) return true;
  if (SLOW_HITS(s) && l->slow) return true;
  if (!l->lat_count || (KNOB(s, l1d_latency) == 1 && !L1_ORG(s))) return false;
  return s->g->now < l->lat[l->lat_head].at + KNOB(s, l1d_latency) || s->g->now < l->org_busy;
}

/* The memory unit's cycle. An unchanged cycle repeats until a reply or an instruction arrives, the interconnect has
 * room, or a fence invalidates the L1: until then only its counts are repeated. */
STEP bool memory_unit(struct sm *s, enum sm_kind kind) {
  bool acted = s->acted;
  s->now_counts.memory = 0;
  s->need_icnt = UINT32_MAX;
  s->acted = false;
  if (!ldst(s, kind)) return false;
  if (!s->acted && MEMORY_STEADY(s) && !memory_waits(s, kind) && !(HOOKS(s, on_stall) && s->watch_icnt)) {
    s->memory_look = false;
    s->memory_counts = s->now_counts.memory;
  }
  s->acted |= acted;
  return true;
}

/* True if an operand collector reads, empties or fills. */
static inline bool collectors_move(const struct sm *s) {
  return s->bank_wait | (s->col_ready & s->col_leave) | (s->col_wanted & ~s->col_used);
}
STEP bool fetch_busy(const struct sm *s, enum sm_kind kind) {
  if (BUFFERED(s)) return s->ro_active & (RO_INST | RO_OPERAND) || front_busy(s);
  return s->fetch_valid | (s->ro_active & (RO_INST | RO_OPERAND)) ||
         (s->live & ((s->done & s->drained) | ~(s->done | s->imiss | s->ibuf_any)));
}

/* A warp passed its fence. */
STEP void drop_l1(struct sm *s, enum sm_kind kind) {
  l1d_drop(s);
  if (PLACED(kind)) l1_net_fenced(s);
}

STEP bool step(struct sm *s, enum sm_kind kind) {
  if (s->asleep) {
    settle(s, s->g->now, kind);
    s->asleep = false;
  }
  s->acted = false;
  if (SCHEMES(s)) s->watch_icnt = false;
  s->wake_at = UINT64_MAX;
  s->now_counts.memory = s->memory_counts;
  s->bank_write = 0;
  if (s->wb_due == s->g->now) writeback(s, kind);
  if (SUB_CORES(s) || s->ex_sp.count | s->ex_sfu.count) {
    if (s->alu_at != s->g->now) execute_alu(s, s->g->now, kind);
    else s->acted = true; /* the rest waits for the next cycle */
  }
  if (!s->memory_look && s->now_counts.icnt) s->memory_look = icnt_can_push(s->g->icnt, s->id, s->need_icnt);
  if (s->memory_look && !memory_unit(s, kind)) return false;
  if (s->collect_look) {
    if (SUB_CORES(s) || collectors_move(s)) collect(s, kind);
    else s->collect_look = false;
  }
  if (FIXED_ISSUE(s) && RARE(s->lets)) sm_sub_go(s);
  if (FRONT(s)) front_begin(s);
  if (!s->none_to_issue) {
    if (RARE(s->fenced)) s->fenced = false, drop_l1(s, kind); /* and the schedulers run again */
    if (!schedule(s, kind)) return false;
  }
  if (s->fetch_look || s->live & s->done & s->drained) {
    s->fetch_look = fetch_busy(s, kind);
    if (BUFFERED(s)) front_fetch(s, kind);
    else
      for (uint32_t i = 0; i < KNOB(s, fetch_width) && fetch_busy(s, kind); i++) fetch(s, kind);
  }
  count_cycles(s, s->g->now, 1, kind);
  s->first = (uint8_t)modulo(s->first + 1u, KNOB(s, schedulers));
  if (!s->acted && s->g->may_sleep && !s->g->every_cycle) fall_asleep(s, kind);
  return true;
}

/* An SM without a warp only waits for its prefetches: their requests leave and their lines are filled. */
static __attribute__((noinline)) bool step_prefetches(struct gpu *g, struct sm *s) {
  s->wake_at = UINT64_MAX;
  s->now_counts.memory = 0;
  s->need_icnt = UINT32_MAX;
  s->acted = false;
  l1_prefetch_drain(s);
  if (!ldst(s, SM_GENERAL)) return false;
  if (!s->l1d.mshrs_busy) g->running[s->id / 64] &= ~(1ull << (s->id % 64));
  return true;
}

/* It also serves the accesses of other SMs to its L1. */
static __attribute__((noinline)) bool step_l1(struct gpu *g, struct sm *s) {
  s->wake_at = UINT64_MAX;
  s->now_counts.memory = 0;
  s->need_icnt = UINT32_MAX;
  s->acted = false;
  if (s->l1d.prefetch) l1_prefetch_drain(s);
  if (!ldst(s, SM_PLACED)) return false;
  if (!serves_others(s)) g->running[s->id / 64] &= ~(1ull << (s->id % 64));
  return true;
}

STEP bool step_and_sleep(struct gpu *g, struct sm *s, enum sm_kind kind) {
  if (PLACED(kind) && !s->live) return step_l1(g, s);
  if (HOOKS(s, on_prefetch) && RARE(!s->live)) return step_prefetches(g, s);
  if (!step(s, kind)) return false;
  if (s->live && !s->asleep) return true;
  if ((HOOKS(s, on_prefetch) | PLACED(kind)) && RARE(!s->live)) return true; /* until they are done */
  uint32_t i = s->id;
  uint64_t bit = 1ull << (i % 64);
  g->running[i / 64] &= ~bit;
  if (!s->live) return true;
  if (s->wake_at != UINT64_MAX) gpu_sleep_sm(g, i, s->wake_at);
  if (s->now_counts.icnt || s->watch_icnt) {
    g->no_room[i / 64] |= bit;
    if (icnt_can_push(g->icnt, i, s->need_icnt)) g->look[i / 64] |= bit; /* it only watches for room */
    else icnt_await(g->icnt, i, s->need_icnt);
  }
  return true;
}

/* Prefetch the first lines of the next SM's step: SMs evict each other's lines. Saves 1 to 2 % on loads and stores. */
static inline void expect_step(const struct sm *s) {
  const char *p = (const char *)s;
  for (size_t at = 0; at < SM_HOT_BYTES; at += 64) __builtin_prefetch(p + at);
  __builtin_prefetch(&s->barrier);
  __builtin_prefetch(&s->to_mem);
}

/* Step the running SMs of a word in turn. */
STEP bool steps(struct gpu *g, uint32_t w, enum sm_kind kind) {
  struct sm *const *at = &g->sm_at[w * 64], *s = at[__builtin_ctzll(g->running[w])], *next;
  bool acted = false;
  for (uint64_t left = g->running[w]; left; s = next) {
    left &= left - 1;
    next = left ? at[__builtin_ctzll(left)] : s;
    expect_step(next);
    if (!step_and_sleep(g, s, kind)) return false;
    acted |= s->acted;
  }
  if (acted) g->progress_at = g->now, g->busy = true;
  return true;
}

/* ---- the kinds ---- */

bool sm_steps_placed(struct gpu *g, uint32_t w) {
  return steps(g, w, SM_PLACED);
}

bool sm_steps_modern(struct gpu *g, uint32_t w) {
  return steps(g, w, SM_MODERN);
}

bool sm_steps_general(struct gpu *g, uint32_t w) {
  return steps(g, w, SM_GENERAL);
}

bool sm_steps_schemes(struct gpu *g, uint32_t w) {
  return steps(g, w, SM_SCHEMES);
}

bool sm_steps_baseline(struct gpu *g, uint32_t w) {
  return steps(g, w, SM_BASELINE);
}

/* ---- parts of it for others ---- */

void sm_settle(struct sm *s, uint64_t until) {
  settle(s, until, SM_GENERAL);
}

void sm_count(struct sm *s) {
  count_run(s, SM_GENERAL);
  struct sm_tally *t = &s->tally;
  struct gpu_stats *st = s->st;
  for (uint32_t k = 0; k < 8; k++) st->issue_slots += t->issue[k];
  st->issue_issued += t->issue[CAT_ISSUED];
  st->issue_data += t->issue[CAT_DATA];
  st->issue_memory += t->issue[CAT_MEMORY];
  st->issue_pipe += t->issue[CAT_PIPE];
  st->issue_barrier += t->issue[CAT_BARRIER];
  st->issue_control += t->issue[CAT_CONTROL];
  st->issue_idle += t->issue[CAT_IDLE] + t->issue[CAT_NONE];
  st->stall_shared += t->stall[STALL_SHARED];
  st->stall_const += t->stall[STALL_CONST];
  st->stall_tex += t->stall[STALL_TEX];
  st->stall_l1d += t->stall[STALL_L1D];
  st->stall_bypass += t->stall[STALL_BYPASS];
  st->stall_coalesce += t->stall[STALL_COALESCE];
  st->stall_icnt += t->icnt;
  *t = (struct sm_tally){0};
}

/* ---- for sub_cores.c ---- */

void sm_collector_take(struct sm *s, uint32_t c, op_id id) {
  collector_take(s, c, id, SM_GENERAL);
}

void sm_read_banks(struct sm *s) {
  read_banks(s);
}

bool sm_result_at(struct sm *s, op_id id, uint64_t cycle) {
  return result_at(s, id, cycle, SM_GENERAL);
}

void sm_result_due(struct sm *s, op_id id, uint64_t cycle) {
  result_due(s, id, cycle);
}

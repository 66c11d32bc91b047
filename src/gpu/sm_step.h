/* sm_step.h - a core cycle of an SM: write results back, start pipes and the memory unit (operand collectors step
 * inside it), issue, decode, fetch (docs/gpu-model.md "Front of the SM"). Compiled by sm_any.c and sm_plain.c
 * (sm_kind.h). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/l1_set.h"
#include "gpu/sm_kind.h"
/* in the order in which they need each other */
#include "gpu/sm_regs.h"
#include "gpu/sm_count.h"
#include "gpu/sm_collect.h"
#include "gpu/l1d_access.h"
#include "gpu/sm_ldst.h"
#include "gpu/sm_fetch.h"
#include "gpu/sm_issue.h"

static void fall_asleep(struct sm *s) {
  uint64_t wake = s->wb_due;
  for (uint32_t h = 0; h < HOOKS(s, issue_wake); h++) {
    struct slot_instance *in = &s->g->slots.at[s->g->slots.issue_wake[h]];
    uint64_t at = in->scheme->issue_wake(&in->ctx, s->id);
    if (at < wake) wake = at;
  }
  if (s->wake_at > wake) s->wake_at = wake;
  s->asleep = s->wake_at > s->g->now + 1;
  if (SCHEMES(s)) s->need_icnt = REQ_HEADER_BYTES; /* a scheme may look at the room itself */
  s->slept_from = s->g->now + 1;
}

/* An access that spends the hit latency before the L1, or waits for an organisation that is busy. */
static inline bool memory_waits(const struct sm *s) {
  const struct l1d *l = &s->l1d;
  if (!l->lat_count || (KNOB(s, l1d_latency) == 1 && !L1_ORG(s))) return false;
  return s->g->now < l->lat[l->lat_head].at + KNOB(s, l1d_latency) || s->g->now < l->org_busy;
}

/* The memory unit's cycle. One that changes nothing would be repeated until a reply or an instruction comes, there is
 * room in the interconnect, or a fence empties the L1: until then only its counts are. */
ONCE bool memory_unit(struct sm *s) {
  bool acted = s->acted;
  s->now_counts.memory = 0;
  s->need_icnt = UINT32_MAX;
  s->acted = false;
  if (!ldst(s)) return false;
  if (!s->acted && MEMORY_STEADY(s) && !memory_waits(s) && !(HOOKS(s, on_stall) && s->watch_icnt)) {
    s->memory_look = false;
    s->memory_counts = s->now_counts.memory;
  }
  s->acted |= acted;
  return true;
}

/* Does an operand collector read, empty or fill? */
static inline bool collectors_move(const struct sm *s) {
  return s->bank_wait | (s->col_ready & s->col_leave) | (s->col_wanted & ~s->col_used);
}
static inline bool fetch_busy(const struct sm *s) {
  return s->fetch_valid | (s->ro_active & RO_INST) ||
         (s->live & ((s->done & s->drained) | ~(s->done | s->imiss | s->ibuf_any)));
}

ONCE bool step(struct sm *s) {
  if (s->asleep) {
    settle(s, s->g->now);
    s->asleep = false;
  }
  s->acted = false;
  if (SCHEMES(s)) s->watch_icnt = false;
  s->wake_at = UINT64_MAX;
  s->now_counts.memory = s->memory_counts;
  s->bank_write = 0;
  if (s->wb_due == s->g->now) writeback(s);
  if (SUB_CORES(s) || s->ex_sp.count | s->ex_sfu.count) {
    if (s->alu_at != s->g->now) execute_alu(s, s->g->now);
    else s->acted = true; /* what is left waits for the next cycle */
  }
  if (!s->memory_look && s->now_counts.icnt) s->memory_look = icnt_can_push(s->g->icnt, s->id, s->need_icnt);
  if (s->memory_look && !memory_unit(s)) return false;
  if (s->collect_look) {
    if (SUB_CORES(s) || collectors_move(s)) collect(s);
    else s->collect_look = false;
  }
  if (!s->none_to_issue) {
    if (RARE(s->fenced)) s->fenced = false, l1d_drop(s); /* and the schedulers look again */
    if (!schedule(s)) return false;
  }
  if (s->fetch_look || s->live & s->done & s->drained) {
    s->fetch_look = fetch_busy(s);
    for (uint32_t i = 0; i < KNOB(s, fetch_width) && fetch_busy(s); i++) fetch(s);
  }
  count_cycles(s, s->g->now, 1);
  s->first = (uint8_t)modulo(s->first + 1u, KNOB(s, schedulers));
  if (!s->acted && s->g->may_sleep && !s->g->every_cycle) fall_asleep(s);
  return true;
}

ONCE bool step_and_sleep(struct gpu *g, struct sm *s) {
  if (!step(s)) return false;
  if (s->live && !s->asleep) return true;
  uint32_t i = s->id;
  uint64_t bit = 1ull << (i % 64);
  g->running[i / 64] &= ~bit;
  if (!s->live) return true;
  if (s->wake_at != UINT64_MAX) gpu_sleep_sm(g, i, s->wake_at);
  if (s->now_counts.icnt || s->watch_icnt) {
    g->no_room[i / 64] |= bit;
    if (icnt_can_push(g->icnt, i, s->need_icnt)) g->look[i / 64] |= bit; /* it only watches */
    else icnt_await(g->icnt, i, s->need_icnt);
  }
  return true;
}

/* What a step of the SM looks at first: one SM's lines push out another's. Saves 1 to 2 % on loads and stores. */
static inline void expect_step(const struct sm *s) {
  const char *p = (const char *)s;
  for (size_t at = 0; at < SM_HOT_BYTES; at += 64) __builtin_prefetch(p + at);
  __builtin_prefetch(&s->barrier);
  __builtin_prefetch(&s->to_mem);
}

/* The SMs of a word that run, in turn. */
ONCE bool steps(struct gpu *g, uint32_t w) {
  struct sm *const *at = &g->sm_at[w * 64], *s = at[__builtin_ctzll(g->running[w])], *next;
  bool acted = false;
  for (uint64_t left = g->running[w]; left; s = next) {
    left &= left - 1;
    next = left ? at[__builtin_ctzll(left)] : s;
    expect_step(next);
    if (!step_and_sleep(g, s)) return false;
    acted |= s->acted;
  }
  if (acted) g->progress_at = g->now, g->busy = true;
  return true;
}

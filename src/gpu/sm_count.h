/* sm_count.h - of an SM's step (sm_step.h): the counters of one cycle, or of `n` cycles that repeat it. */

static void count_refusals(struct sm *s, uint64_t n) {
  const struct sm_counts *c = &s->run_counts;
  struct gpu_stats *st = s->st;
  if (c->l1_reject_of & REJECT_WRITE) {
    *(c->l1_reject_of & REJECT_LOCAL ? &st->l1d_local_write_rejects : &st->l1d_write_rejects) += n;
    return;
  }
  if (c->l1_reject_of & REJECT_LOCAL) {
    st->l1d_local_read_rejects += n;
    return;
  }
  st->l1d_read_rejects += n;
  switch (c->l1_reject) {
  case L1_NO_LINE:
    st->l1d_rej_line += n;
    break;
  case L1_NO_MISSQ:
    st->l1d_rej_missq += n;
    break;
  case L1_NO_MSHR:
    st->l1d_rej_mshr += n;
    break;
  case L1_NO_MERGE:
    st->l1d_rej_merge += n;
    break;
  default:
    break;
  }
}

/* The head of the memory pipe stalled in `n` cycles: who watches wants to know which instruction it was. */
static void see_stalls(struct sm *s, uint64_t from, uint64_t n) {
  if (s->g->seen.inst) sm_seen_inst(s, &s->op[s->dispatch])->stalls += n;
  if (s->g->seen.timeline) timeline_stall(s, from, n, s->now_counts.stall_kind);
}

/* The cycles of the run. */
static void count_run(struct sm *s) {
  const struct sm_counts *c = &s->run_counts;
  uint64_t n = s->run;
  for (uint32_t k = 0; k < KNOB(s, schedulers); k++) s->tally.issue[c->sched_cat[k]] += n;
  if (c->stall_kind != STALL_NONE) s->tally.stall[c->stall_kind] += n;
  if (c->icnt) s->tally.icnt += n;
  if (c->l1_reject != L1_HIT) count_refusals(s, n);
  s->run = 0;
}

/* This cycle, and `n` - 1 that repeat it. */
static inline void count_cycles(struct sm *s, uint64_t from, uint64_t n) {
  if (memcmp(&s->now_counts, &s->run_counts, sizeof s->run_counts) != 0) {
    count_run(s);
    s->run_counts = s->now_counts;
  }
  s->run += n;
  if (s->now_counts.stall_kind != STALL_NONE && (SEEN(s, inst) || SEEN(s, timeline))) see_stalls(s, from, n);
}

static void settle(struct sm *s, uint64_t until) {
  if (!s->asleep || until <= s->slept_from) return;
  uint64_t n = until - s->slept_from;
  count_cycles(s, s->slept_from, n);
  s->first = (uint8_t)((s->first + n) % KNOB(s, schedulers));
  s->slept_from = until;
}

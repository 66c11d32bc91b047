/* step_general.c - the step of an SM for every machine (kind.inc), and parts of it used elsewhere. */
#define SM_KIND SM_GENERAL
#include "gpu/sm/step.inc"

bool sm_steps_general(struct gpu *g, uint32_t w) {
  return steps(g, w);
}

void sm_settle(struct sm *s, uint64_t until) {
  settle(s, until);
}

void sm_count(struct sm *s) {
  count_run(s);
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
  collector_take(s, c, id);
}

void sm_read_banks(struct sm *s) {
  read_banks(s);
}

bool sm_result_at(struct sm *s, op_id id, uint64_t cycle) {
  return result_at(s, id, cycle);
}

void sm_result_due(struct sm *s, op_id id, uint64_t cycle) {
  result_due(s, id, cycle);
}

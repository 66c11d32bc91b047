/* control.c - branches, convergence and barriers, and the run of a CTA.
 *
 * Every lane has its own PC. Lanes that run together do so until they wait or end; of the others those with the lowest
 * PC come next. BSSY notes the lanes that BSYNC waits for, BREAK takes lanes from the note.
 */
#include <stdlib.h>

#include "exec.h"
#include "ops.h"

enum { TURN = 4096 }; /* instructions of a warp before the next warp's turn */

/* ---- branches ---- */

static void go(struct step *s, uint32_t lanes, uint32_t to) {
  for (uint32_t m = lanes; m; m &= m - 1) s->w->pc[__builtin_ctz(m)] = to;
}

/* Some lanes leave for another place: the others keep running. */
static void leave(struct step *s, uint32_t lanes, uint32_t to) {
  go(s, lanes, to);
  if (lanes != s->active) s->w->current &= ~lanes;
}

OP(bra) {
  const struct sass *i = s->i;
  uint32_t taken = s->mask;
  if (i->n > 1) EACH_LANE(s, lane)
  if (!getp(s, &i->o[0], lane)) taken &= ~(1u << lane);
  if (taken) leave(s, taken, last(i, 1)->number);
}

/* Lanes go where their register says; the first lane's place is gone to first. */
OP(brx) {
  const struct sass *i = s->i;
  uint32_t to[LANES], first = UINT32_MAX;
  EACH_LANE(s, lane) {
    uint32_t offset = last(i, 1)->neg ? 0 - last(i, 1)->number : last(i, 1)->number;
    to[lane] = reg_of(s->w, last(i, 2)->reg, lane) + offset + i->pc + 16;
    s->w->pc[lane] = to[lane];
    if (to[lane] < first) first = to[lane];
  }
  if (s->mask != s->active) s->w->current = s->active & ~s->mask;
  else EACH_LANE(s, lane)
  if (to[lane] != first) s->w->current &= ~(1u << lane);
}

OP(call) {
  leave(s, s->mask, last(s->i, 1)->number);
}

OP(ret) {
  uint32_t to = 0;
  EACH_LANE(s, lane) to = reg_of(s->w, s->i->o[0].reg, lane);
  EACH_LANE(s, lane)
  if (reg_of(s->w, s->i->o[0].reg, lane) != to) die("lanes return to different places");
  if (s->mask) leave(s, s->mask, to);
}

static void state_of(struct warp *w, uint32_t lanes, enum lane_state state) {
  for (uint32_t m = lanes; m; m &= m - 1) w->state[__builtin_ctz(m)] = (uint8_t)state;
  w->current &= ~lanes;
}

OP(exit) {
  state_of(s->w, s->mask, DONE);
}

OP(nop) {
  (void)s;
}

/* ---- convergence ---- */

OP(bssy) {
  EACH_LANE(s, lane) s->w->b[s->i->o[0].reg][lane] = s->mask;
}

OP(bsync) {
  EACH_LANE(s, lane) s->w->wait[lane] = last(s->i, 1)->reg;
  state_of(s->w, s->mask, AT_SYNC);
}

OP(break) {
  uint32_t out = 0;
  const struct operand *b = last(s->i, 1);
  EACH_LANE(s, lane)
  if (s->i->n < 2 || getp(s, &s->i->o[0], lane)) out |= 1u << lane;
  for (unsigned lane = 0; lane < LANES; lane++)
    if (s->w->b[b->reg][lane] & out) s->w->b[b->reg][lane] &= ~out;
}

OP(bmov) {
  const struct operand *to = &s->i->o[0], *from = &s->i->o[1];
  EACH_LANE(s, lane) {
    if (to->kind == O_BARRIER) s->w->b[to->reg][lane] = get(s, from, lane);
    else put(s, to, lane, s->w->b[from->reg][lane]);
  }
}

OP(warpsync) {
  EACH_LANE(s, lane) s->w->wait[lane] = s->i->n ? get(s, &s->i->o[0], lane) : UINT32_MAX;
  state_of(s->w, s->mask, AT_WARPSYNC);
}

/* Lanes whose company has come go on together. */
static void let_go(struct warp *w, uint32_t lanes) {
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned lane = (unsigned)__builtin_ctz(m);
    w->state[lane] = RUNS;
    w->pc[lane] += 16;
  }
}

static void converge(struct warp *w) {
  for (unsigned lane = 0; lane < LANES; lane++) {
    if (w->state[lane] != AT_SYNC && w->state[lane] != AT_WARPSYNC) continue;
    uint32_t with = w->state[lane] == AT_SYNC ? w->b[w->wait[lane]][lane] : w->wait[lane], here = 0;
    bool all = true;
    for (unsigned k = 0; k < LANES; k++) {
      if (!(with >> k & 1) || w->state[k] == DONE) continue;
      if (w->state[k] == w->state[lane] && w->pc[k] == w->pc[lane]) here |= 1u << k;
      else all = false;
    }
    if (all) let_go(w, here | 1u << lane);
  }
}

/* ---- barriers of the CTA ---- */

/* BAR.SYNC n[, threads], BAR.RED.AND n[, threads], P: the result is of all that arrive. */
OP(bar) {
  const struct sass *i = s->i;
  if (IS(i, ARV)) die("BAR.ARV is not known here");
  uint32_t id = s->mask ? get(s, &i->o[0], (unsigned)__builtin_ctz(s->mask)) & 15 : 0;
  struct cta *c = s->w->cta;
  EACH_LANE(s, lane) {
    s->w->wait[lane] = id;
    if (!IS(i, RED)) continue;
    bool v = getp(s, last(i, 1), lane);
    if (!c->bar_live[id]++) c->bar_result[id] = IS(i, AND);
    if (IS(i, AND)) c->bar_result[id] &= v;
    else if (IS(i, POPC)) c->bar_result[id] += v;
    else c->bar_result[id] |= v;
  }
  state_of(s->w, s->mask, AT_BAR);
}

/* B2R.RESULT Rd[, P] */
OP(b2r) {
  EACH_LANE(s, lane) {
    uint32_t v = s->w->cta->bar_result[0];
    put(s, &s->i->o[0], lane, v);
    if (s->i->n > 1) putp(s, &s->i->o[1], lane, v != 0);
  }
}

/* Opens a barrier at which all threads wait that still run. */
static bool open_barriers(struct cta *c) {
  unsigned waits = 0, runs = 0;
  for (unsigned t = 0; t < c->warps * LANES; t++) {
    uint8_t state = c->warp[t / LANES].state[t % LANES];
    waits += state == AT_BAR;
    runs += state != DONE && state != AT_BAR;
  }
  if (!waits || runs) return false;
  for (unsigned w = 0; w < c->warps; w++) {
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
      if (c->warp[w].state[lane] == AT_BAR) lanes |= 1u << lane;
    let_go(&c->warp[w], lanes);
  }
  memset(c->bar_live, 0, sizeof c->bar_live);
  return true;
}

/* ---- special registers ---- */

static uint32_t special_of(const struct warp *w, const char *name, unsigned lane) {
  const uint32_t *b = w->cta->l->block;
  uint32_t t = w->number * LANES + lane;
  if (!strcmp(name, "SR_TID.X")) return t % b[0];
  if (!strcmp(name, "SR_TID.Y")) return t / b[0] % b[1];
  if (!strcmp(name, "SR_TID.Z")) return t / b[0] / b[1];
  if (!strncmp(name, "SR_CTAID.", 9)) return w->cta->at[name[9] - 'X'];
  if (!strcmp(name, "SR_LANEID")) return lane;
  if (!strcmp(name, "SR_EQMASK")) return 1u << lane;
  if (!strcmp(name, "SR_LTMASK")) return (1u << lane) - 1;
  if (!strcmp(name, "SR_LEMASK")) return (1u << lane) | ((1u << lane) - 1);
  if (!strcmp(name, "SR_GTMASK")) return ~((1u << lane) | ((1u << lane) - 1));
  if (!strcmp(name, "SR_GEMASK")) return ~((1u << lane) - 1);
  if (!strcmp(name, "SR_CLOCKLO")) return (uint32_t)w->insts;
  if (!strcmp(name, "SR_SWINHI")) return (uint32_t)(SHARED_BASE >> 32);
  if (!strcmp(name, "SRZ")) return 0;
  die("special register %s is not known here", name);
}

OP(s2r) {
  EACH_LANE(s, lane) put(s, &s->i->o[0], lane, special_of(s->w, s->i->special, lane));
}

OP(cs2r) {
  EACH_LANE(s, lane) {
    uint32_t v = special_of(s->w, s->i->special, lane);
    if (IS(s->i, B32)) put(s, &s->i->o[0], lane, v);
    else put64(s, &s->i->o[0], lane, v);
  }
}

/* ---- the run ---- */

/* Lanes that run next: those of the lowest PC. False: all wait or have ended. */
static bool choose(struct warp *w) {
  uint32_t lowest = UINT32_MAX;
  converge(w);
  w->current = 0;
  for (unsigned lane = 0; lane < LANES; lane++) {
    if (w->state[lane] != RUNS || w->pc[lane] > lowest) continue;
    if (w->pc[lane] < lowest) w->current = 0;
    lowest = w->pc[lane];
    w->current |= 1u << lane;
  }
  return w->current;
}

static void step(struct warp *w) {
  struct kernel *k = w->cta->k;
  uint32_t pc = w->pc[__builtin_ctz(w->current)], n = pc / 16;
  if (n >= k->insts) die("%s: no instruction at %x", k->name, pc);
  const struct sass *i = &k->code[n];
  struct step s = {.w = w, .i = i, .active = w->current, .mask = w->current};
  if (i->guard != PT) s.mask &= i->guard_not ? ~w->p[i->guard] : w->p[i->guard];
  else if (i->guard_not) s.mask = 0;
  k->count[n]++;
  w->insts++;
  for (uint32_t m = s.active; m; m &= m - 1) w->pc[__builtin_ctz(m)] = pc + 16;
  i->run(&s);
  for (uint32_t m = s.active; m; m &= m - 1) { /* those that wait stay where they are */
    unsigned lane = (unsigned)__builtin_ctz(m);
    if (w->state[lane] != RUNS) w->pc[lane] = pc;
  }
  if (w->cta->tracing) trace_line(&s);
}

static bool turn(struct warp *w) {
  bool any = false;
  for (unsigned n = 0; n < TURN; n++) {
    if (!w->current && !choose(w)) return any;
    step(w);
    any = true;
  }
  return any;
}

static void begin_warp(struct cta *c, unsigned number) {
  struct warp *w = &c->warp[number];
  uint64_t stack = c->l->stack;
  memset(w->r, 0, sizeof w->r);
  memset(w->p, 0, sizeof w->p);
  memset(w->b, 0, sizeof w->b);
  w->cta = c;
  w->number = number;
  w->used = 0;
  w->insts = 0;
  w->current = 0;
  for (unsigned lane = 0; lane < LANES; lane++) {
    w->pc[lane] = 0;
    w->state[lane] = number * LANES + lane < c->threads ? RUNS : DONE;
  }
  if (stack && !w->local) w->local = malloc(stack * LANES);
  if (stack) memset(w->local, 0, stack * LANES);
}

void cta_run(struct cta *c) {
  for (unsigned w = 0; w < c->warps; w++) begin_warp(c, w);
  memset(c->shared, 0, c->shared_bytes);
  memset(c->bar_live, 0, sizeof c->bar_live);
  for (bool any = true; any;) {
    any = false;
    for (unsigned w = 0; w < c->warps; w++) any |= turn(&c->warp[w]);
    any |= open_barriers(c);
  }
  for (unsigned t = 0; t < c->threads; t++)
    if (c->warp[t / LANES].state[t % LANES] != DONE)
      die("%s: thread %u waits forever at %x", c->k->name, t, c->warp[t / LANES].pc[t % LANES]);
}

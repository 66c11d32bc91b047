/* warp.c - the divergence stack of a warp: branches, calls, returns, exits.
 *
 * Entries are (pc, reconvergence pc, mask). A branch whose lanes disagree turns the top entry into the one that waits
 * at the immediate post-dominator and pushes the fall-through path, then the taken path, which therefore runs first; an
 * entry that reaches its reconvergence pc is popped (Fung et al., "Dynamic Warp Formation and Scheduling", MICRO 2007,
 * section 2; the order is the reference's). A call pushes an entry of its own; a divergent branch in a function that
 * meets its other side only at the return waits at RPC_RET. In machine code lanes wait for each other within a
 * region, and those that leave it are waited for no more (base/reconverge.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/run.h"

enum { MAX_STACK = 1 << 16 };

static struct entry *push(struct exec *x, struct warp *w) {
  if (__builtin_expect(w->sp == w->cap, 0)) { /* many paths, or deep recursion */
    struct entry *old = w->stack, *n = mem_alloc(4 * (size_t)w->cap * sizeof *n);
    memcpy(n, old, w->cap * sizeof *n);
    if (old != w->own) free(old);
    w->stack = n;
    w->cap *= 4;
    x->run->grown = true;
  }
  return &w->stack[w->sp++];
}

/* Pop entries that are empty, reconverged or returned; a warp without entries is done. */
void warp_settle(struct exec *x, struct warp *w) {
  (void)x;
  while (w->sp) {
    struct entry *e = &w->stack[w->sp - 1];
    if (!e->mask) w->sp--;
    else if (e->call && e->pc == RPC_RET) w->sp--;
    else if (!e->call && e->pc == e->rpc) w->sp--;
    else return;
  }
}

static void diverge(struct exec *x, struct entry *e, uint32_t recv, uint32_t n, const uint32_t *pcs,
                    const uint32_t *masks) {
  struct warp *w = x->w;
  struct entry base = *e;
  if (recv != base.rpc || base.call) e->pc = recv;
  else w->sp--; /* the entry below is already waiting there */
  for (uint32_t k = 0; k < n; k++) {
    if (pcs[k] == recv) continue;
    struct entry *p = push(x, w);
    *p = base;
    p->pc = pcs[k];
    p->rpc = recv;
    p->mask = masks[k];
    p->call = false;
  }
}

/* ---- lanes that leave a region of machine code (base/reconverge.h) ---- */

/* Lanes that left a region wait below entry `k` up to the end of those within; where those may wait for them, they go
 * first. They do not wait for others that come to the same instruction: no barrier ends there. */
static void set_aside(struct exec *x, uint32_t k, uint32_t region, struct entry of) {
  struct warp *w = x->w;
  push(x, w);
  if (x->run->m->region_waits[region]) k = w->sp - 1;
  memmove(&w->stack[k + 1], &w->stack[k], (w->sp - 1 - k) * sizeof *w->stack);
  w->stack[k] = of;
}

/* Entry k, which waits at the end of a region, then waits where the lanes that leave it meet it again. */
static uint32_t wait_around(struct exec *x, uint32_t k, uint32_t meet) {
  struct warp *w = x->w;
  struct entry of = w->stack[k];
  if (meet == RPC_NONE || of.rpc == meet) return k;
  push(x, w);
  memmove(&w->stack[k + 1], &w->stack[k], (w->sp - 1 - k) * sizeof *w->stack);
  w->stack[k].pc = meet;
  w->stack[k + 1].rpc = meet;
  w->stack[k + 1].call = false;
  return k + 1;
}

/* BREAK: no lane within the region waits for these any more; they meet again around it or, if none waited, where the
 * branch says. */
static void break_out(struct exec *x, uint32_t region, uint32_t lanes, uint32_t to, uint32_t meet) {
  const struct simt_module *m = x->run->m;
  struct warp *w = x->w;
  uint32_t k = w->sp - 1;
  struct entry of = w->stack[k];
  if (region_holds(m, of.rpc, region)) {
    for (k++; k && region_holds(m, w->stack[k - 1].rpc, region);) w->stack[--k].mask &= ~lanes;
    k = wait_around(x, k - 1, m->region_meet[region]);
    of = w->stack[k];
  } else if (of.rpc != meet || of.call) {
    w->stack[k++].pc = meet;
    of.rpc = meet;
    of.call = false;
    *push(x, w) = of;
  }
  w->stack[k].mask &= ~lanes;
  of.pc = to;
  of.mask = lanes;
  of.call = false;
  if (of.rpc != to) set_aside(x, k, region, of);
}

/* Some lanes leave a region in which others stay, or one in which they wait for each other; false: none. */
static bool branch_out(struct exec *x, const struct xop *o, uint32_t mask) {
  struct entry *e = x->e;
  const struct simt_module *m = x->run->m;
  uint32_t from = (uint32_t)(o - x->ops), fall = e->mask & ~mask;
  uint32_t taken_out = mask ? region_left(m, from, o->target) : 0, fall_out = fall ? region_left(m, from, from + 1) : 0;
  bool stay = (mask && !taken_out) || (fall && !fall_out);
  if (!stay && taken_out && !region_holds(m, e->rpc, taken_out)) return false;
  if (!stay && fall_out && !region_holds(m, e->rpc, fall_out)) return false;
  if (!taken_out && !fall_out) return false;
  e->pc = taken_out ? from + 1 : o->target;
  if (fall_out) break_out(x, fall_out, fall, from + 1, o->reconv);
  if (taken_out) break_out(x, taken_out, mask, o->target, o->reconv);
  return true;
}

static void branch(struct exec *x, const struct xop *o, uint32_t mask) {
  struct entry *e = x->e;
  uint32_t next = (uint32_t)(o - x->ops) + 1, fall = e->mask & ~mask;
  if (o->may_break && branch_out(x, o, mask)) return;
  if (!mask) e->pc = next;
  else if (!fall || o->target == next) e->pc = o->target;
  else diverge(x, e, o->reconv, 2, (uint32_t[]){next, o->target}, (uint32_t[]){fall, mask});
}

static void branch_indexed(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  const uint32_t *index = OPND(uint32_t, o->a);
  uint32_t next = (uint32_t)(o - x->ops) + 1, pcs[LANES + 1], masks[LANES + 1], n = 0;
  uint32_t spcs[LANES + 1], smasks[LANES + 1]; /* of those that stay in their regions */
  if (x->e->mask & ~mask) pcs[n] = next, masks[n++] = x->e->mask & ~mask;
  for (uint32_t left = mask; left;) {
    int i = __builtin_ctz(left);
    uint32_t same = 0;
    if (index[i] >= a->ntargets) {
      fault_text(x, o, i, 719, "brx.idx with index %u, but there are %u targets", index[i], a->ntargets);
      return;
    }
    uint32_t pc = a->targets[index[i]];
    for (uint32_t q = left; q; q &= q - 1) {
      uint32_t v = index[__builtin_ctz(q)];
      if (v < a->ntargets && a->targets[v] == pc) same |= q & -q;
    }
    left &= ~same;
    uint32_t k = 0;
    while (k < n && pcs[k] != pc) k++;
    if (k == n) pcs[n] = pc, masks[n++] = 0;
    masks[k] |= same;
  }
  uint32_t out[LANES + 1], stay = 0;
  for (uint32_t k = 0; k < n; k++) {
    out[k] = region_left(x->run->m, next - 1, pcs[k]);
    if (out[k] && !region_holds(x->run->m, x->e->rpc, out[k])) out[k] = 0;
  }
  for (uint32_t k = 0; k < n; k++)
    if (!out[k]) spcs[stay] = pcs[k], smasks[stay++] = masks[k];
  if (stay == 1) x->e->pc = spcs[0];
  else if (stay) diverge(x, x->e, o->reconv, stay, spcs, smasks);
  for (uint32_t k = 0; k < n; k++)
    if (out[k]) break_out(x, out[k], masks[k], pcs[k], o->reconv);
}

/* ---- calls ---- */

static char *local_at(struct exec *x, int lane, uint32_t off) {
  return x->cta->local + ((size_t)x->w->index * LANES + (size_t)lane) * x->run->local_stride + off;
}

/* Where an operand lies: its registers and local memory are those of a frame. */
struct framed {
  const struct xopnd *o;
  char *regs;
  uint32_t local;
};

/* Copy a value between the caller's and the callee's frames. */
static void copy_value(struct exec *x, uint32_t mask, struct framed to, struct framed from) {
  const struct xopnd *d = to.o, *s = from.o;
  if (d->kind == 2 || s->kind == 2) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    uint64_t v = 0;
    uint32_t size = s->kind == 1 ? s->size : s->bytes;
    char *src = s->kind == 1 ? local_at(x, i, from.local + s->off)
                             : (s->off & 1 ? x->base[1] + (s->off & ~1u) : from.regs + s->off) + (size_t)i * s->bytes;
    if (s->kind == 3) {
      v = *(uint32_t *)(from.regs + s->off) >> i & 1;
      src = (char *)&v;
    }
    uint32_t room = d->kind == 1 ? d->size : d->bytes;
    char *dst = d->kind == 1 ? local_at(x, i, to.local + d->off) : to.regs + d->off + (size_t)i * d->bytes;
    memmove(dst, src, size < room ? size : room);
    if (d->kind == 1 && x->run->check) check_local_written(x, i, to.local + d->off, d->size);
  }
}

static bool stack_room(struct exec *x, const struct xop *o, const struct xfunc *f, uint32_t frame, uint32_t local) {
  struct warp *w = x->w;
  if (local + f->local_bytes > x->run->local_stride || frame + f->frame_bytes > w->reg_bytes || w->sp > MAX_STACK) {
    fault_text(x, o, __builtin_ctz(x->e->mask), 719,
               "stack overflow in the call of '%s' (%u entries deep, %u bytes of local memory per thread)", f->f->name,
               w->sp, x->run->local_stride);
    return false;
  }
  return true;
}

static void enter(struct exec *x, const struct xop *o, const struct xfunc *f, uint32_t mask) {
  struct warp *w = x->w;
  struct entry caller = *x->e;
  const struct xaux *a = o->aux;
  uint32_t pc = (uint32_t)(o - x->ops), frame = caller.frame;
  frame += function_at(x->run->m, pc)->frame_bytes; /* the caller's frame ends after its registers */
  if (!stack_room(x, o, f, frame, caller.local_top)) return;
  if (a->n != f->nformals) {
    fault_text(x, o, __builtin_ctz(mask), 719, "indirect call of '%s' with %u arguments instead of %u", f->f->name,
               a->n, f->nformals);
    return;
  }
  if (x->run->check) check_frame(x, mask, caller.local_top, f->local_bytes);
  char *dregs = w->regs + frame, *sregs = w->regs + caller.frame;
  for (uint32_t k = 0; k < a->n; k++)
    copy_value(x, mask, (struct framed){&f->formals[k], dregs, caller.local_top},
               (struct framed){&a->v[k], sregs, caller.local});
  struct entry *e = push(x, w);
  *e = (struct entry){.pc = f->entry,
                      .rpc = RPC_NONE,
                      .mask = mask,
                      .frame = frame,
                      .local = caller.local_top,
                      .local_top = caller.local_top + f->local_bytes,
                      .site = pc,
                      .up_frame = caller.frame,
                      .up_local = caller.local,
                      .call = true};
  if (e->local_top > x->cta->local_high) x->cta->local_high = e->local_top;
}

static void call(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  uint32_t pc = (uint32_t)(o - x->ops);
  if (a->name) {
    if (mask) builtin_call(x, o, mask, a->name);
    x->e->pc = pc + 1;
    return;
  }
  x->e->pc = pc + 1;
  if (!mask) return;
  if (a->func) {
    enter(x, o, a->func, mask);
    return;
  }
  const uint64_t *target = OPND(uint64_t, o->a);
  uint64_t targets[LANES];
  memcpy(targets, target, sizeof targets);
  for (uint32_t left = mask; left && !x->fault;) {
    int i = __builtin_ctz(left);
    uint32_t same = 0;
    for (uint32_t q = left; q; q &= q - 1)
      if (targets[__builtin_ctz(q)] == targets[i]) same |= q & -q;
    left &= ~same;
    uint64_t to = (targets[i] - CODE_BASE) / 8;
    const struct xfunc *f = targets[i] >= CODE_BASE && to <= UINT32_MAX ? function_at(x->run->m, (uint32_t)to) : NULL;
    if (!f || f->f->entry || CODE_BASE + 8ull * f->entry != targets[i]) {
      fault_text(x, o, i, 718, "indirect call of 0x%llx, which is no function", (unsigned long long)targets[i]);
      return;
    }
    size_t at = (size_t)(x->e - x->w->stack);
    enter(x, o, f, same);
    x->e = &x->w->stack[at]; /* the stack may have moved */
  }
}

static void ret(struct exec *x, const struct xop *o, uint32_t mask) {
  struct warp *w = x->w;
  uint32_t top = w->sp - 1, at = top;
  while (at && !w->stack[at].call) at--;
  struct entry *c = &w->stack[at];
  const struct xop *site = &x->ops[c->site];
  const struct xaux *a = site->aux;
  uint32_t pc = (uint32_t)(o - x->ops);
  const struct xfunc *f = a->func;
  if (!f) f = function_at(x->run->m, pc);
  if (mask && a->nret && f)
    copy_value(x, mask, (struct framed){&a->v[a->n], w->regs + c->up_frame, c->up_local},
               (struct framed){&f->ret, w->regs + c->frame, c->local});
  bool all = w->stack[top].mask == mask;
  if (top == at) {
    if (all) {
      w->sp--;
      return;
    }
    struct entry base = *c; /* some lanes return early: the others continue above, the entry waits for them */
    c->pc = RPC_RET;
    struct entry *e = push(x, w);
    *e = base;
    e->call = false;
    e->rpc = RPC_RET;
    e->mask &= ~mask;
    e->pc = pc + 1;
    return;
  }
  for (uint32_t k = at + 1; k <= top; k++) w->stack[k].mask &= ~mask;
  w->stack[top].pc = pc + 1;
}

static void leave(struct exec *x, const struct xop *o, uint32_t mask) {
  struct warp *w = x->w;
  w->live &= ~mask;
  for (uint32_t k = 0; k < w->sp; k++) w->stack[k].mask &= ~mask;
  w->stack[w->sp - 1].pc = (uint32_t)(o - x->ops) + 1;
}

void warp_control(struct exec *x, const struct xop *o, uint32_t mask) {
  switch (o->cls) {
  case XC_BRANCH:
    branch(x, o, mask);
    break;
  case XC_BRX:
    branch_indexed(x, o, mask);
    break;
  case XC_CALL:
    call(x, o, mask);
    break;
  case XC_RET:
    ret(x, o, mask);
    break;
  case XC_EXIT:
    leave(x, o, mask);
    break;
  case XC_TRAP:
    if (mask && o->aux)
      fault_text(x, o, __builtin_ctz(mask), FEED_UNSUPPORTED, "%s", ((const struct xaux *)o->aux)->name);
    else if (mask) fault_text(x, o, __builtin_ctz(mask), 719, "trap");
    else x->e->pc++;
    break;
  default:
    break;
  }
  warp_settle(x, x->w);
}

void warp_start(struct simt_run *r, struct cta *c, uint32_t index) {
  struct warp *w = &c->warps[index];
  uint32_t threads = r->fk.threads_per_cta - index * LANES;
  uint32_t mask = threads >= LANES ? FULL_MASK : (1u << threads) - 1;
  const struct xfunc *f = r->k->func;
  w->sp = 1;
  w->live = mask;
  w->index = index;
  w->carry = 0;
  w->waiting = 0;
  w->stack[0] = (struct entry){.pc = f->entry, .rpc = RPC_NONE, .mask = mask, .local_top = f->local_bytes};
  for (uint32_t i = 0; i < f->nzero; i++) memset(w->regs + f->zero[i], 0, 4u * f->zero_bytes[i]);
}

/* trace_diff.c - two traces side by side: launches, static code, and the first difference of each launch's warps. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/survey.h"

struct diff {
  struct trace_input *in[2];
  struct trace_event ev[2];
  void (*differ)(void *ctx, const char *text);
  void *ctx;
  uint32_t limit, found;
};

static void __attribute__((format(printf, 2, 3))) say(struct diff *d, const char *fmt, ...) {
  char text[512];
  va_list a;
  va_start(a, fmt);
  vsnprintf(text, sizeof text, fmt, a);
  va_end(a);
  if (d->found++ < d->limit) d->differ(d->ctx, text);
}

/* Name, sizes and code of a launch. False: comparing its warps would be meaningless. */
static bool same_kernel(struct diff *d) {
  const struct feed_kernel *a = d->ev[0].kernel, *b = d->ev[1].kernel;
  uint32_t n = d->ev[0].launch;
  if (strcmp(a->name, b->name)) return say(d, "launch %u: kernel %s, and %s", n, a->name, b->name), false;
  if (memcmp(a->grid, b->grid, sizeof a->grid) || memcmp(a->block, b->block, sizeof a->block))
    return say(d, "launch %u (%s): grid %ux%ux%u of %ux%ux%u, and %ux%ux%u of %ux%ux%u", n, a->name, a->grid[0],
               a->grid[1], a->grid[2], a->block[0], a->block[1], a->block[2], b->grid[0], b->grid[1], b->grid[2],
               b->block[0], b->block[1], b->block[2]),
           false;
  if (a->regs_per_thread != b->regs_per_thread || a->shared_bytes != b->shared_bytes ||
      a->local_bytes != b->local_bytes)
    say(d, "launch %u (%s): %u registers, %u B shared, %u B local, and %u, %u B, %u B", n, a->name, a->regs_per_thread,
        a->shared_bytes, a->local_bytes, b->regs_per_thread, b->shared_bytes, b->local_bytes);
  if (a->insts != b->insts || memcmp(a->code, b->code, a->insts * sizeof *a->code)) {
    uint32_t pc = 0;
    while (pc < a->insts && pc < b->insts && !memcmp(&a->code[pc], &b->code[pc], sizeof *a->code)) pc++;
    say(d, "launch %u (%s): the code differs from instruction %u on (%u instructions, and %u)", n, a->name, pc,
        a->insts, b->insts);
    return false;
  }
  return true;
}

static const char *same_step(const struct issued *a, const struct issued *b, const struct inst *i) {
  if (a->active != b->active) return "active lanes";
  if (a->mask != b->mask) return "executing lanes";
  if (a->next_pc != b->next_pc) return "path";
  if (a->bar_id != b->bar_id || a->waits != b->waits) return "barrier";
  if ((i->kind != KIND_LOAD && i->kind != KIND_STORE && i->kind != KIND_ATOM) || !a->mask) return NULL;
  if (a->space != b->space || a->width != b->width) return "space or width";
  for (uint32_t m = a->mask; m; m &= m - 1)
    if (a->addr[__builtin_ctz(m)] != b->addr[__builtin_ctz(m)]) return "address";
  return NULL;
}

static void say_step(struct diff *d, uint32_t cta, uint32_t warp, uint64_t n, uint32_t pc, const char *what,
                     const struct issued out[2]) {
  const struct feed_kernel *k = d->ev[0].kernel;
  char how[128] = "";
  if (!strcmp(what, "path")) snprintf(how, sizeof how, ": then %d, and %d", (int)out[0].next_pc, (int)out[1].next_pc);
  if (!strcmp(what, "executing lanes")) snprintf(how, sizeof how, ": %08x, and %08x", out[0].mask, out[1].mask);
  if (!strcmp(what, "active lanes")) snprintf(how, sizeof how, ": %08x, and %08x", out[0].active, out[1].active);
  for (uint32_t m = out[0].mask; m && !strcmp(what, "address") && !*how; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (out[0].addr[l] != out[1].addr[l])
      snprintf(how, sizeof how, " of lane %d: 0x%llx, and 0x%llx", l, (unsigned long long)out[0].addr[l],
               (unsigned long long)out[1].addr[l]);
  }
  say(d, "launch %u (%s), CTA %u, warp %u, its instruction %llu (pc %u, line %u): %s%s", d->ev[0].launch, k->name, cta,
      warp, (unsigned long long)n, pc, k->code[pc].src_line ? k->code[pc].src_line : k->code[pc].ptx_line, what, how);
}

/* Up to the first difference of the warp. */
static bool compare_warp(struct diff *d, uint32_t cta, uint32_t warp, bool *same, struct err *e) {
  const struct feed_kernel *k = d->ev[0].kernel;
  struct issued out[2] = {0};
  uint64_t n = 0;
  for (uint32_t pc = k->entry_pc; pc != FEED_DONE; pc = out[0].next_pc, n++) {
    for (int i = 0; i < 2; i++) {
      out[i].waits = false, out[i].token = 0, out[i].bar_id = FEED_NO_BARRIER;
      if (!d->in[i]->ops->step(d->in[i], 0, warp, &out[i], e)) return false;
    }
    const char *what = same_step(&out[0], &out[1], &k->code[pc]);
    if (!what) continue;
    say_step(d, cta, warp, n, pc, what, out);
    *same = false;
    return true;
  }
  return true;
}

/* Up to the first warp that differs; the rest of a launch rarely adds information. */
static bool compare_launch(struct diff *d, struct err *e) {
  const struct feed_kernel *k = d->ev[0].kernel;
  bool same = true;
  for (int i = 0; i < 2; i++)
    if (!d->in[i]->ops->begin(d->in[i], 1, e)) return false;
  for (uint32_t c = 0; same && c < k->ctas; c++) {
    for (int i = 0; i < 2; i++)
      if (!d->in[i]->ops->open_cta(d->in[i], 0, c, e)) return false;
    for (uint32_t w = 0; same && w < k->warps_per_cta; w++)
      if (!compare_warp(d, c, w, &same, e)) return false;
    for (int i = 0; i < 2; i++) d->in[i]->ops->close_cta(d->in[i], 0);
  }
  return true;
}

static bool next_launch(struct trace_input *t, struct trace_event *ev, struct err *e) {
  do
    if (!t->ops->next(t, ev, e)) return false;
  while (ev->kind == TRACE_COPY);
  return true;
}

bool trace_compare(struct trace_input *a, struct trace_input *b, uint32_t limit,
                   void (*differ)(void *ctx, const char *text), void *ctx, uint32_t *found, struct err *e) {
  struct diff d = {.in = {a, b}, .differ = differ, .ctx = ctx, .limit = limit};
  bool good = true;
  while (good) {
    good = next_launch(a, &d.ev[0], e) && next_launch(b, &d.ev[1], e);
    if (!good || (d.ev[0].kind == TRACE_END && d.ev[1].kind == TRACE_END)) break;
    if (d.ev[0].kind != d.ev[1].kind) {
      bool more = d.ev[1].kind == TRACE_END;
      say(&d, "the %s trace has more launches: %s from launch %u on", more ? "first" : "second",
          d.ev[!more].kernel->name, d.ev[!more].launch);
      break;
    }
    if (same_kernel(&d)) good = compare_launch(&d, e);
  }
  *found = d.found;
  return good;
}

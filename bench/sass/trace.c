/* trace.c - Accel-Sim's trace of what was executed, tracer version 6 (docs/how-to/accel-sim.md). */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sass.h"

void trace_header(FILE *f, const struct kernel *k, const struct launch *l, unsigned id) {
  fprintf(f,
          "-kernel name = %s\n-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n-shmem = %u\n"
          "-nregs = %u\n-binary version = %u\n-cuda stream id = 0\n-shmem base_addr = 0x%016llx\n"
          "-local mem base_addr = 0x%016llx\n-nvbit version = none\n-accelsim tracer version = 6\n"
          "-enable lineinfo = 0\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
          "[adrrescompress?] [mem_addresses] immediate\n",
          k->name, id, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
          k->shared + l->dynamic, k->registers, k->sm, SHARED_BASE, LOCAL_BASE);
}

__attribute__((format(printf, 2, 3))) static void write_line(struct warp *w, const char *format, ...) {
  va_list v;
  for (;;) {
    va_start(v, format);
    size_t n = (size_t)vsnprintf(w->lines ? w->lines + w->used : NULL, w->room - w->used, format, v);
    va_end(v);
    if (w->used + n < w->room) {
      w->used += n;
      return;
    }
    w->room = 2 * w->room + n + 4096;
    w->lines = realloc(w->lines, w->room);
  }
}

static bool starts(const char *text, const char *with) {
  return !strncmp(text, with, strlen(with));
}

/* Where the result is: the first operand, or the second of exchanges, atomics and logic with a predicate before it. */
static unsigned result_of(const struct sass *i) {
  static const char *const none[] = {"ST",    "RED",   "BRA",   "BRX",   "CALL",  "RET",   "BAR",  "WARPSYNC",
                                     "BSYNC", "BREAK", "ISETP", "FSETP", "DSETP", "PLOP3", "FCHK", "R2P"};
  static const char *const behind[] = {"SHFL", "ATOM", "LOP3", "VOTE", "MATCH"};
  unsigned at = 0;
  for (size_t k = 0; k < sizeof none / sizeof *none; k++)
    if (starts(i->opcode, none[k])) return i->n;
  for (size_t k = 0; k < sizeof behind / sizeof *behind; k++)
    if (starts(i->opcode, behind[k]) && i->o[0].kind == O_PRED) at = 1;
  return at < i->n && i->o[at].kind == O_REG ? at : i->n;
}

/* Predicates before the first operand that is none, and those behind the result, are results. */
static bool is_result(const struct sass *i, unsigned k, unsigned result) {
  if (k == result || !k) return i->o[k].kind == O_PRED || k == result;
  if (i->o[k].kind != O_PRED || starts(i->opcode, "BRA")) return false;
  return i->o[k - 1].kind == O_PRED ? k == 1 : k == result + 1 && k + 1 < i->n && !starts(i->opcode, "SEL");
}

static bool named(const struct operand *o) {
  return o->kind == O_REG || o->kind == O_MEMORY || (o->kind == O_PRED && o->reg != PT) ||
         (o->kind == O_CONST && o->reg != RZ);
}

static void write_names(struct warp *w, const struct sass *i, bool results) {
  unsigned n = 0, result = result_of(i);
  bool guard = !results && i->guard != PT;
  for (unsigned k = 0; k < i->n; k++) n += named(&i->o[k]) && is_result(i, k, result) == results;
  write_line(w, "%u ", n + guard);
  for (unsigned k = 0; k < i->n; k++)
    if (named(&i->o[k]) && is_result(i, k, result) == results)
      write_line(w, "%c%u ", i->o[k].kind == O_PRED ? 'P' : 'R', i->o[k].reg);
  if (guard) write_line(w, "P%u ", i->guard);
}

/* Results and sources in the order of the text, predicates among them; an address's register is a source. */
static void write_registers(struct warp *w, const struct sass *i) {
  write_names(w, i, true);
  write_line(w, "%s ", i->opcode);
  write_names(w, i, false);
}

/* Bytes as the tracer has them: the first modifier that is a number. */
static unsigned width_of(const struct sass *i) {
  if (IS(i, B128)) return 16;
  if (IS(i, B64) || IS(i, U64) || IS(i, S64)) return 8;
  return IS(i, U16) || IS(i, S16) ? 2 : IS(i, U8) || IS(i, S8) ? 1 : 4;
}

static bool even(const struct step *s, int64_t *step) {
  uint32_t m = s->mask;
  unsigned first = (unsigned)__builtin_ctz(m), n = (unsigned)__builtin_popcount(m);
  if (n < 2 || ((uint64_t)(m >> first) + 1) & (m >> first)) return false;
  *step = (int64_t)(s->address[first + 1] - s->address[first]);
  for (unsigned k = 1; k < n; k++)
    if ((int64_t)(s->address[first + k] - s->address[first + k - 1]) != *step) return false;
  return true;
}

static void write_addresses(struct step *s) {
  int64_t stride;
  if (!s->mask) {
    write_line(s->w, "%u 1 0x0 0 ", width_of(s->i));
  } else if (even(s, &stride)) {
    write_line(s->w, "%u 1 0x%llx %lld ", width_of(s->i), (unsigned long long)s->address[__builtin_ctz(s->mask)],
               (long long)stride);
  } else {
    uint64_t before = s->address[__builtin_ctz(s->mask)];
    write_line(s->w, "%u 2 0x%llx ", width_of(s->i), (unsigned long long)before);
    for (uint32_t m = s->mask & (s->mask - 1); m; m &= m - 1) {
      uint64_t a = s->address[__builtin_ctz(m)];
      write_line(s->w, "%lld ", (long long)(a - before));
      before = a;
    }
  }
}

void trace_line(struct step *s) {
  const struct sass *i = s->i;
  int64_t number = 0;
  write_line(s->w, "%04x %08x ", i->pc, s->mask);
  write_registers(s->w, i);
  if (s->memory) write_addresses(s);
  else write_line(s->w, "0 ");
  for (unsigned k = i->n; k--;)
    if (i->o[k].kind == O_NUMBER) number = i->o[k].neg ? -(int64_t)i->o[k].number : (int64_t)i->o[k].number;
  write_line(s->w, "%d NoVal\n", (int)number);
}

void trace_cta(FILE *f, const struct cta *c) {
  fprintf(f, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", c->at[0], c->at[1], c->at[2]);
  for (unsigned n = 0; n < c->warps; n++) {
    const struct warp *w = &c->warp[n];
    fprintf(f, "\nwarp = %u\ninsts = %llu\n", n, (unsigned long long)w->insts);
    fwrite(w->lines, 1, w->used, f);
  }
  fprintf(f, "\n#END_TB\n");
}

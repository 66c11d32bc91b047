/* micro_table.c - the microbenchmarks, a row each, and their PTX.
 *
 * A kernel gets: out (results), data (device memory), n (a loop count), one (1, unknown to a compiler). Registers: r1
 * r2 r3 integers, f1 f2 f3 and d1 d2 d3 floats, rd1 the address of a chase, rd9 `out`, p1 a predicate. A latency is the
 * difference between a long and a short chain, both timed in the third turn of a loop, when the code is in the
 * instruction caches.
 *
 * A compiler for hardware must neither move nor drop what is timed: its inputs depend on the clock read before (tie),
 * its results go to volatile stores before the clock read after, and a store that never happens needs all that is
 * loaded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/cmd/micro.h"

#define LAT(name_, op_, ...) \
  { .name = "latency." name_, .unit = "cycles", .kind = MICRO_LATENCY, .op = op_, __VA_ARGS__ }
#define RATE(name_, op_, ...) \
  { .name = "rate." name_, .unit = "lanes/cycle/SM", .kind = MICRO_RATE, .op = op_, __VA_ARGS__ }
#define BAND(name_, op_, ...) \
  { .name = "bandwidth." name_, .kind = MICRO_BANDWIDTH, .op = op_, __VA_ARGS__ }
#define SELF_SHARED "mov.u32 %r1,sm;\nst.shared.u32 [%r1],%r1;\nbar.sync 0;\n"
/* Each lane chases within its own word, `s` bytes from its neighbour's. */
#define LANES_SHARED(s)                                                                     \
  "mov.u32 %r2,%tid.x;\nmul.lo.u32 %r2,%r2," s ";\nmov.u32 %r1,sm;\nadd.u32 %r1,%r1,%r2;\n" \
  "st.shared.u32 [%r1],%r1;\nbar.sync 0;\n"
#define TID_IN_EACH "mov.u32 %ra0,%tid.x;\nadd.u32 %ra1,%ra0,1;\nadd.u32 %ra2,%ra0,2;\nadd.u32 %ra3,%ra0,3;\n"
#define LANE_SHARED                                                                                \
  "mov.u32 %r2,%tid.x;\nshl.b32 %r2,%r2,2;\nmov.u32 %r1,sm;\nadd.u32 %r1,%r1,%r2;\nst.shared.u32 " \
  "[%r1],%r2;\nbar.sync 0;\n"

const struct micro micros[] = {
    LAT("fadd", "add.f32 %f1,%f1,%f2;"),
    LAT("fmul", "mul.f32 %f1,%f1,%f2;"),
    LAT("ffma", "fma.rn.f32 %f1,%f1,%f2,%f3;"),
    LAT("iadd", "add.s32 %r1,%r1,%r2;\nxor.b32 %r1,%r1,%r3;"), /* sums in a row become three-input ones */
    LAT("imad", "mad.lo.s32 %r1,%r1,%r2,%r3;"),
    LAT("lop3", "lop3.b32 %r1,%r1,%r2,%r3,0xE8;"),
    LAT("shf", "shf.l.wrap.b32 %r1,%r1,%r1,%r2;"),
    LAT("popc", "popc.b32 %r1,%r1;"),
    LAT("cvt", "cvt.rn.f32.s32 %f1,%r1;\ncvt.rzi.s32.f32 %r1,%f1;"),
    LAT("hfma2", "fma.rn.f16x2 %r1,%r1,%r2,%r3;", .least_cc = 53),
    LAT("dadd", "add.f64 %d1,%d1,%d2;"),
    LAT("dfma", "fma.rn.f64 %d1,%d1,%d2,%d3;"),
    LAT("ex2", "ex2.approx.ftz.f32 %f1,%f1;"),
    LAT("rsqrt", "rsqrt.approx.ftz.f32 %f1,%f1;"),
    LAT("shfl", "shfl.sync.up.b32 %r1,%r1,1,0,-1;", .setup = "mov.u32 %r1,%tid.x;\n", .threads = 32, .least_cc = 30),
    LAT("shared", "ld.shared.u32 %r1,[%r1];", .setup = SELF_SHARED),
    LAT("shared.conflict_2", "ld.shared.u32 %r1,[%r1];", .setup = LANES_SHARED("8"), .threads = 32),
    LAT("shared.conflict_32", "ld.shared.u32 %r1,[%r1];", .setup = LANES_SHARED("128"), .threads = 32),
    LAT("constant", "ld.const.u32 %r2,[%r1];\nadd.s32 %r1,%r1,%r2;", .setup = "mov.u32 %r1,cst;\n",
        .less = "latency.iadd"),
    LAT("constant.l15", "ld.const.u32 %r2,[%r1];\nadd.s32 %r1,%r1,%r2;", .less = "latency.iadd", .least_cc = 70,
        .setup = "mov.u32 %r1,cst;\nadd.u32 %r1,%r1,61440;\n"),
    LAT("constant.divergent_32", "ld.const.u32 %r2,[%r1];\nadd.s32 %r1,%r1,%r2;", .threads = 32, .less = "latency.iadd",
        .setup = "mov.u32 %r2,%tid.x;\nshl.b32 %r2,%r2,2;\nmov.u32 %r1,cst;\nadd.u32 %r1,%r1,%r2;\n"),
    LAT("l1", "ld.global.ca.u64 %rd1,[%rd1];"),
    LAT("l2", "ld.global.cg.u64 %rd1,[%rd1];", .warm = true),
    LAT("dram", "ld.global.cg.u64 %rd1,[%rd1];", .stride = 1),
    LAT("atomic.shared", "atom.shared.add.u32 %r2,[%r1],%r2;", .setup = SELF_SHARED),
    LAT("atomic.global", "atom.global.add.u32 %r1,[%rd1],%r1;"),
    LAT("barrier.32", "bar.sync 0;", .threads = 32),
    LAT("barrier.1024", "bar.sync 0;", .threads = 1024),
    RATE("fadd", "add.f32 %fa#,%fa#,%f2;"),
    RATE("ffma", "fma.rn.f32 %fa#,%fa#,%f2,%f3;"),
    RATE("iadd", "add.s32 %ra#,%ra#,%r2;\nxor.b32 %ra#,%ra#,%r3;"),
    RATE("imad", "mad.lo.s32 %ra#,%ra#,%r2,%r3;"),
    RATE("lop3", "lop3.b32 %ra#,%ra#,%r2,%r3,0xE8;"),
    RATE("popc", "popc.b32 %ra#,%ra#;"),
    RATE("dfma", "fma.rn.f64 %da#,%da#,%d2,%d3;"),
    RATE("ex2", "ex2.approx.ftz.f32 %fa#,%fa#;"),
    RATE("shfl", "shfl.sync.up.b32 %ra#,%ra#,1,0,-1;", .least_cc = 30, .setup = TID_IN_EACH),
    BAND("shared", "ld.shared.u32 %ra#,[%r1+#*4096];", .unit = "B/cycle/SM", .stride = 4, .setup = LANE_SHARED),
    BAND("l1", "ld.global.ca.u32 %ra#,[%rd1+#*4096];", .unit = "B/cycle/SM", .stride = 4),
    BAND("l2", "ld.global.v4.u32 {%va#x,%va#y,%va#z,%va#w},[%rd1];", .unit = "B/cycle", .stride = 16, .grid = true,
         .warm = true),
    BAND("dram", "ld.global.v4.u32 {%va#x,%va#y,%va#z,%va#w},[%rd1];", .unit = "GB/s", .stride = 16, .grid = true),
    BAND("copy",
         "ld.global.v4.u32 {%va#x,%va#y,%va#z,%va#w},[%rd1];\nst.global.v4.u32 [%rd2],{%va#x,%va#y,%va#z,%va#w};",
         .unit = "GB/s", .stride = 16, .grid = true, .writes = true),
    {.name = "capacity.l1", .unit = "KiB", .kind = MICRO_CAPACITY, .op = "ca"},
    {.name = "capacity.constant", .unit = "KiB", .kind = MICRO_CAPACITY, .op = "const", .least_cc = 70},
    {.name = "capacity.constant.l15",
     .unit = "KiB",
     .kind = MICRO_CAPACITY,
     .op = "const",
     .stride = 8192,
     .least_cc = 70},
    {.name = "sector.l1", .unit = "B", .kind = MICRO_SECTOR, .op = "ca"},
    {.name = "sector.l2", .unit = "B", .kind = MICRO_SECTOR, .op = "cg"},
};
const size_t micro_count = sizeof micros / sizeof *micros;

/* ---- PTX ---- */

/* `text` with REG replaced. */
static void with_register(FILE *f, const char *text, const char *reg) {
  for (const char *at; (at = strstr(text, "REG")); text = at + 3) {
    fwrite(text, 1, (size_t)(at - text), f);
    fputs(reg, f);
  }
  fputs(text, f);
}

enum { SHORT_CHAIN = 8, LONG_CHAIN = 24, SHORT_RATE = 64, LONG_RATE = 320 };

static void head(FILE *f, const char *name, bool shared) {
  fprintf(f,
          ".visible .entry %s(.param .u64 out,.param .u64 data,.param .u32 n,.param .u32 one)\n{\n"
          ".reg .b64 %%rd<12>;\n.reg .b32 %%r<16>;\n.reg .b32 %%ra<4>;\n.reg .b32 %%c<4>;\n.reg .f32 %%f<4>;\n"
          ".reg .f32 %%fa<4>;\n.reg .f64 %%d<4>;\n.reg .f64 %%da<4>;\n.reg .pred %%p<4>;\n"
          "%s"
          "ld.param.u64 %%rd9,[out];\nld.param.u64 %%rd1,[data];\nld.param.u32 %%r10,[n];\nld.param.u32 %%r2,[one];\n"
          "shr.u32 %%r5,%%r2,1;\nsetp.eq.u32 %%p3,%%r2,77;\nadd.s32 %%r1,%%r2,%%r2;\nadd.s32 %%r3,%%r1,%%r2;\n"
          "cvt.rn.f32.s32 %%f1,%%r1;\ncvt.rn.f32.s32 %%f2,%%r2;\ncvt.rn.f32.s32 %%f3,%%r3;\n"
          "cvt.f64.f32 %%d1,%%f1;\ncvt.f64.f32 %%d2,%%f2;\ncvt.f64.f32 %%d3,%%f3;\n",
          name, shared ? ".shared .align 16 .b8 sm[32768];\n" : "");
  for (int i = 0; i < 4; i++)
    fprintf(f, "add.s32 %%ra%d,%%r1,%d;\nadd.f32 %%fa%d,%%f1,0f3F80000%d;\ncvt.f64.f32 %%da%d,%%fa%d;\n", i, i, i, i, i,
            i);
}

/* `op` with # replaced by a digit. */
static void numbered(FILE *f, const char *op, int number) {
  for (; *op; op++) *op == '#' ? fprintf(f, "%d", number) : fputc(*op, f);
  fputc('\n', f);
}

/* What a compiler cannot know: r4, made of the clock just read, is 0. */
static void zero_of_clock(FILE *f, int clock) {
  fprintf(f, "and.b32 %%r4,%%c%d,%%r5;\n", clock);
}

/* The registers %r, %f, %d, %rd with `suffix` depend on r4 where the operation names those with `named`. */
static void tie(FILE *f, const struct micro *m, const char *named, const char *suffix) {
  static const struct {
    const char *name, *ptx;
  } kinds[] = {
      {"%r", "add.s32 REG,REG,%r4;\n"},
      {"%f", "mov.b32 %r14,REG;\nor.b32 %r14,%r14,%r4;\nmov.b32 REG,%r14;\n"},
      {"%d", "mov.b64 {%r14,%r15},REG;\nor.b32 %r14,%r14,%r4;\nmov.b64 REG,{%r14,%r15};\n"},
      {"%rd", "cvt.u64.u32 %rd8,%r4;\nadd.u64 REG,REG,%rd8;\n"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char reg[16];
    snprintf(reg, sizeof reg, "%s%s", kinds[i].name, named);
    bool uses = strstr(m->op, reg);
    snprintf(reg, sizeof reg, "%s%s", kinds[i].name, suffix);
    if (uses) with_register(f, kinds[i].ptx, reg);
  }
}

/* What was computed is stored, and the store waits for it. */
static void consume(FILE *f, const struct micro *m) {
  fputs("st.volatile.shared.u32 [sm+32764],%r1;\nst.volatile.shared.f32 [sm+32764],%f1;\n", f);
  if (strstr(m->op, "%d1")) fputs("st.volatile.shared.f64 [sm+32760],%d1;\n", f);
  if (strstr(m->op, "%rd1")) fputs("st.volatile.shared.u64 [sm+32760],%rd1;\n", f);
  if (strstr(m->op, "%r2,[")) fputs("st.volatile.shared.u32 [sm+32764],%r2;\n", f);
}

static void tail(FILE *f) {
  fputs("ret;\n}\n", f);
}

static void timed_chain(FILE *f, const struct micro *m, int ops, int clock) {
  fprintf(f, "bar.sync 0;\nmov.u32 %%c%d,%%clock;\nbar.sync 0;\n", clock);
  zero_of_clock(f, clock);
  tie(f, m, "1", "1");
  for (int i = 0; i < ops; i++) fprintf(f, "%s\n", m->op);
  consume(f, m);
  fprintf(f, "bar.sync 0;\nmov.u32 %%c%d,%%clock;\n", clock + 1);
}

/* The times of the short and of the long part, of the last turn. */
static void end_of_turns(FILE *f) {
  fputs("add.u32 %r11,%r11,1;\nsetp.lt.u32 %p1,%r11,%r10;\n@%p1 bra LOOP;\n"
        "sub.u32 %r12,%c1,%c0;\nsub.u32 %r13,%c3,%c2;\nst.global.u32 [%rd9],%r12;\nst.global.u32 [%rd9+4],%r13;\n",
        f);
}

/* The slowest warp decides: a barrier before the second clock. */
static void timed_rate(FILE *f, const struct micro *m, int ops, int clock) {
  fprintf(f, "bar.sync 0;\nmov.u32 %%c%d,%%clock;\nbar.sync 0;\n", clock);
  static const char *const suffixes[] = {"a0", "a1", "a2", "a3"};
  zero_of_clock(f, clock);
  tie(f, m, "1", "1");
  for (int i = 0; i < 4; i++) tie(f, m, "a#", suffixes[i]);
  for (int i = 0; i < ops; i++) {
    numbered(f, m->op, i % 4);
    if (m->kind == MICRO_BANDWIDTH && i % 4 == 3) fprintf(f, "@%%p3 bra RARE%d_%d;\nBACK%d_%d:\n", clock, i, clock, i);
  }
  for (int i = 0; i < 4; i++)
    fprintf(f,
            "st.volatile.shared.u32 [sm+32764],%%ra%d;\nst.volatile.shared.f32 [sm+32764],%%fa%d;\n"
            "st.volatile.shared.f64 [sm+32760],%%da%d;\n",
            i, i, i);
  fprintf(f, "bar.sync 0;\nmov.u32 %%c%d,%%clock;\n", clock + 1);
}

/* Where what was loaded is needed, though never in fact. */
static void rare_stores(FILE *f, int ops, int clock) {
  for (int i = 3; i < ops; i += 4) {
    fprintf(f, "RARE%d_%d:\n", clock, i);
    for (int k = 0; k < 4; k++) fprintf(f, "st.global.u32 [%%rd9+%d],%%ra%d;\n", 4 * k, k);
    fprintf(f, "bra BACK%d_%d;\n", clock, i);
  }
}

/* A loop of two timed parts, a short and a long one: their difference has no cost of the clocks. */
static void timed_kernel(FILE *f, const struct micro *m, const char *name) {
  bool latency = m->kind == MICRO_LATENCY;
  void (*timed)(FILE *, const struct micro *, int, int) = latency ? timed_chain : timed_rate;
  head(f, name, true);
  if (m->kind == MICRO_BANDWIDTH)
    fputs("mov.u32 %r13,%tid.x;\nmul.wide.u32 %rd2,%r13,4;\nadd.u64 %rd1,%rd1,%rd2;\n", f);
  if (m->setup) fputs(m->setup, f);
  fputs("mov.u32 %r11,0;\nLOOP:\n", f);
  timed(f, m, latency ? SHORT_CHAIN : SHORT_RATE, 0);
  timed(f, m, latency ? LONG_CHAIN : LONG_RATE, 2);
  end_of_turns(f);
  if (m->kind == MICRO_BANDWIDTH) {
    fputs("ret;\n", f);
    rare_stores(f, SHORT_RATE, 0);
    rare_stores(f, LONG_RATE, 2);
  }
  tail(f);
}

/* Every CTA streams through memory, four loads at a time, neighbours side by side; a copy writes 256 MiB further on.
 * From the L2 the CTAs read what others have read, which is not in their L1. One turn goes before the n timed ones, for
 * the instruction caches. */
static void stream_kernel(FILE *f, const struct micro *m, const char *name) {
  enum { AT_A_TIME = 4 };
  head(f, name, true);
  for (int i = 0; i < AT_A_TIME; i++) fprintf(f, ".reg .b32 %%va%dx,%%va%dy,%%va%dz,%%va%dw;\n", i, i, i, i);
  fputs("mov.u32 %r12,%ctaid.x;\nmov.u32 %r13,%ntid.x;\nmov.u32 %r14,%tid.x;\nmad.lo.u32 %r12,%r12,%r13,%r14;\n"
        "mov.u32 %r14,%nctaid.x;\nmul.lo.u32 %r14,%r14,%r13;\nsub.u32 %r11,%r10,1;\nmov.u32 %r15,0;\n",
        f);
  fprintf(f,
          "mul.wide.u32 %%rd4,%%r12,%u;\nmul.wide.u32 %%rd5,%%r14,%u;\nadd.u64 %%rd1,%%rd1,%%rd4;\n"
          "add.u64 %%rd2,%%rd1,268435456;\n",
          m->stride, m->stride);
  fprintf(
      f,
      "mov.u32 %%r6,%%ctaid.x;\nmov.u32 %%r7,%%nctaid.x;\nmul.lo.u32 %%r8,%%r13,%u;\nmul.wide.u32 %%rd4,%%r6,%%r8;\n"
      "sub.u64 %%rd6,%%rd1,%%rd4;\n",
      m->stride);
  fputs("TURNS:\nbar.sync 0;\nmov.u32 %c0,%clock;\nLOOP:\n", f);
  for (int i = 0; i < AT_A_TIME; i++) {
    numbered(f, m->op, i);
    fputs(m->warm ? "add.u32 %r6,%r6,5;\nsetp.ge.u32 %p2,%r6,%r7;\n@%p2 sub.u32 %r6,%r6,%r7;\n"
                    "mad.wide.u32 %rd1,%r6,%r8,%rd6;\n"
                  : "add.u64 %rd1,%rd1,%rd5;\nadd.u64 %rd2,%rd2,%rd5;\n",
          f);
  }
  for (int i = 0; i < AT_A_TIME && !m->writes; i++)
    fprintf(f, "@%%p3 st.global.v4.u32 [%%rd9+%d],{%%va%dx,%%va%dy,%%va%dz,%%va%dw};\n", 16 * i, i, i, i, i);
  fputs("add.u32 %r11,%r11,1;\nsetp.lt.u32 %p1,%r11,%r10;\n@%p1 bra LOOP;\n", f);
  for (int i = 0; i < AT_A_TIME; i++) fprintf(f, "st.volatile.shared.u32 [sm],%%va%dx;\n", i);
  fputs("bar.sync 0;\nmov.u32 %c1,%clock;\nmov.u32 %r11,0;\nadd.u32 %r15,%r15,1;\nsetp.lt.u32 %p1,%r15,2;\n@%p1 bra "
        "TURNS;\n"
        "mov.u32 %r12,%ctaid.x;\nmul.wide.u32 %rd3,%r12,8;\nadd.u64 %rd3,%rd3,%rd9;\n"
        "st.global.u32 [%rd3],%c0;\nst.global.u32 [%rd3+4],%c1;\n",
        f);
  tail(f);
}

/* 64 KiB of constants, as many as a program can have. They are 0 but for a chase in the last four: 32 links of 128 B,
 * the last back to the first, so that the first level (2 KiB) keeps none of them. */
static void constants(FILE *f) {
  enum { WORDS = 16384, CHASE = 15360, LINK = 128, LINKS = (WORDS - CHASE) * 4 / LINK };
  fprintf(f, ".const .align 128 .s32 cst[%d]={", WORDS);
  for (int i = 0; i < WORDS; i++) {
    int link = (i - CHASE) * 4 / LINK;
    bool begins = i >= CHASE && i * 4 % LINK == 0;
    fprintf(f, "%s%d", i ? "," : "", !begins ? 0 : link + 1 < LINKS ? LINK : -(LINKS - 1) * LINK);
  }
  fputs("};\n", f);
}

/* Two turns of n loads of constants, a line of 64 B each, the second timed; each needs what the one before it read. */
static void constant_chase_kernel(FILE *f, const char *name) {
  head(f, name, false);
  for (int turn = 0; turn < 2; turn++)
    fprintf(f,
            "bar.sync 0;\nmov.u32 %%c%d,%%clock;\nmov.u32 %%r11,0;\nmov.u32 %%r1,cst;\nTURN%d:\nld.const.u32 "
            "%%r2,[%%r1];\nand.b32 %%r2,%%r2,1;\nadd.u32 %%r1,%%r1,%%r2;\nadd.u32 %%r1,%%r1,64;\nadd.u32 "
            "%%r11,%%r11,1;\nsetp.lt.u32 %%p1,%%r11,%%r10;\n@%%p1 bra TURN%d;\nst.global.u32 [%%rd9+8],%%r1;\n",
            turn, turn, turn);
  fputs("bar.sync 0;\nmov.u32 %c2,%clock;\nsub.u32 %r12,%c2,%c1;\nst.global.u32 [%rd9],%r12;\n", f);
  tail(f);
}

/* Two turns of n loads through pointers, the second timed. Without shared memory, which would take of the L1. */
static void chase_kernel(FILE *f, const char *name, const char *cache) {
  if (!strcmp(cache, "const")) {
    constant_chase_kernel(f, name);
    return;
  }
  head(f, name, false);
  for (int turn = 0; turn < 2; turn++)
    fprintf(f,
            "bar.sync 0;\nmov.u32 %%c%d,%%clock;\nmov.u32 %%r11,0;\nTURN%d:\nld.global.%s.u64 %%rd1,[%%rd1];\nadd.u32 "
            "%%r11,%%r11,1;\n"
            "setp.lt.u32 %%p1,%%r11,%%r10;\n@%%p1 bra TURN%d;\nst.global.u64 [%%rd9+8],%%rd1;\n",
            turn, turn, cache, turn);
  fputs("bar.sync 0;\nmov.u32 %c2,%clock;\nsub.u32 %r12,%c2,%c1;\nst.global.u32 [%rd9],%r12;\n", f);
  tail(f);
}

/* A load, then one `n` bytes after it: the time of the second. */
static void sector_kernel(FILE *f, const struct micro *m, const char *name) {
  head(f, name, true);
  fprintf(f,
          "cvt.u64.u32 %%rd2,%%r10;\nmov.u32 %%r11,0;\nLOOP:\nld.global.%s.u32 %%r1,[%%rd1];\nst.volatile.shared.u32 "
          "[sm],%%r1;\nbar.sync 0;\n"
          "mov.u32 %%c0,%%clock;\nand.b32 %%r4,%%c0,%%r5;\ncvt.u64.u32 %%rd8,%%r4;\nadd.u64 "
          "%%rd1,%%rd1,%%rd8;\nadd.u64 %%rd3,%%rd1,%%rd2;\nld.global.%s.u32 %%r1,[%%rd3];\nst.volatile.shared.u32 "
          "[sm],%%r1;\nbar.sync 0;\n"
          "mov.u32 %%c1,%%clock;\nadd.u64 %%rd1,%%rd1,65536;\nadd.u32 %%r11,%%r11,1;\nsetp.lt.u32 %%p1,%%r11,3;\n@%%p1 "
          "bra LOOP;\n"
          "sub.u32 %%r12,%%c1,%%c0;\nst.global.u32 [%%rd9],%%r12;\n",
          m->op, m->op);
  tail(f);
}

char *micro_ptx(uint32_t cc) {
  char *text = NULL, name[16];
  size_t size;
  FILE *f = open_memstream(&text, &size);
  CHECK(f, "out of memory for the microbenchmarks");
  fprintf(f, ".version 7.8\n.target sm_%u\n.address_size 64\n", cc < 20 ? 20 : cc);
  constants(f);
  for (size_t i = 0; i < micro_count; i++) {
    const struct micro *m = &micros[i];
    if (m->least_cc > cc) continue;
    snprintf(name, sizeof name, "k%zu", i);
    switch (m->kind) {
    case MICRO_LATENCY:
      timed_kernel(f, m, name);
      break;
    case MICRO_CAPACITY:
      chase_kernel(f, name, m->op);
      break;
    case MICRO_SECTOR:
      sector_kernel(f, m, name);
      break;
    default:
      (m->grid ? stream_kernel : timed_kernel)(f, m, name);
      break;
    }
  }
  fclose(f);
  return text;
}

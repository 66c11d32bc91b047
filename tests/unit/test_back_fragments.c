/* test_back_fragments.c - wmma as machine code: the memory is that of the PTX, and fragments are read and written by
 * the accesses that ptxas 11.8 makes of them (cuobjdump).
 */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

/* Of the memory, in bytes: the matrices A, B, C and D. Elements are small whole numbers, so that sums are exact in any
 * order. */
enum { AT_B = 2048, AT_C = 4096, AT_D = 6144, STRIDE_PAD = 8 };

struct variant {
  const char *shape;
  int m, n, k;
  bool a_col, b_col, c_col, d_col, single, bf16, shared, fixed; /* fixed: strides are numbers */
};

static const struct {
  const char *name;
  int m, n;
} shapes[] = {{"m16n16k16", 16, 16}, {"m8n32k16", 8, 32}, {"m32n8k16", 32, 8}};

static const char *order(bool col) {
  return col ? "col" : "row";
}

static int registers_of(const struct variant *v, char part) {
  if (part == 'c') return v->single ? 8 : 4;
  if (!v->bf16) return 8;
  return part == 'a' ? v->m / 4 : v->n / 4;
}

static void say_vector(struct maker *m, const char *name, int n) {
  for (int i = 0; i < n; i++) say(m, "%s%s%d", i ? ", " : "{", name, i);
  say(m, "}");
}

/* Registers of a part, and their names. */
static const char *name_of(const struct variant *v, char part) {
  return part == 'a' ? "%ra" : part == 'b' ? "%rb" : v->single ? "%fc" : "%rc";
}

static void say_access(struct maker *m, const struct variant *v, char part, int at) {
  bool store = part == 'd', result = store || part == 'c';
  bool col = part == 'a' ? v->a_col : part == 'b' ? v->b_col : store ? v->d_col : v->c_col;
  int rows = part == 'b' ? v->k : v->m, cols = part == 'a' ? v->k : v->n, stride = (col ? rows : cols) + STRIDE_PAD;
  const char *type = result ? (v->single ? "f32" : "f16") : v->bf16 ? "bf16" : "f16";
  if (!v->fixed) say(m, "add.u32 %%r20, %%r19, %d;\n", stride); /* r19: 0 */
  say(m, "wmma.%s.%c.sync.aligned.%s.%s.%s.%s ", store ? "store" : "load", part, order(col), v->shape,
      v->shared ? "shared" : "global", type);
  if (!store) say_vector(m, name_of(v, part), registers_of(v, part)), say(m, ", ");
  if (v->shared) say(m, "[buf+%d], ", at);
  else say(m, "[%%rd1+%d], ", at);
  if (store) say_vector(m, name_of(v, 'c'), registers_of(v, 'c')), say(m, ", ");
  if (v->fixed) say(m, "%d;\n", stride);
  else say(m, "%%r20;\n");
}

static void say_product(struct maker *m, const struct variant *v) {
  const char *acc = v->single ? "f32" : "f16";
  say(m, "wmma.mma.sync.aligned.%s.%s.%s.%s%s.%s ", order(v->a_col), order(v->b_col), v->shape, acc,
      v->bf16 ? ".bf16.bf16" : "", acc);
  say_vector(m, name_of(v, 'c'), registers_of(v, 'c')), say(m, ", ");
  say_vector(m, "%ra", registers_of(v, 'a')), say(m, ", ");
  say_vector(m, "%rb", registers_of(v, 'b')), say(m, ", ");
  say_vector(m, name_of(v, 'c'), registers_of(v, 'c')), say(m, ";\n");
}

/* Each thread fills words t, t + 64, ...: %r5 is the number of an element, %r6 what it holds. */
static void say_fill(struct maker *m, const struct variant *v) {
  const char *space = v->shared ? "shared" : "global";
  say(m, "mov.u32 %%r4, %%r1;\nFILL:\nmul.wide.u32 %%rd3, %%r4, 2;\nadd.s64 %%rd4, %%rd1, %%rd3;\n"
         "mul.lo.u32 %%r6, %%r4, 5;\nshr.u32 %%r7, %%r4, 4;\nadd.u32 %%r6, %%r6, %%r7;\nand.b32 %%r6, %%r6, 7;\n"
         "sub.s32 %%r6, %%r6, 3;\nshl.b32 %%r8, %%r4, 1;\nmov.u32 %%r10, buf;\nadd.u32 %%r10, %%r10, %%r8;\n");
  if (v->bf16)
    say(m, "cvt.rn.f32.s32 %%f1, %%r6;\nmov.b32 %%r11, %%f1;\nshr.u32 %%r11, %%r11, 16;\ncvt.u16.u32 %%h1, %%r11;\n");
  else say(m, "cvt.rn.f16.s32 %%h1, %%r6;\n");
  say(m, "st.%s.b16 [%s], %%h1;\n", space, v->shared ? "%r10" : "%rd4");
  say(m, "setp.lt.u32 %%p1, %%r4, 1024;\n@!%%p1 bra NEXT;\n"); /* C: 512 floats, or 1024 halves */
  if (v->single)
    say(m,
        "and.b32 %%r12, %%r4, 1;\nsetp.eq.u32 %%p2, %%r12, 0;\ncvt.rn.f32.s32 %%f1, %%r6;\n@%%p2 st.%s.f32 [%s+%d], "
        "%%f1;\n",
        space, v->shared ? "%r10" : "%rd4", AT_C);
  else say(m, "cvt.rn.f16.s32 %%h2, %%r6;\nst.%s.b16 [%s+%d], %%h2;\n", space, v->shared ? "%r10" : "%rd4", AT_C);
  say(m, "mov.u32 %%r13, 0;\nst.%s.u16 [%s+%d], 0;\n", space, v->shared ? "%r10" : "%rd4", AT_D);
  say(m, "NEXT:\nadd.u32 %%r4, %%r4, 64;\nsetp.lt.u32 %%p1, %%r4, 2048;\n@%%p1 bra FILL;\nbar.sync 0;\n");
}

static void say_kernel(struct maker *m, const struct variant *v) {
  m->at = 0;
  say(m,
      ".version 7.8\n.target sm_%d\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
      ".reg .pred %%p<4>;\n.reg .b16 %%h<4>;\n.reg .b32 %%r<32>, %%ra<8>, %%rb<8>, %%rc<8>;\n"
      ".reg .f32 %%f<4>, %%fc<8>;\n.reg .b64 %%rd<8>;\n.shared .align 32 .b8 buf[8192];\nld.param.u64 %%rd1, [p];\n"
      "ld.param.u32 %%r9, [n];\nmov.u32 %%r1, %%tid.x;\nsub.u32 %%r19, %%r9, 11;\n",
      v->bf16 ? 80 : 70);
  say_fill(m, v);
  say_access(m, v, 'a', 0);
  say_access(m, v, 'b', AT_B);
  say_access(m, v, 'c', AT_C);
  say_product(m, v);
  for (int i = 0; i < registers_of(v, 'c'); i++)
    if (v->single) say(m, "add.f32 %%fc%d, %%fc%d, %%fc%d;\n", i, i, i);
  say_product(m, v);
  say_access(m, v, 'd', AT_D);
  say(m, "bar.sync 0;\n");
  if (v->shared)
    say(m,
        "mov.u32 %%r4, %%r1;\nCOPY:\nshl.b32 %%r5, %%r4, 2;\nmov.u32 %%r6, buf;\nadd.u32 %%r6, %%r6, %%r5;\n"
        "ld.shared.u32 %%r7, [%%r6+%d];\nmul.wide.u32 %%rd3, %%r4, 4;\nadd.s64 %%rd4, %%rd1, %%rd3;\n"
        "st.global.u32 [%%rd4+%d], %%r7;\nadd.u32 %%r4, %%r4, 64;\nsetp.lt.u32 %%p1, %%r4, 512;\n@%%p1 bra COPY;\n",
        AT_D, AT_D);
  say(m, "ret;\n}\n");
}

static void same_memory(const char *text, bool bf16) {
  static const uint32_t machines[] = {70, 75, 80, 90};
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  run(text, 0, want);
  for (uint32_t i = bf16 ? 2 : 0; i < sizeof machines / sizeof *machines; i++) {
    run(text, machines[i], got);
    if (memcmp(want, got, sizeof want)) fail_msg("sm_%u leaves another memory:\n%s", machines[i], text);
  }
  uint32_t set = 0; /* D is the product of what was there, not zeros */
  for (uint32_t i = AT_D / 4; i < RUN_WORDS; i++) set += want[i] != 0;
  assert_true(set > 64);
}

static void every_fragment_leaves_the_same_memory(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (uint32_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (uint32_t bits = 0; bits < 256; bits++) {
      struct variant v = {.shape = shapes[s].name, .m = shapes[s].m, .n = shapes[s].n, .k = 16};
      v.a_col = bits & 1, v.b_col = bits & 2, v.c_col = bits & 4, v.d_col = bits & 8;
      v.single = bits & 16, v.shared = bits & 32, v.fixed = bits & 64, v.bf16 = bits & 128;
      if (v.bf16 && !v.single) continue;
      say_kernel(m, &v);
      same_memory(m->text, v.bf16);
    }
  free(m);
}

/* An 8 x 8 block turned over twice is itself; turned over once, rows are columns. */
static void movmatrix_transposes(void **state) {
  (void)state;
  static uint32_t got[RUN_WORDS];
  run(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %laneid;\nshl.b32 %r2, %r1, 1;\n"
      "add.u32 %r3, %r2, 1;\nshl.b32 %r3, %r3, 16;\nor.b32 %r2, %r2, %r3;\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r2;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;\n"
      "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.v2.u32 [%rd3], {%r4, %r5};\nret;\n}\n",
      0, got);
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t row = lane / 4, col = lane % 4 * 2; /* element (r, c) was 8 r + c */
    assert_int_equal(got[2 * lane], (8 * col + row) | (8 * (col + 1) + row) << 16);
    assert_int_equal(got[2 * lane + 1], 2 * lane | (2 * lane + 1) << 16);
  }
}

struct expected {
  const char *part, *order, *type, *space;
  uint32_t sm, n, bytes; /* bytes of a lane, 0: LDSM */
};
/* cuobjdump of what ptxas 11.8 makes of one load of m16n16k16. */
static const struct expected accesses[] = {
    {"a", "row", "f16", "global", 70, 2, 16}, {"a", "col", "f16", "global", 70, 4, 8},
    {"b", "row", "f16", "shared", 70, 4, 8},  {"b", "col", "f16", "shared", 70, 2, 16},
    {"c", "row", "f32", "global", 70, 4, 8},  {"c", "col", "f32", "global", 70, 8, 4},
    {"c", "row", "f16", "shared", 70, 1, 16}, {"c", "col", "f16", "shared", 70, 8, 2},
    {"a", "row", "f16", "global", 75, 4, 4},  {"a", "col", "f16", "shared", 75, 2, 0},
    {"b", "row", "f16", "global", 80, 4, 4},  {"a", "row", "f16", "shared", 80, 1, 0},
    {"c", "row", "f32", "global", 80, 4, 8},  {"c", "col", "f32", "global", 90, 8, 4},
    {"c", "row", "f16", "shared", 80, 4, 4},
};

static void accesses_are_those_of_ptxas(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (uint32_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
    const struct expected *x = &accesses[i];
    bool single = !strcmp(x->type, "f32"), shared = !strcmp(x->space, "shared");
    int n = *x->part == 'c' && !single ? 4 : 8;
    const char *name = single ? "%f1" : "%r1"; /* %f10 and on, or %r10 */
    m->at = 0;
    say(m, "%swmma.load.%s.sync.aligned.%s.m16n16k16.%s.%s ", INDEX, x->part, x->order, x->space, x->type);
    say_vector(m, name, n);
    say(m, ", [%s], %%r9;\n", shared ? "buf" : "%rd3");
    for (int k = 0; k < n; k++) say(m, "st.global.%s [%%rd4+%d], %s%d;\n", single ? "f32" : "u32", 4 * k, name, k);
    say(m, "ret;\n");
    struct code c = compile(m->text, x->sm);
    uint32_t all = count(&c, shared ? "lds" : "ldg", 0), of = count(&c, shared ? "lds" : "ldg", x->bytes);
    if (all != x->n || of != all)
      fail_msg("sm_%u: %u accesses, %u of %u bytes, of\n%s", x->sm, all, of, x->bytes, m->text);
  }
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_fragment_leaves_the_same_memory),
                                     cmocka_unit_test(movmatrix_transposes),
                                     cmocka_unit_test(accesses_are_those_of_ptxas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

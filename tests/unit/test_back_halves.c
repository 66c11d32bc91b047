/* test_back_halves.c - values of 16 bits and halves of 64: what the back end makes of them is what ptxas 11.8 makes
 * (cuobjdump). */
#include "back_code.h"

#define WORDS "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"
#define HALVES "{\n.reg .b16 %h<8>, %z;\nmov.b16 %z, 0;\n"

static struct code of(const char *body, uint32_t sm) {
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s%s}\nret;\n", INDEX, WORDS, HALVES, body);
  return compile(text, sm);
}

static uint32_t named(const struct code *c, const char *name) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) n += !strcmp(c->at[i].name, name);
  return n;
}

/* HADD2.F32 of either half. */
static void halves_become_floats_where_they_are(void **state) {
  (void)state;
  for (uint32_t sm = 70; sm <= 90; sm += 10) {
    struct code c = of("ld.global.u32 %r10, [%rd6];\nmov.b32 {%h0, %h1}, %r10;\ncvt.f32.f16 %f0, %h0;\n"
                       "cvt.f32.f16 %f1, %h1;\nst.global.f32 [%rd7], %f0;\nst.global.f32 [%rd7+512], %f1;\n",
                       sm);
    assert_int_equal(named(&c, "HADD2"), 2);
    assert_int_equal(named(&c, "PRMT") + named(&c, "F2F"), 0);
  }
}

/* A bfloat16 is the upper half of a float: one PRMT each. */
static void halves_become_upper_halves(void **state) {
  (void)state;
  for (uint32_t sm = 70; sm <= 90; sm += 10) {
    struct code c = of("ld.global.u32 %r10, [%rd6];\nmov.b32 {%h0, %h1}, %r10;\nmov.b32 %f0, {%z, %h0};\n"
                       "mov.b32 %f1, {%z, %h1};\nst.global.f32 [%rd7], %f0;\nst.global.f32 [%rd7+512], %f1;\n",
                       sm);
    assert_int_equal(named(&c, "PRMT"), 2);
  }
}

/* An upper half in a register by itself takes an instruction, a lower one does not. */
static void a_half_by_itself_is_taken_out(void **state) {
  (void)state;
  for (uint32_t q = 0; q < 2; q++) {
    char body[512];
    snprintf(body, sizeof body,
             "ld.global.u32 %%r10, [%%rd6];\nmov.b32 {%%h0, %%h1}, %%r10;\nst.global.u16 [%%rd7], %%h%u;\n", q);
    struct code c = of(body, 80);
    assert_int_equal(named(&c, "PRMT"), q);
  }
}

/* Two conversions are one since 8.0, F2FP; before, two F2F and what puts their results together. */
static void floats_become_pairs(void **state) {
  (void)state;
  static const char body[] =
      "ld.global.f32 %f0, [%rd6];\nld.global.f32 %f1, [%rd6+512];\ncvt.rn.f16.f32 %h0, %f0;\ncvt.rn.f16.f32 %h1, %f1;\n"
      "mov.b32 %r10, {%h0, %h1};\nst.global.u32 [%rd7], %r10;\n";
  struct code old = of(body, 70), now = of(body, 80);
  assert_int_equal(named(&old, "F2F"), 2);
  assert_int_equal(named(&old, "PRMT"), 1);
  assert_int_equal(named(&now, "F2FP"), 1);
  assert_int_equal(named(&now, "F2F") + named(&now, "PRMT"), 0);
  /* one result read by another as well: it is made by itself */
  struct code two = of("ld.global.f32 %f0, [%rd6];\nld.global.f32 %f1, [%rd6+512];\ncvt.rn.f16.f32 %h0, %f0;\n"
                       "cvt.rn.f16.f32 %h1, %f1;\nst.global.u16 [%rd7+512], %h1;\nmov.b32 %r10, {%h0, %h1};\n"
                       "st.global.u32 [%rd7], %r10;\n",
                       80);
  assert_int_equal(named(&two, "F2FP"), 2);
  assert_int_equal(named(&two, "PRMT"), 1);
}

/* Arithmetic of both halves of two pairs is one HADD2, also with one half for both; of halves that are no pair it is
 * two. */
static void halves_are_added_together(void **state) {
  (void)state;
  static const char *const second[] = {"%h1, %h3", "%h0, %h1"};
  for (uint32_t q = 0; q < 2; q++) {
    char body[1024];
    snprintf(
        body, sizeof body,
        "ld.global.u32 %%r10, [%%rd6];\nld.global.u32 %%r11, [%%rd6+512];\nmov.b32 {%%h0, %%h1}, %%r10;\n"
        "mov.b32 {%%h2, %%h3}, %%r11;\nadd.f16 %%h4, %%h0, %%h2;\nadd.f16 %%h5, %s;\nmov.b32 %%r12, {%%h4, %%h5};\n"
        "st.global.u32 [%%rd7], %%r12;\n",
        second[q]);
    struct code c = of(body, 75);
    assert_int_equal(named(&c, "HADD2"), q + 1);
    assert_int_equal(named(&c, "PRMT"), q);
  }
}

/* A choice of two numbers of 64 bits selects the halves that differ. */
static void halves_alike_are_not_selected(void **state) {
  (void)state;
  static const struct {
    const char *numbers;
    uint32_t sel;
  } of_two[] = {{"1, 0", 1}, {"4294967297, 4294967296", 1}, {"4294967296, 0", 1}, {"4294967299, 0", 2}, {"%rd1, 0", 2}};
  for (size_t q = 0; q < sizeof of_two / sizeof *of_two; q++) {
    char body[512];
    snprintf(body, sizeof body,
             "ld.global.u32 %%r10, [%%rd6];\nsetp.ne.s32 %%p1, %%r10, 0;\nselp.b64 %%rd8, %s, %%p1;\n"
             "ld.global.u64 %%rd9, [%%rd7];\nadd.s64 %%rd9, %%rd9, %%rd8;\nst.global.u64 [%%rd7], %%rd9;\n",
             of_two[q].numbers);
    struct code c = of(body, 80);
    assert_int_equal(named(&c, "SEL"), of_two[q].sel);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_become_floats_where_they_are), cmocka_unit_test(halves_become_upper_halves),
      cmocka_unit_test(a_half_by_itself_is_taken_out),       cmocka_unit_test(floats_become_pairs),
      cmocka_unit_test(halves_are_added_together),           cmocka_unit_test(halves_alike_are_not_selected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A name that is declared twice: what ptxas 11.8 refuses is refused with both lines, what it takes is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static bool none(const char *name) {
  (void)name;
  return false;
}

/* `want`: the first line of the error of up to two texts, NULL where they load. */
static void expect(const char *a, const char *b, const char *want) {
  char text[2][1024];
  struct err e = {0};
  struct ptx_module *m = ptx_new();
  snprintf(text[0], sizeof text[0], HEAD "%s", a);
  snprintf(text[1], sizeof text[1], HEAD "%s", b);
  bool ok = ptx_parse(m, text[0], "a.ptx", &e) && ptx_parse(m, text[1], "b.ptx", &e) && ptx_link(m, none, &e);
  char *line = strchr(e.msg, '\n');
  if (line) *line = 0;
  if (ok != !want) fail_msg("%s: %s", a, ok ? "was taken" : e.msg);
  if (want) assert_string_equal(e.msg, want);
  ptx_free(m);
}

static void body(const char *text, const char *want) {
  char all[800];
  snprintf(all, sizeof all, ".visible .entry k(.param .u32 q)\n{\n%s\nret;\n}\n", text);
  expect(all, "", want);
}

static void in_functions(void **state) {
  (void)state;
  body(".reg .b32 a;\n.reg .b32 a;", "a.ptx:7:11: 'a' is declared twice (also in line 6)");
  body(".reg .b32 a, b, a;", "a.ptx:6:17: 'a' is declared twice (also in line 6)");
  body(".reg .b32 %r<5>;\n.reg .b32 %r<7>;", "a.ptx:7:11: '%r0' is declared twice (also in line 6)");
  body(".reg .b32 %r<5>;\n\n.reg .b64 %r3;", "a.ptx:8:11: '%r3' is declared twice (also in line 6)");
  body(".reg .b64 %r3;\n.reg .b32 %r<5>;", "a.ptx:7:11: '%r3' is declared twice (also in line 6)");
  body(".shared .u32 s;\n.local .u32 s;", "a.ptx:7:13: 's' is declared twice (also in line 6)");
  body("L:\nret;\nL:", "a.ptx:8:1: 'L' is declared twice (also in line 6)");
  body(".reg .b32 a;\na:", "a.ptx:7:1: 'a' is declared twice (also in line 6)");
  body(".reg .b32 q;", "a.ptx:6:11: 'q' is declared twice (also in line 4)");
  body("P: .callprototype _ (.param .u32 _);\nP: .branchtargets L;\nL:",
       "a.ptx:7:1: 'P' is declared twice (also in line 6)");
  body("{\n.reg .b32 a;\n{\n.reg .b32 a;\n}\n.reg .b32 a;\n}", "a.ptx:11:11: 'a' is declared twice (also in line 7)");
  expect(".func (.param .b32 r) f(.param .b32 x,\n.param .b32 r)\n{\nret;\n}\n", "",
         "a.ptx:5:13: 'r' is declared twice (also in line 4)");
  body(".reg .b32 a;\n{\n.reg .b32 a;\nL:\n}\n{\n.reg .b32 a;\nL:\n}\nL:", NULL);
  body(".reg .b32 k;\nmov.u32 k, 1;", NULL); /* the kernel's name */
  body("P: .callprototype _ (.param .u32 a, .param .u32 a);\nQ: .callprototype (.reg .u32 _) _ (.reg .u32 _);", NULL);
  expect(
      ".func f(.param .b32 f)\n{\n.reg .b32 r;\nld.param.b32 r, [f];\nret;\n}\n.func g()\n{\ncall f, (1);\nret;\n}\n",
      "", NULL);
}

static void outside(void **state) {
  (void)state;
  expect(".global .u32 v;\n.global .u32 v;\n", "", "a.ptx:5:14: 'v' is defined twice (also in line 4)");
  expect(".shared .u32 v;\n.global .u32 v;\n", "", "a.ptx:5:14: 'v' is defined twice (also in line 4)");
  expect(".extern .global .u32 v;\n.visible .global .u64 v;\n", "",
         "a.ptx:5:23: 'v' has another state space, type or size in line 4");
  expect(".global .u32 f;\n.func f()\n{\nret;\n}\n", "", "a.ptx:5:1: 'f' is declared twice (also in line 4)");
  expect(".func f()\n{\nret;\n}\n.global .u32 f;\n", "", "a.ptx:8:14: 'f' is declared twice (also in line 4)");
  expect(".func f()\n{\nret;\n}\n.func f()\n{\nret;\n}\n", "", "a.ptx:8:1: 'f' is defined twice (also in line 4)");
  expect(".visible .func f(.param .u32 a);\n.visible .entry f(.param .u32 a)\n{\nret;\n}\n", "",
         "a.ptx:5:1: 'f' is a kernel in one place and a function in the other (line 4)");
  expect(".visible .func f(.param .u32 a);\n.visible .func f(.param .u64 a)\n{\nret;\n}\n", "",
         "a.ptx:5:1: 'f' has other parameters or results in line 4");
  expect(".visible .func (.param .u32 r) f();\n.visible .func f()\n{\nret;\n}\n", "",
         "a.ptx:5:1: 'f' has other parameters or results in line 4");
  expect(".extern .shared .b8 s[];\n.visible .func f(.param .u32 a);\n.visible .func f(.param .u32 b)\n{\nret;\n}\n",
         "", NULL);
  expect(".extern .global .u32 v;\n.visible .global .u32 v;\n", "", NULL);
  expect(".weak .global .u32 v;\n.weak .global .u32 v;\n", "", NULL);
}

static void between_texts(void **state) {
  (void)state;
  expect(".extern .global .u32 v;\n", ".visible .global .u64 v;\n",
         "a.ptx:4:1: 'v' has another state space, type or size where it is defined (b.ptx:4)");
  expect(".extern .func f(.param .u32 a);\n", ".visible .func f(.param .u32 a, .param .u32 b)\n{\nret;\n}\n",
         "a.ptx:4:1: 'f' has other parameters or results where it is defined (b.ptx:4)");
  expect(".global .u32 v;\n", ".global .u32 v;\n.func f()\n{\nret;\n}\n", NULL); /* each text's own */
  expect(".func f()\n{\n.reg .b32 a;\nL:\nret;\n}\n", ".func g()\n{\n.reg .b32 a;\nL:\nret;\n}\n", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_functions), cmocka_unit_test(outside),
                                     cmocka_unit_test(between_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

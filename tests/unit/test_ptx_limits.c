/* What nests deeply and sizes that do not fit: an error with its place, and time that grows with the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "simt/simt.h"

#define HEAD ".version 6.0\n.target sm_35\n.address_size 64\n"

/* The message that a kernel with `module` before it, `params` and `body` gets; "" if it loads. */
static char *load(const char *module, const char *params, const char *body) {
  char *text;
  struct err e = {0};
  assert_true(asprintf(&text, HEAD "%s\n.visible .entry k(%s)\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n%s\nret;\n}\n",
                       module, params, body) > 0);
  struct simt *s = simt_new(1 << 20, &e);
  struct simt_text t = {.ptx = text, .name = "t.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  assert_int_equal(m == NULL, e.code != ERR_NONE);
  simt_free(s);
  free(text);
  return strdup(e.msg);
}

/* The message begins with `begins`, up to the line that it shows. */
static void expect(const char *module, const char *params, const char *body, const char *begins) {
  char *msg = load(module, params, body), *line = strchr(msg, '\n');
  if (line) *line = 0;
  assert_string_equal(msg, begins);
  free(msg);
}

static void body(const char *text, const char *begins) {
  expect("", ".param .u64 p", text, begins);
}

static void module(const char *text, const char *begins) {
  expect(text, ".param .u64 p", "", begins);
}

static char *repeat(const char *before, const char *what, size_t times, const char *after) {
  size_t n = strlen(what), b = strlen(before);
  char *text = malloc(b + n * times + strlen(after) + 1);
  memcpy(text, before, b);
  for (size_t i = 0; i < times; i++) memcpy(text + b + i * n, what, n);
  strcpy(text + b + n * times, after);
  return text;
}

static void deep(const char *before, const char *what, const char *after, bool in_body) {
  char *text = repeat(before, what, 200000, after), *msg = load(in_body ? "" : text, "", in_body ? text : "");
  assert_non_null(strstr(msg, "more than 256 scopes, brackets or signs inside each other"));
  free(msg);
  free(text);
}

static void nesting(void **state) {
  (void)state;
  deep("", "{", "", true);
  deep("mov.u32 %r1, ", "-", "1;", true);
  deep("mov.u32 %r1, ", "~", "1;", true);
  deep("mov.u32 %r1, ", "!", "1;", true);
  deep("mov.u32 %r1, ", "(", "1;", true);
  deep("mov.u32 %r1, ", "{", "1;", true);
  deep(".global .u32 a[2] = ", "{", "1;", false);
  deep(".global .u64 b; .global .u64 a = ", "generic(", "b;", false);
  deep(".global .u64 b; .global .u64 a = ", "0xFF(", "b;", false);
  char *scopes = repeat("", "{", 200, "st.global.u32 [4], 7;"), *closed = repeat(scopes, "}", 200, "");
  body(closed, "");
  free(scopes);
  free(closed);
}

static void sizes(void **state) {
  (void)state;
  module(".global .u32 a[0x4000000000000001];",
         "t.ptx:4:16: 'a' has more than 1099511627776 bytes, the most in its state space");
  module(".global .u32 a[65536][65536][65536][65536];",
         "t.ptx:4:30: 'a' has more than 1099511627776 bytes, the most in its state space");
  module(".global .u32 a[99999999999999999999];", "t.ptx:4:16: '99999999999999999999' does not fit 64 bits");
  module(".global .u32 a[-1];", "t.ptx:4:16: an array of -1 elements");
  module(".global .align 4294967312 .b8 s[4];", "t.ptx:4:16: an alignment must be between 0 and 1048576");
  module(".const .b8 s[4294967312];", "t.ptx:4:14: 's' has more than 65536 bytes, the most in its state space");
  module(".const .b8 s[60000];\n.const .b8 t[40000];",
         "t.ptx:5:12: with 't' the constants have 100000 bytes; the limit is 65536");
  module(".const .b8 s[65536];", "");
  body(".shared .b8 s[4294967312];", "t.ptx:9:15: 's' has more than 1073741824 bytes, the most in its state space");
  expect(".shared .b8 s[1073741824]; .shared .b8 t[1073741824];", ".param .u64 p", "mov.u64 %rd2, s; mov.u64 %rd3, t;",
         "t.ptx:4:40: with 't' the .shared variables have 2147483648 bytes; the limit is 1073741824");
  body(".local .b8 s[4294967312];", "t.ptx:9:14: 's' has more than 524288 bytes, the most in its state space");
  body(".local .b8 s[500000]; .local .b8 t[500000];",
       "t.ptx:9:34: with 't' the .local variables have 1000096 bytes; the limit is 524288");
  expect("", ".param .u64 p, .param .b8 q[4294967312]", "",
         "t.ptx:5:47: 'q' has more than 32764 bytes, the most in its state space");
  expect("", ".param .u64 p, .param .b8 q[32764]", "",
         "t.ptx:5:34: with 'q' the .param variables have 32772 bytes; the limit is 32764");
  expect("", ".param .b8 q[32764]", "", "");
  body("st.global.u32 [%rd1+4294967312], %r1;", "t.ptx:9:21: an offset of 4294967312 does not fit 32 bits");
  body("st.global.u32 [%rd1+-4294967312], %r1;", "t.ptx:9:21: an offset of -4294967312 does not fit 32 bits");
  body("st.global.u32 [%rd1+0xFFFFFFFC], %r1; st.global.u32 [%rd1+-2147483648], %r1;", "");
  body(".reg .b32 %q<99999999999>;", "t.ptx:9:14: a register count must be between 0 and 4294967295");
}

static void initialisers(void **state) {
  (void)state;
  module(".global .u32 a[2] = {1, 2,\n3};", "t.ptx:5:1: 'a' has 2 elements, and this would be one more");
  module(".global .u32 a = {1, 2};", "t.ptx:4:22: 'a' has 1 elements, and this would be one more");
  module(".global .u32 a[2][2] = {{1, 2}, {3, 4}}, b[4] = {1}; .global .u8 c[] = {1, 2, 3};", "");
}

/* Texts of many names, constants and functions; each took minutes when the time grew with the square. */
static void many(void **state) {
  (void)state;
  enum { N = 100000 };
  char *text = malloc(N * 200ull), *msg;
  clock_t began = clock();
  for (int kind = 0; kind < 3; kind++) {
    size_t n = 0;
    for (int i = 0; i < N; i++)
      if (kind == 0) n += (size_t)sprintf(text + n, "mov.u32 %%r1, %d;\n", 7 * i);
      else if (kind == 1) n += (size_t)sprintf(text + n, ".extern .func f%d(.param .b32 x);\n", i);
      else n += (size_t)sprintf(text + n, ".func g%d(.param .b32 x) { ret; }\n", i);
    msg = load(kind ? text : "", ".param .u64 p", kind ? "" : text);
    assert_string_equal(msg, "");
    free(msg);
  }
  free(text);
  assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nesting), cmocka_unit_test(sizes), cmocka_unit_test(initialisers),
                                     cmocka_unit_test(many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

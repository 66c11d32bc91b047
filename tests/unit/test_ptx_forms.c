/* test_ptx_forms.c - every instruction form of tests/ptx/forms.csv is put into a small kernel and loaded: forms that
 * two or more programs use must all be supported; the rest is counted and named. What the forms compute is tested
 * elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/simt.h"

struct form {
  char text[120];
  char parts[12][32];
  int nparts;
};

static bool has(const struct form *f, const char *word) {
  for (int i = 1; i < f->nparts; i++)
    if (!strcmp(f->parts[i], word)) return true;
  return false;
}

static bool is_type(const char *s) {
  return strchr("busf", *s) && (s[1] >= '1' && s[1] <= '9') ? true : !strcmp(s, "pred");
}

static const char *type(const struct form *f, int k) {
  for (int i = 1; i < f->nparts; i++)
    if (is_type(f->parts[i]) && k-- == 0) return f->parts[i];
  return "b32";
}

/* A register of the class that a type needs: %h 16, %r 32, %d 64 bits, %p predicate; floats of their own. */
static const char *reg(const char *t, int n) {
  static char buf[16][16];
  static int k;
  char *s = buf[k++ % 16];
  if (!strcmp(t, "pred")) snprintf(s, 16, "%%p%d", n);
  else if (!strcmp(t, "f32")) snprintf(s, 16, "%%f%d", n);
  else if (!strcmp(t, "f64")) snprintf(s, 16, "%%e%d", n);
  else if (strstr(t, "64")) snprintf(s, 16, "%%d%d", n);
  else if (strstr(t, "x2") || strstr(t, "32")) snprintf(s, 16, "%%r%d", n);
  else snprintf(s, 16, "%%h%d", n);
  return s;
}

static const char *wide(const char *t) {
  return strstr(t, "16") ? "b32" : "b64";
}

static void vector(char *out, const char *t, int n, int first) {
  int at = sprintf(out, "{");
  for (int i = 0; i < n; i++) at += sprintf(out + at, "%s%s", i ? "," : "", reg(t, first + i));
  sprintf(out + at, "}");
}

static int lanes(const struct form *f) {
  return has(f, "v4") ? 4 : has(f, "v2") ? 2 : 1;
}

static void wmma_operands(const struct form *f, char *out) {
  bool half_acc = !strcmp(type(f, 0), "f16");
  char v[4][128];
  if (has(f, "mma")) {
    bool d16 = !strcmp(type(f, 0), "f16"), c16 = !strcmp(type(f, 1), "f16");
    vector(v[0], d16 ? "b32" : "f32", d16 ? 4 : 8, 0);
    vector(v[1], "b32", 8, 0);
    vector(v[2], "b32", 8, 8);
    vector(v[3], c16 ? "b32" : "f32", c16 ? 4 : 8, 8);
    sprintf(out, "%s, %s, %s, %s", v[0], v[1], v[2], v[3]);
    return;
  }
  bool acc = has(f, "c") || has(f, "d");
  vector(v[0], acc && !half_acc ? "f32" : "b32", acc && half_acc ? 4 : 8, 0);
  if (has(f, "store")) sprintf(out, "[%%d0], %s, %%r9", v[0]);
  else sprintf(out, "%s, [%%d0], %%r9", v[0]);
}

#define IS(s) (!strcmp(op, s))
static bool memory_operands(const struct form *f, char *out) {
  const char *op = f->parts[0], *t = type(f, 0);
  char v[200];
  if (IS("ld") || IS("st")) {
    vector(v, t, lanes(f), 0);
    const char *where = has(f, "param") && IS("st") ? "arg"
                        : has(f, "param")           ? "k_param_0"
                        : has(f, "shared")          ? "sh"
                        : has(f, "local")           ? "loc"
                        : has(f, "const")           ? "con"
                                                    : "%d9";
    const char *data = lanes(f) > 1                           ? v
                       : strchr("us", t[0]) && strstr(t, "8") ? "%h0"
                       : !strcmp(t, "b8")                     ? "%h0"
                                                              : reg(t, 0);
    if (lanes(f) > 1 && (strstr(t, "8") && !strstr(t, "x2")))
      strcpy(v, lanes(f) == 4 ? "{%h0,%h1,%h2,%h3}" : "{%h0,%h1}");
    if (IS("ld")) sprintf(out, "%s, [%s]", data, where);
    else sprintf(out, "[%s], %s", where, data);
  } else if (IS("atom")) {
    const char *where = has(f, "shared") ? "sh" : "%d9";
    sprintf(out, "%s, [%s], %s%s%s", reg(t, 0), where, reg(t, 1), has(f, "cas") ? ", " : "",
            has(f, "cas") ? reg(t, 2) : "");
  } else if (IS("tex")) {
    int n = has(f, "1d") ? 1 : has(f, "2d") ? 2 : has(f, "a1d") ? 2 : 4;
    char c[100] = "{";
    for (int i = 0; i < n; i++)
      sprintf(c + strlen(c), "%s%s", i ? "," : "",
              (has(f, "a2d") || has(f, "a1d")) && !i ? "%r7" : reg(type(f, 1), i + 4));
    vector(v, !strcmp(t, "f32") ? "f32" : "b32", 4, 0);
    sprintf(out, "%s, [tex0, %s}]%s", v, c, has(f, "level") ? ", %f9" : "");
  } else if (IS("sust") || IS("suld")) {
    const char *c = has(f, "1d") ? "{%r4}" : has(f, "2d") ? "{%r4,%r5}" : "{%r4,%r5,%r6,%r7}";
    if (!strcmp(t, "b8")) strcpy(v, lanes(f) == 4 ? "{%h0,%h1,%h2,%h3}" : "{%h0}");
    else vector(v, t, lanes(f), 0);
    if (IS("sust")) sprintf(out, "[%%d9, %s], %s", c, v);
    else sprintf(out, "%s, [%%d9, %s]", v, c);
  } else {
    return false;
  }
  return true;
}

static void operands(const struct form *f, char *out) {
  const char *op = f->parts[0], *t = type(f, 0);
  *out = 0;
  if (IS("ret") || IS("exit") || IS("membar") || IS("fence") || IS("trap")) return;
  if (IS("bra")) strcpy(out, "L");
  else if (IS("call")) strcpy(out, "helper");
  else if (IS("bar") && has(f, "warp")) strcpy(out, "0xffffffff");
  else if (IS("bar") && has(f, "red")) strcpy(out, "%p0, 0, %p1");
  else if (IS("bar") || IS("barrier")) strcpy(out, "0");
  else if (memory_operands(f, out)) return;
  else if (IS("setp")) sprintf(out, "%%p0, %s, %s", reg(t, 0), reg(t, 1));
  else if (IS("selp")) sprintf(out, "%s, %s, %s, %%p0", reg(t, 0), reg(t, 1), reg(t, 2));
  else if (IS("cvt")) {
    const char *a = strstr(type(f, 1), "8") && strlen(type(f, 1)) == 2 ? "b16" : type(f, 1),
               *d = strstr(t, "8") && strlen(t) == 2 ? "b16" : t;
    sprintf(out, "%s, %s", reg(d, 0), reg(a, 1));
  } else if (IS("cvta"))
    strcpy(out, has(f, "to") || has(f, "global") ? "%d0, %d1" : has(f, "shared") ? "%d0, sh" : "%d0, loc");
  else if (IS("vote"))
    sprintf(out, "%s, %%p1%s", reg(has(f, "ballot") ? "b32" : "pred", 0), has(f, "sync") ? ", 0xffffffff" : "");
  else if (IS("shfl")) sprintf(out, "%%r0|%%p0, %%r1, %%r2, 31%s", has(f, "sync") ? ", 0xffffffff" : "");
  else if (IS("match")) sprintf(out, "%%r0, %s, 0xffffffff", reg(t, 1));
  else if (IS("activemask")) strcpy(out, "%r0");
  else if (IS("nanosleep")) strcpy(out, "100");
  else if (IS("mul") && has(f, "wide")) sprintf(out, "%s, %s, %s", reg(wide(t), 0), reg(t, 1), reg(t, 2));
  else if (IS("mad") && has(f, "wide"))
    sprintf(out, "%s, %s, %s, %s", reg(wide(t), 0), reg(t, 1), reg(t, 2), reg(wide(t), 3));
  else if (IS("mad") || IS("madc") || IS("fma") || IS("prmt") || IS("shf") || IS("sad"))
    sprintf(out, "%s, %s, %s, %s", reg(t, 0), reg(t, 1), reg(t, 2), IS("prmt") || IS("shf") ? "%r3" : reg(t, 3));
  else if (IS("vabsdiff4")) strcpy(out, "%r0, %r1, %r2, %r3");
  else if (IS("bfe")) sprintf(out, "%s, %s, %%r2, %%r3", reg(t, 0), reg(t, 1));
  else if (IS("bfi")) sprintf(out, "%s, %s, %s, %%r2, %%r3", reg(t, 0), reg(t, 1), reg(t, 2));
  else if (IS("shl") || IS("shr")) sprintf(out, "%s, %s, %%r2", reg(t, 0), reg(t, 1));
  else if (IS("popc") || IS("clz") || IS("bfind")) sprintf(out, "%%r0, %s", reg(t, 1));
  else if (IS("mov") || IS("neg") || IS("not") || IS("abs") || IS("rcp") || IS("sqrt") || IS("rsqrt") || IS("sin") ||
           IS("cos") || IS("ex2") || IS("lg2") || IS("brev"))
    sprintf(out, "%s, %s", reg(t, 0), reg(t, 1));
  else if (IS("wmma")) wmma_operands(f, out);
  else sprintf(out, "%s, %s, %s", reg(t, 0), reg(t, 1), reg(t, 2));
}

static bool supported(struct simt *s, const struct form *f, struct err *e) {
  char ops[600], text[3000];
  operands(f, ops);
  snprintf(text, sizeof text,
           ".version 9.0\n.target sm_90\n.address_size 64\n.global .texref tex0;\n.const .align 16 .b8 con[64];\n.func "
           "helper()\n{\n\tret;\n}\n"
           ".visible .entry k(.param .align 16 .b8 k_param_0[64])\n{\n\t.reg .pred %%p<16>;\n\t.reg .b16 "
           "%%h<16>;\n\t.reg .b32 %%r<16>;\n"
           "\t.reg .b64 %%d<16>;\n\t.reg .f32 %%f<16>;\n\t.reg .f64 %%e<16>;\n\t.shared .align 16 .b8 "
           "sh[64];\n\t.local .align 16 .b8 loc[64];\n"
           "\t{\n\t.param .align 16 .b8 arg[64];\nL:\n\t%s %s;\n\t}\n\tret;\n}\n",
           f->text, ops);
  struct simt_text t = {.ptx = text, .name = f->text};
  struct simt_module *m = simt_load(s, &t, 1, e);
  const char *first = NULL;
  bool yes = m && simt_refusals(m, &first) == 0;
  if (first) err_set(e, ERR_UNSUPPORTED, "%s", first);
  if (m) simt_unload(s, m);
  return yes;
}

static FILE *open_forms(void) {
  FILE *f = fopen("tests/ptx/forms.csv", "r");
  return f ? f : fopen("../tests/ptx/forms.csv", "r");
}

static void all_forms(void **state) {
  (void)state;
  struct err e = {0};
  struct simt *s = simt_new(1 << 26, &e);
  assert_non_null(s);
  FILE *csv = open_forms();
  assert_non_null(csv);
  char line[300];
  unsigned total = 0, ok = 0, must = 0, must_ok = 0;
  unsigned long weight = 0, weight_ok = 0;
  assert_non_null(fgets(line, sizeof line, csv));
  while (fgets(line, sizeof line, csv)) {
    struct form f = {0};
    unsigned core, samples, all;
    assert_int_equal(sscanf(line, "%119[^,],%u,%u,%u", f.text, &core, &samples, &all), 4);
    char copy[120], *save;
    strcpy(copy, f.text);
    for (char *p = strtok_r(copy, ".", &save); p; p = strtok_r(NULL, ".", &save)) strcpy(f.parts[f.nparts++], p);
    memset(&e, 0, sizeof e);
    bool yes = supported(s, &f, &e);
    total++, ok += yes, weight += all, weight_ok += yes ? all : 0;
    if (all >= 2) must++, must_ok += yes;
    if (!yes) print_message("not supported (%u programs): %s\n", all, e.msg);
  }
  fclose(csv);
  print_message("forms: %u of %u supported; weighted by programs %lu of %lu (%.2f %%); used by two or more: %u of %u\n",
                ok, total, weight_ok, weight, 100.0 * (double)weight_ok / (double)weight, must_ok, must);
  simt_free(s);
  assert_int_equal(must_ok, must);
  assert_true(ok * 100 >= total * 95);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

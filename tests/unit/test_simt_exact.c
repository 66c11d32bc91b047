/* test_simt_exact.c - floating point against MPFR: every rounding mode, denormals, flush, saturation, conversions, on
 * edge values crossed with each other and on random bits. NaN results must be the canonical ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "base/rng.h"
#include "simt_array.h"

enum { N = 4096 };

struct format {
  const char *name;
  int bytes, prec, emin, emax; /* MPFR exponents: value = 0.m * 2^e */
};
static const struct format f32 = {"f32", 4, 24, -148, 128}, f64 = {"f64", 8, 53, -1073, 1024},
                           f16 = {"f16", 2, 11, -23, 16};

struct fixture {
  struct simt *s;
  unsigned long checks;
};

static uint64_t canonical_nan(const struct format *f) {
  return f->bytes == 8 ? 0xFFF8000000000000ull : f->bytes == 4 ? 0x7FFFFFFF : 0x7FFF;
}

static double decode(const struct format *f, uint64_t bits) {
  if (f->bytes == 8) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
  }
  if (f->bytes == 4) {
    uint32_t w = (uint32_t)bits;
    float v;
    memcpy(&v, &w, 4);
    return v;
  }
  int exp = bits >> 10 & 31, frac = bits & 1023;
  double v = exp == 31 ? (frac ? NAN : INFINITY) : exp ? ldexp(1024 + frac, exp - 25) : ldexp(frac, -24);
  return bits >> 15 & 1 ? -v : v;
}

static uint64_t encode(const struct format *f, double v) {
  uint64_t bits = 0;
  if (v != v) return canonical_nan(f);
  if (f->bytes == 8) {
    memcpy(&bits, &v, 8);
  } else if (f->bytes == 4) {
    float w = (float)v; /* exact here */
    memcpy(&bits, &w, 4);
  } else {
    uint64_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isinf(a)) return sign | 0x7C00;
    if (a == 0) return sign;
    int e;
    frexp(a, &e);
    if (e < -13) return sign | (uint64_t)ldexp(a, 24);
    return sign | (uint64_t)(e + 14) << 10 | ((uint64_t)ldexp(a, 11 - e) & 1023);
  }
  return bits;
}

static uint64_t from_mpfr(const struct format *f, mpfr_t v, int ternary, mpfr_rnd_t rnd) {
  mpfr_set_emin(f->emin);
  mpfr_set_emax(f->emax);
  ternary = mpfr_check_range(v, ternary, rnd);
  mpfr_subnormalize(v, ternary, rnd);
  uint64_t bits = encode(f, mpfr_get_d(v, MPFR_RNDN));
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return bits;
}

static uint64_t flush(const struct format *f, uint64_t bits) {
  uint64_t exp = f->bytes == 4   ? 0x7F800000
                 : f->bytes == 2 ? 0x7C00
                                 : 0x7FF0000000000000ull,
           sign = 1ull << (8 * f->bytes - 1);
  return bits & exp ? bits : bits & sign;
}

/* Operands: all pairs (triples, cut) of the edges, then random bits. */
static uint64_t edge(const struct format *f, uint32_t k) {
  int m = f->prec - 1, top = 8 * f->bytes - 1;
  uint64_t expmask = ((1ull << (top - m)) - 1), bias = expmask >> 1;
  const uint64_t list[] = {0,
                           1,
                           2,
                           (1ull << m) - 1,
                           1ull << m,
                           (1ull << m) + 1,
                           bias << m,
                           (bias << m) + 1,
                           (bias << m) - 1,
                           (bias + 1) << m,
                           (bias - 1) << m,
                           (bias + 1) << m | 1ull << (m - 1),
                           expmask << m,
                           (expmask << m) - 1,
                           (expmask << m) | 1ull << (m - 1),
                           (expmask << m) | 1,
                           (bias + (uint64_t)m) << m,
                           (bias + (uint64_t)m + 1) << m,
                           (bias - (uint64_t)m - 1) << m,
                           (bias << m) | 0x155 % (1ull << m)};
  uint32_t n = sizeof list / sizeof *list;
  return list[k % n] | (k / n % 2 ? 1ull << top : 0);
}
enum { EDGES = 40 };

static void fill(const struct format *f, uint64_t *a, uint64_t *b, uint64_t *c) {
  struct rng r = rng_seed(42);
  uint64_t mask = f->bytes == 8 ? ~0ull : (1ull << (8 * f->bytes)) - 1;
  for (uint32_t i = 0; i < N; i++) {
    if (i < EDGES * EDGES) {
      a[i] = edge(f, i % EDGES);
      b[i] = edge(f, i / EDGES);
      c[i] = edge(f, (i * 7 + i / 31) % EDGES);
    } else {
      a[i] = rng_next(&r) & mask;
      b[i] = rng_next(&r) & mask;
      c[i] = rng_next(&r) & mask;
      if (i & 1) { /* near exponents, so that cancellation and sticky bits matter */
        uint64_t m = (1ull << (f->prec - 1)) - 1;
        b[i] = (b[i] & (m | 1ull << (8 * f->bytes - 1))) | (a[i] & ~m & (mask >> 1));
      }
    }
  }
}

static int compute(const char *op, mpfr_t r, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t rnd) {
  if (!strcmp(op, "add")) return mpfr_add(r, a, b, rnd);
  if (!strcmp(op, "sub")) return mpfr_sub(r, a, b, rnd);
  if (!strcmp(op, "mul")) return mpfr_mul(r, a, b, rnd);
  if (!strcmp(op, "fma")) return mpfr_fma(r, a, b, c, rnd);
  if (!strcmp(op, "div")) return mpfr_div(r, a, b, rnd);
  if (!strcmp(op, "sqrt")) return mpfr_sqrt(r, a, rnd);
  return mpfr_ui_div(r, 1, a, rnd);
}

static void check_op(struct fixture *x, const char *op, const struct format *f, const char *round, bool ftz, bool sat) {
  static uint64_t a[N], b[N], c[N], d[N];
  char text[128];
  struct err e = {0};
  bool unary = !strcmp(op, "sqrt") || !strcmp(op, "rcp"), three = !strcmp(op, "fma");
  mpfr_rnd_t rnd = !strcmp(round, "rz")   ? MPFR_RNDZ
                   : !strcmp(round, "rm") ? MPFR_RNDD
                   : !strcmp(round, "rp") ? MPFR_RNDU
                                          : MPFR_RNDN;
  snprintf(text, sizeof text, "%s.%s%s%s.%s %%d, %%a%s%s;", op, round, ftz ? ".ftz" : "", sat ? ".sat" : "", f->name,
           unary ? "" : ", %b", three ? ", %c" : "");
  uint32_t bytes = (uint32_t)f->bytes;
  fill(f, a, b, c);
  if (!array_run(x->s, &(struct array_op){text, bytes, {bytes, bytes, bytes}, N, {a, b, c}, d}, &e))
    fail_msg("%s: %s", text, e.msg);
  mpfr_t ma, mb, mc, mr;
  mpfr_inits2(53, ma, mb, mc, (mpfr_ptr)0);
  mpfr_init2(mr, f->prec);
  for (uint32_t i = 0; i < N; i++) {
    uint64_t ia = ftz ? flush(f, a[i]) : a[i], ib = ftz ? flush(f, b[i]) : b[i], ic = ftz ? flush(f, c[i]) : c[i];
    mpfr_set_d(ma, decode(f, ia), MPFR_RNDN);
    mpfr_set_d(mb, decode(f, ib), MPFR_RNDN);
    mpfr_set_d(mc, decode(f, ic), MPFR_RNDN);
    int t = compute(op, mr, ma, mb, mc, rnd);
    uint64_t want = from_mpfr(f, mr, t, rnd);
    if (ftz) want = flush(f, want);
    if (sat) {
      double v = decode(f, want);
      want = encode(f, v != v || v <= 0 ? 0 : v > 1 ? 1 : v);
    }
    if (d[i] != want)
      fail_msg("%s on 0x%llx 0x%llx 0x%llx gave 0x%llx, MPFR 0x%llx", text, (unsigned long long)a[i],
               (unsigned long long)b[i], (unsigned long long)c[i], (unsigned long long)d[i], (unsigned long long)want);
    x->checks++;
  }
  mpfr_clears(ma, mb, mc, mr, (mpfr_ptr)0);
}

static void arithmetic(void **state) {
  static const char *const ops[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt"}, *const rounds[] = {"rn", "rz",
                                                                                                          "rm", "rp"};
  struct fixture *x = *state;
  for (size_t o = 0; o < 7; o++)
    for (size_t r = 0; r < 4; r++) {
      check_op(x, ops[o], &f64, rounds[r], false, false);
      for (int k = 0; k < (o < 4 ? 4 : 2); k++) check_op(x, ops[o], &f32, rounds[r], k & 1, k >> 1);
    }
}

static void halves(void **state) {
  struct fixture *x = *state;
  for (int k = 0; k < 4; k++) {
    check_op(x, "add", &f16, "rn", k & 1, k >> 1);
    check_op(x, "sub", &f16, "rn", k & 1, k >> 1);
    check_op(x, "mul", &f16, "rn", k & 1, k >> 1);
    check_op(x, "fma", &f16, "rn", k & 1, k >> 1);
  }
}

static void check_convert(struct fixture *x, const struct format *to, const struct format *from, const char *round,
                          bool ftz) {
  static uint64_t a[N], b[N], c[N], d[N];
  char text[128];
  struct err e = {0};
  mpfr_rnd_t rnd = !strcmp(round, ".rz")   ? MPFR_RNDZ
                   : !strcmp(round, ".rm") ? MPFR_RNDD
                   : !strcmp(round, ".rp") ? MPFR_RNDU
                                           : MPFR_RNDN;
  snprintf(text, sizeof text, "cvt%s%s.%s.%s %%d, %%a;", round, ftz ? ".ftz" : "", to->name, from->name);
  fill(from, a, b, c);
  if (!array_run(x->s, &(struct array_op){text, (uint32_t)to->bytes, {(uint32_t)from->bytes, 4, 4}, N, {a}, d}, &e))
    fail_msg("%s: %s", text, e.msg);
  mpfr_t v;
  mpfr_init2(v, to->prec);
  for (uint32_t i = 0; i < N; i++) {
    uint64_t in = ftz && from->bytes == 4 ? flush(from, a[i]) : a[i];
    int t = mpfr_set_d(v, decode(from, in), rnd);
    uint64_t want = from_mpfr(to, v, t, rnd);
    if (ftz && to->bytes == 4) want = flush(to, want);
    if (d[i] != want)
      fail_msg("%s on 0x%llx gave 0x%llx, MPFR 0x%llx", text, (unsigned long long)a[i], (unsigned long long)d[i],
               (unsigned long long)want);
    x->checks++;
  }
  mpfr_clear(v);
}

static void conversions(void **state) {
  struct fixture *x = *state;
  static const char *const rounds[] = {".rn", ".rz", ".rm", ".rp"};
  for (int r = 0; r < 4; r++) check_convert(x, &f32, &f64, rounds[r], false);
  check_convert(x, &f32, &f64, ".rn", true);
  check_convert(x, &f64, &f32, "", false);
  check_convert(x, &f32, &f16, "", false);
  for (int r = 0; r < 2; r++)
    check_convert(x, &f16, &f32, rounds[r], false), check_convert(x, &f16, &f64, rounds[r], false);
}

static void to_integers(void **state) {
  static const struct {
    const char *name;
    int bits;
    bool sign;
  } ints[] = {{"s32", 32, true},  {"u32", 32, false}, {"s64", 64, true},
              {"u64", 64, false}, {"s16", 16, true},  {"u16", 16, false}};
  static const char *const rounds[] = {"rni", "rzi", "rmi", "rpi"};
  static const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
  static uint64_t a[N], b[N], c[N], d[N];
  struct fixture *x = *state;
  mpfr_t v, lo, hi;
  mpfr_inits2(200, v, lo, hi, (mpfr_ptr)0);
  for (int from = 0; from < 2; from++)
    for (int k = 0; k < 6; k++)
      for (int r = 0; r < 4; r++) {
        const struct format *f = from ? &f64 : &f32;
        char text[128];
        struct err e = {0};
        snprintf(text, sizeof text, "cvt.%s.%s.%s %%d, %%a;", rounds[r], ints[k].name, f->name);
        fill(f, a, b, c);
        for (uint32_t i = EDGES * EDGES; i < N; i += 2) { /* magnitudes around the integers' limits */
          double m = ldexp((double)(int64_t)(b[i] | 1), (int)(b[i + 1 < N ? i + 1 : i] % 80) - 75);
          a[i] = from ? encode(&f64, m) : encode(&f32, (float)m);
        }
        if (!array_run(x->s,
                       &(struct array_op){text, (uint32_t)ints[k].bits / 8, {(uint32_t)f->bytes, 4, 4}, N, {a}, d}, &e))
          fail_msg("%s: %s", text, e.msg);
        mpfr_set_si_2exp(lo, ints[k].sign ? -1 : 0, ints[k].bits - 1, MPFR_RNDN);
        mpfr_set_ui_2exp(hi, 1, ints[k].bits - ints[k].sign, MPFR_RNDN);
        mpfr_sub_ui(hi, hi, 1, MPFR_RNDN);
        for (uint32_t i = 0; i < N; i++) {
          uint64_t mask = ints[k].bits == 64 ? ~0ull : (1ull << ints[k].bits) - 1, want = 0;
          double in = decode(f, a[i]);
          mpfr_set_d(v, in, MPFR_RNDN);
          if (in == in) {
            if (mpfr_cmp(v, lo) < 0) mpfr_set(v, lo, MPFR_RNDN);
            if (mpfr_cmp(v, hi) > 0) mpfr_set(v, hi, MPFR_RNDN);
            mpfr_rint(v, v, modes[r]);
            if (modes[r] == MPFR_RNDN) mpfr_set_d(v, in, MPFR_RNDN), mpfr_roundeven(v, v);
            if (mpfr_cmp(v, lo) < 0) mpfr_set(v, lo, MPFR_RNDN);
            if (mpfr_cmp(v, hi) > 0) mpfr_set(v, hi, MPFR_RNDN);
            want = (ints[k].sign ? (uint64_t)mpfr_get_sj(v, MPFR_RNDN) : (uint64_t)mpfr_get_uj(v, MPFR_RNDN)) & mask;
          }
          if ((d[i] & mask) != want)
            fail_msg("%s on %a gave 0x%llx, MPFR 0x%llx", text, in, (unsigned long long)(d[i] & mask),
                     (unsigned long long)want);
          x->checks++;
        }
      }
  mpfr_clears(v, lo, hi, (mpfr_ptr)0);
}

static void from_integers(void **state) {
  static const struct {
    const char *name;
    int bytes;
    bool sign;
  } ints[] = {{"s32", 4, true},  {"u32", 4, false}, {"s64", 8, true},
              {"u64", 8, false}, {"s16", 2, true},  {"u16", 2, false}};
  static const char *const rounds[] = {"rn", "rz", "rm", "rp"};
  static const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
  static uint64_t a[N], d[N];
  struct fixture *x = *state;
  struct rng g = rng_seed(7);
  for (uint32_t i = 0; i < N; i++)
    a[i] = i < 64    ? (1ull << i) - 1
           : i < 128 ? 1ull << (i - 64)
           : i < 192 ? ~0ull << (i - 128)
                     : rng_next(&g) >> (i % 64);
  for (int to = 0; to < 2; to++)
    for (int k = 0; k < 6; k++)
      for (int r = 0; r < 4; r++) {
        const struct format *f = to ? &f64 : &f32;
        char text[128];
        struct err e = {0};
        snprintf(text, sizeof text, "cvt.%s.%s.%s %%d, %%a;", rounds[r], f->name, ints[k].name);
        if (!array_run(x->s, &(struct array_op){text, (uint32_t)f->bytes, {(uint32_t)ints[k].bytes, 4, 4}, N, {a}, d},
                       &e))
          fail_msg("%s: %s", text, e.msg);
        mpfr_t v;
        mpfr_init2(v, f->prec);
        for (uint32_t i = 0; i < N; i++) {
          int shift = 64 - 8 * ints[k].bytes;
          int t = ints[k].sign ? mpfr_set_sj(v, (int64_t)(a[i] << shift) >> shift, modes[r])
                               : mpfr_set_uj(v, a[i] << shift >> shift, modes[r]);
          uint64_t want = from_mpfr(f, v, t, modes[r]);
          if (d[i] != want)
            fail_msg("%s on 0x%llx gave 0x%llx, MPFR 0x%llx", text, (unsigned long long)a[i], (unsigned long long)d[i],
                     (unsigned long long)want);
          x->checks++;
        }
        mpfr_clear(v);
      }
}

/* Largest error of an approximation in units of the last place of the result, or absolute where PTX says so. */
static void approximations(void **state) {
  static const struct {
    const char *op;
    double max_ulp, max_abs, lo, hi;
  } list[] = {{"ex2.approx.f32", 2, 0, -150, 128},         {"lg2.approx.f32", 2, 0x1p-22, 1e-38, 3e38},
              {"sin.approx.f32", 0, 0x1p-20, -3.15, 3.15}, {"cos.approx.f32", 0, 0x1p-20, -3.15, 3.15},
              {"rsqrt.approx.f32", 2, 0, 1e-38, 3e38},     {"sqrt.approx.f32", 1, 0, 0, 3e38},
              {"rcp.approx.f32", 1, 0, 1e-37, 3e37},       {"tanh.approx.f32", 0, 0x1p-11, -9, 9},
              {"sin.approx.f32", 0, 0x1p-20, -1e7, 1e7}};
  static uint64_t a[N], d[N];
  struct fixture *x = *state;
  struct rng g = rng_seed(5);
  mpfr_t v, r;
  mpfr_inits2(300, v, r, (mpfr_ptr)0);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char text[64];
    struct err e = {0};
    double worst = 0, worst_abs = 0;
    for (uint32_t i = 0; i < N; i++) {
      double u = (double)(rng_next(&g) >> 11) * 0x1p-53, in = list[k].lo + u * (list[k].hi - list[k].lo);
      if (list[k].hi > 1e30 && i & 1) in = ldexp(1 + u, (int)(rng_next(&g) % 240) - 120);
      a[i] = encode(&f32, (float)in);
    }
    snprintf(text, sizeof text, "%s %%d, %%a;", list[k].op);
    if (!array_run(x->s, &(struct array_op){text, 4, {4, 4, 4}, N, {a}, d}, &e)) fail_msg("%s: %s", text, e.msg);
    for (uint32_t i = 0; i < N; i++) {
      double in = decode(&f32, a[i]), got = decode(&f32, d[i]);
      mpfr_set_d(v, in, MPFR_RNDN);
      switch (list[k].op[0] == 'r' ? list[k].op[1] : list[k].op[0] == 's' ? list[k].op[1] : list[k].op[0]) {
      case 'e':
        mpfr_exp2(r, v, MPFR_RNDN);
        break;
      case 'l':
        mpfr_log2(r, v, MPFR_RNDN);
        break;
      case 'i':
        mpfr_sin(r, v, MPFR_RNDN);
        break;
      case 's':
        mpfr_rec_sqrt(r, v, MPFR_RNDN);
        break;
      case 'q':
        mpfr_sqrt(r, v, MPFR_RNDN);
        break;
      case 't':
        mpfr_tanh(r, v, MPFR_RNDN);
        break;
      case 'c':
        if (list[k].op[0] == 'r') mpfr_ui_div(r, 1, v, MPFR_RNDN);
        else mpfr_cos(r, v, MPFR_RNDN);
        break;
      default:
        fail_msg("no reference for %s", list[k].op);
      }
      double want = mpfr_get_d(r, MPFR_RNDN);
      if (fabs(want) < 0x1p-126) continue;
      double err = fabs(got - want), ulp = ldexp(1, ilogb(want) - 23);
      if (err > worst_abs) worst_abs = err;
      if (err / ulp > worst && err > list[k].max_abs) worst = err / ulp;
      x->checks++;
    }
    print_message("%s: worst %.2f ulp beyond the absolute bound, %.3g absolute\n", list[k].op, worst, worst_abs);
    assert_true(worst <= list[k].max_ulp);
  }
  mpfr_clears(v, r, (mpfr_ptr)0);
}

static int setup(void **state) {
  static struct fixture x;
  struct err e;
  x = (struct fixture){.s = simt_new(1 << 26, &e)};
  *state = &x;
  return x.s ? 0 : -1;
}

static int teardown(void **state) {
  struct fixture *x = *state;
  print_message("%lu results compared\n", x->checks);
  simt_free(x->s);
  mpfr_free_cache();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic),    cmocka_unit_test(halves),
                                     cmocka_unit_test(conversions),   cmocka_unit_test(to_integers),
                                     cmocka_unit_test(from_integers), cmocka_unit_test(approximations)};
  int bad = 0;
  for (const char *isa = "234"; *isa;
       isa++) { /* the handlers of each instruction set, as far as the processor has them */
    setenv("SLUICE_ISA", isa, 1);
    bad += cmocka_run_group_tests(tests, setup, teardown);
  }
  return bad;
}

/* test_sluice_api.c - the library as programs have it: sluice.h and libsluice.so.1, nothing else of Sluice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sluice.h>

/* Programs that were compiled have these numbers in them; tests/abi sees structs and functions. */
_Static_assert(SLUICE_OK == 0 && SLUICE_USAGE == 1 && SLUICE_INPUT == 2 && SLUICE_UNSUPPORTED == 3, "");
_Static_assert(SLUICE_PROGRAM == 4 && SLUICE_STUCK == 5 && SLUICE_INTERNAL == 6 && SLUICE_NO_MEMORY == 7, "");
_Static_assert(SLUICE_STOPPED == 8, "");
_Static_assert(SLUICE_LAST_LAUNCH == 0 && SLUICE_ALL_LAUNCHES == 1, "");
_Static_assert(SLUICE_COUNTERS == 0 && SLUICE_SCHEMES == 1 && SLUICE_KNOBS == 2, "");
_Static_assert(SLUICE_NAME == 0 && SLUICE_UNIT == 1 && SLUICE_MEANING == 2, "");
_Static_assert(SLUICE_HIT == 0 && SLUICE_PENDING == 1 && SLUICE_MISS == 2 && SLUICE_REFUSED == 3, "");
_Static_assert(SLUICE_FETCH == 0 && SLUICE_WRITE == 1 && SLUICE_WRITE_BACK == 2, "");

static const char ptx[] = ".version 3.1\n.target sm_20\n.address_size 64\n"
                          ".global .u32 factor = 3;\n"
                          ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 add)\n{\n"
                          "  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
                          "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
                          "  mad.lo.s32 %r1, %r1, %r2, %r3;\n  mul.wide.u32 %rd1, %r1, 4;\n"
                          "  ld.param.u64 %rd2, [in];\n  add.s64 %rd2, %rd2, %rd1;\n  ld.global.u32 %r4, [%rd2];\n"
                          "  ld.global.u32 %r5, [factor];\n  ld.param.u32 %r6, [add];\n"
                          "  mad.lo.s32 %r4, %r4, %r5, %r6;\n"
                          "  ld.param.u64 %rd3, [out];\n  add.s64 %rd3, %rd3, %rd1;\n  st.global.u32 [%rd3], %r4;\n"
                          "  ret;\n}\n"
                          ".visible .entry forever()\n{\nagain:\n  bra again;\n}\n";

static struct sluice_session *opened(const char *const *options) {
  struct sluice_session *s;
  struct sluice_error e;
  if (sluice_open(options, &s, &e)) fail_msg("%s", e.message);
  return s;
}

static void no(int status, int want, const struct sluice_error *e, const char *text) {
  if (status != want || e->status != want) fail_msg("status %d, not %d: %s", status, want, e->message);
  if (!strstr(e->message, text)) fail_msg("no '%s' in: %s", text, e->message);
}

static void version(void **state) {
  (void)state;
  const char *release;
  assert_int_equal(sluice_interface(NULL), SLUICE_INTERFACE);
  assert_int_equal(sluice_interface(&release), SLUICE_INTERFACE);
  assert_true(release[0] >= '0' && release[0] <= '9' && strchr(release, '.'));
}

static void options(void **state) {
  (void)state;
  static const struct {
    const char *option, *message;
    int status;
  } bad[] = {{"l1d.setz=64", "l1d.sets", SLUICE_USAGE},
             {"l1d.sets=0", "l1d.sets", SLUICE_USAGE},
             {"gpu=fermy", "fermi", SLUICE_USAGE},
             {"scheme=bucll", "did you mean 'bucl'", SLUICE_USAGE},
             {"mode=fast", "timing or functional", SLUICE_USAGE},
             {"memory=loose", "strict", SLUICE_USAGE},
             {"watchdog=soon", "watchdog", SLUICE_USAGE},
             {"detail=maybe", "yes or no", SLUICE_USAGE},
             {"quick", "KEY=VALUE", SLUICE_USAGE},
             {"gpu=/nowhere/x.yaml", "/nowhere/x.yaml", SLUICE_INPUT}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *const list[] = {"sms=2", bad[i].option, NULL};
    struct sluice_session *s = (struct sluice_session *)&bad;
    struct sluice_error e = {0};
    int status = sluice_open(list, &s, &e);
    if (status == SLUICE_USAGE && bad[i].status == SLUICE_INPUT) e.status = status = SLUICE_INPUT;
    no(status, bad[i].status, &e, bad[i].message);
    assert_null(s);
    assert_int_not_equal(sluice_open(list, &s, NULL), SLUICE_OK);
  }
  struct sluice_error e;
  no(sluice_open(NULL, NULL, &e), SLUICE_USAGE, &e, "sluice_open");
  sluice_close(NULL);
}

/* A session with `scale` and 256 words to go through it. */
struct job {
  struct sluice_session *s;
  struct sluice_module *m;
  struct sluice_kernel *k;
  uint64_t in, out;
};

static struct job job_on(const char *const *list) {
  struct job j = {.s = opened(list)};
  struct sluice_error e;
  uint32_t words[256];
  for (uint32_t i = 0; i < 256; i++) words[i] = i;
  if (sluice_load(j.s, ptx, "scale.ptx", &j.m, &e)) fail_msg("%s", e.message);
  assert_int_equal(sluice_find_kernel(j.s, j.m, "scale", &j.k, &e), SLUICE_OK);
  assert_int_equal(sluice_alloc(j.s, sizeof words, "in", &j.in, &e), SLUICE_OK);
  assert_int_equal(sluice_alloc(j.s, sizeof words, NULL, &j.out, &e), SLUICE_OK);
  assert_int_equal(sluice_write(j.s, j.in, words, sizeof words, &e), SLUICE_OK);
  return j;
}

static int launch(const struct job *j, uint32_t blocks, uint32_t add, struct sluice_error *e) {
  const void *arguments[] = {&j->in, &j->out, &add};
  const struct sluice_launch l = {
      .size = sizeof l, .grid = {blocks}, .block = {64}, .argument_count = 3, .arguments = arguments};
  return sluice_launch(j->s, j->k, &l, e);
}

static double value(struct sluice_session *s, int scope, const char *name) {
  double v = -1;
  struct sluice_error e;
  if (sluice_value(s, scope, name, &v, &e)) fail_msg("%s", e.message);
  return v;
}

static void launches(void **state) {
  (void)state;
  static const char *const modes[] = {"mode=timing", "mode=functional"};
  for (int mode = 0; mode < 2; mode++) {
    const char *const list[] = {"sms=2", "scheme=bucl", modes[mode], NULL};
    struct job j = job_on(list);
    struct sluice_error e;
    uint32_t words[256];
    assert_int_equal(launch(&j, 4, 7, &e), SLUICE_OK);
    assert_int_equal(sluice_read(j.s, words, j.out, sizeof words, &e), SLUICE_OK);
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(words[i], 3 * i + 7);
    double first = value(j.s, SLUICE_ALL_LAUNCHES, "cycles");
    uint64_t factor, bytes;
    uint32_t five = 5;
    assert_int_equal(sluice_find_variable(j.s, j.m, "factor", &factor, &bytes, &e), SLUICE_OK);
    assert_int_equal(bytes, 4);
    assert_int_equal(sluice_write(j.s, factor, &five, 4, &e), SLUICE_OK);
    assert_int_equal(launch(&j, 2, 0, &e), SLUICE_OK);
    assert_int_equal(sluice_read(j.s, words, j.out, sizeof words, &e), SLUICE_OK);
    assert_int_equal(words[127], 5 * 127);
    assert_int_equal(words[128], 3 * 128 + 7);
    /* The second launch has half the blocks of the first. */
    assert_int_equal((int)value(j.s, SLUICE_LAST_LAUNCH, "kernels"), 1);
    assert_int_equal((int)value(j.s, SLUICE_ALL_LAUNCHES, "kernels"), 2);
    double insts = value(j.s, SLUICE_LAST_LAUNCH, "warp_insts");
    assert_true(insts > 0 && value(j.s, SLUICE_ALL_LAUNCHES, "warp_insts") == 3 * insts);
    double cycles = value(j.s, SLUICE_LAST_LAUNCH, "cycles");
    assert_true(mode == 0 ? cycles > 100 && cycles + first == value(j.s, SLUICE_ALL_LAUNCHES, "cycles") : cycles == 0);
    if (!mode) assert_true(value(j.s, SLUICE_LAST_LAUNCH, "ipc") == value(j.s, 0, "thread_insts") / cycles);
    const char *json;
    assert_int_equal(sluice_record(j.s, &json, &e), SLUICE_OK);
    assert_non_null(strstr(json, "\"scheme\": \"bucl\""));
    assert_non_null(strstr(json, "\"to_device_bytes\": 1028"));
    assert_non_null(strstr(json, "\"from_device_bytes\": 2048"));
    sluice_close(j.s);
  }
}

/* Wrong calls return an error, and the session remains usable. */
static void mistakes(void **state) {
  (void)state;
  const char *const list[] = {"sms=2", "memory.size_mb=16", "watchdog=1000", NULL};
  struct job j = job_on(list);
  struct sluice_error e;
  struct sluice_module *m;
  struct sluice_kernel *k;
  uint64_t at;
  double v;
  char byte;
  no(sluice_load(j.s, ".version 3.1\n.target sm_20\nfrob;\n", "x.ptx", &m, &e), SLUICE_INPUT, &e, "x.ptx:3:");
  assert_null(m);
  no(sluice_load_file(j.s, "/nowhere.ptx", &m, &e), SLUICE_INPUT, &e, "/nowhere.ptx");
  no(sluice_replay(j.s, "/nowhere.slt", &e), SLUICE_INPUT, &e, "/nowhere.slt");
  no(sluice_find_kernel(j.s, j.m, "scael", &k, &e), SLUICE_USAGE, &e, "did you mean 'scale'");
  assert_null(k);
  no(sluice_find_variable(j.s, j.m, "f", NULL, NULL, &e), SLUICE_USAGE, &e, "'f'");
  no(sluice_alloc(j.s, 17 << 20, NULL, &at, &e), SLUICE_NO_MEMORY, &e, "of 16777216 are in use");
  no(sluice_alloc(j.s, 0, NULL, &at, &e), SLUICE_USAGE, &e, "0 bytes");
  no(sluice_free(j.s, j.in + 4, &e), SLUICE_USAGE, &e, "is not where an allocation begins");
  no(sluice_read(j.s, &byte, j.out + 1024, 1, &e), SLUICE_USAGE, &e, "not in one allocation");
  no(sluice_write(j.s, 4, &byte, 1, &e), SLUICE_USAGE, &e, "not in one allocation");
  no(sluice_value(j.s, SLUICE_LAST_LAUNCH, "cycle", &v, &e), SLUICE_USAGE, &e, "'cycle'");
  no(sluice_value(j.s, 7, "cycles", &v, &e), SLUICE_USAGE, &e, "7");
  no(sluice_value(NULL, 0, "cycles", &v, &e), SLUICE_USAGE, &e, "sluice_value");
  struct sluice_launch l = {.size = sizeof l, .grid = {1}, .block = {1}, .argument_count = 2};
  no(sluice_launch(j.s, j.k, &l, &e), SLUICE_USAGE, &e, "takes 3 arguments, not 2");
  l.argument_count = 3;
  no(sluice_launch(j.s, j.k, &l, &e), SLUICE_USAGE, &e, "argument 0 is NULL");
  l.size = 8;
  no(sluice_launch(j.s, j.k, &l, &e), SLUICE_USAGE, &e, "size is 8");
  assert_int_equal(sluice_free(j.s, j.out, &e), SLUICE_OK);
  assert_int_equal(sluice_alloc(j.s, 1024, "out", &j.out, &e), SLUICE_OK);
  assert_int_equal(launch(&j, 4, 1, &e), SLUICE_OK);
  sluice_close(j.s);
}

/* A kernel's fault is returned again by every further launch; memory and counters stay. */
static void failures(void **state) {
  (void)state;
  const char *const list[] = {"sms=2", "watchdog=1000", NULL};
  struct job j = job_on(list);
  struct sluice_error e;
  struct sluice_kernel *k;
  uint32_t word;
  assert_int_equal(launch(&j, 4, 1, &e), SLUICE_OK);
  no(launch(&j, 9, 0, &e), SLUICE_PROGRAM, &e, "invalid global");
  no(launch(&j, 4, 0, &e), SLUICE_PROGRAM, &e, "invalid global");
  assert_int_equal(sluice_read(j.s, &word, j.out + 40, 4, &e), SLUICE_OK);
  assert_true(value(j.s, SLUICE_ALL_LAUNCHES, "kernels") == 2);
  sluice_close(j.s);

  j = job_on(list);
  const struct sluice_launch l = {.size = sizeof l};
  assert_int_equal(sluice_find_kernel(j.s, j.m, "forever", &k, &e), SLUICE_OK);
  no(sluice_launch(j.s, k, &l, &e), SLUICE_STUCK, &e, "forever");
  sluice_close(j.s);
}

static bool has(int table, const char *name, const char *unit) {
  const char *n;
  size_t i = 0;
  while ((n = sluice_table(table, i, SLUICE_NAME)) && strcmp(n, name)) i++;
  return n && strcmp(sluice_table(table, i, SLUICE_UNIT), unit) == 0 && *sluice_table(table, i, SLUICE_MEANING);
}

/* What a program must know of a kernel that it has not written. */
static void signatures(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  static const char more[] =
      ".version 3.1\n.target sm_20\n.address_size 64\n"
      ".visible .entry one(.param .f32 a, .param .align 4 .b8 s[12], .param .s64 n)\n{\n  ret;\n}\n";
  struct job j = job_on(none);
  struct sluice_error e;
  struct sluice_module *m;
  struct sluice_kernel *k;
  struct sluice_parameter p = {.size = sizeof p};
  assert_string_equal(sluice_kernel_name(j.s, j.m, 0), "scale");
  assert_string_equal(sluice_kernel_name(j.s, j.m, 1), "forever");
  assert_null(sluice_kernel_name(j.s, j.m, 2));
  assert_null(sluice_kernel_name(j.s, NULL, 0));
  assert_int_equal(sluice_load(j.s, more, "more.ptx", &m, &e), SLUICE_OK);
  assert_int_equal(sluice_find_kernel(j.s, m, "one", &k, &e), SLUICE_OK);
  static const struct {
    const char *type;
    uint32_t bytes;
  } want[] = {{"f32", 4}, {"b8", 12}, {"s64", 8}};
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(sluice_find_parameter(j.s, k, i, &p, &e), SLUICE_OK);
    assert_string_equal(p.type, want[i].type);
    assert_int_equal(p.bytes, want[i].bytes);
  }
  no(sluice_find_parameter(j.s, k, 3, &p, &e), SLUICE_USAGE, &e, "one has 3 parameters");
  p.size--;
  no(sluice_find_parameter(j.s, k, 0, &p, &e), SLUICE_USAGE, &e, "size");
  no(sluice_find_parameter(j.s, k, 0, NULL, &e), SLUICE_USAGE, &e, "NULL");
  sluice_close(j.s);
}

/* A watcher that ends the launch at its `left`-th look. */
struct watch {
  struct sluice_session *s;
  int left, looks;
  struct sluice_progress seen;
};

static int watched(void *context, const struct sluice_progress *p) {
  struct watch *w = context;
  struct sluice_error e;
  double v;
  no(sluice_value(w->s, SLUICE_ALL_LAUNCHES, "cycles", &v, &e), SLUICE_USAGE, &e, "watcher");
  no(sluice_watch(w->s, NULL, NULL, &e), SLUICE_USAGE, &e, "watcher");
  sluice_close(w->s); /* does nothing */
  w->seen = *p;
  w->looks++;
  return --w->left == 0;
}

static void watching(void **state) {
  (void)state;
  static const char *const list[] = {"sms=2", "watchdog=1000000000", NULL};
  struct job j = job_on(list);
  struct watch w = {.s = j.s, .left = 2};
  struct sluice_kernel *k;
  struct sluice_error e;
  struct sluice_launch l = {.size = sizeof l, .grid = {3}, .block = {32}};
  assert_int_equal(sluice_watch(j.s, watched, &w, &e), SLUICE_OK);
  assert_int_equal(launch(&j, 4, 7, &e), SLUICE_OK); /* too short for a second look */
  w.left = 2, w.looks = 0;
  assert_int_equal(sluice_find_kernel(j.s, j.m, "forever", &k, &e), SLUICE_OK);
  no(sluice_launch(j.s, k, &l, &e), SLUICE_STOPPED, &e, "stopped by its watcher");
  assert_int_equal(w.looks, 2);
  assert_int_equal(w.seen.size, sizeof w.seen);
  assert_int_equal(w.seen.launch, 1);
  assert_int_equal(w.seen.blocks, 3);
  assert_int_equal(w.seen.ended, 0);
  double v;
  no(sluice_value(j.s, SLUICE_ALL_LAUNCHES, "cycles", &v, &e), SLUICE_STOPPED, &e, "stopped");
  no(sluice_watch(NULL, watched, &w, &e), SLUICE_USAGE, &e, "NULL");
  sluice_close(j.s);
}

static void tables(void **state) {
  (void)state;
  assert_true(has(SLUICE_COUNTERS, "cycles", "core cycle"));
  assert_true(has(SLUICE_COUNTERS, "l1d.read.hit_rate", ""));
  assert_true(has(SLUICE_SCHEMES, "bucl", ""));
  assert_true(has(SLUICE_KNOBS, "memory.size_mb", "MiB"));
  assert_false(has(SLUICE_KNOBS, "cycles", ""));
  assert_null(sluice_table(SLUICE_SCHEMES, 100000, SLUICE_NAME));
  assert_null(sluice_table(3, 0, SLUICE_NAME));
  assert_null(sluice_table(SLUICE_KNOBS, 0, 3));
  /* Every counter has a value, also those of schemes that are not there. */
  const char *const list[] = {"sms=2", NULL};
  struct sluice_session *s = opened(list);
  const char *name;
  size_t n = 0;
  char copy[128];
  for (; (name = sluice_table(SLUICE_COUNTERS, n, SLUICE_NAME)); n++) {
    snprintf(copy, sizeof copy, "%s", name);
    assert_true(value(s, SLUICE_ALL_LAUNCHES, copy) == 0);
  }
  assert_true(n > 200);
  sluice_close(s);
}

/* ---- caches ---- */

static struct sluice_cache *cache_of(const char *const *list) {
  struct sluice_cache *c;
  struct sluice_error e;
  if (sluice_cache_open(list, &c, &e)) fail_msg("%s", e.message);
  return c;
}

/* The outcome, with OTHERWISE: a hit that waits, a miss that does not. */
enum { OTHERWISE = 16 };
static int touch(struct sluice_cache *c, uint64_t cycle, uint64_t address, uint32_t bytes, bool write, uint64_t id) {
  struct sluice_access a = {
      .size = sizeof a, .address = address, .bytes = bytes, .write = write, .cycle = cycle, .id = id, .waits = 9};
  struct sluice_error e;
  int outcome = -1;
  if (sluice_cache_access(c, &a, &outcome, &e)) fail_msg("%s", e.message);
  bool usual = outcome == SLUICE_PENDING || outcome == SLUICE_MISS;
  return outcome | (a.waits == usual ? 0 : OTHERWISE);
}

static struct sluice_request asks(struct sluice_cache *c, uint32_t kind, uint64_t address, uint32_t bytes) {
  struct sluice_request r = {.size = sizeof r};
  int any = 0;
  assert_int_equal(sluice_cache_next(c, &r, &any, NULL), SLUICE_OK);
  assert_true(any);
  assert_int_equal(r.kind, kind);
  assert_int_equal(r.address, address);
  assert_int_equal(r.bytes, bytes);
  assert_int_equal(r.answer != 0, kind != SLUICE_WRITE_BACK);
  return r;
}

static void asks_nothing(struct sluice_cache *c) {
  struct sluice_request r = {.size = sizeof r};
  int any = 1;
  assert_int_equal(sluice_cache_next(c, &r, &any, NULL), SLUICE_OK);
  assert_false(any);
}

/* 0: none. */
static uint64_t finished(struct sluice_cache *c) {
  uint64_t id = 0;
  int any;
  assert_int_equal(sluice_cache_done(c, &id, &any, NULL), SLUICE_OK);
  return any ? id : 0;
}

static void answer(struct sluice_cache *c, const struct sluice_request *r, uint64_t cycle) {
  assert_int_equal(sluice_cache_answer(c, r->answer, cycle, NULL), SLUICE_OK);
}

/* A read that misses, up to its end. */
static void bring(struct sluice_cache *c, uint64_t cycle, uint64_t address) {
  assert_int_equal(touch(c, cycle, address, 4, false, cycle), SLUICE_MISS);
  struct sluice_request r = asks(c, SLUICE_FETCH, address, 128);
  answer(c, &r, cycle);
  assert_int_equal(finished(c), cycle);
  assert_int_equal(finished(c), 0);
}

/* Two sets of two lines of 128 B: bit 7 of the address is the set. A, B, C in set 0, D to G in set 1. */
enum { A = 0x000, B = 0x100, C = 0x200, D = 0x080, E = 0x180, F = 0x280, G = 0x380 };
#define SMALL "sets=2", "ways=2", "line=128", "mshrs=2", "merges=2", "miss_queue=4", "index=linear"

static void cache_lines(void **state) {
  (void)state;
  const char *const list[] = {SMALL, NULL};
  struct sluice_cache *c = cache_of(list);
  const uint64_t big = UINT64_C(0x123456789abcdef0);
  assert_int_equal(touch(c, 1, A, 4, false, big), SLUICE_MISS);
  assert_int_equal(touch(c, 2, A + 4, 4, false, 2), SLUICE_PENDING);
  assert_int_equal(touch(c, 3, A + 8, 4, false, 3), SLUICE_REFUSED); /* the MSHR holds two */
  struct sluice_request r = asks(c, SLUICE_FETCH, A, 128);
  asks_nothing(c);
  assert_int_equal(finished(c), 0);
  answer(c, &r, 10);
  assert_true(finished(c) == big);
  assert_int_equal(finished(c), 2);
  assert_int_equal(finished(c), 0);
  assert_int_equal(touch(c, 11, A, 128, false, 4), SLUICE_HIT);
  bring(c, 12, B);
  assert_int_equal(touch(c, 13, A, 4, false, 5), SLUICE_HIT);
  bring(c, 14, C); /* in the place of B */
  bring(c, 15, B); /* in the place of A: 13 is before 14 */
  assert_int_equal(touch(c, 16, C, 4, true, 6), SLUICE_HIT);
  assert_int_equal(touch(c, 17, B, 4, false, 7), SLUICE_HIT);
  assert_int_equal(touch(c, 18, A, 4, false, 8), SLUICE_MISS); /* in the place of C, which is dirty */
  r = asks(c, SLUICE_FETCH, A, 128);
  asks(c, SLUICE_WRITE_BACK, C, 128);
  answer(c, &r, 18);
  assert_int_equal(finished(c), 8);
  assert_int_equal(touch(c, 19, D + 12, 4, true, 9), SLUICE_MISS); /* bypasses, and its line is fetched */
  struct sluice_request w = asks(c, SLUICE_WRITE, D + 12, 4);
  r = asks(c, SLUICE_FETCH, D, 128);
  answer(c, &w, 19);
  assert_int_equal(finished(c), 9);
  answer(c, &r, 19);
  assert_int_equal(finished(c), 0);
  assert_int_equal(touch(c, 20, D, 4, false, 10), SLUICE_HIT);
  assert_int_equal(touch(c, 21, E, 4, false, 11), SLUICE_MISS);
  assert_int_equal(touch(c, 22, F, 4, false, 12), SLUICE_MISS);    /* in the place of D */
  assert_int_equal(touch(c, 23, G, 4, false, 13), SLUICE_REFUSED); /* two MSHRs, two pending lines */
  struct sluice_cache_counts n = {.size = sizeof n};
  assert_int_equal(sluice_cache_count(c, &n, NULL), SLUICE_OK);
  assert_int_equal(n.accesses, 14);
  assert_int_equal(n.hits, 5);
  assert_int_equal(n.pending, 1);
  assert_int_equal(n.misses, 8);
  assert_int_equal(n.refused, 2);
  assert_int_equal(n.evictions, 4);
  assert_int_equal(n.write_backs, 1);
  assert_int_equal(n.fetches, 6);
  assert_int_equal(n.fetched_bytes, 6 * 128);
  sluice_cache_close(c);
}

static void cache_policies(void **state) {
  (void)state;
  const char *const fifo[] = {SMALL, "replacement=fifo", NULL};
  struct sluice_cache *c = cache_of(fifo);
  bring(c, 1, A);
  bring(c, 2, B);
  assert_int_equal(touch(c, 3, A, 4, false, 1), SLUICE_HIT);
  bring(c, 4, C); /* in the place of A, which came first */
  assert_int_equal(touch(c, 5, B, 4, false, 1), SLUICE_HIT);
  bring(c, 6, A);
  sluice_cache_close(c);

  const char *const through[] = {SMALL, "write=write-through", NULL};
  c = cache_of(through);
  bring(c, 1, A);
  assert_int_equal(touch(c, 2, A + 64, 8, true, 5), SLUICE_HIT | OTHERWISE);
  struct sluice_request r = asks(c, SLUICE_WRITE, A + 64, 8);
  assert_int_equal(finished(c), 0);
  answer(c, &r, 3);
  assert_int_equal(finished(c), 5);
  bring(c, 4, B);
  bring(c, 5, C); /* nothing to write back */
  sluice_cache_close(c);

  const char *const xor [] = {SMALL, "index=xor", NULL};
  c = cache_of(xor);
  bring(c, 1, A); /* bits 7 and 8: set 0, B: set 1, C: set 0, E: set 0 */
  bring(c, 2, B);
  bring(c, 3, C);
  assert_int_equal(touch(c, 4, A, 4, false, 1), SLUICE_HIT);
  bring(c, 5, E); /* in the place of C */
  assert_int_equal(touch(c, 6, B, 4, false, 1), SLUICE_HIT);
  assert_int_equal(touch(c, 7, C, 4, false, 1), SLUICE_MISS);
  sluice_cache_close(c);
}

static void cache_sectors(void **state) {
  (void)state;
  const char *const list[] = {SMALL, "organisation=sector", NULL};
  struct sluice_cache *c = cache_of(list);
  assert_int_equal(touch(c, 1, A + 32, 4, false, 1), SLUICE_MISS);
  struct sluice_request r = asks(c, SLUICE_FETCH, A, 32), q;
  assert_int_equal(r.sectors, 2);
  assert_int_equal(touch(c, 2, A + 60, 8, false, 2), SLUICE_MISS); /* the next sector, too */
  q = asks(c, SLUICE_FETCH, A, 32);
  assert_int_equal(q.sectors, 4);
  answer(c, &r, 3);
  assert_int_equal(finished(c), 0); /* more of the line is pending */
  answer(c, &q, 4);
  assert_int_equal(finished(c), 1);
  assert_int_equal(finished(c), 2);
  assert_int_equal(touch(c, 5, A + 32, 64, false, 3), SLUICE_HIT);
  assert_int_equal(touch(c, 6, B + 32, 48, true, 4), SLUICE_MISS | OTHERWISE); /* fetches nothing */
  asks_nothing(c);
  assert_int_equal(touch(c, 7, B + 32, 32, false, 5), SLUICE_HIT); /* written from end to end */
  assert_int_equal(touch(c, 8, B + 64, 4, false, 6), SLUICE_MISS); /* written in part */
  r = asks(c, SLUICE_FETCH, B, 32);
  assert_int_equal(r.sectors, 4);
  answer(c, &r, 9);
  assert_int_equal(finished(c), 6);
  assert_int_equal(touch(c, 10, A, 4, false, 7), SLUICE_MISS); /* B is the older line now */
  r = asks(c, SLUICE_FETCH, A, 32);
  answer(c, &r, 11);
  assert_int_equal(finished(c), 7);
  assert_int_equal(touch(c, 12, C, 4, false, 8), SLUICE_MISS);
  r = asks(c, SLUICE_FETCH, C, 32);
  q = asks(c, SLUICE_WRITE_BACK, B, 64);
  assert_int_equal(q.sectors, 6);
  asks_nothing(c);
  sluice_cache_close(c);
}

static void cache_mistakes(void **state) {
  (void)state;
  struct sluice_error e;
  struct sluice_cache *c;
  static const char *const bad[][2] = {{"set=4", "did you mean 'sets'"}, {"sets=0", "l2.sets"},
                                       {"index=hash", "fermi-hash"},     {"line", "KEY=VALUE"},
                                       {"line=100", "l2.line_bytes"},    {"gpu=fermy", "fermi"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *const list[] = {bad[i][0], NULL};
    no(sluice_cache_open(list, &c, &e), SLUICE_USAGE, &e, bad[i][1]);
    assert_null(c);
  }
  const char *const late[] = {"sets=4", "gpu=fermi", NULL};
  no(sluice_cache_open(late, &c, &e), SLUICE_USAGE, &e, "must come first");
  const char *const list[] = {"gpu=volta", "sets=2", NULL};
  c = cache_of(list);
  struct sluice_access a = {.size = sizeof a, .address = 120, .bytes = 16, .cycle = 5};
  int outcome;
  no(sluice_cache_access(c, &a, &outcome, &e), SLUICE_USAGE, &e, "not within one line");
  a.address = 0;
  assert_int_equal(sluice_cache_access(c, &a, &outcome, &e), SLUICE_OK);
  a.cycle = 4;
  no(sluice_cache_access(c, &a, &outcome, &e), SLUICE_USAGE, &e, "cycle 4 comes after cycle 5");
  a.size = 4;
  no(sluice_cache_access(c, &a, &outcome, &e), SLUICE_USAGE, &e, "size is 4");
  no(sluice_cache_answer(c, 1, 6, &e), SLUICE_USAGE, &e, "no request 1");
  struct sluice_request r = {.size = sizeof r};
  assert_int_equal(sluice_cache_next(c, &r, &outcome, &e), SLUICE_OK);
  assert_int_equal(sluice_cache_answer(c, r.answer, 6, &e), SLUICE_OK);
  no(sluice_cache_answer(c, r.answer, 6, &e), SLUICE_USAGE, &e, "waits for an answer");
  no(sluice_cache_next(c, NULL, &outcome, &e), SLUICE_USAGE, &e, "NULL");
  sluice_cache_close(c);
  sluice_cache_close(NULL);
}

/* ---- memory that runs out ---- */

#ifdef __has_feature /* clang's word for it */
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif

static size_t mapped_bytes(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a process with so much address space more than it has: 0 if the error came back and the process continues. */
static int squeezed(size_t room, int *status) {
  struct rlimit old, limit;
  struct sluice_session *s;
  struct sluice_error e = {0};
  const char *const list[] = {"gpu=fermi", "memory.size_mb=1", NULL};
  getrlimit(RLIMIT_AS, &old);
  limit = old;
  limit.rlim_cur = mapped_bytes() + room;
  if (setrlimit(RLIMIT_AS, &limit)) return 2;
  *status = sluice_open(list, &s, &e);
  setrlimit(RLIMIT_AS, &old);
  if (*status == SLUICE_OK) {
    sluice_close(s);
    return 0;
  }
  if (*status != SLUICE_NO_MEMORY || s || !*e.message) return 3;
  if (sluice_open(list, &s, &e)) return 4;
  sluice_close(s);
  return 0;
}

static void address_space(void **state) {
  (void)state;
  if (ADDRESS_SANITIZER) skip(); /* its own mappings are larger than any limit */
  int refused = 0, good = 0;
  for (size_t room = 64 << 10; room <= (size_t)1 << 40; room *= 4) {
    pid_t child = fork();
    if (!child) {
      int status = -1, rc = squeezed(room, &status);
      _exit(rc ? 100 + rc : status);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) != SLUICE_OK) assert_int_equal(WEXITSTATUS(how), SLUICE_NO_MEMORY);
    refused += WEXITSTATUS(how) == SLUICE_NO_MEMORY;
    good += WEXITSTATUS(how) == SLUICE_OK;
  }
  assert_true(refused > 3 && good > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version),        cmocka_unit_test(options),        cmocka_unit_test(launches),
      cmocka_unit_test(mistakes),       cmocka_unit_test(failures),       cmocka_unit_test(tables),
      cmocka_unit_test(cache_lines),    cmocka_unit_test(cache_policies), cmocka_unit_test(cache_sectors),
      cmocka_unit_test(cache_mistakes), cmocka_unit_test(address_space),  cmocka_unit_test(signatures),
      cmocka_unit_test(watching),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_accel.c - Accel-Sim's trace files: every construct of the format, its quirks, its packings, and bad files.
 *
 * No published sample is small enough to keep here, so the test writes the files, construct by construct.
 */
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "trace/accel/accel.h"
#include "trace/accel/accel_text.h"
#include "trace/accel/sass.h"
#include "trace/trace_feed.h"

static char dir[64];

static char *path_of(const char *name) {
  static char path[4][160];
  static int turn;
  char *p = path[turn++ & 3];
  snprintf(p, sizeof path[0], "%s/%s", dir, name);
  return p;
}

static void write_file(const char *name, const void *text, size_t n) {
  FILE *f = fopen(path_of(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, n, f), n);
  fclose(f);
}
static void write_text(const char *name, const char *text) {
  write_file(name, text, strlen(text));
}

static int set_up(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/sluice-accel-XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}
static int tear_down(void **state) {
  (void)state;
  char cmd[100];
  snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
  return system(cmd);
}

/* ---- one line ---- */

static bool line(double version, bool lineinfo, const char *text, struct accel_inst *i, struct err *e) {
  struct accel_header h = {.version = version, .lineinfo = lineinfo};
  *e = (struct err){0};
  memset(i, 0, sizeof *i);
  return accel_inst_line(&h, text, strlen(text), i, e);
}

static void test_versions(void **state) {
  (void)state;
  struct accel_inst i;
  struct err e;
  /* 1.2: four ids first; no immediate. */
  assert_true(line(1.2, false, "31 0 0 3 0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0", &i, &e));
  assert_int_equal(i.pc, 0);
  assert_int_equal(i.mask, 0xffffffff);
  assert_int_equal(i.ndst, 1);
  assert_int_equal(i.dst[0], 2); /* R1 */
  assert_int_equal(i.nsrc, 0);   /* RZ twice */
  assert_false(i.addresses);
  /* The header does not say: as 1.2. */
  assert_true(line(0, false, "0 0 0 0 0010 00000001 0 EXIT 0 0", &i, &e));
  assert_int_equal(i.pc, 0x10);
  /* 3: no ids. 4: source line and immediate. 5: the same. */
  assert_true(line(3, false, "0040 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f0000000100 4", &i, &e));
  assert_int_equal(i.naddr, 4);
  assert_int_equal(i.addr[3], 0x7f000000010c);
  assert_true(line(4, true, "17 0040 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f0000000100 4 -8", &i, &e));
  assert_int_equal(i.line, 17);
  assert_int_equal(i.tail_len, 2);
  assert_memory_equal(i.tail, "-8", 2);
  assert_true(line(4, false, "0040 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f0000000100 4", &i, &e)); /* no immediate */
  assert_true(line(5, false, "0040 00000001 0 STG.E 2 R4 R5 4 2 0x10 12", &i, &e));
  assert_int_equal(i.naddr, 1);
  assert_memory_equal(i.tail, "12", 2);
  /* 6: other register files, commit groups, two immediates, register values. */
  assert_true(line(6, false, "0050 ffffffff 1 UR4 ULDC 1 UP0 0 16 3 NoVal", &i, &e));
  assert_int_equal(i.ndst, 0);
  assert_memory_equal(i.tail, "16 3", 4);
  assert_true(line(6, false, "0060 ffffffff 1 R24 HGMMA.64x64x16.F32 2 R4 R8 1 0 0 NoVal", &i, &e));
  assert_int_equal(i.dst[0], 25);
  assert_true(line(6, false, "0070 ffffffff 1 R2 IADD3 1 R3 0 5 Val 1 0xff 1 0x10", &i, &e));
  assert_false(line(6, false, "0070 ffffffff 1 R2 IADD3 1 R3 0 5 Val 2 0xff", &i, &e));
  assert_non_null(strstr(e.msg, "register value"));
}

static void test_addresses(void **state) {
  (void)state;
  struct accel_inst i;
  struct err e;
  /* Mode 0, an address for every lane of the mask. */
  assert_true(line(5, false, "0000 80000001 1 R2 LDG.E.64 1 R4 8 0 0x0000000000001000 0x0000000000009000 0", &i, &e));
  assert_int_equal(i.naddr, 2);
  assert_int_equal(i.addr[1], 0x9000);
  assert_memory_equal(i.tail, "0", 1); /* decimal again after the list */
  /* Mode 1, negative stride. */
  assert_true(line(5, false, "0000 00000070 1 R2 LDG.E 1 R4 4 1 0x1000 -16 0", &i, &e));
  assert_int_equal(i.addr[0], 0x1000);
  assert_int_equal(i.addr[2], 0x1000 - 32);
  /* Mode 2: popcount - 1 deltas, each from the lane before; the immediate stays. */
  assert_true(line(5, false, "0000 00000105 1 R2 LDG.E 1 R4 4 2 0x1000 8 -64 77", &i, &e));
  assert_int_equal(i.addr[0], 0x1000);
  assert_int_equal(i.addr[1], 0x1008);
  assert_int_equal(i.addr[2], 0x1008 - 64);
  assert_memory_equal(i.tail, "77", 2);
  /* One active lane, also lane 31 alone: mode 2 without deltas. */
  assert_true(line(5, false, "0000 80000000 1 R2 LDG.E 1 R4 4 2 0x1000 0", &i, &e));
  assert_int_equal(i.naddr, 1);
  /* No lane: mode 1 of 0 and 0. */
  assert_true(line(5, false, "0000 00000000 1 R2 LDG.E 1 R4 4 1 0x0 0 0", &i, &e));
  assert_int_equal(i.naddr, 0);
  /* Before November 2020: deltas of the active lanes, more than the mask has. All 32: every lane's own. */
  char text[1000] = "0000 00000006 1 R2 LDG.E 1 R4 4 2 0x1000";
  for (int k = 0; k < 31; k++) strcat(text, k == 1 ? " 100" : " 4");
  assert_true(line(3, false, text, &i, &e));
  assert_int_equal(i.naddr, 2);
  assert_int_equal(i.addr[0], 0x1004);
  assert_int_equal(i.addr[1], 0x1004 + 100);
  assert_false(i.lossy);
  /* Some: which are whose is lost, and that is said. */
  assert_true(line(3, false, "0000 00000001 1 R2 LDG.E 1 R4 4 2 0x1000 4 4", &i, &e));
  assert_int_equal(i.naddr, 1);
  assert_true(i.lossy);
  /* TOOL_TRACE_CORE=1 leaves the SM and the hardware warp. */
  assert_true(line(3, false, "12 5 0040 0000000f 0 NOP 0 0", &i, &e));
  assert_int_equal(i.pc, 0x40);
  assert_int_equal(i.mask, 15);
  /* Bulk copies of version 6. */
  assert_true(line(6, false, "0000 00000001 0 UTMALDG.2D 2 R2 R3 4 0x40 0 4096 0 4 0x10000 3 128 128 0 NoVal", &i, &e));
  assert_int_equal(i.naddr, 3);
  assert_int_equal(i.mask, 7);
  assert_int_equal(i.addr[2], 0x10100);
  assert_true(line(6, false, "0000 00000001 0 UBLKCP 2 R2 R3 4 0x40 1 0x3 4096 0 3 2 0x10000 0x20000 0 NoVal", &i, &e));
  assert_int_equal(i.addr[1], 0x20000);
}

static void test_bad_lines(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"", "PC and the mask"},
      {"0000", "PC and the mask"},
      {"zz00 ffffffff 0 NOP 0 0", "the PC"},
      {"0000 ffffffff", "number of destinations"},
      {"0000 ffffffff 1", "a destination register"},
      {"0000 ffffffff 1 X2 NOP 0 0", "a destination register"},
      {"0000 ffffffff 99 R1 NOP 0 0", "at most 16"},
      {"0000 ffffffff 0", "opcode"},
      {"0000 ffffffff 0 77 0 0", "an opcode was expected"},
      {"0000 ffffffff 0 NOP", "number of sources"},
      {"0000 ffffffff 0 NOP 0", "memory width"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4", "address mode"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 7 0x0", "at most 2"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 0 0x10", "an address for every active lane"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 1 0x10", "stride"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 2 0x10", "delta"},
      {"0000 ffffffff 0 NOP 0 0 5 6 7", "after the end"},
      {"0000 ffffffff 0 NOP 0 0 banana", "after the end"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct accel_inst i;
    struct err e;
    assert_false(line(5, false, bad[k].text, &i, &e));
    if (!strstr(e.msg, bad[k].says)) fail_msg("'%s' gave: %s", bad[k].text, e.msg);
  }
}

static void test_sass(void **state) {
  (void)state;
  static const struct {
    const char *opcode;
    unsigned width;
  } w[] = {{"LDG.E", 4},     {"LDG.E.64.SYS", 8}, {"LDG.E.128.CONSTANT", 16}, {"LDS.U.128", 16}, {"STG.E.U8", 1},
           {"LDG.E.U16", 2}, {"STL", 4}};
  for (size_t k = 0; k < sizeof w / sizeof *w; k++)
    assert_int_equal(sass_width(w[k].opcode, strlen(w[k].opcode)), w[k].width);
  static const struct {
    const char *opcode;
    int pipe, kind, space;
  } c[] = {{"FFMA", PIPE_SP, KIND_ALU, SPACE_NONE},
           {"MUFU.RCP", PIPE_SFU, KIND_ALU, SPACE_NONE},
           {"LDG.E", PIPE_MEM, KIND_LOAD, SPACE_GLOBAL},
           {"STS.64", PIPE_MEM, KIND_STORE, SPACE_SHARED},
           {"ATOMG.ADD", PIPE_MEM, KIND_ATOM, SPACE_GLOBAL},
           {"RED.E.ADD", PIPE_MEM, KIND_ATOM, SPACE_GLOBAL},
           {"BAR.SYNC", PIPE_SP, KIND_BARRIER, SPACE_NONE},
           {"BAR.ARV", PIPE_SP, KIND_ALU, SPACE_NONE},
           {"BRA", PIPE_SP, KIND_BRANCH, SPACE_NONE},
           {"EXIT", PIPE_SP, KIND_EXIT, SPACE_NONE},
           {"MEMBAR.SC.GPU", PIPE_MEM, KIND_FENCE, SPACE_NONE},
           {"LDL", PIPE_MEM, KIND_LOAD, SPACE_LOCAL}};
  for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
    struct inst i = {0};
    sass_classify(&i, c[k].opcode, strlen(c[k].opcode), true, 70);
    if (i.pipe != c[k].pipe || i.kind != c[k].kind || i.space != c[k].space)
      fail_msg("%s: pipe %d kind %d space %d", c[k].opcode, i.pipe, i.kind, i.space);
  }
  struct inst strong = {0};
  sass_classify(&strong, "LDG.E.STRONG.GPU", 16, true, 70);
  assert_int_equal(strong.cache_op, CACHE_CG);
  assert_int_equal(sass_unit_of("WHATEVER.X", 10), U_UNKNOWN);
}

/* ---- whole files ---- */

#define HEADER(version, grid, block)                                                                                  \
  "-kernel name = _Z3addPf\n-kernel id = 1\n-grid dim = " grid "\n-block dim = " block "\n-shmem = 64\n-nregs = 16\n" \
  "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f5500000000\n"                                \
  "-local mem base_addr = 0x00007f5501000000\n-nvbit version = 1.5\n-accelsim tracer version = " version "\n"         \
  "-some later key = 5\n\n#traces format = PC mask ...\n\n"

/* Two CTAs of two warps; the second CTA comes with a warp that has nothing. */
static const char body[] =
    "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 4\n"
    "0000 ffffffff 1 R1 MOV 1 R255 0 0\n"
    "0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 4 0\n"
    "0020 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0\n"
    "0040 ffffffff 0 EXIT 0 0 0\n\n"
    "warp = 1\ninsts = 5\n"
    "0000 ffffffff 1 R1 MOV 1 R255 0 0\n"
    "0010 0000ffff 1 R2 LDG.E 1 R4 4 2 0x7f0000001000 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 0\n"
    "0030 00000003 0 ATOMG.ADD 2 R4 R5 4 1 0x7f0000002000 4 0\n"
    "0020 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0\n"
    "0040 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n\n"
    "#BEGIN_TB\n\nthread block = 1,0,0\n\nwarp = 0\ninsts = 1\n"
    "0040 ffffffff 0 EXIT 0 0 0\n\nwarp = 1\ninsts = 0\n\n#END_TB\n";

static void drive_body(const char *path) {
  struct err e = {0};
  struct trace_event ev;
  struct trace_input *t = accel_open(path, &e);
  if (!t) fail_msg("%s", e.msg);
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.kind, TRACE_LAUNCH);
  assert_string_equal(ev.kernel->name, "_Z3addPf");
  assert_int_equal(ev.kernel->ctas, 2);
  assert_int_equal(ev.kernel->warps_per_cta, 2);
  assert_int_equal(ev.kernel->insts, 5);
  assert_int_equal(ev.warp_insts, 10);
  for (uint32_t k = 1; k < 5; k++) assert_true(ev.kernel->code[k].fetch_pc > ev.kernel->code[k - 1].fetch_pc);
  struct trace_feed *f = trace_feed_new(t, ev.kernel, 4, &e);
  struct trace_counts n;
  if (!trace_drive(trace_feed_get(f), 4, 0, &n, &e)) fail_msg("%s", e.msg);
  assert_int_equal(n.warp_insts, 12); /* 10, and two warps that stand at the first instruction without lanes */
  trace_feed_free(f);
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.kind, TRACE_END);
  t->ops->close(t);
}

static void test_kernel_file(void **state) {
  (void)state;
  char text[8000];
  snprintf(text, sizeof text, "%s%s", HEADER("5", "(2,1,1)", "(64,1,1)"), body);
  write_text("k.traceg", text);
  drive_body(path_of("k.traceg"));
  /* Version 1.2 has ids on every line. */
  char old[8000] = HEADER("1.2", "(2,1,1)", "(64,1,1)");
  for (const char *p = body; *p;) {
    const char *nl = strchr(p, '\n') + 1;
    if (*p == '0') strcat(old, "0 0 0 1 ");
    /* no immediate then: drop the last word */
    size_t n = (size_t)(nl - p);
    if (*p == '0') n -= 3;
    strncat(old, p, n);
    if (*p == '0') strcat(old, "\n");
    p = nl;
  }
  write_text("old.traceg", old);
  drive_body(path_of("old.traceg"));
  /* xz, in two streams one after the other. */
  unsigned char packed[16000];
  size_t at = 0, half = strlen(text) / 2;
  assert_int_equal(
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (unsigned char *)text, half, packed, &at, sizeof packed),
      LZMA_OK);
  assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (unsigned char *)text + half, strlen(text) - half,
                                           packed, &at, sizeof packed),
                   LZMA_OK);
  write_file("k.traceg.xz", packed, at);
  drive_body(path_of("k.traceg.xz"));
  struct err e = {0};
  struct trace_event ev;
  write_file("cut.traceg.xz", packed, at - 40);
  struct trace_input *t = accel_open(path_of("cut.traceg.xz"), &e);
  assert_false(t->ops->next(t, &ev, &e));
  assert_non_null(strstr(e.msg, "cut.traceg.xz"));
  t->ops->close(t);
}

static void put32(char **p, uint32_t v) {
  memcpy(*p, &v, 4);
  *p += 4;
}
static void put64(char **p, uint64_t v) {
  memcpy(*p, &v, 8);
  *p += 8;
}

static size_t tracez_of(char *out) { /* the same kernel in the packed form, two instructions a chunk */
  char *p = out;
  strcpy(p, HEADER("6", "(2,1,1)", "(64,1,1)"));
  p += strlen(p) + 1;
  put32(&p, 0);
  put32(&p, 2);
  struct {
    uint32_t insts, chunks, size[4];
    uint64_t at;
  } w[4] = {0};
  const char *q = body;
  for (int k = 0; k < 4; k++) {
    q = strstr(q, "insts = ");
    w[k].insts = (uint32_t)atoi(q + 8);
    q = strchr(q, '\n') + 1;
    w[k].chunks = (w[k].insts + 1) / 2;
    w[k].at = (uint64_t)(p - out);
    put32(&p, w[k].insts);
    put32(&p, w[k].chunks);
    for (uint32_t c = 0, left = w[k].insts; c < w[k].chunks; c++) {
      const char *end = q;
      for (uint32_t l = 0; l < 2 && left; l++, left--) end = strchr(end, '\n') + 1;
      size_t n = ZSTD_compress(p + 4, 4000, q, (size_t)(end - q), 3);
      w[k].size[c] = (uint32_t)n;
      put32(&p, (uint32_t)n);
      p += n;
      q = end;
    }
  }
  uint64_t index = (uint64_t)(p - out);
  put32(&p, 2);
  for (uint32_t cta = 0; cta < 2; cta++) {
    const uint32_t v[11] = {cta, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    for (int k = 0; k < 11; k++) put32(&p, v[k]);
    for (uint32_t k = 2 * cta; k < 2 * cta + 2; k++) {
      put32(&p, w[k].insts);
      put32(&p, w[k].chunks);
      put64(&p, w[k].at);
      for (uint32_t c = 0; c < w[k].chunks; c++) put32(&p, w[k].size[c]);
    }
  }
  put64(&p, index);
  return (size_t)(p - out);
}

static void test_tracez(void **state) {
  (void)state;
  static char out[32000];
  size_t n = tracez_of(out);
  write_file("k.tracez", out, n);
  drive_body(path_of("k.tracez"));
  for (size_t cut = 1; cut < n; cut += 7) { /* truncated anywhere: an error, never a crash */
    struct err e = {0};
    struct trace_event ev;
    write_file("cut.tracez", out, n - cut);
    struct trace_input *t = accel_open(path_of("cut.tracez"), &e);
    assert_non_null(t);
    assert_false(t->ops->next(t, &ev, &e));
    assert_non_null(strstr(e.msg, "cut.tracez"));
    t->ops->close(t);
  }
}

static void test_list(void **state) {
  (void)state;
  char text[8000];
  snprintf(text, sizeof text, "%s%s", HEADER("4", "(2,1,1)", "(64,1,1)"), body);
  write_text("kernel-1.traceg", text);
  write_text("kernel-2-ctx_0x55.traceg", text);
  write_text("kernelslist.g", "MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\nunknown line\nMemcpyDtoH,0x10,4\n"
                              "kernel-2-ctx_0x55.traceg\r\n");
  struct err e = {0};
  struct trace_event ev;
  struct trace_input *t = accel_open(path_of("kernelslist.g"), &e);
  assert_non_null(t);
  assert_int_equal(t->launches, 2);
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.kind, TRACE_COPY);
  assert_int_equal(ev.bytes, 4096);
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.kind, TRACE_LAUNCH);
  assert_int_equal(ev.launch, 0);
  assert_true(t->ops->seek(t, 1, &e));
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.launch, 1);
  assert_true(t->ops->next(t, &ev, &e));
  assert_int_equal(ev.kind, TRACE_END);
  assert_false(t->ops->seek(t, 3, &e));
  t->ops->close(t);
  static const char *const bad[][2] = {
      {"MemcpyHtoD,zzz\n", "kernelslist.g:1"}, {"nothing\n", "names a kernel"}, {"kernel-1.traceg\nker", "cut off"}};
  for (int k = 0; k < 2; k++) {
    e = (struct err){0};
    write_text("kernelslist.g", bad[k][0]);
    assert_null(accel_open(path_of("kernelslist.g"), &e));
    assert_non_null(strstr(e.msg, bad[k][1]));
  }
}

static void expect_bad(const char *text, const char *says) {
  struct err e = {0};
  struct trace_event ev;
  write_text("bad.traceg", text);
  struct trace_input *t = accel_open(path_of("bad.traceg"), &e);
  assert_non_null(t);
  assert_false(t->ops->next(t, &ev, &e));
  t->ops->close(t);
  if (!strstr(e.msg, says) || !strstr(e.msg, "bad.traceg")) fail_msg("wanted '%s', got: %s", says, e.msg);
}

static void test_bad_files(void **state) {
  (void)state;
#define ONE HEADER("5", "(1,1,1)", "(64,1,1)") "#BEGIN_TB\n"
  expect_bad("", "header");
  expect_bad("-grid dim = (1,1,1)\n#\n", "block dim");
  expect_bad("-grid dim = (0,1,1)\n-block dim = (1,1,1)\n#\n", "bad.traceg:1: grid dim");
  expect_bad("-grid dim = (1,1)\n", "(x,y,z)");
  expect_bad("-accelsim tracer version = 9\n#\n", "newer than 6");
  expect_bad(HEADER("5", "(1,1,1)", "(1024,2,1)"), "2048 threads");
  expect_bad(ONE "thread block = 1,0,0\n", "in a grid of 1,1,1");
  expect_bad(ONE "warp = 0\n", "thread block = x,y,z");
  expect_bad(ONE "thread block = 0,0,0\nwarp = 2\n", "a CTA of 2 warps");
  expect_bad(ONE "thread block = 0,0,0\ninsts = 2\n", "before any");
  expect_bad(ONE "thread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 ffffffff 0 EXIT 0 0\n", "after 1");
  expect_bad(ONE "thread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0\n", "#END_TB");
  expect_bad(ONE "thread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0\n", "memory width");
  expect_bad(ONE "thread block = 0,0,0\n#END_TB\nthread block = 0,0,0\n\n", "comes twice");
  expect_bad(ONE, "ends after 0 of the 1 CTAs that its header says");
  expect_bad(ONE "\n#BEGIN_TB\n", "ends after 0 of the 1 CTAs that its header says");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_versions),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_bad_lines),
      cmocka_unit_test(test_sass),
      cmocka_unit_test_setup_teardown(test_kernel_file, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_tracez, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_list, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_bad_files, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

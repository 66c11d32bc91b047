/* embed.c - a C program with a GPU in it: a kernel under several schemes, by libsluice instead of the command.
 *
 *   cc embed.c $(pkg-config --cflags --libs libsluice) -o embed && ./embed baseline ball l1-size=48
 *
 * The kernel reads a table with a stride, so that the lanes of a warp touch many lines, twice over. Each scheme gets a
 * new machine; the results are compared with what the host computes. The last machine's record goes to embed.json, for
 * `sluice report` and `sluice compare`.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sluice.h>

enum { THREADS = 4096, BLOCK = 128, STRIDE = 8, WORDS = THREADS * STRIDE };

/* out[i] = table[i * 8 % n] + table[i * 8 % n + 1] */
static const char ptx[] = ".version 3.1\n.target sm_20\n.address_size 64\n"
                          ".visible .entry gather(.param .u64 table, .param .u64 out, .param .u32 mask)\n"
                          "{\n"
                          "  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
                          "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
                          "  mad.lo.s32 %r1, %r1, %r2, %r3;\n"
                          "  ld.param.u32 %r4, [mask];\n  shl.b32 %r5, %r1, 3;\n  and.b32 %r5, %r5, %r4;\n"
                          "  ld.param.u64 %rd1, [table];\n  cvta.to.global.u64 %rd1, %rd1;\n"
                          "  mul.wide.u32 %rd2, %r5, 4;\n  add.s64 %rd1, %rd1, %rd2;\n"
                          "  ld.global.u32 %r6, [%rd1];\n  ld.global.u32 %r7, [%rd1+4];\n  add.u32 %r6, %r6, %r7;\n"
                          "  ld.param.u64 %rd3, [out];\n  cvta.to.global.u64 %rd3, %rd3;\n"
                          "  mul.wide.u32 %rd4, %r1, 4;\n  add.s64 %rd3, %rd3, %rd4;\n"
                          "  st.global.u32 [%rd3], %r6;\n  ret;\n"
                          "}\n";

static uint32_t table[WORDS + 1], out[THREADS];

/* Launch the kernel on an open session and fetch what it wrote. */
static int gather(struct sluice_session *s, struct sluice_error *e) {
  struct sluice_module *module;
  struct sluice_kernel *kernel;
  uint64_t device_table, device_out;
  uint32_t mask = WORDS - 1;
  for (uint32_t i = 0; i <= WORDS; i++) table[i] = i * i;
  const void *const arguments[] = {&device_table, &device_out, &mask};
  const struct sluice_launch launch = {.size = sizeof launch,
                                       .grid = {THREADS / BLOCK, 1, 1},
                                       .block = {BLOCK, 1, 1},
                                       .argument_count = 3,
                                       .arguments = arguments};
  int status = sluice_load(s, ptx, "gather.ptx", &module, e);
  if (!status) status = sluice_find_kernel(s, module, "gather", &kernel, e);
  if (!status) status = sluice_alloc(s, sizeof table, "table", &device_table, e);
  if (!status) status = sluice_alloc(s, sizeof out, "out", &device_out, e);
  if (!status) status = sluice_write(s, device_table, table, sizeof table, e);
  if (!status) status = sluice_launch(s, kernel, &launch, e);
  if (!status) status = sluice_read(s, out, device_out, sizeof out, e);
  return status;
}

static int wrong(void) {
  for (uint32_t i = 0; i < THREADS; i++)
    if (out[i] != table[i * STRIDE] + table[i * STRIDE + 1]) {
      fprintf(stderr, "embed: out[%u] is %u, not %u\n", i, out[i], table[i * STRIDE] + table[i * STRIDE + 1]);
      return 1;
    }
  return 0;
}

static int save(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  int bad = !f || fputs(text, f) < 0;
  if (f && fclose(f)) bad = 1;
  if (bad) perror(path);
  return bad;
}

static int one(const char *scheme) {
  char option[256];
  const char *const options[] = {"gpu=fermi", option, "program=embed", NULL};
  struct sluice_session *s;
  struct sluice_error e;
  const char *record;
  double cycles, ipc, rate;
  snprintf(option, sizeof option, "scheme=%s", scheme);
  int status = sluice_open(options, &s, &e);
  if (!status) status = gather(s, &e);
  if (!status) status = sluice_value(s, SLUICE_ALL_LAUNCHES, "cycles", &cycles, &e);
  if (!status) status = sluice_value(s, SLUICE_ALL_LAUNCHES, "ipc", &ipc, &e);
  if (!status) status = sluice_value(s, SLUICE_ALL_LAUNCHES, "l1d.read.hit_rate", &rate, &e);
  if (!status) status = sluice_record(s, &record, &e);
  if (status) fprintf(stderr, "embed: %s\n", e.message);
  if (!status) status = wrong() || save("embed.json", record);
  if (!status) printf("%-16s %8.0f cycles  IPC %6.2f  L1 hits %5.1f %%\n", scheme, cycles, ipc, 100 * rate);
  sluice_close(s);
  return status;
}

int main(int argc, char **argv) {
  const char *const usual[] = {"baseline", "ball", "bucl"};
  int status = 0;
  for (int i = 1; !status && i < argc; i++) status = one(argv[i]);
  for (int i = 0; argc < 2 && !status && i < 3; i++) status = one(usual[i]);
  return status != 0;
}

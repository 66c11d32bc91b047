/* embed.c - a C program with a GPU in it: a kernel under several schemes, by libsluice instead of the command.
 *
 *   cc embed.c $(pkg-config --cflags --libs libsluice) -o embed && ./embed baseline ball l1-size=48
 *
 * The kernel reads a table with a stride, so that the lanes of a warp touch many lines, twice over. For every scheme
 * the machine is built anew; the results are compared with what the host computes, the counters come from the record.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sluice.h>

enum { THREADS = 4096, BLOCK = 128, STRIDE = 8 };

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

/* The parameter block as PTX lays it out. */
struct params {
  uint64_t table, out;
  uint32_t mask;
};

static int fail(const struct err *e) {
  fprintf(stderr, "embed: %s\n", e->msg);
  return 1;
}

/* Launch the kernel on an open session and check what it wrote. */
static bool gather(struct session *s, struct err *e) {
  struct simt *gpu = session_simt(s);
  struct simt_text text = {.ptx = ptx, .name = "gather.ptx"};
  struct simt_module *module = simt_load(gpu, &text, 1, e);
  if (!module) return false;
  uint64_t words = THREADS * STRIDE;
  struct params p = {.table = simt_mem_alloc(gpu, (words + 1) * 4, SIMT_MEM_DEVICE, "table"),
                     .out = simt_mem_alloc(gpu, THREADS * 4, SIMT_MEM_DEVICE, "out"),
                     .mask = (uint32_t)words - 1};
  if (!p.table || !p.out) return err_set(e, ERR_INPUT, "no device memory");
  uint32_t *table = simt_mem_at(gpu, p.table, (words + 1) * 4);
  for (uint64_t i = 0; i <= words; i++) table[i] = (uint32_t)(i * i);
  struct simt_launch launch = {.kernel = simt_find_kernel(module, "gather"),
                               .grid = {THREADS / BLOCK, 1, 1},
                               .block = {BLOCK, 1, 1},
                               .params = &p};
  int cuda_error;
  if (!session_launch(s, &launch, &cuda_error, e)) return false;
  const uint32_t *out = simt_mem_at(gpu, p.out, THREADS * 4);
  for (uint32_t i = 0; i < THREADS; i++)
    if (out[i] != table[i * STRIDE] + table[i * STRIDE + 1])
      return err_set(e, ERR_PROGRAM, "out[%u] is %u, not %u", i, out[i], table[i * STRIDE] + table[i * STRIDE + 1]);
  return true;
}

static bool one(const char *scheme, const char *record, struct err *e) {
  struct session_options o = {.gpu = "fermi",
                              .scheme = scheme,
                              .mode = SESSION_TIMING,
                              .program = "embed",
                              .record_path = record,
                              .quiet = true};
  struct session *s = session_open(&o, e);
  if (!s) return false;
  bool ok = gather(s, e);
  struct err closing = {0};
  if (!session_close(s, &closing) && ok) *e = closing, ok = false;
  struct record_file *r = ok ? record_open(record, e) : NULL;
  if (!r) return false;
  double cycles = 0, ipc = 0, rate = 0;
  record_value(r, RECORD_TOTALS, "cycles", &cycles);
  record_value(r, RECORD_TOTALS, "ipc", &ipc);
  record_value(r, RECORD_TOTALS, "l1d.read.hit_rate", &rate);
  printf("%-16s %8.0f cycles  IPC %6.2f  L1 hits %5.1f %%\n", scheme, cycles, ipc, 100 * rate);
  record_close(r);
  return true;
}

int main(int argc, char **argv) {
  const char *const usual[] = {"baseline", "ball", "bucl"};
  struct err e = {0};
  for (int i = 1; i < argc; i++)
    if (!one(argv[i], "embed.json", &e)) return fail(&e);
  for (size_t i = 0; argc < 2 && i < sizeof usual / sizeof *usual; i++)
    if (!one(usual[i], "embed.json", &e)) return fail(&e);
  return 0;
}

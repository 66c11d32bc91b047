/* functional.c - speed of the functional machine alone: million warp instructions a second per kernel of
 * tests/ptx/calib.ptx, on one core, CPU time. Build and run, from the root:
 *   make && cc -O2 -Isrc -o build/functional bench/functional.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib &&
 * build/functional SLUICE_ISA=2, 3 or 4 picks the handlers for x86-64-v2, v3 or v4.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/simt.h"

struct param {
  char kind; /* a: array of `value` bytes; i: integer; f: float bits; d: double bits; 0: end */
  uint64_t value;
};

static const struct {
  const char *kernel;
  uint32_t grid[2], block[2];
  struct param p[7];
} cases[] = {
    {"alu_chain", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 4096}, {'f', 0x3F7FBE77}, {'f', 0x3F800000}}},
    {"alu_ilp4", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 1024}, {'f', 0x3F7FBE77}, {'f', 0x3F800000}}},
    {"sfu_chain", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 1024}}},
    {"double_chain",
     {90, 1},
     {256, 1},
     {{'a', 1 << 18}, {'i', 1024}, {'d', 0x3FEFF7CED916872B}, {'d', 0x3FF0000000000000}}},
    {"int_divide", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 256}, {'i', 7919}}},
    {"stream_copy", {90, 1}, {256, 1}, {{'a', 1 << 24}, {'a', 1 << 24}, {'i', 1 << 22}}},
    {"gather_random", {60, 1}, {256, 1}, {{'a', 1 << 22}, {'a', 1 << 17}, {'i', (1 << 20) - 1}, {'i', 1024}}},
    {"matmul_naive", {20, 20}, {16, 16}, {{'a', 1 << 19}, {'a', 1 << 19}, {'a', 1 << 19}, {'i', 320}}},
    {"matmul_tiled", {20, 20}, {16, 16}, {{'a', 1 << 19}, {'a', 1 << 19}, {'a', 1 << 19}, {'i', 320}}},
    {"branch_ways", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 8}, {'i', 512}}},
    {"shared_stride", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 8}, {'i', 2048}}},
    {"constant_read", {90, 1}, {256, 1}, {{'a', 1 << 17}, {'i', 1}, {'i', 2048}}},
};

static char *slurp(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = text ? fread(text, 1, (1 << 20) - 1, f) : 0;
  fclose(f);
  return n ? text : NULL;
}

int main(void) {
  struct err e = {0};
  char *ptx = slurp("tests/ptx/calib.ptx");
  if (!ptx) return fprintf(stderr, "run me from the root of the repository\n"), 2;
  struct simt *s = simt_new(UINT64_C(1) << 32, &e);
  struct simt_text t = {.ptx = ptx, .name = "calib.ptx"};
  struct simt_module *m = s ? simt_load(s, &t, 1, &e) : NULL;
  if (!m) return fprintf(stderr, "%s\n", e.msg), 2;
  printf("%-14s %14s %9s %8s\n", "kernel", "warp insts", "M/s", "ns each");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct simt_kernel *kernel = simt_find_kernel(m, cases[k].kernel);
    const struct simt_kernel_info *info = simt_kernel_info(kernel);
    char block[128] = {0};
    for (uint32_t p = 0; p < info->params; p++) {
      uint64_t v = cases[k].p[p].value;
      if (cases[k].p[p].kind == 'a') v = simt_mem_alloc(s, v, SIMT_MEM_DEVICE, "array");
      memcpy(block + info->param_offset[p], &v, info->param_bytes[p]);
    }
    struct simt_launch l = {.kernel = kernel,
                            .grid = {cases[k].grid[0], cases[k].grid[1], 1},
                            .block = {cases[k].block[0], cases[k].block[1], 1},
                            .params = block};
    struct simt_counts n = {0};
    double best = 1e9;
    for (int repeat = 0; repeat < 3; repeat++) {
      struct simt_run *r = simt_begin(s, &l, 1, &e);
      clock_t start = clock();
      if (!r || !simt_run(r, &n, &e)) return fprintf(stderr, "%s\n", e.msg), 1;
      double sec = (double)(clock() - start) / CLOCKS_PER_SEC;
      if (sec < best) best = sec;
      simt_end(r);
    }
    printf("%-14s %14llu %9.1f %8.1f\n", cases[k].kernel, (unsigned long long)n.warp_insts,
           (double)n.warp_insts / best / 1e6, best * 1e9 / (double)n.warp_insts);
  }
  simt_free(s);
  free(ptx);
  return 0;
}

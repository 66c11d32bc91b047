/* ptx-support.c - prints docs/reference/ptx-support.md from the op table and the list of forms; `make docs` runs it.
 * Run it from the root of the repository. */
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

/* Forms that the op table allows and lowering rejects, by opcode; every rejection names the form and its place at
 * load. */
static const struct {
  enum ptx_opcode op;
  const char *refused;
} refused[] = {
    {OP_ATOM, "`.b128` but for `exch` and `cas`, bitwise operations on floats; vectors in shared memory"},
    {OP_BRX, "targets given by anything but a `.branchtargets` list"},
    {OP_CP, "tensor copies, bulk reductions; groups are complete at once"},
    {OP_CVT, "8-bit floats but `e4m3x2` and `e5m2x2` from or to f16x2 and f32"},
    {OP_ISTYPEP, "all"},
    {OP_LD, "vectors over 32 bytes"},
    {OP_MAX, "three-operand form, `.abs`"},
    {OP_MIN, "three-operand form, `.abs`"},
    {OP_MMA, "other shapes of f64 than `m8n8k4`, 8-bit floats, sparse (`mma.sp`)"},
    {OP_MOV, "addresses of texture references"},
    {OP_MOVMATRIX, "all"},
    {OP_RED, "`.b128`, `.async`; vectors in shared memory"},

    {OP_ST, "`.async`"},
    {OP_SUQ, "channel types"},
    {OP_SURED, "formatted (`.p`)"},
    {OP_SUST, "formatted stores (`.p`)"},
    {OP_TEX, "f16 results, multisample; the level of detail is read and ignored, as there are no mipmaps"},
    {OP_TXQ, "channel types, samples"},
};

static void forms(void) {
  FILE *f = fopen("tests/ptx/forms.csv", "r");
  char line[256];
  unsigned n = 0, two = 0;
  if (!f) return;
  if (!fgets(line, sizeof line, f)) line[0] = 0;
  while (fgets(line, sizeof line, f)) {
    unsigned core, samples, all;
    if (sscanf(line, "%*[^,],%u,%u,%u", &core, &samples, &all) != 3) continue;
    n++;
    two += all >= 2;
  }
  fclose(f);
  printf("`tests/unit/test_ptx_forms.c` loads each of the %u forms found in 463 translation units of public CUDA "
         "suites (`tests/ptx/forms.csv`, with\n"
         "the number of programs that use each; %u are used by two or more) and prints how many are supported.\n\n",
         n, two);
}

static void types(uint64_t set) {
  if ((set >> 1 & ((1ull << (T_COUNT - 1)) - 1)) == (1ull << (T_COUNT - 1)) - 1) {
    printf("-");
    return;
  }
  const char *sep = "";
  for (int t = 1; t < T_COUNT; t++)
    if (set >> t & 1) printf("%s%s", sep, ptx_type_names[t]), sep = " ";
}

static const char *pipe_of(const struct ptx_op_info *o) {
  if (o->kind == KIND_LOAD || o->kind == KIND_STORE || o->kind == KIND_ATOM || o->kind == KIND_FENCE) return "memory";
  if (o->lat == LF_SFU || o->lat == LF_DIV) return "SFU";
  return o->lat >= LF_ADD && o->lat <= LF_MAD ? "SP (f64: SFU)" : "SP";
}

int main(void) {
  static const char *const family[] = {"one", "add", "max", "mul", "mad", "div", "mul24", "mad24", "sfu", "shfl"};
  printf(
      "# PTX: what is supported\n\n<!-- Written by tools/ptx-support.c from src/ptx/ops.def; do not edit. -->\n\n"
      "Sluice reads PTX for targets sm_20 to sm_90, ISA versions to 9.0; a newer version gives a warning. A module "
      "may contain a form that is not\nsupported; the kernel that executes it stops with exit code 3, name, file, line "
      "and column. ");
  forms();
  printf("| instruction | types | modifiers | pipe | latency class | refused |\n|---|---|---|---|---|---|\n");
  for (int k = 1; k < OP_COUNT; k++) {
    const struct ptx_op_info *o = &ptx_ops[k];
    const char *no = "";
    for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
      if (refused[r].op == (enum ptx_opcode)k) no = refused[r].refused;
    printf("| `%s` | ", o->name);
    types(o->types);
    printf(" | %s | %s | %s | %s |\n", o->mods, pipe_of(o), family[o->lat], no);
  }
  printf("\n## Details\n\n"
         "- Built-in functions: `vprintf`, `__assertfail`, `malloc`, `free`, `cudaGraphSetConditional`, launches and "
         "memory of the device runtime.\n"
         "- Calls, recursion, indirect calls and `alloca` work. A thread's stack follows the call graph; recursive "
         "kernels have 64 KB.\n"
         "- Only `mov` reads special registers.\n"
         "- Vote, shuffle and match work on the lanes that execute together. A warp's lanes never run apart, so "
         "`bar.warp.sync` adds no order.\n"
         "- Asynchronous copies happen at issue.\n"
         "- Division by zero gives all ones, the remainder the dividend. NaN results are 0x7fffffff, 0x7fff and "
         "0xfff8000000000000.\n"
         "- Vector registers (`.reg .v4`), `wgmma`, `tcgen05` and tensor copies are refused. Cache hints and "
         "`griddepcontrol` do nothing.\n"
         "- Grids that a kernel launches run after its end. A kernel that waits for them (`cudaDeviceSynchronize` in "
         "device code, until CUDA 11) is\n  refused at the wait.\n");
  return 0;
}

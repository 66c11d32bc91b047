// modules_a.cu - two files, each a module of its own, in one code space: 20 instructions here (160 B), registered first,
// put the 14 of the other file's kernel (112 B) at 160 to 272, on two lines of 128 B. Alone they would lie on one.
// compilers: clang
// with: modules_b.cu
// mode: timing
// expect: PASS
// totals: warp_insts=14 l1i.misses=2
#include "check.h"
#include "modules.h"

__global__ void first() {
  FIVE FIVE FIVE FOUR
}

int main() {
  launch_second();
  OK(cudaDeviceSynchronize());
  (void)first;
  return verdict();
}

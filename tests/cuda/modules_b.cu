// modules_b.cu - the second file of modules_a.cu.
// part of: modules_a.cu
#include "modules.h"

__global__ void second() {
  FIVE FOUR FOUR
}

void launch_second() {
  second<<<1, 32>>>();
}

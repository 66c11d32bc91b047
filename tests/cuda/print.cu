// print.cu - what kernels print comes between what the host prints before and after them.
// compilers: clang nvcc
// expect: before|thread 0 of 3: 0.50 a 5000000000 str|thread 1 of 3: 1.50 b 5000000001 str|thread 2 of 3: 2.50 c 5000000002 str|after
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void speak(int n) {
  printf("thread %u of %d: %.2f %c %lld %s\n", threadIdx.x, n, threadIdx.x + 0.5, 'a' + threadIdx.x,
         5000000000LL + threadIdx.x, "str");
}

int main() {
  printf("before\n");
  speak<<<1, 3>>>(3);
  cudaDeviceSynchronize();
  printf("after\n");
  return 0;
}

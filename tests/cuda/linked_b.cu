// linked_b.cu - the second half of linked_a.cu.
// part of: linked_a.cu
__device__ int shared_variable = 42;
__constant__ int scale[4] = {10, 20, 30, 40};
__device__ int helper(int x) {
  return x * x;
}
__global__ void other_kernel(int *p) {
  p[threadIdx.x] *= 3;
}

/* One warp reads `lines` lines, `stride` lines apart, bypassing the L1, and then all of them again. */
__global__ void twice(const float *x, float *y, int lines, int stride) {
  float sum = 0, v;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < lines; i++) {
      asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(x + 32 * stride * i + threadIdx.x));
      sum += v;
    }
  y[threadIdx.x] = sum;
}

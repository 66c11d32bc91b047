/* lud - LU decomposition in blocks
 *
 * Program: Rodinia lud
 * Suites: decoupled-l1d=LUD sharing=LUD
 * Groups: decoupled-l1d=cache-unfriendly
 * Algorithm: for each block column: lud_diagonal factors the 16 x 16 diagonal block (one CTA of 16 threads),
 *   lud_perimeter the blocks of its row and column (CTAs of 32 threads, half a warp each), lud_internal updates the rest
 *   (16 x 16 threads).
 * Loads: 64-byte pieces of rows, a matrix row apart (degree 1 for half warps, 2 in lud_internal);
 *   perimeter blocks are read by a row or column of CTAs.
 * Simplified: nothing; no pivoting, as in the original.
 */
#include "../common/wl.h"

#define B 16

__global__ void lud_diagonal(float *m, int n, int offset) {
  __shared__ float s[B][B];
  int tx = threadIdx.x;
  for (int i = 0; i < B; i++) s[i][tx] = m[(offset + i) * n + offset + tx];
  __syncthreads();
  for (int i = 0; i < B - 1; i++) {
    if (tx > i) {
      for (int j = 0; j < i; j++) s[tx][i] -= s[tx][j] * s[j][i];
      s[tx][i] /= s[i][i];
    }
    __syncthreads();
    if (tx > i)
      for (int j = 0; j < i + 1; j++) s[i + 1][tx] -= s[i + 1][j] * s[j][tx];
    __syncthreads();
  }
  for (int i = 1; i < B; i++) m[(offset + i) * n + offset + tx] = s[i][tx];
}

__global__ void lud_perimeter(float *m, int n, int offset) {
  __shared__ float dia[B][B], row[B][B], col[B][B];
  int tx = threadIdx.x % B, away = offset + (blockIdx.x + 1) * B;
  bool rows = threadIdx.x < B;
  for (int i = rows ? 0 : B / 2; i < (rows ? B / 2 : B); i++) dia[i][tx] = m[(offset + i) * n + offset + tx];
  for (int i = 0; i < B; i++) {
    if (rows) row[i][tx] = m[(offset + i) * n + away + tx];
    else col[i][tx] = m[(away + i) * n + offset + tx];
  }
  __syncthreads();
  if (rows) {
    for (int i = 1; i < B; i++)
      for (int j = 0; j < i; j++) row[i][tx] -= dia[i][j] * row[j][tx];
  } else {
    for (int i = 0; i < B; i++) {
      for (int j = 0; j < i; j++) col[tx][i] -= col[tx][j] * dia[j][i];
      col[tx][i] /= dia[i][i];
    }
  }
  __syncthreads();
  for (int i = 0; i < B; i++) {
    if (rows) m[(offset + i) * n + away + tx] = row[i][tx];
    else m[(away + i) * n + offset + tx] = col[i][tx];
  }
}

__global__ void lud_internal(float *m, int n, int offset) {
  __shared__ float row[B][B], col[B][B];
  int tx = threadIdx.x, ty = threadIdx.y, y = offset + (blockIdx.y + 1) * B, x = offset + (blockIdx.x + 1) * B;
  row[ty][tx] = m[(offset + ty) * n + x + tx];
  col[ty][tx] = m[(y + ty) * n + offset + tx];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < B; i++) sum += col[ty][i] * row[i][tx];
  m[(y + ty) * n + x + tx] -= sum;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "lud");
  int n = wl_int(&w, "n", wl_by_size(128, 256, 768), B, 4096, "side of the matrix (rounded up to 16)");
  wl_ready(&w);
  n = (n + B - 1) / B * B;

  uint64_t seed = w.seed;
  size_t sn = (size_t)n;
  std::vector<float> a(sn * sn);
  for (float &v : a) v = wl_range(&seed, -1, 1);
  for (size_t i = 0; i < sn; i++) a[i * sn + i] += (float)n / 4;
  float *m = wl_upload(a);
  for (int o = 0; o < n; o += B) {
    unsigned left = (unsigned)(n - o) / B - 1;
    lud_diagonal<<<1, B>>>(m, n, o);
    if (left) {
      lud_perimeter<<<left, 2 * B>>>(m, n, o);
      lud_internal<<<dim3(left, left), dim3(B, B)>>>(m, n, o);
    }
    WL_LAUNCHED();
  }
  std::vector<float> lu = wl_download(m, sn * sn);
  struct wl_check chk = {};
  std::vector<double> line(sn);
  for (size_t i = 0; i < sn; i++) { /* row i of L U must be row i of A */
    std::fill(line.begin(), line.end(), 0.0);
    for (size_t k = 0; k <= i; k++) {
      double l = k == i ? 1.0 : lu[i * sn + k];
      for (size_t j = k; j < sn; j++) line[j] += l * lu[k * sn + j];
    }
    for (size_t j = 0; j < sn; j++) wl_near(&chk, "element of L U", i * sn + j, line[j], a[i * sn + j], 1e-3);
  }
  return wl_end(&w, &chk);
}

/* ss - similarity score of all pairs of documents
 *
 * Program: Mars SimilarityScore
 * Suites: medic=SS
 * Groups: medic=all-hit
 * Algorithm: one map task per pair of documents computes the cosine of their feature vectors.
 * Loads: the vectors are rows of a matrix; the lanes of a warp pair one document with 32 others, so a load touches one
 *   line for the first and 32 for the others (degree 32), a word at a time; all warps read the same small matrix again
 *   and again.
 * Simplified: the vectors' lengths are computed by a first kernel, as Mars's map does on the host.
 */
#include "../common/wl.h"

__global__ void lengths(const float *m, float *len, int docs, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= docs) return;
  float sum = 0;
  for (int k = 0; k < dim; k++) sum += m[i * dim + k] * m[i * dim + k];
  len[i] = sqrtf(sum);
}
__global__ void score(const float *m, const float *len, float *out, int docs, int dim) {
  int task = blockIdx.x * blockDim.x + threadIdx.x;
  if (task >= docs * docs) return;
  int a = task / docs, b = task % docs;
  float sum = 0;
  for (int k = 0; k < dim; k++) sum += m[a * dim + k] * m[b * dim + k];
  out[task] = sum / (len[a] * len[b]);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "ss");
  int docs = wl_int(&w, "documents", wl_by_size(64, 160, 768), 2, 8192, "documents");
  int dim = wl_int(&w, "features", wl_by_size(64, 128, 128), 1, 4096, "features of a document");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t n = (size_t)docs, d = (size_t)dim;
  std::vector<float> m(n * d), want(n * n);
  for (float &v : m) v = wl_below(&seed, 3) ? 0.0f : wl_unit(&seed);
  for (size_t i = 0; i < n; i++) m[i * d] = 0.5f; /* no empty document */
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) {
      double dot = 0, la = 0, lb = 0;
      for (size_t k = 0; k < d; k++) {
        dot += (double)m[a * d + k] * m[b * d + k];
        la += (double)m[a * d + k] * m[a * d + k];
        lb += (double)m[b * d + k] * m[b * d + k];
      }
      want[a * n + b] = (float)(dot / sqrt(la * lb));
    }
  float *dm = wl_upload(m), *dl = wl_alloc<float>(n), *dout = wl_alloc<float>(n * n);
  lengths<<<wl_blocks(n, 256), 256>>>(dm, dl, docs, dim);
  score<<<wl_blocks(n * n, 256), 256>>>(dm, dl, dout, docs, dim);
  WL_LAUNCHED();
  struct wl_check chk = {};
  wl_near_all(&chk, "score", wl_download(dout, n * n), want, 1e-4);
  return wl_end(&w, &chk);
}

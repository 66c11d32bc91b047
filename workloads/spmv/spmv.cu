/* spmv - sparse matrix times vector in jagged diagonal storage
 *
 * Program: Parboil spmv
 * Suites: tsc=spmv sharing=spmv
 * Groups: tsc=cache-line-negative
 * Algorithm: rows are sorted by length; the k-th entries of all rows that have one form a jagged diagonal, stored
 *   together; a thread computes one row and finds its k-th entry through the start of diagonal k.
 * Loads: values and columns of a diagonal are coalesced; x[column] gathers (degree up to 32, a word or two per line);
 *   the diagonal starts are in constant memory as in the original.
 * Simplified: nothing; the matrix (entries around the diagonal, as of a mesh) is generated, or read from --input. --launches products
 *   are computed with the same x.
 */
#include "../common/wl_graph.h"

#define MAX_DIAGONALS 4096
__constant__ int diagonal_start[MAX_DIAGONALS];

__global__ void spmv_jds(float *y, const float *value, const int *column, const int *perm, const int *length,
                         const float *x, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  int n = length[r];
  for (int k = 0; k < n; k++) {
    int j = diagonal_start[k] + r;
    sum += value[j] * x[column[j]];
  }
  y[perm[r]] = sum;
}

struct jds {
  std::vector<float> value;
  std::vector<int> column, perm, length, start;
};

static struct jds jds_of(const struct wl_csr &m) {
  struct jds j;
  for (int r = 0; r < m.rows; r++) j.perm.push_back(r);
  std::stable_sort(j.perm.begin(), j.perm.end(), [&](int a, int b) { return m.degree(a) > m.degree(b); });
  for (int r : j.perm) j.length.push_back(m.degree(r));
  for (int k = 0; !j.length.empty() && k < j.length[0]; k++) {
    j.start.push_back((int)j.value.size());
    for (int r = 0; r < m.rows && j.length[(size_t)r] > k; r++) {
      size_t at = (size_t)(m.row[(size_t)j.perm[(size_t)r]] + k);
      j.value.push_back(m.val[at]);
      j.column.push_back(m.col[at]);
    }
  }
  return j;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "spmv");
  int n = wl_int(&w, "rows", wl_by_size(2048, 32768, 146689), 32, 1 << 22, "rows and columns");
  int entries = wl_int(&w, "entries", wl_by_size(16, 16, 24), 1, 256, "entries per row on average");
  int launches = wl_int(&w, "launches", wl_by_size(2, 3, 50), 1, 1000, "products");
  wl_ready(&w, true);

  uint64_t seed = w.seed;
  struct wl_csr m = w.input ? wl_read_graph(w.input) : wl_mesh_matrix(n, entries, &seed);
  wl_print_degrees("matrix", m);
  struct jds j = jds_of(m);
  if (j.start.size() > MAX_DIAGONALS) {
    fprintf(stderr, "spmv: a row has %zu entries, at most %d fit the constant memory\n", j.start.size(), MAX_DIAGONALS);
    return 2;
  }
  std::vector<float> x((size_t)m.cols), want((size_t)m.rows);
  for (float &v : x) v = wl_unit(&seed);
  for (size_t r = 0; r < want.size(); r++) {
    double sum = 0;
    for (int i = m.row[r]; i < m.row[r + 1]; i++) sum += (double)m.val[(size_t)i] * x[(size_t)m.col[(size_t)i]];
    want[r] = (float)sum;
  }

  WL_CUDA(cudaMemcpyToSymbol(diagonal_start, j.start.data(), j.start.size() * sizeof(int)));
  float *dv = wl_upload(j.value), *dx = wl_upload(x), *dy = wl_alloc<float>(want.size());
  int *dc = wl_upload(j.column), *dp = wl_upload(j.perm), *dl = wl_upload(j.length);
  for (int i = 0; i < launches; i++) {
    spmv_jds<<<wl_blocks(want.size(), 192), 192>>>(dy, dv, dc, dp, dl, dx, m.rows);
    WL_LAUNCHED();
  }
  struct wl_check chk = {};
  wl_near_all(&chk, "y", wl_download(dy, want.size()), want, 1e-4);
  return wl_end(&w, &chk);
}

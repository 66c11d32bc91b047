/* sp - survey propagation on a random satisfiability formula
 *
 * Program: LonestarGPU sp
 * Suites: medic=SP
 * Groups: medic=all-hit
 * Algorithm: the factor graph has an edge per literal; update_eta computes, one clause per thread, the survey of each
 *   of its edges from the surveys of all other clauses of the two other variables; a kernel finds the largest change; at
 *   the end update_bias computes every variable's bias.
 * Loads: a thread follows clause -> variable -> list of its
 *   literals -> their surveys: three levels of gathering (degree up to 32) with lists whose lengths are random.
 * Simplified: surveys are exchanged between launches (Jacobi), so that the result does not depend on the order of
 *   execution; the decimation after convergence is left out.
 */
#include "../common/wl.h"

#define K 3

struct formula {
  int clauses, vars;
  std::vector<int> var, sign, start, list; /* edge -> variable, sign; variable -> edges list[start[v]..start[v+1]) */
};

/* Product over the other clauses of variable v of (1 - eta), separately for edges of equal and opposite sign. */
__host__ __device__ inline float survey(int e, const int *var, const int *sign, const int *start, const int *list,
                                        const float *eta) {
  float result = 1;
  int c = e / K;
  for (int j = c * K; j < c * K + K; j++) {
    if (j == e) continue;
    float same = 1, other = 1;
    int v = var[j];
    for (int i = start[v]; i < start[v + 1]; i++) {
      int o = list[i];
      if (o / K == c) continue;
      if (sign[o] == sign[j]) same *= 1 - eta[o];
      else other *= 1 - eta[o];
    }
    float u = (1 - other) * same, s = (1 - same) * other, z = same * other;
    float sum = u + s + z;
    result *= sum > 0 ? u / sum : 0;
  }
  return result;
}

__global__ void update_eta(int clauses, const int *var, const int *sign, const int *start, const int *list,
                           const float *eta, float *next) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= clauses) return;
  for (int e = c * K; e < c * K + K; e++) next[e] = survey(e, var, sign, start, list, eta);
}
__global__ void largest_change(const float *a, const float *b, int n, unsigned *most) {
  __shared__ unsigned s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? __float_as_uint(fabsf(a[i] - b[i])) : 0;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if ((int)threadIdx.x < k) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(most, s[0]);
}
__global__ void update_bias(int vars, const int *sign, const int *start, const int *list, const float *eta,
                            float *bias) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vars) return;
  float p = 1, m = 1;
  for (int i = start[v]; i < start[v + 1]; i++) {
    if (sign[list[i]] > 0) p *= 1 - eta[list[i]];
    else m *= 1 - eta[list[i]];
  }
  float u = (1 - p) * m, s = (1 - m) * p, z = p * m;
  bias[v] = (u - s) / (u + s + z + 1e-20f);
}

static struct formula random_formula(int vars, int clauses, uint64_t *seed) {
  struct formula f = {clauses, vars, {}, {}, std::vector<int>((size_t)vars + 1, 0), {}};
  for (int c = 0; c < clauses; c++) {
    int v[K];
    for (int k = 0; k < K; k++) {
      do v[k] = (int)wl_below(seed, (uint32_t)vars);
      while ((k > 0 && v[k] == v[0]) || (k > 1 && v[k] == v[1]));
      f.var.push_back(v[k]);
      f.sign.push_back(wl_below(seed, 2) ? 1 : -1);
      f.start[(size_t)v[k] + 1]++;
    }
  }
  for (size_t v = 0; v < (size_t)vars; v++) f.start[v + 1] += f.start[v];
  std::vector<int> fill(f.start.begin(), f.start.end());
  f.list.resize(f.var.size());
  for (size_t e = 0; e < f.var.size(); e++) f.list[(size_t)fill[(size_t)f.var[e]]++] = (int)e;
  return f;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "sp");
  int vars = wl_int(&w, "variables", wl_by_size(400, 1500, 20000), 8, 10000000, "variables");
  int ratio = wl_int(&w, "ratio", wl_by_size(420, 420, 420), 100, 500, "clauses per 100 variables");
  int rounds = wl_int(&w, "iterations", wl_by_size(3, 4, 20), 1, 1000, "most iterations");
  wl_ready(&w);

  uint64_t seed = w.seed;
  struct formula f = random_formula(vars, (int)((long)vars * ratio / 100), &seed);
  std::vector<float> eta(f.var.size()), next(eta.size()), bias((size_t)vars);
  for (float &v : eta) v = wl_unit(&seed);
  int *var = wl_upload(f.var), *sign = wl_upload(f.sign), *start = wl_upload(f.start), *list = wl_upload(f.list);
  float *a = wl_upload(eta), *b = wl_alloc<float>(eta.size()), *dbias = wl_alloc<float>(bias.size()), change = 1;
  unsigned *most = wl_alloc<unsigned>(1);
  for (int r = 0; r < rounds && change > 1e-3f; r++) {
    wl_set(most, 0u);
    update_eta<<<wl_blocks((size_t)f.clauses, 192), 192>>>(f.clauses, var, sign, start, list, a, b);
    largest_change<<<wl_blocks(eta.size(), 256), 256>>>(a, b, (int)eta.size(), most);
    WL_LAUNCHED();
    unsigned bits = wl_get(most);
    memcpy(&change, &bits, sizeof change);
    std::swap(a, b);
    for (size_t e = 0; e < eta.size(); e++)
      next[e] = survey((int)e, f.var.data(), f.sign.data(), f.start.data(), f.list.data(), eta.data());
    std::swap(eta, next);
    printf("iteration %d: largest change %.4f\n", r + 1, change);
  }
  update_bias<<<wl_blocks(bias.size(), 192), 192>>>(vars, sign, start, list, a, dbias);
  WL_LAUNCHED();
  for (size_t v = 0; v < bias.size(); v++) {
    double p = 1, m = 1;
    for (int i = f.start[v]; i < f.start[v + 1]; i++)
      (f.sign[(size_t)f.list[(size_t)i]] > 0 ? p : m) *= 1 - eta[(size_t)f.list[(size_t)i]];
    bias[v] = (float)(((1 - p) * m - (1 - m) * p) / ((1 - p) * m + (1 - m) * p + p * m + 1e-20));
  }
  struct wl_check chk = {};
  wl_near_all(&chk, "survey", wl_download(a, eta.size()), eta, 1e-3);
  wl_near_all(&chk, "bias", wl_download(dbias, bias.size()), bias, 2e-3);
  return wl_end(&w, &chk);
}

/* bh - Barnes-Hut simulation of bodies under gravity
 *
 * Program: LonestarGPU bh
 * Suites: medic=BH decoupled-l1d=BH
 * Groups: medic=all-hit decoupled-l1d=cache-unfriendly
 * Algorithm: Burtscher and Pingali's: bounding box, octree built by all threads at once with one lock per child slot,
 *   centres of mass from the leaves up, bodies put in tree order from the root down, forces by a traversal in which a
 *   warp walks together and votes whether a cell is far enough for all lanes, integration.
 * Loads: the build chases child
 *   pointers of its own (degree up to 32); the traversal reads the same cell in all lanes (degree 1) from a stack in
 *   shared memory, thousands of cells per body, with the upper tree reused by every warp.
 * Simplified: kernels that wait
 *   for other threads' results in the original (summarize, sort) are launched again until nothing is left to do, so that
 *   no thread ever spins.
 */
#include "../common/wl.h"

#define BLOCK 128
#define DEPTH 40
#define EPS2 0.0025f

/* Bodies are 0..n-1; cells count down from `top`, the root. child: -1 none, -2 locked, else body or cell. */
struct tree {
  int n, top;
  int *child, *count, *start, *sorted, *bottom;
  float *x, *y, *z, *mass;
};

__global__ void bounding_box(struct tree t, unsigned *box) {
  __shared__ float far[BLOCK];
  float most = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < t.n; i += gridDim.x * BLOCK)
    most = fmaxf(most, fmaxf(fabsf(t.x[i]), fmaxf(fabsf(t.y[i]), fabsf(t.z[i]))));
  far[threadIdx.x] = most;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) far[threadIdx.x] = fmaxf(far[threadIdx.x], far[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(box, __float_as_uint(far[0]));
}

__device__ int octant(const struct tree &t, int cell, float px, float py, float pz) {
  return (t.x[cell] < px ? 1 : 0) | (t.y[cell] < py ? 2 : 0) | (t.z[cell] < pz ? 4 : 0);
}

__global__ void build(struct tree t, float radius) {
  volatile int *child = t.child;
  int step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < t.n) {
    float px = t.x[i], py = t.y[i], pz = t.z[i], r = radius;
    int cell = t.top, j = octant(t, cell, px, py, pz), ch = child[cell * 8 + j];
    while (ch >= t.n) {
      cell = ch;
      r *= 0.5f;
      j = octant(t, cell, px, py, pz);
      ch = child[cell * 8 + j];
    }
    if (ch == -2) continue; /* locked: try again */
    int slot = cell * 8 + j;
    if (ch != atomicCAS((int *)&child[slot], ch, -2)) continue;
    if (ch == -1) {
      child[slot] = i;
    } else { /* a body is there: cells until the two part */
      int patch = -1;
      do {
        int fresh = atomicSub(t.bottom, 1) - 1;
        if (patch < 0) patch = fresh;
        else child[cell * 8 + j] = fresh;
        t.x[fresh] = t.x[cell] + (j & 1 ? r : -r) * 0.5f;
        t.y[fresh] = t.y[cell] + (j & 2 ? r : -r) * 0.5f;
        t.z[fresh] = t.z[cell] + (j & 4 ? r : -r) * 0.5f;
        r *= 0.5f;
        child[fresh * 8 + octant(t, fresh, t.x[ch], t.y[ch], t.z[ch])] = ch;
        cell = fresh;
        j = octant(t, cell, px, py, pz);
        ch = child[cell * 8 + j];
      } while (ch >= 0);
      child[cell * 8 + j] = i;
      __threadfence();
      child[slot] = patch;
    }
    i += step;
  }
}

/* Cells whose children are all done get mass, centre and number of bodies. Children have smaller numbers than their
 * cell. */
__global__ void summarize(struct tree t, int low, int *left) {
  int cell = low + blockIdx.x * blockDim.x + threadIdx.x;
  if (cell > t.top || t.count[cell] > 0) return;
  float m = 0, cx = 0, cy = 0, cz = 0;
  int bodies = 0;
  for (int k = 0; k < 8; k++) {
    int ch = t.child[cell * 8 + k];
    if (ch < 0) continue;
    if (ch >= t.n && t.count[ch] == 0) {
      *left = 1;
      return;
    }
    float cm = t.mass[ch];
    bodies += ch >= t.n ? t.count[ch] : 1;
    m += cm;
    cx += t.x[ch] * cm;
    cy += t.y[ch] * cm;
    cz += t.z[ch] * cm;
  }
  t.x[cell] = cx / m;
  t.y[cell] = cy / m;
  t.z[cell] = cz / m;
  t.mass[cell] = m;
  __threadfence();
  t.count[cell] = bodies;
}

/* Cells that know where their bodies begin tell their children. */
__global__ void sort_bodies(struct tree t, int low, int *left) {
  int cell = t.top - (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (cell < low || t.start[cell] == -2) return;
  int at = t.start[cell];
  if (at < 0) {
    *left = 1;
    return;
  }
  for (int k = 0; k < 8; k++) {
    int ch = t.child[cell * 8 + k];
    if (ch >= t.n) {
      t.start[ch] = at;
      at += t.count[ch];
      *left = 1;
    } else if (ch >= 0) {
      t.sorted[at++] = ch;
    }
  }
  t.start[cell] = -2; /* told */
}

__global__ void force(struct tree t, float radius2, float *ax, float *ay, float *az) {
  __shared__ volatile int node[DEPTH * BLOCK / 32], pos[DEPTH * BLOCK / 32];
  int base = threadIdx.x / 32, i = blockIdx.x * BLOCK + threadIdx.x;
  int body = t.sorted[min(i, t.n - 1)];
  float px = t.x[body], py = t.y[body], pz = t.z[body], sx = 0, sy = 0, sz = 0;
  const int warps = BLOCK / 32;
  int depth = 0;
  if (threadIdx.x % 32 == 0) {
    node[base] = t.top;
    pos[base] = 0;
  }
  __syncwarp();
  while (depth >= 0) {
    int at = pos[base + depth * warps];
    if (at == 8) {
      depth--;
      continue;
    }
    int ch = t.child[node[base + depth * warps] * 8 + at];
    __syncwarp();
    if (threadIdx.x % 32 == 0) pos[base + depth * warps] = at + 1;
    __syncwarp();
    if (ch < 0) continue;
    float dx = t.x[ch] - px, dy = t.y[ch] - py, dz = t.z[ch] - pz;
    float d2 = dx * dx + dy * dy + dz * dz, size2 = radius2 / (float)(1u << min(2 * depth, 30));
    if (ch < t.n || __all_sync(0xffffffffu, d2 >= size2 * 4)) {
      float inv = rsqrtf(d2 + EPS2), f = t.mass[ch] * inv * inv * inv;
      sx += dx * f;
      sy += dy * f;
      sz += dz * f;
    } else {
      depth++;
      if (threadIdx.x % 32 == 0) {
        node[base + depth * warps] = ch;
        pos[base + depth * warps] = 0;
      }
      __syncwarp();
    }
  }
  if (i < t.n) {
    ax[body] = sx;
    ay[body] = sy;
    az[body] = sz;
  }
}

__global__ void integrate(struct tree t, float *vx, float *vy, float *vz, const float *ax, const float *ay,
                          const float *az, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= t.n) return;
  vx[i] += ax[i] * dt;
  vy[i] += ay[i] * dt;
  vz[i] += az[i] * dt;
  t.x[i] += vx[i] * dt;
  t.y[i] += vy[i] * dt;
  t.z[i] += vz[i] * dt;
}

/* Sums over all pairs; the tree's answer may differ by a few percent of the typical force. */
static void check_forces(struct wl_check *chk, const std::vector<float> *p, const std::vector<float> *a, float mass,
                         uint64_t *seed) {
  size_t n = p[0].size();
  double error = 0, size = 0;
  for (int s = 0; s < 200; s++) {
    size_t i = wl_below(seed, (uint32_t)n);
    double sum[3] = {0, 0, 0};
    for (size_t j = 0; j < n; j++) {
      double d[3], d2 = EPS2;
      for (int c = 0; c < 3; c++) d2 += (d[c] = (double)p[c][j] - p[c][i]) * d[c];
      for (int c = 0; c < 3; c++) sum[c] += mass * d[c] / (d2 * sqrt(d2));
    }
    for (int c = 0; c < 3; c++) {
      error += pow(a[c][i] - sum[c], 2);
      size += sum[c] * sum[c];
    }
  }
  printf("force error %.2f%% of the root mean square\n", 100 * sqrt(error / size));
  wl_near(chk, "relative force error", 0, sqrt(error / size), 0, 0.05);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "bh");
  int n = wl_int(&w, "bodies", wl_by_size(512, 512, 32768), 32, 1 << 20, "bodies");
  int steps = wl_int(&w, "steps", wl_by_size(1, 3, 3), 1, 1000, "time steps");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t sn = (size_t)n, cells = 4 * sn + 64, all = sn + cells;
  std::vector<float> p[3], zero(sn, 0);
  for (size_t i = 0; i < sn; i++) { /* dense in the middle, with a few lumps */
    float r = wl_unit(&seed), lump = wl_below(&seed, 4) == 0 ? 3.0f : 0.0f;
    for (int c = 0; c < 3; c++) p[c].push_back(lump * (float)(c + 1) / 3 + (0.001f + 4 * r * r) * wl_normal(&seed));
  }
  float mass = 1.0f / (float)n, *ax = wl_upload(zero), *ay = wl_upload(zero), *az = wl_upload(zero);
  float *vx = wl_upload(zero), *vy = wl_upload(zero), *vz = wl_upload(zero);
  struct tree t = {n,
                   (int)all - 1,
                   wl_alloc<int>(all * 8),
                   wl_alloc<int>(all),
                   wl_alloc<int>(all),
                   wl_alloc<int>(sn),
                   wl_alloc<int>(1),
                   wl_alloc<float>(all),
                   wl_alloc<float>(all),
                   wl_alloc<float>(all),
                   wl_upload(std::vector<float>(all, mass))};
  float *device[3] = {t.x, t.y, t.z};
  for (int c = 0; c < 3; c++) wl_put(device[c], p[c]);
  unsigned *box = wl_alloc<unsigned>(1), grid = wl_blocks(sn, BLOCK);
  int *left = wl_alloc<int>(1);

  struct wl_check chk = {};
  for (int s = 0; s < steps; s++) {
    wl_set(box, 0u);
    bounding_box<<<std::min(grid, 30u), BLOCK>>>(t, box);
    WL_LAUNCHED();
    unsigned bits = wl_get(box);
    float radius;
    memcpy(&radius, &bits, sizeof radius);
    radius *= 1.0001f;
    WL_CUDA(cudaMemset(t.child, 0xff, all * 8 * sizeof(int)));
    WL_CUDA(cudaMemset(t.count, 0, all * sizeof(int)));
    WL_CUDA(cudaMemset(t.start, 0xff, all * sizeof(int)));
    wl_set(t.bottom, t.top);
    for (int c = 0; c < 3; c++) wl_set(device[c] + t.top, 0.0f);
    build<<<std::min(grid, 60u), BLOCK>>>(t, radius);
    WL_LAUNCHED();
    int low = wl_get(t.bottom);
    wl_that(&chk, low > n, "the tree has room");
    if (chk.wrong) return wl_end(&w, &chk);
    unsigned cgrid = wl_blocks((size_t)(t.top - low + 1), BLOCK);
    for (int again = 1; again; again = wl_get(left)) {
      wl_set(left, 0);
      summarize<<<cgrid, BLOCK>>>(t, low, left);
      WL_LAUNCHED();
    }
    wl_set(t.start + t.top, 0);
    for (int again = 1; again; again = wl_get(left)) {
      wl_set(left, 0);
      sort_bodies<<<cgrid, BLOCK>>>(t, low, left);
      WL_LAUNCHED();
    }
    force<<<grid, BLOCK>>>(t, radius * radius, ax, ay, az);
    WL_LAUNCHED();
    std::vector<int> sorted = wl_download(t.sorted, sn);
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < n; i++) wl_that(&chk, sorted[(size_t)i] == i, "every body is in the tree once");
    wl_near(&chk, "bodies under the root", 0, wl_get(t.count + t.top), n, 1e-9);
    for (int c = 0; c < 3; c++) p[c] = wl_download(device[c], sn);
    std::vector<float> a[3] = {wl_download(ax, sn), wl_download(ay, sn), wl_download(az, sn)};
    check_forces(&chk, p, a, mass, &seed);
    integrate<<<grid, BLOCK>>>(t, vx, vy, vz, ax, ay, az, 0.025f);
    WL_LAUNCHED();
  }
  return wl_end(&w, &chk);
}

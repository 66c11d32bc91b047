/* cfd - finite-volume solver of the compressible Euler equations on an unstructured mesh
 *
 * Program: Rodinia cfd (euler3d)
 * Suites: tsc=cfd decoupled-l1d=CFD sharing=cfd
 * Groups: tsc=cache-line-negative decoupled-l1d=cache-insensitive
 * Algorithm: per iteration: copy the state, compute a local time step, then three Runge-Kutta stages of compute_flux
 *   and time_step. compute_flux reads the five variables of an element and of its four neighbours.
 * Loads: variables,
 *   normals and neighbour numbers are stored variable by variable (coalesced); the neighbours' variables are gathered.
 *   Elements are renumbered within windows, so a warp's gather touches several lines with a few words each.
 * Simplified: the mesh is a generated grid of four-sided cells with far-field and wall borders in place of the missile.
 */
#include "../common/wl.h"

#define NVAR 5 /* density, momentum x y z, energy */
#define NNB 4
#define BLOCK 192
#define GAMMA 1.4f
#define RK 3

__constant__ float far_field[NVAR];

struct state {
  float density, mx, my, mz, energy;
};
struct derived {
  float vx, vy, vz, speed, pressure, sound;
};

template <class S> __host__ __device__ static inline derived derive(const S &s) {
  derived d;
  d.vx = s.mx / s.density;
  d.vy = s.my / s.density;
  d.vz = s.mz / s.density;
  float sq = d.vx * d.vx + d.vy * d.vy + d.vz * d.vz;
  d.speed = sqrtf(sq);
  d.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * sq);
  d.sound = sqrtf(GAMMA * d.pressure / s.density);
  return d;
}
__host__ __device__ static inline state load(const float *v, int i, int n) {
  state s;
  s.density = v[i];
  s.mx = v[i + n];
  s.my = v[i + 2 * n];
  s.mz = v[i + 3 * n];
  s.energy = v[i + 4 * n];
  return s;
}
/* Flux of the five variables through a face with normal (nx, ny, nz). */
__host__ __device__ static inline void face(const state &s, const derived &d, float nx, float ny, float nz,
                                            float f[NVAR]) {
  float vn = d.vx * nx + d.vy * ny + d.vz * nz;
  f[0] = s.density * vn;
  f[1] = s.mx * vn + d.pressure * nx;
  f[2] = s.my * vn + d.pressure * ny;
  f[3] = s.mz * vn + d.pressure * nz;
  f[4] = (s.energy + d.pressure) * vn;
}

/* The net flux into element i; the same code is the CPU reference. */
__host__ __device__ static inline void flux_of(int i, int n, const int *nb, const float *normals, const float *v,
                                               const float *ff, float *fluxes) {
  const float smoothing = 0.2f;
  state me = load(v, i, n);
  derived md = derive(me);
  float sum[NVAR] = {0, 0, 0, 0, 0};
  for (int j = 0; j < NNB; j++) {
    int k = nb[i + j * n];
    float nx = normals[i + (j + 0 * NNB) * n], ny = normals[i + (j + 1 * NNB) * n], nz = normals[i + (j + 2 * NNB) * n];
    float len = sqrtf(nx * nx + ny * ny + nz * nz);
    if (k >= 0) {
      state ot = load(v, k, n);
      derived od = derive(ot);
      float factor = -len * smoothing * 0.5f * (md.speed + od.speed + md.sound + od.sound);
      float a[NVAR], b[NVAR];
      face(me, md, nx, ny, nz, a);
      face(ot, od, nx, ny, nz, b);
      float dv[NVAR] = {me.density - ot.density, me.mx - ot.mx, me.my - ot.my, me.mz - ot.mz, me.energy - ot.energy};
      for (int c = 0; c < NVAR; c++) sum[c] += factor * dv[c] - 0.5f * (a[c] + b[c]);
    } else if (k == -1) { /* a wall */
      sum[1] -= nx * md.pressure;
      sum[2] -= ny * md.pressure;
      sum[3] -= nz * md.pressure;
    } else { /* the far field */
      state fs;
      fs.density = ff[0];
      fs.mx = ff[1];
      fs.my = ff[2];
      fs.mz = ff[3];
      fs.energy = ff[4];
      derived fd = derive(fs);
      float a[NVAR], b[NVAR];
      face(me, md, nx, ny, nz, a);
      face(fs, fd, nx, ny, nz, b);
      for (int c = 0; c < NVAR; c++) sum[c] -= 0.5f * (a[c] + b[c]);
    }
  }
  for (int c = 0; c < NVAR; c++) fluxes[i + c * n] = sum[c];
}

__global__ void step_factor(int n, const float *v, const float *areas, float *factors) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  state s = load(v, i, n);
  derived d = derive(s);
  factors[i] = 0.5f / (sqrtf(areas[i]) * (d.speed + d.sound));
}
__global__ void compute_flux(int n, const int *nb, const float *normals, const float *v, float *fluxes) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) flux_of(i, n, nb, normals, v, far_field, fluxes);
}
__global__ void time_step(int stage, int n, const float *old, float *v, const float *factors, const float *fluxes) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  float f = factors[i] / (float)(RK + 1 - stage);
  for (int c = 0; c < NVAR; c++) v[i + c * n] = old[i + c * n] + f * fluxes[i + c * n];
}

static void reference(std::vector<float> *v, int n, int iterations, const std::vector<int> &nb,
                      const std::vector<float> &normals, const std::vector<float> &areas, const float *ff) {
  std::vector<float> old, fluxes(v->size()), factors((size_t)n);
  for (int it = 0; it < iterations; it++) {
    old = *v;
    for (int i = 0; i < n; i++) {
      derived d = derive(load(v->data(), i, n));
      factors[(size_t)i] = 0.5f / (sqrtf(areas[(size_t)i]) * (d.speed + d.sound));
    }
    for (int stage = 1; stage <= RK; stage++) {
      for (int i = 0; i < n; i++) flux_of(i, n, nb.data(), normals.data(), v->data(), ff, fluxes.data());
      for (size_t i = 0; i < v->size(); i++)
        (*v)[i] = old[i] + factors[i % (size_t)n] / (float)(RK + 1 - stage) * fluxes[i];
    }
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "cfd");
  int side = wl_int(&w, "side", wl_by_size(48, 128, 312), 4, 2048, "cells per side");
  int iterations = wl_int(&w, "iterations", wl_by_size(1, 3, 10), 1, 1000, "time steps");
  wl_ready(&w);

  uint64_t seed = w.seed;
  int n = side * side;
  size_t cells = (size_t)n;
  /* Numbers within windows of 256 cells are shuffled, as a mesh generator's bandwidth-reduced order would be. */
  std::vector<int> number(cells), nb(cells * NNB);
  for (int i = 0; i < n; i++) number[(size_t)i] = i;
  for (int i = 0; i < n; i++)
    std::swap(number[(size_t)i],
              number[(size_t)(i / 256 * 256 + (int)wl_below(&seed, (uint32_t)std::min(256, n - i / 256 * 256)))]);
  std::vector<float> normals(cells * NNB * 3), areas(cells, 1.0f), v(cells * NVAR);
  static const int dx[NNB] = {1, -1, 0, 0}, dy[NNB] = {0, 0, 1, -1};
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) {
      int me = number[(size_t)(y * side + x)];
      for (int j = 0; j < NNB; j++) {
        int px = x + dx[j], py = y + dy[j];
        nb[(size_t)(me + j * n)] = py < 0 || py >= side   ? -1
                                   : px < 0 || px >= side ? -2
                                                          : number[(size_t)(py * side + px)];
        float normal[3] = {(float)dx[j], (float)dy[j], 0};
        for (int c = 0; c < 3; c++) normals[(size_t)(me + (j + c * NNB) * n)] = normal[c];
      }
    }
  float ff[NVAR] = {GAMMA, GAMMA * 1.2f, 0, 0, 0}; /* Mach 1.2, pressure 1, sound 1 */
  ff[4] = 0.5f * GAMMA * 1.44f + 1.0f / (GAMMA - 1);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < NVAR; c++) v[(size_t)(i + c * n)] = ff[c] * (1 + (c == 3 ? 0 : wl_range(&seed, -0.05f, 0.05f)));

  WL_CUDA(cudaMemcpyToSymbol(far_field, ff, sizeof ff));
  int *dnb = wl_upload(nb);
  float *dn = wl_upload(normals), *da = wl_upload(areas), *dv = wl_upload(v), *dold = wl_alloc<float>(v.size());
  float *df = wl_alloc<float>(cells), *dflux = wl_alloc<float>(v.size());
  unsigned grid = wl_blocks(cells, BLOCK);
  for (int it = 0; it < iterations; it++) {
    WL_CUDA(cudaMemcpy(dold, dv, v.size() * sizeof(float), cudaMemcpyDeviceToDevice));
    step_factor<<<grid, BLOCK>>>(n, dv, da, df);
    for (int stage = 1; stage <= RK; stage++) {
      compute_flux<<<grid, BLOCK>>>(n, dnb, dn, dv, dflux);
      time_step<<<grid, BLOCK>>>(stage, n, dold, dv, df, dflux);
    }
    WL_LAUNCHED();
  }
  reference(&v, n, iterations, nb, normals, areas, ff);
  struct wl_check chk = {};
  wl_near_all(&chk, "variable", wl_download(dv, v.size()), v, 1e-3);
  return wl_end(&w, &chk);
}

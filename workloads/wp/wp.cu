/* wp - cloud microphysics of a weather model
 *
 * Program: ISPASS-2009 WP (WRF single-moment microphysics)
 * Suites: sharing=WP
 * Groups: none
 * Algorithm: a thread owns a column of the atmosphere and walks its levels: saturation adjustment, conversion of cloud
 *   water to rain, accretion, evaporation, and rain falling through the levels with a number of sub-steps that depends on
 *   the column.
 * Loads: a dozen three-dimensional arrays stored level by level: adjacent threads are adjacent columns, so
 *   every access is coalesced, and every level is another line; long arithmetic with divergent branches between.
 * Simplified: Kessler's warm-rain scheme in place of the original's ice and snow classes.
 */
#include "../common/wl.h"

struct fields {
  float *t, *qv, *qc, *qr, *rain;    /* changed: temperature, vapour, cloud, rain; rain on the ground */
  const float *p, *rho, *dz, *exner; /* given */
};

#ifdef __CUDA_ARCH__
#define EXP expf
#define POW powf
#define SQRT sqrtf
#else
#define EXP(x) (float)exp((double)(x))
#define POW(x, y) (float)pow((double)(x), (double)(y))
#define SQRT(x) (float)sqrt((double)(x))
#endif

__host__ __device__ inline float saturation(float t, float p) {
  return 380.0f / p * EXP(17.27f * (t - 273.0f) / (t - 36.0f));
}

__host__ __device__ inline void column(const struct fields &f, int i, int columns, int levels, float dt) {
  float fastest = 0.1f;
  for (int k = 0; k < levels; k++) {
    int at = k * columns + i;
    float qr = f.qr[at], v = 0;
    if (qr > 1e-8f) {
      v = 36.34f * POW(0.001f * qr * f.rho[at], 0.1346f) * SQRT(f.rho[i] / f.rho[at]);
      if (v * dt / f.dz[at] > fastest) fastest = v * dt / f.dz[at];
    }
  }
  int steps = (int)fastest + 1;
  float sub = dt / (float)steps, ground = 0;
  for (int s = 0; s < steps; s++) {
    float above = 0;
    for (int k = levels - 1; k >= 0; k--) { /* what falls out of a level falls into the one below */
      int at = k * columns + i;
      float qr = f.qr[at], out = 0;
      if (qr > 1e-8f) {
        float v = 36.34f * POW(0.001f * qr * f.rho[at], 0.1346f) * SQRT(f.rho[i] / f.rho[at]);
        out = qr * f.rho[at] * v * sub / f.dz[at];
        if (out > qr * f.rho[at]) out = qr * f.rho[at];
      }
      f.qr[at] = qr + (above - out) / f.rho[at];
      above = k ? out * f.dz[at] / f.dz[at - columns] : out * f.dz[at];
    }
    ground += above;
  }
  f.rain[i] += ground;
  for (int k = 0; k < levels; k++) {
    int at = k * columns + i;
    float t = f.t[at], qv = f.qv[at], qc = f.qc[at], qr = f.qr[at];
    float produced = 0;
    if (qc > 0.001f) produced = 0.001f * (qc - 0.001f) * dt;
    if (qr > 1e-8f) produced += 2.2f * qc * POW(qr, 0.875f) * dt;
    if (produced > qc) produced = qc;
    qc -= produced;
    qr += produced;
    float qs = saturation(t, f.p[at]), excess = (qv - qs) / (1 + qs * 4093.0f * 2510.0f / ((t - 36) * (t - 36)));
    if (excess > 0) {
      qc += excess;
    } else if (qc > 0) {
      if (excess < -qc) excess = -qc;
      qc += excess;
    } else if (qr > 1e-8f) { /* rain evaporates in dry air */
      float r = f.rho[at] * qr, vent = 1.6f + 30.39f * POW(r * 0.001f, 0.2046f);
      float e = vent * POW(r * 0.001f, 0.525f) * (qs - qv) / (qs * 255000.0f) * 1000.0f * dt;
      excess = -(e < qr ? e : qr);
      qr += excess;
    } else {
      excess = 0;
    }
    f.qv[at] = qv - excess;
    f.qc[at] = qc;
    f.qr[at] = qr;
    f.t[at] = t + 2490.0f * excess / f.exner[at];
  }
}

__global__ void microphysics(struct fields f, int columns, int levels, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) column(f, i, columns, levels, dt);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "wp");
  int columns = wl_int(&w, "columns", wl_by_size(1024, 4096, 65536), 32, 1 << 20, "columns of air");
  int levels = wl_int(&w, "levels", wl_by_size(12, 27, 27), 2, 128, "levels");
  int steps = wl_int(&w, "steps", wl_by_size(1, 1, 4), 1, 100, "time steps");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t n = (size_t)columns * (size_t)levels;
  std::vector<float> t(n), qv(n), qc(n, 0), qr(n, 0), rain((size_t)columns, 0), p(n), rho(n), dz(n), exner(n);
  for (size_t i = 0; i < n; i++) {
    float k = (float)(i / (size_t)columns) / (float)levels;
    size_t cloud = i % (size_t)columns / 64 % 3; /* patches of clear sky, cloud and rain */
    p[i] = 100000 * (1 - 0.8f * k);
    t[i] = 300 - 70 * k + wl_unit(&seed);
    rho[i] = p[i] / (287 * t[i]);
    dz[i] = 300 + 600 * k;
    exner[i] = 1 - 0.3f * k;
    qv[i] = saturation(t[i], p[i]) * wl_range(&seed, cloud ? 0.8f : 0.3f, cloud ? 1.05f : 0.7f);
    if (cloud) qc[i] = 0.003f * wl_unit(&seed);
    if (cloud == 2) qr[i] = 0.004f * wl_unit(&seed);
  }
  struct fields d = {wl_upload(t), wl_upload(qv),  wl_upload(qc), wl_upload(qr),   wl_upload(rain),
                     wl_upload(p), wl_upload(rho), wl_upload(dz), wl_upload(exner)};
  struct fields h = {t.data(), qv.data(),  qc.data(), qr.data(),   rain.data(),
                     p.data(), rho.data(), dz.data(), exner.data()};
  for (int s = 0; s < steps; s++) {
    microphysics<<<wl_blocks((size_t)columns, 64), 64>>>(d, columns, levels, 20.0f);
    WL_LAUNCHED();
    for (int i = 0; i < columns; i++) column(h, i, columns, levels, 20.0f);
  }
  struct wl_check chk = {};
  std::vector<float> gt = wl_download(d.t, n), gv = wl_download(d.qv, n), gc = wl_download(d.qc, n),
                     gr = wl_download(d.qr, n);
  for (size_t i = 0; i < n; i++) {
    wl_near(&chk, "temperature", i, gt[i], t[i], 1e-4);
    wl_near(&chk, "vapour in g/kg", i, 1000 * gv[i], 1000 * qv[i], 1e-2);
    wl_near(&chk, "cloud in g/kg", i, 1000 * gc[i], 1000 * qc[i], 1e-2);
    wl_near(&chk, "rain in g/kg", i, 1000 * gr[i], 1000 * qr[i], 1e-2);
  }
  wl_near_all(&chk, "rain on the ground", wl_download(d.rain, rain.size()), rain, 1e-2);
  return wl_end(&w, &chk);
}

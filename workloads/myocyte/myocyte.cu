/* myocyte - heart muscle cell model, ordinary differential equations
 *
 * Program: Rodinia myocyte
 * Suites: bucl=MYC decoupled-l1d=MYC
 * Groups: bucl=coherent decoupled-l1d=cache-insensitive
 * Algorithm: an embedded Runge-Kutta-Fehlberg solver on the host calls a kernel for every stage; CTA 0 computes the
 *   derivatives of the electrical part (membrane, gates, ions), CTA 1 those of calcium binding to calmodulin.
 * Loads: two CTAs of 32 threads in which one thread works through long dependent arithmetic: loads have one active lane
 *   (degree 1) and the few lines of state and parameters always hit. Latency of arithmetic is all there is.
 * Simplified: 12 equations of Hodgkin-Huxley and chained-binding form in place of the original's 91; same solver, same
 *   launches per step, same division of labour.
 */
#include "../common/wl.h"

#define EQUATIONS 12
#define PARAMETERS 8

/* Both sides compute the same formulas; E is expf on the device and exp on the host. */
#ifdef __CUDA_ARCH__
#define E(x) expf(x)
typedef float real;
#else
#define E(x) exp((double)(x))
typedef double real;
#endif

/* y: V, m, h, n, x, Ca, then binding states 6..11. */
template <class T> __host__ __device__ void electrical(const T *y, const T *p, T *d) {
  T v = y[0];
  T am = fabs(v + 40) < (T)1e-3 ? (T)1 : (T)0.1 * (v + 40) / (1 - (T)E(-(v + 40) / 10)), bm = 4 * (T)E(-(v + 65) / 18);
  T ah = (T)0.07 * (T)E(-(v + 65) / 20), bh = 1 / (1 + (T)E(-(v + 35) / 10));
  T an = fabs(v + 55) < (T)1e-3 ? (T)0.1 : (T)0.01 * (v + 55) / (1 - (T)E(-(v + 55) / 10)),
    bn = (T)0.125 * (T)E(-(v + 65) / 80);
  T xs = 1 / (1 + (T)E(-(v + 30) / 8));
  T ina = p[0] * y[1] * y[1] * y[1] * y[2] * (v - 50), ik = p[1] * y[3] * y[3] * y[3] * y[3] * (v + 77);
  T ica = p[2] * y[4] * y[4] * (v - 60), il = p[3] * (v + (T)54.4);
  d[0] = p[4] - ina - ik - ica - il;
  d[1] = am * (1 - y[1]) - bm * y[1];
  d[2] = ah * (1 - y[2]) - bh * y[2];
  d[3] = an * (1 - y[3]) - bn * y[3];
  d[4] = (xs - y[4]) / 5;
  d[5] = (T)-0.01 * ica - (y[5] - (T)0.1) * (T)0.1;
}
template <class T> __host__ __device__ void binding(const T *y, const T *p, T *d) {
  T flux[5];
  for (int i = 0; i < 5; i++) flux[i] = p[5] * y[5] * y[6 + i] * (T)(5 - i) - p[6] * y[7 + i] * (T)(i + 1);
  d[6] = -flux[0];
  for (int i = 1; i < 5; i++) d[6 + i] = flux[i - 1] - flux[i];
  d[11] = flux[4] + p[7] * 0;
}

__global__ void derivatives(const float *y, const float *p, float *d) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) electrical(y, p, d);
  else binding(y, p, d);
}

/* Fehlberg's coefficients: stage weights, fourth-order sum, fifth-order sum. */
static const double A[6][5] = {{0},
                               {1. / 4},
                               {3. / 32, 9. / 32},
                               {1932. / 2197, -7200. / 2197, 7296. / 2197},
                               {439. / 216, -8, 3680. / 513, -845. / 4104},
                               {-8. / 27, 2, -3544. / 2565, 1859. / 4104, -11. / 40}};
static const double B4[6] = {25. / 216, 0, 1408. / 2565, 2197. / 4104, -1. / 5, 0};
static const double B5[6] = {16. / 135, 0, 6656. / 12825, 28561. / 56430, -9. / 50, 2. / 55};

/* One adaptive step; `derive` fills the derivatives. Returns the step taken and proposes the next. */
template <class F> static double rkf_step(std::vector<double> *y, double *h, F derive) {
  for (;;) {
    std::vector<double> k[6], yn(*y);
    double error = 0, taken = *h;
    for (int s = 0; s < 6; s++) {
      std::vector<double> ys(*y);
      for (int j = 0; j < s; j++)
        for (size_t i = 0; i < ys.size(); i++) ys[i] += taken * A[s][j] * k[j][i];
      k[s] = derive(ys);
    }
    for (size_t i = 0; i < yn.size(); i++) {
      double e = 0;
      for (int s = 0; s < 6; s++) {
        yn[i] += taken * B5[s] * k[s][i];
        e += taken * (B5[s] - B4[s]) * k[s][i];
      }
      error = std::max(error, fabs(e) / (1 + fabs(yn[i])));
    }
    *h = error < 1e-5 ? std::min(taken * 1.5, 0.5) : error < 1e-3 ? taken : taken * 0.5;
    if (error >= 1e-3 && taken > 1e-4) continue;
    *y = yn;
    return taken;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "myocyte");
  int steps = wl_int(&w, "steps", wl_by_size(10, 360, 10000), 1, 100000, "accepted time steps");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<double> y = {-65, 0.05, 0.6, 0.32, 0.02, 0.1, 1, 0, 0, 0, 0, 0};
  std::vector<float> p = {120, 36, 1.5f, 0.3f, 10, 2, 0.5f, 0};
  for (float &v : p) v *= wl_range(&seed, 0.95f, 1.05f);
  std::vector<double> pd(p.begin(), p.end());
  float *dy = wl_alloc<float>(EQUATIONS), *dd = wl_alloc<float>(EQUATIONS), *dp = wl_upload(p);
  struct wl_check chk = {};
  double t = 0, h = 0.01;
  int launches = 0;
  for (int s = 0; s < steps; s++)
    t += rkf_step(&y, &h, [&](const std::vector<double> &state) {
      std::vector<float> in(state.begin(), state.end());
      wl_put(dy, in);
      derivatives<<<2, 32>>>(dy, dp, dd);
      WL_LAUNCHED();
      launches++;
      std::vector<float> out = wl_download(dd, EQUATIONS);
      std::vector<double> state32(in.begin(), in.end()), want(EQUATIONS);
      electrical(state32.data(), pd.data(), want.data());
      binding(state32.data(), pd.data(), want.data());
      for (size_t i = 0; i < EQUATIONS; i++) wl_near(&chk, "derivative", i, out[i], want[i], 2e-3);
      return std::vector<double>(out.begin(), out.end());
    });
  double bound = 0;
  for (size_t i = 6; i < EQUATIONS; i++) bound += y[i];
  wl_near(&chk, "calmodulin in all states", 0, bound, 1, 1e-3);
  wl_that(&chk, y[0] > -120 && y[0] < 80, "the membrane potential is physiological");
  printf("%d launches, %.3f ms simulated, potential %.2f mV\n", launches, t, y[0]);
  return wl_end(&w, &chk);
}

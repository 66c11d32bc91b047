/* neuralnet - recognising handwritten digits with a small convolutional network
 *
 * Program: ISPASS-2009 NN
 * Suites: medic=NN sharing=NN
 * Groups: medic=mostly-hit
 * Algorithm: four launches, one per layer: two convolutional layers of 5 x 5 windows with stride 2 (6 maps of 13 x 13,
 *   50 maps of 5 x 5), a full layer of 100 neurons, and 10 outputs; a CTA computes one map (or one neuron) of one image.
 * Loads: weights are read by all threads of a CTA at one address and by all CTAs of a map; inputs are 5 x 5 windows,
 *   two apart per thread (degree 1 to 3); in the full layers, CTAs of one thread each read weights and inputs in sequence
 *   (degree 1, one active lane), as in the original.
 * Simplified: random weights and images: the answers have no meaning
 *   but must agree.
 */
#include "../common/wl.h"

#define IN 29
#define M1 13
#define M2 5
#define MAPS1 6
#define MAPS2 50
#define N3 100
#define N4 10
#define W1 (MAPS1 * 26)
#define W2 (MAPS2 * (MAPS1 * 25 + 1))
#define W3 (N3 * (MAPS2 * 25 + 1))
#define W4 (N4 * (N3 + 1))

__host__ __device__ inline float squash(float x) {
  return 1.7159f * tanhf(0.66666667f * x);
}
/* One neuron of each layer; `w` is the start of that layer's weights. */
__host__ __device__ inline float neuron1(const float *in, const float *w, int map, int x, int y) {
  float sum = w[map * 26];
  for (int i = 0; i < 25; i++) sum += in[(2 * y + i / 5) * IN + 2 * x + i % 5] * w[map * 26 + 1 + i];
  return squash(sum);
}
__host__ __device__ inline float neuron2(const float *in, const float *w, int map, int x, int y) {
  const float *mine = w + map * (MAPS1 * 25 + 1);
  float sum = mine[0];
  for (int m = 0; m < MAPS1; m++)
    for (int i = 0; i < 25; i++) sum += in[m * M1 * M1 + (2 * y + i / 5) * M1 + 2 * x + i % 5] * mine[1 + m * 25 + i];
  return squash(sum);
}
__host__ __device__ inline float neuron_full(const float *in, const float *w, int n, int inputs) {
  float sum = w[n * (inputs + 1)];
  for (int i = 0; i < inputs; i++) sum += in[i] * w[n * (inputs + 1) + 1 + i];
  return squash(sum);
}

__global__ void layer1(const float *in, const float *w, float *out) {
  int map = blockIdx.x, image = blockIdx.y;
  out[(image * MAPS1 + map) * M1 * M1 + threadIdx.y * M1 + threadIdx.x] =
      neuron1(in + image * IN * IN, w, map, threadIdx.x, threadIdx.y);
}
__global__ void layer2(const float *in, const float *w, float *out) {
  int map = blockIdx.x, image = blockIdx.y;
  out[(image * MAPS2 + map) * M2 * M2 + threadIdx.y * M2 + threadIdx.x] =
      neuron2(in + image * MAPS1 * M1 * M1, w, map, threadIdx.x, threadIdx.y);
}
__global__ void layer_full(const float *in, const float *w, float *out, int inputs) {
  int n = blockIdx.x, image = blockIdx.y;
  out[image * gridDim.x + n] = neuron_full(in + image * inputs, w, n, inputs);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "neuralnet");
  int images = wl_int(&w, "images", wl_by_size(1, 7, 56), 1, 1024, "images");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t n = (size_t)images;
  std::vector<float> in(n * IN * IN), w1(W1), w2(W2), w3(W3), w4(W4);
  for (float &v : in) v = wl_below(&seed, 3) ? 1.0f : wl_range(&seed, -1, 1);
  for (std::vector<float> *v : {&w1, &w2, &w3, &w4})
    for (float &x : *v) x = 0.1f * wl_normal(&seed);
  float *d1 = wl_upload(w1), *d2 = wl_upload(w2), *d3 = wl_upload(w3), *d4 = wl_upload(w4), *di = wl_upload(in);
  float *o1 = wl_alloc<float>(n * MAPS1 * M1 * M1), *o2 = wl_alloc<float>(n * MAPS2 * M2 * M2),
        *o3 = wl_alloc<float>(n * N3), *o4 = wl_alloc<float>(n * N4);
  unsigned g = (unsigned)images;
  layer1<<<dim3(MAPS1, g), dim3(M1, M1)>>>(di, d1, o1);
  layer2<<<dim3(MAPS2, g), dim3(M2, M2)>>>(o1, d2, o2);
  layer_full<<<dim3(N3, g), 1>>>(o2, d3, o3, MAPS2 * M2 * M2);
  layer_full<<<dim3(N4, g), 1>>>(o3, d4, o4, N3);
  WL_LAUNCHED();

  /* Each layer is checked from the device's own inputs to it. */
  std::vector<float> a = wl_download(o1, n * MAPS1 * M1 * M1), b = wl_download(o2, n * MAPS2 * M2 * M2),
                     c = wl_download(o3, n * N3), e = wl_download(o4, n * N4);
  struct wl_check chk = {};
  for (size_t i = 0; i < a.size(); i++) {
    size_t image = i / (MAPS1 * M1 * M1);
    wl_near(&chk, "layer 1", i, a[i],
            neuron1(&in[image * IN * IN], w1.data(), (int)(i / (M1 * M1) % MAPS1), (int)(i % M1), (int)(i / M1 % M1)),
            1e-3);
  }
  for (size_t i = 0; i < b.size(); i++) {
    size_t image = i / (MAPS2 * M2 * M2);
    wl_near(&chk, "layer 2", i, b[i],
            neuron2(&a[image * MAPS1 * M1 * M1], w2.data(), (int)(i / (M2 * M2) % MAPS2), (int)(i % M2),
                    (int)(i / M2 % M2)),
            1e-3);
  }
  for (size_t i = 0; i < c.size(); i++)
    wl_near(&chk, "layer 3", i, c[i],
            neuron_full(&b[i / N3 * MAPS2 * M2 * M2], w3.data(), (int)(i % N3), MAPS2 * M2 * M2), 1e-3);
  for (size_t i = 0; i < e.size(); i++)
    wl_near(&chk, "layer 4", i, e[i], neuron_full(&c[i / N4 * N3], w4.data(), (int)(i % N4), N3), 1e-3);
  return wl_end(&w, &chk);
}

/* backprop - one training step of a neural network with one hidden layer
 *
 * Program: Rodinia backprop
 * Suites: bucl=BP medic=BP decoupled-l1d=BP sharing=backprop
 * Groups: bucl=coherent decoupled-l1d=cache-friendly medic=balanced
 * Algorithm: layer_forward multiplies 16 inputs by their weights to 16 hidden units per CTA in shared memory and
 *   reduces over the inputs as a tree; the host finishes sums, sigmoids, the output layer and the errors; adjust_weights
 *   adds delta and momentum to every weight of the input layer.
 * Loads: CTAs of 16 x 16; weights form rows of 17 floats
 *   (16 hidden units and the bias), so a warp reads two pieces of adjacent rows (degree 1 to 3); products are
 *   written back over the weights; a store may have changed what was read before, so weights and deltas are read twice.
 * Simplified: 16 hidden units as in the original; one training step.
 */
#include "../common/wl.h"

#define WIDTH 16
#define HEIGHT 16
#define ETA 0.3f
#define MOMENTUM 0.3f

__global__ void layer_forward(const float *input, float *weights, float *partial, int hid) {
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_in = HEIGHT * by + ty + 1;
  __shared__ float node[HEIGHT];
  __shared__ float product[HEIGHT][WIDTH];
  if (tx == 0) node[ty] = input[index_in];
  __syncthreads();
  product[ty][tx] = weights[index];
  __syncthreads();
  product[ty][tx] = product[ty][tx] * node[ty];
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= 4; i++) {
    int power = __float2int_rz((float)(1 << i));
    if (ty % power == 0) product[ty][tx] = product[ty][tx] + product[ty + power / 2][tx];
    __syncthreads();
  }
  weights[index] = product[ty][tx];
  __syncthreads();
  if (tx == 0) partial[by * hid + ty] = product[tx][ty];
}

/* The store to w may have changed delta, ly and oldw, for all that a compiler knows: they are read twice. */
__global__ void adjust_weights(const float *delta, int hid, const float *ly, float *w, float *oldw) {
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_y = HEIGHT * by + ty + 1;
  int index_x = tx + 1;
  w[index] += ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
  oldw[index] = ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
  __syncthreads();
  if (ty == 0 && by == 0) {
    w[index_x] += ETA * delta[index_x] + MOMENTUM * oldw[index_x];
    oldw[index_x] = ETA * delta[index_x] + MOMENTUM * oldw[index_x];
  }
}

static double squash(double x) {
  return 1.0 / (1.0 + exp(-x));
}

/* Hidden units from weighted sums, then the error of each hidden unit against target 0.1 through one output unit. */
static std::vector<float> hidden_errors(const std::vector<double> &sums, const std::vector<float> &out_w) {
  size_t hid = sums.size() - 1;
  std::vector<double> h(hid + 1, 1);
  double o = out_w[0];
  for (size_t j = 1; j <= hid; j++) {
    h[j] = squash(sums[j]);
    o += h[j] * out_w[j];
  }
  o = squash(o);
  double error = o * (1 - o) * (0.1 - o);
  std::vector<float> delta(hid + 1, 0);
  for (size_t j = 1; j <= hid; j++) delta[j] = (float)(h[j] * (1 - h[j]) * out_w[j] * error);
  return delta;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "backprop");
  int in = wl_int(&w, "inputs", wl_by_size(2048, 16384, 262144), 16, 65535 * 16, "input units (rounded up to 16)");
  wl_ready(&w);
  in = (in + HEIGHT - 1) / HEIGHT * HEIGHT;
  const int hid = WIDTH;
  const unsigned blocks = (unsigned)in / HEIGHT;

  uint64_t seed = w.seed;
  size_t cells = (size_t)(in + 1) * (hid + 1);
  std::vector<float> input((size_t)in + 1), weights(cells), old(cells), out_w((size_t)hid + 1);
  for (float &v : input) v = wl_unit(&seed);
  input[0] = 1;
  for (float &v : weights) v = wl_range(&seed, -0.02f, 0.02f);
  for (float &v : old) v = wl_range(&seed, -0.01f, 0.01f);
  for (float &v : out_w) v = wl_range(&seed, -1, 1);
  float *din = wl_upload(input), *dw = wl_upload(weights), *dold = wl_upload(old);
  float *dpart = wl_alloc<float>((size_t)blocks * hid);

  dim3 block(WIDTH, HEIGHT), grid(1, blocks);
  layer_forward<<<grid, block>>>(din, dw, dpart, hid);
  WL_LAUNCHED();
  std::vector<float> part = wl_download(dpart, (size_t)blocks * hid);
  std::vector<double> got((size_t)hid + 1, 0), want((size_t)hid + 1, 0);
  for (size_t j = 1; j <= (size_t)hid; j++) {
    for (size_t b = 0; b < blocks; b++) got[j] += part[b * hid + j - 1];
    got[j] += weights[j];
    for (size_t k = 0; k <= (size_t)in; k++) want[j] += (double)input[k] * weights[k * (hid + 1) + j];
  }
  struct wl_check chk = {};
  for (size_t j = 1; j <= (size_t)hid; j++) wl_near(&chk, "sum", j, got[j], want[j], 1e-3);

  std::vector<float> delta = hidden_errors(want, out_w);
  float *ddelta = wl_upload(delta);
  wl_put(dw, weights); /* the products are there now */
  adjust_weights<<<grid, block>>>(ddelta, hid, din, dw, dold);
  WL_LAUNCHED();
  for (size_t k = 0; k <= (size_t)in; k++)
    for (size_t j = 1; j <= (size_t)hid; j++) {
      size_t i = k * (hid + 1) + j;
      double step = (double)ETA * delta[j] * input[k] + (double)MOMENTUM * old[i];
      weights[i] = (float)(weights[i] + step);
      old[i] = (float)step;
    }
  wl_near_all(&chk, "weight", wl_download(dw, cells), weights, 1e-5);
  wl_near_all(&chk, "old step", wl_download(dold, cells), old, 1e-5);
  return wl_end(&w, &chk);
}

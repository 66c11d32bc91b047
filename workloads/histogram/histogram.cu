/* histogram - histogram with saturating bins in global memory
 *
 * Program: Parboil histo
 * Suites: tsc=histo sharing=histo
 * Groups: tsc=cache-line-positive
 * Algorithm: four kernels a pass. prescan finds the range of the values from a sample; intermediates splits every value
 *   into its range of 24,576 bins and its place there; main_pass keeps a range per CTA row in shared memory, as bytes that
 *   overflow to a table, and counts what lies outside in global memory with atomics; final_pass adds up and saturates the
 *   counts to bytes, and clears the tables.
 * Loads: the image and the split values are streamed coalesced; the counts outside the ranges are read, and hit by
 *   atomics, anywhere (degree up to 32); final_pass streams tables of 8 and 16 bytes a thread, larger than the image.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define SAMPLERS 512
#define COUNTERS 768
#define FINISHERS 512
#define LINES 16          /* of the image by a CTA of intermediates */
#define BLOCKS 14         /* parts of the image, each with tables of its own */
#define WORDS (24 * 256)  /* of the bytes of a range */
#define RANGE (WORDS * 4) /* bins of a range */

/* Of an eighth of the values: ten deviations to both sides of the mean, in ranges. A thread without a value gives none. */
__global__ void prescan(const unsigned *img, int n, unsigned *range) {
  __shared__ float mean[SAMPLERS], deviation[SAMPLERS];
  int part = n / gridDim.x, first = blockIdx.x * part + threadIdx.x, end = blockIdx.x * part + part / 8;
  float sum = 0, square = 0;
  unsigned count = 0;
  for (int i = first; i < end; i += SAMPLERS) {
    sum += (float)img[i];
    count++;
  }
  sum /= (float)count;
  for (int i = first; i < end; i += SAMPLERS) square += ((float)img[i] - sum) * ((float)img[i] - sum);
  mean[threadIdx.x] = sum;
  deviation[threadIdx.x] = sqrtf(square / (float)count);
  for (int s = SAMPLERS / 2; s > 0; s /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < s) {
      mean[threadIdx.x] += mean[threadIdx.x + s];
      deviation[threadIdx.x] += deviation[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) {
    float m = mean[0] / SAMPLERS, d = deviation[0] / SAMPLERS;
    atomicMin(&range[0], (unsigned)(m - 10 * d) / RANGE);
    atomicMax(&range[1], (unsigned)(m + 10 * d) / RANGE);
  }
}

__device__ uchar4 place_of(unsigned bin) {
  return make_uchar4((unsigned char)(bin / RANGE), (unsigned char)((bin >> 10) % 24), (unsigned char)(bin >> 2),
                     (unsigned char)(bin % 4 * 8));
}
__device__ unsigned bin_of(uchar4 p) {
  return p.x * RANGE + p.w / 8 + p.z * 4 + p.y * 1024;
}
__global__ void intermediates(const uint2 *img, int width, uchar4 *places) {
  const uint2 *from = img + blockIdx.x * LINES * (width / 2) + threadIdx.x;
  int to = blockIdx.x * LINES * width + threadIdx.x;
#pragma unroll
  for (int i = 0; i < LINES; i++, from += width / 2, to += width) {
    uint2 pair = *from;
    places[to] = place_of(pair.x);
    places[to + blockDim.x] = place_of(pair.y);
  }
}

/* A byte that was 255 has carried into the bytes above it: the table takes the carry back from them. */
__device__ void count_near(uchar4 p, unsigned *bytes, unsigned *overflow) {
  unsigned before = atomicAdd(&bytes[p.y * 256 + p.z], 1u << p.w), bin = bin_of(p);
  if ((before >> p.w & 255) != 255) return;
  atomicAdd(&overflow[bin], 256u);
  for (int shift = p.w + 8; shift < 32; shift += 8) {
    bool on = (before >> shift & 255) == 255;
    atomicAdd(&overflow[++bin], on ? 255u : ~0u);
    if (!on) break;
  }
}
/* Counts of 16 bits, two in a word. */
__device__ void count_far(uchar4 p, unsigned *halves) {
  unsigned bin = bin_of(p), shift = bin % 2 * 16;
  if ((halves[bin / 2] >> shift & 0xffff) < 255) atomicAdd(&halves[bin / 2], 1u << shift);
}
__global__ void main_pass(const uchar4 *places, int n, unsigned low, unsigned high, int nbins, unsigned *parts,
                          unsigned *halves, unsigned *overflow) {
  __shared__ unsigned bytes[WORDS];
  unsigned mine = low + blockIdx.y;
  for (int i = threadIdx.x; i < WORDS; i += COUNTERS) bytes[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * COUNTERS + threadIdx.x; i < n; i += COUNTERS * BLOCKS) {
    uchar4 p = places[i];
    if (p.x == mine) count_near(p, bytes, overflow);
    if (blockIdx.y == 0 && (p.x < low || p.x > high)) count_far(p, halves);
  }
  __syncthreads();
  unsigned *to = parts + blockIdx.x * (nbins / 4) + mine * WORDS;
  for (int i = threadIdx.x; i < WORDS; i += COUNTERS) to[i] = bytes[i];
}

__device__ static unsigned char saturated(unsigned count) {
  return (unsigned char)min(count, 255u);
}
__device__ static void finish_far(ushort4 *halves, uchar4 *out, int i) {
  ushort4 h = halves[i];
  halves[i] = make_ushort4(0, 0, 0, 0);
  out[i] = make_uchar4(saturated(h.x), saturated(h.y), saturated(h.z), saturated(h.w));
}
/* Four bins a thread and step: below the ranges, in them, above them. */
__global__ void final_pass(unsigned low, unsigned high, int nbins, const unsigned *parts, ushort4 *halves,
                           uint4 *overflow, uchar4 *out) {
  int first = blockIdx.x * FINISHERS + threadIdx.x, step = gridDim.x * FINISHERS;
  int below = min((int)(low * WORDS), nbins / 4), in = min((int)((high + 1) * WORDS), nbins / 4);
  for (int i = first; i < below; i += step) finish_far(halves, out, i);
  for (int i = below + first; i < in; i += step) {
    uint4 sum = overflow[i];
    overflow[i] = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
      unsigned four = parts[i + j * (nbins / 4)];
      sum.x += four & 255;
      sum.y += four >> 8 & 255;
      sum.z += four >> 16 & 255;
      sum.w += four >> 24;
    }
    out[i] = make_uchar4(saturated(sum.x), saturated(sum.y), saturated(sum.z), saturated(sum.w));
  }
  for (int i = in + first; i < nbins / 4; i += step) finish_far(halves, out, i);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "histogram");
  int width = wl_int(&w, "width", wl_by_size(256, 256, 1024), 32, 2048, "pixels of a line (made even)");
  int height = wl_int(&w, "height", wl_by_size(256, 256, 1024), 16, 8192, "lines (rounded up to 16)");
  int lines = wl_int(&w, "bin-lines", wl_by_size(32, 256, 256), 8, 760, "bins, in lines of 8,192");
  int passes = wl_int(&w, "passes", wl_by_size(1, 1, 5), 1, 100, "passes over the image");
  wl_ready(&w);
  width &= ~1;
  height = (height + LINES - 1) / LINES * LINES;

  uint64_t seed = w.seed;
  int n = width * height, nbins = lines * 8192;
  size_t bins = (size_t)nbins;
  std::vector<unsigned> img((size_t)n), counts(bins, 0);
  for (unsigned &v : img) {
    float x = (float)nbins / 2 + wl_normal(&seed) * (float)nbins / 16;
    v = (unsigned)std::min(std::max(x, 0.0f), (float)nbins - 1);
    counts[v] = std::min(counts[v] + 1, 255u);
  }
  std::vector<unsigned char> want(counts.begin(), counts.end());
  /* Rounded up to whole ranges: the last one is not filled. */
  size_t room = (bins + RANGE - 1) / RANGE * RANGE;
  unsigned *dimg = wl_upload(img), *drange = wl_alloc<unsigned>(2),
           *parts = wl_alloc<unsigned>(BLOCKS * (bins / 4) + room), *halves = wl_zeros<unsigned>(room / 2),
           *overflow = wl_zeros<unsigned>(room);
  uchar4 *places = wl_alloc<uchar4>(img.size()), *out = wl_alloc<uchar4>(room / 4);
  unsigned last = (unsigned)(room / RANGE) - 1;
  for (int p = 0; p < passes; p++) {
    wl_put(drange, std::vector<unsigned>{~0u, 0});
    prescan<<<64, SAMPLERS>>>(dimg, n, drange);
    WL_LAUNCHED();
    std::vector<unsigned> range = wl_download(drange, 2);
    range[1] = std::min(range[1], last);
    range[0] = std::min(range[0], range[1]);
    intermediates<<<(unsigned)(height / LINES), (unsigned)(width / 2)>>>((const uint2 *)dimg, width, places);
    main_pass<<<dim3(BLOCKS, range[1] - range[0] + 1), COUNTERS>>>(places, n, range[0], range[1], nbins, parts, halves,
                                                                   overflow);
    final_pass<<<BLOCKS * 3, FINISHERS>>>(range[0], range[1], nbins, parts, (ushort4 *)halves, (uint4 *)overflow, out);
    WL_LAUNCHED();
  }
  struct wl_check chk = {};
  wl_equal_all(&chk, "bin", wl_download((unsigned char *)out, bins), want);
  return wl_end(&w, &chk);
}

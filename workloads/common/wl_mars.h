/* wl_mars.h - the MapReduce frame of the Mars programs: count, scan, map, group by sorting, reduce.
 *
 * As in Mars (He et al., PACT 2008): map runs twice, first to count what each task emits, then, after a prefix sum, to
 * write it without locks; groups are made by a bitonic sort whose comparisons follow the records' pointers to the keys,
 * which are strings of any length in the input text; threads read the text byte by byte at places of their own. */
#ifndef WL_MARS_H
#define WL_MARS_H

#include "wl.h"

/* A key in the text and a value; an empty place sorts last. */
struct mars_record {
  unsigned hash; /* of the key: compared first, so that most comparisons end here */
  int offset, length, value;
};

__device__ static inline unsigned mars_hash(const char *text, int offset, int length) {
  unsigned h = 2166136261u;
  for (int i = 0; i < length; i++) h = (h ^ (unsigned char)text[offset + i]) * 16777619u;
  return h & 0x7fffffffu;
}

/* Exclusive prefix sum of n values by one CTA of 512 threads, chunk after chunk; total[0] is the sum. */
__global__ void mars_scan(int *v, int n, int *total) {
  __shared__ int t[2][512];
  int carry = 0;
  for (int base = 0; base < n; base += 512) {
    int i = base + threadIdx.x, in = 0, mine = i < n ? v[i] : 0;
    t[0][threadIdx.x] = mine;
    __syncthreads();
    for (int s = 1; s < 512; s *= 2, in ^= 1) {
      t[in ^ 1][threadIdx.x] = t[in][threadIdx.x] + ((int)threadIdx.x >= s ? t[in][threadIdx.x - s] : 0);
      __syncthreads();
    }
    if (i < n) v[i] = carry + t[in][threadIdx.x] - mine;
    carry += t[in][511];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = carry;
}

/* By hash, then key text, then value. */
__device__ static inline int mars_compare(const mars_record &a, const mars_record &b, const char *text) {
  if (a.hash != b.hash) return a.hash < b.hash ? -1 : 1;
  if (a.length < 0 || b.length < 0) return 0;
  int n = min(a.length, b.length);
  for (int i = 0; i < n; i++) {
    char x = text[a.offset + i], y = text[b.offset + i];
    if (x != y) return x < y ? -1 : 1;
  }
  if (a.length != b.length) return a.length < b.length ? -1 : 1;
  return a.value < b.value ? -1 : a.value > b.value;
}

__global__ void mars_bitonic(mars_record *r, const char *text, int j, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  mars_record a = r[i], b = r[other];
  bool up = (i & k) == 0;
  int c = mars_compare(a, b, text);
  if (up ? c > 0 : c < 0) {
    r[i] = b;
    r[other] = a;
  }
}

/* Sorts in place; `room` is a power of two of at least 256, the places after the records hold hash ~0 and length -1. */
static inline void mars_sort(mars_record *r, const char *text, int room) {
  for (int k = 2; k <= room; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) mars_bitonic<<<(unsigned)room / 256, 256>>>(r, text, j, k);
  WL_LAUNCHED();
}
static inline int mars_room(int n) {
  int room = 256;
  while (room < n) room *= 2;
  return room;
}
/* Device array of `room` empty places. */
static inline mars_record *mars_places(int room) {
  return wl_upload(std::vector<mars_record>((size_t)room, mars_record{~0u, -1, -1, 0}));
}

/* First record of each group of equal keys: 1. */
__global__ void mars_heads(const mars_record *r, const char *text, int n, int *head) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool same = i > 0 && r[i].hash == r[i - 1].hash && r[i].length == r[i - 1].length;
  for (int k = 0; same && k < r[i].length; k++) same = text[r[i].offset + k] == text[r[i - 1].offset + k];
  head[i] = !same;
}

/* ---- inputs ---- */
/* Ranks 0..n-1 with probability proportional to 1 / (rank + 1). */
struct wl_zipf {
  std::vector<float> sum;
};
static inline struct wl_zipf wl_zipf_of(int n) {
  struct wl_zipf z;
  double s = 0;
  for (int i = 0; i < n; i++) z.sum.push_back((float)(s += 1.0 / (i + 1)));
  return z;
}
static inline int wl_zipf_next(const struct wl_zipf &z, uint64_t *seed) {
  float x = wl_unit(seed) * z.sum.back();
  int i = (int)(std::upper_bound(z.sum.begin(), z.sum.end(), x) - z.sum.begin());
  return std::min(i, (int)z.sum.size() - 1);
}
static inline std::string wl_url(int rank) {
  char text[80];
  unsigned h = (unsigned)rank * 2654435761u;
  snprintf(text, sizeof text, "http://www.site%u.org/%.*s/page%d.html", h % 97, (int)(h % 13) + 1, "abcdefghijklmnop",
           rank);
  return text;
}
/* A web log: "URL\tADDRESS\n" lines, URLs by Zipf. Offsets of the lines (and the end) go to `lines`. */
static inline std::string wl_log(int n, int urls, int visitors, uint64_t *seed, std::vector<int> *lines) {
  struct wl_zipf z = wl_zipf_of(urls);
  std::string text;
  char address[40];
  for (int i = 0; i < n; i++) {
    lines->push_back((int)text.size());
    unsigned v = wl_below(seed, (uint32_t)visitors) * 2654435761u;
    snprintf(address, sizeof address, "\t%u.%u.%u.%u\n", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255);
    text += wl_url(wl_zipf_next(z, seed)) + address;
  }
  lines->push_back((int)text.size());
  return text;
}
static inline std::vector<char> wl_bytes(const std::string &s) {
  return std::vector<char>(s.begin(), s.end());
}

#endif

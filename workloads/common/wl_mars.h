/* wl_mars.h - the MapReduce frame of the Mars programs: count, scan, map, group by sorting, reduce.
 *
 * As in Mars (He et al., PACT 2008): records are keys and values of any size in two byte arrays, and a span of 16 bytes
 * for each. Map runs twice, first to count what each task emits, then, after prefix sums, to write it without locks, byte
 * by byte; groups are made by a bitonic sort of the spans, in shared memory within 256 of them, whose comparisons follow
 * the spans to the keys; then keys and values are copied in order, and the bounds of equal keys found.
 *
 * A program is a struct with static device functions count(key, value, emitter), map(key, value, emitter), compare(a, b)
 * of two keys, and, where it reduces, reduce_count and reduce as the first two. */
#ifndef WL_MARS_H
#define WL_MARS_H

#include "wl.h"

#define MARS_BLOCK 256

struct mars_records {
  char *keys, *values;
  int4 *spans; /* offset and size of the key, offset and size of the value */
  int n, key_bytes, value_bytes;
};
/* What a task writes, and where: tables with an element for each task. */
struct mars_emitter {
  int *key_size, *value_size, *count; /* in the first run sizes, in the second starts */
  int2 *emitted;
  int *index;
  mars_records out;
  int task;

  __device__ void size(int key, int value) {
    key_size[task] += key;
    value_size[task] += value;
    count[task]++;
  }
  __device__ void emit(const void *key, const void *value, int key_bytes, int value_bytes) {
    int2 at = emitted[task];
    char *k = out.keys + key_size[task] + at.x, *v = out.values + value_size[task] + at.y;
    for (int i = 0; i < key_bytes; i++) k[i] = ((const char *)key)[i];
    for (int i = 0; i < value_bytes; i++) v[i] = ((const char *)value)[i];
    emitted[task] = make_int2(at.x + key_bytes, at.y + value_bytes);
    int place = count[task] + index[task];
    out.spans[place] = make_int4(key_size[task] + at.x, key_bytes, value_size[task] + at.y, value_bytes);
    index[task]++;
  }
};

/* Exclusive prefix sum of a CTA's 256 values; the CTA's total goes to sums. */
__global__ void mars_scan_block(int *v, int n, int *sums) {
  __shared__ int t[2][MARS_BLOCK];
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x, in = 0, mine = i < n ? v[i] : 0;
  t[0][threadIdx.x] = mine;
  __syncthreads();
  for (int s = 1; s < MARS_BLOCK; s *= 2, in ^= 1) {
    t[in ^ 1][threadIdx.x] = t[in][threadIdx.x] + ((int)threadIdx.x >= s ? t[in][threadIdx.x - s] : 0);
    __syncthreads();
  }
  if (i < n) v[i] = t[in][threadIdx.x] - mine;
  if (threadIdx.x == MARS_BLOCK - 1) sums[blockIdx.x] = t[in][threadIdx.x];
}
__global__ void mars_scan_add(int *v, int n, const int *sums) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (i < n) v[i] += sums[blockIdx.x];
}
/* In place; what the values add up to. */
static inline int mars_scan(int *v, int n) {
  int blocks = (int)wl_blocks((size_t)n, MARS_BLOCK), *sums = wl_zeros<int>((size_t)blocks + 1), total;
  mars_scan_block<<<(unsigned)blocks, MARS_BLOCK>>>(v, n, sums);
  WL_LAUNCHED();
  if (blocks == 1) {
    total = wl_get(sums);
  } else {
    total = mars_scan(sums, blocks + 1);
    total = wl_get(sums + blocks);
    mars_scan_add<<<(unsigned)blocks, MARS_BLOCK>>>(v, n, sums);
    WL_LAUNCHED();
  }
  WL_CUDA(cudaFree(sums));
  return total;
}

template <class P> __global__ void mars_map_count(mars_records in, mars_emitter e) {
  e.task = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (e.task >= in.n) return;
  int4 s = in.spans[e.task];
  P::count(in.keys + s.x, in.values + s.z, e);
}
template <class P> __global__ void mars_map(mars_records in, mars_emitter e) {
  e.task = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (e.task >= in.n) return;
  int4 s = in.spans[e.task];
  P::map(in.keys + s.x, in.values + s.z, e);
}
/* One task per group of equal keys. */
template <class P> __global__ void mars_reduce_count(mars_records in, const int2 *groups, int n, mars_emitter e) {
  e.task = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (e.task >= n) return;
  int4 s = in.spans[groups[e.task].x];
  P::reduce_count(in.keys + s.x, in.values + s.z, groups[e.task].y - groups[e.task].x, e);
}
template <class P> __global__ void mars_reduce(mars_records in, const int2 *groups, int n, mars_emitter e) {
  e.task = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (e.task >= n) return;
  int4 s = in.spans[groups[e.task].x];
  P::reduce(in.keys + s.x, in.values + s.z, groups[e.task].y - groups[e.task].x, e);
}

/* Records of n tasks, whose sizes the first launch finds and which the second writes: count(e) and write(e) launch. */
template <class C, class W> static mars_records mars_emit(int n, C count, W write) {
  mars_emitter e = {};
  size_t tasks = (size_t)n;
  e.key_size = wl_zeros<int>(tasks);
  e.value_size = wl_zeros<int>(tasks);
  e.count = wl_zeros<int>(tasks);
  count(e);
  WL_LAUNCHED();
  e.out.key_bytes = mars_scan(e.key_size, n);
  e.out.value_bytes = mars_scan(e.value_size, n);
  e.out.n = mars_scan(e.count, n);
  e.out.keys = wl_zeros<char>((size_t)e.out.key_bytes);
  e.out.values = wl_zeros<char>((size_t)e.out.value_bytes);
  e.out.spans = wl_zeros<int4>((size_t)e.out.n);
  e.emitted = wl_zeros<int2>(tasks);
  e.index = wl_zeros<int>(tasks);
  write(e);
  WL_LAUNCHED();
  for (int *table : {e.key_size, e.value_size, e.count, (int *)e.emitted, e.index}) WL_CUDA(cudaFree(table));
  return e.out;
}

/* An empty place has offset -1 and sorts last. */
template <class P> __device__ static int mars_compare(const char *keys, int4 a, int4 b) {
  if (a.x < 0 || b.x < 0) return (a.x < 0) - (b.x < 0);
  return P::compare(keys + a.x, keys + b.x);
}
/* Steps j, j / 2, ... 1 of stage k among the CTA's 256 spans; of all stages up to k if `whole`. */
template <class P> __global__ void mars_sort_block(const char *keys, int4 *r, int last, bool whole) {
  __shared__ int4 t[MARS_BLOCK];
  int tx = threadIdx.x, i = blockIdx.x * MARS_BLOCK + tx;
  t[tx] = r[i];
  __syncthreads();
  for (int k = whole ? 2 : last; k <= last; k *= 2)
    for (int j = min(k, MARS_BLOCK) / 2; j > 0; j /= 2) {
      int other = tx ^ j;
      if (other > tx) {
        int4 a = t[tx], b = t[other];
        int c = mars_compare<P>(keys, a, b);
        if ((i & k) == 0 ? c > 0 : c < 0) {
          t[tx] = b;
          t[other] = a;
        }
      }
      __syncthreads();
    }
  r[i] = t[tx];
}
template <class P> __global__ void mars_sort_step(const char *keys, int4 *r, int j, int k) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  int4 a = r[i], b = r[other];
  int c = mars_compare<P>(keys, a, b);
  if ((i & k) == 0 ? c > 0 : c < 0) {
    r[i] = b;
    r[other] = a;
  }
}
/* Sizes of keys (or values) in sorted order, for the prefix sum. */
__global__ void mars_sizes(const int4 *spans, int n, int *size, bool of_value) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (i < n) size[i] = of_value ? spans[i].w : spans[i].y;
}
__global__ void mars_copy(const char *from, char *to, int4 *spans, int n, const int *start, bool of_value) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (i >= n) return;
  int4 s = spans[i];
  int offset = of_value ? s.z : s.x, bytes = of_value ? s.w : s.y, place = start[i];
  for (int b = 0; b < bytes; b++) to[place + b] = from[offset + b];
  if (of_value) spans[i].z = place;
  else spans[i].x = place;
}
template <class P> __global__ void mars_heads(mars_records r, int *head) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (i < r.n) head[i] = i == 0 || mars_compare<P>(r.keys, r.spans[i], r.spans[i - 1]) != 0;
}
__global__ void mars_bounds(const int *head, const int *place, int n, int2 *groups) {
  int i = blockIdx.x * MARS_BLOCK + threadIdx.x;
  if (i >= n || !head[i]) return;
  int end = i + 1;
  while (end < n && !head[end]) end++;
  groups[place[i]] = make_int2(i, end);
}

static inline char *mars_in_order(const char *from, int bytes, int4 *spans, int n, bool of_value) {
  unsigned grid = wl_blocks((size_t)n, MARS_BLOCK);
  int *start = wl_alloc<int>((size_t)n);
  char *to = wl_alloc<char>((size_t)bytes);
  mars_sizes<<<grid, MARS_BLOCK>>>(spans, n, start, of_value);
  mars_scan(start, n);
  mars_copy<<<grid, MARS_BLOCK>>>(from, to, spans, n, start, of_value);
  WL_LAUNCHED();
  WL_CUDA(cudaFree(start));
  return to;
}
/* Records in the order of their keys. *groups: the first record of each group of equal keys and the one after its last. */
template <class P> static mars_records mars_group(const mars_records &in, int2 **groups, int *n_groups) {
  size_t n = (size_t)in.n, room = MARS_BLOCK;
  while (room < n) room *= 2;
  mars_records r = in;
  r.spans = wl_upload(std::vector<int4>(room, make_int4(-1, 0, -1, 0)));
  WL_CUDA(cudaMemcpy(r.spans, in.spans, n * sizeof(int4), cudaMemcpyDeviceToDevice));
  unsigned grid = (unsigned)(room / MARS_BLOCK);
  mars_sort_block<P><<<grid, MARS_BLOCK>>>(in.keys, r.spans, MARS_BLOCK, true);
  for (int k = 2 * MARS_BLOCK; k <= (int)room; k *= 2) {
    for (int j = k / 2; j >= MARS_BLOCK; j /= 2) mars_sort_step<P><<<grid, MARS_BLOCK>>>(in.keys, r.spans, j, k);
    mars_sort_block<P><<<grid, MARS_BLOCK>>>(in.keys, r.spans, k, false);
  }
  WL_LAUNCHED();
  r.values = mars_in_order(in.values, in.value_bytes, r.spans, in.n, true);
  r.keys = mars_in_order(in.keys, in.key_bytes, r.spans, in.n, false);
  int *head = wl_alloc<int>(n), *place = wl_alloc<int>(n);
  grid = wl_blocks(n, MARS_BLOCK);
  mars_heads<P><<<grid, MARS_BLOCK>>>(r, head);
  WL_LAUNCHED();
  WL_CUDA(cudaMemcpy(place, head, n * sizeof(int), cudaMemcpyDeviceToDevice));
  *n_groups = mars_scan(place, in.n);
  *groups = wl_alloc<int2>((size_t)*n_groups);
  mars_bounds<<<grid, MARS_BLOCK>>>(head, place, in.n, *groups);
  WL_LAUNCHED();
  return r;
}
template <class P> static mars_records mars_run_map(const mars_records &in) {
  unsigned grid = wl_blocks((size_t)in.n, MARS_BLOCK);
  return mars_emit(
      in.n, [&](mars_emitter e) { mars_map_count<P><<<grid, MARS_BLOCK>>>(in, e); },
      [&](mars_emitter e) { mars_map<P><<<grid, MARS_BLOCK>>>(in, e); });
}
template <class P> static mars_records mars_run_reduce(const mars_records &in, const int2 *groups, int n) {
  unsigned grid = wl_blocks((size_t)n, MARS_BLOCK);
  return mars_emit(
      n, [&](mars_emitter e) { mars_reduce_count<P><<<grid, MARS_BLOCK>>>(in, groups, n, e); },
      [&](mars_emitter e) { mars_reduce<P><<<grid, MARS_BLOCK>>>(in, groups, n, e); });
}
/* Records of one size each. */
template <class K, class V> static mars_records mars_upload(const std::vector<K> &keys, const std::vector<V> &values) {
  std::vector<int4> spans;
  for (size_t i = 0; i < keys.size(); i++)
    spans.push_back(make_int4((int)(i * sizeof(K)), sizeof(K), (int)(i * sizeof(V)), sizeof(V)));
  mars_records r = {(char *)wl_upload(keys), (char *)wl_upload(values),      wl_upload(spans),
                    (int)keys.size(),        (int)(keys.size() * sizeof(K)), (int)(keys.size() * sizeof(V))};
  return r;
}
template <class K> static std::vector<K> mars_download(const char *bytes, int n) {
  return wl_download((const K *)bytes, (size_t)n);
}

/* A key that is a string in a text: compared by hash first. */
struct mars_string {
  char *text;
  int offset, hash;
};
__device__ static inline int mars_hash(const char *s, int length) {
  int h = length;
  for (int i = 0; i < length; i++) h = (int)((unsigned)h << 4) ^ (h >> 28) ^ s[i];
  return h;
}
/* Strings end with a zero byte. */
__device__ static inline int mars_compare_strings(const mars_string *a, const mars_string *b) {
  int ha = a->hash, hb = b->hash;
  if (ha != hb) return ha > hb ? 1 : -1;
  const char *x = a->text + a->offset, *y = b->text + b->offset;
  while (*x == *y && *x != 0) x++, y++;
  return *x > *y ? 1 : *x < *y ? -1 : 0;
}

#endif

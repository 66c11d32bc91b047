/* btree - point and range queries in a B+ tree
 *
 * Program: Rodinia b+tree
 * Suites: bucl=BT tsc=b+tree decoupled-l1d=BT sharing=b+tree
 * Groups: bucl=coherent tsc=cache-line-positive decoupled-l1d=cache-friendly
 * Algorithm: findK gives each CTA one key, findRangeK one range; each thread compares one key of the current node, the
 *   one whose interval holds the key publishes the child, and the CTA descends a level.
 * Loads: a node is 257 keys and 257 child numbers in a row, so every warp reads whole lines (degree 1 or 2 because
 *   nodes do not start on line boundaries); the upper levels are shared by all CTAs and are reused, the leaves are not.
 * Simplified: the tree is built level by level from sorted keys rather than by insertion.
 */
#include "../common/wl.h"

#define ORDER 256

struct knode {
  int location, is_leaf, num_keys;
  int indices[ORDER + 1];
  int keys[ORDER + 1];
};

__global__ void find_k(int height, const knode *nodes, const int *records, int *curr, int *offset, const int *keys,
                       int *ans) {
  int t = threadIdx.x, q = blockIdx.x;
  for (int level = 0; level < height; level++) {
    const knode *node = &nodes[curr[q]];
    if (node->keys[t] <= keys[q] && node->keys[t + 1] > keys[q]) offset[q] = node->indices[t];
    __syncthreads();
    if (t == 0) curr[q] = offset[q];
    __syncthreads();
  }
  if (nodes[curr[q]].keys[t] == keys[q]) ans[q] = records[nodes[curr[q]].indices[t]];
}

__global__ void find_range(int height, const knode *nodes, int *curr, int *offset, int *last, int *offset2,
                           const int *start, const int *end, int *first, int *length) {
  int t = threadIdx.x, q = blockIdx.x;
  for (int level = 0; level < height; level++) {
    const knode *a = &nodes[curr[q]], *b = &nodes[last[q]];
    if (a->keys[t] <= start[q] && a->keys[t + 1] > start[q]) offset[q] = a->indices[t];
    if (b->keys[t] <= end[q] && b->keys[t + 1] > end[q]) offset2[q] = b->indices[t];
    __syncthreads();
    if (t == 0) {
      curr[q] = offset[q];
      last[q] = offset2[q];
    }
    __syncthreads();
  }
  if (nodes[curr[q]].keys[t] == start[q]) first[q] = nodes[curr[q]].indices[t];
  __syncthreads();
  if (nodes[last[q]].keys[t] == end[q]) length[q] = nodes[last[q]].indices[t] - first[q] + 1;
}

#define FILLED 177 /* entries of a node: 69 % of its places, as insertion in random order leaves them */

/* Keys 2i for i < n; record i belongs to key 2i. Leaves first, then levels of parents; returns the root's index. */
static int build(int n, std::vector<knode> *nodes, int *height) {
  std::vector<int> level, low;
  for (int i = 0; i < n; i += FILLED) {
    knode k = {(int)nodes->size(), 1, std::min(FILLED, n - i), {0}, {0}};
    for (int j = 0; j <= ORDER; j++) {
      k.keys[j] = j < k.num_keys ? 2 * (i + j) : 0x7fffffff;
      k.indices[j] = j < k.num_keys ? i + j : 0;
    }
    level.push_back(k.location);
    low.push_back(i ? 2 * i : -1);
    nodes->push_back(k);
  }
  for (*height = 0; level.size() > 1; ++*height) {
    std::vector<int> up, up_low;
    for (size_t i = 0; i < level.size(); i += FILLED) {
      knode k = {(int)nodes->size(), 0, (int)std::min((size_t)FILLED, level.size() - i), {0}, {0}};
      for (int j = 0; j <= ORDER; j++) {
        k.keys[j] = j < k.num_keys ? low[i + (size_t)j] : 0x7fffffff;
        k.indices[j] = j < k.num_keys ? level[i + (size_t)j] : 0;
      }
      up.push_back(k.location);
      up_low.push_back(k.keys[0]);
      nodes->push_back(k);
    }
    level = up;
    low = up_low;
  }
  return level[0];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "btree");
  int n = wl_int(&w, "records", wl_by_size(20000, 100000, 1000000), 1, 10000000, "records in the tree");
  int queries = wl_int(&w, "queries", wl_by_size(300, 2000, 10000), 1, 65535, "point queries, and as many ranges");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<knode> nodes;
  int height, root = build(n, &nodes, &height);
  std::vector<int> records((size_t)n), keys((size_t)queries), start(keys), end(keys);
  for (int &r : records) r = (int)(wl_next(&seed) >> 34);
  for (size_t q = 0; q < keys.size(); q++) {
    keys[q] = (int)wl_below(&seed, 2u * (uint32_t)n); /* every second one is not there */
    int s = (int)wl_below(&seed, (uint32_t)n), e = std::min(n - 1, s + (int)wl_below(&seed, 1000));
    start[q] = 2 * s;
    end[q] = 2 * e;
  }
  printf("%zu nodes, height %d, node of %zu bytes\n", nodes.size(), height + 1, sizeof(knode));
  std::vector<int> roots(keys.size(), root), none(keys.size(), -1), zero(keys.size(), 0);
  knode *dn = wl_upload(nodes);
  int *dr = wl_upload(records), *dk = wl_upload(keys), *dcurr = wl_upload(roots), *doff = wl_upload(roots),
      *dans = wl_upload(none);
  int *dlast = wl_upload(roots), *doff2 = wl_upload(roots), *ds = wl_upload(start), *de = wl_upload(end);
  int *dfirst = wl_upload(zero), *dlen = wl_upload(zero);
  find_k<<<(unsigned)queries, ORDER>>>(height, dn, dr, dcurr, doff, dk, dans);
  WL_LAUNCHED();
  wl_put(dcurr, roots);
  wl_put(doff, roots);
  find_range<<<(unsigned)queries, ORDER>>>(height, dn, dcurr, doff, dlast, doff2, ds, de, dfirst, dlen);
  WL_LAUNCHED();

  std::vector<int> ans(keys.size()), first(keys.size()), length(keys.size());
  for (size_t q = 0; q < keys.size(); q++) {
    ans[q] = keys[q] % 2 ? -1 : records[(size_t)keys[q] / 2];
    first[q] = start[q] / 2;
    length[q] = (end[q] - start[q]) / 2 + 1;
  }
  struct wl_check chk = {};
  wl_equal_all(&chk, "record", wl_download(dans, ans.size()), ans);
  wl_equal_all(&chk, "first of range", wl_download(dfirst, first.size()), first);
  wl_equal_all(&chk, "length of range", wl_download(dlen, length.size()), length);
  return wl_end(&w, &chk);
}

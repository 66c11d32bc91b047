/* ss - similarity score of all pairs of documents
 *
 * Program: Mars SimilarityScore
 * Suites: medic=SS
 * Groups: medic=all-hit
 * Algorithm: one map task per pair of documents computes the cosine of their feature vectors; the group phase sorts by it.
 * Loads: the vectors are rows of a matrix, read 16 bytes at a time; the lanes of a warp pair one document with 32 others,
 *   so a load touches one line for the first and 32 for the others (degree 32); all warps read the same small matrix
 *   again and again. The tables of pairs, 16 bytes and more for each, are larger than it.
 * Simplified: nothing of the frame (wl_mars.h) but a record per task and its prefix sums.
 */
#include "../common/wl_mars.h"

struct pair_of {
  int a, b, features;
  float result;
};

struct similarity {
  __device__ static void count(char *, char *, mars_emitter &e) {
    e.size(sizeof(float), sizeof(int2));
  }
  __device__ static void map(char *key, char *value, mars_emitter &e) {
    __shared__ int kept[MARS_BLOCK][5]; /* what a task emits is put together in shared memory */
    const float *matrix = *(const float **)key;
    const pair_of *p = (const pair_of *)value;
    int doc1 = p->a, doc2 = p->b, features = p->features;
    const float4 *a = (const float4 *)(matrix + doc1 * features), *b = (const float4 *)(matrix + doc2 * features);
    float dot = 0, of_a = 0, of_b = 0;
    for (int i = 0; i < features / 4; i++) {
      float4 x = a[i], y = b[i];
      dot += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
      of_a += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
      of_b += y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    }
    float *result = (float *)&kept[threadIdx.x][0];
    *result = dot / (sqrtf(of_a) * sqrtf(of_b));
    kept[threadIdx.x][1] = doc1;
    kept[threadIdx.x][2] = doc2;
    e.emit(result, &kept[threadIdx.x][1], sizeof(float), sizeof(int2));
  }
  /* The most alike first. */
  __device__ static int compare(const char *a, const char *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x > y ? -1 : x < y;
  }
};

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "ss");
  int docs = wl_int(&w, "documents", wl_by_size(64, 160, 768), 2, 2048, "documents");
  int dim = wl_int(&w, "features", wl_by_size(64, 128, 128), 4, 4096, "features of a document (rounded up to 4)");
  wl_ready(&w);
  dim = (dim + 3) / 4 * 4;

  uint64_t seed = w.seed;
  size_t n = (size_t)docs, d = (size_t)dim;
  std::vector<float> m(n * d);
  for (float &v : m) v = wl_below(&seed, 3) ? 0.0f : wl_unit(&seed);
  for (size_t i = 0; i < n; i++) m[i * d] = 0.5f; /* no empty document */
  float *dm = wl_upload(m);
  std::vector<pair_of> pairs;
  for (int a = 0; a < docs; a++)
    for (int b = a + 1; b < docs; b++) pairs.push_back({a, b, dim, 0});
  std::vector<float *> keys(pairs.size(), dm);
  int2 *groups;
  int n_groups;
  mars_records r = mars_group<similarity>(mars_run_map<similarity>(mars_upload(keys, pairs)), &groups, &n_groups);

  struct wl_check chk = {};
  wl_that(&chk, r.n == (int)pairs.size(), "map emits a record for each pair");
  if (chk.wrong) return wl_end(&w, &chk);
  std::vector<float> score = mars_download<float>(r.keys, r.n);
  std::vector<int2> of = mars_download<int2>(r.values, r.n);
  std::vector<char> seen(n * n, 0);
  for (size_t i = 0; i < score.size(); i++) {
    double dot = 0, la = 0, lb = 0;
    size_t a = (size_t)of[i].x, b = (size_t)of[i].y;
    wl_that(&chk, a < b && b < n && !seen[a * n + b]++, "every pair comes once");
    if (chk.wrong) break;
    for (size_t k = 0; k < d; k++) {
      dot += (double)m[a * d + k] * m[b * d + k];
      la += (double)m[a * d + k] * m[a * d + k];
      lb += (double)m[b * d + k] * m[b * d + k];
    }
    wl_near(&chk, "score", i, score[i], dot / sqrt(la * lb), 1e-4);
    if (i) wl_that(&chk, score[i] <= score[i - 1], "the most alike come first");
  }
  return wl_end(&w, &chk);
}

/* pvr - page view rank: pages ordered by their number of views
 *
 * Program: Mars PageViewRank
 * Suites: medic=PVR
 * Groups: medic=mostly-miss
 * Algorithm: the host reads lines "URL views" and makes a record of the count and the place of each; map copies it; the
 *   group phase sorts by count; there is no reduce, the sorted records are the answer.
 * Loads: records of 4 and 4 bytes are read through spans of 16 (degree 4) and written byte by byte; the sort compares keys
 *   at unrelated places, and copies keys and values in the new order.
 * Simplified: nothing of the frame (wl_mars.h) but a record per task and its prefix sums.
 */
#include "../common/wl_mars.h"
#include "../common/wl_weblog.h"

struct page_rank {
  __device__ static void count(char *, char *, mars_emitter &e) {
    e.size(sizeof(int), sizeof(int));
  }
  __device__ static void map(char *key, char *value, mars_emitter &e) {
    __shared__ int kept[MARS_BLOCK][5]; /* what a task emits is put together in shared memory */
    kept[threadIdx.x][0] = *(int *)key;
    kept[threadIdx.x][1] = *(int *)value;
    e.emit(&kept[threadIdx.x][0], &kept[threadIdx.x][1], sizeof(int), sizeof(int));
  }
  /* The most viewed first. */
  __device__ static int compare(const char *a, const char *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x > y ? -1 : x < y;
  }
};

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "pvr");
  int n = wl_int(&w, "pages", wl_by_size(2048, 20000, 262144), 16, 1 << 20, "pages");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> places, views;
  struct wl_zipf z = wl_zipf_of(n);
  for (int i = 0, at = 0; i < n; i++) {
    places.push_back(at);
    views.push_back(1000000 / (wl_zipf_next(z, &seed) + 1));
    at += (int)(wl_url(i) + "\t" + std::to_string(views.back()) + "\n").size();
  }
  int2 *groups;
  int n_groups;
  mars_records r = mars_group<page_rank>(mars_run_map<page_rank>(mars_upload(views, places)), &groups, &n_groups);

  struct wl_check chk = {};
  wl_that(&chk, r.n == n, "map emits a record for each");
  if (chk.wrong) return wl_end(&w, &chk);
  std::vector<int> key = mars_download<int>(r.keys, n), value = mars_download<int>(r.values, n);
  std::vector<std::pair<int, int>> got, want;
  for (size_t i = 0; i < key.size(); i++) {
    got.push_back({-key[i], value[i]});
    want.push_back({-views[i], places[i]});
    if (i) wl_that(&chk, key[i] <= key[i - 1], "the most viewed come first");
  }
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  wl_that(&chk, got == want, "every page is there, with its views");
  std::sort(views.begin(), views.end());
  wl_near(&chk, "different counts", 0, n_groups, (double)(std::unique(views.begin(), views.end()) - views.begin()),
          1e-9);
  return wl_end(&w, &chk);
}

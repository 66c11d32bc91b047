/* pvr - page view rank: pages ordered by their number of views
 *
 * Program: Mars PageViewRank
 * Suites: medic=PVR
 * Groups: medic=mostly-miss
 * Algorithm: map parses a line "URL count" and emits the count as the key with the place of the URL as the value; the
 *   group phase sorts; there is no reduce, the sorted records are the answer.
 * Loads: the parse scans each thread's own
 *   line of text (degree up to 32); the sort moves records of 16 bytes through a bitonic network over global memory,
 *   streaming once per stage.
 * Simplified: the sort is a bitonic network in global memory.
 */
#include "../common/wl_mars.h"

__global__ void map_views(const char *text, const int *line, int lines, mars_record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  int at = line[i], start = at, views = 0;
  while (text[at] != '\t') at++;
  for (int k = at + 1; text[k] != '\n'; k++) views = views * 10 + (text[k] - '0');
  /* The most viewed first: the key is the complement of the count. */
  mars_record r = {0x7fffffffu - (unsigned)views, start, 0, i};
  out[i] = r;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "pvr");
  int n = wl_int(&w, "pages", wl_by_size(2048, 8192, 262144), 16, 1 << 20, "pages");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> lines, views;
  std::string text;
  struct wl_zipf z = wl_zipf_of(n);
  for (int i = 0; i < n; i++) {
    lines.push_back((int)text.size());
    views.push_back(1000000 / (wl_zipf_next(z, &seed) + 1));
    text += wl_url(i) + "\t" + std::to_string(views.back()) + "\n";
  }
  int room = mars_room(n);
  char *dtext = wl_upload(wl_bytes(text));
  int *dline = wl_upload(lines);
  mars_record *r = mars_places(room);
  map_views<<<wl_blocks((size_t)n, 256), 256>>>(dtext, dline, n, r);
  WL_LAUNCHED();
  mars_sort(r, dtext, room);

  std::vector<mars_record> got = wl_download(r, (size_t)n);
  std::vector<int> order((size_t)n);
  for (int i = 0; i < n; i++) order[(size_t)i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return views[(size_t)a] > views[(size_t)b]; });
  struct wl_check chk = {};
  for (size_t i = 0; i < got.size(); i++) {
    wl_near(&chk, "views", i, 0x7fffffff - (double)got[i].hash, views[(size_t)order[i]], 1e-9);
    wl_near(&chk, "page", i, got[i].value, order[i], 1e-9);
    wl_near(&chk, "place of its text", i, got[i].offset, lines[(size_t)order[i]], 1e-9);
  }
  return wl_end(&w, &chk);
}

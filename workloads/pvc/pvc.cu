/* pvc - page view count: distinct visitors of every page of a web log
 *
 * Program: Mars PageViewCount
 * Suites: medic=PVC
 * Groups: medic=balanced
 * Algorithm: first MapReduce: map hashes each log line, the group phase brings equal lines together, reduce keeps one of
 *   each. Second: map finds the URL and the address of a line and emits the address under the URL; the group phase gives
 *   every page's visitors.
 * Loads: a thread scans its own line of text byte by byte (degree up to 32, each line of the cache reused over many
 *   iterations); records of 16 and 8 bytes are read through spans of 16 and written byte by byte; the sort compares hashes,
 *   and strings, at unrelated places.
 * Simplified: nothing of the frame (wl_mars.h) but a record per task and its prefix sums.
 */
#include "../common/wl_mars.h"
#include "../common/wl_weblog.h"
#include <map>
#include <set>

struct visit {
  int size, phase;
};

struct page_views {
  __device__ static void count(char *, char *value, mars_emitter &e) {
    e.size(sizeof(mars_string), ((visit *)value)->phase == 0 ? sizeof(visit) : sizeof(int));
  }
  __device__ static void map(char *key, char *value, mars_emitter &e) {
    __shared__ int kept[MARS_BLOCK][5]; /* what a task emits is put together in shared memory */
    mars_string *line = (mars_string *)key;
    visit *v = (visit *)value;
    char *text = line->text + line->offset;
    if (v->phase == 0) {
      line->hash = mars_hash(text, v->size);
      e.emit(key, value, sizeof(mars_string), sizeof(visit));
      return;
    }
    int url = 1;
    char *p = text;
    for (; *p != '\t'; p++) url++;
    *p = 0;
    int *address = &kept[threadIdx.x][0];
    *address = line->offset + url;
    for (p++; *p != '\t'; p++) {
    }
    *p = 0;
    line->hash = mars_hash(text, url);
    e.emit(key, address, sizeof(mars_string), sizeof(int));
  }
  __device__ static int compare(const char *a, const char *b) {
    return mars_compare_strings((const mars_string *)a, (const mars_string *)b);
  }
  __device__ static void reduce_count(char *, char *, int, mars_emitter &e) {
    e.size(sizeof(mars_string), sizeof(visit));
  }
  __device__ static void reduce(char *key, char *value, int, mars_emitter &e) {
    ((visit *)value)->phase = 1;
    e.emit(key, value, sizeof(mars_string), sizeof(visit));
  }
};

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "pvc");
  int n = wl_int(&w, "lines", wl_by_size(1024, 8192, 131072), 16, 1 << 20, "log lines");
  int urls = wl_int(&w, "urls", wl_by_size(200, 2000, 20000), 1, 1 << 20, "pages");
  int visitors = wl_int(&w, "visitors", wl_by_size(64, 512, 2048), 1, 1 << 20, "visitors");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> lines;
  std::string log = wl_log(n, urls, visitors, &seed, &lines);
  std::vector<char> bytes = wl_bytes(log);
  std::replace(bytes.begin(), bytes.end(), '\n', '\0');
  char *text = wl_upload(bytes);
  std::vector<mars_string> keys;
  std::vector<visit> values;
  std::map<std::string, std::set<std::string>> want;
  for (size_t i = 0; i + 1 < lines.size(); i++) {
    keys.push_back({text, lines[i], 0});
    values.push_back({lines[i + 1] - lines[i], 0});
    std::string l = log.substr((size_t)lines[i], (size_t)(lines[i + 1] - lines[i] - 1));
    want[l.substr(0, l.find('\t'))].insert(l.substr(l.find('\t')));
  }
  int2 *groups;
  int n_groups;
  mars_records r = mars_group<page_views>(mars_run_map<page_views>(mars_upload(keys, values)), &groups, &n_groups);
  r = mars_run_reduce<page_views>(r, groups, n_groups);
  r = mars_group<page_views>(mars_run_map<page_views>(r), &groups, &n_groups);

  struct wl_check chk = {};
  std::vector<mars_string> pages = mars_download<mars_string>(r.keys, r.n);
  for (const int2 &g : wl_download(groups, (size_t)n_groups)) {
    size_t at = (size_t)pages[(size_t)g.x].offset;
    auto it = want.find(log.substr(at, log.find('\t', at) - at));
    wl_that(&chk, it != want.end(), "every group is a page of the log");
    if (it != want.end()) wl_near(&chk, "visitors", at, g.y - g.x, (double)it->second.size(), 1e-9);
  }
  wl_near(&chk, "pages", 0, n_groups, (double)want.size(), 1e-9);
  return wl_end(&w, &chk);
}

/* pvc - page view count: distinct visitors of every page of a web log
 *
 * Program: Mars PageViewCount
 * Suites: medic=PVC
 * Groups: medic=balanced
 * Algorithm: first MapReduce: each task finds the URL and the visitor of a log line and emits the pair as the key;
 *   sorting and taking the first of each group removes repeated visits. Second: URL as the key; groups are counted.
 * Loads: a thread scans its own line of text byte by byte (degree up to 32, each line of the cache reused over many
 *   iterations); the sort reads records of 16 bytes and compares strings at unrelated places.
 * Simplified: a hash is compared before the strings; the sort is a bitonic network in global memory.
 */
#include "../common/wl_mars.h"
#include <map>
#include <set>

__global__ void map_count(int *count, int lines) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < lines) count[i] = 1;
}
/* Key: the whole line but its end. */
__global__ void map_visits(const char *text, const int *line, int lines, const int *place, mars_record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  int start = line[i], length = 0;
  while (text[start + length] != '\n') length++;
  mars_record r = {mars_hash(text, start, length), start, length, 0};
  out[place[i]] = r;
}
/* Key: the URL of each distinct visit. */
__global__ void map_pages(const char *text, const mars_record *visits, const int *head, const int *place, int n,
                          mars_record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !head[i]) return;
  int start = visits[i].offset, length = 0;
  while (text[start + length] != '\t') length++;
  mars_record r = {mars_hash(text, start, length), start, length, 1};
  out[place[i]] = r;
}
/* One thread per group: its size goes to the value of its first record. */
__global__ void reduce_count(mars_record *r, const int *head, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !head[i]) return;
  int sum = 0;
  for (int k = i; k < n && (k == i || !head[k]); k++) sum++;
  r[i].value = sum;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "pvc");
  int n = wl_int(&w, "lines", wl_by_size(1024, 4096, 65536), 16, 1 << 20, "log lines");
  int urls = wl_int(&w, "urls", wl_by_size(200, 1000, 20000), 1, 1 << 20, "pages");
  int visitors = wl_int(&w, "visitors", wl_by_size(64, 256, 2048), 1, 1 << 20, "visitors");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> lines;
  std::string log = wl_log(n, urls, visitors, &seed, &lines);
  char *text = wl_upload(wl_bytes(log));
  int *dline = wl_upload(lines), room = mars_room(n), *place = wl_alloc<int>((size_t)n),
      *head = wl_alloc<int>((size_t)n), *total = wl_alloc<int>(1);
  mars_record *visits = mars_places(room), *pages = mars_places(room);
  unsigned grid = wl_blocks((size_t)n, 256);
  map_count<<<grid, 256>>>(place, n);
  mars_scan<<<1, 512>>>(place, n, total);
  map_visits<<<grid, 256>>>(text, dline, n, place, visits);
  mars_sort(visits, text, room);
  mars_heads<<<grid, 256>>>(visits, text, n, head);
  WL_CUDA(cudaMemcpy(place, head, (size_t)n * sizeof(int), cudaMemcpyDeviceToDevice));
  mars_scan<<<1, 512>>>(place, n, total);
  map_pages<<<grid, 256>>>(text, visits, head, place, n, pages);
  int m = wl_get(total);
  mars_sort(pages, text, room);
  grid = wl_blocks((size_t)m, 256);
  mars_heads<<<grid, 256>>>(pages, text, m, head);
  reduce_count<<<grid, 256>>>(pages, head, m);
  WL_LAUNCHED();

  std::map<std::string, std::set<std::string>> want;
  for (size_t i = 0; i + 1 < lines.size(); i++) {
    std::string l = log.substr((size_t)lines[i], (size_t)(lines[i + 1] - lines[i] - 1));
    want[l.substr(0, l.find('\t'))].insert(l.substr(l.find('\t')));
  }
  std::vector<mars_record> r = wl_download(pages, (size_t)m);
  std::vector<int> heads = wl_download(head, (size_t)m);
  struct wl_check chk = {};
  size_t groups = 0;
  for (size_t i = 0; i < r.size(); i++) {
    if (!heads[i]) continue;
    auto it = want.find(log.substr((size_t)r[i].offset, (size_t)r[i].length));
    wl_that(&chk, it != want.end(), "every group is a page of the log");
    if (it != want.end()) wl_near(&chk, "visitors", i, r[i].value, (double)it->second.size(), 1e-9);
    groups++;
  }
  wl_near(&chk, "pages", 0, (double)groups, (double)want.size(), 1e-9);
  return wl_end(&w, &chk);
}

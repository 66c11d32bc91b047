/* wl.h - what every workload's host program needs: options, sizes, random numbers, device memory, the verdict.
 *
 * A workload's main() does: struct wl w = wl_begin(argc, argv, "name"); read its parameters with wl_int(), which have
 * one value per size and can each be overridden by --NAME=VALUE; wl_ready(&w) refuses what is left over; then generate,
 * run, compare with a CPU reference; return wl_end(). Same seed and size: same input, on every machine. */
#ifndef WL_H
#define WL_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <string>
#include <vector>

enum wl_level { WL_SMALL, WL_MEDIUM, WL_LARGE };

struct wl {
  const char *name;
  int level;
  uint64_t seed;
  const char *input; /* --input FILE, or NULL */
  bool help;
  std::vector<std::string> rest; /* NAME=VALUE options that no code has read yet */
  std::string params;            /* for --help */
};

static inline void wl_die(const struct wl *w, const char *what, const char *arg) {
  fprintf(stderr, "%s: %s '%s' (see --help)\n", w->name, what, arg);
  exit(2);
}

static inline struct wl wl_begin(int argc, char **argv, const char *name) {
  struct wl w = {name, WL_SMALL, 1, NULL, false, {}, ""};
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    if (a == "--help" || a == "-h") {
      w.help = true;
      continue;
    }
    if (a.compare(0, 2, "--")) wl_die(&w, "expected an option, got", argv[i]);
    if (a.find('=') == std::string::npos) {
      if (i + 1 == argc) wl_die(&w, "no value after", argv[i]);
      a = a + "=" + argv[++i];
    }
    std::string key = a.substr(2, a.find('=') - 2), value = a.substr(a.find('=') + 1);
    if (key == "size") {
      static const char *const names[] = {"small", "medium", "large"};
      for (w.level = 0; w.level < 3 && value != names[w.level]; w.level++) {
      }
      if (w.level == 3) wl_die(&w, "--size is small, medium or large, not", value.c_str());
    } else if (key == "seed") {
      char *end;
      w.seed = strtoull(value.c_str(), &end, 10);
      if (*end || value.empty()) wl_die(&w, "--seed is a number, not", value.c_str());
    } else if (key == "input") {
      w.input = strdup(value.c_str());
    } else {
      w.rest.push_back(key + "=" + value);
    }
  }
  return w;
}

/* A value for each size. */
struct wl_sizes {
  int of[3]; /* by enum wl_level */
};
static inline struct wl_sizes wl_by_size(int small_value, int medium_value, int large_value) {
  struct wl_sizes s = {{small_value, medium_value, large_value}};
  return s;
}

/* An integer parameter: its value for the size, unless --key says otherwise; from lo to hi. */
static inline int wl_int(struct wl *w, const char *key, struct wl_sizes s, int lo, int hi, const char *what) {
  char line[200];
  snprintf(line, sizeof line, "  --%-12s %-40s small %d, medium %d, large %d (%d..%d)\n", key, what, s.of[WL_SMALL],
           s.of[WL_MEDIUM], s.of[WL_LARGE], lo, hi);
  w->params += line;
  int v = s.of[w->level];
  for (size_t i = 0; i < w->rest.size(); i++) {
    if (w->rest[i].compare(0, strlen(key) + 1, std::string(key) + "=")) continue;
    const char *text = w->rest[i].c_str() + strlen(key) + 1;
    char *end;
    long x = strtol(text, &end, 10);
    if (*end || !*text || x < lo || x > hi) {
      fprintf(stderr, "%s: --%s takes a number from %d to %d, not '%s'\n", w->name, key, lo, hi, text);
      exit(2);
    }
    v = (int)x;
    w->rest.erase(w->rest.begin() + (long)i);
    break;
  }
  return v;
}

/* All parameters are read: help, or an error for options that no code has read. */
static inline void wl_ready(struct wl *w, bool takes_input = false) {
  if (w->help) {
    printf("%s [--size small|medium|large] [--seed N]%s [--PARAMETER VALUE]...\n%s", w->name,
           takes_input ? " [--input FILE]" : "", w->params.c_str());
    exit(0);
  }
  if (!w->rest.empty()) wl_die(w, "unknown option", ("--" + w->rest[0]).c_str());
  if (w->input && !takes_input) wl_die(w, "this workload generates its input; it cannot read", w->input);
}

/* ---- random numbers: splitmix64 ---- */
static inline uint64_t wl_next(uint64_t *s) {
  uint64_t z = (*s += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static inline uint32_t wl_below(uint64_t *s, uint32_t n) {
  return (uint32_t)(((wl_next(s) >> 32) * n) >> 32);
}
static inline float wl_unit(uint64_t *s) { /* [0, 1) */
  return (float)(wl_next(s) >> 40) * (1.0f / 16777216.0f);
}
static inline float wl_range(uint64_t *s, float lo, float hi) {
  return lo + (hi - lo) * wl_unit(s);
}
/* Near-normal: the sum of twelve uniform numbers, which needs no libm and so is the same everywhere. */
static inline float wl_normal(uint64_t *s) {
  float x = -6.0f;
  for (int i = 0; i < 12; i++) x += wl_unit(s);
  return x;
}

/* ---- device memory ---- */
#define WL_CUDA(call)                                                                          \
  do {                                                                                         \
    cudaError_t wl_e = (call);                                                                 \
    if (wl_e != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(wl_e)); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

/* Launch errors at once; execution errors at the latest at the copy back. */
#define WL_LAUNCHED() WL_CUDA(cudaGetLastError())

static inline void *wl_raw(size_t bytes) {
  void *p = NULL;
  cudaError_t e = cudaMalloc(&p, bytes ? bytes : 1);
  if (e == cudaErrorMemoryAllocation) {
    size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    fprintf(stderr, "device memory is too small: %zu bytes wanted, %zu of %zu free; choose a smaller --size\n", bytes,
            available, total);
    exit(1);
  }
  WL_CUDA(e);
  return p;
}
template <class T> static T *wl_alloc(size_t n) {
  return (T *)wl_raw(n * sizeof(T));
}
template <class T> static T *wl_zeros(size_t n) {
  T *p = wl_alloc<T>(n);
  WL_CUDA(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}
template <class T> static void wl_put(T *device, const std::vector<T> &host) {
  WL_CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T> static T *wl_upload(const std::vector<T> &host) {
  T *p = wl_alloc<T>(host.size());
  wl_put(p, host);
  return p;
}
template <class T> static std::vector<T> wl_download(const T *device, size_t n) {
  std::vector<T> host(n);
  WL_CUDA(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}
template <class T> static T wl_get(const T *device) {
  T v;
  WL_CUDA(cudaMemcpy(&v, device, sizeof v, cudaMemcpyDeviceToHost));
  return v;
}
template <class T> static void wl_set(T *device, T v) {
  WL_CUDA(cudaMemcpy(device, &v, sizeof v, cudaMemcpyHostToDevice));
}
static inline unsigned wl_blocks(size_t n, unsigned per_block) {
  return (unsigned)((n + per_block - 1) / per_block);
}

/* ---- comparison ---- */
struct wl_check {
  size_t compared, wrong;
  double worst; /* largest error found, as a multiple of the tolerance */
  std::string first;
};
/* |got - want| <= tol * max(1, |want|); a NaN is wrong. */
static inline void wl_near(struct wl_check *c, const char *what, size_t i, double got, double want, double tol) {
  double scale = fabs(want) > 1 ? fabs(want) : 1, error = fabs(got - want) / (tol * scale);
  c->compared++;
  if (error <= 1.0) {
    if (error > c->worst) c->worst = error;
    return;
  }
  if (!c->wrong++) {
    char line[200];
    snprintf(line, sizeof line, "%s[%zu] is %.9g, the reference says %.9g", what, i, got, want);
    c->first = line;
  }
}
template <class T>
static void wl_near_all(struct wl_check *c, const char *what, const std::vector<T> &got, const std::vector<T> &want,
                        double tol) {
  if (got.size() != want.size()) wl_near(c, what, 0, (double)got.size(), (double)want.size(), 0.0001);
  for (size_t i = 0; i < got.size() && i < want.size(); i++) wl_near(c, what, i, (double)got[i], (double)want[i], tol);
}
template <class T>
static void wl_equal_all(struct wl_check *c, const char *what, const std::vector<T> &got, const std::vector<T> &want) {
  for (size_t i = 0; i < want.size(); i++) {
    c->compared++;
    if (i < got.size() && got[i] == want[i]) continue;
    if (!c->wrong++) {
      char line[200];
      snprintf(line, sizeof line, "%s[%zu] is %.9g, the reference says %.9g", what, i,
               i < got.size() ? (double)got[i] : -1.0, (double)want[i]);
      c->first = line;
    }
  }
}
static inline void wl_that(struct wl_check *c, bool ok, const char *claim) {
  c->compared++;
  if (!ok && !c->wrong++) c->first = std::string("not so: ") + claim;
}

/* Prints the verdict; what main() returns. Comparing nothing is a failure. */
static inline int wl_end(const struct wl *w, const struct wl_check *c) {
  bool ok = c->compared > 0 && c->wrong == 0;
  if (!ok) printf("%s: %zu of %zu values are wrong; %s\n", w->name, c->wrong, c->compared, c->first.c_str());
  else printf("%s: %zu values compared, largest error %.2f of the tolerance\n", w->name, c->compared, c->worst);
  printf("%s %s\n", w->name, ok ? "PASS" : "FAIL");
  return ok ? 0 : 1;
}

#endif

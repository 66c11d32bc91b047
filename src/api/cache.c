/* cache.c - the cache of sluice.h: model/cache.h with calls that always return. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "gpu/common/config.h"
#include "model/cache.h"

struct sluice_cache {
  struct api api;
  struct cache *cache;
};

static int wrong_size(struct sluice_error *e, const char *function, size_t got, size_t want) {
  return api_error(e, SLUICE_USAGE, "%s: size is %zu, not %zu", function, got, want);
}

/* ---- opening ---- */

struct opening {
  const char *const *options;
  struct sluice_cache *cache;
};

static bool read_option(struct gpu_config *c, const char *option, bool first, struct err *e) {
  /* Option names of callers and the knobs they set. */
  static const char *const names[] = {"sets",  "ways",        "line",  "mshrs",        "merges", "miss_queue",
                                      "index", "replacement", "write", "organisation", "gpu"};
  char key[128], knob[160];
  const char *value;
  if (!api_option(option, key, &value, e)) return false;
  if (strcmp(key, "gpu") == 0)
    return first ? gpu_config_load(c, value, e) : err_set(e, ERR_USAGE, "option 'gpu' must come first");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(key, names[i]) != 0) continue;
    const char *before = strcmp(key, "merges") == 0 ? "mshr_" : "", *after = strcmp(key, "line") == 0 ? "_bytes" : "";
    snprintf(knob, sizeof knob, "l2.%s%s%s", before, key, after);
    return gpu_config_set(c, knob, value, "option", e);
  }
  const char *near = err_nearest(key, names, sizeof names / sizeof *names);
  return err_set(e, ERR_USAGE, "a cache has no option '%s'%s%s%s", key, near ? ", did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
}

static bool open_cache(void *ctx, struct err *e) {
  struct opening *w = ctx;
  struct gpu_config c;
  gpu_config_defaults(&c);
  for (size_t i = 0; w->options && w->options[i]; i++)
    if (!read_option(&c, w->options[i], i == 0, e)) return false;
  w->cache->cache = cache_new(&c, e);
  return w->cache->cache != NULL;
}

int sluice_cache_open(const char *const *options, struct sluice_cache **cache, struct sluice_error *e) {
  if (!cache) return api_null(e, "sluice_cache_open");
  *cache = NULL;
  struct sluice_cache *c = memory_outside(sizeof *c);
  if (!c) return api_error(e, SLUICE_NO_MEMORY, "out of memory for a cache");
  struct opening w = {options, c};
  int status = api_call(&c->api, open_cache, &w, e);
  if (status == SLUICE_OK) *cache = c;
  else sluice_cache_close(c);
  return status;
}

void sluice_cache_close(struct sluice_cache *c) {
  if (!c) return;
  memory_drop(&c->api.memory); /* all its memory */
  memory_outside_free(c);
}

/* ---- use ---- */

struct using {
  struct cache *cache;
  struct sluice_access *access;
  struct sluice_request *request;
  uint64_t cycle, id;
  uint32_t answer;
  int result;
  struct cache_counts counts;
};

static bool use_cache(void *ctx, struct err *e) {
  static const int names[] = {[CACHE_HIT] = SLUICE_HIT,
                              [CACHE_PENDING] = SLUICE_PENDING,
                              [CACHE_MISS] = SLUICE_MISS,
                              [CACHE_REFUSED] = SLUICE_REFUSED};
  struct using *w = ctx;
  struct sluice_access *a = w->access;
  struct cache_access inner = {
      .addr = a->address, .cycle = a->cycle, .id = a->id, .bytes = a->bytes, .write = a->write != 0};
  enum cache_outcome o;
  if (!cache_access(w->cache, &inner, &o, e)) return false;
  a->waits = inner.waits;
  w->result = names[o];
  return true;
}

int sluice_cache_access(struct sluice_cache *c, struct sluice_access *access, int *outcome, struct sluice_error *e) {
  if (!c || !access || !outcome) return api_null(e, "sluice_cache_access");
  if (access->size < sizeof *access) return wrong_size(e, "sluice_cache_access", access->size, sizeof *access);
  struct using w = {.cache = c->cache, .access = access};
  int status = api_call(&c->api, use_cache, &w, e);
  if (status == SLUICE_OK) *outcome = w.result;
  return status;
}

static bool next(void *ctx, struct err *e) {
  static const uint32_t kinds[] = {
      [CACHE_FETCH] = SLUICE_FETCH, [CACHE_WRITE] = SLUICE_WRITE, [CACHE_WRITE_BACK] = SLUICE_WRITE_BACK};
  struct using *w = ctx;
  struct cache_request r;
  (void)e;
  w->result = cache_next(w->cache, &r);
  if (!w->result) return true;
  w->request->address = r.addr;
  w->request->bytes = r.bytes;
  w->request->kind = kinds[r.kind];
  w->request->sectors = r.sectors;
  w->request->answer = r.answer;
  return true;
}

int sluice_cache_next(struct sluice_cache *c, struct sluice_request *request, int *any, struct sluice_error *e) {
  if (!c || !request || !any) return api_null(e, "sluice_cache_next");
  if (request->size < sizeof *request) return wrong_size(e, "sluice_cache_next", request->size, sizeof *request);
  struct using w = {.cache = c->cache, .request = request};
  int status = api_call(&c->api, next, &w, e);
  *any = w.result;
  return status;
}

static bool answered(void *ctx, struct err *e) {
  struct using *w = ctx;
  return cache_answer(w->cache, w->answer, w->cycle, e);
}

int sluice_cache_answer(struct sluice_cache *c, uint32_t answer, uint64_t cycle, struct sluice_error *e) {
  if (!c) return api_null(e, "sluice_cache_answer");
  struct using w = {.cache = c->cache, .answer = answer, .cycle = cycle};
  return api_call(&c->api, answered, &w, e);
}

static bool done(void *ctx, struct err *e) {
  struct using *w = ctx;
  (void)e;
  w->result = cache_done(w->cache, &w->id);
  return true;
}

int sluice_cache_done(struct sluice_cache *c, uint64_t *id, int *any, struct sluice_error *e) {
  if (!c || !id || !any) return api_null(e, "sluice_cache_done");
  struct using w = {.cache = c->cache};
  int status = api_call(&c->api, done, &w, e);
  *any = w.result;
  if (w.result) *id = w.id;
  return status;
}

static bool count_access(void *ctx, struct err *e) {
  struct using *w = ctx;
  (void)e;
  w->counts = cache_count(w->cache);
  return true;
}

int sluice_cache_count(struct sluice_cache *c, struct sluice_cache_counts *counts, struct sluice_error *e) {
  if (!c || !counts) return api_null(e, "sluice_cache_count");
  if (counts->size < sizeof *counts) return wrong_size(e, "sluice_cache_count", counts->size, sizeof *counts);
  struct using w = {.cache = c->cache};
  int status = api_call(&c->api, count_access, &w, e);
  const struct cache_counts *n = &w.counts;
  *counts = (struct sluice_cache_counts){.size = counts->size,
                                         .accesses = n->accesses,
                                         .hits = n->hits,
                                         .pending = n->pending,
                                         .misses = n->misses,
                                         .refused = n->refused,
                                         .evictions = n->evictions,
                                         .write_backs = n->write_backs,
                                         .fetches = n->fetches,
                                         .fetched_bytes = n->fetched_bytes};
  return status;
}

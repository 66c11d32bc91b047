/* search.c - see search.h. */
#include "cli/run/search.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/jsonfile.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/run/compare.h"
#include "proc/jobs.h"
#include "gpu/slots/slots.h"

enum { LIST_BYTES = 1024 };

/* One simulation of a search. */
struct point {
  struct search *of;
  uint32_t index;
  const char *list, *key, *file; /* key: everything that decides the result, as text; file: in the cache, NULL without
                                  * one */
  const char *record;
  double ipc;
  json_t *totals;
  struct job *job; /* NULL: cached */
};

bool search_named(const char *list) {
  return list && scheme_sweep_count(list) > 1;
}

/* ---- the cache ---- */

/* Contents of a regular file into `h`; false if there is none. */
static bool hash_file(uint64_t *h, const char *path) {
  struct stat st;
  size_t n;
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
  char *text = path_read_whole(path, &n);
  if (!text) return false;
  *h = hash_bytes(*h, text, n);
  free(text);
  return true;
}

static uint64_t hash_simulator(void) {
  static const char *const libs[] = {"libsluice-core.so", "libsluice-cuda.so"};
  char dir[PATH_MAX], path[PATH_MAX + 32];
  uint64_t h = HASH_INIT;
  path_lib(dir, sizeof dir);
  for (size_t i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, libs[i]);
    hash_file(&h, path);
  }
  return h;
}

/* The directory of the cache, created if necessary; false: unavailable. */
static bool cache_dir(char *out, size_t size) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = base && *base == '/' ? snprintf(out, size, "%s/sluice/search", base)
          : home && *home      ? snprintf(out, size, "%s/.cache/sluice/search", home)
                               : -1;
  if (n < 0 || (size_t)n >= size) return false;
  for (char *p = out + 1;; p++) {
    if (*p && *p != '/') continue;
    char was = *p;
    *p = 0;
    bool ok = !mkdir(out, 0777) || errno == EEXIST;
    *p = was;
    if (!ok) return false;
    if (!was) return true;
  }
}

/* Everything that decides the result, except the list of schemes. */
static const char *program_key(const struct search *s, const struct sim_options *o, uint64_t simulator,
                               struct arena *a) {
  struct gpu_config c;
  struct err e = {0};
  char path[PATH_MAX];
  uint64_t h = simulator, config = 0;
  if (gpu_config_load(&c, o->gpu ? o->gpu : "fermi", &e) && sim_apply_sets(&c, o, &e)) config = gpu_config_hash(&c);
  if (o->launch) hash_file(&h, o->launch);
  hash_file(&h, program_find(s->program[0], path, sizeof path) ? path : s->program[0]);
  for (size_t i = 1; s->program[i]; i++) hash_file(&h, s->program[i]);
  char *command = command_text(s->program);
  const char *key = arena_printf(a, "%016" PRIx64 " %016" PRIx64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s%s", h,
                                 config, o->timing_kernels ? o->timing_kernels : "all", o->max_insts, o->warm,
                                 o->watchdog, o->estimate ? "estimated " : "", command);
  free(command);
  return key;
}

static void recall(struct point *p) {
  json_t *root = p->file && !access(p->file, F_OK) ? record_document(p->file, NULL) : NULL;
  const char *key = json_string_value(json_object_get(root, "key"));
  json_t *totals = json_object_get(root, "totals");
  if (key && !strcmp(key, p->key) && json_is_number(json_object_get(totals, "ipc"))) p->totals = json_incref(totals);
  json_decref(root);
}

static void remember(const struct point *p) {
  if (!p->file) return;
  json_t *root = json_object();
  json_object_set_new(root, "key", json_string(p->key));
  json_object_set(root, "totals", p->totals);
  jsonfile_write(root, p->file, JSON_INDENT(1) | JSON_REAL_PRECISION(17), NULL); /* a full disk only costs time later */
}

/* ---- running ---- */

struct plan {
  struct point *at;
  size_t count;
  struct arena *a;
  const struct sim_options *o;
  const struct tempdir *dir;
};

static const char *temp_path(const struct plan *p, const char *name) {
  char path[600];
  tempdir_file(p->dir, name, path, sizeof path);
  return arena_strdup(p->a, path);
}

static bool plan_points(struct plan *p, struct search *s, size_t n, struct err *e) {
  char dir[PATH_MAX], list[LIST_BYTES];
  bool cache = cache_dir(dir, sizeof dir);
  uint64_t simulator = hash_simulator();
  size_t all = 0;
  for (size_t i = 0; i < n; i++) all += s[i].tried = scheme_sweep_count(s[i].list);
  p->at = ARENA_ARRAY(p->a, struct point, all);
  for (size_t i = 0; i < n; i++) {
    const char *key = program_key(&s[i], p->o, simulator, p->a);
    if (scheme_sweep_prepare(s[i].list, list, sizeof list)) {
      const char *whole = arena_printf(p->a, "%s | %s", list, key);
      uint64_t h = hash_bytes(HASH_INIT, whole, strlen(whole));
      s[i].profile = arena_printf(p->a, "%s/%016" PRIx64 ".profile", cache ? dir : p->dir->path, h);
    }
    for (uint32_t k = 0; k < s[i].tried; k++) {
      struct point *q = &p->at[p->count++];
      if (!scheme_sweep_list(s[i].list, k, list, sizeof list))
        return err_set(e, ERR_USAGE, "the list of schemes is too long");
      *q = (struct point){.of = &s[i], .index = k, .list = arena_strdup(p->a, list)};
      q->key = arena_printf(p->a, "%s | %s", q->list, key);
      if (cache)
        q->file = arena_printf(p->a, "%s/%016" PRIx64 ".json", dir, hash_bytes(HASH_INIT, q->key, strlen(q->key)));
      if (!p->o->fresh) recall(q);
      s[i].cached += q->totals != NULL;
    }
  }
  return true;
}

struct sim_options search_options(const struct search *s, const struct sim_options *options, struct arena *a) {
  struct sim_options o = *options;
  if (!s->profile) return o;
  const char **sets = ARENA_ARRAY(a, const char *, o.sets.count + 1);
  for (size_t i = 0; i < o.sets.count; i++) sets[i] = o.sets.at[i];
  sets[o.sets.count++] = arena_printf(a, "profile.file=%s", s->profile);
  o.sets.at = sets;
  return o;
}

static bool failed(struct search *s, const char *list, const struct job *j) {
  if (j->exit_code <= 0) return false;
  if (!s->exit_code) {
    text_say(stderr, "sluice: %s under '%s' ended with code %d:\n", s->program[0], list, j->exit_code);
    job_print_log(j);
  }
  s->exit_code = j->exit_code;
  return true;
}

/* The preceding runs that write missing profiles, for searches that need one. */
static bool run_prepare(struct plan *p, struct search *s, size_t n, unsigned jobs) {
  struct job *job = ARENA_ARRAY(p->a, struct job, n);
  struct search **of = ARENA_ARRAY(p->a, struct search *, n);
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    char list[LIST_BYTES];
    if (!s[i].profile || (s[i].cached == s[i].tried && !s[i].again)) continue;
    if (!p->o->fresh && !access(s[i].profile, R_OK)) continue;
    scheme_sweep_prepare(s[i].list, list, sizeof list);
    struct sim_options o = search_options(&s[i], p->o, p->a);
    const char *record = temp_path(p, arena_printf(p->a, "prepare%zu.json", i));
    job[count].argv = compare_argv(p->a, &o, list, record, s[i].program);
    of[count++] = &s[i];
  }
  if (count && !jobs_run(job, count, jobs, p->dir, "profiling", false)) return false;
  for (size_t i = 0; i < count; i++) failed(of[i], of[i]->list, &job[i]);
  return true;
}

static bool run_points(struct plan *p, unsigned jobs) {
  struct job *job = ARENA_ARRAY(p->a, struct job, p->count);
  size_t count = 0;
  for (size_t i = 0; i < p->count; i++) {
    struct point *q = &p->at[i];
    if (q->totals || q->of->exit_code) continue;
    struct sim_options o = search_options(q->of, p->o, p->a);
    q->record = temp_path(p, arena_printf(p->a, "search%zu.json", i));
    q->job = &job[count++];
    q->job->argv = compare_argv(p->a, &o, q->list, q->record, q->of->program);
  }
  return !count || jobs_run(job, count, jobs, p->dir, "searching", false);
}

static bool collect_points(struct plan *p, struct err *e) {
  for (size_t i = 0; i < p->count; i++) {
    struct point *q = &p->at[i];
    if (!q->job || failed(q->of, q->list, q->job)) continue;
    struct record_file *f = record_open(q->record, e);
    if (!f) return false;
    q->totals = json_incref(json_object_get(record_json(f), "totals"));
    record_close(f);
    remember(q);
  }
  return true;
}

static void choose_points(struct plan *p) {
  char values[LIST_BYTES];
  for (size_t i = 0; i < p->count; i++) {
    struct point *q = &p->at[i];
    struct search *s = q->of;
    if (s->exit_code) continue;
    if (!q->index) {
      double *ipc = ARENA_ARRAY(p->a, double, s->tried);
      for (uint32_t k = 0; k < s->tried; k++) {
        ipc[k] = json_number_value(json_object_get(q[k].totals, "ipc"));
        if (ipc[k] > ipc[s->best]) s->best = k;
      }
      s->ipc = ipc;
      s->chosen = q[s->best].list;
      scheme_sweep_values(s->list, s->best, values, sizeof values);
      s->values = arena_strdup(p->a, values);
      s->totals = json_incref(q[s->best].totals);
    }
  }
}

int search_all(struct search *s, size_t n, const struct sim_options *o, unsigned jobs, const struct tempdir *dir,
               struct arena *a, struct err *e) {
  struct plan p = {.a = a, .o = o, .dir = dir};
  int rc = EXIT_OK;
  if (!plan_points(&p, s, n, e)) rc = exit_code_of(e->code);
  else if (!run_prepare(&p, s, n, jobs) || !run_points(&p, jobs)) rc = 130;
  else if (!collect_points(&p, e)) rc = exit_code_of(e->code);
  else choose_points(&p);
  for (size_t i = 0; i < p.count; i++) json_decref(p.at[i].totals);
  return rc;
}

void search_say(const struct search *s, FILE *f) {
  if (!s->chosen) return;
  fprintf(f, "%s: %s, the best of %u", s->list, s->values, s->tried);
  if (s->cached) fprintf(f, " (%u known from before)", s->cached);
  fputc('\n', f);
}

json_t *search_json(const struct search *s) {
  json_t *o = json_object(), *tried = json_array();
  json_object_set_new(o, "asked", json_string(s->list));
  json_object_set_new(o, "chosen", json_string(s->chosen ? s->chosen : ""));
  json_object_set_new(o, "values", json_string(s->values ? s->values : ""));
  for (uint32_t i = 0; s->chosen && i < s->tried; i++) {
    char values[LIST_BYTES];
    scheme_sweep_values(s->list, i, values, sizeof values);
    json_t *one = json_object();
    json_object_set_new(one, "values", json_string(values));
    json_object_set_new(one, "ipc", json_real(s->ipc[i]));
    json_array_append_new(tried, one);
  }
  json_object_set_new(o, "tried", tried);
  return o;
}

void search_free(struct search *s) {
  json_decref(s->totals);
  s->totals = NULL;
}

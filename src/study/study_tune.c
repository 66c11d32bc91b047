/* study_tune.c - successive halving over compositions of schemes (Jamieson and Talwalkar, AISTATS 2016, section 2.1:
 * equal work per round; here work is measured in workloads).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gpu/common/config.h"
#include "gpu/slots/slots.h"
#include "study/study_impl.h"
#include "study/tune.h"

enum { ETA = 3, COMPOSED_MAX = 3, POOL_MAX = 128, TRIES = 200, PUBLISHED_IN = 2 };

/* Larger or unlimited machines: excluded, since they win by size. */
static const char *const not_schemes[] = {"perfect-l1", "l1-size",  "l1-latency", "l1-full-assoc",
                                          "l2-size",    "l2-banks", "l2-ports",   "line"};

struct search {
  const struct tune_options *o;
  struct db *db;
  struct tune_result *r;
  struct arena *a;
  struct err *e;
  struct gpu_config config;
  struct rng rng;
  const struct scheme *pool[POOL_MAX];
  size_t pool_count;
  bool ranked;   /* the pool is sorted by what its schemes gain */
  double *ratio; /* not NULL: score fills it, as in tune_loo */
  struct tune_candidate *candidate;
  size_t count;
};

/* ---- workloads ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Shuffle the suite and hold out a part. */
static bool split_suite(struct search *x) {
  struct study s = {0};
  bool ok = study_add_suite(&s, x->o->suite, (struct study_at){0}, x->e);
  size_t n = s.program_count;
  const char **names = ARENA_ARRAY(x->a, const char *, n + 1);
  for (size_t i = 0; ok && i < n; i++) names[i] = arena_strdup(x->a, s.programs[i].name);
  arena_free(&s.arena);
  if (!ok) return false;
  qsort(names, n, sizeof *names, by_name);
  for (size_t i = n; i > 1; i--) {
    size_t k = rng_below(&x->rng, (uint32_t)i);
    const char *t = names[i - 1];
    names[i - 1] = names[k];
    names[k] = t;
  }
  size_t held = x->o->leave_one_out ? 0 : (size_t)lround((double)n * x->o->hold_out);
  if (held < 1 && !x->o->leave_one_out) held = 1;
  if (n < 3 || held >= n)
    return err_set(x->e, ERR_USAGE, "the suite '%s' has %zu workloads: too few to hold %zu out", x->o->suite, n, held);
  x->r->held_out = names + (n - held);
  x->r->held_out_count = held;
  x->r->train = names;
  x->r->train_count = n - held;
  return true;
}

/* ---- candidates ---- */

static bool is_scheme(const struct scheme *s) {
  if (s->finish) return false; /* writes a file for a second run: not a single-run scheme */
  for (size_t i = 0; i < sizeof not_schemes / sizeof *not_schemes; i++)
    if (!strcmp(not_schemes[i], s->name)) return false;
  return true;
}

static bool make_pool(struct search *x) {
  const char *names[POOL_MAX];
  size_t n = 0;
  for (uint32_t i = 0; i < scheme_count() && n < POOL_MAX; i++) names[n++] = scheme_at(i)->name;
  for (size_t i = 0; i < x->o->pool_count; i++) {
    const struct scheme *s = scheme_find(x->o->pool[i]);
    if (!s || s->sweep || s->finish) {
      const char *near = s ? NULL : err_nearest(x->o->pool[i], names, n);
      return err_set(x->e, ERR_USAGE, s ? "'%s' takes several runs itself%s%s%s" : "unknown scheme '%s'%s%s%s",
                     x->o->pool[i], near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    x->pool[x->pool_count++] = s;
  }
  for (uint32_t i = 0; !x->o->pool_count && i < scheme_count() && x->pool_count < POOL_MAX; i++)
    if (!scheme_at(i)->sweep && is_scheme(scheme_at(i))) x->pool[x->pool_count++] = scheme_at(i);
  return true;
}

/* A value near the default on a logarithmic scale; anywhere in a range around or beside zero. */
static double draw(struct rng *g, const struct scheme_param *p) {
  double u = (double)(rng_next(g) >> 11) / 9007199254740992.0, v;
  uint64_t whole = p->dflt >= 4 && p->integer ? (uint64_t)p->dflt : 3;
  if (!(whole & (whole - 1))) v = p->dflt * pow(2, floor(5 * u) - 2); /* sizes of tables and lines stay powers of two */
  else if (p->dflt > 1 && p->min >= 0) v = p->dflt * pow(2, 4 * u - 2);
  else if (p->max - p->min <= 64) v = p->min + u * (p->max - p->min);
  else v = p->dflt + (u - 0.5) * 8;
  if (p->integer) v = nearbyint(v);
  return fmin(fmax(v, p->min), p->max);
}

static const char *draw_one(struct search *x, const struct scheme *s) {
  const char *text = s->name;
  bool first = true;
  for (uint32_t i = 0; i < scheme_param_count(s); i++) {
    bool change = rng_below(&x->rng, 2);
    double v = draw(&x->rng, &s->params[i]); /* always drawn: one scheme's choice does not shift another's */
    if (!change || v == s->params[i].dflt) continue;
    text = arena_printf(x->a, "%s%c%s=%.4g", text, first ? ':' : '/', s->params[i].name, v);
    first = false;
  }
  return text;
}

static const char *draw_list(struct search *x) {
  uint32_t parts = 1 + rng_below(&x->rng, COMPOSED_MAX);
  if (parts > x->pool_count) parts = (uint32_t)x->pool_count;
  const struct scheme *taken[COMPOSED_MAX];
  const char *list = "";
  for (uint32_t i = 0; i < parts; i++) {
    bool again = true;
    while (again) {
      double u = (double)(rng_next(&x->rng) >> 11) / 9007199254740992.0;
      if (x->ranked) u *= u; /* half of them from the best quarter */
      taken[i] = x->pool[(size_t)(u * (double)x->pool_count)];
      again = false;
      for (uint32_t k = 0; k < i; k++) again |= taken[k] == taken[i];
    }
    list = arena_printf(x->a, "%s%s%s", list, i ? "," : "", draw_one(x, taken[i]));
  }
  return list;
}

/* The machine can be built: combinations and values that a scheme rejects cost no simulations. */
static bool acceptable(const struct search *x, const char *list) {
  struct err why = {0};
  struct slots s;
  struct gpu_config c = x->config;
  if (!scheme_list_check(list, &c, &why) || !slots_parse(&s, list, &why) || !slots_configure(&s, &c, &why))
    return false;
  if (!slots_start(&s, NULL, &c, 1, &why)) return false;
  slots_free(&s);
  return true;
}

static bool add_candidate(struct search *x, const char *list, bool published) {
  char mine[1024], other[1024];
  struct slots s;
  if (!acceptable(x, list) || !slots_parse(&s, list, NULL)) return false;
  slots_describe(&s, mine, sizeof mine);
  for (size_t i = 0; i < x->count; i++) {
    if (!slots_parse(&s, x->candidate[i].list, NULL)) continue;
    slots_describe(&s, other, sizeof other);
    if (!strcmp(mine, other)) return false;
  }
  x->candidate[x->count++] = (struct tune_candidate){.list = list, .published = published};
  return true;
}

/* The best published schemes unchanged, so the result is never worse on the searched workloads; then compositions. */
static void make_candidates(struct search *x, size_t n) {
  x->candidate = ARENA_ARRAY(x->a, struct tune_candidate, n + 1);
  for (size_t i = 0; i < PUBLISHED_IN && i < x->r->published_count && x->count < n; i++)
    add_candidate(x, x->r->published[i].list, true);
  for (size_t tries = 0; x->count < n && tries < n * TRIES; tries++) add_candidate(x, draw_list(x), false);
}

/* ---- running some candidates on some workloads ---- */

struct scores {
  const struct tune_candidate *of;
  size_t count;
  double *log_sum, *ratio; /* ratio: as in tune_loo, NULL: not wanted */
  size_t *runs;
  bool *failed;
  struct db *db;
  const char *const *workload;
  size_t workloads;
  double *base;
};

static size_t index_of(const char *const *names, size_t n, const char *name) {
  size_t i = 0;
  while (i < n && strcmp(names[i], name)) i++;
  return i;
}

static bool read_row(void *ctx, const struct db_row *row) {
  struct scores *s = ctx;
  size_t w = index_of(s->workload, s->workloads, row->workload), i = 0;
  double ipc = 0;
  bool ok = row->status == DB_DONE && db_value(s->db, row->run, "ipc", &ipc) && ipc > 0;
  if (w == s->workloads) return true;
  if (!strcmp(row->scheme, "none")) { /* first for every workload: the plan begins with the baseline */
    s->base[w] = ok ? ipc : 0;
    return true;
  }
  while (i < s->count && strcmp(s->of[i].list, row->scheme)) i++;
  if (i == s->count) return true;
  if (s->ratio) s->ratio[i * s->workloads + w] = ok && s->base[w] > 0 ? ipc / s->base[w] : 0;
  if (!ok) s->failed[i] = true;
  else if (s->base[w] > 0) s->log_sum[i] += log(ipc / s->base[w]), s->runs[i]++;
  return true;
}

static bool make_study(struct search *x, struct study *s, const char *name, const struct tune_candidate *c,
                       size_t count, const char *const *workload, size_t workloads) {
  *s = (struct study){.mode = "timing", .replicas = 1, .path = "tune", .estimate = x->o->estimate};
  if (!study_add_suite(s, x->o->suite, (struct study_at){0}, x->e)) return false;
  size_t kept = 0;
  for (size_t i = 0; i < s->program_count; i++)
    if (index_of(workload, workloads, s->programs[i].name) < workloads) s->programs[kept++] = s->programs[i];
  s->program_count = kept;
  s->name = arena_strdup(&s->arena, name);
  s->sizes = ARENA_ARRAY(&s->arena, const char *, 1);
  s->sizes[0] = x->o->size;
  s->size_count = 1;
  s->gpus = ARENA_ARRAY(&s->arena, struct study_gpu, 1);
  s->gpus[0] = (struct study_gpu){
      .name = x->o->gpu, .base = x->o->gpu, .sets = (struct study_set *)x->o->sets, .set_count = x->o->set_count};
  s->gpu_count = 1;
  s->schemes = ARENA_ARRAY(&s->arena, struct study_scheme, count + 1);
  s->schemes[0].list = "none";
  char *text = arena_printf(&s->arena, "# written by sluice tune\nsuites: [%s]\nschemes: [none", x->o->suite);
  for (size_t i = 0; i < count; i++) {
    s->schemes[1 + i].list = c[i].list;
    text = arena_printf(&s->arena, "%s, \"%s\"", text, c[i].list);
  }
  s->scheme_count = count + 1;
  s->text = arena_printf(&s->arena, "%s]\n", text);
  return true;
}

/* Score `count` candidates; out[i] is 0 for a failed one. */
static enum study_end score(struct search *x, const char *what, const struct tune_candidate *c, size_t count,
                            const char *const *workload, size_t workloads, double *out) {
  struct study s;
  struct study_runs runs;
  struct study_progress p = {0};
  enum study_end end = STUDY_STOPPED;
  const char *name = arena_printf(x->a, "tune-%s-%llu/%s", x->o->suite, (unsigned long long)x->o->seed, what);
  bool ok = make_study(x, &s, name, c, count, workload, workloads) && study_expand(&s, &runs, x->o->find, x->e) &&
            db_study_put(x->db, s.name, "sluice tune", s.text, runs.plan, runs.plan_count, x->e) > 0;
  if (ok) end = study_run(&s, &runs, &x->o->run, x->db, &p, x->e);
  x->r->simulations += p.done + p.failed - p.before;
  struct scores t = {
      .of = c, .count = count, .db = x->db, .workload = workload, .workloads = workloads, .ratio = x->ratio};
  t.log_sum = ARENA_ARRAY(x->a, double, count + 1);
  t.runs = ARENA_ARRAY(x->a, size_t, count + 1);
  t.failed = ARENA_ARRAY(x->a, bool, count + 1);
  t.base = ARENA_ARRAY(x->a, double, workloads + 1);
  if (end == STUDY_COMPLETE && !db_each(x->db, s.name, read_row, &t, x->e)) end = STUDY_STOPPED;
  for (size_t w = 0; end == STUDY_COMPLETE && w < workloads; w++)
    if (!(t.base[w] > 0)) {
      err_set(x->e, ERR_INPUT, "the baseline failed on %s; `sluice query FILE --failed` says why", workload[w]);
      end = STUDY_STOPPED;
    }
  for (size_t i = 0; i < count; i++) out[i] = t.failed[i] || !t.runs[i] ? 0 : exp(t.log_sum[i] / (double)t.runs[i]);
  study_free(&s);
  return end;
}

/* ---- the search ---- */

static int by_score(const void *a, const void *b) {
  const struct tune_candidate *x = a, *y = b;
  return x->score < y->score ? 1 : x->score > y->score ? -1 : strcmp(x->list, y->list);
}
static int by_train(const void *a, const void *b) {
  const struct tune_candidate *x = a, *y = b;
  return x->train < y->train ? 1 : x->train > y->train ? -1 : strcmp(x->list, y->list);
}

/* Workloads per round, from few to all; each round has the same share of the budget. */
static size_t plan_rounds(const struct search *x, size_t workloads[TUNE_ROUNDS]) {
  size_t n = 0, all = x->r->train_count;
  for (size_t w = all; w >= 1 && n < TUNE_ROUNDS; w = w / ETA) workloads[n++] = w;
  for (size_t i = 0; i < n / 2; i++) {
    size_t t = workloads[i];
    workloads[i] = workloads[n - 1 - i];
    workloads[n - 1 - i] = t;
  }
  return n;
}

/* Every published scheme alone on the training workloads: the reference for the search. */
static enum study_end measure_published(struct search *x) {
  struct tune_result *r = x->r;
  r->published = ARENA_ARRAY(x->a, struct tune_candidate, x->pool_count + 1);
  for (size_t i = 0; i < x->pool_count; i++)
    if (acceptable(x, x->pool[i]->name))
      r->published[r->published_count++] = (struct tune_candidate){.list = x->pool[i]->name, .published = true};
  double *out = ARENA_ARRAY(x->a, double, r->published_count + 1);
  enum study_end end = score(x, "published", r->published, r->published_count, r->train, r->train_count, out);
  for (size_t i = 0; i < r->published_count; i++) r->published[i].train = out[i], r->published[i].failed = out[i] == 0;
  qsort(r->published, r->published_count, sizeof *r->published, by_train);
  /* Compositions are drawn from schemes that work alone, better ones more often. */
  size_t n = 0;
  for (size_t i = 0; i < r->published_count; i++)
    if (!r->published[i].failed) x->pool[n++] = scheme_find(r->published[i].list);
  x->pool_count = n;
  x->ranked = true;
  if (end == STUDY_COMPLETE && !n) {
    err_set(x->e, ERR_INPUT, "every scheme of the search failed; `sluice query FILE --failed` says why");
    end = STUDY_STOPPED;
  }
  return end;
}

static enum study_end halve(struct search *x) {
  size_t workloads[TUNE_ROUNDS], rounds = plan_rounds(x, workloads);
  for (size_t r = 0; r < rounds; r++) {
    size_t room = x->o->budget / rounds / workloads[r];
    if (room < 1) room = 1;
    if (r == 0) make_candidates(x, room);
    size_t n = x->count < room ? x->count : room;
    double *out = ARENA_ARRAY(x->a, double, n + 1);
    char name[32];
    snprintf(name, sizeof name, "round-%zu", r + 1);
    enum study_end end = score(x, name, x->candidate, n, x->r->train, workloads[r], out);
    if (end != STUDY_COMPLETE) return end;
    for (size_t i = 0; i < n; i++) x->candidate[i].score = out[i], x->candidate[i].failed = out[i] == 0;
    qsort(x->candidate, n, sizeof *x->candidate, by_score);
    size_t next = r + 1 < rounds ? x->o->budget / rounds / workloads[r + 1] : TUNE_FINAL;
    size_t keep = r + 1 < rounds ? (n + ETA - 1) / ETA : TUNE_FINAL;
    if (next && keep > next) keep = next;
    if (keep > n) keep = n;
    x->count = keep ? keep : 1;
    x->r->round[x->r->rounds++] = (struct tune_round){n, workloads[r], x->count, n ? out[0] : 0};
    x->r->round[r].best = x->candidate[0].score;
  }
  return STUDY_COMPLETE;
}

/* The finalists and the best published scheme on the held-out workloads. */
static enum study_end measure_held_out(struct search *x) {
  struct tune_result *r = x->r;
  struct tune_candidate all[TUNE_FINAL + 1] = {0};
  double out[TUNE_FINAL + 1];
  bool there = false;
  for (size_t i = 0; i < x->count && i < TUNE_FINAL; i++) {
    r->final[i] = x->candidate[i];
    r->final[i].train = x->candidate[i].score; /* the last round used all of them */
    there |= !strcmp(r->final[i].list, r->published[0].list);
    r->finals++;
  }
  /* The best single scheme may have lost early on few workloads; its score on all is known. */
  if (!there && r->published[0].train > r->final[r->finals - 1].train) {
    if (r->finals < TUNE_FINAL) r->finals++;
    r->final[r->finals - 1] = r->published[0];
  } else if (!there && r->finals < TUNE_FINAL) {
    r->final[r->finals++] = r->published[0];
  }
  qsort(r->final, r->finals, sizeof *r->final, by_train);
  memcpy(all, r->final, r->finals * sizeof *all);
  size_t n = r->finals;
  all[n++] = r->published[0];
  enum study_end end = score(x, "held-out", all, n, r->held_out, r->held_out_count, out);
  for (size_t i = 0; i < r->finals; i++) r->final[i].held_out = out[i];
  r->published[0].held_out = out[n - 1];
  /* They may be the same: then both have the score. */
  for (size_t i = 0; i < r->finals; i++)
    if (!strcmp(r->final[i].list, r->published[0].list)) r->published[0].held_out = r->final[i].held_out;
  return end;
}

static bool begin(struct search *x) {
  if (!gpu_config_load(&x->config, x->o->gpu, x->e)) return false;
  for (size_t i = 0; i < x->o->set_count; i++)
    if (!gpu_config_set(&x->config, x->o->sets[i].key, x->o->sets[i].value, "--set", x->e)) return false;
  return gpu_config_check(&x->config, x->e) && split_suite(x) && make_pool(x);
}

/* ---- leave-one-out ---- */

enum study_end study_tune_leave_one_out(const struct tune_options *o, struct db *db, struct tune_result *r,
                                        struct tune_loo *l, struct err *e) {
  *r = (struct tune_result){0};
  *l = (struct tune_loo){0};
  struct search x = {.o = o, .db = db, .r = r, .a = &r->arena, .e = e, .rng = rng_seed(o->seed)};
  if (!begin(&x)) return STUDY_STOPPED;
  size_t compositions = o->budget / r->train_count, most = x.pool_count + compositions;
  x.candidate = ARENA_ARRAY(x.a, struct tune_candidate, most + 1);
  for (size_t i = 0; i < x.pool_count; i++) add_candidate(&x, x.pool[i]->name, true);
  l->singles = x.count;
  for (size_t tries = 0; x.count < l->singles + compositions && tries < (compositions + 1) * TRIES; tries++)
    add_candidate(&x, draw_list(&x), false);
  double *out = ARENA_ARRAY(x.a, double, most + 1);
  x.ratio = ARENA_ARRAY(x.a, double, most * r->train_count + 1);
  enum study_end end = score(&x, "leave-one-out", x.candidate, x.count, r->train, r->train_count, out);
  if (end != STUDY_COMPLETE) return end;
  bool any = false;
  for (size_t i = 0; i < l->singles; i++) any |= out[i] > 0;
  if (!any) {
    err_set(e, ERR_INPUT, "no scheme of the search ran on all workloads; `sluice query FILE --failed` says why");
    return STUDY_STOPPED;
  }
  l->workload = r->train, l->workloads = r->train_count;
  l->candidate = x.candidate, l->candidates = x.count;
  l->ratio = x.ratio;
  l->left = ARENA_ARRAY(x.a, struct tune_left, l->workloads);
  tune_choose(l);
  return STUDY_COMPLETE;
}

enum study_end study_tune(const struct tune_options *o, struct db *db, struct tune_result *r, struct err *e) {
  *r = (struct tune_result){0};
  struct search *x = mem_zeroed(1, sizeof *x);
  *x = (struct search){.o = o, .db = db, .r = r, .a = &r->arena, .e = e, .rng = rng_seed(o->seed)};
  enum study_end end = begin(x) ? STUDY_COMPLETE : STUDY_STOPPED;
  if (end == STUDY_COMPLETE) end = measure_published(x);
  if (end == STUDY_COMPLETE) end = halve(x);
  if (end == STUDY_COMPLETE) end = measure_held_out(x);
  free(x);
  return end;
}

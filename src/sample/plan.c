/* plan.c - see plan.h. */
#include "sample/plan.h"

#include "base/jsonfile.h"
#include "sample/inside.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"

enum { FORMAT = 1, FIRST_SAMPLES = 5, FEW_SAMPLES = 3, LEAST_SAMPLES = 2 };
const double plan_likeness = 0.3, plan_likeness_of_shapes = 0.1;
static const double rare = 0.01; /* counts that differ by less than this share of the warp instructions are alike */
static const double little_work = 0.01; /* share of all warp instructions */
static const double few_steps = 500;    /* at ten cycles or more each */
static const double at_most = 1.5;      /* of its instructions, before a launch of few steps */
static const double worth_it = 0.1;     /* the least share that a plan leaves out */

/* ---- clusters ---- */

static bool near(uint64_t a, uint64_t b, double likeness, double insts) {
  double most = a > b ? (double)a : (double)b;
  return fabs((double)a - (double)b) <= fmax(likeness * most, rare * insts);
}

static uint64_t signature_field(const struct logged_launch *l, uint32_t row) {
  return *(const uint64_t *)((const char *)&l->sig + signature_rows[row].offset);
}

static bool similar_launches(const struct logged_launch *a, const struct logged_launch *b) {
  if (strcmp(a->kernel, b->kernel) != 0 || memcmp(a->block, b->block, sizeof a->block) != 0) return false;
  if (a->signed_ != b->signed_) return false;
  double insts = (double)a->sig.warp_insts, likeness = plan_likeness;
  if (a->sig.shape != b->sig.shape) likeness = plan_likeness_of_shapes;
  if (!near(launchlog_ctas(a), launchlog_ctas(b), likeness, 0)) return false;
  for (uint32_t i = 0; i < SIGNATURE_ROWS; i++)
    if (!near(signature_field(a, i), signature_field(b, i), likeness, insts)) return false;
  return true;
}

static void add_member(struct plan_cluster *c, uint32_t launch) {
  if (!(c->members & (c->members - 1)))
    c->launch = mem_resize(c->launch, c->members ? 2 * c->members : 1, sizeof *c->launch);
  c->launch[c->members++] = launch;
}

/* ---- the order of drawing ---- */

/* Fisher and Yates. */
static void shuffle(uint32_t *v, uint32_t n, uint64_t seed) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = (uint32_t)(hash_u64(seed ^ hash_u64(i)) % i), was = v[i - 1];
    v[i - 1] = v[k];
    v[k] = was;
  }
}

static uint32_t reversed(uint32_t v, uint32_t bits) {
  uint32_t r = 0;
  for (uint32_t b = 0; b < bits; b++) r |= (v >> b & 1) << (bits - 1 - b);
  return r;
}

/* Members as they are drawn: in each round of halving the series, one at random of each part that has none yet. So any
 * number of them is spread over the series, and places within the parts are random. The largest one comes first, so
 * that no line is drawn beyond what was timed where most of the work is; not where all do the same work. */
static void draw_members(struct plan_cluster *c, bool level, uint64_t seed) {
  uint32_t n = c->members, drawn = 0;
  uint32_t *at = mem_zeroed(n, sizeof *at), *rank = mem_zeroed(n, sizeof *rank), *order = mem_zeroed(n, sizeof *order);
  bool *taken = mem_zeroed(n, sizeof *taken), largest = !level;
  for (uint32_t i = 0; i < n; i++) at[i] = i;
  shuffle(at, n, seed ^ hash_u64(c->launch[0]));
  for (uint32_t i = 0; i < n; i++) rank[at[i]] = i;
  if (largest) order[drawn++] = c->launch[--n];
  for (uint32_t bits = 0; drawn < n + largest; bits++) {
    for (uint32_t part = 0; part < 1u << bits; part++) {
      uint32_t k = reversed(part, bits), best = n;
      uint32_t from = (uint32_t)((uint64_t)k * n >> bits), end = (uint32_t)((k + 1ull) * n >> bits);
      bool any = false;
      for (uint32_t i = from; i < end; i++) {
        any |= taken[i];
        if (best == n || rank[i] < rank[best]) best = i;
      }
      if (any || best == n) continue;
      taken[best] = true;
      order[drawn++] = c->launch[best];
    }
  }
  memcpy(c->launch, order, drawn * sizeof *order);
  free(at), free(rank), free(order), free(taken);
}

/* ---- series ---- */

/* What a launch is placed by. */
struct sized {
  uint64_t insts;
  uint32_t launch;
};

static int by_size(const void *a, const void *b) {
  const struct sized *p = a, *q = b;
  if (p->insts != q->insts) return p->insts < q->insts ? -1 : 1;
  return p->launch < q->launch ? -1 : p->launch > q->launch;
}

static int by_launch(const void *a, const void *b) {
  const struct plan_cluster *p = a, *q = b;
  return p->first < q->first ? -1 : p->first > q->first;
}

/* Do all members execute the same number of instructions? Before they are drawn: in the order of these. */
static bool is_level(const struct plan_cluster *c, const struct launchlog *l) {
  return l->at[c->launch[0]].sig.warp_insts == l->at[c->launch[c->members - 1]].sig.warp_insts;
}

static void join_series(struct sample_plan *p, const struct launchlog *l, uint32_t i, bool alone) {
  struct plan_cluster *k = NULL;
  for (uint32_t c = 0; c < p->clusters && !alone && !k; c++) {
    struct plan_cluster *other = &p->cluster[c];
    if (!other->alone && similar_launches(&l->at[other->launch[other->members - 1]], &l->at[i])) k = other;
  }
  if (!k) {
    p->cluster = mem_resize(p->cluster, p->clusters + 1, sizeof *p->cluster);
    k = &p->cluster[p->clusters++];
    *k = (struct plan_cluster){.kernel = mem_text(l->at[i].kernel), .alone = alone, .first = i};
  }
  add_member(k, i);
  if (i < k->first) k->first = i;
  k->warp_insts += (double)l->at[i].sig.warp_insts;
}

/* Is it the first launch of its kernel, which finds cold caches? */
static bool is_alone(const struct sample_plan *p, const char *kernel) {
  for (uint32_t c = 0; c < p->clusters; c++)
    if (!strcmp(p->cluster[c].kernel, kernel)) return false;
  return true;
}

void plan_cluster_launches(struct sample_plan *p, const struct launchlog *l, struct plan_range r) {
  uint32_t n = 0, end = r.end < l->n ? r.end : l->n;
  struct sized *rest = mem_zeroed(end > r.first ? end - r.first : 1, sizeof *rest);
  for (uint32_t i = r.first; i < end; i++) {
    if (is_alone(p, l->at[i].kernel)) join_series(p, l, i, true);
    else rest[n++] = (struct sized){l->at[i].sig.warp_insts, i};
  }
  qsort(rest, n, sizeof *rest, by_size);
  for (uint32_t i = 0; i < n; i++) join_series(p, l, rest[i].launch, false);
  free(rest);
  p->launches = l->n;
  qsort(p->cluster, p->clusters, sizeof *p->cluster, by_launch);
  for (uint32_t c = 0; c < p->clusters; c++) {
    p->cluster[c].level = is_level(&p->cluster[c], l);
    draw_members(&p->cluster[c], p->cluster[c].level, p->seed);
  }
}

size_t plan_series(const struct plan_cluster *c, const struct launchlog *l, double *x, size_t *place, uint32_t *timed) {
  struct sized *all = mem_zeroed(c->members, sizeof *all);
  size_t n = 0;
  for (uint32_t i = 0; i < c->members; i++) all[i] = (struct sized){l->at[c->launch[i]].sig.warp_insts, c->launch[i]};
  qsort(all, c->members, sizeof *all, by_size);
  for (uint32_t i = 0; i < c->members; i++) {
    x[i] = (double)all[i].insts;
    if (!l->at[all[i].launch].timed) continue;
    place[n] = i;
    timed[n++] = all[i].launch;
  }
  free(all);
  return n;
}

/* Groups of CTAs of a launch, 0 if they have to be timed all. */
static uint32_t groups_of(const struct logged_launch *l) {
  double mean = (double)l->sig.warp_insts / (double)launchlog_ctas(l);
  uint32_t n = inside_groups(launchlog_ctas(l), l->resident);
  return l->orderly && (double)l->sig.longest <= inside_likeness * mean ? n : 0;
}

uint32_t plan_groups(const struct plan_cluster *c, const struct launchlog *l) {
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i < c->members; i++) {
    uint32_t n = groups_of(&l->at[c->launch[i]]);
    if (n < least) least = n;
  }
  return least;
}

void plan_first_samples(struct sample_plan *p, const struct launchlog *l) {
  double all = 0;
  for (uint32_t c = 0; c < p->clusters; c++) all += p->cluster[c].warp_insts;
  for (uint32_t c = 0; c < p->clusters; c++) {
    struct plan_cluster *k = &p->cluster[c];
    uint32_t want = k->warp_insts < little_work * all ? LEAST_SAMPLES : k->level ? FEW_SAMPLES : FIRST_SAMPLES;
    k->timed = k->members < want ? k->members : want;
    uint32_t runs = (INSIDE_FIRST_RUNS + k->timed - 1) / k->timed;
    k->blocks = inside_timed_groups(runs < INSIDE_FEW_RUNS ? INSIDE_FEW_RUNS : runs);
    if (2 * k->blocks > plan_groups(k, l)) k->blocks = 0;
  }
}

/* Warp instructions that are timed. */
static double timed_work(const struct plan_cluster *c, const struct launchlog *l) {
  double work = 0;
  for (uint32_t i = 0; i < c->timed; i++) {
    const struct logged_launch *q = &l->at[c->launch[i]];
    uint32_t groups = c->blocks ? groups_of(q) : 0;
    work += (double)q->sig.warp_insts * (groups > c->blocks ? (double)c->blocks / groups : 1);
  }
  return work;
}

/* Instructions that a warp and its successors in the same place execute one after the other. */
static double steps_of(const struct logged_launch *l) {
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2], ctas = launchlog_ctas(l);
  double per_warp = (double)l->sig.warp_insts / (double)ctas / (double)((threads + 31) / 32);
  return per_warp * fmax(1, (double)ctas / l->resident);
}

/* Was a launch of its kernel and grid timed before it? It tells whose turn it is behind such a launch (gpu/turns.h). */
static bool is_known(const struct launchlog *l, const bool *timed, uint32_t launch) {
  for (uint32_t i = 0; i < launch; i++)
    if (timed[i] && launchlog_ctas(&l->at[i]) == launchlog_ctas(&l->at[launch]) &&
        !strcmp(l->at[i].kernel, l->at[launch].kernel))
      return true;
  return false;
}

static bool is_worth_one_before(const struct launchlog *l, const bool *timed, uint32_t launch) {
  if (!launch || timed[launch - 1] || is_known(l, timed, launch - 1)) return false;
  const struct logged_launch *one = &l->at[launch], *before = one - 1;
  return (double)before->sig.warp_insts <= at_most * (double)one->sig.warp_insts && steps_of(one) < few_steps;
}

void plan_add_before(struct sample_plan *p, const struct launchlog *l) {
  bool *timed = mem_zeroed(l->n + 1, sizeof *timed);
  p->befores = 0;
  for (uint32_t c = 0; c < p->clusters; c++)
    for (uint32_t i = 0; i < p->cluster[c].timed; i++)
      if (p->cluster[c].launch[i] < l->n) timed[p->cluster[c].launch[i]] = true;
  for (uint32_t i = 0; i < l->n && !p->cold; i++) {
    if (!timed[i] || !is_worth_one_before(l, timed, i)) continue;
    timed[i - 1] = true;
    if (!(p->befores & (p->befores - 1)))
      p->before = mem_resize(p->before, p->befores ? 2 * p->befores : 1, sizeof *p->before);
    p->before[p->befores++] = i - 1;
  }
  free(timed);
}

void plan_round_up(struct sample_plan *p, const struct launchlog *l) {
  double timed = 0, all = 0;
  for (uint32_t c = 0; c < p->clusters; c++) {
    timed += timed_work(&p->cluster[c], l);
    all += p->cluster[c].warp_insts;
  }
  plan_add_before(p, l);
  for (uint32_t i = 0; i < p->befores; i++) timed += (double)l->at[p->before[i]].sig.warp_insts;
  if (timed < (1 - worth_it) * all) return;
  for (uint32_t c = 0; c < p->clusters; c++) p->cluster[c].timed = p->cluster[c].members, p->cluster[c].blocks = 0;
}

const struct plan_cluster *plan_times(const struct sample_plan *p, uint32_t launch) {
  for (uint32_t c = 0; c < p->clusters; c++)
    for (uint32_t i = 0; i < p->cluster[c].timed; i++)
      if (p->cluster[c].launch[i] == launch) return &p->cluster[c];
  return NULL;
}

bool plan_precedes(const struct sample_plan *p, uint32_t launch) {
  for (uint32_t i = 0; i < p->befores; i++)
    if (p->before[i] == launch) return true;
  return false;
}

void plan_free(struct sample_plan *p) {
  for (uint32_t c = 0; c < p->clusters; c++) free(p->cluster[c].kernel), free(p->cluster[c].launch);
  free(p->cluster);
  free(p->before);
  free(p->program);
  *p = (struct sample_plan){0};
}

/* ---- the file ---- */

static json_t *cluster_json(const struct plan_cluster *c) {
  json_t *all = json_array(), *o = json_object();
  for (uint32_t i = 0; i < c->members; i++) json_array_append_new(all, json_integer(c->launch[i]));
  json_object_set_new(o, "kernel", json_string(c->kernel));
  json_object_set_new(o, "timed", json_integer(c->timed));
  json_object_set_new(o, "blocks", json_integer(c->blocks));
  json_object_set_new(o, "warp_insts", json_real(c->warp_insts));
  json_object_set_new(o, "launches", all);
  return o;
}

bool plan_write(const struct sample_plan *p, const char *path, struct err *e) {
  json_t *o = json_object(), *all = json_array(), *before = json_array();
  for (uint32_t i = 0; i < p->befores; i++) json_array_append_new(before, json_integer(p->before[i]));
  for (uint32_t c = 0; c < p->clusters; c++) json_array_append_new(all, cluster_json(&p->cluster[c]));
  json_object_set_new(o, "format", json_integer(FORMAT));
  json_object_set_new(o, "program", json_string(p->program ? p->program : ""));
  json_object_set_new(o, "error", json_real(p->error));
  json_object_set_new(o, "confidence", json_real(p->confidence));
  json_object_set_new(o, "seed", json_integer((json_int_t)p->seed));
  json_object_set_new(o, "cold", json_boolean(p->cold));
  json_object_set_new(o, "launches", json_integer(p->launches));
  json_object_set_new(o, "clusters", all);
  json_object_set_new(o, "before", before);
  return jsonfile_write(o, path, JSON_INDENT(1) | JSON_REAL_PRECISION(10), e);
}

/* A whole number of `o`, from 0 to `most`. */
static bool whole_number(const json_t *o, const char *key, uint64_t most, uint32_t *out) {
  const json_t *v = json_object_get(o, key);
  json_int_t n = json_integer_value(v);
  *out = (uint32_t)n;
  return json_is_integer(v) && n >= 0 && (uint64_t)n <= most;
}

static bool read_cluster(struct plan_cluster *c, const json_t *o, uint32_t launches) {
  const json_t *all = json_object_get(o, "launches"), *v;
  const char *kernel = json_string_value(json_object_get(o, "kernel"));
  size_t i;
  c->kernel = mem_text(kernel ? kernel : "");
  c->warp_insts = json_number_value(json_object_get(o, "warp_insts"));
  json_array_foreach(all, i, v) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= launches) return false;
    add_member(c, (uint32_t)json_integer_value(v));
  }
  return kernel && c->members && whole_number(o, "timed", c->members, &c->timed) && c->timed &&
         whole_number(o, "blocks", UINT32_MAX, &c->blocks);
}

static bool read_before(struct sample_plan *p, const json_t *all) {
  const json_t *v;
  size_t i;
  p->before = mem_zeroed(json_array_size(all) + 1, sizeof *p->before);
  json_array_foreach(all, i, v) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= p->launches) return false;
    p->before[p->befores++] = (uint32_t)json_integer_value(v);
  }
  return true;
}

static bool read_plan(struct sample_plan *p, const json_t *root) {
  const json_t *all = json_object_get(root, "clusters"), *one;
  const char *program = json_string_value(json_object_get(root, "program"));
  size_t i;
  p->program = mem_text(program ? program : "");
  p->error = json_number_value(json_object_get(root, "error"));
  p->confidence = json_number_value(json_object_get(root, "confidence"));
  p->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
  p->cold = json_is_true(json_object_get(root, "cold"));
  if (json_integer_value(json_object_get(root, "format")) != FORMAT || !json_is_array(all)) return false;
  if (!whole_number(root, "launches", UINT32_MAX, &p->launches)) return false;
  if (!(p->error > 0 && p->confidence > 0 && p->confidence < 1)) return false;
  p->cluster = mem_zeroed(json_array_size(all), sizeof *p->cluster);
  json_array_foreach(all, i, one) {
    p->clusters++;
    if (!read_cluster(&p->cluster[i], one, p->launches)) return false;
  }
  return read_before(p, json_object_get(root, "before"));
}

bool plan_read(struct sample_plan *p, const char *path, struct err *e) {
  json_error_t je;
  json_t *root = json_load_file(path, 0, &je);
  *p = (struct sample_plan){0};
  if (!root && je.line > 0) return err_set(e, ERR_INPUT, "%s:%d:%d: %s", path, je.line, je.column, je.text);
  if (!root) return err_set(e, ERR_INPUT, "%s: %s", path, je.text);
  bool ok = read_plan(p, root);
  json_decref(root);
  if (ok) return true;
  plan_free(p);
  return err_set(e, ERR_INPUT, "%s: not a plan of `sluice run --estimate`: remove it, and a new one is written", path);
}

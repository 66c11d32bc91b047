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

enum { FORMAT = 1, FIRST_SAMPLES = 3, FEW_SAMPLES = 2 };
const double plan_likeness = 0.3;
static const double rare = 0.01; /* counts that differ by less than this share of the warp instructions are alike */
static const double little_work = 0.01; /* share of all warp instructions */

/* ---- clusters ---- */

static bool near(uint64_t a, uint64_t b, double insts) {
  double most = a > b ? (double)a : (double)b;
  return fabs((double)a - (double)b) <= fmax(plan_likeness * most, rare * insts);
}

static bool similar_launches(const struct logged_launch *a, const struct logged_launch *b) {
  if (strcmp(a->kernel, b->kernel) != 0 || memcmp(a->block, b->block, sizeof a->block) != 0) return false;
  if (a->signed_ != b->signed_ || a->sig.shape != b->sig.shape) return false;
  double insts = (double)a->sig.warp_insts;
  if (!near(launchlog_ctas(a), launchlog_ctas(b), 0)) return false;
  for (uint32_t i = 0; i < SIGNATURE_ROWS; i++) {
    uint32_t at = signature_rows[i].offset;
    if (!near(*(const uint64_t *)((const char *)&a->sig + at), *(const uint64_t *)((const char *)&b->sig + at), insts))
      return false;
  }
  return true;
}

static void add_member(struct plan_cluster *c, uint32_t launch) {
  if (!(c->members & (c->members - 1)))
    c->launch = mem_resize(c->launch, c->members ? 2 * c->members : 1, sizeof *c->launch);
  c->launch[c->members++] = launch;
}

/* Fisher and Yates. */
static void shuffle(struct plan_cluster *c, uint64_t seed) {
  for (uint32_t i = c->members; i > 1; i--) {
    uint32_t k = (uint32_t)(hash_u64(seed ^ hash_u64((uint64_t)c->launch[0] << 32 | i)) % i), was = c->launch[i - 1];
    c->launch[i - 1] = c->launch[k];
    c->launch[k] = was;
  }
}

/* The cluster of launch `i`, or a new one. Alone: it is the first of its kernel, which finds cold caches. */
static struct plan_cluster *cluster_of(struct sample_plan *p, const struct launchlog *l, uint32_t i) {
  bool alone = true;
  for (uint32_t c = 0; c < p->clusters; c++) {
    const struct plan_cluster *k = &p->cluster[c];
    if (!k->alone && similar_launches(&l->at[k->launch[0]], &l->at[i])) return &p->cluster[c];
    alone &= strcmp(k->kernel, l->at[i].kernel) != 0;
  }
  p->cluster = mem_resize(p->cluster, p->clusters + 1, sizeof *p->cluster);
  p->cluster[p->clusters] = (struct plan_cluster){.kernel = mem_text(l->at[i].kernel), .alone = alone};
  return &p->cluster[p->clusters++];
}

void plan_cluster_launches(struct sample_plan *p, const struct launchlog *l, struct plan_range r) {
  for (uint32_t i = r.first; i < r.end && i < l->n; i++) {
    struct plan_cluster *k = cluster_of(p, l, i);
    add_member(k, i);
    k->warp_insts += (double)l->at[i].sig.warp_insts;
  }
  p->launches = l->n;
  for (uint32_t c = 0; c < p->clusters; c++) shuffle(&p->cluster[c], p->seed);
}

/* Groups of CTAs of a launch, 0 if they have to be timed all. */
static uint32_t groups_of(const struct logged_launch *l) {
  double mean = (double)l->sig.warp_insts / (double)launchlog_ctas(l);
  uint32_t n = inside_groups(launchlog_ctas(l), l->resident);
  return l->orderly && n >= INSIDE_LEAST_GROUPS && (double)l->sig.longest <= inside_likeness * mean ? n : 0;
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
    uint32_t want = k->warp_insts < little_work * all ? FEW_SAMPLES : FIRST_SAMPLES;
    k->timed = k->members < want ? k->members : want;
    if (plan_groups(k, l)) k->blocks = inside_timed_groups(INSIDE_FIRST_RUNS);
  }
}

const struct plan_cluster *plan_times(const struct sample_plan *p, uint32_t launch) {
  for (uint32_t c = 0; c < p->clusters; c++)
    for (uint32_t i = 0; i < p->cluster[c].timed; i++)
      if (p->cluster[c].launch[i] == launch) return &p->cluster[c];
  return NULL;
}

void plan_free(struct sample_plan *p) {
  for (uint32_t c = 0; c < p->clusters; c++) free(p->cluster[c].kernel), free(p->cluster[c].launch);
  free(p->cluster);
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
  json_t *o = json_object(), *all = json_array();
  for (uint32_t c = 0; c < p->clusters; c++) json_array_append_new(all, cluster_json(&p->cluster[c]));
  json_object_set_new(o, "format", json_integer(FORMAT));
  json_object_set_new(o, "program", json_string(p->program ? p->program : ""));
  json_object_set_new(o, "error", json_real(p->error));
  json_object_set_new(o, "confidence", json_real(p->confidence));
  json_object_set_new(o, "seed", json_integer((json_int_t)p->seed));
  json_object_set_new(o, "cold", json_boolean(p->cold));
  json_object_set_new(o, "launches", json_integer(p->launches));
  json_object_set_new(o, "clusters", all);
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
  return true;
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

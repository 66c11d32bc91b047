/* paper_seeds.c - `sluice paper NAME --seeds N`: every run again on inputs of other seeds. See paper.h.
 *
 * The second input runs under one list of each program, the baseline as figures have it first. A program that takes the
 * same cycles on it has no randomness that matters, and gets no more. The outcome of a search, and of a choice among
 * several lists, is that of the default inputs: tuned once, measured on all.
 */
#include "cli/cmd/paper.h"

#include <string.h>

#include "base/hash.h"
#include "gpu/slots/slots.h"

json_t **paper_every_run(struct paper *p, size_t *count) {
  const char *hash;
  json_t *r, *one;
  size_t i, all = 0;
  json_object_foreach(p->runs, hash, r) all += 1 + json_array_size(json_object_get(r, "seeds"));
  json_t **every = ARENA_ARRAY(&p->arena, json_t *, all + 1);
  *count = all;
  all = 0;
  json_object_foreach(p->runs, hash, r) {
    every[all++] = r;
    json_array_foreach(json_object_get(r, "seeds"), i, one) every[all++] = one;
  }
  return every;
}

/* Is the run of a column that has its list? Those that a choice left out need no further inputs. */
static bool drawn(struct paper *p, const json_t *r) {
  json_t *figure, *column;
  const char *label;
  size_t i;
  bool found = false;
  json_array_foreach(p->figures, i, figure) {
    json_object_foreach(json_object_get(figure, "schemes"), label, column) {
      const char *list = column_list(column);
      if (found || !list || strcmp(list, paper_text(r, "scheme"))) continue;
      json_t *set = column_set(figure, column);
      found = !strcmp(column_gpu(figure, column), paper_text(r, "gpu")) && json_equal(set, json_object_get(r, "set"));
      json_decref(set);
    }
  }
  return found;
}

/* What the search of the default input chose. "" if the list is none, or one whose runs read a profile: that of one
 * input says nothing of another, whose search is made again. */
static const char *chosen(struct paper *p, const json_t *r) {
  char first[1024];
  if (scheme_sweep_prepare(paper_text(r, "scheme"), first, sizeof first)) return "";
  json_t *doc = json_load_file(paper_text(r, "file"), 0, NULL);
  const char *list = arena_strdup(&p->arena, paper_text(json_object_get(doc, "search"), "chosen"));
  json_decref(doc);
  return list;
}

static void add_seed(struct paper *p, json_t *r, json_int_t seed) {
  json_t *one = json_copy(r), *seeds = json_object_get(r, "seeds");
  const char *hash = arena_printf(&p->arena, "%s seed %lld", paper_text(r, "hash"), (long long)seed);
  json_object_del(one, "seeds");
  json_object_del(one, "values");
  json_object_set_new(one, "seed", json_integer(seed));
  json_object_set_new(one, "chosen", json_string(chosen(p, r)));
  hash = arena_printf(&p->arena, "%016llx", (unsigned long long)hash_bytes(HASH_INIT, hash, strlen(hash)));
  json_object_set_new(one, "hash", json_string(hash));
  if (!seeds) json_object_set_new(r, "seeds", seeds = json_array());
  json_array_append_new(seeds, one);
}

/* The first run of each workload gets a second input. */
static void add_second(struct paper *p) {
  const char *hash;
  json_t *r, *seen = json_object();
  json_object_foreach(p->runs, hash, r) {
    const char *workload = paper_text(r, "workload");
    if (json_object_get(r, "failed") || !drawn(p, r) || json_object_get(seen, workload)) continue;
    json_object_set_new(seen, workload, json_true());
    add_seed(p, r, 1);
  }
  json_decref(seen);
}

/* Has the run of the workload that has a second input other cycles on it? */
static bool has_randomness(struct paper *p, const char *workload) {
  const char *hash;
  json_t *r;
  json_object_foreach(p->runs, hash, r) {
    json_t *second = json_array_get(json_object_get(r, "seeds"), 0);
    if (!second || strcmp(paper_text(r, "workload"), workload)) continue;
    const json_t *a = paper_run_values(r), *b = paper_run_values(second);
    return a && b && paper_counter(a, "cycles") != paper_counter(b, "cycles");
  }
  return false;
}

bool paper_seeds(struct paper *p, const struct paper_options *o, const struct tempdir *dir, struct err *e) {
  const char *hash;
  json_t *r;
  if (o->seeds < 2) return true;
  if (!paper_choose(p, e)) return false;
  add_second(p);
  if (!paper_simulate(p, o, dir)) return false;
  json_t *random = json_object(); /* workload: true or false */
  json_object_foreach(p->runs, hash, r) {
    const char *workload = paper_text(r, "workload");
    if (!json_object_get(random, workload))
      json_object_set_new(random, workload, json_boolean(has_randomness(p, workload)));
  }
  json_object_foreach(p->runs, hash, r) {
    if (json_object_get(r, "failed") || !drawn(p, r)) continue;
    if (!json_is_true(json_object_get(random, paper_text(r, "workload")))) continue;
    json_int_t first = 1 + (json_int_t)json_array_size(json_object_get(r, "seeds"));
    for (json_int_t seed = first; seed < (json_int_t)o->seeds; seed++) add_seed(p, r, seed);
  }
  json_decref(random);
  return paper_simulate(p, o, dir);
}

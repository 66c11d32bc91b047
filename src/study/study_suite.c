/* study_suite.c - the bundled workloads as programs of a study: share/sluice/workloads.json. */
#include <limits.h>
#include <string.h>

#include "base/paths.h"
#include "study/study_impl.h"

static json_t *load(void) {
  char path[PATH_MAX];
  return path_find(path, sizeof path, "workloads.json") ? json_load_file(path, 0, NULL) : NULL;
}

bool study_is_workload(const char *name) {
  json_t *all = load(), *w;
  size_t i;
  bool found = false;
  json_array_foreach(all, i, w) {
    const char *n = json_string_value(json_object_get(w, "name"));
    found |= n && !strcmp(n, name);
  }
  json_decref(all);
  return found;
}

static void add_one(struct study *s, json_t *w, const char *suite, struct study_at at) {
  const char *name = json_string_value(json_object_get(w, "name"));
  const char *group = json_string_value(json_object_get(json_object_get(w, "groups"), suite));
  struct study_program *p = study_add_program(s);
  p->at = at;
  p->argv = ARENA_ARRAY(&s->arena, char *, 2);
  p->argv[0] = arena_strdup(&s->arena, name ? name : "?");
  p->name = p->argv[0];
  p->suite = arena_strdup(&s->arena, suite);
  p->group = group ? arena_strdup(&s->arena, group) : NULL;
  p->sized = true;
}

bool study_add_suite(struct study *s, const char *suite, struct study_at at, struct err *e) {
  const char *names[64] = {"all"};
  size_t count = 1, i, before = s->program_count;
  json_t *all = load(), *w, *v;
  if (!json_is_array(all)) {
    json_decref(all);
    return err_set(e, ERR_INPUT, "no bundled workloads here: `make` builds them");
  }
  json_array_foreach(all, i, w) {
    const char *key;
    json_object_foreach(json_object_get(w, "suites"), key, v) {
      size_t k = 0;
      while (k < count && strcmp(names[k], key)) k++;
      if (k == count && count < 64) names[count++] = arena_strdup(&s->arena, key);
      if (!strcmp(key, suite)) add_one(s, w, suite, at);
    }
    if (!strcmp(suite, "all")) add_one(s, w, suite, at);
  }
  json_decref(all);
  if (s->program_count > before) return true;
  const char *near = err_nearest(suite, names, count);
  return err_set(e, ERR_INPUT, "unknown suite '%s'%s%s%s", suite, near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
}

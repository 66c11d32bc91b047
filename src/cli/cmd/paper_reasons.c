/* paper_reasons.c - why a published number is not reproduced: share/sluice/reasons/NAME.yaml, written by hand. See
 * paper.h.
 */
#include <limits.h>
#include <string.h>

#include "base/paths.h"
#include "cli/cmd/figurefile.h"
#include "cli/cmd/paper.h"

static const char *const keys[] = {"where", "metric", "scheme", "over", "why", "programs"};
enum { KEYS = sizeof keys / sizeof *keys };

static bool name_known(const char *name) {
  for (int i = 0; i < KEYS; i++)
    if (!strcmp(name, keys[i])) return true;
  return false;
}

/* Does the entry speak of the number? A key that it does not have fits every number. */
static bool speaks_of(const json_t *entry, const struct published_figure *f) {
  const char *const of[] = {f->where, f->metric, f->scheme, f->group};
  for (int i = 0; i < 4; i++) {
    const char *said = paper_text(entry, keys[i]);
    if (*said && strcmp(said, of[i]) != 0) return false;
  }
  return true;
}

/* Of the bundled workloads, the originals or both: as `programs` says, without it the workloads. */
static bool is_of(const json_t *entry, bool originals) {
  const char *programs = paper_text(entry, "programs");
  return !strcmp(programs, "both") || originals == !strcmp(programs, "originals");
}

const char *paper_reason(const struct paper *p, const struct published_figure *f) {
  json_t *entry;
  size_t i;
  json_array_foreach(p->reasons, i, entry) if (is_of(entry, p->originals != NULL) &&
                                               speaks_of(entry, f)) return paper_text(entry, "why");
  return NULL;
}

/* Every key is known, every entry says why and speaks of a number of the paper. */
static bool check_reasons(const struct paper *p, const json_t *list, const struct published *all, const char *path,
                          struct err *e) {
  json_t *entry, *v;
  const char *name;
  size_t i;
  json_array_foreach(list, i, entry) {
    bool fits = false;
    json_object_foreach(entry, name, v) if (!name_known(name)) return err_set(
        e, ERR_INPUT, "%s: reason %zu has an unknown key '%s'", path, i + 1, name);
    const char *programs = paper_text(entry, "programs");
    if (*programs && strcmp(programs, "workloads") && strcmp(programs, "originals") && strcmp(programs, "both"))
      return err_set(e, ERR_INPUT, "%s: reason %zu has programs '%s'; there are workloads, originals, both", path,
                     i + 1, programs);
    if (!*paper_text(entry, "why")) return err_set(e, ERR_INPUT, "%s: reason %zu says no why", path, i + 1);
    for (size_t k = 0; k < published_count(all) && !fits; k++)
      fits = published_of_suite(published_at(all, k), p->name) && speaks_of(entry, published_at(all, k));
    if (!fits) return err_set(e, ERR_INPUT, "%s: reason %zu speaks of no published number", path, i + 1);
  }
  return true;
}

bool paper_reasons_load(struct paper *p, const struct published *all, struct err *e) {
  char path[PATH_MAX];
  if (!path_find(path, sizeof path, arena_printf(&p->arena, "reasons/%s.yaml", p->name))) return true;
  json_t *file = yaml_load(path, e);
  if (!file) return false;
  json_t *list = json_object_get(file, "reasons");
  if (!json_is_array(list)) err_set(e, ERR_INPUT, "%s: 'reasons' is no list", path);
  else if (check_reasons(p, list, all, path, e)) p->reasons = json_incref(list);
  json_decref(file);
  return !e->code;
}

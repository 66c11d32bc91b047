/* paper_inputs.c - `--size paper`: inputs of the bundled workloads with as many thread instructions as the paper's
 * programs, from share/sluice/inputs/NAME.yaml, and the paper's cut-off. See paper.h.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "cli/cmd/figurefile.h"
#include "cli/cmd/paper.h"

static const char *const file_keys[] = {"paper", "max_insts", "others", "programs", NULL};
static const char *const program_keys[] = {"name", "arguments", "insts", "rule", NULL};

static bool keys_are(const json_t *o, const char *const *keys, const char *path, struct err *e) {
  const char *name;
  json_t *v;
  json_object_foreach((json_t *)o, name, v) {
    size_t i = 0;
    while (keys[i] && strcmp(keys[i], name) != 0) i++;
    if (!keys[i]) return err_set(e, ERR_INPUT, "%s: unknown key '%s'", path, name);
  }
  return true;
}

/* Every program has arguments and a rule, and the paper has it. */
static bool check_inputs(const struct paper *p, const json_t *file, const char *path, struct err *e) {
  struct workload_list l = {0};
  json_t *q;
  size_t i;
  if (!keys_are(file, file_keys, path, e) || !workloads_load(&l, p->name, NULL, e)) return workloads_free(&l), false;
  json_array_foreach(json_object_get(file, "programs"), i, q) {
    const char *name = paper_text(q, "name");
    bool there = false;
    if (!keys_are(q, program_keys, path, e)) break;
    for (size_t k = 0; k < l.count; k++) there |= !strcmp(l.at[k].alias, name);
    if (!there) err_set(e, ERR_INPUT, "%s: %s has no program '%s'", path, p->name, name);
    else if (!*paper_text(q, "arguments") || !*paper_text(q, "rule"))
      err_set(e, ERR_INPUT, "%s: '%s' needs 'arguments' and 'rule'", path, name);
    if (e->code) break;
  }
  workloads_free(&l);
  return !e->code;
}

bool paper_inputs_load(struct paper *p, struct err *e) {
  char path[PATH_MAX];
  if (!path_find(path, sizeof path, arena_printf(&p->arena, "inputs/%s.yaml", p->name)))
    return err_set(e, ERR_INPUT, "there are no inputs of the paper's size for %s: '%s' is missing", p->name, path);
  p->inputs = yaml_load(path, e);
  return p->inputs && check_inputs(p, p->inputs, path, e);
}

static const json_t *program_of(const struct paper *p, const char *alias) {
  json_t *q;
  size_t i;
  json_array_foreach(json_object_get(p->inputs, "programs"), i, q) if (!strcmp(paper_text(q, "name"), alias)) return q;
  return json_object_get(p->inputs, "others");
}

json_t *paper_input(const struct paper *p, const char *alias, double *max_insts) {
  const char *said = paper_text(program_of(p, alias), "arguments");
  char *copy = mem_text(*said ? said : "--size large"), *save = NULL;
  json_t *words = json_array();
  for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
    json_array_append_new(words, json_string(word));
  free(copy);
  *max_insts = json_number_value(json_object_get(p->inputs, "max_insts"));
  return words;
}

void paper_inputs_print(struct paper *p) {
  json_t *r, *said = json_object();
  const char *hash;
  puts("\nthread instructions of the workloads and of the paper's programs:");
  json_object_foreach(p->runs, hash, r) {
    const char *alias = paper_text(r, "alias");
    if (strcmp(paper_text(r, "scheme"), "baseline") != 0 || json_object_get(said, alias)) continue;
    const json_t *q = program_of(p, alias), *values = paper_run_values(r);
    double ours = values ? paper_counter(values, "thread_insts") : 0,
           theirs = json_number_value(json_object_get(q, "insts"));
    if (ours <= 0) continue;
    json_object_set_new(said, alias, json_true());
    printf("  %-16s %14.0f", alias, ours);
    if (theirs > 0) printf(" of %14.0f, %.2f", theirs, ours / theirs);
    printf("  %s\n", paper_text(q, "rule"));
  }
  json_decref(said);
}

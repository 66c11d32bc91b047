/* paper_estimate.c - `sluice paper NAME --estimate`: runs that time a sample of their launches. All runs of a program
 * on one machine and input time the same launches, by a plan that the first of them writes: DIR/plans/HASH.json.
 */
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "cli/cmd/paper.h"
#include "cli/run/estimate.h"
#include "proc/jobs.h"
#include "results/record.h"

bool paper_estimates(const struct paper *p, const json_t *run) {
  return p->estimate && !json_is_true(json_object_get(run, "characterise"));
}

const char *paper_estimate_plan(struct paper *p, const json_t *run) {
  static const char *const keys[] = {"workload", "gpu", "set", "size", "words", "max_insts", "arguments", "seed"};
  json_t *same = json_object();
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (json_object_get(run, keys[i])) json_object_set(same, keys[i], json_object_get(run, keys[i]));
  char *text = json_dumps(same, JSON_COMPACT | JSON_SORT_KEYS);
  uint64_t h = hash_bytes(hash_bytes(HASH_INIT, p->estimate, strlen(p->estimate)), text, strlen(text));
  free(text);
  json_decref(same);
  return arena_printf(&p->arena, "%s/plans/%016llx.json", p->originals ? p->whole : p->out, (unsigned long long)h);
}

/* Is there no plan for this run yet, nor one among the first `n`? */
static bool writes_plan(struct paper *p, json_t *const *run, size_t n, const json_t *r) {
  if (!paper_estimates(p, r)) return false;
  const char *plan = paper_estimate_plan(p, r);
  if (!access(plan, F_OK)) return false;
  for (size_t i = 0; i < n; i++)
    if (!strcmp(paper_estimate_plan(p, run[i]), plan)) return false;
  return true;
}

size_t paper_estimate_order(struct paper *p, json_t **run, size_t n) {
  json_t **all = ARENA_ARRAY(&p->arena, json_t *, n + 1);
  size_t first = 0, then = 0;
  memcpy(all, run, n * sizeof *run);
  for (int baseline = 1; baseline >= 0; baseline--) /* its runs before those of schemes */
    for (size_t i = 0; i < n; i++) {
      if (!all[i] || (strcmp(paper_text(all[i], "scheme"), "baseline") == 0) != baseline) continue;
      if (writes_plan(p, run, first, all[i])) run[first++] = all[i], all[i] = NULL;
    }
  for (size_t i = 0; i < n; i++)
    if (all[i]) run[first + then++] = all[i];
  return first;
}

void paper_estimate_print(struct paper *p) {
  size_t runs = 0, wide = 0, n;
  double detailed = 0, all = 0;
  json_t **run = paper_every_run(p, &n);
  for (size_t i = 0; i < n; i++) {
    json_t *doc = paper_estimates(p, run[i]) ? json_load_file(paper_text(run[i], "file"), 0, NULL) : NULL;
    const json_t *e = json_object_get(doc, "estimate");
    runs += e != NULL;
    wide += e && !json_is_true(json_object_get(e, "reached"));
    detailed += json_number_value(json_object_get(e, "detailed_warp_insts"));
    all += json_number_value(json_object_get(e, "warp_insts"));
    json_decref(doc);
  }
  if (!runs) return;
  printf("estimates: %zu runs, %.1f %% of their warp instructions in detail", runs, all > 0 ? 100 * detailed / all : 0);
  if (wide) printf("; %zu with an interval of the cycles above the bound", wide);
  puts("");
}

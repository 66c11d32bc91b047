/* paper_store.c - stored results of papers (results/stored.h): figures and claims from them, without a simulation, and
 * runs of a call added to them. See paper.h.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/paths.h"
#include "cli/cmd/paper.h"
#include "proc/jobs.h"
#include "results/stored.h"

static const char *const sizes[] = {"paper", "large", "medium", "small"}; /* the first is preferred */
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct stored_run key_of(const json_t *r) {
  return (struct stored_run){.workload = paper_text(r, "workload"),
                             .scheme = paper_text(r, "scheme"),
                             .gpu = paper_text(r, "gpu"),
                             .size = paper_text(r, "size"),
                             .set = json_object_get(r, "set"),
                             .seed = (int)json_integer_value(json_object_get(r, "seed"))};
}

/* ---- figures from stored runs ---- */

/* How many of the figure's runs are there at `size`, of how many. */
static bool count_at(struct paper *p, json_t *figure, const char *size, size_t *there, size_t *all, struct err *e) {
  const char *hash;
  json_t *r;
  p->runs = json_object();
  json_object_set_new(figure, "size", json_string(size));
  *there = *all = 0;
  if (paper_plan_figure(p, figure, e)) {
    json_object_foreach(p->runs, hash, r) {
      struct stored_run key = key_of(r);
      const json_t *line = stored_find(p->stored, &key);
      bool whole = line && (!json_is_true(json_object_get(r, "characterise")) || json_object_get(line, "loads"));
      *there += whole;
      ++*all;
    }
  }
  json_decref(p->runs);
  p->runs = NULL;
  return !e->code;
}

/* The largest size of which all runs are stored; without one, that of which most are. */
static bool choose_size(struct paper *p, json_t *figure, const char *only, struct err *e) {
  size_t most = 0;
  const char *best = only ? only : "medium";
  for (int i = 0; i < SIZES; i++) {
    size_t there, all;
    if (only && strcmp(only, sizes[i]) != 0) continue;
    if (!count_at(p, figure, sizes[i], &there, &all, e)) return false;
    if (there > most) most = there, best = sizes[i];
    if (there && there == all) break;
  }
  json_object_set_new(figure, "size", json_string(best));
  return true;
}

/* Of all figures: the largest size of which all runs are stored; without one, that of which most are. NULL with `e`. */
static const char *common_size(struct paper *p, struct err *e) {
  const char *best = NULL;
  size_t most = 0;
  for (int i = 0; i < SIZES; i++) {
    json_t *f;
    size_t sum = 0, wanted = 0, k;
    json_array_foreach(p->figures, k, f) {
      size_t there, all;
      if (!count_at(p, f, sizes[i], &there, &all, e)) return NULL;
      sum += there, wanted += all;
    }
    if (sum > most) most = sum, best = sizes[i];
    if (sum && sum == wanted) break;
  }
  if (!best)
    err_set(e, ERR_INPUT, "no runs of the readings of %s are stored: without --stored they are simulated", p->name);
  return best;
}

const char *paper_stored_name(struct paper *p) {
  return arena_printf(&p->arena, "results/%s%s.jsonl.zst", p->name, p->originals ? ".originals" : "");
}

bool paper_stored_open(struct paper *p, const char *size, struct err *e) {
  char path[PATH_MAX];
  json_t *f;
  size_t i;
  if (!path_find(path, sizeof path, paper_stored_name(p)))
    return err_set(e, ERR_INPUT, "no stored results of %s: '%s' is missing; without --stored its runs are simulated",
                   p->name, path);
  p->stored = stored_open(path, p->name, e);
  if (!p->stored) return false;
  if (p->readings && !size && !(size = common_size(p, e))) return false;
  if (p->readings) p->size = size;
  json_array_foreach(p->figures, i, f) if (!choose_size(p, f, size, e)) return false;
  return true;
}

/* The same run on inputs of further seeds, as far as they follow each other; how many. */
static size_t attach_seeds(struct paper *p, json_t *r) {
  struct stored_run key = key_of(r);
  const json_t *line;
  json_t *seeds = json_array();
  for (key.seed = 1; (line = stored_find(p->stored, &key)); key.seed++)
    json_array_append_new(seeds, json_pack("{s:o}", "record", stored_record(line)));
  size_t n = json_array_size(seeds);
  if (n) json_object_set(r, "seeds", seeds);
  json_decref(seeds);
  return n;
}

void paper_stored_attach(struct paper *p) {
  const char *hash;
  json_t *r;
  size_t found = 0, further = 0;
  double seconds = 0;
  json_t *commits = json_object();
  json_object_foreach(p->runs, hash, r) {
    struct stored_run key = key_of(r);
    const json_t *line = stored_find(p->stored, &key);
    if (!line) continue;
    json_object_set_new(r, "record", stored_record(line));
    json_object_set_new(commits, paper_text(line, "commit"), json_true());
    seconds += json_number_value(json_object_get(line, "seconds"));
    found++;
    further += attach_seeds(p, r);
  }
  const char *commit, *all = "";
  json_t *one;
  json_object_foreach(commits, commit, one) all = arena_printf(&p->arena, "%s%s%.12s", all, *all ? ", " : "", commit);
  json_decref(commits);
  p->origin = arena_printf(&p->arena, "%zu of %zu runs stored, made by commit %s, %.2f processor hours", found,
                           json_object_size(p->runs), *all ? all : "(none)", seconds / 3600);
  if (further) p->origin = arena_printf(&p->arena, "%s; %zu more on inputs of other seeds", p->origin, further);
}

void paper_stored_print(const struct paper *p) {
  printf("%s%s: %zu figures and tables, %s\n", p->name, p->originals ? ", originals" : "", json_array_size(p->figures),
         p->origin);
  fflush(stdout);
}

/* ---- runs of this call into the file ---- */

/* Processor seconds of runs by hash, a line for each run of this folder that has come to its end. */
static const char *times_of(struct paper *p) {
  return arena_printf(&p->arena, "%s/runs/seconds.tsv", p->out);
}

void paper_note_times(struct paper *p, json_t *const *run) {
  int fd = open(times_of(p), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "a");
  for (size_t i = 0; f && i < p->jobs; i++)
    if (!p->job[i].exit_code) fprintf(f, "%s\t%.3f\n", paper_text(run[i], "hash"), p->job[i].cpu_seconds);
  if (f) fclose(f);
}

static json_t *read_times(struct paper *p) {
  json_t *times = json_object();
  char *text = path_read_whole(times_of(p), NULL), *save = NULL, *end;
  for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
    char *tab = strchr(l, '\t');
    if (!tab) continue;
    *tab = 0;
    double seconds = strtod(tab + 1, &end);
    if (end != tab + 1) json_object_set_new(times, l, json_real(seconds));
  }
  free(text);
  return times;
}

static json_t *stored_line(const json_t *r, const json_t *record, const char *commit, const json_t *seconds) {
  json_t *line = stored_reduce(record);
  static const char *const names[] = {"alias", "group", "suite", "command"};
  for (size_t i = 0; i < 4; i++)
    if (json_object_get(r, names[i])) json_object_set(line, names[i], json_object_get(r, names[i]));
  if (json_object_get(r, "from")) json_object_set(line, "suite", json_object_get(r, "from"));
  json_object_set_new(line, "commit", json_string(commit));
  if (seconds) json_object_set(line, "seconds", (json_t *)seconds);
  return line;
}

bool paper_store(struct paper *p, const char *file, const char *commit, struct err *e) {
  struct stored *s = access(file, F_OK) ? stored_new(p->name, p->originals ? "originals" : "workloads")
                                        : stored_open(file, p->name, e);
  if (!s) return false;
  json_t *times = read_times(p);
  size_t added = 0, kept = 0, count;
  json_t **every = paper_every_run(p, &count);
  for (size_t i = 0; i < count; i++) {
    json_t *r = every[i];
    const char *path = paper_text(r, "file");
    json_t *record = paper_have(r, path) ? json_load_file(path, 0, NULL) : NULL;
    if (!record) continue;
    struct stored_run key = key_of(r);
    const json_t *old = stored_find(s, &key);
    if (json_object_get(old, "loads") && !json_is_true(json_object_get(r, "characterise"))) {
      json_decref(record); /* it says less than what is stored */
      kept++;
      continue;
    }
    stored_put(s, &key, stored_line(r, record, commit, json_object_get(times, paper_text(r, "hash"))));
    json_decref(record);
    added++;
  }
  bool ok = stored_save(s, file, e);
  if (ok) printf("%s: %zu runs of this call, %zu in all", file, added, json_object_size(stored_runs(s)));
  if (ok && kept) printf("; %zu stay as they were, with their characterisation", kept);
  if (ok) puts("");
  json_decref(times);
  stored_free(s);
  return ok;
}

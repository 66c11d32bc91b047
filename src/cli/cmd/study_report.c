/* study_report.c - the HTML report of a finished study: its runs from the results file, as in `compare`. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/arena.h"
#include "cli/cmd/study_report.h"
#include "report/report.h"

/* Whole records fit a page of 5 MB up to FULL runs; up to MOST their totals do. */
enum { FULL = 64, MOST = 800 };

struct pages {
  struct db *db;
  struct arena arena;
  void *record[MOST];
  size_t count, done;
  const char *gpu; /* of the first run */
  bool many_gpus;
  struct err e;
};

static bool count_row(void *ctx, const struct db_row *row) {
  struct pages *p = ctx;
  if (row->status != DB_DONE) return true;
  p->done++;
  if (!p->gpu) p->gpu = arena_strdup(&p->arena, row->gpu ? row->gpu : "");
  p->many_gpus |= row->gpu && strcmp(row->gpu, p->gpu);
  return true;
}

static bool add_row(void *ctx, const struct db_row *row) {
  struct pages *p = ctx;
  if (row->status != DB_DONE || p->count == MOST) return true;
  json_t *r = db_record(p->db, row->run, &p->e);
  if (!r) return false;
  /* A column of the report is a scheme; other labels are part of its name. */
  const char *label = row->scheme ? row->scheme : "baseline";
  if (p->many_gpus && row->gpu) label = arena_printf(&p->arena, "%s, %s", label, row->gpu);
  json_t *all = row->parameters ? json_loads(row->parameters, 0, NULL) : NULL, *v;
  const char *key;
  json_object_foreach(all, key, v) {
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    label = arena_printf(&p->arena, "%s, %s=%s", label, key, json_is_string(v) ? json_string_value(v) : text);
    free(text);
  }
  json_decref(all);
  if (row->replica > 0) label = arena_printf(&p->arena, "%s, replica %lld", label, (long long)row->replica);
  json_object_set_new(r, "scheme", json_string(label));
  if (p->done > FULL) {
    json_t *small = json_object();
    static const char *const kept[] = {"program", "mode", "scheme", "gpu", "config_hash", "totals"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
      if (json_object_get(r, kept[i])) json_object_set(small, kept[i], json_object_get(r, kept[i]));
    json_object_set_new(small, "config", json_object());
    json_decref(r);
    r = small;
  }
  p->record[p->count++] = r;
  return true;
}

bool study_report(struct db *db, const char *study, const char *file, const char *path, struct err *e) {
  struct pages *p = mem_zeroed(1, sizeof *p);
  p->db = db;
  bool ok = db_each(db, study, count_row, p, e);
  if (ok && p->done > MOST)
    ok = err_set(e, ERR_USAGE, "%zu runs are too many for one page (%d): `sluice query` makes tables of them", p->done,
                 MOST);
  ok = ok && db_each(db, study, add_row, p, e);
  if (ok && p->e.code) *e = p->e, ok = false;
  if (ok && p->count)
    ok = report_write(path,
                      &(struct report_input){.title = arena_printf(&p->arena, "Study %s", study),
                                             .command = arena_printf(&p->arena, "sluice study %s", file),
                                             .records = p->record,
                                             .count = p->count},
                      e);
  for (size_t i = 0; i < p->count; i++) json_decref(p->record[i]);
  arena_free(&p->arena);
  free(p);
  return ok;
}

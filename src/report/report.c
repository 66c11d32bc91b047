/* report.c - the HTML report: the page of web/ with the records, counters' documentation and command put into it.
 *
 * Per-launch rows of a program with thousands of launches would make the file large: launches of one kernel are kept
 * one by one up to a limit, the rest is in the totals only.
 */
#include "report/report.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "gpu/stats.h"
#include "results/record.h"

enum { MAX_LAUNCHES = 200 };

static const char marker[] = "<!--SLUICE-DATA-->";

static json_t *counter_docs(void) {
  json_t *docs = json_object();
  for (uint32_t i = 0; i < gpu_stat_row_count; i++)
    json_object_set_new(docs, gpu_stat_rows[i].key,
                        json_pack("{s:s, s:s}", "unit", gpu_stat_rows[i].unit, "doc", gpu_stat_rows[i].doc));
  for (uint32_t i = 0; i < derived_row_count; i++)
    json_object_set_new(docs, derived_rows[i].key,
                        json_pack("{s:s, s:s}", "unit", derived_rows[i].unit, "doc", derived_rows[i].doc));
  return docs;
}

static json_t *one_run(json_t *record) {
  json_t *run = json_copy(record), *kernels = json_object_get(record, "kernels");
  if (json_array_size(kernels) > MAX_LAUNCHES) {
    json_t *few = json_array();
    for (size_t i = 0; i < MAX_LAUNCHES; i++) json_array_append(few, json_array_get(kernels, i));
    json_object_set_new(run, "kernels", few);
    json_object_set_new(run, "kernels_left_out", json_integer((json_int_t)(json_array_size(kernels) - MAX_LAUNCHES)));
  }
  return run;
}

/* "</" inside a script element would end it; "<\/" is the same JSON string. */
static char *script_safe(const char *json) {
  size_t extra = 0;
  for (const char *p = json; (p = strstr(p, "</")); p += 2) extra++;
  char *out = malloc(strlen(json) + extra + 1), *to = out;
  CHECK(out, "out of memory");
  for (const char *p = json; *p; p++) {
    *to++ = *p;
    if (p[0] == '<' && p[1] == '/') *to++ = '\\';
  }
  *to = 0;
  return out;
}

static char *data_text(const struct report_input *in) {
  json_t *runs = json_array(), *all = json_object();
  for (size_t i = 0; i < in->count; i++) json_array_append_new(runs, one_run(in->records[i]));
  json_object_set_new(all, "title", json_string(in->title));
  json_object_set_new(all, "command", json_string(in->command));
  json_object_set_new(all, "docs", counter_docs());
  json_object_set_new(all, "runs", runs);
  char *json = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(8)), *safe = json ? script_safe(json) : NULL;
  free(json);
  json_decref(all);
  return safe;
}

bool report_write(const char *path, const struct report_input *in, struct err *e) {
  char page[PATH_MAX];
  if (!path_find(page, sizeof page, "report.html"))
    return err_set(e, ERR_INPUT, "the report page '%s' is not built: `make` builds it (it needs npm)", page);
  size_t bytes;
  char *html = path_read_whole(page, &bytes), *at = html ? strstr(html, marker) : NULL;
  char *data = data_text(in);
  bool ok = false;
  if (!at || !data) {
    err_set(e, ERR_INTERNAL, "'%s' has no place for the data", page);
  } else {
    static const char open[] = "<script id=\"data\" type=\"application/json\">", close[] = "</script>";
    size_t before = (size_t)(at - html), total = bytes - strlen(marker) + strlen(open) + strlen(data) + strlen(close);
    char *out = malloc(total + 1);
    CHECK(out, "out of memory");
    memcpy(out, html, before);
    char *p = stpcpy(stpcpy(stpcpy(out + before, open), data), close);
    strcpy(p, at + strlen(marker));
    ok = path_write_whole(path, out, total);
    if (!ok) err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
    free(out);
  }
  free(html);
  free(data);
  return ok;
}

/* report.c - the HTML report: the page of web/ with records, counter documentation and command inserted.
 *
 * The file stays below 5 MB for e-mail: records are reduced (reduce.c), and the time resolution is lowered if many
 * runs still exceed the limit.
 */
#include "report/report.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "gpu/common/stats.h"
#include "report/reduce.h"
#include "results/record.h"

enum { MAX_BYTES = 5000000, SOURCE_BYTES = 600000 };

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

/* "</script" would end a script element, and "<!--<script" would hide its end. In JSON "<" occurs in strings only,
 * where "\u003c" is equivalent. */
static const char less[] = "\\u003c";

static size_t safe_bytes(const char *json) {
  size_t n = strlen(json);
  for (const char *p = json; (p = strchr(p, '<')); p++) n += sizeof less - 2;
  return n;
}

static char *script_safe(const char *json) {
  char *out = mem_alloc(safe_bytes(json) + 1), *to = out;
  for (const char *p = json; *p; p++) {
    if (*p == '<') to = stpcpy(to, less);
    else *to++ = *p;
  }
  *to = 0;
  return out;
}

static json_t *all_data(const struct report_input *in) {
  json_t *runs = json_array(), *all = json_object();
  for (size_t i = 0; i < in->count; i++)
    json_array_append_new(runs, reduce_record(in->records[i], i ? in->records[0] : NULL));
  json_object_set_new(all, "title", json_string(in->title));
  json_object_set_new(all, "command", json_string(in->command));
  json_object_set_new(all, "docs", counter_docs());
  if (in->figures) json_object_set(all, "figures", in->figures);
  if (in->claims) json_object_set(all, "claims", in->claims);
  if (in->order) json_object_set_new(all, "order", json_string(in->order));
  if (in->league) json_object_set(all, "league", in->league);
  if (in->origin) json_object_set_new(all, "origin", json_string(in->origin));
  json_object_set_new(all, "sources", reduce_sources(runs, SOURCE_BYTES));
  json_object_set_new(all, "runs", runs);
  return all;
}

/* Shrink by one step: coarser profiles, then fewer source lines, then less detail of the last runs. */
static bool shrink(json_t *all) {
  static const char *const parts[] = {"profile", "lines", "loads", "launches", "kernels"};
  json_t *runs = json_object_get(all, "runs"), *run;
  bool some = false;
  size_t i;
  json_array_foreach(runs, i, run) some |= reduce_profile(run);
  if (some) return true;
  json_array_foreach(runs, i, run) some |= reduce_lines(run);
  for (size_t p = 0; !some && p < sizeof parts / sizeof *parts; p++)
    for (i = json_array_size(runs); !some && i-- > 1;) {
      run = json_array_get(runs, i);
      if (!json_array_size(json_object_get(run, parts[p])) && !json_object_size(json_object_get(run, parts[p])))
        continue;
      if (p < 3) json_object_del(run, parts[p]);
      else json_object_set_new(run, parts[p], json_array());
      json_int_t n = json_integer_value(json_object_get(all, "left_out"));
      json_object_set_new(all, "left_out", json_integer(n + 1));
      some = true;
    }
  return some;
}

static char *data_text(const struct report_input *in, size_t limit) {
  json_t *all = all_data(in);
  char *json;
  while ((json = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(8))) && safe_bytes(json) > limit && shrink(all))
    free(json);
  char *safe = json ? script_safe(json) : NULL;
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
  char *data = data_text(in, bytes < MAX_BYTES ? MAX_BYTES - bytes : 0);
  bool ok = false;
  if (!at || !data) {
    err_set(e, ERR_INTERNAL, "'%s' has no place for the data", page);
  } else {
    static const char open[] = "<script id=\"data\" type=\"application/json\">", close[] = "</script>";
    size_t before = (size_t)(at - html), total = bytes - strlen(marker) + strlen(open) + strlen(data) + strlen(close);
    char *out = mem_alloc(total + 1);
    memcpy(out, html, before);
    char *p = stpcpy(stpcpy(stpcpy(out + before, open), data), close);
    strcpy(p, at + strlen(marker));
    ok = path_write_whole(path, out, total);
    if (!ok) output_failed(path, errno, e);
    free(out);
  }
  free(html);
  free(data);
  return ok;
}

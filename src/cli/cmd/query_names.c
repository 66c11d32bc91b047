/* query_names.c - names and conditions of `sluice query` as SQL (see query.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/query.h"

/* Labels that distinguish runs, besides parameters. `group` follows from the workload and the suite. */
static const char *const labels[] = {"study", "workload", "suite", "size", "gpu", "scheme", "replica"};
enum { LABELS = sizeof labels / sizeof *labels };

/* ---- names ---- */

static bool answers(struct query *q, const char *sql) {
  struct err e = {0};
  struct db_table *t = db_sql(q->db, sql, &e);
  bool yes = t && t->rows;
  db_table_free(t);
  return yes;
}

/* Parameters that a study varied. */
static const char varied_sql[] = "SELECT DISTINCT key FROM plan, json_each(plan.parameters)";

static bool is_varied(struct query *q, const char *name) {
  return answers(q, arena_printf(&q->a, "SELECT 1 FROM (%s) WHERE key = %s", varied_sql, sql_text(&q->a, name)));
}

static bool is_column(struct query *q, const char *name) {
  return answers(
      q, arena_printf(&q->a, "SELECT 1 FROM pragma_table_info('results') WHERE name = %s", sql_text(&q->a, name)));
}

/* `of` is "" or the row's name with a dot. */
static const char *parameter_of(struct query *q, const char *of, const char *name) {
  return arena_printf(&q->a, "json_extract(%sparameters, %s)", of,
                      sql_text(&q->a, arena_printf(&q->a, "$.\"%s\"", name)));
}

/* A value of the record: of its totals by name, or by path. Checked in one run of each study. */
static const char *of_record(struct query *q, const char *name) {
  const char *path = *name == '$' ? name : arena_printf(&q->a, "$.totals.\"%s\"", name);
  if (strchr(name, '"')) return NULL;
  bool there = answers(q, arena_printf(&q->a,
                                       "SELECT 1 FROM (SELECT max(run) AS run FROM results WHERE status = 'done' GROUP "
                                       "BY study) WHERE json_type(record(run), %s) IS NOT NULL",
                                       sql_text(&q->a, path)));
  return there ? arena_printf(&q->a, "json_extract(record(run), %s)", sql_text(&q->a, path)) : NULL;
}

static const char *known_name(struct query *q, const char *name, bool parameter) {
  bool column = is_column(q, name);
  /* Parameters shadow the counters and knobs of the same name only for labels. */
  if ((parameter || !column) && is_varied(q, name)) return parameter_of(q, "", name);
  if (column) return sql_name(&q->a, name);
  if (answers(q, arena_printf(&q->a, "SELECT 1 FROM scheme_counters WHERE key = %s LIMIT 1", sql_text(&q->a, name))))
    return arena_printf(&q->a, "(SELECT value FROM scheme_counters s WHERE s.run_id = run AND s.key = %s)",
                        sql_text(&q->a, name));
  return of_record(q, name);
}

static void unknown(struct query *q, const char *name) {
  struct err e = {0};
  struct db_table *t =
      db_sql(q->db, arena_printf(&q->a, "SELECT name FROM pragma_table_info('results') UNION ALL %s", varied_sql), &e);
  size_t n = t ? t->rows : 0;
  const char **names = ARENA_ARRAY(&q->a, const char *, n + 1);
  for (size_t i = 0; i < n; i++) names[i] = t->cell[i].s;
  const char *near = err_nearest(name, names, n);
  err_set(q->e, ERR_USAGE, "the results have no column '%s'; %s%s%s", name,
          near ? "did you mean '" : "`sluice stats` lists the counters", near ? near : "", near ? "'?" : "");
  db_table_free(t);
}

/* "a+b" as a sum. */
static const char *sum_term(struct query *q, const char *text) {
  const char *out = NULL;
  for (const char *p = text;; p++) {
    size_t n = strcspn(p, "+");
    const char *name = arena_strndup(&q->a, p, n), *c = known_name(q, name, false);
    if (!c) return unknown(q, name), NULL;
    out = out ? arena_printf(&q->a, "%s + %s", out, c) : c;
    p += n;
    if (!*p) return out;
  }
}

const char *query_column(struct query *q, const char *name, bool parameter) {
  const char *c = known_name(q, name, parameter), *slash = strchr(name, '/');
  if (c) return c;
  if (!slash && !strchr(name, '+')) return unknown(q, name), NULL;
  const char *above = sum_term(q, slash ? arena_strndup(&q->a, name, (size_t)(slash - name)) : name);
  if (!slash || !above) return above ? arena_printf(&q->a, "(%s)", above) : NULL;
  const char *below = sum_term(q, slash + 1);
  return below ? arena_printf(&q->a, "(1.0 * (%s) / nullif(%s, 0))", above, below) : NULL;
}

const char *query_labels(struct query *q, const char *text, const char **names, size_t *count) {
  const char *sql = "";
  *count = 0;
  for (const char *p = text;; p++) {
    size_t n = strcspn(p, ",");
    const char *name = arena_strndup(&q->a, p, n), *c = query_column(q, name, true);
    if (!c) return NULL;
    if (*count == QUERY_LABELS) return err_set(q->e, ERR_USAGE, "more than %d columns to group by", QUERY_LABELS), NULL;
    names[(*count)++] = name;
    sql = arena_printf(&q->a, "%s%s%s", sql, *sql ? ", " : "", c);
    p += n;
    if (!*p) return sql;
  }
}

/* ---- conditions ---- */

/* COLUMN=VALUE and its relatives. */
static const char *condition(struct query *q, const char *text) {
  static const char *const ops[] = {"!=", ">=", "<=", "=", ">", "<", "~"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    const char *at = strstr(text, ops[i]);
    if (!at || at == text) continue;
    size_t first = strcspn(text, "!<>=~");
    if ((size_t)(at - text) != first) continue;
    const char *c = query_column(q, arena_strndup(&q->a, text, first), true), *value = at + strlen(ops[i]);
    if (!c) return NULL;
    char *end;
    double number = strtod(value, &end);
    bool is_number = *value && !*end && isfinite(number);
    const char *v = is_number ? arena_strdup(&q->a, value) : sql_text(&q->a, value);
    if (*ops[i] == '~') return arena_printf(&q->a, "%s LIKE %s", c, sql_text(&q->a, value));
    return arena_printf(&q->a, "%s %s %s", c, ops[i], v);
  }
  err_set(q->e, ERR_USAGE, "--where needs COLUMN=VALUE (or != < > <= >= ~), not '%s'", text);
  return NULL;
}

/* The labels of a row are those of `r`, except `except`. */
static const char *same_labels(struct query *q, const char *except) {
  const char *out = "1";
  for (size_t i = 0; i < LABELS; i++)
    if (!except || strcmp(labels[i], except))
      out = arena_printf(&q->a, "%s AND %s IS r.%s", out, sql_name(&q->a, labels[i]), sql_name(&q->a, labels[i]));
  return out;
}

/* So are the parameters that distinguish rows and columns. */
static const char *same_parameters(struct query *q) {
  const char *out = "";
  const char *const lists[] = {q->o->rows, q->o->columns};
  for (size_t k = 0; k < 2; k++) {
    for (const char *p = lists[k]; p && *p; p += strcspn(p, ","), p += *p == ',') {
      const char *name = arena_strndup(&q->a, p, strcspn(p, ","));
      if (is_varied(q, name))
        out = arena_printf(&q->a, "%s AND %s IS %s", out, parameter_of(q, "", name), parameter_of(q, "r.", name));
    }
  }
  return out;
}

const char *query_conditions(struct query *q, bool done_only) {
  const char *all = done_only ? "status = 'done'" : "1";
  if (q->o->study) all = arena_printf(&q->a, "%s AND study = %s", all, sql_text(&q->a, q->o->study));
  for (size_t i = 0; i < q->o->where.count; i++) {
    const char *one = condition(q, q->o->where.at[i]);
    if (!one) return NULL;
    all = arena_printf(&q->a, "%s AND %s", all, one);
  }
  if (!q->o->best) return all;
  const char *by = query_column(q, q->o->best, false);
  if (!by) return NULL;
  return arena_printf(&q->a,
                      "%s AND ordinal = (SELECT ordinal FROM results WHERE %s AND %s%s ORDER BY %s DESC, ordinal "
                      "LIMIT 1)",
                      all, all, same_labels(q, NULL), same_parameters(q), by);
}

/* ---- relative to another run ---- */

bool query_base(struct query *q, const char *first) {
  const char *text = q->o->relative, *equals = strchr(text, '=');
  const char *label = equals ? arena_strndup(&q->a, text, (size_t)(equals - text)) : NULL;
  bool named = label && is_varied(q, label);
  for (size_t i = 0; label && i < LABELS; i++) named |= !strcmp(label, labels[i]);
  if (!named && !first) return true;
  q->base.label = named ? label : first;
  q->base.value = named ? equals + 1 : text;
  const char *c = query_column(q, q->base.label, true);
  if (!c) return false;
  if (answers(q, arena_printf(&q->a, "SELECT 1 FROM results WHERE CAST(%s AS TEXT) = %s LIMIT 1", c,
                              sql_text(&q->a, q->base.value))))
    return true;
  return err_set(q->e, ERR_USAGE, "--relative: no run has %s=%s", q->base.label, q->base.value);
}

const char *query_value(struct query *q, const char *metric) {
  const char *c = query_column(q, metric, false);
  if (!c || !q->base.label) return c;
  /* The other run may have fewer parameters (the baseline has none of a scheme's); common ones are equal. */
  return arena_printf(&q->a,
                      "(1.0 * %s / nullif((SELECT %s FROM results b WHERE status = 'done' AND %s AND CAST(%s AS TEXT) "
                      "= %s AND NOT EXISTS (SELECT 1 FROM json_each(b.parameters) j WHERE j.key <> %s AND j.value IS "
                      "NOT json_extract(r.parameters, '$.\"' || j.key || '\"')) LIMIT 1), 0))",
                      c, c, same_labels(q, q->base.label), query_column(q, q->base.label, true),
                      sql_text(&q->a, q->base.value), sql_text(&q->a, q->base.label));
}

/* ---- means ---- */

const char *query_mean_kind(const struct query *q, bool ratios) {
  return q->o->mean ? q->o->mean : ratios ? "geometric" : "arithmetic";
}

/* A geometric or harmonic mean omits values that are not positive. */
const char *query_mean(struct query *q, const char *c) {
  const char *m = query_mean_kind(q, q->base.label);
  if (!strcmp(m, "geometric")) return arena_printf(&q->a, "exp(avg(CASE WHEN %s > 0 THEN ln(%s) END))", c, c);
  if (!strcmp(m, "harmonic")) return arena_printf(&q->a, "1.0 / avg(CASE WHEN %s > 0 THEN 1.0 / %s END)", c, c);
  if (!strcmp(m, "minimum")) return arena_printf(&q->a, "min(%s)", c);
  if (!strcmp(m, "maximum")) return arena_printf(&q->a, "max(%s)", c);
  if (!strcmp(m, "sum")) return arena_printf(&q->a, "sum(%s)", c);
  return arena_printf(&q->a, "avg(%s)", c);
}

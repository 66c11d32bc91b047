/* query.c - `sluice query FILE`: questions to a results file, as tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tables/rows.h"
#include "gpu/common/stats.h"

enum { MAX_METRICS = 32, MAX_COLUMNS_PIVOT = 256 };

struct query_opts {
  const char *sql, *format, *rows, *columns, *relative, *mean, *study;
  struct opt_list where;
  bool failed;
};

struct query {
  struct arena a;
  struct db *db;
  const struct query_opts *o;
  const char *metric[MAX_METRICS];
  size_t metrics;
  struct err *e;
};

/* ---- names ---- */

/* The SQL of a column that can be asked for: a label, PARAMETER of the study (l1d.sets), a counter, a column of
 * `results`. */
static const char *column(struct query *q, const char *name, bool parameter) {
  struct err e = {0};
  struct db_table *t = db_sql(q->db, "SELECT name FROM pragma_table_info('results')", &e);
  const char *names[1024];
  size_t n = 0;
  bool known = false;
  for (size_t i = 0; t && i < t->rows && n < 1000; i++) {
    names[n++] = arena_strdup(&q->a, t->cell[i].s);
    known |= !strcmp(names[n - 1], name);
  }
  db_table_free(t);
  /* Parameters shadow the counters and knobs of the same name only where labels are asked for. */
  t = db_sql(q->db, "SELECT DISTINCT key FROM plan, json_each(plan.parameters)", &e);
  bool varied = false;
  for (size_t i = 0; t && i < t->rows && n < 1023; i++) {
    names[n++] = arena_strdup(&q->a, t->cell[i].s);
    varied |= !strcmp(names[n - 1], name);
  }
  db_table_free(t);
  if (varied && (parameter || !known))
    return arena_printf(&q->a, "json_extract(parameters, %s)", sql_text(&q->a, arena_printf(&q->a, "$.\"%s\"", name)));
  if (known) return sql_name(&q->a, name);
  t = db_sql(q->db, arena_printf(&q->a, "SELECT 1 FROM scheme_counters WHERE key = %s LIMIT 1", sql_text(&q->a, name)),
             &e);
  bool of_scheme = t && t->rows;
  db_table_free(t);
  if (of_scheme)
    return arena_printf(&q->a, "(SELECT value FROM scheme_counters s WHERE s.run_id = results.run AND s.key = %s)",
                        sql_text(&q->a, name));
  const char *near = err_nearest(name, names, n);
  err_set(q->e, ERR_USAGE, "the results have no column '%s'; %s%s%s", name,
          near ? "did you mean '" : "`sluice stats` lists the counters", near ? near : "", near ? "'?" : "");
  return NULL;
}

/* COLUMN=VALUE and its relatives. */
static const char *condition(struct query *q, const char *text) {
  static const char *const ops[] = {"!=", ">=", "<=", "=", ">", "<", "~"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    const char *at = strstr(text, ops[i]);
    if (!at || at == text) continue;
    size_t first = strcspn(text, "!<>=~");
    if ((size_t)(at - text) != first) continue;
    const char *c = column(q, arena_strndup(&q->a, text, first), true), *value = at + strlen(ops[i]);
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

static const char *conditions(struct query *q, bool done_only) {
  const char *all = done_only ? "status = 'done'" : "1";
  if (q->o->study) all = arena_printf(&q->a, "%s AND study = %s", all, sql_text(&q->a, q->o->study));
  for (size_t i = 0; i < q->o->where.count; i++) {
    const char *one = condition(q, q->o->where.at[i]);
    if (!one) return NULL;
    all = arena_printf(&q->a, "%s AND %s", all, one);
  }
  return all;
}

/* Means as SQL. A geometric mean of values that are not positive is none. */
static const char *mean(struct query *q, const char *c) {
  const char *m = q->o->mean ? q->o->mean : "arithmetic";
  if (!strcmp(m, "geometric")) return arena_printf(&q->a, "exp(avg(CASE WHEN %s > 0 THEN ln(%s) END))", c, c);
  if (!strcmp(m, "minimum")) return arena_printf(&q->a, "min(%s)", c);
  if (!strcmp(m, "maximum")) return arena_printf(&q->a, "max(%s)", c);
  if (!strcmp(m, "sum")) return arena_printf(&q->a, "sum(%s)", c);
  return arena_printf(&q->a, "avg(%s)", c);
}

/* "a,b" as SQL columns; the plain names to `names`. */
static const char *list(struct query *q, const char *text, const char **names, size_t *count) {
  const char *sql = "";
  *count = 0;
  for (const char *p = text;; p++) {
    size_t n = strcspn(p, ",");
    const char *name = arena_strndup(&q->a, p, n), *c = column(q, name, true);
    if (!c) return NULL;
    if (*count == 16) return err_set(q->e, ERR_USAGE, "more than 16 columns to group by"), NULL;
    names[(*count)++] = name;
    sql = arena_printf(&q->a, "%s%s%s", sql, *sql ? ", " : "", c);
    p += n;
    if (!*p) return sql;
  }
}

/* ---- questions ---- */

static struct db_table *plain(struct query *q) {
  const char *where = conditions(q, !q->o->failed), *select = "";
  if (!where) return NULL;
  static const char *const shown[] = {"workload", "size", "gpu", "scheme", "parameters", "replica"};
  for (size_t i = 0; i < 6; i++) {
    /* Labels that never differ say nothing. */
    struct db_table *t = db_sql(
        q->db, arena_printf(&q->a, "SELECT count(DISTINCT \"%s\") > 1 FROM results WHERE %s", shown[i], where), q->e);
    if (!t) return NULL;
    if (t->cell[0].i || i == 0 || i == 3)
      select = arena_printf(&q->a, "%s%s\"%s\"", select, *select ? ", " : "", shown[i]);
    db_table_free(t);
  }
  if (q->o->failed) select = arena_printf(&q->a, "%s, exit_code AS code, error, command", select);
  for (size_t i = 0; i < q->metrics; i++) {
    const char *c = column(q, q->metric[i], false);
    if (!c) return NULL;
    select = arena_printf(&q->a, "%s, %s AS %s", select, c, sql_name(&q->a, q->metric[i]));
  }
  return db_sql(q->db,
                arena_printf(&q->a, "SELECT %s FROM results WHERE %s%s ORDER BY study, ordinal", select, where,
                             q->o->failed ? " AND status = 'failed'" : ""),
                q->e);
}

static struct db_table *grouped(struct query *q) {
  const char *names[16], *where = conditions(q, true), *select = "";
  size_t n;
  const char *by = where ? list(q, q->o->rows, names, &n) : NULL;
  if (!by) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *c = column(q, names[i], true);
    select = arena_printf(&q->a, "%s%s AS %s, ", select, c, sql_name(&q->a, names[i]));
  }
  select = arena_printf(&q->a, "%scount(*) AS runs", select);
  for (size_t i = 0; i < q->metrics; i++) {
    const char *c = column(q, q->metric[i], false);
    if (!c) return NULL;
    select = arena_printf(&q->a, "%s, %s AS %s", select, mean(q, c), sql_name(&q->a, q->metric[i]));
  }
  return db_sql(
      q->db,
      arena_printf(&q->a, "SELECT %s FROM results WHERE %s GROUP BY %s ORDER BY min(ordinal)", select, where, by),
      q->e);
}

/* ---- rows x columns of one metric ---- */

static const char *cell_label(struct arena *a, const struct db_cell *c) {
  if (c->kind == CELL_INT) return arena_printf(a, "%lld", (long long)c->i);
  if (c->kind == CELL_REAL) return arena_printf(a, "%g", c->r);
  return c->kind == CELL_NULL ? "" : c->s;
}

static double cell_value(const struct db_cell *c) {
  return c->kind == CELL_INT ? (double)c->i : c->kind == CELL_REAL ? c->r : NAN;
}

static size_t place(const char **names, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp(names[i], name)) return i;
  if (*count == MAX_COLUMNS_PIVOT) return SIZE_MAX;
  names[*count] = name;
  return (*count)++;
}

static void put(struct db_table *t, size_t row, size_t col, double v) {
  t->cell[row * t->columns + col] =
      isnan(v) ? (struct db_cell){.kind = CELL_NULL} : (struct db_cell){.kind = CELL_REAL, .r = v};
}

/* Mean of a column: geometric for ratios, arithmetic for values. */
static double column_mean(const struct db_table *t, size_t rows, size_t col, bool ratios) {
  double sum = 0;
  size_t n = 0;
  for (size_t r = 0; r < rows; r++) {
    double v = cell_value(&t->cell[r * t->columns + col]);
    if (isnan(v) || (ratios && v <= 0)) continue;
    sum += ratios ? log(v) : v;
    n++;
  }
  return n ? (ratios ? exp(sum / (double)n) : sum / (double)n) : NAN;
}

static struct db_table *spread(struct query *q, const struct db_table *from, size_t keys) {
  const char *columns[MAX_COLUMNS_PIVOT], *last = NULL;
  size_t count = 0, rows = 0, base = SIZE_MAX;
  for (size_t i = 0; i < from->rows; i++)
    place(columns, &count, cell_label(&q->a, &from->cell[i * from->columns + keys]));
  for (size_t i = 0; q->o->relative && i < count; i++)
    if (!strcmp(columns[i], q->o->relative)) base = i;
  if (q->o->relative && base == SIZE_MAX) {
    const char *near = err_nearest(q->o->relative, columns, count);
    err_set(q->e, ERR_USAGE, "--relative: no column '%s'%s%s%s", q->o->relative, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return NULL;
  }
  struct db_table *t = calloc(1, sizeof *t);
  CHECK(t && (t->arena = calloc(1, sizeof *t->arena)), "out of memory");
  t->columns = keys + count;
  t->title = ARENA_ARRAY(t->arena, char *, t->columns + 1);
  for (size_t i = 0; i < keys; i++) t->title[i] = arena_strdup(t->arena, from->title[i]);
  for (size_t i = 0; i < count; i++) t->title[keys + i] = arena_strdup(t->arena, columns[i]);
  t->cell = calloc((from->rows + 2) * t->columns, sizeof *t->cell);
  CHECK(t->cell, "out of memory");
  for (size_t i = 0; i < from->rows; i++) {
    const struct db_cell *c = &from->cell[i * from->columns];
    const char *key = "";
    for (size_t k = 0; k < keys; k++) key = arena_printf(&q->a, "%s\x1f%s", key, cell_label(&q->a, &c[k]));
    if (!last || strcmp(last, key)) {
      rows++;
      for (size_t k = 0; k < keys; k++)
        t->cell[(rows - 1) * t->columns + k] =
            (struct db_cell){.kind = CELL_TEXT, .s = arena_strdup(t->arena, cell_label(&q->a, &c[k]))};
    }
    last = key;
    size_t at = place(columns, &count, cell_label(&q->a, &c[keys]));
    if (at != SIZE_MAX) put(t, rows - 1, keys + at, cell_value(&c[keys + 1]));
  }
  for (size_t r = 0; base != SIZE_MAX && r < rows; r++) {
    double by = cell_value(&t->cell[r * t->columns + keys + base]);
    for (size_t i = 0; i < count; i++)
      put(t, r, keys + i, by > 0 ? cell_value(&t->cell[r * t->columns + keys + i]) / by : NAN);
  }
  t->rows = rows + 1;
  t->cell[rows * t->columns] =
      (struct db_cell){.kind = CELL_TEXT, .s = base != SIZE_MAX ? "geometric mean" : "arithmetic mean"};
  for (size_t i = 0; i < count; i++) put(t, rows, keys + i, column_mean(t, rows, keys + i, base != SIZE_MAX));
  return t;
}

static struct db_table *pivot(struct query *q) {
  const char *names[16], *where = conditions(q, true), *select = "";
  size_t n = 0;
  if (q->metrics != 1) return err_set(q->e, ERR_USAGE, "--columns shows one metric; name one"), NULL;
  const char *rows = where ? list(q, q->o->rows ? q->o->rows : "workload", names, &n) : NULL;
  const char *across = rows ? column(q, q->o->columns, true) : NULL;
  const char *metric = across ? column(q, q->metric[0], false) : NULL;
  if (!metric) return NULL;
  for (size_t i = 0; i < n; i++)
    select = arena_printf(&q->a, "%s%s AS %s, ", select, column(q, names[i], true), sql_name(&q->a, names[i]));
  /* Rows in the order of the study, and so are the columns: each is placed when it is first seen. */
  struct db_table *t =
      db_sql(q->db,
             arena_printf(&q->a,
                          "SELECT %s%s, %s FROM results WHERE %s GROUP BY %s, %s ORDER BY min(min(ordinal)) OVER "
                          "(PARTITION BY %s), %s, min(ordinal)",
                          select, across, mean(q, metric), where, rows, across, rows, rows),
             q->e);
  struct db_table *out = t ? spread(q, t, n) : NULL;
  db_table_free(t);
  return out;
}

/* ---- the command ---- */

static bool check(const struct query *q) {
  static const char *const means[] = {"arithmetic", "geometric", "minimum", "maximum", "sum"};
  const char *m = q->o->mean;
  for (size_t i = 0; m && i < 5; i++)
    if (!strcmp(m, means[i])) m = NULL;
  if (m) {
    const char *near = err_nearest(m, means, 5);
    return err_set(q->e, ERR_USAGE, "unknown mean '%s'; %s%s%s", m,
                   near ? "did you mean '" : "it is arithmetic, geometric, minimum, maximum or sum", near ? near : "",
                   near ? "'?" : "");
  }
  if (q->o->relative && !q->o->columns) return err_set(q->e, ERR_USAGE, "--relative goes with --columns");
  return true;
}

static int query_run(const struct command *self, int argc, char **argv) {
  struct query_opts o = {0};
  struct err e = {0};
  enum db_format format;
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first >= argc) return err_set(&e, ERR_USAGE, "which results file?"), command_usage(self, &e);
  struct query q = {.o = &o, .e = &e};
  const char *file = argv[first++];
  while (first < argc) { /* metrics and options in any order */
    int more = argv[first][0] == '-' ? opt_parse(self->opts, &o, argc - first + 1, argv + first - 1, &e) : 0;
    if (more < 0) return command_usage(self, &e);
    if (more) first += more - 1;
    else if (q.metrics < MAX_METRICS) q.metric[q.metrics++] = argv[first++];
    else first++;
  }
  if (!q.metrics && !o.failed && !o.sql) q.metric[q.metrics++] = "ipc";
  bool ok = rows_format(o.format, &format, &e) && check(&q) && (q.db = db_open(file, DB_READ, &e));
  struct db_table *t = !ok         ? NULL
                       : o.sql     ? db_sql(q.db, o.sql, &e)
                       : o.columns ? pivot(&q)
                       : o.rows    ? grouped(&q)
                                   : plain(&q);
  if (t) rows_print(t, format, stdout);
  rc = t ? EXIT_OK : cli_fail(&e);
  db_table_free(t);
  db_close(q.db);
  arena_free(&q.a);
  opt_list_free(&o.where);
  return rc;
}

#define AT(member) offsetof(struct query_opts, member)
static const struct opt query_opts_table[] = {
    {"where", "COND", "COLUMN=VALUE, also != < > <= >= and ~ (pattern with %); may be repeated", OPT_LIST, AT(where),
     'w', NULL},
    {"rows", "A,B", "one row for each value of these labels or varied parameters, with means", OPT_TEXT, AT(rows), 'r',
     NULL},
    {"columns", "C", "spread one metric over the values of this label", OPT_TEXT, AT(columns), 'c', NULL},
    {"relative", "VALUE", "with --columns: divide by this column; the last row is the geometric mean", OPT_TEXT,
     AT(relative), 'R', NULL},
    {"mean", "KIND", "arithmetic (default), geometric, minimum, maximum or sum of the runs of a group", OPT_TEXT,
     AT(mean), 'm', "arithmetic geometric minimum maximum sum"},
    {"study", "NAME", "runs of this study only", OPT_TEXT, AT(study), 's', NULL},
    {"failed", NULL, "what failed, why, and the command that reproduces it", OPT_FLAG, AT(failed), 0, NULL},
    {"format", "NAME", "text (default), csv, json, markdown or latex", OPT_TEXT, AT(format), 'f',
     "text csv json markdown latex"},
    {"sql", "TEXT", "one SELECT of your own (docs/reference/results-database.md has the tables)", OPT_TEXT, AT(sql),
     'q', NULL},
    {.name = NULL}};

const struct command cmd_query = {
    .name = "query",
    .summary = "tables from a results file",
    .usage = "FILE.db [METRIC...] [OPTIONS]",
    .help =
        "Metrics are counters and derived values (`sluice stats`), scheme counters, seconds, cpu_seconds, peak_kb;\n"
        "ipc if none is named. Labels are study, workload, suite, group, size, gpu, scheme, parameters, replica and\n"
        "every parameter that a study varied, such as l1d.sets. The file may be in use by a study.\n\n"
        "Examples:\n"
        "  sluice query l1.db ipc l1d.read.hit_rate --where scheme=bucl\n"
        "  sluice query l1.db ipc --rows workload --columns scheme --relative none\n"
        "  sluice query l1.db ipc --rows scheme,l1d.sets --mean geometric --format latex\n"
        "  sluice query l1.db --failed\n"
        "  sluice query l1.db --sql 'SELECT name, sum(cycles) FROM kernels GROUP BY name' --format csv\n",
    .opts = query_opts_table,
    .run = query_run,
};

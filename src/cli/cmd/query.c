/* query.c - `sluice query FILE`: tables from a results file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/input.h"
#include "cli/cmd/query.h"

enum { MAX_COLUMNS_PIVOT = 256 };

/* ---- questions ---- */

static struct db_table *plain_table(struct query *q) {
  const char *where = query_conditions(q, !q->o->failed), *select = "";
  if (!where) return NULL;
  static const char *const shown[] = {"workload", "size", "gpu", "scheme", "parameters", "replica"};
  for (size_t i = 0; i < 6; i++) {
    /* Labels without differences are omitted. */
    struct db_table *t = db_sql(
        q->db, arena_printf(&q->a, "SELECT count(DISTINCT \"%s\") > 1 FROM results r WHERE %s", shown[i], where), q->e);
    if (!t) return NULL;
    if (t->cell[0].i || i == 0 || i == 3)
      select = arena_printf(&q->a, "%s%s\"%s\"", select, *select ? ", " : "", shown[i]);
    db_table_free(t);
  }
  if (q->o->failed) select = arena_printf(&q->a, "%s, exit_code AS code, error, command", select);
  for (size_t i = 0; i < q->metrics; i++) {
    const char *c = query_value(q, q->metric[i]);
    if (!c) return NULL;
    select = arena_printf(&q->a, "%s, %s AS %s", select, c, sql_name(&q->a, q->metric[i]));
  }
  return db_sql(q->db,
                arena_printf(&q->a, "SELECT %s FROM results r WHERE %s%s ORDER BY study, ordinal", select, where,
                             q->o->failed ? " AND status = 'failed'" : ""),
                q->e);
}

static struct db_table *grouped(struct query *q) {
  const char *names[QUERY_LABELS], *where = query_conditions(q, true), *select = "";
  size_t n;
  const char *by = where ? query_labels(q, q->o->rows, names, &n) : NULL;
  if (!by || (q->o->relative && !query_base(q, names[0]))) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *c = query_column(q, names[i], true);
    select = arena_printf(&q->a, "%s%s AS %s, ", select, c, sql_name(&q->a, names[i]));
  }
  select = arena_printf(&q->a, "%scount(*) AS runs", select);
  for (size_t i = 0; i < q->metrics; i++) {
    const char *c = query_value(q, q->metric[i]);
    if (!c) return NULL;
    select = arena_printf(&q->a, "%s, %s AS %s", select, query_mean(q, c), sql_name(&q->a, q->metric[i]));
  }
  return db_sql(
      q->db,
      arena_printf(&q->a, "SELECT %s FROM results r WHERE %s GROUP BY %s ORDER BY min(ordinal)", select, where, by),
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

static size_t place_name(const char **names, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp(names[i], name)) return i;
  if (*count == MAX_COLUMNS_PIVOT) return SIZE_MAX;
  names[*count] = name;
  return (*count)++;
}

static void put_number(struct db_table *t, size_t row, size_t col, double v) {
  t->cell[row * t->columns + col] =
      isnan(v) ? (struct db_cell){.kind = CELL_NULL} : (struct db_cell){.kind = CELL_REAL, .r = v};
}

/* The mean of a column over the rows that are in `group` (NULL: over all). */
static double column_mean(const struct db_table *t, size_t rows, size_t col, const char *kind, size_t key,
                          const char *group) {
  double sum = 0;
  size_t n = 0;
  bool geometric = !strcmp(kind, "geometric"), harmonic = !strcmp(kind, "harmonic");
  for (size_t r = 0; r < rows; r++) {
    double v = cell_value(&t->cell[r * t->columns + col]);
    if (isnan(v) || ((geometric || harmonic) && v <= 0)) continue;
    if (group && strcmp(t->cell[r * t->columns + key].s, group)) continue;
    sum += geometric ? log(v) : harmonic ? 1 / v : v;
    n++;
  }
  if (!n) return NAN;
  return geometric ? exp(sum / (double)n) : harmonic ? (double)n / sum : sum / (double)n;
}

/* Rows of means below the others: of each value of --groups, and of all. */
static void add_means(const struct query *q, struct db_table *t, const char *const *names, size_t keys, bool ratios) {
  const char *kind = query_mean_kind(q, ratios), *seen[MAX_COLUMNS_PIVOT];
  if (strcmp(kind, "geometric") && strcmp(kind, "harmonic")) kind = ratios ? "geometric" : "arithmetic";
  size_t rows = t->rows, key = 0, count = 0;
  while (q->o->groups && key < keys && strcmp(names[key], q->o->groups)) key++;
  for (size_t r = 0; q->o->groups && r < rows; r++) place_name(seen, &count, t->cell[r * t->columns + key].s);
  seen[count] = NULL;
  t->cell = mem_resize(t->cell, (rows + count + 2) * t->columns, sizeof *t->cell);
  for (size_t g = 0; g <= count; g++) {
    struct db_cell *row = &t->cell[t->rows++ * t->columns];
    for (size_t k = 0; k < keys; k++) row[k] = (struct db_cell){.kind = CELL_NULL};
    row[0] =
        (struct db_cell){.kind = CELL_TEXT,
                         .s = arena_printf(t->arena, "%s mean%s%s", kind, seen[g] ? ", " : "", seen[g] ? seen[g] : "")};
    for (size_t i = keys; i < t->columns; i++)
      put_number(t, t->rows - 1, i, column_mean(t, rows, i, kind, key, seen[g]));
  }
}

static struct db_table *spread(struct query *q, const struct db_table *from, const char *const *names, size_t keys) {
  const char *columns[MAX_COLUMNS_PIVOT], *last = NULL;
  size_t count = 0, rows = 0, base = SIZE_MAX;
  for (size_t i = 0; i < from->rows; i++)
    place_name(columns, &count, cell_label(&q->a, &from->cell[i * from->columns + keys]));
  bool divide = q->o->relative && !q->base.label;
  for (size_t i = 0; divide && i < count; i++)
    if (!strcmp(columns[i], q->o->relative)) base = i;
  if (divide && base == SIZE_MAX) {
    const char *near = err_nearest(q->o->relative, columns, count);
    err_set(q->e, ERR_USAGE, "--relative: no column '%s'%s%s%s", q->o->relative, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return NULL;
  }
  struct db_table *t = mem_zeroed(1, sizeof *t);
  t->arena = mem_zeroed(1, sizeof *t->arena);
  t->columns = keys + count;
  t->title = ARENA_ARRAY(t->arena, char *, t->columns + 1);
  for (size_t i = 0; i < keys; i++) t->title[i] = arena_strdup(t->arena, from->title[i]);
  for (size_t i = 0; i < count; i++) t->title[keys + i] = arena_strdup(t->arena, columns[i]);
  t->cell = mem_zeroed((from->rows + 1) * t->columns, sizeof *t->cell);
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
    size_t at = place_name(columns, &count, cell_label(&q->a, &c[keys]));
    if (at != SIZE_MAX) put_number(t, rows - 1, keys + at, cell_value(&c[keys + 1]));
  }
  for (size_t r = 0; base != SIZE_MAX && r < rows; r++) {
    double by = cell_value(&t->cell[r * t->columns + keys + base]);
    for (size_t i = 0; i < count; i++)
      put_number(t, r, keys + i, by > 0 ? cell_value(&t->cell[r * t->columns + keys + i]) / by : NAN);
  }
  t->rows = rows;
  add_means(q, t, names, keys, q->o->relative);
  return t;
}

static struct db_table *pivot(struct query *q) {
  const char *names[QUERY_LABELS], *where = query_conditions(q, true), *select = "";
  size_t n = 0;
  bool grouped = !q->o->groups;
  if (q->metrics != 1) return err_set(q->e, ERR_USAGE, "--columns shows one metric; name one"), NULL;
  const char *rows = where ? query_labels(q, q->o->rows ? q->o->rows : "workload", names, &n) : NULL;
  const char *across = rows ? query_column(q, q->o->columns, true) : NULL;
  if (!across || (q->o->relative && !query_base(q, NULL))) return NULL;
  const char *metric = query_value(q, q->metric[0]);
  for (size_t i = 0; i < n; i++) grouped |= !strcmp(q->o->groups ? q->o->groups : "", names[i]);
  if (!grouped) return err_set(q->e, ERR_USAGE, "--groups: '%s' is not one of --rows", q->o->groups), NULL;
  if (!metric) return NULL;
  for (size_t i = 0; i < n; i++)
    select = arena_printf(&q->a, "%s%s AS %s, ", select, query_column(q, names[i], true), sql_name(&q->a, names[i]));
  /* Rows and columns in the order of the study: each is placed at first occurrence. */
  struct db_table *t =
      db_sql(q->db,
             arena_printf(&q->a,
                          "SELECT %s%s, %s FROM results r WHERE %s GROUP BY %s, %s ORDER BY min(min(ordinal)) OVER "
                          "(PARTITION BY %s), %s, min(ordinal)",
                          select, across, query_mean(q, metric), where, rows, across, rows, rows),
             q->e);
  struct db_table *out = t ? spread(q, t, names, n) : NULL;
  db_table_free(t);
  return out;
}

/* ---- the command ---- */

static bool check_query(const struct query *q) {
  static const char *const means[] = {"arithmetic", "geometric", "harmonic", "minimum", "maximum", "sum"};
  const char *m = q->o->mean;
  for (size_t i = 0; m && i < 6; i++)
    if (!strcmp(m, means[i])) m = NULL;
  if (m) {
    const char *near = err_nearest(m, means, 6);
    return err_set(q->e, ERR_USAGE, "unknown mean '%s'; %s%s%s", m,
                   near ? "did you mean '" : "it is arithmetic, geometric, harmonic, minimum, maximum or sum",
                   near ? near : "", near ? "'?" : "");
  }
  if (q->o->relative && !q->o->columns && !q->o->rows)
    return err_set(q->e, ERR_USAGE, "--relative goes with --rows or --columns");
  if (q->o->groups && !q->o->columns) return err_set(q->e, ERR_USAGE, "--groups goes with --columns");
  return true;
}

/* The statement of --sql, from its file if it is one; NULL with `e`. The caller frees it. */
static char *statement(const char *text, struct err *e) {
  return *text == '@' ? input_read(text + 1, INPUT_YAML_MOST, NULL, e) : strdup(text);
}

static struct db_table *by_sql(struct query *q) {
  char *sql = statement(q->o->sql, q->e);
  struct db_table *t = sql ? db_sql(q->db, sql, q->e) : NULL;
  free(sql);
  return t;
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
    else if (q.metrics < QUERY_METRICS) q.metric[q.metrics++] = argv[first++];
    else first++;
  }
  if (!q.metrics && !o.failed && !o.sql) q.metric[q.metrics++] = "ipc";
  bool ok = rows_format(o.format, &format, &e) && check_query(&q) && (q.db = db_open(file, DB_READ, &e));
  struct db_table *t = !ok ? NULL : o.sql ? by_sql(&q) : o.columns ? pivot(&q) : o.rows ? grouped(&q) : plain_table(&q);
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
    {"relative", "VALUE", "divide by the column VALUE, or each run by that of VALUE (LABEL=VALUE) else like it",
     OPT_TEXT, AT(relative), 'R', NULL},
    {"groups", "LABEL", "with --columns: a row of means for each value of this label of --rows, too", OPT_TEXT,
     AT(groups), 'g', NULL},
    {"best", "METRIC", "of runs that differ in parameters alone, the one where METRIC is highest", OPT_TEXT, AT(best),
     'b', NULL},
    {"mean", "KIND", "arithmetic, geometric (default of ratios), harmonic, minimum, maximum or sum of a group",
     OPT_TEXT, AT(mean), 'm', "arithmetic geometric harmonic minimum maximum sum"},
    {"study", "NAME", "runs of this study only", OPT_TEXT, AT(study), 's', NULL},
    {"failed", NULL, "what failed, why, and the command that reproduces it", OPT_FLAG, AT(failed), 0, NULL},
    {"format", "NAME", "text (default), csv, json, markdown or latex", OPT_TEXT, AT(format), 'f',
     "text csv json markdown latex"},
    {"sql", "TEXT", "one SELECT of your own, or @FILE that has it (docs/reference/results-database.md has the tables)",
     OPT_TEXT, AT(sql), 'q', NULL},
    {.name = NULL}};

const struct command cmd_query = {
    .name = "query",
    .summary = "tables from a results file",
    .usage = "FILE.db [METRIC...] [OPTIONS]",
    .help =
        "Metrics are counters and derived values (`sluice stats`), scheme counters, seconds, cpu_seconds, peak_kb;\n"
        "ipc if none is named. Labels are study, workload, suite, group, size, gpu, scheme, parameters, replica and\n"
        "every parameter that a study varied, such as l1d.sets. A metric may be a ratio of sums "
        "(l2.misses/l2.accesses)\n"
        "and any number of the record: one of its totals by name, another by its path ('$.energy.whole_uj'). The file\n"
        "may be in use by a study.\n\n"
        "Examples:\n"
        "  sluice query l1.db ipc l1d.read.hit_rate --where scheme=bucl\n"
        "  sluice query l1.db ipc --rows workload --columns scheme --relative none\n"
        "  sluice query l1.db ipc --rows group,workload --columns scheme --relative none --groups group\n"
        "  sluice query l1.db ipc l1d.read.misses --rows scheme --relative none --best ipc\n"
        "  sluice query l1.db ipc --rows scheme,l1d.sets --mean geometric --format latex\n"
        "  sluice query l1.db --failed\n"
        "  sluice query l1.db --sql 'SELECT name, sum(cycles) FROM kernels GROUP BY name' --format csv\n",
    .opts = query_opts_table,
    .run = query_run,
};

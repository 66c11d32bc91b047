/* silicon.c - kernels beside the hardware counters of a GPU.
 *
 * The table is a CSV: program,kernel, then a column per counter of `columns`, in any order; others are skipped, and
 * a cell may be empty. Lines that begin with # are notes; "# gpu: NAME" names the configuration. A value is the mean
 * over the launches of the kernel, and so is the simulated one: over the first ones where the column `launches` says
 * how many were measured. The L2 is empty when a launch begins, as profilers have it. Sectors are 32 B. Active cycles
 * are those in which an SM has a CTA, the mean of all SMs.
 *
 * A program's kernels are found by their names: DIR/PROGRAM.slt is replayed, else the command line in DIR/PROGRAM.cmd
 * runs, in the folder in which Sluice was started.
 */
#include "cli/cmd/silicon.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "model/energy.h"
#include "proc/jobs.h"
#include "results/record.h"

enum column {
  CYCLES,
  ACTIVE,
  L1_READ_HITS,
  L1_READ_MISSES,
  L1_WRITE_HITS,
  L1_WRITE_MISSES,
  CONSTANT,
  SHARED,
  DRAM_READ,
  DRAM_WRITTEN,
  L2_READ_HITS,
  L2_READ_MISSES,
  L2_WRITES,
  INSTRUCTIONS,
  WATTS, /* of the board, by its configuration; the last */
  COLUMNS
};
static const struct {
  const char *name, *short_name; /* in the file; NULL: not in the overview */
} columns[COLUMNS] = {
    {"elapsed_cycles", "cycles"},
    {"active_cycles", NULL},
    {"l1.read_sector_hits", "L1 hits"},
    {"l1.read_sector_misses", "L1 misses"},
    {"l1.write_sector_hits", NULL},
    {"l1.write_sector_misses", NULL},
    {"constant.requests", NULL},
    {"shared.warp_accesses", "shared"},
    {"dram.sectors_read", "DRAM read"},
    {"dram.sectors_written", "DRAM written"},
    {"l2.read_sector_hits", "L2 hits"},
    {"l2.read_sector_misses", "L2 misses"},
    {"l2.write_sector_hits", "L2 writes"},
    {"instructions", "instructions"},
    {"watts", "watts"},
};
enum { OTHER = -2, LAUNCHES = -1 }; /* columns that are no counters */
enum { ROWS_MAX = 1024, CELLS_MAX = 64 };
static const double few = 2000; /* of so few events an error says little: counters below are not in the means */

struct row {
  const char *program, *kernel;
  double launches;                     /* the first that were measured; INFINITY: all */
  double hard[COLUMNS], ours[COLUMNS]; /* NAN: not measured; not counted */
  size_t job;                          /* SIZE_MAX: its program is not at hand */
  bool found;
};

struct silicon {
  const struct silicon_options *o;
  struct arena arena;
  char *text;
  const char *gpu;
  struct row row[ROWS_MAX];
  size_t rows;
  struct job job[ROWS_MAX];
  const char *program[ROWS_MAX], *record[ROWS_MAX]; /* of a job */
  size_t jobs;
  struct gpu_config config;
};

/* ---- the table of measurements ---- */

static size_t split_cells(char *line, char **cell) {
  size_t n = 0;
  for (char *at; n < CELLS_MAX && (at = strsep(&line, ",")); n++) cell[n] = at;
  return n;
}

static bool kernel_wanted(const struct silicon_options *o, const char *kernel) {
  for (size_t i = 0; i < o->kernels->count; i++)
    if (strstr(kernel, o->kernels->at[i])) return true;
  return !o->kernels->count;
}

static bool add_measurement(struct silicon *s, char **cell, size_t cells, const int *is, unsigned at, struct err *e) {
  if (s->rows == ROWS_MAX) return err_set(e, ERR_INPUT, "%s:%u: more than %d rows", s->o->file, at, ROWS_MAX);
  struct row *r = &s->row[s->rows];
  *r = (struct row){.program = cell[0], .kernel = cell[1], .launches = INFINITY};
  for (size_t k = 0; k < COLUMNS; k++) r->hard[k] = r->ours[k] = NAN;
  for (size_t k = 2; k < cells; k++) {
    char *end;
    if (is[k] == OTHER || !*cell[k]) continue;
    *(is[k] == LAUNCHES ? &r->launches : &r->hard[is[k]]) = strtod(cell[k], &end);
    if (*end) return err_set(e, ERR_INPUT, "%s:%u: '%s' is not a number", s->o->file, at, cell[k]);
  }
  s->rows += kernel_wanted(s->o, r->kernel);
  return true;
}

static bool read_measurements(struct silicon *s, struct err *e) {
  const char *path = s->o->file;
  s->text = path_read_whole(path, NULL);
  if (!s->text) return err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
  int is[CELLS_MAX];
  size_t heads = 0;
  char *cell[CELLS_MAX], *lines = s->text, *line;
  for (unsigned at = 1; (line = strsep(&lines, "\n")); at++) {
    line[strcspn(line, "\r")] = 0;
    if (!strncmp(line, "# gpu: ", 7)) s->gpu = line + 7;
    if (!*line || *line == '#') continue;
    size_t n = split_cells(line, cell);
    if (!heads) {
      if (n < 3 || strcmp(cell[0], "program") || strcmp(cell[1], "kernel"))
        return err_set(e, ERR_INPUT, "%s:%u: the first columns must be program,kernel", path, at);
      for (heads = n; n-- > 2;) {
        is[n] = strcmp(cell[n], "launches") ? OTHER : LAUNCHES;
        for (int k = 0; k < COLUMNS; k++)
          if (!strcmp(cell[n], columns[k].name)) is[n] = k;
      }
      continue;
    }
    if (n != heads) return err_set(e, ERR_INPUT, "%s:%u: %zu values, the heading has %zu", path, at, n, heads);
    if (!add_measurement(s, cell, n, is, at, e)) return false;
  }
  if (s->rows) return true;
  return s->o->kernels->count ? err_set(e, ERR_USAGE, "no kernel '%s' in %s", s->o->kernels->at[0], path)
                              : err_set(e, ERR_INPUT, "%s has no kernels", path);
}

/* ---- the runs ---- */

/* The words of a command line: blanks between them, no quotes. */
static size_t words_of(struct arena *a, char *text, char **v, size_t most) {
  size_t n = 0;
  char *rest;
  for (char *w = strtok_r(text, " \t\r\n", &rest); w && n < most; w = strtok_r(NULL, " \t\r\n", &rest))
    v[n++] = arena_strdup(a, w);
  return n;
}

/* A job for a program that is at hand. */
static bool add_job(struct silicon *s, const char *program, const struct tempdir *tmp) {
  struct arena *a = &s->arena;
  const struct silicon_options *o = s->o;
  const char *slt = arena_printf(a, "%s/%s.slt", o->dir, program), *cmd = arena_printf(a, "%s/%s.cmd", o->dir, program);
  char self[PATH_MAX], name[32], record[600], *line = NULL;
  bool trace = !access(slt, R_OK);
  if (!trace && !(line = path_read_whole(cmd, NULL))) return false;
  enum { WORDS = 64 };
  char **v = ARENA_ARRAY(a, char *, 16 + WORDS + 2 * o->sets->count);
  size_t n = 0;
  self_path(self, sizeof self);
  snprintf(name, sizeof name, "run%zu.json", s->jobs);
  tempdir_file(tmp, name, record, sizeof record);
#define ARG(w) v[n++] = arena_strdup(a, w)
  ARG(self), ARG("run"), ARG("--quiet"), ARG("--launches"), ARG("all"), ARG("--json"), ARG(record), ARG("--gpu"),
      ARG(s->gpu);
  for (size_t i = 0; i < o->sets->count; i++) ARG("--set"), ARG(o->sets->at[i]);
  ARG("--set"), ARG("kernels.cold_l2=true"), ARG("--");
  if (trace) ARG(slt);
#undef ARG
  if (line) n += words_of(a, line, v + n, WORDS);
  free(line);
  s->program[s->jobs] = program;
  s->record[s->jobs] = arena_strdup(a, record);
  s->job[s->jobs] = (struct job){.argv = v, .weight = 1};
  s->jobs++;
  return true;
}

static void plan(struct silicon *s, const struct tempdir *tmp) {
  for (size_t i = 0; i < s->rows; i++) {
    struct row *r = &s->row[i];
    r->job = 0;
    while (r->job < s->jobs && strcmp(s->program[r->job], r->program)) r->job++;
    if (r->job == s->jobs && !add_job(s, r->program, tmp)) r->job = SIZE_MAX;
    /* of the longest program in the table the most time */
    if (r->job != SIZE_MAX) s->job[r->job].weight += r->hard[CYCLES] > 0 ? r->hard[CYCLES] : 0;
  }
}

/* ---- the simulation ---- */

static double counter(const struct record_file *f, size_t kernel, const char *key) {
  double v;
  return record_value(f, kernel, key, &v) ? v : 0;
}

/* The board's power during one entry of the record; NAN: the configuration does not say. */
static double watts_of(const struct silicon *s, const struct record_file *f, size_t kernel) {
#define GET(key) (uint64_t) counter(f, kernel, key)
  const struct gpu_stats st = {.cycles = GET("cycles"),
                               .kernels = GET("kernels"),
                               .warp_insts = GET("warp_insts"),
                               .l1d_sectors_read = GET("l1d.sectors.read"),
                               .l1d_sectors_written = GET("l1d.sectors.written"),
                               .shared_accesses = GET("shared.accesses"),
                               .l2_sectors_read = GET("l2.sectors.read"),
                               .l2_sectors_stored = GET("l2.sectors.stored"),
                               .dram_read_bytes = GET("dram.read_bytes"),
                               .dram_write_bytes = GET("dram.write_bytes")};
#undef GET
  struct energy_board b;
  return energy_board(&s->config, &st, &b) ? b.watt : NAN;
}

/* Add what one entry of the record counted. */
static void add_measured(const struct silicon *s, const struct record_file *f, size_t kernel, double *sum) {
#define GET(key) counter(f, kernel, key)
  double l1_missed = GET("l1d.fetch_bytes") / 32, l2_missed = GET("l2.sectors.fetched");
  double add[COLUMNS] = {
      [CYCLES] = GET("cycles") + s->config.launch_cycles * GET("kernels"),
      [ACTIVE] = GET("cycles") - GET("sm.empty_cycles") / s->config.sms,
      [L1_READ_HITS] = GET("l1d.sectors.read") - l1_missed,
      [L1_READ_MISSES] = l1_missed,
      [L1_WRITE_HITS] = GET("l1d.sectors.written_hits"),
      [L1_WRITE_MISSES] = GET("l1d.sectors.written") - GET("l1d.sectors.written_hits"),
      [CONSTANT] = GET("l1c.accesses"),
      [SHARED] = GET("shared.accesses"),
      [DRAM_READ] = GET("dram.read_bytes") / 32,
      [DRAM_WRITTEN] = GET("dram.write_bytes") / 32,
      [L2_READ_HITS] = GET("l2.sectors.read") - l2_missed,
      [L2_READ_MISSES] = l2_missed,
      [L2_WRITES] = GET("l2.sectors.stored"),
      [INSTRUCTIONS] = GET("warp_insts"),
      [WATTS] = watts_of(s, f, kernel) * GET("kernels"),
  };
#undef GET
  for (size_t k = 0; k < COLUMNS; k++) sum[k] += add[k];
}

static void fill_row(const struct silicon *s, struct row *r, const struct record_file *f) {
  double sum[COLUMNS] = {0}, launches = 0;
  for (size_t k = 0; k < record_kernels(f) && launches < r->launches; k++) {
    const char *name = record_kernel_name(f, k);
    if (!name || !strstr(name, r->kernel)) continue;
    launches += counter(f, k, "kernels");
    add_measured(s, f, k, sum);
  }
  if (!(launches > 0)) return;
  r->found = true;
  for (size_t k = 0; k < COLUMNS; k++) r->ours[k] = sum[k] / launches;
}

static unsigned collect_jobs(struct silicon *s) {
  unsigned failed = 0;
  for (size_t j = 0; j < s->jobs; j++) {
    struct err e = {0};
    struct record_file *f = s->job[j].exit_code == 0 ? record_open(s->record[j], &e) : NULL;
    if (!f) {
      failed++;
      text_say(stderr, "sluice: %s failed (exit code %d):\n", s->program[j], s->job[j].exit_code);
      job_print_log(&s->job[j]);
      continue;
    }
    job_print_warnings(&s->job[j]);
    for (size_t i = 0; i < s->rows; i++)
      if (s->row[i].job == j) fill_row(s, &s->row[i], f);
    record_close(f);
  }
  return failed;
}

/* ---- output ---- */

static bool compared(const struct row *r, size_t k) {
  return r->found && !isnan(r->hard[k]) && !isnan(r->ours[k]) &&
         r->hard[k] >= (k == CYCLES || k == ACTIVE || k == WATTS ? 1 : few);
}
static double error_of(const struct row *r, size_t k) {
  return 100 * (r->ours[k] - r->hard[k]) / r->hard[k];
}

/* Columns of the overview; watts only where some were measured. */
static bool in_overview(const struct silicon *s, size_t k) {
  if (!columns[k].short_name || k == INSTRUCTIONS) return false;
  for (size_t i = 0; i < s->rows; i++)
    if (k != WATTS || !isnan(s->row[i].hard[WATTS])) return true;
  return false;
}

static void print_overview(const struct silicon *s) {
  const char *titles[COLUMNS + 4] = {"kernel", "measured", "ours"};
  char align[COLUMNS + 4] = "lrr";
  size_t n = 3;
  for (size_t k = 0; k < COLUMNS; k++)
    if (in_overview(s, k)) titles[n] = columns[k].short_name, align[n++] = 'r';
  struct table *t = table_new(titles, align);
  for (size_t i = 0; i < s->rows; i++) {
    const struct row *r = &s->row[i];
    char hard[48] = "", ours[48] = "";
    if (!isnan(r->hard[CYCLES])) cli_count(hard, sizeof hard, r->hard[CYCLES]);
    if (r->found) cli_count(ours, sizeof ours, r->ours[CYCLES]);
    table_cell(t, "%.40s", r->kernel);
    table_cell(t, "%s", hard);
    table_cell(t, "%s", r->found ? ours : r->job == SIZE_MAX ? "not at hand" : "not run");
    for (size_t k = 0; k < COLUMNS; k++) {
      if (!in_overview(s, k)) continue;
      if (compared(r, k)) table_cell(t, "%+.1f %%", error_of(r, k));
      else table_cell(t, " ");
    }
  }
  table_print(t, stdout);
  table_free(t);
}

/* One kernel alone: every counter. */
static void print_kernel(const struct row *r) {
  static const char *const titles[] = {"counter", "measured", "ours", "error"};
  text_say(stdout, "%s (%s)\n", r->kernel, r->program);
  struct table *t = table_new(titles, "lrrr");
  for (size_t k = 0; r->found && k < COLUMNS; k++) {
    char hard[48] = " ", ours[48];
    if (isnan(r->ours[k])) continue;
    if (!isnan(r->hard[k])) cli_count(hard, sizeof hard, r->hard[k]);
    cli_count(ours, sizeof ours, r->ours[k]);
    table_cell(t, "%s", columns[k].name);
    table_cell(t, "%s", hard);
    table_cell(t, "%s", ours);
    if (!isnan(r->hard[k]) && r->hard[k] > 0) table_cell(t, "%+.1f %%", error_of(r, k));
    else table_cell(t, " ");
  }
  table_print(t, stdout);
  table_free(t);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Pearson's, of the logarithms of cycles. */
static double correlation(const struct silicon *s) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < s->rows; i++) {
    const struct row *r = &s->row[i];
    if (!compared(r, CYCLES)) continue;
    double a = log(r->hard[CYCLES]), b = log(r->ours[CYCLES]);
    n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  double d = sqrt((n * xx - x * x) * (n * yy - y * y));
  return d > 0 ? (n * xy - x * y) / d : NAN;
}

static void print_means(const struct silicon *s) {
  static const char *const titles[] = {"counter", "kernels", "mean abs error", "median", "worst"};
  struct table *t = table_new(titles, "lrrrr");
  for (size_t k = 0; k < COLUMNS; k++) {
    double error[ROWS_MAX], sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->rows; i++)
      if (compared(&s->row[i], k)) sum += error[n++] = fabs(error_of(&s->row[i], k));
    if (!n) continue;
    qsort(error, n, sizeof *error, by_size);
    table_cell(t, "%s", columns[k].name);
    table_cell(t, "%zu", n);
    table_cell(t, "%.1f %%", sum / (double)n);
    table_cell(t, "%.1f %%", (error[(n - 1) / 2] + error[n / 2]) / 2);
    table_cell(t, "%.1f %%", error[n - 1]);
  }
  table_print(t, stdout);
  table_free(t);
  double c = correlation(s);
  if (!isnan(c)) printf("\ncorrelation of the logarithms of cycles: %.4f\n", c);
}

static bool write_csv(const struct silicon *s, struct err *e) {
  struct output *file = output_open(s->o->csv);
  if (!file) return output_failed(s->o->csv, errno, e), false;
  FILE *f = output_file(file);
  fputs("program,kernel,counter,measured,ours,error_percent\n", f);
  for (size_t i = 0; i < s->rows; i++)
    for (size_t k = 0; s->row[i].found && k < COLUMNS; k++) {
      const struct row *r = &s->row[i];
      if (isnan(r->ours[k])) continue;
      fprintf(f, "%s,%s,%s,", r->program, r->kernel, columns[k].name);
      if (!isnan(r->hard[k])) fprintf(f, "%.10g", r->hard[k]);
      fprintf(f, ",%.10g,", r->ours[k]);
      if (r->hard[k] > 0) fprintf(f, "%.2f", error_of(r, k));
      fputc('\n', f);
    }
  if (!output_commit(file)) return output_failed(s->o->csv, errno, e), false;
  return true;
}

static int finish_silicon(struct silicon *s) {
  struct err e = {0};
  unsigned failed = collect_jobs(s);
  printf("%s beside %s (errors in percent of what was measured)\n\n", s->gpu, s->o->file);
  if (s->o->kernels->count && s->rows <= 4)
    for (size_t i = 0; i < s->rows; i++) print_kernel(&s->row[i]);
  else {
    print_overview(s);
    puts("");
    print_means(s);
  }
  if (s->o->csv && !write_csv(s, &e)) return cli_fail(&e);
  return failed ? EXIT_CHECK : EXIT_OK;
}

int silicon_run(const struct silicon_options *o) {
  struct err e = {0};
  struct tempdir tmp = {0};
  struct silicon *s = mem_zeroed(1, sizeof *s);
  *s = (struct silicon){.o = o, .gpu = "volta"};
  bool ok = read_measurements(s, &e);
  if (o->gpu) s->gpu = o->gpu;
  struct sim_options sim = {.gpu = s->gpu, .sets = *o->sets};
  ok = ok && sim_check(&sim, &e) && sim_config(&sim, &s->config, &e) && tempdir_make(&tmp, &e);
  int rc;
  if (ok) {
    plan(s, &tmp);
    if (!s->jobs)
      ok = err_set(&e, ERR_INPUT, "no program of %s is in '%s' (PROGRAM.slt or PROGRAM.cmd)", o->file, o->dir);
  }
  if (!ok) rc = cli_fail(&e);
  else rc = jobs_run(s->job, s->jobs, o->jobs, &tmp, "calibrating", false) ? finish_silicon(s) : 130;
  tempdir_remove(&tmp);
  arena_free(&s->arena);
  free(s->text);
  free(s);
  return rc;
}

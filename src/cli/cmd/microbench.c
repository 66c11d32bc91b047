/* microbench.c - `sluice microbench`: what a GPU's latencies, rates and bandwidths come to, beside what was published.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "cli/cmd/micro.h"
#include "cli/frame/cli.h"
#include "session/session.h"

struct microbench_options {
  const char *gpu, *csv, *only;
  struct opt_list sets;
};

/* A value or a range that several sources give. */
struct published {
  double low, high;
  const char *text, *source;
};

struct state {
  struct progress progress;
  char *table; /* data/microbench.csv */
  double *ours;
  struct published *published;
};

/* ---- the published values ---- */

/* Lines gpu,name,value,source in `text`, which the results point into; value is a number or LOW-HIGH. */
static bool read_published(struct state *st, const char *path, const char *gpu, struct err *e) {
  char *lines, *line = strtok_r(st->table, "\n", &lines);
  for (unsigned at = 1; line; line = strtok_r(NULL, "\n", &lines), at++) {
    if (*line == '#' || at == 1) continue;
    char *name = strchr(line, ','), *value = name ? strchr(name + 1, ',') : NULL,
         *source = value ? strchr(value + 1, ',') : NULL;
    if (!source) return err_set(e, ERR_INPUT, "%s:%u: gpu,name,value,source expected", path, at);
    *name++ = *value++ = *source++ = 0;
    size_t i = 0;
    while (i < micro_count && strcmp(micros[i].name, name)) i++;
    if (i == micro_count) return err_set(e, ERR_INPUT, "%s:%u: no microbenchmark '%s'", path, at, name);
    if (strcmp(line, gpu)) continue;
    char *end;
    double low = strtod(value, &end), high = *end == '-' ? strtod(end + 1, &end) : low;
    if (*end || end == value) return err_set(e, ERR_INPUT, "%s:%u: '%s' is no number and no range", path, at, value);
    st->published[i] = (struct published){low, high, value, source};
  }
  return true;
}

/* In percent; 0 within a range. */
static double error_of(const struct published *p, double ours) {
  if (ours < p->low) return 100 * (ours - p->low) / p->low;
  return ours > p->high ? 100 * (ours - p->high) / p->high : 0;
}

/* ---- output ---- */

static void print_machine(const struct state *st) {
  static const char *const titles[] = {"microbenchmark", "ours", "published", "error", "unit", "source"};
  struct table *t = table_new(titles, "lrrrll");
  table_order(t, "....21");
  double sum = 0, worst = 0;
  unsigned n = 0, near = 0;
  for (size_t i = 0; i < micro_count; i++) {
    const struct published *p = &st->published[i];
    if (isnan(st->ours[i])) continue;
    table_cell(t, "%s", micros[i].name);
    table_cell(t, "%.*f", st->ours[i] < 1000 ? 1 : 0, st->ours[i]);
    table_cell(t, "%s", p->text ? p->text : " ");
    if (p->text) {
      double e = error_of(p, st->ours[i]);
      table_cell(t, "%+.1f %%", e);
      sum += fabs(e), n++, near += fabs(e) <= 5;
      if (fabs(e) > worst) worst = fabs(e);
    } else table_cell(t, " ");
    table_cell(t, "%s", micros[i].unit);
    table_cell(t, "%s", p->source ? p->source : " ");
  }
  table_print(t, stdout);
  table_free(t);
  if (n)
    printf("\n%u values have been published: %u within 5 %%, mean error %.1f %%, worst %.1f %%\n", n, near, sum / n,
           worst);
  else puts("\nno values have been published for this GPU");
}

static bool write_csv(const struct state *st, const char *path, struct err *e) {
  struct output *file = output_open(path);
  if (!file) return output_failed(path, errno, e), false;
  FILE *f = output_file(file);
  fputs("name,unit,ours,published,error_percent,source\n", f);
  for (size_t i = 0; i < micro_count; i++) {
    const struct published *p = &st->published[i];
    if (isnan(st->ours[i])) continue;
    fprintf(f, "%s,%s,%.6g,%s,", micros[i].name, micros[i].unit, st->ours[i], p->text ? p->text : "");
    if (p->text) fprintf(f, "%.2f", error_of(p, st->ours[i]));
    fprintf(f, ",%s\n", p->source ? p->source : "");
  }
  if (!output_commit(file)) return output_failed(path, errno, e), false;
  return true;
}

/* ---- the simulated GPU ---- */

struct simulated {
  struct session *session;
  struct simt_module *module;
  uint64_t out, data;
  struct err *e;
};

static bool bench_launch(void *ctx, const char *kernel, uint32_t ctas, uint32_t threads, uint64_t data, uint32_t n) {
  struct simulated *s = ctx;
  struct {
    uint64_t out, data;
    uint32_t n, one;
  } params = {s->out, data, n, 1};
  int cuda_error;
  struct simt_launch l = {
      .kernel = simt_find_kernel(s->module, kernel), .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &params};
  return session_launch(s->session, &l, &cuda_error, s->e);
}

static const uint32_t *bench_results(void *ctx) {
  struct simulated *s = ctx;
  return simt_mem_at(session_simt(s->session), s->out, 4096);
}

static void point(void *ctx, uint64_t offset, uint64_t to_offset) {
  struct simulated *s = ctx;
  uint64_t address = s->data + to_offset;
  memcpy(simt_mem_at(session_simt(s->session), s->data + offset, 8), &address, 8);
}

static void bench_progress(void *ctx, size_t i) {
  struct state *st = ctx;
  progress_show(&st->progress, micros[i].name, (double)i, (double)micro_count);
}

static bool measure_sets(struct state *st, const struct microbench_options *o, const struct opt_list *sets,
                         struct err *e) {
  struct session_options so = {.gpu = o->gpu,
                               .sets = sets->at,
                               .set_count = sets->count,
                               .record_unread = true,
                               .quiet = true,
                               .program = "microbench"};
  struct sim_options sim = {.gpu = o->gpu, .sets = *sets};
  struct gpu_config c;
  struct simulated s = {.e = e};
  if (!sim_config(&sim, &c, e) || !(s.session = session_open(&so, e))) return false;
  struct simt *simt = session_simt(s.session);
  char *text = micro_ptx(c.cc_major * 10 + c.cc_minor);
  struct simt_text t = {.ptx = text, .name = "microbench"};
  s.module = simt_load(simt, &t, 1, e);
  s.out = simt_mem_alloc(simt, 4096, SIMT_MEM_DEVICE, "results");
  s.data = simt_mem_alloc(simt, MICRO_DATA, SIMT_MEM_DEVICE, "data");
  bool ok = s.module != NULL;
  if (ok && !s.data) ok = err_set(e, ERR_INPUT, "%s has no room for 640 MiB of data (memory.size_mb)", c.name);
  struct micro_device d = {.ctx = &s,
                           .data = s.data,
                           .cc = c.cc_major * 10 + c.cc_minor,
                           .sms = c.sms,
                           .sm_threads = c.sm_threads,
                           .cta_threads = c.sm_cta_threads,
                           .core_mhz = c.core_mhz,
                           .launch = bench_launch,
                           .results = bench_results,
                           .point = point,
                           .e = e};
  ok = ok && micro_measure(&d, o->only, bench_progress, st, st->ours);
  struct err ignored = {0};
  session_close(s.session, ok ? e : &ignored);
  free(text);
  return ok && !e->code;
}

/* The kernels stand for machine code: no back end changes their chains. */
static bool measure_machine(struct state *st, const struct microbench_options *o, struct err *e) {
  struct opt_list sets = {.count = o->sets.count + 1};
  sets.at = mem_zeroed(sets.count, sizeof *sets.at);
  sets.at[0] = "sm.code=ptx";
  for (size_t i = 0; i < o->sets.count; i++) sets.at[i + 1] = o->sets.at[i];
  bool ok = measure_sets(st, o, &sets, e);
  free(sets.at);
  return ok;
}

/* ---- the command ---- */

static int bench(const struct microbench_options *o) {
  char path[PATH_MAX];
  struct err e = {0};
  const char *gpu = o->gpu ? o->gpu : "fermi";
  struct state st = {.ours = mem_zeroed(micro_count, sizeof(double)),
                     .published = mem_zeroed(micro_count, sizeof(struct published))};
  bool ok = output_prepare(o->csv, &e);
  path_find(path, sizeof path, "microbench.csv");
  st.table = path_read_whole(path, NULL);
  if (ok && !st.table) ok = err_set(&e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
  ok = ok && read_published(&st, path, gpu, &e);
  progress_start(&st.progress);
  ok = ok && measure_machine(&st, o, &e);
  progress_clear(&st.progress);
  if (ok) print_machine(&st);
  ok = ok && (!o->csv || write_csv(&st, o->csv, &e));
  free(st.table);
  free(st.ours);
  free(st.published);
  return ok ? EXIT_OK : cli_fail(&e);
}

static int microbench_run(const struct command *self, int argc, char **argv) {
  struct microbench_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc < 0 && first < argc)
    rc = (err_set(&e, ERR_USAGE, "'%s' is no option; the GPU is --gpu", argv[first]), command_usage(self, &e));
  if (rc < 0) rc = bench(&o);
  opt_list_free(&o.sets);
  return rc;
}

#define MIC(member) offsetof(struct microbench_options, member)
static const struct opt microbench_opts[] = {
    {"gpu", "NAME|FILE", "GPU configuration (default fermi)", OPT_TEXT, MIC(gpu), 'g', "gpu"},
    {"set", "KEY=VALUE", "change one knob of the GPU; may be repeated", OPT_LIST, MIC(sets), 's', "knob"},
    {"only", "NAME", "only microbenchmarks whose name begins so: latency, bandwidth.l2", OPT_TEXT, MIC(only), 'o',
     NULL},
    {"csv", "FILE", "write names, units, measured and published values, errors and sources", OPT_TEXT, MIC(csv), 0,
     "file"},
    {.name = NULL}};

const struct command cmd_microbench = {
    .name = "microbench",
    .summary = "latencies, rates and bandwidths of a GPU beside published ones",
    .usage = "[--gpu NAME] [--set KEY=VALUE]... [--only NAME] [--csv FILE]",
    .help =
        "Runs small kernels on the simulated GPU and prints what they measure, as one would on hardware: chains of\n"
        "dependent operations (latency), independent ones of 1,024 threads (rate), loads of every level (bandwidth),\n"
        "and the size of the L1 and of what it fetches. Published values of the same stand beside them, with the\n"
        "source; a range holds what several sources give. Takes seconds.\n\n"
        "Examples:\n"
        "  sluice microbench --gpu volta\n"
        "  sluice microbench --gpu a100 --only latency --set l2.rop_latency=150\n"
        "  sluice microbench --gpu hopper --csv hopper.csv\n",
    .opts = microbench_opts,
    .run = microbench_run,
};

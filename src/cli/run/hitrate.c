/* hitrate.c - `sluice run --trace-csv FILE`: hit rates of an address-only trace, without time. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/jsonfile.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/run/run.h"
#include "cli/tables/tables.h"
#include "model/hitrate.h"
#include "trace/csv_trace.h"

enum { MAX_ROWS = 40 };

struct row {
  char name[64];
  uint64_t launches;
  struct hitrate_counts n;
};

struct rates {
  struct row row[MAX_ROWS + 1]; /* the last one: all further kernels */
  uint32_t rows;
  struct hitrate_counts all;
};

static void add_counts(struct hitrate_counts *to, const struct hitrate_counts *n) {
  to->insts += n->insts, to->lanes += n->lanes;
  to->loads += n->loads, to->l1_hits += n->l1_hits;
  to->stores += n->stores, to->atomics += n->atomics;
  to->l2_accesses += n->l2_accesses, to->l2_hits += n->l2_hits;
  to->l1_partial += n->l1_partial, to->l2_partial += n->l2_partial;
  to->dram_reads += n->dram_reads, to->dram_writes += n->dram_writes;
  to->dram_read_bytes += n->dram_read_bytes, to->dram_write_bytes += n->dram_write_bytes;
}

static void kernel_done(struct rates *r, const char *name, const struct hitrate_counts *n) {
  char plain[64];
  kernel_short_name(plain, sizeof plain, *name ? name : "(all)");
  uint32_t i = 0;
  while (i < r->rows && strcmp(r->row[i].name, plain)) i++;
  if (i == r->rows && r->rows <= MAX_ROWS)
    snprintf(r->row[r->rows++].name, sizeof r->row[i].name, "%s", i == MAX_ROWS ? "(others)" : plain);
  if (i > MAX_ROWS) i = MAX_ROWS;
  r->row[i].launches++;
  add_counts(&r->row[i].n, n);
  add_counts(&r->all, n);
}

/* ---- output ---- */

static void cell_rate(struct table *t, uint64_t part, uint64_t whole) {
  if (whole) table_cell(t, "%.2f %%", 100 * (double)part / (double)whole);
  else table_cell(t, "-");
}

static void cell_n(struct table *t, double n) {
  char text[48];
  cli_count(text, sizeof text, n);
  table_cell(t, "%s", text);
}

static void rates_row(struct table *t, const char *name, double launches, const struct hitrate_counts *n) {
  char bytes[48];
  table_cell(t, "%s", name);
  cell_n(t, launches);
  cell_n(t, (double)n->insts);
  cell_n(t, (double)n->loads);
  cell_rate(t, n->l1_hits, n->loads);
  cell_n(t, (double)(n->stores + n->atomics));
  cell_n(t, (double)n->l2_accesses);
  cell_rate(t, n->l2_hits, n->l2_accesses);
  cli_bytes(bytes, sizeof bytes, (double)n->dram_read_bytes);
  table_cell(t, "%s", bytes);
  cli_bytes(bytes, sizeof bytes, (double)n->dram_write_bytes);
  table_cell(t, "%s", bytes);
}

static void print_rates(const struct rates *r, const char *path, const struct gpu_config *c, FILE *f) {
  static const char *const titles[] = {"kernel",        "launches", "accesses by warps", "L1 loads",  "L1 hits",
                                       "around the L1", "L2",       "L2 hits",           "DRAM read", "written"};
  text_say(f, "sluice: %s on %s, functional caches: hit rates without time\n", path, c->name);
  struct table *t = table_new(titles, "lrrrrrrrrr");
  double launches = 0;
  for (uint32_t i = 0; i < r->rows; i++) {
    rates_row(t, r->row[i].name, (double)r->row[i].launches, &r->row[i].n);
    launches += (double)r->row[i].launches;
  }
  if (r->rows > 1) table_rule(t), rates_row(t, "total", launches, &r->all);
  table_print(t, f);
  table_free(t);
}

static json_t *json_of(const struct hitrate_counts *n) {
  return json_pack("{sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "accesses_by_warps", (json_int_t)n->insts, "lanes",
                   (json_int_t)n->lanes, "l1.loads", (json_int_t)n->loads, "l1.hits", (json_int_t)n->l1_hits, "stores",
                   (json_int_t)n->stores, "atomics", (json_int_t)n->atomics, "l2.accesses", (json_int_t)n->l2_accesses,
                   "l2.hits", (json_int_t)n->l2_hits, "dram.read_lines", (json_int_t)n->dram_reads,
                   "dram.written_lines", (json_int_t)n->dram_writes, "l1.partial", (json_int_t)n->l1_partial,
                   "l2.partial", (json_int_t)n->l2_partial, "dram.read_bytes", (json_int_t)n->dram_read_bytes,
                   "dram.written_bytes", (json_int_t)n->dram_write_bytes);
}

static bool write_rates(const struct rates *r, const char *trace, const struct gpu_config *c, const char *path,
                        struct err *e) {
  json_t *kernels = json_array();
  for (uint32_t i = 0; i < r->rows; i++) {
    json_t *k = json_of(&r->row[i].n);
    json_object_set_new(k, "kernel", json_string(r->row[i].name));
    json_object_set_new(k, "launches", json_integer((json_int_t)r->row[i].launches));
    json_array_append_new(kernels, k);
  }
  json_t *root = json_pack("{ss ss ss so so}", "trace", trace, "gpu", c->name, "mode", "functional caches", "totals",
                           json_of(&r->all), "kernels", kernels);
  return jsonfile_write(root, path, JSON_INDENT(1), e);
}

/* ---- the run ---- */

static bool read_trace(struct hitrate *h, struct csv_trace *t, bool keep_going, double bytes, struct rates *r,
                       struct err *e) {
  struct csv_access a;
  struct progress p;
  char name[256] = "";
  uint64_t lines = 0;
  bool begun = false;
  int got;
  progress_start(&p);
  while ((got = csv_next(t, &a, e)) == 1) {
    if (a.first) {
      struct hitrate_counts n = hitrate_take(h);
      if (begun) kernel_done(r, name, &n);
      hitrate_kernel(h);
      snprintf(name, sizeof name, "%s", a.kernel);
      begun = true;
    }
    hitrate_access(h, a.cta, a.kind, a.width, a.mask, a.addr);
    if (!(++lines & 0x3ffff)) progress_show(&p, "reading", csv_bytes(t), bytes);
  }
  progress_clear(&p);
  struct hitrate_counts n = hitrate_take(h);
  if (begun && got == 0) kernel_done(r, name, &n);
  if (got < 0 && keep_going) {
    text_say(stderr, "sluice: %s; the kernels before that are kept\n", e->msg);
    return true;
  }
  return got == 0;
}

int run_hit_rates(const char *path, const struct sim_options *o) {
  struct err e = {0};
  struct gpu_config c;
  if (o->scheme && strcmp(o->scheme, "baseline"))
    return err_set(&e, ERR_USAGE,
                   "--trace-csv gives hit rates of the default caches; a scheme needs a trace with paths"),
           cli_fail(&e);
  if (!sim_check(o, &e) || !sim_config(o, &c, &e)) return cli_fail(&e);
  struct csv_trace *t = csv_open(path, &e);
  if (!t) return cli_fail(&e);
  struct hitrate *h = hitrate_new(&c, !strcmp(c.l1d_org, "sector"), &e);
  struct rates r = {0};
  struct stat st;
  bool ok = h && read_trace(h, t, o->keep_going, stat(path, &st) ? 0 : (double)st.st_size, &r, &e);
  bool to_stdout = o->json && !strcmp(o->json, "-");
  if (ok && !o->quiet) print_rates(&r, path, &c, to_stdout ? stderr : stdout);
  if (ok && o->json) ok = write_rates(&r, path, &c, o->json, &e);
  hitrate_free(h);
  csv_close(t);
  return ok ? EXIT_OK : cli_fail(&e);
}

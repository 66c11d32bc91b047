/* summary.c - the short table of `sluice run`: one row per kernel, totals, and causes of idle issue slots and L1
 * refusals. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/frame/cli.h"
#include "cli/tables/tables.h"

enum { MAX_ROWS = 24, NAME_COLUMNS = 36 };

struct row {
  const char *name;
  double launches, cycles, timed_insts, thread_insts, warp_insts, l1_hits, l1_reads, l2_hits, l2_accesses, dram_read,
      dram_written;
  bool overlapped; /* part of it ran beside other launches, with shared caches and DRAM */
};

static double kernel_value(const struct record_file *r, size_t k, const char *key) {
  double v = 0;
  record_value(r, k, key, &v);
  return v;
}

static void add_kernel(struct row *row, const struct record_file *r, size_t k) {
  row->launches += kernel_value(r, k, "kernels");
  row->cycles += kernel_value(r, k, "cycles");
  if (k == RECORD_TOTALS) row->timed_insts = kernel_value(r, k, "ipc") * row->cycles;
  else if (kernel_value(r, k, "cycles") > 0) row->timed_insts += kernel_value(r, k, "thread_insts");
  row->thread_insts += kernel_value(r, k, "thread_insts");
  row->warp_insts += kernel_value(r, k, "warp_insts");
  row->l1_hits += kernel_value(r, k, "l1d.read.hits");
  row->l1_reads += kernel_value(r, k, "l1d.read.accesses");
  row->l2_hits += kernel_value(r, k, "l2.hits");
  row->l2_accesses += kernel_value(r, k, "l2.accesses");
  double read = 0;
  row->overlapped |= !record_value(r, k, "dram.read_bytes", &read);
  row->dram_read += read;
  row->dram_written += kernel_value(r, k, "dram.write_bytes");
}

/* The name of a nested name _ZN3lib6KernelI...E: lib::Kernel; false: it is none, or has no end in `size`. */
static bool nested_name(char *out, size_t size, const char *name) {
  size_t at = 0;
  if (strncmp(name, "_ZN", 3) != 0) return false;
  for (name += 3; *name >= '1' && *name <= '9';) {
    char *end;
    size_t n = strtoul(name, &end, 10);
    if (strlen(end) < n || at + n + 3 > size) return false;
    at += (size_t)snprintf(out + at, size - at, "%s%.*s", at ? "::" : "", (int)n, end);
    name = end + n;
  }
  return at > 0;
}

void kernel_short_name(char *out, size_t size, const char *name) {
  char *end;
  if (!strncmp(name, "_Z", 2) && name[2] >= '1' && name[2] <= '9') {
    size_t n = strtoul(name + 2, &end, 10);
    if (strlen(end) >= n && n < size && end[n] != 'I') {
      snprintf(out, size, "%.*s", (int)n, end);
      return;
    }
  }
  if (strlen(name) <= NAME_COLUMNS) snprintf(out, size, "%s", name);
  else if (!nested_name(out, size, name)) snprintf(out, size, "%.*s…", NAME_COLUMNS - 1, name);
}

static void cell_rate(struct table *t, double part, double whole) {
  if (whole > 0) table_cell(t, "%.1f %%", 100 * part / whole);
  else table_cell(t, "-");
}

static void cell_bytes(struct table *t, double bytes) {
  char buf[32];
  cli_bytes(buf, sizeof buf, bytes);
  table_cell(t, "%s", buf);
}

static void cell_count(struct table *t, double n) {
  char buf[48];
  cli_count(buf, sizeof buf, n);
  table_cell(t, "%s", buf);
}

static void kernel_row(struct table *t, const struct row *r, bool timing) {
  char name[128];
  kernel_short_name(name, sizeof name, r->name);
  table_cell(t, "%s", name);
  cell_count(t, r->launches);
  cell_count(t, r->warp_insts);
  if (!timing) {
    cell_count(t, r->thread_insts);
    return;
  }
  cell_count(t, r->cycles);
  if (r->cycles > 0) table_cell(t, "%.2f", r->timed_insts / r->cycles);
  else table_cell(t, "-");
  if (r->overlapped) {
    for (int i = 0; i < 4; i++) table_cell(t, "-");
    return;
  }
  cell_rate(t, r->l1_hits, r->l1_reads);
  cell_rate(t, r->l2_hits, r->l2_accesses);
  cell_bytes(t, r->dram_read);
  cell_bytes(t, r->dram_written);
}

struct share {
  const char *key, *label;
};

static void print_shares(const struct record_file *r, const char *title, const struct share *s, size_t n, double whole,
                         FILE *f) {
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    double v = kernel_value(r, RECORD_TOTALS, s[i].key);
    if (v <= 0 || v < 0.0005 * whole) continue;
    fprintf(f, "%s %s %.1f %%", any ? "," : title, s[i].label, 100 * v / whole);
    any = true;
  }
  if (any) fputc('\n', f);
}

static void print_stalls(const struct record_file *r, FILE *f) {
  static const struct share slots[] = {
      {"issue.issued", "issued"},       {"issue.data_hazard", "data hazard"}, {"issue.memory_stall", "memory stall"},
      {"issue.pipe_busy", "pipe busy"}, {"issue.barrier", "barrier"},         {"issue.control", "control"},
      {"issue.idle", "idle"},
  };
  static const struct share refusals[] = {
      {"l1d.read.rejections.line", "no line to reserve"},
      {"l1d.read.rejections.mshr", "MSHRs full"},
      {"l1d.read.rejections.mshr_merge", "merge list full"},
      {"l1d.read.rejections.miss_queue", "miss queue full"},
  };
  double all = kernel_value(r, RECORD_TOTALS, "issue.slots"),
         rejected = kernel_value(r, RECORD_TOTALS, "l1d.read.rejections");
  if (all > 0) print_shares(r, "issue slots:  ", slots, sizeof slots / sizeof *slots, all, f);
  if (rejected > 0) {
    char n[48];
    cli_count(n, sizeof n, rejected);
    fprintf(f, "L1 refusals:   %s cycles", n);
    print_shares(r, ":", refusals, sizeof refusals / sizeof *refusals, rejected, f);
  }
}

static void print_scheme_counters(const struct record_file *r, FILE *f) {
  json_t *all = json_object_get(json_object_get(record_json(r), "totals"), "scheme_counters"), *v;
  const char *key;
  bool any = false;
  json_object_foreach(all, key, v) {
    char n[48];
    cli_count(n, sizeof n, json_number_value(v));
    fprintf(f, "%s %s %s", any ? "," : "scheme:       ", key, n);
    any = true;
  }
  if (any) fputc('\n', f);
}

/* Launches of different streams that ran together. */
static void print_overlaps(const struct record_file *r, FILE *f) {
  const json_t *all = json_object_get(record_json(r), "overlaps");
  size_t launches = 0;
  double own = 0, cycles = 0;
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *o = json_array_get(all, i);
    json_t *folded = json_object_get(o, "launches");
    launches += folded ? (size_t)json_integer_value(folded) : json_array_size(json_object_get(o, "kernels_together"));
    own += json_number_value(json_object_get(o, "launch_cycles"));
    cycles += json_number_value(json_object_get(o, "cycles"));
  }
  if (!launches || cycles <= 0) return;
  char a[48], b[48];
  cli_count(a, sizeof a, own);
  cli_count(b, sizeof b, cycles);
  fprintf(f, "overlap:       %zu launches of %s cycles ran in %s cycles, %.1f at a time\n", launches, a, b,
          own / cycles);
}

static void print_strays(const struct record_file *r, FILE *f) {
  struct record_strays n = record_strays(r);
  char reads[48], writes[48];
  if (!n.reads && !n.writes) return;
  cli_count(reads, sizeof reads, (double)n.reads);
  cli_count(writes, sizeof writes, (double)n.writes);
  fprintf(f, "out of bounds: %s reads, %s writes at %zu place%s, allowed\n", reads, writes, n.places,
          &"s"[n.places == 1]);
}

void summary_print(const struct record_file *r, FILE *f) {
  static const char *const titles[] = {"kernel",  "launches", "warp insts", "cycles", "IPC",
                                       "L1 hits", "L2 hits",  "DRAM read",  "written"};
  static const char *const plain[] = {"kernel", "launches", "warp insts", "thread insts"};
  const char *mode = record_field(r, "mode");
  bool timing = mode && !strcmp(mode, "timing");
  struct row rows[MAX_ROWS] = {0}, total = {.name = "total"}, others = {.name = "(others)"};
  size_t used = 0, n = record_kernels(r);
  uint64_t launches = record_launches(r);
  bool overlapped = false;
  for (size_t k = 0; k < n; k++) {
    const char *name = record_kernel_name(r, k);
    size_t i = 0;
    while (i < used && strcmp(rows[i].name, name)) i++;
    if (i == used && used < MAX_ROWS) rows[used++].name = name;
    struct row *row = i < MAX_ROWS ? &rows[i] : &others;
    add_kernel(row, r, k);
    overlapped |= row->overlapped;
  }
  add_kernel(&total, r, RECORD_TOTALS);
  text_say(f, "\nsluice: %s, %s, %s mode, %llu launch%s\n", record_field(r, "gpu"), record_field(r, "scheme"),
           mode ? mode : "?", (unsigned long long)launches, launches == 1 ? "" : "es");
  if (!n) return;
  struct table *t = timing ? table_new(titles, "lrrrrrrrr") : table_new(plain, "lrrr");
  for (size_t i = 0; i < used; i++) kernel_row(t, &rows[i], timing);
  if (others.launches > 0) kernel_row(t, &others, timing);
  if (used > 1 || (timing && overlapped)) {
    table_rule(t);
    kernel_row(t, &total, timing);
  }
  table_print(t, f);
  table_free(t);
  struct lines lines;
  f = lines_begin(&lines, f);
  if (timing) print_overlaps(r, f), print_stalls(r, f);
  print_scheme_counters(r, f);
  print_strays(r, f);
  lines_end(&lines);
}

void summary_print_processes(const struct record_file *r, FILE *f) {
  json_t *all = json_object_get(record_json(r), "processes"), *one;
  const char *ended = record_field(r, "ended");
  size_t i;
  if (ended) fprintf(f, "ended:         %s; what had been counted by then\n", ended);
  json_array_foreach(all, i, one) {
    const char *missing = json_string_value(json_object_get(one, "missing"));
    fprintf(f, "\nprocess %lld of the run: %s\n", json_integer_value(json_object_get(one, "process")),
            json_string_value(json_object_get(one, "command")));
    struct record_file *file = missing ? NULL : record_wrap(one);
    if (missing) fprintf(f, "no record of it: %s\n", missing);
    if (!file) continue;
    summary_print(file, f);
    if ((ended = record_field(file, "ended"))) fprintf(f, "ended:         %s; what had been counted by then\n", ended);
    record_close(file);
  }
}

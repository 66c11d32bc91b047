/* lines.c - the table of `sluice run --lines`: source lines by the cycles for which their instructions blocked the
 * memory pipes, with explanations: un-coalescing degree, L1 hit rate, traffic to the L2.
 *
 * Instructions of all launches are merged by file and line of their .loc, or by kernel and PTX line in programs
 * compiled without -lineinfo.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cli.h"
#include "cli/tables/tables.h"

enum { SHOWN = 10 };

struct line {
  const char *where; /* file or kernel */
  bool ptx;
  json_int_t line, executions, accesses, l1_accesses, l1_hits, stalls, bytes;
};

static struct line line_read(const json_t *kernel, const json_t *o) {
  bool ptx = integer_at(o, "line") == 0;
  return (struct line){.where = json_string_value(json_object_get(ptx ? kernel : o, ptx ? "name" : "file")),
                       .ptx = ptx,
                       .line = integer_at(o, ptx ? "ptx_line" : "line"),
                       .executions = integer_at(o, "executions"),
                       .accesses = integer_at(o, "accesses"),
                       .l1_accesses = integer_at(o, "l1_accesses"),
                       .l1_hits = integer_at(o, "l1_hits"),
                       .stalls = integer_at(o, "stall_cycles"),
                       .bytes = integer_at(o, "l2_bytes")};
}

static int by_place(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  int files = strcmp(x->where, y->where);
  if (files) return files;
  if (x->ptx != y->ptx) return x->ptx - y->ptx;
  return (x->line > y->line) - (x->line < y->line);
}

static int by_stalls(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  if (x->stalls != y->stalls) return x->stalls < y->stalls ? 1 : -1;
  return by_place(a, b);
}

/* All instructions of all launches, one element per place. */
static struct line *collect_lines(const json_t *kernels, size_t *count) {
  size_t k, i, n = 0, used = 0;
  const json_t *kernel, *o;
  json_array_foreach(kernels, k, kernel) n += json_array_size(json_object_get(kernel, "lines"));
  struct line *all = mem_zeroed(n + 1, sizeof *all);
  n = 0;
  json_array_foreach(kernels, k, kernel) {
    json_array_foreach(json_object_get(kernel, "lines"), i, o) all[n++] = line_read(kernel, o);
  }
  qsort(all, n, sizeof *all, by_place);
  for (i = 0; i < n; i++) {
    if (!used || by_place(&all[used - 1], &all[i])) {
      all[used++] = all[i];
      continue;
    }
    struct line *to = &all[used - 1];
    to->executions += all[i].executions;
    to->accesses += all[i].accesses;
    to->l1_accesses += all[i].l1_accesses;
    to->l1_hits += all[i].l1_hits;
    to->stalls += all[i].stalls;
    to->bytes += all[i].bytes;
  }
  qsort(all, used, sizeof *all, by_stalls);
  *count = used;
  return all;
}

static void line_row(struct table *t, const struct line *l, double stalls) {
  char buf[48], kernel[128];
  const char *slash = strrchr(l->where, '/');
  if (l->ptx) {
    kernel_short_name(kernel, sizeof kernel, l->where);
    table_cell(t, "%s, PTX line %lld", kernel, (long long)l->line);
  } else {
    table_cell(t, "%s:%lld", slash ? slash + 1 : l->where, (long long)l->line);
  }
  cli_count(buf, sizeof buf, (double)l->stalls);
  table_cell(t, "%s", buf);
  table_cell(t, "%.1f %%", stalls > 0 ? 100 * (double)l->stalls / stalls : 0);
  cli_count(buf, sizeof buf, (double)l->executions);
  table_cell(t, "%s", buf);
  table_cell(t, "%.2f", (double)l->accesses / (double)l->executions);
  if (l->l1_accesses) table_cell(t, "%.1f %%", 100 * (double)l->l1_hits / (double)l->l1_accesses);
  else table_cell(t, "-");
  cli_bytes(buf, sizeof buf, (double)l->bytes);
  table_cell(t, "%s", buf);
}

void lines_print(const struct record_file *r, FILE *f) {
  static const char *const titles[] = {"source line", "stall cycles", "share",   "executions",
                                       "accesses",    "L1 hits",      "L2 bytes"};
  size_t n;
  struct line *all = collect_lines(record_entries(r), &n);
  double stalls = 0;
  for (size_t i = 0; i < n; i++) stalls += (double)all[i].stalls;
  if (stalls > 0) {
    struct table *t = table_new(titles, "lrrrrrr");
    for (size_t i = 0; i < n && i < SHOWN && all[i].stalls; i++) line_row(t, &all[i], stalls);
    fputc('\n', f);
    table_print(t, f);
    table_free(t);
  } else {
    fputs("no instruction held a memory pipe\n", f);
  }
  free(all);
}

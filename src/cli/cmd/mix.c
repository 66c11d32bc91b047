/* mix.c - `sluice mix`: what the back end makes of the kernels of PTX files: instructions by class and loop depth, and
 * registers, as a table or beside a table of what ptxas makes of them.
 *
 * To compare, an instruction weighs WEIGHT times as much for every loop around it: static code does not say how often a
 * loop runs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/run/run.h"
#include "simt/simt.h"

enum { WEIGHT = 8, DEEPEST = 4, CLASSES = SIMT_MACHINE_CLASSES, LINE = 4096, REGISTERS_NEAR = 2 };

struct mix_options {
  const char *table, *kernel;
  uint64_t sm;
  bool csv;
};

struct mix {
  char name[512]; /* file:kernel */
  double ours[CLASSES], theirs[CLASSES];
  int registers, their_registers; /* 0: not there */
};
struct mixes {
  struct mix *at;
  size_t n;
};

static struct mix *mix_of(struct mixes *m, const char *file, const char *kernel, bool make) {
  char name[sizeof m->at->name];
  snprintf(name, sizeof name, "%s:%s", file, kernel);
  for (size_t i = 0; i < m->n; i++)
    if (!strcmp(m->at[i].name, name)) return &m->at[i];
  if (!make) return NULL;
  m->at = mem_resize(m->at, m->n + 1, sizeof *m->at);
  struct mix *x = &m->at[m->n++];
  memset(x, 0, sizeof *x);
  memcpy(x->name, name, sizeof name);
  return x;
}

static double weight(uint32_t depth) {
  return pow(WEIGHT, depth < DEEPEST ? depth : DEEPEST);
}

static void print_code(const struct simt_kernel *k, const char *name) {
  struct simt_machine i;
  text_say(stdout, "%s:\n", name);
  for (uint32_t n = 0; simt_machine_at(k, n, &i); n++)
    printf("  %4u  %-8s %-8s %3u  line %u\n", n, i.name, i.cls, i.bytes, i.line);
}

static void print_kernel_mix(const char *file, const struct simt_kernel_info *info, const struct simt_kernel *k,
                             uint64_t sm) {
  uint32_t deepest = 0;
  struct simt_machine i;
  for (uint32_t n = 0; simt_machine_at(k, n, &i); n++)
    if (i.depth > deepest) deepest = i.depth;
  for (uint32_t d = 0; d <= deepest; d++) {
    uint32_t count[CLASSES] = {0}, wide[8] = {0};
    for (uint32_t n = 0; simt_machine_at(k, n, &i); n++) {
      if (i.depth != d) continue;
      count[i.cls_number]++;
      static const char *const kinds[] = {"ldg", "stg", "lds", "sts"};
      for (uint32_t q = 0; q < 4; q++)
        if (!strcmp(i.cls, kinds[q]) && i.bytes >= 8) wide[2 * q + (i.bytes == 16)]++;
    }
    printf("%s,%s,%u,%u,%u", file, info->name, (unsigned)sm, info->regs, d);
    for (uint32_t c = 0; c < CLASSES; c++) printf(",%u", count[c]);
    for (uint32_t c = 0; c < 8; c++) printf(",%u", wide[c]);
    puts("");
  }
}

static bool one_file(struct mixes *all, const struct mix_options *o, const char *path, struct err *e) {
  const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  char *text = path_read_whole(path, NULL);
  if (!text) return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
  struct simt *s = simt_new(UINT64_C(1) << 32, e);
  if (s) simt_back_end(s, (uint32_t)o->sm);
  struct simt_module *m =
      s ? simt_load(s, &(struct simt_text){.ptx = text, .name = path, .compiled = true}, 1, e) : NULL;
  for (size_t q = 0; m && q < simt_kernel_count(m); q++) {
    struct simt_kernel *k = simt_kernel_at(m, q);
    const struct simt_kernel_info *info = simt_kernel_info(k);
    if (o->kernel && strcmp(o->kernel, info->name)) continue;
    if (simt_machine_refused(k)) {
      text_say(stderr, "sluice: %s: %s stays PTX: %s\n", path, info->name, simt_machine_refused(k));
      continue;
    }
    if (o->kernel) print_code(k, info->name);
    else if (o->csv) print_kernel_mix(file, info, k, o->sm);
    struct mix *x = mix_of(all, file, info->name, true);
    x->registers = (int)info->regs;
    struct simt_machine i;
    for (uint32_t n = 0; simt_machine_at(k, n, &i); n++) x->ours[i.cls_number] += weight(i.depth);
  }
  if (s) simt_free(s);
  free(text);
  return m != NULL;
}

/* ---- the table: file,kernel,sm,registers,depth, a column per class ---- */

static bool read_mix_table(struct mixes *all, const struct mix_options *o, struct err *e) {
  char *text = path_read_whole(o->table, NULL), *rest = text;
  int column[64], columns = 0;
  if (!text) return err_set(e, ERR_INPUT, "%s: %s", o->table, strerror(errno));
  for (char *line; (line = strsep(&rest, "\n")) && *line;) {
    char *cell[64];
    int n = 0;
    for (char *c; n < 64 && (c = strsep(&line, ","));) cell[n++] = c;
    if (!columns) {
      columns = n;
      for (int c = 0; c < n; c++) {
        column[c] = -1;
        for (int q = 0; q < CLASSES; q++)
          if (!strcmp(cell[c], simt_machine_class((uint32_t)q))) column[c] = q;
      }
      continue;
    }
    if (n != columns || n < 6) {
      free(text);
      return err_set(e, ERR_INPUT, "%s: a row of %d cells, where the first has %d", o->table, n, columns);
    }
    struct mix *x = strtoul(cell[2], NULL, 10) == o->sm ? mix_of(all, cell[0], cell[1], false) : NULL;
    if (!x) continue;
    x->their_registers = atoi(cell[3]);
    for (int c = 5; c < n; c++)
      if (column[c] >= 0) x->theirs[column[c]] += atof(cell[c]) * weight((uint32_t)atoi(cell[4]));
  }
  free(text);
  return true;
}

/* Every kernel counts the same: shares of its weighted instructions. */
static void compare_with_table(const struct mixes *all) {
  static const char *const titles[] = {"class", "ptxas", "ours", "off by", "mean abs off"};
  double ours[CLASSES] = {0}, theirs[CLASSES] = {0}, apart[CLASSES] = {0}, sum = 0, off = 0;
  size_t kernels = 0, near = 0;
  for (size_t i = 0; i < all->n; i++) {
    const struct mix *x = &all->at[i];
    double total = 0, total_ours = 0;
    for (int c = 0; c < CLASSES; c++) total += x->theirs[c], total_ours += x->ours[c];
    if (!x->their_registers || total == 0) continue;
    kernels++;
    near += abs(x->registers - x->their_registers) <= REGISTERS_NEAR;
    sum += total_ours / total;
    off += fabs(total_ours / total - 1);
    for (int c = 0; c < CLASSES; c++) {
      ours[c] += x->ours[c] / total;
      theirs[c] += x->theirs[c] / total;
      apart[c] += fabs(x->ours[c] - x->theirs[c]) / total;
    }
  }
  if (!kernels) {
    puts("no kernel of these files is in the table");
    return;
  }
  struct table *t = table_new(titles, "lrrrr");
  for (int c = 0; c < CLASSES; c++) {
    if (ours[c] == 0 && theirs[c] == 0) continue;
    table_cell(t, "%s", simt_machine_class((uint32_t)c));
    table_cell(t, "%.2f %%", 100 * theirs[c] / (double)kernels);
    table_cell(t, "%.2f %%", 100 * ours[c] / (double)kernels);
    if (theirs[c] > 0) table_cell(t, "%+.1f %%", 100 * (ours[c] / theirs[c] - 1));
    else table_cell(t, " ");
    table_cell(t, "%.2f %%", 100 * apart[c] / (double)kernels);
  }
  table_print(t, stdout);
  table_free(t);
  printf("\n%zu kernels; instructions %+.1f %% (mean absolute %.1f %%); registers within %d in %.0f %%\n", kernels,
         100 * (sum / (double)kernels - 1), 100 * off / (double)kernels, REGISTERS_NEAR,
         100.0 * (double)near / (double)kernels);
}

static int mix_run(const struct command *self, int argc, char **argv) {
  struct mix_options o = {.sm = 70};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first == argc) return err_set(&e, ERR_USAGE, "PTX files to look at"), command_usage(self, &e);
  if (o.sm < 70 || o.sm > 129) return err_set(&e, ERR_USAGE, "--sm needs 70 or more"), command_usage(self, &e);
  struct mixes all = {0};
  if (o.csv) {
    fputs("file,kernel,sm,registers,depth", stdout);
    for (uint32_t c = 0; c < CLASSES; c++) printf(",%s", simt_machine_class(c));
    puts(",ldg64,ldg128,stg64,stg128,lds64,lds128,sts64,sts128");
  }
  bool ok = true;
  for (int i = first; ok && i < argc; i++) ok = one_file(&all, &o, argv[i], &e);
  if (ok && o.table) ok = read_mix_table(&all, &o, &e);
  if (ok && o.table) compare_with_table(&all);
  free(all.at);
  return ok ? EXIT_OK : cli_fail(&e);
}

#define MIX(member) offsetof(struct mix_options, member)
static const struct opt mix_opts[] = {
    {"sm", "N", "compute capability of the machine code (default 70)", OPT_UINT, MIX(sm), 0, "70 75 80 86 90"},
    {"table", "FILE", "compare with a table of what ptxas makes of the same files", OPT_TEXT, MIX(table), 't', "file"},
    {"csv", NULL, "print the counts, a row per kernel and loop depth", OPT_FLAG, MIX(csv), 0, NULL},
    {"kernel", "NAME", "print the machine code of one kernel", OPT_TEXT, MIX(kernel), 'k', NULL},
    {.name = NULL}};

const struct command cmd_mix = {
    .name = "mix",
    .summary = "machine instructions of PTX by class, beside those of ptxas",
    .usage = "[OPTIONS] FILE.ptx...",
    .help = "GPUs with `sm.code: machine` run kernels as machine code (docs/explanation/backend.md). This prints its\n"
            "instructions by class and its registers. An instruction weighs eight times as much per loop around it.\n\n"
            "Examples:\n"
            "  sluice mix --table tests/silicon/ptxas-calib.csv tests/ptx/calib.ptx\n"
            "  sluice mix --sm 80 --kernel vecadd kernels.ptx\n"
            "  sluice mix --csv kernels.ptx > mix.csv\n",
    .opts = mix_opts,
    .run = mix_run,
};

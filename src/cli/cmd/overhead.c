/* overhead.c - `sluice overhead`: the storage that schemes add, item by item, for a GPU and parameters. */
#include <stddef.h>
#include <string.h>

#include "cli/frame/cli.h"
#include "gpu/common/config.h"
#include "model/energy.h"
#include "gpu/slots/slots.h"

enum { OVERHEAD_ROWS = 32 };

struct overhead_options {
  struct sim_options sim; /* GPU and --set only */
  bool all;
};

static void size_cells(struct table *t, double bits, uint32_t sms) {
  table_cell(t, "%.0f", bits);
  table_cell(t, "%.3f KB", bits / 8192);
  table_cell(t, "%.3f KB", bits / 8192 / sms);
  table_cell(t, "%.4f mm2", bits * energy_constants[ENERGY_CONST_bit_area].value);
}

/* Rows of one scheme and their sum; `items` false prints the sum alone. */
static void add_scheme(struct table *t, const struct scheme *s, const double *param, const struct gpu_config *c,
                       bool items) {
  struct scheme_bits row[OVERHEAD_ROWS];
  double total = 0;
  uint32_t n = s->storage ? s->storage(c, param, row, OVERHEAD_ROWS) : 0;
  for (uint32_t i = 0; i < n; i++) {
    total += row[i].bits;
    if (!items) continue;
    table_cell(t, "%s", s->name);
    table_cell(t, "%s", row[i].item);
    size_cells(t, row[i].bits, c->sms);
  }
  table_cell(t, "%s", s->name);
  if (!items) table_cell(t, "%s", s->title);
  else if (s->no_storage) table_cell(t, "none: %s", s->no_storage);
  else table_cell(t, "all of it");
  size_cells(t, total, c->sms);
}

static void add_all(struct table *t, const struct gpu_config *c) {
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *s = scheme_at(i);
    if (s->sweep) continue; /* what it searches is another row */
    double param[SCHEME_PARAMS_MAX] = {0};
    for (uint32_t p = 0; p < scheme_param_count(s); p++) param[p] = s->params[p].dflt;
    add_scheme(t, s, param, c, false);
  }
}

static int overhead_run(const struct command *self, int argc, char **argv) {
  struct overhead_options o = {0};
  struct err e = {0};
  struct gpu_config c;
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!o.all && first >= argc) return err_set(&e, ERR_USAGE, "which scheme? (or --all)"), command_usage(self, &e);
  if (!sim_config(&o.sim, &c, &e)) return opt_list_free(&o.sim.sets), cli_fail(&e);
  static const char *const titles[] = {"scheme", "item", "bits", "whole GPU", "per SM", "area"};
  struct table *t = table_new(titles, "llrrrr");
  bool ok = true;
  if (o.all) add_all(t, &c);
  for (int i = first; ok && i < argc; i++) {
    struct slots s;
    ok = slots_parse(&s, argv[i], &e);
    for (uint32_t k = 0; ok && k < s.count; k++) add_scheme(t, s.at[k].scheme, s.at[k].param, &c, true);
  }
  if (ok) table_print(t, stdout);
  opt_list_free(&o.sim.sets);
  table_free(t);
  return ok ? EXIT_OK : cli_fail(&e);
}

static const struct opt overhead_opts[] = {{"gpu", "NAME|FILE", "for this GPU (default fermi)", OPT_TEXT,
                                            offsetof(struct overhead_options, sim.gpu), 'g', "gpu"},
                                           {"set", "KEY=VALUE", "change one knob of the GPU; may be repeated", OPT_LIST,
                                            offsetof(struct overhead_options, sim.sets), 's', "knob"},
                                           {"all", NULL, "the sum of every scheme with its default parameters",
                                            OPT_FLAG, offsetof(struct overhead_options, all), 'a', NULL},
                                           {.name = NULL}};

const struct command cmd_overhead = {
    .name = "overhead",
    .summary = "storage that schemes add, in bits",
    .usage = "[--gpu NAME] --all | SCHEME[:PARAM=VALUE...]...",
    .help = "Prints the storage that a scheme adds to the baseline, item by item, for the whole GPU and per SM, and "
            "its area\n"
            "at 45 nm (docs/explanation/energy.md).\n\n"
            "Examples:\n"
            "  sluice overhead tsc tsc:private=5 dsc=2 dsc=4 lamar mrpb\n"
            "  sluice overhead --gpu medic medic\n"
            "  sluice overhead --gpu medic --set l2.line_bytes=64 --set l2.sets=128 medic   the paper's 5.1 kB\n"
            "  sluice overhead --all\n",
    .opts = overhead_opts,
    .run = overhead_run,
};

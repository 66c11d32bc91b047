/* main.c - executes launches of machine code for sm_70 and writes them as Accel-Sim's traces.
 *
 *   sass --kernels FILE [--out FOLDER] [--mix FILE] [--tolerance X] LAUNCH...
 *
 * Exit code 1: memory after a launch is not that of the launch file.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "sass.h"

struct options {
  const char *kernels, *out, *mix;
  double tolerance;
};

static FILE *create(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  if (!f) die("cannot write %s", path);
  return f;
}

static void run_ctas(struct kernel *k, struct launch *l, FILE *trace) {
  struct cta c = {.k = k, .l = l, .tracing = trace};
  c.threads = l->block[0] * l->block[1] * l->block[2];
  c.warps = (c.threads + LANES - 1) / LANES;
  c.warp = calloc(c.warps, sizeof *c.warp);
  c.shared_bytes = k->shared + l->dynamic;
  c.shared = malloc(c.shared_bytes + 1);
  for (c.at[2] = 0; c.at[2] < l->grid[2]; c.at[2]++)
    for (c.at[1] = 0; c.at[1] < l->grid[1]; c.at[1]++)
      for (c.at[0] = 0; c.at[0] < l->grid[0]; c.at[0]++) {
        cta_run(&c);
        if (trace) trace_cta(trace, &c);
      }
  for (unsigned w = 0; w < c.warps; w++) {
    free(c.warp[w].lines);
    free(c.warp[w].local);
  }
  free(c.warp);
  free(c.shared);
}

static void write_mix(FILE *f, const struct kernel *k, unsigned id) {
  for (unsigned n = 0; n < k->insts; n++)
    if (k->count[n])
      fprintf(f, "%u,%s,%04x,%s,%llu\n", id, k->name, k->code[n].pc, k->code[n].opcode,
              (unsigned long long)k->count[n]);
}

static bool run_launch(const struct options *o, const char *path, unsigned id, FILE *list, FILE *mix) {
  struct kernel k;
  struct launch l;
  char name[64];
  FILE *trace = NULL;
  launch_read(&l, &k, path, o->kernels);
  snprintf(name, sizeof name, "kernel-%u.traceg", id);
  if (list) {
    trace = create(o->out, name);
    trace_header(trace, &k, &l, id);
    fprintf(list, "%s\n", name);
  }
  run_ctas(&k, &l, trace);
  if (trace && fclose(trace)) die("cannot write %s", name);
  if (mix) write_mix(mix, &k, id);
  uint64_t wrong = launch_compare(&l, o->tolerance), insts = 0;
  for (unsigned n = 0; n < k.insts; n++) insts += k.count[n];
  printf("%u,%s,%llu,%llu\n", id, k.name, (unsigned long long)insts, (unsigned long long)wrong);
  for (unsigned r = 0; r < l.regions; r++) {
    free(l.region[r].data);
    free(l.region[r].after);
  }
  for (int b = 0; b < BANKS; b++) free(k.bank[b]);
  free(l.region);
  free(k.symbol);
  free(k.code);
  free(k.count);
  return !wrong;
}

int main(int argc, char **argv) {
  static const struct option known[] = {{"kernels", required_argument, NULL, 'k'},
                                        {"out", required_argument, NULL, 'o'},
                                        {"mix", required_argument, NULL, 'm'},
                                        {"tolerance", required_argument, NULL, 't'},
                                        {0}};
  struct options o = {.tolerance = 0};
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (c == 'k') o.kernels = optarg;
    else if (c == 'o') o.out = optarg;
    else if (c == 'm') o.mix = optarg;
    else if (c == 't') o.tolerance = strtod(optarg, NULL);
    else return 2;
  }
  if (!o.kernels || optind == argc)
    die("usage: sass --kernels FILE [--out FOLDER] [--mix FILE] [--tolerance X] LAUNCH...");
  FILE *list = o.out ? create(o.out, "kernelslist.g") : NULL, *mix = o.mix ? fopen(o.mix, "w") : NULL;
  bool ok = true;
  for (int n = optind; n < argc; n++) ok &= run_launch(&o, argv[n], (unsigned)(n - optind) + 1, list, mix);
  if ((list && fclose(list)) || (mix && fclose(mix))) die("cannot write the results");
  return !ok;
}

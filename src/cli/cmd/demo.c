/* demo.c - `sluice demo`: a tour of bundled CUDA programs on the simulated GPU, under the baseline and under
 * schemes. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/frame/cli.h"
#include "proc/child.h"

struct demo_options {
  const char *output;
  bool quick;
};

struct demo {
  const char *dir;
  int rc;
};

static void heading(const char *text) {
  fputs(cli_color(stdout) ? "\n\033[1m" : "\n", stdout);
  fputs(text, stdout);
  puts(cli_color(stdout) ? "\033[0m" : "");
}

/* Run a command of the table as if it had been typed, unless an earlier one has failed. `argv` ends with NULL. */
static void step(struct demo *d, const struct command *c, char **argv) {
  if (d->rc) return;
  char *line = command_text(argv);
  text_say(stdout, "$ %s %s\n", program_invocation_name, line);
  free(line);
  fflush(stdout);
  int argc = 0;
  while (argv[argc]) argc++;
  d->rc = c->run(c, argc, argv);
  fflush(stdout);
}

static void compare(struct demo *d, char *schemes, char *program, char *size) {
  char html[PATH_MAX + 64];
  snprintf(html, sizeof html, "%s/%s.html", d->dir, program);
  step(d, &cmd_compare,
       (char *[]){"compare", "--scheme", schemes, "--html", html, "--", program, "--size", size, NULL});
}

static void tour(struct demo *d, bool quick) {
  heading("1. A CUDA program on a machine without a GPU: breadth-first search, nothing changed in it");
  step(d, &cmd_run, (char *[]){"run", "--", "bfs", "--size", "small", NULL});
  if (d->rc) return;
  heading("2. k-means under three schemes, one simulation per row");
  compare(d, "baseline,bucl,swl=4,tsc", "kmeans", "small");
  if (d->rc || quick) return;
  heading("3. Where bypassing pays and where it does not, baseline against BUCL");
  puts("  bfs and particlefilter at medium: scattered loads that exceed the L1, for which BUCL is made. Small inputs "
       "fit "
       "the L1\n"
       "  and would show a loss. matmul: loads of one or two lines, which BUCL leaves alone.");
  compare(d, "baseline,bucl", "bfs", "medium");
  compare(d, "baseline,bucl", "particlefilter", "medium");
  compare(d, "baseline,bucl", "matmul", "small");
}

static void next(const struct demo *d, bool quick) {
  const char *self = program_invocation_name;
  heading("Next");
  text_say(stdout, "  The reports, for a browser: %s/kmeans.html%s\n", d->dir,
           quick ? "" : " and, beside it, bfs.html, particlefilter.html, matmul.html");
  text_say(stdout, "  The schemes:            %s schemes\n", self);
  text_say(stdout, "  The programs:           %s workloads\n", self);
  text_say(stdout, "  What the machine lacks: %s doctor\n", self);
  text_say(stdout, "  Against the reference:  %s calibrate\n", self);
}

static int demo_run(const struct command *self, int argc, char **argv) {
  struct demo_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first < argc) return err_set(&e, ERR_USAGE, "demo takes no program"), command_usage(self, &e);
  struct demo d = {.dir = o.output ? o.output : "sluice-demo"};
  if (strlen(d.dir) >= PATH_MAX) return err_set(&e, ERR_USAGE, "the name of the folder is too long"), cli_fail(&e);
  if (mkdir(d.dir, 0777) && errno != EEXIST) {
    err_set(&e, ERR_OUTPUT, "cannot make the folder '%s': %s", d.dir, strerror(errno));
    return cli_fail(&e);
  }
  tour(&d, o.quick);
  if (!d.rc) next(&d, o.quick);
  if (!o.output && d.rc) rmdir(d.dir); /* if nothing is in it */
  return d.rc;
}

static const struct opt demo_opts[] = {{"output", "DIR", "folder for the HTML reports (default sluice-demo)", OPT_TEXT,
                                        offsetof(struct demo_options, output), 'o', "file"},
                                       {"quick", NULL, "the first two parts only: some seconds", OPT_FLAG,
                                        offsetof(struct demo_options, quick), 'q', NULL},
                                       {.name = NULL}};

const struct command cmd_demo = {
    .name = "demo",
    .summary = "a tour: bundled programs, schemes side by side, reports",
    .usage = "[--quick] [-o DIR]",
    .help =
        "Simulates bundled CUDA programs, compares schemes on them and writes HTML reports, in one or two minutes.\n"
        "Each command is printed before it runs, so that it can be repeated.\n",
    .opts = demo_opts,
    .run = demo_run,
};

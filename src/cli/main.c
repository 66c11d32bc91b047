/* main.c - the `sluice` command: the table of subcommands, help, exit codes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "proc/process.h"
#include "base/text.h"
#include "cli/frame/cli.h"

const struct command *const commands[] = {
    &cmd_run,       &cmd_compare,  &cmd_record,    &cmd_trace,      &cmd_import, &cmd_export,
    &cmd_report,    &cmd_study,    &cmd_paper,     &cmd_query,      &cmd_league, &cmd_diff,
    &cmd_db,        &cmd_tune,     &cmd_schemes,   &cmd_gpus,       &cmd_knobs,  &cmd_stats,
    &cmd_workloads, &cmd_overhead, &cmd_calibrate, &cmd_microbench, &cmd_mix,    &cmd_docs,
    &cmd_new,       &cmd_demo,     &cmd_doctor,    &cmd_help,       NULL};

int exit_code_of(enum err_code c) {
  switch (c) {
  case ERR_NONE:
    return EXIT_OK;
  case ERR_USAGE:
  case ERR_INPUT:
    return EXIT_USAGE;
  case ERR_UNSUPPORTED:
    return EXIT_UNSUPPORTED;
  case ERR_PROGRAM:
    return EXIT_FAULT;
  case ERR_STUCK:
    return EXIT_STUCK;
  case ERR_OUTPUT:
    return EXIT_OUTPUT;
  case ERR_INTERNAL:
    break;
  }
  return EXIT_BUG;
}

int cli_fail(const struct err *e) {
  fflush(stdout);
  text_say(stderr, "sluice: %s\n", e->msg);
  return exit_code_of(e->code);
}

const struct command *command_find(const char *name, struct err *e) {
  const char *names[sizeof commands / sizeof *commands];
  size_t n = 0;
  for (; commands[n]; n++) {
    if (!strcmp(commands[n]->name, name)) return commands[n];
    names[n] = commands[n]->name;
  }
  const char *near = err_nearest(name, names, n);
  if (near) err_set(e, ERR_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
  else err_set(e, ERR_USAGE, "unknown command '%s'; `sluice help` lists them", name);
  return NULL;
}

static void print_help(const struct command *c, FILE *f) {
  fprintf(f, "sluice %s - %s\n\nusage: sluice %s %s\n\n%s", c->name, c->summary, c->name, c->usage, c->help);
  if (!c->opts || !c->opts->name) return;
  fputs("\nOptions:\n", f);
  for (const struct opt *o = c->opts; o->name; o++) {
    char left[64], letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    fprintf(f, "  %-28s %s\n", left, o->help);
  }
}

void command_help(const struct command *c, FILE *f) {
  struct lines l;
  print_help(c, lines_begin(&l, f));
  l.prose = true;
  lines_end(&l);
}

int command_usage(const struct command *c, const struct err *e) {
  cli_fail(e);
  fprintf(stderr, "usage: sluice %s %s   (`sluice %s --help` explains)\n", c->name, c->usage, c->name);
  return EXIT_USAGE;
}

static bool is_help(const char *word) {
  return word && (!strcmp(word, "--help") || !strcmp(word, "-h"));
}

/* Anywhere on the line, except within a program's arguments. */
static bool asks_for_help(const struct command *c, int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
    if (is_help(argv[i])) return true;
    if (opt_takes_next(c->opts, argv[i]) && !is_help(argv[i + 1])) i++;
    else if (c->program && argv[i][0] != '-' && !is_kernel_file(argv[i]) && !is_trace_file(argv[i])) return false;
  }
  return false;
}

bool command_is_no_input(const char *path, char *const *words, struct err *e) {
  struct stat out, in;
  bool there = path && !stat(path, &out) && S_ISREG(out.st_mode);
  for (; there && *words; words++)
    if (!stat(*words, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
      return err_set(e, ERR_USAGE, "'%s' is what the command reads: the output needs another name", path);
  return true;
}

int command_begin(const struct command *c, int argc, char **argv, void *into, int *first) {
  struct err e = {0};
  if (asks_for_help(c, argc, argv)) {
    command_help(c, stdout);
    return EXIT_OK;
  }
  *first = opt_parse(c->opts, into, argc, argv, &e);
  return *first < 0 ? command_usage(c, &e) : -1;
}

/* ---- help ---- */

static void overview(FILE *f) {
  fputs("sluice - run CUDA programs without a GPU and see what a cache-management scheme changes\n\n"
        "usage: sluice COMMAND [OPTIONS] [-- PROGRAM [ARGS...]]\n\n",
        f);
  for (size_t i = 0; commands[i]; i++) fprintf(f, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\nA first look:\n"
        "  sluice workloads                               the bundled programs\n"
        "  sluice run -- PROGRAM ARGS                     one simulation, a table\n"
        "  sluice compare --scheme baseline,bucl -- PROGRAM ARGS\n"
        "\n`sluice COMMAND --help` explains a command, `sluice help exit-codes` the exit codes,\n"
        "`sluice --version` says which Sluice this is.\n",
        f);
}

static void exit_codes(FILE *f) {
  fputs("Exit codes of sluice:\n"
        "   0   all went well (sluice run: the program exited with 0)\n"
        "   1   a requested check failed: outputs of a launch file, calibrate --check,\n"
        "       db check, runs of a study that failed\n"
        "   2   unknown option, scheme, parameter, knob or GPU; unreadable or malformed input (PTX, launch file)\n"
        "   3   a PTX form or a runtime call that Sluice does not support; its name is printed\n"
        "   4   a fault of the simulated program: out of bounds, misaligned or null access, trap, failed assert\n"
        "   5   a kernel made no progress (deadlock, endless loop); what its warps wait for is printed\n"
        "   6   the program never reached our CUDA runtime, or left no record; the reason and the remedy are printed\n"
        "   7   success, but the program read out of bounds (allowed by --memory warn)\n"
        "   8   standard output or a file could not be written: a full disk, a folder without permission\n"
        "  70   an invariant of Sluice broke: please report it with the message (not a program's own 70)\n"
        " 128+n the program was killed by signal n\n"
        "Any other code is the program's own, passed on by `sluice run`.\n",
        f);
}

static int help_run(const struct command *self, int argc, char **argv) {
  if (argc > 1 && is_help(argv[1])) argc--, argv++;
  else if (argc > 2 && is_help(argv[2])) argc = 2;
  if (argc < 2 && is_help(argv[0])) {
    command_help(self, stdout);
    return EXIT_OK;
  }
  if (argc < 2) {
    struct lines l;
    overview(lines_begin(&l, stdout));
    lines_end(&l);
    return EXIT_OK;
  }
  if (!strcmp(argv[1], "exit-codes")) {
    struct lines l;
    exit_codes(lines_begin(&l, stdout));
    lines_end(&l);
    return EXIT_OK;
  }
  struct err e = {0};
  const struct command *c = command_find(argv[1], &e);
  if (!c) return cli_fail(&e);
  command_help(c, stdout);
  return EXIT_OK;
}

static const struct opt help_opts[] = {{.name = NULL}};
const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command, or the exit codes",
    .usage = "[COMMAND|exit-codes]",
    .help = "Prints the help of a command, the same as `sluice COMMAND --help`.\n",
    .opts = help_opts,
    .run = help_run,
};

/* Flush all output: a full disk or a limit shows here at the latest. A closed reader is not an error, as in any
 * pipeline. */
static int end_of_output(int rc) {
  errno = 0;
  bool failed = ferror(stdout);
  int why = fflush(stdout) ? errno : 0;
  if (!why && close(STDOUT_FILENO) && errno != EBADF) why = errno;
  if ((!why && !failed) || (!why && rc == EXIT_OUTPUT)) return rc; /* already reported */
  if (why == EPIPE) return rc ? rc : 128 + SIGPIPE;
  struct err e = {0};
  output_failed("-", why, &e);
  fprintf(stderr, "sluice: %s\n", e.msg);
  return rc ? rc : EXIT_OUTPUT;
}

static int command_line(int argc, char **argv) {
  if (argc < 2) {
    overview(stderr);
    return EXIT_USAGE;
  }
  if (is_help(argv[1]))
    return cmd_help.run(&cmd_help, argc - 1, (char *[]){"help", argv[2], NULL}); /* or of a command */
  if (!strcmp(argv[1], "--version")) {
    puts("sluice " SLUICE_VERSION);
    return EXIT_OK;
  }
  struct err e = {0};
  const struct command *c = command_find(argv[1], &e);
  if (!c) return cli_fail(&e);
  return c->run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  process_begin();
  return end_of_output(command_line(argc, argv));
}

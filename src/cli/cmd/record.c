/* record.c - `sluice record`: a program's launches into a trace. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "proc/child.h"
#include "cli/run/run.h"
#include "trace/common/input.h"

/* The program may change its folder: an absolute path. */
static bool name_file(const char *out, char *path, struct err *e) {
  char cwd[PATH_MAX] = "";
  if (*out != '/' && !getcwd(cwd, sizeof cwd))
    return err_set(e, ERR_INPUT, "cannot tell the current folder: %s", strerror(errno));
  if (snprintf(path, PATH_MAX, "%s%s%s", cwd, *cwd ? "/" : "", out) >= PATH_MAX - 32)
    return err_set(e, ERR_INPUT, "%s: the name is too long", out);
  struct stat st;
  if (!stat(path, &st) && !S_ISREG(st.st_mode))
    return err_set(e, ERR_INPUT, "cannot write '%s': it is not a file", out);
  return true;
}

static int summarise(const char *path, const struct sim_options *o) {
  struct err e = {0};
  struct trace_input *t = trace_open(path, false, &e);
  if (!t) return cli_fail(&e);
  struct trace_event ev;
  struct stat st;
  double insts = 0, bytes = stat(path, &st) ? 0 : (double)st.st_size;
  bool ok;
  while ((ok = t->ops->next(t, &ev, &e)) && ev.kind != TRACE_END)
    if (ev.kind == TRACE_LAUNCH) insts += (double)ev.warp_insts;
  char n[48], size[48];
  cli_count(n, sizeof n, insts);
  cli_bytes(size, sizeof size, bytes);
  if (ok && !o->quiet)
    printf("recorded %u launch%s, %s warp instructions, %s: %.2f bytes each\n", t->launches,
           t->launches == 1 ? "" : "es", n, size, insts > 0 ? bytes / insts : 0);
  trace_close(t);
  return ok ? EXIT_OK : cli_fail(&e);
}

static const char no_launch[] = "sluice: no launch had ended: there is no trace\n";

/* A trace without a launch. */
static bool is_empty(const char *path) {
  struct err ignored = {0};
  struct trace_input *t = trace_open(path, false, &ignored);
  bool empty = t && !t->launches;
  if (t) trace_close(t);
  return empty;
}

/* The program ended without closing the trace: by a signal, or within a launch. */
static bool rescue(const char *temp, const char *path, char *const *argv) {
  struct err e = {0};
  struct stat st;
  if (stat(temp, &st) || !st.st_size) return false; /* nothing was recorded */
  char *program = command_text(argv);
  bool ok = trace_salvage(temp, path, program, &e);
  free(program);
  if (ok && is_empty(path)) ok = unlink(path) != 0;
  if (ok) fputs("sluice: the trace holds the launches that had ended, one after the other\n", stderr);
  else fputs(no_launch, stderr);
  return ok;
}

struct record_options {
  struct sim_options sim;
  const char *out;
};

static int record(const struct command *self, struct record_options *opts, char **argv) {
  struct sim_options *o = &opts->sim;
  struct err e = {0};
  char path[PATH_MAX], temp[64];
  if (!opts->out) return err_set(&e, ERR_USAGE, "-o FILE.slt says where the trace goes"), command_usage(self, &e);
  if (is_trace_file(argv[0]) && !is_kernel_file(argv[0]))
    return err_set(&e, ERR_USAGE, "'%s' is a trace already", argv[0]), command_usage(self, &e);
  if (!o->mode) o->mode = "functional";
  if (!name_file(opts->out, path, &e) || !sim_output(path, o, argv, &e) || !sim_check(o, &e)) return cli_fail(&e);
  struct output *file = output_open(path);
  if (!file) return output_failed(path, errno, &e), cli_fail(&e);
  output_reach(file, temp, sizeof temp);
  o->trace_out = path;
  o->trace_temp = temp;
  bool quiet = o->quiet;
  o->quiet = true; /* no table of a functional run */
  o->meter = !quiet;
  int rc = run_one(self, o, argv);
  o->quiet = quiet;
  if (trace_is_trace(temp)) { /* closed by its writer */
    if (rc && is_empty(temp)) {
      fputs(no_launch, stderr);
      output_abandon(file);
      return rc;
    }
    if (!output_commit(file)) return output_failed(path, errno, &e), cli_fail(&e);
  } else {
    bool saved = rc != 128 + SIGINT && rescue(temp, path, argv);
    output_abandon(file);
    if (!saved) return rc ? rc : EXIT_NOT_REACHED;
  }
  int summary = summarise(path, o);
  return rc ? rc : summary;
}

static int record_run(const struct command *self, int argc, char **argv) {
  struct record_options opts = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &opts, &first);
  if (rc < 0 && first >= argc) {
    err_set(&e, ERR_USAGE, "no program to record");
    rc = command_usage(self, &e);
  }
  if (rc < 0 && is_kernel_file(argv[first]) && first + 1 < argc) { /* options may follow a kernel file */
    int more = opt_parse(self->opts, &opts, argc - first, argv + first, &e);
    if (more < 0) rc = command_usage(self, &e);
    if (more > 0) argv[first + more - 1] = argv[first], first += more - 1;
  }
  if (rc < 0) rc = record(self, &opts, argv + first);
  opt_list_free(&opts.sim.sets);
  return rc;
}

#define REC(member) offsetof(struct record_options, member)
static const struct opt record_opts[] = {
    {"output", "FILE", "the trace to write (.slt)", OPT_TEXT, REC(out), 'o', "file"},
    {"mode", "MODE", "functional (default: blocks one after the other) or timing (the order of --gpu and --scheme)",
     OPT_TEXT, REC(sim.mode), 'm', "functional timing"},
    {"gpu", "NAME|FILE", "GPU that the program asks about, and with --mode timing runs on (default fermi)", OPT_TEXT,
     REC(sim.gpu), 'g', "gpu"},
    {"scheme", "LIST", "with --mode timing: schemes in the machine", OPT_TEXT, REC(sim.scheme), 'S', "scheme"},
    {"set", "KEY=VALUE", "change one knob of the GPU; may be repeated", OPT_LIST, REC(sim.sets), 's', "knob"},
    {"launch", "FILE", "launch file of a .ptx or .cu kernel", OPT_TEXT, REC(sim.launch), 'l', "file"},
    {"memory", "MODE", "accesses out of bounds: strict, warn (default) or hardware, as of `sluice run`", OPT_TEXT,
     REC(sim.memory), 0, "strict warn hardware"},
    {"watchdog", "N", "warp instructions (with --mode timing: cycles) without progress before a kernel is called stuck",
     OPT_UINT, REC(sim.watchdog), 0, NULL},
    {"quiet", NULL, "the program's own output only", OPT_FLAG, REC(sim.quiet), 'q', NULL},
    {.name = NULL}};

const struct command cmd_record = {
    .name = "record",
    .summary = "record a program's kernels as a trace",
    .usage = "-o FILE.slt [OPTIONS] [--] PROGRAM [ARGS...] | KERNEL.ptx|KERNEL.cu --launch FILE",
    .help = "Runs the program once and writes what every warp did: path, masks, addresses. `sluice run FILE.slt` and\n"
            "`sluice compare -- FILE.slt` then replay it under any GPU and scheme without running the program, with\n"
            "the counters that an execution would have. Where the order of execution can change what a program does\n"
            "(atomics, races), the recording holds one order: docs/reference/trace-format.md says what it fixes.\n\n"
            "The file appears when it is complete, or not at all; a program that crashes leaves the launches that had\n"
            "ended, Ctrl-C leaves nothing.\n\n"
            "Examples:\n"
            "  sluice record -o bfs.slt -- bfs --size medium\n"
            "  sluice run --scheme bucl bfs.slt\n"
            "  sluice compare --scheme baseline,bucl,mrpb -- bfs.slt\n",
    .opts = record_opts,
    .run = record_run,
    .program = true,
};

/* run.c - `sluice run`: one program, one configuration, one table. */
#include "cli/run/run.h"
#include "cli/tables/tables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/heap.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "proc/child.h"
#include "cli/tables/energy.h"
#include "proc/jobs.h"
#include "cli/run/estimate.h"
#include "cli/run/processes.h"
#include "cli/run/search.h"
#include "gpu/slots/slots.h"
#include "simt/simt.h"

/* ---- what can be wrong before anything runs ---- */

bool sim_timing_range(const char *text, uint32_t *first, uint32_t *end, struct err *e) {
  *first = *end = 0;
  if (!text) return true;
  const char *p = text;
  char *after;
  unsigned long a = 0, b;
  bool ok = isdigit((unsigned char)*p);
  if (ok) a = strtoul(p, &after, 10), p = after;
  b = a;
  if (ok && *p == ':') {
    b = UINT32_MAX - 1;
    if (isdigit((unsigned char)*++p)) b = strtoul(p, &after, 10), p = after;
  }
  if (!ok || *p || b < a || b >= UINT32_MAX)
    return err_set(e, ERR_USAGE, "--timing-kernels needs A:B with A <= B, A: or A, launches counted from 0, not '%s'",
                   text);
  *first = (uint32_t)a;
  *end = (uint32_t)b + 1;
  return true;
}

bool sim_timeline_window(const char *text, uint64_t *first, uint64_t *last, struct err *e) {
  *first = 0, *last = INT64_MAX;
  if (!text) return true;
  char *end, *second;
  *first = strtoull(text, &end, 10);
  bool ok = end != text && *text != '-' && *end == ':';
  if (ok && end[1]) {
    *last = strtoull(end + 1, &second, 10);
    ok = second != end + 1 && !*second && end[1] != '-';
  }
  return (ok && *first < *last && *last <= INT64_MAX) ||
         err_set(e, ERR_USAGE, "--timeline-window needs A:B with A < B, core cycles of the run, not '%s'", text);
}

char *sim_timeline_path(const struct sim_options *o) {
  if (!o->timeline) return NULL;
  char *here = *o->timeline == '/' ? NULL : getcwd(NULL, 0), *path = NULL;
  if (asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", o->timeline) < 0) path = NULL;
  CHECK(path, "out of memory");
  free(here);
  return path;
}

bool is_kernel_file(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".ptx") || !strcmp(dot, ".cu"));
}

bool sim_apply_sets(struct gpu_config *c, const struct sim_options *o, struct err *e) {
  for (size_t i = 0; i < o->sets.count; i++) {
    const char *s = o->sets.at[i], *eq = strchr(s, '=');
    char key[128];
    if (!eq || (size_t)(eq - s) >= sizeof key) return err_set(e, ERR_USAGE, "--set needs KEY=VALUE, not '%s'", s);
    snprintf(key, sizeof key, "%.*s", (int)(eq - s), s);
    if (!gpu_config_set(c, key, eq + 1, "--set", e)) return false;
  }
  return true;
}

bool sim_config(const struct sim_options *o, struct gpu_config *c, struct err *e) {
  return gpu_config_load(c, o->gpu ? o->gpu : "fermi", e) && sim_apply_sets(c, o, e);
}

bool sim_check(const struct sim_options *o, struct err *e) {
  uint64_t from, to;
  if (!sim_timeline_window(o->timeline_window, &from, &to, e)) return false;
  struct gpu_config c;
  uint32_t first, end;
  if (o->mode && strcmp(o->mode, "timing") && strcmp(o->mode, "functional")) {
    static const char *const modes[] = {"timing", "functional"};
    const char *near = err_nearest(o->mode, modes, 2);
    return err_set(e, ERR_USAGE, "unknown mode '%s'; %s%s%s", o->mode,
                   near ? "did you mean '" : "it is timing or functional", near ? near : "", near ? "'?" : "");
  }
  if (o->launches && strcmp(o->launches, "fold") && strcmp(o->launches, "all"))
    return err_set(e, ERR_USAGE, "unknown --launches '%s'; it is fold or all", o->launches);
  if (!sim_config(o, &c, e) || !gpu_config_check(&c, e)) return false;
  if (!sim_timing_range(o->timing_kernels, &first, &end, e)) return false;
  unsigned checks;
  enum simt_memory memory;
  if (!simt_check_parse(o->check, &checks, e) || !simt_memory_parse(o->memory, &memory, e)) return false;
  uint32_t turn;
  if (!simt_interleave_parse(o->interleave, &turn, e)) return false;
  const char *list = o->scheme ? o->scheme : "baseline";
  if (!search_named(list)) return scheme_list_check(list, &c, e);
  if (!scheme_sweep_check(list, e)) return false;
  char one[1024];
  return (scheme_sweep_list(list, 0, one, sizeof one) || err_set(e, ERR_USAGE, "the list of schemes is too long")) &&
         scheme_list_check(one, &c, e);
}

const char *sim_memory(const struct sim_options *o, const char *program) {
  if (o->memory && *o->memory) return o->memory;
  return program_bundled(program) ? "strict" : "warn";
}

bool sim_output(const char *path, const struct sim_options *o, char *const *words, struct err *e) {
  const char *named[] = {o->launch ? o->launch : "", o->gpu ? o->gpu : "", NULL};
  return command_is_no_input(path, words, e) && command_is_no_input(path, (char *const *)named, e) &&
         output_prepare(path, e);
}

/* ---- the run ---- */

static bool record_copy(const char *from, const char *to, struct err *e) {
  size_t n;
  if (jsonfile_on_terminal(to)) {
    json_t *root = json_load_file(from, 0, NULL);
    bool ok = root && record_write_json(root, to, e);
    json_decref(root);
    return ok;
  }
  char *text = path_read_whole(from, &n);
  bool ok = text && path_write_whole(to, text, n);
  if (!ok) output_failed(to, errno, e);
  free(text);
  return ok;
}

static void print_energy(const struct record_file *r, const struct sim_options *o, FILE *f) {
  struct err e = {0};
  struct gpu_stats stats;
  const char *scheme = record_field(r, "scheme");
  struct energy_grid g = {.scheme = &scheme, .programs = 1, .schemes = 1, .stats = &stats};
  record_stats(r, RECORD_TOTALS, &stats);
  CHECK(sim_config(o, &g.config, &e), "%s", e.msg); /* it has run */
  energy_print_run(&g, f);
  if (o->energy_sensitivity) energy_print_sensitivity(&g, f);
}

bool run_reads_record(const struct sim_options *o) {
  return !o->quiet || o->json || o->check;
}

/* A run of many (compare, study) succeeds despite allowed reads: the caller finds them in the record. */
static int exit_of(const struct record_file *r, const struct sim_options *o) {
  if (o->check && record_findings(r)) return EXIT_CHECK;
  bool chosen = o->memory && !strcmp(o->memory, "hardware"); /* explicitly requested: ends as on a GPU */
  return record_strays(r).reads && !chosen && !getenv(JOB_VARIABLE) ? EXIT_STRAY : EXIT_OK;
}

int run_finish(const char *record, const struct sim_options *o) {
  struct err e = {0};
  struct stat st;
  if (!run_reads_record(o) && (stat(record, &st) || !st.st_size)) return EXIT_OK; /* no findings */
  struct record_file *r = record_open(record, &e);
  if (!r) return cli_fail(&e);
  bool to_stdout = o->json && !strcmp(o->json, "-");
  if (!o->quiet) {
    fflush(stdout);
    summary_print(r, to_stdout ? stderr : stdout);
    estimate_print(record_json(r), to_stdout ? stderr : stdout);
    summary_print_processes(r, to_stdout ? stderr : stdout);
    if (o->characterise) character_print(r, to_stdout ? stderr : stdout);
    if (o->energy || o->energy_sensitivity) print_energy(r, o, to_stdout ? stderr : stdout);
    if (o->lines) lines_print(r, to_stdout ? stderr : stdout);
  }
  int found = exit_of(r, o);
  record_close(r);
  return !o->json || record_copy(record, o->json, &e) ? found : cli_fail(&e);
}

/* The library in the child has printed its message; error.code gives its kind. */
static int simulator_error(const struct tempdir *t) {
  char path[600];
  tempdir_file(t, "error.code", path, sizeof path);
  char *code = path_read_whole(path, NULL);
  if (!code) return 0;
  int rc = exit_code_of((enum err_code)atoi(code));
  free(code);
  return rc ? rc : EXIT_BUG;
}

/* How the program ended, if not in order. */
static void say_end(int status, int own) {
  fflush(stdout);
  if (WIFSIGNALED(status))
    fprintf(stderr, "sluice: the program was killed by signal %d (%s)\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
  else if (own == EXIT_BUG)
    fprintf(stderr, "sluice: the program ended with code %d: its own, no invariant of sluice broke\n", own);
}

static int after_program(const struct tempdir *t, const struct sim_options *o, char *const *argv,
                         const struct ended *end) {
  int own = WIFSIGNALED(end->status) ? 128 + WTERMSIG(end->status) : WEXITSTATUS(end->status);
  struct err e = {0};
  char alive[600], record[600];
  tempdir_file(t, "alive", alive, sizeof alive);
  tempdir_file(t, "record.json", record, sizeof record);
  int simulator = simulator_error(t);
  if (simulator) return simulator;
  if (access(alive, F_OK)) {
    struct diagnosis d;
    elf_diagnose(argv[0], &d);
    fflush(stdout);
    text_say(stderr, "sluice: %s\n", d.text);
    return own && !d.certain ? own : EXIT_NOT_REACHED;
  }
  say_end(end->status, own);
  bool there = !run_reads_record(o) || !access(record, F_OK); /* a full disk left no state */
  if (!there && !processes_collect(t, o, argv, end->pid, end->status, record, &e)) {
    if (e.code) return cli_fail(&e);
    fprintf(stderr,
            "sluice: the program ended without closing the simulation, and no state of it was left; no result\n");
    return own ? own : EXIT_NOT_REACHED;
  }
  int rc = run_finish(record, o);
  return own ? own : rc;
}

static int run_program(const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct tempdir t;
  if (!sim_check(o, &e)) return cli_fail(&e);
  if (!tempdir_make(&t, &e)) return cli_fail(&e);
  int rc;
  struct ended end;
  bool ran = child_write_options(&t, o, argv, &e) && child_run(&t, argv, &end, &e);
  rc = ran ? after_program(&t, o, argv, &end) : cli_fail(&e);
  tempdir_remove(&t);
  return rc;
}

static int run_kernel_file(const struct command *self, const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct tempdir t;
  if (argv[1])
    return err_set(&e, ERR_USAGE, "'%s' after a kernel file: its arguments belong in the launch file", argv[1]),
           command_usage(self, &e);
  if (!o->launch)
    return err_set(&e, ERR_USAGE, "'%s' needs a launch file (--launch FILE.yaml): kernel, grid, block, arguments",
                   argv[0]),
           command_usage(self, &e);
  if (!run_fits(o, RUN_KERNEL, &e)) return command_usage(self, &e);
  if (!sim_check(o, &e) || !tempdir_make(&t, &e)) return cli_fail(&e);
  heap_use_huge_pages();
  char record[600];
  tempdir_file(&t, "record.json", record, sizeof record);
  int rc = launch_file_run(argv[0], o, record, &e);
  if (e.code) rc = cli_fail(&e);
  if (!e.code) {
    int written = run_finish(record, o);
    if (!rc) rc = written;
  }
  tempdir_remove(&t);
  return rc;
}

int run_one(const struct command *self, const struct sim_options *o, char **argv) {
  if (o->estimate) return run_estimate(self, o, argv);
  if (is_kernel_file(argv[0])) return run_kernel_file(self, o, argv);
  if (is_trace_file(argv[0])) return run_trace(self, o, argv);
  struct err e = {0};
  if (!run_fits(o, RUN_PROGRAM, &e)) return command_usage(self, &e);
  return run_program(o, argv);
}

/* Put the result of a search into the record. */
static bool annotate(const char *path, const struct search *s, struct err *e) {
  json_error_t je;
  json_t *root = json_load_file(path, 0, &je);
  if (!root) return err_set(e, ERR_INPUT, "%s: %s", path, je.text);
  json_object_set_new(root, "search", search_json(s));
  bool ok = record_write_json(root, path, e);
  json_decref(root);
  return ok;
}

/* Search, then run once more under the best list, as if it had been typed. */
static int run_search(const struct command *self, const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct arena a = {0};
  struct tempdir dir = {0};
  char record[600];
  struct search s = {.program = argv, .list = o->scheme, .again = true};
  int rc = EXIT_OK;
  if (o->mode && !strcmp(o->mode, "functional")) err_set(&e, ERR_USAGE, "a search needs timing mode");
  if (!e.code && sim_check(o, &e) && tempdir_make(&dir, &e)) rc = search_all(&s, 1, o, 0, &dir, &a, &e);
  if (!rc) rc = s.exit_code;
  if (e.code) rc = cli_fail(&e);
  if (!rc) {
    struct sim_options one = search_options(&s, o, &a);
    one.scheme = s.chosen;
    tempdir_file(&dir, "best.json", record, sizeof record);
    if (o->json) one.json = record;
    rc = run_one(self, &one, argv);
    bool to_stdout = o->json && !strcmp(o->json, "-");
    if (!o->quiet) search_say(&s, to_stdout ? stderr : stdout);
    if (o->json && !access(record, F_OK) && !(annotate(record, &s, &e) && record_copy(record, o->json, &e)))
      rc = cli_fail(&e);
  }
  search_free(&s);
  tempdir_remove(&dir);
  arena_free(&a);
  return rc;
}

struct run_options {
  struct sim_options sim;
  const char *trace_csv;
  const char *suite, *size;
  uint64_t jobs;
};

static int run_run(const struct command *self, int argc, char **argv) {
  struct run_options opts = {0};
  struct sim_options *o = &opts.sim;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &opts, &first);
  if (rc < 0 && first + 1 < argc &&
      (is_kernel_file(argv[first]) || is_trace_file(argv[first]))) { /* options may follow */
    int more = opt_parse(self->opts, &opts, argc - first, argv + first, &e);
    if (more < 0) rc = command_usage(self, &e);
    if (more > 0) argv[first + more - 1] = argv[first], first += more - 1;
  }
  if (rc < 0 && !(sim_output(o->json, o, argv + first, &e) && sim_output(o->timeline, o, argv + first, &e) &&
                  sim_output(o->json, o, (char *[]){(char *)opts.trace_csv, NULL}, &e)))
    rc = cli_fail(&e);
  if (rc < 0 && opts.suite) {
    if (!run_fits(o, RUN_SUITE, &e)) rc = command_usage(self, &e);
    else if (first >= argc) rc = run_suite(o, opts.suite, opts.size, (unsigned)opts.jobs);
    else err_set(&e, ERR_USAGE, "--suite brings its own programs"), rc = command_usage(self, &e);
  }
  if (rc < 0 && (opts.size || opts.jobs)) {
    err_set(&e, ERR_USAGE,
            "--size and --jobs go with --suite; a program takes its size itself: sluice run -- NAME --size %s",
            opts.size ? opts.size : "small");
    rc = command_usage(self, &e);
  }
  if (rc < 0 && opts.trace_csv) {
    if (!run_fits(o, RUN_CSV, &e)) rc = command_usage(self, &e);
    else if (first >= argc) rc = run_hit_rates(opts.trace_csv, o);
    else err_set(&e, ERR_USAGE, "--trace-csv takes the place of a program"), rc = command_usage(self, &e);
  }
  if (rc < 0 && first >= argc) {
    err_set(&e, ERR_USAGE, "no program to run");
    rc = command_usage(self, &e);
  }
  o->meter = !o->quiet && !search_named(o->scheme);
  if (rc < 0) rc = search_named(o->scheme) ? run_search(self, o, argv + first) : run_one(self, o, argv + first);
  opt_list_free(&o->sets);
  return rc;
}

#define RUN(member) offsetof(struct run_options, sim.member)
static const struct opt run_opts[] = {
    {"json", "FILE", "write the result record (- for standard output)", OPT_TEXT, RUN(json), 'j', "file"},
    {"quiet", NULL, "no table: the program's own output only", OPT_FLAG, RUN(quiet), 'q', NULL},
    {"suite", "NAME", "all bundled workloads of a paper in place of a program: bucl, tsc, medic, ..., all", OPT_TEXT,
     offsetof(struct run_options, suite), 'w', "all bucl tsc medic decoupled-l1d sharing"},
    {"size", "SIZE", "with --suite: small (default), medium or large inputs", OPT_TEXT,
     offsetof(struct run_options, size), 'z', "small medium large"},
    {"jobs", "N", "with --suite: simulations at a time (default: one per processor)", OPT_UINT,
     offsetof(struct run_options, jobs), 'J', NULL},
    {"trace-csv", "FILE", "hit rates of an address-only trace, without time (docs/reference/trace-format.md)", OPT_TEXT,
     offsetof(struct run_options, trace_csv), 0, "file"},
#define SIM_OPTION(kind, member, name, letter, arg, complete, runs, pass, session, help) \
  {name, arg, help, OPT_##kind, RUN(member), letter, complete},
#include "session/options.def"
    {.name = NULL}};

const struct command cmd_run = {
    .name = "run",
    .summary = "simulate one program under one scheme",
    .usage = "[OPTIONS] [--] PROGRAM [ARGS...] | KERNEL.ptx|KERNEL.cu --launch FILE | TRACE | --suite NAME",
    .help =
        "Starts an unmodified CUDA program with Sluice's runtime in place of NVIDIA's libcudart (versions 11, 12 and "
        "13),\n"
        "simulates every kernel launch, and prints a table: kernels, cycles, IPC, hit rates, DRAM traffic, stalls.\n"
        "A program with the runtime linked into it (nvcc's default) works too unless it was stripped. Its exit code "
        "is\n"
        "passed on; Sluice's own codes are in `sluice help exit-codes`. What follows PROGRAM is the program's, also "
        "--help.\n\n"
        "A .ptx or .cu file runs without a host program: a launch file gives grid, block and arguments\n"
        "(docs/how-to/launch-files.md). A trace (`sluice record`) is replayed instead of executed.\n\n"
        "Examples:\n"
        "  sluice run -- ./bfs graph.txt\n"
        "  sluice run --scheme swl=8+bucl --json out.json -- ./kmeans -n 4096\n"
        "  sluice run --lines -- ./spmv                           where memory stalls come from\n"
        "  sluice run --set l1d.sets=64 -- ./matmul               an L1 of 32 KB\n"
        "  sluice run --check all --mode functional -- ./program    uninitialised reads, races, divergent barriers\n"
        "  sluice run --mode functional -- ./program               results only, about 20 times faster\n"
        "  sluice run saxpy.cu --launch saxpy.yaml\n"
        "  sluice run --scheme bucl bfs.slt                         a recorded program\n"
        "  sluice run --suite bucl --size small                     the bundled workloads of a paper\n",
    .opts = run_opts,
    .run = run_run,
    .program = true,
};

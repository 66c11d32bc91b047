/* run.h - one simulation from the command line: of a CUDA program (child process) or of a kernel file (in process). */
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include "cli/frame/cli.h"
#include "proc/child.h"
#include "results/record.h"
#include "session/session.h"

/* What `sluice run` runs; checks that each given option has an effect on it. */
enum run_what { RUN_PROGRAM = 1, RUN_KERNEL = 2 /* a .ptx or .cu file */, RUN_TRACE = 4, RUN_CSV = 8, RUN_SUITE = 16 };
bool run_fits(const struct sim_options *o, enum run_what what, struct err *e);
/* The options of a session in this process. */
bool sim_session_options(const struct sim_options *o, const char *program, const char *record,
                         struct session_options *so, struct err *e);
/* Options for further runs of the same simulation: words for their command line into `argv`, their number, and the
 * maximum. */
struct arena;
size_t sim_options_pass(struct arena *a, const struct sim_options *o, char **argv);
size_t sim_options_pass_most(const struct sim_options *o);
/* Write options.json for the library in the program `argv`. */
bool child_write_options(const struct tempdir *t, const struct sim_options *o, char *const *argv, struct err *e);
/* One simulation of a program, kernel file or trace, as given by argv[0]. Returns an exit code. */
int run_one(const struct command *self, const struct sim_options *o, char **argv);
/* True if run_finish reads the record: for a table, for --json, for findings of checks. */
bool run_reads_record(const struct sim_options *o);
/* End of a simulation with a written record: table, JSON, exit code. */
int run_finish(const char *record, const struct sim_options *o);
/* Hit rates of an address-only trace (--trace-csv). */
int run_hit_rates(const char *path, const struct sim_options *o);
/* Replay a trace in this process. */
int run_trace(const struct command *self, const struct sim_options *o, char **argv);
/* The completed launches of an unfinished recording. */
bool trace_salvage(const char *from, const char *to, const char *program, struct err *e);
/* Simulate a .ptx or .cu file by its launch file in this process; the record goes to `record_path`. Returns an exit
 * code. */
int launch_file_run(const char *kernel_file, const struct sim_options *o, const char *record_path, struct err *e);
/* All bundled workloads of `suite` at `size` (NULL: small), `jobs` at a time (0: one per processor): a line for each.
 * Returns an exit code, the first failure's if one failed. */
int run_suite(const struct sim_options *o, const char *suite, const char *size, unsigned jobs);

#endif

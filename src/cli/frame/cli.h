/* cli.h - shared by the subcommands of `sluice`: the command table, options, running child simulations, printing.
 *
 * One file per subcommand, one row per option. The table generates --help, the man page and the shell completions.
 */
#ifndef CLI_FRAME_CLI_H
#define CLI_FRAME_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "gpu/common/config.h"

/* Printed by `sluice --version`; the Makefile takes the package's number from this line. */
#define SLUICE_VERSION "0.1"

/* ---- exit codes; the meanings are printed by `sluice help exit-codes` ---- */
enum exit_code {
  EXIT_OK = 0,
  EXIT_CHECK = 1,       /* a requested check failed (launch file, calibrate --check) */
  EXIT_USAGE = 2,       /* the user's input: option, name, file */
  EXIT_UNSUPPORTED = 3, /* PTX form or runtime call that Sluice does not support */
  EXIT_FAULT = 4,       /* an error of the simulated program */
  EXIT_STUCK = 5,       /* a kernel makes no progress */
  EXIT_NOT_REACHED = 6, /* the program never reached Sluice's CUDA runtime */
  EXIT_STRAY = 7,       /* success, except for allowed reads out of bounds */
  EXIT_OUTPUT = 8,      /* a file or standard output could not be written */
  EXIT_BUG = 70,        /* an invariant of Sluice is broken */
};
int exit_code_of(enum err_code c);
/* Print "sluice: message" to stderr and return the exit code of the error. */
int cli_fail(const struct err *e);

/* ---- options ---- */
/* OPT_MAYBE: a text that may be left out. `complete` is "NAME=VALUE", the value without one; the next word is taken if
 * it begins with "NAME=". */
enum opt_kind { OPT_FLAG, OPT_TEXT, OPT_UINT, OPT_LIST, OPT_MAYBE, OPT_END };
struct opt_list {
  const char **at;
  size_t count;
};
struct opt {
  const char *name; /* without dashes; NULL ends the table */
  const char *arg;  /* name of the value in help; NULL for flags */
  const char *help;
  enum opt_kind kind;
  size_t at; /* bytes into the command's option struct: bool, const char *, uint64_t, struct opt_list */
  char letter;
  const char *complete; /* offered by completions: "file", "gpu", "scheme", "knob" or words separated by spaces */
};
/* Parse argv[1..) up to the first operand or "--"; returns the index of the first operand, or -1 with `e`. */
int opt_parse(const struct opt *table, void *into, int argc, char **argv, struct err *e);
void opt_list_free(struct opt_list *l);
/* True if the value of option `word` is the next word of the line. */
bool opt_takes_next(const struct opt *table, const char *word);

/* ---- commands ---- */
struct command {
  const char *name, *summary, *usage; /* usage: what follows "sluice NAME" */
  const char *help;                   /* paragraphs that teach, then examples */
  const struct opt *opts;
  int (*run)(const struct command *self, int argc, char **argv); /* argv[0] is the command's name */
  bool program; /* words after the first operand belong to a program, including --help */
};
extern const struct command *const commands[]; /* NULL-terminated */
const struct command *command_find(const char *name, struct err *e);
void command_help(const struct command *c, FILE *f);
/* Usage error of a command: message, and where to find its help. Returns EXIT_USAGE. */
int command_usage(const struct command *c, const struct err *e);
/* `path`, an output file (NULL: none), is not among the files `words`, which end with NULL. */
bool command_is_no_input(const char *path, char *const *words, struct err *e);
/* Options parsed, --help handled: returns -1 to continue with *first the first operand, else the exit code. */
int command_begin(const struct command *c, int argc, char **argv, void *into, int *first);

extern const struct command cmd_run, cmd_compare, cmd_calibrate, cmd_schemes, cmd_gpus, cmd_knobs, cmd_stats,
    cmd_workloads, cmd_report, cmd_docs, cmd_help, cmd_overhead, cmd_record, cmd_trace, cmd_import, cmd_export,
    cmd_study, cmd_query, cmd_diff, cmd_db, cmd_paper, cmd_tune, cmd_new, cmd_microbench, cmd_mix, cmd_doctor, cmd_demo,
    cmd_league;

void scheme_pairs_page(void); /* `sluice docs scheme-pairs` */
/* `sluice docs bash`, `zsh` and `fish` */
void completion_bash(void), completion_zsh(void), completion_fish(void);

/* ---- what every simulation takes ---- */
/* A member for each row of session/options.def, of the type of its kind. */
typedef bool opt_type_FLAG;
typedef const char *opt_type_TEXT, *opt_type_MAYBE;
typedef uint64_t opt_type_UINT;
typedef struct opt_list opt_type_LIST;
struct sim_options {
#define SIM_OPTION(kind, member, ...) opt_type_##kind member;
#include "session/options.def"
  const char *json;
  bool quiet;
  const char *trace_out, *trace_temp; /* record: the file, and the path by which the program reaches it */
  bool meter;                         /* report progress of long launches */
};

/* The GPU with --set applied, before schemes change it and before the check of the whole. */
bool sim_config(const struct sim_options *o, struct gpu_config *c, struct err *e);
/* All errors that can be found before a program runs: GPU, sets, scheme, mode, launch range. */
bool sim_check(const struct sim_options *o, struct err *e);
/* The memory mode of a run of `program`: as requested, else strict for bundled workloads and warn for others. */
const char *sim_memory(const struct sim_options *o, const char *program);
bool scheme_list_check(const char *list, const struct gpu_config *c, struct err *e);
bool sim_apply_sets(struct gpu_config *c, const struct sim_options *o, struct err *e); /* the values of --set */
bool sim_timing_range(const char *text, uint32_t *first, uint32_t *end, struct err *e);
/* Core cycles [*first, *last) of --timeline-window A:B; NULL: all, as far as they fit. */
bool sim_timeline_window(const char *text, uint64_t *first, uint64_t *last, struct err *e);
/* An absolute path for --timeline, valid when the program changes its folder; the caller frees it. */
char *sim_timeline_path(const struct sim_options *o);
bool is_kernel_file(const char *path); /* .ptx or .cu */
bool is_trace_file(const char *path);  /* recorded by sluice or Accel-Sim */

/* An output file of a simulation (NULL: none): an earlier one is removed, and `e` reports a file that cannot be
 * written or that the simulation of `words` reads. */
bool sim_output(const char *path, const struct sim_options *o, char *const *words, struct err *e);

/* ---- printing ---- */
bool cli_color(FILE *f); /* a terminal, and NO_COLOR unset */
/* Columns of the terminal `f` (of $COLUMNS if set); 0: not a terminal, unlimited lines. */
unsigned cli_columns(FILE *f);
unsigned cli_page(unsigned most); /* of standard output, for text of limited width */
/* Between the two, long lines written to the result of lines_begin are broken at the terminal's width. */
struct lines {
  FILE *to, *in;
  bool prose; /* continuation lines are reflowed */
  char *text;
  size_t size;
  struct lines *outer;
};
FILE *lines_begin(struct lines *l, FILE *f);
void lines_end(struct lines *l);
unsigned cli_text_columns(const char *s, size_t bytes);
/* Bytes of `s` that fit into that many columns, up to a blank or punctuation if possible. */
size_t cli_text_break(const char *s, unsigned columns);
/* A bar of `width` columns filled to `fraction` in eighths, into `buf` (at least 4 * width + 1). */
void cli_bar(char *buf, double fraction, unsigned width);
void cli_bytes(char *buf, size_t size, double bytes); /* "1.2 MB" */
void cli_count(char *buf, size_t size, double n);     /* "12,345" */
/* A table whose columns align by their widest cell; cells may hold UTF-8. On a narrow terminal, titles and texts are
 * broken and columns dropped, the last ones first; a line names them. */
struct table;
struct table *table_new(const char *const *titles, const char *align /* 'l' or 'r' per column */);
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_rule(struct table *t);
/* The order in which columns are dropped, a character each: '.' never, '1' first, then '2'; columns of equal rank go
 * together. */
void table_order(struct table *t, const char *ranks);
void table_hint(struct table *t, const char *hint); /* how to show the dropped columns */
void table_print(struct table *t, FILE *f);
size_t table_rows(const struct table *t), table_columns(const struct table *t); /* without titles and rules */
const char *table_title(const struct table *t, size_t column);
const char *table_at(const struct table *t, size_t row, size_t column);
bool table_is_number(const struct table *t, size_t column); /* it is aligned to the right */
void table_free(struct table *t);

/* Progress on stderr if it is a terminal and more than 2 s have passed. */
struct progress {
  double started, shown;
  bool drawn;
};
void progress_start(struct progress *p);
void progress_show(struct progress *p, const char *what, double done, double total);
void progress_clear(struct progress *p);
double cli_seconds(void);

#endif

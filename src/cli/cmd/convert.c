/* convert.c - `sluice import` and `sluice export`: traces of Accel-Sim into the .slt format, and back. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "cli/run/run.h"
#include "trace/accel/accel_export.h"
#include "trace/slt/slt.h"
#include "trace/slt/slt_write.h"
#include "trace/trace_feed.h"

struct convert_options {
  const char *out, *version;
  bool accel_sim, keep_going, quiet;
};

/* ---- import ---- */

static bool import_launch(struct slt_writer *w, struct trace_input *t, const struct trace_event *ev, struct err *e) {
  enum { SLOTS = 8 };
  struct trace_feed *f = trace_feed_new(t, ev->kernel, SLOTS, e);
  if (!f) return false;
  struct feed *recorded = slt_begin(w, trace_feed_get(f), SLOTS, e);
  bool ok = recorded && trace_drive(recorded, SLOTS, 0, NULL, e);
  if (!ok && trace_feed_error(f)) *e = *trace_feed_error(f);
  ok = recorded && slt_end(w, ok, ok ? e : NULL) && ok;
  trace_feed_free(f);
  return ok;
}

static bool import_all(struct slt_writer *w, struct trace_input *t, bool keep_going, uint64_t *insts, struct err *e) {
  struct trace_event ev;
  struct progress p;
  progress_start(&p);
  bool ok;
  while ((ok = t->ops->next(t, &ev, e)) && ev.kind != TRACE_END) {
    if (ev.kind == TRACE_COPY) slt_note_copy(w, ev.addr, ev.bytes, ev.to_device);
    if (ev.kind != TRACE_LAUNCH) continue;
    if (!(ok = import_launch(w, t, &ev, e))) break;
    *insts += ev.warp_insts;
    if (t->launches) progress_show(&p, "importing", ev.launch + 1.0, t->launches);
  }
  progress_clear(&p);
  if (ok || !keep_going) return ok;
  text_say(stderr, "sluice: %s\nsluice: the launches before that are kept\n", e->msg);
  *e = (struct err){0};
  return true;
}

/* A recording gets its header when it is complete; before that it is not recognised as a trace. */
static bool mark_as_trace(const char *path) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = fd >= 0 && pwrite(fd, SLT_MAGIC, 8, 0) == 8;
  if (fd >= 0) close(fd);
  return ok;
}

bool trace_salvage(const char *from, const char *to, const char *program, struct err *e) {
  if (!mark_as_trace(from)) return err_set(e, ERR_INPUT, "%s: %s", from, strerror(errno));
  struct trace_input *t = trace_open(from, true, e);
  struct slt_writer *w = t ? slt_create(to, NULL, program, t->machine, e) : NULL;
  uint64_t insts = 0;
  bool ok = w && import_all(w, t, false, &insts, e);
  if (ok) ok = slt_finish(w, e);
  else if (w) slt_abandon(w);
  if (t) trace_close(t);
  return ok;
}

static int import_run(const struct command *self, int argc, char **argv) {
  struct convert_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first + 1 != argc || !o.out)
    return err_set(&e, ERR_USAGE, !o.out ? "-o FILE.slt says where the trace goes" : "one trace to import"),
           command_usage(self, &e);
  if (!command_is_no_input(o.out, argv + first, &e) || !output_prepare(o.out, &e)) return cli_fail(&e);
  struct trace_input *t = trace_open(argv[first], o.keep_going, &e);
  if (!t) return cli_fail(&e);
  struct slt_writer *w = slt_create(o.out, NULL, argv[first], t->machine, &e);
  uint64_t insts = 0;
  bool ok = w && import_all(w, t, o.keep_going, &insts, &e);
  if (ok && t->order) slt_set_order(w, t->order);
  if (ok) ok = slt_finish(w, &e);
  else if (w) slt_abandon(w);
  uint32_t launches = t->launches;
  trace_close(t);
  if (!ok) return cli_fail(&e);
  struct stat st;
  char n[48], size[48];
  cli_count(n, sizeof n, (double)insts);
  cli_bytes(size, sizeof size, stat(o.out, &st) ? 0 : (double)st.st_size);
  if (!o.quiet)
    printf("imported %u launch%s, %s warp instructions, %s\n", launches, launches == 1 ? "" : "es", n, size);
  return EXIT_OK;
}

/* ---- export ---- */

static bool tracer_version(const char *text, double *v, struct err *e) {
  static const double known[] = {1.2, 3, 4, 5, 6};
  char *end = NULL;
  *v = 0;
  if (!text) return true;
  *v = strtod(text, &end);
  for (size_t i = 0; i < sizeof known / sizeof *known && end != text && !*end; i++)
    if (*v == known[i]) return true;
  return err_set(e, ERR_USAGE, "--tracer-version is 1.2, 3, 4, 5 or 6, not '%s'", text);
}

static int export_run(const struct command *self, int argc, char **argv) {
  struct convert_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  double version = 0;
  if (!o.accel_sim) err_set(&e, ERR_USAGE, "--accel-sim says which format; there is no other yet");
  else if (!o.out) err_set(&e, ERR_USAGE, "-o FOLDER says where kernelslist.g goes");
  else if (first + 1 != argc) err_set(&e, ERR_USAGE, "one trace to export");
  else tracer_version(o.version, &version, &e);
  if (e.code) return command_usage(self, &e);
  char list[PATH_MAX];
  snprintf(list, sizeof list, "%s/kernelslist.g", o.out);
  bool ok = !mkdir(o.out, 0777) || errno == EEXIST ||
            err_set(&e, ERR_OUTPUT, "cannot make the folder '%s': %s", o.out, strerror(errno));
  ok = ok && command_is_no_input(list, argv + first, &e) && output_prepare(list, &e);
  struct trace_input *t = ok ? trace_open(argv[first], false, &e) : NULL;
  if (!t) return cli_fail(&e);
  ok = accel_export(t, o.out, version, &e);
  if (ok && !o.quiet)
    text_say(stdout, "exported %u launch%s to %s\n", t->launches, t->launches == 1 ? "" : "es", o.out);
  trace_close(t);
  return ok ? EXIT_OK : cli_fail(&e);
}

#define AT(member) offsetof(struct convert_options, member)
static const struct opt import_opts[] = {
    {"output", "FILE", "the trace to write (.slt)", OPT_TEXT, AT(out), 'o', "file"},
    {"keep-going", NULL, "of a damaged trace: the launches before the damage", OPT_FLAG, AT(keep_going), 0, NULL},
    {"quiet", NULL, "say nothing", OPT_FLAG, AT(quiet), 'q', NULL},
    {.name = NULL}};
static const struct opt export_opts[] = {
    {"accel-sim", NULL, "kernelslist.g and a .traceg per launch", OPT_FLAG, AT(accel_sim), 0, NULL},
    {"tracer-version", "V",
     "in the form of this version of the tracer: 1.2, 3, 4, 5 or 6; else as it was imported, or 5", OPT_TEXT,
     AT(version), 0, NULL},
    {"output", "FOLDER", "where to write them", OPT_TEXT, AT(out), 'o', "file"},
    {"quiet", NULL, "say nothing", OPT_FLAG, AT(quiet), 'q', NULL},
    {.name = NULL}};

const struct command cmd_import = {
    .name = "import",
    .summary = "convert a trace of Accel-Sim to a .slt",
    .usage = "-o FILE.slt kernelslist.g|KERNEL.traceg[.xz]|KERNEL.tracez",
    .help =
        "A .slt is a hundredth of the text, is checked, and starts at any kernel at once. `sluice run` takes either.\n"
        "docs/how-to/accel-sim.md lists what is read and what a SASS trace leaves open.\n\n"
        "Example:\n  sluice import -o bfs.slt traces/bfs/kernelslist.g\n",
    .opts = import_opts,
    .run = import_run,
};
const struct command cmd_export = {
    .name = "export",
    .summary = "write a trace as Accel-Sim's",
    .usage = "--accel-sim -o FOLDER TRACE",
    .help = "What was imported comes out as it was; kernels recorded from PTX get SASS names by what executes them.\n"
            "What an older --tracer-version cannot say is left out: source lines and immediates before 4, the second\n"
            "immediate and clusters before 6.\n\n"
            "Example:\n  sluice export --accel-sim -o traces bfs.slt\n",
    .opts = export_opts,
    .run = export_run,
};

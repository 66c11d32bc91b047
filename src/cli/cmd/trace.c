/* trace.c - `sluice trace`: contents of a trace (info, head, stats), and differences of two (diff). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/run/run.h"
#include "cli/tables/tables.h"
#include "trace/survey.h"

struct trace_options {
  uint64_t kernel, cta, warp, count;
  bool launches, keep_going;
};

enum { ALL = 1 << 20 }; /* no --kernel given */

static bool next_launch(struct trace_input *t, struct trace_event *ev, struct err *e) {
  do
    if (!t->ops->next(t, ev, e)) return false;
  while (ev->kind == TRACE_COPY);
  return true;
}

/* Advance to launch `n`; false with `e` if there is none. */
static bool go_to(struct trace_input *t, uint64_t n, struct trace_event *ev, struct err *e) {
  if (t->ops->seek && n < UINT32_MAX && !t->ops->seek(t, (uint32_t)n, e)) return false;
  do
    if (!next_launch(t, ev, e)) return false;
  while (ev->kind == TRACE_LAUNCH && ev->launch < n);
  return ev->kind == TRACE_LAUNCH ||
         err_set(e, ERR_USAGE, "%s: there is no launch %llu", t->path, (unsigned long long)n);
}

/* ---- info ---- */

struct row {
  char *name;
  uint32_t grid[3], block[3], regs, shared;
  double launches, warp_insts, thread_insts;
  bool several; /* launches of different sizes */
};

static void add_event_row(struct row **rows, size_t *count, const struct trace_event *ev, bool each) {
  const struct feed_kernel *k = ev->kernel;
  size_t i = 0;
  while (i < *count && (each || strcmp((*rows)[i].name, k->name))) i++;
  if (i == *count) {
    *rows = mem_resize(*rows, ++*count, sizeof **rows);
    (*rows)[i] = (struct row){.name = mem_text(k->name), .regs = k->regs_per_thread, .shared = k->shared_bytes};
    memcpy((*rows)[i].grid, k->grid, sizeof k->grid);
    memcpy((*rows)[i].block, k->block, sizeof k->block);
  }
  struct row *r = &(*rows)[i];
  r->several |= memcmp(r->grid, k->grid, sizeof k->grid) || memcmp(r->block, k->block, sizeof k->block);
  r->launches++;
  r->warp_insts += (double)ev->warp_insts;
  r->thread_insts += (double)ev->thread_insts;
}

static void cell_size(struct table *t, const uint32_t *d, bool several) {
  if (several) table_cell(t, "several");
  else if (d[2] > 1) table_cell(t, "%ux%ux%u", d[0], d[1], d[2]);
  else if (d[1] > 1) table_cell(t, "%ux%u", d[0], d[1]);
  else table_cell(t, "%u", d[0]);
}

static void cell_count(struct table *t, double n, bool known) {
  char text[48];
  cli_count(text, sizeof text, n);
  table_cell(t, "%s", known ? text : "-");
}

static void print_event_rows(const struct row *rows, size_t count) {
  static const char *const titles[] = {"kernel",    "launches", "grid",       "block",
                                       "registers", "shared",   "warp insts", "lanes"};
  struct table *t = table_new(titles, "lrrrrrrr");
  for (size_t i = 0; i < count; i++) {
    const struct row *r = &rows[i];
    char name[128];
    kernel_short_name(name, sizeof name, r->name);
    table_cell(t, "%s", name);
    cell_count(t, r->launches, true);
    cell_size(t, r->grid, r->several);
    cell_size(t, r->block, r->several);
    table_cell(t, "%u", r->regs);
    table_cell(t, "%u", r->shared);
    cell_count(t, r->warp_insts, r->warp_insts > 0);
    if (r->warp_insts > 0) table_cell(t, "%.1f", r->thread_insts / r->warp_insts);
    else table_cell(t, "-");
  }
  table_print(t, stdout);
  table_free(t);
}

static bool info(struct trace_input *t, const struct trace_options *o, struct err *e) {
  struct row *rows = NULL;
  size_t count = 0;
  struct trace_event ev;
  struct stat st;
  double insts = 0, copies = 0, copied = 0, launches = 0;
  bool ok;
  while ((ok = t->ops->next(t, &ev, e)) && ev.kind != TRACE_END) {
    if (ev.kind == TRACE_COPY) {
      copies++;
      copied += (double)ev.bytes;
      continue;
    }
    launches++;
    insts += (double)ev.warp_insts;
    add_event_row(&rows, &count, &ev, o->launches);
  }
  char bytes[48], in[48], n[48];
  double size = stat(t->path, &st) ? 0 : (double)st.st_size;
  cli_bytes(bytes, sizeof bytes, size);
  cli_bytes(in, sizeof in, copied);
  cli_count(n, sizeof n, insts);
  text_say(stdout, "%s: %s trace%s%s, %s\n", t->path, t->ops->format, t->program ? " of " : "",
           t->program ? t->program : "", bytes);
  printf("%.0f launches, %.0f copies (%s)", launches, copies, in);
  if (insts > 0) printf(", %s warp instructions, %.2f bytes each", n, size / insts);
  printf("\n\n");
  print_event_rows(rows, count);
  for (size_t i = 0; i < count; i++) free(rows[i].name);
  free(rows);
  return ok;
}

/* ---- head ---- */

static const char *const kinds[SURVEY_KINDS] = {"alu",   "load",   "store", "atomic", "barrier",
                                                "fence", "branch", "call",  "ret",    "exit"};
static const char *const spaces[SURVEY_SPACES] = {"none",     "global",    "shared",  "local",
                                                  "constant", "parameter", "texture", "generic"};

/* "0xc0000100 +4" for lanes on a line, else the addresses of the first ones. */
static void print_addresses(const struct issued *o) {
  uint32_t first = (uint32_t)__builtin_ctz(o->mask), rest = o->mask & (o->mask - 1);
  int64_t stride =
      rest ? (int64_t)(o->addr[__builtin_ctz(rest)] - o->addr[first]) / (int64_t)((uint32_t)__builtin_ctz(rest) - first)
           : 0;
  bool line = true;
  for (uint32_t m = o->mask; m; m &= m - 1)
    line &= o->addr[__builtin_ctz(m)] - o->addr[first] == (uint64_t)stride * ((uint32_t)__builtin_ctz(m) - first);
  if (line) {
    printf("  0x%llx", (unsigned long long)o->addr[first]);
    if (stride) printf(" %+lld a lane", (long long)stride);
    return;
  }
  int shown = 0;
  for (uint32_t m = o->mask; m && shown < 6; m &= m - 1, shown++)
    printf(" %s0x%llx", shown ? "" : " ", (unsigned long long)o->addr[__builtin_ctz(m)]);
  if (__builtin_popcount(o->mask) > shown) printf(" ...");
}

static void print_step(const struct feed_kernel *k, uint64_t n, uint32_t pc, const struct issued *o) {
  const struct inst *i = &k->code[pc];
  bool access = i->kind == KIND_LOAD || i->kind == KIND_STORE || i->kind == KIND_ATOM;
  printf("%6llu  pc %5u  line %5u  %-8s", (unsigned long long)n, pc, i->src_line ? i->src_line : i->ptx_line,
         kinds[i->kind]);
  printf(" %08x", o->mask);
  if (o->mask != o->active) printf("/%08x", o->active);
  if (access && o->mask) {
    printf("%*s  %s %u B", o->mask != o->active ? 0 : 9, "", o->space < SURVEY_SPACES ? spaces[o->space] : "?",
           o->width);
    print_addresses(o);
  }
  if (o->bar_id != FEED_NO_BARRIER) printf("  barrier %u%s", o->bar_id, o->waits ? "" : ", does not wait");
  printf("\n");
}

static bool head(struct trace_input *t, const struct trace_options *o, struct err *e) {
  struct trace_event ev;
  if (!go_to(t, o->kernel == ALL ? 0 : o->kernel, &ev, e)) return false;
  const struct feed_kernel *k = ev.kernel;
  if (o->cta >= k->ctas || o->warp >= k->warps_per_cta)
    return err_set(e, ERR_USAGE, "%s: launch %u has %u CTAs of %u warps, counted from 0", t->path, ev.launch, k->ctas,
                   k->warps_per_cta);
  if (!t->ops->begin(t, 1, e) || !t->ops->open_cta(t, 0, (uint32_t)o->cta, e)) return false;
  text_say(stdout, "launch %u: %s, CTA %llu, warp %llu\n", ev.launch, k->name, (unsigned long long)o->cta,
           (unsigned long long)o->warp);
  struct issued out = {0};
  uint32_t pc = k->entry_pc;
  for (uint64_t n = 0; pc != FEED_DONE && n < o->count; n++) {
    out.waits = false, out.token = 0, out.bar_id = FEED_NO_BARRIER;
    if (!t->ops->step(t, 0, (uint32_t)o->warp, &out, e)) return false;
    print_step(k, n, pc, &out);
    pc = out.next_pc;
  }
  if (pc != FEED_DONE) printf("   ...  (-n COUNT shows more)\n");
  t->ops->close_cta(t, 0);
  return true;
}

/* ---- stats ---- */

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_mix(const struct survey *s) {
  char n[48], m[48];
  cli_count(n, sizeof n, (double)s->warp_insts);
  cli_count(m, sizeof m, (double)s->warps);
  printf("%s warp instructions of %s warps in %llu CTAs; %.1f lanes each, %.1f %% with idle lanes\n", n, m,
         (unsigned long long)s->ctas, s->warp_insts ? (double)s->thread_insts / (double)s->warp_insts : 0,
         percent(s->diverged, s->warp_insts));
  printf("mix:");
  for (int k = 0; k < SURVEY_KINDS; k++)
    if (s->kind[k]) printf("  %s %.1f %%", kinds[k], percent(s->kind[k], s->warp_insts));
  uint64_t sfu = s->lat[LAT_SFU] + s->lat[LAT_INT_DIV] + s->lat[LAT_F32_DIV], f64 = 0, f32 = 0;
  for (int l = LAT_F64_ADD; l <= LAT_F64_DIV; l++) f64 += s->lat[l];
  for (int l = LAT_F32_ADD; l <= LAT_F32_FMA; l++) f32 += s->lat[l];
  printf("\nof alu:  single precision %.1f %%  double precision %.1f %%  division and special functions %.1f %%\n\n",
         percent(f32, s->kind[KIND_ALU]), percent(f64, s->kind[KIND_ALU]), percent(sfu, s->kind[KIND_ALU]));
}

static void print_spaces(const struct survey *s) {
  static const char *const titles[] = {"memory", "instructions", "of all", "lanes", "bytes"};
  struct table *t = table_new(titles, "lrrrr");
  for (int k = 0; k < SURVEY_SPACES; k++) {
    if (!s->space[k]) continue;
    char bytes[48];
    cli_bytes(bytes, sizeof bytes, (double)s->space_bytes[k]);
    table_cell(t, "%s", spaces[k]);
    cell_count(t, (double)s->space[k], true);
    table_cell(t, "%.1f %%", percent(s->space[k], s->warp_insts));
    table_cell(t, "%.1f", (double)s->space_lanes[k] / (double)s->space[k]);
    table_cell(t, "%s", bytes);
  }
  table_print(t, stdout);
  table_free(t);
}

static void print_locality(const struct survey *s) {
  static const uint8_t to[] = {1, 2, 4, 8, 16, 32};
  uint64_t loads = 0;
  for (int d = 0; d < 33; d++) loads += s->degree[d];
  if (loads) {
    printf("\nglobal loads by the 128 B lines that they touch:");
    for (uint32_t b = 0, d = 1; b < sizeof to; b++) {
      uint64_t n = 0, from = d;
      for (; d <= to[b]; d++) n += s->degree[d];
      if (from == to[b]) printf("  %u: %.1f %%", to[b], percent(n, loads));
      else printf("  %llu-%u: %.1f %%", (unsigned long long)from, to[b], percent(n, loads));
    }
    printf("\n");
  }
  char foot[48], mean[48], most[48];
  cli_bytes(foot, sizeof foot, (double)s->lines * SURVEY_LINE);
  cli_bytes(mean, sizeof mean, s->ctas ? (double)s->set_sum / (double)s->ctas * SURVEY_LINE : 0);
  cli_bytes(most, sizeof most, (double)s->set_max * SURVEY_LINE);
  printf("footprint (global and texture): %s, of which %.1f %% is touched by several CTAs\n", foot,
         percent(s->shared_lines, s->lines));
  printf("working set of a CTA: %s on average, %s at most\n", mean, most);
}

static bool stats(struct trace_input *t, const struct trace_options *o, struct err *e) {
  struct surveyor *s = survey_new();
  struct trace_event ev = {0};
  struct progress p;
  progress_start(&p);
  bool ok = true;
  if (o->kernel != ALL) {
    ok = go_to(t, o->kernel, &ev, e) && survey_launch(s, t, &ev, e);
    if (ok) text_say(stdout, "launch %u: %s\n", ev.launch, ev.kernel->name);
  }
  while (o->kernel == ALL && ok && (ok = next_launch(t, &ev, e)) && ev.kind != TRACE_END) {
    ok = survey_launch(s, t, &ev, e);
    progress_show(&p, "reading", ev.launch + 1, t->launches);
  }
  progress_clear(&p);
  if (ok || o->keep_going) {
    print_mix(survey_result(s));
    print_spaces(survey_result(s));
    print_locality(survey_result(s));
  }
  survey_free(s);
  return ok;
}

/* ---- csv ---- */

static void csv_line(const struct feed_kernel *k, const char *name, uint32_t cta, uint32_t warp, uint32_t pc,
                     const struct issued *o) {
  const struct inst *i = &k->code[pc];
  const char *op = i->kind == KIND_LOAD ? "load" : i->kind == KIND_STORE ? "store" : "atomic";
  printf("%s,%u,%u,%u,%08x,%s,%u,", name, cta, warp, pc, o->mask, op, o->width);
  for (uint32_t m = o->mask; m; m &= m - 1)
    printf("%s0x%llx", m == o->mask ? "" : " ", (unsigned long long)o->addr[__builtin_ctz(m)]);
  printf("\n");
}

/* The cell of a launch: its number and name on one line, in quotes if the name has commas or quotes. */
static char *csv_name(uint32_t launch, const char *name) {
  char *shown = text_visible(name, false), *cell = mem_alloc(2 * strlen(shown) + 32), *to = cell;
  bool quoted = strpbrk(shown, ",\"") != NULL;
  to += sprintf(to, "%s%u ", quoted ? "\"" : "", launch);
  for (const char *p = shown; *p; p++) {
    if (*p == '"') *to++ = '"';
    *to++ = *p;
  }
  if (quoted) *to++ = '"';
  *to = 0;
  free(shown);
  return cell;
}

/* The CTAs of the launch that `t` stands at. */
static bool csv_launch(struct trace_input *t, const struct feed_kernel *k, const char *name, struct err *e) {
  if (!t->ops->begin(t, 1, e)) return false;
  for (uint32_t c = 0; c < k->ctas; c++) {
    struct issued out = {0};
    if (!t->ops->open_cta(t, 0, c, e)) return false;
    for (uint32_t w = 0; w < k->warps_per_cta; w++)
      for (uint32_t pc = k->entry_pc; pc != FEED_DONE; pc = out.next_pc) {
        out.waits = false, out.token = 0, out.bar_id = FEED_NO_BARRIER;
        if (!t->ops->step(t, 0, w, &out, e)) return false;
        uint8_t kind = k->code[pc].kind;
        bool access = kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOM;
        if (access && out.mask && out.space == SPACE_GLOBAL) csv_line(k, name, c, w, pc, &out);
      }
    t->ops->close_cta(t, 0);
  }
  return true;
}

/* Accesses to global memory, warp by warp, as an address-only trace. */
static bool csv(struct trace_input *t, const struct trace_options *o, struct err *e) {
  struct trace_event ev = {0};
  printf("kernel,cta,warp,pc,mask,op,bytes,addresses\n");
  for (;;) {
    if (!(o->kernel == ALL ? next_launch(t, &ev, e) : go_to(t, o->kernel, &ev, e))) return false;
    if (ev.kind == TRACE_END) return true;
    char *name = csv_name(ev.launch, ev.kernel->name);
    bool ok = csv_launch(t, ev.kernel, name, e);
    free(name);
    if (!ok) return false;
    if (o->kernel != ALL) return true;
  }
}

/* ---- diff ---- */

static void print_text(void *ctx, const char *text) {
  (void)ctx;
  text_say(stdout, "%s\n", text);
}

static int diff(const char *first, const char *second, const struct trace_options *o) {
  struct err e = {0};
  struct trace_input *a = trace_open(first, false, &e), *b = a ? trace_open(second, false, &e) : NULL;
  uint32_t found = 0;
  bool ok = b && trace_compare(a, b, (uint32_t)o->count, print_text, NULL, &found, &e);
  trace_close(a);
  trace_close(b);
  if (!ok) return cli_fail(&e);
  if (found > o->count) printf("... and %llu more\n", (unsigned long long)(found - o->count));
  if (!found) printf("the traces are the same: launches, code, paths, masks and addresses\n");
  return found ? EXIT_CHECK : EXIT_OK;
}

/* ---- the command ---- */

static int with_trace(const char *path, const struct trace_options *o,
                      bool (*what)(struct trace_input *, const struct trace_options *, struct err *)) {
  struct err e = {0};
  struct trace_input *t = trace_open(path, o->keep_going, &e);
  if (!t) return cli_fail(&e);
  if (e.code) text_say(stderr, "sluice: %s; the launches before that are kept\n", e.msg);
  e.code = ERR_NONE;
  bool ok = what(t, o, &e);
  trace_close(t);
  if (!ok && o->keep_going && e.code == ERR_INPUT) {
    fflush(stdout);
    text_say(stderr, "sluice: %s; what came before that is shown\n", e.msg);
    return EXIT_OK;
  }
  return ok ? EXIT_OK : cli_fail(&e);
}

static int run_verb(const struct command *self, struct trace_options *o, const char *verb, int files, char **file) {
  static const char *const verbs[] = {"info", "head", "stats", "diff", "csv"};
  struct err e = {0};
  int want = !strcmp(verb, "diff") ? 2 : 1;
  const char *near = err_nearest(verb, verbs, 5);
  bool known = near && !strcmp(near, verb);
  if (!known)
    err_set(&e, ERR_USAGE, "'%s' is not one of info, head, stats, diff, csv%s%s%s", verb,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  else if (files != want) err_set(&e, ERR_USAGE, "trace %s needs %s", verb, want == 2 ? "two traces" : "one trace");
  if (e.code) return command_usage(self, &e);
  if (!o->count) o->count = want == 2 ? 10 : 40;
  if (want == 2) return diff(file[0], file[1], o);
  return with_trace(file[0], o,
                    !strcmp(verb, "info")   ? info
                    : !strcmp(verb, "head") ? head
                    : !strcmp(verb, "csv")  ? csv
                                            : stats);
}

static int trace_run(const struct command *self, int argc, char **argv) {
  struct trace_options o = {.kernel = ALL};
  struct err e = {0};
  char *words[4];
  int first, n = 0, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  while (first < argc) { /* options may stand anywhere */
    if (n < 4) words[n++] = argv[first];
    argv += first, argc -= first;
    first = opt_parse(self->opts, &o, argc, argv, &e);
    if (first < 0) return command_usage(self, &e);
  }
  if (!n) return err_set(&e, ERR_USAGE, "what to do: info, head, stats, diff or csv"), command_usage(self, &e);
  return run_verb(self, &o, words[0], n - 1, words + 1);
}

#define TRACE(member) offsetof(struct trace_options, member)
static const struct opt trace_opts[] = {
    {"kernel", "N", "head, stats, csv: only that launch, from 0", OPT_UINT, TRACE(kernel), 'k', NULL},
    {"cta", "N", "head: the CTA (default 0)", OPT_UINT, TRACE(cta), 'c', NULL},
    {"warp", "N", "head: the warp in the CTA (default 0)", OPT_UINT, TRACE(warp), 'w', NULL},
    {"count", "N", "head: instructions (default 40); diff: differences (default 10)", OPT_UINT, TRACE(count), 'n',
     NULL},
    {"launches", NULL, "info: a line per launch instead of one per kernel", OPT_FLAG, TRACE(launches), 'l', NULL},
    {"keep-going", NULL, "of a damaged trace: what comes before the damage", OPT_FLAG, TRACE(keep_going), 0, NULL},
    {.name = NULL}};

const struct command cmd_trace = {
    .name = "trace",
    .summary = "look into a trace, or compare two",
    .usage = "info|head|stats|csv FILE | diff FILE FILE   [OPTIONS]",
    .help = "  info   kernels, grids, registers, sizes; how many bytes an instruction takes\n"
            "  head   what a warp did: pc, line, lanes, addresses\n"
            "  stats  instruction mix, memory by space, un-coalescing, footprint, working set per CTA\n"
            "  diff   launch by launch, the first warp and instruction in which two traces differ (exit code 1)\n"
            "  csv    the accesses to global memory as an address-only trace, on standard output\n\n"
            "Examples:\n"
            "  sluice trace info bfs.slt --launches\n"
            "  sluice trace head bfs.slt --kernel 3 --cta 7 --warp 1 -n 100\n"
            "  sluice trace stats bfs.slt\n"
            "  sluice trace diff before.slt after.slt\n",
    .opts = trace_opts,
    .run = trace_run,
};

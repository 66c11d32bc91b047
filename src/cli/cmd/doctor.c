/* doctor.c - `sluice doctor`: what this machine has and lacks, and what each lack prevents. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/frame/cli.h"
#include "cli/tables/rows.h"
#include "proc/child.h"

enum { FOUND_BYTES = PATH_MAX + 128 };

/* True if it is there; `found` then says what was found, else what is wrong where there is more to say. */
typedef bool probe(char *found, const char *names);

struct check {
  const char *part;
  bool needed;       /* without it Sluice is not whole */
  const char *use;   /* what it is for */
  const char *names; /* of programs or files, separated by blanks: the first that is there counts */
  probe *probe;
  const char *remedy;
};

/* ---- probes ---- */

/* A program by its name in PATH. */
static bool in_path(const char *name, size_t length, char *found) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {
    size_t n = strcspn(p, ":");
    struct stat st;
    snprintf(found, FOUND_BYTES, "%.*s/%.*s", (int)n, p, (int)length, name);
    if (n && n < PATH_MAX && !access(found, X_OK) && !stat(found, &st) && S_ISREG(st.st_mode)) return true;
    p += n + (p[n] == ':');
  }
  return false;
}

static bool program(char *found, const char *names) {
  for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " "))
    if (in_path(p, strcspn(p, " "), found)) return true;
  *found = 0;
  return false;
}

static bool file(char *found, const char *names) {
  bool there = !access(names, R_OK);
  snprintf(found, FOUND_BYTES, "%s", there ? names : "");
  return there;
}

static bool data(char *found, const char *names) {
  char whole[PATH_MAX];
  path_data(found, PATH_MAX);
  return path_find(whole, sizeof whole, names);
}

static bool runtime(char *found, const char *names) {
  char dir[PATH_MAX];
  path_lib(dir, sizeof dir);
  snprintf(found, FOUND_BYTES, "%s/%s", dir, names);
  return !access(found, R_OK);
}

static bool bundled(char *found, const char *names) {
  *found = 0;
  return program_bundled(names) && program_find(names, found, PATH_MAX);
}

static bool temporary(char *found, const char *names) {
  const char *dir = getenv("TMPDIR");
  struct statvfs fs;
  double bytes = 0;
  char size[32];
  if (!dir || !*dir) dir = names;
  bool good = !access(dir, W_OK | X_OK) && !statvfs(dir, &fs);
  if (good) bytes = (double)fs.f_bavail * (double)fs.f_frsize;
  cli_bytes(size, sizeof size, bytes);
  snprintf(found, FOUND_BYTES, good ? "%s, %s free" : "%s cannot be written", dir, size);
  return good && bytes >= 100e6;
}

/* The choice within brackets: "always [madvise] never". */
static bool huge_pages(char *found, const char *names) {
  size_t n;
  char *text = path_read_whole(names, &n), *open = text ? strchr(text, '[') : NULL;
  snprintf(found, FOUND_BYTES, "%.*s", open ? (int)strcspn(open + 1, "]") : 0, open ? open + 1 : "");
  free(text);
  return !strcmp(found, "always") || !strcmp(found, "madvise");
}

static bool perf(char *found, const char *names) {
  char *text = path_read_whole("/proc/sys/kernel/perf_event_paranoid", NULL);
  int level = text ? atoi(text) : -1;
  free(text);
  if (!program(found, names)) return false;
  if (level <= 2 || !geteuid()) return true;
  snprintf(found, FOUND_BYTES, "kernel.perf_event_paranoid is %d", level);
  return false;
}

static bool lanes(char *found, const char *names) {
  (void)names;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) strcpy(found, "AVX-512");
  else strcpy(found, __builtin_cpu_supports("avx2") ? "AVX2" : "SSE");
  return __builtin_cpu_supports("avx2");
#else
  strcpy(found, "portable code");
  return false;
#endif
}

static bool processors(char *found, const char *names) {
  (void)names;
  char memory[32];
  cli_bytes(memory, sizeof memory, (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
  snprintf(found, FOUND_BYTES, "%ld processors, %s memory", sysconf(_SC_NPROCESSORS_ONLN), memory);
  return true;
}

/* ---- the checks ---- */

static const struct check checks[] = {
    {"data folder", true, "everything", "configs/fermi.yaml", data, "install Sluice whole, or unset SLUICE_DATA"},
    {"CUDA runtime", true, "CUDA programs", "libcudart.so.11.0", runtime, "install Sluice whole"},
    {"bundled programs", true, "sluice demo, suites, studies", "kmeans", bundled, "install Sluice whole"},
    {"temporary files", true, "every run", "/tmp", temporary, "a folder with 100 MB in TMPDIR"},
    {"clang++ 14", false, ".cu files, sluice-cc", "clang++-14 clang++", program, "apt-get install clang-14"},
    {"libclc", false, ".cu files, sluice-cc", "/usr/lib/clc/nvptx64--nvidiacl.bc", file, "apt-get install libclc-14"},
    {"web browser", false, "HTML reports", "xdg-open firefox chromium google-chrome", program,
     "apt-get install firefox-esr, or copy the report"},
    {"node", false, "sluice paper", "node", program, "apt-get install nodejs"},
    {"rsvg-convert", false, "PDF and PNG of sluice paper", "rsvg-convert", program, "apt-get install librsvg2-bin"},
    {"Slurm", false, "sluice study --engine slurm", "sbatch", program, "on a cluster: its module"},
    {"pkg-config", false, "programs with libsluice", "pkg-config", program, "apt-get install pkgconf"},
    {"python3", false, "the Python package", "python3", program, "apt-get install python3-numpy python3-cffi-backend"},
    {"sqlite3", false, "own queries of results files", "sqlite3", program, "apt-get install sqlite3"},
    {"perf", false, "profiles of the simulator", "perf", perf, "apt-get install linux-perf; perf_event_paranoid of 2"},
    {"huge pages", false, "speed", "/sys/kernel/mm/transparent_hugepage/enabled", huge_pages,
     "as root: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled"},
    {"vector lanes", false, "speed", "", lanes, "a processor with AVX2"},
    {"machine", false, "parallel simulations", "", processors, ""},
};

struct doctor_options {
  bool csv, json;
};

static int doctor_run(const struct command *self, int argc, char **argv) {
  struct doctor_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first < argc) return err_set(&e, ERR_USAGE, "doctor takes no names"), command_usage(self, &e);
  static const char *const titles[] = {"part", "state", "used by", "found, or what to do"};
  struct table *t = table_new(titles, "llll");
  table_order(t, "..1.");
  size_t needed = 0, missing = 0, n = sizeof checks / sizeof *checks;
  for (size_t i = 0; i < n; i++) {
    char found[FOUND_BYTES] = "";
    const struct check *c = &checks[i];
    bool good = c->probe(found, c->names);
    needed += !good && c->needed;
    missing += !good;
    table_cell(t, "%s", c->part);
    table_cell(t, "%s", good ? "ok" : c->needed ? "needed" : "missing");
    table_cell(t, "%s", c->use);
    if (good) table_cell(t, "%s", found);
    else table_cell(t, "%s%s%s", found, *found ? ": " : "", c->remedy);
  }
  if (o.csv || o.json) rows_print_table(t, o.json ? DB_JSON : DB_CSV, stdout);
  else table_print(t, stdout);
  table_free(t);
  if (!o.csv && !o.json) {
    if (needed) printf("\n%zu of %zu parts are needed and missing\n", needed, n);
    else if (missing) printf("\nSluice runs here; %zu of %zu parts are missing\n", missing, n);
    else puts("\nSluice runs here; nothing is missing");
  }
  return needed ? EXIT_CHECK : EXIT_OK;
}

static const struct opt doctor_opts[] = {
    {"csv", NULL, "for programs, as comma-separated values", OPT_FLAG, offsetof(struct doctor_options, csv), 0, NULL},
    {"json", NULL, "for programs, as JSON", OPT_FLAG, offsetof(struct doctor_options, json), 'j', NULL},
    {.name = NULL}};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine lacks, and for what",
    .usage = "[--csv | --json]",
    .help = "Looks for the parts of Sluice and for the programs and settings of the machine that it can use. A part\n"
            "that is `missing` prevents only what it is used by; the last column says how to get it. The exit code is\n"
            "1 if a part is `needed`: Sluice itself is not whole.\n",
    .opts = doctor_opts,
    .run = doctor_run,
};

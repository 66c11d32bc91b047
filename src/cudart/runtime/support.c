/* support.c - prints docs/reference/cuda-support.md from calls.def: the semantics of every runtime call, and the
 * coverage of calls in real programs. `cuda-support FOOTPRINT.csv [LIBCUDA]` reads the footprint (kind, function,
 * number of programs) and, for the driver API, asks the library which functions it has.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status { WORKS, LIMITED, ANSWERS, REFUSED, STATUSES };
static const char *const words[] = {"yes", "limited", "not supported", "refused"};

struct row {
  const char *name, *doc;
  enum status status;
  unsigned long programs;
};
static struct row rows[] = {
#define CUDA_GROUP(title) {NULL, title, WORKS, 0},
#define CUDA_CALL(name, doc) {#name, doc, WORKS, 0},
#define CUDA_LIMITED(name, doc) {#name, doc, LIMITED, 0},
#define CUDA_ANSWER(name, doc) {#name, doc, ANSWERS, 0},
#define CUDA_REFUSED(name, doc) {#name, doc, REFUSED, 0},
#include "cudart/core/calls.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

struct tally {
  unsigned long calls[STATUSES + 1], programs[STATUSES + 1]; /* last: absent */
};

static void count_status(struct tally *t, int status, unsigned long programs) {
  t->calls[status]++;
  t->programs[status] += programs;
}

static struct row *row_named(const char *name) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].name && strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

static void print_tally(const char *what, const struct tally *t) {
  printf("| %s |", what);
  for (int i = 0; i <= STATUSES; i++) printf(" %lu (%lu) |", t->calls[i], t->programs[i]);
  printf("\n");
}

static void print_support(void) {
  for (int i = 0; i < ROWS; i++) {
    const struct row *r = &rows[i];
    if (!r->name) {
      printf("\n## %s\n\n| call | supported | what it does | programs |\n| --- | --- | --- | ---: |\n", r->doc);
      continue;
    }
    printf("| `%s` | %s | %s | ", r->name, words[r->status], r->doc);
    if (r->programs) printf("%lu", r->programs);
    printf(" |\n");
  }
}

/* Headers map some driver calls to a _v2 name; either one counts. */
static int driver_has(void *lib, const char *name) {
  char v2[160];
  snprintf(v2, sizeof v2, "%.150s_v2", name);
  return dlsym(lib, name) || dlsym(lib, v2);
}

int main(int argc, char **argv) {
  FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
  void *driver = argc > 2 ? dlopen(argv[2], RTLD_LAZY) : NULL;
  struct tally runtime = {0}, often = {0}, driver_calls = {0};
  char line[256], kind[32], name[128];
  unsigned long programs;
  if (!f || !driver) {
    fprintf(stderr, "usage: cuda-support FOOTPRINT.csv LIBCUDA\n");
    return 2;
  }
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%31[^,],%127[^,],%lu", kind, name, &programs) != 3) continue;
    if (strcmp(kind, "driver") == 0) {
      count_status(&driver_calls, driver_has(driver, name) ? WORKS : STATUSES, programs);
      continue;
    }
    struct row *r = row_named(name);
    if (r) r->programs = programs;
    count_status(&runtime, r ? (int)r->status : STATUSES, programs);
    if (programs >= 2) count_status(&often, r ? (int)r->status : STATUSES, programs);
  }
  fclose(f);
  printf(
      "# CUDA runtime and driver calls\n\n"
      "Generated from `src/cudart/core/calls.def` by `make docs-cuda`. A program that refers to a refused call ends "
      "before its\nsimulation. A test compares this table with the exports of the libraries.\n\n"
      "Coverage of the calls of real programs (`tests/cuda/api_footprint.csv`; in parentheses the sum over calls of\n"
      "their programs):\n\n"
      "| calls | yes | limited | not supported | refused | missing |\n| --- | --- | --- | --- | --- | --- |\n");
  print_tally("runtime, all in the list", &runtime);
  print_tally("runtime, made by at least two programs", &often);
  print_tally("driver", &driver_calls);
  print_support();
  printf("\n## Driver API\n\n`libcuda.so.1` serves programs that load PTX themselves: initialisation, devices, "
         "contexts (one "
         "per process), modules from\nPTX text or fat binaries, linking of PTX, launches, memory, copies, arrays, "
         "texture and "
         "surface objects, streams, events,\noccupancy. It refuses machine code. `cuGetExportTable`, a call of "
         "NVIDIA's own "
         "runtime, ends the program with the remedy.\n\n"
         "## Programs with NVIDIA's runtime inside\n\nnvcc links the runtime statically by default. `sluice run` then "
         "writes "
         "jumps to our functions over it before the program starts\n(`src/cudart/hook/static_hook.c`), in the program "
         "and its "
         "libraries. This needs their symbol tables: link a stripped program,\nor a library that is opened later, with "
         "`-cudart shared`.\n");
  return runtime.calls[STATUSES] || driver_calls.calls[STATUSES];
}

/* search.c - libFuzzer target: any text as an outcome in the cache of searches. A valid outcome selects among three
 * and is the same after storing and reading it; anything else is simulated again.
 *
 * Build, with the reader instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/search.c \
 *     src/results/record_read.c src/base/{input,paths}.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib \
 *     -ljansson -lm -o search
 * Run: ./search found fuzz/corpus/search
 */
#include "../src/cli/run/search.c"

#include <math.h>
#include <sys/mman.h>

/* What would simulate is linked to nothing, and never called. */
#define NEVER(f) __asm__(".text\n.globl " #f "\n" #f ":\n  ud2\n");
NEVER(sim_apply_sets)
NEVER(program_find)
NEVER(exit_code_of)
NEVER(compare_argv)
NEVER(command_text)
NEVER(jobs_run)
NEVER(job_print_log)
NEVER(tempdir_file)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char key[] = "swl:warps=8 | 0123456789abcdef fermi all 0 ./bfs";

static json_t *known(const char *path) {
  struct point p = {.key = key, .file = path};
  recall(&p);
  return p.totals;
}

/* The outcome among others of its search. */
static void choose_with(json_t *totals, struct arena *a) {
  struct search s = {.list = "swl-best", .tried = scheme_sweep_count("swl-best")};
  struct plan p = {.a = a, .at = ARENA_ARRAY(a, struct point, s.tried), .count = s.tried};
  json_t *other = json_pack("{s:f}", "ipc", 1.0);
  for (uint32_t i = 0; i < s.tried; i++)
    p.at[i] = (struct point){.of = &s, .index = i, .list = "one", .totals = i == 1 ? totals : other};
  choose_points(&p);
  if (!s.chosen || s.best >= s.tried || s.ipc[s.best] < 1) abort();
  json_decref(search_json(&s));
  search_free(&s);
  json_decref(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64], again[64];
  int fd = memfd_create("search", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  json_t *first = known(path), *second = known(path);
  if (!first != !second || (first && !json_equal(first, second))) abort();
  json_decref(second);
  if (first) {
    struct arena a = {0};
    choose_with(first, &a);
    arena_free(&a);
    snprintf(again, sizeof again, "/dev/shm/sluice-fuzz-%d.json", (int)getpid());
    struct point p = {.key = key, .file = again, .totals = first};
    remember(&p);
    second = known(again);
    if (!json_equal(first, second)) abort();
    json_decref(second);
    unlink(again);
  }
  json_decref(first);
  close(fd);
  return 0;
}

/* launch.c - libFuzzer target: any text as a launch file of three small kernels; the buffers, arguments and sizes that
 * a launch would get, and the outputs, are the same twice. The launch itself is left out: repeats and grids may be as
 * large as they like.
 *
 * Build, with the reader instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/launch.c \
 *     src/base/{input,yamltext}.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib \
 *     -lyaml -lm -o launch
 * Run: ./launch found fuzz/corpus/launch
 */
#include <sys/mman.h>

#include "base/hash.h"
#include "simt/simt.h"

/* What would simulate is linked to nothing, and never called. */
#define NEVER(f) __asm__(".text\n.globl " #f "\n" #f ":\n  ud2\n");
NEVER(sim_session_options)
NEVER(child_run)
NEVER(tempdir_make)
NEVER(tempdir_file)
NEVER(tempdir_remove)

static struct simt *machine;
static uint64_t launched;

/* The session is minimal: a machine alone. */
#define session_simt fuzz_simt
#define session_launch fuzz_launch
#include "../src/cli/run/launchfile.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) { ret; }\n"
                          ".visible .entry none() { ret; }\n"
                          ".visible .entry odd(.param .u8 a, .param .s16 b, .param .f64 c, .param .align 4 .b8 d[12])"
                          " { ret; }\n";

static uint64_t digested;

struct simt *fuzz_simt(struct session *s) {
  (void)s;
  return machine;
}

bool fuzz_launch(struct session *s, const struct simt_launch *l, int *code, struct err *e) {
  const struct simt_kernel_info *k = simt_kernel_info(l->kernel);
  (void)s, (void)e;
  *code = 0;
  if (launched++) return true; /* all of them are alike */
  digested = hash_bytes(digested, l->grid, sizeof l->grid);
  digested = hash_bytes(digested, l->block, sizeof l->block);
  digested = hash_bytes(digested, l->params, k->param_block_bytes) ^ l->dynamic_shared;
  return true;
}

static uint64_t digest(const char *path) {
  struct err e = {0};
  unsigned wrong = 0;
  struct launch_file *l = calloc(1, sizeof *l);
  struct simt_text t = {.ptx = ptx, .name = "fuzz.ptx"};
  machine = simt_new(1 << 20, &e);
  struct simt_module *m = machine ? simt_load(machine, &t, 1, &e) : NULL;
  if (!l || !m) abort();
  *l = (struct launch_file){.path = path, .e = &e};
  digested = HASH_INIT;
  launched = 0;
  bool ok = with_document(l, m, &wrong);
  if (!ok && (!e.code || !*e.msg)) abort();
  for (size_t i = 0; i < l->buffer_count; i++) {
    uint64_t bytes = l->buffers[i].count * elem_bytes[l->buffers[i].type];
    digested = hash_bytes(digested, simt_mem_at(machine, l->buffers[i].address, bytes), bytes);
  }
  simt_free(machine);
  free(l);
  return hash_bytes(digested, e.msg, strlen(e.msg)) + wrong;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool quiet;
  char path[64];
  if (!quiet && !freopen("/dev/null", "w", stdout)) abort();
  quiet = true;
  int fd = memfd_create("launch", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (digest(path) != digest(path)) abort();
  close(fd);
  return 0;
}

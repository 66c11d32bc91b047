/* record.c - a library to preload: writes each launch of a CUDA program to $SASS_OUT/N.launch (launch.c reads it).
 *
 * Sizes of parameters come from the kernel file $SASS_KERNELS. Memory is that of cudaMalloc, cudaMallocPitch,
 * cudaMallocManaged and __device__ variables. Launches after the first $SASS_MOST are not written.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, TO_HOST = 2 };

struct size3 {
  unsigned x, y, z;
};
static struct {
  char *address;
  size_t bytes;
} region[MOST];
static unsigned regions;
static struct {
  const void *host;
  const char *name;
} function[MOST];
static unsigned functions;
static struct {
  const void *host;
  const char *name;
  size_t bytes;
  bool constant;
} variable[MOST];
static unsigned variables, launches;

static void fail(const char *what, const char *name) {
  fprintf(stderr, "record: %s %s\n", what, name);
  exit(1);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int copy_out(void *to, const void *from, size_t bytes) {
  int (*copy)(void *, const void *, size_t, int) =
      (int (*)(void *, const void *, size_t, int))dlsym(RTLD_NEXT, "cudaMemcpy");
  return copy(to, from, bytes, TO_HOST);
}

static void add_region(void *address, size_t bytes) {
  if (regions == MOST) fail("too many", "allocations");
  region[regions].address = address;
  region[regions++].bytes = bytes;
}

/* ---- what the program registers and allocates ---- */

void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *size) {
  if (functions < MOST) {
    function[functions].host = host;
    function[functions++].name = name;
  }
  NEXT(__cudaRegisterFunction)(module, host, device, name, limit, tid, bid, block, grid, size);
}

void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global) {
  if (variables < MOST) {
    variable[variables].host = host;
    variable[variables].name = name;
    variable[variables].bytes = bytes;
    variable[variables++].constant = constant;
  }
  NEXT(__cudaRegisterVar)(module, host, device, name, ext, bytes, constant, global);
}

int cudaMalloc(void **at, size_t bytes) {
  int e = NEXT(cudaMalloc)(at, bytes);
  if (!e && bytes) add_region(*at, bytes);
  return e;
}

int cudaMallocManaged(void **at, size_t bytes, unsigned flags) {
  int e = NEXT(cudaMallocManaged)(at, bytes, flags);
  if (!e && bytes) add_region(*at, bytes);
  return e;
}

int cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height) {
  int e = NEXT(cudaMallocPitch)(at, pitch, width, height);
  if (!e) add_region(*at, *pitch * height);
  return e;
}

int cudaFree(void *at) {
  for (unsigned r = 0; r < regions; r++)
    if (region[r].address == at) region[r--] = region[--regions];
  return NEXT(cudaFree)(at);
}

/* ---- launches ---- */

static void write_hex(FILE *f, const void *from, size_t bytes) {
  for (size_t n = 0; n < bytes; n++) fprintf(f, "%02x", ((const uint8_t *)from)[n]);
  fputc('\n', f);
}

static void write_arguments(FILE *f, const char *name, void **args) {
  const char *path = getenv("SASS_KERNELS");
  FILE *k = path ? fopen(path, "r") : NULL;
  char *line = NULL;
  size_t room = 0;
  bool inside = false;
  unsigned at, bytes, n = 0;
  if (!k) fail("cannot read $SASS_KERNELS,", path ? path : "not set");
  while (getline(&line, &room, k) > 0) {
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "kernel ", 7)) inside = !strcmp(line + 7, name);
    if (!inside || sscanf(line, "param %u %u", &at, &bytes) != 2) continue;
    fprintf(f, "param ");
    write_hex(f, args[n++], bytes);
  }
  free(line);
  fclose(k);
}

/* Constants, and the places of __device__ variables, which are regions while the launch is written. */
static void write_variables(FILE *f) {
  int (*place)(void **, const void *) = (int (*)(void **, const void *))dlsym(RTLD_NEXT, "cudaGetSymbolAddress");
  int (*copy)(void *, const void *, size_t, size_t, int) =
      (int (*)(void *, const void *, size_t, size_t, int))dlsym(RTLD_NEXT, "cudaMemcpyFromSymbol");
  for (unsigned v = 0; v < variables; v++) {
    void *at;
    if (variable[v].constant) {
      void *bytes = malloc(variable[v].bytes);
      if (copy(bytes, variable[v].host, variable[v].bytes, 0, TO_HOST)) fail("cannot read", variable[v].name);
      fprintf(f, "constant %s ", variable[v].name);
      write_hex(f, bytes, variable[v].bytes);
      free(bytes);
    } else if (!place(&at, variable[v].host)) {
      fprintf(f, "global %s %llx\n", variable[v].name, (unsigned long long)(uintptr_t)at);
      add_region(at, variable[v].bytes);
    }
  }
}

static void write_regions(FILE *f, unsigned n) {
  for (unsigned r = 0; r < n; r++) {
    void *bytes = malloc(region[r].bytes);
    if (copy_out(bytes, region[r].address, region[r].bytes)) fail("cannot copy", "memory");
    fwrite(bytes, 1, region[r].bytes, f);
    free(bytes);
  }
}

static FILE *begin(const char *name, struct size3 grid, struct size3 block, void **args, size_t shared) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%04u.launch", getenv("SASS_OUT"), ++launches);
  FILE *f = fopen(path, "wb");
  if (!f) fail("cannot write", path);
  fprintf(f, "kernel %s\ngrid %u %u %u\nblock %u %u %u\ndynamic %zu\n", name, grid.x, grid.y, grid.z, block.x, block.y,
          block.z, shared);
  write_arguments(f, name, args);
  return f;
}

int cudaLaunchKernel(const void *host, struct size3 grid, struct size3 block, void **args, size_t shared,
                     void *stream) {
  int (*wait)(void) = (int (*)(void))dlsym(RTLD_NEXT, "cudaDeviceSynchronize");
  const char *name = NULL, *most = getenv("SASS_MOST");
  for (unsigned n = 0; n < functions; n++)
    if (function[n].host == host) name = function[n].name;
  if (!name || !getenv("SASS_OUT") || (most && launches >= (unsigned)atoi(most)))
    return NEXT(cudaLaunchKernel)(host, grid, block, args, shared, stream);
  unsigned before = regions;
  FILE *f = begin(name, grid, block, args, shared);
  wait();
  write_variables(f);
  unsigned all = regions;
  for (unsigned r = 0; r < all; r++)
    fprintf(f, "region %llx %zu\n", (unsigned long long)(uintptr_t)region[r].address, region[r].bytes);
  fprintf(f, "data\n");
  write_regions(f, all);
  int e = NEXT(cudaLaunchKernel)(host, grid, block, args, shared, stream);
  wait();
  write_regions(f, all);
  regions = before;
  if (fclose(f)) fail("cannot write", "a launch");
  return e;
}

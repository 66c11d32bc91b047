/* launch.c - launch files (record.c writes them): arguments, and global memory before and after. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sass.h"

static unsigned hex_bytes(uint8_t *to, unsigned room, const char *p) {
  unsigned n = 0;
  for (unsigned v; sscanf(p, "%2x", &v) == 1; p += 2) {
    if (n == room) die("over %u bytes in a launch file", room);
    to[n++] = (uint8_t)v;
  }
  return n;
}

static const struct symbol *symbol_of(const struct kernel *k, const char *name, unsigned bank) {
  for (unsigned s = 0; s < k->symbols; s++)
    if (k->symbol[s].bank == bank && !strcmp(k->symbol[s].name, name)) return &k->symbol[s];
  return NULL;
}

static void launch_line(struct launch *l, struct kernel *k, unsigned *param, char *line) {
  char name[256];
  unsigned long long address, bytes;
  int at;
  if (sscanf(line, "grid %u %u %u", &l->grid[0], &l->grid[1], &l->grid[2]) == 3 ||
      sscanf(line, "block %u %u %u", &l->block[0], &l->block[1], &l->block[2]) == 3 ||
      sscanf(line, "dynamic %u", &l->dynamic) == 1)
    return;
  if (sscanf(line, "region %llx %llu", &address, &bytes) == 2) {
    l->region = realloc(l->region, (l->regions + 1) * sizeof *l->region);
    l->region[l->regions++] = (struct region){.address = address, .bytes = bytes};
  } else if (!strncmp(line, "param ", 6)) {
    if (*param >= k->params) die("%s has more arguments than parameters", k->name);
    unsigned to = PARAM_AT + k->param[*param].at, n = hex_bytes(k->bank[0] + to, BANK_BYTES - to, line + 6);
    if (n != k->param[(*param)++].bytes) die("an argument of %u bytes", n);
  } else if (sscanf(line, "constant %255s %n", name, &at) == 1) {
    const struct symbol *s = symbol_of(k, name, 3);
    if (s) hex_bytes(k->bank[3] + s->at, BANK_BYTES - s->at, line + at);
  } else if (sscanf(line, "global %255s %llx", name, &address) == 2) {
    const struct symbol *s = symbol_of(k, name, 4);
    if (s) memcpy(k->bank[4] + s->at, &address, sizeof address);
  } else {
    die("'%.100s' in a launch file", line);
  }
}

static void machine_words(struct launch *l, struct kernel *k) {
  uint32_t stack = (k->local + 15) / 16 * 16;
  memcpy(k->bank[0], l->block, sizeof l->block);
  memcpy(k->bank[0] + 0xc, l->grid, sizeof l->grid);
  memcpy(k->bank[0] + 0x28, &stack, sizeof stack);
  l->stack = stack;
}

static void read_memory(struct launch *l, FILE *f) {
  for (int after = 0; after < 2; after++)
    for (unsigned r = 0; r < l->regions; r++) {
      struct region *g = &l->region[r];
      uint8_t *to = malloc(g->bytes ? g->bytes : 1);
      if (fread(to, 1, g->bytes, f) != g->bytes) die("a launch file ends in the memory %s", after ? "after" : "before");
      *(after ? &g->after : &g->data) = to;
    }
}

static int by_address(const void *a, const void *b) {
  uint64_t x = ((const struct region *)a)->address, y = ((const struct region *)b)->address;
  return x < y ? -1 : x > y;
}

void launch_read(struct launch *l, struct kernel *k, const char *path, const char *kernels) {
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t room = 0;
  unsigned param = 0;
  if (!f) die("cannot read %s", path);
  *l = (struct launch){0};
  while (getline(&line, &room, f) > 0 && strcmp(line, "data\n")) {
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "kernel %1023s", l->kernel) == 1) kernel_read(k, kernels, l->kernel);
    else if (!*l->kernel) die("%s does not begin with a kernel", path);
    else launch_line(l, k, &param, line);
  }
  if (param != k->params) die("%u arguments of %s, which has %u parameters", param, k->name, k->params);
  read_memory(l, f);
  qsort(l->region, l->regions, sizeof *l->region, by_address);
  machine_words(l, k);
  free(line);
  fclose(f);
}

uint8_t *launch_at(struct launch *l, uint64_t address, unsigned bytes) {
  unsigned low = 0, high = l->regions;
  while (low < high) {
    unsigned mid = (low + high) / 2;
    if (l->region[mid].address <= address) low = mid + 1;
    else high = mid;
  }
  if (!low) return NULL;
  struct region *g = &l->region[low - 1];
  return address + bytes > g->address + g->bytes ? NULL : g->data + (address - g->address);
}

/* ---- after the launch ---- */

static bool close_to(double a, double b, double tolerance) {
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * (fabs(a) + fabs(b));
}

/* The same as a word, as a float, or as the double that holds it. */
static bool same_word(const struct region *g, uint64_t at, double tolerance) {
  float a, b;
  double c, d;
  if (!memcmp(g->data + at, g->after + at, 4)) return true;
  memcpy(&a, g->data + at, 4);
  memcpy(&b, g->after + at, 4);
  uint64_t pair = at & ~7ull;
  if (close_to((double)a, (double)b, tolerance) && fabsf(a) > 1e-30f && fabsf(a) < 1e30f) return true;
  if (pair + 8 > g->bytes) return false;
  memcpy(&c, g->data + pair, 8);
  memcpy(&d, g->after + pair, 8);
  return close_to(c, d, tolerance) && fabs(c) > 1e-30 && fabs(c) < 1e30;
}

uint64_t launch_compare(const struct launch *l, double tolerance) {
  uint64_t wrong = 0;
  for (unsigned r = 0; r < l->regions; r++) {
    const struct region *g = &l->region[r];
    uint64_t words = g->bytes & ~3ull;
    for (uint64_t at = 0; at < words; at += 4)
      if (!same_word(g, at, tolerance) && wrong++ < 5) {
        uint32_t a, b;
        memcpy(&a, g->data + at, 4);
        memcpy(&b, g->after + at, 4);
        fprintf(stderr, "%s: %llx is %08x, not %08x\n", l->kernel, (unsigned long long)(g->address + at), a, b);
      }
    for (uint64_t at = words; at < g->bytes; at++) wrong += g->data[at] != g->after[at];
  }
  return wrong;
}

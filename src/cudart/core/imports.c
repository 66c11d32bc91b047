/* imports.c - finds the CUDA calls of a program that Sluice does not support.
 *
 * The dynamic symbol tables of all loaded objects are read in memory before the first simulation. With lazy binding a
 * missing function would otherwise end the program with the loader's "symbol lookup error", hours into a run.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/imports.h"
#include "cudart/core/context.h"

const struct cudart_refusal cudart_refusals[] = {
#define CUDA_GROUP(title)
#define CUDA_CALL(name, doc)
#define CUDA_LIMITED(name, doc)
#define CUDA_ANSWER(name, doc)
#define CUDA_REFUSED(name, why) {#name, why},
#include "cudart/core/calls.def"
};
const uint32_t cudart_refusal_count = sizeof cudart_refusals / sizeof *cudart_refusals;

struct found {
  char text[1500];
  size_t at;
  uint32_t count;
};

static const char *refusal(const char *name) {
  for (uint32_t i = 0; i < cudart_refusal_count; i++)
    if (strcmp(cudart_refusals[i].call, name) == 0) return cudart_refusals[i].why;
  return NULL;
}

static bool looks_like_cuda(const char *name) {
  if (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0) return true;
  return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static void consider(struct found *f, const char *object, const char *name) {
  if (!looks_like_cuda(name)) return;
  const char *why = refusal(name);
  if (!why && dlsym(RTLD_DEFAULT, name)) return;
  if (!why) why = "no such function in Sluice's runtime";
  f->count++;
  if (f->at < sizeof f->text - 256)
    f->at += (size_t)snprintf(f->text + f->at, sizeof f->text - f->at, "%s  %.80s (used by %.60s): %s",
                              f->at ? "\n" : "", name, object, why);
}

/* The parts of an object's dynamic section that lead to its undefined symbols. The number of symbols is not stored;
 * but every called undefined function has a relocation. */
struct object {
  const ElfW(Sym) * symbols;
  const char *names;
  const ElfW(Rela) * rela[2];
  size_t bytes[2];
};

static struct object read_dynamic(const struct dl_phdr_info *info) {
  struct object o = {0};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++) {
      if (d->d_tag == DT_RELASZ) o.bytes[0] = d->d_un.d_val;
      if (d->d_tag == DT_PLTRELSZ) o.bytes[1] = d->d_un.d_val;
      if (d->d_un.d_ptr < info->dlpi_addr) continue; /* not relocated by the loader: the vDSO */
      const void *p = (const void *)d->d_un.d_ptr;
      if (d->d_tag == DT_SYMTAB) o.symbols = p;
      if (d->d_tag == DT_STRTAB) o.names = p;
      if (d->d_tag == DT_RELA) o.rela[0] = p;
      if (d->d_tag == DT_JMPREL) o.rela[1] = p;
    }
  }
  return o;
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *ctx) {
  (void)size;
  const char *path = *info->dlpi_name ? info->dlpi_name : cudart_program();
  const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (strncmp(base, "libsluice", 9) == 0 || strncmp(base, "libcuda.so", 10) == 0 ||
      strncmp(base, "libcudart.so", 12) == 0)
    return 0;
  struct object o = read_dynamic(info);
  if (!o.symbols || !o.names) return 0;
  struct ptrmap seen = {0};
  for (int t = 0; t < 2; t++)
    for (size_t i = 0; o.rela[t] && i < o.bytes[t] / sizeof *o.rela[t]; i++) {
      uint64_t index = ELF64_R_SYM(o.rela[t][i].r_info);
      const ElfW(Sym) *s = &o.symbols[index];
      if (!index || s->st_shndx != SHN_UNDEF || ELF64_ST_BIND(s->st_info) == STB_WEAK) continue;
      if (ptrmap_get(&seen, index)) continue;
      ptrmap_put(&seen, index, (void *)s);
      consider(ctx, base, o.names + s->st_name);
    }
  ptrmap_free(&seen);
  return 0;
}

void cudart_scan_imports(struct cudart *c) {
  if (c->scanned || getenv("SLUICE_ALLOW_REFUSED")) return;
  c->scanned = true;
  struct found f = {.at = 0};
  dl_iterate_phdr(visit_library, &f);
  if (!f.count) return;
  struct err e;
  err_set(&e, ERR_UNSUPPORTED,
          "%s refers to %u CUDA call%s that Sluice does not simulate:\n%s\n"
          "  (SLUICE_ALLOW_REFUSED=1 runs it all the same; such a call then returns an error)",
          cudart_program(), f.count, f.count == 1 ? "" : "s", f.text);
  cudart_die(c, &e);
}

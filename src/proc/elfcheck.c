/* elfcheck.c - reads from a program's ELF file why it did not reach the CUDA runtime. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "proc/child.h"

struct facts {
  char cudart[64]; /* NEEDED libcudart, empty if none */
  char rpath[512];
  bool has_runpath, dynamic;
  bool defines_runtime; /* its own symbol table has cudaLaunchKernel */
  bool opens_driver;    /* it names libcuda.so.1 in its data, as the static runtime does */
  bool needs_driver;    /* NEEDED libcuda.so.1: driver API */
  bool needs_compiler;  /* NEEDED libnvrtc.so */
};

/* A bundled workload by its bare name: the folder beside lib/. */
static bool find_workload(const char *name, char *out, size_t size) {
  char lib[PATH_MAX];
  path_lib(lib, sizeof lib);
  char *slash = strrchr(lib, '/');
  if (slash) *slash = 0;
  return (size_t)snprintf(out, size, "%s/workloads/%s", lib, name) < size && access(out, X_OK) == 0;
}

bool program_bundled(const char *program) {
  char path[PATH_MAX], bundled[PATH_MAX], real[PATH_MAX];
  const char *slash = strrchr(program, '/');
  if (!find_workload(slash ? slash + 1 : program, bundled, sizeof bundled)) return false;
  if (!program_find(program, path, sizeof path) || !realpath(path, real)) return false;
  char *other = realpath(bundled, path);
  return other && !strcmp(real, other);
}

bool program_find(const char *program, char *out, size_t size) {
  if (strchr(program, '/')) {
    snprintf(out, size, "%s", program);
    return access(program, X_OK) == 0;
  }
  if (find_workload(program, out, size)) return true; /* before PATH: cp, ss and sp are also workloads */
  const char *path = getenv("PATH");
  for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
    size_t n = strcspn(p, ":");
    snprintf(out, size, "%.*s/%s", (int)n, p, program);
    if (n && access(out, X_OK) == 0) return true;
    p += n + (p[n] == ':');
  }
  return false;
}

static void read_dynamic(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct facts *f) {
  Elf_Data *data = elf_getdata(scn, NULL);
  f->dynamic = true;
  for (size_t i = 0; data && sh->sh_entsize && i < sh->sh_size / sh->sh_entsize; i++) {
    GElf_Dyn dyn;
    if (!gelf_getdyn(data, (int)i, &dyn)) break;
    const char *s = elf_strptr(elf, sh->sh_link, dyn.d_un.d_val);
    if (dyn.d_tag == DT_RUNPATH) f->has_runpath = true;
    if (dyn.d_tag == DT_RPATH && s) snprintf(f->rpath, sizeof f->rpath, "%s", s);
    if (dyn.d_tag != DT_NEEDED || !s) continue;
    if (strstr(s, "libcudart.so")) snprintf(f->cudart, sizeof f->cudart, "%s", s);
    if (strstr(s, "libcuda.so")) f->needs_driver = true;
    if (strstr(s, "libnvrtc.so")) f->needs_compiler = true;
  }
}

static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct facts *f) {
  Elf_Data *data = elf_getdata(scn, NULL);
  for (size_t i = 0; data && sh->sh_entsize && i < sh->sh_size / sh->sh_entsize; i++) {
    GElf_Sym sym;
    if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF) continue;
    const char *s = elf_strptr(elf, sh->sh_link, sym.st_name);
    if (s && (!strncmp(s, "cudaLaunchKernel", 16) || !strcmp(s, "__cudaRegisterFatBinary"))) f->defines_runtime = true;
  }
}

/* All facts of a diagnosis, or only those of the dynamic section, which every run reads. */
static bool read_facts(const char *path, struct facts *f, bool all) {
  *f = (struct facts){0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  bool ok = elf && elf_kind(elf) == ELF_K_ELF;
  for (Elf_Scn *scn = NULL; ok && (scn = elf_nextscn(elf, scn));) {
    GElf_Shdr sh;
    if (!gelf_getshdr(scn, &sh)) continue;
    if (sh.sh_type == SHT_DYNAMIC) read_dynamic(elf, scn, &sh, f);
    if (!all) continue;
    if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) read_symbols(elf, scn, &sh, f);
    if (sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_ALLOC) || sh.sh_flags & SHF_EXECINSTR) continue;
    Elf_Data *data = elf_getdata(scn, NULL);
    if (data && data->d_buf && memmem(data->d_buf, data->d_size, "libcuda.so.1", 12)) f->opens_driver = true;
  }
  if (elf) elf_end(elf);
  close(fd);
  return ok;
}

bool elf_needs_hook(const char *program) {
  struct facts f;
  if (!read_facts(program, &f, false)) return true; /* a script may start a CUDA program */
  return !*f.cudart || (*f.rpath && !f.has_runpath) || f.needs_compiler;
}

void elf_diagnose(const char *program, struct diagnosis *d) {
  struct facts f;
  char path[PATH_MAX], lib[PATH_MAX], ours[PATH_MAX + 128];
  *d = (struct diagnosis){0};
  if (!program_find(program, path, sizeof path) || !read_facts(path, &f, true)) {
    snprintf(
        d->text, sizeof d->text,
        "'%.300s' is not an ELF program (a script?) and nothing that it started reached our CUDA runtime; nothing was "
        "simulated. Name the CUDA program itself after `--`.",
        program);
    return;
  }
  d->certain = true;
  path_lib(lib, sizeof lib);
  snprintf(ours, sizeof ours, "%s/%s", lib, f.cudart);
  if (!*f.cudart && f.defines_runtime && f.dynamic) {
    d->certain = false;
    snprintf(d->text, sizeof d->text,
             "'%.300s' carries the CUDA runtime inside, which Sluice replaces, but ended before it made a CUDA call.",
             program);
  } else if (!*f.cudart && (f.defines_runtime || f.opens_driver)) {
    snprintf(d->text, sizeof d->text,
             "'%.300s' contains NVIDIA's CUDA runtime and %s, so Sluice's cannot replace it; %s "
             "`nvcc -cudart shared`, or set NVCC_APPEND_FLAGS=\"-cudart shared\" and make it again.",
             program, f.dynamic ? "its symbol table was stripped" : "is linked without shared libraries",
             f.dynamic ? "leave the symbols in it, or link it with" : "link it with");
  } else if (!*f.cudart && f.needs_driver) {
    snprintf(d->text, sizeof d->text,
             "'%.300s' uses the CUDA driver API (libcuda) without the CUDA runtime; Sluice stands in for the runtime "
             "(libcudart) only, so build it against the runtime API.",
             program);
  } else if (!*f.cudart) {
    d->certain = f.dynamic == false; /* a library that it loads can still use CUDA */
    snprintf(d->text, sizeof d->text,
             "'%.300s' does not use CUDA (no libcudart among its libraries); nothing was simulated. If it starts the "
             "CUDA program "
             "itself, name that one after `--`.",
             program);
  } else if (access(ours, R_OK)) {
    snprintf(d->text, sizeof d->text,
             "'%.300s' needs %s, a version of the CUDA runtime that Sluice does not provide; rebuild it with CUDA 11, "
             "12 or 13.",
             program, f.cudart);
  } else if (*f.rpath && !f.has_runpath) {
    snprintf(d->text, sizeof d->text,
             "'%.300s' has the RPATH %s, which the loader searches before our libraries; remove it with `patchelf "
             "--remove-rpath "
             "%.300s` or link with -Wl,--enable-new-dtags.",
             program, f.rpath, program);
  } else {
    d->certain = false;
    snprintf(
        d->text, sizeof d->text,
        "'%.300s' needs %s but ended before it reached Sluice's: it made no CUDA call, or another copy was loaded (is "
        "LD_PRELOAD "
        "set, or the program set-uid?).",
        program, f.cudart);
  }
}

/* static_hook.c - lets a program with a static CUDA runtime (nvcc's default, -cudart static) use Sluice's.
 *
 * `sluice run` preloads this library. Before the program starts, it finds objects that define the runtime's functions
 * and have a symbol table, loads Sluice's runtime of the same major version, and overwrites the start of each function
 * with a jump to Sluice's. The layouts of structures differ between major versions, so the version is read from the
 * program: from the constant that its cudaRuntimeGetVersion stores, else from the calls that came or went with a
 * version.
 *
 * This file is self-contained: it is loaded into every process that a script starts under `sluice run`, so it must be
 * cheap and need only the C library.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { JUMP_BYTES = 5, SLOT_BYTES = 16, NEAR_STEP = 1 << 20, NEAR_TRIES = 1500, MOST_OBJECTS = 256 };

struct object {
  const char *path;
  uintptr_t bias, low, high; /* of its loaded segments */
  const uint8_t *file;
  size_t bytes;
  const ElfW(Sym) * symbols;
  size_t count;
  const char *names;
  size_t names_bytes;
};

struct place {
  uint8_t *next, *end; /* slots within reach of a 32-bit displacement of the object's code */
};

/* ---- finding the functions ---- */

static bool read_symbol_table(struct object *o, uint32_t type) {
  const ElfW(Ehdr) *h = (const void *)o->file;
  if (o->bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  if (h->e_shentsize != sizeof(ElfW(Shdr)) || h->e_shoff > o->bytes ||
      h->e_shnum > (o->bytes - h->e_shoff) / sizeof(ElfW(Shdr)))
    return false;
  const ElfW(Shdr) *s = (const void *)(o->file + h->e_shoff);
  for (uint32_t i = 0; i < h->e_shnum; i++) {
    if (s[i].sh_type != type || s[i].sh_link >= h->e_shnum) continue;
    const ElfW(Shdr) *n = &s[s[i].sh_link];
    if (s[i].sh_offset > o->bytes || s[i].sh_size > o->bytes - s[i].sh_offset) continue;
    if (n->sh_offset > o->bytes || n->sh_size > o->bytes - n->sh_offset || !n->sh_size) continue;
    o->symbols = (const void *)(o->file + s[i].sh_offset);
    o->count = s[i].sh_size / sizeof *o->symbols;
    o->names = (const char *)o->file + n->sh_offset;
    o->names_bytes = n->sh_size;
    return o->names[o->names_bytes - 1] == 0;
  }
  return false;
}

/* The name if symbol `i` is a function that the object defines, else NULL. */
static const char *function_name(const struct object *o, size_t i) {
  const ElfW(Sym) *s = &o->symbols[i];
  if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_size < JUMP_BYTES) return NULL;
  if (s->st_name >= o->names_bytes || s->st_value + o->bias < o->low) return NULL;
  return s->st_value + s->st_size + o->bias <= o->high ? o->names + s->st_name : NULL;
}

static const ElfW(Sym) * find_function(const struct object *o, const char *name) {
  for (size_t i = 0; i < o->count; i++) {
    const char *n = function_name(o, i);
    if (n && strcmp(n, name) == 0) return &o->symbols[i];
  }
  return NULL;
}

/* The hidden calls of the runtime, without the functions that the compiler emits into each object to call them. */
static bool hidden_call(const char *name) {
  static const char *const hidden[] = {"__cudaRegisterFatBinary",    "__cudaRegisterFatBinaryEnd",
                                       "__cudaUnregisterFatBinary",  "__cudaInitModule",
                                       "__cudaRegisterFunction",     "__cudaRegisterVar",
                                       "__cudaRegisterManagedVar",   "__cudaRegisterHostVar",
                                       "__cudaRegisterTexture",      "__cudaRegisterSurface",
                                       "__cudaRegisterShared",       "__cudaRegisterSharedVar",
                                       "__cudaRegisterUnifiedTable", "__cudaPushCallConfiguration",
                                       "__cudaPopCallConfiguration", "__cudaGetKernel",
                                       "__cudaLaunchKernel",         "__cudaLaunchKernel_ptsz"};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (strcmp(name, hidden[i]) == 0) return true;
  return false;
}

static bool named_like_a_call(const char *name) {
  return strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
}

static bool known_call(const char *name) {
  static const char *const calls[] = {
#define CUDA_GROUP(title)
#define CUDA_CALL(name, doc) #name,
#define CUDA_LIMITED(name, doc) #name,
#define CUDA_ANSWER(name, doc) #name,
#define CUDA_REFUSED(name, why) #name,
#include "cudart/core/calls.def"
  };
  if (!named_like_a_call(name)) return false;
  size_t n = strlen(name);
  if (n > 5 && (strcmp(name + n - 5, "_ptsz") == 0 || strcmp(name + n - 5, "_ptds") == 0)) n -= 5;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strncmp(name, calls[i], n) == 0 && !calls[i][n]) return true;
  return false;
}

/* ---- the version ---- */

/* `movl $version, (register)`: a store of 9020, 13000 and the like. */
static int version_stored(const struct object *o, uintptr_t at, size_t bytes) {
  for (uintptr_t p = at; p + 6 <= at + bytes && p + 6 <= o->high; p++) {
    const uint8_t *c = (const void *)p;
    int32_t v;
    memcpy(&v, c + 2, sizeof v);
    if (c[0] == 0xc7 && c[1] < 8 && c[1] != 4 && c[1] != 5 && v >= 9000 && v < 15000 && v % 10 == 0) return v;
  }
  return 0;
}

static int runtime_major(const struct object *o) {
  const ElfW(Sym) *f = find_function(o, "cudaRuntimeGetVersion");
  uintptr_t at = f ? o->bias + f->st_value : 0;
  int v = f ? version_stored(o, at, f->st_size) : 0;
  for (size_t i = 0; f && !v && i + 5 <= f->st_size; i++) { /* or in a function that it calls */
    const uint8_t *c = (const void *)(at + i);
    int32_t d;
    memcpy(&d, c + 1, sizeof d);
    uintptr_t target = at + i + 5 + (uintptr_t)(intptr_t)d;
    if ((*c == 0xe8 || *c == 0xe9) && target >= o->low && target + 64 <= o->high) v = version_stored(o, target, 64);
  }
  if (v) return v / 1000;
  if (find_function(o, "cudaMemGetDefaultMemPool")) return 13;
  if (find_function(o, "cudaGetDeviceProperties_v2")) return 12;
  if (find_function(o, "cudaCtxResetPersistingL2Cache")) return 11;
  return find_function(o, "cudaGraphCreate") ? 10 : 9;
}

/* ---- jumps ---- */

static bool find_place(struct place *p, const struct object *o, size_t bytes) {
  for (int i = 1; i < NEAR_TRIES; i++) {
    uintptr_t distance = (uintptr_t)i * NEAR_STEP, page = ~(uintptr_t)4095;
    uintptr_t wish[] = {(o->high + distance) & page, o->low > distance ? (o->low - distance) & page : 0};
    for (int k = 0; k < 2; k++) {
      if (!wish[k]) continue;
      void *got = mmap((void *)wish[k], bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == MAP_FAILED) continue;
      if (got == (void *)wish[k]) return p->next = got, p->end = p->next + bytes, true;
      munmap(got, bytes);
    }
  }
  return false;
}

/* Target of a call: at first static_hook_first_call, which resolves the function. This library starts before the C
 * library, when nothing can be loaded yet. */
struct target {
  void *to;
  int major;
  const char *name;
};

static int not_supported(void) {
  return 801; /* cudaErrorNotSupported; the call was allowed by SLUICE_ALLOW_REFUSED */
}

/* Shows `sluice run` that the exit code is Sluice's. */
static void die(void) {
  const char *dir = getenv("SLUICE_DIR");
  char path[4096];
  int fd = -1;
  if (dir && snprintf(path, sizeof path, "%s/error.code", dir) < (int)sizeof path)
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) dprintf(fd, "6\n"); /* ERR_INTERNAL */
  for (;;) syscall(SYS_exit_group, 70);
}

static const char *own_folder(char *out, size_t size) {
  Dl_info d;
  if (!dladdr((void *)own_folder, &d) || !d.dli_fname || strlen(d.dli_fname) >= size) return NULL;
  strcpy(out, d.dli_fname);
  char *slash = strrchr(out, '/');
  if (!slash) return NULL;
  *slash = 0;
  return out;
}

__attribute__((used)) static void *resolve(struct target *t) {
  static const char *const versions[] = {"9.2", "10.2", "11.0", "12", "13"};
  char folder[3800], path[4096];
  if (!own_folder(folder, sizeof folder)) abort();
  snprintf(path, sizeof path, "%s/libcudart.so.%s", folder, versions[t->major - 9]);
  void *runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!runtime) {
    fprintf(stderr, "sluice: NVIDIA's CUDA runtime inside the program cannot be replaced: %s\n", dlerror());
    die();
  }
  void *to = dlsym(runtime, t->name);
  if (!to) {
    int (*refuse)(const char *, const char *);
    *(void **)&refuse = dlsym(runtime, "cudart_refuse");
    if (!refuse) abort();
    refuse(t->name, "no such function in Sluice's runtime");
    to = (void *)not_supported;
  }
  __atomic_store_n(&t->to, to, __ATOMIC_RELEASE);
  return to;
}

/* Entered with the target in %r11 and everything else as the caller left it, which is kept around resolve(). */
void static_hook_first_call(void);
__asm__(".text\n"
        ".globl static_hook_first_call\n"
        ".hidden static_hook_first_call\n"
        ".type static_hook_first_call, @function\n"
        "static_hook_first_call:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  and $-16, %rsp\n"
        "  sub $192, %rsp\n"
        "  mov %rdi, 0(%rsp)\n"
        "  mov %rsi, 8(%rsp)\n"
        "  mov %rdx, 16(%rsp)\n"
        "  mov %rcx, 24(%rsp)\n"
        "  mov %r8, 32(%rsp)\n"
        "  mov %r9, 40(%rsp)\n"
        "  mov %rax, 48(%rsp)\n"
        "  movaps %xmm0, 64(%rsp)\n"
        "  movaps %xmm1, 80(%rsp)\n"
        "  movaps %xmm2, 96(%rsp)\n"
        "  movaps %xmm3, 112(%rsp)\n"
        "  movaps %xmm4, 128(%rsp)\n"
        "  movaps %xmm5, 144(%rsp)\n"
        "  movaps %xmm6, 160(%rsp)\n"
        "  movaps %xmm7, 176(%rsp)\n"
        "  mov %r11, %rdi\n"
        "  call resolve\n"
        "  mov %rax, %r11\n"
        "  mov 0(%rsp), %rdi\n"
        "  mov 8(%rsp), %rsi\n"
        "  mov 16(%rsp), %rdx\n"
        "  mov 24(%rsp), %rcx\n"
        "  mov 32(%rsp), %r8\n"
        "  mov 40(%rsp), %r9\n"
        "  mov 48(%rsp), %rax\n"
        "  movaps 64(%rsp), %xmm0\n"
        "  movaps 80(%rsp), %xmm1\n"
        "  movaps 96(%rsp), %xmm2\n"
        "  movaps 112(%rsp), %xmm3\n"
        "  movaps 128(%rsp), %xmm4\n"
        "  movaps 144(%rsp), %xmm5\n"
        "  movaps 160(%rsp), %xmm6\n"
        "  movaps 176(%rsp), %xmm7\n"
        "  leave\n"
        "  jmp *%r11\n"
        ".size static_hook_first_call, . - static_hook_first_call\n");

/* In a slot: target -> %r11; jmp *(%r11). */
static uint8_t *make_slot(struct place *p, struct target *t) {
  uint8_t *s = p->next;
  if (s + SLOT_BYTES > p->end) return NULL;
  p->next += SLOT_BYTES;
  uint64_t a = (uint64_t)t;
  memcpy(s, "\x49\xbb", 2);
  memcpy(s + 2, &a, 8);
  memcpy(s + 10, "\x41\xff\x23", 3);
  return s;
}

static void patch(uintptr_t at, const uint8_t *slot) {
  int32_t d = (int32_t)((intptr_t)slot - (intptr_t)(at + JUMP_BYTES));
  *(uint8_t *)at = 0xe9;
  memcpy((void *)(at + 1), &d, sizeof d);
}

/* The runtime is contiguous. An unknown function inside it belongs to a newer runtime; a function of such a name
 * elsewhere is the program's. */
static void patch_all(const struct object *o, struct place *p, int major) {
  uintptr_t first = UINTPTR_MAX, last = 0;
  for (size_t i = 0; i < o->count; i++) {
    const char *name = function_name(o, i);
    if (!name || !known_call(name)) continue;
    if (o->symbols[i].st_value < first) first = o->symbols[i].st_value;
    if (o->symbols[i].st_value > last) last = o->symbols[i].st_value;
  }
  for (size_t i = 0; i < o->count; i++) {
    const char *name = function_name(o, i);
    if (!name) continue;
    bool inside = o->symbols[i].st_value >= first && o->symbols[i].st_value <= last;
    if (!hidden_call(name) && !known_call(name) && !(inside && named_like_a_call(name))) continue;
    struct target *t = malloc(sizeof *t);
    if (!t) return;
    *t = (struct target){(void *)static_hook_first_call, major, strdup(name)};
    uint8_t *slot = make_slot(p, t);
    if (slot) patch(o->bias + o->symbols[i].st_value, slot);
  }
}

/* Make the object's code writable, or take that back. */
static bool writable(const struct dl_phdr_info *info, bool on) {
  bool ok = true;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
    uintptr_t from = (info->dlpi_addr + h->p_vaddr) & ~(uintptr_t)4095, to = info->dlpi_addr + h->p_vaddr + h->p_memsz;
    int prot = PROT_READ | PROT_EXEC | (on || h->p_flags & PF_W ? PROT_WRITE : 0);
    ok = mprotect((void *)from, to - from, prot) == 0 && ok;
  }
  return ok;
}

/* ---- objects ---- */

static void redirect(const struct dl_phdr_info *info, const struct object *o) {
  if (!find_function(o, "__cudaRegisterFatBinary") && !find_function(o, "cudaRuntimeGetVersion")) return;
  char folder[3800];
  if (!own_folder(folder, sizeof folder) || strncmp(o->path, folder, strlen(folder)) == 0)
    return; /* Sluice's own
                                                                                                    * runtime */
  int major = runtime_major(o);
  const char *error = NULL;
  struct place place = {0};
  if (major < 9 || major > 13) error = "Sluice knows versions 9 to 13";
  else if (!find_place(&place, o, 1 << 16)) error = "there is no memory near its code";
  else if (!writable(info, true)) error = "its code cannot be made writable";
  if (error) {
    fprintf(stderr, "sluice: %s carries NVIDIA's CUDA runtime %d, which cannot be replaced: %s\n", o->path, major,
            error);
    return;
  }
  const uint8_t *start = place.next;
  patch_all(o, &place, major);
  writable(info, false);
  mprotect((void *)start, (size_t)(place.end - start), PROT_READ | PROT_EXEC);
}

static void look_into(const struct dl_phdr_info *info) {
  struct object o = {
      .path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe", .bias = info->dlpi_addr, .low = UINTPTR_MAX};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
    uintptr_t from = info->dlpi_addr + h->p_vaddr;
    if (from < o.low) o.low = from;
    if (from + h->p_memsz > o.high) o.high = from + h->p_memsz;
  }
  int fd = open(o.path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return; /* the vDSO */
  struct stat st;
  if (fstat(fd, &st) == 0 && st.st_size > 0) {
    o.bytes = (size_t)st.st_size;
    void *map = mmap(NULL, o.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    o.file = map;
    if (map != MAP_FAILED) {
      if (read_symbol_table(&o, SHT_SYMTAB) || read_symbol_table(&o, SHT_DYNSYM)) redirect(info, &o);
      munmap(map, o.bytes);
    }
  }
  close(fd);
}

struct list {
  struct dl_phdr_info at[MOST_OBJECTS];
  size_t count;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *ctx) {
  struct list *l = ctx;
  if (l->count < MOST_OBJECTS && size <= sizeof *info) memcpy(&l->at[l->count++], info, size);
  return 0;
}

/* This runs before the C library's own start, so the environment comes from the loader's third argument. The objects
 * are listed first, because loading our runtime adds to them. */
__attribute__((constructor)) static void before_the_program(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  struct list l = {.count = 0};
  bool ours = false, wanted = true;
  for (char **e = environment; *e; e++) {
    ours = ours || (strncmp(*e, "SLUICE_DIR=", 11) == 0 && (*e)[11]);
    wanted = wanted && strcmp(*e, "SLUICE_STATIC=no") != 0;
  }
  if (ours && wanted) dl_iterate_phdr(note_object, &l);
  for (size_t i = 0; i < l.count; i++) look_into(&l.at[i]);
}

/* modules.c - from fat binaries to loaded modules: selects and loads PTX, and resolves the references of host code.
 *
 * Registration only records. Loading happens at the first call that needs the device, for everything registered until
 * then, so that PTX which cannot be simulated is refused before anything runs.
 */
#include "cudart/core/modules.h"
#include "cudart/core/context.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
struct segment {
  uintptr_t at, end;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *ctx) {
  struct segment *s = ctx;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + h->p_vaddr;
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_R) || s->at < start || s->at - start >= h->p_memsz) continue;
    s->end = start + h->p_memsz;
    return 1;
  }
  return 0;
}

/* Readable bytes from p on: to the end of its segment of a loaded object, else of its mapping and adjacent ones. The
 * container's own header cannot be trusted. */
size_t cudart_readable(const void *p) {
  struct segment s = {.at = (uintptr_t)p};
  if (dl_iterate_phdr(find_segment, &s)) return s.end - s.at;
  FILE *f = fopen("/proc/self/maps", "re");
  if (!f) return 0;
  uint64_t want = (uint64_t)(uintptr_t)p, end = 0, lo, hi;
  char line[512], mode[8];
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%lx-%lx %7s", &lo, &hi, mode) != 3) continue;
    if (mode[0] != 'r') continue;
    if (end == 0 && want >= lo && want < hi) end = hi;
    else if (end != 0 && lo == end) end = hi;
  }
  fclose(f);
  return end ? (size_t)(end - want) : 0;
}

struct cuda_module *cudart_module_new(struct cudart *c, const char *label) {
  struct cuda_module *m = ARENA_NEW(&c->arena, struct cuda_module);
  m->label = arena_strdup(&c->arena, label);
  *c->last_module = m;
  c->last_module = &m->next;
  return m;
}

bool cudart_module_container(struct cudart *c, struct cuda_module *m, const void *container, struct err *e) {
  (void)c;
  size_t limit = cudart_readable(container);
  if (!limit) return err_set(e, ERR_INPUT, "fat binary: container at %p cannot be read", container);
  return fatbin_add(&m->fat, container, limit, e);
}

static void take_registers(void *ctx, const char *kernel, uint32_t regs) {
  simt_set_registers(ctx, kernel, regs); /* machine code may hold kernels that are not in this PTX */
}

/* A module with machine code only: its target, for the message. */
static bool refuse_machine_code(struct cuda_module *m, struct err *e) {
  char archs[128] = "";
  size_t at = 0;
  uint32_t lowest = 0;
  for (uint32_t i = 0; i < m->fat.count; i++) {
    struct fatbin_item *it = &m->fat.items[i];
    if (it->kind != FATBIN_CUBIN || at > sizeof archs - 16) continue;
    at += (size_t)snprintf(archs + at, sizeof archs - at, "%ssm_%u", at ? ", " : "", it->sm);
    if (!lowest || it->sm < lowest) lowest = it->sm;
  }
  return err_set(e, ERR_UNSUPPORTED,
                 "%s holds machine code (%s) and no PTX, which is what Sluice simulates: build it again with nvcc "
                 "-gencode arch=compute_%u,code=compute_%u (or -arch=sm_%u alone, which keeps the PTX)",
                 m->label, archs, lowest, lowest, lowest);
}

/* Collect and unpack the PTX of every container, with its machine code. */
static bool choose_image(struct cudart *c, struct cuda_module *m, struct simt_text *texts, size_t *count,
                         struct fatbin_item **cubins, struct err *e) {
  uint32_t cc = c->dev->cc_major * 10 + c->dev->cc_minor;
  *count = 0;
  for (uint32_t i = 0; i < m->fat.containers; i++) {
    struct fatbin_item *ptx = fatbin_choose_ptx(&m->fat, i, cc);
    if (!ptx) continue;
    if (!fatbin_unpack(&m->fat, ptx, e)) return err_prefix(e, "%s", m->label);
    char *name = arena_printf(&m->fat.arena, "%s", m->label);
    if (ptx->source) name = arena_printf(&m->fat.arena, "%s: %s", m->label, ptx->source);
    else if (m->fat.containers > 1) name = arena_printf(&m->fat.arena, "%s, part %u", m->label, i + 1);
    texts[*count] = (struct simt_text){.ptx = ptx->unpacked, .name = name, .compiled = true};
    cubins[*count] = fatbin_choose_cubin(&m->fat, i, ptx->sm);
    ++*count;
  }
  return true;
}

static void warn_newer(struct cudart *c, const struct cuda_module *m) {
  if (c->warned_newer || !simt_newer_isa(m->simt)) return;
  char text[1024];
  simt_newer_text(m->simt, text, sizeof text);
  c->warned_newer = true;
  fflush(stdout);
  text_say(stderr, "sluice: warning: %s\n", text);
}

bool cudart_module_load(struct cudart *c, struct cuda_module *m, struct err *e) {
  if (m->loaded) return m->simt != NULL || m->empty;
  size_t room = m->fat.containers + 1, count = 0;
  struct simt_text *texts = mem_zeroed(room, sizeof *texts);
  struct fatbin_item **cubins = mem_zeroed(room, sizeof *cubins);
  bool good = true;
  if (m->text) texts[count++] = (struct simt_text){.ptx = m->text, .name = m->label};
  else good = choose_image(c, m, texts, &count, cubins, e);
  if (good && count == 0) {
    m->machine_only = m->fat.count != 0;
    m->empty = true;
    /* A container from a device-link step has no kernels; only modules with kernels are rejected. */
    if (m->machine_only && m->functions) good = refuse_machine_code(m, e);
  }
  if (good && count) {
    m->simt = simt_load(c->simt, texts, count, e);
    good = m->simt != NULL;
    if (good) warn_newer(c, m);
    for (size_t i = 0; good && i < count; i++)
      if (cubins[i] && fatbin_unpack(&m->fat, cubins[i], NULL))
        cubin_registers(cubins[i]->unpacked, cubins[i]->unpacked_len, take_registers, m->simt);
  }
  free(texts);
  free(cubins);
  m->loaded = good;
  return good;
}

static bool resolve_function(struct cuda_function *f) {
  if (!f->kernel && f->module->simt) f->kernel = simt_find_kernel(f->module->simt, f->name);
  if (f->kernel && !f->info) f->info = simt_kernel_info(f->kernel);
  return f->kernel != NULL;
}

static void resolve_variable(struct cudart *c, struct cuda_variable *v) {
  uint64_t bytes;
  if (v->addr || !v->module->simt) return;
  if (!simt_find_symbol(v->module->simt, v->name, &v->addr, &bytes)) return;
  v->bytes = bytes;
  if (v->managed) *v->managed = simt_mem_at(c->simt, v->addr, bytes);
}

/* Variables and texture references are resolved when their module is loaded. */
static void resolve_symbols(struct cudart *c, struct cuda_module *m) {
  if (m->resolved) return;
  for (struct cuda_variable *v = m->variables; v; v = v->next) resolve_variable(c, v);
  for (struct cuda_function *f = m->functions; f; f = f->next) resolve_function(f);
  m->resolved = true;
}

void cudart_load_all(struct cudart *c) {
  for (struct cuda_module *m = c->modules; m; m = m->next) {
    if (m->resolved || m->spare) continue;
    struct err e = {0};
    if (!cudart_module_load(c, m, &e)) cudart_die(c, &e);
    resolve_symbols(c, m);
  }
}

void cudart_module_unload(struct cudart *c, struct cuda_module *m) {
  for (struct cuda_function *f = m->functions; f; f = f->next) {
    f->dead = true;
    f->kernel = NULL;
    f->info = NULL;
  }
  for (struct cuda_variable *v = m->variables; v; v = v->next) v->addr = 0;
  if (m->simt && c->simt && !c->closed) simt_unload(c->simt, m->simt);
  m->simt = NULL;
  m->loaded = m->resolved = m->empty = true;
  fatbin_free(&m->fat);
}

struct cuda_function *cudart_module_function(struct cudart *c, struct cuda_module *m, const char *name) {
  for (struct cuda_function *f = m->functions; f; f = f->next)
    if (strcmp(f->name, name) == 0) return f;
  if (!m->simt || !simt_find_kernel(m->simt, name)) return NULL;
  struct cuda_function *f = ARENA_NEW(&c->arena, struct cuda_function);
  f->name = arena_strdup(&c->arena, name);
  f->module = m;
  f->next = m->functions;
  m->functions = f;
  ptrmap_put(&c->functions, (uintptr_t)f, f);
  resolve_function(f);
  return f;
}

/* The device runtime's own kernels and variables are loaded on demand. */
static void want(struct cudart *c, struct cuda_module *m) {
  struct err e = {0};
  if (!m->spare) return;
  if (!cudart_module_load(c, m, &e)) cudart_die(c, &e);
  m->spare = false;
  resolve_symbols(c, m);
}

struct cuda_function *cudart_function(struct cudart *c, const void *stub_or_handle) {
  struct cuda_function *f = ptrmap_get(&c->functions, (uintptr_t)stub_or_handle);
  if (f && !f->dead) want(c, f->module);
  return f;
}

struct cuda_variable *cudart_variable(struct cudart *c, const void *host) {
  struct cuda_variable *v = ptrmap_get(&c->variables, (uintptr_t)host);
  if (v) want(c, v->module);
  return v && v->addr ? v : NULL;
}

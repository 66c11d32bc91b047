/* module.c - loads PTX texts; finds kernels and variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/mach.h"
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/run.h"
#include "simt/params.h"

/* Release the module's variables from device memory; their addresses are not reused. */
static void drop_variables(struct simt_module *m) {
  for (uint32_t k = 0; m->ptx && k < m->ptx->nvars; k++) {
    const struct ptx_var *v = m->ptx->vars[k];
    if (v->def == v && v->addr && (v->space == SP_GLOBAL || v->space == SP_CONST)) mem_drop_symbol(m->s, v->addr);
  }
}

static void destroy(struct simt_module *m) {
  drop_variables(m);
  ptx_free(m->ptx);
  free(m->code);
  free(m->ops);
  free(m->pool);
  free(m->pooled);
  arena_free(&m->arena);
  free(m);
}

struct simt_module *simt_load(struct simt *s, const struct simt_text *texts, size_t count, struct err *e) {
  struct simt_module *m = mem_zeroed(1, sizeof *m);
  m->s = s;
  m->ptx = ptx_new();
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++) {
    m->ptx->compiled = texts[i].compiled;
    ok = ptx_parse(m->ptx, arena_strdup(&m->arena, texts[i].ptx), texts[i].name, e);
  }
  ok = ok && ptx_link(m->ptx, builtin_known, e) && lower_module(m, e);
  if (!ok) {
    destroy(m);
    return NULL;
  }
  m->next = s->modules;
  s->modules = m;
  return m;
}

size_t simt_refusals(const struct simt_module *m, const char **first) {
  if (first) *first = m->first_refusal;
  return m->refusals;
}

static const struct ptx_text *newest(const struct simt_module *m) {
  const struct ptx_text *t = &m->ptx->texts[0];
  for (uint32_t i = 1; i < m->ptx->ntexts; i++)
    if (m->ptx->texts[i].version > t->version) t = &m->ptx->texts[i];
  return t;
}

uint32_t simt_newer_isa(const struct simt_module *m) {
  uint32_t version = m->ptx->ntexts ? newest(m)->version : 0;
  return version > PTX_NEWEST ? version : 0;
}

void simt_newer_text(const struct simt_module *m, char *out, size_t size) {
  const struct ptx_text *t = newest(m);
  snprintf(out, size,
           "%s is PTX of ISA version %u.%u, newer than %u.%u, the newest known here: it is tried, and an instruction "
           "that is unknown is refused when executed",
           t->name, t->version / 10, t->version % 10, PTX_NEWEST / 10u, PTX_NEWEST % 10u);
}

void simt_unload(struct simt *s, struct simt_module *m) {
  if (!m) return;
  for (struct simt_module **p = &s->modules; *p; p = &(*p)->next)
    if (*p == m) {
      *p = m->next;
      break;
    }
  destroy(m);
}

bool simt_set_registers(struct simt_module *m, const char *kernel, uint32_t regs) {
  struct simt_kernel *k = simt_find_kernel(m, kernel);
  if (!k) return false;
  k->set_regs = k->info.regs = regs;
  return true;
}

uint32_t simt_register_limit(const struct simt_kernel_info *k, uint32_t threads, uint32_t sm_regs) {
  uint32_t at_once = (threads + LANES - 1) / LANES * LANES;
  if (k->resident > at_once) at_once = k->resident;
  return at_once ? sm_regs / at_once & ~3u : 0;
}

struct simt_kernel *simt_find_kernel(struct simt_module *m, const char *name) {
  for (uint32_t i = 0; i < m->nkernels; i++)
    if (!strcmp(m->kernels[i].info.name, name)) return &m->kernels[i];
  return NULL;
}

bool simt_find_symbol(struct simt_module *m, const char *name, uint64_t *addr, uint64_t *bytes) {
  for (uint32_t i = 0; i < m->ptx->nvars; i++) {
    const struct ptx_var *v = m->ptx->vars[i];
    if (v->func || v->def != v || (v->space != SP_GLOBAL && v->space != SP_CONST) || !v->addr || strcmp(v->name, name))
      continue;
    *addr = v->addr;
    *bytes = v->bytes;
    return true;
  }
  return false;
}

const struct simt_kernel_info *simt_kernel_info(struct simt_kernel *k) {
  return &k->info;
}

size_t simt_kernel_count(struct simt_module *m) {
  return m->nkernels;
}

struct simt_kernel *simt_kernel_at(struct simt_module *m, size_t i) {
  return i < m->nkernels ? &m->kernels[i] : NULL;
}

_Static_assert((int)SIMT_MACHINE_CLASSES == (int)MC_COUNT, "simt.h has another number of classes");

const char *simt_machine_class(uint32_t number) {
  return mach_class_names[number];
}

bool simt_machine_at(const struct simt_kernel *k, uint32_t i, struct simt_machine *out) {
  const struct ptx_func *f = k->func->f;
  if (!f->mach_regs || i >= f->mach_common) return false;
  const struct ptx_mach *a = f->code[i].mach;
  const struct inst *t = &k->m->code[k->func->entry + i];
  const struct mach_info *info = &mach_infos[a->op];
  *out = (struct simt_machine){.name = info->name,
                               .cls = mach_class_names[info->cls],
                               .cls_number = info->cls,
                               .depth = a->depth,
                               .bytes = t->pipe == PIPE_MEM ? t->elem_bytes * (uint32_t)t->vec : 0,
                               .line = t->ptx_line};
  return true;
}

const char *simt_machine_refused(const struct simt_kernel *k) {
  return k->func->f->mach_refused;
}

const char *simt_param_type(const struct simt_kernel *k, uint32_t i) {
  const struct ptx_var *v = k->func->f->params[i];
  return v ? ptx_type_names[v->type] : "b32";
}

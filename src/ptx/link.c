/* link.c - names across texts: external functions and variables meet their definitions; forms are spelt for messages.
 */
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

struct ptx_func *ptx_find_func(struct ptx_module *m, const char *name) {
  struct ptx_func *best = NULL;
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    struct ptx_func *f = m->funcs[i];
    if (strcmp(f->name, name)) continue;
    if (f->has_body && (!best || !best->has_body || (best->weak && !f->weak))) best = f;
    if (!best) best = f;
  }
  return best;
}

static struct ptx_var *find_var(struct ptx_module *m, const char *name) {
  struct ptx_var *best = NULL;
  for (uint32_t i = 0; i < m->nvars; i++) {
    struct ptx_var *v = m->vars[i];
    if (strcmp(v->name, name) || v->is_extern || v->func) continue;
    if (!best || (best->weak && !v->weak)) best = v;
  }
  return best;
}

static bool global_name(const struct ptx_func *f) {
  return f->visible || f->weak || f->is_extern || f->entry;
}

static bool link_functions(struct ptx_module *m, bool (*builtin)(const char *), struct err *e) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    struct ptx_func *f = m->funcs[i];
    if (f->has_body) {
      f->def = f;
      for (uint32_t k = 0; k < i; k++) {
        struct ptx_func *o = m->funcs[k];
        if (!o->has_body || strcmp(o->name, f->name) || !global_name(o) || !global_name(f)) continue;
        if (!o->weak && !f->weak)
          return ptx_error(m, f->text, f->line, 1, ERR_INPUT, e, "'%s' is defined twice (also %s:%u)", f->name,
                           m->texts[o->text].name, o->line);
        if (o->weak) o->def = f;
        else f->def = o;
      }
      continue;
    }
    struct ptx_func *d = NULL;
    for (uint32_t k = 0; k < m->nfuncs; k++) { /* the same text first: it may be local there */
      struct ptx_func *o = m->funcs[k];
      if (!o->has_body || strcmp(o->name, f->name)) continue;
      if (o->text == f->text || (global_name(o) && !d)) d = o;
    }
    f->def = d ? d : f;
    if (!d && !builtin(f->name)) f->def = NULL; /* refused where it is called */
  }
  (void)e;
  return true;
}

bool ptx_link(struct ptx_module *m, bool (*builtin)(const char *), struct err *e) {
  if (!link_functions(m, builtin, e)) return false;
  for (uint32_t i = 0; i < m->nvars; i++) {
    struct ptx_var *v = m->vars[i];
    if (v->space == SP_SHARED && v->is_extern) continue; /* dynamic shared memory */
    struct ptx_var *d = v->is_extern || v->weak || v->common ? find_var(m, v->name) : v;
    if (!d)
      return ptx_error(m, v->text, v->line, 1, ERR_INPUT, e,
                       "external variable '%s' is defined in none of the %u texts", v->name, m->ntexts);
    v->def = d;
    if (v->visible && !v->weak && !v->common && !v->is_extern)
      for (uint32_t k = 0; k < i; k++) {
        struct ptx_var *o = m->vars[k];
        if (o->visible && !o->weak && !o->common && !o->is_extern && o->def == o && !o->func && !v->func &&
            !strcmp(o->name, v->name))
          return ptx_error(m, v->text, v->line, 1, ERR_INPUT, e, "'%s' is defined twice (also %s:%u)", v->name,
                           m->texts[o->text].name, o->line);
      }
  }
  return true;
}

const char *ptx_form(struct ptx_module *m, const struct ptx_inst *i) {
  char s[256];
  int n = snprintf(s, sizeof s, "%s", ptx_ops[i->op].name);
  for (uint32_t k = 0; k < i->nmods; k++)
    n += snprintf(s + n, sizeof s - (size_t)n, ".%s", ptx_mod_names[i->mod_order[k]]);
  for (uint32_t k = 0; k < i->ntypes; k++)
    n += snprintf(s + n, sizeof s - (size_t)n, ".%s", ptx_type_names[i->types[k]]);
  return arena_strdup(&m->arena, s);
}

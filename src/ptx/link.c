/* link.c - symbols across texts: external functions and variables are bound to their definitions. Prints instruction
 * forms for messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"
#include "ptx/ptx.h"

/* Functions or variables by name: names are interned, so a name has one address in all texts. */
struct names {
  const char **key;
  uint32_t *first, *last; /* by slot of `key` */
  uint32_t *next;         /* of the same name, in order; NO_MORE after the last */
  uint32_t mask;
};
#define NO_MORE UINT32_MAX

static struct names names_of(uint32_t count) {
  struct names n = {.mask = 15};
  while (n.mask < 2 * (uint64_t)count) n.mask = 2 * n.mask + 1;
  n.key = mem_zeroed(n.mask + 1ull, sizeof *n.key);
  n.first = mem_zeroed(n.mask + 1ull, sizeof *n.first);
  n.last = mem_zeroed(n.mask + 1ull, sizeof *n.last);
  n.next = mem_zeroed(count + 1ull, sizeof *n.next);
  return n;
}

static void names_free(struct names *n) {
  free(n->key);
  free(n->first);
  free(n->last);
  free(n->next);
}

static uint32_t names_slot(const struct names *n, const char *name) {
  uint32_t at = (uint32_t)hash_u64((uintptr_t)name) & n->mask;
  while (n->key[at] && n->key[at] != name) at = (at + 1) & n->mask;
  return at;
}

static void names_add(struct names *n, const char *name, uint32_t which) {
  uint32_t at = names_slot(n, name);
  n->next[which] = NO_MORE;
  if (n->key[at]) n->next[n->last[at]] = which;
  else n->first[at] = which;
  n->key[at] = name;
  n->last[at] = which;
}

static uint32_t names_first(const struct names *n, const char *name) {
  uint32_t at = names_slot(n, name);
  return n->key[at] ? n->first[at] : NO_MORE;
}

static struct ptx_var *find_var(struct ptx_module *m, const struct names *n, const char *name) {
  struct ptx_var *best = NULL;
  for (uint32_t i = names_first(n, name); i != NO_MORE; i = n->next[i]) {
    struct ptx_var *v = m->vars[i];
    if (v->is_extern || v->func) continue;
    if (!best || (best->weak && !v->weak)) best = v;
  }
  return best;
}

static bool global_name(const struct ptx_func *f) {
  return f->visible || f->weak || f->is_extern || f->entry;
}

static bool link_functions(struct ptx_module *m, const struct names *n, bool (*builtin)(const char *), struct err *e) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    struct ptx_func *f = m->funcs[i];
    if (f->has_body) {
      f->def = f;
      for (uint32_t k = names_first(n, f->name); k < i; k = n->next[k]) {
        struct ptx_func *o = m->funcs[k];
        if (!o->has_body || !global_name(o) || !global_name(f)) continue;
        if (!o->weak && !f->weak)
          return ptx_error(m, (struct ptx_place){f->text, f->line, 1}, ERR_INPUT, e,
                           "'%s' is defined twice (also %s:%u)", f->name, m->texts[o->text].name, o->line);
        if (o->weak) o->def = f;
        else f->def = o;
      }
      continue;
    }
    struct ptx_func *d = NULL;
    for (uint32_t k = names_first(n, f->name); k != NO_MORE; k = n->next[k]) { /* the same text first: may be local */
      struct ptx_func *o = m->funcs[k];
      if (!o->has_body) continue;
      if (o->text == f->text || (global_name(o) && !d)) d = o;
    }
    if (d && !ptx_same_func(f, d))
      return ptx_error(m, (struct ptx_place){f->text, f->line, 1}, ERR_INPUT, e,
                       "'%s' has other parameters or results where it is defined (%s:%u)", f->name,
                       m->texts[d->text].name, d->line);
    f->def = d ? d : f;
    if (!d && !builtin(f->name)) f->def = NULL; /* rejected where it is called */
  }
  return true;
}

static bool link_variables(struct ptx_module *m, const struct names *n, struct err *e) {
  for (uint32_t i = 0; i < m->nvars; i++) {
    struct ptx_var *v = m->vars[i];
    if (v->space == SP_SHARED && v->is_extern) continue; /* dynamic shared memory */
    struct ptx_var *d = v->is_extern || v->weak || v->common ? find_var(m, n, v->name) : v;
    if (!d)
      return ptx_error(m, (struct ptx_place){v->text, v->line, 1}, ERR_INPUT, e,
                       "external variable '%s' is defined in none of the %u texts", v->name, m->ntexts);
    if (!ptx_same_var(v, d))
      return ptx_error(m, (struct ptx_place){v->text, v->line, 1}, ERR_INPUT, e,
                       "'%s' has another state space, type or size where it is defined (%s:%u)", v->name,
                       m->texts[d->text].name, d->line);
    v->def = d;
    if (v->visible && !v->weak && !v->common && !v->is_extern)
      for (uint32_t k = names_first(n, v->name); k < i; k = n->next[k]) {
        struct ptx_var *o = m->vars[k];
        if (o->visible && !o->weak && !o->common && !o->is_extern && o->def == o && !o->func && !v->func)
          return ptx_error(m, (struct ptx_place){v->text, v->line, 1}, ERR_INPUT, e,
                           "'%s' is defined twice (also %s:%u)", v->name, m->texts[o->text].name, o->line);
      }
  }
  return true;
}

bool ptx_link(struct ptx_module *m, bool (*builtin)(const char *), struct err *e) {
  struct names funcs = names_of(m->nfuncs), vars = names_of(m->nvars);
  for (uint32_t i = 0; i < m->nfuncs; i++) names_add(&funcs, m->funcs[i]->name, i);
  for (uint32_t i = 0; i < m->nvars; i++) names_add(&vars, m->vars[i]->name, i);
  bool ok = link_functions(m, &funcs, builtin, e) && link_variables(m, &vars, e);
  names_free(&funcs);
  names_free(&vars);
  return ok;
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

/* parse_names.c - the names of a text: scopes, what an operand names, and that a name is declared once.
 *
 * A function's parameters, registers, variables and labels share the scope of its body; each block opens another.
 * Outside of functions a name may be declared again, if all declarations say the same and at most one is the
 * definition. ptxas has the same rules.
 */
#include <stdlib.h>

#include "ptx/parser.h"

static bool again_allowed(const struct parser *p, const struct symbol *old, const struct symbol *s) {
  return p->depth == 0 && old->kind == s->kind && (s->kind == SYM_VAR || s->kind == SYM_FUNC); /* parse_same_* */
}

void parse_bind(struct parser *p, struct ident *i, const struct symbol *symbol) {
  const struct symbol *old = i->sym;
  if (old && old->depth == p->depth && i != p->sink && !again_allowed(p, old, symbol))
    parse_fail(p, symbol->line, symbol->col, ERR_INPUT, "'%s' is declared twice (also in line %u)", i->s, old->line);
  struct symbol *s = ARENA_NEW(&p->m->arena, struct symbol);
  *s = *symbol;
  s->depth = p->depth;
  s->shadowed = i->sym;
  i->sym = s;
  GROW(p->binds, p->nbinds, p->cap_binds);
  p->binds[p->nbinds++] = (struct binding){i, p->depth};
}

/* Parameters of the same name hide it. */
struct symbol **parse_outermost(struct ident *i) {
  struct symbol **at = &i->sym;
  while (*at && (*at)->depth) at = &(*at)->shadowed;
  return at;
}

void parse_pending(struct parser *p, struct ident *i, struct ptx_opnd *o) {
  GROW(p->pend, p->npend, p->cap_pend);
  p->pend[p->npend++] = (struct pending){i, o, o->line, o->col};
}

/* The operand that `s` names. False: not an operand. */
static bool resolve_operand(struct symbol *s, struct ptx_opnd *o) {
  if (s->kind == SYM_LABEL) o->kind = OK_LABEL, o->imm = s->index;
  else if (s->kind == SYM_FUNC) o->kind = OK_FUNC, o->func = s->ptr;
  else if (s->kind == SYM_VAR) o->kind = OK_VAR, o->var = s->ptr;
  else if (s->kind == SYM_TABLE) o->kind = OK_TABLE, o->vec = ((struct ptx_table *)s->ptr)->labels, o->n = 0;
  else return false;
  if (s->kind == SYM_TABLE) o->imm = ((struct ptx_table *)s->ptr)->n;
  return true;
}

void parse_scope_enter(struct parser *p) {
  p->depth++;
}

void parse_scope_leave(struct parser *p, uint32_t first_pending) {
  uint32_t keep = first_pending;
  for (uint32_t i = first_pending; i < p->npend; i++) {
    struct pending *q = &p->pend[i];
    if (q->ident->sym && resolve_operand(q->ident->sym, q->opnd)) continue;
    if (p->depth <= 1) parse_fail(p, q->line, q->col, ERR_INPUT, "'%s' is not declared", q->ident->s);
    p->pend[keep++] = *q;
  }
  p->npend = keep;
  while (p->nbinds && p->binds[p->nbinds - 1].depth == p->depth) {
    struct ident *i = p->binds[--p->nbinds].ident;
    i->sym = i->sym->shadowed;
  }
  p->depth--;
}

/* ---- declared again ---- */

static bool defines(const struct ptx_var *v) {
  return !v->is_extern && !v->weak && !v->common;
}

bool ptx_same_var(const struct ptx_var *a, const struct ptx_var *b) {
  return a->space == b->space && a->type == b->type && a->vec == b->vec &&
         (a->bytes == b->bytes || a->unsized || b->unsized);
}

void parse_same_var(struct parser *p, const struct ptx_var *old, const struct ptx_var *v) {
  if (defines(old) && defines(v))
    parse_fail(p, v->line, v->col, ERR_INPUT, "'%s' is defined twice (also in line %u)", v->name, old->line);
  if (!ptx_same_var(old, v))
    parse_fail(p, v->line, v->col, ERR_INPUT, "'%s' has another state space, type or size in line %u", v->name,
               old->line);
}

static uint64_t size_of_operand(const struct ptx_var *v, const struct ptx_reg *r) {
  return v ? v->bytes : r ? ptx_type_bytes[r->type] : 0;
}

bool ptx_same_func(const struct ptx_func *a, const struct ptx_func *b) {
  if (a->nparams != b->nparams || size_of_operand(a->ret, a->ret_reg) != size_of_operand(b->ret, b->ret_reg))
    return false;
  for (uint32_t i = 0; i < a->nparams; i++) {
    bool open = (a->params[i] && a->params[i]->unsized) || (b->params[i] && b->params[i]->unsized);
    if (!open && size_of_operand(a->params[i], a->param_regs[i]) != size_of_operand(b->params[i], b->param_regs[i]))
      return false;
  }
  return true;
}

void parse_same_func(struct parser *p, const struct ptx_func *old, const struct ptx_func *f) {
  if (old->has_body && f->has_body)
    parse_fail(p, f->line, 1, ERR_INPUT, "'%s' is defined twice (also in line %u)", f->name, old->line);
  if (old->entry != f->entry)
    parse_fail(p, f->line, 1, ERR_INPUT, "'%s' is a kernel in one place and a function in the other (line %u)", f->name,
               old->line);
  if (!ptx_same_func(old, f))
    parse_fail(p, f->line, 1, ERR_INPUT, "'%s' has other parameters or results in line %u", f->name, old->line);
}

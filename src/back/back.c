/* back.c - the passes in their order (back.h). */
#include "back/back.h"

#include "back/back_impl.h"

/* What keeps a function as its PTX is; NULL: nothing. */
static const char *refusal(const struct ptx_func *f) {
  enum { MOST_INSTRUCTIONS = 60000, MOST_REGISTERS = 40000 };
  if (!f->entry) return "a function that others call";
  if (f->ncode > MOST_INSTRUCTIONS || f->nregs > MOST_REGISTERS) return "its size";
  for (uint32_t i = 0; i < f->ncode; i++) {
    const struct ptx_inst *in = &f->code[i];
    bool provided = in->op == OP_CALL && in->ops[1].kind == OK_FUNC && !back_callee(in);
    if (in->op == OP_CALL && !provided) return "calls that cannot become part of it";
    if (in->op == OP_ALLOCA || in->op == OP_STACKSAVE) return "memory on the stack";
    if (in->refused) return "an instruction that is not known";
  }
  return NULL;
}

bool back_compile(struct ptx_module *m, struct ptx_func *f, const struct back_target *t) {
  back_inline(m, f);
  f->mach_refused = refusal(f);
  if (f->mach_refused || !f->ncode) return false;
  struct back k = {.m = m, .f = f, .t = t, .a = &m->arena};
  back_open(&k);
  back_fragments(&k);
  back_unroll(&k);
  back_facts(&k, true);
  back_aggregate(&k);
  back_spin(&k);
  back_bytes(&k);
  back_locals(&k);
  back_order_sums(&k);
  back_clean(&k);
  if (back_distribute(&k)) back_clean(&k);
  back_tables(&k);
  back_sink(&k);
  back_predicate(&k);
  back_orders(&k);
  back_widen(&k);
  back_orders(&k);
  back_converge(&k);
  back_waits(&k);
  back_yield(&k);
  back_select(&k);
  back_operands(&k);
  back_coalesce(&k);
  back_uniform_sets(&k);
  back_balance(&k);
  back_schedule(&k);
  back_emit(&k);
  arena_free(&k.scratch);
  return true;
}

/* test_ptx_parse.c - PTX as text becomes a module: every state space, operands and places; errors with line and column;
 * names between texts; control flow and liveness against graphs drawn by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 6.0\n.target sm_35\n.address_size 64\n" /* lines 1 to 3 */

static struct ptx_func *find_func(struct ptx_module *m, const char *name) {
  for (uint32_t i = 0; i < m->nfuncs; i++)
    if (m->funcs[i]->has_body && !strcmp(m->funcs[i]->name, name)) return m->funcs[i];
  return NULL;
}

static struct ptx_module *parsed(const char *text) {
  struct err e = {0};
  struct ptx_module *m = ptx_new();
  if (!ptx_parse(m, text, "t.ptx", &e)) fail_msg("%s", e.msg);
  return m;
}

static const struct ptx_var *var_of(struct ptx_var *const *list, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (!strcmp(list[i]->name, name)) return list[i];
  fail_msg("no variable %s", name);
  return NULL;
}

static void check_var(const struct ptx_var *v, enum ptx_space space, enum ptx_type type, uint64_t bytes, uint32_t align,
                      uint32_t line) {
  if (v->space != space || v->type != type || v->bytes != bytes || v->align != align || v->line != line)
    fail_msg("%s: space %d, type %s, %llu bytes, aligned to %u, line %u", v->name, v->space, ptx_type_names[v->type],
             (unsigned long long)v->bytes, v->align, v->line);
}

/* ---- what stands in a text ---- */

static const char spaces_text[] = HEAD ".global .align 16 .u32 g[4] = {1, -2, 3};\n" /* line 4 */
                                       ".const .f32 c = 0f3F800000;\n"
                                       ".shared .u16 s[3][5];\n"
                                       ".extern .shared .align 8 .b8 dyn[];\n"
                                       ".visible .global .u64 at = g+8;\n"
                                       ".visible .entry k(.param .u64 p, .param .align 4 .b8 q[12])\n" /* line 9 */
                                       "{\n"
                                       ".reg .u32 %r<3>;\n"
                                       ".reg .pred %p;\n"
                                       ".local .align 8 .b8 l[24];\n" /* line 13 */
                                       ".shared .f64 own;\n"
                                       "ret;\n"
                                       "}\n";

static void state_spaces(void **state) {
  (void)state;
  struct ptx_module *m = parsed(spaces_text);
  assert_int_equal(m->texts[0].version, 60);
  assert_int_equal(m->texts[0].sm, 35);
  const struct ptx_var *g = var_of(m->vars, m->nvars, "g"), *at = var_of(m->vars, m->nvars, "at");
  check_var(g, SP_GLOBAL, T_U32, 16, 16, 4);
  assert_true(!g->visible && !g->is_extern);
  assert_int_equal(g->inits, 3); /* the fourth element is zero */
  assert_int_equal(g->init[0].bits, 1);
  assert_int_equal((uint32_t)g->init[1].bits, 0xfffffffe);
  check_var(var_of(m->vars, m->nvars, "c"), SP_CONST, T_F32, 4, 4, 5);
  assert_int_equal((uint32_t)var_of(m->vars, m->nvars, "c")->init[0].bits, 0x3f800000);
  check_var(var_of(m->vars, m->nvars, "s"), SP_SHARED, T_U16, 30, 2, 6);
  const struct ptx_var *dyn = var_of(m->vars, m->nvars, "dyn");
  check_var(dyn, SP_SHARED, T_B8, 0, 8, 7);
  assert_true(dyn->is_extern && dyn->unsized);
  check_var(at, SP_GLOBAL, T_U64, 8, 8, 8);
  assert_true(at->visible && at->init[0].var == g);
  assert_int_equal(at->init[0].bits, 8);

  const struct ptx_func *k = find_func(m, "k");
  assert_true(k && k->entry && k->visible && k->has_body);
  assert_int_equal(k->line, 9);
  assert_int_equal(k->nparams, 2);
  check_var(k->params[0], SP_PARAM, T_U64, 8, 8, 9);
  check_var(k->params[1], SP_PARAM, T_B8, 12, 4, 9);
  assert_true(k->params[1]->formal);
  check_var(var_of(k->locals, k->nlocals, "l"), SP_LOCAL, T_B8, 24, 8, 13);
  check_var(var_of(k->locals, k->nlocals, "own"), SP_SHARED, T_F64, 8, 8, 14);
  assert_true(var_of(k->locals, k->nlocals, "l")->func == k);
  assert_int_equal(k->nregs, 4); /* %r0 to %r2, then %p */
  assert_string_equal(k->regs[3]->name, "%r2");
  assert_int_equal(k->regs[3]->arch, 2);
  assert_int_equal(k->regs[4]->type, T_PRED);
  assert_int_equal(k->ncode, 1);
  ptx_free(m);
}

static const char operands_text[] = HEAD ".global .u32 g[8];\n"
                                         ".entry k(.param .u64 p)\n"
                                         "{\n"
                                         ".reg .u32 %r<4>;\n"
                                         ".reg .u64 %rd<2>;\n"
                                         ".reg .pred %p;\n"
                                         ".reg .f32 %f;\n"
                                         "  ld.param.u64 %rd1, [p];\n" /* line 11 */
                                         "  ld.global.v2.u32 {%r1, %r2}, [g+12];\n"
                                         "  setp.lt.u32 %p, %r1, -1;\n"
                                         "  @!%p add.u32 %r3, %r1, %tid.y;\n"
                                         "  mov.f32 %f, 0f40000000;\n"
                                         "  @%p bra END;\n" /* line 16 */
                                         "  st.global.u32 [%rd1+-4], %r3;\n"
                                         "END:\n"
                                         "  ret;\n"
                                         "}\n";

static void operands(void **state) {
  (void)state;
  struct ptx_module *m = parsed(operands_text);
  const struct ptx_func *k = find_func(m, "k");
  assert_int_equal(k->ncode, 8);
  for (uint32_t i = 0; i < 7; i++) assert_int_equal(k->code[i].line, 11 + i);
  assert_int_equal(k->code[7].line, 19);
  const struct ptx_inst *ld = &k->code[1], *setp = &k->code[2], *add = &k->code[3], *st = &k->code[6];
  assert_string_equal(ptx_form(m, &k->code[0]), "ld.param.u64");
  assert_int_equal(k->code[0].ops[1].kind, OK_MEM);
  assert_true(k->code[0].ops[1].var == k->params[0]);
  assert_string_equal(ptx_form(m, ld), "ld.global.v2.u32");
  assert_true(ptx_has(ld, M_GLOBAL) && !ptx_has(ld, M_SHARED));
  assert_int_equal(ld->ops[0].kind, OK_VEC);
  assert_int_equal(ld->ops[0].n, 2);
  assert_string_equal(ld->ops[0].vec[1].reg->name, "%r2");
  assert_true(ld->ops[1].var == m->vars[0]);
  assert_int_equal(ld->ops[1].imm, 12);
  assert_int_equal(ld->ops[1].col, 32); /* of the bracket */
  assert_int_equal(setp->ops[2].kind, OK_IMM);
  assert_int_equal(setp->ops[2].imm, -1);
  assert_true(add->guard && add->guard_neg);
  assert_int_equal(add->ops[2].kind, OK_SREG);
  assert_int_equal(add->ops[2].sreg, SR_TID_Y);
  assert_true(k->code[4].ops[1].is_f32);
  assert_int_equal((uint32_t)k->code[4].ops[1].imm, 0x40000000);
  assert_true(k->code[5].guard && !k->code[5].guard_neg);
  assert_int_equal(k->code[5].target, 7);
  assert_string_equal(st->ops[0].reg->name, "%rd1");
  assert_int_equal(st->ops[0].imm, -4);

  uint16_t use[PTX_MAX_USES], def[PTX_MAX_USES];
  uint32_t uses, defs;
  ptx_uses(ld, use, &uses, def, &defs);
  assert_int_equal(uses, 0);
  assert_int_equal(defs, 2);
  ptx_uses(add, use, &uses, def, &defs);
  assert_int_equal(uses, 2); /* the guard and %r1 */
  assert_int_equal(use[0], add->guard->num);
  ptx_uses(st, use, &uses, def, &defs);
  assert_int_equal(uses, 2);
  assert_int_equal(defs, 0);

  struct inst facts;
  ptx_decode(m, k, ld, &facts);
  assert_int_equal(facts.kind, KIND_LOAD);
  assert_int_equal(facts.space, SPACE_GLOBAL);
  assert_int_equal(facts.elem_bytes, 4);
  assert_int_equal(facts.vec, 2);
  assert_int_equal(facts.addr_reg, 0); /* the address is a symbol */
  assert_int_equal(facts.ptx_line, 12);
  ptx_decode(m, k, add, &facts);
  assert_true(facts.flags & INST_PREDICATED);
  assert_int_equal(facts.pred, add->guard->num);
  assert_int_equal(facts.lat, LAT_INT_ADD);
  ptx_free(m);
}

/* Eviction priorities of an instruction itself, and of the policy that createpolicy made for it. */
static void cache_hints(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum cache_hint l1, l2;
  } rows[] = {{"ld.global.f32 %f1, [%rd1];", HINT_NONE, HINT_NONE},
              {"ld.global.L1::evict_first.f32 %f1, [%rd1];", HINT_FIRST, HINT_NONE},
              {"ld.global.nc.L1::no_allocate.f32 %f1, [%rd1];", HINT_NO_ALLOCATE, HINT_NONE},
              {"ld.global.L1::evict_last.L2::cache_hint.f32 %f1, [%rd1], %rd2;", HINT_LAST, HINT_LAST},
              {"ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd3;", HINT_NONE, HINT_FIRST},
              {"ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd4;", HINT_NONE, HINT_NONE}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
             ".reg .f32 %%f<4>;\n.reg .b64 %%rd<8>;\nld.param.u64 %%rd1, [p];\nld.param.u64 %%rd4, [p];\n"
             "createpolicy.fractional.L2::evict_last.b64 %%rd2, 1.0;\n"
             "createpolicy.fractional.L2::evict_first.b64 %%rd3, 0.5;\n%s\nret;\n}\n",
             rows[i].text);
    struct ptx_module *m = parsed(text);
    const struct ptx_func *k = find_func(m, "k");
    struct inst facts;
    ptx_decode(m, k, &k->code[4], &facts);
    assert_int_equal(facts.hint_l1, rows[i].l1);
    assert_int_equal(facts.hint_l2, rows[i].l2);
    ptx_free(m);
  }
}

/* ---- errors ---- */

/* `body` begins at line 8 of the text. */
static void wrong(const char *body, const char *message) {
  char *text, *line;
  struct err e = {0};
  assert_true(
      asprintf(&text, HEAD ".entry k(.param .u64 p)\n{\n.reg .u32 %%r<4>;\n.reg .pred %%p;\n%s\nret;\n}\n", body) > 0);
  struct ptx_module *m = ptx_new();
  assert_false(ptx_parse(m, text, "t.ptx", &e));
  if ((line = strchr(e.msg, '\n'))) *line = 0;
  assert_string_equal(e.msg, message);
  assert_int_equal(e.code, ERR_INPUT);
  ptx_free(m);
  free(text);
}

static void errors(void **state) {
  (void)state;
  wrong("add.u32 %r1, %r9, 1;", "t.ptx:8:14: register '%r9' is not declared");
  wrong("mov.u32 %r1, 1\nmov.u32 %r2, 2;", "t.ptx:9:1: expected ',' or ';' after operand 2 of mov, found 'mov'");
  wrong("\n\n  bra NOWHERE;", "t.ptx:10:7: 'NOWHERE' is not declared");
  wrong("ld.global.u32 %r1, [nothing+4];", "t.ptx:8:21: 'nothing' is not declared");
  wrong("ld.global.u32 %r1, %r2;", "t.ptx:8:20: operand 2 of ld must be an address in brackets");
  wrong("add.u32 %r1, %r2, %r3, %r3;", "t.ptx:8:24: add takes 3 operands, but there are 4");
  wrong("add.u32 %p, %r1, %r2;", "t.ptx:8:9: operand 1 of add must be a .u32 register, but %p is .pred");
  wrong("  add.u64 %r1, %r2, 1;", "t.ptx:8:11: operand 1 of add must be a .u64 register, but %r1 is .u32");
  wrong("add.u32 5, %r2, 1;", "t.ptx:8:9: operand 1 of add is its destination and must be a register");
  wrong("add.q32 %r1, %r2, 1;", "t.ptx:8:4: '.q32' is no modifier of add; did you mean '.u32'?");
  wrong("@%r1 mov.u32 %r2, 1;", "t.ptx:8:2: the guard must be a .pred register");
  wrong("mov.u32 %r1, 99999999999999999999;", "t.ptx:8:14: '99999999999999999999' does not fit 64 bits");
  wrong("mov.u32 %r1, \"x\";", "t.ptx:8:14: expected an operand, found 'x'");
  wrong(".bogus .u32 x;", "t.ptx:8:1: unknown directive '.bogus' in a function body");
  wrong(".local .align 3 .b8 x[4];", "t.ptx:8:15: an alignment must be a power of two");
  wrong("setp.lt.u32 _|, %r1, 1;", "t.ptx:8:15: expected a predicate after '|', found ','");
  wrong("setp.lt.u32 _|k, %r1, 1;", "t.ptx:8:15: expected a predicate after '|'");
  wrong("setp.lt.u32 %p|], %r1, 1;", "t.ptx:8:16: expected a predicate after '|', found ']'");
  wrong("{ add.u32 %r1, %r2, 1;", "t.ptx:11:1: expected '}' to close the body of 'k' (line 5)");
}

static void no_head(void **state) {
  (void)state;
  struct err e = {0};
  struct ptx_module *m = ptx_new();
  assert_false(ptx_parse(m, "\n.entry k() { ret; }\n", "t.ptx", &e));
  assert_ptr_equal(strstr(e.msg, "t.ptx:1:1: not PTX: there is no .version directive"), e.msg);
  ptx_free(m);
}

/* An instruction that Sluice does not have stops the kernel that executes it, not the module. */
static void unknown_instruction(void **state) {
  (void)state;
  struct ptx_module *m = parsed(HEAD ".entry k()\n{\n.reg .u32 %r<2>;\n.reg .pred %p;\n"
                                     "@%p frobnicate.u32 %r1, 1;\nmov.u32 %r1, 2;\nret;\n}\n");
  const struct ptx_func *k = find_func(m, "k");
  assert_int_equal(k->ncode, 3);
  assert_int_equal(k->code[0].op, OP_TRAP);
  assert_non_null(k->code[0].guard);
  assert_int_equal(k->code[0].line, 8);
  assert_ptr_equal(strstr(k->code[0].refused, "t.ptx:8:5: unknown instruction 'frobnicate'"), k->code[0].refused);
  assert_int_equal(k->code[1].op, OP_MOV);
  assert_null(k->code[1].refused);
  ptx_free(m);
}

/* ---- names between texts ---- */

static bool machine_has(const char *name) {
  return !strcmp(name, "vprintf");
}

/* Two texts, which end with the module; the first line of what went wrong to `e`. */
static struct ptx_module *linked(const char *a, const char *b, bool good, struct err *e) {
  struct ptx_module *m = ptx_new();
  const char *one = arena_printf(&m->arena, HEAD "%s", a), *two = arena_printf(&m->arena, HEAD "%s", b);
  if (!ptx_parse(m, one, "a.ptx", e) || !ptx_parse(m, two, "b.ptx", e)) fail_msg("%s", e->msg);
  if (ptx_link(m, machine_has, e) != good) fail_msg("linked %d: %s", !good, e->msg);
  char *line = strchr(e->msg, '\n');
  if (line) *line = 0;
  return m;
}

static void meets_definitions(void **state) {
  (void)state;
  struct err e = {0};
  struct ptx_module *m = linked(".extern .func (.reg .u32 r) twice (.reg .u32 x);\n"
                                ".extern .func gone;\n"
                                ".extern .func (.reg .u32 r) vprintf (.reg .u64 x, .reg .u64 y);\n"
                                ".extern .global .u32 counter;\n"
                                ".weak .global .u32 both = 1;\n",
                                ".visible .func (.reg .u32 r) twice (.reg .u32 x)\n{\n  add.u32 r, x, x;\n  ret;\n}\n"
                                ".visible .global .u32 counter = 7;\n"
                                ".visible .global .u32 both = 2;\n",
                                true, &e);
  assert_int_equal(m->ntexts, 2);
  assert_int_equal(m->nfuncs, 4);
  struct ptx_func *body = find_func(m, "twice");
  assert_true(body->has_body && body->text == 1 && body->def == body);
  assert_true(m->funcs[0]->is_extern && m->funcs[0]->def == body);
  assert_null(m->funcs[1]->def);                /* in no text, and the machine has none */
  assert_true(m->funcs[2]->def == m->funcs[2]); /* the machine's own */
  assert_true(m->vars[0]->is_extern && m->vars[0]->def == m->vars[2]);
  assert_int_equal(m->vars[2]->init[0].bits, 7);
  assert_true(m->vars[1]->def == m->vars[3]); /* weak gives way */
  assert_true(m->vars[3]->def == m->vars[3]);
  ptx_free(m);
}

static void link_errors(void **state) {
  (void)state;
  struct err e = {0};
  ptx_free(linked("\n.extern .global .u32 nowhere;\n", "", false, &e));
  assert_string_equal(e.msg, "a.ptx:5:1: external variable 'nowhere' is defined in none of the 2 texts");
  e = (struct err){0};
  ptx_free(linked(".visible .func f ()\n{\n  ret;\n}\n", "\n\n.visible .func f ()\n{\n  ret;\n}\n", false, &e));
  assert_string_equal(e.msg, "b.ptx:6:1: 'f' is defined twice (also a.ptx:4)");
  e = (struct err){0};
  ptx_free(linked(".visible .global .u32 v;\n", "\n.visible .global .u32 v;\n", false, &e));
  assert_string_equal(e.msg, "b.ptx:5:1: 'v' is defined twice (also a.ptx:4)");
  e = (struct err){0};
  ptx_free(linked(".func f ()\n{\n  ret;\n}\n", ".func f ()\n{\n  ret;\n}\n", true, &e)); /* each text's own */
}

/* ---- control flow ---- */

static struct ptx_func *analysed(struct ptx_module **m, const char *body) {
  struct err e = {0};
  *m = ptx_new();
  const char *text = arena_printf(
      &(*m)->arena, HEAD ".entry k()\n{\n.reg .u32 %%r<9>;\n.reg .u64 %%rd<9>;\n.reg .pred %%p<4>;\n%s}\n", body);
  if (!ptx_parse(*m, text, "t.ptx", &e)) fail_msg("%s", e.msg);
  struct ptx_func *f = find_func(*m, "k");
  ptx_analyse(*m, f);
  return f;
}

/* Where the branch that is instruction `at` reconverges. */
static void joins(const char *body, uint32_t at, uint32_t target, uint32_t reconv) {
  struct ptx_module *m;
  const struct ptx_func *f = analysed(&m, body);
  assert_int_equal(f->code[at].op, OP_BRA);
  assert_int_equal(f->code[at].target, target);
  assert_int_equal(f->code[at].reconv, reconv);
  ptx_free(m);
}

static void reconvergence(void **state) {
  (void)state;
  /* if (p) r1 = 1; else r1 = 2; -- 0 the branch, 1 and 2 one side, 3 the other, 4 where they meet */
  static const char diamond[] =
      "@%p0 bra A;\nmov.u32 %r1, 2;\nbra B;\nA: mov.u32 %r1, 1;\nB: add.u32 %r1, %r1, 1;\nret;\n";
  joins(diamond, 0, 3, 4);
  joins(diamond, 2, 4, 4);
  /* A loop: back to 0, and on to 2. */
  joins("L: add.u32 %r1, %r1, 1;\n@%p0 bra L;\nmov.u32 %r2, 1;\nret;\n", 1, 0, 2);
  /* One side leaves: they meet nowhere. */
  joins("@%p0 bra A;\nmov.u32 %r1, 2;\nexit;\nA: mov.u32 %r1, 1;\nret;\n", 0, 3, PTX_EXIT);
  joins("@%p0 bra A;\n@%p1 exit;\nA: mov.u32 %r1, 1;\nret;\n", 0, 2, PTX_EXIT);
  /* An if in a loop that breaks out: 0 L, 1 to out, 2 to M, 4 M back, 5 out. */
  static const char breaks[] = "L: add.u32 %r1, %r1, 1;\n@%p0 bra OUT;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\n"
                               "M: bra L;\nOUT: ret;\n";
  joins(breaks, 1, 5, 5);
  joins(breaks, 2, 4, 4);
  /* What never leaves still has an answer. */
  struct ptx_module *m;
  const struct ptx_func *f = analysed(&m, "L: @%p0 bra M;\nadd.u32 %r1, %r1, 1;\nM: bra L;\n");
  assert_int_equal(f->code[0].reconv, 2);
  ptx_free(m);
  f = analysed(&m, "T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 1;\nbra D;\nB: mov.u32 %r2, 2;\n"
                   "C: mov.u32 %r2, 3;\nD: ret;\n");
  assert_int_equal(f->code[0].op, OP_BRX);
  assert_int_equal(f->code[0].reconv, 5); /* C follows B; all meet at D */
  ptx_free(m);
}

static bool live_in(const struct ptx_func *f, uint32_t r) {
  return f->live_in[r / 64] >> (r % 64) & 1;
}

static void liveness(void **state) {
  (void)state;
  struct ptx_module *m;
  /* %r0 is register 1, so %r1 is 2, %r8 is 9, %rd1 is 11. */
  const struct ptx_func *f = analysed(&m, "mov.u32 %r1, 1;\n"
                                          "add.u32 %r2, %r1, %r5;\n"
                                          "add.u32 %r3, %r2, %r1;\n"
                                          "mov.u64 %rd1, 64;\n"
                                          "st.global.u32 [%rd1], %r3;\n"
                                          "ret;\n");
  assert_string_equal(f->regs[6]->name, "%r5");
  for (uint32_t r = 1; r <= f->nregs; r++) assert_int_equal(live_in(f, r), r == 6);
  assert_int_equal(f->live_first[2], 0); /* %r1: written by 0, read last by 2 */
  assert_int_equal(f->live_last[2], 2);
  assert_int_equal(f->live_first[11], 3);
  assert_int_equal(f->live_last[11], 4);
  assert_true(f->live_first[9] > f->live_last[9]); /* %r8 has no use */
  assert_int_equal(f->live_regs, 3);               /* %r3 and the two halves of %rd1 */
  ptx_free(m);
  /* What a loop carries is live in all of it, however late it is read. */
  f = analysed(&m,
               "mov.u32 %r1, 0;\nmov.u32 %r2, 5;\nL: add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p0, %r1, 90;\n@%p0 bra L;\n"
               "mov.u32 %r3, 1;\nret;\n");
  assert_int_equal(f->live_last[3], 4); /* %r2, to the branch back */
  assert_int_equal(f->live_regs, 2);
  for (uint32_t r = 1; r <= f->nregs; r++) assert_false(live_in(f, r));
  ptx_free(m);
  /* A guarded write may leave the old value: it is read. */
  f = analysed(&m, "@%p0 mov.u32 %r1, 1;\nst.global.u32 [64], %r1;\nret;\n");
  assert_true(live_in(f, 2));
  ptx_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(state_spaces),      cmocka_unit_test(operands),
                                     cmocka_unit_test(cache_hints),       cmocka_unit_test(errors),
                                     cmocka_unit_test(no_head),           cmocka_unit_test(unknown_instruction),
                                     cmocka_unit_test(meets_definitions), cmocka_unit_test(link_errors),
                                     cmocka_unit_test(reconvergence),     cmocka_unit_test(liveness)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

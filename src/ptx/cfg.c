/* cfg.c - control flow of one function: immediate post-dominators (where divergent warps reconverge) and liveness
 * (register estimate, registers read before they are written).
 *
 * Post-dominators are of the graph with one virtual exit. A block from which no exit is reachable (an endless loop) is
 * joined to the exit; any choice is correct for code that never ends.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/cfg.h"
#include "ptx/mach.h"

static bool ends_block(const struct ptx_inst *i) {
  return i->op == OP_BRA || i->op == OP_BRX || i->op == OP_RET || i->op == OP_EXIT || i->op == OP_TRAP;
}

static void find_blocks(struct cfg *c) {
  const struct ptx_func *f = c->f;
  uint8_t *leader = mem_zeroed(f->ncode + 1, 1);
  leader[0] = 1;
  for (uint32_t i = 0; i < f->ncode; i++) {
    const struct ptx_inst *in = &f->code[i];
    if (!ends_block(in)) continue;
    leader[i + 1] = 1;
    if (in->op == OP_BRA) leader[in->target] = 1;
    if (in->op == OP_BRX)
      for (int64_t k = 0; k < in->ops[1].imm; k++) leader[in->ops[1].vec[k].imm] = 1;
  }
  c->b = mem_zeroed(f->ncode + 1, sizeof *c->b);
  c->block_of = mem_zeroed(f->ncode + 1, sizeof *c->block_of);
  for (uint32_t i = 0; i < f->ncode; i++) {
    if (leader[i]) c->b[c->n++].first = i;
    c->b[c->n - 1].end = i + 1;
    c->block_of[i] = c->n - 1;
  }
  free(leader);
}

static void find_edges(struct cfg *c) {
  uint32_t exit = c->n;
  for (uint32_t k = 0; k < c->n; k++) {
    struct block *b = &c->b[k];
    const struct ptx_inst *in = &c->f->code[b->end - 1];
    uint32_t next = k + 1 < c->n ? k + 1 : exit;
    if (in->op == OP_BRA) {
      b->succ[b->nsucc++] = c->block_of[in->target];
      if (in->guard) b->succ[b->nsucc++] = next;
    } else if (in->op == OP_BRX) {
      b->targets = in->ops[1].vec;
      b->ntargets = (uint32_t)in->ops[1].imm;
      if (in->guard) b->succ[b->nsucc++] = next;
    } else if (cfg_leaves(in)) {
      b->succ[b->nsucc++] = exit;
      if (in->guard) b->succ[b->nsucc++] = next;
    } else {
      b->succ[b->nsucc++] = next;
    }
  }
}

static void find_graph(struct cfg *c) {
  uint32_t edges = 0;
  for (uint32_t k = 0; k < c->n; k++) edges += cfg_degree(&c->b[k]);
  struct graph_rows r = graph_rows(c->n + 1, edges, c->scratch);
  for (uint32_t k = 0; k < c->n; k++, graph_next(&r))
    for (uint32_t s = 0; s < cfg_degree(&c->b[k]); s++) graph_edge(&r, cfg_successor(c, &c->b[k], s));
  graph_next(&r);
  c->ahead = graph_of(&r);
  c->back = graph_reversed(&c->ahead, c->scratch);
}

static struct dominators find_postdominators(struct cfg *c) {
  uint32_t exit = c->n;
  for (;;) { /* give endless loops an edge to the exit */
    find_graph(c);
    struct dominators post = graph_dominators(&c->back, &c->ahead, exit, c->scratch);
    uint32_t k = exit;
    while (k > 0 && graph_reached(&post, k - 1)) k--;
    if (!k) return post;
    struct block *b = &c->b[k - 1];
    CHECK(b->nsucc < 2, "a block without a way out has a free successor slot");
    b->succ[b->nsucc++] = exit;
  }
}

/* ---- registers ---- */

static void add_use(uint16_t *list, uint32_t *n, const struct ptx_reg *r) {
  if (r && *n < PTX_MAX_USES) list[(*n)++] = r->num;
}

static void operand_uses(const struct ptx_opnd *o, uint16_t *list, uint32_t *n) {
  add_use(list, n, o->reg);
  if (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM)
    for (uint32_t k = 0; k < o->n; k++) operand_uses(&o->vec[k], list, n);
}

/* Number of leading operands that are destinations. */
uint32_t ptx_dests(const struct ptx_inst *i) {
  switch (i->op) {
  case OP_ST:
  case OP_RED:
  case OP_SUST:
  case OP_SURED:
  case OP_BRA:
  case OP_BRX:
  case OP_RET:
  case OP_EXIT:
  case OP_TRAP:
  case OP_MEMBAR:
  case OP_FENCE:
  case OP_CP:
  case OP_PREFETCH:
  case OP_PREFETCHU:
  case OP_NANOSLEEP:
  case OP_PMEVENT:
  case OP_STACKRESTORE:
  case OP_DISCARD:
  case OP_BRKPT:
  case OP_APPLYPRIORITY:
  case OP_GRIDDEPCONTROL:
  case OP_SETMAXNREG:
    return 0;
  case OP_MBARRIER: /* [addr], ... or state, [addr], ... */
    return i->nops && i->ops[0].kind != OK_MEM;
  case OP_WMMA:
    return !ptx_has(i, M_STORE);
  case OP_BAR:
  case OP_BARRIER:
    return ptx_has(i, M_RED);
  default:
    return 1;
  }
}

static bool listed(const uint16_t *list, uint32_t n, uint16_t r) {
  for (uint32_t k = 0; k < n; k++)
    if (list[k] == r) return true;
  return false;
}

/* Of all that a machine instruction executes: what a member has written whole, those after it do not read from outside;
 * what one writes under a guard keeps its old value elsewhere. */
static void group_uses(const struct ptx_mach *m, uint16_t *use, uint32_t *nuse, uint16_t *def, uint32_t *ndef) {
  uint16_t u[PTX_MAX_USES], d[PTX_MAX_USES], whole[PTX_MAX_USES];
  uint32_t nu, nd, nwhole = 0;
  for (uint32_t g = 0; g < m->ngroup; g++) {
    ptx_uses(&m->group[g], u, &nu, d, &nd);
    for (uint32_t k = 0; k < nu; k++)
      if (!listed(whole, nwhole, u[k]) && !listed(use, *nuse, u[k]) && *nuse < PTX_MAX_USES) use[(*nuse)++] = u[k];
    for (uint32_t k = 0; k < nd; k++) {
      bool guarded = m->group[g].guard != NULL;
      if (!listed(def, *ndef, d[k]) && *ndef < PTX_MAX_USES) def[(*ndef)++] = d[k];
      if (!guarded && nwhole < PTX_MAX_USES) whole[nwhole++] = d[k];
      if (guarded && !listed(whole, nwhole, d[k]) && !listed(use, *nuse, d[k]) && *nuse < PTX_MAX_USES)
        use[(*nuse)++] = d[k];
    }
  }
}

void ptx_uses(const struct ptx_inst *i, uint16_t *use, uint32_t *nuse, uint16_t *def, uint32_t *ndef) {
  *nuse = *ndef = 0;
  if (i->mach && !i->mach->own) {
    group_uses(i->mach, use, nuse, def, ndef);
    return;
  }
  add_use(use, nuse, i->guard);
  uint32_t dests = ptx_dests(i);
  for (uint32_t k = 0; k < i->nops; k++) {
    const struct ptx_opnd *o = &i->ops[k];
    if (k < dests && o->kind != OK_MEM) {
      add_use(def, ndef, o->reg);
      add_use(def, ndef, o->reg2);
      for (uint32_t v = 0; (o->kind == OK_VEC || o->kind == OK_LIST) && v < o->n; v++)
        add_use(def, ndef, o->vec[v].reg);
    } else {
      operand_uses(o, use, nuse);
    }
  }
}

static uint32_t weight(const struct ptx_func *f, uint16_t r) {
  uint32_t bytes = ptx_type_bytes[f->regs[r]->type];
  return f->regs[r]->type == T_PRED ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

struct live {
  uint64_t *in, *use, *def;
  uint32_t words;
  uint16_t
      *regs; /* of instruction i: at[2 * i] and on those that it reads, at[2 * i + 1] and on those that it writes */
  uint32_t *at;
};

static void collect_uses(const struct ptx_func *f, struct live *l) {
  uint16_t use[PTX_MAX_USES], def[PTX_MAX_USES];
  uint32_t nu, nd, n = 0, room = 8 * f->ncode + 2 * PTX_MAX_USES;
  l->at = mem_alloc((2 * (size_t)f->ncode + 1) * sizeof *l->at);
  l->regs = mem_alloc(room * sizeof *l->regs);
  for (uint32_t i = 0; i < f->ncode; i++) {
    if (n + 2 * PTX_MAX_USES > room) l->regs = mem_resize(l->regs, room *= 2, sizeof *l->regs);
    ptx_uses(&f->code[i], use, &nu, def, &nd);
    l->at[2 * i] = n;
    l->at[2 * i + 1] = n + nu;
    for (uint32_t k = 0; k < nu; k++) l->regs[n++] = use[k];
    for (uint32_t k = 0; k < nd; k++) l->regs[n++] = def[k];
  }
  l->at[2 * (size_t)f->ncode] = n;
}

static const uint16_t *uses_of(const struct live *l, uint32_t i, uint32_t *n) {
  *n = l->at[2 * i + 1] - l->at[2 * i];
  return l->regs + l->at[2 * i];
}

static const uint16_t *defs_of(const struct live *l, uint32_t i, uint32_t *n) {
  *n = l->at[2 * i + 2] - l->at[2 * i + 1];
  return l->regs + l->at[2 * i + 1];
}

static bool bit_get(const uint64_t *s, uint32_t i) {
  return s[i / 64] >> (i % 64) & 1;
}

/* The first member above `after`, 0 if there is none: bit 0 is no register. */
static uint32_t next_bit(const uint64_t *s, uint32_t words, uint32_t after) {
  uint32_t w = (after + 1) / 64;
  if (w >= words) return 0;
  uint64_t rest = s[w] & ~0ull << (after + 1) % 64;
  while (!rest) {
    if (++w == words) return 0;
    rest = s[w];
  }
  return w * 64 + (uint32_t)__builtin_ctzll(rest);
}

static void local_sets(const struct cfg *c, struct live *l) {
  uint32_t nu, nd;
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t i = c->b[k].end; i-- > c->b[k].first;) {
      const struct ptx_inst *in = &c->f->code[i];
      uint64_t *u = l->use + (size_t)k * l->words, *d = l->def + (size_t)k * l->words;
      const uint16_t *use = uses_of(l, i, &nu), *def = defs_of(l, i, &nd);
      for (uint32_t r = 0; r < nd && !in->guard; r++)
        u[def[r] / 64] &= ~(1ull << def[r] % 64), d[def[r] / 64] |= 1ull << def[r] % 64;
      for (uint32_t r = 0; r < nu; r++) u[use[r] / 64] |= 1ull << use[r] % 64;
    }
}

static void live_out(const struct cfg *c, const struct live *l, uint32_t k, uint64_t *out) {
  memset(out, 0, l->words * 8);
  for (uint32_t s = 0; s < cfg_degree(&c->b[k]); s++) {
    const uint64_t *in = l->in + (size_t)cfg_successor(c, &c->b[k], s) * l->words;
    for (uint32_t w = 0; w < l->words; w++) out[w] |= in[w];
  }
}

static uint32_t max_live(const struct cfg *c, const struct live *l, uint64_t *out) {
  uint32_t best = 0;
  uint32_t nu, nd;
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t now = 0;
    live_out(c, l, k, out);
    for (uint32_t r = next_bit(out, l->words, 0); r; r = next_bit(out, l->words, r)) now += weight(c->f, (uint16_t)r);
    if (now > best) best = now;
    for (uint32_t i = c->b[k].end; i-- > c->b[k].first;) {
      const struct ptx_inst *in = &c->f->code[i];
      const uint16_t *use = uses_of(l, i, &nu), *def = defs_of(l, i, &nd);
      uint32_t extra = 0; /* an unused result still needs a register */
      for (uint32_t r = 0; r < nd; r++) {
        if (!bit_get(out, def[r])) extra += weight(c->f, def[r]);
        else if (!in->guard)
          now -= weight(c->f, def[r]), out[def[r] / 64] &= ~(1ull << def[r] % 64), extra += weight(c->f, def[r]);
      }
      if (now + extra > best) best = now + extra;
      for (uint32_t r = 0; r < nu; r++)
        if (!bit_get(out, use[r])) now += weight(c->f, use[r]), out[use[r] / 64] |= 1ull << use[r] % 64;
      if (now > best) best = now;
    }
  }
  return best;
}

static void cover(struct ptx_func *f, uint32_t r, uint32_t at) {
  if (at < f->live_first[r]) f->live_first[r] = at;
  if (at > f->live_last[r] || f->live_first[r] > f->live_last[r]) f->live_last[r] = at;
}

/* The stretch of each register: its definitions and uses, and every block it lives into or out of. */
static void find_stretches(struct ptx_module *m, struct ptx_func *f, const struct cfg *c, const struct live *l,
                           uint64_t *out) {
  uint32_t n;
  f->live_first = ARENA_ARRAY(&m->arena, uint32_t, f->nregs + 1);
  f->live_last = ARENA_ARRAY(&m->arena, uint32_t, f->nregs + 1);
  memset(f->live_first, 0xff, (f->nregs + 1) * sizeof *f->live_first);
  for (uint32_t k = 0; k < c->n; k++) {
    const uint64_t *in = l->in + (size_t)k * l->words;
    live_out(c, l, k, out);
    for (uint32_t r = next_bit(in, l->words, 0); r; r = next_bit(in, l->words, r)) cover(f, r, c->b[k].first);
    for (uint32_t r = next_bit(out, l->words, 0); r; r = next_bit(out, l->words, r)) cover(f, r, c->b[k].end - 1);
    for (uint32_t i = c->b[k].first; i < c->b[k].end; i++) {
      const uint16_t *use = uses_of(l, i, &n);
      for (uint32_t r = 0; r < n; r++) cover(f, use[r], i);
      const uint16_t *def = defs_of(l, i, &n);
      for (uint32_t r = 0; r < n; r++) cover(f, def[r], i);
    }
  }
}

static void find_liveness(struct ptx_module *m, struct ptx_func *f, const struct cfg *c) {
  struct live l = {.words = f->nregs / 64 + 1};
  size_t n = (size_t)(c->n + 1) * l.words;
  l.in = mem_zeroed(n, 8);
  l.use = mem_zeroed(n, 8);
  l.def = mem_zeroed(n, 8);
  uint64_t *out = mem_zeroed(l.words, 8);
  collect_uses(f, &l);
  local_sets(c, &l);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = c->n; k-- > 0;) {
      live_out(c, &l, k, out);
      for (uint32_t w = 0; w < l.words; w++) {
        size_t at = (size_t)k * l.words + w;
        uint64_t v = l.use[at] | (out[w] & ~l.def[at]);
        if (v != l.in[at]) l.in[at] = v, changed = true;
      }
    }
  }
  f->live_in = ARENA_ARRAY(&m->arena, uint64_t, l.words);
  memcpy(f->live_in, l.in, l.words * 8);
  f->live_regs = max_live(c, &l, out);
  find_stretches(m, f, c, &l, out);
  free(l.regs);
  free(l.at);
  free(l.in);
  free(l.use);
  free(l.def);
  free(out);
}

void ptx_analyse(struct ptx_module *m, struct ptx_func *f) {
  struct arena scratch = {0};
  struct cfg c = {.f = f, .scratch = &scratch};
  find_blocks(&c);
  find_edges(&c);
  struct dominators post = find_postdominators(&c);
  for (uint32_t k = 0; k < c.n; k++) {
    uint32_t d = post.idom[k];
    f->code[c.b[k].end - 1].reconv = d == c.n ? PTX_EXIT : c.b[d].first;
  }
  if (f->mach_regs) cfg_reconverge(m, f, &c);
  find_liveness(m, f, &c);
  free(c.b);
  free(c.block_of);
  arena_free(&scratch);
}

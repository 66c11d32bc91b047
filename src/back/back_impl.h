/* back_impl.h - a function while the back end works on it; shared by the files of src/back. */
#ifndef BACK_BACK_IMPL_H
#define BACK_BACK_IMPL_H

#include "back/back.h"
#include "base/graph.h"
#include "ptx/mach.h"

/* The stack pointer, and two that the machine keeps since Volta (cuobjdump counts them). */
enum { RESERVED_REGISTERS = 3 };
/* The compute capabilities since which there is a uniform datapath, and no instruction has an operand in the constant
 * bank. */
enum { UNIFORM_DATAPATH = 75, NO_BANK_OPERANDS = 90 };
enum { NODE_NONE = 0xFFFFFFFFu, MAX_SEQ = 40, MAX_SRC = 24 };

enum role {
  ROLE_COST, /* takes machine instructions */
  ROLE_FREE, /* takes none: part of its readers, a constant operand, a copy that shares its register */
  ROLE_GONE  /* not executed */
};

/* What keeps an instruction in its place among others. */
enum order {
  ORD_LOAD = 1,   /* reads memory that stores of its space may change */
  ORD_STORE = 2,  /* writes memory */
  ORD_FENCE = 4,  /* no memory access crosses it */
  ORD_WARP = 8,   /* lanes exchange values: in order among themselves */
  ORD_ALL = 16,   /* nothing crosses it */
  ORD_CARRY = 32, /* the condition code: in order among themselves */
  ORD_END = 64    /* ends its block */
};

struct node {
  struct ptx_inst *in; /* NULL: a machine instruction that executes nothing */
  uint32_t block;
  uint8_t role, order, space, nops;
  bool passes;         /* costs nothing, but what it reads ends in a register with several definitions */
  bool spins;          /* of a loop that the back end made of an atomic */
  bool behind;         /* a branch behind copies of a loop that ptxas has in the tests of what is left */
  bool together;       /* a branch that all lanes take the same way */
  bool once;           /* a branch back that is taken only if its counter passes the end of the numbers */
  uint16_t turn;       /* instructions of a turn of the loop that it was in, which is straight code now; 0: none */
  bool parallel;       /* its machine instructions do not wait for each other */
  uint8_t lag;         /* of those: each waits for the one so many before it; 0: for none */
  const uint8_t *ops;  /* enum mach_op; the last one executes */
  uint16_t nuse, ndef; /* PTX registers, a guard among the uses; a guarded result is a use, too */
  const uint16_t *use, *def;
  uint8_t nsrc;
  uint16_t src[MAX_SRC];          /* machine registers read, without constants and what it absorbed */
  uint16_t addr, pred;            /* machine registers of address and guard, 0 none */
  int64_t addr_imm;               /* what is added to it */
  uint8_t operand;                /* as in struct inst */
  uint16_t fresh;                 /* a node without PTX: the register that it writes */
  const struct ptx_inst *line_of; /* a node without PTX: the instruction whose line it has, or NULL */
};

/* Nodes that take the place of those of a function. */
struct node_list {
  struct node *n;
  uint32_t nn, cap;
};

struct fact {
  uint32_t def, defs; /* node of the only definition, NODE_NONE if there are several; how many */
  uint32_t uses;      /* nodes that read it */
  uint32_t absorbed;  /* of these, readers of which its definition is part */
  uint16_t same;      /* the register that it shares with another: 0 its own */
  bool lanes;         /* may differ between the lanes of a warp */
  bool uniform;       /* in a uniform register */
  uint8_t spared;     /* of the 32-bit registers of its type those that it does not take */
  bool ssa;           /* one definition, which all reads come after */
  uint8_t konst;      /* enum konst */
  uint8_t zeros;      /* low bits known to be zero, of an address or what leads to one */
  bool number;        /* K_IMM: no variable's address is part of it */
  int64_t imm;        /* K_IMM: value; of 32 bits with its sign */
};
enum konst { K_NO, K_IMM, K_BANK /* constant bank: parameters, sizes of the grid, addresses of variables */ };

struct bblock {
  uint32_t first, end; /* nodes */
  uint32_t succ[2], nsucc;
  const struct ptx_opnd *targets; /* of brx.idx */
  uint32_t ntargets;
  uint32_t preds, depth;
  uint8_t parts, meets; /* barriers that its end begins, and that end where it begins */
  uint8_t breaks;       /* barriers that some of the lanes leave by its branch */
  bool gathers;         /* those meet the others where it begins */
  bool lands;           /* only a branch through a table leads to it */
  bool parted;          /* other lanes of the warp may be elsewhere */
  bool votes, yields;   /* its branch back gives other lanes a turn; its begin does */
};

struct back {
  struct ptx_module *m;
  struct ptx_func *f;
  const struct back_target *t;
  struct arena *a; /* of the module: what stays */
  struct arena scratch;
  struct node *n;
  uint32_t nn;
  struct bblock *b;
  uint32_t nb;
  struct fact *r;                 /* by register number, 0 to nregs */
  uint32_t nregs, cap_regs, orig; /* orig: those that the PTX declares */
  bool blocks_named;              /* branches name blocks */
  bool dominated;                 /* back_dominates holds for the blocks as they are */
  struct dominators dom;          /* of the graph of blocks, from the first */
  uint32_t *seq, nseq; /* nodes in the order of the machine, block by block; b[].first and end index it then */
};

/* inline.c: afterwards a kernel calls functions of the machine alone, unless that cannot be. */
void back_inline(struct ptx_module *m, struct ptx_func *f);
/* The function with code that a direct call names, or NULL. */
const struct ptx_func *back_callee(const struct ptx_inst *i);
/* facts.c */
void back_open(struct back *k);
void back_blocks(struct back *k);
/* `first`: also decide which registers have one definition, which all reads come after. Guards put in later do not
 * change that. */
void back_facts(struct back *k, bool first);
void back_dominators(struct back *k);
bool back_dominates(const struct back *k, uint32_t a, uint32_t b);
/* Blocks and their successors; node nb is the end of the function. In `scratch`. */
struct graph back_graph(struct back *k);
void back_compact(struct back *k);
struct ptx_inst *back_copy(struct back *k, const struct ptx_inst *i); /* with operands of its own */
void back_copy_operands(struct arena *a, struct ptx_inst *to, const struct ptx_inst *from);
void back_touch(struct back *k, struct node *n); /* after a change of its operands */
void back_set(struct ptx_inst *i, enum ptx_mod m);
struct node *back_append(struct back *k, struct node_list *l, struct ptx_inst *i);
/* The nodes of the list are the function's. to[i]: where what was node i is, to[nn] the end; of nodes with old[i] the
 * branches name nodes as they were. */
void back_replace(struct back *k, const struct node_list *l, const uint32_t *to, const uint8_t *old);
uint16_t back_register(struct back *k, enum ptx_type t);
/* make.c: instructions of PTX that take the place of `of`, at the end of `out`; they have its line. */
struct making {
  struct back *k;
  struct node_list out;
  const struct ptx_inst *of;
};
extern const struct ptx_opnd make_nothing;
struct ptx_opnd make_number(int64_t n);
struct ptx_opnd make_special(enum ptx_sreg s);
struct ptx_opnd make_register(struct making *m, enum ptx_type t);
/* to = op(x, y); y may be nothing. A product is the lower half. */
struct ptx_inst *make_inst(struct making *m, struct ptx_opnd to, enum ptx_opcode op, enum ptx_type t, struct ptx_opnd x,
                           struct ptx_opnd y);
void make_operand(struct making *m, struct ptx_opnd o); /* another one of the last instruction */
/* A branch under a guard to node `to` of the list; returns its place in it. make_landing: to where the list ends. */
uint32_t make_branch(struct making *m, struct ptx_reg *guard, bool neg, uint32_t to);
void make_landing(struct making *m, uint32_t branch);
/* Puts what takes the place of nodes, each at the end of `out`, where `put` does and returns true; m->of: the node's
 * instruction. `longest`: how many nodes there may be then. Nothing where registers would run out. */
void make_over(struct making *m, uint32_t longest, bool (*put)(void *ctx, const struct node *n), void *ctx);
/* Node i at the end of the list, as a node of which branches name nodes as they were (back_replace). */
void back_keep(struct back *k, struct node_list *l, uint32_t i, uint8_t *old);
void back_sink(struct back *k); /* sink.c */
bool back_ends(const struct ptx_inst *i);
struct ptx_inst *back_single(const struct back *k, uint16_t r); /* the definition of a register that has one */
static inline uint16_t back_same(const struct back *k, uint16_t r) {
  while (k->r[r].same) r = k->r[r].same;
  return r;
}
static inline bool back_in_shared(const struct ptx_inst *i) { /* an access that names the space */
  return ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA);
}
static inline bool back_wide(const struct back *k, uint16_t r) {
  return ptx_type_bytes[k->f->regs[r]->type] == 8;
}
bool back_listed(const uint16_t *r, uint32_t n, uint16_t x); /* is x one of them? */
uint32_t back_successors(const struct back *k, uint32_t q);  /* of a block: how many */
uint32_t back_successor(const struct back *k, uint32_t q, uint32_t s);
/* order.c */
const struct ptx_var *back_named(const struct back *k, uint16_t r); /* the variable whose address it holds, or NULL */
void back_orders(struct back *k);
bool back_movable(const struct ptx_inst *i); /* nothing keeps it in its place but the values that it reads */
/* An address as base register (0: none) plus variable plus offset; root: a variable that it lies in, if that is
 * known. */
struct place {
  uint16_t base;
  const struct ptx_var *var, *root;
  int64_t off;
};
struct place back_place(const struct back *k, const struct ptx_opnd *m);
bool back_may_alias(const struct back *k, const struct node *x, const struct node *y);
/* Is the instruction a sum of a register and a constant? */
bool back_adds(const struct back *k, const struct ptx_inst *i, int64_t *c, uint16_t *base);
/* fragments.c: wmma as addresses, ordinary accesses and the machine's products; first of all */
void back_fragments(struct back *k);
/* unroll.c: loops, before anything is known of the registers */
void back_unroll(struct back *k);
/* aggregate.c: atomics of a warp on one word, by one lane; after back_facts */
void back_aggregate(struct back *k);
/* spin.c: atomics in shared memory that are loops; after back_facts */
void back_spin(struct back *k);
/* bytes.c: vectors of bytes and half-words, products of 16 bits; after back_facts */
void back_bytes(struct back *k);
/* locals.c: small arrays in local memory become registers; after back_facts */
void back_locals(struct back *k);
/* fold.c: the value of an instruction whose operands are numbers; sums of sums with constants */
bool back_fold(const struct back *k, const struct ptx_inst *i, int64_t *value);
bool back_join_sums(struct back *k);
/* sums.c: of sums that lead to addresses of shared memory, what is known comes last */
void back_order_sums(struct back *k);
bool back_distribute(struct back *k); /* after back_clean, which is to follow if anything has changed */
/* clean.c: copies, constants, common subexpressions, code without effect */
void back_clean(struct back *k);
void back_drop_unread(struct back *k);
/* flow.c: short branches become predicates, branches to an exit become exits */
void back_predicate(struct back *k);
bool back_only_leaves(const struct back *k, const struct bblock *b);
/* tables.c: comparisons in a row become a branch through a table */
void back_tables(struct back *k);
/* converge.c: after the last change of blocks */
void back_converge(struct back *k);
/* wide.c: adjacent accesses become one */
void back_widen(struct back *k);
/* yield.c: definitions that a copy hands on come after the last read of what it replaces */
void back_yield(struct back *k);
/* waits.c: bblock.votes and .yields; after back_converge. */
void back_waits(struct back *k);
/* expand.c: the machine instructions of one instruction by itself, at most MAX_SEQ; returns how many. back_machine_op:
 * the last of them where there is no sequence. */
uint32_t back_expand(const struct back *k, const struct ptx_inst *i, uint8_t *out);
bool back_branches(const struct back *k, const struct ptx_inst *i); /* around rare operands, in its sequence */
enum mach_op back_machine_op(const struct ptx_inst *i);
uint32_t back_sequence(const struct back *k, const char *seq, uint8_t *out); /* names as enum mach_op */
/* rare.c: the machine instructions for rare operands, at most MAX_SEQ, the last one a branch back; what finds them. */
uint32_t back_rare(const struct back *k, const struct ptx_inst *i, uint8_t *out);
struct ptx_inst *back_rare_test(struct back *k, const struct ptx_inst *i, uint16_t *result);
/* divide.c: the sequence of a division or remainder, or NULL: what expand.def says. */
const char *back_division(const struct back *k, const struct ptx_inst *i);
/* Steps of one set of a matrix product on the machine; 0: it has none. Each waits for the same of the set before. */
uint32_t back_matrix_steps(const struct back *k, const struct ptx_inst *i);
/* select.c. back_pairs: an instruction that makes a pair of its halves, or halves of a pair: it takes none. */
bool back_pairs(const struct ptx_inst *i);
void back_select(struct back *k);
/* halves.c: values of 16 bits, part of back_select */
void back_halves(struct back *k);
/* leaves.c: what a machine instruction reads, with what is part of it. Registers join its sources, constants are
 * counted. */
struct leaves {
  uint16_t konst[16]; /* registers that hold constants */
  int64_t imm[16];
  uint32_t nkonst, nimm;
};
void back_add_source(struct node *u, uint16_t r);
void back_leaf(const struct back *k, struct node *u, uint16_t r, struct leaves *l, uint32_t deep); /* deep: 0 */
void back_leaves(const struct back *k, struct node *u, struct leaves *l); /* without its address and its guard */
/* The definition of a register that is part of its readers, or NULL. */
const struct node *back_part(const struct back *k, uint16_t r);
/* uniform.c: values in uniform registers, since Turing. back_uniform is part of back_select, the other comes after
 * back_operands. */
void back_uniform(struct back *k);
void back_uniform_sets(struct back *k);
const uint8_t *back_uniform_op(uint8_t op); /* what the uniform datapath has for it, or NULL */
/* promote.c: registers that may be uniform whatever reads them (nregs of room); after they are, what makes them. */
uint32_t back_shared_values(struct back *k, uint16_t *out);
void back_promoted(struct back *k);
/* operands.c. Afterwards branches name blocks, not nodes. */
void back_operands(struct back *k);
/* coalesce.c: copies whose two registers become one; after back_operands */
void back_coalesce(struct back *k);
/* The pair of which node n makes the lower half and the one behind it the rest, or 0; n is not the last. */
uint16_t back_pair_of_half(const struct back *k, const struct node *n);
/* pipes.c */
void back_balance(struct back *k);
/* sched.c */
void back_schedule(struct back *k);
/* regs.c: liveness of machine registers, over nodes in text order or, once there is one, in that of the schedule. */
struct live {
  uint64_t *in, *out; /* a row of `words` per block */
  uint32_t words;
};
struct live back_liveness(struct back *k);
const struct node *back_node_at(const struct back *k, uint32_t place); /* of the schedule; without one, of the text */
uint32_t back_weight(const struct back *k, uint16_t r);                /* 32-bit registers that it takes */
/* Machine registers that a node reads and writes, each once; how many. */
uint32_t back_reads(const struct back *k, const struct node *n, uint16_t *out);
uint32_t back_writes(const struct back *k, const struct node *n, uint16_t *out);
bool back_overwrites(const struct node *n); /* whole: not under a guard */
/* banks.c: groups of registers that instructions read together, each on one of two sides; `odd`: by the group's root,
 * the bank of its first side. */
enum { BANK_ANY, BANK_EVEN, BANK_ODD };
struct banks {
  uint16_t *parent;
  uint8_t *side, *odd;
};
struct banks back_banks(struct back *k);
uint8_t back_bank_of(const struct banks *g, uint16_t r);
void back_take_bank(struct banks *g, uint16_t r, bool odd); /* it has a register of that bank, the others follow */
/* places.c: the registers of the schedule but the stack pointer; bank[r] becomes the physical register of machine
 * register r. `apart`: one that an access of memory reads last, late, is used again some instructions after it (ptxas
 * 11.8). */
uint32_t back_registers(struct back *k, uint16_t *bank, bool apart);
uint32_t back_most_registers(const struct back *k, uint32_t used); /* that cost no resident warp more than `used` do */
/* emit.c */
void back_emit(struct back *k);

#endif

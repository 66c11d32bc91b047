/* slt_code.c - static instructions in the trace format: the CODE block, a column per member of `struct inst`. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/slt/slt.h"

_Static_assert(sizeof(struct inst) == 124, "a member of struct inst was added: give it a column here and in "
                                           "docs/reference/trace-format.md, and its check in valid()");

enum { MAX_INSTS = 1 << 24, MAX_FILES = 1 << 16 };

enum column {
  COL_FETCH = 1,
  COL_PIPE,
  COL_KIND,
  COL_LAT,
  COL_SPACE,
  COL_CACHE,
  COL_ELEM,
  COL_VEC,
  COL_FLAGS,
  COL_PRED,
  COL_ADDR,
  COL_NDST,
  COL_NSRC,
  COL_DST,
  COL_SRC,
  COL_DST_ARCH,
  COL_SRC_ARCH,
  COL_ADDR_ARCH,
  COL_PTX_LINE,
  COL_SRC_LINE,
  COL_SRC_FILE,
  COLUMNS,
  COL_TEXT = COLUMNS, /* not of struct inst: the text of the recorder, if any */
  COL_OPERAND,        /* where an instruction has one */
  COL_ASYNC           /* likewise */
};

/* ---- writing ---- */

static void put_list(struct slt_buf *b, const uint16_t *at, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) slt_v(b, at[k]);
}

static void put_column(struct slt_buf *b, enum column c, const struct inst *i, const struct inst *before) {
  switch (c) {
  case COL_FETCH:
    slt_z(b, (int64_t)i->fetch_pc - (int64_t)before->fetch_pc - 8);
    break;
  case COL_PIPE:
    slt_byte(b, i->pipe);
    break;
  case COL_KIND:
    slt_byte(b, i->kind);
    break;
  case COL_LAT:
    slt_byte(b, i->lat);
    break;
  case COL_SPACE:
    slt_byte(b, i->space);
    break;
  case COL_CACHE:
    slt_byte(b, i->cache_op);
    break;
  case COL_ELEM:
    slt_byte(b, i->elem_bytes);
    break;
  case COL_VEC:
    slt_byte(b, i->vec);
    break;
  case COL_FLAGS:
    slt_v(b, i->flags);
    break;
  case COL_PRED:
    slt_v(b, i->pred);
    break;
  case COL_ADDR:
    slt_v(b, i->addr_reg);
    break;
  case COL_NDST:
    slt_byte(b, i->ndst);
    break;
  case COL_NSRC:
    slt_byte(b, i->nsrc);
    break;
  case COL_DST:
    put_list(b, i->dst, i->ndst);
    break;
  case COL_SRC:
    put_list(b, i->src, i->nsrc);
    break;
  case COL_DST_ARCH:
    put_list(b, i->dst_arch, i->ndst);
    break;
  case COL_SRC_ARCH:
    put_list(b, i->src_arch, i->nsrc);
    break;
  case COL_ADDR_ARCH:
    slt_v(b, i->addr_arch);
    break;
  case COL_PTX_LINE:
    slt_z(b, (int64_t)i->ptx_line - (int64_t)before->ptx_line);
    break;
  case COL_SRC_LINE:
    slt_z(b, (int64_t)i->src_line - (int64_t)before->src_line);
    break;
  case COL_SRC_FILE:
    slt_v(b, i->src_file);
    break;
  default:
    slt_byte(b, c == COL_OPERAND ? i->operand : i->async);
  }
}

static void put_columns(struct slt_buf *out, struct slt_buf *col, enum column c, const struct feed_kernel *k) {
  static const struct inst none = {.fetch_pc = (uint32_t)-8};
  col->used = 0;
  for (uint32_t pc = 0; pc < k->insts; pc++) put_column(col, c, &k->code[pc], pc ? &k->code[pc - 1] : &none);
  slt_v(out, c);
  slt_v(out, col->used);
  slt_bytes(out, col->at, col->used);
}

void slt_code_encode(struct slt_buf *out, const struct feed_kernel *k) {
  struct slt_buf col = {0};
  uint32_t nfiles = k->files ? k->nfiles : 0;
  slt_v(out, k->insts);
  slt_v(out, nfiles);
  for (uint32_t f = 0; f < nfiles; f++) slt_text(out, k->files[f]);
  bool operands = false, async = false;
  for (uint32_t pc = 0; pc < k->insts; pc++)
    operands |= k->code[pc].operand != 0, async |= k->code[pc].async != ASYNC_NONE;
  slt_v(out, COLUMNS - 1 + (k->text != NULL) + operands + async);
  for (enum column c = 1; c < COLUMNS; c++) put_columns(out, &col, c, k);
  if (operands) put_columns(out, &col, COL_OPERAND, k);
  if (async) put_columns(out, &col, COL_ASYNC, k);
  if (k->text) {
    col.used = 0;
    for (uint32_t pc = 0; pc < k->insts; pc++) slt_text(&col, k->text[pc] ? k->text[pc] : "");
    slt_v(out, COL_TEXT);
    slt_v(out, col.used);
    slt_bytes(out, col.at, col.used);
  }
  slt_buf_free(&col);
}

/* ---- reading ---- */

static void get_list(struct slt_in *in, uint16_t *at, uint32_t n, uint32_t max) {
  for (uint32_t k = 0; k < n && k < max; k++) at[k] = (uint16_t)slt_in_max(in, UINT16_MAX);
}

static void get_column(struct slt_in *in, uint64_t c, struct inst *i, const struct inst *before) {
  switch (c) {
  case COL_FETCH:
    i->fetch_pc = (uint32_t)(slt_in_z(in) + (int64_t)before->fetch_pc + 8);
    break;
  case COL_PIPE:
    i->pipe = slt_in_byte(in);
    break;
  case COL_KIND:
    i->kind = slt_in_byte(in);
    break;
  case COL_LAT:
    i->lat = slt_in_byte(in);
    break;
  case COL_SPACE:
    i->space = slt_in_byte(in);
    break;
  case COL_CACHE:
    i->cache_op = slt_in_byte(in);
    break;
  case COL_ELEM:
    i->elem_bytes = slt_in_byte(in);
    break;
  case COL_VEC:
    i->vec = slt_in_byte(in);
    break;
  case COL_FLAGS:
    i->flags = (uint16_t)slt_in_max(in, UINT16_MAX);
    break;
  case COL_PRED:
    i->pred = (uint16_t)slt_in_max(in, UINT16_MAX);
    break;
  case COL_ADDR:
    i->addr_reg = (uint16_t)slt_in_max(in, UINT16_MAX);
    break;
  case COL_NDST:
    i->ndst = slt_in_byte(in);
    break;
  case COL_NSRC:
    i->nsrc = slt_in_byte(in);
    break;
  case COL_DST:
    get_list(in, i->dst, i->ndst, INST_MAX_DST);
    break;
  case COL_SRC:
    get_list(in, i->src, i->nsrc, INST_MAX_SRC);
    break;
  case COL_DST_ARCH:
    get_list(in, i->dst_arch, i->ndst, INST_MAX_DST);
    break;
  case COL_SRC_ARCH:
    get_list(in, i->src_arch, i->nsrc, INST_MAX_SRC);
    break;
  case COL_ADDR_ARCH:
    i->addr_arch = (uint16_t)slt_in_max(in, UINT16_MAX);
    break;
  case COL_PTX_LINE:
    i->ptx_line = (uint32_t)(slt_in_z(in) + (int64_t)before->ptx_line);
    break;
  case COL_SRC_LINE:
    i->src_line = (uint32_t)(slt_in_z(in) + (int64_t)before->src_line);
    break;
  case COL_SRC_FILE:
    i->src_file = (uint16_t)slt_in_max(in, UINT16_MAX);
    break;
  case COL_OPERAND:
  case COL_ASYNC:
    *(c == COL_OPERAND ? &i->operand : &i->async) = slt_in_byte(in);
  }
}

/* Every value used by the timing model as an index or a size. */
static const char *valid(const struct inst *i) {
  bool memory = i->kind == KIND_LOAD || i->kind == KIND_STORE || i->kind == KIND_ATOM;
  if (i->pipe > PIPE_MEM) return "a pipe";
  if (i->kind > KIND_EXIT) return "a kind of instruction";
  if (i->lat >= LAT_COUNT) return "a latency class";
  if (i->space > SPACE_GENERIC) return "a memory space";
  if (i->cache_op > CACHE_NC) return "a cache operator";
  if (i->ndst > INST_MAX_DST || i->nsrc > INST_MAX_SRC) return "a number of operands";
  if ((i->pipe == PIPE_MEM) != (memory || i->kind == KIND_FENCE)) return "loads and stores alone in the memory pipe";
  bool copies = i->kind == KIND_LOAD && i->space == SPACE_GLOBAL && !i->ndst;
  if (i->async == ASYNC_COPY ? !copies : i->async && i->kind != KIND_ALU) return "a copy without a register";
  return NULL;
}

static void most_register(struct slt_code *c, const struct inst *i) {
  uint32_t m = i->pred > i->addr_reg ? i->pred : i->addr_reg;
  for (uint32_t k = 0; k < i->ndst; k++) m = i->dst[k] > m ? i->dst[k] : m;
  for (uint32_t k = 0; k < i->nsrc; k++) m = i->src[k] > m ? i->src[k] : m;
  if (m > c->max_reg) c->max_reg = m;
}

static bool read_columns(struct slt_code *c, struct slt_in *in, char *why) {
  uint64_t columns = slt_in_max(in, 1000), seen = 0;
  for (uint64_t n = 0; n < columns && !in->bad; n++) {
    uint64_t id = slt_in_v(in), bytes = slt_in_v(in);
    if (in->bad || bytes > (uint64_t)(in->end - in->p)) break;
    struct slt_in col = {in->p, in->p + bytes, false};
    in->p += bytes;
    if (id == COL_TEXT && !c->text) {
      c->text = mem_zeroed(c->insts + 1, sizeof *c->text);
      for (uint32_t pc = 0; pc < c->insts; pc++)
        if (!(c->text[pc] = slt_in_text(&col)))
          return snprintf(why, 128, "column %d to have %u texts", COL_TEXT, c->insts), false;
    }
    if ((id >= COLUMNS && id != COL_OPERAND && id != COL_ASYNC) || !id) continue;
    bool late = (seen >> COL_DST & 1) || (seen >> COL_SRC & 1);
    if (seen >> id & 1 || (late && (id == COL_NDST || id == COL_NSRC)))
      return snprintf(why, 128, "column %llu once, before the operands", (unsigned long long)id), false;
    seen |= 1ull << id;
    struct inst none = {.fetch_pc = (uint32_t)-8};
    for (uint32_t pc = 0; pc < c->insts && !col.bad; pc++)
      get_column(&col, id, &c->code[pc], pc ? &c->code[pc - 1] : &none);
    if (col.bad || col.p != col.end)
      return snprintf(why, 128, "column %llu to have %u values", (unsigned long long)id, c->insts), false;
  }
  return !in->bad || (snprintf(why, 128, "%llu columns", (unsigned long long)columns), false);
}

static bool read_code(struct slt_code *c, struct slt_in *in, char *why) {
  c->insts = (uint32_t)slt_in_max(in, MAX_INSTS);
  c->nfiles = (uint32_t)slt_in_max(in, MAX_FILES);
  uint64_t left = (uint64_t)(in->end - in->p);
  /* An instruction takes at least one byte of some column, a file's name one. */
  if (in->bad || !c->insts || c->insts > left || c->nfiles > left)
    return snprintf(why, 128, "the number of instructions and files"), false;
  c->code = mem_zeroed(c->insts + 1, sizeof *c->code);
  c->files = mem_zeroed(c->nfiles + 1, sizeof *c->files);
  c->cls = mem_zeroed(c->insts + 1, 1);
  c->slot = mem_zeroed(c->insts + 1, 1);
  c->plain = mem_zeroed(c->insts + 1, sizeof *c->plain);
  for (uint32_t f = 0; f < c->nfiles; f++) {
    c->files[f] = slt_in_text(in);
    if (!c->files[f]) return snprintf(why, 128, "%u names of source files", c->nfiles), false;
    if (!*c->files[f]) free(c->files[f]), c->files[f] = NULL;
  }
  if (!read_columns(c, in, why)) return false;
  c->code[c->insts].fetch_pc = c->code[c->insts - 1].fetch_pc + 8;
  for (uint32_t pc = 0; pc < c->insts; pc++) {
    c->code[pc].pc = pc;
    const char *wrong = valid(&c->code[pc]);
    if (wrong) return snprintf(why, 128, "%s at instruction %u", wrong, pc), false;
    most_register(c, &c->code[pc]);
  }
  return true;
}

bool slt_code_decode(struct slt_code *c, struct slt_in in, char why[static 128]) {
  *c = (struct slt_code){0};
  if (!read_code(c, &in, why)) {
    slt_code_free(c);
    return false;
  }
  slt_classify(c->code, c->insts, c->cls, c->slot);
  for (uint32_t pc = 0; pc < c->insts; pc++)
    if (c->cls[pc] & SLT_ACCESS && c->slot[pc] >= c->entries) c->entries = c->slot[pc] + 1u;
  for (uint32_t pc = c->insts; pc--;)
    c->plain[pc] = c->cls[pc] & (SLT_GUARD | SLT_BARRIER | SLT_ACCESS) ? 0 : c->plain[pc + 1] + 1;
  return true;
}

void slt_classify(const struct inst *code, uint32_t insts, uint8_t *cls, uint8_t *slot) {
  uint32_t n = 0;
  for (uint32_t pc = 0; pc < insts; pc++) {
    const struct inst *i = &code[pc];
    cls[pc] = i->flags & INST_PREDICATED ? SLT_GUARD : 0;
    if (i->kind == KIND_BRANCH) cls[pc] |= SLT_BRANCH;
    if (i->kind == KIND_BARRIER) cls[pc] |= SLT_BARRIER;
    if (i->kind != KIND_LOAD && i->kind != KIND_STORE && i->kind != KIND_ATOM) continue;
    cls[pc] |= SLT_ACCESS;
    slot[pc] = (uint8_t)(n++ % SLT_ENTRIES);
  }
}

void slt_code_free(struct slt_code *c) {
  for (uint32_t f = 0; c->files && f < c->nfiles; f++) free(c->files[f]);
  for (uint32_t pc = 0; c->text && pc < c->insts; pc++) free(c->text[pc]);
  free(c->text);
  free(c->files);
  free(c->code);
  free(c->cls);
  free(c->slot);
  free(c->plain);
  *c = (struct slt_code){0};
}

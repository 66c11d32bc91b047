/* sass.c - see sass.h. */
#include "trace/accel/sass.h"

#include <string.h>

#define SASS(name, unit) {name, sizeof name - 1, U_##unit},
static const struct {
  const char *name;
  size_t n;
  enum sass_unit unit;
} table[] = {
#include "trace/accel/sass.def"
};
#undef SASS

static size_t part(const char *p, const char *end) { /* up to the next dot */
  const char *dot = memchr(p, '.', (size_t)(end - p));
  return (size_t)((dot ? dot : end) - p);
}

enum sass_unit sass_unit_of(const char *opcode, size_t n) {
  size_t len = part(opcode, opcode + n);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].n == len && !memcmp(table[i].name, opcode, len)) return table[i].unit;
  return U_UNKNOWN;
}

unsigned sass_width(const char *opcode, size_t n) {
  const char *end = opcode + n;
  for (const char *p = opcode + part(opcode, end); p < end;) {
    const char *w = ++p;
    size_t len = part(p, end), digits = 0;
    p += len;
    if (len > 1 && *w == 'U') w++, len--;
    unsigned bits = 0;
    for (; digits < len && w[digits] >= '0' && w[digits] <= '9' && digits < 4; digits++)
      bits = bits * 10 + (unsigned)(w[digits] - '0');
    if (len && digits == len && bits >= 8) return bits / 8;
  }
  return 4;
}

bool sass_has(const char *opcode, size_t n, const char *modifier) {
  const char *end = opcode + n;
  size_t m = strlen(modifier);
  for (const char *p = opcode + part(opcode, end); p < end;) {
    size_t len = part(++p, end);
    if (len == m && !memcmp(p, modifier, m)) return true;
    p += len;
  }
  return false;
}

static void arithmetic(struct inst *i, uint8_t pipe, uint8_t lat, uint16_t flags) {
  i->kind = KIND_ALU;
  i->pipe = pipe;
  i->lat = lat;
  i->flags |= flags;
}

static void memory_op(struct inst *i, uint8_t kind, uint8_t space) {
  i->kind = kind;
  i->pipe = PIPE_MEM;
  i->lat = LAT_ONE;
  i->space = space;
}

static void control(struct inst *i, uint8_t kind) {
  i->kind = kind;
  i->pipe = PIPE_SP;
  i->lat = LAT_ONE;
}

static bool classify_memory(struct inst *i, enum sass_unit u) {
  switch (u) {
  case U_LOAD_GENERIC:
    memory_op(i, KIND_LOAD, SPACE_GENERIC);
    return true;
  case U_LOAD_GLOBAL:
    memory_op(i, KIND_LOAD, SPACE_GLOBAL);
    return true;
  case U_LOAD_LOCAL:
    memory_op(i, KIND_LOAD, SPACE_LOCAL);
    return true;
  case U_LOAD_SHARED:
    memory_op(i, KIND_LOAD, SPACE_SHARED);
    return true;
  case U_LOAD_CONST:
    memory_op(i, KIND_LOAD, SPACE_CONST);
    return true;
  case U_TEXTURE:
    memory_op(i, KIND_LOAD, SPACE_TEX);
    return true;
  case U_COPY_ASYNC:
  case U_BULK:
    memory_op(i, KIND_LOAD, SPACE_GLOBAL);
    return true;
  case U_STORE_GENERIC:
    memory_op(i, KIND_STORE, SPACE_GENERIC);
    return true;
  case U_STORE_GLOBAL:
    memory_op(i, KIND_STORE, SPACE_GLOBAL);
    return true;
  case U_STORE_LOCAL:
    memory_op(i, KIND_STORE, SPACE_LOCAL);
    return true;
  case U_STORE_SHARED:
    memory_op(i, KIND_STORE, SPACE_SHARED);
    return true;
  case U_ATOM_GENERIC:
    memory_op(i, KIND_ATOM, SPACE_GENERIC);
    return true;
  case U_ATOM_GLOBAL:
    memory_op(i, KIND_ATOM, SPACE_GLOBAL);
    return true;
  case U_ATOM_SHARED:
    memory_op(i, KIND_ATOM, SPACE_SHARED);
    return true;
  case U_RED_GLOBAL:
    memory_op(i, KIND_ATOM, SPACE_GLOBAL);
    i->flags |= INST_NO_RESULT;
    return true;
  default:
    return false;
  }
}

static bool classify_float(struct inst *i, enum sass_unit u) {
  switch (u) {
  case U_F32_ADD:
    arithmetic(i, PIPE_SP, LAT_F32_ADD, INST_FLOAT);
    return true;
  case U_F32_FMA:
    arithmetic(i, PIPE_SP, LAT_F32_FMA, INST_FLOAT);
    return true;
  case U_F32_MAX:
    arithmetic(i, PIPE_SP, LAT_F32_ADD, INST_FLOAT);
    return true; /* as fast as an add since Kepler */
  case U_F32_MUL:
    arithmetic(i, PIPE_SP, LAT_F32_MUL, INST_FLOAT);
    return true;
  case U_F16:
    arithmetic(i, PIPE_SP, LAT_F32_FMA, INST_FLOAT);
    return true;
  case U_TENSOR:
    arithmetic(i, PIPE_SFU, LAT_TENSOR, INST_FLOAT);
    return true;
  case U_F64_ADD:
    arithmetic(i, PIPE_SFU, LAT_F64_ADD, INST_F64 | INST_FLOAT);
    return true;
  case U_F64_FMA:
    arithmetic(i, PIPE_SFU, LAT_F64_FMA, INST_F64 | INST_FLOAT);
    return true;
  case U_F64_MUL:
    arithmetic(i, PIPE_SFU, LAT_F64_MUL, INST_F64 | INST_FLOAT);
    return true;
  case U_F64_MAX:
    arithmetic(i, PIPE_SFU, LAT_F64_ADD, INST_F64 | INST_FLOAT);
    return true;
  default:
    return false;
  }
}

static void classify_rest(struct inst *i, enum sass_unit u, unsigned version) {
  if (classify_float(i, u)) return;
  switch (u) {
  case U_INT_ADD:
    arithmetic(i, PIPE_SP, LAT_INT_ADD, 0);
    break;
  case U_INT_MAD:
    arithmetic(i, PIPE_SP, version >= 70 ? LAT_INT_MAD : LAT_INT_MUL, 0);
    break;
  case U_INT_MUL:
    arithmetic(i, PIPE_SP, LAT_INT_MUL, 0);
    break;
  case U_INT_SLOW:
    arithmetic(i, PIPE_SFU, LAT_SFU, 0);
    break; /* quarter rate, with the conversions */
  case U_CONVERT:
  case U_SFU:
    arithmetic(i, PIPE_SFU, LAT_SFU, INST_FLOAT);
    break;
  case U_SHUFFLE:
    arithmetic(i, PIPE_SP, LAT_SHFL, 0);
    break;
  case U_SPECIAL: /* by the load/store unit, as shuffles */
    arithmetic(i, PIPE_SP, version >= 70 ? LAT_SHFL : LAT_ONE, 0);
    break;
  case U_BRANCH:
    control(i, KIND_BRANCH);
    break;
  case U_CALL:
    control(i, KIND_CALL);
    break;
  case U_RET:
    control(i, KIND_RET);
    break;
  case U_EXIT:
    control(i, KIND_EXIT);
    break;
  case U_BARRIER:
    control(i, KIND_BARRIER);
    break;
  case U_FENCE:
    control(i, KIND_FENCE);
    i->pipe = PIPE_MEM; /* after the preceding memory instructions */
    break;
  default:
    arithmetic(i, PIPE_SP, LAT_ONE, 0);
    break; /* moves, logic, uniform datapath, special registers, unknown */
  }
}

void sass_classify(struct inst *i, const char *opcode, size_t n, bool memory, unsigned version) {
  enum sass_unit u = sass_unit_of(opcode, n);
  i->cache_op = CACHE_CA;
  if (memory && classify_memory(i, u)) {
    unsigned w = sass_width(opcode, n);
    if (u == U_LOAD_SHARED && !memcmp(opcode, "LDSM", 4)) w = 16; /* a row of a matrix per lane */
    i->elem_bytes = (uint8_t)(w > 4 ? w > 8 ? 4 : 8 : w);
    i->vec = (uint8_t)(w / i->elem_bytes);
    /* Loads that must see other SMs' stores bypass the L1. */
    if (i->kind == KIND_LOAD && sass_has(opcode, n, "STRONG") &&
        (sass_has(opcode, n, "GPU") || sass_has(opcode, n, "SYS")))
      i->cache_op = CACHE_CG;
    return;
  }
  classify_rest(i, u, version);
  if (u == U_TENSOR && sass_has(opcode, n, "F16")) i->lat = LAT_TENSOR_F16;
  if ((u == U_BARRIER) && !sass_has(opcode, n, "SYNC") && !sass_has(opcode, n, "RED") &&
      !sass_has(opcode, n, "SYNCALL"))
    arithmetic(i, PIPE_SP, LAT_ONE, 0); /* BAR.ARV: the trace does not name the barrier */
}

/* ops.h - operations by the name of their opcode. */
#ifndef BENCH_SASS_OPS_H
#define BENCH_SASS_OPS_H

#include "sass.h"

#define SASS_OP(name, function) void op_##function(struct step *s);
#include "ops.def"
#undef SASS_OP

#endif

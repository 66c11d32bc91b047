/* mach.c - the table behind mach.def. */
#include "ptx/mach.h"

const struct mach_info mach_infos[MO_COUNT] = {
#define MACH(name, cls, lat, pipe, flags) [MO_##name] = {#name, MC_##cls, LAT_##lat, PIPE_##pipe, flags},
#include "ptx/mach.def"
#undef MACH
};

const char *const mach_class_names[MC_COUNT] = {
    "fp32", "fp64", "fp16", "tensor", "imad", "int", "mov",  "setp", "sfu",    "cvt",  "ldg", "stg",     "lds",
    "sts",  "ldl",  "stl",  "ldc",    "atom", "tex", "shfl", "bar",  "branch", "sync", "s2r", "uniform", "other"};

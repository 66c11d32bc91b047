/* swl_best.c - swl-best: a search over `warps` of swl, run as one machine per value; the fastest is kept and reported.
 *
 * Paper: Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012, section 5.
 * BUCL section V and Table III: the best static limit of each program, of all that an SM of 48 warps can have.
 *
 * Deviations: none beside those of swl.c.
 */
#include "gpu/scheme.h"

static const double values[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
                                33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48};
static const struct scheme_sweep sweep = {
    .base = "swl", .param = "warps", .values = values, .count = sizeof values / sizeof *values};

static const struct scheme swl_best = {
    .name = "swl-best",
    .title = "static warp limiting, best limit",
    .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012, section 5",
    .idea =
        "The limit with which a program runs fastest, found by search. BUCL's Table III lists those of its programs.",
    .sweep = &sweep,
};
SCHEME(swl_best);

/* pdp_best.c - pdp-best: a search over `pd` of pdp, run as one machine per value; the fastest is kept and reported.
 *
 * Paper: Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum: Dynamic Reuse Distances. MICRO 2012.
 * Li et al., ICS 2015, section 6.1: PDP-best searches the distance exhaustively; these twelve values up to the paper's
 * 256.
 *
 * Deviations: none beside those of pdp.c.
 */
#include "gpu/scheme.h"

static const double values[] = {4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
static const struct scheme_sweep sweep = {
    .base = "pdp", .param = "pd", .values = values, .count = sizeof values / sizeof *values};

static const struct scheme pdp_best = {
    .name = "pdp-best",
    .title = "static protecting distance, best distance",
    .paper = "Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum: Dynamic Reuse Distances. MICRO 2012",
    .idea = "The protecting distance with which a program runs fastest, found by search.",
    .sweep = &sweep,
};
SCHEME(pdp_best);

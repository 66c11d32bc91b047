/* figures_draw.h - draw figures with Node.js and ECharts. */
#ifndef CLI_CMD_FIGURES_DRAW_H
#define CLI_CMD_FIGURES_DRAW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Draw what `doc` describes (web/paper.mjs) into the folder `dir`, which is made if it is missing: FIGURE.svg, .pdf,
 * .png and .csv for each of its `figures`, and figures.json. A line for each goes to standard output, with `aside` to
 * standard error. Takes the caller's reference of `doc`. False: node or a script is missing, or a file cannot be
 * written. */
bool figures_draw(json_t *doc, const char *dir, bool aside, struct err *e);

#endif

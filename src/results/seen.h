/* seen.h - closer looks at a launch as parts of its entry in the record (private to src/results). */
#ifndef RESULTS_SEEN_H
#define RESULTS_SEEN_H

#include <jansson.h>

struct gpu_seen;

struct gpu_l2_character;
struct gpu_l2_sums;

/* Of a launch; and of the totals, as "character.*" values. */
void seen_l2_to_json(json_t *launch, const struct gpu_l2_character *c);
void seen_l2_to_totals(json_t *totals, const struct gpu_l2_sums *s);
void seen_to_json(json_t *launch, const struct gpu_seen *seen);
json_t *profile_to_json(const struct gpu_seen *seen); /* NULL without one */

#endif

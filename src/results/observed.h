/* observed.h - observations of a launch as parts of its entry in the record (private to src/results). */
#ifndef RESULTS_OBSERVED_H
#define RESULTS_OBSERVED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct gpu_observed;

struct gpu_l2_character;
struct gpu_l2_sums;

/* Of a launch; and of the totals, as "character.*" values. `to_fold`: values that can be added over launches; means
 * become pairs of sum and count, and time series are omitted. */
void observed_l2_to_json(json_t *launch, const struct gpu_l2_character *c, bool to_fold);
void observed_l2_to_totals(json_t *totals, const struct gpu_l2_sums *s);
void observed_to_json(json_t *launch, const struct gpu_observed *observed, bool to_fold);
json_t *observed_mean(uint64_t sum, uint64_t count, bool to_fold);
/* Add the `to_fold` values of another launch; at the end, turn pairs into means. */
void observed_fold(json_t *into, const json_t *more);
void observed_fold_end(json_t *folded);
json_t *profile_to_json(const struct gpu_observed *observed); /* NULL without one */

#endif

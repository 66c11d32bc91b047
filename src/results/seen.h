/* seen.h - closer looks at a launch as parts of its entry in the record (private to src/results). */
#ifndef RESULTS_SEEN_H
#define RESULTS_SEEN_H

#include <jansson.h>

struct gpu_seen;
struct feed_kernel;

void seen_to_json(json_t *launch, const struct gpu_seen *seen, const struct feed_kernel *k);
json_t *profile_to_json(const struct gpu_seen *seen); /* NULL without one */

#endif

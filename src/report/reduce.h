/* reduce.h - a result record cut down to what the report's page shows, so that the page's size does not follow the
 * number of launches (private to src/report).
 */
#ifndef REPORT_REDUCE_H
#define REPORT_REDUCE_H

#include <jansson.h>
#include <stdbool.h>

/* A new document. Launches of one kernel are put together; per instruction figures by source line over all launches.
 * With `first`, knobs equal to those of that record are left out of its "config". */
json_t *reduce_record(json_t *record, const json_t *first);
/* Halve the time resolution of a reduced record's profile; false if it has none, or next to nothing would be left. */
bool reduce_profile(json_t *run);
/* Drop the colder half of its source lines; false when few are left. */
bool reduce_lines(json_t *run);
/* The source files that the lines of reduced records name, as far as they can be read, at most `limit` bytes. */
json_t *reduce_sources(const json_t *runs, size_t limit);

#endif

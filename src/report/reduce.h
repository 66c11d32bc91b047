/* reduce.h - reduces a result record to the content of the report page, so that the page's size does not grow with the
 * number of launches (private to src/report).
 */
#ifndef REPORT_REDUCE_H
#define REPORT_REDUCE_H

#include <jansson.h>
#include <stdbool.h>

/* A new document. Launches of one kernel are merged; instruction figures become figures per source line over all
 * launches. With `first`, knobs equal to that record's are omitted from "config". */
json_t *reduce_record(json_t *record, const json_t *first);
/* Halve the time resolution of a reduced record's profile; false if there is none or it is at its minimum. */
bool reduce_profile(json_t *run);
/* Remove the colder half of the source lines; false when few are left. */
bool reduce_lines(json_t *run);
/* The readable source files named by the lines of reduced records, at most `limit` bytes. */
json_t *reduce_sources(const json_t *runs, size_t limit);

#endif

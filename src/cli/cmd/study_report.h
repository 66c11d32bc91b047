/* study_report.h - the HTML report of a study. */
#ifndef CLI_CMD_STUDY_REPORT_H
#define CLI_CMD_STUDY_REPORT_H

#include "base/err.h"
#include "results/db.h"

/* Write the runs of `study` that are done to a self-contained page at `path`; `file` is the study file, for the command
 * that reproduces it. */
bool study_report(struct db *db, const char *study, const char *file, const char *path, struct err *e);

#endif

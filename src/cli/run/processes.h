/* processes.h - the records of the processes of one run: of the program itself, of those that it forked or started, of
 * what it became by exec. Each leaves its state in the run's private folder (results/ledger.h), and its record if it
 * came to write one.
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <sys/types.h>

#include "proc/child.h"

/* Make one record of them, the file `record` in the folder: that of the process that was started, if it launched
 * anything, else of the first that did; the others as its "processes". `status` is how the program ended. False with
 * `e` (ERR_NONE: no process left anything). */
bool processes_collect(const struct tempdir *t, const struct sim_options *o, char *const *argv, pid_t started,
                       int status, const char *record, struct err *e);

#endif

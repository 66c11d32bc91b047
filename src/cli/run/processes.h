/* processes.h - the records of the processes of one run: the program itself, processes that it forked or started,
 * programs that replaced it by exec. Each leaves its state in the run's private folder (results/ledger.h), and its
 * record if it could write one.
 */
#ifndef CLI_RUN_PROCESSES_H
#define CLI_RUN_PROCESSES_H

#include <sys/types.h>

#include "proc/child.h"

/* Combine them into the file `record` in the folder: the record of the first process if it launched anything, else of
 * the first that did; the others as its "processes". `status` is the program's end. False with `e` (ERR_NONE: no
 * process left anything). */
bool processes_collect(const struct tempdir *t, const struct sim_options *o, char *const *argv, pid_t started,
                       int status, const char *record, struct err *e);

#endif

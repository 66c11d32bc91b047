/* orphans.h - processes that outlive the program of a run. */
#ifndef PROC_ORPHANS_H
#define PROC_ORPHANS_H

/* After the program has ended: wait for processes that it left behind and that are simulating. They must have become
 * children of this process (PR_SET_CHILD_SUBREAPER). */
void processes_wait(void);

#endif

/* sluice.h - what a program needs that embeds the simulator: one include, `pkg-config --cflags --libs libsluice`.
 *
 * Order of use: session_open (a machine, a scheme); simt_load, simt_mem_alloc and simt_mem_at on session_simt (PTX and
 * memory); session_launch, or session_replay for a recorded trace; session_close, which writes the record; record_open
 * and record_value read it. Errors come back in a struct err; nothing here exits, except on a broken invariant of
 * Sluice itself. examples/embed.c is a whole program. There is no promise yet that these interfaces stay as they are.
 */
#ifndef SLUICE_H
#define SLUICE_H

#include "base/err.h"        /* struct err */
#include "gpu/slots/slots.h" /* the schemes there are, and what each declares */
#include "results/record.h"  /* reading results */
#include "session/replay.h"  /* traces through a session */
#include "session/session.h" /* one simulated GPU as a program sees it */
#include "simt/simt.h"       /* PTX, kernels, device memory */

#endif

/* slt_read.h - our own trace files as a trace_input. Private to the room: callers use trace_open. */
#ifndef TRACE_SLT_READ_H
#define TRACE_SLT_READ_H

#include "trace/common/input.h"

struct trace_input *slt_open(const char *path, bool salvage, struct err *e);

#endif

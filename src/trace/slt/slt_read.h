/* slt_read.h - .slt files as a trace_input. Private to this folder: callers use trace_open. */
#ifndef TRACE_SLT_SLT_READ_H
#define TRACE_SLT_SLT_READ_H

#include "trace/common/input.h"

struct trace_input *slt_open(const char *path, bool salvage, struct err *e);

#endif

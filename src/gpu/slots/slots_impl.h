/* slots_impl.h - reading a list of schemes: shared by scheme.c and sweep.c. */
#ifndef GPU_SLOTS_SLOTS_IMPL_H
#define GPU_SLOTS_SLOTS_IMPL_H

#include "gpu/slots/slots.h"

/* The separator that ends the first scheme of a list; NULL at its end. A '+' before another separator, a value or the
 * end belongs to a name ("tsc+", "tsc++bucl"). */
char *slots_separator(char *list);
/* "name", "name=value", "name:param=value/param=value" in `text`, which it overwrites, as an instance; `in->scheme`
 * stays NULL for the baseline. */
bool slots_parse_instance(struct slot_instance *in, char *text, struct err *e);

#endif

/* tables.h - the tables that `sluice run` prints of a record. */
#ifndef CLI_TABLES_TABLES_H
#define CLI_TABLES_TABLES_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "results/record.h"

/* The number of a key; 0 without it. */
static inline double number_at(const json_t *o, const char *key) {
  return json_number_value(json_object_get(o, key));
}
static inline json_int_t integer_at(const json_t *o, const char *key) {
  return json_integer_value(json_object_get(o, key));
}
/* Mangled names of C++ kernels: _Z6kernelPfi is "kernel", a long nested one such as _ZN3lib6KernelI... "lib::Kernel".
 * Others stay as they are, up to a width. */
void kernel_short_name(char *out, size_t size, const char *name);
/* The short table of `sluice run`. */
void summary_print(const struct record_file *r, FILE *f);
/* How the program ended, if not in order, and the tables of its other processes. */
void summary_print_processes(const struct record_file *r, FILE *f);
/* Loads by un-coalescing degree, and use of lines. */
void character_print(const struct record_file *r, FILE *f);
void character_reuse_print(const struct record_file *r, FILE *f); /* its part on reuse and causes of misses */
/* The source lines whose instructions blocked the memory pipes longest. */
void lines_print(const struct record_file *r, FILE *f);

#endif

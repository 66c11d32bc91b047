/* mem.h - memory that is there, or an end of whatever asked for it: a caller need not look. Where none is left, err_die
 * says how much was wanted. Memory of zero bytes is a pointer that may be freed. All of it is freed with free(). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* `bytes` bytes, their content undefined. */
void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
/* `n` elements of `size` bytes, all zero. */
void *mem_zeroed(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* The same, aligned to the host's cache lines of 64 bytes. */
void *mem_lines(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* `p` (NULL: nothing yet) with room for `n` elements of `size` bytes; what is new is undefined. */
void *mem_resize(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
/* A copy of a text; of its first `n` bytes at most. */
char *mem_text(const char *s) __attribute__((malloc, returns_nonnull));
char *mem_text_n(const char *s, size_t n) __attribute__((malloc, returns_nonnull));

#endif

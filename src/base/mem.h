/* mem.h - allocation that never returns NULL: without memory err_die reports how much was requested. Memory of zero
 * bytes is a valid pointer. Everything is freed with free(). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* `bytes` bytes, their content undefined. */
void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
/* `n` elements of `size` bytes, all zero. */
void *mem_zeroed(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* The same, aligned to the host's cache lines of 64 bytes. */
void *mem_lines(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* `p` (NULL: no memory yet) with room for `n` elements of `size` bytes; added elements are undefined. */
void *mem_resize(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
/* A copy of a text; of its first `n` bytes at most. */
char *mem_text(const char *s) __attribute__((malloc, returns_nonnull));
char *mem_text_n(const char *s, size_t n) __attribute__((malloc, returns_nonnull));

#endif

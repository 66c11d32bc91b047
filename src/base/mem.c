/* mem.c - see mem.h. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Of `n` elements of `size`, at least one byte. */
static size_t checked_bytes(size_t n, size_t size) {
  size_t bytes;
  CHECK(!__builtin_mul_overflow(n, size, &bytes), "out of memory: %zu elements of %zu bytes", n, size);
  return bytes ? bytes : 1;
}

void *mem_alloc(size_t bytes) {
  void *p = malloc(bytes ? bytes : 1);
  CHECK(p, "out of memory: %zu bytes", bytes);
  return p;
}

void *mem_zeroed(size_t n, size_t size) {
  void *p = calloc(1, checked_bytes(n, size));
  CHECK(p, "out of memory: %zu elements of %zu bytes", n, size);
  return p;
}

void *mem_lines(size_t n, size_t size) {
  size_t bytes = checked_bytes(n, size), whole = (bytes + 63) & ~(size_t)63;
  void *p = whole >= bytes ? aligned_alloc(64, whole) : NULL;
  CHECK(p, "out of memory: %zu elements of %zu bytes", n, size);
  return memset(p, 0, whole);
}

void *mem_resize(void *p, size_t n, size_t size) {
  void *q = realloc(p, checked_bytes(n, size));
  CHECK(q, "out of memory: %zu elements of %zu bytes", n, size);
  return q;
}

char *mem_text_n(const char *s, size_t n) {
  size_t length = strnlen(s, n);
  char *p = mem_alloc(length + 1);
  memcpy(p, s, length);
  p[length] = 0;
  return p;
}

char *mem_text(const char *s) {
  return mem_text_n(s, strlen(s));
}

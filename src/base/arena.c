/* arena.c - bump allocator behind arena.h. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct arena_block {
  struct arena_block *next;
  size_t size, used;
  char *data, *memory; /* 64-byte aligned; the block that holds it */
};

/* Blocks double in size. Memory is cleared when it is handed out, so the unused rest of the last block is never
 * touched. */
enum { FIRST_BLOCK = 32 * 1024, LAST_BLOCK = 1024 * 1024 };

static struct arena_block *block_new(size_t size) {
  struct arena_block *b = mem_alloc(sizeof *b);
  size_t bytes = (size + 63) & ~(size_t)63;
  char *memory = mem_alloc(bytes + 63);
  *b = (struct arena_block){.size = bytes, .data = memory + (-(uintptr_t)memory & 63), .memory = memory};
  return b;
}

void *arena_alloc(struct arena *a, size_t size) {
  if (!size) size = 1;
  size_t align = size >= 64 ? 64 : 16;
  struct arena_block *b = a->head;
  size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;
  if (!b || at + size > b->size) {
    size_t block = !b ? FIRST_BLOCK : b->size < LAST_BLOCK ? b->size * 2 : LAST_BLOCK;
    bool big = size > block / 4;
    struct arena_block *n = block_new(big ? size : block);
    if (big && b) { /* keep filling the current block */
      n->next = b->next;
      b->next = n;
    } else {
      n->next = b;
      a->head = n;
    }
    b = n;
    at = 0;
  }
  b->used = at + size;
  return memset(b->data + at, 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1);
  memcpy(p, s, n);
  p[n] = 0;
  return p;
}

char *arena_strdup(struct arena *a, const char *s) {
  return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
  va_list ap, ap2;
  va_start(ap, fmt);
  va_copy(ap2, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  char *p = arena_alloc(a, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, fmt, ap2);
  va_end(ap2);
  return p;
}

void arena_free(struct arena *a) {
  for (struct arena_block *b = a->head, *next; b; b = next) {
    next = b->next;
    free(b->memory);
    free(b);
  }
  *a = (struct arena){0};
}

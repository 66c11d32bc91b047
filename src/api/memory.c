/* memory.c - the ledger of allocations, and malloc and its like as the library calls them. */
#include "api/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *p);
void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t most);
int __wrap_vasprintf(char **out, const char *fmt, va_list ap);
int __wrap_asprintf(char **out, const char *fmt, ...);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t bytes);

size_t memory_fails_at;
static _Thread_local struct memory *current;

/* ---- the ledger ---- */

static size_t home(const struct memory *m, const void *p) {
  return (size_t)((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (m->room - 1);
}

static struct memory_block *block_find(const struct memory *m, const void *p) {
  for (size_t i = m->room ? home(m, p) : 0; m->room && m->block[i].at; i = (i + 1) & (m->room - 1))
    if (m->block[i].at == p) return &m->block[i];
  return NULL;
}

static void block_put(struct memory *m, struct memory_block b) {
  size_t i = home(m, b.at);
  while (m->block[i].at) i = (i + 1) & (m->room - 1);
  m->block[i] = b;
  m->count++;
}

/* At least one entry in four stays empty. */
static bool blocks_grow(struct memory *m) {
  if (m->room && 4 * (m->count + 1) <= 3 * m->room) return true;
  struct memory old = *m;
  m->room = old.room ? 2 * old.room : 256;
  m->block = __real_calloc(m->room, sizeof *m->block);
  if (!m->block) {
    *m = old;
    return false;
  }
  m->count = 0;
  for (size_t i = 0; i < old.room; i++)
    if (old.block[i].at) block_put(m, old.block[i]);
  __real_free(old.block);
  return true;
}

/* Move later entries up, so that no search ends at the gap. */
static void take_out(struct memory *m, struct memory_block *b) {
  size_t mask = m->room - 1, gap = (size_t)(b - m->block);
  for (size_t i = (gap + 1) & mask; m->block[i].at; i = (i + 1) & mask)
    if (((i - home(m, m->block[i].at)) & mask) >= ((i - gap) & mask)) {
      m->block[gap] = m->block[i];
      gap = i;
    }
  m->block[gap] = (struct memory_block){0};
  m->count--;
}

void memory_enter(struct memory *m) {
  m->failed = false;
  current = m;
}

void memory_leave(void) {
  current = NULL;
}

void memory_drop(struct memory *m) {
  for (size_t i = 0; i < m->room; i++) {
    const struct memory_block *b = &m->block[i];
    if (b->at && b->mapped) __real_munmap(b->at, b->mapped);
    else __real_free(b->at);
  }
  __real_free(m->block);
  *m = (struct memory){0};
}

void *memory_outside(size_t bytes) {
  return __real_calloc(1, bytes);
}

void memory_outside_free(void *p) {
  __real_free(p);
}

/* ---- the functions ---- */

/* True if an allocation may be tried: the ledger has room. */
static bool may(void) {
  struct memory *m = current;
  bool good = !(memory_fails_at && !--memory_fails_at) && blocks_grow(m);
  if (good) return true;
  m->failed = true;
  errno = ENOMEM;
  return false;
}

static void *noted(void *p, size_t mapped) {
  if (p) block_put(current, (struct memory_block){p, mapped});
  else current->failed = true;
  return p;
}

void *__wrap_malloc(size_t bytes) {
  if (!current) return __real_malloc(bytes);
  return may() ? noted(__real_malloc(bytes), 0) : NULL;
}

void *__wrap_calloc(size_t n, size_t bytes) {
  if (!current) return __real_calloc(n, bytes);
  return may() ? noted(__real_calloc(n, bytes), 0) : NULL;
}

void *__wrap_aligned_alloc(size_t align, size_t bytes) {
  if (!current) return __real_aligned_alloc(align, bytes);
  return may() ? noted(__real_aligned_alloc(align, bytes), 0) : NULL;
}

/* Blocks allocated by the C library are in no ledger. */
void *__wrap_realloc(void *p, size_t bytes) {
  if (!current) return __real_realloc(p, bytes);
  if (!p) return __wrap_malloc(bytes);
  if (!may()) return NULL;
  struct memory_block *b = block_find(current, p);
  if (!b) return __real_realloc(p, bytes);
  take_out(current, b);
  void *q = __real_realloc(p, bytes);
  if (!q && bytes) noted(p, 0), current->failed = true;
  else if (q) noted(q, 0);
  return q;
}

void __wrap_free(void *p) {
  struct memory_block *b = current && p ? block_find(current, p) : NULL;
  if (b) take_out(current, b);
  __real_free(p);
}

static char *copy_text(const char *s, size_t n) {
  char *p = __wrap_malloc(n + 1);
  if (!p) return NULL;
  p[n] = 0;
  return memcpy(p, s, n);
}

char *__wrap_strdup(const char *s) {
  return copy_text(s, strlen(s));
}

char *__wrap_strndup(const char *s, size_t most) {
  return copy_text(s, strnlen(s, most));
}

int __wrap_vasprintf(char **out, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  *out = n < 0 ? NULL : __wrap_malloc((size_t)n + 1);
  if (*out) vsnprintf(*out, (size_t)n + 1, fmt, again);
  va_end(again);
  return *out ? n : -1;
}

int __wrap_asprintf(char **out, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = __wrap_vasprintf(out, fmt, ap);
  va_end(ap);
  return n;
}

/* Entries within an unmapped range are removed. */
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset) {
  if (!current || flags & MAP_FIXED) return __real_mmap(at, bytes, prot, flags, fd, offset);
  if (!may()) return MAP_FAILED;
  void *p = __real_mmap(at, bytes, prot, flags, fd, offset);
  if (p != MAP_FAILED) noted(p, bytes);
  else current->failed = true;
  return p;
}

int __wrap_munmap(void *at, size_t bytes) {
  struct memory_block *b = current ? block_find(current, at) : NULL;
  if (b) take_out(current, b);
  return __real_munmap(at, bytes);
}

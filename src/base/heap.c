/* heap.c - fewer page faults for processes that live some tens of milliseconds.
 *
 * A fault of a 4 KB page costs 1.5 us and 0.2 us more to give it back; one of 2 MB costs about as much as a hundred of
 * them. A program and Sluice touch some thousand pages; the faults would take longer than loading a module. glibc's
 * own switch for this (glibc.malloc.hugetlb=1) grows the heap by 2 MB at a time from wherever the kernel put its
 * start, which leaves a quarter of a small heap on small pages, and gives mapped chunks none.
 */
#include "base/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define OWN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_MALLOC 1
#endif
#endif

#if defined(__GLIBC__) && !defined(OWN_MALLOC)
enum { HUGE_PAGE = 2 << 20, GROW_LEAST = 256 << 10, SLACK = 4096, LATER_PAD = 1 << 20, HEADER_BYTES = 16 };

static bool user_has_tuned(void) {
  const char *tunables = getenv("GLIBC_TUNABLES");
  return (tunables && strstr(tunables, "glibc.malloc.")) || getenv("MALLOC_TOP_PAD_") ||
         getenv("MALLOC_MMAP_THRESHOLD_") || getenv("MALLOC_TRIM_THRESHOLD_");
}

/* The end of a page of 4 KB lies before the first huge page. An allocation there is never touched; it fills the space
 * up to the header of the huge page's first allocation. */
void heap_use_huge_pages(void) {
  if (user_has_tuned()) return;
  uintptr_t end = (uintptr_t)sbrk(0), huge = (end + GROW_LEAST + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
  mallopt(M_MMAP_THRESHOLD, HEAP_MAPPED_FROM);
  mallopt(M_TRIM_THRESHOLD, HEAP_FIRST_BYTES); /* freed memory would return as small pages */
  mallopt(M_TOP_PAD, HEAP_FIRST_BYTES);
  char *gap = malloc(huge - end - SLACK); /* ends before `huge`: no page there is touched too early */
  __asm__ volatile("" : "+r"(gap));       /* otherwise the compiler removes the pair of malloc and free */
  mallopt(M_TOP_PAD, LATER_PAD);
  uintptr_t after = (uintptr_t)sbrk(0) & ~(uintptr_t)(HUGE_PAGE - 1), at = (uintptr_t)gap;
  if (after > huge) madvise((void *)huge, after - huge, MADV_HUGEPAGE);
  if (after > huge && at < huge && at + GROW_LEAST >= end) gap = realloc(gap, huge - at - HEADER_BYTES);
  else free(gap);
}
#else
void heap_use_huge_pages(void) {
}
#endif

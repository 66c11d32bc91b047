/* heap.h - the process's heap on the host's huge pages, for processes that simulate. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

/* Grow the heap once by HEAP_FIRST_BYTES of address space, on huge pages as far as it is used, and serve allocations
 * of up to HEAP_MAPPED_FROM bytes from it. Does nothing if the user has set malloc's variables, or if malloc is not
 * glibc's. */
enum { HEAP_FIRST_BYTES = 64 << 20, HEAP_MAPPED_FROM = 32 << 20 };
void heap_use_huge_pages(void);

#endif

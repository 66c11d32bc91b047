/* memory.c - device memory: one big host mapping, a sorted list of allocations, exact to the byte.
 *
 * Device allocations follow one another from SIMT_GLOBAL_BASE, each rounded up to 256 bytes. Addresses are reused only
 * when the mapping is full, so they equal the reference's, which never frees. Pinned memory is the host's and takes
 * none of them: it lies in the last eighth of the mapping. The mapping has the same host address where possible:
 * managed and pinned memory is one pointer for host and device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/platform/x86.h>

#include "base/mem.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { ALIGN = 256, KEEP_FREED = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, HUGE_PART = 512 << 10 };

/* The processor and the system support a feature, according to the C library: the CPUID instruction costs 20 us in a
 * virtual machine. The header's CPU_FEATURE_ACTIVE shifts into the sign bit. */
static bool active(unsigned feature) {
  const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(feature / 128);
  return leaf->active_array[feature % 128 / 32] >> feature % 32 & 1;
}

static bool all_active(const unsigned *features, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!active(features[i])) return false;
  return true;
}

/* The best handlers that the processor supports; SLUICE_ISA=2 or 3 selects lesser ones (tests, benchmarks). */
static int best_isa(void) {
  const char *force = getenv("SLUICE_ISA");
  static const unsigned v3[] = {x86_cpu_AVX2, x86_cpu_FMA, x86_cpu_BMI2},
                        v4[] = {x86_cpu_AVX512F, x86_cpu_AVX512DQ, x86_cpu_AVX512BW, x86_cpu_AVX512VL,
                                x86_cpu_AVX512CD};
  int best = 2;
  if (all_active(v3, sizeof v3 / sizeof *v3)) best = all_active(v4, sizeof v4 / sizeof *v4) ? 4 : 3;
  return force && *force >= '2' && *force - '0' < best ? *force - '0' : best;
}

static char *reserve_pages(void *want, uint64_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (want ? MAP_FIXED_NOREPLACE : 0);
  char *p = mmap(want, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (p == MAP_FAILED) return NULL;
  if (want && p != want) { /* old kernels ignore the flag */
    munmap(p, bytes);
    return NULL;
  }
  return p;
}

struct simt *simt_new(uint64_t capacity, struct err *e) {
  struct simt *s = mem_zeroed(1, sizeof *s);
  s->capacity = capacity;
  s->next = SIMT_GLOBAL_BASE;
  s->symbol_next = SYMBOL_BASE;
  s->core_mhz = 1000;
  s->out = stdout;
  s->isa = best_isa();
  memcpy(s->handlers,
         s->isa == 4   ? simt_handlers_v4
         : s->isa == 3 ? simt_handlers_v3
                       : simt_handlers_v2,
         sizeof s->handlers);
  simt_generic_handlers(s->handlers);
  for (uint64_t bytes = capacity * 8; bytes >= capacity && !s->map; bytes /= 2) {
    s->map_bytes = (bytes + 0xFFFFF) & ~UINT64_C(0xFFFFF);
    s->map = reserve_pages((void *)(uintptr_t)SIMT_GLOBAL_BASE, s->map_bytes);
  }
  for (uint64_t bytes = capacity * 2; bytes >= capacity && !s->map; bytes /= 2) {
    s->map_bytes = (bytes + 0xFFFFF) & ~UINT64_C(0xFFFFF);
    s->map = reserve_pages(NULL, s->map_bytes);
  }
  s->sym_bytes = SYMBOL_LIMIT;
  s->sym_map = reserve_pages(NULL, s->sym_bytes);
  if (!s->map || !s->sym_map) {
    err_set(e, ERR_INTERNAL, "cannot reserve %llu bytes of address space for device memory",
            (unsigned long long)capacity);
    simt_free(s);
    return NULL;
  }
  s->delta = (uint64_t)(uintptr_t)s->map - SIMT_GLOBAL_BASE;
  s->host_base = s->host_next = SIMT_GLOBAL_BASE + (s->map_bytes - s->map_bytes / 8) / PAGE * PAGE;
  return s;
}

void simt_free(struct simt *s) {
  if (!s) return;
  while (s->modules) simt_unload(s, s->modules);
  for (uint32_t i = 0; i < s->nblocks; i++)
    if (!s->blocks[i].delta && s->delta) munmap((void *)(uintptr_t)s->blocks[i].a.base, s->blocks[i].a.bytes);
  if (s->map) munmap(s->map, s->map_bytes);
  if (s->sym_map) munmap(s->sym_map, s->sym_bytes);
  tex_free(s);
  code_free(&s->code);
  check_free(s);
  stray_free(s);
  free(s->blocks);
  free(s->granules);
  free(s->freed);
  free(s);
}

/* Index of the first block whose base is above addr. */
static uint32_t upper(const struct simt *s, uint64_t addr) {
  uint32_t lo = 0, hi = s->nblocks;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (s->blocks[mid].a.base <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

struct mem_block *mem_block_at(struct simt *s, uint64_t addr) {
  uint32_t k = upper(s, addr);
  if (!k) return NULL;
  struct mem_block *b = &s->blocks[k - 1];
  return addr - b->a.base < b->a.bytes ? b : NULL;
}

char *mem_in_page(struct simt *s, uint64_t addr, uint32_t bytes) {
  uint64_t from = addr & ~(uint64_t)(HUGE_PAGE - 1), to = from + HUGE_PAGE, end = SIMT_GLOBAL_BASE + s->map_bytes;
  uint32_t k = upper(s, to - 1);
  if (addr < SYMBOL_BASE || !k) return NULL;
  const struct mem_block *b = &s->blocks[k - 1];
  if (b->a.base + b->a.bytes <= from) return NULL;
  if (addr < SYMBOL_LIMIT) return addr + bytes <= SYMBOL_LIMIT ? s->sym_map + addr : NULL;
  /* Host memory outside the mapping has a mapping of its own, without the rest of its page. */
  bool ours = addr >= SIMT_GLOBAL_BASE && addr < end && bytes <= end - addr;
  return ours ? (char *)(uintptr_t)(addr + s->delta) : NULL;
}

uint64_t mem_distance(struct simt *s, uint64_t addr) {
  uint64_t best = UINT64_MAX;
  uint32_t k = upper(s, addr);
  for (uint32_t i = k ? k - 1 : 0; i < s->nblocks && i <= k; i++) {
    const struct simt_alloc *a = &s->blocks[i].a;
    uint64_t d = addr < a->base ? a->base - addr : addr - a->base < a->bytes ? 0 : addr - (a->base + a->bytes);
    if ((addr < SYMBOL_LIMIT) == (a->base < SYMBOL_LIMIT) && d < best) best = d;
  }
  return best;
}

static void insert(struct simt *s, struct mem_block b) {
  if (s->nblocks == s->cap_blocks) {
    s->cap_blocks = s->cap_blocks ? s->cap_blocks * 2 : 64;
    s->blocks = mem_resize(s->blocks, s->cap_blocks, sizeof *s->blocks);
  }
  uint32_t k = upper(s, b.a.base);
  memmove(&s->blocks[k + 1], &s->blocks[k], (s->nblocks - k) * sizeof *s->blocks);
  b.a.serial = ++s->serial;
  s->blocks[k] = b;
  s->nblocks++;
  s->generation++;
}

static uint64_t up_to(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) & ~(multiple - 1);
}

/* The range that a block reserves: whole pages for a file mapping. */
static uint64_t taken_from(const struct mem_block *b) {
  return b->imported ? b->a.base & ~(uint64_t)(PAGE - 1) : b->a.base;
}

static uint64_t taken_to(const struct mem_block *b) {
  return up_to(b->a.base + b->a.bytes, b->imported ? PAGE : ALIGN);
}

/* First gap of `bytes` between live allocations, from address `at` on. */
static uint64_t find_gap(const struct simt *s, uint64_t at, uint64_t bytes, uint64_t align) {
  for (uint32_t i = upper(s, at - 1); i < s->nblocks; i++) {
    const struct mem_block *b = &s->blocks[i];
    if (b->a.base >= SIMT_GLOBAL_BASE + s->map_bytes) break;
    if (taken_from(b) >= at && taken_from(b) - at >= bytes) return at;
    at = up_to(taken_to(b), align);
  }
  uint64_t end = SIMT_GLOBAL_BASE + s->map_bytes;
  return at <= end && end - at >= bytes ? at : 0;
}

/* `bytes` of the device's or (`host`) the host's part of the mapping, by rising addresses as long as possible, then of
 * any gap; 0: none. */
static uint64_t place_region(struct simt *s, uint64_t bytes, uint64_t align, bool host) {
  uint64_t *next = host ? &s->host_next : &s->next, at = up_to(*next, align);
  uint64_t end = host ? SIMT_GLOBAL_BASE + s->map_bytes : s->host_base;
  if (at + bytes <= end) {
    *next = at + bytes;
    return at;
  }
  at = host ? find_gap(s, s->host_base, bytes, align) : 0;
  return at ? at : find_gap(s, SIMT_GLOBAL_BASE, bytes, align);
}

/* Use the host's huge pages for a whole allocation, or for the part of the mapping that allocations will fill soon:
 * one fault for 2 MB costs as much as a hundred for 4 KB. */
static void ask_for_huge_pages(const struct simt *s, uint64_t host, uint64_t bytes) {
  uint64_t mask = HUGE_PAGE - 1, map = (uint64_t)(uintptr_t)s->map, map_end = map + s->map_bytes, end = host + bytes;
  uint64_t lo = host & ~mask, hi = end & ~mask, first_end = end < lo + HUGE_PAGE ? end : lo + HUGE_PAGE;
  bool ours = host >= map && end <= map_end;
  if (ours ? first_end - lo < HUGE_PART || lo < map : lo < host) lo += HUGE_PAGE;
  if (ours && end - hi >= HUGE_PART && hi + HUGE_PAGE <= map_end) hi += HUGE_PAGE;
  if (lo < hi) madvise((void *)(uintptr_t)lo, hi - lo, MADV_HUGEPAGE);
}

uint64_t simt_mem_alloc(struct simt *s, uint64_t bytes, enum simt_mem_kind kind, const char *label) {
  if (!bytes || bytes > s->map_bytes) return 0;
  uint64_t rounded = (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1), at = 0, delta = s->delta;
  bool host = kind == SIMT_MEM_HOST;
  if (!host && s->used + rounded > s->capacity) return 0;
  if (s->delta && (host || kind == SIMT_MEM_MANAGED)) { /* one pointer for both sides, wherever the host has room */
    char *p = reserve_pages(NULL, rounded);
    at = (uint64_t)(uintptr_t)p;
    delta = 0;
  } else {
    at = place_region(s, rounded, ALIGN, host);
  }
  if (!at) return 0;
  ask_for_huge_pages(s, at + delta, rounded);
  if (!host) s->used += rounded;
  if (s->check) check_allocated(s, at, bytes, host || kind == SIMT_MEM_MANAGED);
  insert(s, (struct mem_block){
                .a = {.base = at, .bytes = bytes, .kind = kind, .label = label}, .delta = delta, .live = true});
  return at;
}

uint64_t simt_mem_import(struct simt *s, int fd, uint64_t offset, uint64_t bytes, const char *label) {
  uint64_t lead = offset % PAGE, pages = up_to(lead + bytes, PAGE), rounded = up_to(bytes, ALIGN);
  uint64_t at =
      bytes && bytes <= s->map_bytes && s->used + rounded <= s->capacity ? place_region(s, pages, PAGE, false) : 0;
  if (!at) {
    errno = ENOMEM;
    return 0;
  }
  void *host = (void *)(uintptr_t)(at + s->delta);
  /* If this fails the gap remains: addresses are plentiful. */
  if (mmap(host, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)(offset - lead)) != host) return 0;
  s->used += rounded;
  if (s->check) check_allocated(s, at + lead, bytes, true); /* written by another owner */
  insert(s, (struct mem_block){.a = {.base = at + lead, .bytes = bytes, .kind = SIMT_MEM_DEVICE, .label = label},
                               .delta = s->delta,
                               .live = true,
                               .imported = true});
  return at + lead;
}

uint64_t mem_pass_symbol(struct simt *s, uint64_t bytes, uint32_t align) {
  uint64_t pad = bytes < 128 && !(bytes & (bytes - 1)) ? bytes : 128; /* the reference's rule */
  if (pad < align) pad = align;
  if (!pad) pad = 1;
  uint64_t at = (s->symbol_next + pad - 1) & ~(pad - 1);
  if (at + bytes > SYMBOL_LIMIT) return 0;
  s->symbol_next = at + bytes;
  return at;
}

uint64_t mem_alloc_symbol(struct simt *s, uint64_t bytes, uint32_t align, const char *label) {
  uint64_t at = mem_pass_symbol(s, bytes, align);
  if (!at) return 0;
  if (bytes)
    insert(s, (struct mem_block){.a = {.base = at, .bytes = bytes, .kind = SIMT_MEM_SYMBOL, .label = label},
                                 .delta = (uint64_t)(uintptr_t)s->sym_map,
                                 .live = true});
  return at;
}

void mem_drop_symbol(struct simt *s, uint64_t addr) {
  struct mem_block *b = mem_block_at(s, addr);
  if (!b || b->a.base != addr || b->a.kind != SIMT_MEM_SYMBOL) return;
  memset((void *)(uintptr_t)(addr + b->delta), 0, b->a.bytes);
  size_t k = (size_t)(b - s->blocks);
  memmove(b, b + 1, (s->nblocks - k - 1) * sizeof *b);
  s->nblocks--;
  s->generation++;
}

bool simt_mem_release(struct simt *s, uint64_t base) {
  struct mem_block *b = mem_block_at(s, base);
  if (!b || b->a.base != base || b->a.kind == SIMT_MEM_SYMBOL) return false;
  uint64_t rounded = (b->a.bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  if (b->a.kind != SIMT_MEM_HOST) s->used -= rounded;
  if (!s->freed) s->freed = mem_zeroed(KEEP_FREED, sizeof *s->freed);
  if (s->freed) s->freed[s->nfreed++ % KEEP_FREED] = *b;
  if (b->imported) { /* anonymous pages replace the file's */
    uint64_t from = taken_from(b);
    void *host = (void *)(uintptr_t)(from + b->delta);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    CHECK(mmap(host, taken_to(b) - from, PROT_READ | PROT_WRITE, flags, -1, 0) == host, "cannot unmap a shared file");
  } else if (!b->delta && s->delta) {
    munmap((void *)(uintptr_t)base, rounded);
  } else { /* whole pages return to the system; the rest is cleared, since fresh memory is zero */
    uintptr_t lo = (uintptr_t)(base + b->delta), hi = lo + b->a.bytes, plo = (lo + 4095) & ~(uintptr_t)4095,
              phi = hi & ~(uintptr_t)4095;
    if (plo < phi) madvise((void *)plo, phi - plo, MADV_DONTNEED);
    if (plo > hi) plo = hi;
    memset((void *)lo, 0, plo - lo);
    if (phi > plo) memset((void *)phi, 0, hi - phi);
    else if (hi > plo) memset((void *)plo, 0, hi - plo);
  }
  size_t k = (size_t)(b - s->blocks);
  memmove(b, b + 1, (s->nblocks - k - 1) * sizeof *b);
  s->nblocks--;
  s->generation++;
  return true;
}

const struct simt_alloc *simt_mem_find(struct simt *s, uint64_t addr) {
  struct mem_block *b = mem_block_at(s, addr);
  return b ? &b->a : NULL;
}

const struct simt_alloc *simt_mem_after(struct simt *s, uint64_t addr) {
  uint32_t k = upper(s, addr);
  return k < s->nblocks ? &s->blocks[k].a : NULL;
}

void *simt_mem_at(struct simt *s, uint64_t addr, uint64_t bytes) {
  struct mem_block *b = mem_block_at(s, addr);
  if (!b || bytes > b->a.bytes - (addr - b->a.base)) return NULL;
  return (void *)(uintptr_t)(addr + b->delta);
}

uint64_t simt_mem_used(struct simt *s) {
  return s->used;
}

uint64_t simt_mem_capacity(struct simt *s) {
  return s->capacity;
}

static void describe_block(const struct mem_block *b, char *out, size_t size) {
  static const char *const kinds[] = {"allocation", "managed allocation", "pinned host allocation", "variable"};
  snprintf(out, size, "%s of %llu bytes at 0x%llx%s%s%s (number %llu)", kinds[b->a.kind],
           (unsigned long long)b->a.bytes, (unsigned long long)b->a.base, b->a.label ? " '" : "",
           b->a.label ? b->a.label : "", b->a.label ? "'" : "", (unsigned long long)b->a.serial);
}

void mem_describe(struct simt *s, uint64_t addr, char *out, size_t size) {
  char text[256];
  for (uint32_t i = 0; s->freed && i < KEEP_FREED && i < s->nfreed; i++) {
    const struct mem_block *b = &s->freed[(s->nfreed - 1 - i) % KEEP_FREED];
    if (addr - b->a.base < b->a.bytes && !mem_block_at(s, addr)) {
      describe_block(b, text, sizeof text);
      snprintf(out, size, "inside a freed %s", text);
      return;
    }
  }
  uint32_t k = upper(s, addr);
  const struct mem_block *below = k ? &s->blocks[k - 1] : NULL, *above = k < s->nblocks ? &s->blocks[k] : NULL;
  uint64_t past = below ? addr - (below->a.base + below->a.bytes) : UINT64_MAX,
           before = above ? above->a.base - addr : UINT64_MAX;
  if (below && addr < below->a.base + below->a.bytes) {
    describe_block(below, text, sizeof text);
    snprintf(out, size, "reaching over the end of the %s", text);
  } else if (below && past <= before) {
    describe_block(below, text, sizeof text);
    snprintf(out, size, "%llu bytes past the end of the nearest %s", (unsigned long long)past, text);
  } else if (above) {
    describe_block(above, text, sizeof text);
    snprintf(out, size, "%llu bytes before the nearest %s", (unsigned long long)before, text);
  } else {
    snprintf(out, size, "nothing is allocated");
  }
}

/* accel_input.c - Accel-Sim's folders and kernel files as a trace_input: see accel.h.
 *
 * Assumptions where a SASS trace is incomplete:
 * - Barriers: the trace names none, so every BAR.SYNC is barrier 0 of all threads; BAR.ARV passes.
 * - Generic addresses: [shared base, local base) is shared memory, the 16 MB from the local base on are local, the rest
 *   global, by the first active lane; with a base of 0 they are shared, as Accel-Sim takes them, but global on Kepler,
 *   whose global loads are LD.
 * - A warp without instructions, or whose first is not the kernel's first, stands at the first with no lanes.
 * - Streams: a kernel waits for the one before it in its stream (`-cuda stream id`), as Accel-Sim has it, and those of
 *   stream 0 and all others for each other, as the legacy default stream would; waits for events are not in the files.
 * - LDGSTS comes as two instructions in some traces, the shared-memory half and the global half: the address tells.
 */
#include "trace/accel/accel.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/input.h"
#include "trace/accel/accel_kernel.h"

enum { LOCAL_WINDOW = 1 << 24, MAXWELL = 50 };

struct entry {
  bool copy;
  uint64_t addr, bytes;
  char *path;
};

struct open_warp {
  struct pack_cursor c;
  bool phantom; /* its first step is the kernel's first instruction without lanes */
  bool begun;   /* it has executed an instruction */
};

struct open_cta {
  struct pack bytes;
  struct open_warp *warp;
};

struct accel {
  struct trace_input in;
  char *path;
  struct entry *entry;
  struct trace_order order;
  size_t entries, next;
  uint32_t launch;
  struct accel_kernel k;
  bool have;
  struct pack scratch;
  struct open_cta *slot;
  uint32_t slots;
};

/* ---- the list ---- */

static bool add_entry(struct accel *a, struct entry one) {
  if ((a->entries & (a->entries - 1)) == 0) {
    a->entry = mem_resize(a->entry, a->entries ? 2 * a->entries : 1, sizeof *a->entry);
  }
  a->entry[a->entries++] = one;
  a->in.launches += !one.copy;
  return true;
}

static char *beside(const char *list, const char *name) { /* in the list's folder */
  char *copy = mem_text(list), *out = NULL;
  int n = *name == '/' ? asprintf(&out, "%s", name) : asprintf(&out, "%s/%s", dirname(copy), name);
  CHECK(n > 0, "out of memory");
  free(copy);
  return out;
}

static bool list_line(struct accel *a, char *line, unsigned number, struct err *e) {
  size_t n = strlen(line);
  bool ended = n && line[n - 1] == '\n';
  while (n && strchr(" \t\r\n", line[n - 1])) line[--n] = 0;
  unsigned long long addr, bytes;
  char extra;
  if (!strncmp(line, "MemcpyDtoH", 10)) return true; /* changes no device memory */
  if (!strncmp(line, "MemcpyHtoD", 10)) {
    if (sscanf(line, "MemcpyHtoD,0x%llx,%llu%c", &addr, &bytes, &extra) != 2)
      return err_set(e, ERR_INPUT, "%s:%u: '%.60s' where `MemcpyHtoD,0xADDRESS,BYTES` was expected", a->path, number,
                     line);
    return add_entry(a, (struct entry){.copy = true, .addr = addr, .bytes = bytes});
  }
  if (!strncmp(line, "kernel", 6)) return add_entry(a, (struct entry){.path = beside(a->path, line)});
  if (n && !ended)
    return err_set(e, ERR_INPUT,
                   "%s:%u: '%.60s' is no kernel and no copy, and no line end follows: the list was cut off", a->path,
                   number, line);
  return true; /* others are skipped, as by the reference's reader */
}

static bool read_list(struct accel *a, struct err *e) {
  uint64_t bytes;
  int fd = input_open(a->path, &bytes, e);
  if (fd < 0) return false;
  FILE *f = fdopen(fd, "r");
  CHECK(f, "out of memory");
  char *line = NULL;
  size_t room = 0;
  bool ok = true;
  for (unsigned number = 1; ok && getline(&line, &room, f) > 0; number++) ok = list_line(a, line, number, e);
  free(line);
  fclose(f);
  if (ok && !a->in.launches)
    return err_set(e, ERR_INPUT, "%s: no line names a kernel file (kernel-1.traceg, say)", a->path);
  return ok;
}

/* ---- streams ---- */

struct last {
  long stream;
  uint32_t step;
};

/* Find the kernels of a list that may overlap. An unreadable file is reported later, by the reader of the kernel. */
static void read_order(struct accel *a) {
  struct last *last = mem_zeroed(a->in.launches + 1u, sizeof *last);
  uint32_t *deps = mem_zeroed(a->in.launches + 1u, sizeof *deps), streams = 0, launch = 0;
  for (size_t i = 0; i < a->entries; i++) {
    struct err ignored = {0};
    long id = 0;
    uint32_t n = 0, at = 0;
    if (a->entry[i].copy) a->in.copied += a->entry[i].bytes;
    if (a->entry[i].copy) continue;
    accel_kernel_stream(a->entry[i].path, &id, &ignored);
    for (uint32_t s = 0; s < streams; s++)
      if (last[s].stream == id || !last[s].stream || !id) deps[n++] = last[s].step;
    while (at < streams && last[at].stream != id) at++;
    streams += at == streams;
    struct trace_step step = {.launch = launch, .stream = id ? at + 1 : 0};
    launch++;
    last[at] = (struct last){id, trace_order_add(&a->order, step, deps, n)};
  }
  free(last);
  free(deps);
  if (trace_order_overlaps(&a->order)) a->in.order = &a->order;
  a->in.knows_copies = a->in.order != NULL;
}

/* ---- events ---- */

static void close_slots(struct accel *a) {
  for (uint32_t s = 0; s < a->slots; s++) {
    pack_free(&a->slot[s].bytes);
    free(a->slot[s].warp);
  }
  free(a->slot);
  a->slot = NULL;
  a->slots = 0;
}

static void drop_kernel(struct accel *a) {
  close_slots(a);
  if (a->have) accel_kernel_free(&a->k);
  a->have = false;
}

static bool accel_next(struct trace_input *t, struct trace_event *ev, struct err *e) {
  struct accel *a = (struct accel *)t;
  drop_kernel(a);
  *ev = (struct trace_event){.kind = TRACE_END};
  if (a->next == a->entries) return true;
  const struct entry *n = &a->entry[a->next++];
  if (n->copy) {
    *ev = (struct trace_event){.kind = TRACE_COPY, .addr = n->addr, .bytes = n->bytes, .to_device = true};
    return true;
  }
  a->have = true;
  if (!accel_kernel_read(&a->k, n->path, t, e)) return false;
  *ev = (struct trace_event){.kind = TRACE_LAUNCH,
                             .launch = a->launch++,
                             .kernel = &a->k.feed,
                             .warp_insts = a->k.warp_insts,
                             .thread_insts = a->k.thread_insts};
  return true;
}

static bool accel_seek(struct trace_input *t, uint32_t launch, struct err *e) {
  struct accel *a = (struct accel *)t;
  if (launch > t->launches)
    return err_set(e, ERR_USAGE, "%s has %u launches; there is none with number %u", a->path, t->launches, launch);
  drop_kernel(a);
  a->launch = 0;
  for (a->next = 0; a->next < a->entries && a->launch < launch; a->next++) a->launch += !a->entry[a->next].copy;
  return true;
}

/* ---- CTAs ---- */

static bool accel_begin(struct trace_input *t, uint32_t slots, struct err *e) {
  struct accel *a = (struct accel *)t;
  (void)e;
  close_slots(a);
  a->slot = mem_zeroed(slots, sizeof *a->slot);
  a->slots = slots;
  return true;
}

static bool accel_open_cta(struct trace_input *t, uint32_t slot, uint32_t cta, struct err *e) {
  struct accel *a = (struct accel *)t;
  struct open_cta *o = &a->slot[slot];
  uint32_t warps = a->k.feed.warps_per_cta;
  if (!o->warp) o->warp = mem_zeroed(warps, sizeof *o->warp);
  if (!accel_kernel_cta(&a->k, cta, &o->bytes, &a->scratch, e)) return false;
  const unsigned char *at = o->bytes.at ? o->bytes.at + warps * sizeof(uint32_t) : NULL;
  for (uint32_t w = 0; w < warps; w++) {
    uint32_t length = 0, first;
    if (o->bytes.used) memcpy(&length, o->bytes.at + w * sizeof length, sizeof length);
    o->warp[w].c = (struct pack_cursor){.at = at, .end = at + length};
    at += length;
    o->warp[w].begun = false;
    o->warp[w].phantom = !pack_peek(&o->warp[w].c, &first) || a->k.place[first] != a->k.feed.entry_pc;
  }
  return true;
}

static uint8_t space_of_address(const struct accel_kernel *k, const struct inst *i, uint64_t first) {
  const struct accel_header *h = &k->header;
  bool windows = h->shmem_base && h->local_base;
  bool in_shared = windows && first >= h->shmem_base && first < h->local_base;
  if (i->space == SPACE_GENERIC) {
    if (in_shared) return SPACE_SHARED;
    if (!windows) return h->binary_version && h->binary_version < MAXWELL ? SPACE_GLOBAL : SPACE_SHARED;
    return first >= h->local_base && first < h->local_base + LOCAL_WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
  }
  /* The shared half of LDGSTS: an offset, or within the window. */
  if (i->kind == KIND_LOAD && i->space == SPACE_GLOBAL && (in_shared || first < LOCAL_WINDOW)) return SPACE_SHARED;
  return i->space;
}

static void memory_step(const struct accel_kernel *k, const struct inst *i, const struct pack_record *r,
                        struct issued *out) {
  uint64_t first = r->naddr ? r->addr[0] : 0, base = 0;
  out->space = space_of_address(k, i, first);
  out->width = (uint8_t)(i->elem_bytes * i->vec);
  if (out->space == SPACE_SHARED && first >= k->header.shmem_base) base = k->header.shmem_base;
  if (out->space == SPACE_LOCAL && first >= k->header.local_base) base = k->header.local_base;
  uint32_t n = 0;
  for (uint32_t m = r->mask; m && n < r->naddr; m &= m - 1) out->addr[__builtin_ctz(m)] = r->addr[n++] - base;
  if (n < (uint32_t)__builtin_popcount(r->mask)) out->mask = 0; /* no address: no memory access */
  if (i->kind == KIND_ATOM && out->space == SPACE_GLOBAL && out->mask) out->token = 1;
}

static bool accel_step(struct trace_input *t, uint32_t slot, uint32_t warp, struct issued *out, struct err *e) {
  struct accel *a = (struct accel *)t;
  struct open_warp *w = &a->slot[slot].warp[warp];
  struct pack_record r;
  uint32_t id;
  (void)e;
  out->active = out->mask = 0;
  out->space = SPACE_NONE;
  const struct inst *i = &a->k.code[a->k.feed.entry_pc];
  if (w->phantom) {
    w->phantom = false;
    out->space = i->space == SPACE_GENERIC ? SPACE_GLOBAL : i->space;
    out->width = 4;
  } else {
    bool ok = pack_take(&w->c, &r);
    CHECK(ok, "kernel %s: a warp is stepped past its end", a->k.header.name);
    i = &a->k.code[a->k.place[r.id]];
    out->active = out->mask = r.mask;
    if (!r.mask && !w->begun) out->active = UINT32_MAX; /* distinguishes it from a warp without instructions */
    w->begun = true;
    if (i->pipe == PIPE_MEM && i->kind != KIND_FENCE) memory_step(&a->k, i, &r, out);
    if (i->kind == KIND_BARRIER && r.mask) {
      out->bar_id = 0;
      out->bar_threads = 0;
      out->waits = true;
    }
  }
  out->next_pc = pack_peek(&w->c, &id) ? a->k.place[id] : FEED_DONE;
  return true;
}

static void accel_close_cta(struct trace_input *t, uint32_t slot) {
  ((struct accel *)t)->slot[slot].bytes.used = 0;
}

static void accel_close(struct trace_input *t) {
  struct accel *a = (struct accel *)t;
  drop_kernel(a);
  pack_free(&a->scratch);
  for (size_t i = 0; i < a->entries; i++) free(a->entry[i].path);
  trace_order_free(&a->order);
  free(a->entry);
  free(a->path);
  free(a);
}

static const struct trace_input_ops operations = {.format = "accel-sim",
                                                  .next = accel_next,
                                                  .seek = accel_seek,
                                                  .begin = accel_begin,
                                                  .open_cta = accel_open_cta,
                                                  .step = accel_step,
                                                  .close_cta = accel_close_cta,
                                                  .close = accel_close};

/* ---- opening ---- */

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_list(const char *path) {
  return !strncmp(file_name(path), "kernelslist", 11);
}

bool accel_is_name(const char *path) {
  static const char *const ends[] = {".traceg", ".traceg.xz", ".tracez", ".trace", ".trace.xz"};
  size_t n = strlen(path);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t m = strlen(ends[i]);
    if (n > m && !strcmp(path + n - m, ends[i])) return true;
  }
  return is_list(path);
}

struct trace_input *accel_open(const char *path, struct err *e) {
  struct accel *a = mem_zeroed(1, sizeof *a);
  a->path = mem_text(path);
  a->in.ops = &operations;
  a->in.machine = TRACE_SASS;
  a->in.path = a->path;
  bool ok = is_list(path) ? read_list(a, e) : add_entry(a, (struct entry){.path = mem_text(path)});
  if (ok && a->in.launches > 1) read_order(a);
  if (ok) return &a->in;
  accel_close(&a->in);
  return NULL;
}

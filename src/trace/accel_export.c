/* accel_export.c - see accel_export.h. */
#include "trace/accel_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/accel_text.h"

struct export {
  struct trace_input *t;
  const struct feed_kernel *k;
  struct accel_header h;
  FILE *f;
};

/* ---- header ---- */

static void write_header(struct export *x, uint32_t launch) {
  const struct feed_kernel *k = x->k;
  if (k->origin && x->h.version >= 3) {
    fputs(k->origin, x->f);
  } else { /* older headers say that ids come first on every line, which nobody writes any more */
    fprintf(x->f, "-kernel name = %s\n-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n", k->name,
            launch + 1, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    fprintf(x->f,
            "-shmem = %u\n-nregs = %u\n-binary version = %u\n-cuda stream id = %ld\n-shmem base_addr = 0x%016llx\n"
            "-local mem base_addr = 0x%016llx\n-nvbit version = 1.7\n-accelsim tracer version = 5\n"
            "-enable lineinfo = %d\n",
            k->shared_bytes, k->regs_per_thread, x->h.binary_version ? x->h.binary_version : 70, x->h.stream,
            (unsigned long long)x->h.shmem_base, (unsigned long long)x->h.local_base, x->h.lineinfo);
  }
  fprintf(x->f,
          "\n#traces format = %sPC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
          "[adrrescompress?] [mem_addresses] immediate\n\n",
          x->h.lineinfo ? "[line_num] " : "");
}

static long stream_of(const struct trace_order *o, uint32_t launch) {
  for (uint32_t i = 0; o && i < o->steps; i++)
    if (!o->step[i].wait && o->step[i].launch == launch) return o->step[i].stream;
  return 0;
}

static bool read_origin(struct export *x, uint32_t launch, struct err *e) {
  x->h = (struct accel_header){.shmem_base = 0x00007f5500000000, .local_base = 0x00007f5501000000, .lineinfo = true};
  x->h.stream = stream_of(x->t->order, launch);
  bool end;
  if (!x->k->origin) return true;
  x->h = (struct accel_header){0};
  for (const char *p = x->k->origin; *p;) {
    size_t n = strcspn(p, "\n");
    if (!accel_header_line(&x->h, p, n, &end, e)) return false;
    p += n + (p[n] != 0);
  }
  return true;
}

/* ---- instructions ---- */

static const char *sass_name(const struct inst *i) {
  static const char *const loads[] = {
      [SPACE_GLOBAL] = "LDG.E", [SPACE_SHARED] = "LDS", [SPACE_LOCAL] = "LDL",    [SPACE_CONST] = "LDC",
      [SPACE_PARAM] = "LDC",    [SPACE_TEX] = "TEX",    [SPACE_GENERIC] = "LD.E", [SPACE_NONE] = "LDG.E"};
  static const char *const stores[] = {[SPACE_GLOBAL] = "STG.E",
                                       [SPACE_SHARED] = "STS",
                                       [SPACE_LOCAL] = "STL",
                                       [SPACE_GENERIC] = "ST.E",
                                       [SPACE_TEX] = "SUST"};
  switch (i->kind) {
  case KIND_LOAD:
    return loads[i->space];
  case KIND_STORE:
    return i->space < sizeof stores / sizeof *stores && stores[i->space] ? stores[i->space] : "STG.E";
  case KIND_ATOM:
    return i->space == SPACE_SHARED ? "ATOMS.ADD" : i->flags & INST_NO_RESULT ? "RED.E.ADD" : "ATOMG.E.ADD";
  case KIND_BARRIER:
    return "BAR.SYNC";
  case KIND_FENCE:
    return "MEMBAR.SC.GPU";
  case KIND_BRANCH:
    return "BRA";
  case KIND_CALL:
    return "CALL.REL";
  case KIND_RET:
    return "RET.REL";
  case KIND_EXIT:
    return "EXIT";
  default:
    break;
  }
  if (i->lat == LAT_TENSOR) return "HMMA.16816.F32";
  if (i->lat >= LAT_F64_ADD && i->lat <= LAT_F64_DIV) return i->lat == LAT_F64_ADD ? "DADD" : "DFMA";
  if (i->pipe == PIPE_SFU) return "MUFU";
  if (i->lat >= LAT_F32_ADD && i->lat <= LAT_F32_DIV) return i->lat == LAT_F32_ADD ? "FADD" : "FFMA";
  if (i->lat == LAT_SHFL) return "SHFL";
  return i->lat == LAT_ONE ? "MOV" : i->lat == LAT_INT_ADD ? "IADD3" : "IMAD";
}

/* The columns from the number of destinations to the memory width of an instruction that never was SASS. */
static void made_up_head(const struct inst *i, char *to, size_t size) {
  bool memory = i->pipe == PIPE_MEM && i->kind != KIND_FENCE;
  unsigned width = (unsigned)i->elem_bytes * i->vec;
  size_t n = (size_t)snprintf(to, size, "%d", i->ndst ? 1 : 0);
  if (i->ndst) n += (size_t)snprintf(to + n, size - n, " R%u", (i->dst[0] - 1u) % 255);
  n += (size_t)snprintf(to + n, size - n, " %s", sass_name(i));
  if (memory && width > 4) n += (size_t)snprintf(to + n, size - n, ".%u", 8 * width);
  if (memory && width < 4) n += (size_t)snprintf(to + n, size - n, ".U%u", 8 * width);
  uint32_t regs = i->nsrc < 4 ? i->nsrc : 4u;
  bool address = memory && regs < 4; /* a memory instruction's first source is its address */
  n += (size_t)snprintf(to + n, size - n, " %u", regs + address);
  if (address) n += (size_t)snprintf(to + n, size - n, " R%u", i->addr_reg ? (i->addr_reg - 1u) % 255 : 255);
  for (uint32_t s = 0; s < regs; s++)
    n += (size_t)snprintf(to + n, size - n, " R%u", i->src[s] ? (i->src[s] - 1u) % 255 : 255);
  snprintf(to + n, size - n, " %u", memory ? width : 0);
}

/* What memory_step of accel_input.c took away. */
static uint64_t window_of(const struct export *x, const struct inst *i, uint8_t space) {
  if (space == SPACE_LOCAL) return x->h.local_base;
  return space == SPACE_SHARED && i->space == SPACE_GENERIC ? x->h.shmem_base : 0;
}

static void write_addresses(const struct export *x, const struct inst *i, const struct issued *o, FILE *f) {
  uint64_t a[ACCEL_LANES], base = window_of(x, i, o->space);
  uint32_t n = 0, low = o->mask & -o->mask, neighbours = o->mask && !(o->mask & (o->mask + low));
  for (uint32_t m = o->mask; m; m &= m - 1) a[n++] = o->addr[__builtin_ctz(m)] + base;
  if (!n) {
    fputs(" 1 0x0 0", f);
    return;
  }
  bool equal = n > 1 && neighbours;
  for (uint32_t k = 2; k < n; k++) equal &= a[k] - a[k - 1] == a[1] - a[0];
  fprintf(f, " %d 0x%llx", equal ? 1 : 2, (unsigned long long)a[0]);
  for (uint32_t k = 1; k < (equal ? 2 : n); k++) fprintf(f, " %lld", (long long)(int64_t)(a[k] - a[k - 1]));
}

static void write_inst(const struct export *x, const struct inst *i, const struct issued *o, FILE *f) {
  char made[256];
  const char *text = x->k->text ? x->k->text[i->pc] : NULL, *tab = text ? strchr(text, '\t') : NULL;
  if (x->h.lineinfo) fprintf(f, "%u ", i->src_line);
  /* What never was SASS is numbered in steps of 8; SASS of binary version 70, which its header names, has 16 B. */
  fprintf(f, "%04x %08x ", text || x->h.binary_version ? i->fetch_pc : 2 * i->fetch_pc, o->mask);
  if (tab) {
    fprintf(f, "%.*s", (int)(tab - text), text);
  } else {
    made_up_head(i, made, sizeof made);
    fputs(made, f);
  }
  if (i->pipe == PIPE_MEM && i->kind != KIND_FENCE) write_addresses(x, i, o, f);
  if (!tab) fputs(" 0", f);
  else if (tab[1]) fprintf(f, " %s", tab + 1);
  if (x->h.version >= 6) fputs(" NoVal", f);
  fputc('\n', f);
}

/* One warp's lines. False with `e`: the trace cannot be read on. */
static bool write_warp(struct export *x, uint32_t warp, struct err *e) {
  char *text = NULL;
  size_t bytes = 0;
  unsigned long insts = 0;
  FILE *f = open_memstream(&text, &bytes);
  CHECK(f, "out of memory");
  bool ok = true;
  for (uint32_t pc = x->k->entry_pc; ok && pc != FEED_DONE;) {
    struct issued o = {.bar_id = FEED_NO_BARRIER};
    ok = x->t->ops->step(x->t, 0, warp, &o, e);
    /* A warp that does not begin at the kernel's first instruction stands there without lanes (accel_input.c). */
    if (ok && (insts || o.active)) write_inst(x, &x->k->code[pc], &o, f), insts++;
    pc = o.next_pc;
  }
  fclose(f);
  if (ok) fprintf(x->f, "warp = %u\ninsts = %lu\n%s\n", warp, insts, text);
  free(text);
  return ok;
}

static bool write_cta(struct export *x, uint32_t cta, struct err *e) {
  const uint32_t *g = x->k->grid;
  if (!x->t->ops->open_cta(x->t, 0, cta, e)) return false;
  fprintf(x->f, "#BEGIN_TB\n\nthread block = %u,%u,%u\n\n", cta % g[0], cta / g[0] % g[1], cta / g[0] / g[1]);
  bool ok = true;
  for (uint32_t w = 0; ok && w < x->k->warps_per_cta; w++) ok = write_warp(x, w, e);
  fputs("#END_TB\n\n", x->f);
  x->t->ops->close_cta(x->t, 0);
  return ok;
}

static bool write_launch(struct export *x, const char *dir, uint32_t launch, struct err *e) {
  char path[1200];
  snprintf(path, sizeof path, "%.1100s/kernel-%u.traceg", dir, launch + 1);
  if (!read_origin(x, launch, e) || !x->t->ops->begin(x->t, 1, e)) return false;
  x->f = fopen(path, "we");
  if (!x->f) return err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
  write_header(x, launch);
  bool ok = true;
  for (uint32_t c = 0; ok && c < x->k->ctas; c++) ok = write_cta(x, c, e);
  bool written = !ferror(x->f);
  if (fclose(x->f) || !written) ok = ok && err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
  if (!ok) remove(path);
  return ok;
}

bool accel_export(struct trace_input *t, const char *dir, struct err *e) {
  char path[1200];
  struct export x = {.t = t};
  struct trace_event ev;
  snprintf(path, sizeof path, "%.1100s/kernelslist.g", dir);
  FILE *list = fopen(path, "we");
  if (!list) return err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
  bool ok;
  while ((ok = t->ops->next(t, &ev, e)) && ev.kind != TRACE_END) {
    if (ev.kind == TRACE_COPY && ev.to_device && ev.addr)
      fprintf(list, "MemcpyHtoD,0x%016llx,%llu\n", (unsigned long long)ev.addr, (unsigned long long)ev.bytes);
    if (ev.kind != TRACE_LAUNCH) continue;
    x.k = ev.kernel;
    if (!(ok = write_launch(&x, dir, ev.launch, e))) break;
    fprintf(list, "kernel-%u.traceg\n", ev.launch + 1);
  }
  bool written = !ferror(list);
  if (fclose(list) || !written) ok = ok && err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(errno));
  if (!ok) remove(path);
  return ok;
}

/* accel_export.c - see accel_export.h. */
#include "trace/accel/accel_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "trace/accel/accel_text.h"

struct export {
  struct trace_input *t;
  const struct feed_kernel *k;
  struct accel_header h; /* of the file that was imported */
  bool convert;          /* to another version */
  double version;        /* what is written */
  bool lineinfo;
  FILE *f;
};

  /* ---- header ---- */

#define COLUMNS "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"

/* The lines of an imported header, except those that another version changes. */
static void write_origin(struct export *x) {
  bool lineinfo = false;
  for (const char *p = x->k->origin; *p;) {
    size_t n = strcspn(p, "\n");
    bool drop = *p == '#' || !strncmp(p, "-sluice", 7);
    if (x->convert && !strncmp(p, "-enable lineinfo", 16)) drop |= x->version < 4, lineinfo = true;
    if (x->convert && !strncmp(p, "-accelsim tracer version", 24))
      fprintf(x->f, "-accelsim tracer version = %g\n", x->version);
    else if (!drop) fprintf(x->f, "%.*s\n", (int)n, p);
    p += n + (p[n] != 0);
  }
  if (x->convert && x->version >= 4 && !lineinfo) fputs("-enable lineinfo = 0\n", x->f);
}

static void write_header(struct export *x, uint32_t launch) {
  const struct feed_kernel *k = x->k;
  const char *columns = k->origin && !x->convert ? strstr(k->origin, "\n#") : NULL;
  if (k->origin) {
    write_origin(x);
  } else {
    fprintf(x->f, "-kernel name = %s\n-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n", k->name,
            launch + 1, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    fprintf(x->f,
            "-shmem = %u\n-nregs = %u\n-binary version = 70\n-cuda stream id = %ld\n-shmem base_addr = 0x%016llx\n"
            "-local mem base_addr = 0x%016llx\n-nvbit version = 1.7\n-accelsim tracer version = %g\n",
            k->shared_bytes, k->regs_per_thread, x->h.stream, (unsigned long long)x->h.shmem_base,
            (unsigned long long)x->h.local_base, x->version);
    if (x->version >= 4) fprintf(x->f, "-enable lineinfo = %d\n", x->lineinfo);
  }
  if (columns) fprintf(x->f, "\n%.*s\n\n", (int)strcspn(columns + 1, "\n"), columns + 1);
  else
    fprintf(x->f, "\n#traces format = %s%s%s\n\n",
            x->version < 4 ? "threadblock_x threadblock_y threadblock_z warpid_tb "
            : x->lineinfo  ? "[line_num] "
                           : "",
            COLUMNS, x->version < 4 ? "" : " immediate");
}

static long stream_of(const struct trace_order *o, uint32_t launch) {
  for (uint32_t i = 0; o && i < o->steps; i++)
    if (!o->step[i].wait && o->step[i].launch == launch) return o->step[i].stream;
  return 0;
}

/* Read the kernel's own header and derive the output; `version`: as requested, 0 if not. */
static bool read_origin(struct export *x, uint32_t launch, double version, struct err *e) {
  x->h = (struct accel_header){.shmem_base = 0x00007f5500000000, .local_base = 0x00007f5501000000};
  x->h.stream = stream_of(x->t->order, launch);
  x->version = version > 0 ? version : 5;
  x->lineinfo = x->version >= 4;
  x->convert = false;
  bool end;
  if (!x->k->origin) return true;
  x->h = (struct accel_header){0};
  for (const char *p = x->k->origin; *p;) {
    size_t n = strcspn(p, "\n");
    if (!accel_header_line(&x->h, p, n, &end, e)) return false;
    p += n + (p[n] != 0);
  }
  x->convert = version > 0 && version != x->h.version;
  if (!x->convert) x->version = x->h.version;
  x->lineinfo = x->h.lineinfo && (!x->convert || x->version >= 4);
  for (uint32_t i = 0; x->k->text && x->version < 6 && i < x->k->insts; i++)
    if (x->k->text[i] && accel_head_is_bulk(x->k->text[i]))
      return err_set(e, ERR_USAGE,
                     "kernel %s has bulk copies, which tracer version %g cannot say; export it as version 6",
                     x->k->name, x->version);
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
  if (i->lat == LAT_TENSOR_F16) return "HMMA.16816.F16";
  if (i->lat >= LAT_F64_ADD && i->lat <= LAT_F64_DIV) return i->lat == LAT_F64_ADD ? "DADD" : "DFMA";
  if (i->pipe == PIPE_SFU) return "MUFU";
  if (i->lat >= LAT_F32_ADD && i->lat <= LAT_F32_DIV) return i->lat == LAT_F32_ADD ? "FADD" : "FFMA";
  if (i->lat == LAT_SHFL) return "SHFL";
  return i->lat == LAT_ONE || i->lat >= LAT_MOV ? "MOV" : i->lat == LAT_INT_ADD ? "IADD3" : "IMAD";
}

/* The columns from the number of destinations to the memory width of an instruction not imported from SASS. */
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

/* Inverse of memory_step of accel_input.c. */
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

/* A bulk copy: base, count, and the deltas, for any lanes. */
static void write_bulk(const struct issued *o, FILE *f) {
  uint64_t before = 0;
  uint32_t n = (uint32_t)__builtin_popcount(o->mask);
  for (uint32_t k = 0; k < n; before = o->addr[k++])
    if (k) fprintf(f, " %lld", (long long)(int64_t)(o->addr[k] - before));
    else fprintf(f, " 4 0x%llx %u", (unsigned long long)o->addr[0], n);
  if (!n) fputs(" 4 0x0 0", f);
}

/* Destinations to memory width as imported. Warp group products have a word more from version 6 on. */
static void write_head(const struct export *x, const char *head, size_t n, FILE *f) {
  const char *width = memrchr(head, ' ', n), *gmma = memmem(head, n, "GMMA", 4);
  bool had = x->h.version >= 6, has = x->version >= 6;
  if (!gmma || had == has || !width) {
    fprintf(f, "%.*s", (int)n, head);
  } else if (has) {
    fprintf(f, "%.*s 0%.*s", (int)(width - head), head, (int)(head + n - width), width);
  } else {
    const char *flag = memrchr(head, ' ', (size_t)(width - head));
    fprintf(f, "%.*s%.*s", (int)((flag ? flag : width) - head), head, (int)(head + n - width), width);
  }
}

/* Immediates: none before version 4, one, two from version 6 on. `tail`: as imported, NULL if none. */
static void write_tail(const struct export *x, const char *tail, FILE *f) {
  if (x->version < 4) return;
  if (!tail || (!*tail && x->h.version < 4)) fputs(" 0", f);
  else if (*tail) fprintf(f, " %.*s", (int)(x->version < 6 ? strcspn(tail, " ") : strlen(tail)), tail);
  if (x->version >= 6) fputs(" NoVal", f);
}

static void write_inst(const struct export *x, const struct inst *i, const struct issued *o, FILE *f) {
  char made[256];
  const char *text = x->k->text ? x->k->text[i->pc] : NULL, *tab = text ? strchr(text, '\t') : NULL;
  bool bulk = tab && accel_head_is_bulk(text);
  if (x->lineinfo) fprintf(f, "%u ", i->src_line);
  /* Instructions not from SASS are numbered in steps of 8; SASS of binary version 70, which its header names, has 16
   * B. */
  fprintf(f, "%04x ", text || x->h.binary_version ? i->fetch_pc : 2 * i->fetch_pc);
  if (!bulk) fprintf(f, "%08x ", o->mask);
  if (tab) {
    write_head(x, text, (size_t)(tab - text), f);
  } else {
    made_up_head(i, made, sizeof made);
    fputs(made, f);
  }
  if (bulk) write_bulk(o, f);
  else if (i->pipe == PIPE_MEM && i->kind != KIND_FENCE) write_addresses(x, i, o, f);
  write_tail(x, tab ? tab + 1 : NULL, f);
  fputc('\n', f);
}

static void write_cluster(const struct export *x, const uint32_t cta[3]) {
  const uint32_t *d = x->h.cluster;
  uint32_t in[3];
  for (int i = 0; i < 3; i++) in[i] = cta[i] % d[i];
  fprintf(x->f, "cluster id = %u,%u,%u\ncluster cta = %u,%u,%u\ncluster rank = %u\n", cta[0] / d[0], cta[1] / d[1],
          cta[2] / d[2], in[0], in[1], in[2], (in[2] * d[1] + in[1]) * d[0] + in[0]);
}

/* A CTA begins with its first warp that has instructions; warps without any are omitted, as by the grouping tool. */
static void begin_cta(const struct export *x, const uint32_t at[3], uint32_t empty_warps) {
  fprintf(x->f, "#BEGIN_TB\n\nthread block = %u,%u,%u\n", at[0], at[1], at[2]);
  if (x->version >= 6 && x->h.cluster[0]) write_cluster(x, at);
  fputc('\n', x->f);
  for (uint32_t w = 0; w < empty_warps; w++) fprintf(x->f, "warp = %u\ninsts = 0\n\n", w);
}

/* One warp's lines. False with `e`: the trace cannot be read further. */
static bool write_warp(struct export *x, const uint32_t at[3], uint32_t warp, bool *begun, struct err *e) {
  char *text = NULL;
  size_t bytes = 0;
  unsigned long insts = 0;
  FILE *f = open_memstream(&text, &bytes);
  CHECK(f, "out of memory");
  bool ok = true;
  for (uint32_t pc = x->k->entry_pc; ok && pc != FEED_DONE;) {
    struct issued o = {.bar_id = FEED_NO_BARRIER};
    ok = x->t->ops->step(x->t, 0, warp, &o, e);
    /* A warp that does not begin at the kernel's first instruction has a first step without lanes (accel_input.c). */
    if (ok && (insts || o.active)) {
      if (x->version < 3) fprintf(f, "%u %u %u %u ", at[0], at[1], at[2], warp);
      write_inst(x, &x->k->code[pc], &o, f);
      insts++;
    }
    pc = o.next_pc;
  }
  fclose(f);
  if (ok && insts && !*begun) {
    begin_cta(x, at, warp);
    *begun = true;
  }
  if (ok && *begun) fprintf(x->f, "warp = %u\ninsts = %lu\n%s\n", warp, insts, text);
  free(text);
  return ok;
}

static bool write_cta(struct export *x, uint32_t cta, struct err *e) {
  const uint32_t *g = x->k->grid;
  if (!x->t->ops->open_cta(x->t, 0, cta, e)) return false;
  const uint32_t at[3] = {cta % g[0], cta / g[0] % g[1], cta / g[0] / g[1]};
  bool ok = true, begun = false;
  for (uint32_t w = 0; ok && w < x->k->warps_per_cta; w++) ok = write_warp(x, at, w, &begun, e);
  if (begun) fputs("#END_TB\n\n", x->f);
  x->t->ops->close_cta(x->t, 0);
  return ok;
}

static bool write_launch(struct export *x, const char *dir, double version, uint32_t launch, struct err *e) {
  char path[1200];
  snprintf(path, sizeof path, "%.1100s/kernel-%u.traceg", dir, launch + 1);
  if (!read_origin(x, launch, version, e) || !x->t->ops->begin(x->t, 1, e)) return false;
  struct output *file = output_open(path);
  if (!file) return output_failed(path, errno, e);
  x->f = output_file(file);
  write_header(x, launch);
  bool ok = true;
  for (uint32_t c = 0; ok && c < x->k->ctas; c++) ok = write_cta(x, c, e);
  if (ok) return output_commit(file) || output_failed(path, errno, e);
  output_abandon(file);
  return false;
}

bool accel_export(struct trace_input *t, const char *dir, double version, struct err *e) {
  char path[1200];
  struct export x = {.t = t};
  struct trace_event ev;
  snprintf(path, sizeof path, "%.1100s/kernelslist.g", dir);
  struct output *file = output_prepare(path, e) ? output_open(path) : NULL;
  if (!file) return e->code ? false : output_failed(path, errno, e);
  FILE *list = output_file(file);
  bool ok;
  while ((ok = t->ops->next(t, &ev, e)) && ev.kind != TRACE_END) {
    if (ev.kind == TRACE_COPY && ev.to_device && ev.addr)
      fprintf(list, "MemcpyHtoD,0x%016llx,%llu\n", (unsigned long long)ev.addr, (unsigned long long)ev.bytes);
    if (ev.kind != TRACE_LAUNCH) continue;
    x.k = ev.kernel;
    if (!(ok = write_launch(&x, dir, version, ev.launch, e))) break;
    fprintf(list, "kernel-%u.traceg\n", ev.launch + 1);
  }
  if (ok) return output_commit(file) || output_failed(path, errno, e); /* written last: completes the folder */
  output_abandon(file);
  return false;
}

/* tex.c - texture fetches, surface loads and stores, their objects and references.
 *
 * Sampling follows the CUDA C++ Programming Guide, appendix "Texture Fetching": coordinates times size when normalised,
 * address mode, then the nearest texel or a filter whose weights have 8 fractional bits. There are no mipmaps: the
 * level of detail is read and ignored. An access reports the address of its first texel to the timing model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"
#include "simt/ops/fp.h"

#define HANDLE_BASE UINT64_C(0x5E00000000)

struct texture_table {
  uint32_t n, cap;
  struct tex_slot {
    struct simt_tex t;
    bool used;
  } * slots;
};

struct tex_ref {
  const char *name;
  struct simt_tex t;
  bool bound;
};

enum tex_geometry { GEO_1D, GEO_2D, GEO_3D, GEO_A1D, GEO_A2D, GEO_CUBE, GEO_ACUBE };

/* ---- objects and references ---- */

uint64_t simt_tex_create(struct simt *s, const struct simt_tex *t) {
  if (!s->tex) s->tex = mem_zeroed(1, sizeof *s->tex);
  if (!s->tex) return 0;
  struct texture_table *tab = s->tex;
  uint32_t k = 0;
  while (k < tab->n && tab->slots[k].used) k++;
  if (k == tab->cap) {
    uint32_t cap = tab->cap ? tab->cap * 2 : 16;
    struct tex_slot *n = mem_resize(tab->slots, cap, sizeof *n);
    if (!n) return 0;
    tab->slots = n;
    tab->cap = cap;
  }
  if (k == tab->n) tab->n++;
  tab->slots[k] = (struct tex_slot){.t = *t, .used = true};
  return HANDLE_BASE + k;
}

static struct tex_slot *slot_of(struct simt *s, uint64_t handle) {
  struct texture_table *tab = s->tex;
  return tab && handle - HANDLE_BASE < tab->n && tab->slots[handle - HANDLE_BASE].used
             ? &tab->slots[handle - HANDLE_BASE]
             : NULL;
}

bool simt_tex_destroy(struct simt *s, uint64_t handle) {
  struct tex_slot *k = slot_of(s, handle);
  if (!k) return false;
  k->used = false;
  return true;
}

void tex_free(struct simt *s) {
  if (s->tex) free(s->tex->slots);
  free(s->tex);
}

bool simt_tex_bind(struct simt_module *m, const char *name, const struct simt_tex *t) {
  for (uint32_t i = 0; i < m->ntexrefs; i++) {
    struct tex_ref *r = &m->texrefs[i];
    if (strcmp(r->name, name)) continue;
    r->bound = t != NULL;
    if (t) r->t = *t;
    return true;
  }
  return false;
}

/* The references of the module, before its instructions are lowered. */
void tex_collect(struct simt_module *m) {
  const struct ptx_module *p = m->ptx;
  m->texrefs = ARENA_ARRAY(&m->arena, struct tex_ref, p->nvars);
  for (uint32_t i = 0; i < p->nvars; i++)
    if (p->vars[i]->def == p->vars[i] &&
        (p->vars[i]->type == T_TEXREF || p->vars[i]->type == T_SURFREF || p->vars[i]->space == SP_TEX))
      m->texrefs[m->ntexrefs++].name = p->vars[i]->name;
}

/* ---- lowering ---- */

static int geometry(const struct ptx_inst *i) {
  static const enum ptx_mod mods[] = {M_G1D, M_G2D, M_G3D, M_A1D, M_A2D, M_CUBE, M_ACUBE};
  for (int k = 0; k < 7; k++)
    if (ptx_has(i, mods[k])) return k;
  return -1;
}

static uint32_t coordinates(int geo) {
  static const uint8_t n[] = {1, 2, 3, 2, 3, 3, 4};
  return n[geo];
}

static bool handle_of(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *mem, struct xop *o,
                      struct xaux *a) {
  if (mem->reg) {
    if (slot_bytes(mem->reg->type) != 8 * LANES)
      return lower_malformed(l, i, "the texture or surface handle must have 64 bits");
    o->a = l->reg_off[mem->reg->num];
    return true;
  }
  if (!mem->var) return lower_malformed(l, i, "expected a texture or surface");
  for (uint32_t k = 0; k < l->m->ntexrefs; k++)
    if (!strcmp(l->m->texrefs[k].name, mem->var->def->name)) a->ref = &l->m->texrefs[k];
  return a->ref || lower_malformed(l, i, "the operand is no texture or surface reference");
}

/* sured.b: an atomic without result on 32 or 64 bits of a surface. */
static bool lower_reduction(struct lowering *l, const struct ptx_inst *i, struct xop *o, struct xaux *a) {
  static const enum ptx_mod ops[] = {M_ADD, M_MIN, M_MAX, M_AND, M_OR};
  enum ptx_type t = i->types[0];
  uint32_t op = 0;
  while (op < 5 && !ptx_has(i, ops[op])) op++;
  if (op == 5) return lower_malformed(l, i, "needs an operation such as .add");
  bool typed = t == T_U32 || t == T_S32 || t == T_U64 || t == T_S64, bits = t == T_B32 || t == T_B64;
  if (a->n != 1 || (op > ATOM_MAX ? !bits : !typed)) return lower_refuse(l, i, "");
  a->op = op;
  o->id = X_sured;
  return true;
}

bool lower_texture(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_texture(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  struct xaux *a = lower_aux(l);
  bool query = i->op == OP_TXQ || i->op == OP_SUQ, reduce = i->op == OP_SURED, store = i->op == OP_SUST || reduce,
       surface = store || i->op == OP_SULD;
  int geo = query ? 0 : geometry(i);
  if (i->op == OP_ISTYPEP || ptx_has(i, M_P) || geo < 0) return lower_refuse(l, i, "");
  if (i->nops < 2) return lower_malformed(l, i, "too few operands");
  const struct ptx_opnd *mem = &i->ops[store ? 0 : 1], *data = &i->ops[store ? 1 : 0];
  if (mem->kind != OK_MEM) return lower_malformed(l, i, "expected the texture and its coordinates in brackets");
  if (!handle_of(l, i, mem, o, a)) return false;
  o->aux = a;
  o->elem = (uint8_t)geo;
  if (query) {
    if (data->kind != OK_REG) return lower_malformed(l, i, "the destination must be a register");
    o->d = lower_operand(l, data, T_U32);
    for (uint32_t k = 0; k < i->nmods; k++) o->sub = i->mod_order[k] == M_LEVEL ? o->sub : i->mod_order[k];
    if (o->sub == M_CHTYPE || o->sub == M_CHORDER || o->sub == M_NUMSAMP) return lower_refuse(l, i, "");
    o->id = X_txq;
    return true;
  }
  if (!mem->n) return lower_malformed(l, i, "there are no coordinates");
  const struct ptx_opnd *c = &mem->vec[mem->n - 1]; /* a unified texture does not use the sampler before it */
  uint32_t nc = c->kind == OK_VEC ? c->n : 1, need = coordinates(geo), nd = data->kind == OK_VEC ? data->n : 1;
  if (nc < need) return lower_malformed(l, i, "too few coordinates");
  if (nd > 4) return lower_malformed(l, i, "too many elements");
  enum ptx_type t = i->types[0];
  if (!surface && t != T_F32 && t != T_S32 && t != T_U32) return lower_refuse(l, i, "");
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, 8);
  a->n = nd;
  for (uint32_t k = 0; k < nd; k++) a->v[k] = lower_elem(l, data->kind == OK_VEC ? &data->vec[k] : data, t);
  for (uint32_t k = 0; k < need; k++) a->v[4 + k] = lower_elem(l, c->kind == OK_VEC ? &c->vec[k] : c, T_B32);
  o->cls = XC_MEMORY;
  o->vec = (uint8_t)ptx_type_bytes[t]; /* surfaces: bytes of an element */
  if (surface) {
    o->sub = ptx_has(i, M_CLAMP) ? 1 : ptx_has(i, M_ZERO) ? 2 : 0;
    o->id = store ? X_sust : X_suld;
    return !reduce || lower_reduction(l, i, o, a);
  }
  o->sub = i->op == OP_TLD4 ? (ptx_has(i, M_R) ? 1 : ptx_has(i, M_G) ? 2 : ptx_has(i, M_B) ? 3 : 4) : 0;
  o->flags |= i->types[1] == T_F32 ? 0 : XF_SIGNED; /* integer coordinates */
  o->id = X_tex;
  return true;
}

/* ---- sampling ---- */

struct sample {
  struct exec *x;
  const struct xop *o;
  const struct simt_tex *t;
  int lane;
  uint64_t first; /* address of the first texel fetched */
  bool failed;
};

union texel {
  float f[4];
  uint32_t u[4];
};

static const struct simt_tex *texture_of(struct exec *x, const struct xop *o, uint32_t lane) {
  const struct xaux *a = o->aux;
  const struct tex_ref *r = a->ref;
  if (r) {
    if (!r->bound) fault_text(x, o, (int)lane, 719, "texture or surface reference '%s' is not bound", r->name);
    return r->bound ? &r->t : NULL;
  }
  uint64_t h = OPND(uint64_t, o->a)[lane];
  struct tex_slot *k = slot_of(x->run->s, h);
  if (!k) fault_text(x, o, (int)lane, 719, "0x%llx is no texture or surface object", (unsigned long long)h);
  return k ? &k->t : NULL;
}

static uint32_t texel_bytes(const struct simt_tex *t) {
  return t->channels * t->bits / 8u;
}

static uint64_t texel_address(const struct simt_tex *t, int64_t x, int64_t y, int64_t z) {
  uint64_t pitch = t->pitch ? t->pitch : (uint64_t)t->width * texel_bytes(t);
  uint64_t slice = t->slice ? t->slice : pitch * (t->height ? t->height : 1);
  return t->addr + (uint64_t)z * slice + (uint64_t)y * pitch + (uint64_t)x * texel_bytes(t);
}

/* Where the GPU has the byte `at` of row `y`, whose address in rows is `addr`. Arrays lie in blocks of 64 B by 8 rows,
 * one after another along the rows; a block has its left half first, in it two rows at a time, and of these 16 B at a
 * time (Linux drm_fourcc.h, "Generalized Block Linear layout"; NVIDIA, Tegra X1 TRM, "Pixel Memory Formats").
 * Approximation: blocks are not stacked, and rows that fill none stay rows. */
static uint64_t in_blocks(const struct simt_tex *t, uint64_t addr, uint64_t at, uint64_t y) {
  if (!t->blocks || t->pitch % 64 || (y | 7) >= t->height) return addr;
  uint64_t rows = addr - at - y % 8 * t->pitch;
  return rows + at / 64 * 512 + at % 64 / 32 * 256 + y % 8 / 2 * 64 + at % 32 / 16 * 32 + y % 2 * 16 + at % 16;
}

static void decode(const struct simt_tex *t, const char *p, bool want_float, union texel *out) {
  for (uint32_t k = 0; k < 4; k++) {
    if (k >= t->channels) {
      if (want_float) out->f[k] = k == 3 ? 1.0f : 0.0f;
      else out->u[k] = k == 3;
      continue;
    }
    uint32_t v = 0;
    memcpy(&v, p + k * t->bits / 8, t->bits / 8u);
    int32_t s = (int32_t)(v << (32 - t->bits)) >> (32 - t->bits);
    if (t->format == 2 && t->bits == 16) {
      out->f[k] = fp_f16_to_f32((uint16_t)v);
    } else if (want_float && t->read_normalized && t->format != 2 && t->bits < 32) {
      float max = (float)((1u << (t->bits - (t->format == 0))) - 1);
      out->f[k] = t->format == 0 ? fmaxf((float)s / max, -1.0f) : (float)v / max;
    } else {
      out->u[k] = t->format == 0 ? (uint32_t)s : v;
    }
  }
}

static void fetch_texel(struct sample *s, bool want_float, int64_t x, int64_t y, int64_t z, bool inside,
                        union texel *out) {
  const struct simt_tex *t = s->t;
  if (!inside) {
    for (int k = 0; k < 4; k++)
      if (want_float) out->f[k] = t->border[k];
      else out->u[k] = (uint32_t)t->border[k];
    return;
  }
  uint64_t addr = texel_address(t, x, y, z);
  const char *p = simt_mem_at(s->x->run->s, addr, texel_bytes(t));
  bool stray = !p;
  if (stray && !s->failed) {
    struct lane_access a = {.addr = addr, .bytes = texel_bytes(t), .lane = s->lane, .space = SPACE_TEX};
    p = stray_access(s->x, s->o, &a);
  }
  if (!s->first) s->first = in_blocks(t, addr, (uint64_t)x * texel_bytes(t), (uint64_t)y);
  if (!stray && s->x->run->check) check_touch(s->x, s->o, s->lane, SPACE_TEX, addr, texel_bytes(t), CHECK_READ);
  if (!p) {
    if (!s->failed) fault_address(s->x, s->o, s->lane, addr, texel_bytes(t), "invalid texture read", 700);
    s->failed = true;
    memset(out, 0, sizeof *out);
    return;
  }
  decode(t, p, want_float, out);
}

/* Integer texel position under the address mode; false: outside (border). */
static bool wrap_texel(const struct simt_tex *t, int dim, int64_t *i, int64_t n) {
  uint8_t mode = t->address_mode[dim];
  if (!t->normalized_coords && (mode == SIMT_TEX_WRAP || mode == SIMT_TEX_MIRROR)) mode = SIMT_TEX_CLAMP;
  if (*i >= 0 && *i < n) return true;
  switch (mode) {
  case SIMT_TEX_WRAP:
    *i = ((*i % n) + n) % n;
    return true;
  case SIMT_TEX_MIRROR: {
    int64_t p = ((*i % (2 * n)) + 2 * n) % (2 * n);
    *i = p < n ? p : 2 * n - 1 - p;
    return true;
  }
  case SIMT_TEX_BORDER:
    return false;
  default:
    *i = *i < 0 ? 0 : n - 1;
    return true;
  }
}

static void texel_at(struct sample *s, bool want_float, int dims, const int64_t *pos, int64_t layer, union texel *out) {
  const struct simt_tex *t = s->t;
  int64_t p[3] = {pos[0], dims > 1 ? pos[1] : 0, dims > 2 ? pos[2] : layer};
  const int64_t size[3] = {t->width, t->height ? t->height : 1, t->depth ? t->depth : 1};
  bool inside = true;
  for (int d = 0; d < dims; d++) inside = wrap_texel(t, d, &p[d], size[d]) && inside;
  fetch_texel(s, want_float, p[0], p[1], p[2], inside, out);
}

static void sample_linear(struct sample *s, int dims, const double *c, int64_t layer, union texel *out) {
  int64_t base[3] = {0};
  double w[3] = {0};
  memset(out, 0, sizeof *out);
  for (int d = 0; d < dims; d++) {
    double b = c[d] - 0.5, f = floor(b);
    base[d] = (int64_t)f;
    w[d] = floor((b - f) * 256 + 0.5) / 256; /* 8 fractional bits */
  }
  double sum[4] = {0};
  for (int k = 0; k < 1 << dims; k++) {
    int64_t pos[3];
    double weight = 1;
    union texel v;
    for (int d = 0; d < dims; d++) {
      pos[d] = base[d] + (k >> d & 1);
      weight *= k >> d & 1 ? w[d] : 1 - w[d];
    }
    texel_at(s, true, dims, pos, layer, &v);
    for (int q = 0; q < 4; q++) sum[q] += weight * v.f[q];
  }
  for (int q = 0; q < 4; q++) out->f[q] = (float)sum[q];
}

/* Face of a cube and the two coordinates on it, in [0, 1]. */
static int cube_face(const double *c, double *uv) {
  double ax = fabs(c[0]), ay = fabs(c[1]), az = fabs(c[2]), m, sc, tc;
  int face;
  if (ax >= ay && ax >= az) face = c[0] < 0, m = ax, sc = c[0] < 0 ? c[2] : -c[2], tc = -c[1];
  else if (ay >= az) face = 2 + (c[1] < 0), m = ay, sc = c[0], tc = c[1] < 0 ? -c[2] : c[2];
  else face = 4 + (c[2] < 0), m = az, sc = c[2] < 0 ? -c[0] : c[0], tc = -c[1];
  uv[0] = m ? (sc / m + 1) / 2 : 0.5;
  uv[1] = m ? (tc / m + 1) / 2 : 0.5;
  return face;
}

static void sample_one(struct sample *s, int geo, const uint32_t *raw, bool integer, union texel *out) {
  const struct simt_tex *t = s->t;
  int dims = geo == GEO_1D || geo == GEO_A1D ? 1 : geo == GEO_3D ? 3 : 2;
  int skip = geo == GEO_A1D || geo == GEO_A2D || geo == GEO_ACUBE;
  int64_t layer = skip ? (int64_t)raw[0] : 0;
  double c[3] = {0};
  bool want_float = s->o->type == T_F32, cube = geo == GEO_CUBE || geo == GEO_ACUBE;
  for (int d = 0; d < (cube ? 3 : dims); d++) {
    float f;
    memcpy(&f, &raw[skip + d], 4);
    c[d] = integer ? (double)(int32_t)raw[skip + d] : f == f ? f : 0;
  }
  if (t->linear_memory || (integer && dims == 1)) { /* tex1Dfetch: outside is zero */
    int64_t i = integer ? (int64_t)c[0] : (int64_t)floor(c[0]);
    if (i < 0 || i >= t->width) memset(out, 0, sizeof *out);
    else fetch_texel(s, want_float, i, 0, 0, true, out);
    return;
  }
  const uint32_t size[3] = {t->width, t->height ? t->height : 1, t->depth ? t->depth : 1};
  uint32_t layers = t->layers ? t->layers : 1;
  if (cube) {
    double uv[2];
    int face = cube_face(c, uv);
    layer = layer * 6 + face;
    c[0] = uv[0] * size[0], c[1] = uv[1] * size[1];
  } else if (t->normalized_coords && !integer) {
    for (int d = 0; d < dims; d++) {
      if (t->address_mode[d] == SIMT_TEX_WRAP) c[d] -= floor(c[d]);
      c[d] *= size[d];
    }
  }
  if (layer < 0) layer = 0;
  if (layer >= layers && (skip || cube)) layer = layers - 1;
  for (int d = 0; d < 3; d++) c[d] = c[d] > 1e9 ? 1e9 : c[d] < -1e9 ? -1e9 : c[d];
  if (s->o->sub) { /* tld4: one component of the four neighbours */
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t bx = (int64_t)floor(c[0] - 0.5), by = (int64_t)floor(c[1] - 0.5);
    for (int k = 0; k < 4; k++) {
      union texel v;
      int64_t pos[3] = {bx + order[k][0], by + order[k][1], 0};
      texel_at(s, want_float, 2, pos, layer, &v);
      out->u[k] = v.u[s->o->sub - 1];
    }
    return;
  }
  bool filter = t->linear_filter && want_float && !integer && (t->format == 2 || t->read_normalized);
  if (filter) {
    sample_linear(s, dims, c, layer, out);
    return;
  }
  int64_t pos[3] = {(int64_t)floor(c[0]), (int64_t)floor(c[1]), (int64_t)floor(c[2])};
  texel_at(s, want_float, dims, pos, layer, out);
}

/* One handle for all lanes: of a reference, or of equal objects. */
static bool one_texture(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  if (a->ref) return true;
  const uint64_t *h = OPND(uint64_t, o->a), first = h[__builtin_ctz(mask)];
  for (uint32_t m = mask; m; m &= m - 1)
    if (h[__builtin_ctz(m)] != first) return false;
  return true;
}

/* What most programs do: fetch elements of 32 bits from linear memory that is one allocation. Outside is zero. False:
 * it is another case. */
static bool fetch_elements(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  bool simple = o->elem == GEO_1D && o->flags & XF_SIGNED && !o->sub && a->v[4].off != OFF_NONE;
  if (!simple || x->run->check || !one_texture(x, o, mask)) return false;
  const struct simt_tex *t = texture_of(x, o, (uint32_t)__builtin_ctz(mask));
  if (!t || t->bits != 32 || t->blocks) return false;
  uint32_t bytes = texel_bytes(t);
  const char *host = simt_mem_at(x->run->s, t->addr, (uint64_t)t->width * bytes);
  if (!host) return false;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m), v[4] = {0, 0, 0, o->type == T_F32 ? 0x3f800000 : 1};
    int64_t at = OPND(int32_t, a->v[4].off)[i];
    bool inside = at >= 0 && at < t->width;
    if (inside) memcpy(v, host + (uint64_t)at * bytes, bytes);
    else memset(v, 0, sizeof v);
    for (uint32_t k = 0; k < a->n; k++)
      if (a->v[k].off != OFF_NONE) OPND(uint32_t, a->v[k].off)[i] = v[k];
    x->out->addr[i] = t->addr + (inside ? (uint64_t)at * bytes : 0);
  }
  x->out->width = (uint8_t)bytes;
  x->out->space = SPACE_TEX;
  return true;
}

static void x_tex(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  if (fetch_elements(x, o, mask)) return;
  for (uint32_t m = mask; m && !x->fault; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m), raw[4] = {0};
    struct sample s = {.x = x, .o = o, .t = texture_of(x, o, i), .lane = (int)i};
    union texel v;
    if (!s.t) return;
    for (uint32_t k = 0; k < coordinates(o->elem); k++)
      raw[k] = a->v[4 + k].off == OFF_NONE ? 0 : OPND(uint32_t, a->v[4 + k].off)[i];
    sample_one(&s, o->elem, raw, o->flags & XF_SIGNED, &v);
    for (uint32_t k = 0; k < a->n; k++)
      if (a->v[k].off != OFF_NONE) OPND(uint32_t, a->v[k].off)[i] = v.u[k];
    x->out->addr[i] = s.first ? s.first : s.t->addr;
    x->out->width = (uint8_t)texel_bytes(s.t);
  }
  x->out->space = SPACE_TEX;
}

/* ---- surfaces: the x coordinate counts bytes ---- */

/* Host address of the element; NULL: outside and skipped, or a fault. */
static char *surface_at(struct exec *x, const struct xop *o, uint32_t i, uint32_t bytes, enum check_access kind) {
  const struct xaux *a = o->aux;
  const struct simt_tex *t = texture_of(x, o, i);
  if (!t) return NULL;
  int64_t c[4] = {0};
  for (uint32_t k = 0; k < coordinates(o->elem); k++) c[k] = (int32_t)OPND(uint32_t, a->v[4 + k].off)[i];
  int skip = o->elem == GEO_A1D || o->elem == GEO_A2D;
  int dims = o->elem == GEO_1D || o->elem == GEO_A1D ? 1 : o->elem == GEO_3D ? 3 : 2;
  int64_t px = c[skip], py = dims > 1 ? c[skip + 1] : 0, pz = dims > 2 ? c[2] : skip ? c[0] : 0;
  int64_t wx = (int64_t)t->width * texel_bytes(t), hy = t->height ? t->height : 1;
  int64_t dz = skip ? (t->layers ? t->layers : 1) : t->depth ? t->depth : 1;
  bool inside = px >= 0 && px + bytes <= wx && py >= 0 && py < hy && pz >= 0 && pz < dz;
  if (px % bytes) {
    fault_text(x, o, (int)i, 716, "misaligned surface access: x = %lld bytes for an element of %u", (long long)px,
               bytes);
    return NULL;
  }
  if (!inside) {
    if (o->sub == 0)
      fault_text(x, o, (int)i, 719, "surface access at (%lld bytes, %lld, %lld), outside (%lld bytes, %lld, %lld)",
                 (long long)px, (long long)py, (long long)pz, (long long)wx, (long long)hy, (long long)dz);
    if (o->sub != 1) return NULL;
    px = px < 0 ? 0 : px + bytes > wx ? wx - bytes : px;
    py = py < 0 ? 0 : py >= hy ? hy - 1 : py;
    pz = pz < 0 ? 0 : pz >= dz ? dz - 1 : pz;
  }
  uint64_t addr = texel_address(t, 0, py, pz) + (uint64_t)px;
  char *p = simt_mem_at(x->run->s, addr, bytes);
  bool stray = !p;
  if (stray) {
    struct lane_access a = {
        .addr = addr, .bytes = bytes, .lane = (int)i, .write = kind != CHECK_READ, .space = SPACE_TEX};
    p = stray_access(x, o, &a);
  }
  if (!p) fault_address(x, o, (int)i, addr, bytes, "invalid surface access", 700);
  if (!stray && x->run->check) check_touch(x, o, (int)i, SPACE_GLOBAL, addr, bytes, kind);
  x->out->addr[i] = in_blocks(t, addr, (uint64_t)px, (uint64_t)py);
  return p;
}

static void x_surface(struct exec *x, const struct xop *o, uint32_t mask, bool store) {
  const struct xaux *a = o->aux;
  uint32_t each = o->vec, bytes = each * a->n;
  x->out->space = SPACE_GLOBAL;
  x->out->width = (uint8_t)bytes;
  for (uint32_t m = mask; m && !x->fault; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    x->out->addr[i] = 0;
    char *p = surface_at(x, o, i, bytes, store ? CHECK_WRITE : CHECK_READ);
    if (!p) x->out->mask &= ~(1u << i);
    for (uint32_t k = 0; k < a->n; k++) {
      uint64_t v = 0;
      if (a->v[k].off == OFF_NONE) continue;
      bool wide = a->v[k].bytes == 8;
      if (store) {
        v = wide ? OPND(uint64_t, a->v[k].off)[i] : OPND(uint32_t, a->v[k].off)[i];
        if (p) memcpy(p + k * each, &v, each);
      } else {
        if (p) memcpy(&v, p + k * each, each);
        if (wide) OPND(uint64_t, a->v[k].off)[i] = v;
        else OPND(uint32_t, a->v[k].off)[i] = (uint32_t)v;
      }
    }
  }
}

static void x_suld(struct exec *x, const struct xop *o, uint32_t mask) {
  x_surface(x, o, mask, false);
}
static void x_sust(struct exec *x, const struct xop *o, uint32_t mask) {
  x_surface(x, o, mask, true);
}

/* Performed at issue, unlike atomics on addresses: lanes and warps are ordered by execution. */
static void x_sured(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  const struct xop how = {.type = o->type, .sub = (uint8_t)a->op};
  uint32_t bytes = o->vec;
  x->out->space = SPACE_GLOBAL;
  x->out->width = (uint8_t)bytes;
  for (uint32_t m = mask; m && !x->fault; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    uint64_t old = 0, v = a->v[0].bytes == 8 ? OPND(uint64_t, a->v[0].off)[i] : OPND(uint32_t, a->v[0].off)[i];
    x->out->addr[i] = 0;
    char *p = surface_at(x, o, i, bytes, CHECK_ATOMIC);
    if (!p) {
      x->out->mask &= ~(1u << i);
      continue;
    }
    memcpy(&old, p, bytes);
    v = atom_combine(&how, old, v, 0);
    memcpy(p, &v, bytes);
  }
}

static void x_txq(struct exec *x, const struct xop *o, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m), v;
    const struct simt_tex *t = texture_of(x, o, i);
    if (!t) return;
    switch (o->sub) {
    case M_WIDTH:
      v = t->width;
      break;
    case M_HEIGHT:
      v = t->height;
      break;
    case M_DEPTH:
      v = t->depth;
      break;
    case M_ARRSIZE:
      v = t->layers;
      break;
    case M_NORMCOORD:
      v = t->normalized_coords;
      break;
    default:
      v = 1;
      break;
    }
    OPND(uint32_t, o->d)[i] = v;
  }
}

void simt_tex_handlers(xop_fn *table) {
  table[X_tex] = x_tex;
  table[X_suld] = x_suld;
  table[X_sust] = x_sust;
  table[X_sured] = x_sured;
  table[X_txq] = x_txq;
}

/* exec_mem.h - loads and stores, part of exec_body.h. The fast path: all active lanes inside one allocation and
 * aligned, checked with one pass over the addresses against the range cached for the instruction. Anything else goes to
 * access.c, which works lane by lane, finds other allocations and the generic windows, and reports faults. */

/* Byte addresses of all lanes, active or not. */
static inline void addresses(struct exec *x, const struct xop *o, u64 *addr) {
  u64 imm = o->imm;
  if (o->a == OFF_NONE) {
    LOOP addr[i] = imm;
  } else if (o->flags & XF_ADDR64) {
    const u64 *a = OPND(u64, o->a);
    LOOP addr[i] = a[i] + imm;
  } else {
    const u32 *a = OPND(u32, o->a);
    LOOP addr[i] = (u32)(a[i] + (u32)imm);
  }
}

/* All active lanes lie in [base, base + span) with `width` bytes, aligned to `width`. */
static inline bool inside(struct exec *x, const u64 *addr, u32 mask, u64 base, u64 span, u32 width) {
  if (span < width) return false;
  u64 room = span - width, bad = 0, low = 0;
  if (mask == FULL_MASK) {
    LOOP {
      u64 off = addr[i] - base;
      bad |= off | (room - off);
      low |= addr[i];
    }
  } else {
    const int32_t *m = lanes(x, mask);
    LOOP {
      u64 off = addr[i] - base, k = (u64)(s64)m[i];
      bad |= (off | (room - off)) & k;
      low |= addr[i] & k;
    }
  }
  return !(bad >> 63) && !(low & (width - 1));
}

#define EACH_LANE(...)                              \
  if (mask == FULL_MASK)                            \
    for (int i = 0; i < LANES; i++) {               \
      __VA_ARGS__;                                  \
    }                                               \
  else                                              \
    for (u32 left = mask; left; left &= left - 1) { \
      int i = __builtin_ctz(left);                  \
      __VA_ARGS__;                                  \
    }
#define HOST(T) (*(const T *)(addr[i] + delta + (u64)(u32)i * stride))

/* One element of every lane into a slot; `delta` includes the element's offset in the vector. */
static inline void load_element(struct exec *x, const struct xop *o, u32 mask, const u64 *addr, u64 delta, u32 stride,
                                u32 off) {
  if (off == OFF_NONE) return;
  u32 *d = OPND(u32, off);
  u64 *q = OPND(u64, off);
  bool wide = o->flags & XF_DST64, sign = o->flags & XF_SIGNED;
  switch (o->elem) {
  case 4:
    if (!wide) {
      EACH_LANE(d[i] = HOST(u32))
    } else if (sign) {
      EACH_LANE(q[i] = (u64)(s64)HOST(s32))
    } else {
      EACH_LANE(q[i] = HOST(u32))
    }
    break;
  case 8:
    EACH_LANE(q[i] = HOST(u64)) break;
  case 1:
    if (wide) {
      EACH_LANE(q[i] = sign ? (u64)(s64)HOST(int8_t) : HOST(uint8_t))
    } else if (sign) {
      u32 keep = o->sub == 2 ? 0xFFFF : 0xFFFFFFFFu;
      EACH_LANE(d[i] = (u32)(s32)HOST(int8_t) & keep)
    } else {
      EACH_LANE(d[i] = HOST(uint8_t))
    }
    break;
  default:
    if (wide) {
      EACH_LANE(q[i] = sign ? (u64)(s64)HOST(s16) : HOST(u16))
    } else if (sign && o->sub != 2) {
      EACH_LANE(d[i] = (u32)(s32)HOST(s16))
    } else {
      EACH_LANE(d[i] = HOST(u16))
    }
    break;
  }
}

static inline void load_all(struct exec *x, const struct xop *o, u32 mask, const u64 *addr, u64 delta, u32 stride) {
  if (o->vec == 1) {
    load_element(x, o, mask, addr, delta, stride, o->d);
    return;
  }
  const struct xaux *aux = o->aux;
  for (u32 v = 0; v < o->vec; v++) load_element(x, o, mask, addr, delta + v * o->elem, stride, aux->v[v].off);
}

#undef HOST
#define HOST(T) (*(T *)(addr[i] + delta + (u64)(u32)i * stride))
static inline void store_element(struct exec *x, const struct xop *o, u32 mask, const u64 *addr, u64 delta, u32 stride,
                                 u32 off) {
  const u32 *s = OPND(u32, off);
  const u64 *q = OPND(u64, off);
  bool wide = o->flags & XF_SRC64;
  switch (o->elem) {
  case 4:
    if (wide) {
      EACH_LANE(HOST(u32) = (u32)q[i])
    } else {
      EACH_LANE(HOST(u32) = s[i])
    }
    break;
  case 8:
    EACH_LANE(HOST(u64) = q[i]) break;
  case 1:
    EACH_LANE(HOST(uint8_t) = (uint8_t)(wide ? q[i] : s[i])) break;
  default:
    EACH_LANE(HOST(u16) = (u16)(wide ? q[i] : s[i])) break;
  }
}

static inline void store_all(struct exec *x, const struct xop *o, u32 mask, const u64 *addr, u64 delta, u32 stride) {
  if (o->vec == 1) {
    store_element(x, o, mask, addr, delta, stride, o->b);
    return;
  }
  const struct xaux *aux = o->aux;
  for (u32 v = 0; v < o->vec; v++) store_element(x, o, mask, addr, delta + v * o->elem, stride, aux->v[v].off);
}

#define DEF_ACCESS(name, sp, write, all, pick)                                                               \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) {                                 \
    u64 *addr = x->out->addr;                                                                                \
    u32 width = (u32)o->elem * o->vec;                                                                       \
    u64 base, span, delta;                                                                                   \
    u32 stride = 0;                                                                                          \
    addresses(x, o, addr);                                                                                   \
    x->out->space = sp;                                                                                      \
    x->out->width = (uint8_t)width;                                                                          \
    pick;                                                                                                    \
    if (__builtin_expect(inside(x, addr, mask, base, span, width), 1)) all(x, o, mask, addr, delta, stride); \
    else mem_global_slow(x, o, mask, width, write);                                                          \
  }
#define PICK_RANGE                                     \
  const struct range *r = &x->run->ranges[o - x->ops]; \
  base = r->base, span = r->span, delta = r->delta
#define PICK_SHARED base = 0, span = x->run->fast_shared, delta = (u64)x->cta->shared
#define PICK_LOCAL                                                                     \
  stride = x->run->local_stride, base = 0, span = x->run->fast_local;                  \
  if (o->flags & XF_FRAME) LOOP addr[i] += x->e->local; /* a variable of this frame */ \
  delta = (u64)(x->cta->local + (size_t)x->w->index * LANES * stride)
DEF_ACCESS(ld_global, SPACE_GLOBAL, false, load_all, PICK_RANGE)
DEF_ACCESS(ld_const, SPACE_CONST, false, load_all, PICK_RANGE)
DEF_ACCESS(ld_generic, SPACE_GLOBAL, false, load_all, PICK_RANGE)
DEF_ACCESS(ld_shared, SPACE_SHARED, false, load_all, PICK_SHARED)
DEF_ACCESS(ld_local, SPACE_LOCAL, false, load_all, PICK_LOCAL)
DEF_ACCESS(st_global, SPACE_GLOBAL, true, store_all, PICK_RANGE)
DEF_ACCESS(st_generic, SPACE_GLOBAL, true, store_all, PICK_RANGE)
DEF_ACCESS(st_shared, SPACE_SHARED, true, store_all, PICK_SHARED)
DEF_ACCESS(st_local, SPACE_LOCAL, true, store_all, PICK_LOCAL)
DEF_ACCESS(ld_param, SPACE_PARAM, false, load_all,
           (base = 0, span = x->run->k->info.param_block_bytes, delta = (u64)x->run->params))

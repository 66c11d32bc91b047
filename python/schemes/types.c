/* types.c - what the methods of a Python scheme see: events, sets, counters, and the services of the machine. */
#include "schemes/schemes.h"

#include <limits.h>
#include <stddef.h>
#include <structmember.h>

PyTypeObject *l1_type, *l2_type, *set_type, *inst_type, *req_type, *gpu_type, *counts_type;

/* ---- types that hooks see ---- */

#define U64(name, s, member) \
  { #name, T_ULONGLONG, offsetof(struct s, member), READONLY, NULL }
#define U32(name, s, member) \
  { #name, T_UINT, offsetof(struct s, member), READONLY, NULL }
#define U16(name, s, member) \
  { #name, T_USHORT, offsetof(struct s, member), READONLY, NULL }
#define U8(name, s, member) \
  { #name, T_UBYTE, offsetof(struct s, member), READONLY, NULL }
#define YES(name, s, member) \
  { #name, T_BOOL, offsetof(struct s, member), READONLY, NULL }
static PyMemberDef l1_members[] = {U64(addr, l1_object, e.addr),
                                   U64(line, l1_object, e.line),
                                   U64(cycle, l1_object, e.cycle),
                                   U32(sm, l1_object, e.sm),
                                   U32(warp, l1_object, e.warp),
                                   U32(cta, l1_object, e.cta),
                                   U32(pc, l1_object, e.pc),
                                   U32(degree, l1_object, e.degree),
                                   U32(chunks, l1_object, e.chunks),
                                   U32(set, l1_object, e.set),
                                   U32(way, l1_object, e.way),
                                   U32(subpart, l1_object, e.subpart),
                                   U32(note, l1_object, e.note),
                                   YES(local, l1_object, e.local),
                                   YES(write, l1_object, e.write),
                                   YES(pending, l1_object, e.pending),
                                   YES(retry, l1_object, e.retry),
                                   YES(into_l2, l1_object, e.into_l2),
                                   YES(prefetch, l1_object, e.prefetch),
                                   U8(cache_op, l1_object, e.cache_op),
                                   U8(hint, l1_object, e.hint),
                                   {0}};
static PyMemberDef l2_members[] = {U64(addr, l2_object, e.addr),     U64(line, l2_object, e.line),
                                   U64(cycle, l2_object, e.cycle),   U32(subpart, l2_object, e.subpart),
                                   U32(set, l2_object, e.set),       U32(way, l2_object, e.way),
                                   U32(sm, l2_object, e.sm),         U32(warp, l2_object, e.warp),
                                   U32(cta, l2_object, e.cta),       U32(pc, l2_object, e.pc),
                                   U32(degree, l2_object, e.degree), U32(chunks, l2_object, e.chunks),
                                   U8(type, l2_object, e.type),      YES(write, l2_object, e.write),
                                   YES(atomic, l2_object, e.atomic), U8(cache_op, l2_object, e.cache_op),
                                   U8(hint, l2_object, e.hint),      {0}};
static PyMemberDef set_members[] = {
    U32(set, set_object, s.set), U32(ways, set_object, s.ways), U64(usable, set_object, s.usable), {0}};
static PyMemberDef inst_members[] = {U32(pc, inst_object, i.pc),
                                     U8(pipe, inst_object, i.pipe),
                                     U8(kind, inst_object, i.kind),
                                     U8(space, inst_object, i.space),
                                     U8(cache_op, inst_object, i.cache_op),
                                     U8(elem_bytes, inst_object, i.elem_bytes),
                                     U8(vec, inst_object, i.vec),
                                     U16(flags, inst_object, i.flags),
                                     U32(ptx_line, inst_object, i.ptx_line),
                                     U32(src_line, inst_object, i.src_line),
                                     {0}};
static PyMemberDef req_members[] = {U64(addr, req_object, r.addr),
                                    U16(bytes, req_object, r.bytes),
                                    U8(type, req_object, r.type),
                                    YES(write, req_object, r.write),
                                    YES(atomic, req_object, r.atomic),
                                    YES(bypass, req_object, r.bypass),
                                    U8(channel, req_object, r.channel),
                                    U8(subpart, req_object, r.subpart),
                                    U8(bank, req_object, r.bank),
                                    U32(row, req_object, r.row),
                                    U8(sm, req_object, r.sm),
                                    U8(warp, req_object, r.warp),
                                    U16(degree, req_object, r.degree),
                                    U32(pc, req_object, r.pc),
                                    U32(cta, req_object, r.cta),
                                    U32(chunks, req_object, r.chunks),
                                    {0}};

static PyObject *over(const char *what) {
  PyErr_Format(PyExc_ValueError, "%s can be used only in the call that got it", what);
  return NULL;
}

/* Lines or cycles of the ways as a tuple; `closure`: which. */
static PyObject *set_list(PyObject *self, void *closure) {
  const struct cache_set *s = &((struct set_object *)self)->s;
  const uint64_t *at = closure ? s->used : s->tag;
  if (!at) return over("a set");
  PyObject *list = PyTuple_New(s->ways);
  for (uint32_t w = 0; list && w < s->ways; w++) PyTuple_SetItem(list, w, number(at[w]));
  return list;
}
static PyGetSetDef set_lists[] = {{"tag", set_list, NULL, NULL, NULL}, {"used", set_list, NULL, NULL, ""}, {0}};

static PyObject *note_get(PyObject *self, void *closure) {
  const uint8_t *note = ((struct l2_object *)self)->e.note;
  (void)closure;
  if (note) return PyLong_FromLong(*note);
  Py_RETURN_NONE;
}
static int note_set(PyObject *self, PyObject *value, void *closure) {
  uint8_t *note = ((struct l2_object *)self)->e.note;
  (void)closure;
  long n = value ? PyLong_AsLong(value) : -1;
  if (PyErr_Occurred()) return -1;
  if (note && n >= 0 && n <= 255) return *note = (uint8_t)n, 0;
  PyErr_SetString(PyExc_ValueError, "a note is a number from 0 to 255, of a read in on_l2_access");
  return -1;
}
static PyGetSetDef l2_note[] = {{"note", note_get, note_set, NULL, NULL}, {0}};

static PyObject *counts_get(PyObject *self, PyObject *name) {
  struct counts_object *o = (struct counts_object *)self;
  PyObject *row = PyDict_GetItemWithError(o->names, name);
  if (!row) return PyErr_Occurred() ? NULL : PyObject_GenericGetAttr(self, name);
  return o->at ? number(o->at[PyLong_AsLong(row)]) : over("a counter");
}
static int counts_set(PyObject *self, PyObject *name, PyObject *value) {
  struct counts_object *o = (struct counts_object *)self;
  PyObject *row = PyDict_GetItemWithError(o->names, name);
  if (!row && !PyErr_Occurred()) PyErr_Format(PyExc_AttributeError, "the scheme declares no counter %R", name);
  if (!row) return -1;
  if (!o->at) return over("a counter"), -1;
  uint64_t n = value ? PyLong_AsUnsignedLongLong(value) : 0;
  if (PyErr_Occurred()) return -1;
  o->at[PyLong_AsLong(row)] = n;
  return 0;
}
static void counts_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((struct counts_object *)self)->names);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* ---- services ---- */

/* The machine, and up to two numbers, the first below `limit`. NULL: an exception. */
static struct scheme_ctx *asked(PyObject *self, PyObject *args, const char *format, unsigned limit, unsigned *a,
                                unsigned *b) {
  struct scheme_ctx *c = ((struct gpu_object *)self)->c;
  if (!c) return over("a machine"), NULL;
  if (!PyArg_ParseTuple(args, format, a, b)) return NULL;
  if (*a < limit) return c;
  PyErr_Format(PyExc_IndexError, "%u is not below %u", *a, limit);
  return NULL;
}
#define SMS(self) (((struct gpu_object *)(self))->c ? ((struct gpu_object *)(self))->c->config->sms : 0)
#define SERVICE(name, format, limit, answer)                         \
  static PyObject *py_##name(PyObject *self, PyObject *args) {       \
    unsigned a = 0, b = 0;                                           \
    struct scheme_ctx *c = asked(self, args, format, limit, &a, &b); \
    if (!c) return NULL;                                             \
    (void)b;                                                         \
    return answer;                                                   \
  }
static unsigned subparts_of(PyObject *self) {
  struct scheme_ctx *c = ((struct gpu_object *)self)->c;
  return c ? c->config->channels * c->config->subparts : 0;
}
SERVICE(subpart_fill_cycles, "I", subparts_of(self), PyFloat_FromDouble(inside->subpart_fill_cycles(c->gpu, a)))
SERVICE(sm_warps, "I", SMS(self), number(inside->sm_warps(c->gpu, a)))
SERVICE(sm_ready, "I", SMS(self), number(inside->sm_ready(c->gpu, a)))
SERVICE(sm_insts, "I", SMS(self), number(inside->sm_insts(c->gpu, a)))
SERVICE(sm_warp_insts, "I", SMS(self), number(inside->sm_warp_insts(c->gpu, a)))
SERVICE(grid_ctas, "", 1, number(inside->grid_ctas(c->gpu)))
SERVICE(grid_x, "", 1, number(inside->grid_x(c->gpu)))
SERVICE(sm_cta_limit, "", 1, number(inside->sm_cta_limit(c->gpu)))
SERVICE(random, "I", UINT_MAX, a ? number(rng_below(&c->rng, a)) : number(0))

static PyObject *py_sm_warp_age(PyObject *self, PyObject *args) {
  unsigned sm = 0, warp = 0;
  struct scheme_ctx *c = asked(self, args, "II", SMS(self), &sm, &warp);
  if (!c) return NULL;
  if (warp < 64 && inside->sm_warps(c->gpu, sm) >> warp & 1) return number(inside->sm_warp_age(c->gpu, sm, warp));
  PyErr_Format(PyExc_IndexError, "slot %u of SM %u has no warp", warp, sm);
  return NULL;
}
static PyObject *py_sm_space(PyObject *self, PyObject *args) {
  unsigned sm = 0, none = 0;
  struct scheme_ctx *c = asked(self, args, "I", SMS(self), &sm, &none);
  if (!c) return NULL;
  struct sm_space unused = inside->sm_space(c->gpu, sm);
  return Py_BuildValue("(II)", unused.registers, unused.shared);
}
static PyObject *py_l1_set(PyObject *self, PyObject *args) {
  struct scheme_ctx *c = ((struct gpu_object *)self)->c;
  unsigned sets, line;
  unsigned long long addr;
  if (!c) return over("a machine");
  if (!PyArg_ParseTuple(args, "IIK", &sets, &line, &addr)) return NULL;
  if (sets && line && !(sets & (sets - 1)) && !(line & (line - 1)))
    return number(inside->l1_set(c->config, sets, line, addr));
  PyErr_SetString(PyExc_ValueError, "sets and line are powers of two");
  return NULL;
}
static PyObject *request_line(PyObject *self, PyObject *args, bool l2) {
  struct scheme_ctx *c = ((struct gpu_object *)self)->c;
  PyObject *of;
  unsigned long long addr;
  if (!c) return over("a machine");
  if (!PyArg_ParseTuple(args, "O!K", l1_type, &of, &addr)) return NULL;
  if (defined_of(c)->scheme.on_prefetch)
    return PyBool_FromLong((l2 ? inside->prefetch_l2 : inside->prefetch)(c, &((struct l1_object *)of)->e, addr));
  PyErr_SetString(PyExc_ValueError, "a scheme that prefetches needs the hook on_prefetch");
  return NULL;
}
static PyObject *py_prefetch(PyObject *self, PyObject *args) {
  return request_line(self, args, false);
}
static PyObject *py_prefetch_l2(PyObject *self, PyObject *args) {
  return request_line(self, args, true);
}
static PyObject *py_cycle(PyObject *self, void *closure) {
  struct scheme_ctx *c = ((struct gpu_object *)self)->c;
  (void)closure;
  return c ? number(c->now ? *c->now : 0) : over("a machine");
}
static PyMethodDef gpu_methods[] = {{"subpart_fill_cycles", py_subpart_fill_cycles, METH_VARARGS, NULL},
                                    {"sm_warps", py_sm_warps, METH_VARARGS, NULL},
                                    {"sm_ready", py_sm_ready, METH_VARARGS, NULL},
                                    {"sm_warp_age", py_sm_warp_age, METH_VARARGS, NULL},
                                    {"sm_insts", py_sm_insts, METH_VARARGS, NULL},
                                    {"sm_warp_insts", py_sm_warp_insts, METH_VARARGS, NULL},
                                    {"sm_space", py_sm_space, METH_VARARGS, NULL},
                                    {"grid_ctas", py_grid_ctas, METH_VARARGS, NULL},
                                    {"grid_x", py_grid_x, METH_VARARGS, NULL},
                                    {"sm_cta_limit", py_sm_cta_limit, METH_VARARGS, NULL},
                                    {"l1_set", py_l1_set, METH_VARARGS, NULL},
                                    {"prefetch", py_prefetch, METH_VARARGS, NULL},
                                    {"prefetch_l2", py_prefetch_l2, METH_VARARGS, NULL},
                                    {"random", py_random, METH_VARARGS, NULL},
                                    {0}};
static PyGetSetDef gpu_now[] = {{"cycle", py_cycle, NULL, NULL, NULL}, {0}};

static PyTypeObject *type_of(const char *name, size_t bytes, PyType_Slot *slots) {
  PyType_Spec spec = {name, (int)bytes, 0, Py_TPFLAGS_DEFAULT, slots};
  return (PyTypeObject *)PyType_FromSpec(&spec);
}
#define TYPE(name, object, ...) \
  type_of("sluice._schemes." name, sizeof(struct object), (PyType_Slot[]){__VA_ARGS__, {0, NULL}})

bool make_types(void) {
  l1_type = TYPE("L1Event", l1_object, {Py_tp_members, l1_members});
  l2_type = TYPE("L2Event", l2_object, {Py_tp_members, l2_members}, {Py_tp_getset, l2_note});
  set_type = TYPE("Set", set_object, {Py_tp_members, set_members}, {Py_tp_getset, set_lists});
  inst_type = TYPE("Instruction", inst_object, {Py_tp_members, inst_members});
  req_type = TYPE("Request", req_object, {Py_tp_members, req_members});
  gpu_type = TYPE("Gpu", gpu_object, {Py_tp_methods, gpu_methods}, {Py_tp_getset, gpu_now});
  counts_type = TYPE("Counts", counts_object, {Py_tp_getattro, counts_get}, {Py_tp_setattro, counts_set},
                     {Py_tp_dealloc, counts_free});
  return l1_type && l2_type && set_type && inst_type && req_type && gpu_type && counts_type;
}

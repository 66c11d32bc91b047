/* module.c - the extension module sluice._schemes: schemes whose hooks are methods of a Python class (sluice.Scheme).
 *
 * define() makes a struct scheme whose hooks call the methods of the same names. The machine creates the object when it
 * starts (`start` of scheme_init). launch() and replay() keep the interpreter's lock, so that a hook costs one call of
 * a method. The first exception is kept for failure(); hooks then answer as if they were absent, and the watcher of the
 * package ends the launch.
 */
#include "schemes/schemes.h"

#include <sluice.h>
#include <stddef.h>
#include <string.h>

const struct api_inside *inside;
static struct defined defined[DEFINED_MAX];

/* ---- the first exception of a thread ---- */

static _Thread_local bool failed;
static _Thread_local PyObject *raised[3];

void keep_exception(void) {
  if (!failed) PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  PyErr_Clear();
  failed = true;
}

bool has_exception(void) {
  return failed;
}

struct defined *defined_of(struct scheme_ctx *c) {
  struct slot_instance *in = (struct slot_instance *)((char *)c - offsetof(struct slot_instance, ctx));
  return (struct defined *)in->scheme;
}

/* ---- the machine's calls of a scheme ---- */

static void add_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  (void)unit, (void)doc;
  PyObject *text = PyUnicode_FromString(value);
  if (text) PyDict_SetItemString(ctx, key, text);
  Py_XDECREF(text);
}

static PyObject *knobs_of(const struct gpu_config *g) {
  PyObject *knobs = PyDict_New();
  if (knobs) inside->config_each(g, add_knob, knobs);
  return knobs;
}

static PyObject *values_of(const struct defined *d, const double *param) {
  Py_ssize_t n = 0;
  while (d->params[n].name) n++;
  PyObject *values = PyTuple_New(n);
  for (Py_ssize_t i = 0; values && i < n; i++)
    PyTuple_SetItem(values, i, d->params[i].integer ? PyLong_FromDouble(param[i]) : PyFloat_FromDouble(param[i]));
  return values;
}

static bool start_object(struct scheme_ctx *c, struct defined *d, struct machine *m) {
  m->gpu = PyType_GenericAlloc(gpu_type, 0);
  m->counts = PyType_GenericAlloc(counts_type, 0);
  if (!m->gpu || !m->counts) return false;
  ((struct gpu_object *)m->gpu)->c = c;
  ((struct counts_object *)m->counts)->at = c->counter;
  ((struct counts_object *)m->counts)->names = d->names;
  Py_INCREF(d->names);
  PyObject *values = values_of(d, c->param), *knobs = knobs_of(c->config);
  if (values && knobs) m->object = PyObject_CallFunctionObjArgs(d->builder, m->gpu, m->counts, values, knobs, NULL);
  Py_XDECREF(values);
  Py_XDECREF(knobs);
  for (int h = 0; m->object && h < HOOKS; h++)
    if (PyObject_HasAttrString((PyObject *)Py_TYPE(m->object), hook_names[h]) &&
        !(m->method[h] = PyObject_GetAttrString(m->object, hook_names[h])))
      return false;
  return m->object != NULL;
}

static bool scheme_init(struct scheme_ctx *c, struct err *e) {
  PyGILState_STATE lock = PyGILState_Ensure();
  struct defined *d = defined_of(c);
  bool good = start_object(c, d, c->state);
  if (!good) {
    keep_exception();
    inside->err_set(e, ERR_USAGE, "scheme %s: its start raised an exception", d->scheme.name);
  }
  PyGILState_Release(lock);
  return good;
}

static void scheme_finish(struct scheme_ctx *c, struct err *e) {
  PyGILState_STATE lock = PyGILState_Ensure();
  struct machine *m = c->state;
  (void)e;
  if (m->gpu) ((struct gpu_object *)m->gpu)->c = NULL;
  if (m->counts) ((struct counts_object *)m->counts)->at = NULL;
  for (int h = 0; h < HOOKS; h++) Py_CLEAR(m->method[h]);
  PyObject **const held[] = {&m->object, &m->gpu, &m->counts, &m->l1, &m->l2, &m->set, &m->inst, &m->req};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) Py_CLEAR(*held[i]);
  PyGILState_Release(lock);
}

static uint32_t take_rows(struct defined *d, PyObject *rows, struct scheme_bits *out, uint32_t max) {
  Py_ssize_t n = PyList_Size(rows);
  Py_XDECREF(d->rows);
  d->rows = PyList_New(0);
  for (Py_ssize_t i = 0; d->rows && i < n && i < max; i++) {
    PyObject *row = PyList_GetItem(rows, i), *text = PyUnicode_AsUTF8String(PyTuple_GetItem(row, 0));
    if (!text || PyList_Append(d->rows, text)) return 0;
    out[i] = (struct scheme_bits){PyBytes_AsString(text), PyFloat_AsDouble(PyTuple_GetItem(row, 1))};
    Py_DECREF(text);
  }
  return n < max ? (uint32_t)n : max;
}

static uint32_t storage_of(struct defined *d, const struct gpu_config *g, const double *param, struct scheme_bits *out,
                           uint32_t max) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *knobs = knobs_of(g), *values = values_of(d, param), *rows = NULL;
  if (knobs && values) rows = PyObject_CallFunctionObjArgs(d->storage, knobs, values, NULL);
  uint32_t n = rows ? take_rows(d, rows, out, max) : 0;
  if (PyErr_Occurred()) keep_exception();
  Py_XDECREF(knobs);
  Py_XDECREF(values);
  Py_XDECREF(rows);
  PyGILState_Release(lock);
  return n;
}
/* `storage` has no argument that says whose it is. */
#define STORAGE(i)                                                                                      \
  static uint32_t storage_##i(const struct gpu_config *g, const double *param, struct scheme_bits *out, \
                              uint32_t max) {                                                           \
    return storage_of(&defined[i], g, param, out, max);                                                 \
  }
STORAGE(0)
STORAGE(1)
STORAGE(2)
STORAGE(3)
STORAGE(4)
STORAGE(5)
STORAGE(6)
STORAGE(7)
static uint32_t (*const storages[DEFINED_MAX])(const struct gpu_config *, const double *, struct scheme_bits *,
                                               uint32_t) = {storage_0, storage_1, storage_2, storage_3,
                                                            storage_4, storage_5, storage_6, storage_7};

/* ---- functions of the module ---- */

/* The UTF-8 of a text, kept in `texts`; NULL for None or with an exception. */
static const char *keep(PyObject *texts, PyObject *text) {
  if (!text || text == Py_None) return NULL;
  PyObject *bytes = PyUnicode_AsUTF8String(text);
  if (!bytes) return NULL;
  PyList_Append(texts, bytes);
  Py_DECREF(bytes); /* the list has it */
  return PyBytes_AsString(bytes);
}

static bool take_params(struct defined *d, PyObject *rows) {
  for (Py_ssize_t i = 0; i < PyList_Size(rows); i++) {
    PyObject *name, *unit, *doc;
    double min, max, dflt;
    int integer;
    if (i == SCHEME_PARAMS_MAX) return PyErr_SetString(PyExc_ValueError, "too many parameters"), false;
    if (!PyArg_ParseTuple(PyList_GetItem(rows, i), "UUUdddp", &name, &unit, &doc, &min, &max, &dflt, &integer))
      return false;
    d->params[i] =
        (struct scheme_param){keep(d->texts, name), keep(d->texts, unit), keep(d->texts, doc), min, max, dflt, integer};
  }
  return true;
}

static bool take_counters(struct defined *d, PyObject *rows) {
  for (Py_ssize_t i = 0; i < PyList_Size(rows); i++) {
    PyObject *name, *unit, *doc;
    int must;
    if (i == SCHEME_COUNTERS_MAX) return PyErr_SetString(PyExc_ValueError, "too many counters"), false;
    if (!PyArg_ParseTuple(PyList_GetItem(rows, i), "UUUp", &name, &unit, &doc, &must)) return false;
    d->counters[i] = (struct scheme_counter){keep(d->texts, name), keep(d->texts, unit), keep(d->texts, doc), must};
    PyObject *row = PyLong_FromSsize_t(i);
    if (!row || PyDict_SetItem(d->names, name, row)) return false;
    Py_DECREF(row);
  }
  return true;
}

static void drop(struct defined *d) {
  PyObject **const held[] = {&d->texts, &d->builder, &d->storage, &d->rows, &d->names};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) Py_CLEAR(*held[i]);
  memset(d, 0, sizeof *d);
}

/* define(texts, params, counters, hooks, (steady, yields_l1, every_cycle), epoch, builder, storage): its number. */
static PyObject *define(PyObject *self, PyObject *args) {
  PyObject *texts[6], *params, *counters, *hooks, *builder, *storage;
  int steady, yields, every;
  unsigned epoch, i = 0;
  (void)self;
  if (!PyArg_ParseTuple(args, "(OOOOOO)OOO(ppp)IOO", &texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5],
                        &params, &counters, &hooks, &steady, &yields, &every, &epoch, &builder, &storage))
    return NULL;
  while (i < DEFINED_MAX && defined[i].used) i++;
  if (i == DEFINED_MAX) return PyErr_SetString(PyExc_RuntimeError, "more than 8 Python schemes in use"), NULL;
  struct defined *d = &defined[i];
  *d = (struct defined){.used = true, .texts = PyList_New(0), .names = PyDict_New()};
  struct scheme *s = &d->scheme;
  s->name = keep(d->texts, texts[0]), s->title = keep(d->texts, texts[1]), s->paper = keep(d->texts, texts[2]);
  s->idea = keep(d->texts, texts[3]), s->positional = keep(d->texts, texts[4]),
  s->epoch_param = keep(d->texts, texts[5]);
  s->params = d->params, s->counters = d->counters;
  s->steady = steady, s->yields_l1 = yields, s->every_cycle = every, s->epoch = epoch;
  s->state_bytes = sizeof(struct machine);
  s->init = scheme_init, s->finish = scheme_finish;
  s->no_storage = "says none";
  d->builder = builder;
  Py_INCREF(builder);
  if (storage != Py_None) {
    d->storage = storage, s->storage = storages[i], s->no_storage = NULL;
    Py_INCREF(storage);
  }
  if (!PyErr_Occurred() && take_params(d, params) && take_counters(d, counters)) fill_hooks(s, hooks);
  struct err e = {0};
  if (!PyErr_Occurred() && !inside->scheme_add(s, &e)) PyErr_SetString(PyExc_ValueError, e.msg);
  if (!PyErr_Occurred()) return PyLong_FromUnsignedLong(i);
  drop(d);
  return NULL;
}

/* undefine(number): when no machine uses it any more, in the thread that defined it. */
static PyObject *undefine(PyObject *self, PyObject *args) {
  unsigned i;
  (void)self;
  if (!PyArg_ParseTuple(args, "I", &i)) return NULL;
  if (i < DEFINED_MAX && defined[i].used) {
    inside->scheme_remove(&defined[i].scheme);
    drop(&defined[i]);
  }
  Py_RETURN_NONE;
}

/* failure(): the first exception of a hook since the last call, with its traceback; None: none. */
static PyObject *failure(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  if (!failed) Py_RETURN_NONE;
  failed = false;
  PyErr_NormalizeException(&raised[0], &raised[1], &raised[2]);
  PyObject *value = raised[1];
  if (value && raised[2]) PyException_SetTraceback(value, raised[2]);
  Py_XDECREF(raised[0]);
  Py_XDECREF(raised[2]);
  memset(raised, 0, sizeof raised);
  if (value) return value;
  Py_RETURN_NONE;
}

static PyObject *has_failed(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  return PyBool_FromLong(failed);
}

/* launch(session, kernel, launch, error), replay(session, path, error): addresses; the status. They keep the lock. */
static PyObject *launch(PyObject *self, PyObject *args) {
  Py_ssize_t s, k, l, e;
  (void)self;
  if (!PyArg_ParseTuple(args, "nnnn", &s, &k, &l, &e)) return NULL;
  return PyLong_FromLong(sluice_launch((struct sluice_session *)s, (struct sluice_kernel *)k,
                                       (const struct sluice_launch *)l, (struct sluice_error *)e));
}
static PyObject *replay(PyObject *self, PyObject *args) {
  Py_ssize_t s, e;
  const char *path;
  (void)self;
  if (!PyArg_ParseTuple(args, "nyn", &s, &path, &e)) return NULL;
  return PyLong_FromLong(sluice_replay((struct sluice_session *)s, path, (struct sluice_error *)e));
}

/* hooks(): [(name, arguments, type, again, rule, fires, answer)] in the order of hooks.def. */
static PyObject *hooks(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  PyObject *list = PyList_New(0);
  const struct {
    const char *name, *type, *arguments, *fires, *answer;
    bool again;
  } rows[] = {
/* clang-format off */
#define HOOK(name, type, arguments, slot, rule, owns, site, again, fires, answer) {#name, #type, #arguments, fires, answer, again},
#define HOOK_TABLE(...)
#include "gpu/slots/hooks.def"
      /* clang-format on */
  };
  for (int i = 0; list && i < HOOKS; i++) {
    PyObject *row = Py_BuildValue("(ssssss)", rows[i].name, rows[i].type, rows[i].arguments,
                                  rows[i].again ? "again" : "", rows[i].fires, rows[i].answer);
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

/* fields(): the name of each knob, to its member of struct gpu_config. */
static PyObject *fields(PyObject *self, PyObject *args) {
  (void)self, (void)args;
  static const char *const rows[][2] = {
/* clang-format off */
#define KNOB_U(field, key, ...) {key, #field},
#define KNOB_B(field, key, ...) {key, #field},
#define KNOB_E(field, key, ...)
#define KNOB_S(field, key, ...)
#define LATENCY(...)
#define CACHE(field, key, ...)                                                              \
  {key ".sets", #field ".sets"}, {key ".ways", #field ".ways"}, {key ".line", #field ".line"}, \
  {key ".mshrs", #field ".mshrs"}, {key ".merges", #field ".merges"}, {key ".miss_queue", #field ".miss_queue"},
#include "gpu/common/knobs.def"
      /* clang-format on */
  };
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < sizeof rows / sizeof *rows; i++) {
    PyObject *field = PyUnicode_FromString(rows[i][1]);
    if (!field || PyDict_SetItemString(dict, rows[i][0], field)) Py_CLEAR(dict);
    Py_XDECREF(field);
  }
  return dict;
}

static PyMethodDef functions[] = {{"define", define, METH_VARARGS, NULL},
                                  {"undefine", undefine, METH_VARARGS, NULL},
                                  {"failure", failure, METH_NOARGS, NULL},
                                  {"has_failed", has_failed, METH_NOARGS, NULL},
                                  {"launch", launch, METH_VARARGS, NULL},
                                  {"replay", replay, METH_VARARGS, NULL},
                                  {"hooks", hooks, METH_NOARGS, NULL},
                                  {"fields", fields, METH_NOARGS, NULL},
                                  {0}};

PyMODINIT_FUNC PyInit__schemes(void) {
  static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_schemes", .m_size = -1,
                                      .m_methods = functions};
  inside = api_inside();
  if (inside->bytes != API_INSIDE_BYTES)
    return PyErr_SetString(PyExc_ImportError, "the library libsluice.so.1 is of another build than the Python package"),
           NULL;
  return make_types() ? PyModule_Create(&module) : NULL;
}

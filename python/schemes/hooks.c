/* hooks.c - the hooks of a Python scheme: each makes the event's object and calls the method of its name.
 *
 * After the first exception no method is called any more, and a hook answers as if it were absent.
 */
#include <string.h>

#include "schemes/schemes.h"

/* clang-format off */
const char *const hook_names[] = {
#define HOOK(name, ...) #name,
#define HOOK_TABLE(...)
#include "gpu/slots/hooks.def"
};
/* clang-format on */

/* ---- calls ---- */

/* The object of an event: the last one, or a new one where Python still holds that. */
static PyObject *event(PyObject **last, PyTypeObject *type, size_t at, const void *from, size_t bytes) {
  if (!*last || Py_REFCNT(*last) > 1) {
    Py_XDECREF(*last);
    *last = PyType_GenericAlloc(type, 0);
    if (!*last) return NULL;
  }
  memcpy((char *)*last + at, from, bytes);
  return *last;
}
#define EVENT(m, kind, member, from) \
  event(&(m)->kind, kind##_type, offsetof(struct kind##_object, member), from, sizeof *(from))

/* Call a method with up to three new references, which it takes. NULL: an exception, now or before. */
static PyObject *call(struct scheme_ctx *c, int hook, PyObject *a, PyObject *b, PyObject *d) {
  struct machine *m = c->state;
  PyObject *answer =
      has_exception() || PyErr_Occurred() ? NULL : PyObject_CallFunctionObjArgs(m->method[hook], a, b, d, NULL);
  Py_XDECREF(a);
  Py_XDECREF(b);
  Py_XDECREF(d);
  if (!answer) keep_exception();
  return answer;
}
/* The same with a borrowed event first. */
static PyObject *call_with(struct scheme_ctx *c, int hook, PyObject *e, PyObject *b, PyObject *d) {
  Py_XINCREF(e);
  return call(c, hook, e, b, d);
}

static void nothing(PyObject *answer) {
  Py_XDECREF(answer);
}

static bool truth(PyObject *answer, bool otherwise) {
  if (!answer) return otherwise;
  int yes = answer == Py_True ? 1 : answer == Py_False ? 0 : PyObject_IsTrue(answer);
  Py_DECREF(answer);
  if (yes < 0) keep_exception();
  return yes < 0 ? otherwise : yes;
}

static int64_t whole(PyObject *answer, int64_t least, int64_t most, int64_t otherwise, int hook) {
  if (!answer) return otherwise;
  int64_t n = PyLong_AsLongLong(answer);
  Py_DECREF(answer);
  if (!PyErr_Occurred() && (n < least || n > most))
    PyErr_Format(PyExc_ValueError, "%s returned %lld, which is not from %lld to %lld", hook_names[hook], (long long)n,
                 (long long)least, (long long)most);
  if (!PyErr_Occurred()) return n;
  keep_exception();
  return otherwise;
}

static uint64_t mask(PyObject *answer, uint64_t otherwise) {
  if (!answer) return otherwise;
  uint64_t n = PyLong_AsUnsignedLongLong(answer);
  Py_DECREF(answer);
  if (!PyErr_Occurred()) return n;
  keep_exception();
  return otherwise;
}

/* ---- the hooks, in the order of hooks.def ---- */

/* clang-format off */
/* A row without a function here is NULL: a Python class cannot fill it. */
#define HOOK(name, type, arguments, ...) type py_##name arguments __attribute__((weak, visibility("hidden")));
#define HOOK_TABLE(...)
#include "gpu/slots/hooks.def"
/* clang-format on */

static PyObject *l1_of(struct scheme_ctx *c, const struct l1_event *e) {
  struct machine *m = c->state;
  return EVENT(m, l1, e, e);
}

static PyObject *set_of(struct scheme_ctx *c, const struct cache_set *s) {
  struct machine *m = c->state;
  return EVENT(m, set, s, s);
}

/* The tags and notes behind these pointers are the machine's, and only for the time of a call. */
static void forget(struct scheme_ctx *c) {
  struct machine *m = c->state;
  if (m->set) ((struct set_object *)m->set)->s.tag = ((struct set_object *)m->set)->s.used = NULL;
  if (m->l2) ((struct l2_object *)m->l2)->e.note = NULL;
}

static PyObject *l2_of(struct scheme_ctx *c, const struct mem_event *e) {
  struct machine *m = c->state;
  return EVENT(m, l2, e, e);
}

void py_on_kernel(struct scheme_ctx *c) {
  nothing(call(c, HOOK_on_kernel, NULL, NULL, NULL));
}
void py_on_epoch(struct scheme_ctx *c) {
  nothing(call(c, HOOK_on_epoch, NULL, NULL, NULL));
}
bool py_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  return truth(call(c, HOOK_may_launch, number(sm), number(running), NULL), true);
}
int64_t py_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  PyObject *answer = call(c, HOOK_pick_cta, number(sm), number(room), NULL);
  return whole(answer, -1, (int64_t)inside->grid_ctas(c->gpu) - 1, -1, HOOK_pick_cta);
}
void py_on_cta_start(struct scheme_ctx *c, uint32_t sm, uint32_t cta) {
  nothing(call(c, HOOK_on_cta_start, number(sm), number(cta), NULL));
}
void py_on_cta_done(struct scheme_ctx *c, uint32_t sm, uint32_t cta) {
  nothing(call(c, HOOK_on_cta_done, number(sm), number(cta), NULL));
}
void py_on_space(struct scheme_ctx *c, uint32_t sm, const struct sm_space *unused) {
  nothing(call(c, HOOK_on_space, number(sm), Py_BuildValue("(II)", unused->registers, unused->shared), NULL));
}
void py_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  nothing(call(c, HOOK_on_warp_start, number(sm), number(warp), number(cta)));
}
void py_on_warp_done(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  nothing(call(c, HOOK_on_warp_done, number(sm), number(warp), NULL));
}
uint64_t py_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  return mask(call(c, HOOK_may_issue, number(sm), number(warps), number(loads)), warps);
}
uint64_t py_issue_wake(struct scheme_ctx *c, uint32_t sm) {
  return mask(call(c, HOOK_issue_wake, number(sm), NULL, NULL), UINT64_MAX);
}
int py_pick_warp(struct scheme_ctx *c, uint32_t sm, uint32_t scheduler, uint64_t eligible) {
  PyObject *answer = call(c, HOOK_pick_warp, number(sm), number(scheduler), number(eligible));
  int warp = (int)whole(answer, -1, 63, -1, HOOK_pick_warp);
  if (warp < 0 || eligible >> warp & 1) return warp;
  PyErr_Format(PyExc_ValueError, "pick_warp returned %d, which is not eligible", warp);
  keep_exception();
  return -1;
}
void py_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  struct machine *m = c->state;
  PyObject *e = EVENT(m, inst, i, i);
  Py_XINCREF(e);
  nothing(call(c, HOOK_on_issue, number(sm), number(warp), e));
}
bool py_bypass_load(struct scheme_ctx *c, const struct l1_event *e) {
  return truth(call_with(c, HOOK_bypass_load, l1_of(c, e), NULL, NULL), false);
}
bool py_bypass_access(struct scheme_ctx *c, const struct l1_event *e) {
  return truth(call_with(c, HOOK_bypass_access, l1_of(c, e), NULL, NULL), false);
}
/* Asked while the machine is built, outside launch() and replay(). */
uint32_t py_queues(struct scheme_ctx *c, uint32_t *depth) {
  PyGILState_STATE lock = PyGILState_Ensure();
  struct machine *m = c->state;
  PyObject *answer = call(c, HOOK_queues, NULL, NULL, NULL);
  unsigned int n = 0, places = 1;
  if (answer && PyTuple_Check(answer) && PyArg_ParseTuple(answer, "II:queues", &n, &places) && n <= 64 && places) {
    m->queues = n;
  } else if (answer) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "queues returns (how many up to 64, accesses in each)");
    keep_exception();
    n = 0;
  }
  Py_XDECREF(answer);
  *depth = places;
  PyGILState_Release(lock);
  return n;
}
uint32_t py_queue_of(struct scheme_ctx *c, const struct l1_event *e) {
  struct machine *m = c->state;
  PyObject *answer = call_with(c, HOOK_queue_of, l1_of(c, e), NULL, NULL);
  return (uint32_t)whole(answer, 0, (int64_t)m->queues - 1, 0, HOOK_queue_of);
}
int py_pick_queue(struct scheme_ctx *c, uint32_t sm, const uint32_t *lengths) {
  struct machine *m = c->state;
  int first = -1; /* what is picked after an exception: any that has an access */
  PyObject *list = PyTuple_New(m->queues);
  for (uint32_t q = m->queues; q-- > 0;) {
    if (lengths[q]) first = (int)q;
    if (list) PyTuple_SetItem(list, q, number(lengths[q]));
  }
  PyObject *answer = call(c, HOOK_pick_queue, number(sm), list, NULL);
  int q = (int)whole(answer, -1, (int64_t)m->queues - 1, first, HOOK_pick_queue);
  if (q < 0 || lengths[q]) return q;
  PyErr_Format(PyExc_ValueError, "pick_queue returned %d, which is empty", q);
  keep_exception();
  return first;
}
bool py_may_allocate(struct scheme_ctx *c, const struct l1_event *e) {
  return truth(call_with(c, HOOK_may_allocate, l1_of(c, e), NULL, NULL), true);
}

/* A way of `usable`, or -1. */
static int way_of(PyObject *answer, uint64_t usable, int hook) {
  int lowest = usable ? __builtin_ctzll(usable) : -1;
  int way = (int)whole(answer, -1, 63, lowest, hook);
  if (way < 0 || usable >> way & 1) return way;
  PyErr_Format(PyExc_ValueError, "%s returned way %d, which is not usable", hook_names[hook], way);
  keep_exception();
  return lowest;
}
int py_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *s, const struct l1_event *e) {
  PyObject *set = set_of(c, s), *access = l1_of(c, e);
  Py_XINCREF(set);
  Py_XINCREF(access);
  int way = way_of(call(c, HOOK_find_victim, number(sm), set, access), s->usable, HOOK_find_victim);
  forget(c);
  return way;
}
void py_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner_warp, bool reused) {
  nothing(call_with(c, HOOK_on_evict, l1_of(c, e), number(owner_warp), PyBool_FromLong(reused)));
}
void py_on_miss(struct scheme_ctx *c, const struct l1_event *e) {
  nothing(call_with(c, HOOK_on_miss, l1_of(c, e), NULL, NULL));
}
void py_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  nothing(call_with(c, HOOK_on_hit, l1_of(c, e), NULL, NULL));
}
void py_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  nothing(call_with(c, HOOK_on_access, l1_of(c, e), number(out), NULL));
}
bool py_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  return truth(call_with(c, HOOK_on_stall, l1_of(c, e), number(why), NULL), false);
}
void py_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  nothing(call_with(c, HOOK_on_bypass, l1_of(c, e), number(by), NULL));
}
void py_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  nothing(call_with(c, HOOK_on_place, l1_of(c, e), NULL, NULL));
}
void py_on_fill(struct scheme_ctx *c, const struct l1_event *e) {
  nothing(call_with(c, HOOK_on_fill, l1_of(c, e), NULL, NULL));
}
void py_on_prefetch(struct scheme_ctx *c, const struct l1_event *e, enum prefetch_fate fate) {
  nothing(call_with(c, HOOK_on_prefetch, l1_of(c, e), number(fate), NULL));
}
bool py_store_keeps(struct scheme_ctx *c, const struct l1_event *e) {
  return truth(call_with(c, HOOK_store_keeps, l1_of(c, e), NULL, NULL), false);
}
void py_on_store(struct scheme_ctx *c, const struct l1_event *e, enum l1_store_end end) {
  nothing(call_with(c, HOOK_on_store, l1_of(c, e), number(end), NULL));
}
struct l1_size py_line_size(struct scheme_ctx *c, const struct l1_event *e, const uint8_t *data) {
  unsigned int line = c->config->l1d.line, bytes = line, later = 0;
  PyObject *values = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)line);
  PyObject *answer = call_with(c, HOOK_line_size, l1_of(c, e), values, NULL);
  if (answer && !(PyTuple_Check(answer) && PyArg_ParseTuple(answer, "II:line_size", &bytes, &later))) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "line_size returns (bytes, cycles that a hit takes longer)");
    keep_exception();
    bytes = line, later = 0;
  }
  Py_XDECREF(answer);
  return (struct l1_size){bytes, later};
}
uint32_t py_l2_slice(struct scheme_ctx *c, const struct mem_event *e) {
  uint32_t n = c->config->subparts, home = e->subpart % n;
  uint32_t k = (uint32_t)whole(call_with(c, HOOK_l2_slice, l2_of(c, e), NULL, NULL), 0, n - 1, home, HOOK_l2_slice);
  forget(c);
  return k;
}
bool py_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  bool yes = truth(call_with(c, HOOK_l2_bypass, l2_of(c, e), NULL, NULL), false);
  forget(c);
  return yes;
}
bool py_l2_may_allocate(struct scheme_ctx *c, const struct mem_event *e) {
  bool yes = truth(call_with(c, HOOK_l2_may_allocate, l2_of(c, e), NULL, NULL), true);
  forget(c);
  return yes;
}
uint32_t py_l2_narrow(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  PyObject *set = set_of(c, s), *access = l2_of(c, e);
  Py_XINCREF(access);
  uint64_t ways = mask(call_with(c, HOOK_l2_narrow, set, access, NULL), s->usable);
  forget(c);
  if (ways && !(ways & ~(uint64_t)s->usable)) return (uint32_t)ways;
  PyErr_SetString(PyExc_ValueError, "l2_narrow returns one usable way or more");
  keep_exception();
  return s->usable;
}
int py_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  PyObject *set = set_of(c, s), *access = l2_of(c, e);
  Py_XINCREF(access);
  int way = way_of(call_with(c, HOOK_l2_find_victim, set, access, NULL), s->usable, HOOK_l2_find_victim);
  forget(c);
  return way;
}
void py_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  nothing(call_with(c, HOOK_on_l2_access, l2_of(c, e), number(out), NULL));
  forget(c);
}
void py_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  nothing(call_with(c, HOOK_on_l2_evict, l2_of(c, e), NULL, NULL));
  forget(c);
}
uint32_t py_dram_class(struct scheme_ctx *c, const struct req *r) {
  struct machine *m = c->state;
  return (uint32_t)whole(call_with(c, HOOK_dram_class, EVENT(m, req, r, r), NULL, NULL), 0, 1, 0, HOOK_dram_class);
}

static void no_function(const char *hook) {
  PyErr_Format(PyExc_NotImplementedError, "Python schemes have no hook %s: python/schemes/hooks.c lacks py_%s", hook,
               hook);
}

void fill_hooks(struct scheme *s, PyObject *names) {
#define HOOK(name, ...)                                        \
  if (PyDict_GetItemString(names, #name)) s->name = py_##name; \
  if (PyDict_GetItemString(names, #name) && !s->name) no_function(#name);
#define HOOK_TABLE(...)
#include "gpu/slots/hooks.def"
}

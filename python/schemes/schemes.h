/* schemes.h - shared by the files of sluice._schemes: a scheme that Python defined, its object in a machine, the types
 * that its methods see.
 */
#ifndef PYTHON_SCHEMES_H
#define PYTHON_SCHEMES_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include "api/inside.h"

/* clang-format off */
enum {
#define HOOK(name, ...) HOOK_##name,
#define HOOK_TABLE(...)
#include "gpu/slots/hooks.def"
  HOOKS
};
/* clang-format on */
extern const char *const hook_names[];

extern const struct api_inside *inside;
extern PyTypeObject *l1_type, *l2_type, *set_type, *inst_type, *req_type, *gpu_type, *counts_type;
bool make_types(void);

/* Take the exception that is set: the first of this thread is kept for failure(). */
void keep_exception(void);
/* True if one is kept. */
bool has_exception(void);

/* ---- what a defined scheme is ---- */

enum { DEFINED_MAX = 8 };
struct defined {
  struct scheme scheme; /* first: the machine's pointer is one to this */
  struct scheme_param params[SCHEME_PARAMS_MAX + 1];
  struct scheme_counter counters[SCHEME_COUNTERS_MAX + 1];
  PyObject *texts;   /* bytes behind the pointers above */
  PyObject *builder; /* (gpu, counts, values) -> object with the hooks */
  PyObject *storage; /* (knobs, values) -> [(item, bits)]; NULL: none */
  PyObject *rows;    /* bytes behind the last answer of storage */
  PyObject *names;   /* of the counters, to their numbers */
  bool used;
};

/* One machine's: ctx->state. */
struct machine {
  PyObject *object, *gpu, *counts;
  PyObject *method[HOOKS];
  PyObject *l1, *l2, *set, *inst, *req; /* the last event of each kind, used again unless Python holds it */
  uint32_t queues;
};

struct gpu_object {
  PyObject_HEAD struct scheme_ctx *c; /* NULL when the machine is gone */
};
struct counts_object {
  PyObject_HEAD uint64_t *at;
  PyObject *names;
};
struct l1_object {
  PyObject_HEAD struct l1_event e;
};
struct l2_object {
  PyObject_HEAD struct mem_event e;
};
struct set_object {
  PyObject_HEAD struct cache_set s;
};
struct inst_object {
  PyObject_HEAD struct inst i;
};
struct req_object {
  PyObject_HEAD struct req r;
};

/* Fill the hooks that have a name in the dictionary `names`. */
void fill_hooks(struct scheme *s, PyObject *names);
struct defined *defined_of(struct scheme_ctx *c);

static inline PyObject *number(uint64_t n) {
  return PyLong_FromUnsignedLongLong(n);
}

#endif

/* session.c - sessions of sluice.h: a struct session with calls that always return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "api/api.h"
#include "base/arena.h"
#include "base/paths.h"
#include "gpu/common/config.h"
#include "results/record.h"
#include "session/meter.h"
#include "session/replay.h"
#include "session/session.h"
#include "simt/params.h"
#include "simt/simt.h"

struct sluice_session {
  struct api api;
  struct session *session;
  struct arena labels;      /* of allocations */
  struct sluice_error lost; /* of the launch that broke the machine; status SLUICE_OK: none */
  char *record;
  sluice_watcher *watcher;
  void *watcher_context;
};

uint32_t sluice_interface(const char **release) {
  if (release) *release = SLUICE_RELEASE;
  return SLUICE_INTERFACE;
}

/* ---- opening ---- */

struct opening {
  const char *const *options;
  struct sluice_session *session;
};

static bool yes_or_no(bool *out, const char *key, const char *value, struct err *e) {
  *out = strcmp(value, "yes") == 0;
  return *out || strcmp(value, "no") == 0 || err_set(e, ERR_USAGE, "option '%s': yes or no, not '%s'", key, value);
}

static bool mode_of(enum session_mode *mode, const char *value, struct err *e) {
  *mode = strcmp(value, "functional") == 0 ? SESSION_FUNCTIONAL : SESSION_TIMING;
  return *mode == SESSION_FUNCTIONAL || strcmp(value, "timing") == 0 ||
         err_set(e, ERR_USAGE, "option 'mode': timing or functional, not '%s'", value);
}

static bool cycles_of(uint64_t *out, const char *key, const char *value, struct err *e) {
  char *end;
  *out = strtoull(value, &end, 10);
  return (*value >= '0' && *value <= '9' && !*end) ||
         err_set(e, ERR_USAGE, "option '%s': a number, not '%s'", key, value);
}

static bool read_option(struct session_options *o, const char **sets, const char *option, struct err *e) {
  char key[128];
  const char *value;
  struct gpu_config scratch;
  if (!api_option(option, key, &value, e)) return false;
  if (strcmp(key, "gpu") == 0) o->gpu = value;
  else if (strcmp(key, "scheme") == 0) o->scheme = value;
  else if (strcmp(key, "program") == 0) o->program = value;
  else if (strcmp(key, "mode") == 0) return mode_of(&o->mode, value, e);
  else if (strcmp(key, "memory") == 0) return simt_memory_parse(value, &o->memory, e);
  else if (strcmp(key, "watchdog") == 0) return cycles_of(&o->watchdog, key, value, e);
  else if (strcmp(key, "detail") == 0) return yes_or_no(&o->detail, key, value, e);
  else if (strcmp(key, "lines") == 0) return yes_or_no(&o->lines, key, value, e);
  else if (strcmp(key, "characterise") == 0) return yes_or_no(&o->characterise, key, value, e);
  else {
    gpu_config_defaults(&scratch);
    if (!gpu_config_set(&scratch, key, value, "option", e)) return false;
    sets[o->set_count++] = option;
  }
  return true;
}

static bool open_session(void *ctx, struct err *e) {
  struct opening *w = ctx;
  struct session_options o = {.quiet = true};
  size_t n = 0;
  while (w->options && w->options[n]) n++;
  const char **sets = mem_zeroed(n + 1, sizeof *sets);
  bool good = true;
  for (size_t i = 0; good && i < n; i++) good = read_option(&o, sets, w->options[i], e);
  o.sets = sets;
  if (good) w->session->session = session_open(&o, e);
  free(sets);
  return w->session->session != NULL;
}

int sluice_open(const char *const *options, struct sluice_session **session, struct sluice_error *e) {
  if (!session) return api_error(e, SLUICE_USAGE, "sluice_open: no place for the session");
  *session = NULL;
  struct sluice_session *s = memory_outside(sizeof *s);
  if (!s) return api_error(e, SLUICE_NO_MEMORY, "out of memory for a session");
  struct opening w = {options, s};
  int status = api_call(&s->api, open_session, &w, e);
  if (status == SLUICE_OK) *session = s;
  else sluice_close(s);
  return status;
}

static bool close_session(void *ctx, struct err *e) {
  struct sluice_session *s = ctx;
  free(s->record);
  bool good = session_close(s->session, e);
  arena_free(&s->labels);
  return good;
}

/* A broken session cannot be freed piece by piece, except its record, whose JSON is not in the ledger. */
static bool close_broken(void *ctx, struct err *e) {
  struct sluice_session *s = ctx;
  (void)e;
  if (s->session && session_record(s->session)) record_free(session_record(s->session));
  return true;
}

void sluice_close(struct sluice_session *s) {
  if (!s || s->api.inside) return; /* a watcher must not close the session that runs */
  bool broken = s->api.broken.status != SLUICE_OK;
  s->api.broken.status = SLUICE_OK;
  api_call(&s->api, broken ? close_broken : close_session, s, NULL);
  memory_drop(&s->api.memory);
  memory_outside_free(s);
}

/* ---- programs ---- */

struct loading {
  struct session *session;
  const char *ptx, *name;
  struct simt_module *module;
};

static bool load_module(void *ctx, struct err *e) {
  struct loading *w = ctx;
  struct simt_text text = {.ptx = w->ptx, .name = w->name};
  w->module = simt_load(session_simt(w->session), &text, 1, e);
  return w->module != NULL;
}

static bool load_file(void *ctx, struct err *e) {
  struct loading *w = ctx;
  char *text = path_read_whole(w->name, NULL);
  if (!text) return err_set(e, ERR_INPUT, "%s: cannot be read", w->name);
  w->ptx = text;
  bool good = load_module(w, e);
  free(text);
  return good;
}

int sluice_load(struct sluice_session *s, const char *ptx, const char *name, struct sluice_module **module,
                struct sluice_error *e) {
  if (!s || !ptx || !module) return api_null(e, "sluice_load");
  struct loading w = {s->session, ptx, name ? name : "PTX", NULL};
  int status = api_call(&s->api, load_module, &w, e);
  *module = (struct sluice_module *)w.module;
  return status;
}

int sluice_load_file(struct sluice_session *s, const char *path, struct sluice_module **module,
                     struct sluice_error *e) {
  if (!s || !path || !module) return api_null(e, "sluice_load_file");
  struct loading w = {s->session, NULL, path, NULL};
  int status = api_call(&s->api, load_file, &w, e);
  *module = (struct sluice_module *)w.module;
  return status;
}

struct naming {
  struct simt_module *module;
  const char *name;
  struct simt_kernel *kernel;
  uint32_t index;
  struct sluice_parameter *parameter;
  uint64_t address, bytes;
};

static bool find_kernel(void *ctx, struct err *e) {
  struct naming *w = ctx;
  w->kernel = simt_find_kernel(w->module, w->name);
  if (w->kernel) return true;
  size_t n = simt_kernel_count(w->module);
  const char *near = NULL;
  const char **names = mem_zeroed(n + 1, sizeof *names);
  for (size_t i = 0; i < n; i++) names[i] = simt_kernel_info(simt_kernel_at(w->module, i))->name;
  near = err_nearest(w->name, names, n);
  free(names);
  return err_set(e, ERR_USAGE, "no kernel '%s' in the module%s%s%s", w->name, near ? ", did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
}

int sluice_find_kernel(struct sluice_session *s, struct sluice_module *m, const char *name,
                       struct sluice_kernel **kernel, struct sluice_error *e) {
  if (!s || !m || !name || !kernel) return api_null(e, "sluice_find_kernel");
  struct naming w = {.module = (struct simt_module *)m, .name = name};
  int status = api_call(&s->api, find_kernel, &w, e);
  *kernel = (struct sluice_kernel *)w.kernel;
  return status;
}

const char *sluice_kernel_name(struct sluice_session *s, struct sluice_module *m, size_t row) {
  struct simt_kernel *k = s && m ? simt_kernel_at((struct simt_module *)m, row) : NULL;
  return k ? simt_kernel_info(k)->name : NULL;
}

static bool find_parameter(void *ctx, struct err *e) {
  struct naming *w = ctx;
  struct sluice_parameter *p = w->parameter;
  const struct simt_kernel_info *k = simt_kernel_info(w->kernel);
  if (p->size < sizeof *p)
    return err_set(e, ERR_USAGE, "sluice_find_parameter: size is %zu, not %zu", p->size, sizeof *p);
  if (w->index >= k->params)
    return err_set(e, ERR_USAGE, "kernel %s has %u parameters, none with the number %u", k->name, k->params, w->index);
  p->bytes = k->param_bytes[w->index];
  snprintf(p->type, sizeof p->type, "%s", simt_param_type(w->kernel, w->index));
  return true;
}

int sluice_find_parameter(struct sluice_session *s, struct sluice_kernel *k, uint32_t index,
                          struct sluice_parameter *parameter, struct sluice_error *e) {
  if (!s || !k || !parameter) return api_null(e, "sluice_find_parameter");
  struct naming w = {.kernel = (struct simt_kernel *)k, .index = index, .parameter = parameter};
  return api_call(&s->api, find_parameter, &w, e);
}

static bool find_variable(void *ctx, struct err *e) {
  struct naming *w = ctx;
  return simt_find_symbol(w->module, w->name, &w->address, &w->bytes) ||
         err_set(e, ERR_USAGE, "no variable '%s' in the module", w->name);
}

int sluice_find_variable(struct sluice_session *s, struct sluice_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes, struct sluice_error *e) {
  if (!s || !m || !name) return api_null(e, "sluice_find_variable");
  struct naming w = {.module = (struct simt_module *)m, .name = name};
  int status = api_call(&s->api, find_variable, &w, e);
  if (address) *address = w.address;
  if (bytes) *bytes = w.bytes;
  return status;
}

/* ---- device memory ---- */

struct moving {
  struct sluice_session *session;
  uint64_t address, bytes;
  const char *label;
  const void *from;
  void *to;
};

static bool alloc(void *ctx, struct err *e) {
  struct moving *w = ctx;
  struct simt *gpu = session_simt(w->session->session);
  if (!w->bytes) return err_set(e, ERR_USAGE, "sluice_alloc: 0 bytes");
  const char *label = w->label ? arena_strdup(&w->session->labels, w->label) : NULL;
  w->address = simt_mem_alloc(gpu, w->bytes, SIMT_MEM_DEVICE, label);
  return true;
}

int sluice_alloc(struct sluice_session *s, uint64_t bytes, const char *label, uint64_t *address,
                 struct sluice_error *e) {
  if (!s || !address) return api_null(e, "sluice_alloc");
  struct moving w = {.session = s, .bytes = bytes, .label = label};
  int status = api_call(&s->api, alloc, &w, e);
  *address = w.address;
  if (status != SLUICE_OK || w.address) return status;
  struct simt *gpu = session_simt(s->session);
  return api_error(e, SLUICE_NO_MEMORY, "no room for %llu bytes of device memory: %llu of %llu are in use",
                   (unsigned long long)bytes, (unsigned long long)simt_mem_used(gpu),
                   (unsigned long long)simt_mem_capacity(gpu));
}

static bool release_memory(void *ctx, struct err *e) {
  struct moving *w = ctx;
  return simt_mem_release(session_simt(w->session->session), w->address) ||
         err_set(e, ERR_USAGE, "0x%llx is not where an allocation begins", (unsigned long long)w->address);
}

int sluice_free(struct sluice_session *s, uint64_t address, struct sluice_error *e) {
  if (!s) return api_null(e, "sluice_free");
  struct moving w = {.session = s, .address = address};
  return api_call(&s->api, release_memory, &w, e);
}

static bool copy_memory(void *ctx, struct err *e) {
  struct moving *w = ctx;
  struct simt *gpu = session_simt(w->session->session);
  if (!w->bytes) return true;
  void *device = simt_mem_at(gpu, w->address, w->bytes);
  if (!device)
    return err_set(e, ERR_USAGE, "%llu bytes from 0x%llx on are not in one allocation", (unsigned long long)w->bytes,
                   (unsigned long long)w->address);
  if (w->from) {
    memcpy(device, w->from, w->bytes);
    simt_mem_written(gpu, w->address, w->bytes);
  } else {
    memcpy(w->to, device, w->bytes);
  }
  session_note_copy(w->session->session, w->bytes, w->from != NULL);
  return true;
}

int sluice_write(struct sluice_session *s, uint64_t address, const void *from, uint64_t bytes, struct sluice_error *e) {
  if (!s || !from) return api_null(e, "sluice_write");
  struct moving w = {.session = s, .address = address, .bytes = bytes, .from = from};
  return api_call(&s->api, copy_memory, &w, e);
}

int sluice_read(struct sluice_session *s, void *to, uint64_t address, uint64_t bytes, struct sluice_error *e) {
  if (!s || !to) return api_null(e, "sluice_read");
  struct moving w = {.session = s, .address = address, .bytes = bytes, .to = to};
  return api_call(&s->api, copy_memory, &w, e);
}

/* ---- launches ---- */

struct launching {
  struct session *session;
  struct simt_kernel *kernel;
  const struct sluice_launch *launch;
  const char *path;
  bool began;
};

/* After a failed launch the machine still holds its warps. */
static int launch_with(struct sluice_session *s, api_work *work, struct launching *w, struct sluice_error *e) {
  if (s->lost.status != SLUICE_OK) return api_error(e, s->lost.status, "%s", s->lost.message);
  struct sluice_error reason = {0};
  int status = api_call(&s->api, work, w, &reason);
  if (status != SLUICE_OK && e) *e = reason;
  if (w->began && (status == SLUICE_PROGRAM || status == SLUICE_STUCK || status == SLUICE_UNSUPPORTED))
    s->lost = reason;
  return status;
}

static bool run(void *ctx, struct err *e) {
  struct launching *w = ctx;
  const struct sluice_launch *l = w->launch;
  const struct simt_kernel_info *k = simt_kernel_info(w->kernel);
  if (l->size < sizeof *l) return err_set(e, ERR_USAGE, "sluice_launch: size is %zu, not %zu", l->size, sizeof *l);
  if (l->argument_count != k->params)
    return err_set(e, ERR_USAGE, "kernel %s takes %u arguments, not %u", k->name, k->params, l->argument_count);
  char *block = mem_zeroed(1, k->param_block_bytes + 1);
  for (uint32_t i = 0; i < k->params; i++)
    if (l->arguments && l->arguments[i]) memcpy(block + k->param_offset[i], l->arguments[i], k->param_bytes[i]);
    else {
      free(block);
      return err_set(e, ERR_USAGE, "kernel %s: argument %u is NULL", k->name, i);
    }
  struct simt_launch inner = {.kernel = w->kernel, .dynamic_shared = l->shared_bytes, .params = block};
  for (int i = 0; i < 3; i++) {
    inner.grid[i] = l->grid[i] ? l->grid[i] : 1;
    inner.block[i] = l->block[i] ? l->block[i] : 1;
  }
  int cuda_error;
  w->began = true;
  bool good = session_launch(w->session, &inner, &cuda_error, e);
  free(block);
  return good;
}

int sluice_launch(struct sluice_session *s, struct sluice_kernel *k, const struct sluice_launch *launch,
                  struct sluice_error *e) {
  if (!s || !k || !launch) return api_null(e, "sluice_launch");
  struct launching w = {.session = s->session, .kernel = (struct simt_kernel *)k, .launch = launch};
  return launch_with(s, run, &w, e);
}

static bool replay(void *ctx, struct err *e) {
  struct launching *w = ctx;
  struct trace_input *t = trace_open(w->path, false, e);
  if (!t) return false;
  w->began = true;
  bool good = session_replay(w->session, t, &(struct replay_options){0}, e);
  trace_close(t);
  return good;
}

int sluice_replay(struct sluice_session *s, const char *path, struct sluice_error *e) {
  if (!s || !path) return api_null(e, "sluice_replay");
  struct launching w = {.session = s->session, .path = path};
  return launch_with(s, replay, &w, e);
}

/* ---- progress ---- */

struct looking {
  struct sluice_session *session;
  struct sluice_progress progress;
};

static int ask_watcher(void *ctx) {
  struct looking *w = ctx;
  return w->session->watcher(w->session->watcher_context, &w->progress);
}

static void call_watcher(void *ctx, uint32_t number, const char *kernel, uint32_t ended, uint32_t ctas) {
  struct sluice_session *s = ctx;
  struct looking w = {s,
                      {.size = sizeof w.progress, .launch = number, .kernel = kernel, .blocks = ctas, .ended = ended}};
  if (api_outside(&s->api, ask_watcher, &w)) api_stop(&s->api, "the launch was stopped by its watcher");
}

static bool watch(void *ctx, struct err *e) {
  struct sluice_session *s = ctx;
  (void)e;
  meter_watch(session_meter(s->session), s->watcher ? call_watcher : NULL, s);
  return true;
}

int sluice_watch(struct sluice_session *s, sluice_watcher *watcher, void *context, struct sluice_error *e) {
  if (!s) return api_null(e, "sluice_watch");
  if (s->api.inside) return api_call(&s->api, watch, s, e); /* refused */
  s->watcher = watcher;
  s->watcher_context = context;
  return api_call(&s->api, watch, s, e);
}

/* ---- results ---- */

struct asking {
  struct sluice_session *session;
  const char *name;
  int scope;
  double value;
};

static bool ask(void *ctx, struct err *e) {
  struct asking *w = ctx;
  const struct record *r = session_record(w->session->session);
  if (record_now(r, w->scope == SLUICE_LAST_LAUNCH, w->name, &w->value)) return true;
  /* A scheme that is not selected, or has no counters. */
  const char *name;
  for (size_t i = 0; (name = sluice_table(SLUICE_COUNTERS, i, SLUICE_NAME)); i++)
    if (strcmp(name, w->name) == 0) return true;
  return err_set(e, ERR_USAGE, "no counter '%s'", w->name);
}

int sluice_value(struct sluice_session *s, int scope, const char *name, double *value, struct sluice_error *e) {
  if (!s || !name || !value) return api_null(e, "sluice_value");
  if (scope != SLUICE_LAST_LAUNCH && scope != SLUICE_ALL_LAUNCHES)
    return api_error(e, SLUICE_USAGE, "sluice_value: no scope %d", scope);
  struct asking w = {.session = s, .name = name, .scope = scope};
  int status = api_call(&s->api, ask, &w, e);
  *value = w.value;
  return status;
}

static bool write_text(void *ctx, struct err *e) {
  struct sluice_session *s = ctx;
  (void)e;
  free(s->record);
  s->record = NULL;
  s->record = record_text(session_record(s->session));
  return true;
}

int sluice_record(struct sluice_session *s, const char **json, struct sluice_error *e) {
  if (!s || !json) return api_null(e, "sluice_record");
  int status = api_call(&s->api, write_text, s, e);
  *json = status == SLUICE_OK ? s->record : NULL;
  return status;
}

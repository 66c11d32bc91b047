/* processes.c - combines the states left by processes into one record. */
#include "cli/run/processes.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "cli/run/run.h"

struct process {
  char state[600];
  struct record_process about;
  bool readable;
};

struct processes {
  struct process *at;
  size_t n, main;
};

static void find_all(const struct tempdir *t, pid_t started, struct processes *all) {
  *all = (struct processes){0};
  for (size_t n = 0;; n++) {
    struct process p = {0};
    char name[32];
    snprintf(name, sizeof name, "process-%zu", n + 1);
    tempdir_file(t, name, p.state, sizeof p.state);
    if (access(p.state, F_OK)) break;
    p.readable = record_process(p.state, &p.about);
    all->at = mem_resize(all->at, n + 1, sizeof *all->at);
    all->at[n] = p;
    all->n++;
  }
  bool found = false;
  for (size_t i = 0; i < all->n && !found; i++)
    if (all->at[i].about.pid == started && all->at[i].about.launches) all->main = i, found = true;
  for (size_t i = 0; i < all->n && !found; i++)
    if (all->at[i].about.launches) all->main = i, found = true;
}

/* The last action of a process that did not write its record. */
static void describe_end(bool is_started, int status, char *out, size_t size) {
  if (is_started && WIFSIGNALED(status)) snprintf(out, size, "signal %d", WTERMSIG(status));
  else snprintf(out, size, "without closing the simulation");
}

static json_t *recover(const struct process *p, const struct sim_options *o, char *const *argv, const char *how,
                       struct err *e) {
  struct gpu_config c;
  char *program = command_text(argv);
  struct record_head h = {.config = &c,
                          .program = program,
                          .mode = o->mode ? o->mode : "timing",
                          .scheme = o->scheme ? o->scheme : "baseline",
                          .state = p->state};
  struct record *r = sim_config(o, &c, e) ? record_recover(&h, e) : NULL;
  char *text = r ? record_text(r) : NULL;
  json_t *doc = text ? json_loads(text, 0, NULL) : NULL;
  if (doc) json_object_set_new(doc, "ended", json_string(how));
  free(text);
  free(program);
  record_free(r);
  return doc;
}

/* The record of one process; without one, an entry that says so. A signal after the record was written counts too. */
static json_t *document(const struct process *p, const struct sim_options *o, char *const *argv, bool is_started,
                        int status, struct err *e) {
  char written[620], how[64];
  snprintf(written, sizeof written, "%s.json", p->state);
  describe_end(is_started, status, how, sizeof how);
  if (!access(written, F_OK)) {
    json_t *doc = record_document(written, e);
    if (doc && is_started && WIFSIGNALED(status)) json_object_set_new(doc, "ended", json_string(how));
    return doc;
  }
  return recover(p, o, argv, how, e);
}

static json_t *others(const struct processes *all, const struct sim_options *o, char *const *argv, pid_t started,
                      int status) {
  json_t *list = json_array();
  for (size_t i = 0; i < all->n; i++) {
    const struct process *p = &all->at[i];
    struct err e = {0};
    json_t *doc = i == all->main ? NULL : document(p, o, argv, p->about.pid == started, status, &e);
    if (i == all->main) continue;
    if (p->readable && p->about.end == RECORD_CLOSED && !p->about.launches) { /* such as a script that ran a program */
      json_decref(doc);
      continue;
    }
    if (!doc) doc = json_pack("{s:s}", "missing", e.code ? e.msg : "its record cannot be read");
    json_t *command = json_string(p->about.command);
    json_object_set_new(doc, "process", json_integer((json_int_t)i + 1));
    json_object_set_new(doc, "command", command ? command : json_string("(not UTF-8)"));
    json_array_append_new(list, doc);
  }
  return list;
}

bool processes_collect(const struct tempdir *t, const struct sim_options *o, char *const *argv, pid_t started,
                       int status, const char *record, struct err *e) {
  struct processes all;
  find_all(t, started, &all);
  bool ok = false;
  if (all.n) {
    const struct process *p = &all.at[all.main];
    char written[620];
    snprintf(written, sizeof written, "%s.json", p->state);
    if (all.n == 1 && !WIFSIGNALED(status) && !access(written, F_OK)) {
      ok = !rename(written, record) || err_set(e, ERR_INPUT, "cannot rename '%s': %s", written, strerror(errno));
    } else {
      json_t *doc = document(p, o, argv, p->about.pid == started, status, e);
      json_t *list = doc ? others(&all, o, argv, started, status) : NULL;
      if (json_array_size(list)) json_object_set(doc, "processes", list);
      json_decref(list);
      ok = doc && record_write_json(doc, record, e);
      json_decref(doc);
    }
  }
  free(all.at);
  return ok;
}

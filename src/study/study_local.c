/* study_local.c - the local engine: as many parallel runs as processors. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "proc/jobs.h"
#include "proc/process.h"
#include "study/study_impl.h"

enum { LOG_BYTES = 65536, GRACE_SECONDS = 5 };

struct child {
  pid_t pid; /* 0: free */
  const struct study_run *run;
  double started, term; /* term: time of the request to end, 0: none */
  bool timed_out, too_big;
};

struct pool {
  struct study_work *w;
  struct child *child;
  unsigned size, running;
  size_t next;
  char host[128];
  bool stop;
};

static void file_of(const struct pool *p, const struct child *c, const char *ending, char *out, size_t size) {
  CHECK((size_t)snprintf(out, size, "%s/%s.%s", p->w->spool, c->run->hash, ending) < size, "path too long");
}

static void remove_files(const struct pool *p, const struct child *c) {
  char path[4200];
  file_of(p, c, "json", path, sizeof path);
  unlink(path);
  file_of(p, c, "log", path, sizeof path);
  unlink(path);
}

static unsigned threads_of(const struct pool *p) {
  if (p->w->o->threads) return p->w->o->threads;
  return study_detailed(p->w->s) ? jobs_threads(p->size, p->running, p->w->count - p->next - 1) : 1;
}

static bool start(struct pool *p) {
  struct child *c = p->child;
  while (c->pid) c++;
  char record[4200], log[4200];
  *c = (struct child){.run = p->w->run[p->next], .started = study_now()};
  file_of(p, c, "json", record, sizeof record);
  file_of(p, c, "log", log, sizeof log);
  remove_files(p, c); /* left by a killed study */
  int pid = study_start(p->w->o->self, c->run->args, threads_of(p), record, log);
  if (pid < 0) {
    *c = (struct child){0};
    if (p->running) return false; /* too many processes for now: what runs will end */
    err_set(p->w->e, ERR_INPUT, "fork: %s", strerror(errno));
    p->stop = true;
    return false;
  }
  c->pid = pid;
  p->next++;
  p->w->p->running = ++p->running;
  study_began(p->w, c->run);
  return true;
}

static struct study_outcome outcome(const struct child *c, int status, const struct rusage *u) {
  return (struct study_outcome){
      .exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
      .timed_out = c->timed_out,
      .too_big = c->too_big,
      .seconds = study_now() - c->started,
      .cpu_seconds = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
                     1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec),
      .peak_kb = u->ru_maxrss,
  };
}

/* The signals are blocked until the pool waits for one. */
static bool is_interrupted(void) {
  sigset_t pending;
  return !sigpending(&pending) && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}

/* Another program locks the file: keep the result until it is free or the study is stopped. */
static bool store(struct pool *p, const struct child *c, const struct study_result *d) {
  for (bool noted = false;; noted = true) {
    if (study_store(p->w->db, p->w->s, c->run, d, p->w->e)) return true;
    if (db_trouble(p->w->db) != DB_LOCKED) return false;
    if (!noted && p->w->o->note) p->w->o->note(p->w->o->ctx, "the results file is locked by another program; waiting");
    if (is_interrupted()) return false;
  }
}

static void finish(struct pool *p, struct child *c, int status, const struct rusage *u) {
  char record_path[4200], log_path[4200], reason[512];
  file_of(p, c, "json", record_path, sizeof record_path);
  file_of(p, c, "log", log_path, sizeof log_path);
  struct study_outcome o = outcome(c, status, u);
  json_t *record = o.exit_code ? NULL : json_load_file(record_path, 0, NULL);
  char *log = study_log_tail(log_path, LOG_BYTES);
  const struct study_result d = {o, record, log, p->host};
  if (o.exit_code && study_disk_full(log)) {
    if (!p->stop)
      err_set(p->w->e, ERR_OUTPUT,
              "the disk is full (%s said so); what was stored before is safe. Free some space and "
              "run the study again",
              c->run->program);
    p->stop = true;
  } else if (!store(p, c, &d)) {
    p->stop = true;
  } else {
    bool done = !o.exit_code && record;
    if (!done) study_reason(&o, log, p->w->s, reason, sizeof reason);
    study_count(p->w, c->run, &d, done ? NULL : reason);
  }
  json_decref(record);
  free(log);
}

static void reap(struct pool *p, bool keep) {
  for (unsigned i = 0; i < p->size; i++) {
    struct child *c = &p->child[i];
    int status;
    struct rusage u;
    if (!c->pid || wait4(c->pid, &status, WNOHANG, &u) != c->pid) continue;
    p->running--;
    p->w->p->running = p->running;
    /* Ctrl-C reaches the runs, too: those that it ends have not failed. */
    if (keep && !(status && is_interrupted())) finish(p, c, status, &u);
    remove_files(p, c);
    c->pid = 0;
  }
}

/* Over a limit: SIGTERM, then SIGKILL. */
static void watch(struct pool *p) {
  double now = study_now(), limit = p->w->s->time_limit;
  uint64_t memory = p->w->s->memory_limit;
  for (unsigned i = 0; i < p->size; i++) {
    struct child *c = &p->child[i];
    if (!c->pid) continue;
    if (!c->term && memory && study_memory(c->pid) > memory) c->too_big = true;
    if (!c->term && limit > 0 && now - c->started > limit) c->timed_out = true;
    if (!c->term && (c->timed_out || c->too_big)) {
      c->term = now;
      kill(c->pid, SIGTERM);
    } else if (c->term && now - c->term > GRACE_SECONDS) {
      kill(-c->pid, SIGKILL);
    }
  }
}

static void end_all(struct pool *p) {
  for (unsigned i = 0; i < p->size; i++)
    if (p->child[i].pid) kill(p->child[i].pid, SIGTERM), p->child[i].term = study_now();
  while (p->running) {
    reap(p, false);
    watch(p);
    if (p->running) usleep(20000);
  }
}

enum study_end study_local(struct study_work *w) {
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned all = cpus > 0 ? (unsigned)cpus : 1, room = all / (w->o->threads ? w->o->threads : 1);
  struct pool p = {.w = w, .size = w->o->jobs ? w->o->jobs : room ? room : 1};
  p.child = mem_zeroed(p.size + 1, sizeof *p.child);
  gethostname(p.host, sizeof p.host - 1);
  sigset_t watched = process_signals(), old;
  sigprocmask(SIG_BLOCK, &watched, &old);
  bool interrupted = false;
  while (!interrupted && !p.stop && (p.running || p.next < w->count)) {
    while (!p.stop && p.running < p.size && p.next < w->count && start(&p)) continue;
    w->p->running = p.running;
    int sig = sigtimedwait(&watched, NULL, &(struct timespec){.tv_nsec = 200000000});
    interrupted = sig == SIGINT || sig == SIGTERM;
    if (!interrupted) reap(&p, true);
    watch(&p);
    study_show(w);
  }
  end_all(&p);
  sigprocmask(SIG_SETMASK, &old, NULL);
  free(p.child);
  return interrupted ? STUDY_INTERRUPTED : p.stop ? STUDY_STOPPED : STUDY_COMPLETE;
}

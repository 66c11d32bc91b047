/* study_run.c - shared by both engines: missing runs, the lock on the results file, progress. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/paths.h"
#include "base/mem.h"
#include "study/study_impl.h"

/* ---- one writer ---- */

static char *lock_path(const char *results) {
  char *path = NULL;
  CHECK(asprintf(&path, "%s.lock", results) > 0, "out of memory");
  return path;
}

/* A record lock of the process: the kernel releases it when the process ends, also on shared file systems. */
bool study_lock(const char *results, int *lock, struct err *e) {
  char *path = lock_path(results), who[256] = "";
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat mine, there;
  bool ok = false;
  for (int tries = 0; tries < 100; tries++) {
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (*lock < 0) {
      output_failed(path, errno, e);
      break;
    }
    if (fcntl(*lock, F_SETLK, &l)) {
      ssize_t n = read(*lock, who, sizeof who - 1);
      who[n > 0 ? n : 0] = 0;
      err_set(e, ERR_INPUT, "%s is in use by another study (%.*s); wait for it, or name another file with --results",
              results, (int)strcspn(who, "\n"), *who ? who : "unknown process");
      close(*lock);
      break;
    }
    /* The previous holder removed the file between open and lock: lock the new one. */
    ok = !fstat(*lock, &mine) && !stat(path, &there) && mine.st_ino == there.st_ino;
    if (ok) break;
    close(*lock);
  }
  if (ok) {
    char host[128] = "";
    gethostname(host, sizeof host - 1);
    int n = snprintf(who, sizeof who, "process %d on %s\n", (int)getpid(), host);
    if (ftruncate(*lock, 0) || write(*lock, who, (size_t)n) != n) who[0] = 0; /* used in a message only */
  }
  free(path);
  return ok;
}

void study_unlock(const char *results, int lock) {
  char *path = lock_path(results);
  unlink(path);
  close(lock);
  free(path);
}

/* ---- progress ---- */

void study_show(struct study_work *w) {
  w->p->since = study_now() - w->started;
  if (w->o->show) w->o->show(w->o->ctx, w->p);
}

static void announce(struct study_work *w, const struct study_event *v) {
  w->p->since = study_now() - w->started;
  if (w->o->event) w->o->event(w->o->ctx, v, w->p);
}

void study_began(struct study_work *w, const struct study_run *r) {
  announce(w, &(struct study_event){.run = r});
}

void study_count(struct study_work *w, const struct study_run *r, const struct study_result *d, const char *reason) {
  if (!reason) w->p->done++;
  else w->p->failed++;
  announce(w, &(struct study_event){r, true, reason, reason ? NULL : d->record, d->o.seconds});
  if (reason && w->o->note) {
    char *line = NULL;
    CHECK(asprintf(&line, "failed: %s under %s: %s", r->program, r->scheme, reason) > 0, "out of memory");
    w->o->note(w->o->ctx, line);
    free(line);
  }
  study_show(w);
}

/* Remove files of stored runs of a killed study: all files beside the folders of batches. The lock on the results
 * guarantees that no other process uses the spool. */
static void clear_spool(const char *spool) {
  DIR *d = opendir(spool);
  const struct dirent *entry;
  while (d && (entry = readdir(d))) {
    struct stat st;
    if (!fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
      unlinkat(dirfd(d), entry->d_name, 0);
  }
  if (d) closedir(d);
}

/* A folder that another user made could hold links in place of what is written there. */
static bool make_spool(const char *spool, struct err *e) {
  struct stat there;
  if (!mkdir(spool, 0777)) return true;
  if (errno != EEXIST || lstat(spool, &there) || !S_ISDIR(there.st_mode))
    return err_set(e, ERR_OUTPUT, "cannot make the folder '%s': %s", spool, strerror(errno));
  return there.st_uid == geteuid() ||
         err_set(e, ERR_INPUT,
                 "the folder '%s' belongs to another user; remove it, or name a results file elsewhere "
                 "with --results",
                 spool);
}

enum study_end study_run(const struct study *s, const struct study_runs *r, const struct study_options *o,
                         struct db *db, struct study_progress *p, struct err *e) {
  struct study_work w = {.s = s, .o = o, .db = db, .p = p, .e = e, .started = study_now()};
  *p = (struct study_progress){.total = r->count};
  w.run = mem_zeroed(r->count + 1, sizeof *w.run);
  CHECK(w.run && asprintf(&w.spool, "%s.spool", o->results) > 0, "out of memory");
  for (size_t i = 0; i < r->count; i++) {
    enum db_status st = db_run_status(db, r->run[i].hash);
    if (st == DB_DONE) p->before++;
    else if (st == DB_FAILED && !o->retry) p->failed++;
    else w.run[w.count++] = &r->run[i];
  }
  p->done = p->before;
  enum study_end end = STUDY_COMPLETE;
  if (w.count && !make_spool(w.spool, e)) {
    end = STUDY_STOPPED;
  } else if (w.count) {
    end = o->engine == STUDY_SLURM ? study_slurm(&w) : study_local(&w);
  }
  if (end == STUDY_COMPLETE) clear_spool(w.spool);
  rmdir(w.spool); /* if it is empty */
  free(w.spool);
  free(w.run);
  return end;
}

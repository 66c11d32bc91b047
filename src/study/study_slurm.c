/* study_slurm.c - the cluster engine: job arrays whose tasks leave results in a shared folder.
 *
 * Requirements: a shared file system, sbatch, squeue and scancel; no accounting database and no daemon. A batch is a
 * folder RESULTS.spool/batch-N with runs.json (runs of its tasks), job.sh (readable, can be submitted by hand) and one
 * HASH.result per ended run, written whole or not at all. All state is in these files and in Slurm's queue, where a
 * batch is found by its job name, so a restarted study continues from there. A task that is neither queued nor has a
 * result is lost (its node failed); its runs go into a new batch.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "base/hash.h"
#include "base/output.h"
#include "proc/process.h"
#include "base/paths.h"
#include "study/study_impl.h"

enum { ATTEMPTS = 5, QUEUE_SECONDS = 2, ARRAY_MAX = 1000, BATCHES_MAX = 4096, REPLY_BYTES = 1 << 22 };

struct batch {
  char *folder, *job; /* job: name in Slurm's queue */
  size_t *run;        /* indices into the work, in the order of the tasks */
  size_t count, tasks, per_task;
  unsigned absent; /* consecutive queue queries without it */
  bool *live;      /* per task: in the queue */
};

struct cluster {
  struct study_work *w;
  struct batch batch[BATCHES_MAX];
  size_t batches, number; /* number: of the next batch */
  bool *done;             /* per run: stored, or given up */
  uint8_t *attempts;      /* per run */
  size_t left;
  double asked; /* time of the last queue query */
  bool silent;  /* the controller did not answer the last query */
  bool stop;
};

/* ---- other programs ---- */

/* Run argv with output (with `errors` also standard error) into `out`. The exit code, -1 if it could not be run. */
static int capture(const char *const *argv, char *out, size_t size, bool errors) {
  int p[2];
  if (pipe2(p, O_CLOEXEC)) return -1;
  fflush(NULL);
  pid_t parent = getpid(), pid = fork();
  if (!pid) {
    sigset_t none;
    process_child(parent);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C is handled by this process */
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(p[1], STDOUT_FILENO);
    dup2(errors ? p[1] : null, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
  }
  close(p[1]);
  size_t used = 0;
  char rest[4096];
  for (ssize_t n; pid > 0;) {
    bool room = used + 1 < size;
    n = read(p[0], room ? out + used : rest, room ? size - used - 1 : sizeof rest);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (room) used += (size_t)n;
  }
  out[used] = 0;
  close(p[0]);
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tell(struct cluster *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct cluster *c, const char *fmt, ...) {
  char line[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  if (c->w->o->note) c->w->o->note(c->w->o->ctx, line);
}

/* ---- writing a batch ---- */

static json_t *run_json(const struct study_run *r) {
  json_t *args = json_array();
  for (size_t i = 0; r->args[i]; i++) json_array_append_new(args, json_string(r->args[i]));
  return json_pack("{s:s, s:o}", "hash", r->hash, "args", args);
}

/* Processors of a task: its runs use all of them. */
static uint64_t task_cpus(const struct study_work *w) {
  return w->o->threads ? w->o->threads : w->s->slurm.cpus;
}

static bool write_runs(struct cluster *c, const struct batch *b) {
  char path[PATH_MAX], cwd[PATH_MAX];
  json_t *tasks = json_array();
  for (size_t i = 0; i < b->count; i++) {
    if (i % b->per_task == 0) json_array_append_new(tasks, json_array());
    json_array_append_new(json_array_get(tasks, i / b->per_task), run_json(c->w->run[b->run[i]]));
  }
  json_t *root =
      json_pack("{s:i, s:s, s:f, s:I, s:I, s:o}", "format", 1, "folder", getcwd(cwd, sizeof cwd) ? cwd : ".",
                "time_limit", c->w->s->time_limit, "memory_limit", (json_int_t)c->w->s->memory_limit, "threads",
                (json_int_t)(c->w->o->threads || study_detailed(c->w->s) ? task_cpus(c->w) : 1), "tasks", tasks);
  snprintf(path, sizeof path, "%s/runs.json", b->folder);
  return jsonfile_write(root, path, JSON_INDENT(1), c->w->e);
}

static void option(FILE *f, const char *name, const char *value) {
  if (value) fprintf(f, "#SBATCH --%s=%s\n", name, value);
}

static void quoted(FILE *f, const char *s) {
  fputc('\'', f);
  for (; *s; s++) {
    if (*s == '\'') fputs("'\\''", f);
    else fputc(*s, f);
  }
  fputc('\'', f);
}

/* A comment in the script must stay on one line. */
static void comment(FILE *f, const char *s) {
  for (; *s; s++) fputc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, f);
}

/* A file name for --output: sbatch expands %x and cannot escape some characters. */
static void pattern(FILE *f, const char *s) {
  for (; *s; s++) {
    if (*s == '%') fputc('%', f);
    fputc(*s, f);
  }
}

static bool can_name(struct cluster *c, const struct batch *b) {
  for (const char *p = b->folder; *p; p++)
    if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '"' || *p == '\\')
      return err_set(
          c->w->e, ERR_INPUT,
          "a job script cannot name the folder of the results, as it has a line break, a quotation mark or a "
          "backslash in its path; name a results file elsewhere with --results");
  return true;
}

static bool write_script(struct cluster *c, const struct batch *b) {
  const struct study *s = c->w->s;
  if (!can_name(c, b)) return false;
  const struct study_slurm *o = &s->slurm;
  char *text = NULL, path[PATH_MAX];
  size_t n;
  FILE *f = open_memstream(&text, &n);
  CHECK(f, "out of memory");
  fprintf(f, "#!/bin/bash\n# %zu runs of the study ", b->count);
  comment(f, s->name);
  fprintf(f, " as an array of %zu tasks, written by `sluice study`.\n", b->tasks);
  fputs(
      "# By hand: sbatch THIS_FILE. The same `sluice study --engine slurm` collects what the tasks leave beside it.\n",
      f);
  fprintf(f, "#SBATCH --job-name=%s\n#SBATCH --array=0-%zu", b->job, b->tasks - 1);
  if (o->max_running) fprintf(f, "%%%llu", (unsigned long long)o->max_running);
  fprintf(f, "\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%llu\n", (unsigned long long)task_cpus(c->w));
  option(f, "mem", o->memory);
  option(f, "time", o->time);
  option(f, "partition", o->partition);
  option(f, "account", o->account);
  option(f, "qos", o->qos);
  option(f, "constraint", o->constraint);
  for (size_t i = 0; i < o->option_count; i++) fprintf(f, "#SBATCH %s\n", o->options[i]);
  /* Tasks of a failed node are requeued; the output is for diagnosing failures. */
  fputs("#SBATCH --requeue\n#SBATCH --open-mode=append\n", f);
  fputs("#SBATCH --output=\"", f);
  pattern(f, b->folder);
  fputs("/task-%a.out\"\n\nexec ", f);
  quoted(f, c->w->o->self);
  fputs(" study --task \"$SLURM_ARRAY_TASK_ID\" ", f);
  quoted(f, b->folder);
  fputc('\n', f);
  fclose(f);
  snprintf(path, sizeof path, "%s/job.sh", b->folder);
  bool ok = path_write_whole(path, text, n) || output_failed(path, errno, c->w->e);
  if (ok) chmod(path, 0755);
  free(text);
  return ok;
}

/* Job names use portable characters; two results files never share one. */
static char *job_name(const struct cluster *c, size_t number) {
  char word[40], *name;
  const char *s = c->w->s->name;
  size_t n = 0;
  for (; *s && n + 1 < sizeof word; s++)
    word[n++] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *s) ? *s : '-';
  word[n] = 0;
  uint64_t h = hash_bytes(HASH_INIT, c->w->spool, strlen(c->w->spool));
  CHECK(asprintf(&name, "sluice-%s-%08x-%zu", word, (unsigned)(h ^ h >> 32), number) > 0, "out of memory");
  return name;
}

static struct batch *new_batch(struct cluster *c, size_t number) {
  CHECK(c->batches < BATCHES_MAX, "more than %d batches", BATCHES_MAX);
  struct batch *b = &c->batch[c->batches++];
  *b = (struct batch){.job = job_name(c, number)};
  CHECK(asprintf(&b->folder, "%s/batch-%zu", c->w->spool, number) > 0, "out of memory");
  if (number >= c->number) c->number = number + 1;
  return b;
}

static void free_batch(struct batch *b) {
  free(b->folder);
  free(b->job);
  free(b->run);
  free(b->live);
}

static bool submit(struct cluster *c, struct batch *b) {
  char path[PATH_MAX], reply[2048];
  snprintf(path, sizeof path, "%s/job.sh", b->folder);
  const char *const argv[] = {"sbatch", "--parsable", path, NULL};
  int rc = capture(argv, reply, sizeof reply, true);
  reply[strcspn(reply, "\n")] = 0;
  if (!rc) {
    for (size_t i = 0; i < b->tasks; i++) b->live[i] = true;
    return true;
  }
  if (rc == 127 || rc == -1) err_set(c->w->e, ERR_INPUT, "cannot run sbatch; is Slurm's client installed here?");
  else err_set(c->w->e, ERR_INPUT, "sbatch refused the job: %.1000s (the script is %.800s)", reply, path);
  return false;
}

/* Put runs from the list into a batch, up to one array. Returns their number, 0 with the error set. */
static size_t make_batch(struct cluster *c, const size_t *list, size_t count) {
  struct batch *b = new_batch(c, c->number);
  b->per_task = c->w->s->slurm.runs_per_task;
  b->count = count < ARRAY_MAX * b->per_task ? count : ARRAY_MAX * b->per_task;
  b->tasks = (b->count + b->per_task - 1) / b->per_task;
  b->run = mem_zeroed(b->count, sizeof *b->run);
  b->live = mem_zeroed(b->tasks, sizeof *b->live);
  memcpy(b->run, list, b->count * sizeof *list);
  for (size_t i = 0; i < b->count; i++) c->attempts[b->run[i]]++;
  if (mkdir(b->folder, 0777))
    return err_set(c->w->e, ERR_INPUT, "cannot make the folder '%s': %s", b->folder, strerror(errno)), 0;
  if (!write_runs(c, b) || !write_script(c, b)) return 0;
  if (c->w->o->script_only) {
    printf("%s/job.sh\n", b->folder);
    return b->count;
  }
  return submit(c, b) ? b->count : 0;
}

/* ---- batches of before ---- */

static size_t find_run(const struct cluster *c, const char *hash) {
  for (size_t i = 0; i < c->w->count; i++)
    if (!strcmp(c->w->run[i]->hash, hash)) return i;
  return SIZE_MAX;
}

static void adopt(struct cluster *c, size_t number) {
  char path[PATH_MAX];
  struct batch *b = new_batch(c, number);
  snprintf(path, sizeof path, "%s/runs.json", b->folder);
  json_t *root = json_load_file(path, 0, NULL), *tasks = json_object_get(root, "tasks"), *task, *run;
  size_t i, k;
  b->tasks = json_array_size(tasks);
  b->per_task = json_array_size(json_array_get(tasks, 0));
  b->live = mem_zeroed(b->tasks + 1, sizeof *b->live);
  json_array_foreach(tasks, i, task) b->count += json_array_size(task);
  b->run = mem_zeroed(b->count + 1, sizeof *b->run);
  size_t n = 0;
  json_array_foreach(tasks, i, task) {
    json_array_foreach(task, k, run) {
      const char *hash = json_string_value(json_object_get(run, "hash"));
      b->run[n++] = hash ? find_run(c, hash) : SIZE_MAX; /* SIZE_MAX: stored already, or no longer needed */
    }
  }
  json_decref(root);
}

static void adopt_all(struct cluster *c) {
  DIR *d = opendir(c->w->spool);
  size_t number[BATCHES_MAX], count = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    char *end;
    if (strncmp(e->d_name, "batch-", 6)) continue;
    unsigned long long n = strtoull(e->d_name + 6, &end, 10);
    if (*end || end == e->d_name + 6) continue;
    struct stat st; /* a link to a folder is not a batch: batches are emptied at the end */
    bool folder = !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
    if (!folder && n >= c->number && n < SIZE_MAX) c->number = (size_t)n + 1;
    if (folder && count < BATCHES_MAX / 2) number[count++] = n;
  }
  if (d) closedir(d);
  for (size_t i = 0; i < count; i++) adopt(c, number[i]);
}

/* ---- the queue ---- */

static bool is_live(const char *state) {
  static const char *const dead[] = {"COMPLETED", "CANCELLED", "FAILED",    "TIMEOUT",      "NODE_FAIL",
                                     "DEADLINE",  "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY"};
  for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
    if (!strcmp(state, dead[i])) return false;
  return true;
}

static void note_task(struct cluster *c, const char *job, const char *task, const char *state) {
  for (size_t i = 0; i < c->batches; i++) {
    struct batch *b = &c->batch[i];
    if (strcmp(b->job, job) || !is_live(state)) continue;
    char *end;
    unsigned long long k = strtoull(task, &end, 10);
    if (*end || end == task) { /* "N/A": the whole array, before Slurm lists its tasks */
      memset(b->live, 1, b->tasks * sizeof *b->live);
    } else if (k < b->tasks) {
      b->live[k] = true;
    }
    *(strcmp(state, "RUNNING") && strcmp(state, "COMPLETING") ? &c->w->p->waiting : &c->w->p->running) += 1;
  }
}

/* Find the tasks in the queue. False if the controller does not answer: state unknown. */
static bool ask_queue(struct cluster *c) {
  char *reply = mem_alloc(REPLY_BYTES);
  /* %j job name untruncated, %K array index, %T state as a word. */
  const char *const argv[] = {"squeue", "--me", "--noheader", "--array", "--format=%j|%K|%T", NULL};
  bool ok = !capture(argv, reply, REPLY_BYTES, false);
  if (ok) {
    c->w->p->running = c->w->p->waiting = 0;
    for (size_t i = 0; i < c->batches; i++) memset(c->batch[i].live, 0, c->batch[i].tasks * sizeof(bool));
    for (char *line = reply, *next; *line; line = next) {
      next = line + strcspn(line, "\n");
      if (*next) *next++ = 0;
      char *task = strchr(line, '|'), *state = task ? strchr(task + 1, '|') : NULL;
      if (!state) continue;
      *task++ = 0, *state++ = 0;
      note_task(c, line, task, state);
    }
  }
  free(reply);
  if (!ok && !c->silent) tell(c, "Slurm's controller does not answer; waiting for it (results still come in)");
  if (ok && c->silent) tell(c, "Slurm's controller answers again");
  c->silent = !ok;
  return ok;
}

/* ---- results ---- */

static void settle(struct cluster *c, size_t run, const struct study_result *d, const char *reason) {
  if (c->done[run]) return;
  c->done[run] = true;
  c->left--;
  study_count(c->w, c->w->run[run], d, reason);
}

/* Store one result file and remove it. False: it remains; the engine stops or retries later. */
static bool import(struct cluster *c, size_t run, const char *path, json_t *r) {
  const char *log = json_string_value(json_object_get(r, "log"));
  const char *host = json_string_value(json_object_get(r, "host"));
  struct study_outcome o = {.exit_code = (int)json_integer_value(json_object_get(r, "exit_code")),
                            .timed_out = json_is_true(json_object_get(r, "timed_out")),
                            .too_big = json_is_true(json_object_get(r, "too_big")),
                            .seconds = json_number_value(json_object_get(r, "seconds")),
                            .cpu_seconds = json_number_value(json_object_get(r, "cpu_seconds")),
                            .peak_kb = json_integer_value(json_object_get(r, "peak_kb"))};
  json_t *record = json_object_get(r, "record");
  if (o.exit_code && study_disk_full(log)) {
    tell(c, "the disk of %s is full; the run will be submitted again", host ? host : "a node");
    unlink(path);
    return true;
  }
  const struct study_result d = {o, record, log, host};
  if (!study_store(c->w->db, c->w->s, c->w->run[run], &d, c->w->e)) {
    c->stop = db_trouble(c->w->db) != DB_LOCKED;
    return false;
  }
  unlink(path);
  bool done = !o.exit_code && record;
  char reason[512] = "";
  if (!done) study_reason(&o, log, c->w->s, reason, sizeof reason);
  settle(c, run, &d, done ? NULL : reason);
  return true;
}

static void collect_batch(struct cluster *c, struct batch *b) {
  char path[PATH_MAX];
  for (size_t i = 0; i < b->count && !c->stop; i++) {
    if (b->run[i] == SIZE_MAX || c->done[b->run[i]]) continue;
    snprintf(path, sizeof path, "%s/%s.result", b->folder, c->w->run[b->run[i]]->hash);
    json_t *r = access(path, F_OK) ? NULL : json_load_file(path, 0, NULL);
    if (!r) continue;
    bool ok = import(c, b->run[i], path, r);
    json_decref(r);
    if (!ok) return;
  }
}

static void collect(struct cluster *c) {
  for (size_t i = 0; i < c->batches && !c->stop; i++) collect_batch(c, &c->batch[i]);
}

/* ---- batches that are through ---- */

static void remove_folder(const char *folder) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[PATH_MAX];
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    unlink(path);
  }
  if (d) closedir(d);
  rmdir(folder);
}

static bool any_live(const struct batch *b) {
  for (size_t i = 0; i < b->tasks; i++)
    if (b->live[i]) return true;
  return false;
}

/* The end of a lost task's output, where Slurm reports a kill. */
static void task_words(const struct cluster *c, const struct batch *b, size_t task, char *out, size_t size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/task-%zu.out", b->folder, task);
  char *log = study_log_tail(path, 2000);
  struct study_outcome o = {.exit_code = 1};
  char words[400] = "";
  study_reason(&o, log, c->w->s, words, sizeof words);
  snprintf(out, size, "its task ended %d times without a result%s%s", ATTEMPTS, log && *log ? "; it said: " : "",
           log && *log ? words : "");
  free(log);
}

static bool give_up(struct cluster *c, const struct batch *b, size_t i) {
  char why[512];
  size_t run = b->run[i];
  task_words(c, b, i / b->per_task, why, sizeof why);
  char *log = NULL;
  CHECK(asprintf(&log, "sluice: %s\n", why) > 0, "out of memory");
  const struct study_result d = {{.exit_code = 1}, NULL, log, "slurm"};
  bool ok = study_store(c->w->db, c->w->s, c->w->run[run], &d, c->w->e);
  free(log);
  if (ok) settle(c, run, &d, why);
  else c->stop = db_trouble(c->w->db) != DB_LOCKED;
  return ok;
}

/* Put runs whose tasks vanished without a result into new batches. Two queries of the queue must agree, with a check
 * for results in between: a result appears before its task leaves the queue. */
static void submit_lost(struct cluster *c) {
  size_t *lost = mem_zeroed(c->w->count + 1, sizeof *lost), n = 0;
  bool *held = mem_zeroed(c->w->count + 1, sizeof *held);
  for (size_t i = 0; i < c->batches; i++) {
    struct batch *b = &c->batch[i];
    b->absent = any_live(b) ? 0 : b->absent + 1;
    for (size_t k = 0; k < b->count; k++)
      if (b->run[k] != SIZE_MAX && (b->live[k / b->per_task] || b->absent < 2)) held[b->run[k]] = true;
  }
  for (size_t i = 0; i < c->batches && !c->stop; i++) {
    struct batch *b = &c->batch[i];
    for (size_t k = 0; k < b->count && !c->stop; k++) {
      size_t run = b->run[k];
      if (run == SIZE_MAX || c->done[run] || held[run]) continue;
      held[run] = true;
      if (c->attempts[run] >= ATTEMPTS) give_up(c, b, k);
      else lost[n++] = run;
    }
  }
  bool again = false;
  for (size_t i = 0; i < n; i++) again |= c->attempts[lost[i]] > 0;
  if (n && again) tell(c, "%zu run%s left no result (a lost node?); submitted again", n, n == 1 ? "" : "s");
  for (size_t done = 0, took; done < n && !c->stop; done += took)
    if (!(took = make_batch(c, lost + done, n - done))) c->stop = true;
  free(lost);
  free(held);
}

static void drop_finished(struct cluster *c) {
  for (size_t i = 0; i < c->batches;) {
    struct batch *b = &c->batch[i];
    bool needed = any_live(b) || b->absent < 2;
    for (size_t k = 0; k < b->count && !needed; k++) needed = b->run[k] != SIZE_MAX && !c->done[b->run[k]];
    if (needed) {
      i++;
      continue;
    }
    remove_folder(b->folder);
    free_batch(b);
    *b = c->batch[--c->batches];
  }
}

/* ---- the loop ---- */

static void submit_first(struct cluster *c) {
  size_t *list = mem_zeroed(c->w->count + 1, sizeof *list), n = 0;
  bool *there = mem_zeroed(c->w->count + 1, sizeof *there);
  for (size_t i = 0; i < c->batches; i++)
    for (size_t k = 0; k < c->batch[i].count; k++)
      if (c->batch[i].run[k] != SIZE_MAX) there[c->batch[i].run[k]] = true;
  for (size_t i = 0; i < c->w->count; i++)
    if (!c->done[i] && !there[i]) list[n++] = i;
  for (size_t done = 0, took; done < n && !c->stop; done += took)
    if (!(took = make_batch(c, list + done, n - done))) c->stop = true;
  free(list);
  free(there);
}

static void cancel(struct cluster *c) {
  char reply[256];
  for (size_t i = 0; i < c->batches; i++) {
    const char *const argv[] = {"scancel", "--quiet", "--name", c->batch[i].job, NULL};
    capture(argv, reply, sizeof reply, true);
  }
  tell(c, "cancelled what was queued");
}

static void look(struct cluster *c) {
  double now = study_now();
  /* Query less often when the controller answers slowly: it may serve thousands of jobs. */
  if (now - c->asked >= QUEUE_SECONDS) {
    bool ok = ask_queue(c);
    c->asked = study_now() + (c->asked > 0 ? 4 * (study_now() - now) : 0);
    collect(c);
    if (ok && !c->stop) submit_lost(c);
    drop_finished(c);
  } else {
    collect(c);
  }
  study_show(c->w);
}

enum study_end study_slurm(struct study_work *w) {
  struct cluster *c = mem_zeroed(1, sizeof *c);
  *c = (struct cluster){.w = w, .left = w->count};
  c->done = mem_zeroed(w->count, sizeof *c->done);
  c->attempts = mem_zeroed(w->count, sizeof *c->attempts);
  sigset_t watched, old;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  sigprocmask(SIG_BLOCK, &watched, &old);
  adopt_all(c);
  collect(c);
  if (!c->stop) submit_first(c);
  bool interrupted = false;
  while (!w->o->script_only && !c->stop && !interrupted && c->left) {
    look(c);
    int sig = c->left && !c->stop ? sigtimedwait(&watched, NULL, &(struct timespec){.tv_nsec = 250000000}) : 0;
    interrupted = sig == SIGINT || sig == SIGTERM;
  }
  if (interrupted && w->o->cancel) cancel(c);
  else if (interrupted && c->batches)
    tell(c, "what is queued stays queued; the same command collects it, with --cancel an interrupt ends it too");
  if (!c->left)
    for (size_t i = 0; i < c->batches; i++) remove_folder(c->batch[i].folder);
  for (size_t i = 0; i < c->batches; i++) free_batch(&c->batch[i]);
  sigprocmask(SIG_SETMASK, &old, NULL);
  enum study_end end = w->o->script_only && !c->stop ? STUDY_SCRIPT
                       : interrupted                 ? STUDY_INTERRUPTED
                       : c->stop                     ? STUDY_STOPPED
                                                     : STUDY_COMPLETE;
  free(c->done);
  free(c->attempts);
  free(c);
  return end;
}

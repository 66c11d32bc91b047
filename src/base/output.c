/* output.c - see output.h. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* For processes started by `sluice run`: the temporary names, one per line, beside options.json. */
#define UNFINISHED "unfinished"

enum { BUFFER = 1 << 16, TRIES = 100, TEMP_ROOM = 24 };

struct output {
  FILE *f;
  int fd;
  int error;     /* errno of the first write that failed */
  bool borrowed; /* a descriptor of this process or of the caller; a closed reader ends the process, as with any
                  * command */
  int dir;       /* folder of the file; -1: written in place */
  char *name;    /* name in that folder */
  char *temp;    /* temporary name until the end; NULL: none */
  char buffer[BUFFER];
};

/* ---- which file a path means ---- */

/* The descriptor that the path names, -1: none. */
static int descriptor(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
  if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
  for (size_t i = 0; i < 2; i++) {
    size_t n = strlen(folders[i]);
    char *end;
    if (strncmp(path, folders[i], n)) continue;
    long fd = strtol(path + n, &end, 10);
    if (end != path + n && !*end && fd >= 0 && fd <= INT_MAX) return (int)fd;
  }
  return -1;
}

/* Follow a link at the end of `path` to its target, which may not exist yet. The kernel decides on permission: a link
 * that another user left in /tmp is not followed. */
static bool follow(const char *path, bool there, char *out) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | (there ? 0 : O_CREAT), 0666);
  if (fd < 0) return false;
  close(fd);
  if (!realpath(path, out)) return false;
  return there || !unlink(out);
}

/* The real path of a regular file, existing or new, in `out` (PATH_MAX). Any other writable target: "". */
static bool resolve_links(const char *path, char *out) {
  struct stat st, link;
  *out = 0;
  if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, false;
  bool is_link = !lstat(path, &link) && S_ISLNK(link.st_mode), there = !stat(path, &st);
  if (there && S_ISDIR(st.st_mode)) return errno = EISDIR, false;
  if (there && !S_ISREG(st.st_mode)) return true;
  if (!there && errno != ENOENT) return false;
  if (is_link) return follow(path, there, out);
  if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS)) return false;
  strcpy(out, path);
  return true;
}

/* ---- a file without a name, or with an unguessable one ---- */

static int open_folder(const char *target, const char **name) {
  char folder[PATH_MAX];
  const char *slash = strrchr(target, '/');
  *name = slash ? slash + 1 : target;
  if (!**name) return errno = EISDIR, -1;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) : 1, slash ? target : ".");
  return open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void temp_name(char *out, const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  uint8_t random[12];
  CHECK(getrandom(random, sizeof random, 0) == sizeof random, "getrandom: %s", strerror(errno));
  int n = sprintf(out, ".%.200s.", name);
  for (size_t i = 0; i < sizeof random; i++) out[n++] = letters[random[i] & 63];
  out[n] = 0;
}

/* The parent removes the file if this process is killed. */
static void note_unfinished(int folder, const char *temp) {
  const char *dir = getenv("SLUICE_DIR");
  char link[64], at[PATH_MAX], note[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  if (!dir || !*dir || !realpath(link, at)) return;
  if (snprintf(note, sizeof note, "%s/" UNFINISHED, dir) >= (int)sizeof note) return;
  int fd = open(note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) dprintf(fd, "%s/%s\n", at, temp), close(fd);
}

static bool open_temp(struct output *o) {
  o->fd = access("/proc/self/fd", X_OK) ? -1 : openat(o->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (o->fd >= 0) return true;
  o->temp = mem_alloc(strlen(o->name) + TEMP_ROOM);
  for (int i = 0; i < TRIES && o->fd < 0; i++) {
    temp_name(o->temp, o->name);
    o->fd = openat(o->dir, o->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (o->fd < 0 && errno != EEXIST) return false;
  }
  if (o->fd >= 0) note_unfinished(o->dir, o->temp);
  return o->fd >= 0;
}

/* ---- writing ---- */

static ssize_t output_write(void *cookie, const char *p, size_t n) {
  struct output *o = cookie;
  sigset_t quiet, old;
  size_t left = n;
  sigemptyset(&quiet);
  sigaddset(&quiet, SIGXFSZ);
  if (!o->borrowed) sigaddset(&quiet, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &quiet, &old);
  while (left && !o->error) {
    ssize_t k = write(o->fd, p, left);
    if (k < 0 && errno != EINTR) o->error = errno;
    if (k > 0) p += k, left -= (size_t)k;
  }
  if (left) sigtimedwait(&quiet, NULL, &(struct timespec){0}); /* the signal that the write error raised */
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (left) errno = o->error;
  return left ? 0 : (ssize_t)n;
}

static int seek(void *cookie, off64_t *at, int whence) {
  const struct output *o = cookie;
  off_t to = lseek(o->fd, *at, whence);
  if (to < 0) return -1;
  *at = to;
  return 0;
}

static struct output *give_up(struct output *o) {
  int why = errno;
  output_abandon(o);
  errno = why;
  return NULL;
}

static struct output *output_begin(struct output *o) {
  if (o->fd < 0) return give_up(o);
  o->f = fopencookie(o, "w", (cookie_io_functions_t){.write = output_write, .seek = seek});
  CHECK(o->f, "out of memory");
  setvbuf(o->f, o->buffer, _IOFBF, sizeof o->buffer);
  return o;
}

struct output *output_open(const char *path) {
  struct output *o = mem_zeroed(1, sizeof *o);
  o->fd = o->dir = -1;
  char target[PATH_MAX];
  const char *name;
  int fd = descriptor(path);
  if (fd >= 0) {
    o->borrowed = true;
    if (fd == STDOUT_FILENO) fflush(stdout); /* keeps the order of earlier output */
    o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  } else if (!resolve_links(path, target)) {
    return give_up(o);
  } else if (!*target) {
    o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    o->dir = open_folder(target, &name);
    if (o->dir < 0) return give_up(o);
    o->name = mem_text(name);
    open_temp(o);
  }
  return output_begin(o);
}

struct output *output_open_in_place(const char *path) {
  struct output *o = mem_zeroed(1, sizeof *o);
  o->dir = -1;
  o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return output_begin(o);
}

void output_reach(const struct output *o, char *path, size_t size) {
  snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), o->fd);
}

FILE *output_file(struct output *o) {
  return o->f;
}

int output_error(const struct output *o) {
  return o->error;
}

bool output_cut(struct output *o, uint64_t bytes) {
  return !fflush(o->f) && !ftruncate(o->fd, (off_t)bytes) && !fseeko(o->f, (off_t)bytes, SEEK_SET);
}

/* ---- the end ---- */

/* Give an unnamed file its name. Linking needs a new name, which then replaces an existing file. */
static bool give_name(struct output *o) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", o->fd);
  if (!linkat(AT_FDCWD, link, o->dir, o->name, AT_SYMLINK_FOLLOW)) return true;
  if (errno != EEXIST) return false;
  char temp[NAME_MAX + 1];
  for (int i = 0; i < TRIES; i++) {
    temp_name(temp, o->name);
    if (linkat(AT_FDCWD, link, o->dir, temp, AT_SYMLINK_FOLLOW)) {
      if (errno != EEXIST) return false;
      continue;
    }
    if (!renameat(o->dir, temp, o->dir, o->name)) return true;
    int why = errno;
    unlinkat(o->dir, temp, 0);
    errno = why;
    return false;
  }
  return false;
}

/* Some file systems report a full disk only when a descriptor is closed. */
static bool closes(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy >= 0 && !close(copy);
}

bool output_commit(struct output *o) {
  errno = 0;
  bool ok = !fflush(o->f) && !ferror(o->f) && !o->error;
  if (!ok && o->error) errno = o->error;
  else if (!ok && !errno) errno = EIO;
  ok = ok && closes(o->fd);
  if (ok && o->dir >= 0) {
    ok = o->temp ? !renameat(o->dir, o->temp, o->dir, o->name) : give_name(o);
    if (ok) free(o->temp), o->temp = NULL;
  }
  int why = errno;
  output_abandon(o);
  errno = why;
  return ok;
}

void output_abandon(struct output *o) {
  if (!o) return;
  if (o->error == 0) o->error = ECANCELED; /* do not write what the buffer still holds */
  if (o->f) fclose(o->f);
  if (o->temp && o->fd >= 0) unlinkat(o->dir, o->temp, 0);
  if (o->fd >= 0) close(o->fd);
  if (o->dir >= 0) close(o->dir);
  free(o->temp);
  free(o->name);
  free(o);
}

bool output_failed(const char *path, int why, struct err *e) {
  bool standard = !strcmp(path, "-");
  return err_set(e, ERR_OUTPUT, "cannot write %s%s%s: %s", standard ? "standard output" : "'", standard ? "" : path,
                 standard ? "" : "'", why ? strerror(why) : "unknown error");
}

bool output_prepare(const char *path, struct err *e) {
  char target[PATH_MAX];
  if (!path || descriptor(path) >= 0) return true;
  if (!resolve_links(path, target)) return output_failed(path, errno, e);
  if (!*target) return !access(path, W_OK) || output_failed(path, errno, e);
  struct output *o = output_open(target);
  if (!o) return output_failed(path, errno, e);
  bool ok = !unlinkat(o->dir, o->name, 0) || errno == ENOENT || output_failed(path, errno, e);
  output_abandon(o);
  return ok;
}

void output_clear_unfinished(const char *dir) {
  char note[PATH_MAX], line[PATH_MAX + 2];
  if (snprintf(note, sizeof note, "%s/" UNFINISHED, dir) >= (int)sizeof note) return;
  FILE *f = fopen(note, "re");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    unlink(line);
  }
  if (f) fclose(f);
}

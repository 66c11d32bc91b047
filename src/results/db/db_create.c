/* db_create.c - creates a results file with all its tables, or none.
 *
 * The tables are built in memory. Their image is written to an unnamed file, which gets the name when it is on disk: a
 * kill leaves nothing, and of several simultaneous creators one wins and the others use its file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/db/db_impl.h"

/* Bytes 18 and 19 of an SQLite file, the versions of its format for writing and reading: 2 says write-ahead log. */
enum { FORMAT_AT = 18, FORMAT_WAL = 2 };

static unsigned char *image(const char *path, size_t *bytes, struct err *e) {
  struct db db = {.path = (char *)path};
  unsigned char *out = NULL;
  sqlite3_int64 n = 0;
  CHECK(sqlite3_open(":memory:", &db.sql) == SQLITE_OK, "out of memory");
  if (db_migrate(&db, e)) {
    out = sqlite3_serialize(db.sql, "main", &n, 0);
    CHECK(out && n > FORMAT_AT + 1, "out of memory");
    out[FORMAT_AT] = out[FORMAT_AT + 1] = FORMAT_WAL;
  }
  sqlite3_close(db.sql);
  *bytes = (size_t)n;
  return out;
}

static bool write_image(int fd, const unsigned char *p, size_t n) {
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return false;
    p += k;
    n -= (size_t)k;
  }
  return !fsync(fd);
}

/* An unnamed file, which disappears with the process. -1 where the file system has no such files. */
static int unnamed(const char *folder) {
  return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/* Give `tmp` the name `path` if that is free: 0, or -1 with EEXIST or another reason. */
static int name_it(const char *tmp, const char *path) {
  if (!link(tmp, path)) return unlink(tmp), 0;
  if (errno == EEXIST) return -1;
  /* A file system without links. */
  if (!renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE)) return 0;
  if (errno == EEXIST) return -1;
  if (!access(path, F_OK)) return errno = EEXIST, -1;
  return rename(tmp, path);
}

static bool create_named(const char *path, const unsigned char *data, size_t n) {
  char tmp[PATH_MAX];
  if ((size_t)snprintf(tmp, sizeof tmp, "%s.XXXXXX", path) >= sizeof tmp) return errno = ENAMETOOLONG, false;
  int fd = mkstemp(tmp);
  if (fd < 0) return false;
  mode_t mask = umask(0);
  umask(mask);
  bool ok = write_image(fd, data, n) && !fchmod(fd, 0666 & ~mask) && !name_it(tmp, path);
  int why = errno;
  close(fd);
  if (!ok) unlink(tmp);
  errno = why;
  return ok;
}

static bool create_unnamed(const char *folder, const char *path, const unsigned char *data, size_t n, bool *possible) {
  char self[64];
  int fd = unnamed(folder);
  *possible = fd >= 0;
  if (fd < 0) return false;
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  bool ok = write_image(fd, data, n);
  if (ok && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
    ok = false;
    *possible = errno == EEXIST; /* otherwise no /proc, or no links */
  }
  int why = errno;
  close(fd);
  errno = why;
  return ok;
}

/* The name survives a power failure only when the folder is on disk too. */
static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

bool db_create(const char *path, struct err *e) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if ((size_t)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".") >=
      sizeof folder)
    return err_set(e, ERR_INPUT, "cannot make '%.200s...': %s", path, strerror(ENAMETOOLONG));
  size_t n;
  unsigned char *data = image(path, &n, e);
  if (!data) return false;
  bool possible, ok = create_unnamed(folder, path, data, n, &possible);
  if (!ok && !possible) ok = create_named(path, data, n);
  int why = errno;
  sqlite3_free(data);
  if (ok) sync_folder(folder);
  if (ok || why == EEXIST) return true;
  if (why == ENOSPC || why == EDQUOT || why == EFBIG)
    return err_set(e, ERR_OUTPUT, "cannot make '%s': the disk is full (%s). Free some space and try again", path,
                   strerror(why));
  return err_set(e, ERR_INPUT, "cannot make '%s': %s", path, strerror(why));
}

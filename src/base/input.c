/* input.c - see input.h. */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *file_kind(mode_t mode) {
  return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

int input_open(const char *path, uint64_t *bytes, struct err *e) {
  /* Without O_NONBLOCK, open() of a pipe waits for a writer. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  if (fd < 0 || fstat(fd, &st)) {
    err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
  } else if (!S_ISREG(st.st_mode)) {
    err_set(e, ERR_INPUT, "cannot read '%s': it is %s, and a file is needed", path, file_kind(st.st_mode));
  } else {
    *bytes = (uint64_t)st.st_size;
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

static bool too_large(const char *path, size_t most, struct err *e) {
  return err_set(e, ERR_INPUT, "cannot read '%s': it has more than %zu bytes, the most that such a file may have", path,
                 most);
}

/* Files of /proc report no size and others may grow: read until the end of the file. */
static char *read_all(int fd, const char *path, size_t size, size_t most, size_t *bytes, struct err *e) {
  char *text = malloc(size + 2);
  size_t used = 0;
  while (text) {
    ssize_t n = read(fd, text + used, size + 1 - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (n < 0) break;
    used += (size_t)n;
    if (!n) {
      text[used] = 0;
      if (bytes) *bytes = used;
      return text;
    }
    if (used > most && !too_large(path, most, e)) break;
    if (used <= size) continue;
    char *more = realloc(text, (size *= 2) + 2);
    if (!more) free(text);
    text = more;
  }
  if (!text) err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(ENOMEM));
  free(text);
  return NULL;
}

char *input_read(const char *path, size_t most, size_t *bytes, struct err *e) {
  uint64_t size;
  int fd = input_open(path, &size, e);
  if (fd < 0) return NULL;
  char *text = NULL;
  if (size > most) too_large(path, most, e);
  else text = read_all(fd, path, size < 4096 ? 4096 : (size_t)size, most, bytes, e);
  close(fd);
  return text;
}

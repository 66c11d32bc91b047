/* paths.c - finds the files of Sluice; reads and writes whole files. */
#include "base/paths.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"

/* `dir`/`name` into `out`, truncated where it does not fit (the file is then not found). */
static bool join_path(char *out, size_t size, const char *dir, const char *name) {
  size_t d = strlen(dir), n = strlen(name);
  if (d + n + 2 > size) {
    if (size) *out = 0;
    return false;
  }
  memmove(out, dir, d);
  out[d] = '/';
  memcpy(out + d + 1, name, n + 1);
  return true;
}

static void strip_last(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

/* The folder of the file that holds this function. A command holds the library's code itself: then the lib/ beside it.
 */
void path_lib(char *out, size_t size) {
  Dl_info info;
  struct link_map *map;
  char real[PATH_MAX] = ".";
  bool found = dladdr1((void *)path_lib, &info, (void **)&map, RTLD_DL_LINKMAP) && map->l_name && *map->l_name;
  if (found) {
    if (realpath(info.dli_fname, real)) strip_last(real);
  } else {
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1); /* contains no further links */
    if (n > 0) real[n] = 0, strip_last(real);
    join_path(real, sizeof real, real, "lib");
  }
  CHECK(strlen(real) < size, "path of libsluice is longer than %zu", size);
  strcpy(out, real);
}

void path_data(char *out, size_t size) {
  const char *env = getenv("SLUICE_DATA");
  if (env && *env && strlen(env) < size) {
    strcpy(out, env);
    return;
  }
  char lib[PATH_MAX];
  path_lib(lib, sizeof lib);
  strip_last(lib);
  join_path(out, size, lib, "share/sluice");
}

bool path_find(char *out, size_t size, const char *name) {
  char dir[PATH_MAX];
  path_data(dir, sizeof dir);
  return join_path(out, size, dir, name) && access(out, R_OK) == 0;
}

bool path_write_whole(const char *path, const void *data, size_t bytes) {
  struct output *o = output_open(path);
  if (!o) return false;
  fwrite(data, 1, bytes, output_file(o));
  return output_commit(o);
}

char *path_read_whole(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  size_t used = 0, size = 65536;
  char *buf = malloc(size);
  while (buf) {
    used += fread(buf + used, 1, size - used - 1, f);
    if (used < size - 1) break;
    char *bigger = realloc(buf, size *= 2);
    if (!bigger) free(buf);
    buf = bigger;
  }
  if (buf && ferror(f)) {
    int saved = errno ? errno : EIO; /* e.g. a directory */
    free(buf);
    fclose(f);
    errno = saved;
    return NULL;
  }
  fclose(f);
  if (!buf) {
    errno = ENOMEM;
    return NULL;
  }
  buf[used] = 0;
  if (bytes) *bytes = used;
  return buf;
}

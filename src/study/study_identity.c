/* study_identity.c - the SHA-256 that identifies a run: every knob, the schemes with every parameter, the content of
 * the program and of file arguments, and the recorded quantities. FNV of base/hash.h is too short: among a million
 * runs two would collide, and one would silently never run.
 */
#include <errno.h>
#include <limits.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "study/study_impl.h"

bool study_hash_file(const char *path, char out[STUDY_HASH]) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  SHA2_CTX c;
  SHA256Init(&c);
  unsigned char buf[65536];
  for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;) SHA256Update(&c, buf, n);
  bool ok = !ferror(f);
  fclose(f);
  SHA256End(&c, out);
  return ok;
}

const char *study_simulator(void) {
  static char hash[STUDY_HASH];
  if (*hash) return hash;
  char lib[PATH_MAX], path[PATH_MAX + 32];
  path_lib(lib, sizeof lib);
  snprintf(path, sizeof path, "%s/libsluice-core.so", lib);
  if (!study_hash_file(path, hash)) snprintf(hash, sizeof hash, "unknown");
  return hash;
}

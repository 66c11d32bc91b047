/* static.c - the command is linked without the dynamic loader, since every run starts it and a loader takes a quarter
 * of the start (docs/explanation/performance.md).
 *
 * Its only run-time loading of libraries is SQLite's support of extensions, which is unused. The linker sends its
 * calls here (--wrap), where they fail as for a file that does not exist.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *library, const char *name);
int __wrap_dlclose(void *library);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *file, int mode) {
  (void)file, (void)mode;
  return NULL;
}

void *__wrap_dlsym(void *library, const char *name) {
  (void)library, (void)name;
  return NULL;
}

int __wrap_dlclose(void *library) {
  (void)library;
  return -1;
}

char *__wrap_dlerror(void) {
  static char why[] = "this program loads no libraries";
  return why;
}

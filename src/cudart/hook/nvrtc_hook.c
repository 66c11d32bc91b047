/* nvrtc_hook.c - programs that compile kernels at run time, with NVIDIA's NVRTC.
 *
 * Such a program may ask NVRTC for machine code, which only a GPU can run. This library is preloaded by `sluice run`,
 * so these functions come before NVRTC's: the compilation is for the virtual architecture of the same number, and PTX
 * takes the place of the machine code, which cuModuleLoadData takes as well.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
int nvrtcCompileProgram(void *program, int count, const char *const *options);
int nvrtcGetCUBINSize(void *program, size_t *bytes);
int nvrtcGetCUBIN(void *program, char *code);
#pragma GCC visibility pop

enum { NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_INTERNAL = 11 };

/* "sm_80" in an option that may be the architecture, or in one that follows "-arch": the number, else NULL. */
static const char *machine(const char *option, const char *before) {
  static const char *const names[] = {"--gpu-architecture=", "-arch="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(option, names[i], strlen(names[i])) == 0)
      return strstr(option, "=sm_") ? strstr(option, "sm_") + 3 : NULL;
  if (strcmp(before, "--gpu-architecture") != 0 && strcmp(before, "-arch") != 0) return NULL;
  return strncmp(option, "sm_", 3) == 0 ? option + 3 : NULL;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  int (*compile)(void *, int, const char *const *);
  *(void **)&compile = dlsym(RTLD_NEXT, "nvrtcCompileProgram");
  if (!compile) return NVRTC_ERROR_INTERNAL;
  if (count <= 0 || !options) return compile(program, count, options);
  enum { LONGEST = 48 };
  const char **changed = malloc((size_t)count * (sizeof *changed + LONGEST));
  if (!changed) return NVRTC_ERROR_OUT_OF_MEMORY;
  char *text = (char *)(changed + count);
  for (int i = 0; i < count; i++) {
    const char *number = machine(options[i], i ? options[i - 1] : "");
    changed[i] = options[i];
    if (!number || strlen(number) > 8) continue;
    changed[i] = text;
    text += LONGEST;
    snprintf(text - LONGEST, LONGEST, "%scompute_%s", strchr(options[i], '=') ? "--gpu-architecture=" : "", number);
  }
  int result = compile(program, count, changed);
  free(changed);
  return result;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  int (*size)(void *, size_t *);
  *(void **)&size = dlsym(RTLD_NEXT, "nvrtcGetPTXSize");
  return size ? size(program, bytes) : NVRTC_ERROR_INTERNAL;
}

int nvrtcGetCUBIN(void *program, char *code) {
  int (*ptx)(void *, char *);
  *(void **)&ptx = dlsym(RTLD_NEXT, "nvrtcGetPTX");
  return ptx ? ptx(program, code) : NVRTC_ERROR_INTERNAL;
}

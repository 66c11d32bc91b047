/* modules.h - modules registered or loaded by a program, with kernels, variables and texture references. */
#ifndef CUDART_CORE_MODULES_H
#define CUDART_CORE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cudart/image/fatbin.h"
#include "simt/simt.h"

struct cudart;

struct cuda_function {
  struct cuda_function *next; /* in its module */
  struct cuda_module *module;
  const char *name; /* as in PTX */
  struct simt_kernel *kernel;
  const struct simt_kernel_info *info;
  uint32_t max_dynamic_shared; /* opted in with cudaFuncSetAttribute; 0: the device's default limit */
  int carveout;
  uint32_t cluster[3]; /* required by cudaFuncSetAttribute, {0}: not set */
  bool non_portable;
  int cluster_policy; /* a hint */
  bool dead;          /* its module was unloaded */
  /* cuFuncSetBlockShape, cuParamSet*: the launch description of the driver API before CUDA 4 */
  uint32_t old_block[3], old_shared, old_param_bytes;
  uint8_t *old_params;
};
struct cuda_variable {
  struct cuda_variable *next;
  struct cuda_module *module;
  const char *name;
  uint64_t addr, bytes; /* addr 0: not resolved */
  void **managed;       /* host variable that receives the address of a managed variable, or NULL */
};
/* A texture or surface reference of a module; the binding is in textures.h. */
struct cuda_texref {
  struct cuda_texref *next;
  struct cuda_module *module;
  const struct textureReference *ref;
  const char *name; /* without the "::" in front */
  int dim, normalized;
  bool surface;
  bool bound;
  uint64_t addr, offset; /* address and offset of the bound memory */
};
struct cuda_module {
  struct cuda_module *next;
  struct fatbin fat;
  const char *text; /* PTX given as text (driver API), or NULL */
  const char *label;
  struct simt_module *simt;
  struct cuda_function *functions;
  struct cuda_variable *variables;
  struct cuda_texref *texrefs;
  bool loaded, resolved, empty; /* empty: no kernels to simulate */
  bool spare;                   /* part of NVIDIA's device runtime library: loaded only for a launch */
  bool machine_only;            /* holds machine code but no PTX */
};

struct cuda_module *cudart_module_new(struct cudart *c, const char *label);
/* Add a container in this process's memory. */
bool cudart_module_container(struct cudart *c, struct cuda_module *m, const void *container, struct err *e);
struct cuda_function *cudart_module_function(struct cudart *c, struct cuda_module *m, const char *name);
bool cudart_module_load(struct cudart *c, struct cuda_module *m, struct err *e);
void cudart_module_unload(struct cudart *c, struct cuda_module *m);
/* Load and resolve all registered modules; ends the process if one cannot be simulated. */
void cudart_load_all(struct cudart *c);
struct cuda_function *cudart_function(struct cudart *c, const void *stub_or_handle); /* NULL: unknown */
struct cuda_variable *cudart_variable(struct cudart *c, const void *host);           /* NULL: unknown */
/* Readable bytes at p in this process (from /proc/self/maps). */
size_t cudart_readable(const void *p);

#endif

# The CUDA runtime libraries. Code that does not depend on the version of CUDA is one library, shared by the runtime
# libraries of the major versions (whose layouts and signatures differ) and the driver library.
CUDART_CORE := $(wildcard src/cudart/core/*.c src/cudart/image/*.c src/cudart/interop/*.c)
CUDART_API := $(filter-out %/api_version.c %/support.c,$(wildcard src/cudart/runtime/*.c))
CUDART_DRIVER := $(wildcard src/cudart/driver/*.c)
CUDART_OLD := libcudart.so.9.0 libcudart.so.9.1 libcudart.so.9.2 libcudart.so.10.0 libcudart.so.10.1 libcudart.so.10.2
CUDART_SONAMES := $(CUDART_OLD) libcudart.so.11.0 libcudart.so.12 libcudart.so.13
CUDART_CORE_OBJ := $(CUDART_CORE:%.c=$(B)/%.o)
CUDART_DRIVER_OBJ := $(CUDART_DRIVER:%.c=$(B)/%.o)
CUDART_LIBS := $(CUDART_SONAMES:%=$(B)/lib/%) $(B)/lib/libcudart.so
ifneq ($(CUDART_DRIVER),)
CUDART_LIBS += $(B)/lib/libcuda.so.1
endif
CUDART_LINK = $(CC) $(CFLAGS) -shared $(LIB_LDFLAGS) $(LDFLAGS) -Wl,--unresolved-symbols=ignore-in-shared-libs -Wl,-rpath,'$$ORIGIN'
ALL += $(CUDART_LIBS)

$(B)/lib/libsluice-cuda.so: $(CUDART_CORE_OBJ) $(B)/lib/libsluice-core.so $(call list,cuda,$(CUDART_CORE_OBJ))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CUDART_LINK) -Wl,-soname,libsluice-cuda.so -o $@ $(CUDART_CORE_OBJ) -L$(B)/lib -lsluice-core $(call lib_libs,-llz4 -lzstd -lelf)

# $(call cudart_objects,major): the objects of the interface for one major version.
define cudart_objects
$(B)/cudart-$(1)/%.o: src/cudart/runtime/%.c | $(B)/deps.ok
	@mkdir -p $$(@D)
	$$(call say,CC,$$< for CUDA $(1))
	$$(CC) $$(BASE_CFLAGS) -DCUDART_MAJOR=$(1) $$(CFLAGS) -MMD -MP -c -o $$@ $$<
-include $(CUDART_API:src/cudart/runtime/%.c=$(B)/cudart-$(1)/%.d)
endef
$(foreach m,9 10 11 12 13,$(eval $(call cudart_objects,$(m))))

# The version that each library represents: the last of those that share its soname.
CUDART_VERSION_9.0 := 9000
CUDART_VERSION_9.1 := 9010
CUDART_VERSION_9.2 := 9020
CUDART_VERSION_10.0 := 10000
CUDART_VERSION_10.1 := 10010
CUDART_VERSION_10.2 := 10020
CUDART_VERSION_11.0 := 11080
CUDART_VERSION_12 := 12080
CUDART_VERSION_13 := 13000

CUDART_LIST := $(call list,runtime,$(CUDART_API))
# $(call cudart_library,soname,major): the library, whose symbols carry the version that NVIDIA's have.
define cudart_library
$(B)/cudart-$(2)/version-$(1:libcudart.so.%=%).o: src/cudart/runtime/api_version.c src/cudart/runtime/errors_old.def | $(B)/deps.ok
	@mkdir -p $$(@D)
	$$(call say,CC,$$< for $(1))
	$$(CC) $$(BASE_CFLAGS) -DCUDART_MAJOR=$(2) -DCUDART_VERSION=$(CUDART_VERSION_$(1:libcudart.so.%=%)) $$(CFLAGS) -c -o $$@ $$<
$(B)/lib/$(1): $(CUDART_API:src/cudart/runtime/%.c=$(B)/cudart-$(2)/%.o) $(B)/cudart-$(2)/version-$(1:libcudart.so.%=%).o $(B)/lib/libsluice-cuda.so $(B)/lists/runtime
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	@printf '%s { global: *; };\n' $(1) > $(B)/cudart-$(2)/$(1).map
	$$(CUDART_LINK) -Wl,-soname,$(1) -Wl,--version-script=$(B)/cudart-$(2)/$(1).map -o $$@ \
	  $(CUDART_API:src/cudart/runtime/%.c=$(B)/cudart-$(2)/%.o) $(B)/cudart-$(2)/version-$(1:libcudart.so.%=%).o -L$(B)/lib -lsluice-cuda -lsluice-core
endef
$(foreach l,$(CUDART_SONAMES),$(eval $(call cudart_library,$(l),$(firstword $(subst ., ,$(l:libcudart.so.%=%))))))

# Preloaded: programs with a static runtime use Sluice's, and processes close the simulation before they end.
# Self-contained; starts before every other library.
$(B)/lib/libsluice-static.so: src/cudart/hook/static_hook.c src/cudart/hook/end_hook.c src/cudart/hook/nvrtc_hook.c src/cudart/core/calls.def | $(B)/deps.ok
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fno-sanitize=all -shared -Wl,-soname,libsluice-static.so -Wl,-z,initfirst -o $@ $(filter %.c,$^) -ldl
ALL += $(B)/lib/libsluice-static.so

# The name for -lcudart.
$(B)/lib/libcudart.so: $(B)/lib/libcudart.so.12
	@ln -sf libcudart.so.12 $@

$(B)/lib/libcuda.so.1: $(CUDART_DRIVER_OBJ) $(B)/lib/libsluice-cuda.so $(call list,driver,$(CUDART_DRIVER_OBJ))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CUDART_LINK) -Wl,-soname,libcuda.so.1 -o $@ $(CUDART_DRIVER_OBJ) -L$(B)/lib -lsluice-cuda -lsluice-core
	@ln -sf libcuda.so.1 $(B)/lib/libcuda.so

-include $(CUDART_CORE_OBJ:.o=.d) $(CUDART_DRIVER_OBJ:.o=.d)

# ---- tests ----
TEST_OBJ_test_fatbin := $(B)/src/cudart/image/fatbin.o $(B)/src/cudart/image/cubin.o
LDLIBS_test_fatbin := -llz4 -lzstd -lelf
TEST_OBJ_test_cudart_abi := $(B)/lib/libcudart.so.12
TEST_OBJ_test_cudart_driver := $(B)/lib/libcuda.so.1

# ---- docs/reference/cuda-support.md ----
$(B)/cuda-support: src/cudart/runtime/support.c src/cudart/core/calls.def | $(B)/deps.ok
	$(call say,CC,$<)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< -ldl
ALL += $(B)/cuda-support
.PHONY: docs-cuda
docs-cuda: $(B)/cuda-support $(B)/lib/libcuda.so.1
	$(call say,GEN,docs/reference/cuda-support.md)
	$(B)/cuda-support tests/cuda/api_footprint.csv $(B)/lib/libcuda.so.1 > docs/reference/cuda-support.md
docs: docs-cuda
LDLIBS_test_cudart_exports := -ldl
$(B)/tests/test_cudart_exports: $(CUDART_LIBS)

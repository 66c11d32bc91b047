# libsluice.so.1: the simulator behind sluice.h (docs/how-to/embed.md). It contains every object of the simulator and
# exports the functions of libsluice.map only, so it can be loaded beside libsluice-core.so of the CUDA runtime.
# Allocations go through memory.c.
API_SRC := $(wildcard src/api/*.c)
API_OBJ := $(API_SRC:%.c=$(B)/%.o)
API_WRAPPED := malloc calloc realloc aligned_alloc free strdup strndup asprintf vasprintf mmap munmap
API_WRAP := $(API_WRAPPED:%=-Wl,--wrap=%)
$(foreach f,$(API_SRC),$(eval CFLAGS_$(f) := -Iinclude))
CFLAGS_src/api/session.c += -DSLUICE_RELEASE='"$(shell sed -n 's/^.define SLUICE_VERSION "\(.*\)"/\1/p' src/cli/frame/cli.h)"'
ALL += $(B)/lib/libsluice.so

# The simulator's objects are those of libsluice-core.so; their list is complete when every room.mk has been read.
$(B)/lib/libsluice.so.1: $(API_OBJ) $(B)/lib/libsluice-core.so src/api/libsluice.map $(call list,api,$(API_OBJ))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) $(CFLAGS) -shared -Wl,-soname,libsluice.so.1 -Wl,--version-script=src/api/libsluice.map $(API_WRAP) \
	  $(if $(WERROR),$(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(API_OBJ) $(LIB_OBJ) $(call lib_libs,$(LDLIBS))
# The name for -lsluice.
$(B)/lib/libsluice.so: $(B)/lib/libsluice.so.1
	@ln -sf libsluice.so.1 $@

-include $(API_OBJ:.o=.d)

# ---- tests ---- One uses the public library; one has access to the inside and makes allocations fail.
API_TEST = $(CC) $(BASE_CFLAGS) -Iinclude $(CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $<
$(B)/tests/test_sluice_api: tests/unit/test_sluice_api.c $(B)/lib/libsluice.so | $(B)/deps-unit.ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(API_TEST) -L$(B)/lib -lsluice -Wl,-rpath,'$$ORIGIN/../lib' -lcmocka
$(B)/tests/test_sluice_memory: tests/unit/test_sluice_memory.c $(API_OBJ) $(B)/lib/libsluice-core.so | $(B)/deps-unit.ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(API_TEST) $(API_WRAP) $(API_OBJ) $(LIB_OBJ) -lcmocka $(LDLIBS)

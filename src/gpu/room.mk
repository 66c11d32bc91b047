# A cycle crosses every file of this room, so gcc optimises them as one unit; popcount and its like are instructions, as in
# the functional machine's handlers, which need x86-64-v2 at least.
GPU_FLAGS := $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2)
ifeq ($(findstring clang,$(CC))$(SANITIZE),)
GPU_FLAGS += -flto
LDFLAGS += -flto -flto-partition=one
endif
$(foreach f,$(wildcard src/gpu/*.c),$(eval CFLAGS_$(f) := $(GPU_FLAGS)))

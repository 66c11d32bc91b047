# A cycle crosses every file of this folder, so gcc optimises them as one unit. popcount and the like need x86-64-v2, as
# do the functional machine's handlers.
GPU_FLAGS := $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2)
# Its loops have few iterations (ways, ports or schedulers): vector code is longer and 1 to 2 % slower.
GPU_FLAGS += $(if $(findstring clang,$(CC)),-fno-vectorize,-fno-tree-loop-vectorize)
ifeq ($(findstring clang,$(CC))$(SANITIZE),)
GPU_FLAGS += -flto
# The unit is compiled once, into an object that the library and the command link.
GPU_OBJ := $(filter $(B)/src/gpu/%.o,$(LIB_OBJ))
LIB_OBJ := $(filter-out $(GPU_OBJ),$(LIB_OBJ)) $(B)/src/gpu/room.o
$(B)/src/gpu/room.o: $(GPU_OBJ) $(call list,gpu,$(GPU_OBJ))
	$(call say,LD,$@)
	$(CC) $(CFLAGS) -r -flto -flto-partition=one -flinker-output=nolto-rel -o $@ $(GPU_OBJ)
-include $(GPU_OBJ:.o=.d)
endif
$(foreach f,$(wildcard src/gpu/*.c src/gpu/*/*.c),$(eval CFLAGS_$(f) := $(GPU_FLAGS)))
# The whole machine's code passes through the host's cache between two steps of these: -O3 would cost misses and save no
# instructions.
GPU_SHORT := $(addprefix src/gpu/,mem/dram.c mem/partition.c gpu.c dispatch.c common/req.c) $(wildcard src/gpu/mem/l2*.c)
$(foreach f,$(GPU_SHORT),$(eval CFLAGS_$(f) += -O2))

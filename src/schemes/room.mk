# Sets of ways are bits of words: counting bits is one instruction, as in the machine itself (src/gpu/room.mk).
SCHEME_FLAGS := $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2)
$(foreach f,$(wildcard src/schemes/*.c src/schemes/lib/*.c),$(eval CFLAGS_$(f) := $(SCHEME_FLAGS)))

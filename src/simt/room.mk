# Flags of the functional machine's handlers: one build per instruction set, identical results (no contraction),
# vectorised.
SIMT_EXEC := -O3 -ffp-contract=off -fno-strict-aliasing -fno-math-errno -fno-trapping-math -Wno-unknown-pragmas
CFLAGS_src/simt/ops/exec_v2.c = $(SIMT_EXEC) -march=x86-64-v2
CFLAGS_src/simt/ops/exec_v3.c = $(SIMT_EXEC) -march=x86-64-v3
CFLAGS_src/simt/ops/exec_v4.c = $(SIMT_EXEC) -march=x86-64-v4 -mprefer-vector-width=512
CFLAGS_src/simt/ops/fp.c = -frounding-math -fno-strict-aliasing
CFLAGS_src/simt/ops/fp_approx.c = -fno-math-errno
CFLAGS_src/simt/ops/matrix.c = -fno-strict-aliasing
CFLAGS_src/simt/ops/tex.c = -fno-strict-aliasing
CFLAGS_src/simt/ops/generic.c = -fno-strict-aliasing
CFLAGS_src/simt/ops/atom.c = -fno-strict-aliasing
CFLAGS_src/simt/ops/access.c = -fno-strict-aliasing
CFLAGS_src/simt/check/race_global.c = -fno-strict-aliasing
CFLAGS_src/simt/check/race_v2.c = $(SIMT_EXEC) -march=x86-64-v2
CFLAGS_src/simt/check/race_v3.c = $(SIMT_EXEC) -march=x86-64-v3
CFLAGS_src/simt/check/race_v4.c = $(SIMT_EXEC) -march=x86-64-v4 -mprefer-vector-width=512
CFLAGS_src/simt/run/run.c = -fno-strict-aliasing
CFLAGS_src/simt/run/barrier.c = -fno-strict-aliasing
CFLAGS_src/simt/run/warp.c = -fno-strict-aliasing
LDLIBS_test_simt_exact += -lmpfr -lgmp
# ThreadSanitizer looks at what the simulator shares between threads, not at the memory of the simulated program.
ifeq ($(SANITIZE),thread)
DEVICE_MEMORY := exec_v2 exec_v3 exec_v4 access atom
$(foreach f,$(DEVICE_MEMORY),$(eval CFLAGS_src/simt/ops/$(f).c += -fno-sanitize=thread))
endif

# Packed traces: zstd for our own and .tracez, xz for Accel-Sim's .traceg.xz.
LDLIBS += -lzstd -llzma

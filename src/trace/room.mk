# Packed traces: zstd for Sluice's format and .tracez, xz for Accel-Sim's .traceg.xz.
LDLIBS += -lzstd -llzma

// overlap_serial.cu - overlap.cu on a machine that runs one launch at a time.
// compilers: clang
// mode: timing
// set: kernels.concurrent=1
// expect: PASS
#define TOGETHER 0
#include "overlap.cu"

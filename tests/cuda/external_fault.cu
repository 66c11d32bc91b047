// external_fault.cu - a kernel that runs past a mapped part of external memory is caught to the byte, although the pages continue.
// compilers: clang nvcc
// exit: 4
// report: cudaExternalMemoryGetMappedBuffer|0 bytes past the end
#include <sys/syscall.h>
#include <unistd.h>
#include "check.h"

__global__ void store(int *p) {
  p[threadIdx.x] = 1;
}

int main(void) {
  struct cudaExternalMemoryHandleDesc d;
  struct cudaExternalMemoryBufferDesc b;
  cudaExternalMemory_t m;
  int *p;
  memset(&d, 0, sizeof d);
  memset(&b, 0, sizeof b);
  d.type = cudaExternalMemoryHandleTypeOpaqueFd;
  d.handle.fd = syscall(SYS_memfd_create, "test", 0);
  d.size = 4096;
  EXPECT(ftruncate(d.handle.fd, 4096) == 0);
  OK(cudaImportExternalMemory(&m, &d));
  b.offset = 64;
  b.size = 31 * sizeof *p;
  OK(cudaExternalMemoryGetMappedBuffer((void **)&p, m, &b));
  store<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  return 0;
}

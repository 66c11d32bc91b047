// runtime_compiled.cu - kernels that the program compiles with NVRTC while it runs, for machine code and for PTX.
// compilers: nvcc
// flags: -lnvrtc -lcuda -Xlinker --allow-shlib-undefined
// expect: machine code 5050|machine code, separate 5050|PTX 5050|PASS
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <stdio.h>
#include <vector>

static int bad;
#define OK(call)                                        \
  do {                                                  \
    int got_ = (int)(call);                             \
    if (got_) {                                         \
      printf("%d: %s gives %d\n", __LINE__, #call, got_); \
      bad++;                                            \
    }                                                   \
  } while (0)

static const char source[] = "extern \"C\" __global__ void sum(int *out) { atomicAdd(out, threadIdx.x + 1 + ADDED); }";

static int run(int count, const char **options, bool machine) {
  nvrtcProgram program;
  OK(nvrtcCreateProgram(&program, source, "sum.cu", 0, NULL, NULL));
  OK(nvrtcCompileProgram(program, count, options));
  size_t bytes = 0;
  OK(machine ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes));
  std::vector<char> code(bytes + 1);
  OK(machine ? nvrtcGetCUBIN(program, code.data()) : nvrtcGetPTX(program, code.data()));
  OK(nvrtcDestroyProgram(&program));
  CUmodule module;
  CUfunction f;
  OK(cuModuleLoadData(&module, code.data()));
  OK(cuModuleGetFunction(&f, module, "sum"));
  int *out, result = 0;
  OK(cudaMalloc(&out, sizeof *out));
  OK(cudaMemset(out, 0, sizeof *out));
  void *args[] = {&out};
  OK(cuLaunchKernel(f, 1, 1, 1, 100, 1, 1, 0, NULL, args, NULL));
  OK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  OK(cudaFree(out));
  return result;
}

int main() {
  const char *together[] = {"-DADDED=0", "--gpu-architecture=sm_75"};
  const char *separate[] = {"-arch", "sm_75", "-DADDED=0"};
  const char *ptx[] = {"--gpu-architecture=compute_75", "-DADDED=0"};
  OK(cudaFree(0));
  printf("machine code %d\n", run(2, together, true));
  printf("machine code, separate %d\n", run(3, separate, true));
  printf("PTX %d\n", run(2, ptx, false));
  puts(bad ? "FAIL" : "PASS");
  return bad != 0;
}

// modern_calls.cu - calls of CUDA 12 and 13: graph nodes of every kind, conditional nodes, capture into a graph, user
// objects, entry points of the driver, virtual memory, batches of copies, libraries of PTX loaded at run time.
// target: compute_75
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

#define CK(x)                                                            \
  do {                                                                   \
    cudaError_t e_ = (x);                                                \
    if (e_ != cudaSuccess) {                                             \
      printf("line %d: %s: %s\n", __LINE__, #x, cudaGetErrorString(e_)); \
      return false;                                                      \
    }                                                                    \
  } while (0)
#define EXPECT(x)                            \
  do {                                       \
    if (!(x)) {                              \
      printf("line %d: %s\n", __LINE__, #x); \
      return false;                          \
    }                                        \
  } while (0)

__global__ void increment(int *p, int v) {
  atomicAdd(p, v);
}
__global__ void decide(cudaGraphConditionalHandle h, const int *p, int limit) {
  cudaGraphSetConditional(h, *p < limit);
}

static int value(const int *p) {
  int v = -1;
  cudaMemcpy(&v, p, sizeof v, cudaMemcpyDefault);
  return v;
}
static void CUDART_CB count(void *data) {
  ++*(int *)data;
}

static bool conditional() {
  int *p;
  CK(cudaMalloc(&p, sizeof *p));
  CK(cudaMemset(p, 0, sizeof *p));
  cudaGraph_t g;
  CK(cudaGraphCreate(&g, 0));
  cudaGraphConditionalHandle h;
  CK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams np = {};
  np.type = cudaGraphNodeTypeConditional;
  np.conditional.handle = h;
  np.conditional.type = cudaGraphCondTypeWhile;
  np.conditional.size = 1;
  cudaGraphNode_t loop, choice;
  CK(cudaGraphAddNode(&loop, g, nullptr, nullptr, 0, &np));
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  CK(cudaStreamBeginCaptureToGraph(s, np.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                   cudaStreamCaptureModeRelaxed));
  increment<<<1, 10, 0, s>>>(p, 1);
  decide<<<1, 1, 0, s>>>(h, p, 50);
  CK(cudaStreamEndCapture(s, nullptr));
  np.conditional.type = cudaGraphCondTypeIf; /* after the loop the condition is 0: the second body */
  np.conditional.size = 2;
  CK(cudaGraphAddNode(&choice, g, &loop, nullptr, 1, &np));
  for (int body = 0; body < 2; body++) {
    CK(cudaStreamBeginCaptureToGraph(s, np.conditional.phGraph_out[body], nullptr, nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    increment<<<1, 1, 0, s>>>(p, body ? 1000 : 2000);
    CK(cudaStreamEndCapture(s, nullptr));
  }
  cudaGraphExec_t x;
  CK(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 2; i++) CK(cudaGraphLaunch(x, s));
  CK(cudaStreamSynchronize(s));
  EXPECT(value(p) == 50 + 1000 + 10 + 1000);
  return true;
}

static bool nodes() {
  int *p, v = 3, calls = 0;
  CK(cudaMalloc(&p, sizeof *p));
  void *args[] = {&p, &v};
  cudaGraph_t g;
  CK(cudaGraphCreate(&g, 0));
  cudaGraphNode_t kernel, host, set;
  cudaGraphNodeParams np = {};
  np.type = cudaGraphNodeTypeKernel;
  np.kernel.func = (void *)increment;
  np.kernel.gridDim = np.kernel.blockDim = 1;
  np.kernel.kernelParams = args;
  CK(cudaGraphAddNode(&kernel, g, nullptr, nullptr, 0, &np));
  np = {};
  np.type = cudaGraphNodeTypeHost;
  np.host.fn = count;
  np.host.userData = &calls;
  CK(cudaGraphAddNode(&host, g, &kernel, nullptr, 1, &np));
  np = {};
  np.type = cudaGraphNodeTypeMemset;
  np.memset.dst = p;
  np.memset.elementSize = 4;
  np.memset.width = np.memset.height = 1;
  np.memset.value = 7;
  CK(cudaGraphAddNode(&set, g, nullptr, nullptr, 0, &np));
  CK(cudaGraphAddDependencies(g, &set, &kernel, nullptr, 1));
  size_t n = 0;
  CK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
  EXPECT(n == 2);
  CK(cudaGraphNodeGetDependencies(kernel, nullptr, nullptr, &n));
  EXPECT(n == 1);
  cudaUserObject_t object;
  int destroyed = 0;
  CK(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync));
  CK(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t x;
  CK(cudaGraphInstantiate(&x, g, 0));
  CK(cudaGraphLaunch(x, 0));
  CK(cudaDeviceSynchronize());
  EXPECT(value(p) == 10 && calls == 1);
  CK(cudaGraphNodeSetEnabled(x, kernel, 0));
  CK(cudaGraphLaunch(x, 0));
  CK(cudaDeviceSynchronize());
  EXPECT(value(p) == 7);
  CK(cudaGraphDestroyNode(host));
  CK(cudaGraphDestroy(g));
  EXPECT(destroyed == 0);
  CK(cudaGraphExecDestroy(x));
  EXPECT(destroyed == 1);
  return true;
}

template <class F> static F entry(const char *name) {
  void *f = nullptr;
  cudaDriverEntryPointQueryResult found;
  return cudaGetDriverEntryPointByVersion(name, &f, 13000, cudaEnableDefault, &found) ? nullptr : (F)f;
}

static bool memory() {
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t each = 0;
  auto granularity = entry<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  EXPECT(granularity && granularity(&each, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
  CUdeviceptr at;
  CUmemGenericAllocationHandle handle;
  CUmemAccessDesc access = {};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT(entry<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&at, 2 * each, 0, 0, 0) == CUDA_SUCCESS);
  EXPECT(entry<decltype(&cuMemCreate)>("cuMemCreate")(&handle, each, &prop, 0) == CUDA_SUCCESS);
  EXPECT(entry<decltype(&cuMemMap)>("cuMemMap")(at, each, 0, handle, 0) == CUDA_SUCCESS);
  EXPECT(entry<decltype(&cuMemSetAccess)>("cuMemSetAccess")(at, each, &access, 1) == CUDA_SUCCESS);
  int *p = (int *)at, from[2] = {5, 6};
  void *to[2] = {p, p + 1};
  const void *src[2] = {from, from + 1};
  size_t bytes[2] = {4, 4}, which = 0;
  cudaMemcpyAttributes how = {};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  CK(cudaMemcpyBatchAsync(to, src, bytes, 2, &how, &which, 1, s));
  CK(cudaStreamSynchronize(s));
  increment<<<1, 4>>>(p + 1, 1);
  EXPECT(value(p) == 5 && value(p + 1) == 10);
  return true;
}

static bool library() {
  static const char ptx[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 counter = 4;\n"
      ".visible .entry twice(.param .u64 p)\n{\n.reg .b64 %d<2>; .reg .b32 %r<2>;\nld.param.u64 %d1, [p];\n"
      "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, %r1; st.global.u32 [%d1], %r1; ret;\n}\n";
  cudaLibrary_t lib;
  CK(cudaLibraryLoadData(&lib, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned n = 0;
  CK(cudaLibraryGetKernelCount(&n, lib));
  EXPECT(n == 1);
  cudaKernel_t k;
  CK(cudaLibraryGetKernel(&k, lib, "twice"));
  void *counter;
  size_t bytes, offset, size;
  CK(cudaLibraryGetGlobal(&counter, &bytes, lib, "counter"));
  EXPECT(bytes == 4);
  CK(cudaFuncGetParamInfo(k, 0, &offset, &size));
  EXPECT(offset == 0 && size == 8);
  void *args[] = {&counter};
  CK(cudaLaunchKernel((void *)k, dim3(1), dim3(1), args, 0, 0));
  EXPECT(value((int *)counter) == 8);
  CK(cudaLibraryUnload(lib));
  return true;
}

int main() {
  bool ok = conditional() && nodes() && memory() && library();
  ok = ok && cudaDeviceSynchronize() == cudaSuccess;
  puts(ok ? "PASS" : "FAIL");
  return !ok;
}

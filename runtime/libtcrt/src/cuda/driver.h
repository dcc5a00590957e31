/* driver.h - the functions of libcuda that the runtime uses, found at run time.
 *
 * Own declarations of a stable binary interface: types are what the driver API passes, names are
 * the exported symbols (with their version suffixes).  Nothing here needs a file of CUDA. */
#ifndef TC_CUDA_DRIVER_H
#define TC_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef unsigned long long cu_ptr; /* address for the device */
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream; /* NULL: the default stream */
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_node;
typedef struct CUgraphExec_st *cu_exec;

enum { /* cu_result */
       CU_SUCCESS = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_DEINITIALIZED = 4,
       CU_NO_DEVICE = 100,
       CU_INVALID_IMAGE = 200,
       CU_NO_BINARY_FOR_GPU = 209,
       CU_INVALID_PTX = 218,
       CU_UNSUPPORTED_PTX = 222,
       CU_NOT_READY = 600,
       CU_NOT_SUPPORTED = 801
};

enum { /* attributes of a device */
       CU_MAX_GRID_X = 5,
       CU_MAX_GRID_Y = 6,
       CU_SMS = 16,
       CU_L2_BYTES = 38,
       CU_THREADS_PER_SM = 39,
       CU_MAJOR = 75,
       CU_MINOR = 76,
       CU_SHARED_PER_SM = 81,
       CU_REGISTERS_PER_SM = 82,
       CU_SHARED_OPTIN = 97,
       CU_POOLS_SUPPORTED = 115
};

enum {
  CU_FUNC_MAX_SHARED = 8, /* attribute of a function: dynamic shared memory */
  CU_HOSTALLOC_PORTABLE = 1,
  CU_HOSTALLOC_MAPPED = 2,
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_NO_TIMING = 2,
  CU_CAPTURE_RELAXED = 2,
  CU_POOL_RELEASE_THRESHOLD = 4,
  CU_POOL_RESERVED = 5,
  CU_POOL_USED = 7
};

/* CUmemPoolProps */
typedef struct cu_pool_props {
  int alloc_type;   /* 1: pinned */
  int handle_types; /* 0 */
  struct {
    int type; /* 1: a device */
    int id;
  } location;
  void *security;
  unsigned char reserved[64];
} cu_pool_props;

/* CUDA_KERNEL_NODE_PARAMS_v1 */
typedef struct cu_kernel_node {
  cu_function function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void **params;
  void **extra;
} cu_kernel_node;

/* CUlaunchConfig, CUlaunchAttribute */
typedef struct cu_launch_attribute {
  int id; /* 6: programmatic stream serialization */
  char pad[4];
  union {
    int allowed;
    char room[64];
  } value;
} cu_launch_attribute;
typedef struct cu_launch {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  cu_stream stream;
  const cu_launch_attribute *attribute;
  unsigned attributes;
} cu_launch;

/* CUgraphEdgeData; port and type 1: the kernel behind begins while the one in front runs */
typedef struct cu_edge {
  unsigned char from_port, to_port, type, reserved[5];
} cu_edge;

/* CU(name, symbol, parameters): missing ones mean that the driver is too old.  CU_OPT: pools,
 * graphs and early launches, which older drivers lack and the runtime does without. */
#define TC_CUDA_FUNCTIONS(CU, CU_OPT)                                                              \
  CU(init, cuInit, (unsigned flags))                                                               \
  CU(driver_version, cuDriverGetVersion, (int *version))                                           \
  CU(error_name, cuGetErrorName, (cu_result r, const char **name))                                 \
  CU(error_string, cuGetErrorString, (cu_result r, const char **text))                             \
  CU(device_count, cuDeviceGetCount, (int *n))                                                     \
  CU(device_get, cuDeviceGet, (cu_device * d, int index))                                          \
  CU(device_attribute, cuDeviceGetAttribute, (int *v, int attribute, cu_device d))                 \
  CU(context_retain, cuDevicePrimaryCtxRetain, (cu_context * c, cu_device d))                      \
  CU(context_release, cuDevicePrimaryCtxRelease_v2, (cu_device d))                                 \
  CU(context_get, cuCtxGetCurrent, (cu_context * c))                                               \
  CU(context_set, cuCtxSetCurrent, (cu_context c))                                                 \
  CU(context_wait, cuCtxSynchronize, (void))                                                       \
  CU(module_load, cuModuleLoadData, (cu_module * m, const void *image))                            \
  CU(module_unload, cuModuleUnload, (cu_module m))                                                 \
  CU(module_function, cuModuleGetFunction, (cu_function * f, cu_module m, const char *name))       \
  CU(function_set, cuFuncSetAttribute, (cu_function f, int attribute, int v))                      \
  CU(launch, cuLaunchKernel,                                                                       \
     (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
      unsigned shared, cu_stream s, void **params, void **extra))                                  \
  CU(alloc, cuMemAlloc_v2, (cu_ptr * p, size_t bytes))                                             \
  CU(free, cuMemFree_v2, (cu_ptr p))                                                               \
  CU(host_alloc, cuMemHostAlloc, (void **p, size_t bytes, unsigned flags))                         \
  CU(host_free, cuMemFreeHost, (void *p))                                                          \
  CU(host_address, cuMemHostGetDevicePointer_v2, (cu_ptr * p, void *host, unsigned flags))         \
  CU(to_device, cuMemcpyHtoD_v2, (cu_ptr to, const void *from, size_t bytes))                      \
  CU(to_device_async, cuMemcpyHtoDAsync_v2,                                                        \
     (cu_ptr to, const void *from, size_t bytes, cu_stream s))                                     \
  CU(to_host_async, cuMemcpyDtoHAsync_v2, (void *to, cu_ptr from, size_t bytes, cu_stream s))      \
  CU(copy_async, cuMemcpyDtoDAsync_v2, (cu_ptr to, cu_ptr from, size_t bytes, cu_stream s))        \
  CU(peer_async, cuMemcpyPeerAsync,                                                                \
     (cu_ptr to, cu_context to_c, cu_ptr from, cu_context from_c, size_t bytes, cu_stream s))      \
  CU(stream_create, cuStreamCreate, (cu_stream * s, unsigned flags))                               \
  CU(stream_destroy, cuStreamDestroy_v2, (cu_stream s))                                            \
  CU(stream_wait, cuStreamSynchronize, (cu_stream s))                                              \
  CU(stream_wait_event, cuStreamWaitEvent, (cu_stream s, cu_event e, unsigned flags))              \
  CU(event_create, cuEventCreate, (cu_event * e, unsigned flags))                                  \
  CU(event_destroy, cuEventDestroy_v2, (cu_event e))                                               \
  CU(event_record, cuEventRecord, (cu_event e, cu_stream s))                                       \
  CU(event_query, cuEventQuery, (cu_event e))                                                      \
  CU(event_wait, cuEventSynchronize, (cu_event e))                                                 \
  CU_OPT(pool_create, cuMemPoolCreate, (cu_pool * p, const cu_pool_props *props))                  \
  CU_OPT(pool_destroy, cuMemPoolDestroy, (cu_pool p))                                              \
  CU_OPT(pool_set, cuMemPoolSetAttribute, (cu_pool p, int attribute, void *value))                 \
  CU_OPT(pool_get, cuMemPoolGetAttribute, (cu_pool p, int attribute, void *value))                 \
  CU_OPT(pool_trim, cuMemPoolTrimTo, (cu_pool p, size_t keep))                                     \
  CU_OPT(pool_alloc, cuMemAllocFromPoolAsync,                                                      \
         (cu_ptr * p, size_t bytes, cu_pool pool, cu_stream s))                                    \
  CU_OPT(free_async, cuMemFreeAsync, (cu_ptr p, cu_stream s))                                      \
  CU_OPT(graph_create, cuGraphCreate, (cu_graph * g, unsigned flags))                              \
  CU_OPT(graph_destroy, cuGraphDestroy, (cu_graph g))                                              \
  CU_OPT(graph_kernel, cuGraphAddKernelNode,                                                       \
         (cu_node * n, cu_graph g, const cu_node *after, size_t count, const cu_kernel_node *k))   \
  CU_OPT(graph_child, cuGraphAddChildGraphNode,                                                    \
         (cu_node * n, cu_graph g, const cu_node *after, size_t count, cu_graph child))            \
  CU_OPT(graph_instantiate, cuGraphInstantiateWithFlags,                                           \
         (cu_exec * e, cu_graph g, unsigned long long flags))                                      \
  CU_OPT(exec_set_kernel, cuGraphExecKernelNodeSetParams,                                          \
         (cu_exec e, cu_node n, const cu_kernel_node *k))                                          \
  CU_OPT(exec_set_child, cuGraphExecChildGraphNodeSetParams, (cu_exec e, cu_node n, cu_graph g))   \
  CU_OPT(exec_launch, cuGraphLaunch, (cu_exec e, cu_stream s))                                     \
  CU_OPT(exec_destroy, cuGraphExecDestroy, (cu_exec e))                                            \
  CU_OPT(capture_begin, cuStreamBeginCapture_v2, (cu_stream s, int mode))                          \
  CU_OPT(capture_end, cuStreamEndCapture, (cu_stream s, cu_graph * g))                             \
  CU_OPT(launch_with, cuLaunchKernelEx,                                                            \
         (const cu_launch *l, cu_function f, void **params, void **extra))                         \
  CU_OPT(graph_edge, cuGraphAddDependencies_v2,                                                    \
         (cu_graph g, const cu_node *from, const cu_node *to, const cu_edge *e, size_t n))

#define TC_CUDA_MEMBER(name, symbol, parameters) cu_result(*name) parameters;
typedef struct tc_cuda_driver {
  TC_CUDA_FUNCTIONS(TC_CUDA_MEMBER, TC_CUDA_MEMBER)
  int version;        /* 12040 */
  int devices;        /* > 0 */
  bool pools, graphs; /* all of their functions are there */
} tc_cuda_driver;
#undef TC_CUDA_MEMBER

/* The driver, opened and initialised by the first call.  NULL: there is none that can be used; why
 * is in tc_cuda_absent. */
const tc_cuda_driver *tc_cuda(void);
/* Why tc_cuda gave NULL, and what to do. */
const char *tc_cuda_absent(void);

/* "CUDA_ERROR_OUT_OF_MEMORY: out of memory" */
typedef struct tc_cuda_text {
  char text[160];
} tc_cuda_text;
tc_cuda_text tc_cuda_describe(cu_result r);

/* Opens the first of n libraries that there is (names[i] NULL is left out); `at` then holds
 * addresses of its functions by name.  What dlopen said last goes to why. */
void *tc_open_library(const char *const *names, int n, char *why, size_t size);

#endif

/* The entry points of libcuda. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda_stub/stub_impl.h"

#define EXPORT __attribute__((visibility("default")))

/* Enters the call of this name, or returns its planned failure. */
#define ENTER()                                                                                    \
  do {                                                                                             \
    cu_result fault = stub_enter(__func__);                                                        \
    if (fault) return stub_leave(fault);                                                           \
  } while (0)

/* A call that destroys: its planned failure comes from earlier work, the object is gone all the
 * same.
 */
#define ENTER_DESTROY() cu_result fault = stub_enter(__func__)
#define LEAVE_DESTROY(r) leave_destroy(fault, r)

static cu_result leave_destroy(cu_result fault, cu_result r) {
  return stub_leave(fault ? fault : r);
}

stub_machine stub_is;
static _Thread_local cu_context current;
static int contexts[16];

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

/* ---- the machine ----------------------------------------------------------------------------- */

EXPORT cu_result cuInit(unsigned flags) {
  ENTER();
  stub_is = (stub_machine){.devices = (int)number("STUB_DEVICES", 1),
                           .version = (int)number("STUB_VERSION", 12040),
                           .arch = (int)number("STUB_ARCH", 90),
                           .pools = (int)number("STUB_POOLS", 1),
                           .graphs = (int)number("STUB_GRAPHS", 1),
                           .memory = (size_t)number("STUB_MEMORY", 1 << 28)};
  return stub_leave(flags ? CU_INVALID_VALUE : CU_SUCCESS);
}

EXPORT cu_result cuDriverGetVersion(int *version) {
  ENTER();
  *version = stub_is.version;
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuGetErrorName(cu_result r, const char **name) {
  *name = r == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STUB";
  return CU_SUCCESS;
}

EXPORT cu_result cuGetErrorString(cu_result r, const char **text) {
  *text = r == CU_OUT_OF_MEMORY ? "out of memory" : "as the test wants it";
  return CU_SUCCESS;
}

EXPORT cu_result cuDeviceGetCount(int *n) {
  ENTER();
  *n = stub_is.devices;
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuDeviceGet(cu_device *d, int index) {
  ENTER();
  *d = index;
  return stub_leave(index < 0 || index >= stub_is.devices ? stub_wrong("cuDeviceGet: %d", index)
                                                          : CU_SUCCESS);
}

EXPORT cu_result cuDeviceGetAttribute(int *v, int attribute, cu_device d) {
  ENTER();
  (void)d;
  switch (attribute) {
  case CU_MAJOR:
    *v = stub_is.arch / 10;
    break;
  case CU_MINOR:
    *v = stub_is.arch % 10;
    break;
  case CU_POOLS_SUPPORTED:
    *v = stub_is.pools;
    break;
  case CU_SHARED_OPTIN:
    *v = 227 << 10;
    break;
  case CU_MAX_GRID_Y:
    *v = 65535;
    break;
  default:
    *v = 132;
  }
  return stub_leave(CU_SUCCESS);
}

/* ---- contexts -------------------------------------------------------------------------------- */

EXPORT cu_result cuDevicePrimaryCtxRetain(cu_context *c, cu_device d) {
  ENTER();
  contexts[d]++;
  *c = (cu_context)(void *)&contexts[d];
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuDevicePrimaryCtxRelease_v2(cu_device d) {
  ENTER_DESTROY();
  contexts[d]--;
  return LEAVE_DESTROY(CU_SUCCESS);
}

EXPORT cu_result cuCtxGetCurrent(cu_context *c) {
  ENTER();
  *c = current;
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuCtxSetCurrent(cu_context c) {
  ENTER();
  current = c;
  return stub_leave(CU_SUCCESS);
}

static cu_result need_context(const char *symbol) {
  return current ? CU_SUCCESS : stub_wrong("%s: no context is current", symbol);
}

EXPORT cu_result cuCtxSynchronize(void) {
  ENTER();
  return stub_leave(need_context(__func__));
}

/* ---- modules --------------------------------------------------------------------------------- */

/* PTX, or for tests "STUB: kernel kernel". */
EXPORT cu_result cuModuleLoadData(cu_module *m, const void *image) {
  ENTER();
  if (need_context(__func__)) return stub_leave(CU_INVALID_VALUE);
  if (strncmp(image, ".version", 8) && strncmp(image, "STUB:", 5))
    return stub_leave(CU_INVALID_IMAGE);
  stub_object *o = stub_make(STUB_MODULE, 0);
  o->text = strdup(image); /* callers may free theirs */
  *m = (cu_module)(void *)o;
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuModuleUnload(cu_module m) {
  ENTER_DESTROY();
  stub_object *o = stub_find(__func__, STUB_MODULE, m);
  if (o) stub_drop(o);
  return LEAVE_DESTROY(o ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuModuleGetFunction(cu_function *f, cu_module m, const char *name) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_MODULE, m);
  if (!o || !o->text || !strstr(o->text, name)) return stub_leave(500);
  stub_object *made = stub_make(STUB_FUNCTION, 48 << 10);
  made->owner = o;
  snprintf(made->name, sizeof made->name, "%s", name);
  *f = (cu_function)(void *)made;
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuFuncSetAttribute(cu_function f, int attribute, int v) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_FUNCTION, f);
  if (!o || attribute != CU_FUNC_MAX_SHARED || v > 227 << 10) return stub_leave(CU_INVALID_VALUE);
  o->bytes = (size_t)v;
  return stub_leave(CU_SUCCESS);
}

static cu_result check_stream(const char *symbol, cu_stream s) {
  if (need_context(symbol)) return CU_INVALID_VALUE;
  return !s || stub_find(symbol, STUB_STREAM, s) ? CU_SUCCESS : CU_INVALID_VALUE;
}

EXPORT cu_result cuLaunchKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                unsigned by, unsigned bz, unsigned shared, cu_stream s,
                                void **params, void **extra) {
  ENTER();
  cu_kernel_node k = {f, gx, gy, gz, bx, by, bz, shared, params, extra};
  cu_result r = check_stream(__func__, s);
  return stub_leave(r ? r : stub_run(__func__, &k));
}

EXPORT cu_result cuLaunchKernelEx(const cu_launch *l, cu_function f, void **params, void **extra) {
  ENTER();
  cu_kernel_node k = {f,          l->grid_x,  l->grid_y, l->grid_z, l->block_x,
                      l->block_y, l->block_z, l->shared, params,    extra};
  if (l->attributes != 1 || l->attribute->id != 6 || l->attribute->value.allowed != 1)
    return stub_leave(stub_wrong("%s: attributes are wrong", __func__));
  cu_result r = check_stream(__func__, l->stream);
  return stub_leave(r ? r : stub_run(__func__, &k));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static cu_result take(const char *symbol, cu_ptr *p, size_t bytes, stub_object *pool) {
  if (need_context(symbol)) return CU_INVALID_VALUE;
  if (bytes == 0) return stub_wrong("%s: 0 bytes", symbol);
  if (bytes > stub_is.memory || stub_used() > stub_is.memory - bytes) return CU_OUT_OF_MEMORY;
  stub_object *o = stub_make(STUB_DEVICE_MEMORY, bytes);
  if (!o) return CU_OUT_OF_MEMORY;
  o->owner = pool;
  *p = (cu_ptr)(uintptr_t)o->at;
  return CU_SUCCESS;
}

static void *pointer(cu_ptr p) { return (void *)(uintptr_t)p; }

static cu_result give_back(const char *symbol, cu_ptr p) {
  stub_object *o = stub_find(symbol, STUB_DEVICE_MEMORY, pointer(p));
  if (o) stub_drop(o);
  return o ? need_context(symbol) : CU_INVALID_VALUE;
}

EXPORT cu_result cuMemAlloc_v2(cu_ptr *p, size_t bytes) {
  ENTER();
  return stub_leave(take(__func__, p, bytes, NULL));
}

EXPORT cu_result cuMemFree_v2(cu_ptr p) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(give_back(__func__, p));
}

EXPORT cu_result cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
  ENTER();
  (void)flags;
  stub_object *o = need_context(__func__) ? NULL : stub_make(STUB_HOST_MEMORY, bytes);
  if (o) *p = o->at;
  return stub_leave(o ? CU_SUCCESS : CU_OUT_OF_MEMORY);
}

EXPORT cu_result cuMemFreeHost(void *p) {
  ENTER_DESTROY();
  stub_object *o = stub_find(__func__, STUB_HOST_MEMORY, p);
  if (o) stub_drop(o);
  return LEAVE_DESTROY(o ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuMemHostGetDevicePointer_v2(cu_ptr *p, void *host, unsigned flags) {
  ENTER();
  (void)flags;
  *p = (cu_ptr)(uintptr_t)host;
  return stub_leave(stub_find(__func__, STUB_HOST_MEMORY, host) ? CU_SUCCESS : CU_INVALID_VALUE);
}

static cu_result copy(const char *symbol, cu_stream s, void *to, bool to_device, const void *from,
                      bool from_device, size_t bytes) {
  cu_result r = check_stream(symbol, s);
  if (r) return r;
  if (to_device && !stub_inside(symbol, STUB_DEVICE_MEMORY, to, bytes)) return CU_INVALID_VALUE;
  if (from_device && !stub_inside(symbol, STUB_DEVICE_MEMORY, from, bytes)) return CU_INVALID_VALUE;
  if ((!to_device && stub_owns(STUB_DEVICE_MEMORY, to)) ||
      (!from_device && stub_owns(STUB_DEVICE_MEMORY, from)))
    return stub_wrong("%s: a device address where host memory is meant", symbol);
  memmove(to, from, bytes);
  return CU_SUCCESS;
}

EXPORT cu_result cuMemcpyHtoD_v2(cu_ptr to, const void *from, size_t bytes) {
  ENTER();
  return stub_leave(copy(__func__, NULL, pointer(to), true, from, false, bytes));
}

EXPORT cu_result cuMemcpyHtoDAsync_v2(cu_ptr to, const void *from, size_t bytes, cu_stream s) {
  ENTER();
  return stub_leave(copy(__func__, s, pointer(to), true, from, false, bytes));
}

EXPORT cu_result cuMemcpyDtoHAsync_v2(void *to, cu_ptr from, size_t bytes, cu_stream s) {
  ENTER();
  return stub_leave(copy(__func__, s, to, false, pointer(from), true, bytes));
}

EXPORT cu_result cuMemcpyDtoDAsync_v2(cu_ptr to, cu_ptr from, size_t bytes, cu_stream s) {
  ENTER();
  return stub_leave(copy(__func__, s, pointer(to), true, pointer(from), true, bytes));
}

EXPORT cu_result cuMemcpyPeerAsync(cu_ptr to, cu_context to_c, cu_ptr from, cu_context from_c,
                                   size_t bytes, cu_stream s) {
  ENTER();
  if (to_c == from_c) stub_wrong("cuMemcpyPeerAsync: one context on both sides");
  return stub_leave(copy(__func__, s, pointer(to), true, pointer(from), true, bytes));
}

/* ---- streams and events ---------------------------------------------------------------------- */

static cu_result make(stub_kind kind, void *handle) {
  stub_object *o = stub_make(kind, 0);
  memcpy(handle, &o, sizeof o);
  return o ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

static cu_result destroy(const char *symbol, stub_kind kind, const void *handle) {
  stub_object *o = stub_find(symbol, kind, handle);
  if (o) stub_drop(o);
  return o ? CU_SUCCESS : CU_INVALID_VALUE;
}

EXPORT cu_result cuStreamCreate(cu_stream *s, unsigned flags) {
  ENTER();
  (void)flags;
  return stub_leave(need_context(__func__) ? CU_INVALID_VALUE : make(STUB_STREAM, s));
}

EXPORT cu_result cuStreamDestroy_v2(cu_stream s) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(destroy(__func__, STUB_STREAM, s));
}

EXPORT cu_result cuStreamSynchronize(cu_stream s) {
  ENTER();
  return stub_leave(check_stream(__func__, s));
}

EXPORT cu_result cuStreamWaitEvent(cu_stream s, cu_event e, unsigned flags) {
  ENTER();
  (void)flags;
  cu_result r = check_stream(__func__, s);
  return stub_leave(r || !stub_find(__func__, STUB_EVENT, e) ? CU_INVALID_VALUE : CU_SUCCESS);
}

EXPORT cu_result cuEventCreate(cu_event *e, unsigned flags) {
  ENTER();
  (void)flags;
  return stub_leave(need_context(__func__) ? CU_INVALID_VALUE : make(STUB_EVENT, e));
}

EXPORT cu_result cuEventDestroy_v2(cu_event e) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(destroy(__func__, STUB_EVENT, e));
}

/* An event happens when it is asked for the second time, so that waiting is tested. */
EXPORT cu_result cuEventRecord(cu_event e, cu_stream s) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_EVENT, e);
  if (o) o->nodes = 1;
  return stub_leave(o ? check_stream(__func__, s) : CU_INVALID_VALUE);
}

EXPORT cu_result cuEventQuery(cu_event e) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_EVENT, e);
  return stub_leave(!o ? CU_INVALID_VALUE : o->nodes-- > 0 ? CU_NOT_READY : CU_SUCCESS);
}

EXPORT cu_result cuEventSynchronize(cu_event e) {
  ENTER();
  return stub_leave(stub_find(__func__, STUB_EVENT, e) ? CU_SUCCESS : CU_INVALID_VALUE);
}

/* ---- pools ----------------------------------------------------------------------------------- */

EXPORT cu_result cuMemPoolCreate(cu_pool *p, const cu_pool_props *props) {
  ENTER();
  if (props->alloc_type != 1 || props->location.type != 1) return stub_leave(CU_INVALID_VALUE);
  return stub_leave(make(STUB_POOL, p));
}

EXPORT cu_result cuMemPoolDestroy(cu_pool p) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(destroy(__func__, STUB_POOL, p));
}

EXPORT cu_result cuMemPoolSetAttribute(cu_pool p, int attribute, void *value) {
  ENTER();
  (void)attribute;
  (void)value;
  return stub_leave(stub_find(__func__, STUB_POOL, p) ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuMemPoolGetAttribute(cu_pool p, int attribute, void *value) {
  ENTER();
  uint64_t bytes = attribute == CU_POOL_RELEASE_THRESHOLD ? UINT64_MAX : stub_used();
  memcpy(value, &bytes, sizeof bytes);
  return stub_leave(stub_find(__func__, STUB_POOL, p) ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuMemPoolTrimTo(cu_pool p, size_t keep) {
  ENTER();
  (void)keep;
  return stub_leave(stub_find(__func__, STUB_POOL, p) ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuMemAllocFromPoolAsync(cu_ptr *p, size_t bytes, cu_pool pool, cu_stream s) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_POOL, pool);
  if (!o || check_stream(__func__, s)) return stub_leave(CU_INVALID_VALUE);
  return stub_leave(take(__func__, p, bytes, o));
}

EXPORT cu_result cuMemFreeAsync(cu_ptr p, cu_stream s) {
  ENTER();
  cu_result r = check_stream(__func__, s);
  return stub_leave(r ? r : give_back(__func__, p));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

EXPORT cu_result cuGraphCreate(cu_graph *g, unsigned flags) {
  ENTER();
  if (flags || !stub_is.graphs) return stub_leave(CU_NOT_SUPPORTED);
  cu_result r = make(STUB_GRAPH, g);
  if (!r) ((stub_object *)(void *)*g)->node = calloc(STUB_MOST_NODES, sizeof(stub_node));
  return stub_leave(r);
}

EXPORT cu_result cuGraphDestroy(cu_graph g) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(destroy(__func__, STUB_GRAPH, g));
}

static cu_result set_kernel(const char *symbol, stub_node *n, const cu_kernel_node *k) {
  stub_object *f = stub_find(symbol, STUB_FUNCTION, k->function);
  if (!f) return CU_INVALID_VALUE;
  n->kernel = *k;
  for (int i = 0; i < stub_nargs(f->name); i++) memcpy(&n->word[i], k->params[i], 8);
  return CU_SUCCESS;
}

static bool add_edge(const char *symbol, stub_object *o, cu_node from, int to) {
  const uintptr_t at = (uintptr_t)from;
  if (at < 1 || at > (uintptr_t)to || o->node[to].after[at - 1]) {
    stub_wrong("%s: node %d cannot depend on node %d, or does already", symbol, to, (int)at - 1);
    return false;
  }
  return o->node[to].after[at - 1] = true;
}

/* The next node of a graph; nodes are named by their place. */
static stub_node *next_node(const char *symbol, cu_graph g, const cu_node *after, size_t count,
                            cu_node *handle) {
  stub_object *o = stub_find(symbol, STUB_GRAPH, g);
  if (!o || o->nodes == STUB_MOST_NODES) return NULL;
  for (size_t i = 0; i < count; i++)
    if (!add_edge(symbol, o, after[i], o->nodes)) return NULL;
  *handle = (cu_node)((uintptr_t)o->nodes + 1);
  return &o->node[o->nodes++];
}

EXPORT cu_result cuGraphAddKernelNode(cu_node *n, cu_graph g, const cu_node *after, size_t count,
                                      const cu_kernel_node *k) {
  ENTER();
  stub_node *made = next_node(__func__, g, after, count, n);
  return stub_leave(made ? set_kernel(__func__, made, k) : CU_INVALID_VALUE);
}

EXPORT cu_result cuGraphAddChildGraphNode(cu_node *n, cu_graph g, const cu_node *after,
                                          size_t count, cu_graph child) {
  ENTER();
  stub_node *made = next_node(__func__, g, after, count, n);
  stub_object *c = stub_find(__func__, STUB_GRAPH, child);
  if (made) made->child = true;
  return stub_leave(made && c ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuGraphAddDependencies_v2(cu_graph g, const cu_node *from, const cu_node *to,
                                           const cu_edge *e, size_t n) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_GRAPH, g);
  const uintptr_t at = (uintptr_t)*to;
  const bool early = e->type == 1 && e->from_port == 1 && e->to_port == 0;
  if (!o || n != 1 || !early || at < 1 || at > (uintptr_t)o->nodes ||
      !add_edge(__func__, o, *from, (int)at - 1) || o->node[at - 1].child ||
      o->node[(uintptr_t)*from - 1].child)
    return stub_leave(stub_wrong("%s: not between two kernels", __func__));
  return stub_leave(CU_SUCCESS);
}

EXPORT cu_result cuGraphInstantiateWithFlags(cu_exec *e, cu_graph g, unsigned long long flags) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_GRAPH, g);
  if (!o || flags) return stub_leave(CU_INVALID_VALUE);
  cu_result r = make(STUB_EXEC, e);
  stub_object *x = (stub_object *)(void *)*e;
  x->nodes = o->nodes;
  x->node = malloc(STUB_MOST_NODES * sizeof(stub_node));
  memcpy(x->node, o->node, STUB_MOST_NODES * sizeof(stub_node));
  return stub_leave(r);
}

static stub_node *node_of(const char *symbol, cu_exec e, cu_node n) {
  stub_object *x = stub_find(symbol, STUB_EXEC, e);
  if (!x || (uintptr_t)n < 1 || (uintptr_t)n > (uintptr_t)x->nodes) return NULL;
  return &x->node[(uintptr_t)n - 1];
}

EXPORT cu_result cuGraphExecKernelNodeSetParams(cu_exec e, cu_node n, const cu_kernel_node *k) {
  ENTER();
  stub_node *node = node_of(__func__, e, n);
  if (!node || node->child) return stub_leave(stub_wrong("%s: no kernel node", __func__));
  return stub_leave(set_kernel(__func__, node, k));
}

EXPORT cu_result cuGraphExecChildGraphNodeSetParams(cu_exec e, cu_node n, cu_graph child) {
  ENTER();
  stub_node *node = node_of(__func__, e, n);
  if (!node || !node->child) return stub_leave(stub_wrong("%s: no child node", __func__));
  return stub_leave(stub_find(__func__, STUB_GRAPH, child) ? CU_SUCCESS : CU_INVALID_VALUE);
}

/* The latest node that need not wait, or -1: an order that a sequence of launches has not. */
static int next_to_run(const stub_object *x, const bool *ended) {
  for (int i = x->nodes; i-- > 0;) {
    bool ready = !ended[i];
    for (int k = 0; k < i && ready; k++) ready = !x->node[i].after[k] || ended[k];
    if (ready) return i;
  }
  return -1;
}

EXPORT cu_result cuGraphLaunch(cu_exec e, cu_stream s) {
  ENTER();
  stub_object *x = stub_find(__func__, STUB_EXEC, e);
  bool ended[STUB_MOST_NODES] = {false};
  cu_result r = x ? check_stream(__func__, s) : CU_INVALID_VALUE;
  for (int i; !r && (i = next_to_run(x, ended)) >= 0;) {
    void *args[64];
    for (int k = 0; k < 64; k++) args[k] = &x->node[i].word[k];
    cu_kernel_node k = x->node[i].kernel;
    k.params = args;
    if (!x->node[i].child) r = stub_run(__func__, &k);
    ended[i] = true;
  }
  return stub_leave(r);
}

EXPORT cu_result cuGraphExecDestroy(cu_exec e) {
  ENTER_DESTROY();
  return LEAVE_DESTROY(destroy(__func__, STUB_EXEC, e));
}

EXPORT cu_result cuStreamBeginCapture_v2(cu_stream s, int mode) {
  ENTER();
  (void)mode;
  stub_object *o = stub_find(__func__, STUB_STREAM, s);
  if (o) o->nodes = 1;
  return stub_leave(o ? CU_SUCCESS : CU_INVALID_VALUE);
}

EXPORT cu_result cuStreamEndCapture(cu_stream s, cu_graph *g) {
  ENTER();
  stub_object *o = stub_find(__func__, STUB_STREAM, s);
  if (!o || !o->nodes) return stub_leave(stub_wrong("%s: nothing is being captured", __func__));
  o->nodes = 0;
  cu_result r = make(STUB_GRAPH, g);
  if (!r) ((stub_object *)(void *)*g)->node = calloc(STUB_MOST_NODES, sizeof(stub_node));
  return stub_leave(r);
}

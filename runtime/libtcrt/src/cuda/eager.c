/* Eager ops on a device, by libtcrt-cuda.so: the library lies beside libtcrt (TC_CUDA_OPS names
 * another file) and is opened by the first op that needs it. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/libtcrt/src/cuda/device.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt/src/cuda/build.h"
#include "runtime/libtcrt/src/device.h"

bool tc_device_native(tc_op op) {
  tc_class cls = tc_op_get(op)->cls;
  return cls == TC_CLASS_VIEW || cls == TC_CLASS_JOIN || op == OP_STACK || op == OP_ROLL ||
         op == OP_FULL || op == OP_ORDER || op == OP_ARGSORT;
}

static const tcrt_cuda_eager *ops;
static char absent[300];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The path beside this library, or the bare name. */
static void beside(char path[512]) {
  static const char name[] = "libtcrt-cuda.so";
  Dl_info info;
  const char *file = dladdr((void *)absent, &info) ? info.dli_fname : NULL;
  const char *slash = file ? strrchr(file, '/') : NULL;
  int folder = slash && slash - file < 400 ? (int)(slash - file + 1) : 0;
  snprintf(path, 512, "%.*s%s", folder, file ? file : "", name);
}

/* The library must call into this very libtcrt: a program that links it statically has another. */
static const char *mismatch(void *library) {
  const tcrt_cuda_eager *e = dlsym(library, "tcrt_cuda_eager_ops");
  if (!e || strcmp(e->build, TC_CUDA_BUILD)) return "it comes from another build of TCompile";
  if (dlsym(library, "tcrt_cuda_begin") != (void *)(uintptr_t)tcrt_cuda_begin)
    return "it uses a libtcrt of its own: link libtcrt.so, not libtcrt.a";
  ops = e;
  return NULL;
}

static void open_ops(void) {
  char path[512], why[200] = "";
  beside(path);
  const char *given = getenv("TC_CUDA_OPS"), *names[] = {given && *given ? given : path};
  void *library = tc_open_library(names, 1, why, sizeof why);
  const char *wrong = library ? mismatch(library) : why;
  if (wrong) snprintf(absent, sizeof absent, "%s", wrong);
}

tc_tensor *tc_device_run(const tc_eager_call *c, int nattr) {
  if (!tc_cuda_enter(c->name, (int)c->device >> 8)) return NULL;
  pthread_once(&once, open_ops);
  if (ops) return ops->run(c, nattr);
  return tc_fail_as(TC_ERROR_DEVICE,
                    "%s: eager ops on a GPU need libtcrt-cuda.so beside libtcrt.so (%s); build "
                    "TCompile with NVRTC, or move the operands with tc_to(x, TC_CPU)",
                    c->name, absent);
}

void *tcrt_fail(const char *format, ...) {
  char text[900];
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  return tc_fail_as(TC_ERROR_DEVICE, "%s", text);
}

// Options for a whole file.
// RUN: %tc -c %s -o %t.o -fplugin-arg-tc-nothing=1 2>&1 | %check --check-prefix=UNKNOWN %s
// RUN: %not %tc -c %s -o %t.o -fplugin-arg-tc-fullgraph 2>&1 | %check --check-prefix=FULL %s
#include <tcompile.h>

// UNKNOWN: warning: -fplugin-arg-tc-nothing=1: unknown option 'nothing' (options: fullgraph, backend=openmp|cuda|all, dynamic=true|false, mode=default|reduce-overhead, cuda-arch=80,90,ptx80, nvrtc=PATH, explain=true|false) [-Wbackend-plugin]
// FULL: options.c:[[#@LINE+4]]:3: error: 'shows' not compiled: 'tc_print' works on finished tensors; call it outside of the function
// NONE-NOT: {{.}}

TC_COMPILE tc_tensor *shows(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_print(x);
  return tc_exp(x);
}

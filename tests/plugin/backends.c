// Which backends there are, and what becomes of names that none has.
// RUN: %tc -c %s -o %t.o -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc -S %s -o - -DONE -fplugin-arg-tc-backend=eager -Rpass=tc 2>&1 | %check --check-prefix=EAGER %s
// RUN: %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=eager -fplugin-arg-tc-fullgraph -Werror
// RUN: %not %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=abacus 2>&1 | %check --check-prefix=UNKNOWN %s
// RUN: %not %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=openmp,eager 2>&1 | %check --check-prefix=BOTH %s
// RUN: %not %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=%t/none.so 2>&1 | %check --check-prefix=ABSENT %s
// RUN: %not %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=%nvrtc_stub 2>&1 | %check --check-prefix=NONE %s
// RUN: %backends | %check --check-prefix=LIST %s
// RUN: rm -rf %t.path && mkdir %t.path && echo text > %t.path/libtc_backend_wrong.so
// RUN: env TC_BACKEND_PATH=%t.path %backends | %check --check-prefix=WRONG %s
// RUN: env TC_BACKEND_PATH=/nowhere::%t.path %not %tc -c %s -o %t.o -DONE -fplugin-arg-tc-backend=abacus 2>&1 | %check --check-prefix=FOUND %s
// RUN: %not %backends --nothing 2>&1 | %check --check-prefix=USAGE %s
#include <tcompile.h>

// EAGER: backends.c:[[#@LINE+6]]:23: remark: 'twice' stays as written: backend=eager
// EAGER-NOT: tck_
// UNKNOWN: error: -fplugin-arg-tc-backend=abacus: option 'backend': there is no backend 'abacus'; it can be all, eager, openmp, cuda, or the path of a shared object with one
// BOTH: option 'backend': 'openmp' and 'eager' are not for one function
// ABSENT: option 'backend': cannot load the backend {{.*}}none.so: {{.*}}cannot open shared object file
// NONE: option 'backend': {{.*}}.so is no backend: it has no TC_BACKEND_MODULE
TC_COMPILE tc_tensor *twice(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_add(x, x); }
#ifndef ONE
TC_COMPILE_WITH("backend=eager") tc_tensor *left(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK: backends.c:[[#@LINE-1]]:45: remark: 'left' stays as written: backend=eager
TC_COMPILE_WITH("backend=/lib/x.so") tc_tensor *path(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
// CHECK: backends.c:[[#@LINE-1]]:17: warning: option 'backend': the path of a backend stands on the command line only; a function names it
#endif

// LIST: openmp       cpu    C with vectors and OpenMP
// LIST: cuda         cuda   kernels for NVIDIA's GPUs
// LIST: eager        any    the original body
// WRONG: wrong        -      cannot load the backend {{.*}}libtc_backend_wrong.so:
// FOUND: it can be all, eager, openmp, cuda, wrong, or the path
// USAGE: usage: tc-backends

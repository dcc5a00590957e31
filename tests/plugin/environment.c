// No home, no folder for temporary files or caches, and builds side by side: the same object.
// RUN: mkdir -p %t && %tc -c %s -o %t/usual.o
// RUN: env HOME=/dev/null TMPDIR=/dev/null/none XDG_CACHE_HOME=/dev/null/none %tc -c %s -o %t/none.o && cmp %t/usual.o %t/none.o
// RUN: for i in 1 2 3; do %tc -c %s -o %t/$i.o & done; wait; for i in 1 2 3; do cmp %t/usual.o %t/$i.o || exit 1; done
// RUN: mkdir -p %t/fixed && cp %s %t/fixed/environment.c && chmod a-w %t/fixed && %tc -c %t/fixed/environment.c -o %t/fixed.o
// RUN: chmod u+w %t/fixed && %nm %t/fixed.o | %check %s
// CHECK: tck_exp_
#include <tcompile.h>

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }

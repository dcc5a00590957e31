// Definitions of before C89.
// RUN: %tc -std=gnu89 -w -c %s -o %t.o -Rpass-missed=tc 2>&1 | %check %s
#include <tcompile.h>

TC_COMPILE tc_tensor *old(x) const tc_tensor *x; { return tc_exp(x); }
// CHECK: old_style.c:[[#@LINE-1]]:23: remark: 'old' not compiled: it is defined in the style of before C89

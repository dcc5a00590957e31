// Messages of annotations and of Clang, at their places; errors make no file.
// RUN: rm -f %t.c && %not %tcompile %s -o %t.c -- %headers 2>&1 | %check %s && test ! -e %t.c
// RUN: %tcompile %s -o %t.c -- %headers -DRIGHT -Wno-unused-variable 2>&1 | %check --allow-empty --check-prefix=RIGHT %s
// RUN: %tcompile %s -o %t.c -- %headers -DRIGHT -DFULL='"fullgrpah"' 2>&1 | %check --check-prefix=OPTION %s
// RUN: %not %tcompile %s -o %t.c -- %headers -DRIGHT -DFULL='"fullgraph"' 2>&1 | %check --check-prefix=FULL %s
#include <stdio.h>
#include <tcompile.h>
// RIGHT-NOT: {{error|warning}}

#ifndef FULL
#define FULL "dynamic=true"
#endif

TC_COMPILE_WITH(FULL) tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[4,8]"), const tc_tensor *w TC_SHAPE("f32[9,8]")) {
#ifdef RIGHT
  puts("f");
  return tc_add(x, tc_exp(x));
#else
  int number = "text";
// CHECK: messages.c:[[#@LINE-1]]:7: error: incompatible pointer to integer conversion
// CHECK-NEXT: {{^ *}}[[#@LINE-2]] | int number = "text";
  return tc_matmul(x, w);
#endif
}
// OPTION: messages.c:[[#@LINE-11]]:17: warning: {{.*}}'fullgrpah'{{.*}}'fullgraph'
// FULL: messages.c:[[#@LINE-10]]:3: error: 'f' not compiled

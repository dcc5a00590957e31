// tc-explain names the files of what was inlined from others, and counts the parts of arrays that kernels touch.
// RUN: %tc -O1 -I %inputs -c %s -o %t.o && %explain %t.o | %check %s
// RUN: %explain --json %t.o | %check --check-prefix=JSON %s
#include "inlined.h"

TC_COMPILE tc_tensor *f(const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_tensor *h = tc_neg(gated(x));
  return announced(h);
}

TC_COMPILE void put(tc_tensor *cache TC_SHAPE("f32[64,M]"), const tc_tensor *row TC_SHAPE("f32[1,M]"), int at) {
  tc_copy_(tc_slice(cache, 0, at, at + 1, 1), tc_exp(row));
}

TC_COMPILE tc_tensor *get(const tc_tensor *x TC_SHAPE("f32[64,32]")) { return tc_exp(tc_slice(x, 0, 2, 6, 1)); }

int main(void) { return 0; }

// CHECK: f ({{.*}}explain_inlined.c:6): 1 segment, 1 graph break
// CHECK-NEXT: graph break at {{.*}}inlined.h:10:3: 'puts' is called
// CHECK: , lines 7, {{.*}}inlined.h:{{[56]}}, {{.*}}inlined.h:{{[56]}}: 
// CHECK: put (
// CHECK: flops, 8*M bytes
// CHECK: get (
// CHECK: flops, 1024 bytes
// JSON: "line": 10, "column": 3, "reason": "'puts' is called{{.*}}", "remedy": "{{.*}}", "file": "{{.*}}inlined.h"
// JSON: "lines": [7, "{{.*}}inlined.h:{{[56]}}"

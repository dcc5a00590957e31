// What happens in functions of the library that stand in its headers is told of at the program's call of them, then where it is.
// RUN: %not %tc -I %inputs -w -fsyntax-only %s -Rpass=tc -Rpass-missed=tc 2>&1 | %check %s
// RUN: %tc -I %inputs -w -c %s -DRIGHT -o %t.o && %explain %t.o | %check --check-prefix=EXPLAIN %s
#include "wrapped.h"
#include <tcompile/autocast.h>

#define Q const tc_tensor *q TC_SHAPE("f32[2,T,4]")
#define K const tc_tensor *k TC_SHAPE("f32[2,5,4]")

TC_COMPILE tc_tensor *right(Q, K) {
  return tc_attention(q, k, k, (tc_attention_options){.causal = true});
}
// CHECK: library_places.c:[[#@LINE-2]]:10: remark: fused {{.*}} operations into kernel
// EXPLAIN: right ({{.*}}library_places.c:10): 1 segment, 0 graph breaks
// EXPLAIN-NOT: attention.h

#ifndef RIGHT
TC_COMPILE tc_tensor *wrong(Q, K, const tc_tensor *v TC_SHAPE("f32[2,6,4]")) {
  return tc_attention(q, k, v, (tc_attention_options){.causal = true});
}
// CHECK: library_places.c:[[#@LINE-2]]:10: error: matmul: [2,T,5] x [2,6,4]: inner sizes differ: 5 != 6
// CHECK: attention.h:{{.*}}: note: in 'tc_attention', here

// In a function of the program's own that is called, its line, and then where that is called.
TC_COMPILE tc_tensor *wrong_within(Q, K, const tc_tensor *v TC_SHAPE("f32[2,6,4]")) {
  return wrapped(q, k, v);
}
// CHECK: wrapped.h:4:10: error: matmul: [2,T,5] x [2,6,4]: inner sizes differ: 5 != 6
// CHECK: attention.h:{{.*}}: note: in 'tc_attention', here
// CHECK: library_places.c:[[#@LINE-4]]:10: note: 'wrapped' is called here
#endif

// What is provably wrong at build time is an error at the call, with both shapes and a fix-it.
// RUN: %not %tc -c %s -o %t.o 2>&1 | %check %s
// RUN: %not %tc -fsyntax-only %s 2>&1 | %check %s
// RUN: %not %tc -fsyntax-only -fdiagnostics-parseable-fixits %s 2>&1 | %check --check-prefix=FIX %s
// RUN: %plain -c %s -o %t.o
#include <tcompile.h>

TC_COMPILE tc_tensor *inner(const tc_tensor *x TC_SHAPE("f32[N,4]"), const tc_tensor *w TC_SHAPE("f32[8,4]")) {
  return tc_relu(tc_matmul(x, w));
  // CHECK: shape_errors.c:[[#@LINE-1]]:18: error: matmul: [N,4] x [8,4]: inner sizes differ: 4 != 8; did you mean tc_transpose(w, 0, 1)?
  // CHECK-NEXT: return tc_relu(tc_matmul(x, w));
  // CHECK-NEXT: {{^ +(\| +)?}}^         ~  ~
  // FIX: fix-it:"{{.*}}shape_errors.c":{[[#@LINE-4]]:31-[[#@LINE-4]]:32}:"tc_transpose(w, 0, 1)"
}

TC_COMPILE tc_tensor *broadcast(const tc_tensor *x TC_SHAPE("f32[3,4]"), const tc_tensor *y TC_SHAPE("f32[5]")) {
  tc_tensor *h = tc_exp(x);
  return tc_add(h,
                y);
  // CHECK: shape_errors.c:[[#@LINE-2]]:10: error: add: [3,4] and [5] do not broadcast: 4 != 5 at axis 1
}

TC_COMPILE tc_tensor *axis(const tc_tensor *x TC_SHAPE("f32[3,4]")) {
  return tc_softmax(x, 2);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: softmax: axis 2 is out of range for [3,4]
}

TC_COMPILE tc_tensor *dtype(const tc_tensor *x TC_SHAPE("f32[3,4]")) {
  return tc_bit_and(x, x);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: bit_and: {{.*}}f32
}

static tc_tensor *project(const tc_tensor *x, const tc_tensor *w) { return tc_matmul(x, w); }
// CHECK: shape_errors.c:[[#@LINE-1]]:76: error: matmul: [3,4] x [5,6]
TC_COMPILE tc_tensor *inlined(const tc_tensor *x TC_SHAPE("f32[3,4]"), const tc_tensor *w TC_SHAPE("f32[5,6]")) {
  return project(x, w);
}

TC_COMPILE tc_tensor *layer(const tc_tensor *x TC_SHAPE("f32[B,784]")) { return tc_relu(x); }
TC_COMPILE tc_tensor *network(const tc_tensor *x TC_SHAPE("f32[B,100]")) {
  return layer(x);
  // CHECK: shape_errors.c:[[#@LINE-1]]:16: error: argument 'x' of 'layer' is f32[B,100], declared as f32[B,784]
}

TC_COMPILE void writes(tc_tensor *x TC_SHAPE("f32[3]"), const tc_tensor *y TC_SHAPE("f32[2,3]")) {
  tc_add_(x, y);
  // CHECK: shape_errors.c:[[#@LINE-1]]:3: error: tc_add_: f32[2,3] does not fit into the tensor that is written
}

TC_COMPILE tc_tensor *pieces(const tc_tensor *x TC_SHAPE("f32[7]")) {
  tc_tensor *p[2];
  tc_split(x, 2, 0, p);
  // CHECK: shape_errors.c:[[#@LINE-1]]:3: error: split: size 7 does not divide into 2 pieces
  return tc_exp(p[0]);
}

// Wrong on each way through a function that is called.
static tc_tensor *activate(tc_tensor *x, int kind) {
  if (kind == 1) return tc_relu(x);
  return tc_tanh(x);
}
TC_COMPILE tc_tensor *on_all_ways(const tc_tensor *x TC_SHAPE("f32[3,4]"), const tc_tensor *y TC_SHAPE("f32[5]"), int kind) {
  return tc_add(activate(tc_exp(x), kind), y);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: add: [3,4] and [5] do not broadcast: 4 != 5 at axis 1
}

// A fix-it is one that makes it right: nothing tells that N is M.
TC_COMPILE tc_tensor *unknown(const tc_tensor *x TC_SHAPE("f32[N,4]"), const tc_tensor *w TC_SHAPE("f32[5,M]")) {
  return tc_matmul(x, w);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: matmul: [N,4] x [5,M]: inner sizes differ: 4 != 5{{$}}
}

// The function that is called is named, not the operation that it becomes.
TC_COMPILE tc_tensor *shorthand(const tc_tensor *x TC_SHAPE("f32[3]")) {
  return tc_add(x, tc_zeros(TC_DIMS(-1), TC_F32));
  // CHECK: shape_errors.c:[[#@LINE-1]]:20: error: zeros: {{.*}}-1
}
TC_COMPILE tc_tensor *largest(const tc_tensor *x TC_SHAPE("f32[3]")) {
  return tc_max(x, TC_AXES(4), false);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: max: axis 4 is out of range for [3]
}

// Sizes of members are those of their object.
struct block { tc_tensor *w TC_SHAPE("f32[4,H]"), *b TC_SHAPE("f32[H]"); };
struct model { struct block blocks[2]; } whole;
TC_COMPILE tc_tensor *member(const struct block *b, const tc_tensor *x TC_SHAPE("f32[N,5]")) {
  return tc_matmul(x, b->w);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: matmul: [N,5] x [4,b->H]: inner sizes differ: 5 != 4{{$}}
}
TC_COMPILE tc_tensor *element(const struct model *m, const tc_tensor *x TC_SHAPE("f32[N,5]")) {
  return tc_matmul(x, m->blocks[1].w);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: matmul: [N,5] x [4,m->blocks[1].H]: inner sizes differ
}
TC_COMPILE tc_tensor *global(const tc_tensor *x TC_SHAPE("f32[N,5]")) {
  return tc_matmul(x, whole.blocks[0].w);
  // CHECK: shape_errors.c:[[#@LINE-1]]:10: error: matmul: [N,5] x [4,whole.blocks[0].H]: inner sizes differ
}

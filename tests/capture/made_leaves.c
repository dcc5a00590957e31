// tc_requires_grad_ of what the statements made: points between two others, at which the slope of a
// function is penalised, a leaf of a detached value, one that is marked in a statement of its own.  Leaves that
// gradients are not taken with respect to are constants.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

#define X const tc_tensor *x TC_SHAPE("f64[N,D]")
#define W tc_tensor *w TC_SHAPE("f64[D,M]")
#define V tc_tensor *v TC_SHAPE("f64[M]")

static tc_tensor *score(const tc_tensor *x, const tc_tensor *w, const tc_tensor *v) { return tc_matmul(tc_tanh(tc_matmul(x, w)), v); }

// The gradient of (|grad score| - 1)^2 between x and y, with respect to w.
TC_COMPILE tc_tensor *penalty(X, const tc_tensor *y TC_SHAPE("f64[N,D]"), const tc_tensor *mix TC_SHAPE("f64[N,1]"), W, V, tc_tensor **out) {
  tc_tensor *between = tc_requires_grad_(tc_lerp(x, y, 0.25), true), *slope, *g;
// CHECK-DAG: made_leaves.c:[[#@LINE-1]]:3: remark: graph break in 'penalty': what 'tc_requires_grad_' is called for is tracked already: it is computed from what gradients are taken with respect to
  between = tc_requires_grad_(tc_mul(between, mix), true); // a result of a leaf: stays what it is
  if (!tc_grad_with(tc_sum(score(between, w, v), TC_ALL, false), NULL, 1, &between, TC_CREATE_GRAPH, &slope)) return NULL;
  tc_tensor *norm = tc_sqrt(tc_sum(tc_square(slope), TC_AXES(1), false));
  tc_tensor *loss = tc_mean(tc_square(tc_sub_s(norm, 1)), TC_ALL, false);
  if (!tc_grad(loss, 1, &w, &g)) return NULL;
  *out = tc_detach(loss);
  return g;
}
TC_COMPILE tc_tensor *penalty_once(X, const tc_tensor *y TC_SHAPE("f64[N,D]"), W, V, tc_tensor **out) {
  tc_tensor *between = tc_requires_grad_(tc_lerp(x, y, 0.25), true), *slope, *g;
  if (!tc_grad_with(tc_sum(score(between, w, v), TC_ALL, false), NULL, 1, &between, TC_CREATE_GRAPH, &slope)) return NULL;
  tc_tensor *norm = tc_sqrt(tc_sum(tc_square(slope), TC_AXES(1), false));
  tc_tensor *loss = tc_mean(tc_square(tc_sub_s(norm, 1)), TC_ALL, false);
  if (!tc_grad(loss, 1, &w, &g)) return NULL;
  *out = loss;
  return g;
}

// Of a detached value: what is used beside it is a constant.
TC_COMPILE tc_tensor *detached(X, const tc_tensor *w TC_SHAPE("f64[D,M]"), const tc_tensor *v TC_SHAPE("f64[M]")) {
  tc_tensor *h = tc_exp(x), *leaf = tc_requires_grad_(tc_detach(h), true), *g;
  return tc_grad(tc_sum(tc_mul(score(leaf, w, v), score(h, w, v)), TC_ALL, false), 1, &leaf, &g) ? g : NULL;
}

// Equal to a constant that is used beside it.
TC_COMPILE tc_tensor *equal(X) {
  tc_tensor *other = tc_detach(x), *leaf = tc_requires_grad_(tc_detach(x), true), *g;
  return tc_grad(tc_sum(tc_mul(leaf, other), TC_ALL, false), 1, &leaf, &g) ? g : NULL;
}

TC_COMPILE tc_tensor *statement(X) {
  tc_tensor *h = tc_sin(x), *same = h, *g;
  tc_requires_grad_(h, true);
  tc_tensor *y = tc_mul(h, tc_sin(x));
  return tc_grad(tc_sum(tc_mul(y, same), TC_ALL, false), 1, &h, &g) ? g : NULL;
}

// The memory of an operand is written behind.
TC_COMPILE tc_tensor *updated(tc_tensor *x TC_SHAPE("f64[N,D]")) {
  tc_tensor *p = tc_requires_grad_(tc_detach(x), true), *g, *loss = tc_sum(tc_exp(p), TC_ALL, false);
  if (!tc_grad(loss, 1, &p, &g)) return NULL;
  TC_NO_GRAD tc_sub_(x, tc_mul_s(g, 0.125));
  return loss;
}
TC_COMPILE tc_tensor *updated_and_read(tc_tensor *x TC_SHAPE("f64[N,D]")) {
  tc_tensor *p = tc_requires_grad_(tc_detach(x), true), *g, *loss = tc_sum(tc_exp(p), TC_ALL, false);
// CHECK-DAG: made_leaves.c:[[#@LINE-1]]:3: remark: graph break in 'updated_and_read': what 'tc_requires_grad_' made a leaf is read behind a write to its memory
  if (!tc_grad(loss, 1, &p, &g)) return NULL;
  TC_NO_GRAD tc_sub_(x, tc_mul_s(g, 0.125));
  return tc_mul_s(p, 2);
}

// Refused: a view that was made before is no leaf; the leaf is handed on; it is written.
TC_COMPILE tc_tensor *viewed(X) {
  tc_tensor *h = tc_sin(x), *row = tc_select(h, 0, 0), *g;
  tc_requires_grad_(h, true);
// CHECK-DAG: made_leaves.c:[[#@LINE-1]]:3: remark: graph break in 'viewed': 'tc_requires_grad_' works on finished tensors; call it outside of the function
  return tc_grad(tc_sum(tc_mul(h, row), TC_ALL, false), 1, &h, &g) ? g : NULL;
}
TC_COMPILE tc_tensor *handed_on(X) { return tc_requires_grad_(tc_sin(x), true); }
// CHECK-DAG: made_leaves.c:[[#@LINE-1]]:38: remark: 'handed_on' not compiled: a leaf that 'tc_requires_grad_' made is handed on; hand on tc_detach of it
TC_COMPILE tc_tensor *marked(X) {
  tc_tensor *h = tc_mul_s(tc_sin(x), 2);
  tc_requires_grad_(h, true);
  return h;
}
TC_COMPILE tc_tensor *writes(X) {
  tc_tensor *h = tc_requires_grad_(tc_sin(x), true), *g;
  TC_NO_GRAD tc_mul_s_(h, 2);
  return tc_grad(tc_sum(tc_square(h), TC_ALL, false), 1, &h, &g) ? g : NULL;
}
TC_COMPILE tc_tensor *writes_at_once(X) { return tc_mul_s_(tc_requires_grad_(tc_sin(x), true), 2); }
// CHECK-DAG: made_leaves.c:[[#@LINE-1]]:50: remark: 'writes_at_once' not compiled: what 'tc_requires_grad_' made a leaf is written
TC_COMPILE bool writes_leaf(X) {
  tc_tensor *h = tc_requires_grad_(tc_sin(x), true);
  return tc_mul_s_(h, 2) != NULL;
}

// A result of w is more than a constant, and so is w itself.
TC_COMPILE tc_tensor *beside(W, V) {
  tc_tensor *g, *loss = tc_sum(tc_tanh(tc_matmul(w, v)), TC_ALL, false);
  return tc_grad(loss, 1, &w, &g) ? g : NULL;
}
TC_COMPILE tc_tensor *both(tc_tensor *a TC_SHAPE("f64[N,D]"), const tc_tensor *b TC_SHAPE("f64[N,D]")) {
  tc_tensor *g, *loss = tc_sum(tc_mul(tc_exp(a), b), TC_ALL, false);
  return tc_grad(loss, 1, &a, &g) ? g : NULL;
}

// The same of so many that guards are a table.
typedef struct { tc_tensor *p[20] TC_SHAPE("f64[N]"), *q[20] TC_SHAPE("f64[N]"); } lists;
TC_COMPILE tc_tensor *many(const lists *l) {
  tc_tensor *g[20], *loss = NULL, *all = NULL;
  for (int i = 0; i < 20; i++) {
    tc_tensor *each = tc_sum(tc_mul(tc_exp(l->p[i]), l->q[i]), TC_ALL, false);
    loss = loss ? tc_add(loss, each) : each;
  }
  if (!tc_grad(loss, 20, l->p, g)) return NULL;
  for (int i = 0; i < 20; i++) all = all ? tc_add(all, g[i]) : g[i];
  return all;
}

static bool bad;
static void same(const char *what, tc_tensor *a, tc_tensor *b) {
  if (!a || !b || !tc_allclose(a, b, 1e-12, 1e-12)) bad = true, printf("%s differs: %s\n", what, tc_error() ? tc_error() : "");
  tc_clear_error();
}
// With kernels, and the body.
#define BOTH(name, call) do { tc_tensor *kernels = call; tc_set_enabled(false); same(name, kernels, call); tc_set_enabled(true); } while (0)

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(3, 4), 1, TC_F64), *y = tc_randn(TC_DIMS(3, 4), 2, TC_F64), *mix = tc_rand(TC_DIMS(3, 1), 3, TC_F64);
    tc_tensor *w = tc_requires_grad_(tc_randn(TC_DIMS(4, 5), 4, TC_F64), true), *v = tc_requires_grad_(tc_randn(TC_DIMS(5), 5, TC_F64), true);
    tc_tensor *loss[2];
    BOTH("penalty", penalty(x, y, mix, w, v, &loss[0]));
    BOTH("penalty_once", penalty_once(x, y, w, v, &loss[0]));
    BOTH("penalty_once, constants", penalty_once(x, y, w, tc_detach(v), &loss[0]));
    BOTH("detached", detached(x, w, v));
    BOTH("equal", equal(x));
    BOTH("statement", statement(x));
    tc_tensor *z = tc_clone(x), *again = tc_clone(x), *before = updated(z);
    tc_set_enabled(false);
    same("updated, result", before, updated(again));
    tc_set_enabled(true);
    same("updated", z, again);
    printf("%d\n", tc_requires_grad(updated_and_read(z)));
    BOTH("viewed", viewed(x));
    BOTH("writes", writes(x));
    printf("%d %d %d\n", tc_requires_grad(handed_on(x)), tc_requires_grad(marked(x)), writes_leaf(x));
    tc_clear_error();
    BOTH("beside", beside(w, v));
    BOTH("beside, a result", beside(w, tc_sum(w, TC_AXES(0), false)));
    tc_tensor *a = tc_requires_grad_(tc_randn(TC_DIMS(3, 4), 6, TC_F64), true), *b = tc_requires_grad_(tc_randn(TC_DIMS(3, 4), 7, TC_F64), true);
    BOTH("both", both(a, b));
    BOTH("both, one", both(a, a));
    BOTH("both, a result", both(a, tc_exp(a)));
    BOTH("both, a view", both(a, tc_slice(a, 0, 0, 3, 1)));
    BOTH("both, a constant", both(a, tc_detach(a)));
    lists l;
    for (int i = 0; i < 20; i++) {
      l.p[i] = tc_requires_grad_(tc_randn(TC_DIMS(6), 20 + (uint64_t)i, TC_F64), true);
      l.q[i] = tc_requires_grad_(tc_randn(TC_DIMS(6), 40 + (uint64_t)i, TC_F64), i % 2);
    }
    BOTH("many", many(&l));
    l.q[7] = l.p[3];
    BOTH("many, one twice", many(&l));
    BOTH("many, a result", (l.q[7] = tc_exp(l.p[3]), many(&l)));
  }
  printf("%s\n", bad ? "wrong" : "right");
  return finish() || bad;
}
// CHECK-DAG: penalty_once {{.*}} 2 0 0
// CHECK-DAG: detached {{.*}} 1 0 0
// CHECK-DAG: equal {{.*}} 1 0 0
// CHECK-DAG: statement {{.*}} 1 0 0
// CHECK-DAG: updated {{.*}} 1 0 0
// CHECK-DAG: beside {{.*}} 1 0 1 gradients 1,
// CHECK-DAG: both {{.*}} 2 0 3 gradients 3,
// CHECK-DAG: many {{.*}} 1 0 2 gradients 2,

/* Functions of tensors that the program hands over: values with gradients, parts that are computed again; and forward
 * mode. */
#include <math.h>

#include "expect.h"

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }
static tc_tensor *sum(const tc_tensor *x) { return tc_sum(x, TC_ALL, false); }
static double most(const tc_tensor *x) { return tc_item(tc_max(tc_abs(x), TC_ALL, false)); }
static double apart(const tc_tensor *a, const tc_tensor *b) { return most(tc_sub(a, b)); }

/* ---- forward mode ------------------------------------------------------------------------------ */

static tc_tensor *mixed(const tc_tensor *x, const tc_tensor *w) {
  return tc_softmax(tc_mul(tc_tanh(tc_matmul(x, w)), tc_sum(tc_exp(x), TC_AXES(1), true)), 1);
}

/* (f(x + h t) - f(x - h t)) / 2h, along both tangents */
Test(function, jvp_is_what_differences_say, .fini = expect_nothing_left) {
  TC_SCOPE {
    const double h = 1e-5;
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(4, 3), 1, TC_F64)), leaf(tc_randn(TC_DIMS(3, 5), 2, TC_F64))};
    tc_tensor *t[] = {tc_randn(TC_DIMS(4, 3), 3, TC_F64), tc_randn(TC_DIMS(3, 5), 4, TC_F64)};
    tc_tensor *up[2], *down[2], *y = mixed(p[0], p[1]), *d = tc_jvp(y, 2, p, t);
    cr_assert(d && !tc_requires_grad(d) && !tc_grad_of(p[0]));
    TC_NO_GRAD for (int k = 0; k < 2; k++) {
      up[k] = tc_add(p[k], tc_mul_s(t[k], h));
      down[k] = tc_sub(p[k], tc_mul_s(t[k], h));
    }
    TC_NO_GRAD {
      const tc_tensor *want = tc_div_s(tc_sub(mixed(up[0], up[1]), mixed(down[0], down[1])), 2 * h);
      cr_expect_lt(apart(d, want), 1e-8);
      /* <u, J t> = <J^T u, t>; the tape was kept */
      tc_tensor *u = tc_randn(TC_DIMS(4, 5), 5, TC_F64), *g[2];
      cr_assert(tc_vjp(y, u, 2, p, g));
      const double right = tc_item(sum(tc_mul(g[0], t[0]))) + tc_item(sum(tc_mul(g[1], t[1])));
      cr_expect_float_eq(tc_item(sum(tc_mul(u, d))), right, 1e-12);
    }
  }
}

Test(function, jvp_of_what_does_not_depend_on_it_is_0, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(tc_ones(TC_DIMS(3), TC_F32)), *z = leaf(tc_ones(TC_DIMS(2), TC_BF16));
    const tc_tensor *y = tc_exp(x), *t = tc_ones(TC_DIMS(2), TC_F32);
    tc_tensor *d = tc_jvp(y, 1, &z, &t), *e = tc_jvp(tc_floor(x), 1, &x, &x);
    cr_expect(d && most(d) == 0 && tc_size(d, 0) == 3);
    cr_expect(e && most(e) == 0);
    d = tc_jvp(tc_mul(y, sum(z)), 1, &z, &t); /* tangents take the dtype */
    cr_expect(d && tc_dtype_of(d) == TC_F32 && fabs(most(d) - 2 * exp(1)) < 1e-2);
  }
}

Test(function, jvp_refuses, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(tc_ones(TC_DIMS(3), TC_F32)), *c = tc_ones(TC_DIMS(2), TC_F32), *n = NULL, *y = tc_exp(x);
    tc_tensor *i = tc_ones(TC_DIMS(3), TC_I32);
    REFUSED(!tc_jvp(c, 1, &x, &x), "no gradient leads to operand 1");
    REFUSED(!tc_jvp(y, 1, &c, &c), "is not tracked");
    REFUSED(!tc_jvp(y, 1, &x, &c), "the tangent is f32[2], and the value f32[3]");
    REFUSED(!tc_jvp(y, 1, &x, &i), "the tangent, i32[3], is not floating");
    REFUSED(!tc_jvp(y, 1, &x, &n), "tc_jvp: operand 1");
    REFUSED(!tc_jvp(y, -1, &x, &x), "a list of -1 tensors");
  }
}

/* ---- value and gradients ----------------------------------------------------------------------- */

typedef struct data {
  const tc_tensor *x, *y;
  int calls;
} data;

static tc_tensor *loss(tc_tensor *const *p, void *context) {
  data *d = context;
  d->calls++;
  return tc_mse(tc_add(tc_matmul(d->x, p[0]), p[1]), d->y, TC_MEAN);
}
static tc_tensor *of_first(tc_tensor *const *p, void *context) {
  (void)context;
  return sum(tc_square(p[0]));
}
static tc_tensor *fails(tc_tensor *const *p, void *context) {
  (void)context;
  return tc_matmul(p[0], p[0]);
}
static tc_tensor *nothing(tc_tensor *const *p, void *context) { (void)p, (void)context; return NULL; }
static tc_tensor *many(tc_tensor *const *p, void *context) { (void)context; return tc_exp(p[0]); }
static tc_tensor *writes(tc_tensor *const *p, void *context) {
  (void)context;
  return sum(tc_add_s_(p[0], 1));
}

Test(function, value_and_grad_needs_no_leaves, .fini = expect_nothing_left) {
  TC_SCOPE {
    data d = {tc_randn(TC_DIMS(9, 4), 1, TC_F64), tc_randn(TC_DIMS(9, 2), 2, TC_F64), 0};
    tc_tensor *p[] = {tc_randn(TC_DIMS(4, 2), 3, TC_F64), tc_zeros(TC_DIMS(2), TC_F64)}, *g[2], *want[2], *v = NULL;
    TC_NO_GRAD v = tc_value_and_grad(loss, &d, 2, p, g);
    cr_assert(v && d.calls == 1 && tc_is_grad_enabled());
    cr_expect(!tc_requires_grad(v) && !tc_requires_grad(g[0]) && !tc_requires_grad(p[0]));
    tc_tensor *q[] = {leaf(tc_clone(p[0])), leaf(tc_clone(p[1]))}, *y = loss(q, &d);
    cr_assert(tc_grad(y, 2, q, want));
    cr_expect(apart(v, y) == 0 && apart(g[0], want[0]) == 0 && apart(g[1], want[1]) == 0);
    v = tc_value_and_grad(of_first, NULL, 2, p, g); /* JAX's 0 for what is not used */
    cr_expect(v && apart(g[0], tc_mul_s(p[0], 2)) == 0 && most(g[1]) == 0);
    v = tc_value_and_grad(of_first, NULL, 1, q, g); /* nor does it touch the tape of a leaf */
    cr_expect(v && apart(g[0], tc_mul_s(p[0], 2)) == 0 && !tc_grad_of(q[0]));
  }
}

Test(function, value_and_grad_refuses, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(3, 2), TC_F32), *i = tc_ones(TC_DIMS(3), TC_I32), *g = x, *n = NULL;
    REFUSED(!tc_value_and_grad(NULL, NULL, 1, &x, &g), "tc_value_and_grad: f is NULL");
    cr_expect_null(g);
    REFUSED(!tc_value_and_grad(of_first, NULL, 1, &i, &g), "gradients are of floating tensors");
    REFUSED(!tc_value_and_grad(of_first, NULL, 1, &n, &g), "operand 1");
    REFUSED(!tc_value_and_grad(of_first, NULL, -1, &x, &g), "a list of -1 tensors");
    REFUSED(!tc_value_and_grad(fails, NULL, 1, &x, &g), "tc_matmul");
    REFUSED(!tc_value_and_grad(nothing, NULL, 1, &x, &g), "f returned NULL");
    REFUSED(!tc_value_and_grad(many, NULL, 1, &x, &g), "without a cotangent gradients are of a single number");
    REFUSED(!tc_value_and_grad(writes, NULL, 1, &x, &g), "is a leaf");
    cr_expect(tc_is_grad_enabled());
  }
}

/* ---- computed again ---------------------------------------------------------------------------- */

enum { N = 4096, LAYERS = 6, DEPTH = 8 };

/* tanh(w h), DEPTH times; the weight may come by the context. */
static tc_tensor *block(tc_tensor *const *x, void *context) {
  tc_tensor *h = x[0];
  for (int i = 0; i < DEPTH; i++) h = tc_tanh(tc_mul(h, context ? context : x[1]));
  return h;
}

static tc_tensor *network(tc_tensor *const *p, bool again, void *context) {
  tc_tensor *h = p[0];
  for (int i = 0; i < LAYERS && h; i++) {
    tc_tensor *x[] = {h, p[1]};
    h = again ? tc_checkpoint(block, context, 2, x) : block(x, context);
  }
  return sum(h);
}

/* Bytes that are held for the gradients, and at most while they are computed. */
static void train(tc_tensor **p, bool again, void *context, tc_tensor **g, size_t *held, size_t *peak) {
  tc_trim();
  const size_t before = tc_memory().live;
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(network(p, again, context));
  *held = tc_memory().live - before;
  cr_assert(tc_grad(y, 2, p, g), "%s", tc_error());
  *peak = tc_memory().live + tc_memory().cached - before;
  tc_free(y);
}

/* What one of the tensors takes. */
static size_t size_of_one(void) {
  const size_t before = tc_memory().live;
  tc_tensor *x = tc_zeros(TC_DIMS(N), TC_F32);
  const size_t one = tc_memory().live - before;
  tc_free(x);
  return one;
}

Test(function, checkpoint_keeps_no_more_than_it_returns, .fini = expect_nothing_left) {
  TC_SCOPE {
    const size_t one = size_of_one();
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(N), 1, TC_F32)), leaf(tc_randn(TC_DIMS(N), 2, TC_F32))}, *g[2], *want[2];
    size_t held, peak, usual_held, usual_peak;
    train(p, false, NULL, want, &usual_held, &usual_peak);
    train(p, true, NULL, g, &held, &peak);
    cr_expect(apart(g[0], want[0]) == 0 && apart(g[1], want[1]) == 0);
    cr_expect_leq(held, (LAYERS + 1) * one);
    cr_expect_geq(usual_held, 2 * LAYERS * DEPTH * one);
    /* of one block at a time */
    cr_expect_leq(peak, (LAYERS + 2 * DEPTH + 12) * one, "%zu of %zu", peak, usual_peak);
    cr_expect_lt(2 * peak, usual_peak);
    train(p, true, p[1], g, &held, &peak); /* by the context */
    cr_expect(apart(g[0], want[0]) == 0 && apart(g[1], want[1]) == 0);
    cr_expect_leq(held, (LAYERS + 1) * one);
  }
}

/* What leads to no gradient that is wanted is needed to compute again. */
Test(function, checkpoint_of_other_gradients, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(7), 1, TC_F64)), leaf(tc_randn(TC_DIMS(7), 2, TC_F64))}, *g, *want;
    for (int k = 0; k < 2; k++) {
      cr_assert(tc_grad(network(p, false, NULL), 1, &p[k], &want));
      cr_assert(tc_grad(network(p, true, NULL), 1, &p[k], &g), "%s", tc_error());
      cr_expect_eq(apart(g, want), 0);
    }
  }
}

static tc_tensor *nested(tc_tensor *const *x, void *context) {
  tc_tensor *inside[] = {tc_checkpoint(block, context, 2, (tc_tensor **)(uintptr_t)x), x[1]};
  return tc_checkpoint(block, NULL, 2, inside);
}

Test(function, checkpoints_nest, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(7), 1, TC_F64)), leaf(tc_randn(TC_DIMS(7), 2, TC_F64))}, *g[2], *want[2];
    tc_tensor *x[] = {block(p, NULL), p[1]};
    cr_assert(tc_grad(sum(block(x, NULL)), 2, p, want));
    cr_assert(tc_grad(sum(tc_checkpoint(nested, NULL, 2, p)), 2, p, g), "%s", tc_error());
    cr_expect(apart(g[0], want[0]) == 0 && apart(g[1], want[1]) == 0);
  }
}

/* Views, writes in place, several results, conditions, products, and what is computed from constants alone. */
static tc_tensor *varied(tc_tensor *const *x, void *context) {
  tc_tensor *c = tc_exp(context), *mean, *h = tc_mul(tc_matmul(x[0], tc_transpose(x[1], 0, 1)), c);
  tc_tensor *v = tc_var_mean(h, TC_AXES(1), 0, true, &mean), *parts[2];
  h = tc_add(h, mean);
  tc_mul_s_(tc_slice(h, 0, 0, 2, 1), 3);
  tc_split(tc_where(tc_gt(h, mean), tc_sin(h), v), 2, 1, parts);
  return tc_add(tc_square(parts[0]), tc_mul(parts[1], tc_rand(TC_DIMS(4, 2), 7, TC_F64)));
}

Test(function, checkpoint_of_varied_operations, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(4, 3), 1, TC_F64)), leaf(tc_randn(TC_DIMS(4, 3), 2, TC_F64))}, *g[2], *want[2];
    tc_tensor *c = tc_randn(TC_DIMS(4, 4), 3, TC_F64);
    cr_assert(tc_grad(sum(tc_exp(varied(p, c))), 2, p, want), "%s", tc_error());
    tc_tensor *y = tc_checkpoint(varied, c, 2, p);
    cr_assert(y && tc_grad(sum(tc_exp(y)), 2, p, g), "%s", tc_error());
    cr_expect(apart(g[0], want[0]) < 1e-14 && apart(g[1], want[1]) < 1e-14);
  }
}

Test(function, checkpoint_and_derivatives_of_derivatives, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(5), 1, TC_F64)), leaf(tc_randn(TC_DIMS(5), 2, TC_F64))}, *h[2][2];
    for (int again = 0; again < 2; again++) {
      tc_tensor *g[2], *y = network(p, again, NULL);
      cr_assert(tc_grad_with(y, NULL, 2, p, TC_CREATE_GRAPH, g), "%s", tc_error());
      cr_assert(tc_grad(tc_add(sum(tc_square(g[0])), sum(tc_square(g[1]))), 2, p, h[again]), "%s", tc_error());
    }
    cr_expect(apart(h[0][0], h[1][0]) == 0 && apart(h[0][1], h[1][1]) == 0);
  }
}

Test(function, checkpoint_by_backward_twice, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {leaf(tc_randn(TC_DIMS(5), 1, TC_F64)), leaf(tc_randn(TC_DIMS(5), 2, TC_F64))}, *want[2];
    tc_tensor *y = network(p, true, NULL);
    cr_assert(tc_backward_with(y, NULL, TC_RETAIN_GRAPH) && tc_backward(y));
    cr_assert(tc_grad(network(p, false, NULL), 2, p, want));
    for (int k = 0; k < 2; k++) cr_expect_eq(apart(tc_grad_of(p[k]), tc_mul_s(want[k], 2)), 0);
    REFUSED(!tc_backward(y), "freed");
  }
}

/* Untracked, it is a call; what fails inside fails. */
Test(function, checkpoint_without_gradients, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {tc_randn(TC_DIMS(5), 1, TC_F64), tc_randn(TC_DIMS(5), 2, TC_F64)}, *n[] = {NULL, NULL};
    tc_tensor *y = tc_checkpoint(block, NULL, 2, p);
    cr_expect(y && !tc_requires_grad(y) && apart(y, block(p, NULL)) == 0);
    leaf(p[0]);
    TC_NO_GRAD y = tc_checkpoint(block, NULL, 2, p);
    cr_expect(y && !tc_requires_grad(y));
    REFUSED(!tc_checkpoint(NULL, NULL, 2, p), "tc_checkpoint: f is NULL");
    REFUSED(!tc_checkpoint(block, NULL, 2, n), "operand 1");
    REFUSED(!tc_checkpoint(nothing, NULL, 2, p), "f returned NULL");
    REFUSED(!tc_checkpoint(fails, NULL, 1, (tc_tensor *[]){tc_ones(TC_DIMS(2, 3), TC_F32)}), "tc_matmul");
  }
}

/* A tensor that x leads to, and that another pass freed. */
Test(function, checkpoint_behind_a_freed_tape, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(tc_ones(TC_DIMS(3), TC_F64)), *w = leaf(tc_ones(TC_DIMS(3), TC_F64)), *g;
    tc_tensor *p[] = {x, x}, *h = tc_checkpoint(block, NULL, 2, p);
    tc_tensor *a = sum(h), *b = sum(tc_exp(tc_mul(h, w)));
    cr_assert(tc_grad(a, 1, &x, &g));
    cr_assert(tc_grad(b, 1, &w, &g), "%s", tc_error()); /* h is there */
    tc_tensor *q[] = {tc_mul_s(x, 2), x}, *k = tc_checkpoint(block, NULL, 2, q);
    a = sum(tc_square(k)), b = sum(tc_mul(k, w));
    cr_assert(tc_grad(a, 1, &x, &g));
    REFUSED(!tc_grad(b, 1, &x, &g), "freed by the gradients that were computed before");
  }
}

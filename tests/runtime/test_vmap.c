/* tc_vmap, eagerly: a function of one example, for all examples of a batch. */
#include "expect.h"

static tc_tensor *leaf(tc_tensor *x) { return tc_requires_grad_(x, true); }
static tc_tensor *sum(const tc_tensor *x) { return tc_sum(x, TC_ALL, false); }
static double apart(const tc_tensor *a, const tc_tensor *b) { return tc_max_abs_diff(a, b); }

/* ---- operands and results ------------------------------------------------------------------------ */

static bool affine(tc_tensor *const *x, void *context, tc_tensor **y) {
  y[0] = tc_add(tc_matmul(x[0], x[1]), x[2]);
  y[1] = tc_mul_s(x[1], 2);
  if (context) ++*(int *)context;
  return true;
}

Test(vmap, axes_say_what_is_mapped, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(5, 7), 1, TC_F64), *w = tc_randn(TC_DIMS(5, 3), 2, TC_F64);
    tc_tensor *b = tc_randn(TC_DIMS(7, 3), 3, TC_F64), *p[] = {x, w, b}, *y[2];
    int calls = 0;
    const int axes[] = {-1, TC_UNMAPPED, 0};
    cr_assert(tc_vmap(affine, &calls, 3, p, axes, 2, y), "%s", tc_error());
    cr_expect_eq(calls, 7);
    cr_expect_lt(apart(y[0], tc_add(tc_matmul(tc_transpose(x, 0, 1), w), b)), 1e-12);
    cr_expect(tc_rank(y[1]) == 3 && tc_size(y[1], 0) == 7);
    cr_expect_eq(apart(tc_select(y[1], 0, 6), tc_mul_s(w, 2)), 0);
  }
}

static bool shares(tc_tensor *const *x, void *context, tc_tensor **y) {
  y[0] = x[0];
  y[1] = x[1];
  y[2] = tc_copy_(context, x[0]); /* one buffer for all */
  return true;
}

/* Results are copies: of operands, of a buffer that the next example writes, of what the caller owns. */
Test(vmap, results_share_no_memory, .fini = expect_nothing_left) {
  tc_tensor *x = tc_randn(TC_DIMS(4, 3), 1, TC_F32), *w = tc_ones(TC_DIMS(2), TC_F32), *buffer = tc_zeros(TC_DIMS(3), TC_F32);
  TC_SCOPE {
    tc_tensor *p[] = {x, w}, *y[3];
    cr_assert(tc_vmap(shares, buffer, 2, p, (int[]){0, TC_UNMAPPED}, 3, y), "%s", tc_error());
    cr_expect(apart(y[0], x) == 0 && apart(y[2], x) == 0);
    tc_zero_(y[0]), tc_zero_(y[1]);
    cr_expect(tc_item(sum(w)) == 2 && tc_item(sum(tc_abs(x))) > 0);
  }
  tc_free(x), tc_free(w), tc_free(buffer);
}

static bool twice(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_mul_s(x[0], 2)) != NULL; }

/* More examples than an operation has operands. */
Test(vmap, many_examples, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(tc_randn(TC_DIMS(70000), 1, TC_F32)), *y, *g;
    TC_NO_GRAD cr_assert(tc_vmap(twice, NULL, 1, &x, NULL, 1, &y) && apart(y, tc_mul_s(x, 2)) == 0);
    x = leaf(tc_randn(TC_DIMS(600), 1, TC_F32));
    cr_assert(tc_vmap(twice, NULL, 1, &x, NULL, 1, &y) && tc_requires_grad(y));
    cr_assert(tc_vjp(y, x, 1, &x, &g), "%s", tc_error());
    cr_expect_eq(apart(g, tc_mul_s(x, 2)), 0);
  }
}

static bool counts(tc_tensor *const *x, void *context, tc_tensor **y) {
  (void)x, (void)y;
  return ++*(int *)context < 3;
}

Test(vmap, a_function_may_give_nothing, .fini = expect_nothing_left) {
  int calls = 0;
  tc_tensor *x = tc_ones(TC_DIMS(2), TC_F32);
  cr_expect(tc_vmap(counts, &calls, 1, &x, NULL, 0, NULL) && calls == 2);
  REFUSED(!tc_vmap(counts, &calls, 1, &x, NULL, 0, NULL), "tc_vmap: f failed");
  tc_free(x);
}

/* ---- with gradients ------------------------------------------------------------------------------ */

static tc_tensor *loss(tc_tensor *const *p, void *context) {
  tc_tensor *const *example = context;
  return tc_square(tc_sub(sum(tc_tanh(tc_matmul(example[0], p[0]))), example[1]));
}
static bool value_and_grad(tc_tensor *const *x, void *context, tc_tensor **y) {
  y[0] = tc_value_and_grad(loss, (void *)(uintptr_t)x, 1, (tc_tensor **)context, y + 1);
  return y[0] != NULL;
}

Test(vmap, gradients_of_each_example, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *p[] = {tc_randn(TC_DIMS(6, 3), 1, TC_F64), tc_randn(TC_DIMS(6), 2, TC_F64)}, *w = tc_randn(TC_DIMS(3, 2), 3, TC_F64), *y[2];
    cr_assert(tc_vmap(value_and_grad, &w, 2, p, NULL, 2, y), "%s", tc_error());
    cr_expect(tc_rank(y[0]) == 1 && tc_rank(y[1]) == 3);
    for (int i = 0; i < 6; i++) {
      tc_tensor *one[] = {tc_select(p[0], 0, i), tc_select(p[1], 0, i)}, *g, *v = tc_value_and_grad(loss, one, 1, &w, &g);
      cr_expect(apart(tc_select(y[0], 0, i), v) == 0 && apart(tc_select(y[1], 0, i), g) == 0);
    }
  }
}

static bool energy(tc_tensor *const *x, void *context, tc_tensor **y) {
  return (y[0] = sum(tc_exp(tc_mul(x[0], context)))) != NULL;
}

/* Gradients flow to mapped operands, and to what the function finds otherwise. */
Test(vmap, gradients_through_it, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(tc_randn(TC_DIMS(3, 4), 1, TC_F64)), *w = leaf(tc_randn(TC_DIMS(3), 2, TC_F64)), *p[] = {x, w}, *y, *g[2], *want[2];
    cr_assert(tc_vmap(energy, w, 1, &x, (int[]){1}, 1, &y) && tc_size(y, 0) == 4);
    cr_assert(tc_grad(sum(tc_square(y)), 2, p, g), "%s", tc_error());
    tc_tensor *all = tc_sum(tc_exp(tc_mul(x, tc_unsqueeze(w, 1))), TC_AXES(0), false);
    cr_expect_lt(apart(y, all), 1e-12);
    cr_assert(tc_grad(sum(tc_square(all)), 2, p, want));
    cr_expect(apart(g[0], want[0]) < 1e-10 && apart(g[1], want[1]) < 1e-10);
    TC_NO_GRAD cr_expect(tc_vmap(energy, w, 1, &x, (int[]){1}, 1, &y) && !tc_requires_grad(y));
  }
}

static bool product(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = sum(tc_mul(x[0], context))) != NULL; }
static bool products(tc_tensor *const *x, void *context, tc_tensor **y) {
  const tc_tensor *all = context;
  return tc_vmap(product, x[0], 1, &all, NULL, 1, y);
}

Test(vmap, nested, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *a = tc_randn(TC_DIMS(3, 5), 1, TC_F64), *b = tc_randn(TC_DIMS(4, 5), 2, TC_F64), *y;
    cr_assert(tc_vmap(products, b, 1, &a, NULL, 1, &y), "%s", tc_error());
    cr_expect_lt(apart(y, tc_matmul(a, tc_transpose(b, 0, 1))), 1e-12);
  }
}

/* ---- errors -------------------------------------------------------------------------------------- */

static bool fails(tc_tensor *const *x, void *context, tc_tensor **y) { (void)context; return (y[0] = tc_matmul(x[0], x[0])) != NULL; }
static bool forgets(tc_tensor *const *x, void *context, tc_tensor **y) { (void)x, (void)context, (void)y; return true; }
static bool grows(tc_tensor *const *x, void *context, tc_tensor **y) { (void)x; return (y[0] = tc_zeros(TC_DIMS(++*(int *)context), TC_F32)) != NULL; }
static bool changes(tc_tensor *const *x, void *context, tc_tensor **y) { return (y[0] = tc_cast(x[0], ++*(int *)context > 1 ? TC_F64 : TC_F32)) != NULL; }

Test(vmap, refuses, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(3, 2), TC_F32), *z = tc_ones(TC_DIMS(4), TC_F32), *s = tc_ones(TC_EMPTY_LIST, TC_F32), *y = x;
    tc_tensor *both[] = {x, z}, *null = NULL, *none = tc_ones(TC_DIMS(0, 2), TC_F32);
    int n = 0;
    REFUSED(!tc_vmap(NULL, NULL, 1, &x, NULL, 1, &y), "tc_vmap: f is NULL");
    cr_expect_null(y);
    REFUSED(!tc_vmap(twice, NULL, 0, &x, NULL, 1, &y), "no operand is mapped");
    REFUSED(!tc_vmap(twice, NULL, 1, &x, (int[]){TC_UNMAPPED}, 1, &y), "no operand is mapped");
    REFUSED(!tc_vmap(twice, NULL, 2, both, NULL, 1, &y), "operand 2, f32[4], has 4 examples, others have 3");
    REFUSED(!tc_vmap(twice, NULL, 1, &x, (int[]){2}, 1, &y), "axis 2");
    REFUSED(!tc_vmap(twice, NULL, 1, &x, (int[]){-3}, 1, &y), "axis -3");
    REFUSED(!tc_vmap(twice, NULL, 1, &s, NULL, 1, &y), "axis 0");
    REFUSED(!tc_vmap(twice, NULL, 1, &none, NULL, 1, &y), "a batch of 0 examples");
    REFUSED(!tc_vmap(twice, NULL, 1, &null, NULL, 1, &y), "operand 1");
    REFUSED(!tc_vmap(twice, NULL, -1, &x, NULL, 1, &y), "a list of -1 tensors");
    REFUSED(!tc_vmap(twice, NULL, 1, &x, NULL, 1, NULL), "a list of 1 results that is NULL");
    REFUSED(!tc_vmap(fails, NULL, 1, &s, (int[]){TC_UNMAPPED}, 1, &y), "no operand is mapped");
    REFUSED(!tc_vmap(fails, NULL, 1, &z, NULL, 1, &y), "tc_matmul");
    REFUSED(!tc_vmap(forgets, NULL, 1, &z, NULL, 1, &y), "f gave no result 1");
    REFUSED(!tc_vmap(grows, &n, 1, &z, NULL, 1, &y), "result 1 of example 1 is not like that of example 0: f32[2]");
    n = 0;
    REFUSED(!tc_vmap(changes, &n, 1, &z, NULL, 1, &y), "result 1 of example 1 is not like that of example 0: f64[]");
  }
}

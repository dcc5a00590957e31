#include "gradients.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define EPS 1e-6
static const tc_ints shape[GRADIENT_INPUTS] = {
    {2, {3, 4}}, {2, {3, 4}}, {1, {4}}, {2, {4, 5}}, {1, {5}}};

/* Distinct numbers in (0.2, 0.8): none near another, nor near 0.5. */
static double number(int input, int64_t k) {
  const int64_t n = (k * 37 + input * 23) % 101;
  return 0.2 + 0.6 * ((double)n + 0.25 + 0.01 * input) / 101.5;
}

static bool is_close(double got, double want) {
  return fabs(got - want) <= 1e-5 + 1e-3 * fabs(want);
}

/* Leaf i; transposed: the memory is the other way round. */
static tc_tensor *leaf(int i, bool transposed) {
  tc_ints dims = shape[i];
  if (transposed && dims.n == 2) dims = TC_DIMS(shape[i].v[1], shape[i].v[0]);
  tc_tensor *t = tc_empty(dims, TC_F64);
  const int64_t rows = shape[i].n == 2 ? shape[i].v[0] : 1, columns = shape[i].v[shape[i].n - 1];
  for (int64_t k = 0; k < tc_numel(t); k++) {
    const int64_t at = transposed && dims.n == 2 ? k % rows * columns + k / rows : k;
    ((double *)tc_data(t))[k] = number(i, at);
  }
  return t;
}

static tc_tensor *seen(tc_tensor *leaf, bool transposed) {
  return transposed && tc_rank(leaf) == 2 ? tc_transpose(leaf, 0, 1) : leaf;
}

/* sum of f(x) times numbers. */
static tc_tensor *loss_of(gradient_case *f, tc_tensor **leaves, bool transposed) {
  tc_tensor *x[GRADIENT_INPUTS];
  for (int i = 0; i < GRADIENT_INPUTS; i++) x[i] = seen(leaves[i], transposed);
  tc_tensor *y = f(x);
  return y ? tc_sum(tc_mul(y, tc_randn(tc_shape(y), 7, TC_F64)), TC_ALL, false) : NULL;
}

static double value_of(gradient_case *f, tc_tensor **leaves, bool transposed) {
  double value = 0;
  TC_NO_GRAD TC_SCOPE value = tc_item(loss_of(f, leaves, transposed));
  return value;
}

static double difference(gradient_case *f, tc_tensor **leaves, bool transposed, double *at) {
  const double before = *at;
  *at = before + EPS;
  const double up = value_of(f, leaves, transposed);
  *at = before - EPS;
  const double down = value_of(f, leaves, transposed);
  *at = before;
  return (up - down) / (2 * EPS);
}

/* Leaves of the case with what tc_backward leaves behind when it comes twice, halved. */
static bool by_backward(gradient_case *f, tc_tensor **leaves, tc_tensor **grad) {
  for (int k = 0; k < 2; k++)
    if (!tc_backward(loss_of(f, leaves, false))) return false;
  for (int i = 0; i < GRADIENT_INPUTS; i++) {
    tc_tensor *g = tc_grad_of(leaves[i]);
    grad[i] = g ? tc_mul_s(g, 0.5) : tc_zeros_like(leaves[i]);
  }
  return true;
}

void gradient_check(const char *name, gradient_case *f, gradient_way way) {
  tc_tensor *leaves[GRADIENT_INPUTS], *grad[GRADIENT_INPUTS];
  const bool transposed = way == GRADIENT_TRANSPOSED;
  for (int i = 0; i < GRADIENT_INPUTS; i++)
    leaves[i] = tc_requires_grad_(leaf(i, transposed), true);
  const bool made = way == GRADIENT_BACKWARD
                        ? by_backward(f, leaves, grad)
                        : tc_grad_with(loss_of(f, leaves, transposed), NULL, GRADIENT_INPUTS,
                                       leaves, TC_ALLOW_UNUSED, grad);
  cr_assert(made, "%s: %s", name, tc_error());
  for (int i = 0; i < GRADIENT_INPUTS; i++)
    for (int64_t k = 0; k < tc_numel(leaves[i]); k++) {
      const double got = ((const double *)tc_cdata(grad[i]))[k],
                   want = difference(f, leaves, transposed, (double *)tc_data(leaves[i]) + k);
      cr_expect(is_close(got, want), "%s, way %d: input %d, element %d: %.9g, differences %.9g",
                name, way, i, (int)k, got, want);
    }
}

/* ---- second order ------------------------------------------------------------------------------ */

/* sum of gradients times numbers; tracked, where a graph of them is asked for. */
static tc_tensor *slope(gradient_case *f, tc_tensor **leaves, int flags) {
  tc_tensor *grad[GRADIENT_INPUTS], *sum = NULL;
  if (!tc_grad_with(loss_of(f, leaves, false), NULL, GRADIENT_INPUTS, leaves,
                    flags | TC_ALLOW_UNUSED, grad))
    return NULL;
  for (int i = 0; i < GRADIENT_INPUTS; i++) {
    tc_tensor *part =
        tc_sum(tc_mul(grad[i], tc_randn(shape[i], (uint64_t)i + 40, TC_F64)), TC_ALL, false);
    sum = sum ? tc_add(sum, part) : part;
  }
  return sum;
}

static double slope_at(gradient_case *f, tc_tensor **leaves, tc_tensor **direction, double step) {
  double value = 0;
  TC_SCOPE {
    tc_tensor *moved[GRADIENT_INPUTS];
    for (int i = 0; i < GRADIENT_INPUTS; i++)
      moved[i] =
          tc_requires_grad_(tc_add(tc_detach(leaves[i]), tc_mul_s(direction[i], step)), true);
    tc_tensor *s = slope(f, moved, 0);
    value = s ? tc_item(s) : (double)NAN;
  }
  return value;
}

void gradient_check_second(const char *name, gradient_case *f) {
  tc_tensor *leaves[GRADIENT_INPUTS], *direction[GRADIENT_INPUTS], *grad[GRADIENT_INPUTS];
  double got = 0;
  for (int i = 0; i < GRADIENT_INPUTS; i++) {
    leaves[i] = tc_requires_grad_(leaf(i, false), true);
    direction[i] = tc_randn(shape[i], (uint64_t)i + 80, TC_F64);
  }
  tc_tensor *s = slope(f, leaves, TC_CREATE_GRAPH);
  cr_assert(s, "%s: %s", name, tc_error());
  const bool tracked = tc_requires_grad(s);
  cr_assert(!tracked || tc_grad_with(s, NULL, GRADIENT_INPUTS, leaves, TC_ALLOW_UNUSED, grad),
            "%s: %s", name, tc_error());
  for (int i = 0; i < GRADIENT_INPUTS && tracked; i++)
    got += tc_item(tc_sum(tc_mul(grad[i], direction[i]), TC_ALL, false));
  const double want =
      (slope_at(f, leaves, direction, EPS) - slope_at(f, leaves, direction, -EPS)) / (2 * EPS);
  cr_expect(is_close(got, want), "%s, second order: %.9g, differences %.9g", name, got, want);
}

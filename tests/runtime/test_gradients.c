/* Gradients of every differentiable function of the API: against central differences in f64, first and second order,
 * of row-major and of transposed leaves. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include <tcompile.h>

#include "autodiff/autodiff.h"
#include "gradients.h"
#include "tests/common/gradient_cases.h"

/* ---- functions ----------------------------------------------------------------------------------
 *
 * Of f64: a[3,4], b[3,4], v[4], w[4,5], u[5], all within (0.2, 0.8) and away from kinks. */
#define a x[0]
#define b x[1]
#define v x[2]
#define w x[3]
#define u x[4]
#define INDEX index_of((int64_t[]){2, 0, 1}, 3)
#define MATRIX_INDEX tc_reshape(index_of((int64_t[]){2, 0, 1, 1, 0, 2, 2, 1}, 8), TC_DIMS(2, 4))
#define HERE TC_CPU

static tc_tensor *index_of(const int64_t *data, int n) { return tc_from(TC_DIMS(n), data, TC_I64); }

/* Models, written eagerly. */
static tc_tensor *mlp(tc_tensor **x) {
  tc_tensor *h = tc_gelu(tc_linear(tc_mul(a, b), tc_transpose(w, 0, 1), u));
  return tc_cross_entropy(tc_matmul(h, tc_transpose(w, 0, 1)), INDEX, TC_MEAN);
}
static tc_tensor *attention(tc_tensor **x) {
  tc_tensor *q = tc_add(a, v), *score = tc_mul_s(tc_matmul(q, tc_transpose(b, 0, 1)), 0.5);
  tc_tensor *mask = tc_tril(tc_ones(TC_DIMS(3, 3), TC_BOOL), 0);
  tc_tensor *p = tc_softmax(tc_masked_fill(score, tc_logical_not(mask), -1e9), -1);
  return tc_matmul(tc_matmul(p, tc_mul(b, v)), w);
}
static tc_tensor *block(tc_tensor **x) {
  tc_tensor *h = tc_layer_norm(a, 1, v, NULL, 1e-5), *gate[2];
  tc_tensor *y = tc_matmul(tc_silu(tc_matmul(h, w)), tc_transpose(w, 0, 1));
  if (tc_split(tc_rms_norm(tc_add(a, y), 1, tc_select(b, 0, 1), 1e-5), 2, -1, gate) < 0)
    return NULL;
  return tc_mul(tc_sigmoid(gate[0]), gate[1]);
}
static tc_tensor *recurrent(tc_tensor **x) {
  tc_tensor *h = tc_select(a, 0, 0);
  for (int t = 0; t < 3; t++) {
    tc_tensor *next = tc_mul(tc_tanh(tc_add(tc_mul(tc_select(b, 0, t), v), h)), v);
    tc_add_(next,
            tc_mul(h, tc_select(a, 0, t))); /* in place, behind what does not need its result */
    h = tc_mul(next, v);
  }
  return h;
}
#define MODELS(X)                                                                                  \
  X(mlp, mlp(x)) X(attention, attention(x)) X(block, block(x)) X(recurrent, recurrent(x))

#define DEFINE(name, call)                                                                         \
  static tc_tensor *of_##name(tc_tensor **x) { return call; }
GRADIENT_CASES(DEFINE)
MODELS(DEFINE)
#define TC_API(name, op, arguments)
#define TC_UNARY(name, op) DEFINE(name, name(OP_##op == OP_ACOSH ? tc_add_s(a, 1) : a))
#define TC_BINARY(name, op) DEFINE(name, name(a, b))
#define TC_UNARY_TEST(name, op)
#define TC_BINARY_TEST(name, op)
#define TC_UNARY_INT(name, op)
#define TC_BINARY_INT(name, op)
#include "graph/ops/api.def"

static const struct {
  const char *name;
  gradient_case *f;
} cases[] = {
#define ROW(name, call) {#name, of_##name},
    GRADIENT_CASES(ROW) MODELS(ROW)
#define TC_API(name, op, arguments)
#define TC_UNARY(name, op) {#name, of_##name},
#define TC_BINARY(name, op) {#name, of_##name},
#define TC_UNARY_TEST(name, op)
#define TC_BINARY_TEST(name, op)
#define TC_UNARY_INT(name, op)
#define TC_BINARY_INT(name, op)
#include "graph/ops/api.def"
};
enum { CASES_COUNT = sizeof cases / sizeof *cases };

#undef a
#undef b
#undef v
#undef w
#undef u

/* ---- all of them --------------------------------------------------------------------------------- */

static bool differentiable(tc_op op) {
  for (int i = 0; i < tc_op_get(op)->max_in; i++)
    if (!tc_autodiff_refusal(op, i)) return true;
  return false;
}

Test(gradients, every_differentiable_function_has_a_case) {
  static const struct {
    const char *name;
    tc_op op;
  } rows[] = {
#define TC_API(name, op, arguments) {#name, OP_##op},
#include "graph/ops/api.def"
  };
  int missing = 0, n = 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!differentiable(rows[k].op) || rows[k].op == OP_ARANGE) continue; /* of numbers alone */
    bool found = false;
    for (int c = 0; c < CASES_COUNT; c++) found |= !strcmp(cases[c].name, rows[k].name);
    cr_expect(found, "%s has no case", rows[k].name);
    missing += !found;
    n++;
  }
  cr_expect(n > 100 && !missing, "%d functions, %d without a case", n, missing);
}

Test(gradients, first_order) {
  for (int c = 0; c < CASES_COUNT; c++)
    for (int way = 0; way < GRADIENT_WAYS; way++)
      TC_SCOPE gradient_check(cases[c].name, cases[c].f, (gradient_way)way);
  cr_expect_null(tc_error(), "%s", tc_error());
}

Test(gradients, second_order) {
  for (int c = 0; c < CASES_COUNT; c++) TC_SCOPE gradient_check_second(cases[c].name, cases[c].f);
  cr_expect_null(tc_error(), "%s", tc_error());
}

Test(gradients, halves_compute_in_f32) {
  for (int d = TC_F16; d <= TC_BF16; d++) TC_SCOPE {
      tc_tensor *x = tc_requires_grad_(tc_full(TC_DIMS(2, 8), 0.5, (tc_dtype)d), true), *g;
      cr_assert(tc_grad(tc_sum(tc_exp(x), TC_ALL, false), 1, &x, &g));
      cr_expect_eq((int)tc_dtype_of(g), d);
      cr_expect(fabs(tc_at(g, TC_INTS(1, 3)) - exp(0.5)) < 8e-3);
    }
}

/* Broadcast operands, C numbers on the other side, tensors without elements. */
Test(gradients, shapes) {
  TC_SCOPE {
    tc_tensor *x = tc_requires_grad_(tc_ones(TC_DIMS(3, 1), TC_F64), true), *g;
    tc_tensor *y = tc_ones(TC_DIMS(2, 1, 4), TC_F64);
    cr_assert(tc_grad(tc_sum(tc_mul(x, y), TC_ALL, false), 1, &x, &g));
    cr_expect_eq(tc_rank(g), 2);
    cr_expect_eq(tc_at(g, TC_INTS(2, 0)), 8);
    tc_tensor *none = tc_requires_grad_(tc_ones(TC_DIMS(0, 4), TC_F32), true);
    cr_assert(tc_grad(tc_sum(tc_exp(none), TC_ALL, false), 1, &none, &g));
    cr_expect_eq(tc_size(g, 0), 0);
    tc_tensor *one = tc_requires_grad_(tc_ones(TC_SCALAR_SHAPE, TC_F32), true);
    cr_assert(tc_grad(tc_mul(one, tc_scalar(3.0)), 1, &one, &g));
    cr_expect_eq(tc_item(g), 3);
    tc_tensor *number = tc_requires_grad_(tc_scalar(2.0), true);
    cr_assert(tc_grad(tc_sum(tc_pow(x, number), TC_ALL, false), 1, &number, &g));
    cr_expect_eq(tc_item(g), 0);
    tc_tensor *many[300];
    for (int i = 0; i < 300; i++) many[i] = one;
    cr_expect_null(tc_stack((const tc_tensor *const *)many, 300, 0));
    cr_expect_str_eq(
        strstr(tc_error(), "tc_stack"),
        "tc_stack: gradients are recorded of at most 255 operands; join them in parts");
  }
}

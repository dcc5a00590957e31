/* Eager gradients of tensors on devices, and of what moves between them, against those on the CPU. */
#include "tests/cuda_stub/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin(void) {
  setenv("TC_CUDA_OPS", TC_STUB_OPS_LIBRARY, 1);
  device_begin();
}

TestSuite(gradients, .init = begin, .timeout = 300);

enum { LEAVES = 4 };

/* Leaves x[3,4], w[4,5], b[5] and the C number s; `at`: where the first three lie. */
static void make(tc_tensor **leaf, const tc_device *at) {
  leaf[0] = tc_to(tc_randn(TC_DIMS(3, 4), 1, TC_F32), at[0]);
  leaf[1] = tc_to(tc_randn(TC_DIMS(4, 5), 2, TC_F32), at[1]);
  leaf[2] = tc_to(tc_randn(TC_DIMS(5), 3, TC_F32), at[2]);
  leaf[3] = tc_scalar(1.5);
  for (int k = 0; k < LEAVES; k++) cr_assert(tc_requires_grad_(leaf[k], true), "%s", tc_error());
}

typedef tc_tensor *model(tc_tensor **leaf, const tc_device *at);

/* All where the leaves are. */
static tc_tensor *in_one_place(tc_tensor **leaf, const tc_device *at) {
  (void)at;
  tc_tensor *h = tc_gelu(tc_add(tc_matmul(leaf[0], leaf[1]), leaf[2])), *part[2];
  tc_tensor *p = tc_softmax(tc_mul(h, leaf[3]), -1),
            *c = tc_concat((const tc_tensor *[]){p, h}, 2, 0);
  if (tc_split(c, 2, 0, part) < 0) return NULL;
  tc_tensor *y = tc_mul(tc_slice(part[0], 1, 0, 5, 2), tc_slice(part[1], 1, 4, -6, -2));
  return tc_sum(tc_add(y, tc_logsumexp(h, TC_AXES(1), true)), TC_ALL, false);
}

/* From place to place: products there, the rest here, x in both. */
static tc_tensor *around(tc_tensor **leaf, const tc_device *at) {
  tc_tensor *x = tc_mul(leaf[0], leaf[0]), *there = tc_to(x, at[1]);
  tc_tensor *y = tc_to(tc_mul(tc_exp(tc_matmul(there, leaf[1])), leaf[3]), at[2]);
  tc_tensor *z = tc_add(y, leaf[2]), *back = tc_to(z, at[0]),
            *copy = tc_zeros(TC_DIMS(3, 5), TC_F64);
  tc_copy_(copy, back);
  tc_tensor *sum = tc_sum(tc_square(copy), TC_ALL, false);
  return tc_add(tc_mul(sum, leaf[3]), tc_to(tc_sum(x, TC_ALL, false), TC_CPU));
}

static void compare(model *f, const tc_device *at, int flags) {
  const tc_device here[3] = {TC_CPU, TC_CPU, TC_CPU};
  tc_tensor *leaf[2][LEAVES], *grad[2][LEAVES];
  for (int k = 0; k < 2; k++) {
    make(leaf[k], k ? at : here);
    tc_tensor *loss = f(leaf[k], k ? at : here);
    cr_assert(loss, "%s", tc_error());
    cr_assert(tc_grad_with(loss, NULL, LEAVES, leaf[k], flags, grad[k]), "%s", tc_error());
    if (!flags) continue;
    loss = tc_sum(tc_square(grad[k][0]), TC_ALL, false);
    cr_assert(tc_grad_with(loss, NULL, LEAVES, leaf[k], TC_ALLOW_UNUSED, grad[k]), "%s",
              tc_error());
  }
  for (int i = 0; i < LEAVES; i++) {
    cr_expect_eq(tc_device_of(grad[1][i]), tc_device_of(leaf[1][i]), "leaf %d", i);
    cr_expect(tc_allclose(grad[1][i], grad[0][i], 1e-4, 1e-5), "leaf %d differs by %g", i,
              tc_max_abs_diff(grad[1][i], grad[0][i]));
  }
}

Test(gradients, where_the_operands_are) {
  const tc_device gpu[3] = {TC_CUDA, TC_CUDA, TC_CUDA};
  for (int flags = 0; flags <= TC_CREATE_GRAPH; flags += TC_CREATE_GRAPH)
    TC_SCOPE compare(in_one_place, gpu, flags);
  cr_expect_null(tc_error(), "%s", tc_error());
  device_end();
}

Test(gradients, of_what_moves) {
  for (int places = 1; places < 8; places++)
    for (int flags = 0; flags <= TC_CREATE_GRAPH; flags += TC_CREATE_GRAPH) TC_SCOPE {
        tc_device at[3];
        for (int k = 0; k < 3; k++) at[k] = places >> k & 1 ? TC_CUDA : TC_CPU;
        compare(around, at, flags);
      }
  cr_expect_null(tc_error(), "%s", tc_error());
  device_end();
}

/* A buffer that is filled row by row. */
static tc_tensor *rows(tc_tensor **leaf, const tc_device *at) {
  tc_tensor *buffer = tc_to(tc_zeros(TC_DIMS(4, 5), TC_F32), at[0]);
  for (int i = 0; i < 4; i++)
    if (!tc_copy_(tc_select(buffer, 0, i),
                  tc_mul(tc_add(tc_select(leaf[1], 0, i), leaf[2]), leaf[3])))
      return NULL;
  return tc_sum(tc_square(tc_matmul(leaf[0], buffer)), TC_ALL, false);
}

Test(gradients, views_are_written) {
  const tc_device gpu[3] = {TC_CUDA, TC_CUDA, TC_CUDA};
  for (int flags = 0; flags <= TC_CREATE_GRAPH; flags += TC_CREATE_GRAPH)
    TC_SCOPE compare(rows, gpu, flags);
  cr_expect_null(tc_error(), "%s", tc_error());
  device_end();
}

Test(gradients, stay_where_their_leaf_is) {
  TC_SCOPE {
    tc_tensor *x = tc_requires_grad_(tc_to(tc_ones(TC_DIMS(3), TC_F32), TC_CUDA), true);
    for (int k = 0; k < 2; k++)
      cr_assert(tc_backward(tc_to(tc_sum(tc_exp(x), TC_ALL, false), TC_CPU)), "%s", tc_error());
    cr_expect_eq(tc_device_of(tc_grad_of(x)), TC_CUDA);
    cr_expect(fabs(tc_at(tc_grad_of(x), TC_INTS(1)) - 2 * exp(1)) < 1e-5);
    cr_expect(!tc_backward_with(tc_exp(x), tc_ones(TC_DIMS(3), TC_F32), 0));
    cr_expect(strstr(tc_error(),
                     "the cotangent is on the CPU and the value on cuda:0; move it with tc_to"),
              "%s", tc_error());
    tc_clear_error();
  }
  device_end();
}

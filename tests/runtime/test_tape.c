/* The tape of eager gradients: what is recorded, what is kept, what is refused; tests/runtime/test_gradients.c has the
 * numbers. */
#include <math.h>
#include <pthread.h>

#include "expect.h"

static tc_tensor *leaf(int64_t n, double value) {
  return tc_requires_grad_(tc_full(TC_DIMS(n), value, TC_F64), true);
}
static tc_tensor *sum(const tc_tensor *x) { return tc_sum(x, TC_ALL, false); }
static double first(const tc_tensor *x) {
  return x ? tc_item(tc_select(tc_reshape(x, TC_DIMS(-1)), 0, 0)) : -1;
}
static double slope(const tc_tensor *loss, tc_tensor *x) {
  tc_tensor *g;
  return tc_grad(loss, 1, &x, &g) ? first(g) : -1;
}

/* ---- leaves ------------------------------------------------------------------------------------ */

Test(tape, what_is_tracked, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2), TC_F32), *i = tc_ones(TC_DIMS(2), TC_I64);
    cr_expect(!tc_requires_grad(x));
    cr_expect_eq(tc_requires_grad_(x, true), x);
    cr_expect_eq(tc_requires_grad_(x, true), x);
    cr_expect(tc_requires_grad(x) && tc_requires_grad(tc_exp(x)) && tc_requires_grad(tc_clone(x)));
    cr_expect(!tc_requires_grad(tc_argmax(x, TC_ALL, false)) && !tc_requires_grad(tc_gt_s(x, 0)));
    cr_expect(!tc_requires_grad(tc_detach(x)) && !tc_requires_grad(tc_zeros_like(x)));
    cr_expect(!tc_requires_grad(tc_cast(x, TC_I32)) && tc_requires_grad(tc_cast(x, TC_BF16)));
    REFUSED(!tc_requires_grad_(i, true), "floating tensors, and operand 1 is i64[2]");
    REFUSED(!tc_requires_grad_(tc_exp(x), false), "tc_detach gives a tensor that does not");
    tc_tensor *mean, *most, *at;
    cr_expect(tc_requires_grad(tc_var_mean(x, TC_ALL, 0, false, &mean)) && tc_requires_grad(mean));
    most = tc_max_with_index(x, TC_ALL, false, &at);
    cr_expect(tc_requires_grad(most) && !tc_requires_grad(at));
    cr_expect_eq(tc_requires_grad_(x, false), x);
    cr_expect(!tc_requires_grad(x) && !tc_requires_grad(tc_exp(x)));
  }
}

Test(tape, gradients_add_up_in_leaves, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(3, 2), *unused = leaf(3, 2);
    cr_expect_null(tc_grad_of(x));
    cr_assert(tc_backward(sum(tc_square(x))));
    cr_expect_eq(first(tc_grad_of(x)), 4);
    cr_assert(tc_backward(sum(tc_mul(x, x))));
    cr_expect_eq(first(tc_grad_of(x)), 8);
    tc_mul_s_(tc_grad_of(x), 0.5); /* as clipping does */
    cr_expect_eq(first(tc_grad_of(x)), 4);
    cr_expect_null(tc_grad_of(unused));
    cr_assert(tc_zero_grad(2, (tc_tensor *[]){x, unused}));
    cr_expect_null(tc_grad_of(x));
    cr_assert(tc_backward_with(tc_square(x), tc_full(TC_DIMS(3), 3, TC_F32), 0));
    cr_expect_eq(first(tc_grad_of(x)), 12);
    cr_assert(tc_backward(sum(x)) && tc_backward(tc_select(x, 0, 0)));
    cr_expect_eq(first(tc_grad_of(x)), 14);
  }
}

/* Gradients belong to no scope but to their leaf; equal ones share no memory. */
Test(tape, gradients_outlive_the_scope_of_the_loss, .fini = expect_nothing_left) {
  tc_tensor *x = leaf(3, 2), *y = leaf(3, 5);
  TC_SCOPE cr_assert(tc_backward(sum(tc_add(x, y))));
  TC_SCOPE {
    tc_tensor *g = tc_grad_of(x);
    cr_expect(tc_is_contiguous(g));
    tc_add_s_(g, 1);
    cr_expect_eq(first(tc_grad_of(x)), 2);
    cr_expect_eq(first(tc_grad_of(y)), 1);
  }
  tc_free(x);
  tc_free(y);
}

Test(tape, a_loss_may_be_a_leaf_and_a_leaf_may_be_gone, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(1, 2), *y = leaf(1, 3), *loss = tc_mul(x, y);
    cr_assert(tc_backward(x));
    cr_expect_eq(first(tc_grad_of(x)), 1);
    tc_free(y);
    cr_assert(tc_backward(loss));
    cr_expect_eq(first(tc_grad_of(x)), 4);
  }
}

/* ---- asking for gradients ---------------------------------------------------------------------- */

Test(tape, of_any_tensor, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3), *h = tc_square(x), *g[3];
    tc_tensor *loss = sum(tc_mul(h, x));
    cr_assert(tc_grad_with(loss, NULL, 3, (tc_tensor *[]){x, h, x}, TC_RETAIN_GRAPH, g));
    cr_expect_eq(first(g[0]), 27);
    cr_expect_eq(first(g[1]), 3);
    cr_expect_eq(first(g[2]), 27);
    cr_expect_neq(tc_data(g[0]), tc_data(g[2]));
    cr_assert(tc_vjp(h, tc_full(TC_DIMS(2), 2, TC_F64), 1, &x, g));
    cr_expect_eq(first(g[0]), 12);
    cr_expect_null(tc_grad_of(x));
    cr_assert(tc_grad(x = leaf(1, 1), 1, &x, g)); /* of itself */
    cr_expect_eq(first(g[0]), 1);
  }
}

Test(tape, higher_orders, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(1, 2), *y = tc_pow_s(x, 5), *g;
    const double want[] = {80, 160, 240, 240, 120, 0};
    for (int k = 0; k < 5; k++) {
      cr_assert(tc_grad_with(y, NULL, 1, &x, TC_CREATE_GRAPH, &g));
      cr_expect_eq(first(g), want[k], "order %d: %g", k + 1, first(g));
      y = g;
    }
    /* The norm of a gradient as a part of the loss. */
    tc_tensor *loss = tc_mul(x, tc_square(x));
    cr_assert(tc_grad_with(loss, NULL, 1, &x, TC_CREATE_GRAPH, &g));
    cr_assert(tc_backward(tc_add(loss, tc_square(g))));
    cr_expect_eq(first(tc_grad_of(x)), 12 + 2 * 12 * 12);
    /* Gradients with a tape of their own, in the leaf that it leads to: no memory holds itself. */
    cr_assert(tc_zero_grad(1, &x) && tc_backward_with(tc_square(x), NULL, TC_CREATE_GRAPH));
    cr_assert(tc_backward_with(tc_square(x), NULL, TC_CREATE_GRAPH));
    cr_expect(tc_requires_grad(tc_grad_of(x)));
    cr_expect_eq(slope(tc_grad_of(x), x), 4);
  }
}

Test(tape, retained_and_freed, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(1, 2), *h = tc_square(x), *loss = tc_square(h), *g;
    cr_assert(tc_backward_with(loss, NULL, TC_RETAIN_GRAPH) && tc_backward(loss));
    cr_expect_eq(first(tc_grad_of(x)), 64);
    REFUSED(!tc_backward(loss), "the tape in front of tc_square (test_tape.c:");
    REFUSED(!tc_backward(tc_exp(h)), "pass TC_RETAIN_GRAPH there");
    cr_expect_eq(first(tc_grad_of(x)), 64);
    cr_expect(tc_grad(tc_mul_s(h, 3), 1, &h, &g) && first(g) == 3); /* not behind what is freed */
    REFUSED(!tc_grad(tc_mul_s(h, 3), 1, &x, &g), "was freed by the gradients");
  }
}

Test(tape, hooks_and_retained_results, .fini = expect_nothing_left) {
  struct seen {
    int calls;
    double value;
  } seen = {0, 0};
  void hook(const tc_tensor *g, void *context);
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3), *h = tc_square(x);
    cr_assert(tc_register_hook(h, hook, &seen) && tc_register_hook(x, hook, &seen));
    cr_assert(tc_retain_grad(h));
    cr_assert(tc_backward(sum(tc_mul(h, h))));
    cr_expect_eq(seen.calls, 2);
    cr_expect_eq(seen.value, 18 + 108);
    cr_expect_eq(first(tc_grad_of(h)), 18);
    REFUSED(!tc_grad_of(tc_exp(x)), "call tc_retain_grad in front of tc_backward");
    REFUSED(!tc_register_hook(x, NULL, NULL), "hook is NULL");
    REFUSED(!tc_retain_grad(tc_ones(TC_DIMS(1), TC_F32)), "operand 1 is not tracked");
  }
}

void hook(const tc_tensor *g, void *context) {
  struct {
    int calls;
    double value;
  } *seen = context;
  seen->calls++;
  seen->value += first(g);
}

Test(tape, what_cannot_be_asked, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3), *constant = tc_ones(TC_DIMS(2), TC_F64), *g[2] = {x, x};
    REFUSED(!tc_backward(NULL), "tc_backward: operand 1 is NULL");
    REFUSED(!tc_backward(sum(constant)), "no gradient leads to operand 1, f64[]");
    REFUSED(!tc_backward(tc_exp(x)), "operand 1 is f64[2]; without a cotangent");
    REFUSED(!tc_backward_with(tc_exp(x), tc_ones(TC_DIMS(3), TC_F64), 0),
            "the cotangent is f64[3], and the value f64[2]");
    REFUSED(!tc_backward_with(tc_exp(x), tc_ones(TC_DIMS(2), TC_I32), 0),
            "i32[2], is not floating");
    REFUSED(!tc_grad(sum(x), 2, (tc_tensor *[]){x, constant}, g),
            "tensor 2 of the list, f64[2], is not tracked");
    cr_expect(!g[0] && !g[1]);
    g[0] = x;
    REFUSED(!tc_grad(sum(x), 2, (tc_tensor *[]){x, leaf(1, 1)}, g),
            "is not among what operand 1 was computed from");
    cr_expect(!g[0] && !g[1]);
    cr_expect(tc_grad_with(sum(x), NULL, 2, (tc_tensor *[]){x, leaf(1, 1)}, TC_ALLOW_UNUSED, g));
    cr_expect(first(g[0]) == 1 && first(g[1]) == 0);
    REFUSED(!tc_grad(sum(x), 1, NULL, g), "a list of 1 tensors that is NULL");
    REFUSED(!tc_grad(sum(x), 1, (tc_tensor *[]){NULL}, g), "tensor 1 of the list is NULL");
    REFUSED(!tc_grad(sum(x), -1, &x, g), "a list of -1 tensors");
    REFUSED(!tc_zero_grad(1, NULL), "a list of 1 tensors that is NULL");
    REFUSED(!tc_backward(sum(tc_cast(tc_cast(x, TC_I32), TC_F32))), "through integers");
  }
}

/* ---- recording on and off ---------------------------------------------------------------------- */

static tc_tensor *leaves_by_return(const tc_tensor *x) {
  TC_NO_GRAD return tc_exp(x);
  return NULL;
}

Test(tape, no_grad, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3);
    TC_NO_GRAD {
      cr_expect(!tc_is_grad_enabled() && !tc_requires_grad(tc_exp(x)));
      TC_NO_GRAD tc_add_s_(x, 1);
      cr_expect(!tc_is_grad_enabled());
      cr_expect_eq(tc_requires_grad(x), true);
    }
    cr_expect(!tc_requires_grad(leaves_by_return(x)));
    for (int i = 0; i < 2; i++) TC_NO_GRAD {
        if (i == 0) break; /* out of TC_NO_GRAD */
        cr_expect(!tc_is_grad_enabled());
      }
    cr_expect(tc_is_grad_enabled());
    cr_expect(tc_set_grad_enabled(false) && !tc_set_grad_enabled(true));
    cr_expect_eq(slope(sum(tc_square(x)), x), 8);
  }
}

/* A step of an optimiser between forward passes; one in between. */
Test(tape, leaves_are_updated, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 8);
    for (int i = 0; i < 3; i++) {
      cr_assert(tc_zero_grad(1, &x) && tc_backward(sum(tc_square(x))));
      TC_NO_GRAD tc_sub_(x, tc_mul_s(tc_grad_of(x), 0.25));
    }
    cr_expect_eq(first(x), 1);
    tc_tensor *y = tc_mul_s(x, 5), *z = tc_square(x);
    TC_NO_GRAD tc_mul_s_(x, 10);
    cr_expect_eq(slope(sum(tc_add(y, tc_square(x))), x), 25); /* of two versions of x */
    REFUSED(!tc_backward(sum(z)), "the gradient of tc_square (test_tape.c:");
  }
}

/* ---- writes in place --------------------------------------------------------------------------- */

Test(tape, results_are_written, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3), *c = tc_full(TC_DIMS(2), 2, TC_F64), *y = tc_mul_s(x, 2), *acc;
    cr_assert(tc_add_(y, x) && tc_mul_(y, c) && tc_add_s_(y, 1)); /* 2 (2x + x) + 1 */
    cr_expect_eq(first(y), 19);
    cr_expect_eq(slope(sum(y), x), 6);
    acc = tc_zeros(TC_DIMS(2), TC_F32); /* untracked, of another dtype, broadcast */
    for (int i = 0; i < 3; i++) tc_add_(acc, tc_select(tc_mul_s(x, i), 0, 0));
    cr_expect(tc_requires_grad(acc));
    cr_expect_eq(slope(sum(acc), x), 6);
    y = tc_exp(x);
    tc_copy_(y, x);
    cr_expect_eq(slope(sum(tc_mul_s(y, 3)), x), 3);
    y = tc_exp(x);
    tc_fill_(y, 3);
    cr_expect(!tc_requires_grad(y));
    y = tc_exp(x);
    tc_copy_(y, c);
    cr_expect(!tc_requires_grad(y));
    y = tc_sub_s(tc_mul_s(x, 2), 8);
    tc_relu_(y);
    cr_expect_eq(slope(sum(y), x), 0);
    tc_div_s_(y = tc_add(x, x), 4);
    cr_expect_eq(slope(sum(y), x), 0.5);
    tc_rsub_s_(y = tc_add(x, x), 4);
    cr_expect_eq(slope(sum(y), x), -2);
  }
}

Test(tape, writes_that_are_refused, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, 3), *y, *z;
    REFUSED(
        !tc_add_s_(x, 1),
        "tc_add_s_: operand 1 is a leaf that requires gradients; update it inside of TC_NO_GRAD");
    REFUSED(!tc_zero_(x), "tc_zero_: operand 1 is a leaf");
    REFUSED(!tc_copy_(x, tc_exp(x)), "tc_copy_: operand 1 is a leaf");
    REFUSED(!tc_add_s_(tc_select(x, 0, 0), 1), "shares its memory with a leaf");
    REFUSED(!tc_add_(tc_detach(x), x), "shares its memory with a leaf");
    cr_expect_eq(first(x), 3);
    y = tc_mul_s(x, 1);
    z = tc_square(y);
    tc_add_s_(y, 1);
    REFUSED(!tc_backward(sum(z)), "the gradient of tc_square");
    y = tc_mul_s(x, 1);
    z = tc_mul(y, y);
    TC_NO_GRAD tc_add_s_(tc_select(y, 0, 0), 1); /* not recorded, but seen */
    REFUSED(!tc_backward(sum(z)), "which was written in place since");
    y = tc_ones(TC_DIMS(2), TC_F64);
    z = tc_mul(x, y);
    tc_add_s_(y, 1); /* a constant that was saved */
    REFUSED(!tc_backward(sum(z)), "the gradient of tc_mul");
    z = tc_add(x, y);
    tc_add_s_(y, 1); /* which nothing needs */
    cr_expect_eq(slope(sum(z), x), 1);
  }
}

/* What is written through a view is the history of all that share the memory. */
Test(tape, views_are_written, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(3, 2), *rows = tc_zeros(TC_DIMS(4, 3), TC_F64),
              *whole = tc_reshape(rows, TC_DIMS(-1));
    for (int i = 0; i < 4; i++)
      cr_assert(tc_copy_(tc_select(rows, 0, i), tc_mul_s(x, i)), "%s", tc_error());
    cr_expect_eq(slope(sum(rows), x), 6); /* a buffer that is filled row by row */
    for (int i = 0; i < 4; i++) tc_copy_(tc_select(rows, 0, i), tc_mul_s(x, i));
    cr_expect_eq(slope(sum(tc_square(whole)), x), 2 * 2 * (0 + 1 + 4 + 9));
    tc_tensor *y = tc_mul_s(x, 1), *part[3], *one = tc_select(y, 0, 0), *g;
    tc_mul_s_(one, 5);
    tc_free(one);
    cr_expect_eq(slope(sum(y), x), 5);
    y = tc_mul_s(x, 1);
    cr_assert_eq(tc_split(y, 3, 0, part), 3);
    tc_fill_(part[0], 7); /* a constant, beside what stays */
    tc_mul_s_(part[1], 3);
    cr_assert(tc_grad(sum(tc_mul(y, y)), 1, &x, &g), "%s", tc_error());
    cr_expect(tc_at(g, TC_INTS(0)) == 0 && tc_at(g, TC_INTS(1)) == 36 && tc_at(g, TC_INTS(2)) == 4);
    y = tc_mul_s(x, 1);
    tc_split(y, 3, 0, part);
    tc_mul_s_(part[0], 3); /* beside another part */
    cr_expect_eq(slope(sum(tc_mul_s(part[2], 4)), x), 0);
    y = tc_mul_s(x, 1);
    one = tc_slice(y, 0, 0, 2, 1);
    tc_fill_(one, 0);
    tc_add_(y, tc_mul_s(x, 6)); /* onto the constant */
    cr_expect_eq(slope(sum(one), x), 6);
  }
}

/* Nothing leads to values of which no element is left: a gradient of 0 times an infinite derivative would be NaN. */
Test(tape, whole_values_are_overwritten, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(4, 0), *y = tc_reshape(tc_mul_s(tc_sqrt(x), 2), TC_DIMS(2, 2)), *g;
    tc_zero_(tc_transpose(y, 0, 1)); /* by a constant */
    cr_expect_eq(slope(tc_add(sum(y), sum(x)), x), 1);
    cr_assert(tc_grad_with(sum(tc_exp(y)), NULL, 1, &x, TC_ALLOW_UNUSED, &g), "%s", tc_error());
    cr_expect_eq(first(g), 0);
    y = tc_reshape(tc_sqrt(x), TC_DIMS(2, 2)); /* nor is the value needed that was written */
    tc_copy_(tc_flip(y, TC_AXES(1)), tc_reshape(tc_mul_s(x, 3), TC_DIMS(2, 2)));
    cr_expect_eq(slope(sum(y), x), 3);
  }
}

/* The gradient of a log-sum-exp does not depend on how its result, which is large, is rounded. */
Test(tape, log_sum_exp_of_large_numbers, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = tc_requires_grad_(tc_arange(4, 1e5, 0.5, TC_F32), true), *g;
    cr_assert(tc_grad(tc_logsumexp(x, TC_ALL, false), 1, &x, &g), "%s", tc_error());
    cr_expect(fabs(tc_item(tc_sum(g, TC_ALL, false)) - 1) < 1e-6);
    cr_expect(fabs(first(g) - 0.10153632) < 1e-6, "%g", first(g));
  }
}

/* Tensors that belong to no scope are not found. */
Test(tape, views_outside_of_scopes, .fini = expect_nothing_left) {
  tc_tensor *rows = tc_zeros(TC_DIMS(2, 3), TC_F64);
  TC_SCOPE {
    tc_tensor *x = leaf(3, 2);
    REFUSED(!tc_copy_(tc_select(rows, 0, 0), x),
            "shares its memory with tensors outside of all scopes");
    cr_expect_eq(first(rows), 0);
    cr_expect(!tc_requires_grad(rows));
  }
  tc_free(rows);
}

/* In place gives what the function without _ gives, also where the gradient needs what was there. */
#define TC_API(name, op, arguments)
#define TC_UNARY(name, op) {#name, name, name##_, NULL, NULL},
#define TC_BINARY(name, op) {#name, NULL, NULL, name, name##_},
#define TC_UNARY_TEST(name, op)
#define TC_BINARY_TEST(name, op)
#define TC_UNARY_INT(name, op)
#define TC_BINARY_INT(name, op)
static const struct {
  const char *name;
  tc_tensor *(*one)(const tc_tensor *), *(*one_)(tc_tensor *);
  tc_tensor *(*two)(const tc_tensor *, const tc_tensor *), *(*two_)(tc_tensor *, const tc_tensor *);
} in_place[] = {
#include "graph/ops/api.def"
};

Test(tape, every_function_in_place, .fini = expect_nothing_left) {
  for (size_t k = 0; k < sizeof in_place / sizeof *in_place; k++) TC_SCOPE {
      tc_tensor *p[] = {tc_requires_grad_(tc_rand(TC_DIMS(2, 3), 1, TC_F64), true),
                        tc_requires_grad_(tc_rand(TC_DIMS(3), 2, TC_F64), true)},
                *want[2], *got[2];
      tc_tensor *h = tc_mul_s(p[0], 1),
                *f = in_place[k].one ? in_place[k].one(h) : in_place[k].two(h, p[1]);
      cr_assert(tc_grad_with(sum(f), NULL, 2, p, TC_ALLOW_UNUSED, want), "%s: %s", in_place[k].name,
                tc_error());
      h = tc_mul_s(p[0], 1);
      f = in_place[k].one ? in_place[k].one_(h) : in_place[k].two_(h, p[1]);
      cr_assert_eq(f, h);
      cr_assert(tc_grad_with(sum(f), NULL, 2, p, TC_ALLOW_UNUSED, got), "%s_: %s", in_place[k].name,
                tc_error());
      for (int i = 0; i < 2; i++)
        cr_expect(tc_allclose(got[i], want[i], 0, 0), "%s_, operand %d", in_place[k].name, i);
    }
}

Test(tape, functions_of_numbers_and_of_itself_in_place, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2, -3), *w = leaf(2, 5), *h = tc_mul_s(x, 1);
    cr_expect_eq(slope(sum(tc_leaky_relu_(h, 0.5)), x), 0.5);
    cr_expect_eq(slope(sum(tc_mul_(tc_clamp_(tc_add_s_(tc_mul_s(x, 1), 1), -9, 0), x)), x), -5);
    h = tc_mul_s(x, 1);
    cr_expect_eq(slope(sum(tc_mul_(h, h)), x), -6);
    h = tc_full(TC_DIMS(2), 7, TC_F64); /* not tracked, and needed */
    cr_expect_eq(slope(sum(tc_mul_(h, w)), w), 7);
    h = tc_mul_s(x, 1);
    cr_expect_eq(slope(sum(tc_fma_(h, h, w)), x), -6);
    cr_expect_null(tc_error());
  }
}

/* ---- size and threads -------------------------------------------------------------------------- */

enum { LONG = 100000 };

Test(tape, long_chains, .fini = expect_nothing_left) {
  tc_tensor *x = leaf(1, 1), *y = tc_mul_s(x, 1);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < LONG; i++) {
      tc_tensor *next = i % 2 ? tc_add_s(y, 1) : tc_mul(y, x);
      tc_free(y);
      y = next;
    }
    if (pass == 0) tc_free(y); /* without ever being used */
    else cr_expect(tc_backward(y), "%s", tc_error());
    if (pass == 0) y = tc_mul_s(x, 1);
  }
  TC_SCOPE cr_expect(tc_grad_of(x) != NULL);
  tc_free(y);
  tc_free(x);
}

static void *train(void *shared) {
  bool *ok = shared;
  *ok = true;
  for (int i = 0; i < 200 && *ok; i++) TC_SCOPE {
      tc_tensor *x = leaf(16, i % 7), *g;
      tc_tensor *loss = sum(tc_mul(tc_square(x), x));
      *ok = tc_grad_with(loss, NULL, 1, &x, TC_CREATE_GRAPH, &g) && slope(sum(g), x) == 6 * (i % 7);
    }
  return NULL;
}

static void *add_gradients(void *shared) {
  for (int i = 0; i < 100; i++) TC_SCOPE tc_backward(sum(tc_mul_s(shared, 2)));
  return NULL;
}

Test(tape, threads, .fini = expect_nothing_left) {
  pthread_t thread[4];
  bool ok[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, train, &ok[i]);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 4; i++) cr_expect(ok[i]);
  tc_tensor *x = leaf(1, 1);
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, add_gradients, x);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  TC_SCOPE cr_expect_eq(first(tc_grad_of(x)), 800);
  tc_free(x);
}

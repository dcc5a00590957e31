/* A compiled function on the tape: what it keeps, what it is asked for, and what is refused.  Its kernels are written here:
 *
 *   y = s * x * w, z = exp(x); w is saved as a tensor of its own.  dx = s * dy * saved + dz * z, dw = s * dy * x */
#include <math.h>

#include "expect.h"

/* ---- the function ------------------------------------------------------------------------------- */

static struct seen { /* by the last call of the backward part */
  int calls;
  int64_t want;
  bool no_w, no_y; /* they came without memory */
  double dy, dz;
} seen;
static bool fails, misses; /* the forward part */

static double *data(const tc_tensor *x) { return x->data; }

static int forward(const tc_tensor *const *in, const tc_value *scalar, tc_tensor **out) {
  const int64_t n = in[0]->dim[0];
  if (misses) return 0;
  for (int i = 0; i < 3; i++) out[i] = fails ? NULL : tcrt_new(TC_F64, 1, &n);
  for (int64_t k = 0; k < n && !fails; k++) {
    data(out[0])[k] = scalar[0].f * data(in[0])[k] * data(in[1])[k];
    data(out[1])[k] = exp(data(in[0])[k]);
    data(out[2])[k] = data(in[1])[k];
  }
  return 1;
}

/* in: x, w, dy, dz, y, z, saved */
static int backward(const tc_tensor *const *in, const tc_value *scalar, tc_tensor **out) {
  const int64_t n = in[0]->dim[0];
  seen = (struct seen){seen.calls + 1, scalar[1].i,    !in[1]->data,
                       !in[4]->data,   data(in[2])[0], data(in[3])[0]};
  for (int i = 0; i < 2; i++) {
    if (!(scalar[1].i >> i & 1)) continue;
    out[i] = tcrt_new(TC_F64, 1, &n);
    for (int64_t k = 0; k < n; k++) {
      const double dy = scalar[0].f * data(in[2])[k];
      data(out[i])[k] =
          i ? dy * data(in[0])[k] : dy * data(in[6])[k] + data(in[3])[k] * data(in[5])[k];
    }
  }
  return 1;
}

static tcrt_function record = {.name = "f", .location = "dir/t.c:7"};
static const uint8_t operand[] = {TCRT_NEEDED | TCRT_MOVES, TCRT_MOVES},
                     result[] = {TCRT_MOVES, TCRT_NEEDED | TCRT_MOVES, TCRT_NEEDED};
static const uint64_t depends[] = {3, 1};
static const tcrt_gradient gradient = {&record, 2,      1,       2,       1,
                                       operand, result, depends, forward, backward};

static tc_tensor *f(const tc_tensor *x, const tc_tensor *w, double s, tc_tensor **z) {
  tc_tensor *out[2] = {NULL, NULL};
  if (!tcrt_train(&gradient, (const tc_tensor *[]){x, w}, &(tc_value){.f = s}, out)) return NULL;
  *z = out[1];
  return out[0];
}

static tc_tensor *full(double value) { return tc_full(TC_DIMS(3), value, TC_F64); }
static tc_tensor *leaf(double value) { return tc_requires_grad_(full(value), true); }
static tc_tensor *sum(const tc_tensor *x) { return tc_sum(x, TC_ALL, false); }
static double first(const tc_tensor *x) { return x ? tc_item(tc_select(x, 0, 0)) : -1; }

/* ---- gradients ---------------------------------------------------------------------------------- */

Test(compiled, gradients_arrive, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *y = f(x, w, 5, &z);
    cr_expect(tc_requires_grad(y) && tc_requires_grad(z));
    cr_expect(tc_backward(tc_add(sum(y), sum(tc_square(z)))));
    cr_expect_float_eq(first(tc_grad_of(x)), 15 + 2 * exp(4), 1e-9);
    cr_expect_float_eq(first(tc_grad_of(w)), 10, 1e-9);
    cr_expect(seen.no_y && seen.want == 3, "what is not read is not kept");
    cr_expect(tc_backward(sum(f(x, w, 1, &z))), "they add up");
    cr_expect_float_eq(first(tc_grad_of(w)), 12, 1e-9);
    cr_expect_eq(seen.dz, 0, "a cotangent that is missing is 0");
  }
}

Test(compiled, between_operations_and_itself, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(0.5), *w = leaf(3), *z, *g[2];
    tc_tensor *h = f(tc_sin(x), w, 1, &z);
    tc_tensor *y = f(tc_cos(h), z, 1, &z);
    cr_expect(tc_grad(sum(tc_mul(y, w)), 2, ((tc_tensor *[]){x, w}), g));
    /* y = cos(3 sin x) exp(sin x) */
    const double s = sin(0.5), c = cos(0.5);
    cr_expect_float_eq(first(g[0]), 3 * exp(s) * c * (cos(3 * s) - 3 * sin(3 * s)), 1e-9);
    cr_expect_float_eq(first(g[1]), exp(s) * (cos(3 * s) - 3 * s * sin(3 * s)), 1e-9);
    cr_expect(tc_grad(sum(f(x, x, 1, &z)), 1, &x, g), "one tensor twice");
    cr_expect_float_eq(first(g[0]), 1, 1e-9);
  }
}

Test(compiled, only_what_is_tracked, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = full(2), *w = leaf(3), *z, *y = f(x, w, 1, &z);
    cr_expect(tc_requires_grad(y) && !tc_requires_grad(z), "z does not move with w");
    cr_expect(tc_backward(sum(y)));
    cr_expect(seen.want == 2 && first(tc_grad_of(w)) == 2);
    const int calls = seen.calls;
    tc_tensor *v = leaf(1);
    y = f(tc_requires_grad_(x, true), w, 1, &z);
    cr_expect(tc_grad(tc_add(sum(v), tc_mul_s(sum(tc_detach(y)), 2)), 1, &v, &z));
    cr_expect_eq(seen.calls, calls, "no gradient arrives");
    cr_expect(tc_grad(sum(y), 1, &x, &z) && seen.want == 1);
  }
}

Test(compiled, hooks_and_kept_gradients, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *y = f(x, w, 1, &z);
    cr_expect(tc_retain_grad(y));
    cr_expect(tc_backward(sum(tc_square(y))) && first(tc_grad_of(y)) == 12 &&
              first(tc_grad_of(w)) == 24);
  }
}

/* ---- the tape ----------------------------------------------------------------------------------- */

Test(compiled, freed_and_retained, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *loss = sum(f(x, w, 1, &z));
    cr_expect(tc_backward_with(loss, NULL, TC_RETAIN_GRAPH) && tc_backward(loss));
    cr_expect_eq(first(tc_grad_of(x)), 6);
    REFUSED(!tc_backward(loss), "was freed by the gradients that were computed before");
  }
}

Test(compiled, memory_goes_with_the_pass, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *y = f(x, w, 1, &z), *loss = sum(y);
    const size_t before = tc_memory().live;
    cr_expect(tc_grad_with(loss, NULL, 1, &x, TC_RETAIN_GRAPH, &y));
    tc_free(y);
    cr_expect_eq(tc_memory().live, before);
    cr_expect(tc_grad(loss, 1, &x, &y));
    tc_free(y);
    cr_expect_lt(tc_memory().live, before, "what was saved is freed");
  }
}

Test(compiled, writes_in_place, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *loss = sum(f(x, w, 1, &z));
    TC_NO_GRAD tc_add_s_(w, 1); /* saved apart */
    cr_expect(tc_backward(loss) && first(tc_grad_of(x)) == 3);
    loss = sum(f(x, w, 1, &z));
    TC_NO_GRAD tc_add_s_(x, 1);
    REFUSED(
        !tc_backward(loss),
        "the gradient of f (t.c:7) needs its f64[3], an operand or the result, which was written");
    tc_tensor *y = f(x, w, 1, &z);
    tc_add_s_(z, 1);
    REFUSED(!tc_backward(tc_add(sum(y), sum(z))), "the gradient of f (t.c:7) needs its f64[3]");
    y = f(x, w, 1, &z);
    tc_mul_s_(y, 2); /* which nobody reads */
    tc_zero_grad(1, &x);
    cr_expect(tc_backward(sum(y)) && first(tc_grad_of(x)) == 8);
  }
}

/* x is a view of what was written while gradients were recorded: it follows. */
Test(compiled, operands_are_brought_up_to_date, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *v = leaf(2), *base = tc_mul_s(v, 3), *row = tc_slice(base, 0, 0, 3, 1), *w = full(1),
              *z, *g;
    tc_mul_s_(base, 2);
    cr_expect(tc_grad(sum(f(row, w, 1, &z)), 1, &v, &g) && first(g) == 6);
  }
}

Test(compiled, second_derivatives_are_refused, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z, *g;
    REFUSED(!tc_grad_with(sum(f(x, w, 1, &z)), NULL, 1, &x, TC_CREATE_GRAPH, &g),
            "f (t.c:7) was compiled with its first derivative alone; for derivatives of gradients "
            "build it with grad=off");
  }
}

/* ---- calls that do not run ------------------------------------------------------------------------ */

Test(compiled, misses_and_failures, .fini = expect_nothing_left) {
  TC_SCOPE {
    tc_tensor *x = leaf(2), *w = leaf(3), *z = NULL;
    misses = true;
    cr_expect_null(f(x, w, 1, &z));
    misses = false;
    fails = true;
    cr_expect(!f(x, w, 1, &z) && !z, "behind an effect");
    fails = false;
    double numbers[3] = {1, 2, 3};
    tc_tensor header;
    const tc_layout layout = {
        .data = numbers, .dtype = TC_F64, .rank = 1, .dim = {3}, .stride = {8}};
    cr_expect_null(f(tcrt_borrow(&header, &layout), w, 1, &z), "memory that nobody holds");
    cr_expect_eq(record.miss[TC_MISS_GRAD], 1);
    tc_tensor *y = f(x, tcrt_borrow(&header, &layout), 1, &z);
    cr_expect(tc_backward(sum(y)) && first(tc_grad_of(x)) == 1, "unless it is not needed");
    cr_expect(seen.no_w);
  }
}

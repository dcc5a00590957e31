/* tc_vmap: compiled = eager = written by hand for the whole batch. */
#include "check.h"

static double apart(const tc_tensor *a, const tc_tensor *b) {
  CHECK(a && b && tc_rank(a) == tc_rank(b) && tc_dtype_of(a) == tc_dtype_of(b));
  return tc_max_abs_diff(a, b);
}

/* ---- gradients of each example: a network of two layers ------------------------------------------ */

typedef struct network {
  tc_tensor *w TC_SHAPE("f32[D,H]"), *b TC_SHAPE("f32[H]"), *v TC_SHAPE("f32[H,C]"), *c TC_SHAPE("f32[C]");
} network;

static tc_tensor *logits(tc_tensor *const *p, const tc_tensor *x) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_gelu(tc_add(tc_matmul(x, p[0]), p[1]));
  return tc_keep(tc_add(tc_matmul(h, p[2]), p[3]));
}

static tc_tensor *loss(tc_tensor *const *p, void *context) {
  tc_tensor *const *example = context;
  return tc_cross_entropy(logits(p, example[0]), example[1], TC_MEAN);
}

static bool gradients(tc_tensor *const *x, void *context, tc_tensor **y) {
  const network *n = context;
  const tc_tensor *p[] = {n->w, n->b, n->v, n->c};
  y[0] = tc_value_and_grad(loss, (void *)x, 4, p, y + 1);
  return y[0] != NULL;
}

TC_COMPILE static tc_tensor *each(const network *n, const tc_tensor *x TC_SHAPE("f32[B,D]"), const tc_tensor *t TC_SHAPE("i64[B]"),
                                  tc_tensor **gw, tc_tensor **gb, tc_tensor **gv, tc_tensor **gc) {
  const tc_tensor *in[] = {x, t};
  tc_tensor *y[5];
  if (!tc_vmap(gradients, (void *)n, 2, in, NULL, 5, y)) return NULL;
  *gw = y[1], *gb = y[2], *gv = y[3], *gc = y[4];
  return y[0];
}

static tc_tensor *outer(const tc_tensor *a, const tc_tensor *b) { return tc_mul(tc_unsqueeze(a, 2), tc_unsqueeze(b, 1)); }

/* Backward by hand, the batch in front. */
static tc_tensor *by_hand(const network *n, const tc_tensor *x, const tc_tensor *t, tc_tensor **g) {
  tc_tensor *z = tc_requires_grad_(tc_detach(tc_add(tc_matmul(x, n->w), n->b)), true), *h = tc_gelu(z), *slope;
  CHECK(tc_grad(tc_sum(h, TC_ALL, false), 1, &z, &slope)); /* of each element alone */
  tc_tensor *y = tc_add(tc_matmul(tc_detach(h), n->v), n->c);
  tc_tensor *dy = tc_sub(tc_softmax(y, 1), tc_cast(tc_one_hot(t, tc_size(y, 1)), TC_F32));
  tc_tensor *dz = tc_mul(tc_matmul(dy, tc_transpose(n->v, 0, 1)), slope);
  g[0] = outer(x, dz), g[1] = dz, g[2] = outer(tc_detach(h), dy), g[3] = dy;
  return tc_cross_entropy(y, t, TC_NONE);
}

static void network_gradients(int64_t batch) {
  enum { D = 12, H = 20, C = 7 };
  network n = {tc_randn(TC_DIMS(D, H), 1, TC_F32), tc_randn(TC_DIMS(H), 2, TC_F32), tc_randn(TC_DIMS(H, C), 3, TC_F32), tc_randn(TC_DIMS(C), 4, TC_F32)};
  tc_tensor *x = tc_randn(TC_DIMS(batch, D), 5, TC_F32), *t = tc_remainder_s(tc_arange(batch, 0, 3, TC_I64), C), *g[4], *body[4], *want[4];
  tc_tensor *v = each(&n, x, t, &g[0], &g[1], &g[2], &g[3]);
  tc_set_enabled(false);
  tc_tensor *w = each(&n, x, t, &body[0], &body[1], &body[2], &body[3]), *u = by_hand(&n, x, t, want);
  tc_set_enabled(true);
  CHECK(apart(v, w) < 1e-4 && apart(v, u) < 1e-4);
  for (int k = 0; k < 4; k++) CHECK(apart(g[k], body[k]) < 1e-4 && apart(g[k], want[k]) < 1e-4);
}

/* ---- Jacobians, products with Hessians ----------------------------------------------------------- */

static tc_tensor *residuals(const tc_tensor *x) { return tc_mul(tc_sin(x), tc_cumsum(tc_square(x), 0)); }

typedef struct seen { tc_tensor *y, *x; } seen;
static bool row(tc_tensor *const *u, void *context, tc_tensor **g) {
  const seen *s = context;
  return tc_grad_with(s->y, u[0], 1, &s->x, TC_RETAIN_GRAPH, g);
}
TC_COMPILE static tc_tensor *jacobian(tc_tensor *x TC_SHAPE("f64[N]")) {
  seen s = {residuals(x), x};
  const tc_tensor *unit = tc_eye(tc_size(x, 0), tc_size(x, 0), TC_F64);
  tc_tensor *rows;
  return tc_vmap(row, &s, 1, &unit, NULL, 1, &rows) ? rows : NULL;
}
static bool column(tc_tensor *const *u, void *context, tc_tensor **y) {
  const seen *s = context;
  return (y[0] = tc_jvp(s->y, 1, &s->x, u)) != NULL;
}
TC_COMPILE static tc_tensor *columns(tc_tensor *x TC_SHAPE("f64[N]")) {
  seen s = {residuals(x), x};
  const tc_tensor *unit = tc_eye(tc_size(x, 0), tc_size(x, 0), TC_F64);
  tc_tensor *y;
  return tc_vmap(column, &s, 1, &unit, NULL, 1, &y) ? tc_transpose(y, 0, 1) : NULL;
}

/* diag(cos x cumsum x^2) + diag(sin x) tril(1) diag(2 x) */
static tc_tensor *jacobian_by_hand(const tc_tensor *x) {
  const int64_t n = tc_size(x, 0);
  tc_tensor *own = tc_mul(tc_eye(n, n, TC_F64), tc_mul(tc_cos(x), tc_cumsum(tc_square(x), 0)));
  tc_tensor *lower = tc_mul(tc_mul(tc_unsqueeze(tc_sin(x), 1), tc_tril(tc_ones(TC_DIMS(n, n), TC_F64), 0)), tc_mul_s(x, 2));
  return tc_add(own, lower);
}

/* f(p) = sum of p^3 s, of each point: the Hessian is diagonal, 6 p s */
static tc_tensor *cubes(tc_tensor *const *p, void *context) { return tc_sum(tc_mul(tc_mul(tc_square(p[0]), p[0]), context), TC_ALL, false); }
typedef struct direction { void *scale; const tc_tensor *v; } direction;
static tc_tensor *slope(tc_tensor *const *p, void *context) {
  const direction *d = context;
  tc_tensor *g, *y = cubes(p, d->scale);
  return tc_grad_with(y, NULL, 1, p, TC_CREATE_GRAPH, &g) ? tc_sum(tc_mul(g, d->v), TC_ALL, false) : NULL;
}
static bool hessian_times(tc_tensor *const *x, void *context, tc_tensor **y) {
  direction d = {context, x[1]};
  return tc_value_and_grad(slope, &d, 1, x, y) != NULL;
}
TC_COMPILE static tc_tensor *hessians(const tc_tensor *p TC_SHAPE("f64[B,N]"), const tc_tensor *v TC_SHAPE("f64[N,B]"), const tc_tensor *s TC_SHAPE("f64[N]")) {
  static const int axes[] = {0, -1};
  const tc_tensor *in[] = {p, v};
  tc_tensor *y;
  return tc_vmap(hessian_times, (void *)s, 2, in, axes, 1, &y) ? y : NULL;
}

static void derivatives(int64_t n) {
  tc_tensor *x = tc_requires_grad_(tc_randn(TC_DIMS(n), 1, TC_F64), true), *rows = jacobian(x), *cols = columns(x);
  tc_tensor *p = tc_randn(TC_DIMS(n + 2, n), 2, TC_F64), *v = tc_randn(TC_DIMS(n, n + 2), 3, TC_F64), *s = tc_randn(TC_DIMS(n), 4, TC_F64);
  tc_tensor *h = hessians(p, v, s), *hand = tc_mul(tc_mul(tc_mul_s(p, 6), s), tc_transpose(v, 0, 1));
  tc_set_enabled(false);
  tc_tensor *body = jacobian(x), *body_cols = columns(x), *body_h = hessians(p, v, s);
  tc_set_enabled(true);
  TC_NO_GRAD {
    tc_tensor *want = jacobian_by_hand(x);
    CHECK(apart(rows, want) < 1e-9 && apart(body, want) < 1e-9);
    CHECK(apart(cols, want) < 1e-9 && apart(body_cols, want) < 1e-9);
    CHECK(apart(h, hand) < 1e-9 && apart(body_h, hand) < 1e-9);
  }
  tc_free(x);
}

/* ---- functions in functions, and trained through -------------------------------------------------- */

/* exp(-|a - b|^2 g), of all pairs; g is the same for all */
static bool kernel_of(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *const *other = context; /* a, g */
  y[0] = tc_exp(tc_neg(tc_mul(tc_sum(tc_square(tc_sub(other[0], x[0])), TC_ALL, false), other[1])));
  return y[0] != NULL;
}
static bool kernel_row(tc_tensor *const *x, void *context, tc_tensor **y) {
  tc_tensor *const *all = context; /* b, g */
  tc_tensor *pair[] = {x[0], all[1]};
  return tc_vmap(kernel_of, pair, 1, all, NULL, 1, y);
}
static tc_tensor *kernel_matrix(const tc_tensor *a, const tc_tensor *b, const tc_tensor *g) {
  const tc_tensor *all[] = {b, g};
  tc_tensor *k;
  return tc_vmap(kernel_row, all, 1, &a, NULL, 1, &k) ? k : NULL;
}
TC_COMPILE static tc_tensor *kernels(const tc_tensor *a TC_SHAPE("f64[N,D]"), const tc_tensor *b TC_SHAPE("f64[M,D]"), const tc_tensor *g TC_SHAPE("f64[]")) {
  return kernel_matrix(a, b, g);
}
/* One step down the sum of squares, through both. */
TC_COMPILE static tc_tensor *step(tc_tensor *a TC_SHAPE("f64[N,D]"), const tc_tensor *b TC_SHAPE("f64[M,D]"), tc_tensor *g TC_SHAPE("f64[]")) {
  tc_tensor *loss = tc_sum(tc_square(kernel_matrix(a, b, g)), TC_ALL, false), *p[] = {a, g}, *d[2];
  if (!tc_grad(loss, 2, p, d)) return NULL;
  TC_NO_GRAD for (int k = 0; k < 2; k++) tc_sub_(p[k], tc_mul_s(d[k], 0.01));
  return loss;
}

static tc_tensor *kernels_by_hand(const tc_tensor *a, const tc_tensor *b, const tc_tensor *g) {
  tc_tensor *d = tc_sub(tc_unsqueeze(a, 1), tc_unsqueeze(b, 0));
  return tc_exp(tc_neg(tc_mul(tc_sum(tc_square(d), TC_AXES(2), false), g)));
}

static void nested(int64_t n, int64_t m) {
  tc_tensor *b = tc_randn(TC_DIMS(m, 3), 2, TC_F64), *a[2], *g[2];
  for (int k = 0; k < 2; k++) {
    a[k] = tc_requires_grad_(tc_randn(TC_DIMS(n, 3), 1, TC_F64), true);
    g[k] = tc_requires_grad_(tc_full(TC_EMPTY_LIST, 0.5, TC_F64), true);
  }
  CHECK(apart(kernels(tc_detach(a[0]), b, tc_detach(g[0])), kernels_by_hand(tc_detach(a[0]), b, tc_detach(g[0]))) < 1e-12);
  for (int k = 0; k < 4; k++) TC_SCOPE {
    tc_tensor *p[] = {a[1], g[1]}, *d[2], *y = step(a[0], b, g[0]);
    tc_tensor *want = tc_sum(tc_square(kernels_by_hand(a[1], b, g[1])), TC_ALL, false);
    CHECK(y && tc_grad(want, 2, p, d));
    TC_NO_GRAD for (int i = 0; i < 2; i++) tc_sub_(p[i], tc_mul_s(d[i], 0.01));
    CHECK(apart(y, want) < 1e-9 && apart(a[0], a[1]) < 1e-9 && apart(g[0], g[1]) < 1e-9);
    tc_set_enabled(k % 2); /* the next one: the body, which is eager */
  }
  tc_set_enabled(true);
  for (int k = 0; k < 2; k++) tc_free(a[k]), tc_free(g[k]);
}

/* ---- eager code around a compiled function that maps ----------------------------------------------- */

static void on_the_tape(int64_t n, int64_t m) {
  tc_tensor *b = tc_randn(TC_DIMS(m, 2), 2, TC_F64), *a = tc_requires_grad_(tc_randn(TC_DIMS(n, 2), 1, TC_F64), true);
  tc_tensor *g = tc_requires_grad_(tc_full(TC_EMPTY_LIST, 0.5, TC_F64), true), *p[] = {a, g}, *d[2], *want[2];
  TC_SCOPE {
    CHECK(tc_grad(tc_sum(tc_square(kernels(a, b, g)), TC_ALL, false), 2, p, d));
    CHECK(tc_grad(tc_sum(tc_square(kernels_by_hand(a, b, g)), TC_ALL, false), 2, p, want));
    CHECK(apart(d[0], want[0]) < 1e-9 && apart(d[1], want[1]) < 1e-9);
  }
  tc_free(a), tc_free(g);
}

int main(void) {
  static const int64_t sizes[] = {1, 2, 5, 300};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    TC_SCOPE {
      const int64_t n = sizes[k];
      network_gradients(n);
      derivatives(n > 20 ? 20 : n);
      nested(n > 20 ? 20 : n, 4);
      on_the_tape(3, n > 20 ? 20 : n);
    }
  static const char *const compiled[] = {"each", "jacobian", "columns", "hessians", "step"};
  for (size_t k = 0; k < sizeof compiled / sizeof *compiled; k++)
    if (fallbacks_of(compiled[k]) || !hits_of(compiled[k])) {
      fprintf(stderr, "%s: %d hits, %d fallbacks\n", compiled[k], (int)hits_of(compiled[k]), (int)fallbacks_of(compiled[k]));
      return 1;
    }
  return 0;
}

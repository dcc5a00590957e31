/* Every shape of kernel on a real GPU: elementwise, rows held and read twice, columns, whole
 * tensors, scans, gathers and scatters, transposes, products with and without a library, random
 * numbers; sizes that are even and odd, short and long, and operands that are views, with NaN
 * around them: who reads past an end gets a NaN.  The compiled function on the GPU against the
 * original body on the CPU.  Small enough for compute-sanitizer.
 * Exits 77 where there is no GPU (skipped), 1 when a check failed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

#include "places.h"

/* ---- functions ------------------------------------------------------------------------------- */

TC_COMPILE static tc_tensor *chain(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                   const tc_tensor *b TC_SHAPE("f32[C]")) {
  return tc_mul(tc_gelu(tc_add(tc_mul_s(x, 1.5), b)), tc_sigmoid(x));
}
TC_COMPILE static tc_tensor *integers(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  tc_tensor *n = tc_cast(tc_mul_s(x, 10), TC_I32);
  return tc_where(tc_gt_s(x, 0), tc_add(n, n), tc_neg(n));
}
TC_COMPILE static tc_tensor *softmax(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_softmax(x, -1);
}
TC_COMPILE static tc_tensor *norm(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                  const tc_tensor *b TC_SHAPE("f32[C]")) {
  return tc_layer_norm(x, 1, b, b, 1e-5);
}
TC_COMPILE static tc_tensor *norm_once(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                       const tc_tensor *b TC_SHAPE("f32[C]")) {
  return tc_rms_norm(x, 1, b, 1e-5);
}
TC_COMPILE static tc_tensor *norm_short(const tc_tensor *x TC_SHAPE("bf16[R,C]"),
                                        const tc_tensor *b TC_SHAPE("bf16[C]")) {
  return tc_rms_norm(x, 1, b, 1e-5);
}
TC_COMPILE static tc_tensor *best(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_argmax(x, TC_AXES(1), false);
}
TC_COMPILE static tc_tensor *best_column(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_argmin(x, TC_AXES(0), false);
}
TC_COMPILE static tc_tensor *rows(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_add(tc_mean(x, TC_AXES(1), true), tc_max(x, TC_AXES(1), true));
}
TC_COMPILE static tc_tensor *columns(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_sum(tc_square(x), TC_AXES(0), false);
}
TC_COMPILE static tc_tensor *columns_short(const tc_tensor *x TC_SHAPE("bf16[R,C]")) {
  return tc_sum(x, TC_AXES(0), false);
}
TC_COMPILE static tc_tensor *columns_soft(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_softmax(x, 0);
}
TC_COMPILE static tc_tensor *whole(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_var(x, TC_ALL, 0, false);
}
TC_COMPILE static tc_tensor *running(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_cumsum(x, 1);
}
TC_COMPILE static tc_tensor *running_down(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_cumsum(x, 0);
}
TC_COMPILE static tc_tensor *turned(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_add_s(tc_contiguous(tc_transpose(x, 0, 1)), 1);
}
TC_COMPILE static tc_tensor *turned_copy(const tc_tensor *x TC_SHAPE("bf16[R,C]")) {
  return tc_clone(tc_transpose(x, 0, 1));
}
TC_COMPILE static tc_tensor *turned_bytes(const tc_tensor *x TC_SHAPE("i8[R,C]")) {
  return tc_clone(tc_transpose(x, 0, 1));
}
TC_COMPILE static tc_tensor *turned_sum(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                        const tc_tensor *y TC_SHAPE("bf16[R,C]")) {
  return tc_add(tc_transpose(x, 0, 1), tc_cast(tc_transpose(y, 0, 1), TC_F32));
}
TC_COMPILE static tc_tensor *picked(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                    const tc_tensor *i TC_SHAPE("i64[N]")) {
  return tc_embedding(x, i);
}
/* Halves and bytes beside what rows or columns share, of rows that indices name, and of rows of 3. */
TC_COMPILE static tc_tensor *biased(const tc_tensor *x TC_SHAPE("bf16[R,C]"), const tc_tensor *b TC_SHAPE("bf16[C]"),
                                    const tc_tensor *s TC_SHAPE("bf16[R,1]")) {
  return tc_mul(tc_relu(tc_add(x, b)), s);
}
TC_COMPILE static tc_tensor *picked_short(const tc_tensor *x TC_SHAPE("bf16[R,C]"), const tc_tensor *i TC_SHAPE("i64[N]")) {
  return tc_embedding(x, i);
}
TC_COMPILE static tc_tensor *scaled_channels(const tc_tensor *x TC_SHAPE("f16[B,R,7,7]"), const tc_tensor *s TC_SHAPE("f16[R,1,1]")) {
  return tc_mul(x, s);
}
TC_COMPILE static tc_tensor *colours(const tc_tensor *x TC_SHAPE("u8[R,3]"), const tc_tensor *m TC_SHAPE("f32[3]")) {
  return tc_cast(tc_sub(tc_cast(x, TC_F32), m), TC_BF16);
}
TC_COMPILE static tc_tensor *spread(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                    const tc_tensor *i TC_SHAPE("i64[N,C]"),
                                    const tc_tensor *v TC_SHAPE("f32[N,C]")) {
  return tc_scatter_add(x, 0, i, v);
}
TC_COMPILE static tc_tensor *loss(const tc_tensor *x TC_SHAPE("f32[R,C]"),
                                  const tc_tensor *t TC_SHAPE("i64[R]")) {
  return tc_nll(tc_log_softmax(x, -1), t, TC_MEAN);
}
TC_COMPILE static tc_tensor *product(const tc_tensor *a TC_SHAPE("f32[M,K]"),
                                     const tc_tensor *b TC_SHAPE("f32[K,N]"),
                                     const tc_tensor *c TC_SHAPE("f32[N]")) {
  return tc_gelu(tc_add(tc_matmul(a, b), c));
}
TC_COMPILE static tc_tensor *product_short(const tc_tensor *a TC_SHAPE("bf16[M,K]"),
                                           const tc_tensor *b TC_SHAPE("bf16[N,K]"),
                                           const tc_tensor *c TC_SHAPE("bf16[N]")) {
  return tc_gelu(tc_linear(a, b, c));
}
/* Products that read what another one made, whose rows may be padded: by rows and by columns. */
TC_COMPILE static tc_tensor *product_rows(const tc_tensor *a TC_SHAPE("bf16[M,K]"),
                                          const tc_tensor *b TC_SHAPE("bf16[N,K]")) {
  return tc_matmul(tc_relu(tc_linear(a, b, NULL)), b);
}
TC_COMPILE static tc_tensor *product_columns(const tc_tensor *a TC_SHAPE("bf16[M,K]"),
                                             const tc_tensor *b TC_SHAPE("bf16[N,K]")) {
  return tc_matmul(tc_transpose(tc_relu(tc_linear(a, b, NULL)), 0, 1), a);
}
TC_COMPILE static tc_tensor *products(const tc_tensor *a TC_SHAPE("f64[B,M,K]"),
                                      const tc_tensor *b TC_SHAPE("f64[B,K,N]")) {
  return tc_matmul(a, b);
}
/* Convolutions: 3 x 3 windows of images, channels first and last. */
TC_COMPILE static tc_tensor *convolved(const tc_tensor *x TC_SHAPE("f32[B,C,H,W]"),
                                       const tc_tensor *w TC_SHAPE("f32[O,C,3,3]")) {
  int64_t B = tc_size(x, 0), C = tc_size(x, 1), H = tc_size(x, 2), W = tc_size(x, 3), O = tc_size(w, 0);
  tc_tensor *p = tc_pad(x, TC_DIMS(0, 0, 1, 1), TC_DIMS(0, 0, 1, 1), 0);
  tc_tensor *u = tc_permute(tc_unfold(tc_unfold(p, 2, 3, 1), 3, 3, 1), TC_DIMS(0, 1, 4, 5, 2, 3));
  tc_tensor *y = tc_matmul(tc_reshape(w, TC_DIMS(O, 9 * C)), tc_reshape(u, TC_DIMS(B, 9 * C, H * W)));
  return tc_relu(tc_reshape(y, TC_DIMS(B, O, H, W)));
}
#define ATTENTION(name, T, D)                                                                      \
  TC_COMPILE static tc_tensor *name(const tc_tensor *q TC_SHAPE(T "[B,H,T," #D "]"),               \
                                    const tc_tensor *k TC_SHAPE(T "[B,H,S," #D "]"),               \
                                    const tc_tensor *v TC_SHAPE(T "[B,H,S," #D "]")) {             \
    tc_tensor *s = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.125);                           \
    return tc_matmul(tc_softmax(s, -1), v);                                                          \
  }                                                                                                  \
  TC_COMPILE static tc_tensor *name##_causal(const tc_tensor *q TC_SHAPE(T "[B,H,T," #D "]"),      \
                                             const tc_tensor *k TC_SHAPE(T "[B,H,S," #D "]"),      \
                                             const tc_tensor *v TC_SHAPE(T "[B,H,S," #D "]")) {    \
    const int64_t t = tc_size(q, 2), n = tc_size(k, 2);                                              \
    tc_tensor *s = tc_mul_s(tc_matmul(q, tc_transpose(k, -2, -1)), 0.125);                           \
    tc_tensor *mask = tc_triu(tc_full(TC_DIMS(t, n), -INFINITY, tc_dtype_of(q)), n - t + 1);                \
    return tc_matmul(tc_softmax(tc_add(s, mask), -1), v);                                            \
  }                                                                                                  \
  TC_COMPILE static tc_tensor *name##_masked(const tc_tensor *q TC_SHAPE(T "[B,H,T," #D "]"),      \
                                             const tc_tensor *kt TC_SHAPE(T "[B,H," #D ",S]"),     \
                                             const tc_tensor *v TC_SHAPE(T "[B,H,S," #D "]"),      \
                                             const tc_tensor *mask TC_SHAPE("bool[T,S]")) {          \
    tc_tensor *s = tc_mul_s(tc_matmul(q, kt), 0.125);                                                \
    tc_tensor *none = tc_full(TC_DIMS(1), -INFINITY, tc_dtype_of(q));                                       \
    return tc_matmul(tc_softmax(tc_where(mask, s, none), -1), v);                                    \
  }
ATTENTION(attention, "bf16", 64)
ATTENTION(attention_wide, "bf16", 128)
ATTENTION(attention_widest, "bf16", 192)
ATTENTION(attention_odd, "bf16", 40)
ATTENTION(attention_any, "bf16", E)
ATTENTION(single, "f32", 64)
ATTENTION(single_wide, "f32", 128)
ATTENTION(single_any, "f32", E)
ATTENTION(doubles, "f64", 64)
ATTENTION(doubles_any, "f64", E)
/* And with its gradients: y, dq, dk, dv, one behind the other. */
#define TRAINED(name, T, D)                                                                        \
  TC_COMPILE static tc_tensor *name##_trained(                                                       \
      const tc_tensor *q TC_SHAPE(T "[B,H,T," #D "]"), const tc_tensor *k TC_SHAPE(T "[B,H,S," #D "]"), \
      const tc_tensor *v TC_SHAPE(T "[B,H,S," #D "]"), const tc_tensor *g TC_SHAPE(T "[B,H,T," #D "]")) { \
    const tc_tensor *of[] = {q, k, v};                                                               \
    tc_tensor *d[3], *y = name##_causal(q, k, v);                                                    \
    if (!tc_grad_with(y, g, 3, of, 0, d)) return NULL;                                               \
    const tc_tensor *all[] = {tc_flatten(y, 0, -1), tc_flatten(d[0], 0, -1), tc_flatten(d[1], 0, -1), \
                              tc_flatten(d[2], 0, -1)};                                              \
    return tc_concat(all, 4, 0);                                                                     \
  }
TRAINED(attention, "bf16", 64)
TRAINED(attention_odd, "bf16", 40)
TRAINED(attention_widest, "bf16", 192)
TRAINED(attention_any, "bf16", E)
TRAINED(single, "f32", 64)
TRAINED(single_wide, "f32", 128)
TRAINED(single_any, "f32", E)
TRAINED(doubles, "f64", 64)
TRAINED(doubles_any, "f64", E)
TC_COMPILE static tc_tensor *convolved_short(const tc_tensor *x TC_SHAPE("bf16[B,H,W,C]"),
                                             const tc_tensor *w TC_SHAPE("bf16[9*C,O]")) {
  int64_t B = tc_size(x, 0), H = tc_size(x, 1), W = tc_size(x, 2), C = tc_size(x, 3), O = tc_size(w, 1);
  tc_tensor *p = tc_pad(x, TC_DIMS(0, 1, 1, 0), TC_DIMS(0, 1, 1, 0), 0);
  tc_tensor *u = tc_permute(tc_unfold(tc_unfold(p, 1, 3, 1), 2, 3, 1), TC_DIMS(0, 1, 2, 4, 5, 3));
  tc_tensor *y = tc_matmul(tc_reshape(u, TC_DIMS(B * H * W, 9 * C)), w);
  return tc_relu(tc_reshape(y, TC_DIMS(B, H, W, O)));
}
TC_COMPILE TC_SPECIALIZE("C=64") TC_SPECIALIZE("R=7,C=5")
static tc_tensor *special(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_softmax(tc_mul_s(x, 2), -1);
}
TC_COMPILE static tc_tensor *noisy(const tc_tensor *x TC_SHAPE("f32[R,C]")) {
  return tc_add(x, tc_randn(TC_DIMS(tc_size(x, 0), tc_size(x, 1)), 7, TC_F32));
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef tc_tensor *run_fn(const tc_tensor *const *in);

static void check(const char *name, run_fn *run, const tc_tensor *const *in, int n, place where,
                  const char *what) {
  const tc_tensor *device[4] = {0};
  for (int i = 0; i < n; i++) {
    device[i] = placed(in[i], where);
    if (tc_requires_grad(in[i])) device[i] = tc_requires_grad_(tc_detach(device[i]), true);
  }
  tc_set_enabled(false);
  const tc_tensor *want = run(in);
  tc_set_enabled(true);
  const tc_stats before = tc_stats_of(name);
  const tc_tensor *got = run(device);
  const bool hit = tc_stats_of(name).hits > before.hits;
  const bool right = agree(got, want);
  checks++;
  if (right && hit) return;
  failures++;
  printf("FAILED: %s, %s%s: %s%s\n", name, what, place_text[where],
         !hit ? "the body ran" : "another result", tc_error() ? tc_error() : "");
  tc_clear_error();
}

#define RUN1(f)                                                                                    \
  static tc_tensor *run_##f(const tc_tensor *const *in) { return f(in[0]); }
#define RUN2(f)                                                                                    \
  static tc_tensor *run_##f(const tc_tensor *const *in) { return f(in[0], in[1]); }
#define RUN3(f)                                                                                    \
  static tc_tensor *run_##f(const tc_tensor *const *in) { return f(in[0], in[1], in[2]); }
#define RUN4(f)                                                                                    \
  static tc_tensor *run_##f(const tc_tensor *const *in) { return f(in[0], in[1], in[2], in[3]); }
RUN2(chain)
RUN1(integers)
RUN1(softmax)
RUN2(norm) RUN2(norm_once) RUN2(norm_short) RUN1(best) RUN1(best_column) RUN1(rows) RUN1(columns)
        RUN1(columns_short) RUN1(columns_soft)
    RUN1(whole) RUN1(running) RUN1(running_down) RUN1(turned) RUN1(turned_copy)
        RUN1(turned_bytes) RUN2(turned_sum)
        RUN2(picked) RUN3(biased) RUN2(picked_short) RUN2(scaled_channels) RUN2(colours) RUN3(spread) RUN2(loss) RUN3(product)
        RUN3(product_short) RUN2(product_rows) RUN2(product_columns) RUN2(products) RUN1(noisy) RUN1(special)
        RUN2(convolved) RUN2(convolved_short) RUN3(attention) RUN3(attention_causal)
            RUN4(attention_masked) RUN3(attention_wide) RUN3(attention_widest) RUN3(attention_widest_causal)
                RUN4(attention_widest_masked) RUN3(attention_wide_causal)
                RUN4(attention_wide_masked) RUN3(attention_odd) RUN3(attention_odd_causal)
                    RUN4(attention_odd_masked) RUN4(attention_trained) RUN4(attention_odd_trained) RUN4(attention_widest_trained)
                        RUN3(attention_any) RUN3(attention_any_causal) RUN4(attention_any_masked) RUN4(attention_any_trained)
#define RUN_ATTENTION(f) RUN3(f) RUN3(f##_causal) RUN4(f##_masked) RUN4(f##_trained)
RUN_ATTENTION(single) RUN_ATTENTION(single_wide) RUN_ATTENTION(single_any) RUN_ATTENTION(doubles) RUN_ATTENTION(doubles_any)
#define CHECK_AT(f, where, what, ...)                                                              \
  check(#f, run_##f, (const tc_tensor *const[]){__VA_ARGS__},                                      \
        (int)(sizeof((const tc_tensor *[]){__VA_ARGS__}) / sizeof(tc_tensor *)), where, what)

    /* ---- operands ------------------------------------------------------------------------------
     */

    static tc_tensor *values(int64_t r, int64_t c) {
  return tc_randn(TC_DIMS(r, c), 1, TC_F32);
}

/* Indices below `limit`, in an order that jumps. */
static tc_tensor *indices(int64_t n, int64_t limit) {
  const tc_tensor *x = tc_rand(TC_DIMS(n), 3, TC_F64);
  return tc_cast(tc_mul_s(x, (double)limit), TC_I64);
}

#define CHECK(f, what, ...) CHECK_AT(f, where, what, __VA_ARGS__)
static void check_rows(int64_t r, int64_t c, place where) {
  char what[64];
  snprintf(what, sizeof what, "[%lld,%lld]", (long long)r, (long long)c);
  TC_SCOPE {
    const tc_tensor *x = values(r, c), *b = tc_randn(TC_DIMS(c), 4, TC_F32);
    CHECK(chain, what, x, b);
    CHECK(integers, what, x);
    CHECK(softmax, what, x);
    CHECK(norm, what, x, b);
    CHECK(norm_short, what, tc_cast(x, TC_BF16), tc_cast(b, TC_BF16));
    CHECK(best, what, x);
    CHECK(best_column, what, x);
    CHECK(rows, what, x);
    CHECK(columns, what, x);
    CHECK(whole, what, x);
    CHECK(running, what, x);
    CHECK(running_down, what, x);
    CHECK(turned, what, x);
    CHECK(turned_copy, what, tc_cast(x, TC_BF16));
    CHECK(turned_bytes, what, tc_cast(tc_clamp(tc_mul_s(x, 30), -127, 127), TC_I8));
    CHECK(turned_sum, what, x, tc_cast(x, TC_BF16));
    CHECK(noisy, what, x);
    CHECK(special, what, x);
    CHECK(loss, what, x, indices(r, c));
    CHECK(picked, what, x, indices(77, r));
    CHECK(picked_short, what, tc_cast(x, TC_BF16), indices(177, r));
    CHECK(biased, what, tc_cast(x, TC_BF16), tc_cast(b, TC_BF16), tc_cast(values(r, 1), TC_BF16));
    CHECK(scaled_channels, what, tc_cast(tc_reshape(tc_randn(TC_DIMS(3 * r * 49), 5, TC_F32), TC_DIMS(3, r, 7, 7)), TC_F16),
          tc_cast(tc_reshape(values(r, 1), TC_DIMS(r, 1, 1)), TC_F16));
    if (where == ALONE) CHECK(colours, what, tc_cast(tc_clamp(tc_abs(tc_mul_s(values(r, 3), 60)), 0, 255), TC_U8), tc_randn(TC_DIMS(3), 6, TC_F32));
    CHECK(spread, what, x, tc_expand(tc_reshape(indices(50, r), TC_DIMS(50, 1)), TC_DIMS(50, c)),
          values(50, c));
  }
}

typedef struct size {
  int64_t r, c;
} size;

/* Columns whose last round is not full: threads have one to all of its elements, and none past the
 * end, where NaN is. */
static void check_columns(bool few) {
  static const int64_t rows[] = {201, 5003, 9, 23, 31, 47, 93, 635, 1021, 2045},
                       columns[] = {68, 8, 40, 516, 1001, 2056};
  const place where = BETWEEN;
  for (size_t i = 0; i < (few ? 2 : sizeof rows / sizeof *rows); i++)
    for (size_t j = 0; j < (few ? 1 : sizeof columns / sizeof *columns); j++) {
      char what[64];
      snprintf(what, sizeof what, "[%lld,%lld]", (long long)rows[i], (long long)columns[j]);
      TC_SCOPE {
        const tc_tensor *x = values(rows[i], columns[j]);
        CHECK(columns, what, x);
        CHECK(columns_short, what, tc_cast(x, TC_BF16));
        CHECK(columns_soft, what, x);
        CHECK(best_column, what, x);
      }
    }
}

/* Rows that fill a team or warps exactly, where there are many, and more than a cache holds; parts of a
 * whole tensor, likewise. */
static void check_many(bool few) {
  static const size norms[] = {{530, 4096}, {700, 3072}, {260, 8192}, {300, 2048},
                               {420, 5120}, {180, 12288}, {9000, 4096}, {4300, 8192}};
  const place where = BETWEEN;
  const size_t n = few ? 3 : sizeof norms / sizeof *norms;
  for (size_t i = 0; i < n; i++) TC_SCOPE {
      const tc_tensor *x = values(norms[i].r, norms[i].c),
                      *b = tc_randn(TC_DIMS(norms[i].c), 4, TC_F32);
      CHECK(norm, "many rows", x, b);
      CHECK(norm_once, "many rows", x, b);
      CHECK(norm_short, "many rows", tc_cast(x, TC_BF16), tc_cast(b, TC_BF16));
      CHECK(softmax, "many rows", x);
    }
  if (!few) TC_SCOPE CHECK(whole, "many parts", values(2100, 4100));
}

/* The runtime's own copy through tiles. */
static void check_turn(int64_t r, int64_t c, place where) {
  TC_SCOPE {
    const tc_tensor *x = values(r, c), *y = placed(x, where);
    checks++;
    if (tc_max_abs_diff(tc_contiguous(tc_transpose(y, 0, 1)), tc_transpose(x, 0, 1)) == 0) break;
    failures++;
    printf("FAILED: a turn of [%lld,%lld]%s\n", (long long)r, (long long)c, place_text[where]);
  }
}

static void check_products(int64_t m, int64_t k, int64_t n, place where) {
  char what[64];
  snprintf(what, sizeof what, "%lldx%lldx%lld", (long long)m, (long long)k, (long long)n);
  TC_SCOPE {
    const tc_tensor *a = values(m, k), *b = values(k, n), *c = tc_randn(TC_DIMS(n), 5, TC_F32);
    const tc_tensor *bt = tc_contiguous(tc_transpose(b, 0, 1));
    CHECK(product, what, a, b, c);
    CHECK(product_short, what, tc_cast(a, TC_BF16), tc_cast(bt, TC_BF16), tc_cast(c, TC_BF16));
    CHECK(product_rows, what, tc_cast(a, TC_BF16), tc_cast(bt, TC_BF16));
    CHECK(product_columns, what, tc_cast(a, TC_BF16), tc_cast(bt, TC_BF16));
    CHECK(products, what, tc_randn(TC_DIMS(3, m, k), 6, TC_F64),
          tc_randn(TC_DIMS(3, k, n), 7, TC_F64));
  }
}

static void check_convolutions(int64_t images, int64_t channels, int64_t side, int64_t results) {
  const place where = ALONE;
  char what[64];
  snprintf(what, sizeof what, "%lld images of %lldx%lldx%lld", (long long)images, (long long)channels,
           (long long)side, (long long)side + 3);
  TC_SCOPE {
    const tc_tensor *x = tc_randn(TC_DIMS(images, channels, side, side + 3), 8, TC_F32);
    const tc_tensor *w = tc_mul_s(tc_randn(TC_DIMS(results, channels, 3, 3), 9, TC_F32), 0.1);
    const tc_tensor *last = tc_contiguous(tc_permute(x, TC_DIMS(0, 2, 3, 1)));
    const tc_tensor *columns = tc_contiguous(tc_transpose(tc_reshape(w, TC_DIMS(results, -1)), 0, 1));
    CHECK(convolved, what, x, w);
    CHECK(convolved_short, what, tc_cast(last, TC_BF16), tc_cast(columns, TC_BF16));
  }
}

static tc_tensor *leaf(int64_t b, int64_t h, int64_t t, int64_t d, uint64_t seed, tc_dtype type) {
  return tc_requires_grad_(tc_cast(tc_randn(TC_DIMS(b, h, t, d), seed, TC_F32), type), true);
}

/* Scores are a scalar product by 1/8: as large as those of width 64, of which the body's rounding to
 * halves leaves as much. */
static tc_tensor *queries(int64_t b, int64_t h, int64_t t, int64_t d, tc_dtype type) {
  const tc_tensor *x = tc_mul_s(tc_randn(TC_DIMS(b, h, t, d), 10, TC_F32), d > 64 ? 8 / sqrt((double)d) : 1);
  return tc_requires_grad_(tc_cast(x, type), true);
}

/* Queries that see no key are NaN in both; here the last one sees all. */
#define CHECK_ATTENTION(name, type, d)                                                             \
  {                                                                                                \
    const tc_tensor *q = tc_detach(queries(b, h, t, d, type)), *k = tc_detach(leaf(b, h, s, d, 11, type)); \
    const tc_tensor *v = tc_detach(leaf(b, h, s, d, 12, type));                                    \
    CHECK(name, what, q, k, v);                                                                    \
    if (s >= t) CHECK(name##_causal, what, q, k, v);                                               \
    CHECK(name##_masked, what, q, tc_contiguous(tc_transpose(k, -2, -1)), v, mask);                \
  }
#define CHECK_TRAINED(name, type, d)                                                               \
  if (s >= t)                                                                                      \
    CHECK(name##_trained, what, queries(b, h, t, d, type), leaf(b, h, s, d, 11, type),            \
          leaf(b, h, s, d, 12, type), tc_detach(leaf(b, h, t, d, 13, type)));
#define CHECK_BOTH(name, type, d)                                                                  \
  CHECK_ATTENTION(name, type, d)                                                                   \
  CHECK_TRAINED(name, type, d)

/* Keys that queries see: the first one, and some. */
static const tc_tensor *some_keys(int64_t t, int64_t s) {
  const tc_tensor *column = tc_arange(s, 0, 1, TC_I64);
  const tc_tensor *seen = tc_gt(tc_rand(TC_DIMS(t, s), 13, TC_F32), tc_full(TC_DIMS(1), 0.4, TC_F32));
  return tc_logical_or(seen, tc_eq(column, tc_full(TC_DIMS(1), 0, TC_I64)));
}

static void check_attention(int64_t b, int64_t h, int64_t t, int64_t s) {
  const place where = ALONE;
  char what[64];
  snprintf(what, sizeof what, "%lldx%lld heads, %lld of %lld", (long long)b, (long long)h, (long long)t, (long long)s);
  TC_SCOPE {
    const tc_tensor *mask = some_keys(t, s);
    CHECK_ATTENTION(attention, TC_BF16, 64)
    CHECK_ATTENTION(attention_wide, TC_BF16, 128)
    CHECK_ATTENTION(attention_widest, TC_BF16, 192)
    CHECK_ATTENTION(attention_odd, TC_BF16, 40)
    CHECK_TRAINED(attention, TC_BF16, 64)
    CHECK_TRAINED(attention_odd, TC_BF16, 40)
    CHECK_TRAINED(attention_widest, TC_BF16, 192)
    CHECK_ATTENTION(attention_any, TC_BF16, 36)
    CHECK_ATTENTION(attention_any, TC_BF16, 64)
    CHECK_ATTENTION(attention_any, TC_BF16, 120)
    CHECK_ATTENTION(attention_any, TC_BF16, 256)
    CHECK_ATTENTION(attention_any, TC_BF16, 264)
    CHECK_TRAINED(attention_any, TC_BF16, 33)
    CHECK_TRAINED(attention_any, TC_BF16, 64)
    CHECK_TRAINED(attention_any, TC_BF16, 128)
    CHECK_TRAINED(attention_any, TC_BF16, 136)
    CHECK_TRAINED(attention_any, TC_BF16, 256)
    CHECK_BOTH(single, TC_F32, 64)
    CHECK_BOTH(single_wide, TC_F32, 128)
    CHECK_BOTH(single_any, TC_F32, 33)
    CHECK_BOTH(single_any, TC_F32, 120)
    CHECK_BOTH(single_any, TC_F32, 256)
    CHECK_BOTH(single_any, TC_F32, 264)
    CHECK_BOTH(doubles, TC_F64, 64)
    CHECK_BOTH(doubles_any, TC_F64, 40)
    CHECK_BOTH(doubles_any, TC_F64, 256)
  }
}

/* Rows that begin anywhere; the longer ones pay for copies that do not. */
static void check_unaligned(int64_t b, int64_t h, int64_t t, int64_t d) {
  const int64_t s = t;
  char what[64];
  snprintf(what, sizeof what, "%lldx%lld heads, %lld of width %lld", (long long)b, (long long)h, (long long)t, (long long)d);
  for (place where = ALONE; where < PLACES; where++) TC_SCOPE {
      const tc_tensor *mask = some_keys(t, s);
      CHECK_BOTH(attention_any, TC_BF16, d)
      CHECK_ATTENTION(attention, TC_BF16, 64)
    }
}

int main(int argc, char **argv) {
  (void)argv;
  if (tc_device_count(TC_CUDA) == 0) {
    printf("skipped: %s\n", tc_error() ? tc_error() : "no GPU");
    return 77;
  }
  static const size all[] = {{1, 1},     {7, 5},     {64, 64},  {130, 67},
                             {33, 1024}, {2, 40001}, {9001, 6}, {600, 512},
                             {3, 40000}, {300, 8200}};
  static const size small[] = {{7, 5}, {64, 64}, {33, 257}, {2, 9001}, {2, 9008}, {1501, 6}};
  const bool few = argc > 1; /* any argument: the small sizes, no views */
  const size *list = few ? small : all;
  const size_t n = few ? sizeof small / sizeof *small : sizeof all / sizeof *all;
  for (size_t i = 0; i < n; i++)
    for (place where = ALONE; where < (few ? BETWEEN : PLACES); where++) {
      check_rows(list[i].r, list[i].c, where);
      check_turn(list[i].r, list[i].c, where);
    }
  check_columns(few);
  check_many(few);
  check_products(1, 1, 1, ALONE);
  check_products(64, 64, 64, ALONE);
  check_products(33, 70, 129, ALONE);
  static const int64_t products[][3] = {
      {128, 256, 192}, {16, 784, 48}, {320, 72, 320}, {640, 40, 640}, {1408, 32, 1408}, {2000, 96, 1031}, {1031, 200, 2003}};
  for (size_t i = 0; !few && i < sizeof products / sizeof *products; i++)
    check_products(products[i][0], products[i][1], products[i][2], ALONE);
  /* so large that products of halves pay for copies with aligned rows, and not */
  for (place where = ALONE; where < (few ? BETWEEN : PLACES); where++) {
    if (!few) check_products(2000, 999, 1003, where);
    check_products(130, 75, 67, where);
    check_products(832, 36, 704, where); /* tiles of f32 for all multiprocessors */
    check_products(831, 35, 705, where);
  }
  check_convolutions(2, 3, 9, 5);
  check_convolutions(1, 16, 20, 40);
  check_convolutions(1, 300, 5, 70); /* few tiles of a long k */
  if (!few) check_convolutions(3, 64, 28, 96);
  check_unaligned(1, 2, 90, 77);
  if (!few) check_unaligned(2, 16, 1000, 77);
  check_attention(1, 1, 1, 1);
  check_attention(2, 3, 70, 133);
  check_attention(1, 2, 64, 64);
  check_attention(1, 2, 3, 1500); /* keys are shared out */
  if (!few) check_attention(2, 3, 40, 3000);
  if (!few) check_attention(1, 2, 300, 77);
  if (!few) check_attention(4, 40, 260, 520);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}

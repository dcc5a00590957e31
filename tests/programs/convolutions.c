/* tcompile/conv.h: against the sum as it is written, by kernels and by bodies; gradients against those of the sum; and
 * what is refused. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tcompile/conv.h>

/* A convolution of one kind, and the gradients of half the sum of its squares, of which `which` is returned. */
#define KIND(name, x_shape, w_shape, stride, padding, dilation, groups)                                                \
  TC_COMPILE static tc_tensor *name(const tc_tensor *x TC_SHAPE(x_shape), const tc_tensor *w TC_SHAPE(w_shape),        \
                                    const tc_tensor *b TC_SHAPE("f32[O]")) {                                           \
    return tc_conv(x, w, b, stride, padding, dilation, groups);                                                        \
  }                                                                                                                    \
  TC_COMPILE static tc_tensor *name##_gradients(const tc_tensor *x TC_SHAPE(x_shape),                                  \
                                                const tc_tensor *w TC_SHAPE(w_shape),                                  \
                                                const tc_tensor *b TC_SHAPE("f32[O]"), tc_tensor **dw,                 \
                                                tc_tensor **db) {                                                      \
    const tc_tensor *of[] = {x, w, b};                                                                                 \
    tc_tensor *g[3];                                                                                                   \
    tc_tensor *y = tc_conv(x, w, b, stride, padding, dilation, groups);                                                \
    tc_tensor *loss = tc_mul_s(tc_sum(tc_square(y), TC_ALL, false), 0.5);                                              \
    if (!tc_grad(loss, 3, of, g)) return NULL;                                                                         \
    *dw = g[1], *db = g[2];                                                                                            \
    return g[0];                                                                                                       \
  }

KIND(line, "f32[N,C,L]", "f32[O,C,5]", TC_INTS(1), TC_INTS(2), TC_INTS(1), 1)
KIND(image, "f32[N,C,H,W]", "f32[O,C,3,3]", TC_INTS(1), TC_INTS(1), TC_INTS(1), 1)
KIND(one_channel, "f32[N,1,H,W]", "f32[1,1,3,3]", TC_INTS(1), TC_INTS(1), TC_INTS(1), 1)
KIND(strided, "f32[N,C,H,W]", "f32[O,C,3,2]", TC_INTS(2, 3), TC_INTS(1, 0), TC_INTS(1), 1)
KIND(dilated, "f32[N,C,H,W]", "f32[O,C,3,3]", TC_INTS(1), TC_INTS(2), TC_INTS(2, 1), 1)
KIND(points, "f32[N,C,H,W]", "f32[O,C,1,1]", TC_INTS(1), TC_INTS(0), TC_INTS(1), 1)
KIND(grouped, "f32[N,6,H,W]", "f32[O,2,3,3]", TC_INTS(1), TC_INTS(1), TC_INTS(1), 3)
KIND(depthwise, "f32[N,4,H,W]", "f32[4,1,3,3]", TC_INTS(2), TC_INTS(1), TC_INTS(1), 4)
KIND(channels, "f32[N,32,H,W]", "f32[O,32,3,3]", TC_INTS(1), TC_INTS(1, 0), TC_INTS(1), 1)
KIND(small, "f32[N,3,5,6]", "f32[O,3,3,3]", TC_INTS(1), TC_INTS(1), TC_INTS(1), 1)
KIND(small_depthwise, "f32[N,4,5,7]", "f32[4,1,3,3]", TC_INTS(1), TC_INTS(1), TC_INTS(1), 4)
KIND(volume, "f32[N,C,D,H,W]", "f32[O,C,2,3,2]", TC_INTS(1, 2, 1), TC_INTS(1), TC_INTS(1, 1, 2), 1)

typedef tc_tensor *forward(const tc_tensor *, const tc_tensor *, const tc_tensor *);
typedef tc_tensor *backward(const tc_tensor *, const tc_tensor *, const tc_tensor *, tc_tensor **, tc_tensor **);

typedef struct kind {
  const char *name;
  forward *f;
  backward *g;
  int64_t x[5], w[5]; /* shapes */
  int64_t stride[3], padding[3], dilation[3], groups;
  int axes;
} kind;

static const kind kinds[] = {
    {"line", line, line_gradients, {2, 3, 30}, {4, 3, 5}, {1}, {2}, {1}, 1, 1},
    {"image", image, image_gradients, {2, 3, 9, 21}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 2},
    {"one_channel", one_channel, one_channel_gradients, {2, 1, 9, 21}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 2},
    {"strided", strided, strided_gradients, {2, 3, 9, 20}, {5, 3, 3, 2}, {2, 3}, {1, 0}, {1, 1}, 1, 2},
    {"dilated", dilated, dilated_gradients, {1, 3, 7, 9}, {5, 3, 3, 3}, {1, 1}, {2, 2}, {2, 1}, 1, 2},
    {"points", points, points_gradients, {2, 7, 5, 6}, {9, 7, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, 2},
    {"grouped", grouped, grouped_gradients, {2, 6, 8, 9}, {9, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 3, 2},
    {"depthwise", depthwise, depthwise_gradients, {2, 4, 9, 10}, {4, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 4, 2},
    {"channels", channels, channels_gradients, {3, 32, 6, 5}, {16, 32, 3, 3}, {1, 1}, {1, 0}, {1, 1}, 1, 2},
    {"small", small, small_gradients, {3, 3, 5, 6}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 2},
    {"small_depthwise", small_depthwise, small_depthwise_gradients, {2, 4, 5, 7}, {4, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 4, 2},
    {"volume", volume, volume_gradients, {1, 2, 4, 7, 6}, {3, 2, 2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {1, 1, 2}, 1, 3},
};

/* ---- the sum as it is written ------------------------------------------------------------------ */

enum { MOST = 8192 };
typedef struct numbers {
  double x[MOST], w[MOST], b[16], y[MOST], dx[MOST], dw[MOST], db[16];
  int64_t o[5]; /* shape of y */
} numbers;

static int64_t numel(const int64_t *dim, int rank) {
  int64_t n = 1;
  for (int i = 0; i < rank; i++) n *= dim[i];
  return n;
}

/* Element k of an array as its indices. */
static void unravel(int64_t k, const int64_t *dim, int rank, int64_t *at) {
  for (int i = rank; i-- > 0; k /= dim[i]) at[i] = k % dim[i];
}

/* Adds to y, or where y is there, to its derivatives. */
static void sum_products(const kind *c, numbers *n, bool derivatives) {
  const int rank = c->axes + 2;
  const int64_t ny = numel(n->o, rank), nw = numel(c->w + 1, rank - 1);
  for (int64_t k = 0; k < ny; k++) {
    int64_t y[5], w[5];
    unravel(k, n->o, rank, y);
    const double dy = n->y[k]; /* of half the sum of squares */
    if (derivatives) n->db[y[1]] += dy;
    else n->y[k] = n->b[y[1]];
    for (int64_t j = 0; j < nw; j++) {
      unravel(j, c->w + 1, rank - 1, w);
      int64_t from = y[0] * c->x[1] + y[1] / (c->w[0] / c->groups) * c->w[1] + w[0];
      bool inside = true;
      for (int i = 0; i < c->axes; i++) {
        const int64_t at = y[2 + i] * c->stride[i] + w[1 + i] * c->dilation[i] - c->padding[i];
        inside = inside && at >= 0 && at < c->x[2 + i];
        from = from * c->x[2 + i] + at;
      }
      if (!inside) continue;
      if (!derivatives) n->y[k] += n->x[from] * n->w[y[1] * nw + j];
      else n->dx[from] += dy * n->w[y[1] * nw + j], n->dw[y[1] * nw + j] += dy * n->x[from];
    }
  }
}

static void compute(const kind *c, numbers *n) {
  const int rank = c->axes + 2;
  memset(n, 0, sizeof *n);
  for (int64_t k = 0; k < numel(c->x, rank); k++) n->x[k] = (double)((k * 7919) % 31) / 16 - 1;
  for (int64_t k = 0; k < numel(c->w, rank); k++) n->w[k] = (double)((k * 104729) % 23) / 32 - 0.35;
  for (int64_t k = 0; k < c->w[0]; k++) n->b[k] = (double)k / 4 - 0.5;
  n->o[0] = c->x[0], n->o[1] = c->w[0];
  for (int i = 0; i < c->axes; i++)
    n->o[2 + i] = (c->x[2 + i] + 2 * c->padding[i] - c->dilation[i] * (c->w[2 + i] - 1) - 1) / c->stride[i] + 1;
  sum_products(c, n, false);
  sum_products(c, n, true);
}

/* ---- checks -------------------------------------------------------------------------------------- */

static tc_ints shape(const int64_t *dim, int rank) {
  tc_ints s = {.n = rank};
  for (int i = 0; i < rank; i++) s.v[i] = dim[i];
  return s;
}

static tc_tensor *tensor(const double *v, const int64_t *dim, int rank) {
  return tc_cast(tc_from(shape(dim, rank), v, TC_F64), TC_F32);
}

static void close_to(const kind *c, const char *what, const tc_tensor *got, const double *want, const int64_t *dim, int rank) {
  CHECK(got && tc_rank(got) == rank);
  for (int i = 0; i < rank; i++) CHECK(tc_size(got, i) == dim[i]);
  const double apart = tc_max_abs_diff(got, tensor(want, dim, rank)), size = tc_item(tc_max(tc_abs(got), TC_ALL, false));
  if (apart > 1e-5 * (1 + size)) {
    fprintf(stderr, "%s: %s is off by %g of %g\n", c->name, what, apart, size);
    exit(1);
  }
}

static void run(const kind *c, const numbers *n) {
  const int rank = c->axes + 2;
  TC_SCOPE {
    tc_tensor *x = tensor(n->x, c->x, rank), *w = tensor(n->w, c->w, rank), *b = tensor(n->b, c->w, 1);
    tc_tensor *dw = NULL, *db = NULL;
    close_to(c, "y", c->f(x, w, b), n->y, n->o, rank);
    tc_requires_grad_(x, true), tc_requires_grad_(w, true), tc_requires_grad_(b, true);
    close_to(c, "dx", c->g(x, w, b, &dw, &db), n->dx, c->x, rank);
    close_to(c, "dw", dw, n->dw, c->w, rank);
    close_to(c, "db", db, n->db, c->w, 1);
  }
}

static void refused(const tc_tensor *x, const tc_tensor *w, tc_ints stride, int64_t groups, const char *text) {
  tc_clear_error();
  CHECK(!tc_conv(x, w, NULL, stride, TC_INTS(0), TC_INTS(1), groups));
  CHECK(tc_error() && strstr(tc_error(), text));
  tc_clear_error();
}

int main(void) {
  static numbers n;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const uint64_t before = hits_of(kinds[i].name);
    compute(&kinds[i], &n);
    run(&kinds[i], &n);
    CHECK(hits_of(kinds[i].name) == before + 1);
    tc_set_enabled(false);
    run(&kinds[i], &n);
    tc_set_enabled(true);
  }
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(1, 4, 5, 5), TC_F32), *w = tc_ones(TC_DIMS(6, 4, 3, 3), TC_F32);
    const tc_tensor *none = tc_ones(TC_DIMS(0, 3, 5, 5), TC_F32), *w3 = tc_ones(TC_DIMS(2, 3, 3, 3), TC_F32);
    const tc_tensor *empty[] = {image(none, w3, tc_ones(TC_DIMS(2), TC_F32)), tc_conv(none, w3, NULL, TC_INTS(1), TC_INTS(1), TC_INTS(1), 1)};
    for (int i = 0; i < 2; i++) CHECK(empty[i] && tc_size(empty[i], 0) == 0 && tc_size(empty[i], 1) == 2 && tc_size(empty[i], 3) == 5);
    CHECK(tc_at(tc_conv(x, w, NULL, TC_INTS(1), TC_INTS(0), TC_INTS(1), 1), TC_INTS(0, 0, 0, 0)) == 36);
    refused(x, tc_ones(TC_DIMS(6, 4, 3), TC_F32), TC_INTS(1), 1, "x has 4 axes, the weight 3");
    refused(tc_ones(TC_DIMS(4, 5), TC_F32), tc_ones(TC_DIMS(4, 5), TC_F32), TC_INTS(1), 1, "x has 2 axes");
    refused(x, w, TC_INTS(1, 1, 1), 1, "one number, or 2");
    refused(x, w, TC_INTS(1), 2, "4 channels and weights for 4");
    refused(x, w, TC_INTS(0), 1, "step must be positive");
    refused(x, tc_ones(TC_DIMS(6, 4, 6, 3), TC_F32), TC_INTS(1), 1, "windows of 6 are larger");
    CHECK(!tc_conv(NULL, w, NULL, TC_INTS(1), TC_INTS(0), TC_INTS(1), 1));
    tc_clear_error();
  }
  printf("%zu kinds of convolution\n", sizeof kinds / sizeof *kinds);
  return 0;
}

// C that is captured: the program prints the same with and without the plugin, and nothing falls back.
// RUN: %tc -O1 %s -o %t %run -Rpass-missed=tc 2> %t.remarks && %t > %t.out 2> %t.stats
// RUN: %plain -O1 %s -o %t.eager %run && %t.eager > %t.expected
// RUN: diff %t.expected %t.out && %check --allow-empty --check-prefix=REMARKS %s < %t.remarks
// RUN: %check --check-prefix=STATS %s < %t.stats
// REMARKS-NOT: not compiled
// STATS-COUNT-18: {{ [1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +0 +0 *$}}
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tcompile.h>

#define VECTOR const tc_tensor *x TC_SHAPE("f32[N]")
#define MATRIX const tc_tensor *x TC_SHAPE("f32[N,6]")

static void show(const char *name, const tc_tensor *x) {
  printf("%s %.4f\n", name, tc_item(tc_mean(x, TC_ALL, false)));
}

TC_COMPILE tc_tensor *two_results(VECTOR, tc_tensor **out) {
  out[0] = tc_exp(x);
  out[1] = tc_exp(x);
  return out[0];
}

TC_COMPILE tc_tensor *cloned(VECTOR) { return tc_clone(x); }

TC_COMPILE tc_tensor *in_place(tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) {
  tc_add_(x, y);
  tc_mul_(x, x);
  return tc_sub_(x, y);
}

TC_COMPILE void local_in_place(VECTOR, tc_tensor *const out TC_SHAPE("f32[N]")) {
  tc_tensor *h = tc_zeros_like(x);
  for (int i = 0; i < 3; i++)
    tc_add_(h, x);
  tc_fill_(out, 0.25);
  tc_copy_(out, tc_div_(h, out));
}

typedef struct {
  int n;
  float scale[2];
} config;
static tc_tensor *scaled(const tc_tensor *x, config c) {
  tc_tensor *y = tc_mul_s(x, c.scale[0]);
  for (int i = 1; i < c.n; i++)
    y = tc_add_s(y, c.scale[i]);
  return y;
}
TC_COMPILE tc_tensor *structs(VECTOR, float a) {
  config c = {2, {a, a / 3}};
  c.scale[1] += 1;
  unsigned k = 0;
  do
    k += 2;
  while (k < 7);
  tc_tensor *y = scaled(x, c);
  return k == 8 ? tc_div_s(y, k) : y;
}

TC_COMPILE double number(MATRIX, tc_tensor **out) {
  *out = tc_sum(x, TC_AXES(-1), false);
  return 0.5 * (double)tc_numel(x);
}

TC_COMPILE tc_tensor *split(MATRIX) {
  tc_tensor *p[3];
  int n = tc_split(x, 3, 1, p);
  tc_tensor *s = p[0];
  for (int i = 1; i < n; ++i)
    s = tc_mul(s, p[i]);
  return s;
}

TC_COMPILE tc_tensor *optional(MATRIX, const tc_tensor *w TC_SHAPE("f32[4,6]"),
                               const tc_tensor *b TC_SHAPE("f32[4]")) {
  tc_tensor *y = tc_linear(x, w, b);
  return tc_layer_norm(y, 1, NULL, b, 1e-5);
}

TC_COMPILE tc_tensor *einsum(MATRIX, const tc_tensor *w TC_SHAPE("f32[4,6]")) {
  return tc_einsum("ni,oi->no", (const tc_tensor *[]){x, w}, 2);
}

TC_COMPILE tc_tensor *numbers(VECTOR, int n, unsigned char u, long l, double d, _Bool b, float f) {
  double s = n * u + l - d * f + b + sqrt(d) + (n > 3 ? n : -n) + (n & 6) + pow(f, 2);
  s -= n << 2;
  n++;
  return tc_add_s(x, s + n--);
}

TC_COMPILE tc_tensor *sizes(MATRIX, int rows) {
  int64_t n = tc_size(x, 0), m = tc_size(x, -1);
  tc_tensor *h = tc_reshape(x, TC_DIMS(m / 2, n, 2));
  h = tc_mul_s(h, 1.0 / sqrt((double)(n * m)));
  tc_ints shape = TC_DIMS(rows, n * m / rows);
  shape.v[1] = -1;
  return tc_add(tc_reshape(h, shape), tc_ones(TC_DIMS(rows, 1), tc_dtype_of(x)));
}

enum kind { RELU, GELU, TANH };
static tc_tensor *act(const tc_tensor *x, enum kind kind) {
  switch (kind) {
  case RELU:
    return tc_relu(x);
  case GELU:
    return tc_gelu(x);
  default:
    break;
  }
  return tc_tanh(x);
}
TC_COMPILE tc_tensor *chosen(MATRIX) {
  assert(tc_rank(x) == 2);
  const enum kind layers[] = {GELU, RELU, TANH, RELU};
  tc_tensor *h = NULL;
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    if (i == 1)
      continue;
    h = act(h ? h : x, layers[i]);
    if (!h || tc_size(h, 1) != 6)
      return NULL;
    if (layers[i] == TANH)
      break;
  }
  return h;
}

TC_COMPILE tc_tensor *scoped(VECTOR) {
  tc_tensor *y;
  TC_SCOPE {
    tc_tensor *a = tc_exp(x);
    y = tc_keep(tc_log1p(a));
    tc_free(a);
  }
  return y;
}

TC_COMPILE tc_tensor *joined(MATRIX) {
  const tc_tensor *parts[3] = {x, tc_neg(x)};
  parts[2] = tc_flip(x, TC_AXES(0, 1));
  const tc_tensor **p = parts;
  return tc_stack(p, 3, 0);
}

#define SQUARE(t) tc_mul(t, t)
static inline tc_tensor *norm(const tc_tensor *x, int depth) {
  return depth > 2 ? tc_sqrt(tc_sum(SQUARE(x), TC_AXES(-1), true)) : tc_abs(x);
}
TC_COMPILE tc_tensor *macros(MATRIX) { return tc_div(x, norm(SQUARE(x), 3)); }

TC_COMPILE tc_tensor *generic(VECTOR, float s) {
  return _Generic(s, float: tc_mul_s(x, s), double: tc_add_s(x, s));
}

TC_COMPILE tc_tensor *random_numbers(uint64_t seed) { return tc_randn(TC_DIMS(5, 3), seed, TC_F32); }

TC_COMPILE tc_tensor *on_one_line(VECTOR) { tc_tensor *y = tc_exp(x); return y; }

TC_COMPILE tc_tensor *promoted(const tc_tensor *i TC_SHAPE("i32[N]"), const tc_tensor *h TC_SHAPE("f16[N]"), int k) {
  tc_tensor *a = tc_add_s(i, k), *b = tc_mul_s(h, k);
  return tc_where(tc_gt_s(a, 2.9), tc_cast(a, TC_F32), b);
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(12), 1, TC_F32), *y = tc_randn(TC_DIMS(12), 2, TC_F32), *o[2];
  tc_tensor *m = tc_reshape(x, TC_DIMS(2, 6)), *w = tc_randn(TC_DIMS(4, 6), 5, TC_F32);
  tc_tensor *b = tc_randn(TC_DIMS(4), 7, TC_F32), *z = tc_clone(x);
  tc_tensor *r = two_results(x, o);
  printf("%d %d\n", r == o[0], o[0] != o[1]);
  show("two_results", o[1]);
  r = cloned(x);
  printf("%d\n", tc_cdata(r) != tc_cdata(x));
  show("cloned", r);
  printf("%d\n", in_place(z, y) == z);
  show("in_place", z);
  local_in_place(x, z);
  show("local_in_place", z);
  show("structs", structs(x, 2.5f));
  printf("%g\n", number(m, o));
  show("number", o[0]);
  show("split", split(m));
  show("optional", optional(m, w, b));
  show("einsum", einsum(m, w));
  show("numbers", numbers(x, 5, 200, -3, 1.75, 1, 0.3f));
  show("sizes", sizes(m, 4));
  show("chosen", chosen(m));
  show("scoped", scoped(x));
  show("joined", joined(m));
  show("macros", macros(m));
  show("generic", generic(x, 3));
  show("random_numbers", random_numbers(9));
  show("on_one_line", on_one_line(x));
  show("promoted", promoted(tc_arange(12, 0, 1, TC_I32), tc_cast(x, TC_F16), 1));
  printf("%s\n", tc_error() ? tc_error() : "no error");
  tc_stats_print();
  return 0;
}

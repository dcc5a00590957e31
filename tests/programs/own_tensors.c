/* Structs of the program's own, compiled and not: with the plugin, by the same compiler without it and
 * by gcc, the answers are the same; so are they for layouts that no code was compiled for.
 *
 * usage: own_tensors */
#include "check.h"

#include <math.h>
#include <string.h>

/* As inference libraries have it: innermost dimension first, strides in bytes, a code for the type. */
struct box {
  int32_t code; /* 0 f32, 1 f16, 2 i32 */
  int64_t ne[4];
  size_t nb[4];
  void *data;
};

static tc_dtype dtype_of(int32_t code) {
  static const tc_dtype known[] = {TC_F32, TC_F16, TC_I32};
  return code >= 0 && code < 3 ? known[code] : TC_DTYPE_COUNT;
}

static tc_layout layout_of(const struct box *b, int rank) {
  tc_layout l = {.data = b->data, .dtype = dtype_of(b->code), .rank = rank};
  for (int i = 0; i < rank; i++) {
    l.dim[rank - 1 - i] = b->ne[i];
    l.stride[rank - 1 - i] = (int64_t)b->nb[i];
  }
  return l;
}
static tc_tensor *view(const struct box *b, int rank) { return tc_wrap_layout(layout_of(b, rank)); }

/* A struct with a fixed type and shape. */
struct matrix {
  int rows, cols;
  double *v TC_SHAPE("f64[R,C]");
};
static tc_tensor *of(const struct matrix *m) {
  return tc_wrap_layout(tc_row_major(TC_DIMS(m->rows, m->cols), m->v, TC_F64));
}

TC_COMPILE static bool attend(struct box *out TC_SHAPE("f32[T,D]"), const struct box *q TC_SHAPE("f32[T,D]"),
                              const struct box *k TC_SHAPE("f32[S,D]"), const struct box *v TC_SHAPE("f32[S,D]")) {
  bool done = false;
  TC_SCOPE {
    tc_tensor *scores = tc_matmul(view(q, 2), tc_transpose(view(k, 2), 0, 1));
    scores = tc_mul_s(scores, 1 / sqrt((double)q->ne[0]));
    done = tc_copy_(view(out, 2), tc_matmul(tc_softmax(scores, -1), view(v, 2))) != NULL;
  }
  return done;
}

TC_COMPILE static double power(struct matrix *x, const struct matrix *a, int rounds) {
  double norm = 0;
  for (int i = 0; i < rounds; i++)
    TC_SCOPE {
      tc_tensor *y = tc_matmul(of(a), of(x));
      tc_tensor *n = tc_norm(y, 2, TC_ALL, false);
      norm = tc_item(n);
      tc_copy_(of(x), tc_div(y, n));
    }
  return norm;
}

enum { N = 16 };
static float memory[4][N * N];

static struct box make(int which, int64_t n0, int64_t n1) {
  for (int i = 0; i < N * N; i++) memory[which][i] = (float)((i * 37 + which * 11) % 101 - 50) / 40;
  return (struct box){0, {n0, n1, 1, 1}, {4, 4 * (size_t)n0, 4 * (size_t)(n0 * n1), 4 * (size_t)(n0 * n1)}, memory[which]};
}

static void print(const char *what, bool done) {
  double sum = 0;
  for (int i = 0; i < N * N; i++) sum += (double)memory[0][i] * (1 + i % 7);
  printf("%s: %s %.3f\n", what, done ? "done" : "failed", sum);
  tc_clear_error();
}

static void boxes(void) {
  struct box out = make(0, 8, 5), q = make(1, 8, 5), k = make(2, 8, 6), v = make(3, 8, 6), odd;
  print("plain", attend(&out, &q, &k, &v));
  out = make(0, 4, 3), q = make(1, 4, 3), k = make(2, 4, 9), v = make(3, 4, 9);
  print("other sizes", attend(&out, &q, &k, &v));
  odd = k, odd.ne[0] = 9, odd.ne[1] = 4, odd.nb[0] = k.nb[1], odd.nb[1] = k.nb[0];
  print("sizes that do not match", attend(&out, &q, &odd, &v));
  odd = k, odd.nb[1] = 32;
  print("rows further apart", attend(&out, &q, &odd, &v));
  odd = out, odd.nb[1] = 32;
  print("a result with gaps", attend(&odd, &q, &k, &v));
  odd = out, odd.data = memory[1] + 2;
  print("a result over an operand", attend(&odd, &q, &k, &v));
  memcpy(memory[0], memory[1], sizeof memory[0]);
  odd = k, odd.nb[1] = 18;
  print("no multiple", attend(&out, &q, &odd, &v));
  odd = k, odd.code = 7;
  print("no type", attend(&out, &q, &odd, &v));
  odd = k, odd.code = 2;
  print("another type", attend(&out, &q, &odd, &v));
  odd = k, odd.data = (char *)k.data + 2;
  print("not aligned", attend(&out, &q, &odd, &v));
}

static void matrices(void) {
  double a[9] = {2, 1, 0, 1, 3, 1, 0, 1, 4}, x[3] = {1, 1, 1};
  struct matrix m = {3, 3, a}, v = {3, 1, x};
  printf("norm %.6f", power(&v, &m, 60));
  for (int i = 0; i < 3; i++) printf(" %.6f", x[i]);
  struct matrix wrong = {2, 1, x};
  double norm = power(&wrong, &m, 1);
  printf("\nwrong %s\n", isnan(norm) && tc_error() ? "failed" : "done");
  tc_clear_error();
}

int main(void) {
  boxes();
  matrices();
#ifdef TC_HAS_PLUGIN
  CHECK(hits_of("attend") == 4 && fallbacks_of("attend") == 6);
  CHECK(hits_of("power") == 60 && fallbacks_of("power") == 1);
#endif
  return 0;
}

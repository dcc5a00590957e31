// A struct as other libraries have it: dimensions innermost first, strides in bytes, a type code, and
// sizes of 1 in front that a function leaves out.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum type { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_Q4 = 2 };
struct tensor {
  enum type type;
  int64_t ne[4];
  size_t nb[4];
  void *data;
};

static inline tc_dtype dtype_of(enum type type) {
  switch (type) {
  case TYPE_F32: return TC_F32;
  case TYPE_F16: return TC_F16;
  default: return TC_DTYPE_COUNT;
  }
}
static inline tc_layout layout_of(const struct tensor *t, int rank) {
  tc_layout l = {.data = t->data, .dtype = dtype_of(t->type), .rank = rank};
  for (int i = 0; i < 4; i++) {
    if (i < rank) {
      l.dim[rank - 1 - i] = t->ne[i];
      l.stride[rank - 1 - i] = (int64_t)t->nb[i];
    } else if (t->ne[i] != 1) {
      l.rank = -1; // it has more dimensions
    }
  }
  return l;
}
static inline tc_tensor *view(const struct tensor *t, int rank) { return tc_wrap_layout(layout_of(t, rank)); }

TC_COMPILE int layer(struct tensor *out TC_SHAPE("f32[T,O]"), const struct tensor *x TC_SHAPE("f32[T,I]"),
                     const struct tensor *w TC_SHAPE("f32[I,O]"), const struct tensor *b TC_SHAPE("f32[O]")) {
  int done = 0;
  TC_SCOPE {
    tc_tensor *h = tc_relu(tc_add(tc_matmul(view(x, 2), view(w, 2)), view(b, 1)));
    if (tc_copy_(view(out, 2), h)) done = 1;
  }
  return done;
}

static float memory[4][64];
static struct tensor make(int which, int64_t n0, int64_t n1) {
  for (int i = 0; i < 64; i++) memory[which][i] = (float)((i * 7 + which * 5) % 11 - 5);
  return (struct tensor){TYPE_F32, {n0, n1, 1, 1}, {4, 4 * (size_t)n0, 4 * (size_t)(n0 * n1), 4 * (size_t)(n0 * n1)},
                         memory[which]};
}
static void print(int done) {
  double sum = 0;
  for (int i = 0; i < 64; i++) sum += memory[0][i] * (i + 1);
  printf("%d %.3f %s\n", done, sum, tc_error() ? "error" : "fine");
  tc_clear_error();
}

int main(void) {
  struct tensor out = make(0, 4, 3), x = make(1, 5, 3), w = make(2, 4, 5), b = make(3, 4, 1), wrong;
  print(layer(&out, &x, &w, &b)); // kernels
  x = make(1, 5, 1), out = make(0, 4, 1);
  print(layer(&out, &x, &w, &b)); // other sizes
  wrong = x, wrong.nb[0] = 8, wrong.nb[1] = 40;
  print(layer(&out, &wrong, &w, &b)); // every second element: packed
  wrong = x, wrong.nb[0] = 6;
  print(layer(&out, &wrong, &w, &b)); // no multiple of 4
  wrong = x, wrong.type = TYPE_Q4;
  print(layer(&out, &wrong, &w, &b));
  wrong = x, wrong.type = TYPE_F16;
  print(layer(&out, &wrong, &w, &b)); // the body can do that
  wrong = x, wrong.ne[2] = 2;
  print(layer(&out, &wrong, &w, &b)); // rank 3
  wrong = w, wrong.data = memory[0] + 1; // overlaps the result
  print(layer(&out, &x, &wrong, &b));
  wrong = x, wrong.data = NULL;
  print(layer(&out, &wrong, &w, &b));
  wrong = x, wrong.data = (char *)memory[1] + 1;
  print(layer(&out, &wrong, &w, &b)); // not aligned
  printf("%llu\n", (unsigned long long)(tc_memory().mallocs > 1000));
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'layer' compiled: 4 ops in {{[12]}} kernel
// CHECK: layer {{.*}} 3 1 7 {{.*}}another dtype 1, overlap 1, no layout of a tensor 5

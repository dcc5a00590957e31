// A plain C struct, row-major: the dtype is that of its data, the shape stands on the member.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct matrix {
  int rows, cols;
  float *data TC_SHAPE("f32[R,C]");
};
static inline tc_layout layout_of(const struct matrix *m) {
  return tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F32);
}
static inline tc_tensor *view(const struct matrix *m) { return tc_wrap_layout(layout_of(m)); }

struct mlp { int n; struct matrix w[2]; struct matrix *last; };

// Members, elements and what pointers lead to; names belong to each object.
TC_COMPILE tc_tensor *f(const struct mlp *m, const struct matrix *x, const float *scale TC_SHAPE("f32[3]")) {
  tc_tensor *h = tc_tanh(tc_matmul(view(x), view(&m->w[0])));
  for (int i = 1; i < 2; i++) h = tc_tanh(tc_matmul(h, view(&m->w[i])));
  h = tc_mul(tc_matmul(h, view(m->last)), tc_wrap_layout(tc_row_major(TC_DIMS(3), (float *)scale, TC_F32)));
  return tc_mul_s(h, tc_size(view(x), 0) + m->w[0].cols);
}

// Read, written twice, read again and returned: in the memory of the struct.
TC_COMPILE tc_tensor *step(struct matrix *p, const struct matrix *g TC_SHAPE("f32[R,C]"), double rate) {
  tc_tensor *old = tc_sum(view(p), TC_ALL, false);
  tc_sub_(view(p), tc_mul_s(view(g), rate));
  tc_mul_(view(p), tc_add(old, tc_mean(view(p), TC_ALL, false)));
  return view(p);
}

static float memory[6][16];
static struct matrix make(int which, int rows, int cols) {
  for (int i = 0; i < 16; i++) memory[which][i] = (float)((i * 7 + which * 3) % 11 - 5) / 8;
  return (struct matrix){rows, cols, memory[which]};
}

int main(void) {
  struct matrix last = make(2, 2, 3), x = make(3, 2, 3);
  struct mlp m = {2, {make(0, 3, 4), make(1, 4, 2)}, &last};
  float scale[3] = {1, 2, 3};
  show(f(&m, &x, scale));
  m.w[1].rows = 3; // the body reports it
  show(f(&m, &x, scale));
  printf("%s\n", tc_error() ? "error" : "fine");
  tc_clear_error();

  struct matrix p = make(4, 3, 4), g = make(5, 3, 4);
  tc_tensor *r = step(&p, &g, 0.5);
  show(r);
  printf("%d %.3f\n", tc_cdata(r) == memory[4], memory[4][3]);
  show(step(&p, &p, 0.5)); // overlap
  g.data = memory[4] + 4;
  show(step(&p, &g, 0.5));
  for (int i = 0; i < 16; i++) printf("%.3f ", memory[4][i]);
  return finish();
}
// CHECK-NOT: graph break
// CHECK: remark: 'f' compiled: 7 ops
// CHECK: remark: 'step' compiled: 6 ops
// CHECK-DAG: f {{.*}} 1 0 1 {{.*}}sizes differ 1
// CHECK-DAG: step {{.*}} 1 0 2 {{.*}}overlap 2

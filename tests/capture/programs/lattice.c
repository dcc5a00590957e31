// Lattice Boltzmann (D2Q9): moments as structs, tables of directions, walls that bounce back, until the flow is steady.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { Q = 9 };
static const int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double weight[Q] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

struct moments { tc_tensor *rho, *ux, *uy; };
struct lattice {
  tc_tensor *f TC_SHAPE("f32[9,H,W]");
  const tc_tensor *wall TC_SHAPE("bool[H,W]");
  double tau;
};

static struct moments moments_of(tc_tensor *f) {
  struct moments m = {tc_sum(f, TC_AXES(0), false), NULL, NULL};
  for (int q = 0; q < Q; q++) {
    tc_tensor *fq = tc_select(f, 0, q);
    if (ex[q]) m.ux = m.ux ? tc_add(m.ux, tc_mul_s(fq, ex[q])) : tc_mul_s(fq, ex[q]);
    if (ey[q]) m.uy = m.uy ? tc_add(m.uy, tc_mul_s(fq, ey[q])) : tc_mul_s(fq, ey[q]);
  }
  m.ux = tc_div(m.ux, m.rho), m.uy = tc_div(m.uy, m.rho);
  return m;
}

static tc_tensor *equilibrium(const struct moments *m, int q) {
  tc_tensor *cu = tc_add(tc_mul_s(m->ux, 3. * ex[q]), tc_mul_s(m->uy, 3. * ey[q]));
  tc_tensor *u2 = tc_add(tc_square(m->ux), tc_square(m->uy));
  tc_tensor *p = tc_sub(tc_add(tc_add_s(cu, 1), tc_mul_s(tc_square(cu), 0.5)), tc_mul_s(u2, 1.5));
  return tc_mul_s(tc_mul(m->rho, p), weight[q]);
}

TC_COMPILE static void collide_and_stream(struct lattice *l) {
  struct moments m = moments_of(l->f);
  tc_tensor *next[Q];
  for (int q = 0; q < Q; q++) {
    tc_tensor *fq = tc_select(l->f, 0, q), *relaxed = tc_sub(fq, tc_mul_s(tc_sub(fq, equilibrium(&m, q)), 1 / l->tau));
    tc_tensor *moved = tc_where(l->wall, tc_select(l->f, 0, opposite[q]), relaxed);
    next[q] = tc_roll(tc_roll(moved, ey[q], 0), ex[q], 1);
  }
  tc_copy_(l->f, tc_stack((const tc_tensor *const *)next, Q, 0));
}

TC_COMPILE static int settle(struct lattice *l, int steps, double eps) {
  double before = 0;
  for (int i = 0; i < steps; i++) {
    struct moments m = moments_of(l->f);
    double energy = tc_item(tc_sum(tc_mul(m.rho, tc_add(tc_square(m.ux), tc_square(m.uy))), TC_ALL, false));
    if (fabs(energy - before) < eps) return i;
    before = energy;
    collide_and_stream(l);
  }
  return steps;
}

int main(void) {
  TC_SCOPE {
    tc_tensor *f = tc_add_s(tc_mul_s(tc_rand(TC_DIMS(9, 7, 11), 3, TC_F32), 0.1), 0.1);
    struct lattice l = {f, tc_gt_s(tc_rand(TC_DIMS(7, 11), 5, TC_F32), 0.9), 0.6};
    for (int i = 0; i < 3; i++) collide_and_stream(&l);
    show(l.f);
    printf("%d\n", settle(&l, 100, 0.02));
    show(l.f);
  }
  return finish();
}
// CHECK-DAG: remark: 'collide_and_stream' compiled: {{[0-9]+}} ops in {{[12]}} kernel
// CHECK-DAG: graph break in 'settle': the number of rounds of the loop
// CHECK-DAG: graph break in 'settle': the branch depends on a value
// CHECK-DAG: collide_and_stream {{.*}} 0 0

// Written tensors that lie in gaps of other operands, and these in theirs, overlap none: columns of one
// matrix, members of an array of structs.  Such as share an element do.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

struct particle { float position[3], mass, velocity[3]; int id; };
struct world { struct particle *p; int64_t n; };

static tc_tensor *field(const struct world *w, float *first, int64_t k) {
  return tc_wrap(TC_DIMS(w->n, k), (int64_t[]){sizeof(struct particle) / sizeof(float), 1}, first, TC_F32, NULL, NULL);
}

TC_COMPILE static bool fall(struct world *w, double dt) {
  tc_tensor *x = field(w, w->p->position, 3), *v = field(w, w->p->velocity, 3), *m = field(w, &w->p->mass, 1);
  return tc_sub_(v, tc_mul_s(tc_mul(x, m), dt)) && tc_add_(x, tc_mul_s(v, dt));
}

TC_COMPILE static bool add(tc_tensor *to TC_SHAPE("f32[N,M]"), const tc_tensor *x TC_SHAPE("f32[N,M]")) {
  return tc_add_(to, tc_mul(x, x)) != NULL;
}

static void columns(tc_tensor *wide, int64_t to, int64_t from, int64_t n) {
  TC_SCOPE { add(tc_slice(wide, 1, to, to + n, 1), tc_slice(wide, 1, from, from + n, 1)); }
}

int main(void) {
  static struct particle p[7];
  struct world w = {p, 7};
  for (int i = 0; i < 7; i++) {
    p[i] = (struct particle){.mass = (float)i, .id = i};
    for (int k = 0; k < 3; k++) p[i].position[k] = (float)(i * k) / 8, p[i].velocity[k] = (float)(i - k) / 4;
  }
  TC_SCOPE {
    for (int i = 0; i < 3; i++) fall(&w, 0.25);
    show(field(&w, p->position, 3)), show(field(&w, p->velocity, 3));
    for (int i = 0; i < 7; i++) printf("%d", p[i].id);
    printf("\n");
    tc_tensor *wide = tc_randn(TC_DIMS(5, 10), 1, TC_F32);
    columns(wide, 0, 4, 4);
    columns(wide, 5, 1, 4);
    show(wide);
    columns(wide, 0, 3, 4); // one column is in both
    show(wide);
    TC_SCOPE { add(tc_slice(wide, 1, 0, 3, 1), tc_flip(tc_slice(wide, 1, 6, 9, 1), TC_AXES(0))); }
    show(wide);
    TC_SCOPE { add(tc_slice(wide, 0, 0, -1, 2), tc_slice(wide, 0, 1, -1, 2)); } // rows
    TC_SCOPE { add(tc_slice(wide, 1, 0, 10, 2), tc_slice(wide, 1, 1, 10, 2)); }
    TC_SCOPE { add(tc_slice(wide, 0, 0, 4, 1), tc_slice(wide, 0, 1, 5, 1)); } // all but one of each
    show(wide);
  }
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: fall {{.*}} 3 3 0 
// CHECK-DAG: add {{.*}} 5 {{[0-9]}} 2 overlap 2

// Parts of a TC_SCOPE: what is kept goes to the scope around it, and then where the function hands it out.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

static int calls;
void happens(void);

TC_COMPILE int stored(tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **out) {
  TC_SCOPE {
    tc_mul_s_(x, 2);
    happens();
    *out = tc_keep(tc_mul_s(x, calls));
  }
  return calls;
}

TC_COMPILE tc_tensor *returned(const tc_tensor *x TC_SHAPE("f32[N]")) {
  TC_SCOPE {
    happens();
    tc_tensor *y = tc_exp(x);
    return tc_keep(y);
  }
  return NULL;
}

struct pair { tc_tensor *a, *b; };
TC_COMPILE struct pair twice(const tc_tensor *x TC_SHAPE("f32[N]")) {
  struct pair p = {NULL, NULL};
  TC_SCOPE {
    TC_SCOPE {
      happens();
      p.a = tc_keep(tc_add_s(x, calls));
      p.b = tc_keep(tc_exp(p.a));
    }
    happens();
    tc_keep(p.a);
    tc_keep(p.b);
  }
  return p;
}

int main(void) {
  tc_tensor *x = tc_randn(TC_DIMS(5), 1, TC_F32), *out = NULL;
  const size_t before = tc_memory().live;
  printf("%d\n", stored(x, &out));
  show(out);
  show(x);
  tc_tensor *y = returned(x);
  show(y);
  struct pair p = twice(x);
  show(p.a);
  show(p.b);
  size_t left = tc_memory().live;
  tc_free(out);
  tc_free(y);
  tc_free(p.a);
  tc_free(p.b);
  printf("%d\n", left > tc_memory().live && tc_memory().live >= before);
  return finish();
}
void happens(void) { calls++; }
// CHECK-DAG: stored {{.*}} 1 0 0
// CHECK-DAG: returned {{.*}} 1 0 0
// CHECK-DAG: twice {{.*}} 1 0 0

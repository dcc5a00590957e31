// Options that a program has as strings: comparisons of them are conditions in front of the call, a segment for each way.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

typedef struct { const char *activation; char norm[8]; } options;

static tc_tensor *activate(const tc_tensor *x, const char *name) {
  if (!strcmp(name, "relu")) return tc_relu(x);
  if (!strcmp(name, "silu")) return tc_silu(x);
  return tc_tanh(x);
}
TC_COMPILE tc_tensor *chosen(const options *o, const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *h = activate(tc_mul_s(x, 2), o->activation);
  return tc_add_s(h, 1);
}

static const struct activation { const char *name; tc_tensor *(*f)(const tc_tensor *); } table[] = {{"relu", tc_relu}, {"tanh", tc_tanh}};
static tc_tensor *by_table(const tc_tensor *x, const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(table[i].name, name)) return table[i].f(x);
  return tc_neg(x);
}
TC_COMPILE tc_tensor *of_table(const char *name, const tc_tensor *x TC_SHAPE("f32[N]")) { return by_table(x, name); }

// The beginning of a name, and its length, as numbers.
TC_COMPILE tc_tensor *part(const options *o, const tc_tensor *x TC_SHAPE("f32[N]")) {
  const double by = strncmp(o->norm, "rms", 3) == 0 ? 2 : 3;
  return tc_mul_s(x, by * (double)strlen(o->norm));
}

int main(void) {
  static const char *const names[] = {"relu", "silu", "tanh", "none"};
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(6), 1, TC_F32);
    for (int i = 0; i < 4; i++) {
      options o = {names[i], "rms"};
      show(chosen(&o, x));
      show(of_table(names[i], x));
      o.norm[i % 3] = 'l';
      show(part(&o, x));
    }
  }
  return finish();
}
// CHECK-NOT: graph break
// CHECK-NOT: not compiled
// CHECK-DAG: chosen [!__builtin_strcmp(o->activation, "relu")] {{.*}} 1 0 0 
// CHECK-DAG: chosen [!(!__builtin_strcmp(o->activation, "relu")) && !(!__builtin_strcmp(o->activation, "silu"))] {{.*}} 2 0 0 
// CHECK-DAG: of_table [!(!__builtin_strcmp("relu", name)) && !__builtin_strcmp("tanh", name)] {{.*}} 1 0 0 
// CHECK-DAG: part {{.*}} 4 0 0 

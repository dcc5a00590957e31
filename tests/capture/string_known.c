// Strings that are known steer what is captured: letter by letter, and by their length and order.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

TC_COMPILE tc_tensor *letters(const tc_tensor *x TC_SHAPE("f32[N]")) {
  tc_tensor *a = tc_clone(x);
  for (const char *p = "+* n"; *p; p++) switch (*p) {
    case ' ': continue;
    case '+': a = tc_add(a, x); break;
    case '*': a = tc_mul(a, x); break;
    default: a = tc_neg(a);
    }
  return tc_mul_s(a, "ab"[1] - 'a' + (double)strlen("abc"));
}

static const struct activation { const char *name; tc_tensor *(*f)(const tc_tensor *); } table[] = {
    {"relu", tc_relu}, {"tanh", tc_tanh}, {"silu", tc_silu}};
static const struct activation *find(const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(table[i].name, name)) return &table[i];
  return NULL;
}
TC_COMPILE tc_tensor *by_name(const tc_tensor *x TC_SHAPE("f32[N]")) {
  const char *option = "silu";
  return find(option)->f(tc_mul_s(x, 2));
}

// Tables that end with NULL, as far as that or up to it.
static const struct activation ended[] = {{"relu", tc_relu}, {"tanh", tc_tanh}, {NULL, NULL}};
static tc_tensor *(*find_ended(const char *name))(const tc_tensor *) {
  for (const struct activation *e = ended; e->name; e++)
    if (!strcmp(e->name, name)) return e->f;
  for (int i = 0; ended[i].name != NULL; i++)
    if (ended[i].name[0] == name[0]) return ended[i].f;
  return NULL;
}
TC_COMPILE tc_tensor *by_ended(const tc_tensor *x TC_SHAPE("f32[N]")) {
  if (find_ended("silu")) return NULL;
  return find_ended("tanh")(find_ended("rest")(tc_mul_s(x, 2)));
}

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_randn(TC_DIMS(6), 1, TC_F32);
    show(letters(x));
    show(by_name(x));
    show(by_ended(x));
  }
  return finish();
}
// CHECK-NOT: graph break
// CHECK-DAG: by_name {{.*}} 1 0 0 
// CHECK-DAG: by_ended {{.*}} 1 0 0 
// CHECK-DAG: letters {{.*}} 1 0 0 

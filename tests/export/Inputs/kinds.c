// Functions of every kind of parameter and result.
#include "kinds.h"

typedef int64_t position;
typedef struct {
  int n;
} only_here;

TC_COMPILE tc_tensor *numbers(const tc_tensor *x TC_SHAPE("f32[N]"), double scale, unsigned char n, bool negate, position at) {
  tc_tensor *y = tc_add_s(tc_mul_s(x, scale), (double)n + (double)at);
  return negate ? tc_neg(y) : y;
}

TC_COMPILE tc_tensor *several(const tc_tensor *x TC_SHAPE("f32[N]"), tc_tensor **twice, tc_tensor **half) {
  *twice = tc_mul_s(x, 2);
  *half = tc_mul_s(x, 0.5);
  return tc_neg(x);
}

TC_COMPILE void in_place(tc_tensor *x TC_SHAPE("f32[N]"), const tc_tensor *y TC_SHAPE("f32[N]")) { tc_add_(x, y); }

TC_COMPILE tc_tensor *member(const struct pair *p, double scale) { return tc_mul_s(tc_add(p->a, p->b), scale); }

static TC_COMPILE tc_tensor *hidden(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }

TC_COMPILE tc_tensor *own(const tc_tensor *x TC_SHAPE("f32[N]"), const only_here *o) { return tc_mul_s(x, o->n); }

TC_COMPILE tc_tensor *plain_body(const tc_tensor *x) { return tc_exp(x); }

TC_COMPILE int count(const tc_tensor *x TC_SHAPE("f32[N]")) { return (int)tc_item(tc_sum(x, TC_ALL, false)); }

tc_tensor *unmarked(const tc_tensor *x);
tc_tensor *unmarked(const tc_tensor *x) { return hidden(x); }

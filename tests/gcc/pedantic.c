// Calls of functions that take lists of tensors, which are unions of pointers, say nothing in ISO C.
// RUN: %gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -c %s -o %t.o
// RUN: %tcgcc -std=c99 -Wall -Wextra -Wpedantic -Werror -O1 %s -o %t %libs -lm && %t | %check %s
// CHECK: 0.80 0.80, 1 call of kernels
#include <stdio.h>
#include <tcompile.h>

TC_COMPILE static tc_tensor *descend(tc_tensor *w TC_SHAPE("f32[N]"), tc_tensor *b TC_SHAPE("f32[N]"))
{
  tc_tensor *p[2], *g[2], *loss = tc_sum(tc_square(tc_add(w, b)), TC_ALL, false);
  p[0] = w, p[1] = b;
  if (!tc_grad(loss, 2, p, g)) return NULL;
  TC_NO_GRAD for (int i = 0; i < 2; i++) tc_sub_(p[i], tc_mul_s(g[i], 0.05));
  return loss;
}

int main(void)
{
  TC_SCOPE
  {
    tc_tensor *p[2];
    for (int i = 0; i < 2; i++) p[i] = tc_requires_grad_(tc_ones(TC_DIMS(3), TC_F32), true);
    if (!descend(p[0], p[1]) || !tc_zero_grad(2, p)) return puts(tc_error()), 1;
    printf("%.2f %.2f, %d call of kernels\n", tc_at(p[0], TC_INTS(0)), tc_at(p[1], TC_INTS(2)), (int)tc_stats_of("descend").hits);
  }
  return 0;
}

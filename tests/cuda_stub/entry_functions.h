/* Functions compiled for the CPU and, by the stub of NVRTC, for CUDA. */
#ifndef TC_TEST_ENTRY_FUNCTIONS_H
#define TC_TEST_ENTRY_FUNCTIONS_H

#include <tcompile.h>

tc_tensor *entry_sum(const tc_tensor *x, const tc_tensor *y); /* f32[R,C] + f32[R,C] */
tc_tensor *entry_invert(const tc_tensor *x);                  /* u8[N]: 255 - x */

bool entry_double(tc_tensor *x);          /* f32[R,C]: x <- 2 x */
bool entry_double_recorded(tc_tensor *x); /* likewise, as a CUDA graph */

tc_tensor *entry_layer(const tc_tensor *x, const tc_tensor *w); /* tanh(x w), with gradients */
/* A step of gradient descent on mean((x w)^2), as a CUDA graph; the loss before it. */
tc_tensor *entry_step(const tc_tensor *x, tc_tensor *w);

enum { ENTRY_MANY = 80 };
typedef struct entry_list {
  tc_tensor *x[ENTRY_MANY] TC_SHAPE("f32[N]");
} entry_list;
tc_tensor *entry_total(const entry_list *l); /* the sum of the list, as a CUDA graph */

#endif

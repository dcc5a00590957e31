/* gradients.h - a function's gradients against central differences. */
#ifndef TC_TESTS_GRADIENTS_H
#define TC_TESTS_GRADIENTS_H

#include <tcompile.h>

enum { GRADIENT_INPUTS = 5 };

/* Of f64 tensors x[0 .. 5): [3,4], [3,4], [4], [4,5], [5].  Those it does not use have gradient 0. */
typedef tc_tensor *gradient_case(tc_tensor **x);

typedef enum gradient_way {
  GRADIENT_DENSE,
  GRADIENT_TRANSPOSED, /* what the function sees are views of the leaves */
  GRADIENT_BACKWARD,   /* tc_backward, twice, and what it adds up */
  GRADIENT_WAYS
} gradient_way;

void gradient_check(const char *name, gradient_case *f, gradient_way way);
/* Gradients of gradients, along random directions. */
void gradient_check_second(const char *name, gradient_case *f);

#endif

/* Functions compiled for the CPU and, by the stub of NVRTC, for CUDA. */
#ifndef TC_TEST_ENTRY_FUNCTIONS_H
#define TC_TEST_ENTRY_FUNCTIONS_H

#include <tcompile.h>

tc_tensor *entry_sum(const tc_tensor *x, const tc_tensor *y); /* f32[R,C] + f32[R,C] */
tc_tensor *entry_invert(const tc_tensor *x);                  /* u8[N]: 255 - x */

#endif

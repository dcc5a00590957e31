/* random.c - what random numbers need beside ops and <tcompile/random.h>. */
#include "runtime/libtcrt/src/eager/philox.h"
#include "runtime/libtcrt/src/internal.h"
#include "runtime/libtcrt/src/tensor.h"

__thread tc_generator tc_default_generator;

tc_generator *tcrt_default_generator(void) { return &tc_default_generator; }

/* The shuffle of Fisher and Yates, from the front on ("inside-out"; Knuth, The art of computer
 * programming 2, 3.4.2).  The element that i is swapped with comes of 64 bits, block i of its
 * stream: each as often, to i / 2^64. */
tc_tensor *tc_randperm(int64_t n, uint64_t seed) {
  const tc_ints dims = TC_DIMS(n);
  tc_tensor *t =
      tc_check_dims("tc_randperm", TC_I64, &dims) ? tc_tensor_new(TC_I64, 1, dims.v, TC_CPU) : NULL;
  int64_t *at = t ? t->data : NULL;
  for (int64_t i = 0; t && i < n; i++) {
    const tc_philox_block b = tc_philox(seed, (uint64_t)i, TC_PHILOX_PERMUTATION);
    const uint64_t bits = (uint64_t)b.word[1] << 32 | b.word[0];
    const int64_t j = (int64_t)(bits % (uint64_t)(i + 1));
    at[i] = at[j];
    at[j] = i;
  }
  return t;
}

// Calls an exported mlp by its header; with WEIGHTS in it, those are constants of the library.
#include <stdio.h>

#include "net.h"

#ifdef WEIGHTS
#define CALL(x) mlp(x)
#else
#define CALL(x) mlp(x, tc_load_npy("w1.npy"), tc_load_npy("b1.npy"), tc_load_npy("w2.npy"), tc_load_npy("b2.npy"))
#endif

int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_load_npy("x.npy"), *expected = tc_load_npy("expected.npy");
    tc_tensor *y = CALL(x);
    if (!y) return printf("%s\n", tc_error()), 1;
    printf("right: %d, compiled calls: %d\n", tc_allclose(y, expected, 1.3e-6, 1e-5), (int)tc_stats_of("mlp").hits);
    y = CALL(tc_cast(x, TC_F64)); // its guards do not hold: the body
    if (!y) return printf("%s\n", tc_error()), 1;
    printf("f64: %d, fallbacks: %d\n", tc_allclose(tc_cast(y, TC_F32), expected, 1.3e-6, 1e-5), (int)tc_stats_of("mlp").fallbacks);
  }
  printf("left: %zu bytes\n", tc_memory().live);
}

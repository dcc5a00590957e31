#include <lib/api.h>
#include <stdio.h>
#include "local.h"
#ifdef __TINYC__ // clang does not see this one
#include "tcc_only.h"
#endif

int main(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(4), TC_F32);
    tc_print(api(x));
    tc_print(local(x));
    tc_print(inner(x));
  }
  printf("%s:%d, %s\n", __FILE__, __LINE__, file_of_inner());
  tc_stats_print();
}

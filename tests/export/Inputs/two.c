// Two exported functions in one program.
#include <stdio.h>

#include "numbers.h"
#include "several.h"

int main(void) {
  TC_SCOPE {
    tc_tensor *x = tc_ones(TC_DIMS(2), TC_F32), *twice, *half;
    tc_print(numbers(x, 2, 1, false, 0));
    tc_print(several(x, &twice, &half));
    printf("compiled calls: %d\n", (int)tc_stats_of(NULL).hits);
  }
}

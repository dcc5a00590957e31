/* prelude.c - what kernel texts begin with: the chunks of the prelude that they name. */
#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

extern const char tc_omp_prelude[]; /* openmp/prelude, concatenated */

bool tc_omp_put_prelude(const char *text, tc_buf *out) {
  return tc_print_prelude_with_reductions(tc_omp_prelude, text, tc_omp_put_reducer, out);
}

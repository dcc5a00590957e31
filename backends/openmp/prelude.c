/* prelude.c - what kernel texts begin with: the chunks of the prelude that they name. */
#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

extern const char tc_omp_prelude[]; /* openmp/prelude, concatenated */

bool tc_omp_put_prelude(const char *text, tc_buf *out) {
  tc_buf prelude = {0};
  tc_put(&prelude, tc_omp_prelude);
  tc_omp_put_reductions(text, &prelude);
  const bool ok = !prelude.failed && tc_print_prelude(prelude.text, text, out);
  tc_buf_free(&prelude);
  return ok;
}

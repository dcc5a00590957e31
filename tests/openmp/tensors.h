/* tensors.h - the interpreter's arrays as tensors of the runtime, and back. */
#ifndef TC_TEST_OMP_TENSORS_H
#define TC_TEST_OMP_TENSORS_H

#include "tests/common/interp.h"

struct tc_tensor *omp_tensor(const interp_array *a,
                             bool strided); /* strided: a column of a larger one */
interp_array *omp_array(const struct tc_tensor *t);
void omp_tensors_free(void); /* everything that omp_tensor and entries made since the last call */

#endif

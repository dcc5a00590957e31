/* cases.h - the compiled functions that `tools/bench cpu` measures, as a table.
 *
 * A case takes up to five operands that the harness made, which it may write, and gives one tensor.  Sizes are symbolic
 * in the annotations: one function serves every size of its family. */
#ifndef TC_BENCH_CASES_H
#define TC_BENCH_CASES_H

#include <tcompile.h>

typedef tc_tensor *bench_fn(const tc_tensor *const *in);

typedef struct bench_case {
  const char *family, *dtype;
  int operands;
  bench_fn *run;
} bench_case;

enum { BENCH_FAMILIES = 11 };
extern const bench_case bench_cases_f32[BENCH_FAMILIES], bench_cases_bf16[BENCH_FAMILIES];

#endif

/* cases.h - what `tools/bench gpu` measures beyond the families of bench/cpu/cases.h: some of their
 * names end in "_recorded", for mode=reduce-overhead. */
#ifndef TC_BENCH_GPU_CASES_H
#define TC_BENCH_GPU_CASES_H

#include "bench/cpu/cases.h"

enum { BENCH_GPU_FAMILIES = 11 };
extern const bench_case bench_gpu_cases_f32[BENCH_GPU_FAMILIES],
    bench_gpu_cases_bf16[BENCH_GPU_FAMILIES];

#endif

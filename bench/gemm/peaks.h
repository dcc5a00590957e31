#ifndef BENCH_GEMM_PEAKS_H
#define BENCH_GEMM_PEAKS_H

#include <tcompile/abi.h>

double now(void); /* seconds */
/* GFLOP/s of one thread in some 50 us of a level's multiply-adds, f32 or bf16; 0: not known. */
double peak(tc_isa level, int bf16);
/* The same on so many threads at once, in all. */
double peak_of(tc_isa level, int bf16, int threads);

#endif

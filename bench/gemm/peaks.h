#ifndef BENCH_GEMM_PEAKS_H
#define BENCH_GEMM_PEAKS_H

#include <tcompile/abi.h>

double now(void); /* seconds */
/* GFLOP/s of one thread at a level, f32 or bf16; 0: not known. */
double peak(tc_isa level, int bf16);

#endif

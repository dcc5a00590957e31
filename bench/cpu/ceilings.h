/* ceilings.h - what this machine can do at most, measured: the denominators of every percentage. */
#ifndef TC_BENCH_CEILINGS_H
#define TC_BENCH_CEILINGS_H

/* Prints "ok value" for one of: fma_f32, fma_f64, dot_bf16, amx_bf16 (GFLOP/s; "ok 0" where the CPU
 * lacks it), read, copy, triad (GB/s of DRAM traffic; copy and triad with streaming stores, counting
 * bytes read and written once), on all threads of OpenMP.  Else "error ...". */
void bench_ceiling(const char *name);

#endif

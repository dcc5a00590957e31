/* tables.c - what `tools/bench gpu` measures. */
#include "cases.h"

const bench_table bench_tables[] = {
    {bench_cases_f32, BENCH_FAMILIES},         {bench_cases_bf16, BENCH_FAMILIES},
    {bench_gradients_f32, BENCH_GRADIENTS},    {bench_gradients_bf16, BENCH_GRADIENTS},
    {bench_optimiser_f32, BENCH_OPTIMISER},    {bench_optimiser_bf16, BENCH_OPTIMISER},
    {bench_gpu_cases_f32, BENCH_GPU_FAMILIES}, {bench_gpu_cases_bf16, BENCH_GPU_FAMILIES},
    {NULL, 0},
};

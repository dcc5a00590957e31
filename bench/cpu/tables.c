/* tables.c - what tc_bench measures. */
#include "cases.h"

const bench_table bench_tables[] = {
    {bench_cases_f32, BENCH_FAMILIES},      {bench_cases_bf16, BENCH_FAMILIES},
    {bench_gradients_f32, BENCH_GRADIENTS}, {bench_gradients_bf16, BENCH_GRADIENTS},
    {bench_training_f32, BENCH_TRAINING},   {bench_training_bf16, BENCH_TRAINING},
    {bench_optimiser_f32, BENCH_OPTIMISER}, {bench_optimiser_bf16, BENCH_OPTIMISER},
    {bench_attention_f32, BENCH_ATTENTION}, {bench_attention_bf16, BENCH_ATTENTION},
    {bench_images_f32, BENCH_IMAGES},       {bench_images_bf16, BENCH_IMAGES},
    {bench_resnet, BENCH_RESNET},           {bench_bert, BENCH_BERT},
    {bench_gpt2, BENCH_GPT2},               {NULL, 0},
};

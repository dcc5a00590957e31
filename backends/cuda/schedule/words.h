/* words.h - what the tables of words for GPUs share. */
#ifndef TC_CUDA_WORDS_H
#define TC_CUDA_WORDS_H

#include "backends/schedule/words.h"

enum { TC_CUDA_KERNEL_WORDS = 25 };
extern const tc_schedule_word tc_cuda_kernel_words[TC_CUDA_KERNEL_WORDS]; /* words_kernel.c */
const char *tc_cuda_lack_of_kernel(const tc_schedule_place *at); /* what its decisions lack */

static inline bool tc_cuda_is_power(int64_t n) { return n > 0 && !(n & (n - 1)); } /* of two */

#endif

/* cases.h - the compiled functions that `tools/bench cpu` measures, as a table.
 *
 * A case takes operands that the harness made, which it may write, and gives tensors.  Sizes are symbolic in the
 * annotations: one function serves every size of its family. */
#ifndef TC_BENCH_CASES_H
#define TC_BENCH_CASES_H

#include <tcompile.h>

/* in[operands] to out[results], owned by the caller; false with an error. */
typedef bool bench_fn(tc_tensor *const *in, tc_tensor **out);

typedef struct bench_case {
  const char *family, *dtype;
  int operands;
  bench_fn *run;
  int leaves; /* the first operands, with respect to which gradients are taken */
  int results, written; /* written: so many operands from the first on are results, too */
} bench_case;

typedef struct bench_table {
  const bench_case *cases;
  int count;
} bench_table;

/* What the program measures; ends with one without cases. */
extern const bench_table bench_tables[];

enum { BENCH_FAMILIES = 11, BENCH_GRADIENTS = 5, BENCH_TRAINING = 3, BENCH_OPTIMISER = 1 };
enum { BENCH_ATTENTION = 7, BENCH_IMAGES = 10 };
enum { BENCH_RESNET = 6, BENCH_BERT = 2, BENCH_GPT2 = 5 }; /* whole models, of all dtypes */
extern const bench_case bench_cases_f32[BENCH_FAMILIES], bench_cases_bf16[BENCH_FAMILIES];
extern const bench_case bench_gradients_f32[BENCH_GRADIENTS], bench_gradients_bf16[BENCH_GRADIENTS];
extern const bench_case bench_training_f32[BENCH_TRAINING], bench_training_bf16[BENCH_TRAINING];
extern const bench_case bench_optimiser_f32[BENCH_OPTIMISER], bench_optimiser_bf16[BENCH_OPTIMISER];
extern const bench_case bench_attention_f32[BENCH_ATTENTION], bench_attention_bf16[BENCH_ATTENTION];
extern const bench_case bench_images_f32[BENCH_IMAGES], bench_images_bf16[BENCH_IMAGES];
extern const bench_case bench_resnet[BENCH_RESNET], bench_bert[BENCH_BERT], bench_gpt2[BENCH_GPT2];

#endif

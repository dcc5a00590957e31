/* bert.c - a family of `tools/bench cpu --only models`: BERT-base (samples/bert), the states of B sequences of T tokens.
 *
 * Operands: parameters up to the last block, tokens, lengths. */
#include "cases.h"

#include "bert/model.h"

enum { BASE = 12, HEADS = 12, PARAMETERS = 5 + 16 * BASE };

// clang-format off
TC_COMPILE TC_SPECIALIZE("m->layers=12")
static tc_tensor *encode(const bert *m, const tc_tensor *tokens TC_SHAPE("i64[B,T]"), const tc_tensor *lengths TC_SHAPE("i64[B]")) {
  // clang-format on
  return states(m, tokens, lengths, tc_dtype_of(m->words));
}
static bool run_bert_base(tc_tensor *const *in, tc_tensor **out) {
  tc_tensor *z[MOST] = {0};
  memcpy(z, in, PARAMETERS * sizeof *z);
  const bert m = model_of(BASE, HEADS, z);
  return (out[0] = encode(&m, in[PARAMETERS], in[PARAMETERS + 1])) != NULL;
}

const bench_case bench_bert[BENCH_BERT] = {
    {"bert_base", "f32", PARAMETERS + 2, run_bert_base, .results = 1},
    {"bert_base", "bf16", PARAMETERS + 2, run_bert_base, .results = 1},
};

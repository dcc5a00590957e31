#include <tcompile/nn.h>

static inline tc_tensor *wrapped(const tc_tensor *q, const tc_tensor *k, const tc_tensor *v) {
  return tc_attention(q, k, v, (tc_attention_options){.causal = true});
}

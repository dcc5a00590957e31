/* What TC_AUTOCAST does to operands: the decision of each row of the op table, and of each dtype. */
#include "check.h"

#include "graph/autocast.h"

#include <stdio.h>
#include <string.h>

/* The ops of a list, by their texts. */
static const char *list_of(tc_autocast what) {
  static char text[2048];
  text[0] = 0;
  for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
    const tc_op_info *info = tc_op_get((tc_op)op);
    if (info->autocast != what) continue;
    strcat(text, text[0] ? " " : "");
    strcat(text, info->text);
  }
  return text;
}

/* docs/autocast.md says these lists, and where they are not PyTorch's. */
Test(autocast, every_op_is_decided) {
  cr_expect_str_eq(list_of(TC_AUTOCAST_UNDECIDED), "");
  cr_expect_str_eq(list_of(TC_AUTOCAST_LOW), "matmul linear einsum");
  cr_expect_str_eq(list_of(TC_AUTOCAST_F32),
                   "rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p tan asin acos sinh cosh pow logaddexp softplus "
                   "sum prod mean var std logsumexp norm cumsum cumprod softmax log_softmax layer_norm rms_norm batch_norm "
                   "cross_entropy nll mse bce_with_logits var_mean");
  cr_expect_str_eq(list_of(TC_AUTOCAST_WIDEST), "scatter scatter_add");
}

static tc_type of(tc_dtype d) { return (tc_type){.dtype = (uint8_t)d, .rank = 2}; }

/* What the operands become, "bf16 bf16". */
static const char *become(tc_op op, tc_dtype scope, int nin, const tc_dtype *dtype) {
  static char text[64];
  tc_type type[3];
  const tc_type *in[3];
  text[0] = 0;
  for (int i = 0; i < nin; i++) {
    type[i] = of(dtype[i]);
    in[i] = dtype[i] == TC_DTYPE_COUNT ? NULL : &type[i];
  }
  for (int i = 0; i < nin; i++) {
    const tc_dtype d = tc_autocast_operand(op, scope, nin, in, i);
    strcat(text, i ? " " : "");
    strcat(text, in[i] ? tc_dtype_text(d) : "-");
  }
  return text;
}

#define BECOME(op, scope, want, ...)                                                               \
  do {                                                                                             \
    const tc_dtype given[] = {__VA_ARGS__};                                                        \
    const char *got = become(op, scope, (int)(sizeof given / sizeof *given), given);               \
    cr_expect_str_eq(got, want, "%s: %s, not %s", #op, got, want);                                 \
  } while (0)

Test(autocast, products_take_the_dtype_of_the_scope) {
  BECOME(OP_MATMUL, TC_BF16, "bf16 bf16", TC_F32, TC_F32);
  BECOME(OP_MATMUL, TC_F16, "f16 f16", TC_BF16, TC_F32);
  BECOME(OP_LINEAR, TC_BF16, "bf16 bf16 bf16", TC_BF16, TC_F32, TC_F32);
  BECOME(OP_LINEAR, TC_BF16, "bf16 bf16 -", TC_BF16, TC_F32, TC_DTYPE_COUNT);
  BECOME(OP_EINSUM, TC_F16, "f16", TC_F32);
  BECOME(OP_MATMUL, TC_BF16, "f64 f32", TC_F64, TC_F32);
  BECOME(OP_MATMUL, TC_BF16, "i8 i8", TC_I8, TC_I8);
  BECOME(OP_MATMUL, TC_BF16, "f32 i8", TC_F32, TC_I8);
  BECOME(OP_MATMUL, TC_NO_AUTOCAST_DTYPE, "f32 bf16", TC_F32, TC_BF16);
}

Test(autocast, others_are_widened_or_kept) {
  BECOME(OP_SOFTMAX, TC_BF16, "f32", TC_BF16);
  BECOME(OP_SOFTMAX, TC_BF16, "f64", TC_F64);
  BECOME(OP_CROSS_ENTROPY, TC_F16, "f32 i64", TC_F16, TC_I64);
  BECOME(OP_POW, TC_F16, "f32 f32", TC_F16, TC_BF16);
  BECOME(OP_SUM, TC_F16, "i32", TC_I32);
  BECOME(OP_ADD, TC_BF16, "bf16 f32", TC_BF16, TC_F32);
  BECOME(OP_RELU, TC_F16, "bf16", TC_BF16);
  BECOME(OP_SCATTER_ADD, TC_BF16, "f32 i64 f32", TC_F32, TC_I64, TC_BF16);
  BECOME(OP_SCATTER_ADD, TC_BF16, "f32 i64 f32", TC_F16, TC_I64, TC_BF16);
  BECOME(OP_SCATTER_ADD, TC_NO_AUTOCAST_DTYPE, "f32 i64 bf16", TC_F32, TC_I64, TC_BF16);
}

Test(autocast, c_scalars_stay) {
  tc_type x = of(TC_F16), number = {.dtype = TC_F16, .weak = true};
  const tc_type *in[] = {&x, &number};
  cr_expect_eq(tc_autocast_operand(OP_POW, TC_F16, 2, in, 0), TC_F32);
  cr_expect_eq(tc_autocast_operand(OP_POW, TC_F16, 2, in, 1), TC_F16);
}

/* In which scopes is it all the same? */
Test(autocast, alike) {
  const tc_type f32 = of(TC_F32), bf16 = of(TC_BF16), f64 = of(TC_F64);
  const tc_type *wide[] = {&f32, &f32}, *low[] = {&bf16, &bf16}, *other[] = {&f64, &f64};
  const uint32_t none = 1u << TC_NO_AUTOCAST_DTYPE, in_bf16 = 1u << TC_BF16, in_f16 = 1u << TC_F16;
  cr_expect_eq(tc_autocast_alike(OP_MATMUL, TC_NO_AUTOCAST_DTYPE, 2, wide), none);
  cr_expect_eq(tc_autocast_alike(OP_MATMUL, TC_BF16, 2, wide), in_bf16);
  cr_expect_eq(tc_autocast_alike(OP_MATMUL, TC_NO_AUTOCAST_DTYPE, 2, low), none | in_bf16);
  cr_expect_eq(tc_autocast_alike(OP_MATMUL, TC_F16, 2, other), TC_AUTOCAST_ANY);
  cr_expect_eq(tc_autocast_alike(OP_SOFTMAX, TC_F16, 1, wide), TC_AUTOCAST_ANY);
  cr_expect_eq(tc_autocast_alike(OP_SOFTMAX, TC_F16, 1, low), in_f16 | in_bf16);
  cr_expect_eq(tc_autocast_alike(OP_ADD, TC_F16, 2, low), TC_AUTOCAST_ANY);
}

/* rules.h - the rules that rows of the op table name in their decomp column. */
#ifndef TC_DECOMP_RULES_H
#define TC_DECOMP_RULES_H

#include "graph/graph.h"

tc_decomp_fn decomp_clamp, decomp_lerp, decomp_masked_fill;
tc_decomp_fn decomp_relu, decomp_relu6, decomp_leaky_relu, decomp_elu, decomp_silu, decomp_gelu,
    decomp_gelu_tanh, decomp_softplus, decomp_mish, decomp_hardswish, decomp_hardsigmoid;
tc_decomp_fn decomp_mean, decomp_var, decomp_std, decomp_logsumexp, decomp_norm;
tc_decomp_fn decomp_frexp, decomp_var_mean, decomp_with_index;
tc_decomp_fn decomp_transpose, decomp_select, decomp_reshape_like, decomp_identity;
tc_decomp_fn decomp_stack, decomp_repeat, decomp_roll;
tc_decomp_fn decomp_linear, decomp_outer, decomp_einsum;
tc_decomp_fn decomp_softmax, decomp_log_softmax, decomp_layer_norm, decomp_rms_norm,
    decomp_batch_norm;
tc_decomp_fn decomp_cross_entropy, decomp_nll, decomp_mse, decomp_bce_logits;

#endif

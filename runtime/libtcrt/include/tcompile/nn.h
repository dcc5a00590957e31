/* nn.h - functions of neural networks beyond tcompile.h, written with its functions: docs/nn.md lists them.
 *
 * In a compiled function they are inlined, as any function whose body is visible: attention is one kernel, and elementwise ops
 * are fused with what is around them.  Called from elsewhere they run op by op.  The rules of tcompile.h hold: operands are
 * borrowed, results owned by the innermost scope.  Shapes or numbers that a function does not take are an error
 * (TC_ERROR_ARGUMENT), with NULL.  `default` in a comment is that of the function of PyTorch. */
#ifndef TCOMPILE_NN_H
#define TCOMPILE_NN_H

#include <tcompile/conv.h>
#include <tcompile/nn/activation.h>
#include <tcompile/nn/attention.h>
#include <tcompile/nn/embedding.h>
#include <tcompile/nn/fold.h>
#include <tcompile/nn/linear.h>
#include <tcompile/nn/loss.h>
#include <tcompile/nn/norm.h>
#include <tcompile/nn/pool.h>
#include <tcompile/nn/quantize.h>
#include <tcompile/nn/recurrent.h>
#include <tcompile/nn/resample.h>
#include <tcompile/nn/shuffle.h>

#endif

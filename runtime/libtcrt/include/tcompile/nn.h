/* nn.h - functions of neural networks beyond tcompile.h, written with its functions: docs/nn.md lists them.
 *
 * They are captured as what stands there: attention is one kernel, what is elementwise joins what is around it.  Called from
 * elsewhere they run op by op.  Arguments that do not fit are an error (TC_ERROR_ARGUMENT), with NULL. */
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

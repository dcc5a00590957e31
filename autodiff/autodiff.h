/* autodiff.h - derivatives of graphs: nodes that compute them are appended to the same graph.
 *
 * Works on graphs as captured, before decomposition, so that whole ops have rules of their own
 * (rules.def).  What is appended is made of ops of the table, and may be differentiated again.
 *
 * Conventions: the cotangent of a value has its shape and dtype.  Integers and bool carry no
 * gradient.  What is piecewise constant (floor, sign, a condition) has gradient 0.  Where a
 * function has no derivative (ties of max, |x| at 0) the choice is PyTorch's. */
#ifndef TC_AUTODIFF_H
#define TC_AUTODIFF_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Several nodes that have a derivative of their own, shorter than that of one after the other. */
typedef struct tc_autodiff_pattern tc_autodiff_pattern;
extern const tc_autodiff_pattern tc_autodiff_softmax; /* e / sum e of e = exp(a), written out (written_softmax.c) */

/* What is differentiated, and with respect to what. */
typedef struct tc_autodiff {
  uint32_t noutput;
  const tc_ref *output; /* [noutput], floating; may repeat */
  /* [noutput], shapes as output, converted to its dtype.  ref 0, or NULL for all: 1, for an output
   * of a single element. */
  const tc_ref *cotangent;
  uint32_t nwrt;
  const tc_ref *wrt; /* [nwrt], floating; arguments or any other values */
  uint32_t nstop;
  const tc_ref *stop; /* [nstop] values taken as constants, beside results of DETACH; NULL: none */
  /* Integers count as constants: no error where only they depend on wrt.  For derivatives of
   * derivatives, of which each depends on fewer values than the function did. */
  bool through_integers;
  /* Looked for first; NULL: none, as where what is made runs operation by operation. */
  const tc_autodiff_pattern *pattern;
  tc_loc loc; /* where the derivative is asked for */
} tc_autodiff;

/* grad[i] = sum over k of (d output[k] / d wrt[i])^T cotangent[k], with shape and dtype of wrt[i].
 *
 * A wrt value that outputs do not depend on, or through conditions and constants only, has gradient
 * 0; reached, if not NULL, tells those apart: reached[i] is false.  An error, reported at the node
 * in question with the path from wrt[i] to the output:
 *   - outputs depend on wrt[i], but only through integers (argmax, a conversion), and through_integers is
 *     not set
 *   - some dependence leads from floating to floating values where no derivative is known: a function of the
 *     program's own (CALL), the p of a norm
 * Takes time linear in the nodes up to the last output. false after reporting; grad[] is then
 * undefined. */
bool tc_autodiff_vjp(tc_graph *g, const tc_autodiff *a, tc_ref *grad, bool *reached);

/* out[k] = sum over i of (d output[k] / d wrt[i]) tangent[i], with shape and dtype of output[k].
 * tangent[i] has the shape of wrt[i]; a->cotangent is not read.  The vjp is linear in its
 * cotangent, so its transpose, which is what is asked for, is its own vjp with respect to that. */
bool tc_autodiff_jvp(tc_graph *g, const tc_autodiff *a, const tc_ref *tangent, tc_ref *out);

/* Does r move with its operand i, as far as their types tell?  Not where r is DETACH. */
bool tc_autodiff_passes(const tc_graph *g, tc_ref r, int i);

/* Has operand i of the op a derivative?  Why not, in words for a message (NULL: it has). */
const char *tc_autodiff_refusal(tc_op op, int operand);

/* Does the derivative of the op with respect to the operand read the value of operand i?  True where
 * a function makes it. */
bool tc_autodiff_reads(tc_op op, int operand, int i);

#ifdef __cplusplus
}
#endif
#endif

/* training.h - the two calls that eager code differentiates a function by: a forward part, which
 * leaves what the gradients need, and a backward part (autodiff/training.h).  Each is compiled as
 * any function; a tcrt_gradient (tcompile/abi.h) in the host text ties them together. */
#ifndef TC_BACKENDS_TRAINING_H
#define TC_BACKENDS_TRAINING_H

#include "autodiff/training.h"
#include "backends/variant.h"

typedef struct tc_pair {
  tc_training made;
  tc_function forward, backward;
  tc_buf symbol[2], sizes[2]; /* of these */
  tc_job *job[2];
} tc_pair;

/* Makes the parts of a function that asks for them, whose graph stays.  NULL: there are none; where
 * some were wanted it is told why. */
tc_pair *tc_pair_make(const tc_function *f);
void tc_pair_free(tc_pair *p); /* NULL is fine */

/* Each backend makes both parts, or none.  false: no backend does. */
bool tc_pair_settle(tc_pair *p);
/* Puts the entries of the parts, and what ties them together, which the entry of the function f
 * calls. */
bool tc_pair_put(const tc_function *f, tc_pair *p, tc_texts *out);
/* What is saved, and the kernels. */
void tc_pair_remark(const tc_function *f, const tc_pair *p, tc_graph *g);
void tc_pair_explain(const tc_function *f, const tc_pair *p, tc_buf *out);

#endif

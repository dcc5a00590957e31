/* random_graph.h - random typed graphs over every op of the table, with arguments to run them on.
 */
#ifndef TC_TEST_RANDOM_GRAPH_H
#define TC_TEST_RANDOM_GRAPH_H

#include "tests/common/interp.h"

typedef struct random_options {
  uint64_t seed;
  int nodes;       /* ops to add */
  tc_op always;    /* this op occurs, as first of them; OP_NONE: any */
  bool symbolic;   /* sizes are symbols (B=3, T=2), else the same numbers as constants */
  bool specials;   /* arguments contain NaN, infinities and -0 */
  uint32_t dtypes; /* bit d: arguments of dtype d exist */
} random_options;

typedef struct random_graph {
  tc_graph *g; /* owned by the caller, who may hand it to the passes */
  uint32_t ninput;
  interp_array **input;
  tc_value scalar[2]; /* f64, i64 */
  uint32_t used[OP_COUNT];
} random_graph;

/* false: the op asked for could not be placed. */
bool random_graph_make(const random_options *options, tc_diag *diag, random_graph *out);
/* Arguments that differ from those of r by about `by`, relatively: shows how well conditioned the
 * graph is. */
interp_array **random_graph_perturbed(const random_graph *r, double by);
/* The floating dtype with the fewest digits in the graph: what its results can be held to. */
tc_dtype random_coarsest_dtype(tc_graph *g);
void random_graph_free_input(const random_graph *r, interp_array **input);

/* What tests of generated code run.  Both lists end at n; the caller frees them.
 *   every op alone, in `settings` of 8 (dtypes, sizes, special values); TC_TEST_SEEDS asks for more of
 *   them, TC_TEST_OP for one op
 *   *n graphs of 4 to 33 ops; TC_TEST_GRAPHS asks for more */
random_options *random_every_op(int settings, int *n);
random_options *random_many_ops(uint64_t seed, int *n);

#endif

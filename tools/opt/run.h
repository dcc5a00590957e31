/* run.h - tc-opt --run: a graph on operands from .npy files, one eager op after the other by
 * libtcrt.  Its headers and the compiler's know each other's names; only what both know stands
 * here. */
#ifndef TC_TOOL_RUN_H
#define TC_TOOL_RUN_H

#include "graph/file.h"

typedef struct run_request {
  const char *path; /* of the file, for messages */
  int graph;        /* which of its graphs, from 1; 0: the first that takes the operands */
  const char *out;  /* a .npy file for each result, %d its number from 0; NULL: prints them */
  const char *const *operand; /* .npy files, and numbers, in the order of the graph's parameters */
  size_t noperand;
} run_request;

/* Runs it and gives out its results, then the new values of operands that it writes (the files stay
 * as they are).  The exit status; what is wrong goes to stderr. */
int run_file(tc_file *f, const run_request *r);

/* ---- inside ---------------------------------------------------------------------------------- */

struct tc_tensor;

/* What the graph's parameters are in a run: by its input and scalar arguments, and its symbols. */
typedef struct run_values {
  struct tc_tensor **input; /* [inputs], borrowed */
  double *real;             /* [scalars] of f64 */
  int64_t *whole;           /* [scalars] of i64 */
  int64_t *size;            /* [symbols] */
} run_values;

/* Parameters of the graph in the order of their nodes: calls each with its number, and the index of
 * the input or, with `scalar`, of the scalar argument. */
typedef bool run_parameter_fn(void *self, uint32_t number, bool scalar, uint32_t index);
bool run_each_parameter(const tc_graph *g, run_parameter_fn *each, void *self);

/* Whether the graph takes them; *why says which does not fit. */
bool run_bind(tc_graph *g, struct tc_tensor *const *operand, const char *const *name, size_t n,
              run_values *v, tc_buf *why);
void run_values_free(run_values *v);

/* The results and the written operands, as many as the graph has of both.  false with
 * tc_error(). */
bool run_graph(tc_graph *g, const run_values *v, struct tc_tensor **out);

#endif

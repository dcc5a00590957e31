/* case.h - a line such as those of tests/autodiff/cases.def as a graph with arguments.
 *
 * The arguments are the operands, then a cotangent for each floating result ("dy"), then a tangent for each operand that is
 * differentiated ("v").  The graph ends with the op's results; tests append derivatives. */
#ifndef TC_TEST_CASE_H
#define TC_TEST_CASE_H

#include "autodiff/autodiff.h"
#include "tests/common/interp.h"

enum { MAX_WRT = 8 };

typedef struct grad_case {
  tc_graph *g;
  uint32_t ninput;
  interp_array *input[32];
  tc_value scalar[2];
  uint32_t nwrt, ny;
  tc_ref wrt[MAX_WRT], v[MAX_WRT], y[2], dy[2];
  interp_array *x[MAX_WRT]; /* arguments of wrt; NULL: a scalar */
} grad_case;

typedef struct case_options {
  tc_dtype dtype; /* in place of f64 */
  bool symbolic;  /* sizes 3 and 2 are B and T */
  int shape;      /* which of the shapes for operands without one, [0, case_shapes) */
  tc_diag *diag;
} case_options;

typedef struct case_line {
  const char *text;
  int order; /* of derivatives that exist at its values */
} case_line;

extern const case_line case_lines[];
extern const int case_count, case_shapes;

bool case_has_shapes(const char *line); /* operands without shapes: of interest with each */
tc_op case_op(const char *line);
/* false: no such graph (symbolic sizes that an attribute contradicts). */
bool case_make(const char *line, const case_options *o, grad_case *c);
void case_free(grad_case *c);

/* Evaluates the graph, whose roots are its outputs. */
interp_run case_run(const grad_case *c, tc_graph *g, bool round);
tc_autodiff case_request(const grad_case *c);

#endif

/* vjp.h - the state of one reverse sweep; for autodiff/ only. */
#ifndef TC_AUTODIFF_VJP_H
#define TC_AUTODIFF_VJP_H

#include "autodiff/autodiff.h"
#include "autodiff/rules.h"

enum { IS_WRT = 1, IS_STOP = 2, IS_REACHED = 4 };

/* Arrays by id, [nodes before the sweep + 1]. */
typedef struct sweep {
  tc_graph *g;
  const tc_autodiff *a;
  uint32_t last; /* output with the greatest id */
  /* a node through which outputs depend on this one (itself: an output); 0: they do not */
  uint32_t *reader;
  /* an operand through which it depends on wrt (itself: of wrt); 0: it does not */
  uint32_t *source;
  tc_ref *cotangent; /* as far as it was summed up; ref 0: it is 0 */
  uint8_t *mark;
  bool want[256];
} sweep;

/* true of nodes with several results */
static inline bool vj_is_float(const tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  return n && (n->nresult > 1 || tc_dtype_is_float((tc_dtype)tc_graph_type(g, r)->dtype));
}

/* a among zeros: so many before and behind it along an axis. */
tc_ref vj_place(tc_graph *g, tc_ref a, int axis, tc_dim before, tc_dim after, bool weak,
                tc_loc loc);
/* d + e, where each is a part among zeros (vj_pad) and these lie side by side; ref 0 where they do
 * not. */
tc_ref vj_adjoin(tc_graph *g, tc_ref d, tc_ref e, tc_loc loc);

typedef enum vj_found { VJ_NONE, VJ_FAILED, VJ_DONE } vj_found;
struct tc_autodiff_pattern {
  /* If r is the last node of the pattern, and nobody asks for those in between: adds the cotangent of what it is made
   * of.  VJ_FAILED: building failed. */
  vj_found (*visit)(sweep *s, tc_ref r, const tc_node *n);
};

/* The operand's cotangent, or that of any other value, gets d as one more part, TC_VJP_ZERO or ref 0 where building it
 * failed: false. */
bool vj_add(sweep *s, tc_ref to, tc_ref d, tc_loc loc);
/* Cotangents of the results of n: those of the RESULT nodes, where there are several; false: all are 0. */
bool vj_gather_dy(sweep *s, tc_ref r, const tc_node *n, tc_ref *dy);
/* What rules for r compute with: as decompositions, so that equal parts are one. */
dc vj_vocabulary(const sweep *s, tc_ref r, const tc_node *n);

/* ---- errors (error.c): each reports and gives false ------------------------------------------ */

bool vj_fail(sweep *s, tc_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* value must have the shape of t (true then). */
bool vj_check_shape(sweep *s, tc_ref value, const tc_type *t, const char *what);
/* Outputs depend on wrt through an operand of `at` that has no derivative, though it should. */
bool vj_report_missing(sweep *s, tc_ref at, int operand);
/* The rule of n failed, which is no error of the program. */
bool vj_report_limit(sweep *s, const tc_node *n);
/* Outputs depend on w, but by no derivative. */
bool vj_report_cut(sweep *s, tc_ref w);

#endif

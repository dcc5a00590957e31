/* oneop.h - the one-op graphs that libtcrt-cuda.so is made of.
 *
 * Eager ops on a device bring their operands into one of these forms (dense, one common dtype, few
 * axes) and run the entry of that key; what has no form here is decomposed into ops that have.  The
 * list is derived from graph/ops/ops.def and graph/ops/api.def, so that a new elementwise op is in
 * it.
 *
 *   key                operands                              result
 *   exp.d.v            d[N]                                  [N]
 *   add.d.vv           d[N] d[N]                             [N]
 *   add.d.vs           d[N], scalar                          [N]
 *   where.d.vvv        bool[N] d[N] d[N]                     [N]
 *   cast.d.e           d[N]                                  e[N]
 *   full.d.g           d[N] (never read), value              [N]
 *   arange.d.g         d[N] (never read), start, step        [N]
 *   rand.d.g           d[N] (never read), i64 seed           [N]
 *   sum.d.r            d[A,B], along axis 1                  [A]
 *   sum.d.c            d[A,B,C], along axis 1                [A,C]
 *   gather.d.c         d[A,B,C] i64[A,J,C], axis 1           [A,J,C]
 *   index_select.d.c   d[A,B,C] i64[J], axis 1               [A,J,C]
 *   scatter.d.c        d[A,B,C] i64[A,J,C] d[A,J,C], axis 1  [A,B,C]
 *   matmul.d.m         d[P,M,K] d[P,K,N]                     [P,M,N]
 *
 * Elementwise forms have a letter per operand, v a vector and s a scalar argument: v vv vs sv vvv
 * vss vvs; masks are bool.  "Along axis 1" are reductions, scans (whose result has x's shape) and
 * softmax.
 * Scalar arguments are doubles for floating d and i64 otherwise (arange: doubles), converted to d.
 * gather, index_select and scatter move bits: d is u8, i16, i32 or i64 by size. */
#ifndef TC_ONEOP_H
#define TC_ONEOP_H

#include "graph/graph.h"

enum { TC_ONEOP_KEY = 48 };

typedef struct tc_oneop {
  char key[TC_ONEOP_KEY];
  tc_op op;
  tc_dtype dtype, to; /* to: of a cast */
  const char *form;   /* "vs", "r", ... */
} tc_oneop;

/* Calls visit for every one; stops and gives false when it does. */
bool tc_oneop_each(bool (*visit)(const tc_oneop *o, void *context), void *context);

/* Its graph, owned by the caller; NULL after reporting. */
tc_graph *tc_oneop_graph(const tc_oneop *o, tc_diag *diag);

#endif

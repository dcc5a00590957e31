/* text.h - the text form of a graph, which parses back to an equal graph.
 *
 *   graph mlp
 *   %1 = param f32[B,784] "x"              ; f.c:12:3
 *   %2 = param f32[784,10] "w"
 *   %3 = matmul %1 %2
 *   %4 = max %3 axes=[1] keep=1
 *   ret %4
 *
 *   sym B 1..4096 %8                       symbol with range and multiple (default 0..inf)
 *   sym n 0..inf = scalar 0                value of a scalar argument
 *   assume B = N                           what inference assumed, behind the params;
 *   assume B-N in 0..inf                   the guards check it
 *   %5 = scalar f64 "lr"
 *   %6 = const weak f64 0.5
 *   %7 = dim weak 2*B
 *   %8 = layer_norm %1 _ _ %6 naxes=1      _ is a missing operand
 *   write %8 -> %1
 *   effects %9                             the last effect
 *
 * One node a line; types of other nodes are inferred, and printed behind `:` for the reader (when
 * given they must be right).  Numbers of nodes ascend and may leave gaps.  ';' starts a comment.
 * A parsed node is located at its line. */
#ifndef TC_TEXT_H
#define TC_TEXT_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

void tc_graph_print(tc_graph *g, tc_buf *out);
/* NULL after reporting "line 3: ..." to diag. */
tc_graph *tc_graph_parse(const char *text, tc_diag *diag);
/* The same of a part of a text, whose first line is `first` of the whole. */
tc_graph *tc_graph_parse_part(const char *text, uint32_t first, tc_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

/* text.h - the text form of a graph, which parses back to an equal graph.
 *
 *   graph mlp
 *   %1 = param f32[B,784] "x"              ; f.c:12:3
 *   %2 = param f32[784,10] "w"
 *   %3 = matmul %1 %2
 *   %4 = max %3 axes=[1] keep=1
 *   ret %4
 *
 * One node a line; types of other nodes are inferred, and printed behind `:` for the reader. `write
 * %5 -> %1` for writes.  `sym B 1..4096 %8` lines declare symbols with ranges and multiples. */
#ifndef TC_TEXT_H
#define TC_TEXT_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

void tc_graph_print(tc_graph *g, tc_buf *out);
/* NULL after reporting "line 3: ..." to diag. */
tc_graph *tc_graph_parse(const char *text, tc_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

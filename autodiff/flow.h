/* flow.h - a least cut between two vertices of a directed graph with capacities. */
#ifndef TC_AUTODIFF_FLOW_H
#define TC_AUTODIFF_FLOW_H

#include "graph/support/support.h"

#define TC_FLOW_INFINITE (INT64_MAX / 4)

typedef struct tc_flow_edge {
  uint32_t to, next; /* next edge of the same vertex, as index + 1; 0: none */
  int64_t left;      /* capacity that is not used; edge i ^ 1 leads back */
} tc_flow_edge;

typedef struct tc_flow {
  uint32_t n;
  uint32_t *first;   /* [n] first edge of a vertex, as index + 1 */
  uint32_t *current; /* [n] likewise, of those that may still carry something */
  uint32_t *level;   /* [n] distance from the source, from 1 on; 0: not reached */
  uint32_t *queue;   /* [n] */
  TC_VEC(tc_flow_edge) edge;
} tc_flow;

bool tc_flow_begin(tc_flow *f, uint32_t vertices); /* false: out of memory */
void tc_flow_free(tc_flow *f);
bool tc_flow_edge_add(tc_flow *f, uint32_t from, uint32_t to, int64_t capacity);
/* The capacity of a least cut.  level[v] then tells whether v is on the source's side (not 0): the
 * smallest such side there is.  Dinic 1970, without recursion. */
int64_t tc_flow_cut(tc_flow *f, uint32_t source, uint32_t sink);

#endif

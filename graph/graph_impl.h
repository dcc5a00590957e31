/* graph_impl.h - inside of the graph, for graph/ only. */
#ifndef TC_GRAPH_IMPL_H
#define TC_GRAPH_IMPL_H

#include "graph/graph.h"
#include "graph/support/table.h"

/* The sizes context is shared by a graph and those derived from it. */
typedef struct shared_dims {
  tc_dims *dims;
  uint32_t users;
} shared_dims;

enum { CHUNK_BITS = 8, CHUNK = 1 << CHUNK_BITS };

struct tc_graph {
  const char *name;
  tc_diag *diag;
  tc_arena *arena;
  shared_dims *shared;
  bool derived; /* made by a pass: failures are ours */
  TC_VEC(tc_node *) chunk; /* CHUNK nodes each: a node never moves */
  uint32_t count;
  tc_table interned;
  TC_VEC(const char *) string;
  tc_table strings;
  TC_VEC(tc_input) input;
  TC_VEC(tc_scalar_arg) scalar;
  TC_VEC(tc_ref) output;
  TC_VEC(tc_ref) write;
  TC_VEC(uint32_t) written; /* input of each write */
  tc_ref effect;            /* the last one */
};

/* What makes two nodes equal. */
typedef struct node_key {
  tc_op op;
  int nin, nattr;
  const tc_ref *in;
  const tc_dim *attr;
} node_key;

/* Why a node was not built. */
typedef struct refusal {
  char message[512]; /* "": an operand is ref 0 */
  bool soft;         /* see tc_infer */
} refusal;

/* tc_build without the report. */
tc_ref tc_graph_try(tc_graph *g, tc_op op, int nin, const tc_ref *in, int nattr, const tc_dim *attr,
                    const char *string, tc_loc loc, refusal *why);
tc_ref tc_graph_find(const tc_graph *g, const node_key *key); /* an equal node, or 0 */
/* Infers the types of op on nodes of g; out has room for TC_MAX_RESULTS.  attr[] must follow the
 * schema.  Returns how many results there are; 0: none, see *why. */
int tc_graph_infer(tc_graph *g, const node_key *key, const char *string, tc_type *out,
                   refusal *why);
/* Rewrites attributes that passed inference to their canonical form (see graph.h); attr[] has room
 * for a list of TC_MAX_RANK.  Returns their number. */
int tc_attr_canonical(tc_dims *c, tc_op op, const tc_type *x, const tc_type *result, int nattr,
                      tc_dim *attr);

#endif

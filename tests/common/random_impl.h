/* random_impl.h - what the generators of random_*.c share. */
#ifndef TC_TEST_RANDOM_IMPL_H
#define TC_TEST_RANDOM_IMPL_H

#include "tests/common/random_graph.h"

typedef struct random_value {
  tc_ref ref;
  bool exact; /* no rounding error: may decide (comparisons, floor, cast to integer) */
  tc_type type;
  int64_t dim[TC_MAX_RANK]; /* what the sizes will be */
} random_value;

typedef struct random_state {
  uint64_t s;
  tc_graph *g;
  TC_VEC(random_value) pool;
  int64_t sym[2];
  tc_ref scalar[2];
} random_state;

uint64_t random_below(random_state *r, uint64_t n);

/* What a value must be; 0 entries ask nothing. */
enum {
  NEED_FLOAT = 1,
  NEED_INT = 2,
  NEED_BOOL = 4,
  NEED_EXACT = 8,
  NEED_DATA = 16,
  NEED_NOT_BOOL = 32
};
/* A pool value with `need` and rank in [lo, hi]; NULL: none was found. */
const random_value *random_pick(random_state *r, int need, int lo, int hi);
/* One whose shape broadcasts with v's. */
const random_value *random_partner(random_state *r, const random_value *v, int need);
/* One with this shape. */
const random_value *random_shaped(random_state *r, int need, int rank, const int64_t *dim);

tc_ref random_const(random_state *r, double v);
/* i64 indices in [0, below), with the sizes given. */
tc_ref random_index(random_state *r, int rank, const tc_dim *dim, tc_dim below);
tc_ref random_node(random_state *r, tc_op op, int nin, const tc_ref *in, int nattr,
                   const int64_t *attr);

/* Builds one node of `op`, or gives ref 0. */
tc_ref random_pointwise(random_state *r, tc_op op);
tc_ref random_reduction(random_state *r, tc_op op);
tc_ref random_order(random_state *r, tc_op op);
tc_ref random_view(random_state *r, tc_op op);
tc_ref random_join(random_state *r, tc_op op);
tc_ref random_indexing(random_state *r, tc_op op);
tc_ref random_linalg(random_state *r, tc_op op);
tc_ref random_neural(random_state *r, tc_op op);

#endif

/* rules.h - what batching rules are written with.
 *
 * A rule gives the results of a node for all examples.  Its operands have the axis of the batch in
 * front where they are mapped, and are those of the node where they are the same for all; one of
 * them at least is mapped.  As in decompositions (graph/decomp/decomp.h), ref 0 as an operand gives
 * ref 0, and what failed has been reported. */
#ifndef TC_BATCHING_RULES_H
#define TC_BATCHING_RULES_H

#include "graph/decomp/decomp.h"

typedef struct tc_bat {
  dc c;               /* graph, place, dtype of the first result */
  const tc_node *n;   /* of one example */
  const tc_ref *in;   /* [nin] */
  const bool *mapped; /* [nin] */
  tc_dim size;        /* of the batch */
} tc_bat;
/* The node that takes the place of n: one with the same results, or a TUPLE of them; ref 0 after
 * reporting. */
typedef tc_ref tc_bat_fn(const tc_bat *b);

typedef struct tc_bat_rule {
  tc_bat_fn *fn;
  uint8_t operands; /* bit i: operand i may be mapped; bit 7: so may all from 7 on */
  const char *why;  /* there is no rule */
} tc_bat_rule;

const tc_bat_rule *tc_bat_rule_of(tc_op op);

/* ---- vocabulary ------------------------------------------------------------------------------ */

const tc_type *bt_type(const tc_bat *b, int i); /* of operand i of one example */
int bt_rank(const tc_bat *b, int i);
/* The node's op with other operands and attributes. */
tc_ref bt_build(const tc_bat *b, const tc_ref *in, int nattr, const tc_dim *attr);
/* size, then those of a shape; the length. */
int bt_dims(const tc_bat *b, int rank, const tc_dim *dims, tc_dim *out);
tc_ref bt_reshape(const tc_bat *b, tc_ref all, int rank, const tc_dim *dims); /* to [size, dims] */
/* Operand i, its axes the last ones of `rank` behind the batch; as it is where it is the same for
 * all. */
tc_ref bt_aligned(const tc_bat *b, int i, int rank);
tc_ref bt_all(const tc_bat *b, int i); /* operand i with the axis of the batch, mapped or not */
tc_ref bt_axis(const tc_bat *b, tc_op op, tc_ref x, int axis); /* ops of one operand and one axis */
tc_ref bt_permute(const tc_bat *b, tc_ref x, int from, int to); /* axis `from` becomes `to` */
/* The dtype that losses are added up in, for a node with this dtype. */
tc_dtype bt_wide(const tc_bat *b);

/* The functions of rules.def. */
#define TC_BATCH(id, fn, operands) tc_bat_fn tc_bat_##fn;
#define TC_NO_BATCH(id, why)
#include "batching/rules.def"

#endif
